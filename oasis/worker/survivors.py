"""Find and end what a worker left behind: processes that left its group (fork, setsid) and outlive it.

A worker starts no process, so whatever it started is not ours. On a router the workers have a user of their own:
every process of that user that is no worker of a pool is ended. Where they run as who started the daemon, the owner's
own programs have the same user: there a process counts when its ancestors, its session or the mark in the environment
that it began with say that a worker made it. (Who leaves both family and session and overwrites its environment is
not found there; the page says of such a host that its workers are not confined.) Source: proc(5).
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MARK = "OASIS_WORKER"
# Looks until nothing is left: what forks faster than that is stopped first, and its user's limit of processes ends it.
_ROUNDS = 50
_PROC = "/proc"


def end(found: Callable[[], list[int]]) -> int:
    """Kill all that `found` lists until it lists nothing; return how many were killed."""
    killed: set[int] = set()
    for _ in range(_ROUNDS):
        pids = found()
        if not pids:
            break
        for number in (signal.SIGSTOP, signal.SIGKILL):  # all stand still before the first one dies
            for pid in pids:
                _signal(pid, number)
        killed.update(pids)
    return len(killed)


def of_user(uid: int, workers: set[int]) -> list[int]:
    """Return the processes of a user that are no workers."""
    found = []
    for pid in _pids():
        if pid not in workers and uid in _users(pid) and not _is_dead(pid):
            found.append(pid)
    return found


def of_workers(leaders: set[int], mark: str, workers: set[int]) -> list[int]:
    """Return the processes that some workers made, as ancestors, sessions or the mark tell; no worker is among them."""
    made: dict[int, tuple[int, int]] = {}
    for pid in _pids():
        stat = _stat(pid)
        if stat and stat[0] not in "ZX":
            made[pid] = (int(stat[1]), int(stat[3]))
    found = []
    for pid, (_, session) in made.items():
        if pid in workers or pid == os.getpid():
            continue
        if session in leaders or _descends(pid, made, leaders) or (mark and _is_marked(pid, mark)):
            found.append(pid)
    return found


def _descends(pid: int, made: dict[int, tuple[int, int]], leaders: set[int]) -> bool:
    seen: set[int] = set()
    while pid in made and pid not in seen:
        seen.add(pid)
        pid = made[pid][0]
        if pid in leaders:
            return True
    return False


def _is_marked(pid: int, mark: str) -> bool:
    try:
        with open(f"{_PROC}/{pid}/environ", "rb") as handle:
            return mark.encode() in handle.read()
    except OSError:
        return False  # it ended, or is another user's


def _users(pid: int) -> set[int]:
    """Return the real, effective, saved and file user of a process; none of one that ended."""
    try:
        with open(f"{_PROC}/{pid}/status", "rb") as handle:
            line = handle.read().partition(b"\nUid:")[2].partition(b"\n")[0]
    except OSError:
        return set()
    return {int(number) for number in line.split()}


def _is_dead(pid: int) -> bool:
    stat = _stat(pid)
    return not stat or stat[0] in "ZX"


def _stat(pid: int) -> list[str]:
    """Return state, parent, group, session and what follows, [] for a process that ended."""
    try:
        with open(f"{_PROC}/{pid}/stat", "rb") as handle:
            return handle.read().rpartition(b")")[2].decode("ascii", "replace").split()
    except OSError:
        return []


def _pids() -> list[int]:
    return [int(name) for name in os.listdir(_PROC) if name.isdigit()]


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        pass  # it ended
