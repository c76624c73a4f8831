#!/bin/sh
# Bytecode of the service for the Python that this router has: `make` writes it, once for each Python, `add` what is new
# of it (a part that was installed), `drop` removes it.
# Called when the package is installed or removed, and at each start of the service, because a new firmware or a built
# image may bring another Python. Without it everything works, but each start compiles and takes more memory.

lib="${IPKG_INSTROOT}/usr/lib/oasis/oasis"
made="${IPKG_INSTROOT}/usr/lib/oasis/.bytecode"

drop() {
	find "$lib" -type d -name __pycache__ -prune -exec rm -r {} \; 2>/dev/null
	rm -f "$made"
}

make() {
	# Built by the SDK: the bytecode is in the package, the sources are not.
	[ -e "$lib/__init__.py" ] || return 0
	python=$(readlink -f /usr/bin/python3) || return 0
	if [ "$(cat "$made" 2>/dev/null)" = "$python" ]; then
		[ "$1" = add ] || return 0
	else
		drop
	fi
	echo "oasis: compiling for ${python##*/}, once"
	# By the time of the sources: with another kind of bytecode a source that was replaced would not be noticed.
	if "$python" -IS -m compileall -q --invalidation-mode timestamp "$lib"; then
		echo "$python" >"$made"
	else
		drop
		echo "oasis: there is no bytecode (is the flash full?); starts are slower without" >&2
	fi
}

case "$1" in
	make | add) [ -n "$IPKG_INSTROOT" ] || make "$1" ;;
	drop) drop ;;
	*) echo "usage: bytecode.sh make | add | drop" >&2; exit 1 ;;
esac
exit 0
