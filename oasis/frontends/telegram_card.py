"""Plans and changes as messages with buttons, and what a press of one means.

A button carries eight digits that mean something here for a while, in one chat, once: what was pressed before, is old,
or was made up means nothing. Knows no person and sends nothing.
"""

from __future__ import annotations

import os
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Values = dict[str, Any]

# More cards than an owner has open; the oldest give way.
BUTTONS = 64
# Longer than any plan waits; an undo may be thought over for a day.
KEEP_S = 24 * 3600.0
_WORDS, _COMMANDS = 12, 20
_LINE_CHARS = 160


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
            for old in list(self._known)[:-BUTTONS]:
                del self._known[old]
        return {"text": text, "callback_data": data}

    def take(self, data: str, chat: int) -> Values | None:
        """Return what a button means that was pressed in a chat, and let it mean nothing from now on."""
        with self._lock:
            found = self._known.get(data)
            if found is None or found["chat"] != chat:
                return None
            del self._known[data]
            return found if self._now_s() < found["until_s"] else None

    def forget(self, chat: int) -> None:
        """Let no button of a chat mean anything."""
        with self._lock:
            self._known = {data: one for data, one in self._known.items() if one["chat"] != chat}


def of_plan(card: Values, is_approvable: bool) -> str:
    """Return what is told of a plan that waits; `card` is that of plan.list."""
    lines = ["**This waits for your word:** %s" % _plain(card["summary"])]
    lines += ["- %s" % _plain(word) for word in card["words"][:_WORDS]]
    if len(card["words"]) > _WORDS:
        lines.append("- and %d more" % (len(card["words"]) - _WORDS))
    commands = [_short(str(line)).replace("```", "'''") for line in card["uci"][:_COMMANDS]]
    if commands:
        lines += ["```", *commands, "```"]
    reasons = "; ".join(_plain(reason) for reason in card["reasons"])
    lines.append("Risk: %s%s" % (card["risk"], " (%s)" % reasons if reasons else ""))
    if card.get("untrusted"):
        lines.append("Words of others were in sight: %s" % ", ".join(_plain(one) for one in card["untrusted"]))
    minutes = max(int(card["expires_in_s"]) // 60, 1)
    where = "below, or" if is_approvable else "not here but"
    lines.append("Plan %s, for %d min. Approve it %s on the router's page." % (card["short"], minutes, where))
    return "\n".join(lines)


def of_decision(card: Values, decision: str) -> str:
    """Return what is told of a plan that was decided."""
    words = {
        "approved": "Approved",
        "declined": "Declined",
        "expired": "Nobody decided in time",
        "cancelled": "Stopped",
    }
    return "%s: %s" % (words.get(decision, decision), _plain(card["summary"]))


def of_change(change: Values, is_kept_by_code: bool = False) -> str:
    """Return what is told of a change that has a new state."""
    summary = _plain(change["summary"])
    state = change["state"]
    if state == "applied" and change.get("confirm_in_s"):
        seconds = int(change["confirm_in_s"])
        way = "send a new code of six digits here, or " if is_kept_by_code else ""
        return (
            "**Applied, and put back in %d s unless you keep it:** %s\nTo keep it %spress Keep on the router's page."
            % (seconds, summary, way)
        )
    words = {"confirmed": "Done", "applied": "Applied", "rolled_back": "Put back"}
    reason = " (%s)" % _plain(change["reason"]) if state == "rolled_back" and change.get("reason") else ""
    return "**%s:** %s%s" % (words.get(state, "Could NOT be put back, look at the router"), summary, reason)


def _plain(text: Any) -> str:
    """Return words of others as one short line that no Markdown is made of."""
    line = _short(" ".join(str(text).split()))
    return "".join("\\" + char if char in "\\`*_[]~" else char for char in line)


def _short(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else line[: _LINE_CHARS - 1] + "…"
