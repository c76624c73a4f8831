"""What a child left behind: processes that left its group (fork, setsid) and outlive it.

Where children have a user of their own, as workers on a router, every process of that user that is no child of ours is
ended. Where they run as the user who started the daemon, the owner's own programs have the same user: there a process
counts when its ancestors, its session or the mark in the environment that it began with say that a child made it. (One
that leaves both family and session and overwrites its environment is not found there; the page says of such a host that
its workers are not confined.) Source: proc(5).
"""

from __future__ import annotations

import os
import signal

# Looks until nothing is left: what forks faster than that is stopped first, and its user's limit of processes ends it.
_ROUNDS = 50


def end(uid: int | None, leaders: set[int], mark: str, kept: set[int]) -> int:
    """End what children left behind; return how many processes that were.

    `uid` is that of a user that the children have for themselves, None where they share the daemon's. `leaders` are the
    children whose sessions and descendants count, `mark` is NAME=VALUE of their environment; `kept` are never ended.
    """
    killed: set[int] = set()
    for _ in range(_ROUNDS):
        pids = _found(uid, leaders, mark, kept)
        if not pids:
            break
        for number in (signal.SIGSTOP, signal.SIGKILL):  # all stand still before the first one dies
            for pid in pids:
                signalled(pid, number)
        killed.update(pids)
    return len(killed)


def _found(uid: int | None, leaders: set[int], mark: str, kept: set[int]) -> list[int]:
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    if uid is not None:
        status = {pid: _of_proc(pid, "status").partition(b"\nUid:")[2].partition(b"\n")[0].split() for pid in pids}
        pids = [pid for pid in pids if str(uid).encode() in status[pid]]  # real, effective, saved or file user
    made: dict[int, tuple[int, int]] = {}  # parent and session
    for pid in pids:
        state = _of_proc(pid, "stat").rpartition(b")")[2].split()
        if state and state[0] not in (b"Z", b"X"):
            made[pid] = (int(state[1]), int(state[3]))
    found = []
    for pid in made:
        if pid in kept or pid == os.getpid():
            continue
        family, above = {pid}, made[pid][0]
        while above in made and above not in family and above not in leaders:
            family.add(above)
            above = made[above][0]
        is_ours = uid is not None or made[pid][1] in leaders or above in leaders
        if is_ours or (mark and mark.encode() in _of_proc(pid, "environ")):
            found.append(pid)
    return found


def _of_proc(pid: int, name: str) -> bytes:
    """Return what the system says of a process, nothing of one that ended, or is another user's."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as handle:
            return handle.read()
    except OSError:
        return b""


def signalled(pid: int, number: int) -> None:
    """Send a signal to a process that may have ended."""
    try:
        os.kill(pid, number)
    except OSError:
        pass  # it ended
