"""One connection to the bus as a peer has it: messages out from any thread, requests of ours and their answers.

The thread that reads calls `receive` and hands every status and data to `answered`; everything else may come from any
thread. A write never waits longer than ubusd takes to read, or the connection is given up: half a message cannot be
taken back. Knows nothing of objects and methods.
"""

from __future__ import annotations

import _socket
import threading

from oasis.errors import ToolError
from oasis.ubus import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Done = Callable[[int, list[dict[int, bytes]]], None]

# ubusd always reads, and drops what its clients do not take: when it does not, it is stopped or gone.
_STUCK_S = 3.0
_WAIT = _socket.MSG_DONTWAIT
# A lookup of everything is the most that is asked for; a router has some hundred objects.
_ANSWERS = 1024


class Link:
    """A connection that said hello. `is_open` turns false once and for ever."""

    def __init__(self, connection: _socket.socket) -> None:
        try:
            kind, _, self.client, _ = message.receive(connection)
            if kind != message.HELLO:
                raise ToolError("the bus did not say hello")
        except (OSError, ToolError):
            connection.close()
            raise
        connection.settimeout(None)  # a read waits for ever, and costs nothing
        self._connection = connection
        self._sending = threading.Lock()
        self._asking = threading.Lock()
        self._number = 0
        self._asked: dict[int, tuple[Done, list[dict[int, bytes]]]] = {}
        self.is_open = True
        self.is_puzzled = False

    def receive(self) -> tuple[int, int, int, bytes]:
        """Return type, number, peer and attributes of the next message.

        Raises: ToolError and OSError at its end.
        """
        return message.receive(self._connection)

    def send(self, data: bytes) -> None:
        """Send whole messages; what cannot be sent ends the connection, and is lost."""
        with self._sending:
            rest = memoryview(data)
            while rest and self.is_open:
                try:
                    rest = rest[self._connection.send(rest, _WAIT) :]
                except BlockingIOError:
                    import select  # only a bus that is slow needs it

                    poll = select.poll()
                    poll.register(self._connection.fileno(), select.POLLOUT)
                    if not poll.poll(_STUCK_S * 1000):
                        self.end()
                except OSError:
                    self.end()

    def ask(self, kind: int, peer: int, content: bytes, done: Done) -> None:
        """Send a request; `done(status, data)` is called in the thread that reads, never when the connection ends."""
        with self._asking:
            while True:
                self._number = self._number % 0xFFFF + 1
                if self._number not in self._asked:
                    break
            self._asked[self._number] = done, []
            sequence = self._number
        self.send(message.message(kind, sequence, peer, content))

    def answered(self, kind: int, sequence: int, words: dict[int, bytes]) -> None:
        """Take a status or data; what belongs to no request of ours is passed over."""
        with self._asking:
            found = self._asked.get(sequence)
            if found is None:
                return
            done, data = found
            if kind == message.DATA:
                if len(data) < _ANSWERS:
                    data.append(words)
                return
            del self._asked[sequence]
        done(message.number_of(words.get(message.OF_STATUS, b"")), data)

    def ask_nothing(self, done: Callable[[], None]) -> None:
        """Have `done` called when the bus has done all that it was asked before: an object of no name is looked up."""
        self.ask(message.LOOKUP, 0, message.text(message.OF_PATH, ""), lambda status, data: done())

    def flush(self, timeout_s: float) -> None:
        """Wait until the bus has read what was sent: it forgets what it did not read when a connection ends."""
        if self.is_open:
            came = threading.Event()
            self.ask_nothing(came.set)
            came.wait(timeout_s)

    def end(self) -> None:
        """Wake the thread that reads; it closes."""
        self.is_open = False
        try:
            self._connection.shutdown(_socket.SHUT_RDWR)
        except OSError:
            pass  # the other side was quicker

    def close(self) -> None:
        """Free the connection; for the thread that reads from it, at the end."""
        self.end()
        with self._sending:
            self._connection.close()
