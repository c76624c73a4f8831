"""The methods as objects of the bus: which there are, and whether they have their place there.

`run.start` is method `start` of object `oasis.run`, `info` a method of `oasis`; what is for the socket only is left
out. Who calls and what is answered is in calls.py, which an idle daemon does without. Knows no message of the bus
(ubus/peer.py).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from oasis import parts
from oasis.api.table import TABLE, Method
from oasis.ubus.incoming import Call
from oasis.ubus.outgoing import opener
from oasis.ubus.peer import Peer

if False:  # annotations only
    from typing import Any

    from oasis.bus.calls import Answers


_KINDS = {str: "text", int: "int", bool: "bool", list: "list", dict: "table"}
# Calls that are answered at once. Some wait for news, fewer than all: see WAITERS.
CALLS = 24
# Methods that a part answers on the bus, next to ours.
OTHER_METHODS = {name: Method(*row) for name, row in parts.merged("BUS_METHODS").items() if name not in TABLE}
_WAY_OUT = "remove the Oasis that was here before (luci-app-oasis, oasis-mod-tool, oasis), and restart rpcd"


def objects() -> dict[str, dict[str, dict[str, str]]]:
    """Return what is put on the bus: {object: {method: {argument: kind}}}; what is for the socket only is left out."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for name, row in {**TABLE, **OTHER_METHODS}.items():
        if row.access != "local":
            where, _, method = ("oasis." + name).rpartition(".")
            found.setdefault(where, {})[method] = {key: _KINDS[kind] for key, (kind, _) in row.arguments.items()}
    return found


def front(daemon: Any, log: Callable[[str], None]) -> Peer:
    """Put a daemon on the bus; return its place there, whose `stop()` takes it off again."""
    making = threading.Lock()
    made: list[Answers] = []

    def answer(call: Call) -> Mapping[str, object]:
        with making:
            if not made:
                from oasis.bus.calls import gather

                made.append(gather(daemon))
        return made[0].answer(call)

    peer = Peer(opener(daemon.root.bus_socket), objects(), answer, lambda text: log(_with_way_out(text)), CALLS)
    peer.start()
    return peer


def _with_way_out(text: str) -> str:
    is_foreign = " is taken on the bus by " in text and "by ubusd" not in text
    return "%s; %s" % (text, _WAY_OUT) if is_foreign else text


def faults(peer: Peer) -> list[str]:
    """Return what is wrong with our place on the bus: names that somebody else has, who, and the way out."""
    reason = peer.reason()
    if reason:
        return ["not on the bus: %s" % reason]
    return [_with_way_out("%s is taken on the bus by %s" % pair) for pair in sorted(peer.taken().items())]
