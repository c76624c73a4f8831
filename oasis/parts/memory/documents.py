"""The owner's documents on flash: one file of JSON lines each, the document first, then its chunks in order.

A document comes as a whole or not at all, and goes with its file: nothing is ever rewritten, and a search reads one
line at a time. Knows nothing of where documents come from, nor of vectors but their files' names, which go along.

A line of a chunk is {"n": its number, "text"}.

Vectors have one file a document: a line of JSON, {"label": whose model made them, "dims", "count"}, then `count`
rows: a scale (float32, little endian) and `dims` signed bytes. A row is its vector at length 1, rounded to 127 steps; a
zero vector has the scale 0. One block of a file is in memory at a time; unreadable files are skipped. With many rows
two steps are taken: of all rows only the signs are compared, as bits; of the nearest by these all bytes.
"""

from __future__ import annotations

import array
import operator
import struct

from oasis.core import jsonl
from oasis.core.ids import is_xid
from oasis.errors import SchemaError, StoreError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from io import FileIO
    from typing import TypeGuard

    from oasis.core.shapes import Json
    from oasis.parts.memory.shapes import Document, VectorHead
    from oasis.system.files import Files

    Row = tuple[str, int]


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
        """Return all documents, the oldest first; unreadable ones are reported and stay where they are."""
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
        return found if _is_document(found, name) else None

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


def _is_document(found: dict[str, Json] | None, name: str) -> TypeGuard[Document]:
    return found is not None and found.get("id") == name and isinstance(found.get("title"), str)


def _value(line: bytes) -> dict[str, Json] | None:
    try:
        found = jsonl.loads(line)
    except SchemaError:
        return None
    return found if isinstance(found, dict) else None


VECTOR_SUFFIX = ".vec"
_STEPS = 127
_SCALE = struct.Struct("<f")
_VECTOR_HEAD_BYTES = 4096
# So many rows are compared whole in a tenth of a second of a slow router; beyond, signs come first.
WHOLE_ROWS = 512
# Signs of few dimensions say little.
_SIGN_DIMS = 128
_BITS = bytes([49 if byte > 127 else 48 for byte in range(256)])


