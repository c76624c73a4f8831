"""Plans and changes as messages with buttons, and what a press of one means.

A button carries eight digits that mean something here for a while, in one chat: what is old or was made up means
nothing. Those of a plan mean it as often as they are pressed, for whether the plan waits is judged with each press; an
undo is done once. Knows no person and sends nothing.
"""

from __future__ import annotations

import os
import threading

from oasis.core import clean
from oasis.parts.telegram import text as telegram_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Values = dict[str, Any]

# More cards than an owner has open; the oldest give way.
BUTTONS = 64
# Longer than any plan waits; an undo may be thought over for a day.
KEEP_S = 24 * 3600.0
_OF_PLANS = ("approve", "decline")
_CUT = "**This is cut.** It cannot be approved here. All of plan %s is on the router's page, and told by `oasis plans`."
_LINE_CHARS = 160
_MARGIN = 64  # for what closes a fence that is cut


class Buttons:
    """The buttons that mean something. `now_s()` is monotonic."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._lock = threading.Lock()
        self._known: dict[str, Values] = {}

    def make(self, text: str, chat: int, what: str, **about: Any) -> Values:
        """Return a button for a chat; `what` is meant by it, `about` what."""
        data = os.urandom(4).hex()
        with self._lock:
            self._known[data] = {"what": what, "chat": chat, "until_s": self._now_s() + KEEP_S, **about}
            # An undo gives way before a plan: that may wait for half a day, and changes go on meanwhile.
            for old in sorted(self._known, key=lambda one: self._known[one]["what"] in _OF_PLANS)[:-BUTTONS]:
                del self._known[old]
        return {"text": text, "callback_data": data}

    def take(self, data: str, chat: int) -> Values | None:
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


def of_plan(card: Values, is_approvable: bool) -> str:
    """Return what is told of a plan that waits; `card` is that of plan.list.

    What does not fit into one message is cut, and says so: that plan is approved elsewhere (see is_whole).
    """
    text = _whole(card, is_approvable)
    if telegram_text.units(text) <= telegram_text.LIMIT:
        return text
    missing = _CUT % card["short"]
    room = telegram_text.LIMIT - telegram_text.units(missing) - _MARGIN
    return "%s\n\n%s" % (telegram_text.split(text, room)[0], missing)


def is_whole(card: Values) -> bool:
    """Tell whether all that an approval of a plan is for can be read in one message."""
    if any("value" in secret for secret in card.get("secrets", [])):
        return False  # shown in clear to the owner, and Telegram reads everything
    return _fence(card["uci"]) != "" and telegram_text.units(_whole(card, True)) <= telegram_text.LIMIT


def _whole(card: Values, is_approvable: bool) -> str:
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
    minutes = max(int(card["expires_in_s"]) // 60, 1)
    where = "below, or" if is_approvable else "not here but"
    lines.append("Plan %s, for %d min. Approve it %s on the router's page." % (card["short"], minutes, where))
    return "\n".join(lines)


def _fence(lines: list[Any]) -> str:
    """Return a fence that none of the lines can end, "" where they hold both."""
    return next((mark for mark in ("```", "~~~") if not any(mark in str(line) for line in lines)), "")


def of_decision(card: Values, decision: str) -> str:
    """Return what is told of a plan that was decided."""
    words = {
        "approved": "Approved",
        "declined": "Declined",
        "expired": "Nobody decided in time",
        "cancelled": "Stopped",
    }
    return "%s: %s" % (words.get(decision, decision), _brief(card["summary"]))


def of_outcome(card: Values, decision: str, words: str) -> str:
    """Return why a plan cannot be decided any more, "" while it waits; see Desk.outcome."""
    by = " by messenger" if words == "messenger" else " on the router"
    found = {
        "waiting": "",
        "approved": "was approved%s already" % by,
        "declined": "was declined already. Nothing of it was done",
        "expired": "was not decided in time. Nothing of it was done; ask again",
        "cancelled": "was stopped. Nothing of it was done",
    }.get(decision, "does not wait any more")
    return "Plan %s %s." % (card["short"], found) if found else ""


def of_change(change: Values, is_kept_by_code: bool = False) -> str:
    """Return what is told of a change that has a new state."""
    summary = _brief(change["summary"])
    state = change["state"]
    if state == "applied" and change.get("confirm_in_s"):
        seconds = int(change["confirm_in_s"])
        way = "send a new code of six digits here, or " if is_kept_by_code else ""
        return (
            "**Applied, and put back in %d s unless you keep it:** %s\nTo keep it %spress Keep on the router's page."
            % (seconds, summary, way)
        )
    words = {"confirmed": "Done", "applied": "Applied", "rolled_back": "Put back"}
    reason = " (%s)" % _brief(change["reason"]) if state == "rolled_back" and change.get("reason") else ""
    return "**%s:** %s%s" % (words.get(state, "Could NOT be put back, look at the router"), summary, reason)


def plain(text: Any) -> str:
    """Return words of others, whole, as one line that no Markdown is made of."""
    return "".join("\\" + char if char in "\\`*_[]~" else char for char in clean.shown(text))


def _brief(text: Any) -> str:
    """Return words of others where nothing is approved by them: what is long is cut."""
    line = " ".join(str(text).split())
    return plain(line if len(line) <= _LINE_CHARS else line[: _LINE_CHARS - 1] + "…")
