"""Serve lines on a unix socket: one thread a connection, one line in, one line out.

The kernel says who is at the other end (SO_PEERCRED) when the connection opens, never by what it says. The
socket and its folder are private to the user that runs us. Knows nothing of methods.
"""

from __future__ import annotations

import _socket
import os
import sys
import threading
import time

from oasis.errors import StoreError

if False:  # annotations only
    from oasis.core.shapes import Callable

    Answer = Callable[[bytes, dict[str, object]], bytes]

LINE_BYTES = 1024 * 1024
# A page of LuCI, a few terminals, a messenger and a phone: each holds one connection while it polls.
CONNECTIONS = 32
# As many may knock at once: beyond that a client must try again, and few do.
_BACKLOG = CONNECTIONS
# When no descriptor or no thread is to be had, the next try waits this long.
_PAUSE_S = 0.1


class LineServer:
    """A listening socket. `answer(line, peer)` returns the reply line; peer is {"pid", "uid", "terminal"}."""

    def __init__(self, path: str, answer: Answer) -> None:
        self._answer = answer
        self._path = path
        self._is_stopped = False
        self._slots = threading.BoundedSemaphore(CONNECTIONS)
        # `_socket` does what `socket` would, without what that imports; it closes itself on exec as well.
        self._listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self._bind()

    def _bind(self) -> None:
        folder, name = os.path.split(self._path)
        number = -1
        try:
            number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            if os.path.exists(self._path):
                os.remove(self._path)  # left by a killed daemon: the caller holds the lock
            # A socket's address has 108 bytes; a folder on a developer's machine may be deeper.
            self._listener.bind("/proc/self/fd/%d/%s" % (number, name))
            os.chmod(self._path, 0o600)
            self._listener.listen(_BACKLOG)
        except OSError as error:
            self._listener.close()
            raise StoreError("cannot listen on %s: %s" % (self._path, error), "is the folder writable?")
        finally:
            if number >= 0:
                os.close(number)

    def serve(self) -> None:
        """Accept connections until `stop`."""
        while not self._is_stopped:
            try:
                number, _ = self._listener._accept()  # type: ignore[attr-defined]  # not in the stubs
            except OSError as error:
                if not self._is_stopped:
                    print("oasisd: cannot accept a connection: %s" % error, file=sys.stderr)
                    time.sleep(_PAUSE_S)
                continue
            self._begin(_socket.socket(fileno=number))

    def _begin(self, connection: _socket.socket) -> None:
        if not self._slots.acquire(blocking=False):
            connection.close()
            return
        try:
            threading.Thread(target=self._talk, args=(connection,), name="connection", daemon=True).start()
        except RuntimeError as error:  # no memory for a thread
            print("oasisd: cannot serve a connection: %s" % error, file=sys.stderr)
            connection.close()
            self._slots.release()

    def stop(self) -> None:
        """Stop accepting; connections end after the line that they are at."""
        self._is_stopped = True
        try:
            os.remove(self._path)
        except OSError:
            pass  # gone already, with its folder
        # close() alone does not wake a thread that waits in accept().
        try:
            self._listener.shutdown(_socket.SHUT_RDWR)
        except OSError:
            pass  # never connected: the wake-up is what counts
        self._listener.close()

    def _talk(self, connection: _socket.socket) -> None:
        try:
            peer = peer_of(connection)
            rest = b""
            while True:
                piece = connection.recv(65536)
                if not piece:
                    return
                rest += piece
                while b"\n" in rest:
                    line, _, rest = rest.partition(b"\n")
                    connection.sendall(self._answer(line, peer))
                    if self._is_stopped:
                        return
                if len(rest) > LINE_BYTES:
                    return
        except OSError as error:
            if error.errno not in (32, 104):  # the other end left: EPIPE, ECONNRESET
                print("oasisd: connection failed: %s" % error, file=sys.stderr)
        finally:
            connection.close()
            self._slots.release()


def peer_of(connection: _socket.socket) -> dict[str, object]:
    """Return who is connected: {"pid", "uid", "terminal": whether its process has a controlling terminal}."""
    raw = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)  # struct ucred: three 32-bit numbers
    pid, uid = [int.from_bytes(raw[at : at + 4], sys.byteorder, signed=at == 0) for at in (0, 4)]
    return {"pid": pid, "uid": uid, "terminal": has_terminal(pid)}


def has_terminal(pid: int) -> bool:
    """Return whether a process has a controlling terminal (field 7 of /proc/PID/stat)."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as handle:
            fields = handle.read().rpartition(b")")[2].split()
    except OSError:
        return False
    return len(fields) > 4 and fields[4] != b"0"
