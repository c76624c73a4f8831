# shellcheck shell=sh disable=SC2154 # `name` is rc.common's
# Stand-in for procd in the guest without OpenWrt: instances are folders below /var/run/services, each with a process
# that starts the program again when it dies. What needs the real one (jails, triggers, limits of memory) does nothing.

services=/var/run/services
command -v start_service >/dev/null || start_service() { return 0; }
command -v stop_service >/dev/null || stop_service() { return 0; }

procd_open_instance() { # [INSTANCE]
	instances=$((${instances:-0} + 1))
	instance=$services/$name/${1:-instance$instances}
	next=$instance.next
	rm -rf "$next"
	mkdir -p "$next"
	: >"$next/env"
}

procd_set_param() { # KIND WORD...
	kind=$1
	shift
	printf '%s\n' "$@" >"$next/$kind"
}

procd_append_param() { # KIND WORD...
	kind=$1
	shift
	printf '%s\n' "$@" >>"$next/$kind"
}

# As procd: an instance that is as it was goes on, another one is started anew.
procd_close_instance() {
	if [ -d "$instance" ] && is_alive "$instance" && is_same "$next" "$instance"; then
		rm -rf "$next"
		return 0
	fi
	end_instance "$instance"
	mv "$next" "$instance"
	setsid /sbin/supervise "$name" "$instance" </dev/null >/dev/null 2>&1 &
	while [ ! -s "$instance/pid" ]; do usleep 20000; done
}

is_same() {
	for part in "$1"/*; do
		cmp -s "$part" "$2/${part##*/}" || return 1
	done
}

is_alive() {
	[ -s "$1/supervisor" ] && kill -0 "$(cat "$1/supervisor")" 2>/dev/null
}

end_instance() {
	[ -d "$1" ] || return 0
	[ ! -s "$1/supervisor" ] || kill -9 "$(cat "$1/supervisor")" 2>/dev/null
	if [ -s "$1/pid" ]; then
		pid=$(cat "$1/pid")
		left=$((10 * $(cat "$1/term_timeout" 2>/dev/null || echo 5)))
		kill "$pid" 2>/dev/null
		while [ "$left" -gt 0 ] && kill -0 "$pid" 2>/dev/null; do
			usleep 100000
			left=$((left - 1))
		done
		kill -9 "$pid" 2>/dev/null
	fi
	rm -rf "$1"
}

for word in procd_add_jail procd_add_jail_mount procd_add_jail_mount_rw procd_add_reload_trigger procd_add_validation \
	procd_add_interface_trigger procd_add_raw_trigger procd_open_trigger procd_close_trigger procd_open_data \
	procd_close_data procd_add_config_trigger; do
	eval "$word() { return 0; }"
done

start() {
	start_service "$@"
}

stop() {
	stop_service "$@"
	for found in "$services/$name"/*; do
		[ ! -d "$found" ] || end_instance "$found"
	done
	rm -rf "${services:?}/$name"
	command -v service_stopped >/dev/null && service_stopped
	return 0
}

reload() {
	if command -v reload_service >/dev/null; then reload_service "$@"; else start "$@"; fi
}

running() {
	for found in "$services/$name"/*; do
		[ -s "$found/pid" ] && kill -0 "$(cat "$found/pid")" 2>/dev/null && return 0
	done
	return 1
}

status() {
	if running; then
		echo running
	elif [ -d "$services/$name" ]; then
		echo "not running"
		return 5
	else
		echo inactive
		return 3
	fi
}
