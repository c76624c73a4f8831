"""Notices to the owners in Telegram: joined, so that ten changes are one message, and no more than one a minute.

What an owner is being told in Telegram anyway, because it came of a message there, is left out. The thread lives only
while there is something to tell.
"""

from __future__ import annotations

import threading

from oasis.errors import OasisError
from oasis.parts.telegram import answer
from oasis.tools import facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.parts.telegram.line import Line
    from oasis.parts.telegram.talk import Talks
    from oasis.parts.telegram.telegram import Telegram

    Notice = dict[str, Any]

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
