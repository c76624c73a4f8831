"""One run, told in a chat of Telegram: the answer as it grows, a card for each plan, what became of each change.

Follows the run by polling, as every front-end does, until it is over or the line is closed. Knows no person.
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.errors import OasisError, SchemaError
from oasis.frontends import telegram_answer, telegram_card
from oasis.frontends.telegram_answer import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.frontends.telegram_approval import Approval
    from oasis.frontends.telegram_card import Buttons
    from oasis.frontends.telegram_line import Line

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

    `heard(change)` is told of each change before it is shown.
    """

    def __init__(
        self, line: Line, chat: int, poll: Poll, buttons: Buttons, approval: Approval, now_s: Callable[[], float],
        heard: Callable[[str], object] = lambda change: None,
    ) -> None:  # fmt: skip
        self._line = line
        self._chat = chat
        self._poll = poll
        self._buttons = buttons
        self._approval = approval
        self._now_s = now_s
        self._heard = heard
        self._typed_s = 0.0
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
                self._card(event)
            since, is_over = reply["next"], reply["state"] not in _OPEN
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

    def _card(self, event: Values) -> None:
        """Show what an event tells of a plan or a change in a message of its own."""
        if event["type"] == "plan" and event["plan"]["needs_approval"]:
            self._cards[event["plan"]["id"]] = show_plan(
                self._line, self._chat, event["plan"], self._buttons, self._approval
            )
        elif event["type"] == "approval" and event["plan"] in self._cards:
            message, card = self._cards[event["plan"]]
            telegram_answer.change(self._line, self._chat, message, telegram_card.of_decision(card, event["decision"]))
        elif event["type"] == "change":
            self._change(event["change"])

    def _change(self, change: Values) -> None:
        self._heard(change["id"])
        text = telegram_card.of_change(change, self._approval.is_keeping())
        buttons = [[self._buttons.make("Undo", self._chat, "undo", change=change["id"])]]
        if change["state"] not in ("applied", "confirmed"):
            buttons = []
        message = self._changes.get(change["id"], 0)
        if message:
            telegram_answer.change(self._line, self._chat, message, text, buttons=buttons)
        else:
            self._changes[change["id"]] = telegram_answer.put(self._line, self._chat, text, buttons)


def show_plan(line: Line, chat: int, card: Values, buttons: Buttons, approval: Approval) -> tuple[int, Values]:
    """Show a plan that waits, with its buttons; return its message and the card."""
    is_approvable = approval.is_possible(card)
    row = [buttons.make("Decline", chat, "decline", card=card)]
    if is_approvable:
        row.insert(0, buttons.make("Approve", chat, "approve", card=card))
    return telegram_answer.put(line, chat, telegram_card.of_plan(card, is_approvable), [row]), card


def poller(call: Callable[..., Values], role: dict[str, object]) -> Poll:
    """Return run.poll by a role."""
    return lambda run, since, wait_ms: call("run.poll", {"run": run, "since": since, "wait_ms": wait_ms}, role)


def reason(error: OasisError) -> str:
    """Return an error as it is said in a chat."""
    return "\n".join(filter(None, (error.message, error.hint)))
