"""JSON values as single lines, the lines of a file, and the parts of a long JSON text.

The only place that parses JSON from outside. Every text is measured (length, nesting) before a parser sees it, because
the parsers of both interpreters recurse and a deep document would end the process; values are counted, because a small
text can hold a great many. Files are read in blocks, from either end, so that one block and one line are in memory: a
line that is too long comes as None, a blank one does not come. A document of others is cut into its parts first, and
each part is parsed by itself under limits of its own.
Knows nothing of messages. Runs under MicroPython, whose `json` may be called `ujson`, keeps no key order and writes
unknown types as garbage (hence `check` before `dumps`).
"""

from oasis.errors import SchemaError

try:
    import _json  # what CPython's json is made of; the package around it costs a command a third of its start
except ImportError:
    _json = None  # type: ignore[assignment]
    try:
        import json
    except ImportError:  # MicroPython builds without the alias
        import ujson as json  # type: ignore[import-untyped,no-redef]


if False:  # annotations only
    from oasis.core.shapes import Any, Handle, Iterator, Json

    Span = tuple[int, int]

LINE_BYTES = 1024 * 1024  # one line of a chat, a socket or a worker; ubus' own message limit is the same
DEPTH = 64  # deeper than any message, schema or UCI table we know; far below either parser's stack
# Of all lists, objects and their entries: each costs a hundred bytes once made. A batch of embeddings has the most.
VALUES = 1024 * 1024
# Of a whole number: Python reads no more (sys.set_int_max_str_digits), and takes long for what it does read.
DIGITS = 4300
# A text is looked through in pieces, so that the look itself needs no memory.
_BLOCK_BYTES = 64 * 1024
# A longer text is written in pieces, for the same reason.
_LONG_CHARS = 64 * 1024

_OPEN = (0x5B, 0x7B)  # [ {
_CLOSE = (0x5D, 0x7D)  # ] }


def loads(
    data: "bytes | str", max_bytes: int = LINE_BYTES, max_depth: int = DEPTH, max_values: int = VALUES
) -> "Json":  # fmt: skip
    """Parse one JSON text.

    Raises: SchemaError when it is too long, too deep, holds too many values, is no JSON (NaN and Infinity are none), no
    UTF-8, or holds a number too large for a float (1e400), which would be read as infinity.
    """
    if isinstance(data, str):
        check(data, "the text")
        data = data.encode("utf-8")
    raw = bytes(data)
    if len(raw) > max_bytes:
        raise SchemaError("JSON text of %d bytes, more than %d allowed" % (len(raw), max_bytes), "send it in pieces")
    opened = raw.count(b"[") + raw.count(b"{")
    if opened > max_depth or opened + raw.count(b",") >= max_values:  # which spares the look for nearly every line
        _measure(raw, max_depth, max_values, opened > max_depth)
    try:
        return _parsed(raw.decode("utf-8"))
    except (ValueError, UnicodeError) as error:
        # Nothing of it: it may be a file that is no JSON at all, with a secret in its first line.
        raise SchemaError("not a JSON text: %s" % error)


def shipped(data: bytes) -> "Any":
    """Parse what Oasis itself has written: whoever reads it states its type."""
    return loads(data, len(data), DEPTH, len(data))


def table(module: str, name: str) -> "Any":
    """Return what a JSON file next to a module holds, whose `__file__` is given; a test reads every such file.

    It is of the package, so that its depth and size need no look.
    """
    with open(module.rpartition("/")[0] + "/" + name, "rb") as handle:
        data = handle.read()
    try:
        return _parsed(data.decode("utf-8"))
    except (ValueError, UnicodeError) as error:
        raise SchemaError("%s is damaged: %s" % (name, error), "install the package again")


