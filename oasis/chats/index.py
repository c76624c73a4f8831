"""The index: what a list of chats tells of each, kept in RAM so that a list opens no chat.

One JSON line a chat in a file on tmpfs, gone with the next boot and made again. An entry holds as long as its chat's
file has the same time, size and number; of one that has only grown, the new lines are read. It is read for a list and
not held: an idle daemon has nothing of it. What cannot be read in a chat is told to the log when it is first met.
"""

from __future__ import annotations

import threading

from oasis.core import jsonl, lines, summary
from oasis.core.entries import end as end_of
from oasis.errors import OasisError, SchemaError, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from oasis.core.summary import Hide
    from oasis.system.files import Files

    Entry = dict[str, Any]
    Place = tuple[str, bool]  # path, whether the chat is archived


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

    def entries(self, places: dict[str, Place]) -> dict[str, Entry]:
        """Return {id: entry} for chats, {id: (path, is archived)}; only what has changed is read.

        Shape of an entry: a summary (core/summary.py) and "archived", "size" in bytes.
        """
        with self._lock:
            known = self._read()
            found: dict[str, Entry] = {}
            is_new = len(known) != len(places)
            for name, (path, is_archived) in places.items():
                stamp = self._files.stamp(path)
                if stamp is None:
                    continue  # deleted since it was listed
                entry = known.get(name)
                if entry is None or entry["stamp"] != list(stamp):
                    entry = self._made(name, path, stamp, entry)
                    is_new = True
                found[name] = {**entry, "archived": is_archived, "size": stamp[1]}
            if is_new:
                self._write(found)
            return found

    def entry(self, name: str, place: Place) -> Entry | None:
        """Return the entry of one chat, None when it is gone."""
        with self._lock:
            known = self._read()
            stamp = self._files.stamp(place[0])
            if stamp is None:
                return None
            entry = known.get(name)
            if entry is None or entry["stamp"] != list(stamp):
                entry = known[name] = self._made(name, place[0], stamp, entry)
                self._write(known)
            return {**entry, "archived": place[1], "size": stamp[1]}

    def drop(self, name: str) -> None:
        """Forget an entry, whose file was written again."""
        with self._lock:
            known = self._read()
            if known.pop(name, None) is not None:
                self._write(known)

    def _made(self, name: str, path: str, stamp: tuple[int, int, int], old: Entry | None) -> Entry:
        has_grown = old is not None and old["stamp"][2] == stamp[2] and old["read"] <= stamp[1] and old["read"] > 0
        entry = {**old} if old and has_grown else {**summary.empty(), "id": name, "read": 0}
        try:
            if path.endswith(".gz"):
                reports = summary.fold(entry, _numbered(self._unpacked(path)), self._hide)
            else:
                reports = self._fold(entry, path)
        except OasisError as error:
            entry["damaged"] += 1
            reports = [error.message]
        entry["stamp"] = list(stamp)
        if reports:
            more = " (and %d more)" % (len(reports) - 1) if len(reports) > 1 else ""
            self._log("chat %s: %s%s" % (name, reports[0], more))
        return entry

    def _fold(self, entry: Entry, path: str) -> list[str]:
        handle = self._files.reader(path)
        if handle is None:
            return []
        with handle:
            end, _ = end_of(handle)
            reports = summary.fold(entry, lines.forwards(handle, entry["read"], end), self._hide)
        entry["read"] = end
        return reports

    def _read(self) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        for line in (self._files.read(self._path) or b"").split(b"\n")[:-1]:
            try:
                entry = jsonl.loads(line)
            except SchemaError:
                return {}  # made again
            found[entry["id"]] = entry
        return found

    def _write(self, entries: dict[str, Entry]) -> None:
        try:
            self._files.rewrite(self._path, (jsonl.line(entry) for entry in entries.values()))
        except StoreError as error:
            self._log(error.message)  # RAM is full: the next list reads the chats again


def _numbered(pieces: Iterator[bytes]) -> Iterator[tuple[int, bytes | None]]:
    from oasis.chats.archive import whole_lines

    at = 0
    for block in whole_lines(pieces):
        for line in block.split(b"\n")[:-1]:
            if line.strip():
                yield at, line
            at += len(line) + 1
