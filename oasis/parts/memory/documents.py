"""The owner's documents on flash, and what is found in them: one file of JSON lines each, the document first, then its
chunks in order, {"n": number, "text"} a line.

A document comes as a whole or not at all, and goes with its file: nothing is ever rewritten, and a search reads one
line at a time. Knows nothing of where documents come from.

The Library searches by words, by vectors or by both (fused orders), and works without any model. Vectors of another
model than the one set now are skipped until `embed` makes them anew.

Vectors have one file a document: a line of JSON, {"label": whose model made them, "dims", "count"}, then `count`
rows: a scale (float32, little endian) and `dims` signed bytes. A row is its vector at length 1, rounded to 127 steps; a
zero vector has the scale 0. One block of a file is in memory at a time; unreadable files are skipped. With many rows
two steps are taken: of all rows only the signs are compared, as bits; of the nearest by these all bytes.
"""

from __future__ import annotations

import array
import operator
import struct
import threading

from oasis.core import jsonl
from oasis.core.ids import is_xid
from oasis.errors import SchemaError, StoreError, UsageError
from oasis.parts.memory import ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from io import FileIO
    from typing import TypeGuard

    from oasis.core.shapes import Json
    from oasis.parts.memory.ranking import Embedder
    from oasis.parts.memory.shapes import (
        Document,
        DocumentRow,
        DocumentSource,
        Draft,
        Found,
        IsCancelled,
        Passage,
        Progress,
        VectorHead,
    )  # fmt: skip
    from oasis.system.files import Files

    Row = tuple[str, int]  # document, number of a chunk

SUFFIX, VECTOR_SUFFIX = ".jsonl", ".vec"
# A title has a place in each chunk's ranking and in every list.
MOST = 500
# What stays free on the disk; the same as for records.
SPARE_BYTES = 64 * 1024
_HEAD_BYTES = 16 * 1024
TITLE_CHARS = 200
# So many of each order are looked at before they become one.
DEPTH = 50
# Next to vectors a chunk counts for its words when it has that much of the question: with fewer, fusing found less than
# vectors alone (tests/parts/memory/recall.py: 0.84, 0.91; so 0.93).
HALF = 0.5
LIMIT, MOST_FOUND = 5, 20
QUERY_CHARS = 1000


