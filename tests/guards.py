"""The guard processes of a router root: found, waited for, killed."""

from __future__ import annotations

import os
import signal
import time


def guards(root: str) -> list[int]:
    """Return the process ids of the guards of a root; one that has just begun is seen a moment later."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as line, open(f"/proc/{name}/stat", "rb") as stat:
                words = line.read().split(b"\0")
                parent = int(stat.read().rpartition(b")")[2].split()[1])
        except OSError:
            continue
        if any(word.endswith(b"/guard.sh") for word in words) and root.encode() in words:
            parents[int(name)] = parent
    # The shell that runs a guard looks like two of it for a moment whenever it starts a program.
    return [pid for pid, parent in parents.items() if parent not in parents]


def wait_for_guard(root: str, other_than: tuple[int, ...] = (), seconds: float = 10.0) -> int:
    """Return a guard of a root that is none of the given ones."""
    deadline = time.monotonic() + seconds
    while not (new := [pid for pid in guards(root) if pid not in other_than]):
        assert time.monotonic() < deadline, "there is no guard"
        time.sleep(0.02)
    return new[0]


def kill_guards(root: str) -> list[int]:
    """Kill the guards of a root; return who they were."""
    found = guards(root)
    for pid in found:
        os.kill(pid, signal.SIGKILL)
    return found
