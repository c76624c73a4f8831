"""Calls of the bus: who is calling, how long a call may wait, and what it is answered.

A failure is a reply {"error": {"code", "message", "hint"}} with the bus's status 0, as on every front-end. Who calls is
set by rpcd or ubusd, never by an argument that a page could choose:

    with a session     rpcd is asked what it may: the method that it calls, or nothing; `oasis.run start`, or only look
    without one        ubusd names the user: root (or whoever runs the daemon) is the owner, anybody else only looks;
                       a web server that is not root has nothing to ask for by itself

Neither is at a terminal: to approve, the whole hash of the plan is needed. A call that waits for news is answered
within 15 s, and as only so many may wait, the one that waited longest gives way to another: a page that is gone does
not say so. Loaded with the first call.
"""

from __future__ import annotations

import os
import pwd
import threading
import time
from collections.abc import Callable, Mapping

from oasis import parts
from oasis.agent.runs import WAIT_MS
from oasis.api.methods import bug_fault, failure
from oasis.api.table import TABLE
from oasis.bus.objects import OTHER_METHODS
from oasis.errors import OasisError, PolicyError, UsageError
from oasis.ubus.outgoing import SESSION, is_session, may

if False:  # annotations only
    from typing import Any

    from oasis.api.methods import Methods
    from oasis.change.shapes import Role
    from oasis.ubus.incoming import Call

    Ask = Callable[[str, str, dict[str, object]], Mapping[str, object] | None]


# The user that OpenWrt's web server becomes where it gives up root; package/acl.py lets it through to everything.
WEB_USER = "uhttpd"
# What rpcd said of a session counts so long: uhttpd asks it anew at every call.
RIGHT_S = 5.0
_RIGHTS = 256
# So many calls wait at most, of those that are answered at once (bus.py): whoever approves a plan finds room.
WAITERS = 16
# Of a list of chats: well below the 256 KiB of a reply, whatever else stands in an item.
_LIST_CHARS = 128 * 1024
_ITEM_CHARS = 120
# A call that gives way does so within this time.
_SLICE_MS = 3000


class Rights:
    """Who is calling. `ask(object, method, arguments)` calls the bus, `own` is the user that runs the daemon."""

    def __init__(self, ask: Ask, now_s: Callable[[], float], own: str = "root") -> None:
        self._ask = ask
        self._now_s = now_s
        self._own = own
        self._known: dict[tuple[str, str, str], tuple[float, bool]] = {}

    def role(self, call: Call) -> Role:
        """Return the role of a caller, as methods.call takes it.

        Raises: PolicyError for a session that is over, or that may not call this.
        """
        session = call.arguments.get(SESSION)
        if session is None and call.user == WEB_USER:
            raise PolicyError("the web server calls for a session, never for itself", "log in first")
        if session is None:
            name = "owner" if call.user in ("root", self._own) else "viewer"
            return {"name": name, "terminal": False, "pid": 0}
        if not isinstance(session, str) or not is_session(session):
            raise PolicyError("this is no session", "log in first")
        if not self._may(session, call.object, call.method):
            raise PolicyError("this session may not call %s %s" % (call.object, call.method), "log in again")
        is_owner = self._may(session, "oasis.run", "start")
        return {"name": "owner" if is_owner else "viewer", "terminal": False, "pid": 0, "session": session}

    def _may(self, session: str, name: str, method: str) -> bool:
        key = (session, name, method)
        since_s, is_allowed = self._known.get(key, (0.0, False))
        now_s = self._now_s()
        if key in self._known and now_s - since_s < RIGHT_S:
            return is_allowed
        answer = may(self._ask, session, name, method)
        if len(self._known) >= _RIGHTS:
            self._known.clear()
        if answer is not None:
            self._known[key] = (now_s, answer)
        return bool(answer)  # nobody is somebody while rpcd is not there


class Waiters:
    """The calls that wait, at most `most` of them: one more sends away the one that waited longest."""

    def __init__(self, most: int = WAITERS) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._waiting: list[list[bool]] = []

    def enter(self) -> list[bool]:
        """Return a place: it holds True once it has to be given up."""
        place = [False]
        with self._lock:
            self._waiting.append(place)
            if len(self._waiting) > self._most:
                self._waiting.pop(0)[0] = True
        return place

    def leave(self, place: list[bool]) -> None:
        with self._lock:
            self._waiting = [one for one in self._waiting if one is not place]


