"""`oasis list`, `show` and `search`: what is stored."""

from __future__ import annotations

from oasis.cli import cards
from oasis.cli.commands import OK
from oasis.cli.named import place
from oasis.cli.thread import UNTITLED, load
from oasis.cli.thread import show as show_thread
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]


def show_list(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print the chats with their positions and ids; a position counts all chats, whichever are shown."""
    reply = call("chat.list", {})
    wanted = [
        (n, chat) for n, chat in enumerate(reply["item"], 1) if chat.get("archived") or not arguments["--archived"]
    ]
    if screen.is_json:
        screen.json({**reply, "item": [chat for _, chat in wanted]})
        return OK
    for number, chat in wanted:
        screen.line(_line(number, chat))
    if not wanted:
        screen.line("no archived chats" if arguments["--archived"] else "no chats yet")
    return OK


def _line(number: int, chat: dict[str, Any]) -> str:
    marks = "  (archived)" if chat.get("archived") else ""
    marks += f"  ({chat['damaged']} damaged lines)" if chat.get("damaged") else ""
    when = cards.local_time(chat["updated_unix_s"])
    return clean.line(f"{number:3}  {chat['id']}  {when}  {chat['title'] or UNTITLED}{marks}")


def show(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print a thread: the newest one of a chat, or the one that a message or bookmark ends."""
    chat, head = place(call, arguments["CHAT"])
    thread = load(call, chat, head, number(arguments["--last"], "--last"))
    if screen.is_json:
        screen.json(thread)
    else:
        screen.line(clean.line(f"{thread['title'] or UNTITLED} ({thread['id']})"), "bold")
        show_thread(thread, screen)
    return OK


def search(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print where words were said, a chat's finds together."""
    limit = number(arguments["--limit"], "--limit")
    params: dict[str, object] = {"text": arguments["WORDS"], **({"limit": limit} if limit else {})}
    reply = call("chat.search", {**params, "meaning": True} if arguments["--meaning"] else params)
    if screen.is_json:
        screen.json(reply)
        return OK
    chat = ""
    for found in reply["found"]:
        if found["chat"] != chat:
            chat = found["chat"]
            mark = "  (archived)" if found.get("archived") else ""
            screen.line(clean.line(f"{found.get('title') or UNTITLED} ({chat}){mark}"), "bold")
        screen.line(clean.line(f"  {found['message']}  {found['snippet']}"))
    if not reply["found"]:
        screen.line("nothing found")
    if reply.get("more"):
        screen.notice("there may be more: search for more words, or with --limit")
    for report in [*(reply.get("reports") or []), *([reply["note"]] if reply.get("note") else [])]:
        screen.notice(report)
    return OK


def number(given: str, option: str) -> int:
    """Return the value of an option that takes a number from 1, 0 when it was not given.

    Raises: UsageError for anything else.
    """
    if not given:
        return 0
    if not (given.isascii() and given.isdigit() and len(given) <= 9 and int(given)):
        raise UsageError(f"{option} {given!r} is not a number from 1", f"like: {option} 20")
    return int(given)
