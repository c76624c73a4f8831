"""A text that grows in a chat of Telegram: sent when there is something to show, edited as more comes, whole at last.

What is too long for one message goes on in the next; a piece that is full is not touched again (telegram_text.py).
HTML that Telegram does not take is sent as plain text. Knows no run and no person.
"""

from __future__ import annotations

from oasis.core import clean
from oasis.parts.telegram import text
from oasis.parts.telegram.line import TRIES, RefusedError, is_passing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.parts.telegram.line import Line

    Values = dict[str, Any]

# More of one answer than fits into so many messages is on the router's page.
PIECES = 8
_MORE = "\n\n(the rest is on the router's page)"


class Answer:
    """One answer in a chat, to a message there or to none (0)."""

    def __init__(self, line: Line, chat: int, reply_to: int = 0) -> None:
        self._line = line
        self._chat = chat
        self._reply_to = reply_to
        self._shown: list[str] = []
        self.messages: list[int] = []

    def show(self, markdown: str, is_final: bool) -> None:
        """Show what there is of the text; what is not final is left out where it cannot be said now.

        Raises: RefusedError, for what is final alone, after minutes.
        """
        pieces = text.split(markdown)
        if len(pieces) > PIECES:
            pieces = [*pieces[: PIECES - 1], text.split(pieces[PIECES - 1], 3900)[0] + _MORE]
        for number, piece in enumerate(pieces):
            is_wanted = is_final or number < len(pieces) - 1
            if number == len(self.messages):
                sent = self._put(piece, 0 if number else self._reply_to, is_wanted, is_final)
                if not sent:
                    return
                self.messages.append(sent)
                self._shown.append(piece)
            elif self._shown[number] != piece and self._change(self.messages[number], piece, is_wanted, is_final):
                self._shown[number] = piece

    def _put(self, piece: str, reply_to: int, is_wanted: bool, is_final: bool) -> int:
        line, chat = self._line, self._chat
        found: int = self._said(lambda tries: put(line, chat, piece, None, reply_to, is_wanted, tries), is_final)
        return found

    def _change(self, message: int, piece: str, is_wanted: bool, is_final: bool) -> bool:
        line, chat = self._line, self._chat
        return bool(self._said(lambda tries: change(line, chat, message, piece, is_wanted, None, tries), is_final))

    def _said(self, say: Callable[[int], Any], is_final: bool) -> Any:
        if is_final:
            return self._line.lasting(say)
        try:
            return say(1)
        except RefusedError as refused:
            if not is_passing(refused):
                raise
            return 0  # the end of the answer says all of it


def put(
    line: Line, chat: int, markdown: str, buttons: list[list[Values]] | None = None, reply_to: int = 0,
    is_wanted: bool = True, tries: int = TRIES,
) -> int:  # fmt: skip
    """Send a message; return its id, 0 when it was left out. Raises: RefusedError."""
    more: Values = {"link_preview_options": {"is_disabled": True}}
    if reply_to:
        more["reply_parameters"] = {"message_id": reply_to, "allow_sending_without_reply": True}
    if buttons is not None:
        more["reply_markup"] = {"inline_keyboard": buttons}
    result = _said(line, "sendMessage", chat, more, markdown, is_wanted, tries)
    return int(result.get("message", 0)) if result else 0


def change(
    line: Line,
    chat: int,
    message: int,
    markdown: str,
    is_wanted: bool = True,
    buttons: list[list[Values]] | None = None,
    tries: int = TRIES,
) -> bool:
    """Put another text in a message, without buttons unless there are some; False when it was left out.

    Raises: RefusedError.
    """
    more: Values = {"message_id": message, "link_preview_options": {"is_disabled": True}}
    if buttons is not None:
        more["reply_markup"] = {"inline_keyboard": buttons}
    return _said(line, "editMessageText", chat, more, markdown, is_wanted, tries) is not None


def _said(
    line: Line, method: str, chat: int, more: Values, markdown: str, is_wanted: bool, tries: int
) -> Values | None:
    piece = clean.text(markdown)  # nothing that is there without being seen, or turns the reading direction
    piece = piece if piece.strip() else "…"
    try:
        marked: Values = {**more, "text": text.html(piece), "parse_mode": "HTML"}
        return line.send(method, chat, marked, is_wanted, tries)
    except RefusedError as refused:
        if refused.code != "invalid_request":
            raise
    return line.send(method, chat, {**more, "text": piece}, is_wanted, tries)
