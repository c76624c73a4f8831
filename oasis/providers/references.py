"""Replace every reference within a JSON Schema by what it names, so that no service has to follow one.

Schemas come from MCP servers, too: any value is taken, recursion is cut off, and the result has bounds. The keywords
of a schema and the names of properties are never confused: only a schema's own level is read as one.
Source: JSON Schema 2020-12, Core 8.2; RFC 6901 (the path in a reference).
"""

from __future__ import annotations

Dict = dict[str, object]

# Each level of a schema is two of JSON, and a request adds some: both stay below jsonl.DEPTH. Services take 5 to 10.
LEVELS = 20
# Characters of one schema after inlining, a node counted as some: large ones have 20,000; references can multiply.
SIZE = 128 * 1024
NODE = 16

_MAPS = ("properties", "patternProperties", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_ONES = (
    "items", "additionalItems", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
    "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
_DROPPED = (
    "$ref", "$defs", "definitions", "$schema", "$id", "$anchor", "$comment", "$vocabulary", "$dynamicRef",
    "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor",
)  # fmt: skip


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
        return {name: self._keyword(name, held, level + 1, opened) for name, held in value.items()
                if name not in _DROPPED}  # fmt: skip

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
        if isinstance(held, list) and (name in _LISTS or name == "items"):
            return [self.schema(one, level, opened) for one in held]
        if name in _ONES and isinstance(held, (dict, bool)):
            return self.schema(held, level, opened)
        return held

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
    return {name: schema[name] for name in ("type", "description") if isinstance(schema.get(name), str)}


def _weight(name: str, held: object) -> int:
    """Return the characters of data beside the schemas: texts, allowed values, examples."""
    if name in _MAPS or name in _LISTS or name in _ONES or name in _DROPPED:
        return 0
    return len(held) if isinstance(held, str) else len(repr(held))
