"""The owner's documents on flash: one file of JSON lines each, the document first, then its chunks in order.

A document comes as a whole or not at all, and goes with its file: nothing is ever rewritten, and a search reads one
line at a time. Knows nothing of where documents come from, nor of vectors but their files' names, which go along.

Shape of a document: {"id": xid, "title", "kind", "source", "added_unix_s", "chars", "chunks": how many, "taint": [whose
words], "url"?}; of a chunk: {"n": its number, "text"}
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.core.ids import is_xid
from oasis.errors import SchemaError, StoreError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from oasis.system.files import Files

    Document = dict[str, Any]

SUFFIX = ".jsonl"
VECTORS = ".vec"
# A title has a place in each chunk's ranking and in every list.
MOST = 500
# What stays free on the disk; the same as for records.
SPARE_BYTES = 64 * 1024
_HEAD_BYTES = 16 * 1024


class Documents:
    """The documents of one folder; `limit_bytes()` is what all may take, `free_bytes(folder)` what a disk has left."""

    def __init__(
        self, files: Files, folder: str, limit_bytes: Callable[[], int], free_bytes: Callable[[str], int] | None = None
    ) -> None:
        self._files = files
        self.folder = folder
        self._limit_bytes = limit_bytes
        self._free_bytes = free_bytes

    def put(self, document: Document, chunks: list[str]) -> None:
        """Write a document and its chunks.

        Raises: StoreError when there is no room, or the flash refuses; nothing is there then.
        """
        head = jsonl.line({**document, "chunks": len(chunks)})
        if len(head) > _HEAD_BYTES or not is_xid(document["id"]):
            raise StoreError("document %s has a record of %d bytes" % (document["id"], len(head)), "a shorter title")
        body = [jsonl.line({"n": number, "text": text}) for number, text in enumerate(chunks)]
        self._files.folder(self.folder)
        self._clear()
        self.make_room(len(head) + sum([len(line) for line in body]))
        self._files.rewrite(self._path(document["id"]), jsonl.blocks([head, *body]))

    def make_room(self, size: int) -> None:
        """See that so many bytes more have a place.

        Raises: StoreError when they have none.
        """
        if len(self.names()) >= MOST:
            raise StoreError("there are %d documents already" % MOST, "delete some: oasis knowledge delete ID")
        self.check_room(size)

    def check_room(self, size: int) -> None:
        """See that so many bytes more have a place, for a document that is there already; raises as make_room."""
        used, limit = self.used_bytes(), self._limit_bytes()
        if self._free_bytes is not None and self._free_bytes(self.folder) < size + SPARE_BYTES:
            told = "delete chats, documents or packages, or keep documents on USB (oasis.main.memory_path)"
            raise StoreError("the disk of %s is full" % self.folder, told)
        if used + size > limit:
            raise StoreError(
                "documents have %d kB, and %d kB more would be above their %d kB"
                % (used >> 10, size >> 10, limit >> 10),
                "delete some, or set oasis.main.knowledge_quota (kB) and memory_path, which may be on USB",
            )

    def _clear(self) -> None:
        """Remove what a power cut left: files that were not finished, vectors whose document is gone."""
        names = self._files.names(self.folder)
        known = {name[: -len(SUFFIX)] for name in names if name.endswith(SUFFIX)}
        for name in names:
            if name.endswith(".new") or (name.endswith(VECTORS) and name[: -len(VECTORS)] not in known):
                self._files.remove(self.folder + "/" + name)

    def names(self) -> list[str]:
        """Return the ids of all documents, the oldest first."""
        found = [name[: -len(SUFFIX)] for name in self._files.names(self.folder) if name.endswith(SUFFIX)]
        return [name for name in found if is_xid(name)]

    def used_bytes(self) -> int:
        """Return what all documents and their vectors take."""
        return sum([self._files.size(self.folder + "/" + name) for name in self._files.names(self.folder)])

    def all(self, reports: list[str] | None = None) -> list[Document]:
        """Return all documents, the oldest first; what cannot be read is told and stays where it is."""
        found = []
        for name in self.names():
            document = self.get(name)
            if document is not None:
                found.append(document)
            elif reports is not None:
                reports.append("document %s cannot be read and is kept aside" % name)
        return found

    def get(self, name: str) -> Document | None:
        """Return a document, None when there is none, or its record cannot be read."""
        handle = self._files.reader(self._path(name)) if is_xid(name) else None
        if handle is None:
            return None
        with handle:
            found = _value((handle.read(_HEAD_BYTES) or b"").partition(b"\n")[0])
        is_ours = found is not None and found.get("id") == name and isinstance(found.get("title"), str)
        return found if is_ours else None

    def lines(self, name: str) -> Iterator[bytes]:
        """Yield the lines of a document's chunks, one at a time; what is too long is left out."""
        handle = self._files.reader(self._path(name))
        if handle is None:
            return
        with handle:
            for at, line in jsonl.forwards(handle, 0, jsonl.whole_bytes(handle)[0]):
                if at and line is not None:
                    yield line

    def texts(self, name: str, wanted: set[int] | None = None) -> dict[int, str]:
        """Return the texts of a document's chunks by their numbers, all of them or those that are wanted."""
        found: dict[int, str] = {}
        for line in self.lines(name):
            one = chunk(line)
            if one is not None and (wanted is None or one[0] in wanted):
                found[one[0]] = one[1]
                if wanted is not None and len(found) == len(wanted):
                    break
        return found

    def delete(self, name: str) -> None:
        """Remove a document for good.

        Raises: UsageError when there is none, StoreError when the flash refuses.
        """
        if not is_xid(name) or name not in self.names():
            raise UsageError("there is no document %r" % name, "list them with: oasis knowledge")
        self._files.forget(self._path(name))
        self._files.remove(self._path(name, VECTORS))

    def _path(self, name: str, suffix: str = SUFFIX) -> str:
        return self.folder + "/" + name + suffix


def chunk(line: bytes) -> tuple[int, str] | None:
    """Return number and text of a chunk's line, None for what is none."""
    found = _value(line)
    number, text = (found.get("n"), found.get("text")) if found is not None else (None, None)
    return (number, text) if isinstance(number, int) and isinstance(text, str) else None


def _value(line: bytes) -> dict[str, Any] | None:
    try:
        found = jsonl.loads(line)
    except SchemaError:
        return None
    return found if isinstance(found, dict) else None
