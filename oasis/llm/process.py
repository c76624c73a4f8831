"""One worker process seen from the daemon: start, send a line, read lines, end. Knows no events and no providers.

The child has a process group of its own, an environment that is given whole, and no descriptor but its three pipes.
"""

from __future__ import annotations

import os
import select
import signal
import threading

from oasis.errors import PeerError
from oasis.system.child import MODEL, Child

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


READ_BYTES = 65536
STDERR_BYTES = 4096  # the end of a traceback says what happened
TICK_MS = 50  # how soon a cancelled request is noticed
STOP_S = 2.0


# The workers of all pools of this daemon. Held while one is started: a worker that is not listed yet is nobody's.
_WORKERS: set[int] = set()
_LISTED = threading.Lock()


def sweep(uid: int | None, leaders: set[int], mark: str) -> int:
    """End what workers left behind, see process.py; return how many processes that were.

    `uid` is that of a user that the workers have for themselves, None where they share the daemon's.
    """
    with _LISTED:
        if uid is not None:
            return end(lambda: of_user(uid, _WORKERS))
        return end(lambda: of_workers(leaders, mark, _WORKERS))


class Process:
    """A running worker. All methods are for one thread at a time."""

    def __init__(self, argv: list[str], env: dict[str, str]):
        with _LISTED:
            self._child = child = Child(argv, env, MODEL, True, True)
            _WORKERS.add(child.pid)
        for number in (child.stdin, child.stdout, child.stderr):
            os.set_blocking(number, False)
        self._lines: list[bytes] = []
        self._rest = b""
        self._words = b""
        self.pid = child.pid
        self.is_used = False  # the caller's note that it has served before

    def talk(self, data: bytes, line_bytes: int, tick_ms: int = TICK_MS) -> Iterator[bytes]:
        """Send `data` and yield the lines that come back, b"" at least once a tick; ends when the worker does.

        Raises: PeerError for a line longer than `line_bytes`.
        """
        unsent = memoryview(data)
        out, words, into = self._child.stdout, self._child.stderr, self._child.stdin
        poller = select.poll()
        poller.register(out, select.POLLIN)
        poller.register(words, select.POLLIN)
        poller.register(into, select.POLLOUT)
        while True:
            ready = dict(poller.poll(tick_ms))
            if into in ready:
                unsent = self._write(unsent)
                if not unsent:
                    poller.unregister(into)
            if words in ready and not self._keep_words():
                poller.unregister(words)
            if out in ready:
                piece = os.read(out, READ_BYTES)
                if not piece:
                    return
                self._split(piece, line_bytes)
            while self._lines:
                yield self._lines.pop(0)
            yield b""

    def _write(self, data: memoryview) -> memoryview:
        try:
            return data[os.write(self._child.stdin, data[:READ_BYTES]) :]
        except BlockingIOError:
            return data
        except BrokenPipeError:
            return data[:0]  # it died; the end of its stdout tells

    def _split(self, piece: bytes, line_bytes: int) -> None:
        pieces = piece.split(b"\n")
        pieces[0] = self._rest + pieces[0]
        self._rest = pieces.pop()
        if len(self._rest) > line_bytes:
            raise PeerError(f"the worker wrote a line longer than {line_bytes} bytes")
        self._lines.extend(pieces)

    def _keep_words(self) -> bool:
        piece = os.read(self._child.stderr, READ_BYTES)
        self._words = (self._words + piece)[-STDERR_BYTES:]
        return bool(piece)

    def has_rest(self) -> bool:
        """Tell whether the worker said more than it was asked for."""
        poller = select.poll()
        poller.register(self._child.stdout, select.POLLIN)
        return bool(self._lines or self._rest or poller.poll(0))

    def is_alive(self) -> bool:
        return self._child.poll() is None

    def last_words(self, secret: str) -> str:
        """Return the end of what the worker wrote to stderr, with `secret` masked."""
        try:
            while self._keep_words():
                pass
        except OSError:
            pass  # nothing more for now
        words = self._words.decode("utf-8", "replace")
        return words.replace(secret, "…") if secret else words

    def exit_status(self) -> int | None:
        """Return the exit status, negative for a signal, None while it runs."""
        return self._child.wait(STOP_S)

    def stop(self, wait_s: float = STOP_S) -> None:
        """End the worker: close its stdin, kill its group when it still runs after `wait_s`."""
        self._child.close_input()
        if self._child.wait(wait_s) is None:
            self._child.end_group()
        self._child.close()
        self._unlist()

    def kill(self) -> None:
        """End the worker and everything in its group now."""
        self._child.end_group()
        self._child.close()
        self._unlist()

    def end_now(self) -> None:
        """Kill it while another thread listens to it: that one sees the end of its lines."""
        try:
            os.kill(self.pid, signal.SIGKILL)
        except OSError:
            pass  # it ended

    def _unlist(self) -> None:
        with _LISTED:
            _WORKERS.discard(self.pid)


# What a worker left behind: processes that left its group (fork, setsid) and outlive it
#
# A worker starts no process, so whatever it started is not ours. On a router the workers have a user of their own:
# every process of that user that is no worker of a pool is ended. Where they run as the user who started the daemon,
# the owner's own programs have the same user: there a process counts when its ancestors, its session or the mark in the
# environment that it began with say that a worker made it. (One that leaves both family and session and overwrites its
# environment is not found there; the page says of such a host that its workers are not confined.) Source: proc(5).

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
