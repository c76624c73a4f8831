"""`oasis chat` and `oasis resume`: lines in, answers out, until /exit.

Contract: a line that begins with / and one word is ours and never reaches the model. Without a terminal the lines of
standard input are asked one after the other and the last answer's status is the command's.
"""

from __future__ import annotations

from oasis import VERSION
from oasis.cli import input as cli_input
from oasis.cli import slash
from oasis.cli.client import NoDaemon
from oasis.cli.commands import OK
from oasis.cli.conversation import Conversation
from oasis.cli.named import chat_id, newest_chat, place
from oasis.cli.request import params
from oasis.cli.run import Turn, followed
from oasis.errors import OasisError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

_PROMPT = "you: "


def chat(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Talk until the person leaves."""
    conversation = Conversation(call, screen, params(call, arguments, screen))
    if conversation.continues and not conversation.chat:
        conversation.chat = place(call, conversation.continues[0])[0]
    _greet(conversation)
    return _talk(conversation)


def resume(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Talk on in the chat used last, or another one; an answer that is still being given is shown first."""
    name = chat_id(call, arguments["CHAT"]) if arguments["CHAT"] else newest_chat(call)
    conversation = Conversation(call, screen, {"chat": name})
    _greet(conversation)
    for run in call("run.active", {})["runs"]:
        if run["chat"] == name:
            followed(Turn(call, run["run"], screen), True)
    return _talk(conversation)


def _greet(conversation: Conversation) -> None:
    screen = conversation.screen
    if conversation.chat and screen.can_ask:
        conversation.print()
    provider = conversation.call("info", {})["provider"]  # also tells at once when the service is not running
    screen.progress(f"Oasis {VERSION}, {provider['name']} {provider['model']}: /help lists the commands")


def _talk(conversation: Conversation) -> int:
    screen = conversation.screen
    status = OK
    while True:
        line = cli_input.line(screen, _PROMPT)
        if line is None or line == "/exit":
            return OK if screen.is_terminal else status
        if not line:
            continue
        try:
            status = _take(conversation, line)
        except NoDaemon:
            raise
        except OasisError as error:
            status = screen.failure(error)


def _take(conversation: Conversation, line: str) -> int:
    """Do what one line says and return its exit status."""
    done = slash.run(conversation, line)
    return conversation.say(slash.with_secrets(conversation, line)) if done is None else done
