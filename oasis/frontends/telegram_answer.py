"""A text that grows in a chat of Telegram: sent when there is something to show, edited as more comes, whole at last.

What is too long for one message goes on in the next; a piece that is full is not touched again (telegram_text.py).
HTML that Telegram does not take is sent as plain text. Knows no run and no person.
"""

from __future__ import annotations

from oasis.frontends import telegram_text
from oasis.frontends.telegram_line import RefusedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.frontends.telegram_line import Line

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
        """Show what there is of the text; what is not final is left out where the chat wants a pause.

        Raises: RefusedError, for what is final alone.
        """
        pieces = telegram_text.split(markdown)
        if len(pieces) > PIECES:
            pieces = [*pieces[: PIECES - 1], telegram_text.split(pieces[PIECES - 1], 3900)[0] + _MORE]
        for number, piece in enumerate(pieces):
            is_wanted = is_final or number < len(pieces) - 1
            if number == len(self.messages):
                sent = put(self._line, self._chat, piece, reply_to=0 if number else self._reply_to, is_wanted=is_wanted)
                if not sent:
                    return
                self.messages.append(sent)
                self._shown.append(piece)
            elif self._shown[number] != piece and change(
                self._line, self._chat, self.messages[number], piece, is_wanted
            ):
                self._shown[number] = piece


def put(
    line: Line, chat: int, markdown: str, buttons: list[list[Values]] | None = None, reply_to: int = 0,
    is_wanted: bool = True,
) -> int:  # fmt: skip
    """Send a message; return its id, 0 when it was left out. Raises: RefusedError."""
    more: Values = {"link_preview_options": {"is_disabled": True}}
    if reply_to:
        more["reply_parameters"] = {"message_id": reply_to, "allow_sending_without_reply": True}
    if buttons is not None:
        more["reply_markup"] = {"inline_keyboard": buttons}
    result = _said(line, "sendMessage", chat, more, markdown, is_wanted)
    return int(result.get("message", 0)) if result else 0


def change(
    line: Line,
    chat: int,
    message: int,
    markdown: str,
    is_wanted: bool = True,
    buttons: list[list[Values]] | None = None,
) -> bool:
    """Put another text in a message, without buttons unless there are some; False when it was left out.

    Raises: RefusedError.
    """
    more: Values = {"message_id": message, "link_preview_options": {"is_disabled": True}}
    if buttons is not None:
        more["reply_markup"] = {"inline_keyboard": buttons}
    return _said(line, "editMessageText", chat, more, markdown, is_wanted) is not None


def _said(line: Line, method: str, chat: int, more: Values, markdown: str, is_wanted: bool) -> Values | None:
    piece = markdown if markdown.strip() else "…"
    try:
        return line.send(method, chat, {**more, "text": telegram_text.html(piece), "parse_mode": "HTML"}, is_wanted)
    except RefusedError as refused:
        if refused.code != "invalid_request":
            raise
    return line.send(method, chat, {**more, "text": piece}, is_wanted)
