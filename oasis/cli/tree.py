"""`oasis tree` and `branch`: the branches of a chat, and the bookmarks on them."""

from __future__ import annotations

from oasis.cli.commands import DECLINED, OK
from oasis.cli.named import chat_id, end_of, newest_chat, place
from oasis.cli.thread import UNTITLED
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]


def show(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Draw the tree of a chat; a message or bookmark instead of a chat is where one looks from."""
    chat, head = place(call, arguments["CHAT"]) if arguments["CHAT"] else (newest_chat(call), "")
    return draw(call, chat, head, screen)


def draw(call: Call, chat: str, here: str, screen: Screen) -> int:
    """Draw the tree of a chat, marking the exchange of the headish `here`, "" for the chat's end."""
    from oasis.cli import drawing

    tree = call("chat.tree", {"id": chat})
    if screen.is_json:
        screen.json(tree)
        return OK
    screen.line(clean.line(f"{tree['title'] or UNTITLED} ({tree['id']})"), "bold")
    for line, is_here in drawing.lines(tree, here, screen.columns, screen.is_unicode):
        screen.line(line, "bold" if is_here else "")
    if tree.get("more"):
        screen.notice("these are the newest exchanges; older ones are left out")
    if not tree["nodes"]:
        screen.line("nothing was said yet")
    return OK


def summarise(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Have a thread summed up; the chat goes on from the summary."""
    from oasis.cli.run import run as follow

    chat, head = place(call, arguments["CHAT"]) if arguments["CHAT"] else (newest_chat(call), "")
    params: dict[str, object] = {"id": chat}
    if head:
        params["head"] = head
    return follow(call, call("chat.summarise", params), screen)


def branch(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """List the bookmarks, set one, or delete one."""
    name, chat = arguments["NAME"], arguments["--chat"]
    if chat:
        chat = chat_id(call, chat)
    if not name:
        if arguments["-d"]:
            raise UsageError("NAME is missing", "usage: oasis branch -d NAME")
        return _list(call, chat, screen)
    if arguments["-d"]:
        return _delete(call, name, chat, screen)
    message = arguments["HEADISH"]
    if not message:
        chat = chat or newest_chat(call)
        message = end_of(call, chat)
    return set_bookmark(call, {"name": name, "message": message}, chat, bool(arguments["--move"]), screen)


def set_bookmark(call: Call, params: dict[str, object], chat: str, moves: bool, screen: Screen) -> int:
    """Set a bookmark; one that stands elsewhere is moved with `moves`, or after asking.

    Shape of params: {"name", "message": headish}.
    Raises: UsageError for a name or message that is none, or when it stands elsewhere and nobody can be asked.
    """
    if chat:
        params = {**params, "chat": chat}
    try:
        reply = call("bookmark.set", {**params, "move": True} if moves else params)
    except UsageError as error:
        if moves or "--move" not in error.hint or not screen.can_ask:
            raise
        from oasis.cli.ask import YES, ask

        if ask(screen, f"{clean.line(error.message)}. Move it? [y/N]", lambda: True) != YES:
            return DECLINED
        reply = call("bookmark.set", {**params, "move": True})
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(clean.line(f"{params['name']} stands at {params['message']}"))
    return OK


def _list(call: Call, chat: str, screen: Screen) -> int:
    reply = call("bookmark.list", {"chat": chat} if chat else {})
    if screen.is_json:
        screen.json(reply)
        return OK
    width = max((len(mark["name"]) for mark in reply["bookmarks"]), default=0)
    for mark in reply["bookmarks"]:
        screen.line(clean.line(f"{mark['name']:{width}}  {mark['message']}  {mark.get('text') or ''}").rstrip())
    if not reply["bookmarks"]:
        screen.line("no bookmarks yet")
    return OK


def _delete(call: Call, name: str, chat: str, screen: Screen) -> int:
    reply = call("bookmark.delete", {"name": name, **({"chat": chat} if chat else {})})
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(clean.line(f"{name} deleted; what it stood on is still there"))
    return OK
