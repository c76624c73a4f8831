"""What a list of chats tells of one: title, exchanges, time; folded over its lines, so that new lines are added to it.

Works on the lines alone; imports under MicroPython. Of half a secret nobody could tell that it is one, so a text is
hidden whole, before it is cut, and kept longer than it is shown.
"""

from oasis.core import entries
from oasis.core.ids import scru128_ms
from oasis.core.schema import text_of, tool_uses

if False:  # annotations only
    from oasis.core.shapes import Callable, Iterator, Json, Message

    Hide = Callable[[str, list[Json]], str]

# Titles are for lists of one line; upstream's own limit for a made title is 15, ours is a phone's width.
TITLE_CHARS = 48
# Kept of the first words: a secret that is found later is hidden in all of this, and what is cut is far behind a title.
_KEPT_CHARS = 512


def empty() -> "dict[str, Json]":
    """Return the summary of a chat without lines.

    Shape: {"title": as given, "words": of the owner's first message, "exchanges", "updated_unix_s", "damaged": lines,
    "archived_unix_s": when it was put away last, 0 for never}.
    """
    return {"title": "", "words": "", "exchanges": 0, "updated_unix_s": 0, "damaged": 0, "archived_unix_s": 0}


def fold(summary: "dict[str, Json]", lines: "Iterator[tuple[int, bytes | None]]", hide: "Hide") -> "list[str]":
    """Add lines to a summary, in place; return what of them could not be read.

    `hide(text, inputs)` gives a text without secrets, those among the inputs of calls too: the owner typed them first.
    """
    reports: list[str] = []
    for at, line in lines:
        value = entries.line(at, line, reports)
        if value is None:
            summary["damaged"] += 1
        elif "role" in value:
            _add(summary, value, hide)
        else:
            _note(summary, value, hide)
    return reports


def _add(summary: "dict[str, Json]", message: "Message", hide: "Hide") -> None:
    summary["updated_unix_s"] = scru128_ms(message["id"]) // 1000
    if message["role"] == "user":
        summary["exchanges"] += 1
        if not summary["words"] and message["content"] != entries.FORGOTTEN:
            summary["words"] = hide(text_of(message), [])[:_KEPT_CHARS]
    inputs = [call["input"] for call in tool_uses(message) if call["input"]]
    if inputs:
        summary["words"] = hide(summary["words"], inputs)
        summary["title"] = hide(summary["title"], inputs)


def _note(summary: "dict[str, Json]", record: "Json", hide: "Hide") -> None:
    if isinstance(record.get("title"), str):
        summary["title"] = hide(record["title"], [])
    elif record.get("type") == "archived":
        summary["archived_unix_s"] = record.get("unix_s", 0) if record["archived"] else 0


def title(summary: "dict[str, Json]", hide: "Hide | None" = None) -> str:
    """Return the title given, else the first words of the owner."""
    given = str(summary["title"] or summary["words"])
    if hide is not None:
        given = hide(given, [])
    return given if summary["title"] else first_words(given)


def first_words(text: str) -> str:
    """Return the first line of a text, cut at a word to the length of a title."""
    line = " ".join(text.split())
    if len(line) <= TITLE_CHARS:
        return line
    cut = line[:TITLE_CHARS].rfind(" ")
    return line[: cut if cut > 0 else TITLE_CHARS] + "…"
