#!/bin/sh
# `make fresh`: README's test command in a new Debian where nothing but it was installed, as two people would run it:
#   root     as root, without a terminal, locale C, UTC
#   person   as a user, at a terminal, Turkish locale (its i is another letter), Kathmandu time (+05:45), umask 077,
#            a home folder with a blank in its name
# Usage: fresh.sh [root|person]...   both when none is named. What git has committed is tested. Exit status: 0 all
# passed, 1 a run failed, 2 a new Debian cannot be had here.
set -u

here=$(cd "$(dirname "$0")/.." && pwd)
work=$here/build/fresh
root=$work/root
base=$work/base.tar
suite=bookworm
[ "$#" -gt 0 ] || set -- root person

no() {
	echo "fresh: $1" >&2
	exit 2
}

[ "$(id -u)" = 0 ] || no "it makes a root of its own: run it as root"
if ! command -v debootstrap >/dev/null; then
	apt-get update -q >/dev/null 2>&1
	apt-get install -q -y --no-install-recommends debootstrap >/dev/null 2>&1
	command -v debootstrap >/dev/null || no "no debootstrap; to have it: apt-get install debootstrap"
fi

# Everything below runs in mounts of its own, which end with it.
if [ -z "${FRESH_UNSHARED-}" ]; then
	FRESH_UNSHARED=1 exec unshare --mount --propagation private -- "$0" "$@"
fi

# A packed base is kept: the packages of a new Debian take two minutes to fetch.
make_root() {
	rm -rf --one-file-system "$root"
	mkdir -p "$root"
	if [ ! -f "$base" ]; then
		echo "fresh: debootstrap $suite"
		debootstrap --variant=minbase --include=ca-certificates,git,locales,make,passwd,python3,python3-venv \
			"$suite" "$root" >"$work/debootstrap.txt" 2>&1 || no "debootstrap failed: see $work/debootstrap.txt"
		tar -C "$root" -cf "$base.new" . && mv "$base.new" "$base"
	else
		tar -C "$root" -xf "$base"
	fi
	# How this machine reaches its registries: certificates, name servers, settings of pip, npm and apt.
	for file in /etc/ssl/certs /usr/local/share/ca-certificates /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/npmrc \
		/etc/apt/apt.conf.d /etc/apt/sources.list /etc/apt/sources.list.d; do
		[ -e "$file" ] && cp -aL --parents "$file" "$root" 2>/dev/null
	done
	echo 'tr_TR.UTF-8 UTF-8' >"$root/etc/locale.gen"
	chroot "$root" locale-gen >/dev/null 2>&1
	chroot "$root" useradd --create-home --home-dir '/home/a person' person
	mount -t proc proc "$root/proc"
	mount -t sysfs sysfs "$root/sys"
	mount --rbind /dev "$root/dev"
	mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
}

# shellcheck disable=SC2329  # called by the name of the first argument
enter() { # USER: runs standard input as a script of that user, with nothing of this machine in the environment
	user=$1
	cat >"$root/tmp/$user.sh"
	chroot "$root" su -s /bin/sh "$user" -c "env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		TERM=xterm PIP_DEFAULT_TIMEOUT=180 sh /tmp/$user.sh"
}

# shellcheck disable=SC2329
as_root() {
	git clone -q "$here" "$root/root/oasis"
	enter root <<-'END'
		export HOME=/root LC_ALL=C TZ=UTC
		exec </dev/null make -C /root/oasis test
	END
}

# shellcheck disable=SC2329
as_person() {
	# What only root can install is installed by root; all else is set up by the person's own command.
	[ -d "$root/root/oasis" ] || git clone -q "$here" "$root/root/oasis"
	enter root >"$work/setup.txt" 2>&1 <<-'END'
		export HOME=/root
		exec </dev/null make -C /root/oasis setup
	END
	git clone -q "$here" "$root/srv/oasis"
	chroot "$root" chown -R person: /srv/oasis
	enter person <<-'END'
		export HOME='/home/a person' LC_ALL=tr_TR.UTF-8 TZ=Asia/Kathmandu
		umask 077
		exec script -qefc 'make -C /srv/oasis test' /dev/null
	END
}

mkdir -p "$work"
make_root
status=0
for who in "$@"; do
	echo "--- fresh: as $who"
	"as_$who" >"$work/$who.txt" 2>&1 || status=1
	grep -aE '^(FAILED|ERROR) ' "$work/$who.txt"
	grep -aE 'setup: MISSING|(passed|failed).* in [0-9.]+s' "$work/$who.txt" | tail -n 12
	echo "--- fresh: as $who, all of it: $work/$who.txt"
done
exit "$status"
