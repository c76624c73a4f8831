"""Specs of tools: checked for the registry, chosen for a turn, and the arguments of a call checked against them.

Checked: each spec is cleaned, and gets "source" and "fault", the reason why a tool cannot be used, or "". A source may
give a fault itself, as for a plugin whose file is not reviewed.

Chosen: as few as possible, because each costs tokens of a small model. Always the core; of the others those whose words
the owner uses and those that the thread used before; all where the service's context is large. A model may still call a
tool that it was not offered.

Arguments: the check knows type (one or several, null and number included), enum, const, required, properties,
additionalProperties, items, minimum and its kin, lengths and counts, anyOf, oneOf, allOf and $ref within the schema. It
ignores unknown keywords, as JSON Schema demands, and patterns, which the tool judges: a hostile one could keep Python's
matcher busy for years. A schema may be from outside: the work on it is bounded.
Source: JSON Schema 2020-12, validation vocabulary.
"""

from __future__ import annotations

from operator import ge, gt, le, lt

from oasis.core import clean, jsonl, trim
from oasis.errors import OasisError, SchemaError, ToolError

if False:  # annotations only
    from typing import Any

    from oasis.core.shapes import Callable
    from oasis.tools.shapes import GivenSpec, Json, Schema, ToolSpec


CLASSES = ("read", "change", "danger", "net")
DESCRIPTION_CHARS = 2000
SCHEMA_BYTES = 16 * 1024
_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."


def checked(given: GivenSpec, source: str) -> ToolSpec:
    """Return a checked spec; what a source gives may be from outside, so every key of it may be wrong."""
    schema = clean.value(given.get("input_schema"))
    spec: ToolSpec = {
        **given, "source": source, "fault": "", "input_schema": schema if isinstance(schema, dict) else {},
        "description": clean.text(given.get("description") or "")[:DESCRIPTION_CHARS],
        "name": clean.name(given.get("name")),
        "class": given["class"] if given.get("class") in CLASSES else "danger",
    }  # fmt: skip
    try:
        size_bytes = len(jsonl.dumps([spec["name"], spec["description"], schema]).encode("utf-8"))
        if not spec["name"] or spec["name"] != given["name"] or spec["name"].strip(_NAME):
            spec["fault"] = "invalid tool name"
        elif spec["class"] != given.get("class"):
            spec["fault"] = "invalid class; allowed are " + ", ".join(CLASSES)
        elif not isinstance(schema, dict) or schema.get("type", "object") != "object":
            spec["fault"] = "its arguments are no object"
        elif size_bytes > SCHEMA_BYTES:
            spec["fault"] = f"its description and arguments take {size_bytes} bytes, {SCHEMA_BYTES} are allowed"
        else:
            spec["fault"] = str(given.get("fault", ""))
    except OasisError as error:
        spec["fault"] = error.message
    return spec


def tokens(spec: ToolSpec) -> int:
    """Return about how many tokens the spec of a tool costs, 0 for one that JSON cannot hold."""
    try:
        text = jsonl.dumps([spec["name"], spec["description"], spec["input_schema"]])
        return trim.BLOCK_TOKENS + trim.tokens(text)
    except OasisError:
        return 0


# Values looked at, each against one schema; a schema that refers to itself twice would go on for ever.
CHECKS = 20_000
DEPTH = 40
# Of a value in a message, and names in a hint.
_SHOWN_CHARS = 80
_SHOWN_NAMES = 30
_TYPES = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict, "null": type(None)}
# By keyword: of what, how it is compared, and what is said of it.
_LIMITS: dict[str, tuple[type, Callable[[Any, Any], bool], str]] = {
    "minimum": (float, ge, "at least"), "maximum": (float, le, "at most"),
    "exclusiveMinimum": (float, gt, "more than"), "exclusiveMaximum": (float, lt, "less than"),
    "minLength": (str, ge, "at least %s characters"), "maxLength": (str, le, "at most %s characters"),
    "minItems": (list, ge, "at least %s items"), "maxItems": (list, le, "at most %s items"),
    "minProperties": (dict, ge, "at least %s"), "maxProperties": (dict, le, "at most %s"),
}  # fmt: skip


