#!/bin/sh
# Called by the feed's CI with the name and the version of an installed package, on a router's user space without procd.

case "$1" in
	oasis)
		oasis --version | grep -F "$2" || exit 1
		oasisd &
		daemon=$!
		for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			[ -S /var/run/oasis/oasis.sock ] && break
			sleep 1
		done
		oasis prompt "what can you do?" | grep "undo the last change"
		status=$?
		kill "$daemon"
		wait "$daemon"
		exit "$status"
		;;
	*)
		exit 0
		;;
esac
