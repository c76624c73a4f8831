"""Callers of the bus for tests: a daemon in this process, the sessions that rpcd would know, calls as a peer has."""

from __future__ import annotations

from oasis.bus.calls import Answers, Rights
from oasis.errors import ToolError
from oasis.ubus.incoming import Call
from tests.oasisd import granted

OWNER, VIEWER, STRANGER, GONE = "a" * 32, "b" * 32, "c" * 32, "d" * 32


class Rpcd:
    """Stands for rpcd's `session access`; `asked` holds the sessions that it was asked about."""

    def __init__(self):
        self.rights = {
            OWNER: set(granted("oasis", "read", "write")),
            VIEWER: set(granted("oasis", "read")),
            STRANGER: set(),
        }
        self.asked = []

    def __call__(self, name, method, arguments):
        assert (name, method) == ("session", "access")
        self.asked.append(arguments["ubus_rpc_session"])
        if arguments["ubus_rpc_session"] not in self.rights:
            raise ToolError("ubus call session access: not found")
        assert arguments["scope"] == "ubus"
        return {"access": (arguments["object"], arguments["function"]) in self.rights[arguments["ubus_rpc_session"]]}


class Clock:
    """A time that only a test moves; `now_s` is also what waits."""

    def __init__(self):
        self.s = 1000.0

    def __call__(self):
        return self.s


class Bench:
    """Objects of the bus over a daemon: `call("oasis.run", "start", session, message="…")`, or user="root"."""

    def __init__(self, daemon, now_s, make_phone):
        self.rpcd = Rpcd()
        self.daemon = daemon
        self.bus = Answers(daemon.methods, Rights(self.rpcd, now_s), make_phone, now_s)

    def call(self, where, method, session="", /, user="root", **arguments):
        if session:
            arguments["ubus_rpc_session"] = session
        return self.bus.answer(Call(where, method, arguments, user, user))
