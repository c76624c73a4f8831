"""`oasis chat`: lines in, answers out, until /exit.

Contract: a line that begins with / and one word is ours and never reaches the model. Without a terminal the lines of
standard input are asked one after the other and the last answer's status is the command's.
"""

from __future__ import annotations

import sys

from oasis import VERSION
from oasis.errors import OasisError
from oasis.frontends import cli_cards as cards
from oasis.frontends.cli_chats import chat_id, print_messages
from oasis.frontends.cli_commands import OK
from oasis.frontends.cli_plans import ask_approval
from oasis.frontends.cli_run import run, start
from oasis.frontends.client import NoDaemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.frontends.cli_screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

_PROMPT = "you: "
_HELP = """\
/plan     show the plans that wait for approval, and ask about them
/undo     undo the newest change
/history  print this chat
/exit     leave (as does Ctrl-C at the prompt)
Everything else is said to the router. Ctrl-C cancels an answer."""


def chat(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Talk until the person leaves."""
    name = arguments["--continue"] or arguments["CHAT"]
    conversation = Conversation(call, screen, chat_id(call, name) if name else "")
    conversation.greet()
    status = OK
    while True:
        line = _read_line(screen)
        if line is None or line == "/exit":
            return OK if screen.is_terminal else status
        if not line:
            continue
        try:
            status = conversation.take(line)
        except NoDaemon:
            raise
        except OasisError as error:
            status = screen.failure(error)


class Conversation:
    """One chat at this terminal."""

    def __init__(self, call: Call, screen: Screen, chat: str) -> None:
        """Continue the chat `chat`; "" begins a new one with the first words."""
        self._call = call
        self._screen = screen
        self._chat = chat

    def greet(self) -> None:
        if self._chat and self._screen.can_ask:
            print_messages(self._call("chat.load", {"id": self._chat}), self._screen)
        provider = self._call("info", {})["provider"]  # also tells at once when the service is not running
        self._screen.progress(f"Oasis {VERSION}, {provider['name']} {provider['model']}: /help lists the commands")

    def take(self, line: str) -> int:
        """Do what one line says and return its exit status."""
        command = line.split()[0]
        if command[0] == "/" and command[1:].isalpha():
            if command not in _COMMANDS:
                self._screen.notice(f"unknown command {command}: /help lists the commands")
                return 2
            return _COMMANDS[command](self)
        started = start(self._call, line, self._chat)
        self._chat = started["chat"]
        return run(self._call, started, self._screen)

    def help(self) -> int:
        self._screen.line(_HELP)
        return OK

    def undo(self) -> int:
        return run(self._call, self._call("change.undo", {}), self._screen)

    def history(self) -> int:
        if not self._chat:
            self._screen.line("nothing was said yet")
            return OK
        stored = self._call("chat.load", {"id": self._chat})
        if self._screen.is_json:
            self._screen.json(stored)
        else:
            print_messages(stored, self._screen)
        return OK

    def plan(self) -> int:
        """Show the waiting plans and ask about each; what comes of one is followed to its end."""
        plans = self._call("plan.list", {})["plans"]
        if self._screen.is_json:
            self._screen.json({"plans": plans})
            return OK
        if not plans:
            self._screen.line("no plan is waiting")
        status = OK
        for plan in plans:
            cards.show(cards.plan_card(plan, with_hash=not self._screen.can_ask), self._screen)
            if self._screen.can_ask:
                ask_approval(self._call, plan, self._screen)
                status = run(self._call, plan, self._screen, after_plan=plan["id"])
        return status


_COMMANDS = {
    "/help": Conversation.help,
    "/undo": Conversation.undo,
    "/history": Conversation.history,
    "/plan": Conversation.plan,
}


def _read_line(screen: Screen) -> str | None:
    """Return the next line, or None at the end of input or at Ctrl-C."""
    try:
        if screen.can_ask:
            _load_line_editing()
            return input(_PROMPT).strip()
        line = sys.stdin.readline()
        return line.strip() if line else None
    except (EOFError, KeyboardInterrupt):
        screen.line()
        return None


def _load_line_editing() -> None:
    """Give the prompt arrow keys and recall where Python was built with readline; routers may lack it."""
    try:
        import readline  # noqa: F401
    except ImportError:
        return