class Misfit(ToolError):
    """An argument does not fit its schema; `depth` says how far the schema was followed to it."""

    def __init__(self, depth: int, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.depth = depth


def check(value: Json, schema: Schema, path: str) -> None:
    """Raise ToolError, naming the argument, its value and what is allowed, unless `value` fits the schema.

    `path` is what stands before the names of arguments: the tool.
    """
    _Check(schema).value(value, schema, path, 0)


class _Check:
    def __init__(self, whole: Schema) -> None:
        self._whole = whole
        self._left = CHECKS  # values that may still be looked at

    def value(self, value: Json, schema: Json, path: str, depth: int) -> None:
        self._left -= 1
        if depth > DEPTH or self._left < 0:
            tool = path.split(".")[0]
            raise ToolError(f"the schema of {tool} is too complex to be checked", "use another tool")
        if schema is False:
            raise Misfit(depth, f"{path} is not allowed")
        if not isinstance(schema, dict):
            return
        if "$ref" in schema:
            schema = self._resolved(schema, path)
        wanted, choices = schema.get("type"), schema.get("enum")
        kinds = [kind for kind in (wanted if isinstance(wanted, list) else [wanted]) if isinstance(kind, str)]
        if kinds and not any(_is_of(value, kind) for kind in kinds):
            words = [kind if kind == "null" else ("an " if kind[:1] in "aeio" else "a ") + kind for kind in kinds]
            raise Misfit(depth, f"{path} must be {' or '.join(words)}, not {_shown(value)}")
        if isinstance(choices, list) and not any(_is_same(value, one) for one in choices):
            allowed = ", ".join([one if isinstance(one, str) else _shown(one) for one in choices[:_SHOWN_NAMES]])
            raise Misfit(depth, f"{path} is {_shown(value)}; allowed are {allowed}")
        if "const" in schema and not _is_same(value, schema["const"]):
            raise Misfit(depth, f"{path} is {_shown(value)}; only {_shown(schema['const'])} is allowed")
        if not _LIMITS.keys().isdisjoint(schema):
            _check_limits(value, schema, path, depth)
        if isinstance(value, dict):
            self._object(value, schema, path, depth)
        if isinstance(value, list):
            for index, item in enumerate(value):
                self.value(item, schema.get("items", True), f"{path}[{index}]", depth + 1)
        for keyword in ("allOf", "anyOf", "oneOf"):
            parts = schema.get(keyword)
            if isinstance(parts, list) and keyword != "allOf":
                self._one_of(value, parts, path, depth)
            elif isinstance(parts, list):
                for part in parts:
                    self.value(value, part, path, depth + 1)

    def _object(self, value: dict[str, Json], schema: Schema, path: str, depth: int) -> None:
        named, required = schema.get("properties"), schema.get("required")
        properties = named if isinstance(named, dict) else {}
        for name in required if isinstance(required, list) else []:
            if name not in value:
                described = properties.get(name) if isinstance(name, str) else None
                purpose = described.get("description") if isinstance(described, dict) else None
                hint = purpose[:_SHOWN_CHARS] if isinstance(purpose, str) else ""
                raise Misfit(depth, f"{path} needs the argument {name}", hint)
        more = schema.get("additionalProperties", True)
        for name, item in value.items():
            if name not in properties and more is False:
                has = "it has: " + ", ".join(list(properties)[:_SHOWN_NAMES]) if properties else "it has none"
                raise Misfit(depth, f"{path} has no argument {_shown(name)}", has)
            self.value(item, properties.get(name, more), f"{path}.{name}", depth + 1)

    def _one_of(self, value: Json, parts: list[Json], path: str, depth: int) -> None:
        """Raise the fault of the part that came nearest, unless one fits."""
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
            found: Json = self._whole
            for word in reference.split("/")[1:] if reference.startswith("#") else ["", ""]:
                word = word.replace("~1", "/").replace("~0", "~")
                found = found.get(word) if isinstance(found, dict) else None
            schema = {**found, **{k: v for k, v in schema.items() if k != "$ref"}} if isinstance(found, dict) else {}
        raise ToolError(f"the schema of {path.split('.')[0]} refers to itself", "use another tool")


def _is_of(value: Json, kind: str) -> bool:
    if kind in ("integer", "number") and isinstance(value, bool):
        return False
    if kind == "number":
        return isinstance(value, (int, float))
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES.get(kind, object))


