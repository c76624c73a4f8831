"""The owner's word by messenger: off unless he says so, and for what is risky by a code that only his telephone shows.

Who holds the bot's token, or sits in the worker, can write whatever message he likes in the owner's name. So a message
alone approves nothing that is risky: the six digits (telegram_codes.py) are judged here, once, and the plan that they
are for was shown with its number before. Only then is the word given, by a role that nothing else here has.
"""

from __future__ import annotations

import threading

from oasis.errors import OasisError, PolicyError
from oasis.parts.telegram.card import is_whole, of_outcome
from oasis.parts.telegram.text import LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.parts.telegram.codes import Codes

    Values = dict[str, Any]
    Call = Callable[[str, dict[str, object], dict[str, object]], dict[str, Any]]

# Made of a code, or of a press where the owner lets a press be enough; never of what a message says.
_OWNER: dict[str, object] = {"name": "owner", "terminal": False, "pid": 0, "way": "messenger", "room": LIMIT}
# Time to look a code up.
ASK_S = 120.0


class Approval:
    """Approving in the chats of one bot.

    `is_on()` tells whether the owner lets it happen at all, `outcome(plan)` what became of a plan (Desk.outcome).
    """

    def __init__(
        self, call: Call, codes: Callable[[], Codes], is_on: Callable[[], bool], now_s: Callable[[], float],
        outcome: Callable[[str], tuple[str, str]],
    ) -> None:  # fmt: skip
        self._call = call
        self._outcome = outcome
        self._codes = codes
        self._is_on = is_on
        self._now_s = now_s
        self._lock = threading.Lock()
        self._asked: dict[int, tuple[Values, float]] = {}  # chat -> the card that a code is awaited for

    def is_possible(self, card: Values) -> bool:
        """Tell whether a plan can be approved by messenger."""
        if not self._is_on() or card.get("typed_word") or card.get("forces") or not is_whole(card):
            return False
        return not _needs_code(card) or self._codes().has_secret()

    def press(self, chat: int, card: Values) -> str:
        """Take a press of Approve, as often as there is one; return what to say, "" where the plan is approved now."""
        over = self.over(card)
        if over:
            return over
        if not self.is_possible(card):
            return "This cannot be approved here. Use the router's page."
        if _needs_code(card):
            with self._lock:
                self._asked[chat] = card, self._now_s() + ASK_S
            return "Send the six digits that your authenticator shows now, for plan %s. I delete them." % card["short"]
        return self._approve(card)

    def over(self, card: Values) -> str:
        """Return why a plan cannot be decided any more, "" while it waits."""
        return of_outcome(card, *self._outcome(str(card["id"])))

    def awaits(self, chat: int) -> bool:
        """Tell whether a code is awaited in a chat."""
        with self._lock:
            return chat in self._asked and self._now_s() < self._asked[chat][1]

    def is_keeping(self) -> bool:
        """Tell whether a code keeps a change that waits."""
        return self._is_on() and self.has_codes()

    def has_codes(self) -> bool:
        """Tell whether six digits mean anything at all."""
        return self._codes().has_secret()

    def code(self, chat: int, code: str) -> str:
        """Take six digits; return what to say. They are used up whatever they were for."""
        if not self._is_on():
            return "Approving by messenger is off. Those digits did nothing."
        with self._lock:
            card, until_s = self._asked.get(chat, ({}, 0.0))
        waiting = None if self._now_s() < until_s else self._call("change.pending", {}, _OWNER)["change"]
        if not card and not waiting:
            return "Nothing waits for a code."
        is_late = self._now_s() >= until_s
        try:
            self._codes().use(code)
        except PolicyError as error:
            words = "%s: %s." % (error.message.capitalize(), error.hint)
            return words if waiting else self._again(chat, card, words)
        with self._lock:
            self._asked.pop(chat, None)
        if waiting:
            return self._keep(waiting)
        return self._again(chat, card, "This code came too late.") if is_late else self._approve(card)

    def _again(self, chat: int, card: Values, words: str) -> str:
        """Await another code where the plan still waits and one was awaited until now; return what to say."""
        over = self.over(card)
        with self._lock:
            _, until_s = self._asked.get(chat, (card, 0.0))
            if over:
                self._asked.pop(chat, None)
            elif self._now_s() < until_s:
                self._asked[chat] = card, self._now_s() + ASK_S
                return "%s Plan %s still waits: send the next code." % (words, card["short"])
        still = "Plan %s still waits: press Approve again, then send the next code." % card["short"]
        return "%s %s" % (words, over or still)

    def forget(self, chat: int) -> None:
        """Await no code in a chat any more."""
        with self._lock:
            self._asked.pop(chat, None)

    def _approve(self, card: Values) -> str:
        try:
            self._call("plan.approve", {"plan": card["id"], "hash": card["hash"]}, _OWNER)
        except OasisError as error:
            return self.over(card) or "Not approved: %s" % error.message
        return ""

    def _keep(self, change: Values) -> str:
        """Keep the change that waits: the code shows that it is the owner, and that this way in still works."""
        try:
            self._call("change.confirm", {"change": change["id"], "unproved": True}, _OWNER)
        except OasisError as error:
            return "Not kept: %s" % error.message
        return "Kept."


def _needs_code(card: Values) -> bool:
    return bool(card["risk"] != "low" or card.get("tainted") or card.get("untrusted"))
