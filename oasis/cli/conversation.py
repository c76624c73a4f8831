"""One chat at a terminal: where it stands, and what the next words continue.

Contract: without a choice of the owner's, the daemon lets words continue the newest end of the chat. Once a message or
a bookmark was chosen the talk goes on behind each answer, whatever is said elsewhere in the chat, and the bookmark goes
along. What is set for the next message goes with that one only; the daemon lets a thread inherit it.
"""

from __future__ import annotations

from oasis.cli import thread as cli_thread
from oasis.cli.named import end_of
from oasis.cli.request import along
from oasis.cli.run import Turn, checked, followed
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]


def follow_new(call: Call, started: dict[str, Any], screen: Screen) -> tuple[str, int]:
    """Follow a run to its end; return the newest message that it stored, and its exit status."""
    turn = Turn(call, started["run"], screen)
    status = followed(turn, True)
    return turn.message, status


class Conversation:
    def __init__(self, call: Call, screen: Screen, params: dict[str, Any]) -> None:
        """Begin where the parameters of run.start say; without any, a new chat begins with the first words."""
        self.call = call
        self.screen = screen
        self.next = dict(params)  # goes with the next message alone
        self.chat: str = self.next.pop("chat", "")
        self.continues: list[str] = self.next.pop("continues", [])

    def say(self, text: str) -> int:
        """Say something, follow what comes of it, and return its exit status."""
        params: dict[str, object] = {"message": checked(text)}
        if self.chat:
            params["chat"] = self.chat
        if self.continues:
            params["continues"] = self.continues
        started = self.call("run.start", {**params, **self.next})
        self.chat = started["chat"]
        is_chosen = bool(self.continues) or "head" in self.next
        self.next = {}
        if self.screen.is_json:
            self.screen.json({"type": "run", "run": started["run"], "chat": started["chat"]})
        turn = Turn(self.call, started["run"], self.screen)
        try:
            return followed(turn, True)
        finally:
            if is_chosen and turn.message:
                self.continues = [turn.message]

    def go_to(self, chat: str, headish: str) -> None:
        """Go on from a message or a bookmark, "" for the end of the chat."""
        self.chat, self.continues = chat, [headish] if headish else []
        self.next.pop("head", None)
        self.next.update(along(self.continues))

    @property
    def here(self) -> str:
        """The headish that the next words continue, "" for the end of the chat."""
        return self.continues[-1] if self.continues else ""

    def end(self) -> str:
        """Return the message or bookmark that the next words continue.

        Raises: UsageError when nothing was said yet.
        """
        if not self.chat:
            raise UsageError("nothing was said yet", "say something first")
        return self.here or end_of(self.call, self.chat)

    def print(self, last: int = 0) -> None:
        """Print the thread that is talked on, or its newest `last` messages."""
        thread = cli_thread.load(self.call, self.chat, self.here, last)
        if self.screen.is_json:
            self.screen.json(thread)
        else:
            cli_thread.show(thread, self.screen)
