"""The owner's documents on flash, and what is found in them: one file of JSON lines each, the document first, then its
chunks in order, {"n": number, "text"} a line.

A document comes as a whole or not at all, and goes with its file: nothing is ever rewritten, and a search reads one
line at a time. Knows nothing of where documents come from.

The Library searches by words, by vectors or by both (fused orders), and works without any model. Vectors of another
model than the one set now are skipped until `embed` makes them anew.

Vectors have one file a document: a line of JSON, {"label": whose model made them, "dims", "count"}, then `count`
rows (ranking.py). One block of a file is in memory at a time; unreadable files are skipped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

from oasis.core import jsonl
from oasis.core.ids import is_xid
from oasis.errors import SchemaError, StoreError, UsageError
from oasis.parts.memory import ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.api.parts import Services
    from oasis.core.shapes import Json
    from oasis.parts.memory import shapes
    from oasis.parts.memory.ranking import Embedder
    from oasis.parts.memory.shapes import Document, Draft, Found, IsCancelled, Progress, VectorHead
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
_SOURCE = ("id", "title", "kind", "url", "taint")


class Library:
    """The documents of one router, next to their vectors; `limit_bytes()` is what all may take."""

    def __init__(
        self, kit: Services, vectors: Vectors, limit_bytes: Callable[[], int], embedder: Callable[[], Embedder]
    ) -> None:  # fmt: skip
        self._kit = kit
        self._vectors = vectors
        self._files, self._folder = vectors.files, vectors.folder
        self._limit_bytes = limit_bytes
        self._embedder = embedder
        self._writing = threading.Lock()

    def add(self, draft: Draft, chunks: list[str]) -> Document:
        """Put a document on flash, without vectors; return it.

        Raises: UsageError when a document with the same text is there; StoreError when there is no room, or the flash
        refuses; nothing is there then.
        """
        document: Document = {
            "id": self._kit.new_id(), "added_unix_s": self._kit.clock.unix_s(), "taint": [], **draft,
            "title": draft["title"][:TITLE_CHARS], "chunks": len(chunks),
        }  # fmt: skip
        head = jsonl.line(document)
        if len(head) > _HEAD_BYTES:
            raise StoreError("document %s has a record of %d bytes" % (document["id"], len(head)), "a shorter title")
        body = [jsonl.line({"n": number, "text": text}) for number, text in enumerate(chunks)]
        with self._writing:
            for one in self._documents():
                is_as_long = (one["chars"], one["chunks"]) == (document["chars"], len(chunks))  # others are not read
                if is_as_long and self.texts(one["id"]) == dict(enumerate(chunks)):
                    raise UsageError("this text is there already: %s (%s)" % (one["title"], one["id"]),
                                     "to add it anew: oasis knowledge delete %s" % one["id"])  # fmt: skip
            self._files.folder(self._folder)
            files = self._files.names(self._folder)
            for name in files:  # what a power cut left: files that were not finished, vectors whose document is gone
                is_lost = name.endswith(VECTOR_SUFFIX) and name.removesuffix(VECTOR_SUFFIX) + SUFFIX not in files
                if name.endswith(".new") or is_lost:
                    self._files.remove(self._folder + "/" + name)
            if len(self._names()) >= MOST:
                raise StoreError("there are %d documents already" % MOST, "delete some: oasis knowledge delete ID")
            self._check_room(len(head) + sum([len(line) for line in body]))
            self._files.rewrite(self._path(document["id"]), jsonl.blocks([head, *body]))
        return document

    def _check_room(self, size: int) -> None:
        """See that so many bytes more have a place; raises StoreError when they have none."""
        used, limit = self.used_bytes(), self._limit_bytes()
        if self._kit.free_bytes(self._folder) < size + SPARE_BYTES:
            told = "delete chats, documents or packages, or keep documents on USB (oasis.main.memory_path)"
            raise StoreError("the disk of %s is full" % self._folder, told)
        if used + size > limit:
            what = "documents have %d kB, and %d kB more would be above their %d kB"
            hint = "delete some, or set oasis.main.knowledge_quota (kB) and memory_path, which may be on USB"
            raise StoreError(what % (used >> 10, size >> 10, limit >> 10), hint)

    def _names(self) -> list[str]:
        # The oldest first.
        files = self._files.names(self._folder)
        return [name.removesuffix(SUFFIX) for name in files if name.endswith(SUFFIX) and is_xid(name[: -len(SUFFIX)])]

    def used_bytes(self) -> int:
        """Return what all documents and their vectors take."""
        return sum([self._files.size(self._folder + "/" + name) for name in self._files.names(self._folder)])

    def all(self, reports: list[str] | None = None) -> list[shapes.DocumentRow]:
        """Return all documents, the oldest first, each with "vectors": current | other | none."""
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
        found: Any = _first(self._files, self._path(name), _HEAD_BYTES)[0]
        is_whole = found.get("id") == name and isinstance(found.get("title"), str)
        is_whole = is_whole and all(isinstance(found.get(key), int) for key in ("chars", "chunks"))
        document: Document | None = found if is_whole else None
        return document

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
        """Remove a document, its chunks and its vectors for good. Raises: UsageError for none, StoreError."""
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

    def embed(self, is_cancelled: IsCancelled, told: Progress = lambda done, total: None) -> int:
        """Make the vectors that are missing, or are of another model than the one set now; return of how many chunks.

        Raises: UsageError where no model is set for it, ProviderError when it fails; what was made before stays.
        """
        waiting = [one for one in self.all() if one["vectors"] != "current"]
        if waiting and self._embedder().service() is None:
            raise UsageError("no model is set for vectors", "oasis alias embedding SERVICE/MODEL")
        total, done = sum([one["chunks"] for one in waiting]), 0
        for one in waiting:
            done += self.embed_one(one, is_cancelled, lambda count, _, before=done: told(before + count, total))  # type: ignore[misc]
        return done

    def embed_one(self, document: Document, is_cancelled: IsCancelled, told: Progress, is_home: bool = False) -> int:
        """Make a document's vectors; return how many, 0 without a model; with `is_home` one elsewhere is none."""
        name, embedder = document["id"], self._embedder()
        label = embedder.name
        if is_home and not embedder.is_local:
            return 0
        texts = self.texts(name)
        # A chunk that cannot be read has a vector as well, of its document's title: numbers stay what they are.
        searched = [_searched(document, texts.get(at, "")) for at in range(document["chunks"])]
        rows = embedder.rows(searched, is_cancelled, told)
        with self._writing:
            if not rows or self._document(name) is None:
                return 0  # no model, or deleted meanwhile
            self._check_room(sum([len(row) for row in rows]))
            self._vectors.write(name, label, rows)
        return len(rows)

    def search(self, query: str, limit: int = LIMIT, mode: str = "fused", is_home: bool = False) -> Found:
        """Return the chunks that answer a question best. `mode`: fused, words or vectors; `is_home` as in embed_one."""
        query = " ".join(query.split())[:QUERY_CHARS]
        if not query:
            raise UsageError("what should be looked for is empty", "some words")
        documents = {one["id"]: one for one in self._documents()}
        notes: list[str] = []
        near = self._by_vectors(query, documents, notes, is_home) if mode != "words" and documents else []
        words = ranking.Words(query)
        for document in documents.values() if mode != "vectors" else ():
            has_title = words.may_have(document["title"])
            for line in self._lines(document["id"]):
                if not has_title and not words.may_have(line.decode("utf-8", "replace")):
                    words.skip(len(line))
                    continue
                one = _chunk(line)
                if one is not None:
                    words.take((document["id"], one[0]), _searched(document, one[1]), len(line))
        said = [key for _, key in words.order(DEPTH, HALF if near else 0.0)]
        found: Found = {"query": query, "passages": [], "sources": []}
        rows = ranking.fused([said, near], min(max(limit, 1), MOST_FOUND))
        wanted = {name: {number for _, (other, number) in rows if other == name} for _, (name, _) in rows}
        texts = {name: self.texts(name, numbers) for name, numbers in wanted.items()}
        places: dict[str, int] = {}
        for score, (name, number) in rows:
            if number not in texts[name]:
                continue
            if name not in places:
                places[name] = len(places) + 1
                known = {key: value for key, value in documents[name].items() if key in _SOURCE and value}
                source: Any = {"number": places[name], **known}
                found["sources"].append(source)
            text = texts[name][number]
            found["passages"].append({"text": text, "score": round(score, 4), "source": places[name]})
        if notes:
            found["note"] = "; ".join(notes)
        return found

    def _by_vectors(
        self, query: str, documents: dict[str, Document], notes: list[str], is_home: bool
    ) -> list[Row]:  # fmt: skip
        embedder = self._embedder()
        label = embedder.name
        names = [name for name, one in documents.items() if self._state(one, label) == "current"]
        if not names:
            if label:
                notes.append("no document has vectors of %s: oasis knowledge embed makes them" % label)
            return []
        row = ranking.asked(embedder, query, is_home, notes)
        if row is None:
            return []
        if len(names) < len(documents):
            notes.append("%d documents were looked for by words alone" % (len(documents) - len(names)))
        return [key for score, key in self._vectors.nearest(row, names, DEPTH, label) if score > 0]


