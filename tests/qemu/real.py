"""OpenWrt's own programs in the guest of Debian's kernel, as far as they are on PATH here.

They are built for this host's C library, so they are copied with their libraries and plugins and run as they are:
uci, ubus and ubusd, rpcd, uhttpd. procd and netifd stay stand-ins: they own more of a system than this guest has.
"""

from __future__ import annotations

import glob
import os
import shutil

from tests.qemu import tree

# (program, where OpenWrt has it, what of the suite it makes possible, what must be there as well)
PROGRAMS = (
    ("uci", "/sbin/uci", "uci", ()),
    ("ubusd", "/sbin/ubusd", "bus", ("ubus",)),
    ("ubus", "/bin/ubus", "bus", ("ubusd",)),
    ("rpcd", "/sbin/rpcd", "rpcd", ("ubusd",)),
    ("uhttpd", "/usr/sbin/uhttpd", "uhttpd", ("ubusd", "rpcd")),
    ("jsonfilter", "/usr/bin/jsonfilter", "jsonfilter", ()),
)
# Loaded by name at run time: (program, pattern beside its prefix's lib, folder on the router).
PLUGINS = (
    ("rpcd", "rpcd/file.so", "/usr/lib/rpcd"),
    ("rpcd", "rpcd/rpcsys.so", "/usr/lib/rpcd"),
    ("uhttpd", "uhttpd_ubus.so", "/usr/lib"),
)


def bring(root: str) -> tuple[list[str], set[str]]:
    """Copy what is on PATH; return (the programs, the features that they give)."""
    there = {name for name, *_ in PROGRAMS if shutil.which(name)}
    names, features = [], set()
    for name, target, feature, needs in PROGRAMS:
        if name not in there or not there.issuperset(needs):
            continue
        # A file of a guest's own has the place of the program until the program is there.
        if os.path.lexists(root + target):
            os.remove(root + target)
        source = os.path.realpath(shutil.which(name))
        tree.program(source, root, target)
        for owner, pattern, folder in PLUGINS:
            if owner == name:
                _plugins(root, os.path.join(os.path.dirname(source), "..", "lib", pattern), folder)
        names.append("OpenWrt's " + name)
        features.add(feature)
    return names, features


def _plugins(root: str, pattern: str, folder: str) -> None:
    """Copy plugins to where their program was built to look, and to where OpenWrt has them."""
    for plugin in map(os.path.abspath, glob.glob(pattern)):
        tree.program(plugin, root)
        tree.copy(plugin, root, folder + "/" + os.path.basename(plugin))
