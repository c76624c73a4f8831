"""Records by id in one append-only file of JSON lines: the newest line of an id counts, until it is deleted.

Knows nothing of what the records are. In memory is only where each record stands, not what it says. What changes is
one write and one sync; the file is rewritten when more of it is dead than alive, or when something must be forgotten.
What cannot be read (torn by a power cut, damaged, foreign) stays in the file, is skipped and reported once. One
instance a file; its methods may be called from any thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator

from oasis.core import jsonl
from oasis.errors import SchemaError, StoreError
from oasis.system.files import Files

if False:  # annotations only
    from io import FileIO
    from typing import Any

    Record = dict[str, Any]

# One record: a fact has 200 bytes, a schedule with its plan some thousand.
LINE_BYTES = 64 * 1024
# All living records of a file: what a listing of them has in memory.
MOST_BYTES = 2 * 1024 * 1024
# What stays free for the journal of the next change; the same as there.
SPARE_BYTES = 64 * 1024
# Below this the file is not worth a rewrite, whatever is dead in it: an erase block of flash has more.
DEAD_BYTES = 16 * 1024
ID_CHARS = 64


class Records:
    """The records of the file at `path`, 0600; nothing is read or made before the first use.

    At most `most` live at once; `free_bytes(folder)` tells what a disk has left, `tell(text)` hears what is for a log.
    """

    def __init__(
        self, files: Files, path: str, most: int = 2000, free_bytes: Callable[[str], int] | None = None,
        tell: Callable[[str], object] | None = None, most_bytes: int = MOST_BYTES,
    ) -> None:  # fmt: skip
        self._files = files
        self._path = path
        self._most = most
        self._most_bytes = most_bytes
        self._free_bytes = free_bytes
        self._tell = tell
        self._lock = threading.RLock()
        self._stamp: object = False  # of the file as it was read; False: not yet
        self._places: dict[str, tuple[int, int]] = {}  # id: where its newest line begins, and its bytes
        self._foreign: list[tuple[int, int]] = []  # from, to: what cannot be read
        self._size = 0
        self._living = 0  # bytes, line ends counted
        self._is_torn = False  # whether the file ends within a line
        self._reported = 0  # how many unreadable places were reported
        self._tidy_from = DEAD_BYTES

    def all(self) -> list[Record]:
        """Return the living records in the order in which each was first written."""
        with self._lock:
            self._look()
            return self._at(list(self._places.values()))

    def get(self, name: str) -> Record | None:
        with self._lock:
            self._look()
            place = self._places.get(name)
            return None if place is None else self._at([place])[0]

    def count(self) -> int:
        with self._lock:
            self._look()
            return len(self._places)

    def put(self, record: Record) -> None:
        """Write a record in place of the one with its id, or as a new one.

        Shape: {"id": 1 to 64 characters, whatever else but "deleted"}.
        Raises: SchemaError for what is no record; StoreError when it is too long, there are too many, or the flash
        refuses: nothing has changed then.
        """
        self.put_all([record])

    def put_all(self, records: list[Record]) -> None:
        """Write several records at once; see `put`."""
        rows = dict(map(_row, records))
        with self._lock:
            self._look()
            count = len(self._places) + len([name for name in rows if name not in self._places])
            old = sum([self._places[name][1] for name in rows if name in self._places])
            size = self._living - old + sum([len(line) for line in rows.values()])
            # What replaces others may always be written, unless it grows.
            if (count > self._most and count > len(self._places)) or (size > self._most_bytes and size > self._living):
                raise StoreError(
                    "%s has %d records of %d bytes, and room for %d of %d"
                    % (os.path.basename(self._path), len(self._places), self._living, self._most, self._most_bytes),
                    "delete what is no longer needed",
                )
            if rows:
                self._append(b"".join(rows.values()), True)
                at = self._size - sum(len(line) for line in rows.values())
                for name, line in rows.items():
                    self._place(name, at, len(line))
                    at += len(line)
                self._tidy()

    def delete(self, names: Iterable[str], forget: bool = False) -> int:
        """Delete records, return how many there were; with `forget`, nothing they ever said stays in the file.

        Raises: StoreError when the flash refuses: nothing is deleted then.
        """
        with self._lock:
            self._look()
            wanted = set(names)
            gone = [name for name in self._places if name in wanted]
            if forget and wanted and self._size:
                self._rewrite(wanted)
            elif gone:
                self._append(b"".join([jsonl.line({"id": name, "deleted": True}) for name in gone]), False)
                for name in gone:
                    self._living -= self._places.pop(name)[1]
                self._tidy()
            return len(gone)

    def compact(self) -> None:
        """Rewrite the file without what is dead.

        Raises: StoreError when the flash refuses: the old file is there then.
        """
        with self._lock:
            self._look()
            if self._size:
                self._rewrite(set())

    # Reading

    def _look(self) -> None:
        """Read where the records stand, when the file is not as we left it."""
        stamp = self._files.stamp(self._path)
        if stamp == self._stamp:
            return
        self._places, self._foreign = {}, []
        self._size = self._living = 0
        self._is_torn = False
        handle = None if stamp is None else self._files.reader(self._path)
        if handle is not None:
            with handle:
                end, rest = jsonl.whole_bytes(handle)
                self._size, self._is_torn = end + rest, rest > 0
                begins = -1  # of what cannot be read, up to the next line
                # A line that lacks nothing but its end will have it with the next write: it counts already.
                for at, line in jsonl.forwards(handle, 0, self._size + self._is_torn):
                    if begins >= 0:
                        self._foreign.append((begins, at))
                    is_read = line is not None and self._take(line, at, min(len(line) + 1, self._size - at))
                    begins = -1 if is_read else at
                if begins >= 0:
                    self._foreign.append((begins, self._size))
        self._stamp = stamp
        if len(self._foreign) > self._reported:
            self._say("%d places cannot be read and are kept aside, the first at byte %d"
                      % (len(self._foreign), self._foreign[0][0]))  # fmt: skip
        self._reported = len(self._foreign)

    def _take(self, line: bytes, at: int, size: int) -> bool:
        """Take over what a line says, return whether it says something."""
        try:
            found: object = jsonl.loads(line, LINE_BYTES)
        except SchemaError:
            return False
        if not isinstance(found, dict) or not isinstance(found.get("id"), str) or not 1 <= len(found["id"]) <= ID_CHARS:
            return False
        if found.get("deleted"):
            self._living -= self._places.pop(found["id"], (0, 0))[1]
        else:
            self._place(found["id"], at, size)
        return True

    def _place(self, name: str, at: int, size: int) -> None:
        self._living += size - self._places.get(name, (0, 0))[1]
        self._places[name] = (at, size)

    def _at(self, places: list[tuple[int, int]]) -> list[Record]:
        handle = self._files.reader(self._path) if places else None
        if handle is None:
            return []
        with handle:
            return [jsonl.shipped(_bytes(handle, at, size)) for at, size in places]

    # Writing

    def _append(self, data: bytes, is_more: bool) -> None:
        folder = self._path.rpartition("/")[0]
        if not self._size:
            self._files.folder(folder)
        if is_more and self._free_bytes is not None and self._free_bytes(folder) < SPARE_BYTES + len(data):
            raise StoreError("the disk of %s is full" % self._path, "delete old chats or documents, or remove packages")
        whole = (b"\n" if self._is_torn else b"") + data
        try:
            self._files.append(self._path, whole, True)
        except StoreError:
            self._stamp = False  # nobody knows what is there now
            raise
        self._size += len(whole)
        self._is_torn = False
        self._stamp = self._files.stamp(self._path)

    def _tidy(self) -> None:
        dead = self._size - self._living - sum([end - start for start, end in self._foreign])
        if dead <= max(self._living, self._tidy_from):
            return
        try:
            self._rewrite(set())
            self._tidy_from = DEAD_BYTES
        except StoreError as error:
            # What was asked for is done; the rewrite is tried again when more is dead.
            self._tidy_from = dead + DEAD_BYTES
            self._say("it could not be made smaller: " + error.message)

    def _rewrite(self, without: set[str]) -> None:
        """Write anew what lives and what cannot be read, but for these ids and what is seen to be of them."""
        handle = self._files.reader(self._path)
        if handle is None:
            return
        self._stamp = False
        with handle:
            kept = [place for place in self._foreign if not _holds(handle, place, without)]
            places = [place for name, place in self._places.items() if name not in without]
            if kept or places:
                self._files.rewrite(self._path, jsonl.blocks(_pieces(handle, kept, places)))
            else:
                self._files.forget(self._path)  # which needs no room
        self._reported = min(self._reported, len(kept))

    def _say(self, text: str) -> None:
        if self._tell is not None:
            self._tell("%s: %s" % (os.path.basename(self._path), text))


def _row(record: Record) -> tuple[str, bytes]:
    """Return the id of a record and its line."""
    name = record.get("id") if isinstance(record, dict) else None
    if not isinstance(name, str) or not 1 <= len(name) <= ID_CHARS:
        raise SchemaError("a record has the id %r" % name, "1 to %d characters" % ID_CHARS)
    if "deleted" in record:
        raise SchemaError("record %s has a key deleted" % name, "delete it by its id")
    # The id first: what a power cut leaves of a line tells whose it was.
    line = jsonl.line({"id": name, **record})
    if len(line) > LINE_BYTES:
        raise StoreError("record %s has %d bytes" % (name, len(line)), "at most %d" % LINE_BYTES)
    return name, line


def _holds(handle: FileIO, place: tuple[int, int], names: set[str]) -> bool:
    """Return whether what cannot be read has one of these ids where our lines have it; too long: taken to have."""
    start, end = place
    if not names or end - start > jsonl.BLOCK_BYTES:
        return bool(names)
    raw = _bytes(handle, start, end - start)
    return any(name.encode("utf-8") in raw for name in names)


def _pieces(handle: FileIO, kept: list[tuple[int, int]], places: list[tuple[int, int]]) -> Iterator[bytes]:
    """Yield what is kept, a piece that may have lost its end with one."""
    for start, end in [*kept, *[(at, at + length) for at, length in places]]:
        while start < end:
            piece = _bytes(handle, start, min(jsonl.BLOCK_BYTES, end - start))
            start += len(piece)
            yield piece + b"\n" if start == end and piece[-1:] != b"\n" else piece


def _bytes(handle: FileIO, at: int, size: int) -> bytes:
    found = jsonl.read_at(handle, at, size)
    if len(found) < size:
        raise StoreError("%s has become shorter" % handle.name, "who else writes to it?")
    return found
