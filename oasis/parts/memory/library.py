"""The library: documents with their chunks and vectors, and what is found in them by words, by nearness, or by both.

Works without any model; with vectors of the one that is set now, both orders are fused. What of vectors is not of that
model is passed over until `embed` makes them anew. Knows no worker, no tool and no page; texts come from ingest.py.
"""

from __future__ import annotations

import threading

from oasis.errors import OasisError, UsageError
from oasis.parts.memory import ranking
from oasis.parts.memory.documents import Documents, chunk, packed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.parts.memory.documents import Vectors
    from oasis.parts.memory.structured import Embedder

    Document = dict[str, Any]
    Told = Callable[[int, int], object]

# So many of each order are looked at before they become one.
DEPTH = 50
# Beside vectors a chunk counts for its words when it has that much of the question: with fewer, fusing found less than
# vectors alone (tests/parts/memory/recall.py: 0.84, 0.91; so 0.93).
HALF = 0.5
LIMIT, MOST = 5, 20
QUERY_CHARS = 1000
TITLE_CHARS = 200


class Library:
    """The documents of one router. `new_id()` gives xids, `unix_s()` the wall time."""

    def __init__(
        self, documents: Documents, vectors: Vectors, embedder: Callable[[], Embedder], new_id: Callable[[], str],
        unix_s: Callable[[], int],
    ) -> None:  # fmt: skip
        self._documents = documents
        self._vectors = vectors
        self._embedder = embedder
        self._new_id = new_id
        self._unix_s = unix_s
        self._writing = threading.Lock()

    def add(self, draft: Document, chunks: list[str]) -> Document:
        """Put a document on flash, without vectors; return it.

        Shape of a draft: {"title", "kind", "source", "chars", "taint"?, "url"?}.
        Raises: UsageError when a document with the same text is there, StoreError when there is no room.
        """
        document = {"id": self._new_id(), "added_unix_s": self._unix_s(), "taint": [], **draft}
        document["title"] = str(document["title"])[:TITLE_CHARS]
        with self._writing:
            same = self._same(document, chunks)
            if same is not None:
                raise UsageError(
                    f"this text is there already: {same['title']} ({same['id']})",
                    f"to add it anew: oasis knowledge delete {same['id']}",
                )
            self._documents.put(document, chunks)
        return {**document, "chunks": len(chunks)}

    def _same(self, document: Document, chunks: list[str]) -> Document | None:
        """Return the document that has these very chunks, None for none; only one of the same length is read."""
        for one in self._documents.all():
            if (one["chars"], one["chunks"]) == (document["chars"], len(chunks)):
                texts = self._documents.texts(str(one["id"]))
                if chunks == [texts.get(number) for number in range(len(chunks))]:
                    return one
        return None

    def check_room(self, size: int) -> None:
        """Raise StoreError when a document of that size has no place."""
        self._documents.make_room(size)

    def delete(self, name: str) -> None:
        """Remove a document, its chunks and its vectors for good; raises UsageError when there is none."""
        with self._writing:
            self._documents.delete(name)

    def count(self) -> int:
        """Return how many documents there are."""
        return len(self._documents.names())

    def all(self, reports: list[str] | None = None) -> list[Document]:
        """Return all documents, the oldest first, each with "vectors": current | other | none."""
        label = self._embedder().name
        return [{**one, "vectors": self._state(one, label)} for one in self._documents.all(reports)]

    def get(self, name: str) -> Document | None:
        """Return a document with its text in "text", None when there is none."""
        found = self._documents.get(name)
        if found is None:
            return None
        texts = self._documents.texts(name)
        return {**found, "text": [texts[number] for number in sorted(texts)]}

    def used_bytes(self) -> int:
        """Return what all documents take on flash."""
        return self._documents.used_bytes()

    def _state(self, document: Document, label: str) -> str:
        about = self._vectors.about(str(document["id"]))
        if about is None or about["count"] != document["chunks"]:
            return "none"
        return "current" if label and about["label"] == label else "other"

    # Vectors

    def embed(self, is_cancelled: Callable[[], bool], told: Told = lambda done, total: None) -> int:
        """Make the vectors that are missing, or are of another model than the one set now; return of how many chunks.

        Raises: UsageError where no model is set for it, ProviderError when it fails; what was made before stays.
        """
        embedder = self._embedder()
        label = embedder.name
        waiting = [one for one in self.all() if one["vectors"] != "current"]
        total = sum([int(one["chunks"]) for one in waiting])
        done = 0
        for one in waiting:
            done += self._embed(one, embedder, label, is_cancelled, _from(done, total, told))
        return done

    def embed_one(self, document: Document, is_cancelled: Callable[[], bool], told: Told, is_home: bool = False) -> int:
        """Make the vectors of a document; return of how many chunks, 0 where no model is set for it.

        `is_home`: what stays at home, for which a model elsewhere counts as none.
        """
        embedder = self._embedder()
        if is_home and not embedder.is_local:
            return 0
        try:
            return self._embed(document, embedder, embedder.name, is_cancelled, told)
        except UsageError:
            return 0

    def _embed(
        self, document: Document, embedder: Embedder, label: str, is_cancelled: Callable[[], bool], told: Any
    ) -> int:
        name = str(document["id"])
        texts = self._documents.texts(name)
        # A chunk that cannot be read has a vector as well, of its document's title: numbers stay what they are.
        searched = [_searched(document, texts.get(at, "")) for at in range(int(document["chunks"]))]
        made = embedder.each(searched, is_cancelled, told)
        if made is None:
            raise UsageError("no model is set for vectors", "oasis alias embedding SERVICE/MODEL")
        rows = packed(made)
        with self._writing:
            if self._documents.get(name) is None:
                return 0  # deleted meanwhile
            self._documents.check_room(sum([len(row) for row in rows]))
            self._vectors.write(name, label, rows)
        return len(rows)

    # Searching

    def search(self, query: str, limit: int = LIMIT, mode: str = "fused", is_home: bool = False) -> dict[str, Any]:
        """Return the chunks that answer a question best. `mode`: fused, words or vectors; `is_home` as in embed_one.

        Shape: {"query", "passages": [{"text", "score", "source": number}], "sources": [{"number", "id", "title",
        "kind", "url"?, "taint"?}], "note"?}.
        """
        query = " ".join(query.split())[:QUERY_CHARS]
        if not query:
            raise UsageError("what should be looked for is empty", "some words")
        limit = min(max(limit, 1), MOST)
        documents = self._documents.all()
        notes: list[str] = []
        near = self._by_vectors(query, documents, notes, is_home) if mode != "words" and documents else []
        said = self._by_words(query, documents, HALF if near else 0.0) if mode != "vectors" else []
        rows = ranking.fused([said, near], limit)
        return {**self._told(query, rows, {str(one["id"]): one for one in documents}), **_noted(notes, documents)}

    def _by_words(self, query: str, documents: list[Document], least: float) -> list[Any]:
        words = ranking.Words(query)
        for document in documents:
            name, title = str(document["id"]), str(document["title"])
            has_title = words.may_have(title)
            for line in self._documents.lines(name):
                if not has_title and not words.may_have(line.decode("utf-8", "replace")):
                    words.skip(len(line))
                    continue
                one = chunk(line)
                if one is not None:
                    words.take((name, one[0]), _searched(document, one[1]), len(line))
        return [key for _, key in words.order(DEPTH, least)]

    def _by_vectors(self, query: str, documents: list[Document], notes: list[str], is_home: bool) -> list[Any]:
        embedder = self._embedder()
        label = embedder.name
        states = {str(one["id"]): self._state(one, label) for one in documents}
        names = [name for name in states if states[name] == "current"]
        if not names:
            if label:
                notes.append("no document has vectors of %s: oasis knowledge embed makes them" % label)
            return []
        if is_home and not embedder.is_local:
            notes.append("looked for by words alone: the model for vectors is not at home, and who asks is")
            return []
        try:
            asked = embedder.embed([query])
        except OasisError as error:
            notes.append("looked for by words alone: %s" % error.message)
            return []
        if len(names) < len(states):
            notes.append("%d documents were looked for by words alone" % (len(states) - len(names)))
        found = self._vectors.nearest(asked[0], names, DEPTH, label) if asked else []
        return [key for score, key in found if score > 0]

    def _told(self, query: str, rows: list[Any], documents: dict[str, Document]) -> dict[str, Any]:
        wanted: dict[str, set[int]] = {}
        for _, (name, number) in rows:
            wanted.setdefault(name, set()).add(number)
        texts = {name: self._documents.texts(name, numbers) for name, numbers in wanted.items()}
        kept = [(score, name, number) for score, (name, number) in rows if number in texts[name]]
        names = list(dict.fromkeys([name for _, name, _ in kept]))
        passages = [
            {"text": texts[name][number], "score": round(score, 4), "source": names.index(name) + 1}
            for score, name, number in kept
        ]
        sources = [_source(at, documents[name]) for at, name in enumerate(names)]
        return {"query": query, "passages": passages, "sources": sources}


def _from(before: int, total: int, told: Told) -> Told:
    return lambda count, _: told(before + count, total)


def _searched(document: Document, text: str) -> str:
    """Return what of a chunk is compared: who asks names the document as often as what is in it."""
    return "%s\n%s" % (document["title"], text)


def _source(at: int, document: Document) -> dict[str, Any]:
    found = {"number": at + 1, **{key: document.get(key) for key in ("id", "title", "kind", "url", "taint")}}
    return {key: value for key, value in found.items() if value}


def _noted(notes: list[str], documents: list[Document]) -> dict[str, str]:
    if not documents:
        notes = ["there are no documents yet: oasis knowledge add FILE"]
    return {"note": "; ".join(notes)} if notes else {}