def _searched(document: Document, text: str) -> str:
    """Return what of a chunk is compared: who asks names the document as often as what is in it."""
    return "%s\n%s" % (document["title"], text)


def _chunk(line: bytes) -> tuple[int, str] | None:
    """Return number and text of a chunk's line, None for what is none."""
    found = _value(line)
    number, text = found.get("n"), found.get("text")
    return (number, text) if isinstance(number, int) and isinstance(text, str) else None


def _first(files: Files, path: str, most: int) -> tuple[dict[str, Json], int]:
    """Return what the first line of a file says, and where the second begins, 0 for none."""
    handle = files.reader(path)
    if handle is None:
        return {}, 0
    with handle:
        line, end, _ = (handle.read(most) or b"").partition(b"\n")
    return _value(line), len(line) + 1 if end else 0


def _value(line: bytes) -> dict[str, Json]:
    try:
        found = jsonl.loads(line)
    except SchemaError:
        return {}
    return found if isinstance(found, dict) else {}


_VECTOR_HEAD_BYTES = 4096


class Vectors:
    """The vectors of one folder, by the name of what they belong to and their number."""

    def __init__(self, files: Files, folder: str) -> None:
        self.files = files
        self.folder = folder

    def write(self, name: str, label: str, rows: list[bytes]) -> None:
        """Write a document's packed vectors in place of its old ones. Raises: SchemaError, StoreError."""
        if len({ranking.SCALE.size, *map(len, rows)}) != 2:
            raise SchemaError("the vectors of %s have no length, or several" % name, "one model makes one length")
        head = jsonl.line({"label": label, "dims": len(rows[0]) - ranking.SCALE.size, "count": len(rows)})
        self.files.folder(self.folder)
        self.files.rewrite(self._path(name), jsonl.blocks([head, *rows]))

    def about(self, name: str) -> VectorHead | None:
        """Return the head of a document's vectors, None without readable ones."""
        found, begins = _first(self.files, self._path(name), _VECTOR_HEAD_BYTES)
        label, dims, count = found.get("label"), found.get("dims"), found.get("count")
        if not (isinstance(label, str) and isinstance(dims, int) and isinstance(count, int)):
            return None
        if not (begins and 0 < dims < 1 << 24 and 0 < count < 1 << 24):
            return None
        return {"label": label, "dims": dims, "count": count, "begins": begins}

    def delete(self, name: str) -> None:
        """Remove the vectors of a document; there may be none."""
        self.files.remove(self._path(name))

    def nearest(self, asked: bytes, names: Sequence[str], most: int, label: str = "") -> list[tuple[float, Row]]:
        """Return (cosine, (name, number)) of the nearest rows, the nearest first; equal ones in the order of `names`.

        `asked` is packed. Those of another label, when one is given, and of another length are passed over.
        """
        if not any(asked[: ranking.SCALE.size]):
            return []  # it has no direction
        near = ranking.nearness(asked)
        rows: list[tuple[float, Row]] = []
        for name in names:
            head = self.about(name)
            if head is not None and head["dims"] == len(asked) - ranking.SCALE.size and label in ("", head["label"]):
                rows += [(near(row), (name, number)) for number, row in self._rows(name, head)]
                rows = ranking.best(rows, most)
        return ranking.best(rows, most)

    def _rows(self, name: str, head: VectorHead) -> Iterator[tuple[int, bytes]]:
        handle = self.files.reader(self._path(name))
        if handle is None:
            return
        with handle:
            size = ranking.SCALE.size + head["dims"]
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
