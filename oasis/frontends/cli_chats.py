"""`oasis list`, `show`, `delete` and `delchat`: the stored chats."""

from __future__ import annotations

from oasis.core import clean
from oasis.errors import UsageError
from oasis.frontends import cli_cards as cards
from oasis.frontends.cli_commands import DECLINED, OK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.frontends.cli_screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

UNTITLED = "--"  # upstream's word for a chat without a title


def show_list(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print the chats with their positions and ids."""
    reply = call("chat.list", {})
    if screen.is_json:
        screen.json(reply)
        return OK
    for number, chat in enumerate(reply["item"], 1):
        when = cards.local_time(chat["updated_unix_s"])
        screen.line(clean.line(f"{number:3}  {chat['id']}  {when}  {chat['title'] or UNTITLED}"))
    if not reply["item"]:
        screen.line("no chats yet")
    return OK


def show(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print one chat."""
    reply = call("chat.load", {"id": chat_id(call, arguments["CHAT"])})
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(clean.line(f"{reply['title'] or UNTITLED} ({reply['id']})"), "bold")
        print_messages(reply, screen)
    return OK


def print_messages(chat: dict[str, Any], screen: Screen) -> None:
    for paragraph in cards.transcript(chat["messages"]):
        screen.line()
        screen.line(paragraph)


def delete(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Delete a chat by its id.

    Raises: UsageError for a position: upstream's `delete no=N` deletes a service, and nobody should lose a chat so.
    """
    if arguments["CHAT"].startswith("no="):
        raise UsageError("`delete no=N` is unclear: a chat or a service", "for a chat: oasis delchat no=N")
    return delete_chat(call, arguments, screen)


def delete_chat(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Delete a chat by its id or position, after asking where somebody can be asked."""
    chat = chat_id(call, arguments["CHAT"])
    if screen.can_ask:
        from oasis.frontends.cli_ask import YES, ask

        title = clean.line(call("chat.load", {"id": chat})["title"] or UNTITLED)
        if ask(screen, f'Delete the chat "{title}"? [y/N]', lambda: True) != YES:
            return DECLINED
    reply = call("chat.delete", {"id": chat})
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(f"chat {chat} deleted")
    return OK


def chat_id(call: Call, name: str) -> str:
    """Return the id that `name` (an id or no=N) means."""
    if not name.startswith("no="):
        return name
    return str(at_position(call("chat.list", {})["item"], name, "chat")["id"])


def at_position(items: list[dict[str, Any]], name: str, what: str) -> dict[str, Any]:
    """Return the item that no=N names, counted from 1.

    Raises: UsageError when there is none.
    """
    number = name[len("no=") :]
    if not number.isdecimal() or not 1 <= int(number) <= len(items):
        raise UsageError(f"there is no {what} {name}", f"they are numbered from 1 to {len(items)}")
    return items[int(number) - 1]
