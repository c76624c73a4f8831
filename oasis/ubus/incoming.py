"""Calls of our objects while they are answered: each in a thread of its own, so many at once and no more.

An answer may come long after its call (a deferred reply is data and a status with the caller's number, whenever they
are sent). A caller gets an error at once when all threads are taken or its arguments hold too many bytes.
We do not learn that a caller has gone, so an answer must end by itself; what it says then is dropped by ubusd.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from oasis.errors import ToolError
from oasis.ubus import message as bus
from oasis.ubus.message import attribute, decode, encode

if False:  # annotations only
    from oasis.ubus.peer import Link

# Of all calls together: one of the largest that ubusd takes, or two dozen uploads of a page. As values of Python they
# may take six times as much.
ARGUMENT_BYTES = 2 << 20


class Call:
    """A call from the bus: who calls what with which arguments. `user` and `group` are "" when ubusd does not say."""

    __slots__ = ("arguments", "client", "group", "method", "object", "user")

    def __init__(
        self, name: str, method: str, arguments: dict[str, object], user: str = "", group: str = "", client: int = 0
    ) -> None:
        self.object = name
        self.method = method
        self.arguments = arguments
        self.user = user
        self.group = group
        self.client = client


class Pending:
    """A call that waits for its answer, with its arguments as they came, and the way back to its caller."""

    def __init__(self, call: Call, data: bytes, link: Link, sequence: int, number: int, wants_reply: bool) -> None:
        self.call = call
        self.data = data
        self._link = link
        self._sequence = sequence
        self._ours = bus.number(bus.OF_OBJECT, number)
        self._wants_reply = wants_reply
        self._claim = threading.Lock()

    def claim(self) -> bool:
        """Return whether it is the asker's to answer: the first who asks does it."""
        return self._claim.acquire(blocking=False)

    def reply(self, values: Mapping[str, object]) -> None:
        """Send data and a status of success; data that the bus does not take become an error."""
        what = "the reply of %s %s" % (self.call.object, self.call.method)
        try:
            data = encode(values)
            if len(data) > bus.REPLY_BYTES:
                hint = "ask for less: at most %d bytes go over the bus" % bus.REPLY_BYTES
                data = encode(error("too_large", "%s has %d bytes" % (what, len(data)), hint))
        except ToolError as refused:
            data = encode(error("tool", "%s: %s" % (what, refused.message), refused.hint))
        words = self._ours + attribute(bus.OF_DATA, data)
        self.end(0, bus.message(bus.DATA, self._sequence, self.call.client, words))

    def end(self, status: int, before: bytes = b"") -> None:
        """Send a status, and the message before it in the same write."""
        if self._wants_reply:
            words = bus.number(bus.OF_STATUS, status) + self._ours
            self._link.send(before + bus.message(bus.STATUS, self._sequence, self.call.client, words))


class Calls:
    """The calls that are being answered. `answer(call)` returns the reply; what it raises is a fault of ours."""

    def __init__(self, answer: Callable[[Call], Mapping[str, object]], log: Callable[[str], None], most: int) -> None:
        self._answer = answer
        self._log = log
        self._most = most
        self._pending: set[Pending] = set()
        self._size_bytes = 0
        self._is_ending = False
        self._changed = threading.Condition(threading.Lock())

    def begin(self, pending: Pending) -> None:
        """Have a call answered, now or never."""
        size_bytes = len(pending.data)
        with self._changed:
            is_full = len(self._pending) >= self._most or self._size_bytes + size_bytes > ARGUMENT_BYTES
            is_ending = self._is_ending
            if not is_full and not is_ending:
                self._pending.add(pending)
                self._size_bytes += size_bytes
        if is_ending:
            pending.reply(_STOPPING)
        elif is_full:
            pending.reply(_BUSY)
        else:
            try:
                threading.Thread(target=self._work, args=(pending,), name="call", daemon=True).start()
            except RuntimeError:  # no memory for a thread
                self._forget(pending)
                pending.reply(_BUSY)

    def _work(self, pending: Pending) -> None:
        call, reply, status = pending.call, None, bus.UNKNOWN_ERROR
        try:
            try:
                call.arguments.update(decode(pending.data))
            except ToolError:
                status = bus.INVALID_ARGUMENT
            else:
                reply = self._answer(call)
        except Exception as bug:
            self._log("%s %s failed: %s" % (call.object, call.method, place(bug)))
        try:
            if pending.claim():
                pending.end(status) if reply is None else pending.reply(reply)
        finally:
            self._forget(pending)

    def _forget(self, pending: Pending) -> None:
        with self._changed:
            self._pending.discard(pending)
            self._size_bytes -= len(pending.data)
            self._changed.notify_all()

    def end(self, timeout_s: float) -> None:
        """Wait for running answers; later calls, and callers that wait longer than this, get the error that we stop."""
        with self._changed:
            self._is_ending = True
            self._changed.wait_for(lambda: not self._pending, timeout_s)
            rest = list(self._pending)
        for pending in rest:
            if pending.claim():
                pending.reply(_STOPPING)


def error(code: str, message: str, hint: str) -> dict[str, object]:
    """Return an error as every front-end tells one."""
    return {"error": {"code": code, "message": message, "hint": hint}}


_BUSY = error("busy", "too many calls are being answered", "try again in a moment")
_STOPPING = error("stopping", "oasis stops", "try again when it runs: service oasis status")


def place(bug: BaseException) -> str:
    """Return what went wrong and where, in one line."""
    trace = bug.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "%s:%d" % (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace is not None else "?"
    return "%s: %s (%s)" % (type(bug).__name__, bug, where)
