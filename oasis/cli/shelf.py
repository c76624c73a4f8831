"""`oasis rename`, `archive`, `unarchive`, `delete`, `delchat` and `forget`: what is done to a chat as a whole.

Contract: what cannot be taken back is asked about where somebody can be asked.
"""

from __future__ import annotations

from oasis.cli.commands import DECLINED, OK
from oasis.cli.named import chat_id
from oasis.cli.thread import UNTITLED
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]


def rename(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Give a chat a title, the whitespace in it kept."""
    chat = chat_id(call, arguments["CHAT"])
    return _done(call("chat.rename", {"id": chat, "title": arguments["TITLE"]}), f"chat {chat} renamed", screen)


def archive(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Put a chat into the archive."""
    chat = chat_id(call, arguments["CHAT"])
    return _done(call("chat.archive", {"id": chat}), f"chat {chat} archived", screen)


def unarchive(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Bring a chat back from the archive."""
    chat = chat_id(call, arguments["CHAT"])
    return _done(call("chat.archive", {"id": chat, "archived": False}), f"chat {chat} brought back", screen)


def delete(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Delete a chat by its id.

    Raises: UsageError for a position: upstream's `delete no=N` deletes a service, and nobody should lose a chat so.
    """
    if arguments["CHAT"].startswith("no="):
        raise UsageError("`delete no=N` is unclear: a chat or a service", "oasis delchat no=N, or oasis remove no=N")
    return delete_chat(call, arguments, screen)


def delete_chat(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Delete a chat by its id or position."""
    chat = chat_id(call, arguments["CHAT"])
    if screen.can_ask:
        title = clean.line(call("chat.load", {"id": chat})["title"] or UNTITLED)
        if not _is_meant(f'Delete the chat "{title}"?', screen):
            return DECLINED
    return _done(call("chat.delete", {"id": chat}), f"chat {chat} deleted", screen)


def forget(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Take what one message says off the flash."""
    params: dict[str, object] = {"message": arguments["MESSAGE"]}
    if arguments["--chat"]:
        params["chat"] = chat_id(call, arguments["--chat"])
    if screen.can_ask and not _is_meant(f"Forget what message {clean.line(arguments['MESSAGE'])} says?", screen):
        return DECLINED
    return _done(call("chat.forget", params), f"message {arguments['MESSAGE']} forgotten", screen)


def _is_meant(question: str, screen: Screen) -> bool:
    from oasis.cli.ask import YES, ask

    return ask(screen, f"{question} [y/N]", lambda: True) == YES


def _done(reply: dict[str, Any], words: str, screen: Screen) -> int:
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(clean.line(words))
    return OK
