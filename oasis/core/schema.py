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
    from oasis.core.shapes import Block, ChatRecord, Entry, Json, Marker, Message, Options, Response, TypeIs, Usage

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
# Block type -> (fields that must be there, their type).
_BLOCKS: "dict[str, tuple[tuple[str, type], ...]]" = {
    "text": (("text", str),),
    "thinking": (("text", str),),
    "tool_use": (("id", str), ("name", str), ("input", dict)),
    "tool_result": (("tool_use_id", str), ("name", str), ("content", list)),
    "document": (("media_type", str), ("sha256", str)),
    "image": (("media_type", str), ("sha256", str)),
    "server_tool_use": (),
    "web_search_tool_result": (),
}
# Block types that mean something to the service alone that made them.
OPAQUE = ("server_tool_use", "web_search_tool_result")
# What a tool may give back.
_IN_RESULTS = ("text", "image", "document")
_LONG = ("text", "invalid", "user_only")

_A_ROLE = "one of " + ", ".join(ROLES)
_A_REASON = "one of " + ", ".join(STOP_REASONS)
_A_BLOCK = "one of " + ", ".join(sorted(_BLOCKS))
_A_RESULT = "one of " + ", ".join(_IN_RESULTS)


# The checks return the value that they were given, as what it was checked to be.


def check_line(value: object, path: str = "line") -> "Entry":
    """Raise SchemaError, naming the path, unless `value` may stand in a chat file."""
    if isinstance(value, dict) and "role" in value:
        return check_message(value, path)
    return check_record(value, path)


def is_message(line: "Entry | Marker") -> "TypeIs[Message]":
    """Return whether a line of a chat is a message, and no record or marker."""
    return "role" in line


def check_message(message: object, path: str = "message") -> "Message":
    """Raise SchemaError, naming the path, unless `message` is a message of the schema."""
    # Every line of a chat comes through here: paths are put together only for what is wrong.
    if not isinstance(message, dict):
        raise _must(path, "an object")
    if not is_scru128(message.get("id")):
        raise _must(path + ".id", "a SCRU128 id")
    if message.get("role") not in ROLES:
        raise _must(path + ".role", _A_ROLE)
    content = message.get("content")
    if isinstance(content, list):
        _check_blocks(content, path + ".content")
    elif not isinstance(content, str):
        raise _must(path + ".content", "a text or a list of blocks")
    elif len(content) > TEXT_CHARS:
        raise _more(TEXT_CHARS, path + ".content", "characters")
    if "continues" in message:
        _check_ids(message["continues"], path + ".continues")
    _check_answer(message, path)
    if "head" in message and bookmark_fault(message["head"]):
        raise _must(path + ".head", "the name of a bookmark")
    if "options" in message:
        check_options(message["options"], path + ".options")
    if message.get("cache", True) is not True:
        raise _must(path + ".cache", "true or left out")
    if "taint" in message:
        _check_taint(message, path)
    return message  # type: ignore[return-value]  # this was the check


def _check_answer(message: "dict[str, object]", path: str) -> None:
    if "stop_reason" in message:
        _need(message["stop_reason"] in STOP_REASONS, path + ".stop_reason", _A_REASON)
    if "usage" in message:
        check_usage(message["usage"], path + ".usage")
    for name in ("provider", "model"):
        if name in message:
            _check_word(message[name], path + "." + name)
    if "error" in message:
        check_object(message["error"], path + ".error")


def check_block(block: object, path: str = "block") -> "Block":
    """Raise SchemaError, naming the path, unless `block` is a content block of the schema."""
    if not isinstance(block, dict):
        raise _must(path, "an object")
    kind = block.get("type")
    if not isinstance(kind, str) or kind not in _BLOCKS:
        raise _must(path + ".type", _A_BLOCK)
    for name, wanted in _BLOCKS[kind]:
        value = block.get(name)
        if not isinstance(value, wanted):
            raise _must(path + "." + name, _WORDS[wanted])
        if wanted is dict:
            check_object(value, path + "." + name)
        elif wanted is str and name not in _LONG:
            _check_word(value, path + "." + name)
    for name in _LONG:
        if not isinstance(block.get(name, ""), str):
            raise _must(path + "." + name, "a text")
        if len(block.get(name, "")) > TEXT_CHARS:
            raise _more(TEXT_CHARS, path + "." + name, "characters")
    if kind == "tool_result":
        if "is_error" in block:
            _need(isinstance(block["is_error"], bool), path + ".is_error", "true or false")
        for index, item in enumerate(_check_blocks(block["content"], path + ".content")):
            _need(item["type"] in _IN_RESULTS, "%s.content[%d].type" % (path, index), _A_RESULT)
    elif kind in ("document", "image"):
        # The hash becomes the name of a file.
        _need(is_sha256(block["sha256"]), path + ".sha256", "64 hex digits in lower case")
        if "name" in block:
            _check_word(block["name"], path + ".name")
        if "size_bytes" in block:
            _need(is_count(block["size_bytes"]), path + ".size_bytes", "a whole number")
    elif kind in OPAQUE:
        check_object(block, path)
    if "provider_metadata" in block:
        check_object(block["provider_metadata"], path + ".provider_metadata")
    _check_taint(block, path)
    return block  # type: ignore[return-value]  # this was the check


def _check_blocks(content: object, path: str) -> "list[Block]":
    if not isinstance(content, list):
        raise _must(path, "a list of blocks")
    _limit(len(content), BLOCKS, path, "blocks")
    for index, block in enumerate(content):
        check_block(block, "%s[%d]" % (path, index))
    return content


