"""The owner's documents and notes, and the index of OpenWrt's options: methods of the daemon, and tools.

    knowledge.add, list, search, delete, embed    documents
    knowledge.option                              what an option is; works without any model
    knowledge_search, remember                    for models; the result is tainted by the titles of its documents

A part (api/parts.py). Adding runs as a run of its own, because reading may need a model.

The Library keeps documents with chunks and vectors; it searches by words, by vectors or by both (fused orders), and
works without any model. Vectors of another model than the one set now are skipped until `embed` makes them anew.
"""

from __future__ import annotations

import os
import re
import threading

from oasis.catalogue import described, entries
from oasis.core import clean, jsonl
from oasis.errors import OasisError, SettingsError, UsageError
from oasis.parts.memory import ranking
from oasis.parts.memory.documents import Documents, Vectors, chunk, packed
from oasis.parts.memory.ingest import Ingest, Reading
from oasis.parts.memory.structured import embedder
from oasis.system import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.agent.runs import Run
    from oasis.api.parts import Services
    from oasis.parts.memory.shapes import (
        Document,
        DocumentList,
        DocumentRow,
        DocumentSource,
        DocumentText,
        Draft,
        Found,
        FoundAll,
        IsCancelled,
        Note,
        OptionTold,
        Passage,
        Read,
        SaidRow,
    )
    from oasis.parts.memory.structured import Embedder
    from oasis.tools.operator import Operator
    from oasis.tools.router import Watch
    from oasis.tools.shapes import Arguments, Result

    Drafted = tuple[Draft, list[str]]
    Option = dict[str, Any]  # see catalogue/described.py
    RowKey = tuple[str, int]  # document, chunk
    TypeOf = Callable[[str, str], str]
    Told = Callable[[int, int], object]


# All documents, where the owner says nothing else: of the flash the chats take a tenth, at most 2 MiB.
QUOTA_BYTES = 4 * 1024 * 1024
SHARE = 5
# Of a result, whose bound is that of the registry; what is around the passages has its place as well.
RESULT_BYTES = 12 * 1024
_OPTIONS_TOLD = 4
# Of what was said in chats, for a model that looks into the owner's documents; as in the seed.
MESSAGES = 5
# So many of each order are looked at before they become one.
DEPTH = 50
# Next to vectors a chunk counts for its words when it has that much of the question: with fewer, fusing found less than
# vectors alone (tests/parts/memory/recall.py: 0.84, 0.91; so 0.93).
HALF = 0.5
LIMIT, MOST = 5, 20
QUERY_CHARS = 1000
TITLE_CHARS = 200


def gather(kit: Services) -> Knowledge:
    """Return the part of a daemon."""
    return Knowledge(kit)


def label(document: Document | DocumentSource) -> str:
    """Return whose words a document holds, as taint tells it."""
    return "words of the document %s" % clean.name(document["title"], 80)


