#!/bin/sh
# Wait for the deadline of a pending change and restore every file, unless the record is gone by then.
# Started before the first commit, in a session of its own: it works when the daemon is dead and Python is gone.
#
#   guard.sh PENDING ROOT RESTORE
#
# PENDING/deadline holds the deadline in whole seconds of uptime: a clock that nobody sets. One second a look, because
# busybox sleeps whole seconds only.
set -u

pending=$1
while [ -f "$pending/list" ]; do
	read -r up rest </proc/uptime
	read -r deadline <"$pending/deadline" || deadline=0
	if [ "${up%%.*}" -ge "$deadline" ]; then
		exec /bin/sh "$3" "$pending" "$2" services
	fi
	sleep 1
done
