"""A call's arguments against the JSON Schema of its tool: what is wrong, where, and what is allowed.

Understood: type (one or several, null and number included), enum, const, required, properties, additionalProperties,
items, minimum and its kin, lengths and counts, pattern (patterns.py), anyOf, oneOf, allOf and $ref within the schema.
What is not known is passed over, as JSON Schema wants it. A schema may be somebody else's: reading it is bounded.
Source: JSON Schema 2020-12, validation vocabulary.
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.errors import SchemaError, ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Schema = dict[str, Any]

# Values looked at, each against one schema; a schema that refers to itself twice would go on for ever.
CHECKS = 20_000
DEPTH = 40
# Of a value in a message, and names in a hint.
_SHOWN_CHARS = 80
_SHOWN_NAMES = 30
_TYPES = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict, "null": type(None)}
_NUMBERS = {
    "minimum": "at least", "maximum": "at most", "exclusiveMinimum": "more than", "exclusiveMaximum": "less than",
}  # fmt: skip
_SIZES = {
    "minLength": (str, "at least %s characters"), "maxLength": (str, "at most %s characters"),
    "minItems": (list, "at least %s items"), "maxItems": (list, "at most %s items"),
    "minProperties": (dict, "at least %s"), "maxProperties": (dict, "at most %s"),
}  # fmt: skip


class Misfit(ToolError):
    """An argument does not fit; `depth` tells how far the schema was followed to it."""

    depth = 0


def check(value: Any, schema: Schema, path: str) -> None:
    """Raise ToolError, naming the argument, its value and what is allowed, unless `value` fits the schema.

    `path` is what stands before the names of arguments: the tool.
    """
    _Check(schema).value(value, schema, path, 0)


class _Check:
    def __init__(self, whole: Schema) -> None:
        self._whole = whole
        self._left = CHECKS

    def value(self, value: Any, schema: Any, path: str, depth: int) -> None:
        self._left -= 1
        if depth > DEPTH or self._left < 0:
            raise ToolError("the schema of %s is too involved to be checked" % path.split(".")[0], "use another tool")
        if schema is False:
            raise _misfit(depth, "%s is not allowed" % path)
        if not isinstance(schema, dict):
            return
        schema = self._resolved(schema, path)
        _check_type(value, schema.get("type"), path, depth)
        _check_choice(value, schema, path, depth)
        _check_limits(value, schema, path, depth)
        if isinstance(value, str) and isinstance(schema.get("pattern"), str):
            _check_pattern(value, schema["pattern"], path, depth)
        if isinstance(value, dict):
            self._object(value, schema, path, depth)
        if isinstance(value, list):
            for index, item in enumerate(value):
                self.value(item, schema.get("items", True), "%s[%d]" % (path, index), depth + 1)
        for part in _list(schema.get("allOf")):
            self.value(value, part, path, depth + 1)
        for keyword in ("anyOf", "oneOf"):
            if _list(schema.get(keyword)):
                self._one_of(value, schema[keyword], path, depth)

    def _object(self, value: dict[str, Any], schema: Schema, path: str, depth: int) -> None:
        named = schema.get("properties")
        properties = named if isinstance(named, dict) else {}
        for name in _list(schema.get("required")):
            if name not in value:
                raise _misfit(depth, "%s needs the argument %s" % (path, name), _purpose(properties.get(name)))
        more = schema.get("additionalProperties", True)
        for name, item in value.items():
            if name not in properties and more is False:
                has = "it has: " + ", ".join(list(properties)[:_SHOWN_NAMES]) if properties else "it has none"
                raise _misfit(depth, "%s has no argument %s" % (path, _shown(name)), has)
            self.value(item, properties.get(name, more), "%s.%s" % (path, name), depth + 1)

    def _one_of(self, value: Any, parts: list[Any], path: str, depth: int) -> None:
        """Raise what is wrong with the part that came nearest, unless one fits."""
        worst: Misfit | None = None
        for part in parts:
            try:
                self.value(value, part, path, depth + 1)
                return
            except Misfit as error:
                if worst is None or error.depth > worst.depth:
                    worst = error
        if worst is not None:
            raise worst

    def _resolved(self, schema: Schema, path: str) -> Schema:
        """Return what a schema refers to within the whole one; a reference that leads nowhere allows everything."""
        for _ in range(DEPTH):
            reference = schema.get("$ref")
            if not isinstance(reference, str):
                return schema
            found: Any = self._whole
            for word in reference.split("/")[1:] if reference.startswith("#") else ["", ""]:
                word = word.replace("~1", "/").replace("~0", "~")
                found = found.get(word) if isinstance(found, dict) else None
            schema = {**found, **{k: v for k, v in schema.items() if k != "$ref"}} if isinstance(found, dict) else {}
        raise ToolError("the schema of %s refers to itself" % path.split(".")[0], "use another tool")


def _check_type(value: Any, wanted: Any, path: str, depth: int) -> None:
    kinds = [kind for kind in (wanted if isinstance(wanted, list) else [wanted]) if isinstance(kind, str)]
    if kinds and not any(_is_of(value, kind) for kind in kinds):
        words = " or ".join(_named(kind) for kind in kinds)
        raise _misfit(depth, "%s must be %s, not %s" % (path, words, _shown(value)))


def _is_of(value: Any, kind: str) -> bool:
    if kind in ("integer", "number") and isinstance(value, bool):
        return False
    if kind == "number":
        return isinstance(value, (int, float))
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES.get(kind, object))


def _named(kind: str) -> str:
    return kind if kind == "null" else ("an " if kind[:1] in "aeio" else "a ") + kind


def _check_choice(value: Any, schema: Schema, path: str, depth: int) -> None:
    if isinstance(schema.get("enum"), list) and not any(_is_same(value, one) for one in schema["enum"]):
        allowed = ", ".join([one if isinstance(one, str) else _shown(one) for one in schema["enum"][:_SHOWN_NAMES]])
        raise _misfit(depth, "%s is %s; allowed are %s" % (path, _shown(value), allowed))
    if "const" in schema and not _is_same(value, schema["const"]):
        raise _misfit(depth, "%s is %s; only %s is allowed" % (path, _shown(value), _shown(schema["const"])))


def _is_same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _check_limits(value: Any, schema: Schema, path: str, depth: int) -> None:
    for keyword, words in _NUMBERS.items():
        limit = schema.get(keyword)
        if _is_of(limit, "number") and _is_of(value, "number") and not _is_within(keyword, value, limit):
            raise _misfit(depth, "%s is %s; %s %s is allowed" % (path, _shown(value), words, limit))
    for keyword, (kind, words) in _SIZES.items():
        limit = schema.get(keyword)
        if _is_of(limit, "number") and isinstance(value, kind) and not _is_within(keyword, len(value), limit):
            raise _misfit(depth, "%s is %d long; %s are allowed" % (path, len(value), words % limit))


def _is_within(keyword: str, size: float, limit: Any) -> bool:
    if keyword.startswith("exclusive"):
        return bool(size > limit if keyword.endswith("Minimum") else size < limit)
    return bool(size >= limit if keyword.startswith("min") else size <= limit)


def _check_pattern(value: str, pattern: str, path: str, depth: int) -> None:
    from oasis.tools import patterns  # few schemas have one

    if patterns.fits(pattern, value) is False:
        raise _misfit(depth, "%s is %s; it must look like %s" % (path, _shown(value), pattern[:_SHOWN_CHARS]))


def _purpose(schema: Any) -> str:
    """Return what a schema says of its argument."""
    described = schema.get("description") if isinstance(schema, dict) else None
    return described[:_SHOWN_CHARS] if isinstance(described, str) else ""


def _shown(value: Any) -> str:
    try:
        text = jsonl.dumps(value) if not isinstance(value, str) else "'%s'" % value
    except SchemaError:
        text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _misfit(depth: int, message: str, hint: str = "") -> Misfit:
    error = Misfit(message, hint)
    error.depth = depth
    return error
