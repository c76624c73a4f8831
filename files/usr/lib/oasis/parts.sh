#!/bin/sh
# The service, rpcd and the menu of LuCI take up what is installed: called when a part or a language was `added` or
# `removed`. What a part has kept for the owner stays.

parts=/usr/lib/oasis/oasis/parts

case "$1" in
	added) /bin/sh /usr/lib/oasis/bytecode.sh add ;;
	removed)
		# The package manager leaves folders, and the bytecode that was made here. Other files are of a part, be it
		# one whose manifest was lost: the service says so.
		for folder in "$parts"/*/; do
			[ -n "$(find "$folder" -maxdepth 1 -type f)" ] || rm -rf "$folder"
		done
		;;
	*) echo "usage: parts.sh added | removed" >&2; exit 1 ;;
esac
rm -f /tmp/luci-indexcache.*
[ ! -x /etc/init.d/rpcd ] || /etc/init.d/rpcd reload
[ -x /etc/init.d/oasis ] && /etc/init.d/oasis running || exit 0
# procd by itself only signals where a manifest has other words.
ubus -t 5 call service signal '{"name":"oasis","signal":1}' >/dev/null 2>&1
/etc/init.d/oasis reload
exit 0