def _measure(raw: bytes, max_depth: int, max_values: int, is_deep: bool) -> None:
    """Raise SchemaError when the lists and objects of a JSON text are too deep, or hold too much together."""
    level = values = at = 0
    is_text = False
    while at < len(raw):
        end = min(at + _BLOCK_BYTES, len(raw))
        while end < len(raw) and raw[end - 1] == 0x5C:
            end += 1  # no cut between a backslash and what it stands before
        block = raw[at:end]
        # Outside of texts there is no backslash: once escaped ones are gone, every other piece between quotes is bare.
        bare = block.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in block else block
        parts = bare.split(b'"')
        bare = b"".join(parts[1 if is_text else 0 :: 2])
        is_text = is_text != (len(parts) % 2 == 0)
        values += bare.count(b",") + bare.count(b"[") + bare.count(b"{")
        if values >= max_values:
            raise SchemaError("JSON text with more than %d values" % max_values, "send it in pieces")
        for byte in bare if is_deep else b"":
            if byte in _OPEN:
                level += 1
                if level > max_depth:
                    raise SchemaError("JSON text nested deeper than %d levels" % max_depth, "flatten the value")
            elif byte in _CLOSE:
                level -= 1
        at = end


def dumps(value: object) -> str:
    """Return `value` as one line of compact JSON in raw UTF-8, without the line end.

    Raises: SchemaError naming the path of a value that JSON has no form for.
    """
    check(value)
    return _written(value)


def line(value: object) -> bytes:
    """Return `value` as the bytes of one line, line end included."""
    return (_encoded(value) if check(value) else _written(value).encode("utf-8")) + b"\n"


def _encoded(value: object) -> bytes:
    """Return the bytes of a value with long texts, piece by piece: one smiley makes a text four times as large."""
    if isinstance(value, dict):
        return b"{" + b",".join([_encoded(key) + b":" + _encoded(value[key]) for key in value]) + b"}"
    if isinstance(value, (list, tuple)):
        return b"[" + b",".join([_encoded(item) for item in value]) + b"]"
    if not isinstance(value, str) or len(value) <= _LONG_CHARS:
        return _written(value).encode("utf-8")
    places = range(0, len(value), _LONG_CHARS)
    pieces = [_written(value[at : at + _LONG_CHARS])[1:-1].encode("utf-8") for at in places]
    return b'"' + b"".join(pieces) + b'"'


def canonical(value: object) -> str:
    """Return the one text of `value`: keys sorted at every depth, compact; what hashes are made over."""
    check(value)
    return _sorted_text(value)


def _sorted_text(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ",".join([_written(key) + ":" + _sorted_text(value[key]) for key in sorted(value)]) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join([_sorted_text(item) for item in value]) + "]"
    return _written(value)


def check(value: object, path: str = "", level: int = 0) -> bool:
    """Raise SchemaError unless `value` is made of dict, list, str, int, float, bool and None alone.

    What passes can be read again by `loads`: the same depth, whole characters, finite numbers. True when a text in it
    is so long that it is written in pieces.
    """
    is_long = False
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeError:
            raise SchemaError("%s holds half a surrogate pair" % (path or "value"), "replace it first")
        is_long = len(value) > _LONG_CHARS
    elif isinstance(value, (dict, list, tuple)):
        if level >= DEPTH:
            raise SchemaError("%s is nested deeper than %d levels" % (path or "value", DEPTH))
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, str):
                    raise SchemaError("%s has the key %r, which is no text" % (path or "value", key))
                is_long |= check(key, "a key of " + (path or "value"))
                is_long |= check(value[key], path + "." + key if path else key, level + 1)
        else:
            for index, item in enumerate(value):
                is_long |= check(item, "%s[%d]" % (path, index), level + 1)
    elif isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise SchemaError("%s is not a finite number" % (path or "value"))
    elif value is not None and not isinstance(value, (int, bool)):
        raise SchemaError("%s is a %s, which JSON cannot hold" % (path or "value", type(value).__name__))
    return is_long


def mended(value: "Json") -> "Json":
    """Return a parsed value with U+FFFD for each half of a surrogate pair, and the very same value where there is none.

    Other programs escape what they cut in two; such a text can be read, and written nowhere.
    """
    if isinstance(value, str):
        try:
            value.encode("utf-8")
            return value
        except UnicodeError:
            return "".join([char if not 0xD800 <= ord(char) <= 0xDFFF else "\ufffd" for char in value])
    if isinstance(value, dict):
        pairs = dict([(str(mended(key)), mended(value[key])) for key in value])
        return value if all([key in pairs and pairs[key] is value[key] for key in value]) else pairs
    if isinstance(value, list):
        items = [mended(item) for item in value]
        return value if all([item is items[at] for at, item in enumerate(value)]) else items
    return value


# -- the two interpreters' own ----------------------------------------------------------------------------------------

