#!/bin/sh
# Restore every file of a change that nobody confirmed. Needs no Python: the boot hook, the guard and the daemon all
# call this one script, and it may be stopped at any point and run again.
#
#   restore.sh PENDING ROOT [services]
#
# PENDING/list names the files (written last when the change was prepared, so a list is a whole list); PENDING/files
# holds copies that only need renaming. Services start at boot again as they did before. With `services` those of the
# list are reloaded afterwards, and stopped where the change had started them; the boot hook leaves that word out,
# because nothing runs yet.
# Exit status: 0 all is as before, or nothing was pending; 1 something could not be restored (the list stays).
set -u

pending=$1
root=${2%/}
what=${3:-files}
list=$pending/list
failed=0

sum_of() { # only of a file: a FIFO would be waited for without end
	[ -f "$1" ] || return 0
	set -- "$(sha256sum <"$1" 2>/dev/null)"
	printf '%s' "${1%% *}"
}

say() {
	printf 'oasis-restore: %s\n' "$1" >&2
	command -v logger >/dev/null 2>&1 && logger -t oasis-restore "$1"
	return 0
}

keep() { # NAME: their version of the target; a second name for it needs no space, so it works on a full flash, too
	kept=$pending/kept/$1
	mkdir -p "$pending/kept" && rm -rf "$kept"
	if [ ! -f "$target" ]; then # a folder, a FIFO, a device: moved out of the way
		mv "$target" "$kept" && return 0
	fi
	ln "$target" "$kept" 2>/dev/null && return 0
	cp "$target" "$kept" 2>/dev/null && [ "$(sum_of "$kept")" = "$now" ] && return 0
	rm -f "$kept"
	return 1
}

restore() { # MODE SUM-BEFORE SUM-AFTER COPY PATH
	target=$root$5
	[ -L "$target" ] && target=$(readlink -f "$target") # the link stays a link
	[ -n "$target" ] || {
		say "$5 is a link that leads nowhere"
		return 1
	}
	copy=$pending/files/$4
	if [ ! -f "$copy" ]; then
		# Renamed by an earlier run of this script, or lost: the target tells which.
		[ "$(sum_of "$target")" = "$2" ] && return 0
		say "the copy of $5 is gone and the file is not as before"
		return 1
	fi
	if [ "$(sum_of "$copy")" != "$2" ]; then
		say "the copy of $5 is damaged, the file is left alone"
		return 1
	fi
	now=$(sum_of "$target")
	if [ "$now" != "$2" ] && [ "$now" != "$3" ] && [ -e "$target" ]; then
		# Somebody else wrote it meanwhile: their version is kept beside the journal.
		if keep "$4"; then
			say "$5 was edited by others; kept a copy"
		else
			say "$5 was edited by others, and there is no space to keep a copy"
		fi
	fi
	chmod "$1" "$copy" && mv -f "$copy" "$target" && return 0
	# The daemon and the guard may restore at the same moment: then the other one has renamed it.
	[ "$(sum_of "$target")" = "$2" ] && return 0
	say "cannot restore $5"
	return 1
}

call() { # SERVICE ACTION: one that fails must not keep the next one from it
	"$root/etc/init.d/$1" "$2" </dev/null >/dev/null 2>&1 9<&- || say "$1 $2 failed with status $?"
}

starts_at_boot() { # SERVICE
	for link in "$root"/etc/rc.d/S??"$1"; do
		[ -L "$link" ] && return 0
	done
	return 1
}

[ -f "$list" ] || exit 0
# One at a time: daemon, guard and boot hook may all want to. The daemon holds this lock while it keeps the change.
exec 9<"$list"
if command -v flock >/dev/null 2>&1; then
	flock 9
	[ -f "$list" ] || exit 0
fi
if ! grep -q '^end$' "$list"; then
	say "the list of pending files is torn; nothing was committed before it was whole"
	rm -f "$list"
	exit 0
fi

while read -r word mode before after copy path; do
	[ "$word" = file ] || continue
	restore "$mode" "$before" "$after" "$copy" "$path" || failed=1
done <"$list"
sync
[ "$failed" = 0 ] || exit 1

while read -r word name at_boot rest; do
	case "$word $at_boot" in
	"init enabled") starts_at_boot "$name" || call "$name" enable ;;
	"init disabled") starts_at_boot "$name" && call "$name" disable ;;
	esac
done <"$list"

mv -f "$list" "$pending/restored" 2>/dev/null
exec 9<&- # what a service starts must not hold the lock
sync
say "an unconfirmed change was rolled back"

if [ "$what" = services ]; then
	stopped=" $(sed -n 's/^init \([^ ]*\) [a-z]* stopped$/\1/p' "$pending/restored" | tr '\n' ' ')"
	while read -r word name action rest; do
		[ "$word" = service ] || continue
		case $stopped in *" $name "*) action=stop ;; esac
		call "$name" "$action"
	done <"$pending/restored"
fi
exit 0
