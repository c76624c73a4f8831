"""One line of a chat file: read strictly or leniently, and what stands for a message that was forgotten.

Writing is strict (schema.py), reading is not: newer programs and other hands write fields, blocks and forms that this
program does not know, and a message that is skipped takes the context of everything below it along. What cannot be read
keeps its place, with the value as it was under "unread", and is reported; only a value without an id is refused.
Knows nothing of files; imports under MicroPython.
"""

from oasis.core import clean, jsonl, schema
from oasis.core.ids import is_scru128, looks_like_id
from oasis.core.schema import blocks, is_message
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.core.shapes import Block, ChatRecord, Entry, Handle, Json, Message

FORGOTTEN = "[forgotten]"
# What some editors put before the first line of a file.
_BOM = b"\xef\xbb\xbf"


def is_other(raw: "bytes | None", names: "set[str]") -> bool:
    """Return whether a line is seen to be a message of another id, without parsing it: ours all begin with theirs."""
    if raw is None or raw[:7] != b'{"id":"' or raw[32:34] != b'",':
        return False
    try:
        return str(raw[7:32], "ascii").lower() not in names
    except ValueError:
        return False


def line(at: int, raw: "bytes | None", reports: "list[str]") -> "Entry | None":
    """Return the message or record of a line; None for what cannot be read, which is reported, also in part."""
    fault = ""
    repairs: list[str] = []
    try:
        if raw is None:
            raise SchemaError("it has more than %d bytes" % jsonl.LINE_BYTES)
        if not at and raw[:3] == _BOM:
            raw = raw[3:]
            repairs.append("the file begins with a byte order mark; it is passed over")
        found = jsonl.loads(raw)
        # Half a surrogate pair stands in a JSON text as an escape alone.
        whole = jsonl.mended(found) if b"\\ud" in raw or b"\\uD" in raw else found
        if whole is not found:
            repairs.append("the line at byte %d: half a character cannot be read; U+FFFD stands for it" % at)
        reports += repairs
        try:
            return schema.check_line(whole)
        except SchemaError as error:
            fault = error.message
        repairs = []
        if not isinstance(whole, dict):
            raise SchemaError("line must be an object")
        made = lenient_message(whole, repairs) if "role" in whole else lenient_record(whole, repairs)
    except SchemaError as error:
        reports.append("the line at byte %d was skipped: %s" % (at, fault or error.message))
        return None
    if repairs:
        name = made.get("id") or whole.get("type", "title")
        reports.append("the line at byte %d: %s was read in part: %s" % (at, name, ", ".join(repairs[:8])))
    return made


def end(handle: "Handle") -> "tuple[int, int]":
    """Return where the lines of a chat file end, and the bytes of a torn one behind them.

    A message or record without its line end is whole, an editor may have saved it so; it ends where that will stand.
    """
    size, rest = jsonl.whole_bytes(handle)
    if 0 < rest <= jsonl.LINE_BYTES:
        handle.seek(size)
        if line(size, handle.read(rest), []) is not None:
            return size + rest + 1, 0
    return size, rest


def message(at: int, raw: "bytes | None", reports: "list[str]") -> "Message | None":
    """Return the message of a line; None for a record, and for what cannot be read, which is reported."""
    found = line(at, raw, reports)
    return found if found is not None and is_message(found) else None


def forgotten(message: "Message") -> bytes:
    """Return the lines that stand for a message that was forgotten: a message without words, and the record of it."""
    kept = message.copy()
    kept.pop("error", None)
    kept.pop("taint", None)
    kept.pop("usage", None)
    content: list[Block] = []
    for block in blocks(message):
        if block["type"] == "tool_use":
            content.append({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}})
        elif block["type"] == "tool_result":
            empty: Block = {"type": "tool_result", "tool_use_id": block["tool_use_id"], "name": block["name"]}
            empty["content"] = [{"type": "text", "text": FORGOTTEN}]
            content.append(empty)
    kept["content"] = content or FORGOTTEN
    record = jsonl.line({"type": "forgotten", "id": message["id"]})
    try:
        return jsonl.line(kept) + record
    except SchemaError:
        # Half a surrogate pair, which others write and we do not: only its place in the tree stays.
        place: Message = {"id": message["id"], "role": message["role"], "content": FORGOTTEN}
        place["continues"] = message.get("continues", [])
        return jsonl.line(place) + record


# -- what the schema refuses ------------------------------------------------------------------------------------------

# The taint of words whose writer or label cannot be read: it must not pass for the owner's.
UNREADABLE = "a part that cannot be read"
# What is quoted of a strange name.
_QUOTED_CHARS = 40
_UNREAD = "[a part of a message that this program cannot read: %s]"