_BLANKS = " \t\n\r"


def _written(value: object) -> str:
    """Return compact JSON in raw UTF-8, as MicroPython's dumps writes it."""
    return "".join(_ENCODE(value, 0)) if _json else json.dumps(value, separators=(",", ":"))


def _parsed(text: str) -> "Json":
    """Parse one JSON text; raise ValueError for anything else."""
    if not _json:
        return _finite(json.loads(text))
    try:
        value, end = _SCAN(text, len(text) - len(text.lstrip(_BLANKS)))
    except StopIteration as stop:
        raise ValueError("a value is missing at character %d" % stop.value)
    except SystemError:
        # The scanner takes its exception from the json package, and has none to raise where nobody loaded that.
        raise ValueError("a mark or a word is wrong, or a text has no end")
    if text[end:].strip(_BLANKS):
        raise ValueError("more than one value, the second after character %d" % end)
    found: Json = value
    return found


def _finite(value: "Json") -> "Json":
    """Return a parsed value; ValueError when a number in it became infinite."""
    if isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            _finite(item)
    elif isinstance(value, float) and value in (float("inf"), float("-inf")):
        raise ValueError("a number is too large")
    return value


def _number(text: str) -> float:
    value = float(text)
    _finite(value)
    return value


def _whole(text: str) -> "int | None":
    """Return a whole number; None for one of more digits than Python reads, so that it costs its own place alone."""
    return int(text) if len(text) <= DIGITS else None


def _refuse(word: str) -> None:
    raise ValueError("%s is no JSON value" % word)


class _Rules:
    """What CPython's scanner asks for; it would accept NaN and Infinity otherwise."""

    strict = True
    object_hook = object_pairs_hook = array_hook = None
    parse_float = _number
    parse_int = _whole
    parse_constant = _refuse


if _json:
    _ENCODE = _json.make_encoder(None, _refuse, _json.encode_basestring, None, ":", ",", False, False, True)
    _SCAN = _json.make_scanner(_Rules)  # type: ignore[arg-type]  # the stub asks for its own result


# -- the lines of a file ----------------------------------------------------------------------------------------------

# What flash and page cache like to read at once.
BLOCK_BYTES = 64 * 1024


def whole_bytes(handle: "Handle") -> "tuple[int, int]":
    """Return the bytes of the whole lines of a file, and those of the torn one behind them."""
    size = handle.seek(0, 2)
    end = size
    while end > 0:
        start = max(end - BLOCK_BYTES, 0)
        found = read_at(handle, start, end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1, size - start - found - 1
        end = start
    return 0, size


def backwards(handle: "Handle", end: int) -> "Iterator[tuple[int, bytes | None]]":
    """Yield (where it begins, line without its end), the last one first; `end` stands behind a line end.

    It may stand one behind the file, where the end of a last line without one will be.
    """
    pieces: list[bytes] = []  # of a line that begins in an earlier block, its end first
    length = 0
    at = end - 1
    while at >= 0:
        start = max(at - BLOCK_BYTES, 0)
        parts = read_at(handle, start, at - start).split(b"\n")
        place = at
        while len(parts) > 1:
            last = parts.pop()
            place -= len(last)
            pieces.append(last)
            yield from _whole_line(place, pieces[::-1], length + len(last))
            pieces, length = [], 0
            place -= 1
        length += len(parts[0])
        pieces.append(parts[0])
        if length > LINE_BYTES:
            pieces = []
        at = start
        if not start:
            yield from _whole_line(0, pieces[::-1], length)
            return


def forwards(handle: "Handle", start: int, end: int) -> "Iterator[tuple[int, bytes | None]]":
    """Yield (where it begins, line without its end) of the whole lines between two places.

    `end` may stand one behind the file, where the end of a last line without one will be.
    """
    places = range(start, end, BLOCK_BYTES)
    return lines((read_at(handle, at, min(BLOCK_BYTES, end - at)) for at in places), start, end)


def lines(pieces: "Iterator[bytes]", start: int, end: int = -1) -> "Iterator[tuple[int, bytes | None]]":
    """Yield the same of bytes that come in pieces and begin at `start`; `end` tells whether the last line is whole."""
    waiting: list[bytes] = []  # of a line that ends in a later piece
    length = 0
    place = start
    for piece in pieces:
        parts = piece.split(b"\n")
        for part in parts[:-1]:
            length += len(part)
            waiting.append(part)
            yield from _whole_line(place, waiting, length)
            place += length + 1
            waiting, length = [], 0
        length += len(parts[-1])
        waiting.append(parts[-1])
        if length > LINE_BYTES:
            waiting = []
    if length and place + length < end:  # a last line whose end is still to come
        yield from _whole_line(place, waiting, length)


def blocks(pieces: "Iterator[bytes] | list[bytes]") -> "Iterator[bytes]":
    """Yield the same bytes in pieces of about a block: flash likes few writes."""
    waiting: list[bytes] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= BLOCK_BYTES:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)


