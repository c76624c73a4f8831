"""Calls of our objects while they are answered: each in a thread of its own, so many at once and no more.

An answer may come long after its call (a deferred reply is data and a status with the caller's number, whenever they
are sent). A caller gets an error at once when all threads are taken or its arguments hold too many bytes.
We do not learn that a caller has gone, so an answer must end by itself; what it says then is dropped by ubusd.
"""

from __future__ import annotations

import threading

from oasis.errors import ToolError
from oasis.ubus import message as busmessage
from oasis.ubus.blobmsg import attribute, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from oasis.ubus.connection import Link

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


class Turn:
    """A call and the way back to its caller."""

    __slots__ = ("_link", "_ours", "_sequence", "call", "is_answered", "size", "wants_reply")

    def __init__(self, call: Call, link: Link, sequence: int, number: int) -> None:
        self.call = call
        self.size = 0
        self.is_answered = False
        self.wants_reply = True
        self._link = link
        self._sequence = sequence
        self._ours = busmessage.number(busmessage.OF_OBJECT, number)

    def reply(self, values: Mapping[str, object]) -> None:
        """Send data and a status of success; data that the bus does not take become an error."""
        what = "the reply of %s %s" % (self.call.object, self.call.method)
        try:
            data = encode(values)
            if len(data) > busmessage.REPLY_BYTES:
                hint = "ask for less: at most %d bytes go over the bus" % busmessage.REPLY_BYTES
                data = encode(error("too_large", "%s has %d bytes" % (what, len(data)), hint))
        except ToolError as refused:
            data = encode(error("tool", "%s: %s" % (what, refused.message), refused.hint))
        words = self._ours + attribute(busmessage.OF_DATA, data)
        self.end(0, busmessage.message(busmessage.DATA, self._sequence, self.call.client, words))

    def end(self, status: int, before: bytes = b"") -> None:
        """Send a status, and the message before it in the same write."""
        if not self.wants_reply:
            return
        words = busmessage.number(busmessage.OF_STATUS, status) + self._ours
        self._link.send(before + busmessage.message(busmessage.STATUS, self._sequence, self.call.client, words))


class Turns:
    """The calls that are being answered. `answer(call)` returns the reply; what it raises is a fault of ours."""

    def __init__(self, answer: Callable[[Call], Mapping[str, object]], tell: Callable[[str], None], most: int) -> None:
        self._answer = answer
        self._tell = tell
        self._most = most
        self._going: set[Turn] = set()
        self._held = 0
        self._is_ending = False
        self._changed = threading.Condition(threading.Lock())

    def begin(self, turn: Turn, data: bytes) -> None:
        """Have a call with these arguments answered, now or never."""
        turn.size = len(data)
        with self._changed:
            is_full = len(self._going) >= self._most or self._held + turn.size > ARGUMENT_BYTES
            is_ending = self._is_ending
            if not is_full and not is_ending:
                self._going.add(turn)
                self._held += turn.size
        if is_ending:
            turn.reply(_stopping())
        elif is_full:
            turn.reply(_busy())
        else:
            try:
                threading.Thread(target=self._work, args=(turn, data), name="call", daemon=True).start()
            except RuntimeError:  # no memory for a thread
                self._forget(turn)
                turn.reply(_busy())

    def _work(self, turn: Turn, data: bytes) -> None:
        try:
            reply, status = self._answered(turn.call, data)
            if not self._is_claimed(turn):
                turn.end(status) if reply is None else turn.reply(reply)
        finally:
            self._forget(turn)

    def _answered(self, call: Call, data: bytes) -> tuple[Mapping[str, object] | None, int]:
        try:
            call.arguments = decode(data)
        except ToolError:
            return None, busmessage.INVALID_ARGUMENT
        try:
            return self._answer(call), 0
        except Exception as bug:
            self._tell("%s %s failed: %s" % (call.object, call.method, place(bug)))
            return None, busmessage.UNKNOWN_ERROR

    def _is_claimed(self, turn: Turn) -> bool:
        """Return whether somebody else answers; the first who asks does it."""
        with self._changed:
            was, turn.is_answered = turn.is_answered, True
            return was

    def _forget(self, turn: Turn) -> None:
        with self._changed:
            self._going.discard(turn)
            self._held -= turn.size
            self._changed.notify_all()

    def end(self, timeout_s: float) -> None:
        """Wait for running answers; later calls, and callers that wait longer than this, get the error that we stop."""
        with self._changed:
            self._is_ending = True
            self._changed.wait_for(lambda: not self._going, timeout_s)
            rest = list(self._going)
        for turn in rest:
            if not self._is_claimed(turn):
                turn.reply(_stopping())


def error(code: str, message: str, hint: str) -> dict[str, object]:
    """Return an error as every front-end tells one."""
    return {"error": {"code": code, "message": message, "hint": hint}}


def _busy() -> dict[str, object]:
    return error("busy", "too many calls are being answered", "try again in a moment")


def _stopping() -> dict[str, object]:
    return error("stopping", "oasis stops", "try again when it runs: service oasis status")


def place(bug: BaseException) -> str:
    """Return what went wrong and where, in one line."""
    trace = bug.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "%s:%d" % (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace is not None else "?"
    return "%s: %s (%s)" % (type(bug).__name__, bug, where)
