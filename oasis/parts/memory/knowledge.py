"""The owner's documents and notes, and the index of OpenWrt's options: as a part of the daemon, and as tools.

    knowledge.add, list, search, delete, embed    documents; see table.py
    knowledge.option                              what an option is, always there and without any model
    knowledge_search, remember                    for models; what stands in a document taints, with its title

A part (api/parts.py). What is added is read and kept in a run of its own: it may take a model's time. Nothing is read
before somebody asks.
"""

from __future__ import annotations

import os
import re

from oasis.catalogue import described, entries
from oasis.core import clean, jsonl
from oasis.errors import OasisError, SettingsError, UsageError
from oasis.parts.memory import ranking
from oasis.parts.memory.documents import Documents, Vectors
from oasis.parts.memory.library import LIMIT, Library
from oasis.parts.memory.structured import embedder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.parts.memory.ingest import Ingest
    from oasis.tools.operator import Operator
    from oasis.tools.router import Watch

    Document = dict[str, Any]
    Found = tuple[Document, list[str]]
    TypeOf = Callable[[str, str], str]


# All documents, where the owner says nothing else: of the flash the chats take a tenth, at most 2 MiB.
QUOTA_BYTES = 4 * 1024 * 1024
SHARE = 5
# Of a result, whose bound is that of the registry; what is around the passages has its place as well.
RESULT_BYTES = 12 * 1024
_OPTIONS_TOLD = 4
# Of what was said in chats, for a model that looks into the owner's documents; as in the seed.
MESSAGES = 5


def gather(kit: Any) -> Knowledge:
    """Return the part of a daemon; `kit` as in parts.py."""
    return Knowledge(kit)


def label(document: Document) -> str:
    """Return whose words a document holds, as taint tells it."""
    return "words of the document %s" % clean.name(document["title"], 80)


class Knowledge:
    """What the owner put in, and what is found there."""

    def __init__(self, kit: Any) -> None:
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
        from oasis.system import files  # with the first document

        kind = files.kind(self._kit.files.read(files.LIST) or b"", os.path.realpath(self._folder))
        if kind in files.LOOSE:
            raise SettingsError(
                "oasis.main.memory_path is on %s, where everybody reads everything and a power cut loses files" % kind,
                "format the disk as ext4 or f2fs, or name another folder",
            )

    # What front-ends call

    def knowledge_add(self, title: str = "", text: str = "", upload: str = "", url: str = "") -> dict[str, object]:
        """Start a run that reads and keeps a document; a note of it tells what came of it. Shape: {"run", "chat"}."""
        if sum([bool(text), bool(upload), bool(url)]) != 1:
            raise UsageError("knowledge.add needs one of text, upload and url")
        self._check_place()
        data = self._kit.conversations().uploads.read(upload) if upload else ("", b"")

        def read(ingest: Ingest, reading: Any) -> Found:
            if url:
                return ingest.page(reading.url(url), title)
            return ingest.file(data[0], data[1], title) if upload else ingest.text(text, title)

        run = self._kit.runs.start("", lambda run: self._add(run, read))
        if upload:
            self._kit.conversations().uploads.drop([upload])
        return {"run": run.id, "chat": run.chat}

    def _add(self, run: Any, read: Callable[[Ingest, Any], Found]) -> tuple[str, str]:
        from oasis.parts.memory.ingest import (
            Ingest,  # with the first document
            Reading,
        )

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

    def knowledge_embed(self) -> dict[str, object]:
        """Start a run that makes the vectors which are missing or of another model."""
        self._check_place()

        def work(run: Any) -> tuple[str, str]:
            count = self.library.embed(run.is_cancelled, _progress(run))
            run.emit("note", text="%d chunks have new vectors" % count if count else "all vectors are there already")
            return ("cancelled" if run.is_cancelled() else "done"), "end_turn"

        run = self._kit.runs.start("", work)
        return {"run": run.id, "chat": run.chat}

    def knowledge_list(self) -> dict[str, object]:
        """Return all documents. Shape: {"documents": [see library.py], "used_bytes", "limit_bytes", "embedding",
        "reports"}."""
        reports: list[str] = []
        documents = self.library.all(reports)
        used = self.library.used_bytes()
        return {"documents": documents, "used_bytes": used, "limit_bytes": self._limit_bytes(),
                "embedding": embedder(self._kit).name, "reports": reports}  # fmt: skip

    def knowledge_search(self, query: str, limit: int = LIMIT) -> dict[str, Any]:
        """Return what fits a question: passages of documents with their sources, and options.

        Shape: that of library.py, and "options": [{"path", "title"?, "what"?, "takes"}].
        """
        return self._found(query, limit, False)

    def _found(self, query: str, limit: int, is_home: bool) -> dict[str, Any]:
        result = self.library.search(query, limit, is_home=is_home)
        return {**result, "options": found_options(query, self._type_of, _OPTIONS_TOLD)}

    def knowledge_delete(self, id: str) -> dict[str, object]:
        """Remove a document for good."""
        self.library.delete(id)
        return {"status": "OK"}

    def knowledge_option(self, path: str) -> dict[str, object]:
        """Return what an option, or a section type, is; see catalogue/described.py."""

        return named(path, self._type_of)

    def _type_of(self, package: str, section: str) -> str:
        """Return the type of a section as it is configured here, "" when there is none."""
        found = self._kit.facts.config(package).get(section)
        return str(found[".type"]) if found else ""

    # What models call

    def _said(self, query: str, is_home: bool) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._kit.beside.part("said").search(query, MESSAGES, is_home, not is_home)[
            "results"
        ]
        return found

    def told(self, query: str, limit: int, is_home: bool, has_chats: bool = False) -> dict[str, Any]:
        """Return what is found, as much of it as a result holds, and whose words it is.

        `is_home`: who asks is a model at home; its words go to none elsewhere, not for vectors either. `has_chats`: it
        may hear what was said in other chats.
        """
        result = self._found(query, limit, is_home)
        said = self._said(query, is_home) if has_chats else []
        while result["passages"] and len(jsonl.dumps(result).encode("utf-8")) > RESULT_BYTES:
            result["passages"].pop()
        used = {passage["source"] for passage in result["passages"]}
        result["sources"] = [source for source in result["sources"] if source["number"] in used]
        labels: list[str] = []
        for source in result["sources"]:
            # What the owner had remembered where nobody else had a word is his own.
            own = [label(source)] if source["kind"] != "note" or source.get("taint") else []
            labels += [one for one in [*own, *source.pop("taint", [])] if one not in labels]
        if said:
            result["messages"] = [{key: one[key] for key in ("chat", "role", "snippet")} for one in said]
            labels += [one for found in said for one in found.get("taint", ()) if one not in labels]
        return {**result, "untrusted": labels} if labels else result

    def note(
        self, text: str, title: str, taint: list[str], is_cancelled: Callable[[], bool], is_home: bool
    ) -> dict[str, Any]:
        """Keep a note; return {"id", "title", "chunks"}. `is_home` as in `told`."""
        from oasis.parts.memory.ingest import Ingest

        self._check_place()
        draft, chunks = Ingest(_unread, _unread).text(text, title, "a chat")
        document = self.library.add({**draft, "kind": "note", "taint": list(taint)}, chunks)
        try:
            self.library.embed_one(document, is_cancelled, lambda done, total: None, is_home)
        except OasisError as error:
            self._kit.log("the note %s has no vectors: %s" % (document["id"], error.message))
        return {key: document[key] for key in ("id", "title", "chunks")}


