"""What a CHAT, a HEADISH or a position on the command line means: an id, no=N, or a bookmark's name.

Contract: the daemon knows which chat holds a message or a bookmark; nothing is changed here.
"""

from __future__ import annotations

from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Call = Callable[[str, dict[str, object]], dict[str, Any]]


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

    Raises: UsageError for what is neither.
    """
    if name.startswith("no="):
        return chat_id(call, name), ""
    if any(chat["id"] == name for chat in call("chat.list", {})["item"]):
        return name, ""
    try:
        return str(call("chat.load", {"id": "", "head": name, "limit": 1})["id"]), name
    except UsageError:
        raise UsageError(
            f"there is no chat, message or bookmark {name!r}", "`oasis list` lists chats, `oasis branch` bookmarks"
        )
