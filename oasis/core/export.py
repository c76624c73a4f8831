"""Whole chats as one JSON document, out and in again, and as Markdown for people to keep and to print.

    {"format": "oasis.chat", "version": 1, "id", "title", "messages": [...], "records"?: [...],
     "blobs"?: {sha256: base64}}

What comes in may have been written by anybody, in any order: it is read leniently (chat_line.py), put into the order in
which we write, parents first, and its words are marked as those of an import. It is read from a handle twice, message
by message, so that a document costs the memory of one message: first all of it is checked, then it is stored.
The Lua Oasis's chat files come in by the same door. Imports under MicroPython.
"""

from array import array

from oasis.core import chat_line, ids, jsonl, lua_chats, when
from oasis.core.ids import scru128_ms
from oasis.core.schema import blocks
from oasis.core.thread import IMPORTED
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.core.shapes import Block, ChatRecord, Document, Handle, Iterator, Message, NewId

    Span = tuple[int, int]

FORMAT = "oasis.chat"
VERSION = 1
# A chat with its attachments: what a small router can hold in memory for a moment.
FILE_BYTES = lua_chats.FILE_BYTES
MESSAGES = lua_chats.MESSAGES
# Values of one message: the longest answer of a model that repeats itself has half as many.
VALUES = lua_chats.VALUES
# The text of one attachment in base64, and of one record.
BLOB_CHARS = 2 * 1024 * 1024
RECORD_BYTES = 64 * 1024
# Repairs of one kind that are named; of more, how many.
REPORTS = 40


def document(
    name: str, title: str, messages: "list[Message]", records: "list[ChatRecord]", blobs: "dict[str, str]"
) -> "Document":
    """Return a chat as a document; `messages` parents first, `blobs` maps sha256 to base64 text."""
    found: Document = {"format": FORMAT, "version": VERSION, "id": name, "title": title, "messages": messages}
    if records:
        found["records"] = records
    if blobs:
        found["blobs"] = blobs
    return found


def read(handle: "Handle", new_id: "NewId", unix_ms: int = 0) -> "Import":
    """Return the chat of a file, checked and ready to be stored; `handle` stays open for as long as it is read.

    `unix_ms` is when upstream's chat ended, whose messages tell no time; 0: now.
    Raises: SchemaError naming the path; nothing of a chat that cannot be stored whole is returned.
    """
    size = handle.seek(0, 2)
    if size > FILE_BYTES:
        raise SchemaError("the file has %d bytes, more than %d allowed" % (size, FILE_BYTES), "send it in pieces")
    whole = (0, size)
    if jsonl.first(handle, whole) != "{":
        jsonl.part_value(handle, whole, jsonl.LINE_BYTES, VALUES)  # where it is no JSON at all, this says so
        hint = 'like {"messages": [{"role": "user", "content": "Hello"}]}'
        raise SchemaError("a chat file must hold an object", hint)
    parts = jsonl.members(handle, whole)
    is_ours = "format" in parts and jsonl.part_value(handle, parts["format"], RECORD_BYTES) == FORMAT
    found = Import(handle, parts, new_id) if is_ours else _Upstream(handle, parts, new_id, unix_ms)
    if not found.count:
        raise SchemaError("the file holds no message", "export the chat again")
    return found


