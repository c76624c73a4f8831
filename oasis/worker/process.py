"""One worker process seen from the daemon: start, send a line, read lines, end. Knows no events and no providers.

The child has a process group of its own, an environment that is given whole, and no descriptor but its three pipes.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess

from oasis.errors import PeerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

READ_BYTES = 65536
STDERR_BYTES = 4096  # the end of a traceback says what happened
TICK_MS = 200  # how soon a cancelled request is noticed
STOP_S = 2.0


class Process:
    """A running worker. All methods are for one thread at a time."""

    def __init__(self, argv: list[str], env: dict[str, str]):
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(
            argv, stdin=pipe, stdout=pipe, stderr=pipe, env=env, cwd="/", bufsize=0, start_new_session=True
        )
        child = self._child
        assert child.stdin and child.stdout and child.stderr
        self._stdin, self._stdout, self._stderr = child.stdin, child.stdout, child.stderr
        for stream in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(stream.fileno(), False)
        self._rest = b""
        self._words = b""
        self.pid = child.pid

    def talk(self, data: bytes, line_bytes: int) -> Iterator[bytes]:
        """Send `data` and yield the lines that come back, b"" at least once a tick; ends when the worker does.

        Raises: PeerError for a line longer than `line_bytes`.
        """
        unsent = memoryview(data)
        out, words, into = self._stdout.fileno(), self._stderr.fileno(), self._stdin.fileno()
        poller = select.poll()
        poller.register(out, select.POLLIN)
        poller.register(words, select.POLLIN)
        poller.register(into, select.POLLOUT)
        while True:
            ready = dict(poller.poll(TICK_MS))
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
                yield from self._lines(piece, line_bytes)
            yield b""

    def _write(self, data: memoryview) -> memoryview:
        try:
            return data[os.write(self._stdin.fileno(), data[:READ_BYTES]) :]
        except BlockingIOError:
            return data
        except BrokenPipeError:
            return data[:0]  # it died; the end of its stdout tells

    def _lines(self, piece: bytes, line_bytes: int) -> list[bytes]:
        pieces = piece.split(b"\n")
        pieces[0] = self._rest + pieces[0]
        self._rest = pieces.pop()
        if len(self._rest) > line_bytes:
            raise PeerError(f"the worker wrote a line longer than {line_bytes} bytes")
        return pieces

    def _keep_words(self) -> bool:
        piece = os.read(self._stderr.fileno(), READ_BYTES)
        self._words = (self._words + piece)[-STDERR_BYTES:]
        return bool(piece)

    def has_rest(self) -> bool:
        """Tell whether the worker said more than it was asked for."""
        poller = select.poll()
        poller.register(self._stdout.fileno(), select.POLLIN)
        return bool(self._rest) or bool(poller.poll(0))

    def is_alive(self) -> bool:
        return self._child.poll() is None

    def last_words(self, secret: str) -> str:
        """Return the end of what the worker wrote to stderr, with `secret` masked."""
        try:
            while self._keep_words():
                pass
        except (BlockingIOError, ValueError):
            pass
        words = self._words.decode("utf-8", "replace")
        return words.replace(secret, "…") if secret else words

    def exit_status(self) -> int | None:
        """Return the exit status, negative for a signal, None while it runs."""
        try:
            return self._child.wait(STOP_S)
        except subprocess.TimeoutExpired:
            return None

    def stop(self, wait_s: float = STOP_S) -> None:
        """End the worker: close its stdin, kill its group when it still runs after `wait_s`."""
        self._stdin.close()
        try:
            self._child.wait(wait_s)
        except subprocess.TimeoutExpired:
            self.kill()
        self._close()

    def kill(self) -> None:
        """End the worker and everything in its group now."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._child.wait()
        self._close()

    def _close(self) -> None:
        for stream in (self._stdin, self._stdout, self._stderr):
            stream.close()
