"""One call of another's object, over a fresh connection to the bus. Starts no process.

Knows no settings and no clock: the connection's timeout is the caller's.
Source: ubus's libubus-req.c; the answers of ubusd.
"""

from __future__ import annotations

from oasis.errors import ToolError
from oasis.ubus import message
from oasis.ubus.blobmsg import attributes, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket


class Failed(ToolError):
    """A call ended with a status of the bus."""

    def __init__(self, status: int) -> None:
        ToolError.__init__(self, "status %d" % status)
        self.status = status


def call(connection: _socket.socket, name: str, method: str, arguments: dict[str, object]) -> dict[str, object] | None:
    """Call a method over a fresh connection; return the reply, None when it has no data.

    Raises: Failed with the bus's status, ToolError when what comes is not its protocol, OSError of the connection.
    """
    data = encode(arguments)
    message.receive(connection)  # it says hello first
    found = look_up(connection, name)
    reply = _ask(connection, message.INVOKE, 2, found, message.invocation(found, method, data))
    return decode(reply[message.OF_DATA]) if message.OF_DATA in reply else None


def look_up(connection: _socket.socket, name: str) -> int:
    """Return the number of an object.

    Raises: Failed when there is none, ToolError, OSError.
    """
    found = _ask(connection, message.LOOKUP, 1, 0, message.text(message.OF_PATH, name))
    if message.OF_OBJECT not in found:
        raise Failed(message.NO_DATA)
    return message.number_of(found[message.OF_OBJECT])


def _ask(connection: _socket.socket, kind: int, sequence: int, peer: int, content: bytes) -> dict[int, bytes]:
    """Send a message and return the attributes of the first data that come before its status."""
    connection.sendall(message.message(kind, sequence, peer, content))
    found: dict[int, bytes] = {}
    while True:
        kind, reply_to, _, content = message.receive(connection)
        if reply_to != sequence or kind not in (message.STATUS, message.DATA):
            continue
        values = attributes(content)
        if kind == message.STATUS:
            status = message.number_of(values.get(message.OF_STATUS, b""))
            if status:
                raise Failed(status)
            return found
        found = found or values
