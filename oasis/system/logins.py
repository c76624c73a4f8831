"""How the process at the other end came to this machine: by a login over SSH, at the console, or in another way.

Followed from the process to its parents in /proc. An SSH server has one process a login, made when its connection was
accepted and gone with it; a session shared over an older connection (ControlMaster) belongs to the older process.
Source: proc(5), /proc/PID/stat.
"""

from __future__ import annotations

import os

FOLDER = "/proc"
SERVERS = ("dropbear", "sshd", "sshd-session", "sshd-auth")
# Major numbers of Unix 98 pseudo terminals; any other terminal is a serial line or a screen of the machine itself.
_PSEUDO = range(136, 144)
# More parents than any login has.
_DEPTH = 64


def login_of(pid: int, folder: str = FOLDER) -> tuple[str, float]:
    """Return how a process came here and, for SSH, when its connection was accepted.

    Shape: ("ssh", seconds of uptime), ("console", 0.0) or ("unknown", 0.0).
    """
    servers = _servers(pid, folder)
    if servers:
        return "ssh", servers[-1][1] / os.sysconf("SC_CLK_TCK")
    first = _stat(pid, folder)
    major = (first[2] >> 8) & 0xFFF if first else 0
    return ("console" if major and major not in _PSEUDO else "unknown"), 0.0


def servers_of(pid: int, folder: str = FOLDER) -> list[int]:
    """Return the processes of the SSH server that serve the login of a process alone; [] when it has no such login."""
    return [number for number, _ in _servers(pid, folder)]


def _servers(pid: int, folder: str) -> list[tuple[int, int]]:
    """Return (process, its start in clock ticks) of each that serves a login, the innermost first."""
    process = _stat(pid, folder)
    found: list[tuple[int, int]] = []
    for _ in range(_DEPTH):
        if process is None:
            break
        name, parent, _, started = process
        above = _stat(parent, folder) if parent > 0 else None
        if name in SERVERS:
            # The one that listens is the last of them and serves everybody, so it is not the login.
            if not found or (above is not None and above[0] in SERVERS):
                found.append((pid, started))
        elif found:
            break
        process, pid = above, parent
    return found


def _stat(pid: int, folder: str) -> tuple[str, int, int, int] | None:
    """Return (name, parent, controlling terminal, start in clock ticks since boot) of a process, None without one."""
    try:
        with open("%s/%d/stat" % (folder, pid), encoding="utf-8", errors="replace") as handle:
            text = handle.read()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    name = text.partition("(")[2].rpartition(")")[0]
    return name, int(fields[1]), int(fields[4]), int(fields[19])
