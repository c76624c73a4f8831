"""Who has a name on the bus: what can be found out about it, in words. Loaded when one of our names is taken.

ubusd tells nobody which client an object belongs to, but it shows root every message (its monitor). So a call of a
method that no object has is sent over a connection of its own, and the monitor shows where it went. Whether that is
rpcd, which serves its plugins, is found by doing the same with an object that only rpcd has.
Source: ubus's ubusd_monitor.c.
"""

from __future__ import annotations

from oasis.errors import OasisError
from oasis.ubus import message, outgoing
from oasis.ubus.blobmsg import attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Callable

_MONITOR, _MONITORED = 3, 11  # the monitor's object, and its messages
_CLIENT, _PEER, _SENT, _SEQUENCE, _TYPE = range(5)  # attributes of these
_METHOD = "oasis.whose"
# On a busy bus this many messages may come before ours.
_MESSAGES = 1000
_WAIT_S = 1.0


def owner(connect: Callable[[float], _socket.socket], name: str) -> str:
    """Return who has the object `name`, for people; "" when nobody has one that we may see."""
    try:
        number = _asked(connect, name)
    except OasisError:
        return ""
    except OSError as error:
        return "unknown: %s" % (error.strerror or error)
    try:
        client = _client(connect, number)
    except (OasisError, OSError):
        return "another program (object %08x)" % number
    if client == _rpcd(connect):
        return "a plugin of rpcd (look into /usr/libexec/rpcd and /usr/share/rpcd/ucode)"
    return "another program (client %08x)" % client


def _rpcd(connect: Callable[[float], _socket.socket]) -> int:
    """Return the number of rpcd's client, -1 when it is not there."""
    try:
        return _client(connect, _asked(connect, "session"))
    except (OasisError, OSError):
        return -1


def _asked(connect: Callable[[float], _socket.socket], name: str) -> int:
    """Return the number of an object.

    Raises: ToolError when there is none, OSError.
    """
    connection = connect(_WAIT_S)
    try:
        message.receive(connection)
        return outgoing.look_up(connection, name)
    finally:
        connection.close()


def _client(connect: Callable[[float], _socket.socket], number: int) -> int:
    """Return the number of the client that a call of an object goes to.

    Raises: ToolError when the monitor does not tell, OSError.
    """
    connection = connect(_WAIT_S)
    try:
        _, _, ours, _ = message.receive(connection)
        for sequence, to, method in ((1, _MONITOR, "add"), (2, number, _METHOD)):
            words = message.invocation(to, method, b"")
            connection.sendall(message.message(message.INVOKE, sequence, to, words))
        wanted = {_PEER: ours, _SEQUENCE: 2, _TYPE: message.INVOKE, _SENT: 1}
        for _ in range(_MESSAGES):
            kind, sequence, _, content = message.receive(connection)
            said = {key: message.number_of(value) for key, value in attributes(content).items() if key <= _TYPE}
            if kind == _MONITORED and all(said.get(key) == value for key, value in wanted.items()):
                return said.get(_CLIENT, 0)
            if kind == message.STATUS and sequence == 1 and said.get(message.OF_STATUS):
                break  # only root may look
        raise outgoing.Failed(message.NO_DATA)
    finally:
        connection.close()
