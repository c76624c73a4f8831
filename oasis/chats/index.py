"""The index: what a list of chats tells of each, kept in RAM so that a list opens no chat.

One JSON line a chat in a file on tmpfs, gone with the next boot and made again. An entry holds as long as its chat's
file has the same time, size and number; of one that has only grown, the new lines are read. It is read for a list and
not held: an idle daemon has nothing of it. What cannot be read in a chat is logged when it is first met.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from oasis.chats.archive import whole_lines
from oasis.core import chat_line, jsonl
from oasis.core.ids import scru128_ms
from oasis.core.schema import is_message, text_of, tool_uses
from oasis.errors import OasisError, SchemaError, StoreError
from oasis.system.files import Files

if False:  # annotations only
    from oasis.chats.shapes import Hide, IndexEntry, Place, Summary


class Index:
    """The index of all chats; `unpacked(path)` gives the bytes of an archived one in pieces."""

    def __init__(
        self,
        files: Files,
        path: str,
        hide: Hide,
        unpacked: Callable[[str], Iterator[bytes]],
        log: Callable[[str], None],
    ) -> None:
        self._files = files
        self._path = path
        self._hide = hide
        self._unpacked = unpacked
        self._log = log
        self._lock = threading.Lock()

    def entries(self, places: dict[str, Place], is_all: bool = True) -> dict[str, IndexEntry]:
        """Return {id: entry} for chats, {id: (path, is archived)}; only what has changed is read.

        A chat that was deleted since it was listed has none. Unless `is_all`, the index keeps its other entries.
        """
        with self._lock:
            known = self._read()
            found: dict[str, IndexEntry] = {}
            is_new = is_all and len(known) != len(places)
            for name, (path, is_archived) in places.items():
                stamp = self._files.stamp(path)
                if stamp is None:
                    continue
                entry = known.get(name)
                if entry is None or entry["stamp"] != list(stamp):
                    entry = self._made(name, path, stamp, entry)
                    is_new = True
                found[name] = {**entry, "archived": is_archived, "size": stamp[1]}
            if is_new:
                self._write(found if is_all else {**known, **found})
            return found

    def drop(self, name: str) -> None:
        """Forget an entry, whose file was written again."""
        with self._lock:
            known = self._read()
            if known.pop(name, None) is not None:
                self._write(known)

    def _made(self, name: str, path: str, stamp: tuple[int, int, int], old: IndexEntry | None) -> IndexEntry:
        has_grown = old is not None and old["stamp"][2] == stamp[2] and old["read"] <= stamp[1] and old["read"] > 0
        entry: IndexEntry = {**old} if old and has_grown else {
            **empty(), "id": name, "read": 0, "stamp": [], "archived": False, "size": 0,
        }  # fmt: skip
        reports: list[str] = []
        try:
            if path.endswith(".gz"):
                reports = fold(entry, jsonl.lines(whole_lines(self._unpacked(path)), 0), self._hide)
            elif handle := self._files.reader(path):
                with handle:
                    end, _ = chat_line.end(handle)
                    reports = fold(entry, jsonl.forwards(handle, entry["read"], end), self._hide)
                entry["read"] = end
        except OasisError as error:
            entry["damaged"] += 1
            reports = [error.message]
        entry["stamp"] = list(stamp)
        if reports:
            more = " (and %d more)" % (len(reports) - 1) if len(reports) > 1 else ""
            self._log("chat %s: %s%s" % (name, reports[0], more))
        return entry

    def _read(self) -> dict[str, IndexEntry]:
        found: dict[str, IndexEntry] = {}
        for line in (self._files.read(self._path) or b"").split(b"\n")[:-1]:
            try:
                entry: IndexEntry = jsonl.shipped(line)
            except SchemaError:
                return {}  # made again
            found[entry["id"]] = entry
        return found

    def _write(self, entries: dict[str, IndexEntry]) -> None:
        try:
            self._files.rewrite(self._path, (jsonl.line(entry) for entry in entries.values()))
        except StoreError as error:
            self._log(error.message)  # RAM is full: the next list reads the chats again


# -- the summary of one chat ------------------------------------------------------------------------------------------
#
# Folded over the lines of the chat, so that new lines are added to it. A text is hidden whole before it is cut, and
# more is kept than is shown: of half a secret nobody could tell that it is one.

# Titles are for lists of one line; upstream's own limit for a made title is 15, ours is a phone's width.
TITLE_CHARS = 48
# Kept of the first words: a secret that is found later is hidden in all of this, and what is cut is far behind a title.
_KEPT_CHARS = 512


def empty() -> Summary:
    """Return the summary of a chat without lines."""
    return {"title": "", "words": "", "exchanges": 0, "updated_unix_s": 0, "damaged": 0}


def fold(summary: Summary, lines: Iterator[tuple[int, bytes | None]], hide: Hide) -> list[str]:
    """Add lines to a summary, in place; return what of them could not be read.

    `hide(text, inputs)` gives a text without secrets, those among the inputs of calls too: the owner typed them first.
    """
    reports: list[str] = []
    for at, line in lines:
        value = chat_line.line(at, line, reports)
        if value is None:
            summary["damaged"] += 1
        elif is_message(value):
            summary["updated_unix_s"] = scru128_ms(value["id"]) // 1000
            if value["role"] == "user":
                summary["exchanges"] += 1
                if not summary["words"] and value["content"] != chat_line.FORGOTTEN:
                    summary["words"] = hide(text_of(value), [])[:_KEPT_CHARS]
            inputs = [call["input"] for call in tool_uses(value) if call["input"]]
            if inputs:
                summary["words"] = hide(summary["words"], inputs)
                summary["title"] = hide(summary["title"], inputs)
        elif "title" in value and isinstance(value["title"], str):
            summary["title"] = hide(value["title"], [])
    return reports


def title(summary: Summary, hide: Hide | None = None) -> str:
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