def check_record(record: object, path: str = "record") -> "ChatRecord":
    """Raise SchemaError, naming the path, unless `record` is a record about a chat."""
    if not isinstance(record, dict):
        raise _must(path, "an object")
    kind = record.get("type", "title")
    _need(isinstance(kind, str) and 0 < len(kind) <= WORD_CHARS, path + ".type", "a text")
    if "unix_s" in record:
        _need(is_count(record["unix_s"]), path + ".unix_s", "a whole number")
    if kind == "title":
        _need(isinstance(record.get("title"), str), path + ".title", "a text")
        _limit(len(record["title"]), TITLE_CHARS, path + ".title", "characters")
        _need(record.get("by", "owner") in TITLE_BY, path + ".by", "one of " + ", ".join(TITLE_BY))
    elif kind == "bookmark":
        _need(not bookmark_fault(record.get("name")), path + ".name", "the name of a bookmark")
        _need(record.get("target") == "" or is_scru128(record.get("target")), path + ".target", 'a SCRU128 id or ""')
    elif kind == "archived":
        _need(isinstance(record.get("archived"), bool), path + ".archived", "true or false")
    elif kind == "forgotten":
        _need(is_scru128(record.get("id")), path + ".id", "a SCRU128 id")
        _check_ids(record.get("continues", []), path + ".continues")
    _check_taint(record, path)
    return record  # type: ignore[return-value]  # this was the check


def check_options(given: object, path: str = "options") -> "Options":
    """Raise SchemaError, naming the path, unless `given` is an option delta."""
    options = check_object(given, path)
    if "provider_ptr" in options:
        _check_word(options["provider_ptr"], path + ".provider_ptr")
    if "servers" in options:
        _check_words(options["servers"], path + ".servers")
    if "search" in options:
        _need(isinstance(options["search"], bool), path + ".search", "true or false")
    if "tool_mode" in options:
        _need(options["tool_mode"] in TOOL_MODES, path + ".tool_mode", "one of " + ", ".join(TOOL_MODES))
    return options  # type: ignore[return-value]  # this was the check


def check_usage(given: object, path: str = "usage") -> "Usage":
    """Raise SchemaError, naming the path, unless `given` holds counts of tokens."""
    usage = check_object(given, path)
    for name in USAGE:
        if name in usage:
            _need(is_count(usage[name]), path + "." + name, "a whole number; what is not known is left out")
    return usage  # type: ignore[return-value]  # this was the check


def check_response(response: object, path: str = "response") -> "Response":
    """Raise SchemaError, naming the path, unless `response` is a normalized response of a service."""
    if not isinstance(response, dict):
        raise _must(path, "an object")
    _need(response.get("type") == "message", path + ".type", "message")
    _need(response.get("role") == "assistant", path + ".role", "assistant")
    for name in ("model", "content", "stop_reason", "usage"):
        _need(name in response, path + "." + name, "there")
    _check_blocks(response["content"], path + ".content")
    _check_answer(response, path)
    return response  # type: ignore[return-value]  # this was the check


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


def _check_ids(names: object, path: str) -> None:
    if not isinstance(names, list):
        raise _must(path, "a list of message ids")
    _limit(len(names), PARENTS, path, "entries")
    for index, name in enumerate(names):
        if not is_scru128(name):
            raise _must("%s[%d]" % (path, index), "a SCRU128 id")


def _check_taint(value: "dict[str, object]", path: str) -> None:
    # A label that cannot be read must not pass for none.
    if "taint" in value:
        _need(value["taint"] != [], path + ".taint", "a list of texts, not empty")
        _check_words(value["taint"], path + ".taint")


def _check_words(words: object, path: str) -> None:
    if not isinstance(words, list):
        raise _must(path, "a list of texts")
    _limit(len(words), PARENTS, path, "entries")
    for index, word in enumerate(words):
        _check_word(word, "%s[%d]" % (path, index))


def _check_word(word: object, path: str) -> None:
    if not isinstance(word, str):
        raise _must(path, "a text")
    _limit(len(word), WORD_CHARS, path, "characters")


def check_object(value: object, path: str) -> "dict[str, Json]":
    """Raise SchemaError, naming the path, unless `value` is an object that is neither too deep nor too large."""
    if not isinstance(value, dict):
        raise _must(path, "an object")
    _count(value, path, 0)
    return value


def _count(value: object, path: str, level: int) -> int:
    """Return how many entries a value has at all depths."""
    if not isinstance(value, (dict, list)):
        return 1
    _limit(level, VALUE_DEPTH, path, "levels")
    found = len(value)
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, (dict, list)):
            found += _count(item, path, level + 1)
        _limit(found, VALUE_ITEMS, path, "entries")
    return found


def is_count(value: object) -> bool:
    """Return whether `value` is a whole number that every reader gives back unchanged."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= COUNT_MAX


_WORDS: "dict[type, str]" = {str: "a text", dict: "an object", list: "a list"}


def _need(ok: bool, path: str, what: str) -> None:
    if not ok:
        raise _must(path, what)


def _limit(number: int, limit: int, path: str, what: str) -> None:
    if number > limit:
        raise _more(limit, path, what)


def _must(path: str, what: str) -> SchemaError:
    return SchemaError("%s must be %s" % (path, what))


def _more(limit: int, path: str, what: str) -> SchemaError:
    return SchemaError("%s has more than %d %s" % (path, limit, what))


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
