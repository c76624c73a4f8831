"""The way from the stand-in to the daemon: one JSON-RPC line over the unix socket, one line back.

It must not know HTTP or sessions. It stands where ubusd stands on a router, so it speaks in ubus terms:
`call(object, method, arguments)` gives (status, reply).
"""

from __future__ import annotations

import json
import os
import socket

# ubus status words (libubus, enum ubus_msg_status).
OK, INVALID_ARGUMENT, METHOD_NOT_FOUND, NOT_FOUND, NO_DATA, TIMEOUT, UNKNOWN = 0, 2, 3, 4, 5, 7, 9
# ubusd carries no message above this.
MESSAGE_MAX_BYTES = 1 << 20
_STATUS_OF_CODE = {-32601: METHOD_NOT_FOUND, -32602: INVALID_ARGUMENT}


class Bridge:
    """Objects `oasis` and `oasis.*` of the daemon whose socket stands in a router root."""

    def __init__(self, root: str, limit_s: float) -> None:
        self._folder = os.path.join(root, "var/run/oasis")
        self._limit_s = limit_s

    def has(self, obj: str) -> bool:
        """Tell whether the object is on the bus, which it is while the daemon listens."""
        if obj != "oasis" and not obj.startswith("oasis."):
            return False
        try:
            self._connect().close()
        except OSError:
            return False
        return True

    def call(self, obj: str, method: str, arguments: dict[str, object]) -> tuple[int, dict[str, object] | None]:
        """Call a method. Shape: (ubus status, reply or None)."""
        name = f"{obj[6:]}.{method}" if obj.startswith("oasis.") else method
        request = {"jsonrpc": "2.0", "id": 1, "method": name, "params": arguments}
        try:
            line = self._exchange(json.dumps(request).encode() + b"\n")
        except TimeoutError:
            return TIMEOUT, None
        except OSError:
            return NO_DATA, None
        # A larger message never arrives on a real bus; the caller waits until its limit is over.
        if len(line) > MESSAGE_MAX_BYTES:
            return TIMEOUT, None
        return _reply(line)

    def _exchange(self, line: bytes) -> bytes:
        with self._connect() as peer:
            peer.sendall(line)
            received = b""
            while b"\n" not in received and len(received) <= MESSAGE_MAX_BYTES:
                piece = peer.recv(65536)
                if not piece:
                    raise ConnectionResetError
                received += piece
            return received if len(received) > MESSAGE_MAX_BYTES else received.split(b"\n", 1)[0]

    def _connect(self) -> socket.socket:
        # A socket's address holds 107 bytes; a folder of a test may be longer, its descriptor's name never is.
        folder = os.open(self._folder, os.O_PATH | os.O_DIRECTORY)
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            peer.settimeout(self._limit_s)
            peer.connect(f"/proc/self/fd/{folder}/oasis.sock")
        except OSError:
            peer.close()
            raise
        finally:
            os.close(folder)
        return peer


def _reply(line: bytes) -> tuple[int, dict[str, object] | None]:
    try:
        message = json.loads(line)
    except ValueError:
        return UNKNOWN, None
    error = message.get("error")
    if error is None:
        result = message.get("result")
        return OK, result if isinstance(result, dict) else None
    if str(error.get("message")).endswith(": not installed") or ": the package oasis-" in str(error.get("message")):
        return NOT_FOUND, None  # what belongs to a part has no object on the bus without it
    if isinstance(error.get("data"), dict):
        return OK, {"error": error["data"]}
    return _STATUS_OF_CODE.get(error.get("code"), UNKNOWN), None
