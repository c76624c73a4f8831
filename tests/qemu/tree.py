"""Lay out a guest's root from programs of this host, each with the libraries that ldd names for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig

# Parts of the standard library that no program of ours and no test in the guest uses; they are half of its size.
LEFT_OUT = shutil.ignore_patterns(
    "test", "tests", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip", "distutils", "pydoc_data",
    "site-packages", "dist-packages", "config-*", "sqlite3", "venv", "*.opt-[12].pyc", "_test*", "_tkinter*",
    "__phello__*",
    "msilib",
)  # fmt: skip


def copy(source: str, root: str, target: str = "") -> None:
    """Copy a file to `root` at its own path or at `target`."""
    path = root + (target or source)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.exists(path):
        shutil.copy2(os.path.realpath(source), path)


def program(source: str, root: str, target: str = "") -> None:
    """Copy a program or library and all that it is linked with."""
    copy(source, root, target)
    for library in libraries(source):
        copy(library, root)


def libraries(path: str) -> list[str]:
    """Return the absolute paths of the libraries of a program; [] of one that is linked statically."""
    told = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    return re.findall(r"(?:=> |^\t)(/\S+) \(0x", told, re.M)


def python(root: str) -> str:
    """Copy this interpreter and its standard library to /usr; return its version."""
    stdlib = sysconfig.get_path("stdlib")
    version = "python%d.%d" % sys.version_info[:2]
    target = root + "/usr/lib/" + version
    program(os.path.realpath(sys.executable), root, "/usr/bin/" + version)
    os.symlink(version, root + "/usr/bin/python3")
    shutil.copytree(stdlib, target, ignore=LEFT_OUT, ignore_dangling_symlinks=True)
    # A Debian keeps them elsewhere and links them.
    dynamic = sysconfig.get_config_var("DESTSHARED") or stdlib + "/lib-dynload"
    for name in sorted(os.listdir(dynamic)):
        if name.endswith(".so") and not name.startswith(("_test", "_tkinter", "xx")):
            program(os.path.join(dynamic, name), root, "/usr/lib/%s/lib-dynload/%s" % (version, name))
    return version


def busybox(root: str) -> None:
    """Copy busybox with a link for each applet."""
    source = shutil.which("busybox")
    program(source, root, "/bin/busybox")
    listed = subprocess.run([source, "--list"], capture_output=True, text=True, check=True).stdout.split()
    for applet in listed:
        for folder in ("/bin/", "/sbin/"):
            path = root + folder + applet
            if not os.path.lexists(path):
                os.symlink("/bin/busybox", path)
