"""The bus's messages over a connection: a header (version, type, number, peer) and a blob of attributes.

A request's answers have its number: data, none or several times, then a status. Knows no settings and no clock: the
connection's timeout is the caller's. File descriptors that come along are dropped by the kernel, since nobody asks for
them. Source: ubus's ubusmsg.h and libubus-io.c.
"""

from __future__ import annotations

from oasis.errors import ToolError
from oasis.ubus.blobmsg import LENGTH, attribute

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket

# Types of messages.
HELLO, STATUS, DATA, PING, LOOKUP, INVOKE, ADD_OBJECT, REMOVE_OBJECT, SUBSCRIBE, UNSUBSCRIBE, NOTIFY = range(11)
# Attributes of messages: a status, the path, number and signature of an object, the values, the object subscribed to,
# whether anybody is subscribed, whether no reply is wanted, who calls.
(OF_STATUS, OF_PATH, OF_OBJECT, OF_METHOD, _, OF_SIGNATURE, OF_DATA, OF_TARGET, OF_ACTIVE, OF_NO_REPLY, _, OF_USER,
 OF_GROUP) = range(1, 14)  # fmt: skip
INVALID_ARGUMENT, NO_METHOD, NOT_FOUND, NO_DATA, UNKNOWN_ERROR = 2, 3, 4, 5, 9
# What ubusd takes at most (UBUS_MAX_MSGLEN); the same must do for what it sends.
MESSAGE_BYTES = 1 << 20
# What we say at most: as much as rpcd lets its programs print, which uhttpd and phones are used to.
REPLY_BYTES = 256 * 1024
# A length is only claimed until its bytes are there: this much is taken at once.
_PIECE = 65536


def text(kind: int, value: str) -> bytes:
    """Return a text as an attribute of a message."""
    return attribute(kind, value.encode() + b"\0")


def number(kind: int, value: int) -> bytes:
    """Return a number as an attribute of a message."""
    return attribute(kind, value.to_bytes(4, "big"))


def invocation(to: int, method: str, data: bytes) -> bytes:
    """Return the attributes of a call of an object's method, and of what it tells its subscribers."""
    return number(OF_OBJECT, to) + text(OF_METHOD, method) + attribute(OF_DATA, data)


def number_of(content: bytes) -> int:
    """Return what an attribute says as a number; 0 when there is none."""
    return int.from_bytes(content, "big")


def text_of(content: bytes) -> str:
    """Return what an attribute says as a text; "" when there is none."""
    return content.partition(b"\0")[0].decode("utf-8", "replace")


def message(kind: int, sequence: int, peer: int, content: bytes) -> bytes:
    """Return a message of these attributes."""
    head = bytes([0, kind]) + sequence.to_bytes(2, "big") + peer.to_bytes(4, "big")
    return head + (len(content) + 4).to_bytes(4, "big") + content


def receive(connection: _socket.socket) -> tuple[int, int, int, bytes]:
    """Return type, number, peer and attributes of the next message.

    Raises: ToolError when the connection ends or says what is no message.
    """
    head = _exactly(connection, 12)
    size = int.from_bytes(head[8:], "big") & LENGTH
    if head[0] or not 4 <= size <= MESSAGE_BYTES:
        raise ToolError("the bus sent a message of %d bytes" % size)
    sequence, peer = int.from_bytes(head[2:4], "big"), int.from_bytes(head[4:8], "big")
    return head[1], sequence, peer, _exactly(connection, size - 4)


def _exactly(connection: _socket.socket, size: int) -> bytes:
    if not size:
        return b""
    data = connection.recv(min(size, _PIECE))
    if len(data) < size:
        whole = bytearray(data)
        while data and len(whole) < size:
            data = connection.recv(min(size - len(whole), _PIECE))
            whole += data
        data = data and bytes(whole)
    if not data:
        raise ToolError("the bus ended the connection")
    return data
