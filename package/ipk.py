"""Packages and their index for opkg (OpenWrt up to 24.10). Pure: dicts and bytes in, bytes out.

An .ipk is a gzipped tar of `debian-binary`, `data.tar.gz` and `control.tar.gz`. OpenWrt's own postinst and prerm call
functions of the router (lib/functions.sh), which make the users, run uci-defaults, enable and start or stop what is in
/etc/init.d; what a package adds stands in `postinst-pkg` and `prerm-pkg`.
"""

from __future__ import annotations

import hashlib

from archive import gzip, tar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from manifest import Files, Package

# These are run by the default scripts under another name; what is not here is run by opkg itself.
WRAPPED = {"postinst": "postinst-pkg", "prerm": "prerm-pkg"}
_POSTINST = """#!/bin/sh
[ "$IPKG_NO_SCRIPT" != 1 ] || exit 0
[ -s "$IPKG_INSTROOT/lib/functions.sh" ] || exit 0
. "$IPKG_INSTROOT/lib/functions.sh"
default_postinst "$0" "$@"
"""
_PRERM = """#!/bin/sh
[ -s "$IPKG_INSTROOT/lib/functions.sh" ] || exit 0
. "$IPKG_INSTROOT/lib/functions.sh"
default_prerm "$0" "$@"
"""
# How large bytecode is, measured against its sources: 1.8 on Python 3.11.
BYTECODE_RATIO = 1.8


def installed_bytes(files: Files) -> int:
    """Return what a package takes on a file system that does not compress, with the bytecode it is about to have."""
    own = sum(len(data) for data, _ in files.values())
    sources = [len(data) for path, (data, _) in files.items() if path.startswith("/usr/lib/") and path.endswith(".py")]
    return own + int(sum(sources) * BYTECODE_RATIO)


def control(one: Package, size: int, epoch: int) -> str:
    """Return the control file."""
    fields: dict[str, Any] = {
        "Package": one.name,
        "Version": one.version,
        "Depends": ", ".join(_range(*need) for need in one.needs),
        "Conflicts": ", ".join(one.about.get("conflicts", [])),
        "License": one.head["license"],
        "Section": one.about["section"],
        "Require-User": one.users,
        "SourceDateEpoch": epoch,
        "Maintainer": one.head["maintainer"],
        "Architecture": "all",
        "Installed-Size": size,
        "Description": one.about["title"] + "".join("\n " + line for line in one.about["description"]),
    }
    return "".join(f"{key}: {value}\n" for key, value in fields.items() if value != "")


def _range(name: str, version: str, end: str) -> str:
    if end:
        return f"{name} (>= {version}), {name} (<< {end})"
    return f"{name} (= {version})" if version else name


def build(control_text: str, conffiles: list[str], scripts: dict[str, str], files: Files, epoch: int) -> bytes:
    """Return the bytes of a package."""
    inside = [("control", control_text, 0o644), ("postinst", _POSTINST, 0o755), ("prerm", _PRERM, 0o755)]
    if conffiles:
        inside.append(("conffiles", "".join(path + "\n" for path in conffiles), 0o644))
    inside += [(WRAPPED.get(name, name), text, 0o755) for name, text in scripts.items()]
    head = gzip(tar([(name, text.encode(), mode) for name, text, mode in inside], epoch))
    data = gzip(tar([(path, *what) for path, what in files.items()], epoch))
    members = [("debian-binary", b"2.0\n"), ("data.tar.gz", data), ("control.tar.gz", head)]
    return gzip(tar([(name, what, 0o644) for name, what in members], epoch))


def index(packages: dict[str, tuple[str, bytes]]) -> str:
    """Return `Packages` of {file name: (control text, bytes of the package)}."""
    stanzas = []
    for file_name, (text, data) in sorted(packages.items()):
        head, _, description = text.partition("Description: ")
        place = f"Filename: {file_name}\nSize: {len(data)}\nSHA256sum: {hashlib.sha256(data).hexdigest()}\n"
        stanzas.append(head + place + "Description: " + description)
    return "".join(stanza + "\n" for stanza in stanzas)