class Knowledge:
    """What the owner put in, and what is found there."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit
        self._folder = _folder(kit)
        documents = Documents(kit.files, self._folder, self._limit_bytes, kit.free_bytes)
        vectors = Vectors(kit.files, self._folder)
        self.library = Library(documents, vectors, lambda: embedder(kit), kit.new_id, kit.clock.unix_s)
        self.source = Source(self)

    def _limit_bytes(self) -> int:
        quota_kib = int(self._kit.settings.number("knowledge_quota", 0))
        if quota_kib:
            return quota_kib * 1024
        self._kit.files.folder(self._folder)  # of which the disk is asked
        return int(min(QUOTA_BYTES, (self.library.used_bytes() + self._kit.free_bytes(self._folder)) // SHARE))

    def _check_place(self) -> None:
        """See that documents may lie where the owner wants them.

        Raises: SettingsError for a disk that keeps no secrets.
        """
        if not _elsewhere(self._kit):
            return
        kind = files.kind(self._kit.files.read(files.LIST) or b"", os.path.realpath(self._folder))
        if kind in files.LOOSE:
            raise SettingsError(
                "oasis.main.memory_path is on %s, where everybody reads everything and a power cut loses files" % kind,
                "format the disk as ext4 or f2fs, or name another folder",
            )

    # What front-ends call

    def knowledge_add(self, title: str = "", text: str = "", upload: str = "", url: str = "") -> dict[str, str]:
        """Start a run that reads and keeps a document; a note of it tells what came of it. Shape: {"run", "chat"}."""
        if sum([bool(text), bool(upload), bool(url)]) != 1:
            raise UsageError("knowledge.add needs one of text, upload and url")
        self._check_place()
        data = self._kit.conversations().uploads.read(upload) if upload else ("", b"")

        def read(ingest: Ingest, reading: Reading) -> Drafted:
            if url:
                return ingest.page(reading.url(url), title)
            return ingest.file(data[0], data[1], title) if upload else ingest.text(text, title)

        run = self._kit.runs.start("", lambda run: self._add(run, read))
        if upload:
            self._kit.conversations().uploads.drop([upload])
        return {"run": run.id, "chat": run.chat}

    def _add(self, run: Run, read: Callable[[Ingest, Reading], Drafted]) -> tuple[str, str]:
        reading = Reading(self._kit, run.is_cancelled)
        ingest = Ingest(reading.html, reading.pdf)
        draft, chunks = read(ingest, reading)
        if run.is_cancelled():
            return "cancelled", "end_turn"
        document = self.library.add(draft, chunks)
        run.emit("tool_result", tool_use_id="", name="knowledge.add", text=jsonl.dumps(document), is_error=False)
        words = ['"%s" is added: %d characters, chunks: %d, id %s'
                 % (document["title"], document["chars"], document["chunks"], document["id"])]  # fmt: skip
        try:
            count = self.library.embed_one(document, run.is_cancelled, _progress(run))
            words += ["it is found by words and by %d vectors" % count] if count else []
        except OasisError as error:
            words.append("it has no vectors and is found by words: %s" % error.message)
        run.emit("note", text="\n".join([*words, *ingest.notes]))
        return "done", "end_turn"

    def knowledge_embed(self) -> dict[str, str]:
        """Start a run that makes the vectors which are missing or of another model."""
        self._check_place()

        def work(run: Run) -> tuple[str, str]:
            count = self.library.embed(run.is_cancelled, _progress(run))
            run.emit("note", text="%d chunks have new vectors" % count if count else "all vectors are there already")
            return ("cancelled" if run.is_cancelled() else "done"), "end_turn"

        run = self._kit.runs.start("", work)
        return {"run": run.id, "chat": run.chat}

    def knowledge_list(self) -> DocumentList:
        """Return all documents, and what is wrong with unreadable ones."""
        reports: list[str] = []
        documents = self.library.all(reports)
        used = self.library.used_bytes()
        return {"documents": documents, "used_bytes": used, "limit_bytes": self._limit_bytes(),
                "embedding": embedder(self._kit).name, "reports": reports}  # fmt: skip

    def knowledge_search(self, query: str, limit: int = LIMIT) -> FoundAll:
        """Return what fits a question: passages of documents with their sources, and options."""
        return self._found(query, limit, False)

    def _found(self, query: str, limit: int, is_home: bool) -> FoundAll:
        found = self.library.search(query, limit, is_home=is_home)
        options = found_options(query, self._type_of, _OPTIONS_TOLD)
        result: FoundAll = {"query": found["query"], "passages": found["passages"], "sources": found["sources"],
                            "options": options}  # fmt: skip
        if "note" in found:
            result["note"] = found["note"]
        return result

    def knowledge_delete(self, id: str) -> dict[str, str]:
        """Remove a document for good."""
        self.library.delete(id)
        return {"status": "OK"}

    def knowledge_option(self, path: str) -> Option:
        """Return what an option, or a section type, is; see catalogue/described.py."""
        return named(path, self._type_of)

    def _type_of(self, package: str, section: str) -> str:
        """Return the type of a section as it is configured here, "" when there is none."""
        found = self._kit.facts.config(package).get(section)
        return str(found[".type"]) if found else ""

    # What models call

    def told(self, query: str, limit: int, is_home: bool, has_chats: bool = False) -> FoundAll:
        """Return what is found, as much of it as a result holds, and its taint.

        `is_home`: a model at home asks; its words go to no model elsewhere, not even for vectors. `has_chats`: it may
        see what was said in other chats.
        """
        result = self._found(query, limit, is_home)
        said: list[SaidRow] = []
        if has_chats:
            said = self._kit.parts.part("said").search(query, MESSAGES, is_home, not is_home)["results"]
        while result["passages"] and len(jsonl.dumps(result).encode("utf-8")) > RESULT_BYTES:
            result["passages"].pop()
        used = {passage["source"] for passage in result["passages"]}
        result["sources"] = [source for source in result["sources"] if source["number"] in used]
        labels: list[str] = []
        for source in result["sources"]:
            # A note that the owner had written, without words of others, holds their own words.
            own = [label(source)] if source["kind"] != "note" or source.get("taint") else []
            labels += [one for one in [*own, *source.pop("taint", [])] if one not in labels]
        if said:
            result["messages"] = [{"chat": one["chat"], "role": one["role"], "snippet": one["snippet"]} for one in said]
            labels += [one for found in said for one in found.get("taint", ()) if one not in labels]
        if labels:
            result["untrusted"] = labels
        return result

    def note(self, text: str, title: str, taint: list[str], is_cancelled: IsCancelled, is_home: bool) -> Note:
        """Keep a note. `is_home` as in `told`."""
        self._check_place()
        draft, chunks = Ingest(_unread, _unread).text(text, title, "a chat")
        document = self.library.add({**draft, "kind": "note", "taint": list(taint)}, chunks)
        try:
            self.library.embed_one(document, is_cancelled, lambda done, total: None, is_home)
        except OasisError as error:
            self._kit.log("the note %s has no vectors: %s" % (document["id"], error.message))
        return {"id": document["id"], "title": document["title"], "chunks": document["chunks"]}


# Whose words a note is that the owner did not say.
MODEL = "words that a model wrote"


class Source:
    """Makes the calls of the library's tools; their specs, in knowledge.json, are offered by parts.py."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    def call(self, name: str, arguments: Arguments, operator: Operator, watch: Watch) -> Result:
        """Call a tool; raises UsageError and StoreError."""
        if name == "knowledge_search":
            limit = arguments.get("limit", LIMIT)
            assert isinstance(limit, int)
            return self._knowledge.told(str(arguments["query"]), limit, operator.is_home(), operator.has_chats)
        text, title = str(arguments["text"]), str(arguments.get("title", ""))
        taint = list(operator.taint)
        if not operator.is_own(title) or not operator.is_own(text):
            taint.append(MODEL)  # what nobody but a model said is no word of the owner's when it is read again
        kept = self._knowledge.note(text, title, taint, watch.is_cancelled, operator.is_home())
        return {**kept, "status": "kept: knowledge_search finds it, the owner deletes it by oasis knowledge delete ID"}


