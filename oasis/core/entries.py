"""One line of a chat file: whose message it is, what cannot be read, and what stands for a forgotten one.

Knows nothing of files; imports under MicroPython.
"""

from oasis.core import jsonl
from oasis.core.schema import blocks, check_line
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.core.shapes import Json, Message

FORGOTTEN = "[forgotten]"


def is_other(raw: "bytes | None", names: "set[str]") -> bool:
    """Return whether a line is seen to be a message of another id, without parsing it: ours all begin with theirs."""
    if raw is None or raw[:7] != b'{"id":"' or raw[32:34] != b'",':
        return False
    try:
        return str(raw[7:32], "ascii") not in names
    except ValueError:
        return False


def line(at: int, raw: "bytes | None", reports: "list[str]") -> "Json":
    """Return the message or record of a line; None for what cannot be read, which is reported."""
    try:
        if raw is None:
            raise SchemaError("it has more than %d bytes" % jsonl.LINE_BYTES)
        found = jsonl.loads(raw)
        check_line(found)
        return found
    except SchemaError as error:
        reports.append("the line at byte %d was skipped: %s" % (at, error.message))
    return None


def message(at: int, raw: "bytes | None", reports: "list[str]") -> "Message | None":
    """Return the message of a line; None for a record, and for what cannot be read, which is reported."""
    found = line(at, raw, reports)
    return found if found is not None and "role" in found else None


def forgotten(message: "Message") -> bytes:
    """Return the lines that stand for a message that was forgotten: a message without words, and the record of it."""
    kept: Message = {key: message[key] for key in message if key not in ("content", "error", "taint", "usage")}
    content = []
    for block in blocks(message):
        if block["type"] == "tool_use":
            content.append({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}})
        elif block["type"] == "tool_result":
            empty = {"type": "tool_result", "tool_use_id": block["tool_use_id"], "name": block["name"]}
            empty["content"] = [{"type": "text", "text": FORGOTTEN}]
            content.append(empty)
    kept["content"] = content or FORGOTTEN
    record = jsonl.line({"type": "forgotten", "id": message["id"]})
    try:
        return jsonl.line(kept) + record
    except SchemaError:
        # Half a surrogate pair, which others write and we do not: only its place in the tree stays.
        place = {"id": message["id"], "role": message["role"], "content": FORGOTTEN}
        place["continues"] = message.get("continues", [])
        return jsonl.line(place) + record
