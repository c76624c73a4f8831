"""JSON values as single lines: the only place that parses JSON from outside.

Knows nothing of messages or files. Every text is measured (length, nesting) before a parser sees it, because the
parsers of both interpreters recurse and a deep document would end the process. Runs under MicroPython, whose `json`
may be called `ujson`, keeps no key order and writes unknown types as garbage (hence `check` before `dumps`).
"""

try:
    import json
except ImportError:  # MicroPython builds without the alias
    import ujson as json

from oasis.errors import SchemaError

LINE_BYTES = 1024 * 1024  # one line of a chat, a socket or a worker; ubus' own message limit is the same
DEPTH = 64  # deeper than any message, schema or UCI table we know; far below either parser's stack

_OPEN = (0x5B, 0x7B)  # [ {
_CLOSE = (0x5D, 0x7D)  # ] }
_QUOTE = 0x22
_BACKSLASH = 0x5C


def loads(data, max_bytes=LINE_BYTES, max_depth=DEPTH):
    """Parse one JSON text (bytes or str).

    Raises: SchemaError when it is too long, too deep, no JSON or no UTF-8.
    """
    raw = data.encode("utf-8") if isinstance(data, str) else bytes(data)
    if len(raw) > max_bytes:
        raise SchemaError("JSON text of %d bytes, more than %d allowed" % (len(raw), max_bytes), "send it in pieces")
    if depth(raw, max_depth) > max_depth:
        raise SchemaError("JSON text nested deeper than %d levels" % max_depth, "flatten the value")
    try:
        return json.loads(raw.decode("utf-8"))
    except (ValueError, UnicodeError) as error:
        raise SchemaError("not a JSON text: %s" % error, "the text begins with %r" % raw[:40])


def depth(raw, enough=DEPTH):
    """Return how deep the arrays and objects of a JSON text are nested; stops counting one above `enough`."""
    if raw.count(b"[") + raw.count(b"{") <= enough:
        return enough  # cannot be deeper: spares the scan for nearly every line
    level = deepest = 0
    in_string = escaped = False
    for byte in raw:
        if in_string:
            if escaped:
                escaped = False
            elif byte == _BACKSLASH:
                escaped = True
            elif byte == _QUOTE:
                in_string = False
        elif byte == _QUOTE:
            in_string = True
        elif byte in _OPEN:
            level += 1
            if level > deepest:
                deepest = level
                if deepest > enough:
                    return deepest
        elif byte in _CLOSE:
            level -= 1
    return deepest


def dumps(value):
    """Return `value` as one line of compact JSON in raw UTF-8, without the line end.

    Raises: SchemaError naming the path of a value that JSON has no form for.
    """
    check(value)
    if _COMPACT is not None:
        return _COMPACT(value)
    return json.dumps(value, separators=(",", ":"))  # MicroPython writes raw UTF-8 already


def line(value):
    """Return `value` as the bytes of one line, line end included."""
    return dumps(value).encode("utf-8") + b"\n"


def canonical(value):
    """Return the one text of `value`: keys sorted at every depth, compact; what hashes are made over."""
    check(value)
    return _sorted_text(value)


def check(value, path="", level=0):
    """Raise SchemaError unless `value` is made of dict, list, str, int, float, bool and None alone."""
    if level > DEPTH:
        raise SchemaError("%s is nested deeper than %d levels" % (path or "value", DEPTH))
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise SchemaError("%s has the key %r, which is no text" % (path or "value", key))
            check(value[key], path + "." + key if path else key, level + 1)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            check(item, "%s[%d]" % (path, index), level + 1)
    elif isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise SchemaError("%s is not a finite number" % (path or "value"))
    elif isinstance(value, str):
        _check_text(value, path)
    elif value is not None and not isinstance(value, (int, bool)):
        raise SchemaError("%s is a %s, which JSON cannot hold" % (path or "value", type(value).__name__))


def _check_text(text, path):
    try:
        text.encode("utf-8")
    except UnicodeError:
        raise SchemaError("%s holds half a surrogate pair" % (path or "value"), "replace it before storing")


def _sorted_text(value):
    if isinstance(value, dict):
        pairs = [dumps(key) + ":" + _sorted_text(value[key]) for key in sorted(value)]
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join([_sorted_text(item) for item in value]) + "]"
    return dumps(value)


def _compact_encoder():
    """Return CPython's encoder with raw UTF-8, or None where the parser has no such class."""
    encoder = getattr(json, "JSONEncoder", None)
    return encoder(ensure_ascii=False, separators=(",", ":")).encode if encoder else None


_COMPACT = _compact_encoder()
