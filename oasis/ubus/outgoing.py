"""Calls to other objects of the bus: over its socket where there is one, else through the `ubus` program.

The socket starts no process and shows nobody the arguments; the program is for hosts without it.
`-S` is used because only then the exit status is the plain ubus status and a failure does not echo its arguments.
Source: ubus's own cli.c and libubus-req.c, and what 24.10 was seen to do (a reply without data is status 0, no output).
"""

from __future__ import annotations

import _socket
from collections.abc import Callable, Mapping

from oasis.core import jsonl
from oasis.errors import SchemaError, ToolError
from oasis.system.child import Executor
from oasis.ubus import message
from oasis.ubus.message import NO_DATA, attributes, decode, encode

# The argument that is a secret: who has it is its owner.
SESSION = "ubus_rpc_session"
_TIMEOUT_S = 10
_WORDS = {
    1: "invalid command", 2: "invalid argument", 3: "no such method", 4: "not found", 5: "no data",
    6: "permission denied", 7: "timed out", 8: "not supported", 9: "unknown error", 10: "connection failed",
    12: "the arguments are no JSON object", 255: "cannot connect to ubusd",
}  # fmt: skip


class Ubus:
    """The bus; `program` is "" where the host has none.

    `connect(timeout_s)` opens the bus's socket (see `opener`): OSError where there is none. `is_real`: sessions of this
    bus are worth something, as they are not in a folder on a host, where the program may be all that there is.
    """

    def __init__(
        self, executor: Executor, program: str, connect: Callable[[float], _socket.socket] | None = None,
        is_real: bool = True,
    ) -> None:  # fmt: skip
        self._executor = executor
        self._program = program
        self._connect = connect
        self._is_real = is_real

    def call(
        self, name: str, method: str, arguments: dict[str, object] | None = None, timeout_s: float = _TIMEOUT_S
    ) -> dict[str, object] | None:
        """Call `method` of object `name`; return its reply, None when it has no data.

        The program's arguments stand in the process list for a moment: a session goes over the socket or not at all.
        Raises: ToolError naming object and method.
        """
        try:
            connection = self._connect(timeout_s) if self._connect else None
        except OSError:
            connection = None
        if connection is None:
            if self._is_real and arguments and SESSION in arguments:
                raise ToolError("ubus call %s %s: the bus cannot be reached" % (name, method), "is ubusd running?")
            return self._run(name, method, arguments, timeout_s)
        try:
            return invoke(connection, name, method, arguments or {})
        except Failed as error:
            raise Failed(error.status, "%s %s" % (name, method))
        except TimeoutError:
            raise Failed(message.TIMED_OUT, "%s %s" % (name, method))
        except OSError as error:
            raise ToolError("ubus call %s %s: %s" % (name, method, error.strerror or error))
        finally:
            connection.close()

    def _run(
        self, name: str, method: str, arguments: dict[str, object] | None, timeout_s: float
    ) -> dict[str, object] | None:
        if not self._program:
            raise ToolError("there is no ubus on this host", "on a router it is part of the system")
        words = [self._program, "-S", "-t", str(max(int(timeout_s), 1)), "call", name, method]
        if arguments:
            words.append(jsonl.dumps(arguments))
        status, out, _ = self._executor.run(words, timeout_s=timeout_s + 5)
        if status:
            raise Failed(status, "%s %s" % (name, method))
        if not out.strip():
            return None
        try:
            reply: object = jsonl.loads(out)
        except SchemaError as error:
            raise ToolError("ubus call %s %s answered with %s" % (name, method, error.message))
        return reply if isinstance(reply, dict) else None


def is_session(value: object) -> bool:
    """Tell whether a value has the form of a session of rpcd."""
    return isinstance(value, str) and len(value) == 32 and not value.strip("0123456789abcdef")


def may(
    call: Callable[[str, str, dict[str, object]], Mapping[str, object] | None], session: str, name: str, method: str
) -> bool | None:
    """Ask rpcd whether a session may call a method; None where it does not know the session, or is away."""
    wanted: dict[str, object] = {SESSION: session, "scope": "ubus", "object": name, "function": method}
    try:
        return (call("session", "access", wanted) or {}).get("access") is True
    except ToolError:
        return None


def opener(path: str) -> Callable[[float], _socket.socket]:
    """Return what opens the bus's socket at a path."""

    def connect(timeout_s: float) -> _socket.socket:
        # What `socket` would do, without what that imports; it closes itself on exec as well.
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            connection.settimeout(timeout_s)
            connection.connect(path)
        except OSError:
            connection.close()
            raise
        return connection

    return connect


class Failed(ToolError):
    """A call ended with a status of the bus; `what` was called."""

    def __init__(self, status: int, what: str = "") -> None:
        words = "status %d" % status
        super().__init__("ubus call %s: %s" % (what, _WORDS.get(status, words)) if what else words)
        self.status = status


def invoke(
    connection: _socket.socket, name: str, method: str, arguments: dict[str, object]
) -> dict[str, object] | None:
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
        raise Failed(NO_DATA)
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
