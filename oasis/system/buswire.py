"""One call of another's object, over a fresh connection to the bus. Starts no process.

Knows no settings and no clock: the connection's timeout is the caller's.
Source: ubus's libubus-req.c; the answers of ubusd.
"""

from __future__ import annotations

from oasis.errors import ToolError
from oasis.system import busmessage
from oasis.system.blob import attributes
from oasis.system.blobmsg import decode, encode

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
    busmessage.receive(connection)  # it says hello first
    found = look_up(connection, name)
    reply = _ask(connection, busmessage.INVOKE, 2, found, busmessage.invocation(found, method, data))
    return decode(reply[busmessage.OF_DATA]) if busmessage.OF_DATA in reply else None


def look_up(connection: _socket.socket, name: str) -> int:
    """Return the number of an object.

    Raises: Failed when there is none, ToolError, OSError.
    """
    found = _ask(connection, busmessage.LOOKUP, 1, 0, busmessage.text(busmessage.OF_PATH, name))
    if busmessage.OF_OBJECT not in found:
        raise Failed(busmessage.NO_DATA)
    return busmessage.number_of(found[busmessage.OF_OBJECT])


def _ask(connection: _socket.socket, kind: int, sequence: int, peer: int, content: bytes) -> dict[int, bytes]:
    """Send a message and return the attributes of the first data that come before its status."""
    connection.sendall(busmessage.message(kind, sequence, peer, content))
    found: dict[int, bytes] = {}
    while True:
        kind, reply_to, _, content = busmessage.receive(connection)
        if reply_to != sequence or kind not in (busmessage.STATUS, busmessage.DATA):
            continue
        values = attributes(content)
        if kind == busmessage.STATUS:
            status = busmessage.number_of(values.get(busmessage.OF_STATUS, b""))
            if status:
                raise Failed(status)
            return found
        found = found or values
