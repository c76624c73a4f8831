"""One run, told in a chat of Telegram: the answer as it grows, a card for each plan, what became of each change.

Follows the run by polling, as every front-end does, until it is over or the line is closed. Knows no person.
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.errors import OasisError, SchemaError
from oasis.parts.telegram import card as telegram_card
from oasis.parts.telegram import text as telegram_answer
from oasis.parts.telegram.line import TRIES, RefusedError, is_passing
from oasis.parts.telegram.text import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.parts.telegram.card import Approval, Buttons
    from oasis.parts.telegram.line import Line

    Values = dict[str, Any]
    Poll = Callable[[str, int, int], Values]

_OPEN = ("running", "waiting")
# Longer than this a telephone shows somebody typing no more.
_TYPING_S = 4.5
_WAIT_MS, _WAITING_MS = 1000, 5000
# What is done sooner needs no word that it is being done.
_PATIENCE_S = 2.5
# Between two looks at a run that is talking: pieces of text join meanwhile.
_JOIN_S = 0.3
# Between two tries to show a card that was not taken.
_AGAIN_S = 5.0
_UNSHOWN = "(A part of this could not be shown here. It is on the router's page.)"
# What a tool shows to the owner alone may be a key of the router's, and Telegram reads everything.
_PRIVATE = "(a part of the result is on the router's page alone)"
# What an undoing comes to, in words.
_UNDONE = {"unchanged": "There was nothing to undo.", "declined": "Not undone.", "expired": "Not undone."}


class Told:
    """What the events of a run come to, as Markdown."""

    def __init__(self) -> None:
        self._said = [""]
        self._notes: list[str] = []
        self._working = ""
        self._error: Values | None = None
        self._state = "running"

    def take(self, event: Values) -> None:
        """Take the next event of the run."""
        kind = event["type"]
        if kind == "delta":
            self._said[-1] += event["text"]
            self._working = ""
        elif kind == "reset":
            self._said = [event["text"]]
        elif kind == "message":
            self._said.append("")
        elif kind in ("tool_use", "tool_progress"):
            self._working = str(event["name"])
        elif kind == "tool_result":
            self._working = ""
            self._result(event)
        elif kind == "note":
            self._notes.append(_PRIVATE if event.get("is_private") else str(event["text"])[:2000])
        elif kind == "error":
            self._error = event["error"]
        elif kind == "end":
            self._state = event["state"]

    def note(self, words: str) -> None:
        """Add words of our own, once."""
        if words not in self._notes:
            self._notes.append(words)

    def _result(self, event: Values) -> None:
        if event["name"] != "undo" or event.get("tool_use_id"):
            return  # a model tells of its own calls
        try:
            status = jsonl.loads(event["text"]).get("status")
        except (SchemaError, AttributeError):
            return
        self._notes.append(_UNDONE.get(status, ""))

    def text(self, is_working: bool) -> str:
        """Return what there is to show now; `is_working`: with the tool that is at work, where nothing else is said."""
        parts = [text.strip() for text in self._said if text.strip()]
        parts += [note for note in self._notes[-8:] if note]
        if self._working and is_working:
            parts.append("_using %s …_" % self._working.replace("_", " "))
        if self._error is not None:
            parts.append("\n".join(filter(None, (self._error["message"], self._error.get("hint", "")))))
        elif self._state == "cancelled":
            parts.append("Stopped.")
        return "\n\n".join(parts)


class Following:
    """Follows runs in one chat. `poll(run, since, wait_ms)` is run.poll by the role of who is there.

    `heard(change)` is told of each change before it is shown, `waits(card)` of each plan that begins to wait, and with
    None of its decision.
    """

    def __init__(
        self, line: Line, chat: int, poll: Poll, buttons: Buttons, approval: Approval, now_s: Callable[[], float],
        heard: Callable[[str], object] = lambda change: None,
        waits: Callable[[Values | None], object] = lambda card: None,
    ) -> None:  # fmt: skip
        self._line = line
        self._chat = chat
        self._poll = poll
        self._buttons = buttons
        self._approval = approval
        self._now_s = now_s
        self._heard = heard
        self._waits = waits
        self._typed_s = 0.0
        self._unshown: list[Values] = []  # events whose cards are still to be shown
        self._again_s = 0.0
        self._cards: dict[str, tuple[int, Values]] = {}  # plan -> its message, and the card
        self._changes: dict[str, int] = {}  # change -> its message

    def follow(self, run: str, reply_to: int) -> Answer:
        """Tell a run to its end; return the answer with the messages it was told in.

        Raises: OasisError when Telegram takes nothing more, or the run is gone.
        """
        answer, told, since = Answer(self._line, self._chat, reply_to), Told(), 0
        wait_ms, began_s = _WAIT_MS, self._now_s()
        while not self._line.is_closed():
            reply = self._poll(run, since, wait_ms)
            for event in reply["events"]:
                told.take(event)
                self._take(event)
            since, is_over = reply["next"], reply["state"] not in _OPEN
            if not self._show_cards(is_over):
                told.note(_UNSHOWN)
            text = told.text(not is_over and self._now_s() - began_s > _PATIENCE_S)
            if is_over:
                if text or not (self._cards or self._changes):
                    answer.show(text or "Done.", True)
                break
            if text and self._line.may_say(self._chat):
                answer.show(text, False)
            elif not text and reply["state"] == "running":
                self._type()
            wait_ms = _WAIT_MS if reply["state"] == "running" else _WAITING_MS
            if reply["events"]:
                self._line.wait(_JOIN_S)
        return answer

    def _type(self) -> None:
        if self._now_s() - self._typed_s >= _TYPING_S:
            self._typed_s = self._now_s()
            self._line.tell("sendChatAction", {"chat_id": self._chat, "action": "typing"})

    def _take(self, event: Values) -> None:
        """Take what an event tells of a plan or a change."""
        if event["type"] == "plan" and event["plan"]["needs_approval"]:
            self._waits(event["plan"])
        elif event["type"] == "approval":
            self._waits(None)
        if event["type"] in ("plan", "approval", "change"):
            self._unshown.append(event)

    def _show_cards(self, is_last: bool) -> bool:
        """Show the cards that are due; those not taken now come later. False when one cannot be shown at all."""
        is_shown = True
        while self._unshown and not self._line.is_closed() and (is_last or self._now_s() >= self._again_s):
            event = self._unshown[0]
            try:
                if is_last:
                    self._last_card(event)
                else:
                    self._card(event, 1)
            except RefusedError as refused:
                if not is_last and is_passing(refused):
                    self._again_s = self._now_s() + max(refused.wait_s, _AGAIN_S)
                    break
                is_shown = False  # the answer must not be lost with it
                if is_passing(refused):  # for minutes now: nor is it to wait behind more cards
                    self._unshown.clear()
                    break
            self._unshown.pop(0)
        return is_shown

    def _last_card(self, event: Values) -> None:
        self._line.lasting(lambda tries: self._card(event, tries))

    def _card(self, event: Values, tries: int) -> None:
        """Show what an event tells of a plan or a change in a message of its own."""
        if event["type"] == "plan" and event["plan"]["needs_approval"]:
            self._cards[event["plan"]["id"]] = show_plan(
                self._line, self._chat, event["plan"], self._buttons, self._approval, tries
            )
        elif event["type"] == "approval" and event["plan"] in self._cards:
            message, card = self._cards[event["plan"]]
            words = telegram_card.of_decision(card, event["decision"])
            telegram_answer.change(self._line, self._chat, message, words, tries=tries)
        elif event["type"] == "change":
            self._change(event["change"], tries)

    def _change(self, change: Values, tries: int) -> None:
        self._heard(change["id"])
        text = telegram_card.of_change(change, self._approval.is_keeping())
        buttons = [[self._buttons.make("Undo", self._chat, "undo", change=change["id"])]]
        if change["state"] not in ("applied", "confirmed"):
            buttons = []
        message = self._changes.get(change["id"], 0)
        if message:
            telegram_answer.change(self._line, self._chat, message, text, buttons=buttons, tries=tries)
        else:
            self._changes[change["id"]] = telegram_answer.put(self._line, self._chat, text, buttons, tries=tries)


def show_plan(
    line: Line, chat: int, card: Values, buttons: Buttons, approval: Approval, tries: int = TRIES
) -> tuple[int, Values]:
    """Show a plan that waits, with its buttons; return its message and the card."""
    is_approvable = approval.is_possible(card)
    row = [buttons.make("Decline", chat, "decline", card=card)]
    if is_approvable:
        row.insert(0, buttons.make("Approve", chat, "approve", card=card))
    return telegram_answer.put(line, chat, telegram_card.of_plan(card, is_approvable), [row], tries=tries), card


def poller(call: Callable[..., Values], role: dict[str, object]) -> Poll:
    """Return run.poll by a role."""
    return lambda run, since, wait_ms: call("run.poll", {"run": run, "since": since, "wait_ms": wait_ms}, role)


def reason(error: OasisError) -> str:
    """Return an error as it is said in a chat."""
    return "\n".join(filter(None, (error.message, error.hint)))
