"""The unified chat schema: what a message and its blocks look like, checked in one place.

Message: {"id", "role", "content"} and, when they apply, "continues", "head", "options", "provider", "model",
"stop_reason", "usage", "taint", and "error" (OasisError.as_dict()) where a turn ended with one. `content` is a text, or
a list of blocks:

    {"type": "text", "text"}
    {"type": "tool_use", "id", "name", "input": {}, "invalid"?: the arguments as written, which were no JSON object}
    {"type": "tool_result", "tool_use_id", "name", "content": [text blocks], "is_error"?: true,
     "taint"?: [what]}
    {"type": "thinking", "text", "provider_metadata"?: {}}
    {"type": "document" | "image", "media_type", "sha256", "name"?}

`taint` names whose words are in a block, where they are not the owner's, Oasis's or a model's: "device names". A
message that was written with tainted blocks in sight has it, too: it may repeat them.

A line of a chat file without "role" is a record about the chat: {"type": "title", "title"}.
Knows nothing of files or providers; imports under MicroPython.
"""

from oasis.core.ids import is_scru128
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.core.shapes import Block, Json, Message

ROLES = ("system", "user", "assistant", "tool")
STOP_REASONS = (
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "refusal",
    "pause",
    "error",
    "other",
)

# Block type -> (fields that must be there, their type). Unknown fields are kept: newer programs may write them.
_BLOCKS: "dict[Json, tuple[tuple[str, type], ...]]" = {
    "text": (("text", str),),
    "thinking": (("text", str),),
    "tool_use": (("id", str), ("name", str), ("input", dict)),
    "tool_result": (("tool_use_id", str), ("name", str), ("content", list)),
    "document": (("media_type", str), ("sha256", str)),
    "image": (("media_type", str), ("sha256", str)),
}


def check_message(message: "Json", path: str = "message") -> None:
    """Raise SchemaError, naming the path, unless `message` is a message of the schema."""
    _need(isinstance(message, dict), path, "an object")
    _need(is_scru128(message.get("id")), path + ".id", "a SCRU128 id")
    _need(message.get("role") in ROLES, path + ".role", "one of " + ", ".join(ROLES))
    content = message.get("content")
    if isinstance(content, list):
        for index, block in enumerate(content):
            check_block(block, "%s.content[%d]" % (path, index))
    else:
        _need(isinstance(content, str), path + ".content", "a text or a list of blocks")
    parents = message.get("continues", [])
    _need(isinstance(parents, list), path + ".continues", "a list of message ids")
    for index, parent in enumerate(parents):
        _need(is_scru128(parent), "%s.continues[%d]" % (path, index), "a SCRU128 id")
    if "stop_reason" in message:
        _need(message["stop_reason"] in STOP_REASONS, path + ".stop_reason", "one of " + ", ".join(STOP_REASONS))
    for name in ("options", "usage"):
        _need(isinstance(message.get(name, {}), dict), path + "." + name, "an object")
    _check_taint(message, path)


def check_block(block: "Json", path: str = "block") -> None:
    """Raise SchemaError, naming the path, unless `block` is a content block of the schema."""
    _need(isinstance(block, dict), path, "an object")
    kind = block.get("type")
    _need(isinstance(kind, str) and kind in _BLOCKS, path + ".type", "one of " + ", ".join(sorted(_BLOCKS)))
    for name, wanted in _BLOCKS[kind]:
        _need(isinstance(block.get(name), wanted), path + "." + name, _WORDS[wanted])
    if kind == "tool_result":
        for index, item in enumerate(block["content"]):
            check_block(item, "%s.content[%d]" % (path, index))
        _check_taint(block, path)


def _check_taint(value: "Json", path: str) -> None:
    # A label that cannot be read must not pass for none.
    labels = value.get("taint", ["none"])
    is_list = isinstance(labels, list) and len(labels) > 0
    _need(is_list and all([isinstance(item, str) for item in labels]), path + ".taint", "a list of texts, not empty")


_WORDS: "dict[type, str]" = {str: "a text", dict: "an object", list: "a list"}


def _need(ok: bool, path: str, what: str) -> None:
    if not ok:
        raise SchemaError("%s must be %s" % (path, what))


def blocks(message: "Message") -> "list[Block]":
    """Return the content of a message as a list of blocks, whatever its stored form."""
    content = message["content"]
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    found: list[Block] = content
    return found


def text_of(message: "Message") -> str:
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
    """Return whose words are in a message beside the owner's, Oasis's and a model's; [] for nobody's."""
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
