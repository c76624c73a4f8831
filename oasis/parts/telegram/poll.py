"""The thread that waits for Telegram: asks for updates, sees who they are from, and hands on those of people it knows.

An update is noted as handled before it is, on flash where it can have an effect: whatever happens then, it is handled
once at most. Strangers get no answer, but for one line while a code waits for somebody and theirs is wrong. What goes
wrong is told once in the log and shown by telegram.list; nothing but being turned off ends the thread.

Notices to the owners are joined, so that ten changes are one message, at most one a minute. What came of a message in
Telegram is left out, because its sender sees it there. The thread lives only while there is something to send.
"""

from __future__ import annotations

import sys
import threading

from oasis.change.audit import NO_PLAN
from oasis.errors import OasisError
from oasis.parts.telegram import text as answer
from oasis.parts.telegram.line import Line, RefusedError
from oasis.parts.telegram.talk import Talks
from oasis.tools import facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.parts.telegram.line import Line
    from oasis.parts.telegram.talk import Talks
    from oasis.parts.telegram.telegram import Telegram

    Values = dict[str, Any]
    Notice = dict[str, Any]


# How long Telegram may keep a poll open without news; its own limit is 50, and routers in between forget a
# connection that is silent for a minute.
POLL_S = 45
# The first and the longest pause after a failure; each is twice the one before.
_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
# A token that is refused, or that another program polls with, is the owner's to mend: asked again by and by.
_OWNERS_PAUSE_S = {"authentication": 600.0, "conflict": 30.0}
# A server that answers at once, though it was asked to wait, is not asked without end.
_EMPTY_S = 1.0
_PAIRED = {
    "owner": "Paired: you are the owner here. Say what the router should do, or ask. /help tells more.",
    "guest": "Paired: you are a guest here. Ask how the router is. /help tells more.",
}
_WRONG = "That is not the code."


class Poller:
    """The thread of one bot. `part` is the messenger of the daemon."""

    def __init__(self, part: Telegram) -> None:
        self._part = part
        self._kit = kit = part.kit
        self._token, self._options = part.token(), part.options()
        whom = {"key": self._token, **{name: self._options.get(name, "") for name in ("base_url", "ca_file", "proxy")}}
        self._line = Line(kit.models.messenger(), lambda: whom, kit.clock.now_s, part.pace_s())
        self._talks = Talks(part, self._line)
        self._teller = Teller(part, self._line, self._talks)
        self._bot: Values = {}
        self._problem = "connecting"
        self._pause_s = 0.0
        self._last = 0
        self._thread = threading.Thread(target=self._run, name="telegram", daemon=True)

    def start(self) -> None:
        """Begin to wait for messages."""
        self._kit.beside.part("notice").listen(self._teller.hear)
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """End the thread and its workers, within so many seconds."""
        self._kit.beside.part("notice").ignore(self._teller.hear)
        self._line.close()
        self._thread.join(seconds)

    def is_for(self, token: str, options: dict[str, str]) -> bool:
        """Tell whether the thread is as the settings want it; switches are looked at each time they matter."""
        places = ("base_url", "ca_file", "proxy")
        return token == self._token and all(options.get(one) == self._options.get(one) for one in places)

    def state(self) -> Values:
        """Return how it goes. Shape: {"state": "on"|"waiting", "bot": name, "problem": words, "" for none}."""
        problem = self._problem
        return {"state": "waiting" if problem else "on", "bot": str(self._bot.get("name", "")), "problem": problem}

    def forgotten(self, person: Values) -> None:
        """Let nothing that somebody was shown mean anything any more."""
        self._talks.forget(person["chat"])

    # The thread

    def _run(self) -> None:
        while not self._line.is_closed():
            try:
                updates = self._updates()
            except OasisError as error:
                self._line.wait(self._fail(error))
                continue
            if self._problem:
                self._kit.log("telegram: waiting for messages as %s" % self._bot["name"], False)
                self._talks.tell_owed()
            self._problem, self._pause_s = "", 0.0
            for update in updates:
                self._handle(update)

    def _updates(self) -> list[Values]:
        """Return what has come, after a wait for it."""
        if not self._bot:
            self._bot = self._line.who()
            self._last = self._part.people().offset(self._bot["id"])
        began_s = self._kit.clock.now_s()
        updates = self._line.poll(self._last + 1 if self._last else 0, 0 if self._problem else POLL_S)
        if not updates:
            took_s = self._kit.clock.now_s() - began_s
            self._last = self._part.people().offset(self._bot["id"]) if self._last else 0  # after a week without one
            if not self._problem:
                self._line.wait(_EMPTY_S - took_s)
        return updates

    def _fail(self, error: OasisError) -> float:
        """Note what went wrong, told once; return how long to wait before the next try."""
        if self._line.is_closed():
            return 0.0
        if error.message != self._problem:
            self._kit.log("telegram: %s%s" % (error.message, "; " + error.hint if error.hint else ""))
        self._problem = error.message
        wanted_s = error.wait_s if isinstance(error, RefusedError) else 0.0
        self._pause_s = min(self._pause_s * 2 or _PAUSE_S, _LONGEST_PAUSE_S)
        return max(wanted_s, _OWNERS_PAUSE_S.get(error.code, self._pause_s))

    def _handle(self, update: Values) -> None:
        """Handle one update, once."""
        if update["id"] <= self._last or self._line.is_closed():
            return
        person = None
        if update["kind"] != "other":
            person = self._part.people().find(update["chat"], update["from"], update["is_private"])
        self._last = update["id"]
        try:
            is_kept = person is not None or self._part.pairing().is_open()
            self._part.people().handled(self._bot["id"], update["id"], is_kept)
            if person is None:
                self._stranger(update)
            elif update["kind"] == "button":
                self._talks.press(person, update)
            else:
                self._talks.message(person, update)
        except OasisError as error:
            self._kit.log("telegram: a message could not be answered: %s" % error.message)
        except Exception:
            import traceback

            traceback.print_exc(file=sys.stderr)

    def _stranger(self, update: Values) -> None:
        """Look whether somebody whom nobody knows has the code; to all else there is no answer."""
        if update["kind"] != "message":
            return
        words = update["text"].split()
        text = words[-1] if len(words) == 2 and words[0].split("@")[0] in ("/start", "/pair") else update["text"]
        role = self._part.pairing().take(text, update["is_private"])
        if role == "wrong":
            answer.put(self._line, update["chat"], _WRONG)
        if role in _PAIRED:
            self._pair(update, role)

    def _pair(self, update: Values, role: str) -> None:
        kit, is_private = self._kit, update["is_private"]
        user = update["from"] if is_private else 0
        try:
            person = self._part.people().add(role, update["chat"], user, update["name"] if is_private else "a group")
        except OasisError as error:
            answer.put(self._line, update["chat"], error.message)
            raise
        self._talks.forget(person["chat"])  # who had another role here before has nothing of it
        kit.shop.audit.write("messenger %s paired" % role, NO_PLAN, "messenger")
        words = "%s may write to the bot now, as %s" % (person["name"] or "Somebody", role)
        self._teller.leave_out(person["chat"], kit.beside.part("notice").tell("event", words)["id"])
        answer.put(self._line, update["chat"], _PAIRED[role])