# Whose words a note is that the owner did not say.
MODEL = "words that a model wrote"


class Source:
    """Makes the calls of the library's tools; their specs, in knowledge.json, are offered by parts.py."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    def call(self, name: str, arguments: dict[str, Any], operator: Operator, watch: Watch) -> dict[str, Any]:
        """Call a tool; raises UsageError and StoreError."""
        if name == "knowledge_search":
            limit = arguments.get("limit", LIMIT)
            return self._knowledge.told(arguments["query"], limit, operator.is_home(), operator.has_chats)
        text, title = arguments["text"], arguments.get("title", "")
        taint = list(operator.taint)
        if not operator.is_own(title) or not operator.is_own(text):
            taint.append(MODEL)  # what nobody but a model said is no word of the owner's when it is read again
        kept = self._knowledge.note(text, title, taint, watch.is_cancelled, operator.is_home())
        return {**kept, "status": "kept: knowledge_search finds it, the owner deletes it by oasis knowledge delete ID"}


def _folder(kit: Any) -> str:
    """Return where documents are: beside the facts, or where the owner has room for them."""
    path = _elsewhere(kit)
    return str(kit.root.path(path) if path else kit.root.state_folder + "/memory") + "/documents"


def _elsewhere(kit: Any) -> str:
    """Return the folder that the owner named, "" where he named none that can be one."""
    path = str(kit.settings.main().get("memory_path", ""))
    return path.rstrip("/") if path.startswith("/") and ".." not in path.split("/") else ""


def _progress(run: Any) -> Callable[[int, int], object]:
    def tell(done: int, total: int) -> None:
        if done:
            run.emit("tool_progress", name="knowledge.add", text="%d of %d chunks have vectors" % (done, total))

    return tell


def _unread(*given: object) -> dict[str, Any]:
    raise UsageError("a note is a text")


_PATH = re.compile(r"(?<![\w.])([a-z0-9_-]+(?:\.(?:@?[\w-]+(?:\[-?\d+\])?|\*)){1,2})(?![\w])", re.ASCII)
# Options of one type that a listing names; more are asked for one by one.
NAMES = 200
# Of what is asked an option must have that much: one word of four is in hundreds of them.
LEAST = 0.6
_USAGE = "like network.lan.proto, wireless.wifi-iface.encryption or dhcp.host"


def named(path: str, type_of: TypeOf) -> dict[str, Any]:
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


def _option(package: str, type_: str, name: str, section: str) -> dict[str, Any]:
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


def found_options(query: str, type_of: TypeOf, most: int) -> list[dict[str, Any]]:
    """Return the options that a question names by their paths; where it names none, those that fit its words best.

    Shape: [{"path", "title"?, "what"?, "takes", …}] as in catalogue/described.py, shortened.
    """
    told: list[dict[str, Any]] = []
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


def _short(told: dict[str, Any]) -> dict[str, Any]:
    kept = {key: told[key] for key in told if key not in ("asked", "source", "also")}
    for key in ("values", "options"):
        if len(kept.get(key, [])) > 40:
            kept[key] = [*kept[key][:40], "…"]
    return kept