class Vectors:
    """The vectors of one folder, by the name of what they belong to and their number."""

    def __init__(self, files: Files, folder: str) -> None:
        self._files = files
        self._folder = folder

    def put(self, name: str, label: str, vectors: Iterable[Sequence[float]]) -> None:
        """Write the vectors of one document in place of those it had.

        Raises: SchemaError when they are not of one length, StoreError when the flash refuses.
        """
        self.write(name, label, packed(vectors))

    def write(self, name: str, label: str, rows: list[bytes]) -> None:
        """Do the same with rows that were packed before."""
        if not rows:
            raise SchemaError("there are no vectors for %s" % name, "one for each chunk")
        head = jsonl.line({"label": label, "dims": len(rows[0]) - _SCALE.size, "count": len(rows)})
        self._files.folder(self._folder)
        self._files.rewrite(self._path(name), jsonl.blocks([head, *rows]))

    def about(self, name: str) -> VectorHead | None:
        """Return the head of a document's vectors, None without readable ones."""
        handle = self._files.reader(self._path(name))
        if handle is None:
            return None
        with handle:
            return _head(handle)

    def delete(self, name: str) -> None:
        """Remove the vectors of a document; there may be none."""
        self._files.remove(self._path(name))

    def nearest(
        self, vector: Sequence[float], names: Sequence[str], most: int, label: str = ""
    ) -> list[tuple[float, Row]]:
        """Return (cosine, (name, number)) of the nearest rows, the nearest first; equal ones in the order of `names`.

        Those of another label, when one is given, and of another length are passed over.
        """
        asked = _rounded(vector)
        if not asked[0]:
            return []
        known = [name for name in names if self._fits(name, len(vector), label)]
        wanted = self._by_signs(asked[1], known, most)
        rows: list[tuple[float, Row]] = []
        signs = array.array("b", asked[1])
        for name in known:
            for number, row in self._rows(name):
                if wanted is None or (name, number) in wanted:
                    rows.append((_cosine(asked[0], signs, row), (name, number)))
            if len(rows) > 8 * most:
                rows = _best(rows, most)
        return _best(rows, most)

    def _fits(self, name: str, dims: int, label: str) -> bool:
        head = self.about(name)
        return head is not None and head["dims"] == dims and label in ("", head["label"])

    def _by_signs(self, asked: bytes, names: Sequence[str], most: int) -> set[Row] | None:
        """Return the rows that are near by their signs; None where all should be compared."""
        heads = [self.about(name) for name in names]
        if len(asked) < _SIGN_DIMS or sum([head["count"] for head in heads if head]) <= WHOLE_ROWS:
            return None
        bits = int(asked.translate(_BITS), 2)
        found: list[tuple[int, Row]] = []
        kept = max(WHOLE_ROWS, 16 * most)
        for name in names:
            for number, row in self._rows(name):
                found.append(((int(row[4:].translate(_BITS), 2) ^ bits).bit_count(), (name, number)))
            if len(found) > 4 * kept:
                found = sorted(found, key=lambda one: one[0])[:kept]
        found.sort(key=lambda one: one[0])
        return {row for _, row in found[:kept]}

    def _rows(self, name: str) -> Iterator[tuple[int, bytes]]:
        handle = self._files.reader(self._path(name))
        if handle is None:
            return
        with handle:
            head = _head(handle)
            if head is None:
                return
            size = _SCALE.size + head["dims"]
            at, number = head["begins"], 0
            step = max(jsonl.BLOCK_BYTES // size, 1) * size
            while number < head["count"]:
                handle.seek(at)
                block = handle.read(step) or b""
                for place in range(0, len(block) - size + 1, size):
                    yield number, block[place : place + size]
                    number += 1
                if len(block) < step:
                    return
                at += step

    def _path(self, name: str) -> str:
        return self._folder + "/" + name + VECTOR_SUFFIX


def nearness(vector: Sequence[float]) -> Callable[[bytes], float]:
    """Return what gives the cosine of a packed row with a vector, 0 for a row of another length."""
    scale, numbers = _rounded(vector)
    asked = array.array("b", numbers)
    return lambda row: _cosine(scale, asked, row) if len(row) == _SCALE.size + len(asked) else 0.0


def packed(vectors: Iterable[Sequence[float]]) -> list[bytes]:
    """Return vectors as rows, each packed as it comes: as numbers of Python they take thirty times as much.

    Raises: SchemaError when they are not of one length.
    """
    rows: list[bytes] = []
    for vector in vectors:
        scale, numbers = _rounded(vector)
        rows.append(_SCALE.pack(scale) + numbers)
        if not numbers or len(rows[0]) != len(rows[-1]):
            raise SchemaError("vector %d has the length %d" % (len(rows), len(vector)), "one model makes one length")
    return rows


def _rounded(vector: Sequence[float]) -> tuple[float, bytes]:
    """Return a vector of length 1 as its scale and a byte a number; (0, zeroes) for one without a direction."""
    length = sum([number * number for number in vector]) ** 0.5
    most = max([abs(number) for number in vector], default=0.0)
    if not length or not most or length == float("inf"):
        return 0.0, bytes(len(vector))
    numbers = array.array("b", [round(number / most * _STEPS) for number in vector])
    return most / length / _STEPS, numbers.tobytes()


def _cosine(scale: float, asked: array.array[int], row: bytes) -> float:
    own: float = _SCALE.unpack_from(row)[0]
    if not 0 < own <= 1:
        return 0.0  # of no direction, or damaged
    return float(scale * own * sum(map(operator.mul, asked, array.array("b", row[4:]))))


def _best(rows: list[tuple[float, Row]], most: int) -> list[tuple[float, Row]]:
    return sorted(rows, key=lambda row: -row[0])[:most]


def _head(handle: FileIO) -> VectorHead | None:
    handle.seek(0)
    line, end, _ = (handle.read(_VECTOR_HEAD_BYTES) or b"").partition(b"\n")
    try:
        found: object = jsonl.loads(line) if end else None
    except SchemaError:
        return None
    if not isinstance(found, dict):
        return None
    label, dims, count = found.get("label"), found.get("dims"), found.get("count")
    if not (isinstance(label, str) and isinstance(dims, int) and isinstance(count, int)):
        return None
    if not (0 < dims < 1 << 24 and 0 < count < 1 << 24):
        return None
    return {"label": label, "dims": dims, "count": count, "begins": len(line) + 1}
