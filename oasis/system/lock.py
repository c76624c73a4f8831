"""The one lock of a router root: two daemons would write the same files."""

from __future__ import annotations

import fcntl
import os

from oasis.errors import SettingsError


def hold(path: str, folder: str) -> int:
    """Hold the lock of the router root in `folder` for the life of the process; return its descriptor.

    Raises: SettingsError naming the daemon that has it.
    """
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        other = os.read(number, 32).decode("ascii", "replace").strip()
        os.close(number)
        raise SettingsError("another oasisd (process %s) works on %s" % (other, folder), "stop it first")
    os.ftruncate(number, 0)
    os.write(number, b"%d\n" % os.getpid())
    return number
