"""One worker process seen from the daemon: start, send a line, read lines, end. Knows no events and no providers.

The child has a process group of its own, an environment that is given whole, and no descriptor but its three pipes.
"""

from __future__ import annotations

import os
import select
import signal
import threading

from oasis.errors import PeerError
from oasis.system.child import Child
from oasis.system.limits import MODEL
from oasis.worker import survivors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

READ_BYTES = 65536
STDERR_BYTES = 4096  # the end of a traceback says what happened
TICK_MS = 50  # how soon a cancelled request is noticed
STOP_S = 2.0


# The workers of all pools of this daemon. Held while one is started: a worker that is not listed yet is nobody's.
_WORKERS: set[int] = set()
_LISTED = threading.Lock()


def sweep(uid: int | None, leaders: set[int], mark: str) -> int:
    """End what workers left behind, see survivors.py; return how many processes that were.

    `uid` is that of a user that the workers have for themselves, None where they share the daemon's.
    """
    with _LISTED:
        if uid is not None:
            return survivors.end(lambda: survivors.of_user(uid, _WORKERS))
        return survivors.end(lambda: survivors.of_workers(leaders, mark, _WORKERS))


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