def _folder(kit: Services) -> str:
    """Return where documents are: next to the facts, or where the owner has room for them."""
    path = _elsewhere(kit)
    return str(kit.root.path(path) if path else kit.root.state_folder + "/memory") + "/documents"


def _elsewhere(kit: Services) -> str:
    """Return the folder that the owner set, "" without a valid one."""
    path = str(kit.settings.main().get("memory_path", ""))
    return path.rstrip("/") if path.startswith("/") and ".." not in path.split("/") else ""


def _progress(run: Run) -> Callable[[int, int], object]:
    def tell(done: int, total: int) -> None:
        if done:
            run.emit("tool_progress", name="knowledge.add", text="%d of %d chunks have vectors" % (done, total))

    return tell


def _unread(*given: object) -> Read:
    raise UsageError("a note is a text")


_PATH = re.compile(r"(?<![\w.])([a-z0-9_-]+(?:\.(?:@?[\w-]+(?:\[-?\d+\])?|\*)){1,2})(?![\w])", re.ASCII)
# Options of one type that a listing names; more are asked for one by one.
NAMES = 200
# Of what is asked an option must have that much: one word of four is in hundreds of them.
LEAST = 0.6
_USAGE = "like network.lan.proto, wireless.wifi-iface.encryption or dhcp.host"