def lenient_message(value: "dict[str, Json]", found: "list[str]", path: str = "") -> "Message":
    """Return a message as the schema wants it; what had to be changed for that is named in `found`, by its path.

    Raises: SchemaError for what has no id.
    """
    made = dict(value)
    name = value.get("id")
    if not isinstance(name, str) or not _is_id(name):
        raise SchemaError("message.id must be a SCRU128 id")
    made["id"] = name.lower()
    role = value.get("role")
    if role not in schema.ROLES:
        found.append(path + "role")
        made["role"] = "user"
        made["foreign_role"] = clean.name(role, _QUOTED_CHARS) or "unknown"
        _distrust(made)
    content = value.get("content")
    if isinstance(content, list) and len(content) <= schema.BLOCKS:
        made["content"] = [_block(item, made, found, "%scontent[%d]" % (path, at)) for at, item in enumerate(content)]
    elif content is None:
        made["content"] = ""
    elif not isinstance(content, str) or len(content) > schema.TEXT_CHARS:
        found.append(path + "content")
        _distrust(made)
        made["content"] = [_unread(content, "its content")]
    if "continues" in value:
        made["continues"] = _ids(value["continues"], found, path + "continues")
    _taint(made, found, path)
    for name in schema.OPTIONAL:
        if name in made and schema.OPTIONAL[name](made[name]):
            _mend(made, name, found, path)
    return schema.check_message(made)


def _mend(made: "dict[str, Json]", name: str, found: "list[str]", path: str) -> None:
    """Drop an optional field that cannot be read; of an object what can be read stays, entry by entry."""
    value = made.pop(name)
    if name == "cache" or (name == "head" and not value) or (name in _OBJECTS and value is None):
        return  # it means the same as none
    found.append(path + name)
    if name == "stop_reason":
        made[name] = "other"
    elif name in _OBJECTS and isinstance(value, dict):
        fault = schema.OPTIONAL[name]
        kept = dict([(key, value[key]) for key in value if not fault({key: value[key]})])
        if kept and not fault(kept):
            made[name] = kept


_OBJECTS = ("usage", "error", "options")


def _is_id(given: "Json") -> bool:
    return isinstance(given, str) and looks_like_id(given) and is_scru128(given.lower())


def _block(value: "Json", made: "dict[str, Json]", found: "list[str]", path: str) -> "Json":
    """Return a block as the schema wants it."""
    if not schema.block_fault(value):
        return value
    if isinstance(value, dict):
        block = dict(value)
        items = block.get("content")
        if block.get("type") == "tool_result" and isinstance(items, list):
            block["content"] = [
                _block(item, made, found, "%s.content[%d]" % (path, at)) for at, item in enumerate(items)
            ]
        _taint(block, found, path + ".")
        if "provider_metadata" in block and not isinstance(block["provider_metadata"], dict):
            found.append(path + ".provider_metadata")
            block.pop("provider_metadata")
        if not schema.block_fault(block):
            return block
    found.append(path)
    _distrust(made)
    kind = clean.name(value.get("type"), _QUOTED_CHARS) if isinstance(value, dict) else ""
    return _unread(value, kind or "a part without a type")


def _unread(value: "Json", what: str) -> "Json":
    """Return a text that stands where something cannot be read, with the value itself, which no model gets."""
    block: dict[str, Json] = {"type": "text", "text": _UNREAD % what, "taint": [UNREADABLE]}
    if not schema.object_fault({"unread": value}):
        try:
            jsonl.check(value)
            block["unread"] = value
        except SchemaError:
            pass
    return block


def _ids(given: "Json", found: "list[str]", path: str) -> "list[Json]":
    if given is None:
        return []
    names = [given] if isinstance(given, str) else given
    kept: list[Json] = []
    for name in names if isinstance(names, list) else ():
        if isinstance(name, str) and _is_id(name):
            kept.append(name.lower())
    if not isinstance(names, list) or len(kept) < len(names) or len(kept) > schema.PARENTS:
        found.append(path)
    return kept[: schema.PARENTS]


def _taint(made: "dict[str, Json]", found: "list[str]", path: str) -> None:
    """Keep the labels that can be read; one that cannot be read must not pass for none."""
    if "taint" not in made:
        return
    given = made["taint"]
    words = given if isinstance(given, list) else []
    labels: list[Json] = [word for word in words if isinstance(word, str) and len(word) <= schema.WORD_CHARS]
    labels = labels[: schema.PARENTS - 1]
    if not labels or len(labels) < len(words):
        found.append(path + "taint")
        labels.append(UNREADABLE)
    made["taint"] = labels


def _distrust(made: "dict[str, Json]") -> None:
    given = made.get("taint")
    labels = list(given) if isinstance(given, list) else []
    if UNREADABLE not in labels:
        labels.append(UNREADABLE)
    made["taint"] = labels


def lenient_record(value: "Json", found: "list[str]") -> "ChatRecord":
    """Return a record as the schema wants it; what had to be changed for that is named in `found`.

    Raises: SchemaError for one that does not say what it is about.
    """
    if not isinstance(value, dict):
        raise SchemaError("record must be an object")
    made = dict(value)
    for key in ("target", "id"):
        name = made.get(key)
        if isinstance(name, str):
            made[key] = name.lower()
    if "continues" in made:
        made["continues"] = _ids(made["continues"], found, "continues")
    _taint(made, found, "")
    if made.get("type", "title") == "title":
        title = made.get("title")
        if isinstance(title, str) and len(title) > schema.TITLE_CHARS:
            found.append("title")
            made["title"] = title[: schema.TITLE_CHARS]
        if made.get("by", "owner") not in schema.TITLE_BY:
            found.append("by")
            made.pop("by")
    if not schema.is_count(made.get("unix_s", 0)):
        found.append("unix_s")
        made.pop("unix_s")
    return schema.check_record(made)