class Answers:
    """What answers the calls of the bus: `methods` behind `rights`.

    The methods of a part are answered by what `phone(waiters)` makes: heard(session), call(name, params, role),
    failed(name, error) and plain(reply).
    """

    def __init__(
        self, methods: Methods, rights: Rights, phone: Callable[[Waiters], Any], now_s: Callable[[], float]
    ) -> None:
        self._methods = methods
        self._rights = rights
        self._make_phone = phone
        self._now_s = now_s
        self._waiters = Waiters()
        self._lock = threading.Lock()
        self._phone: Any = None

    def answer(self, call: Call) -> Mapping[str, object]:
        """Return the reply to a call; it never raises."""
        name = (call.object + "." + call.method).removeprefix("oasis.")
        try:
            return self._reply(name, call.arguments, self._rights.role(call))
        except OasisError as error:
            fault = error
        except Exception as bug:
            fault = bug_fault(bug)
        is_upstream = name in OTHER_METHODS or name in parts.listed("BUS_SHARED")
        try:
            return self._upstream().failed(name, fault) if is_upstream else failure(fault)
        except Exception:  # the part that has their shape cannot be loaded
            return failure(fault)

    def _reply(self, name: str, arguments: dict[str, object], role: Role) -> Mapping[str, object]:
        if self._phone is not None and name != "chat.send":
            self._phone.heard(str(role.get("session", "")))
        if name in OTHER_METHODS:
            if name not in parts.merged("BUS_ROLES").get(str(role["name"]), ()):
                raise PolicyError("%s is not for everybody" % name, "this connection has the role %s" % role["name"])
            answer: Mapping[str, object] = self._upstream().call(name, arguments, role)
            return answer
        if name not in TABLE or TABLE[name].access == "local":
            raise UsageError("the bus has no method %r" % name, "list them with: ubus -v list 'oasis*'")
        wait_ms = arguments.get("wait_ms")
        if name == "run.poll" and type(wait_ms) is int and wait_ms > 0:
            return self._poll(arguments, wait_ms, role)
        reply = self._methods.call(name, arguments, role)
        if name == "chat.list":
            return fitting(reply)
        is_plain = name == "chat.load" and not set(arguments) - {"id", "lang", SESSION} and parts.first("bus_methods")
        return self._upstream().plain(reply) if is_plain else reply

    def _poll(self, arguments: Mapping[str, object], most_ms: int, role: Role) -> Mapping[str, object]:
        until_s = self._now_s() + min(most_ms, WAIT_MS) / 1000
        place = self._waiters.enter()
        try:
            while True:
                left_ms = int((until_s - self._now_s()) * 1000)
                wait_ms = 0 if place[0] else max(min(left_ms, _SLICE_MS), 0)
                reply = self._methods.call("run.poll", {**arguments, "wait_ms": wait_ms}, role)
                if reply["events"] or reply["state"] not in ("running", "waiting") or wait_ms == 0:
                    return reply
        finally:
            self._waiters.leave(place)

    def _upstream(self) -> Any:
        with self._lock:
            for manifest in parts.manifests():
                if hasattr(manifest, "bus_methods"):
                    parts.check_here(manifest.__name__)
            if self._phone is None:
                self._phone = self._make_phone(self._waiters)
            return self._phone


def fitting(reply: Mapping[str, object]) -> Mapping[str, object]:
    """Return a list of chats with as many of the newest as a reply holds; `more` tells how many are left out."""
    size, kept = 0, []
    items = reply["item"]
    assert isinstance(items, list)  # chat.list saw to that
    for item in items:
        size += _ITEM_CHARS + len(item["title"].encode("utf-8", "replace"))
        if size > _LIST_CHARS:
            break
        kept.append(item)
    left_out = len(items) - len(kept)
    return {**reply, "item": kept, "more": left_out} if left_out else reply


def gather(daemon: Any) -> Answers:
    """Return what answers the calls of a daemon's bus."""
    try:
        own = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        own = "root"
    make = parts.first("bus_methods")
    rights = Rights(daemon.ubus.call, time.monotonic, own)
    return Answers(daemon.methods, rights, lambda waiters: make(daemon, waiters), time.monotonic)
