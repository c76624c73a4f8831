"""A named pipe into the daemon: hotplug scripts write a line, which wakes the one thread that waits there.

It is there only while somebody listens, so a script that finds none has nothing to do. Who writes opens it for reading
as well (`1<>`), and so never waits for a reader. Lines are a few words that a shell wrote; whoever takes them checks.
Knows no schedule.
"""

from __future__ import annotations

import os

from oasis.errors import StoreError

# A script's line is atomic up to 4096 bytes; ours have 150.
LINE_BYTES = 512
_READ_BYTES = 65536


class Pipe:
    """The pipe at `path`, made 0600 with the first `open`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._number = -1

    def open(self) -> None:
        """Make the pipe and hold it open.

        Raises: StoreError.
        """
        try:
            if os.path.lexists(self._path):
                os.remove(self._path)  # of a daemon that was killed
            os.mkfifo(self._path, 0o600)
            self._number = os.open(self._path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise StoreError("cannot make %s: %s" % (self._path, error.strerror))

    def wait(self, seconds: float) -> list[str]:
        """Return the lines that came, waiting for the first so long at most."""
        import select

        poll = select.poll()
        poll.register(self._number, select.POLLIN)
        if not poll.poll(max(int(seconds * 1000), 0)):
            return []
        try:
            data = os.read(self._number, _READ_BYTES)
        except BlockingIOError:
            return []
        # A reading may end within a line only when more was waiting than fits: then nobody keeps up anyway.
        lines = data.split(b"\n")
        return [line.decode("ascii", "replace") for line in lines if line and len(line) <= LINE_BYTES]

    def wake(self) -> None:
        """Let who waits look again."""
        if self._number >= 0:
            try:
                os.write(self._number, b"\n")
            except BlockingIOError:
                pass  # it is full, so whoever waits is awake

    def close(self) -> None:
        """Take the pipe away."""
        if self._number >= 0:
            os.close(self._number)
            self._number = -1
            try:
                os.remove(self._path)
            except OSError:
                pass  # the folder is gone: so is the pipe
