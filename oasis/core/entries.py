"""One line of a chat file: whose message it is, what of it cannot be read, and what stands for a forgotten one.

Knows nothing of files; imports under MicroPython.
"""

from oasis.core import jsonl, lenient, lines
from oasis.core.schema import blocks, check_line
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.core.shapes import Handle, Json, Message

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


def line(at: int, raw: "bytes | None", reports: "list[str]") -> "Json":
    """Return the message or record of a line; None for what cannot be read, which is reported, also in part."""
    found: Json = None
    try:
        if raw is None:
            raise SchemaError("it has more than %d bytes" % jsonl.LINE_BYTES)
        found = _parsed(at, raw, reports)
        check_line(found)
        return found
    except SchemaError as error:
        return _leniently(at, found, error, reports)


def _parsed(at: int, raw: bytes, reports: "list[str]") -> "Json":
    """Return the value of a line, without what other programs leave in one; that is told."""
    told: list[str] = []
    if not at and raw[:3] == _BOM:
        raw = raw[3:]
        told.append("the file begins with a byte order mark; it is passed over")
    found = jsonl.loads(raw)
    whole = jsonl.mended(found) if jsonl.has_halves(raw) else found
    if whole is not found:
        told.append("the line at byte %d: half a character cannot be read; U+FFFD stands for it" % at)
    reports += told
    return whole


def end(handle: "Handle") -> "tuple[int, int]":
    """Return where the lines of a chat file end, and the bytes of a torn one behind them.

    A message or record without its line end is whole, an editor may have saved it so; it ends where that will stand.
    """
    size, rest = lines.whole_bytes(handle)
    if 0 < rest <= jsonl.LINE_BYTES:
        handle.seek(size)
        if line(size, handle.read(rest), []) is not None:
            return size + rest + 1, 0
    return size, rest


def _leniently(at: int, found: "Json", error: SchemaError, reports: "list[str]") -> "Json":
    told: list[str] = []
    try:
        if found is not None:
            made = lenient.line(found, told)
            reports += ["the line at byte %d: %s" % (at, text) for text in told]
            return made
    except SchemaError:
        pass
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