class Library:
    """The documents of one router, next to their vectors.

    `limit_bytes()` is what all may take, `free_bytes(folder)` what a disk has left, `new_id()` gives xids, `unix_s()`
    the wall time.
    """

    def __init__(
        self, vectors: Vectors, limit_bytes: Callable[[], int], free_bytes: Callable[[str], int],
        embedder: Callable[[], Embedder], new_id: Callable[[], str], unix_s: Callable[[], int],
    ) -> None:  # fmt: skip
        self._vectors = vectors
        self._files, self._folder = vectors.files, vectors.folder
        self._limit_bytes = limit_bytes
        self._free_bytes = free_bytes
        self._embedder = embedder
        self._new_id = new_id
        self._unix_s = unix_s
        self._writing = threading.Lock()

    def add(self, draft: Draft, chunks: list[str]) -> Document:
        """Put a document on flash, without vectors; return it.

        Raises: UsageError when a document with the same text is there; StoreError when there is no room, or the flash
        refuses; nothing is there then.
        """
        document: Document = {
            "id": self._new_id(), "added_unix_s": self._unix_s(), "taint": [], **draft,
            "title": draft["title"][:TITLE_CHARS], "chunks": len(chunks),
        }  # fmt: skip
        head = jsonl.line(document)
        if len(head) > _HEAD_BYTES:
            raise StoreError("document %s has a record of %d bytes" % (document["id"], len(head)), "a shorter title")
        body = [jsonl.line({"n": number, "text": text}) for number, text in enumerate(chunks)]
        with self._writing:
            same = self._same(document, chunks)
            if same is not None:
                raise UsageError(
                    "this text is there already: %s (%s)" % (same["title"], same["id"]),
                    "to add it anew: oasis knowledge delete %s" % same["id"],
                )
            self._files.folder(self._folder)
            self._clear()
            if len(self._names()) >= MOST:
                raise StoreError("there are %d documents already" % MOST, "delete some: oasis knowledge delete ID")
            self._check_room(len(head) + sum([len(line) for line in body]))
            self._files.rewrite(self._path(document["id"]), jsonl.blocks([head, *body]))
        return document

    def _same(self, document: Document, chunks: list[str]) -> Document | None:
        """Return the document that has these very chunks, None for none; only one of the same length is read."""
        for one in self._documents():
            if (one["chars"], one["chunks"]) == (document["chars"], len(chunks)):
                texts = self.texts(one["id"])
                if chunks == [texts.get(number) for number in range(len(chunks))]:
                    return one
        return None

    def _check_room(self, size: int) -> None:
        """See that so many bytes more have a place; raises StoreError when they have none."""
        used, limit = self.used_bytes(), self._limit_bytes()
        if self._free_bytes(self._folder) < size + SPARE_BYTES:
            told = "delete chats, documents or packages, or keep documents on USB (oasis.main.memory_path)"
            raise StoreError("the disk of %s is full" % self._folder, told)
        if used + size > limit:
            sizes = used >> 10, size >> 10, limit >> 10
            raise StoreError(
                "documents have %d kB, and %d kB more would be above their %d kB" % sizes,
                "delete some, or set oasis.main.knowledge_quota (kB) and memory_path, which may be on USB",
            )

    def _clear(self) -> None:
        """Remove what a power cut left: files that were not finished, vectors whose document is gone."""
        names = self._files.names(self._folder)
        for name in names:
            is_lost = name.endswith(VECTOR_SUFFIX) and name.removesuffix(VECTOR_SUFFIX) + SUFFIX not in names
            if name.endswith(".new") or is_lost:
                self._files.remove(self._folder + "/" + name)

    def _names(self) -> list[str]:
        # The oldest first.
        files = self._files.names(self._folder)
        return [name.removesuffix(SUFFIX) for name in files if name.endswith(SUFFIX) and is_xid(name[: -len(SUFFIX)])]

    def used_bytes(self) -> int:
        """Return what all documents and their vectors take."""
        return sum([self._files.size(self._folder + "/" + name) for name in self._files.names(self._folder)])

    def all(self, reports: list[str] | None = None) -> list[DocumentRow]:
        """Return all documents, the oldest first, each with "vectors": current | other | none.

        Unreadable ones are reported and stay where they are.
        """
        label = self._embedder().name
        return [{**one, "vectors": self._state(one, label)} for one in self._documents(reports)]

    def _documents(self, reports: list[str] | None = None) -> list[Document]:
        found = []
        for name in self._names():
            document = self._document(name)
            if document is not None:
                found.append(document)
            elif reports is not None:
                reports.append("document %s cannot be read and is kept aside" % name)
        return found

    def _document(self, name: str) -> Document | None:
        handle = self._files.reader(self._path(name))
        if handle is None:
            return None
        with handle:
            found = _value((handle.read(_HEAD_BYTES) or b"").partition(b"\n")[0])
        return found if _is_document(found, name) else None

    def _lines(self, name: str) -> Iterator[bytes]:
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
        for line in self._lines(name):
            one = _chunk(line)
            if one is not None and (wanted is None or one[0] in wanted):
                found[one[0]] = one[1]
                if wanted is not None and len(found) == len(wanted):
                    break
        return found

    def delete(self, name: str) -> None:
        """Remove a document, its chunks and its vectors for good.

        Raises: UsageError when there is none, StoreError when the flash refuses.
        """
        with self._writing:
            if name not in self._names():
                raise UsageError("there is no document %r" % name, "list them with: oasis knowledge")
            self._files.forget(self._path(name))
            self._vectors.delete(name)

    def _path(self, name: str) -> str:
        return self._folder + "/" + name + SUFFIX

    def _state(self, document: Document, label: str) -> str:
        about = self._vectors.about(document["id"])
        if about is None or about["count"] != document["chunks"]:
            return "none"
        return "current" if label and about["label"] == label else "other"

    # Vectors

    def embed(self, is_cancelled: IsCancelled, told: Progress = lambda done, total: None) -> int:
        """Make the vectors that are missing, or are of another model than the one set now; return of how many chunks.

        Raises: UsageError where no model is set for it, ProviderError when it fails; what was made before stays.
        """
        waiting = [one for one in self.all() if one["vectors"] != "current"]
        total = sum([one["chunks"] for one in waiting])
        done = 0
        for one in waiting:
            done += self._embed(one, is_cancelled, lambda count, _, before=done: told(before + count, total))  # type: ignore[misc]
        return done

    def embed_one(self, document: Document, is_cancelled: IsCancelled, told: Progress, is_home: bool = False) -> int:
        """Make the vectors of a document; return of how many chunks, 0 where no model is set for it.

        `is_home`: what stays at home, for which a model elsewhere counts as none.
        """
        if is_home and not self._embedder().is_local:
            return 0
        try:
            return self._embed(document, is_cancelled, told)
        except UsageError:
            return 0

    def _embed(self, document: Document, is_cancelled: IsCancelled, told: Progress) -> int:
        name, texts, embedder = document["id"], self.texts(document["id"]), self._embedder()
        label = embedder.name
        # A chunk that cannot be read has a vector as well, of its document's title: numbers stay what they are.
        searched = [_searched(document, texts.get(at, "")) for at in range(document["chunks"])]
        made = embedder.each(searched, is_cancelled, told)
        if made is None:
            raise UsageError("no model is set for vectors", "oasis alias embedding SERVICE/MODEL")
        rows = packed(made)
        with self._writing:
            if self._document(name) is None:
                return 0  # deleted meanwhile
            self._check_room(sum([len(row) for row in rows]))
            self._vectors.write(name, label, rows)
        return len(rows)

    # Searching

    def search(self, query: str, limit: int = LIMIT, mode: str = "fused", is_home: bool = False) -> Found:
        """Return the chunks that answer a question best. `mode`: fused, words or vectors; `is_home` as in embed_one."""
        query = " ".join(query.split())[:QUERY_CHARS]
        if not query:
            raise UsageError("what should be looked for is empty", "some words")
        limit = min(max(limit, 1), MOST_FOUND)
        documents = self._documents()
        notes: list[str] = []
        near = self._by_vectors(query, documents, notes, is_home) if mode != "words" and documents else []
        said = self._by_words(query, documents, HALF if near else 0.0) if mode != "vectors" else []
        rows = ranking.fused([said, near], limit)
        found = self._told(query, rows, {one["id"]: one for one in documents})
        if not documents:
            notes = ["there are no documents yet: oasis knowledge add FILE"]
        if notes:
            found["note"] = "; ".join(notes)
        return found

    def _by_words(self, query: str, documents: list[Document], least: float) -> list[Row]:
        words = ranking.Words(query)
        for document in documents:
            has_title = words.may_have(document["title"])
            for line in self._lines(document["id"]):
                if not has_title and not words.may_have(line.decode("utf-8", "replace")):
                    words.skip(len(line))
                    continue
                one = _chunk(line)
                if one is not None:
                    words.take((document["id"], one[0]), _searched(document, one[1]), len(line))
        return [key for _, key in words.order(DEPTH, least)]

    def _by_vectors(self, query: str, documents: list[Document], notes: list[str], is_home: bool) -> list[Row]:
        embedder = self._embedder()
        label = embedder.name
        states = {one["id"]: self._state(one, label) for one in documents}
        names = [name for name in states if states[name] == "current"]
        if not names:
            if label:
                notes.append("no document has vectors of %s: oasis knowledge embed makes them" % label)
            return []
        vector = ranking.asked(embedder, query, is_home, notes)
        if vector is None:
            return []
        if len(names) < len(states):
            notes.append("%d documents were looked for by words alone" % (len(states) - len(names)))
        found = self._vectors.nearest(vector, names, DEPTH, label)
        return [key for score, key in found if score > 0]

    def _told(self, query: str, rows: list[tuple[float, Row]], documents: dict[str, Document]) -> Found:
        wanted: dict[str, set[int]] = {}
        for _, (name, number) in rows:
            wanted.setdefault(name, set()).add(number)
        texts = {name: self.texts(name, numbers) for name, numbers in wanted.items()}
        kept = [(score, name, number) for score, (name, number) in rows if number in texts[name]]
        names = list(dict.fromkeys([name for _, name, _ in kept]))
        passages: list[Passage] = [
            {"text": texts[name][number], "score": round(score, 4), "source": names.index(name) + 1}
            for score, name, number in kept
        ]
        sources = [_source(at, documents[name]) for at, name in enumerate(names)]
        return {"query": query, "passages": passages, "sources": sources}


