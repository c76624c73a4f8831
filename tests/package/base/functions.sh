# shellcheck shell=sh disable=SC2013 # no word that is read here has a blank
# A stand-in for OpenWrt's /lib/functions.sh: what the scripts of a package find on a router, in the order in which a
# router does it. With the real file (OPENWRT_ROOT) the same tests run on that.

pkg_file() {
	echo "/usr/lib/opkg/info/$1"
}

user_exists() {
	grep -q "^$1:" /etc/passwd
}

group_add_next() {
	grep -q "^$1:" /etc/group || echo "$1:x:$(($(wc -l </etc/group) + 32768)):" >>/etc/group
	sed -n "s/^$1:[^:]*:\([0-9]*\):.*/\1/p" /etc/group
}

user_add() {
	echo "$1:x:${2:-$3}:$3:$1:/var/run/$1:/bin/false" >>/etc/passwd
	echo "$1:x:0:0:99999:7:::" >>/etc/shadow
}

config_load() {
	:
}

config_get_bool() {
	eval "$1=$4"
}

# Under opkg a package has its name from the script that is called, under apk from the script itself.
package_name() {
	echo "${pkgname:-$(basename "${1%.*}")}"
}

package_list() {
	if [ -e "/lib/apk/packages/$1.list" ]; then echo "/lib/apk/packages/$1.list"; else pkg_file "$1.list"; fi
}

users_wanted() {
	cat "/lib/apk/packages/$1.rusers" 2>/dev/null || sed -n 's/^Require-User: *//p' "$(pkg_file "$1.control")" 2>/dev/null
}

add_group_and_user() {
	for pair in $(users_wanted "$(package_name "$1")"); do
		user_exists "${pair%%:*}" || user_add "${pair%%:*}" "" "$(group_add_next "${pair##*:}")"
	done
}

default_postinst() {
	pkg=$(package_name "$1")
	list=$(package_list "$pkg")
	[ -n "$pkgname" ] || add_group_and_user "$1"
	for file in $(grep '^/etc/uci-defaults/' "$list"); do
		# shellcheck disable=SC1090
		(cd /etc/uci-defaults && . "$file") && rm -f "$file"
	done
	status=0
	if [ -f "$(pkg_file "$pkg.postinst-pkg")" ]; then
		# shellcheck disable=SC1090
		(. "$(pkg_file "$pkg.postinst-pkg")")
		status=$?
	fi
	for file in $(grep '^/etc/init.d/' "$list"); do
		[ "$PKG_UPGRADE" = 1 ] || "$file" enable
		"$file" start
	done
	return $status
}

default_prerm() {
	pkg=$(package_name "$1")
	status=0
	if [ -f "$(pkg_file "$pkg.prerm-pkg")" ]; then
		# shellcheck disable=SC1090
		(. "$(pkg_file "$pkg.prerm-pkg")")
		status=$?
	fi
	for file in $(grep '^/etc/init.d/' "$(package_list "$pkg")"); do
		[ "$PKG_UPGRADE" = 1 ] || "$file" disable
		"$file" stop
	done
	return $status
}
