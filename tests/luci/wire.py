"""The network between a browser and the router: a port that passes everything on, can be cut, and can move.

It knows neither HTTP nor the page. `address` changes with `move`; the port stays, as it does when a router moves.
"""

from __future__ import annotations

import contextlib
import socket
import threading


class Wire:
    """Forwards 127.0.0.1:PORT to another port of this host; closed by `stop`."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._lock = threading.Lock()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._listener: socket.socket | None = None
        self.address, self.port = "127.0.0.1", 0
        self.mend()

    @property
    def url(self) -> str:
        """Return where a browser finds the router now."""
        return f"http://{self.address}:{self.port}/"

    def cut(self) -> None:
        """End all connections and let none in, as a network that restarts does."""
        listener, self._listener = self._listener, None
        if listener is not None:
            # shutdown wakes the thread that accepts
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """Let connections in, at the present address."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self.address, self.port))
        listener.listen(64)
        self.port = listener.getsockname()[1]
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def move(self, address: str) -> None:
        """Go to another address of this host."""
        self.cut()
        self.address = address
        self.mend()

    def stop(self) -> None:
        """End for good."""
        self.cut()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                peer, _ = listener.accept()
                inner = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                return
            with self._lock:
                self._pairs.append((peer, inner))
            for source, sink in ((peer, inner), (inner, peer)):
                threading.Thread(target=_pass_on, args=(source, sink), daemon=True).start()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    for end in (source, sink):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
