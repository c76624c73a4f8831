"""The unified chat schema: what a message, its blocks and the records of a chat look like, checked in one place.

Message: {"id", "role", "content"} and, when they apply,
    "continues": [ids of the messages it follows]      "head": the bookmark it was written under
    "options": {what changes from here on}             "cache": true, never false
    "provider", "model", "stop_reason", "usage"        of an answer
    "taint": [whose words are in it]                   "error": OasisError.as_dict(), where a turn ended with one
`content` is a text, or a list of blocks:

    {"type": "text", "text"}
    {"type": "thinking", "text", "provider_metadata"?: {what the service wants back unchanged}}
    {"type": "tool_use", "id", "name", "input": {}, "invalid"?: the arguments as written, which were no JSON object}
    {"type": "tool_result", "tool_use_id", "name", "content": [text, image, document], "is_error"?: true,
     "user_only"?: words for the owner, never for a model}
    {"type": "document" | "image", "media_type", "sha256", "name"?, "size_bytes"?}
    {"type": "server_tool_use" | "web_search_tool_result", …}   a service's own, kept as they came

`taint` of a message or block names whose words are in it, where they are not the owner's, Oasis's or a model's: "device
names". A message that was written with tainted blocks in sight has it, too: it may repeat them.

Option delta: {"provider_ptr"?, "servers"?: [names], "search"?: bool, "tool_mode"?: auto, none or required, …}; false
and [] are values that switch off.
Usage: {"input_tokens": the whole prompt, cached included, "output_tokens": reasoning included, "reasoning_tokens"?,
"cache_creation_input_tokens"?, "cache_read_input_tokens"?}; what is not known is left out, never 0.
Response: {"type": "message", "role": "assistant", "model", "content": [blocks], "stop_reason", "usage"}.

A line of a chat file without "role" is a record about the chat:
    {"type": "title", "title", "by"?: "owner" | "model"}         also {"title"} alone, as first written
    {"type": "bookmark", "name", "target": id | ""}              "": the bookmark is removed
    {"type": "archived", "archived": bool, "unix_s"?}
    {"type": "forgotten", "id", "continues"?: [ids]}             the message stood here
Unknown fields and records of other types are kept: newer programs may write them. What else they write, and what other
hands do, is read leniently (chat_line.py); these checks are what may be written.
Knows nothing of files or providers; imports under MicroPython.
"""

from oasis.core import clean
from oasis.core.ids import is_scru128, looks_like_id
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.core.shapes import Block, Callable, ChatRecord, Entry, Marker, Message, Response, TypeIs

    Kind = Callable[[object], str]
    Fields = dict[str, Kind]

ROLES = ("system", "user", "assistant", "tool")
STOP_REASONS = ("end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "pause", "error", "other")
TOOL_MODES = ("auto", "none", "required")
USAGE = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "reasoning_tokens")
TITLE_BY = ("owner", "model")

# A line of the chat (jsonl.LINE_BYTES): more cannot be stored, and is refused before anybody walks through it.
TEXT_CHARS = 1024 * 1024
# Names, ids, models, media types. Some services pack a signature of several hundred characters into the id of a call.
WORD_CHARS = 1024
# The longest answer (256 KiB) of a model that repeats itself holds some 5,000 calls, and each needs its result.
BLOCKS = 8 * 1024
# Branches that join in one message, and the documents attached to it.
PARENTS = 64
# A value inside a block stands 3 levels below the line, and up to 6 below a request: both stay under jsonl.DEPTH.
VALUE_DEPTH = 32
# Entries of all lists and objects of one such value; the arguments of a tool and a service's metadata have dozens.
VALUE_ITEMS = 16 * 1024
# What a list on a phone shows of a name.
BOOKMARK_CHARS = 64
TITLE_CHARS = 1024
# The largest whole number that every JSON reader, JavaScript's too, gives back unchanged.
COUNT_MAX = (1 << 53) - 1

