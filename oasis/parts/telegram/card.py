"""Plans and changes as messages with buttons, and what a press of one means.

A button carries eight digits that mean something here for a while, in one chat: what is old or was made up means
nothing. Those of a plan mean it as often as they are pressed, for whether the plan waits is judged with each press; an
undo is done once. Knows no person and sends nothing.

Approval by messenger is disabled by default, and what is risky needs a code that only the owner's phone shows. Whoever
holds the bot's token, or controls the worker, can write any message in the owner's name. So a message alone approves
nothing risky: the six digits are checked here, once, and the plan that they are for was shown with its number before.
Only then is the approval given, by a role that nothing else here has.
"""

from __future__ import annotations

import os
import threading

from oasis.core import clean
from oasis.errors import OasisError, PolicyError
from oasis.parts.telegram.text import LIMIT, split, units

if False:  # annotations only
    from oasis.parts.telegram.people import Codes
    from oasis.parts.telegram.shapes import Button, Call, Callable, Card, Change, Meaning, Role


# More cards than an owner has open; the oldest give way.
BUTTONS = 64
# Longer than any plan waits; an undo may be thought over for a day.
KEEP_S = 24 * 3600.0
_OF_PLANS = ("approve", "decline", "choose")
_CUT = "**This is cut.** It cannot be approved here. All of plan %s is on the router's page and in `oasis plans`."
_LINE_CHARS = 160
_MARGIN = 64  # for what closes a fence that is cut


