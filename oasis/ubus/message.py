"""What the bus says: messages over a connection, their attributes, and values with names and types in these.

Knows no settings and no clock: a connection's timeout is the caller's. What is read comes from others: depth, number of
values and every length are checked, and a blob is read whole or refused. File descriptors that come along are dropped
by the kernel, since nobody asks for them.
Source: ubus's ubusmsg.h and libubus-io.c; libubox's blob.h, blob.c, blobmsg.h and blobmsg.c (the checks are those of
blob_parse_untrusted and blobmsg_check_attr).
"""

from __future__ import annotations

import _socket
from collections.abc import Iterator, Mapping

from oasis.errors import ToolError

# Types of messages.
HELLO, STATUS, DATA, PING, LOOKUP, INVOKE, ADD_OBJECT, REMOVE_OBJECT, SUBSCRIBE, UNSUBSCRIBE, NOTIFY = range(11)
# Attributes of messages: a status, the path, number and signature of an object, the values, the object subscribed to,
# whether anybody is subscribed, whether no reply is wanted, who calls.
(OF_STATUS, OF_PATH, OF_OBJECT, OF_METHOD, _, OF_SIGNATURE, OF_DATA, OF_TARGET, OF_ACTIVE, OF_NO_REPLY, _, OF_USER,
 OF_GROUP) = range(1, 14)  # fmt: skip
INVALID_ARGUMENT, NO_METHOD, NOT_FOUND, NO_DATA, TIMED_OUT, UNKNOWN_ERROR = 2, 3, 4, 5, 7, 9
# What ubusd takes at most (UBUS_MAX_MSGLEN); the same must do for what it sends.
MESSAGE_BYTES = 1 << 20
# What we say at most: as much as rpcd lets its programs print, which uhttpd and phones are used to.
REPLY_BYTES = 256 * 1024
# A length is only claimed until its bytes are there: this much is taken at once.
_PIECE = 65536


# -- messages ---------------------------------------------------------------------------------------------------------
#
# A header (version, type, number, peer) and a blob of attributes. A request's answers have its number: data, none or
# several times, then a status.


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
    whole = bytearray()
    while len(whole) < size:
        data = connection.recv(min(size - len(whole), _PIECE))
        if not data:
            raise ToolError("the bus ended the connection")
        whole += data
    return bytes(whole)


# -- attributes in a blob: a type, a length and bytes -----------------------------------------------------------------
#
# Numbers are big-endian, everything is padded to 4 bytes, lengths count the 4 bytes of their own and no padding.

NAMED = 0x80000000
LENGTH = 0xFFFFFF


def attribute(kind: int, content: bytes, flag: int = 0) -> bytes:
    """Return an attribute, padded.

    Raises: ToolError when it is longer than an attribute can be.
    """
    if len(content) + 4 > LENGTH:
        raise ToolError("%d bytes are more than the bus takes" % len(content), "ask for less")
    head = flag | kind << 24 | (len(content) + 4)
    return head.to_bytes(4, "big") + content + bytes(-len(content) % 4)


def attributes(data: bytes) -> dict[int, bytes]:
    """Return the contents of a blob's attributes by their types; the last of a type counts, as in blob_parse.

    Raises: ToolError for a length that cannot be.
    """
    found = {}
    at = 0
    while at + 4 <= len(data):
        head = int.from_bytes(data[at : at + 4], "big")
        size = head & LENGTH
        if size < 4 or at + size > len(data):
            raise _broken()
        found[(head >> 24) & 0x7F] = data[at + 4 : at + size]
        at += (size + 3) & ~3
    return found


def named(kind: int, name: bytes, content: bytes) -> bytes:
    """Return an attribute with a name, which ends with its NUL."""
    head = (len(name) - 1).to_bytes(2, "big") + name
    return attribute(kind, head + bytes(-len(head) % 4) + content, NAMED)


def text(kind: int, value: str) -> bytes:
    """Return a text as an attribute of a message."""
    return attribute(kind, value.encode() + b"\0")


def number(kind: int, value: int) -> bytes:
    """Return a number as an attribute of a message."""
    return attribute(kind, value.to_bytes(4, "big"))


def invocation(to: int, method: str, data: bytes) -> bytes:
    """Return the attributes of a call of an object's method."""
    return number(OF_OBJECT, to) + text(OF_METHOD, method) + attribute(OF_DATA, data)


def number_of(content: bytes) -> int:
    """Return what an attribute says as a number; 0 when there is none."""
    return int.from_bytes(content, "big")


def text_of(content: bytes) -> str:
    """Return what an attribute says as a text; "" when there is none."""
    return content.partition(b"\0")[0].decode("utf-8", "replace")


def _broken() -> ToolError:
    return ToolError("the bus sent a broken message")


# -- values with names and types --------------------------------------------------------------------------------------
#
# Text is UTF-8 that ends at its first NUL, as in C; a boolean is a number of 8 bits; None is a value of no type. What
# JSON can say and the bus cannot is said as near as may be, since a model may send it: a number of more than 64 bits as
# its digits, a NUL and an empty name as U+FFFD.

