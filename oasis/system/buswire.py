"""The bus's own protocol, as a caller speaks it: one call over a connection that is given. Starts no process.

Messages are a header (version, type, number, peer) and a blob of attributes; data are attributes with names (blobmsg).
Numbers are big-endian, everything is padded to 4 bytes, lengths count the 4 bytes of their own and no padding.
Knows no settings and no clock: the connection's timeout is the caller's.
Source: ubus's ubusmsg.h and libubus-req.c; libubox's blob.h and blobmsg.h; the answers of ubusd.
"""

from __future__ import annotations

from oasis.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket

    Attributes = list[tuple[int, bytes]]

STATUS, DATA, LOOKUP, INVOKE = 1, 2, 4, 5  # types of messages that are of use here
_STATUS, _PATH, _OBJECT, _METHOD, _DATA = 1, 2, 3, 4, 7  # attributes of messages
_ARRAY, _TABLE, _STRING, _INT64, _INT32, _INT16, _INT8, _DOUBLE = range(1, 9)  # types of data
_NAMED = 0x80000000
_LENGTH = 0xFFFFFF
# What ubusd takes at most (UBUS_MAX_MSGLEN); the same must do for what it sends.
MESSAGE_BYTES = 1 << 20
# Far more than any object of a router answers with; far less than Python's own limit.
_DEEPEST = 64
_NO_DATA = 5


class Failed(ToolError):
    """A call ended with a status of the bus."""

    def __init__(self, status: int) -> None:
        ToolError.__init__(self, "status %d" % status)
        self.status = status


def call(connection: _socket.socket, name: str, method: str, arguments: dict[str, object]) -> dict[str, object] | None:
    """Call a method over a fresh connection; return the reply, None when it has no data.

    Raises: Failed with the bus's status, ToolError when what comes is not its protocol, OSError of the connection.
    """
    _receive(connection)  # it says hello first
    found = _ask(connection, LOOKUP, 1, 0, _attribute(_PATH, name.encode() + b"\0"))
    if _OBJECT not in found:
        raise Failed(_NO_DATA)
    number = int.from_bytes(found[_OBJECT], "big")
    data = b"".join(_encoded(key, value) for key, value in arguments.items())
    words = _attribute(_OBJECT, found[_OBJECT]) + _attribute(_METHOD, method.encode() + b"\0") + _attribute(_DATA, data)
    reply = _ask(connection, INVOKE, 2, number, words)
    return dict(_named(reply[_DATA])) if _DATA in reply else None


def _ask(connection: _socket.socket, kind: int, number: int, peer: int, attributes: bytes) -> dict[int, bytes]:
    """Send a message and return the attributes of the first data that come before its status."""
    head = bytes([0, kind]) + number.to_bytes(2, "big") + peer.to_bytes(4, "big")
    connection.sendall(head + (len(attributes) + 4).to_bytes(4, "big") + attributes)
    found: dict[int, bytes] = {}
    while True:
        kind, reply_to, attributes = _receive(connection)
        if reply_to != number or kind not in (STATUS, DATA):
            continue
        values = dict(_split(attributes))
        if kind == STATUS:
            status = int.from_bytes(values.get(_STATUS, b""), "big")
            if status:
                raise Failed(status)
            return found
        found = found or values


def _receive(connection: _socket.socket) -> tuple[int, int, bytes]:
    """Return type, number and attributes of the next message."""
    head = _exactly(connection, 12)
    size = int.from_bytes(head[8:], "big") & _LENGTH
    if not 4 <= size <= MESSAGE_BYTES:
        raise ToolError("the bus sent a message of %d bytes" % size)
    return head[1], int.from_bytes(head[2:4], "big"), _exactly(connection, size - 4)


def _exactly(connection: _socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ToolError("the bus ended the connection")
        data += part
    return data


def _split(data: bytes) -> Attributes:
    """Return the attributes of a blob: type and content of each."""
    found = []
    at = 0
    while at + 4 <= len(data):
        head = int.from_bytes(data[at : at + 4], "big")
        size = head & _LENGTH
        if size < 4 or at + size > len(data):
            raise ToolError("the bus sent a broken message")
        found.append(((head >> 24) & 0x7F, data[at + 4 : at + size]))
        at += (size + 3) & ~3
    return found


def _named(data: bytes, depth: int = 0) -> list[tuple[str, object]]:
    """Return names and values of a blob's data."""
    if depth > _DEEPEST:
        raise ToolError("the bus sent data in more than %d levels" % _DEEPEST)
    found = []
    for kind, content in _split(data):
        size = int.from_bytes(content[:2], "big")
        name, value = content[2 : 2 + size], content[(size + 6) & ~3 :]
        found.append((name.decode("utf-8", "replace"), _decoded(kind, value, depth + 1)))
    return found


def _decoded(kind: int, value: bytes, depth: int) -> object:
    if kind == _TABLE:
        return dict(_named(value, depth))
    if kind == _ARRAY:
        return [item for _, item in _named(value, depth)]
    if kind == _STRING:
        return value[:-1].decode("utf-8", "replace")
    if kind == _INT8:
        return value != b"\0"
    if kind in (_INT64, _INT32, _INT16):
        return int.from_bytes(value, "big", signed=True)
    if kind == _DOUBLE and len(value) == 8:
        import struct

        return struct.unpack(">d", value)[0]
    return None


def _attribute(kind: int, content: bytes, flag: int = 0) -> bytes:
    head = flag | kind << 24 | (len(content) + 4)
    return head.to_bytes(4, "big") + content + bytes(-len(content) % 4)


def _encoded(name: str, value: object) -> bytes:
    """Return a named value as an attribute.

    Raises: ToolError for a value that no call of ours has.
    """
    kind, content = _content(value)
    label = name.encode()
    head = len(label).to_bytes(2, "big") + label + b"\0"
    return _attribute(kind, head + bytes(-len(head) % 4) + content, _NAMED)


def _content(value: object) -> tuple[int, bytes]:
    if isinstance(value, bool):
        return _INT8, bytes([value])
    if isinstance(value, int):
        is_long = not -(1 << 31) <= value < 1 << 31
        return (_INT64, value.to_bytes(8, "big", signed=True)) if is_long else (
            _INT32, value.to_bytes(4, "big", signed=True))  # fmt: skip
    if isinstance(value, str):
        return _STRING, value.encode() + b"\0"
    if isinstance(value, list):
        return _ARRAY, b"".join(_encoded("", item) for item in value)
    if isinstance(value, dict):
        return _TABLE, b"".join(_encoded(str(key), item) for key, item in value.items())
    raise ToolError("the bus takes no %s" % type(value).__name__)