# What happens at once comes together.
JOIN_S = 3.0
PACE_S = 60.0
# Of one message; more are counted.
MOST = 10


class Teller:
    """Tells the notices of one daemon to the owners of one bot."""

    def __init__(self, part: Telegram, line: Line, talks: Talks) -> None:
        self._part = part
        self._line = line
        self._talks = talks
        self._lock = threading.Lock()
        self._waiting: list[Notice] = []
        self._is_telling = False
        self._next_s = 0.0
        self._left_out: dict[str, int] = {}  # notice -> the chat that it is no news for

    def leave_out(self, chat: int, notice: str) -> None:
        """Do not tell a notice in a chat: who is there did it a moment ago."""
        self._left_out[notice] = chat
        for old in list(self._left_out)[:-MOST]:
            del self._left_out[old]

    def hear(self, notice: Notice) -> None:
        """Take a notice; never waits, for who tells it may hold locks."""
        with self._lock:
            self._waiting = [*self._waiting, notice][-4 * MOST :]
            if self._is_telling or self._line.is_closed():
                return
            self._is_telling = True
        threading.Thread(target=self._run, name="telegram notices", daemon=True).start()

    def _run(self) -> None:
        now_s = self._part.kit.clock.now_s
        while self._line.wait(max(JOIN_S, self._next_s - now_s())):
            with self._lock:
                notices, self._waiting = self._waiting, []
                if not notices:
                    self._is_telling = False
                    return
            self._next_s = now_s() + PACE_S
            try:
                self._tell([one for one in notices if self._is_news(one)])
            except OasisError as error:
                self._part.kit.log("telegram: notices could not be told: %s" % error.message)
        with self._lock:
            self._is_telling = False

    def _is_news(self, notice: Notice) -> bool:
        is_told = notice["kind"] == "change_applied" and self._talks.was_told(str(notice.get("change", "")))
        return not is_told and not self._talks.is_said_here(notice["id"]) and self._part.is_on("notices")

    def _tell(self, notices: list[Notice]) -> None:
        for owner in self._part.people().owners():
            mine = [one for one in notices if self._left_out.get(one["id"]) != owner["chat"]]
            lines = ["- %s" % _plain(self._named(one["text"])) for one in mine[-MOST:]]
            if len(mine) > MOST:
                lines.insert(0, "- and %d before" % (len(mine) - MOST))
            try:
                if lines:
                    answer.put(self._line, owner["chat"], "**From your router**\n" + "\n".join(lines))
            except OasisError as error:  # he does not want the bot any more; the others do
                self._part.kit.log("telegram: notices could not be told to one owner: %s" % error.message)
        for plan in [str(one["plan"]) for one in notices if one["kind"] == "schedule_waiting" and one.get("plan")]:
            self._talks.waiting(plan)

    def _named(self, text: str) -> str:
        """Return the words of a notice with the names of devices, for who is told no handle by it."""
        return facts.with_names(text, lambda: facts.known_devices(self._part.kit.facts))


def _plain(text: str) -> str:
    return "".join("\\" + char if char in "\\`*_[]~" else char for char in text)
