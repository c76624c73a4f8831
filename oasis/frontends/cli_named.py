"""What a CHAT, a HEADISH or a position on the command line means: an id, no=N, or a bookmark's name.

Contract: a word that names several things is refused and never guessed; nothing is changed here.
"""

from __future__ import annotations

from oasis.core.ids import is_scru128
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

_LISTED = "`oasis list` lists the chats, `oasis branch` the bookmarks"


def chat_id(call: Call, name: str) -> str:
    """Return the id that `name` (an id or no=N) means."""
    if not name.startswith("no="):
        return name
    return str(at_position(call("chat.list", {})["item"], name, "chat")["id"])


def service_id(call: Call, name: str) -> str:
    """Return the identifier that `name` (an identifier or no=N) means."""
    if not name.startswith("no="):
        return name
    return str(at_position(call("service.list", {})["service"], name, "service")["identifier"])


def at_position(items: list[dict[str, Any]], name: str, what: str) -> dict[str, Any]:
    """Return the item that no=N names, counted from 1.

    Raises: UsageError when there is none.
    """
    number = name[len("no=") :]
    if not (number.isascii() and number.isdigit() and 1 <= int(number[:9]) <= len(items)):
        known = f"they are numbered from 1 to {len(items)}" if items else "there are none yet"
        raise UsageError(f"there is no {what} {name}", known)
    return items[int(number) - 1]


def newest_chat(call: Call) -> str:
    """Return the id of the chat used last; archived ones are left alone.

    Raises: UsageError when there is none.
    """
    for chat in call("chat.list", {})["item"]:
        if not chat.get("archived"):
            return str(chat["id"])
    raise UsageError("there is no chat yet", "begin one: oasis chat")


def end_of(call: Call, chat: str) -> str:
    """Return the id of the message that the next words in a chat continue.

    Raises: UsageError when there is none.
    """
    found = str(call("chat.load", {"id": chat, "limit": 1}).get("head") or "")
    if not found:
        raise UsageError("there is no message yet", "say something first")
    return found


def place(call: Call, name: str) -> tuple[str, str]:
    """Return (chat, headish) for a CHAT or HEADISH; the headish is "" for a whole chat.

    Raises: UsageError for what is neither, or stands in several chats.
    """
    if name.startswith("no="):
        return chat_id(call, name), ""
    chats = [str(item["id"]) for item in call("chat.list", {})["item"]]
    if name in chats:
        return name, ""
    if is_scru128(name):
        return _chat_of(call, chats, name), name
    marked = [str(mark["chat"]) for mark in call("bookmark.list", {})["bookmarks"] if mark["name"] == name]
    if len(marked) > 1:
        raise UsageError(f"the bookmark {name!r} stands in several chats", "name the chat: " + ", ".join(marked))
    if not marked:
        raise UsageError(f"there is no chat, message or bookmark {name!r}", _LISTED)
    return marked[0], name


def _chat_of(call: Call, chats: list[str], message: str) -> str:
    """Return the chat that holds a message, looked for from the newest chat on."""
    for chat in chats:
        try:
            call("chat.load", {"id": chat, "head": message, "limit": 1})
        except UsageError:
            continue  # not in this one
        return chat
    raise UsageError(f"there is no chat, message or bookmark {message!r}", _LISTED)