class Import:
    """A chat on its way in. `title`, `count` of messages, `reports`: what was repaired, `heads`: names of bookmarks.

    Of a document of ours; what is held is where each message stands, and the ids.
    """

    def __init__(self, handle: "Handle", parts: "dict[str, Span]", new_id: "NewId") -> None:
        self._handle = handle
        self._parts = parts
        self._new_id = new_id
        self._left_out = 0
        self._places = array("I")  # begin and end of each message
        self._number: dict[str, int] = {}  # id -> which message has it
        self._other: dict[int, str] = {}  # which message -> the id that it gets instead
        self._heads: dict[str, str] = {}
        self._is_renamed = False
        self.title = ""
        self.count = 0
        self.reports: list[str] = []
        self.heads: set[str] = set()
        self._read()

    def _read(self) -> None:
        """Look through the whole file."""
        handle, parts = self._handle, self._parts
        version = jsonl.part_value(handle, parts["version"], RECORD_BYTES) if "version" in parts else None
        if version != VERSION:
            raise SchemaError("version is %r" % (version,), "this program reads version %d" % VERSION)
        title = jsonl.mended(jsonl.part_value(handle, parts["title"], RECORD_BYTES)) if "title" in parts else ""
        if not isinstance(title, str):
            raise _must("title", "a text")
        self.title = title
        kinds = (("messages", "[", "a list"), ("records", "[", "a list"), ("blobs", "{", "an object"))
        for name, opening, what in kinds:
            is_there = name in parts or name == "messages"
            if is_there and jsonl.first(handle, parts.get(name, (0, 0))) != opening:
                raise _must(name, what)
        self._order = None if self._look() else self._sorted()
        self.heads.update([record["name"] for record in self._records(True) if record.get("type") == "bookmark"])
        self.heads.discard("")

    def _report(self, text: str) -> None:
        if len(self.reports) < REPORTS:
            self.reports.append(text)
        else:
            self._left_out += 1
            self.reports[REPORTS:] = ["%d more repairs of this kind" % self._left_out]

    def _look(self) -> bool:
        """Read all messages once; return whether parents stand before their children."""
        early: set[str] = set()  # named as parents before they come, if they do
        is_ordered = True
        for span in jsonl.items(self._handle, self._parts["messages"]):
            number = len(self._places) // 2
            if number >= MESSAGES:
                raise SchemaError("more than %d messages" % MESSAGES, "import the chat in parts")
            message = self._message(span, number, True)
            name = message["id"]
            if name in self._number:
                # The later message keeps a repeated id, as when a chat is read; the earlier one gets another.
                earlier = self._number[name]
                is_same = jsonl.part_text(self._handle, self._span(earlier)) == jsonl.part_text(self._handle, span)
                self._other[earlier] = "" if is_same else self._new_id()
                what = "it is kept once" if is_same else "the earlier one is kept under another id"
                self._report("message %s is there twice: %s" % (name, what))
            is_ordered = is_ordered and name not in early
            self._number[name] = number
            self._places.append(span[0])
            self._places.append(span[1])
            if len(early) < MESSAGES:
                early.update([parent for parent in message.get("continues", []) if parent not in self._number])
            else:
                is_ordered = False  # too many to know: they are sorted, which may change nothing
            if "head" in message:
                self.heads.add(message["head"])
            _check_size(message, number)
            message = {}  # let go of it before the next one is made
        self.count = len(self._places) // 2 - len([one for one in self._other if not self._other[one]])
        return is_ordered

    def _span(self, number: int) -> "Span":
        return self._places[2 * number], self._places[2 * number + 1]

    def _message(self, span: "Span", number: int, is_reported: bool) -> "Message":
        path = "messages[%d]" % number
        found: list[str] = []
        value = lua_chats.item(self._handle, span, path, found)
        if not isinstance(value, dict):
            raise SchemaError(path + " must be an object", "export the chat again")
        name = value.get("id")
        if isinstance(name, str) and ids.looks_like_id(name) and not ids.is_scru128(name.lower()):
            found.append(path + ".id")
            if number not in self._other:
                self._other[number] = self._new_id()
            value["id"] = self._other[number]
        try:
            message = chat_line.lenient_message(value, found, path + ".")
        except SchemaError as error:
            raise SchemaError(path + error.message[error.message.find(".") :], "export the chat again")
        if found and is_reported:
            self._report("read in part: " + ", ".join(found[:8]))
        return _marked(message)

    def _sorted(self) -> "list[int]":
        """Return the numbers of the messages, parents before children, else as they stand."""
        links: list[tuple[int, ...]] = []
        for number in range(len(self._places) // 2):
            parents = self._message(self._span(number), number, False).get("continues", [])
            links.append(tuple([self._number[parent] for parent in parents if parent in self._number]))
        state = bytearray(len(links))  # 1: its parents are being looked at, 2: done
        order: list[int] = []
        for number in range(len(links)):
            stack = [number]
            while stack:
                one = stack[-1]
                if state[one]:
                    stack.pop()
                    if state[one] == 1:
                        state[one] = 2
                        order.append(one)
                    continue
                state[one] = 1
                for parent in reversed(links[one]):
                    if not state[parent]:
                        stack.append(parent)
                    elif state[parent] == 1:
                        self._report("messages[%d] continues itself by a detour; it stays where it stands" % one)
        if order != list(range(len(links))):
            self._report("the messages did not stand in their order; they were put into it")
        return order

    def __contains__(self, name: str) -> bool:
        """Return whether a message of the file has this id."""
        return name in self._number

    def rename(self) -> None:
        """Give every message a new id: some of them are stored already."""
        self._is_renamed = True
        for name in self._number:
            number = self._number[name]
            # The time in it stays: lists and branches sort by it.
            self._other[number] = ids.at(self._new_id(), ids.scru128_ms(name))

    def rename_heads(self, names: "dict[str, str]") -> None:
        """Give bookmarks other names: theirs stand elsewhere already."""
        self._heads = names

    def messages(self) -> "Iterator[Message]":
        """Yield the messages, parents first, each marked as words of an import."""
        for number in range(len(self._places) // 2) if self._order is None else self._order:
            name = self._other.get(number)
            if name == "":
                continue  # the same message comes once more
            message = self._message(self._span(number), number, False)
            message["id"] = name or message["id"]
            if "continues" in message:
                message["continues"] = [self._name(parent) for parent in message["continues"]]
            if message.get("head") in self._heads:
                message["head"] = self._heads[message["head"]]
            yield message
            message = {}  # let go of it before the next one is made

    def _name(self, name: str) -> str:
        """Return the id that a message of the file has now; one in another chat keeps its own."""
        return self._other.get(self._number[name], name) if name in self._number and self._is_renamed else name

    def records(self) -> "Iterator[ChatRecord]":
        """Yield the records about the chat."""
        for record in self._records(False):
            if record.get("target") in self._number:
                record["target"] = self._name(record["target"])
            if record.get("id") in self._number:
                record["id"] = self._name(record["id"])
            if record.get("type") == "bookmark" and record["name"] in self._heads:
                record["name"] = self._heads[record["name"]]
            yield record

    def _records(self, is_reported: bool) -> "Iterator[ChatRecord]":
        number = -1
        for span in jsonl.items(self._handle, self._parts["records"]) if "records" in self._parts else ():
            number += 1
            try:
                value = jsonl.mended(jsonl.part_value(self._handle, span, RECORD_BYTES, VALUES))
                repairs: list[str] = []
                record = chat_line.lenient_record(value, repairs)
            except SchemaError as error:
                repairs = [error.message]
                record = None
            if repairs and is_reported:
                self._report("records[%d] was left out, or read in part: %s" % (number, ", ".join(repairs)))
            if record is not None and "role" not in record:
                yield record

    def blobs(self) -> "Iterator[tuple[str, str]]":
        """Yield (sha256, base64) of the attachments.

        Raises: SchemaError for what is no text.
        """
        found = jsonl.members(self._handle, self._parts["blobs"]) if "blobs" in self._parts else {}
        for name in found:
            try:
                value = jsonl.part_value(self._handle, found[name], BLOB_CHARS)
            except SchemaError:
                value = None
            if not isinstance(value, str):
                raise _must("blobs", "an object of base64 texts")
            yield name, value


class _Upstream(Import):
    """A chat of the Lua program: one thread, without ids and times."""

    def __init__(self, handle: "Handle", parts: "dict[str, Span]", new_id: "NewId", unix_ms: int) -> None:
        self._theirs = parts
        self._unix_ms = unix_ms
        Import.__init__(self, handle, {}, new_id)

    def _read(self) -> None:
        for item in lua_chats.messages(self._handle, self._theirs, self._report):
            _check_size(self._made(item, "0" * 25, ""), self.count)
            item = {}  # let go of it before the next one is made
            self.count += 1

    def messages(self) -> "Iterator[Message]":
        before = ""
        # One after another, the last one at the time of the file: lists and branches sort by it.
        unix_ms = self._unix_ms - self.count
        for item in lua_chats.messages(self._handle, self._theirs, lambda text: None):
            unix_ms += 1
            name = self._new_id()
            if self._unix_ms:
                name = ids.at(name, unix_ms)
            yield self._made(item, name, before)
            item = {}  # let go of it before the next one is made
            before = name

    def _made(self, item: "Message", name: str, before: str) -> "Message":
        message: Message = {"id": name}
        message.update(item)
        if before:
            message["continues"] = [before]
        return _marked(message)


def _marked(message: "Message") -> "Message":
    message["taint"] = [IMPORTED] + [label for label in message.get("taint", []) if label != IMPORTED]
    return message


def _check_size(message: "Message", number: int) -> None:
    try:
        size = len(jsonl.line(message))
    except SchemaError as error:
        raise SchemaError("messages[%d]: %s" % (number, error.message), error.hint)
    if size > jsonl.LINE_BYTES:
        told = "messages[%d] has %d bytes; %d are allowed" % (number, size, jsonl.LINE_BYTES)
        raise SchemaError(told, "shorten it in the file")


def _must(path: str, what: str) -> SchemaError:
    return SchemaError("%s must be %s" % (path, what), "export the chat again")


# -- Markdown ---------------------------------------------------------------------------------------------------------

_WHO = {"user": "You", "assistant": "Oasis", "system": "System message", "tool": "Results"}
# Results of tools are for looking up; whole logs would bury the conversation.
_RESULT_CHARS = 2000


def markdown(title: str, ordered: "list[Message]") -> str:
    """Return the messages of a thread as one Markdown text."""
    parts = ["# " + _line(title or "Chat")]
    for message in ordered:
        words = [word for word in [_block(block) for block in blocks(message)] if word]
        if message.get("error"):
            words.append("*The turn ended: %s*" % _line(message["error"].get("message", "")))
        if words:
            who = _WHO[message["role"]]
            if message["role"] == "assistant" and message.get("model"):
                who += " (%s)" % _line(message["model"])
            parts.append("## %s · %s" % (who, when.shown(scru128_ms(message["id"]) // 1000)))
            parts += words
    return "\n\n".join(parts) + "\n"


def _block(block: "Block") -> str:
    kind = block["type"]
    if kind == "text":
        return str(block["text"]).strip("\n")
    if kind == "tool_use":
        return "Tool `%s`:\n\n%s" % (_line(block["name"]), _fenced(jsonl.dumps(block["input"]), "json"))
    if kind == "tool_result":
        text = "\n".join([str(item.get("text", "")) for item in block["content"]])
        if len(text) > _RESULT_CHARS:
            text = text[:_RESULT_CHARS] + "\n(%d more characters)" % (len(text) - _RESULT_CHARS)
        what = "Error" if block.get("is_error") else "Result"
        return "%s of `%s`:\n\n%s" % (what, _line(block["name"]), _fenced(text))
    if kind in ("document", "image"):
        return "*%s: %s*" % (kind, _line(block.get("name", block.get("media_type", ""))))
    return ""  # thinking, and what a service made for itself


def _fenced(text: str, language: str = "") -> str:
    """Return a text between fences longer than any in it."""
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    return "%s%s\n%s\n%s" % (fence, language, text, fence)


def _line(text: object) -> str:
    return " ".join(str(text).split())
