# shellcheck shell=sh disable=SC2013,SC2154 # words of lists, without blanks in them; variables set by name
# Stand-in for OpenWrt's /lib/functions.sh in the guest without OpenWrt: what our scripts and packages call of it.
#
# A file of UCI is read by the shell itself: its lines are calls of config, option and list.

config_load() { # PACKAGE
	CONFIG_SECTIONS=
	config_count=0
	[ -r "/etc/config/$1" ] || return 1
	# shellcheck disable=SC1090
	. "/etc/config/$1"
}

config() { # TYPE [NAME]
	config_count=$((config_count + 1))
	CONFIG_SECTION=${2:-cfg$config_count}
	CONFIG_SECTIONS="$CONFIG_SECTIONS $CONFIG_SECTION"
	eval "CONFIG_${CONFIG_SECTION}_TYPE=\$1"
}

option() { # NAME VALUE
	eval "CONFIG_${CONFIG_SECTION}_$1=\$2"
}

list() { # NAME VALUE
	eval "CONFIG_${CONFIG_SECTION}_$1=\"\${CONFIG_${CONFIG_SECTION}_$1:+\$CONFIG_${CONFIG_SECTION}_$1 }\$2\""
}

config_get() { # VARIABLE SECTION OPTION [DEFAULT]
	eval "$1=\${CONFIG_$2_$3:-\${4:-}}"
}

config_get_bool() { # VARIABLE SECTION OPTION [DEFAULT]
	config_get "$@"
	eval "case \$$1 in 1 | on | true | yes | enabled) $1=1 ;; 0 | off | false | no | disabled) $1=0 ;; *) $1=\${4:-0} ;; esac"
}

config_foreach() { # FUNCTION [TYPE] [ARGUMENTS]
	config_function=$1
	config_type=${2:-}
	shift
	[ $# -eq 0 ] || shift
	for config_each in $CONFIG_SECTIONS; do
		config_get config_is "$config_each" TYPE
		[ -n "$config_type" ] && [ "$config_is" != "$config_type" ] || "$config_function" "$config_each" "$@"
	done
}

user_exists() { grep -q "^$1:" /etc/passwd; }
group_exists() { grep -q "^$1:" /etc/group; }

next_id() { # FILE
	sed 's/^[^:]*:[^:]*:\([0-9]*\):.*/\1/' "$1" | awk '$1 >= 65536 && $1 > top { top = $1 } END { print (top ? top + 1 : 65536) }'
}

group_add() { group_exists "$1" || echo "$1:x:$2:" >>/etc/group; }

group_add_next() { # NAME: prints the number
	group_exists "$1" || group_add "$1" "$(next_id /etc/group)"
	sed -n "s/^$1:[^:]*:\([0-9]*\):.*/\1/p" /etc/group
}

user_add() { # NAME [NUMBER] [GROUP] [DESCRIPTION] [HOME] [SHELL]
	user_exists "$1" && return 1
	number=${2:-$(next_id /etc/passwd)}
	echo "$1:x:$number:${3:-$number}:${4:-$1}:${5:-/var/run/$1}:${6:-/bin/false}" >>/etc/passwd
	echo "$1:x:0:0:99999:7:::" >>/etc/shadow
}

# "oasis" or "oasis=500:oasis=500", several with blanks between: what a package's Require-User says.
add_group_and_user() { # PACKAGE
	for required in $(sed -n 's/^Require-User: *//p' "/usr/lib/opkg/info/$1.control" 2>/dev/null); do
		user=${required%%:*}
		group=${required#*:}
		[ "$group" != "$required" ] || group=${user%%=*}
		group_add_next "${group%%=*}" >/dev/null
		user_exists "${user%%=*}" || user_add "${user%%=*}" "" "$(group_add_next "${group%%=*}")"
	done
}

package_of() { # SCRIPT: prints the name of the package
	package=${1##*/}
	printf '%s' "${package%.*}"
}

default_postinst() { # SCRIPT ARGUMENTS...
	pkgname=$(package_of "$1")
	listed=/usr/lib/opkg/info/$pkgname.list
	result=0
	add_group_and_user "$pkgname"
	if [ -f "/usr/lib/opkg/info/$pkgname.postinst-pkg" ]; then
		# shellcheck disable=SC1090
		(. "/usr/lib/opkg/info/$pkgname.postinst-pkg") || result=1
	fi
	for script in $(grep -s '^/etc/uci-defaults/' "$listed"); do
		# shellcheck disable=SC1090
		[ ! -f "$script" ] || (cd /etc/uci-defaults && . "$script") && rm -f "$script"
	done
	for script in $(grep -s '^/etc/init.d/' "$listed"); do
		[ "${PKG_UPGRADE:-0}" = 1 ] || "$script" enable
		"$script" start
	done
	return "$result"
}

default_prerm() { # SCRIPT ARGUMENTS...
	pkgname=$(package_of "$1")
	listed=/usr/lib/opkg/info/$pkgname.list
	result=0
	if [ -f "/usr/lib/opkg/info/$pkgname.prerm-pkg" ]; then
		# shellcheck disable=SC1090
		(. "/usr/lib/opkg/info/$pkgname.prerm-pkg") || result=1
	fi
	for script in $(grep -s '^/etc/init.d/' "$listed"); do
		[ "${PKG_UPGRADE:-0}" = 1 ] || "$script" disable
		"$script" stop
	done
	return "$result"
}
