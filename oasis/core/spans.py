"""Where the parts of a JSON text begin and end, found without making a value of any of them.

A file of others may hold a million values in a few megabytes, and each costs a hundred bytes once it is made. So a long
document is cut into its parts first, in blocks read from a handle, and each part is parsed by itself, under limits of
its own. What is between the parts is checked as far as it is needed to cut: whether a part is JSON, its parser tells.
Knows nothing of chats; imports under MicroPython.
"""

from oasis.core import jsonl
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.core.shapes import Handle, Iterator, Json

    Span = tuple[int, int]

BLOCK_BYTES = 64 * 1024
# No key of ours is longer; a longer one is one that nobody asks for.
KEY_BYTES = 256
# Attachments of one chat are the most that we look up by name.
MEMBERS = 4096

_QUOTE, _BACKSLASH, _COMMA, _COLON = 0x22, 0x5C, 0x2C, 0x3A
_BLANK = b" \t\r\n"
_CLOSES = {0x5B: 0x5D, 0x7B: 0x7D}


def text(handle: "Handle", span: "Span") -> bytes:
    """Return the bytes of a part, without the blanks around it."""
    handle.seek(span[0])
    pieces: list[bytes] = []
    size = span[1] - span[0]
    while size > 0:
        piece = handle.read(size)
        if not piece:
            break
        pieces.append(piece)
        size -= len(piece)
    found = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    return found.strip()


def first(handle: "Handle", span: "Span") -> str:
    """Return the character that a part begins with, "" for an empty one."""
    at = span[0]
    while at < span[1]:
        piece = text(handle, (at, min(at + 64, span[1])))
        if piece:
            return chr(piece[0])
        at += 64
    return ""


def members(handle: "Handle", span: "Span") -> "dict[str, Span]":
    """Return where the value of each member of an object stands, the last one of a name; long names are left out.

    Raises: SchemaError when the part is no object, or is nested too deep.
    """
    found: dict[str, Span] = {}
    for begin, colon, end in _children(handle, span, 0x7B):
        if colon < 0:
            raise SchemaError("not a JSON text: the member at byte %d has no value" % begin)
        if colon - begin <= KEY_BYTES:
            name = jsonl.loads(text(handle, (begin, colon)))
            if isinstance(name, str):
                found[name] = (colon + 1, end)
                if len(found) > MEMBERS:
                    raise SchemaError("an object with more than %d members" % MEMBERS)
    return found


def items(handle: "Handle", span: "Span") -> "Iterator[Span]":
    """Yield where each item of a list stands, in order.

    Raises: SchemaError when the part is no list, or is nested too deep.
    """
    for begin, _, end in _children(handle, span, 0x5B):
        yield begin, end


def value(handle: "Handle", span: "Span", max_bytes: int, max_values: int = jsonl.VALUES) -> "Json":
    """Return the value of a part.

    Raises: SchemaError as `jsonl.loads`; a part that is too long is not read at all.
    """
    if span[1] - span[0] > max_bytes:
        raise SchemaError("%d bytes, more than %d allowed" % (span[1] - span[0], max_bytes), "shorten it in the file")
    return jsonl.loads(text(handle, span), max_bytes, jsonl.DEPTH, max_values)


def _children(handle: "Handle", span: "Span", opening: int) -> "Iterator[tuple[int, int, int]]":
    """Yield (begin, colon or -1, end) of each part directly inside the list or object that fills `span`."""
    level = 0
    begin = colon = -1
    is_closed = False
    for at, byte in _marks(handle, span):
        if is_closed or (not level and byte != opening):
            raise SchemaError("not a JSON text: an unexpected %r at byte %d" % (chr(byte), at))
        if byte in _CLOSES:
            level += 1
            if level == 1:
                begin = at + 1
            elif level > jsonl.DEPTH:
                raise SchemaError("JSON text nested deeper than %d levels" % jsonl.DEPTH, "flatten the value")
        elif byte == _COMMA and level == 1:
            yield begin, colon, at
            begin, colon = at + 1, -1
        elif byte == _COLON and level == 1 and colon < 0:
            colon = at
        elif byte == 0x5D or byte == 0x7D:
            level -= 1
            if not level:
                is_closed = byte == _CLOSES[opening]
                if first(handle, (begin, at)):
                    yield begin, colon, at
    if not is_closed:
        raise SchemaError("not a JSON text: it ends within a %s" % ("list" if opening == 0x5B else "object"))


def _marks(handle: "Handle", span: "Span") -> "Iterator[tuple[int, int]]":
    """Yield (place, byte) of each bracket, comma and colon outside of the texts."""
    at, last = span
    is_text = is_escaped = False
    while at < last:
        handle.seek(at)
        block = handle.read(min(BLOCK_BYTES, last - at)) or b""
        if not block:
            return
        place = 0
        while place < len(block):
            if is_text:
                place, is_text, is_escaped = _behind_text(block, place, is_escaped)
                continue
            end = block.find(b'"', place)
            for number, byte in enumerate(block[place : end if end >= 0 else len(block)]):
                if byte in _MARKS:
                    yield at + place + number, byte
            is_text = end >= 0
            place = end + 1 if is_text else len(block)
        at += len(block)


_MARKS = b"[]{},:"


def _behind_text(block: bytes, place: int, is_escaped: bool) -> "tuple[int, bool, bool]":
    """Return where the text that a place is in ends in a block, whether it goes on, and whether behind a backslash."""
    while place < len(block):
        if is_escaped:
            place, is_escaped = place + 1, False
            continue
        end = block.find(b'"', place)
        slash = block.find(b"\\", place, end if end >= 0 else len(block))
        if slash >= 0:
            place, is_escaped = slash + 1, True
        elif end >= 0:
            return end + 1, False, False
        else:
            return len(block), True, False
    return place, True, is_escaped
