"""Write a JSON Schema anew without references and errors, so that no service has to follow the one or meet the other.

Schemas come from MCP servers, too: any value is taken, recursion is cut off, and the result has bounds. The keywords
of a schema and the names of properties are never confused: only a schema's own level is read as one.
Source: JSON Schema 2020-12 and its older drafts; RFC 6901 (the path in a reference).
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.errors import SchemaError

Dict = dict[str, object]

# Each level of a schema is two of JSON, and a request adds some: both stay below jsonl.DEPTH. Services take 5 to 10.
LEVELS = 20
# Characters of one schema after inlining, a node counted as some: large ones have 20,000; references can multiply.
SIZE = 128 * 1024
NODE = 16

_MAPS = ("properties", "patternProperties", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_ONES = (
    "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems",
    "unevaluatedProperties",
)  # fmt: skip
_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_TEXTS = ("title", "description", "format", "pattern", "contentEncoding", "contentMediaType")
_FLAGS = ("uniqueItems", "deprecated", "readOnly", "writeOnly", "nullable")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_COUNTS = (
    "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains",
)  # fmt: skip
_VALUES = ("const", "default", "enum", "examples", "example")
VALUE_LEVELS = 8  # of an example or allowed value


def inlined(schema: object) -> object:
    """Return a copy of a schema without references: a dict, or true or false as written."""
    return _Inliner(schema).schema(schema)


class _Inliner:
    """Copies a schema with every reference replaced by what it names; counts what that costs."""

    def __init__(self, root: object):
        self._root = root
        self._spent = 0

    def schema(self, value: object, level: int = 0, opened: tuple[str, ...] = ()) -> object:
        if isinstance(value, bool):
            return value
        if not isinstance(value, dict):
            return {}
        self._spent += NODE + sum([_weight(name, held) for name, held in value.items()])
        if level > LEVELS or self._spent > SIZE:
            return _outline(value)
        if isinstance(value.get("$ref"), str):
            return self._referred(value, str(value["$ref"]), level, opened)
        return {name: self._keyword(name, held, level + 1, opened) for name, held in _modern(value).items()}

    def _referred(self, value: Dict, reference: str, level: int, opened: tuple[str, ...]) -> object:
        target = self._named(reference)
        beside = {name: held for name, held in value.items() if name != "$ref"}
        if not isinstance(target, dict):
            return self.schema(beside, level, opened)
        if reference in opened:  # it names itself: the same again, without end
            return _outline({**target, **beside})
        return self.schema({**target, **beside}, level, (*opened, reference))

    def _keyword(self, name: str, held: object, level: int, opened: tuple[str, ...]) -> object:
        if name in _MAPS and isinstance(held, dict):
            return {str(key): self.schema(one, level, opened) for key, one in held.items()}
        if name in _LISTS and isinstance(held, list):
            return [self.schema(one, level, opened) for one in held]
        return self.schema(held, level, opened) if name in _ONES else held

    def _named(self, reference: str) -> object:
        """Return what a reference within the schema names, None for others."""
        if reference != "#" and not reference.startswith("#/"):
            return None
        here = self._root
        for step in reference[2:].split("/") if len(reference) > 1 else []:
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(here, list) and step.isdecimal() and int(step) < len(here):
                here = here[int(step)]
            elif isinstance(here, dict) and step in here:
                here = here[step]
            else:
                return None
        return here


def _outline(schema: Dict) -> Dict:
    """Return what is left of a schema whose inside is cut off."""
    out = {name: schema[name] for name in ("type", "description") if isinstance(schema.get(name), str)}
    return {name: held for name, held in out.items() if _is_said(name, held)}


def _weight(name: str, held: object) -> int:
    """Return the characters of data beside the schemas: texts, allowed values, examples."""
    if name not in _TEXTS and name not in _VALUES:
        return 0
    return len(held) if isinstance(held, str) else len(repr(held))


def _modern(schema: Dict) -> Dict:
    """Return the keywords of 2020-12 that are well formed, those of older drafts in today's words.

    Some services check the schemas of all tools, and one badly written would make them refuse every request.
    """
    out = {name: held for name, held in schema.items() if _is_said(name, held)}
    for limit in ("minimum", "maximum"):
        exclusive = "exclusive" + limit.capitalize()
        if schema.get(exclusive) is True and limit in out:
            out[exclusive] = out.pop(limit)
    for name in ("required", "type"):
        words = out.get(name)
        if isinstance(words, list):
            out[name] = list(dict.fromkeys([word for word in words if isinstance(word, str)]))
    if isinstance(schema.get("items"), list) and schema["items"]:
        out["prefixItems"] = schema["items"]
    return out


def _is_said(name: str, held: object) -> bool:
    """Tell whether a keyword is known and its value one that it may have."""
    if name in _MAPS:
        return isinstance(held, dict)
    if name in _ONES:
        return isinstance(held, (dict, bool))
    if name in _TEXTS or name in _FLAGS:
        return isinstance(held, str if name in _TEXTS else bool)
    if name in _NUMBERS or name == "multipleOf":
        return _is_number(held) and (name in _NUMBERS or held > 0)  # type: ignore[operator]
    if name in _COUNTS:
        return isinstance(held, int) and _is_number(held) and held >= 0
    if name == "type":
        return held in _TYPES if isinstance(held, str) else isinstance(held, list) and _are_types(held)
    if name in ("required", "examples", "enum", *_LISTS) and not isinstance(held, list):
        return False
    if name in ("enum", *_LISTS) and not held:
        return False
    return name in ("required", *_LISTS) or (name in _VALUES and _fits(held))


def _are_types(words: list[object]) -> bool:
    return bool(words) and all(isinstance(word, str) and word in _TYPES for word in words)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _fits(value: object) -> bool:
    try:
        jsonl.check(value, "value", jsonl.DEPTH - VALUE_LEVELS)
    except SchemaError:
        return False
    return True