def named(path: str, type_of: TypeOf) -> Option:
    """Return what a path names: an option, or a section type.

    `path`: package.section.option, package.type.option, package.option, package.section or package.type.
    Raises: UsageError with the nearest names, when there is nothing of that name.
    """
    parts = path.strip().split(".", 2)
    if len(parts) < 2 or not all(parts):
        raise UsageError("%r is no path of an option" % path[:100], _USAGE)
    package = parts[0]
    if not entries.types(package):
        raise _unknown("no package %r in the index" % package, package, entries.packages())
    type_ = _type(package, parts[1], type_of)
    if len(parts) == 3:
        return {"asked": path, **_option(package, type_, parts[2], parts[1])}
    found = described.section_type(package, type_) if type_ else None
    if found is not None:
        return {"asked": path, **found, "options": found["options"][:NAMES]}
    owners = described.types_of(package, parts[1])
    if not owners:
        names = [name for one in described.types_of(package) for name in (one, *entries.option_names(package, one))]
        raise _unknown("%s has no section type, section or option %r" % (package, parts[1]), parts[1], names)
    others = ["%s.%s.%s" % (package, one, parts[1]) for one in owners[1:]]
    return {"asked": path, **_option(package, owners[0], parts[1], ""), **({"also": others} if others else {})}


def _type(package: str, section: str, type_of: TypeOf) -> str:
    """Return the section type that a word means: a type, @type[0], or the name of a section that is here."""
    plain = section[1:].partition("[")[0] if section.startswith("@") else section
    if entries.section_type(package, plain) is not None:
        return plain
    return type_of(package, section)


def _option(package: str, type_: str, name: str, section: str) -> Option:
    owners = [type_] if type_ else described.types_of(package, name)
    found = described.option(package, owners[0], name) if owners else None
    if found is not None:
        return found
    if not owners:
        raise _unknown("%s has no option %r in any section" % (package, name), section, described.types_of(package))
    meant = entries.known_as(package, owners[0], name)
    if meant:
        raise UsageError("%s.%s has no option %r" % (package, owners[0], name), "did you mean " + " or ".join(meant))
    names = entries.option_names(package, owners[0])
    raise _unknown("%s.%s has no option %r" % (package, owners[0], name), name, names)


def _unknown(message: str, word: str, names: list[str]) -> UsageError:
    return UsageError(message, entries.hint(word, names) or _USAGE)


def found_options(query: str, type_of: TypeOf, most: int) -> list[OptionTold]:
    """Return the options that a question names by their paths; where it names none, those that fit its words best.

    Shape: [{"path", "title"?, "what"?, "takes", …}] as in catalogue/described.py, shortened.
    """
    told: list[Option] = []
    for path in list(dict.fromkeys(_PATH.findall(query)))[:most]:
        try:
            told.append(named(path, type_of))
        except UsageError:
            continue  # a host name, a file: not everything with dots is an option
    if told:
        return [_short(one) for one in told]
    words = ranking.Words(query)
    for path, text in described.texts():
        if words.may_have(text):
            words.take(path, text)
        else:
            words.skip(len(text))
    paths = [str(path).split(".", 2) for _, path in words.order(most, LEAST)]
    options = [described.option(*path) for path in paths]
    return [_short(one) for one in options if one is not None]