NOTHING, ARRAY, TABLE, STRING, INT64, INT32, INT16, INT8, DOUBLE = range(9)
# Far more than any object of a router has; far less than Python's own limit.
DEEPEST = 64
# What a model sends may be as deep as that, and goes out inside of more.
_DEEPEST_OUT = 2 * DEEPEST
# A value takes at least 4 bytes on the bus and some 100 in Python. The largest answers of a router, logs of a thousand
# lines, have some 10,000.
VALUES = 65536
_NAME_BYTES = 65535
_SIZES = {INT64: 8, INT32: 4, INT16: 2}


def decode(data: bytes) -> dict[str, object]:
    """Return the named values of a blob.

    Raises: ToolError for what is no such data, too deep, or too many values.
    """
    return _Reader(data).table(0, len(data), 0)


class _Reader:
    """One blob while it is read: by places, so that nothing nested is copied at every level."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._left = VALUES

    def table(self, at: int, end: int, depth: int) -> dict[str, object]:
        """Return names and values; the first of a name counts and a value without one is passed over, as in C."""
        found: dict[str, object] = {}
        for name, value in self._values(at, end, depth):
            if name is not None:
                found.setdefault(name, value)
        return found

    def _values(self, at: int, end: int, depth: int) -> Iterator[tuple[str | None, object]]:
        """Yield the name (None: it has none) of each value between two places, and the value."""
        if depth > DEEPEST:
            raise ToolError("the bus sent data in more than %d levels" % DEEPEST)
        data = self._data
        while at + 4 <= end:
            self._left -= 1
            if self._left < 0:
                raise ToolError("the bus sent more than %d values" % VALUES)
            head = int.from_bytes(data[at : at + 4], "big")
            start, stop = at + 4, at + (head & LENGTH)
            if stop < start or stop > end:
                raise _broken()
            name = None
            if head & NAMED:
                last = start + 2 + int.from_bytes(data[start : start + 2], "big")
                if stop - start < 3 or last >= stop or data[last]:
                    raise _broken()
                name = data[start + 2 : last].decode("utf-8", "replace")
                start += (last - start + 4) & ~3
                if start > stop:
                    raise _broken()
            yield name, self._value((head >> 24) & 0x7F, start, stop, depth + 1)
            at += ((head & LENGTH) + 3) & ~3

    def _value(self, kind: int, start: int, end: int, depth: int) -> object:
        if kind == TABLE:
            return self.table(start, end, depth)
        if kind == ARRAY:
            return [value for _, value in self._values(start, end, depth)]
        content = self._data[start:end]
        if kind == STRING:
            if content[-1:] != b"\0":
                raise _broken()
            return text_of(content)
        if kind == INT8 and len(content) == 1:
            return content != b"\0"
        if kind in _SIZES and len(content) == _SIZES[kind]:
            return int.from_bytes(content, "big", signed=True)
        if kind == DOUBLE and len(content) == 8:
            import struct

            return struct.unpack(">d", content)[0]
        if kind != NOTHING:
            raise _broken()
        return None


def encode(values: Mapping[str, object], depth: int = 0) -> bytes:
    """Return named values as the content of a blob.

    Raises: ToolError for a value that the bus has no type for, and for too many levels.
    """
    # The programs of the bus print a value without a name as if it stood in a list.
    return b"".join([_named_value(str(key) or "\ufffd", value, depth) for key, value in values.items()])


def _named_value(name: str, value: object, depth: int) -> bytes:
    kind, content = _content(value, depth)
    label = _text(name)
    if len(label) > _NAME_BYTES + 1:
        raise ToolError("the bus takes no name of %d bytes" % (len(label) - 1))
    return named(kind, label, content)


def _text(text: str) -> bytes:
    """Return a text with its NUL; what C would take for the end becomes the sign for what cannot be shown."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace") + b"\0"


def _content(value: object, depth: int) -> tuple[int, bytes]:
    if isinstance(value, bool):
        return INT8, bytes([value])
    if isinstance(value, int):
        if -(1 << 31) <= value < 1 << 31:
            return INT32, value.to_bytes(4, "big", signed=True)
        if -(1 << 63) <= value < 1 << 63:
            return INT64, value.to_bytes(8, "big", signed=True)
        try:
            return STRING, _text(str(value))
        except ValueError:
            raise ToolError("the bus takes no number of so many digits")
    if isinstance(value, str):
        return STRING, _text(value)
    if value is None:
        return NOTHING, b""
    if depth >= _DEEPEST_OUT:
        raise ToolError("the bus takes no data of more than %d levels" % _DEEPEST_OUT)
    if isinstance(value, dict):
        return TABLE, encode(value, depth + 1)
    if isinstance(value, (list, tuple)):
        return ARRAY, b"".join([_named_value("", item, depth + 1) for item in value])
    if isinstance(value, float) and value - value == 0:
        import struct

        return DOUBLE, struct.pack(">d", value)
    raise ToolError("the bus takes no %s" % ("%r" % value if isinstance(value, float) else type(value).__name__))
