"""A thread at the terminal: read in pages from the daemon, printed with what is beside it.

Contract: what is not printed is told: messages left out, parents that are gone, lines that could not be read.
"""

from __future__ import annotations

from oasis.cli import cards
from oasis.core import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

UNTITLED = "--"  # upstream's word for a chat without a title


def load(call: Call, chat: str, head: str = "", last: int = 0) -> dict[str, Any]:
    """Return a thread, whole or its newest `last` messages, in the shape of chat.load."""
    params: dict[str, object] = {"id": chat, **({"head": head} if head else {})}
    whole = page = call("chat.load", {**params, "limit": last} if last else params)
    pages = [page["messages"]]
    count = len(page["messages"])
    while page["messages"] and _has_more(page) and (not last or count < last):
        more: dict[str, object] = {"before": page["messages"][0]["id"], **({"limit": last - count} if last else {})}
        page = call("chat.load", {**params, **more})
        pages.append(page["messages"])
        count += len(page["messages"])
        whole = {**page, **whole, "siblings": {**page.get("siblings", {}), **whole.get("siblings", {})}}
    found = [message for messages in reversed(pages) for message in messages]
    return {**whole, "messages": found, "earlier": page.get("earlier", 0), "more": _has_more(page)}


def _has_more(page: dict[str, Any]) -> bool:
    return bool(page.get("earlier") or page.get("more"))


def show(thread: dict[str, Any], screen: Screen) -> None:
    """Print a thread, its branches and bookmarks named where they are."""
    if thread["more"]:
        screen.line(f"({thread['earlier'] or 'some'} more before)", "dim")
    marks: dict[str, list[str]] = {}
    for name, message in (thread.get("bookmarks") or {}).items():
        marks.setdefault(message, []).append(name)
    for message in thread["messages"]:
        for paragraph in cards.transcript([message]):
            screen.line()
            screen.line(paragraph)
        note = _beside(message.get("id", ""), thread.get("siblings") or {}, marks)
        if note:
            screen.line(note, "dim")
    _tell(thread, screen)


def _beside(message: str, siblings: dict[str, Any], marks: dict[str, list[str]]) -> str:
    """Return what a message has beside it: the bookmarks on it, and which of several branches it begins."""
    words = [f"[{name}]" for name in marks.get(message, [])]
    others = [item["id"] for item in siblings.get(message, [])]
    if len(others) > 1 and message in others:
        words.append(f"(branch {others.index(message) + 1} of {len(others)}: oasis tree shows them)")
    return clean.line(" ".join(words))


def _tell(thread: dict[str, Any], screen: Screen) -> None:
    gone = len(thread.get("missing") or [])
    if gone:
        what = "a message that is gone" if gone == 1 else f"{gone} messages that are gone"
        screen.notice(f"this thread continues {what}")
    for report in thread.get("reports") or []:
        screen.notice(report)