_HEX = "0123456789abcdef"


def is_message(line: "Entry | Marker") -> "TypeIs[Message]":
    """Return whether a line of a chat is a message, and no record or marker."""
    return "role" in line


def bookmark_fault(name: object) -> str:
    """Return why `name` cannot be the name of a bookmark, "" when it can."""
    if not isinstance(name, str) or not name:
        return "it is empty"
    if len(name) > BOOKMARK_CHARS:
        return "it has more than %d characters" % BOOKMARK_CHARS
    if looks_like_id(name):
        return "25 letters and digits are the id of a message"
    if name != clean.name(name, BOOKMARK_CHARS):
        return "it has characters that nobody sees"
    return ""


def is_sha256(value: object) -> bool:
    """Return whether `value` is a SHA-256 as written here: 64 hex digits in lower case."""
    return isinstance(value, str) and len(value) == 64 and not value.strip(_HEX)


def is_count(value: object) -> bool:
    """Return whether `value` is a whole number that every reader gives back unchanged."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= COUNT_MAX


# What a value may be. A kind is a function that returns what is wrong, behind the path: " must be a text"; "" for none.


def _must(test: "Callable[[object], bool]", what: str) -> "Kind":
    return lambda value: "" if test(value) else " must be " + what


def _one_of(words: "tuple[str, ...]") -> "Kind":
    return _must(lambda value: value in words, "one of " + ", ".join(words))


def _chars(limit: int) -> "Kind":
    more = " has more than %d characters" % limit
    return lambda value: " must be a text" if not isinstance(value, str) else "" if len(value) <= limit else more


def _list(item: "Kind", limit: int, entries: str, what: str, least: int = 0) -> "Kind":
    def fault(value: object) -> str:
        if not isinstance(value, list) or len(value) < least:
            return " must be " + what
        if len(value) > limit:
            return " has more than %d %s" % (limit, entries)
        for index, one in enumerate(value):
            wrong = item(one)
            if wrong:
                return "[%d]%s" % (index, wrong)
        return ""

    return fault


def _object(fields: "Fields") -> "Kind":
    """An object that is neither too deep nor too large, and what is known of its fields."""

    def fault(value: object) -> str:
        if not isinstance(value, dict):
            return " must be an object"
        return _size_fault(value) or _fields_fault(value, {}, fields)

    return fault


def _fields_fault(value: "dict[str, object]", needed: "Fields", optional: "Fields") -> str:
    # Every line of a chat comes through here: paths are put together only for what is wrong.
    for name in needed:
        wrong = needed[name](value.get(name))
        if wrong:
            return "." + name + wrong
    for name in value:
        wrong = optional[name](value[name]) if name in optional else ""
        if wrong:
            return "." + name + wrong
    return ""


def _size_fault(value: "dict[str, object]") -> str:
    """Return whether a value is too deep, or has too many entries at all depths together."""
    found = 0
    waiting: list[object] = [value]
    for _ in range(VALUE_DEPTH + 1):
        inner: list[object] = []
        for one in waiting:
            items = list(one.values() if isinstance(one, dict) else one)  # type: ignore[call-overload]  # a list
            found += len(items)
            if found > VALUE_ITEMS:
                return " has more than %d entries" % VALUE_ITEMS
            inner += [item for item in items if isinstance(item, (dict, list))]
        waiting = inner
        if not waiting:
            return ""
    return " has more than %d levels" % VALUE_DEPTH


def block_fault(value: object, among: "tuple[str, ...]" = ()) -> str:
    """Return what is wrong with a content block, which may be of some types alone."""
    if not isinstance(value, dict):
        return " must be an object"
    name = value.get("type")
    if not isinstance(name, str) or name not in (among or _BLOCKS):
        return ".type must be one of " + ", ".join(among or sorted(_BLOCKS))
    wrong = _fields_fault(value, _BLOCKS[name][0], _BLOCKS[name][1]) or _fields_fault(value, {}, _OF_ANY_BLOCK)
    return wrong or (_size_fault(value) if name in OPAQUE else "")


# Block types that mean something to the service alone that made them.
OPAQUE = ("server_tool_use", "web_search_tool_result")
# What a tool may give back.
_IN_RESULTS = ("text", "image", "document")

object_fault = _object({})
_ID, _BOOKMARK = (
    _must(is_scru128, "a SCRU128 id"),
    _must(lambda value: not bookmark_fault(value), "the name of a bookmark"),
)
_FLAG, _COUNT = _must(lambda value: isinstance(value, bool), "true or false"), _must(is_count, "a whole number")
_SHA256 = _must(is_sha256, "64 hex digits in lower case")
_WORD, _TEXT = _chars(WORD_CHARS), _chars(TEXT_CHARS)
_IDS = _list(_ID, PARENTS, "entries", "a list of message ids")
# A label that cannot be read must not pass for none.
_LABELS = _list(_WORD, PARENTS, "entries", "a list of texts, not empty", 1)
_LISTED = _list(block_fault, BLOCKS, "blocks", "a text or a list of blocks")
_RESULTS = _list(lambda value: block_fault(value, _IN_RESULTS), BLOCKS, "blocks", "a list of blocks of a result")
_TOKENS = _must(is_count, "a whole number; what is not known is left out")
_USAGE = _object(dict([(name, _TOKENS) for name in USAGE]))
_MESSAGE: "Fields" = {
    "id": _ID, "role": _one_of(ROLES),
    "content": lambda value: (_TEXT if isinstance(value, str) else _LISTED)(value),
}  # fmt: skip
# The fields that a message may have.
OPTIONAL: "Fields" = {
    "continues": _IDS, "taint": _LABELS, "head": _BOOKMARK,
    "cache": _must(lambda value: value is True, "true or left out"), "stop_reason": _one_of(STOP_REASONS),
    "provider": _WORD, "model": _WORD, "usage": _USAGE, "error": object_fault,
    "options": _object({
        "provider_ptr": _WORD, "servers": _list(_WORD, PARENTS, "entries", "a list of texts"), "search": _FLAG,
        "tool_mode": _one_of(TOOL_MODES),
    }),
}  # fmt: skip
# What a service's answer is in every vendor's form (thread.response).
_RESPONSE: "Fields" = {
    "type": _one_of(("message",)), "role": _one_of(("assistant",)), "model": _WORD, "usage": _USAGE,
    "content": _list(block_fault, BLOCKS, "blocks", "a list of blocks"), "stop_reason": _one_of(STOP_REASONS),
}  # fmt: skip
# Type of a block, or of a record -> the fields that must be there, and those that may. The hash names a file.
_FILE: "tuple[Fields, Fields]" = ({"media_type": _WORD, "sha256": _SHA256}, {"name": _WORD, "size_bytes": _COUNT})
_BLOCKS: "dict[str, tuple[Fields, Fields]]" = {
    "text": ({"text": _TEXT}, {}),
    "thinking": ({"text": _TEXT}, {}),
    "tool_use": ({"id": _WORD, "name": _WORD, "input": object_fault}, {}),
    "tool_result": ({"tool_use_id": _WORD, "name": _WORD, "content": _RESULTS}, {"is_error": _FLAG}),
    "document": _FILE,
    "image": _FILE,
    "server_tool_use": ({}, {}),
    "web_search_tool_result": ({}, {}),
}
_OF_ANY_BLOCK: "Fields" = {
    "text": _TEXT, "invalid": _TEXT, "user_only": _TEXT, "provider_metadata": object_fault, "taint": _LABELS,
}  # fmt: skip
_TARGET = _must(lambda value: value == "" or is_scru128(value), 'a SCRU128 id or ""')
_RECORDS: "dict[str, tuple[Fields, Fields]]" = {
    "title": ({"title": _chars(TITLE_CHARS)}, {"by": _one_of(TITLE_BY)}),
    "bookmark": ({"name": _BOOKMARK, "target": _TARGET}, {}),
    "archived": ({"archived": _FLAG}, {}),
    "forgotten": ({"id": _ID}, {"continues": _IDS}),
}
_OF_ANY_RECORD: "Fields" = {"unix_s": _COUNT, "taint": _LABELS}


# The checks return the value that they were given, as what it was checked to be.


def check_message(message: object, path: str = "message") -> "Message":
    """Raise SchemaError, naming the path, unless `message` is a message of the schema."""
    wrong = _fields_fault(message, _MESSAGE, OPTIONAL) if isinstance(message, dict) else " must be an object"
    return _checked(message, path, wrong)  # type: ignore[return-value]  # this was the check


def check_record(record: object, path: str = "record") -> "ChatRecord":
    """Raise SchemaError, naming the path, unless `record` is a record about a chat."""
    wrong = " must be an object"
    if isinstance(record, dict):
        name = record.get("type", "title")
        is_name = isinstance(name, str) and 0 < len(name) <= WORD_CHARS
        needed, optional = _RECORDS.get(name, ({}, {})) if is_name else ({}, {})
        wrong = "" if is_name else ".type must be a text"
        wrong = wrong or _fields_fault(record, needed, optional) or _fields_fault(record, {}, _OF_ANY_RECORD)
    return _checked(record, path, wrong)  # type: ignore[return-value]  # this was the check


def check_line(value: object) -> "Entry":
    """Raise SchemaError, naming the path, unless `value` may stand in a chat file."""
    is_one = isinstance(value, dict) and "role" in value
    return check_message(value, "line") if is_one else check_record(value, "line")


def check_block(block: object, path: str = "block") -> "Block":
    """Raise SchemaError, naming the path, unless `block` is a content block of the schema."""
    return _checked(block, path, block_fault(block))  # type: ignore[return-value]  # this was the check


def check_response(given: object) -> "Response":
    """Raise SchemaError, naming the path, unless `given` is a normalized response of a service."""
    wrong = _fields_fault(given, _RESPONSE, {}) if isinstance(given, dict) else " must be an object"
    return _checked(given, "response", wrong)  # type: ignore[return-value]  # this was the check


def _checked(value: object, path: str, wrong: str) -> object:
    if wrong:
        raise SchemaError(path + wrong)
    return value


def blocks(message: "Message | Block") -> "list[Block]":
    """Return the content of a message as a list of blocks, whatever its stored form."""
    content = message["content"]
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content


def text_of(message: "Message | Block") -> str:
    """Return the text of a message: its text blocks joined by line ends."""
    return "\n".join([block["text"] for block in blocks(message) if block["type"] == "text"])


def tool_uses(message: "Message") -> "list[Block]":
    """Return the tool_use blocks of a message, in order."""
    return [block for block in blocks(message) if block["type"] == "tool_use"]


def compact(content: "list[Block]") -> "str | list[Block]":
    """Return the stored form of a list of blocks: one text block becomes a plain text."""
    if not content:
        return ""
    if len(content) == 1 and content[0]["type"] == "text" and len(content[0]) == 2:
        return str(content[0]["text"])
    return content


def taint_of(message: "Message") -> "list[str]":
    """Return whose words are in a message, apart from the owner's, Oasis's and a model's; [] for nobody's."""
    found = list(message.get("taint", []))
    for block in blocks(message):
        found += [label for label in block.get("taint", []) if label not in found]
    return found


def tool_result(call: "Block", text: str, is_error: bool = False, taint: "list[str] | None" = None) -> "Block":
    """Return the tool_result block that answers the tool_use block `call`."""
    block: Block = {
        "type": "tool_result",
        "tool_use_id": call["id"],
        "name": call["name"],
        "content": [{"type": "text", "text": text}],
    }
    if is_error:
        block["is_error"] = True
    if taint:
        block["taint"] = taint
    return block
