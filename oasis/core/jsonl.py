"""JSON values as single lines: the only place that parses JSON from outside.

Knows nothing of messages or files. Every text is measured (length, nesting) before a parser sees it, because the
parsers of both interpreters recurse and a deep document would end the process. Runs under MicroPython, whose `json`
may be called `ujson`, keeps no key order and writes unknown types as garbage (hence `check` before `dumps`).
"""

try:
    import _json  # what CPython's json is made of; the package around it costs a command a third of its start
except ImportError:
    _json = None  # type: ignore[assignment]
    try:
        import json
    except ImportError:  # MicroPython builds without the alias
        import ujson as json  # type: ignore[import-untyped,no-redef]

from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.core.shapes import Callable, Json

LINE_BYTES = 1024 * 1024  # one line of a chat, a socket or a worker; ubus' own message limit is the same
DEPTH = 64  # deeper than any message, schema or UCI table we know; far below either parser's stack

_OPEN = (0x5B, 0x7B)  # [ {
_CLOSE = (0x5D, 0x7D)  # ] }


def loads(data: "bytes | str", max_bytes: int = LINE_BYTES, max_depth: int = DEPTH) -> "Json":
    """Parse one JSON text.

    Raises: SchemaError when it is too long, too deep, no JSON (NaN and Infinity are none), no UTF-8, or holds a number
    too large for a float (1e400), which would be read as infinity.
    """
    raw = _bytes(data, "the text") if isinstance(data, str) else bytes(data)
    if len(raw) > max_bytes:
        raise SchemaError("JSON text of %d bytes, more than %d allowed" % (len(raw), max_bytes), "send it in pieces")
    if is_deeper(raw, max_depth):
        raise SchemaError("JSON text nested deeper than %d levels" % max_depth, "flatten the value")
    try:
        return _PARSE(raw.decode("utf-8"))
    except (ValueError, UnicodeError) as error:
        raise SchemaError("not a JSON text: %s" % error, "the text begins with " + repr(raw[:40])[1:])


def is_deeper(raw: bytes, limit: int) -> bool:
    """Return whether the arrays and objects of a JSON text are nested deeper than `limit` levels."""
    if raw.count(b"[") + raw.count(b"{") <= limit:
        return False  # spares the scan for nearly every line
    # Outside of texts there is no backslash: once escaped ones are gone, every other piece between quotes is structure.
    bare = raw.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in raw else raw
    level = 0
    for byte in b"".join(bare.split(b'"')[::2]):
        if byte in _OPEN:
            level += 1
            if level > limit:
                return True
        elif byte in _CLOSE:
            level -= 1
    return False


def dumps(value: "Json") -> str:
    """Return `value` as one line of compact JSON in raw UTF-8, without the line end.

    Raises: SchemaError naming the path of a value that JSON has no form for.
    """
    check(value)
    return _WRITE(value)


def line(value: "Json") -> bytes:
    """Return `value` as the bytes of one line, line end included."""
    return dumps(value).encode("utf-8") + b"\n"


def canonical(value: "Json") -> str:
    """Return the one text of `value`: keys sorted at every depth, compact; what hashes are made over."""
    check(value)
    return _sorted_text(value)


def check(value: "Json", path: str = "", level: int = 0) -> None:
    """Raise SchemaError unless `value` is made of dict, list, str, int, float, bool and None alone.

    What passes can be read again by `loads`: the same depth, whole characters, finite numbers.
    """
    if isinstance(value, (dict, list, tuple)):
        if level >= DEPTH:
            raise SchemaError("%s is nested deeper than %d levels" % (path or "value", DEPTH))
        _check_items(value, path, level)
    elif isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise SchemaError("%s is not a finite number" % (path or "value"))
    elif isinstance(value, str):
        _bytes(value, path or "value")
    elif value is not None and not isinstance(value, (int, bool)):
        raise SchemaError("%s is a %s, which JSON cannot hold" % (path or "value", type(value).__name__))


def _check_items(value: "Json", path: str, level: int) -> None:
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise SchemaError("%s has the key %r, which is no text" % (path or "value", key))
            _bytes(key, "a key of " + (path or "value"))
            check(value[key], path + "." + key if path else key, level + 1)
    else:
        for index, item in enumerate(value):
            check(item, "%s[%d]" % (path, index), level + 1)


def _bytes(text: str, path: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeError:
        raise SchemaError("%s holds half a surrogate pair" % path, "replace it first")


def _sorted_text(value: "Json") -> str:
    if isinstance(value, dict):
        pairs = [dumps(key) + ":" + _sorted_text(value[key]) for key in sorted(value)]
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join([_sorted_text(item) for item in value]) + "]"
    return dumps(value)


def _writer() -> "Callable[[Json], str]":
    """Return what writes compact JSON in raw UTF-8, as MicroPython's dumps does."""
    if _json is None:
        return lambda value: json.dumps(value, separators=(",", ":"))
    encode = _json.make_encoder(None, _refuse, _json.encode_basestring, None, ":", ",", False, False, True)
    return lambda value: "".join(encode(value, 0))


def _parser() -> "Callable[[str], Json]":
    """Return what parses one JSON text and raises ValueError for anything else."""
    if _json is None:
        return lambda text: _finite(json.loads(text))
    scan = _json.make_scanner(_Rules)  # type: ignore[arg-type]  # the stub asks for its own result

    def parse_all(text: str) -> "Json":
        try:
            value, end = scan(text, len(text) - len(text.lstrip(_BLANKS)))
        except StopIteration as stop:
            raise ValueError("a value is missing at character %d" % stop.value)
        except SystemError:
            # The scanner takes its exception from the json package, and has none to raise where nobody loaded that.
            raise ValueError("a mark or a word is wrong, or a text has no end")
        if text[end:].strip(_BLANKS):
            raise ValueError("more than one value, the second after character %d" % end)
        return value

    return parse_all


def _finite(value: "Json") -> "Json":
    """Return a parsed value; ValueError when a number in it became infinite."""
    if isinstance(value, dict):
        for key in value:
            _finite(value[key])
    elif isinstance(value, list):
        for item in value:
            _finite(item)
    elif isinstance(value, float) and value in (float("inf"), float("-inf")):
        raise ValueError("a number is too large")
    return value


def _number(text: str) -> float:
    value = float(text)
    _finite(value)
    return value


def _refuse(word: str) -> None:
    raise ValueError("%s is no JSON value" % word)


class _Rules:
    """What CPython's scanner asks for; it would take NaN and Infinity unless told not to."""

    strict = True
    object_hook = object_pairs_hook = array_hook = None
    parse_float = _number
    parse_int = int
    parse_constant = _refuse


_BLANKS = " \t\n\r"
_WRITE = _writer()
_PARSE = _parser()
