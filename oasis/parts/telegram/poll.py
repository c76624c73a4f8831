"""The thread that waits for Telegram: asks for updates, sees who they are from, and hands on those of people it knows.

An update is noted as handled before it is, on flash where it can have an effect: whatever happens then, it is handled
once at most. Strangers get no answer, but for one line while a code waits for somebody and theirs is wrong. What goes
wrong is told once in the log and shown by telegram.list; nothing but being turned off ends the thread.
"""

from __future__ import annotations

import sys
import threading

from oasis.change.audit import NO_PLAN
from oasis.errors import OasisError
from oasis.parts.telegram import answer
from oasis.parts.telegram.line import Line, RefusedError
from oasis.parts.telegram.notices import Teller
from oasis.parts.telegram.talk import Talks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.parts.telegram.telegram import Telegram

    Values = dict[str, Any]

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