def _whole_line(place: int, pieces: "list[bytes]", length: int) -> "Iterator[tuple[int, bytes | None]]":
    """Yield a line of these pieces: None in its place where it is too long, nothing where it is blank."""
    line = b"".join(pieces) if length <= LINE_BYTES else None
    if line is None or line.strip():
        yield place, line


def read_at(handle: "Handle", start: int, size: int) -> bytes:
    """Return so many bytes of a file; fewer only where it has become shorter."""
    handle.seek(start)
    pieces: list[bytes] = []
    while size > 0:
        piece = handle.read(size)
        if not piece:
            break
        pieces.append(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def holds(handle: "Handle", end: int, words: bytes) -> bool:
    """Return whether some bytes stand anywhere before a place."""
    at = 0
    while at < end:
        if words in read_at(handle, at, min(BLOCK_BYTES + len(words), end - at)):
            return True
        at += BLOCK_BYTES
    return False


def spliced(handle: "Handle", changes: "list[tuple[int, int, bytes]]") -> "Iterator[bytes]":
    """Yield the bytes of a whole file in pieces, with others in some places: (from, to, what comes there), in order."""
    at = 0
    places = list(changes)
    places.append((handle.seek(0, 2), 0, b""))
    for start, end, new in places:
        while at < start:
            yield read_at(handle, at, min(BLOCK_BYTES, start - at))
            at += BLOCK_BYTES
        yield new
        at = end


# -- the parts of a JSON text, found without making a value of any of them --------------------------------------------

# No key of ours is longer; a longer one is one that nobody asks for.
KEY_BYTES = 256
# Attachments of one chat are the most that we look up by name.
MEMBERS = 4096

_COMMA, _COLON = 0x2C, 0x3A
_CLOSES = {0x5B: 0x5D, 0x7B: 0x7D}


def part_text(handle: "Handle", span: "Span") -> bytes:
    """Return the bytes of a part, without the blanks around it."""
    return read_at(handle, span[0], span[1] - span[0]).strip()


def first(handle: "Handle", span: "Span") -> str:
    """Return the character that a part begins with, "" for an empty one."""
    at = span[0]
    while at < span[1]:
        piece = part_text(handle, (at, min(at + 64, span[1])))
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
            name = loads(part_text(handle, (begin, colon)))
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


def part_value(handle: "Handle", span: "Span", max_bytes: int, max_values: int = VALUES) -> "Json":
    """Return the value of a part.

    Raises: SchemaError as `jsonl.loads`; a part that is too long is not read at all.
    """
    if span[1] - span[0] > max_bytes:
        raise SchemaError("%d bytes, more than %d allowed" % (span[1] - span[0], max_bytes), "shorten it in the file")
    return loads(part_text(handle, span), max_bytes, DEPTH, max_values)


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
            elif level > DEPTH:
                raise SchemaError("JSON text nested deeper than %d levels" % DEPTH, "flatten the value")
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
    is_text = False
    while at < last:
        block = read_at(handle, at, min(max(BLOCK_BYTES, 2), last - at))
        if not block:
            return
        if len(block) > 1 and (len(block) - len(block.rstrip(b"\\"))) % 2:
            block = block[:-1]  # no cut between a backslash and what it stands before
        place = at
        for number, part in enumerate(block.replace(b"\\\\", b"..").replace(b'\\"', b"..").split(b'"')):
            if number:
                is_text = not is_text
                place += 1
            for offset, byte in enumerate(b"" if is_text else part):
                if byte in _MARKS:
                    yield place + offset, byte
            place += len(part)
        at += len(block)


_MARKS = b"[]{},:"
