"""Whole chats as one JSON document, out and in again: every message, branch, bookmark and attachment.

    {"format": "oasis.chat", "version": 1, "id", "title", "messages": [...], "records"?: [...],
     "blobs"?: {sha256: base64}}

What comes in may have been written by anybody: it is checked like a stored line, and its words are marked as those of
an import. Upstream's chat files come in by the same door. Imports under MicroPython; touches no file.
"""

from oasis.core import jsonl, schema, upstream
from oasis.core.thread import IMPORTED
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.core.shapes import Callable, Json, Message, NewId

    Document = Json

FORMAT = "oasis.chat"
VERSION = 1
# A chat with its attachments: what a small router can hold in memory for a moment.
FILE_BYTES = upstream.FILE_BYTES


def document(name: str, title: str, messages: "list[Message]", records: "list[Json]", blobs: "Json") -> "Document":
    """Return a chat as a document; `messages` parents first, `blobs` maps sha256 to base64 text."""
    found: Document = {"format": FORMAT, "version": VERSION, "id": name, "title": title, "messages": messages}
    if records:
        found["records"] = records
    if blobs:
        found["blobs"] = blobs
    return found


def read(data: bytes, new_id: "NewId", is_taken: "Callable[[str], bool]") -> "Document":
    """Return {"title", "messages", "records", "blobs", "reports"} of a chat file, ready to be stored.

    `is_taken(id)` tells whether a message of that id is stored already: then every message gets a new one.
    Raises: SchemaError naming the path; nothing of a chat that cannot be stored whole is returned.
    """
    value = jsonl.loads(data, FILE_BYTES)
    if isinstance(value, dict) and value.get("format") == FORMAT:
        found = _read_ours(value, new_id, is_taken)
    else:
        found = _read_upstream(data, new_id)
    if not found["messages"]:
        raise SchemaError("the file holds no message", "export the chat again")
    for message in found["messages"]:
        message["taint"] = [IMPORTED] + [label for label in message.get("taint", []) if label != IMPORTED]
        _check_size(message)
    return found


def _read_upstream(data: bytes, new_id: "NewId") -> "Document":
    plain, reports = upstream.read(data)
    messages: list[Message] = []
    for item in plain:
        message: Message = {"id": new_id()}
        message.update(item)
        if messages:
            message["continues"] = [messages[-1]["id"]]
        messages.append(message)
    return {"title": "", "messages": messages, "records": [], "blobs": {}, "reports": reports}


def _read_ours(value: "Json", new_id: "NewId", is_taken: "Callable[[str], bool]") -> "Document":
    if value.get("version") != VERSION:
        raise SchemaError("version is %r" % value.get("version"), "this program reads version %d" % VERSION)
    messages, records, blobs = value.get("messages"), value.get("records", []), value.get("blobs", {})
    _need(isinstance(messages, list), "messages", "a list")
    _need(isinstance(records, list), "records", "a list")
    _need(isinstance(blobs, dict), "blobs", "an object")
    _need(all([isinstance(blobs[key], str) for key in blobs]), "blobs", "an object of base64 texts")
    title = value.get("title", "")
    _need(isinstance(title, str), "title", "a text")
    seen: set[str] = set()
    for number, message in enumerate(messages):
        schema.check_message(message, "messages[%d]" % number)
        _need(message["id"] not in seen, "messages[%d].id" % number, "an id of its own")
        seen.add(message["id"])
    for number, record in enumerate(records):
        schema.check_record(record, "records[%d]" % number)
    if any([is_taken(name) for name in seen]):
        _rename(messages, records, dict([(message["id"], new_id()) for message in messages]))
    return {"title": title, "messages": messages, "records": records, "blobs": blobs, "reports": []}


def _rename(messages: "list[Message]", records: "list[Json]", names: "dict[str, str]") -> None:
    """Give every message its new id, wherever it is named; parents in other chats keep theirs."""
    for message in messages:
        message["id"] = names[message["id"]]
        if "continues" in message:
            message["continues"] = [names.get(parent, parent) for parent in message["continues"]]
    for record in records:
        for key in ("target", "id"):
            if record.get(key) in names:
                record[key] = names[record[key]]


def _check_size(message: "Message") -> None:
    size = len(jsonl.line(message))
    if size > jsonl.LINE_BYTES:
        raise SchemaError(
            "message %s has %d bytes; %d are allowed" % (message["id"], size, jsonl.LINE_BYTES),
            "shorten it in the file",
        )


def _need(ok: bool, path: str, what: str) -> None:
    if not ok:
        raise SchemaError("%s must be %s" % (path, what), "export the chat again")