def _short(told: Option) -> OptionTold:
    kept: Any = {key: told[key] for key in told if key not in ("asked", "source", "also")}
    for key in ("values", "options"):
        if len(kept.get(key, [])) > 40:
            kept[key] = [*kept[key][:40], "…"]
    short: OptionTold = kept
    return short


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

    def add(self, draft: Draft, chunks: list[str]) -> Document:
        """Put a document on flash, without vectors; return it.

        Raises: UsageError when a document with the same text is there, StoreError when there is no room.
        """
        document: Document = {
            "id": self._new_id(),
            "added_unix_s": self._unix_s(),
            "taint": [],
            **draft,
            "title": draft["title"][:TITLE_CHARS],
            "chunks": len(chunks),
        }
        with self._writing:
            same = self._same(document, chunks)
            if same is not None:
                raise UsageError(
                    f"this text is there already: {same['title']} ({same['id']})",
                    f"to add it anew: oasis knowledge delete {same['id']}",
                )
            self._documents.put(document, chunks)
        return document

    def _same(self, document: Document, chunks: list[str]) -> Document | None:
        """Return the document that has these very chunks, None for none; only one of the same length is read."""
        for one in self._documents.all():
            if (one["chars"], one["chunks"]) == (document["chars"], len(chunks)):
                texts = self._documents.texts(str(one["id"]))
                if chunks == [texts.get(number) for number in range(len(chunks))]:
                    return one
        return None

    def delete(self, name: str) -> None:
        """Remove a document, its chunks and its vectors for good; raises UsageError when there is none."""
        with self._writing:
            self._documents.delete(name)

    def all(self, reports: list[str] | None = None) -> list[DocumentRow]:
        """Return all documents, the oldest first, each with "vectors": current | other | none."""
        label = self._embedder().name
        return [{**one, "vectors": self._state(one, label)} for one in self._documents.all(reports)]

    def get(self, name: str) -> DocumentText | None:
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

    def embed(self, is_cancelled: IsCancelled, told: Told = lambda done, total: None) -> int:
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

    def embed_one(self, document: Document, is_cancelled: IsCancelled, told: Told, is_home: bool = False) -> int:
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

    def _embed(self, document: Document, embedder: Embedder, label: str, is_cancelled: IsCancelled, told: Told) -> int:
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

    def search(self, query: str, limit: int = LIMIT, mode: str = "fused", is_home: bool = False) -> Found:
        """Return the chunks that answer a question best. `mode`: fused, words or vectors; `is_home` as in embed_one."""
        query = " ".join(query.split())[:QUERY_CHARS]
        if not query:
            raise UsageError("what should be looked for is empty", "some words")
        limit = min(max(limit, 1), MOST)
        documents = self._documents.all()
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

    def _by_words(self, query: str, documents: list[Document], least: float) -> list[RowKey]:
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

    def _by_vectors(self, query: str, documents: list[Document], notes: list[str], is_home: bool) -> list[RowKey]:
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

    def _told(self, query: str, rows: list[tuple[float, RowKey]], documents: dict[str, Document]) -> Found:
        wanted: dict[str, set[int]] = {}
        for _, (name, number) in rows:
            wanted.setdefault(name, set()).add(number)
        texts = {name: self._documents.texts(name, numbers) for name, numbers in wanted.items()}
        kept = [(score, name, number) for score, (name, number) in rows if number in texts[name]]
        names = list(dict.fromkeys([name for _, name, _ in kept]))
        passages: list[Passage] = [
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


def _source(at: int, document: Document) -> DocumentSource:
    source: DocumentSource = {
        "number": at + 1,
        "id": document["id"],
        "title": document["title"],
        "kind": document["kind"],
    }
    if document.get("url"):
        source["url"] = document["url"]
    if document["taint"]:
        source["taint"] = document["taint"]
    return source