def _is_same(one: Json, other: Json) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _check_limits(value: Json, schema: Schema, path: str, depth: int) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    for keyword, (kind, is_within, words) in _LIMITS.items():
        limit: Any = schema.get(keyword)
        if not isinstance(limit, (int, float)) or isinstance(limit, bool):
            continue
        if kind is float and is_number and not is_within(value, limit):
            raise Misfit(depth, f"{path} is {_shown(value)}; {words} {limit} is allowed")
        if isinstance(value, (str, list, dict)) and isinstance(value, kind) and not is_within(len(value), limit):
            raise Misfit(depth, f"{path} is {len(value)} long; {words % limit} are allowed")


def _shown(value: Json) -> str:
    try:
        text = jsonl.dumps(value) if not isinstance(value, str) else f"'{value}'"
    except SchemaError:
        text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"


# The owner's setting: as above, everything, or the core alone.
MODES = ("fitting", "all", "core")
# A context in which a hundred tools of 150 tokens are no more than a third.
LARGE_TOKENS = 32_000
# What a model of a billion parameters still tells apart.
FITTING = 12
# The owner's messages that count: "and install it" says little by itself.
MESSAGES = 3
_WORD_CHARS = 4
# In the names and descriptions of tools that have no words of their own; these say nothing.
_EMPTY = (
    " about also argument arguments call data each from given have into list name names need only optional return "
    "returned returns some text that their them then these this tool type used user uses using value values want when "
    "where which will with your "
)


def is_large(context_tokens: int) -> bool:
    """Return whether a service takes all tools."""
    return context_tokens >= LARGE_TOKENS


def chosen(specs: list[ToolSpec], texts: list[str], used: set[str], mode: str, large: bool) -> list[ToolSpec]:
    """Return the specs to offer a model, in their order; `texts` are the owner's newest messages."""
    if mode == "all" or (mode == "fitting" and large):
        if not any(spec.get("spoken") for spec in specs):
            return specs
        text = " ".join(texts).casefold()
        words = _words(text)
        return [
            spec for spec in specs if not spec.get("spoken") or spec["name"] in used or _matches(spec, text, words)
        ]  # fmt: skip
    core = [spec for spec in specs if spec.get("core")]
    if mode == "core":
        return core
    text = " ".join(texts).casefold()
    words = _words(text)
    counts = [100 if spec["name"] in used else _matches(spec, text, words) for spec in specs]
    others = [at for at, spec in enumerate(specs) if counts[at] and not spec.get("core")]
    best = sorted(others, key=lambda at: -counts[at])[: max(FITTING - len(core), 0)]
    return [spec for at, spec in enumerate(specs) if spec.get("core") or at in best]


def is_outside(spec: ToolSpec) -> bool:
    """Return whether a tool comes from a plugin or a server: neither built in nor of a part."""
    return ":" in spec["source"]


def brief(spec: ToolSpec) -> ToolSpec:
    """Return a spec of ours without the bounds of its arguments, which are checked here and cost a model tokens."""
    return spec if is_outside(spec) else {**spec, "input_schema": _without_bounds(spec["input_schema"])}


def _without_bounds(schema: Schema) -> Schema:
    kept = {name: value for name, value in schema.items() if name not in _LIMITS and value is not False}
    named, items = kept.get("properties"), kept.get("items")
    if isinstance(named, dict):
        kept["properties"] = {name: _without_bounds(one) for name, one in named.items() if isinstance(one, dict)}
    if isinstance(items, dict):
        kept["items"] = _without_bounds(items)
    return kept


def _matches(spec: ToolSpec, text: str, words: list[str]) -> int:
    """Return how many words of a tool the text has, or begins words with; phrases and other scripts as they stand."""
    if "words" not in spec:
        own = set(_words((spec["name"] + " " + spec["description"]).casefold()))
        return sum(len(word) >= _WORD_CHARS and f" {word} " not in _EMPTY for word in own.intersection(words))
    return sum(
        any(one.startswith(word) for one in words) if word.isascii() and " " not in word else word in text
        for word in spec["words"]
    )


def _words(text: str) -> list[str]:
    return "".join([char if char.isalnum() else " " for char in text]).split()