def _searched(document: Document, text: str) -> str:
    """Return what of a chunk is compared: who asks names the document as often as what is in it."""
    return "%s\n%s" % (document["title"], text)


def _source(at: int, document: Document) -> DocumentSource:
    source: DocumentSource = {"number": at + 1, "id": document["id"], "title": document["title"],
                              "kind": document["kind"]}  # fmt: skip
    if document.get("url"):
        source["url"] = document["url"]
    if document["taint"]:
        source["taint"] = document["taint"]
    return source


def _chunk(line: bytes) -> tuple[int, str] | None:
    """Return number and text of a chunk's line, None for what is none."""
    found = _value(line) or {}
    number, text = found.get("n"), found.get("text")
    return (number, text) if isinstance(number, int) and isinstance(text, str) else None


def _is_document(found: dict[str, Json] | None, name: str) -> TypeGuard[Document]:
    if found is None or found.get("id") != name or not isinstance(found.get("title"), str):
        return False
    return isinstance(found.get("chars"), int) and isinstance(found.get("chunks"), int)


def _value(line: bytes) -> dict[str, Json] | None:
    try:
        found = jsonl.loads(line)
    except SchemaError:
        return None
    return found if isinstance(found, dict) else None


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
        self.files = files
        self.folder = folder

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
        self.files.folder(self.folder)
        self.files.rewrite(self._path(name), jsonl.blocks([head, *rows]))

    def about(self, name: str) -> VectorHead | None:
        """Return the head of a document's vectors, None without readable ones."""
        handle = self.files.reader(self._path(name))
        if handle is None:
            return None
        with handle:
            return _head(handle)

    def delete(self, name: str) -> None:
        """Remove the vectors of a document; there may be none."""
        self.files.remove(self._path(name))

    def nearest(
        self, vector: Sequence[float], names: Sequence[str], most: int, label: str = ""
    ) -> list[tuple[float, Row]]:
        """Return (cosine, (name, number)) of the nearest rows, the nearest first; equal ones in the order of `names`.

        Those of another label, when one is given, and of another length are passed over.
        """
        asked = _rounded(vector)
        if not asked[0]:
            return []
        known: dict[str, int] = {}
        for name in names:
            head = self.about(name)
            if head is not None and head["dims"] == len(vector) and label in ("", head["label"]):
                known[name] = head["count"]
        wanted = self._by_signs(asked[1], known, most)
        rows: list[tuple[float, Row]] = []
        signs = array.array("b", asked[1])
        for name in known:
            for number, row in self._rows(name):
                if wanted is None or (name, number) in wanted:
                    rows.append((_cosine(asked[0], signs, row), (name, number)))
            if len(rows) > 8 * most:
                rows = ranking.best(rows, most)
        return ranking.best(rows, most)

    def _by_signs(self, asked: bytes, counts: dict[str, int], most: int) -> set[Row] | None:
        """Return the rows that are near by their signs; None where all should be compared."""
        if len(asked) < _SIGN_DIMS or sum(counts.values()) <= WHOLE_ROWS:
            return None
        bits = int(asked.translate(_BITS), 2)
        found: list[tuple[int, Row]] = []
        kept = max(WHOLE_ROWS, 16 * most)
        for name in counts:
            for number, row in self._rows(name):
                found.append(((int(row[4:].translate(_BITS), 2) ^ bits).bit_count(), (name, number)))
            if len(found) > 4 * kept:
                found = sorted(found, key=lambda one: one[0])[:kept]
        found.sort(key=lambda one: one[0])
        return {row for _, row in found[:kept]}

    def _rows(self, name: str) -> Iterator[tuple[int, bytes]]:
        handle = self.files.reader(self._path(name))
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
        return self.folder + "/" + name + VECTOR_SUFFIX


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


def _head(handle: FileIO) -> VectorHead | None:
    handle.seek(0)
    line, end, _ = (handle.read(_VECTOR_HEAD_BYTES) or b"").partition(b"\n")
    found = (_value(line) if end else None) or {}
    label, dims, count = found.get("label"), found.get("dims"), found.get("count")
    if not (isinstance(label, str) and isinstance(dims, int) and isinstance(count, int)):
        return None
    if not (0 < dims < 1 << 24 and 0 < count < 1 << 24):
        return None
    return {"label": label, "dims": dims, "count": count, "begins": len(line) + 1}