class Buttons:
    """The buttons that mean something. `now_s()` is monotonic."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._lock = threading.Lock()
        self._known: dict[str, Meaning] = {}

    def make(self, text: str, chat: int, what: str, card: Card | None = None, change: str = "") -> Button:
        """Return a button for a chat; `what` is done to a plan or a change."""
        data = os.urandom(4).hex()
        meaning: Meaning = {"what": what, "chat": chat, "until_s": self._now_s() + KEEP_S, "change": change}
        if card is not None:
            meaning["card"] = card
        with self._lock:
            self._known[data] = meaning
            # An undo gives way before a plan: that may wait for half a day, and changes go on meanwhile.
            for old in sorted(self._known, key=lambda one: self._known[one]["what"] in _OF_PLANS)[:-BUTTONS]:
                del self._known[old]
        return {"text": text, "callback_data": data}

    def take(self, data: str, chat: int) -> Meaning | None:
        """Return what a button means that was pressed in a chat, None for nothing; what is done once is done now."""
        with self._lock:
            found = self._known.get(data)
            if found is None or found["chat"] != chat:
                return None
            if self._now_s() >= found["until_s"]:
                del self._known[data]
                return None
            if found["what"] == "undo":
                self._known[data] = {**found, "what": "pressed"}
            return found

    def forget(self, chat: int) -> None:
        """Let no button of a chat mean anything."""
        with self._lock:
            self._known = {data: one for data, one in self._known.items() if one["chat"] != chat}


def of_plan(card: Card, is_approvable: bool) -> str:
    """Return the text of a plan that waits; `card` is that of plan.list.

    What does not fit into one message is cut, and says so: that plan is approved elsewhere (see is_whole).
    """
    text = _whole(card, is_approvable)
    if units(text) <= LIMIT:
        return text
    missing = _CUT % card["short"]
    return "%s\n\n%s" % (split(text, LIMIT - units(missing) - _MARGIN)[0], missing)


def is_whole(card: Card) -> bool:
    """Tell whether all that an approval of a plan is for can be read in one message."""
    if any("value" in secret for secret in card.get("secrets", [])):
        return False  # shown in clear to the owner, and Telegram reads everything
    return _fence(card["uci"]) != "" and units(_whole(card, True)) <= LIMIT


def _whole(card: Card, is_approvable: bool) -> str:
    lines = ["**This waits for your word:** %s" % plain(card["summary"])]
    lines += ["- %s" % plain(word) for word in card["words"]]
    fence = _fence(card["uci"]) or "```"
    if card["uci"]:
        lines += [fence, *[clean.shown(line) for line in card["uci"]], fence]
    if card["services"]:
        names = ["%s %s" % (plain(one["action"]), plain(one["name"])) for one in card["services"]]
        lines.append("Then: %s" % ", ".join(names))
    reasons = "; ".join(plain(reason) for reason in card["reasons"])
    lines.append("Risk: %s%s" % (card["risk"], " (%s)" % reasons if reasons else ""))
    if card.get("untrusted"):
        lines.append("Words of others were in sight: %s" % ", ".join(plain(one) for one in card["untrusted"]))
    if any("value" in secret for secret in card.get("secrets", [])):
        lines.append("The secret itself is shown on the router's page alone.")
    minutes = max(card["expires_in_s"] // 60, 1)
    where = "below, or" if is_approvable else "not here but"
    lines.append("Plan %s, for %d min. Approve it %s on the router's page." % (card["short"], minutes, where))
    return "\n".join(lines)


def _fence(lines: list[str]) -> str:
    """Return a fence that none of the lines can end, "" where they hold both."""
    return next((mark for mark in ("```", "~~~") if not any(mark in line for line in lines)), "")


def of_decision(card: Card, decision: str) -> str:
    """Return the text of a plan that was decided."""
    words = {"expired": "Nobody decided in time", "cancelled": "Stopped"}.get(decision, decision.capitalize())
    return "%s: %s" % (words, _brief(card["summary"]))


def of_change(change: Change, is_kept_by_code: bool = False) -> str:
    """Return the text of a change that has a new state."""
    summary, state = _brief(change["summary"]), change["state"]
    seconds = change.get("confirm_in_s", 0)
    if state == "applied" and seconds:
        way = "send a new code of six digits here, or " if is_kept_by_code else ""
        return (
            "**Applied, and undone automatically in %d s unless you keep it:** %s\n"
            "To keep it %spress Keep on the router's page." % (seconds, summary, way)
        )
    words = {"confirmed": "Done", "applied": "Applied", "rolled_back": "Rolled back"}
    reason = " (%s)" % _brief(change["reason"]) if state == "rolled_back" and change.get("reason") else ""
    return "**%s:** %s%s" % (words.get(state, "Could NOT be rolled back, look at the router"), summary, reason)


def plain(text: str) -> str:
    """Return words of others, whole, as one line that no Markdown is made of."""
    return "".join("\\" + char if char in "\\`*_[]~" else char for char in clean.shown(text))


def _brief(text: str) -> str:
    """Return words of others where nothing is approved by them: what is long is cut."""
    line = " ".join(text.split())
    return plain(line if len(line) <= _LINE_CHARS else line[: _LINE_CHARS - 1] + "…")


# Made of a code, or of a press where the owner lets a press be enough; never of what a message says.
_OWNER: Role = {"name": "owner", "terminal": False, "pid": 0, "way": "messenger", "room": LIMIT}
# Time to look a code up.
ASK_S = 120.0


class Approval:
    """Approving in the chats of one bot.

    `is_on()` tells whether the owner lets it happen at all, `outcome(plan)` what became of a plan (change/approval.py).
    """

    def __init__(
        self, call: Call, codes: Codes, is_on: Callable[[], bool], now_s: Callable[[], float],
        outcome: Callable[[str], tuple[str, str]],
    ) -> None:  # fmt: skip
        self._call = call
        self._outcome = outcome
        self._codes = codes
        self._is_on = is_on
        self._now_s = now_s
        self._lock = threading.Lock()
        self._asked: dict[int, tuple[Card, float]] = {}  # chat -> the card that a code is awaited for

    def is_possible(self, card: Card) -> bool:
        """Tell whether a plan can be approved by messenger."""
        if not self._is_on() or card.get("typed_word") or card.get("forces") or not is_whole(card):
            return False
        return not _needs_code(card) or self._codes.has_secret()

    def press(self, chat: int, card: Card) -> str:
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

    def over(self, card: Card) -> str:
        """Return why a plan cannot be decided any more, "" while it waits; see change/approval.py."""
        decision, words = self._outcome(str(card["id"]))
        if decision == "waiting":
            return ""
        over = {
            "approved": "was approved %s already" % ("by messenger" if words == "messenger" else "on the router"),
            "declined": "was declined already. Nothing of it was done",
            "expired": "was not decided in time. Nothing of it was done; ask again",
            "cancelled": "was stopped. Nothing of it was done",
        }.get(decision, "does not wait any more")
        return "Plan %s %s." % (card["short"], over)

    def awaits(self, chat: int) -> bool:
        """Tell whether a code is awaited in a chat."""
        with self._lock:
            return chat in self._asked and self._now_s() < self._asked[chat][1]

    def is_keeping(self) -> bool:
        """Tell whether a code keeps a change that waits."""
        return self._is_on() and self._codes.has_secret()

    def code(self, chat: int, code: str) -> str:
        """Take six digits; return what to say. They are used up whatever they were for."""
        if not self._is_on():
            return "Approving by messenger is off. Those digits did nothing."
        with self._lock:
            card, until_s = self._asked.get(chat, (None, 0.0))
        waiting = None if self._now_s() < until_s else self._call("change.pending", {}, _OWNER)["change"]
        if card is None and not waiting:
            return "Nothing waits for a code."
        is_late = self._now_s() >= until_s
        try:
            self._codes.use(code)
        except PolicyError as error:
            words = "%s: %s." % (error.message.capitalize(), error.hint)
            return words if waiting or card is None else self._again(chat, card, words)
        with self._lock:
            self._asked.pop(chat, None)
        if waiting:  # the code shows that it is the owner, and that this way in still works
            try:
                self._call("change.confirm", {"change": waiting["id"], "unproved": True}, _OWNER)
            except OasisError as error:
                return "Not kept: %s" % error.message
            return "Kept."
        assert card is not None  # else nothing waited
        return self._again(chat, card, "This code came too late.") if is_late else self._approve(card)

    def _again(self, chat: int, card: Card, words: str) -> str:
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

    def _approve(self, card: Card) -> str:
        try:
            self._call("plan.approve", {"plan": card["id"], "hash": card["hash"]}, _OWNER)
        except OasisError as error:
            return self.over(card) or "Not approved: %s" % error.message
        return ""


def _needs_code(card: Card) -> bool:
    return bool(card["risk"] != "low" or card.get("tainted") or card.get("untrusted"))
