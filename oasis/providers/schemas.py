"""Say the JSON Schema of a tool in the part of it that a service understands.

    of_tool(tool, kind)         the schema of a tool spec, reduced
    reduced(schema, "plain")    ordinary JSON Schema without references: $ref inlined, recursion cut off
    reduced(schema, "gemini")   the part of OpenAPI 3.0 that Gemini's `parameters` take
    reduced(schema, "strict")   what strict modes take: every object closed, every property required, absent is null
    fits_strict(schema)         whether the strict form says the same
    without_nulls(input, schema) what a model answered in strict form, absent again where it said null

The keywords of a schema and the names of properties are never confused: only a schema's own level is read as one.
What a service has no keyword for goes into the description, so that the model still reads it. Schemas come from MCP
servers, too: any value is taken, and the form stays bounded. Source: JSON Schema 2020-12; OpenAPI 3.0.3, Schema
Object; Google's discovery document of the Gemini API; OpenAI, "Structured outputs".
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from oasis.core import jsonl
from oasis.errors import SchemaError

if False:  # annotations only
    from oasis.providers.shapes import Tool

Schema = dict[str, object]
EMPTY: Schema = {"type": "object", "properties": {}}

# What is said in words where a service has no keyword for it.
_HINTS = (
    "format", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "minItems", "maxItems", "uniqueItems", "default",
)  # fmt: skip
HINT_CHARS = 200

_GEMINI = {
    "object": ("minProperties", "maxProperties"),
    "array": ("minItems", "maxItems"),
    "string": ("minLength", "maxLength", "pattern"),
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "boolean": (),
}
_TYPES = tuple(_GEMINI)
_FORMS = ("type", "properties", "items", "prefixItems", "enum", "anyOf")
# Others were refused for years ("only 'enum' and 'date-time' are supported for STRING type").
_GEMINI_FORMATS = ("date-time", "int32", "int64", "float", "double")


def reduced(schema: object, kind: str) -> Schema:
    """Return a tool's schema in a form: plain, gemini, strict or bare. The outermost is always an object."""
    whole = _as_object(inlined(schema))
    return whole if kind == "plain" else {"gemini": _gemini, "strict": _strict, "bare": _bare}[kind](whole)


def of_tool(tool: Tool, kind: str) -> Schema:
    """Return the schema of a tool spec in the form of `kind`; a tool without one takes no arguments.

    Raises: SchemaError for a schema that is no object.
    """
    schema: object = tool.get("input_schema") or {}
    if not isinstance(schema, dict):
        name, what = tool.get("name"), type(schema).__name__
        raise SchemaError(f"invalid tool schema: tool {name!r} has a {what}, not an object")
    return reduced(schema, kind)


def fits_strict(schema: object) -> bool:
    """Tell whether the strict form loses nothing: no free-form objects, nothing without a type."""
    return _is_closed(_as_object(inlined(schema)))


def without_nulls(value: object, schema: object) -> object:
    """Return arguments given in strict form as the schema itself wants them: without null for what is optional."""
    return _pruned(value, _flat(inlined(schema)))


def _as_object(schema: object) -> Schema:
    """Return the outermost schema as an object with properties, those of its branches among them."""
    whole = _flat(schema)
    whole = {**whole, "type": "object", "properties": _map(whole, "properties")}
    branches = [_flat(branch) for branch in _list(whole.pop("anyOf", None))]
    for branch in branches:
        whole["properties"] = {**_map(branch, "properties"), **_map(whole, "properties")}
    needed = [set(_words(branch, "required")) for branch in branches]
    if needed:
        whole["required"] = list(dict.fromkeys([*_words(whole, "required"), *sorted(set.intersection(*needed))]))
    return whole


def _flat(schema: object) -> Schema:
    """Return a schema with allOf merged, oneOf said as anyOf and const as enum."""
    if not isinstance(schema, dict):
        return {}
    flat = dict(schema)
    for part in _list(flat.pop("allOf", None)):
        other = _flat(part)
        needed = list(dict.fromkeys([*_words(flat, "required"), *_words(other, "required")]))
        both = {name: {**_map(other, name), **_map(flat, name)} for name in ("properties", "patternProperties")}
        flat = {**other, **flat, **{name: held for name, held in both.items() if held}}
        flat.update({"required": needed} if needed else {})
    either = flat.pop("oneOf", None)
    if isinstance(either, list) and "anyOf" not in flat:
        flat["anyOf"] = either
    if "const" in flat:
        flat["enum"] = [flat.pop("const")]
    return flat


def _types(schema: Schema) -> tuple[list[str], bool]:
    """Return the types a flat schema allows, guessed where it names none, and whether null is one."""
    named = schema.get("type")
    types = [named] if isinstance(named, str) else _list(named)
    values = _list(schema.get("enum"))
    if not types:
        sign = next((sign for sign in ("properties", "items", "prefixItems") if sign in schema), "")
        types = ["object" if sign == "properties" else "array"] if sign else [_type_of(value) for value in values]
    is_nullable = "null" in types or None in values or schema.get("nullable") is True
    return [name for name in _TYPES if name in types], is_nullable


def _type_of(value: object) -> str:
    kinds = {bool: "boolean", str: "string", int: "integer", float: "number", dict: "object", list: "array"}
    return kinds.get(type(value), "null")


def _branches(schema: Schema) -> tuple[list[Schema], bool]:
    """Return the branches of anyOf that are more than null, and whether null was among them.

    Branches that only name required properties, and those next to an object's own, are no forms by themselves.
    """
    flat = [_flat(branch) for branch in _list(schema.get("anyOf"))]
    nulls = [branch for branch in flat if branch.get("type") == "null" or branch.get("enum") == [None]]
    if "properties" in schema or "items" in schema:
        return [], bool(nulls)
    return [one for one in flat if one not in nulls and any(sign in one for sign in _FORMS)], bool(nulls)


def _described(schema: Schema, taken: tuple[str, ...] = ()) -> Schema:
    """Return title and description; what has no keyword in this form is said in words."""
    hints = [f"{name}: {_short(schema[name])}" for name in _HINTS if name in schema and name not in taken]
    words = schema.get("description")
    parts = [words] if isinstance(words, str) and words else []
    parts += [f"({'; '.join(hints)})"] if hints else []
    title: Schema = {"title": schema["title"]} if isinstance(schema.get("title"), str) else {}
    return {**title, "description": " ".join(parts)} if parts else title


def _short(value: object) -> str:
    try:
        text = value if isinstance(value, str) else jsonl.dumps(value)
    except SchemaError:
        return "…"
    return text if len(text) <= HINT_CHARS else text[:HINT_CHARS] + "…"


def _bare(schema: object) -> Schema:
    """Return a schema without limits, formats and `nullable`, which are said in words; null stays a type."""
    if not isinstance(schema, dict):
        return {}
    out = {name: _within(name, held, _bare) for name, held in schema.items() if name not in (*_HINTS, "nullable")}
    out.update(_described(schema))
    if schema.get("nullable") is True and isinstance(out.get("type"), str):
        out["type"] = [out["type"], "null"]
    return out


def _within(name: str, held: object, change: Callable[[object], object]) -> object:
    """Return what a keyword holds with a change of each schema in it."""
    if name in _MAPS and isinstance(held, dict):
        return {str(key): change(one) for key, one in held.items()}
    if name in _LISTS and isinstance(held, list):
        return [change(one) for one in held]
    return change(held) if name in _ONES and isinstance(held, dict) else held


def _gemini(schema: object) -> Schema:
    flat = _flat(schema)
    branches, is_nullable = _branches(flat)
    types, takes_null = _types(flat)
    nullable: Schema = {"nullable": True} if is_nullable or takes_null else {}
    if branches:  # nothing may stand next to anyOf: what holds for all is said of the first
        shared: Schema = {name: flat[name] for name in ("title", "description") if name in flat}
        branches[0] = {**shared, **branches[0]}
        either = [{**_gemini(branch), **nullable} for branch in branches]
        return either[0] if len(either) == 1 else {"anyOf": either}
    if len(types) > 1:
        return {"anyOf": [{**_gemini_type(flat, name), **nullable} for name in types]}
    return {**_gemini_type(flat, types[0] if types else "string"), **nullable}


def _gemini_type(flat: Schema, name: str) -> Schema:
    """Return the form of one type; `flat` may allow others, too."""
    taken = _GEMINI[name]
    out: Schema = {"type": name.upper()}
    for keyword in taken:
        if _is_number(flat.get(keyword)) or (keyword == "pattern" and isinstance(flat.get(keyword), str)):
            out[keyword] = flat[keyword]
    if flat.get("format") in _GEMINI_FORMATS and name in ("string", "integer", "number"):
        out["format"], taken = flat["format"], (*taken, "format")
    if name == "object":
        properties = {key: _gemini(one) for key, one in _map(flat, "properties").items() if one is not False}
        required = [key for key in dict.fromkeys(_words(flat, "required")) if key in properties]
        out.update({"properties": properties} if properties else {})
        out.update({"required": required} if required else {})
    elif name == "array":
        out["items"] = _gemini(_items(flat))
    elif name == "integer":  # exclusive limits of whole numbers are said as inclusive ones
        for exclusive, keyword, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
            value = flat.get(exclusive)
            if isinstance(value, int) and _is_number(value) and keyword not in flat:
                out[keyword], taken = value + step, (*taken, "exclusiveMinimum", "exclusiveMaximum")
    values = _list(flat.get("enum"))
    texts = [value for value in values if isinstance(value, str) and value]  # an empty one is refused
    if name == "string" and texts:
        out["enum"] = list(dict.fromkeys(texts))
    others = [value for value in values if _type_of(value) == name or (name == "number" and _is_number(value))]
    if name not in ("string", "boolean") and others:  # it knows no other values than texts
        words, known = f"one of {_short(others)}", flat.get("description")
        flat = {**flat, "description": f"{known} ({words})" if isinstance(known, str) and known else words}
    return {**out, **_described(flat, taken)}


def _items(flat: Schema) -> object:
    """Return what the entries of an array are; those of a tuple are any of its places."""
    places = _list(flat.get("prefixItems"))
    return {"anyOf": places} if places else flat.get("items")


def _strict(schema: object) -> Schema:
    flat = _flat(schema)
    out = _described(flat)
    branches, is_nullable = _branches(flat)
    types, takes_null = _types(flat)
    if branches:
        out["anyOf"] = [_strict(branch) for branch in branches]
    else:
        names = types or ["string"]
        out["type"] = names[0] if len(names) == 1 else names
        if "object" in names:
            given = {name: one for name, one in _map(flat, "properties").items() if one is not False}
            needed = _words(flat, "required")
            forms = {name: _strict(one) if name in needed else _or_null(_strict(one)) for name, one in given.items()}
            out.update({"properties": forms, "required": list(forms), "additionalProperties": False})
        if "array" in names:
            out["items"] = _strict(_items(flat))
        values = _list(flat.get("enum"))
        if values:
            out["enum"] = values
    return _or_null(out) if is_nullable or takes_null else out


def _or_null(schema: Schema) -> Schema:
    """Return a strict schema that takes null as well."""
    if "anyOf" in schema:
        branches = _list(schema["anyOf"])
        return schema if {"type": "null"} in branches else {**schema, "anyOf": [*branches, {"type": "null"}]}
    named = schema["type"]
    types = [named] if isinstance(named, str) else _list(named)
    out: Schema = {**schema, "type": types if "null" in types else [*types, "null"]}
    values = _list(schema.get("enum"))
    if values and None not in values:
        out["enum"] = [*values, None]
    return out


def _is_closed(schema: object) -> bool:
    flat = _flat(schema)
    branches, _ = _branches(flat)
    if branches:
        return all(_is_closed(branch) for branch in branches)
    types, takes_null = _types(flat)
    if not types:
        return takes_null
    if "object" in types:
        if "properties" not in flat or "patternProperties" in flat or flat.get("additionalProperties"):
            return False
        if not all(_is_closed(one) for one in _map(flat, "properties").values() if one is not False):
            return False
    return "array" not in types or _is_closed(_items(flat))


def _pruned(value: object, flat: Schema) -> object:
    branches, _ = _branches(flat)
    if len(branches) == 1:
        return _pruned(value, branches[0])
    if isinstance(value, list):
        return [_pruned(one, _flat(_items(flat))) for one in value]
    if not isinstance(value, dict):
        return value
    known, needed = _map(flat, "properties"), _words(flat, "required")
    out: Schema = {}
    for name, held in value.items():
        flat = _flat(known.get(name))
        takes_null = name in needed or name not in known or _branches(flat)[1] or _types(flat)[1]
        if held is not None or takes_null:
            out[name] = _pruned(held, flat)
    return out


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _map(schema: Schema, name: str) -> Schema:
    held = schema.get(name)
    return held if isinstance(held, dict) else {}


def _words(schema: Schema, name: str) -> list[str]:
    return [word for word in _list(schema.get(name)) if isinstance(word, str)]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# References: a schema written anew without references and errors, so that no service has to follow the one or meet the
# other. Recursion is cut off. Source: JSON Schema 2020-12 and its older drafts; RFC 6901 (the path in a reference).

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
_ALL_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_TEXTS = ("title", "description", "format", "pattern", "contentEncoding", "contentMediaType")
_FLAGS = ("uniqueItems", "deprecated", "readOnly", "writeOnly", "nullable")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_COUNTS = (
    "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains",
)  # fmt: skip
_VALUES = ("const", "default", "enum", "examples", "example")
VALUE_LEVELS = 8  # of an example or allowed value
_KINDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(_MAPS, dict),
    **dict.fromkeys(_ONES, (dict, bool)),
    **dict.fromkeys(_TEXTS, str),
    **dict.fromkeys(_FLAGS, bool),
    **dict.fromkeys((*_LISTS, "required", "examples", "enum"), list),
}


def inlined(schema: object) -> object:
    """Return a copy of a schema without references: a dict, or true or false as written."""
    spent = 0

    def copied(value: object, level: int = 0, opened: tuple[str, ...] = ()) -> object:
        """Copy a schema at a level, within the references that are opened; count what that costs."""
        nonlocal spent
        if not isinstance(value, dict):
            return value if isinstance(value, bool) else {}
        texts = [held for name, held in value.items() if name in _TEXTS or name in _VALUES]
        spent += NODE + sum([len(held if isinstance(held, str) else repr(held)) for held in texts])
        if level > LEVELS or spent > SIZE:
            return _outline(value)
        reference = value.get("$ref")
        if not isinstance(reference, str):
            deeper = functools.partial(copied, level=level + 1, opened=opened)
            return {name: _within(name, held, deeper) for name, held in _modern(value).items()}
        target, others = _named(schema, reference), {name: held for name, held in value.items() if name != "$ref"}
        if not isinstance(target, dict):
            return copied(others, level, opened)
        if reference in opened:  # it names itself: the same again, without end
            return _outline({**target, **others})
        return copied({**target, **others}, level, (*opened, reference))

    return copied(schema)


def _named(here: object, reference: str) -> object:
    """Return what a reference within a schema names, None for others."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    for step in reference[2:].split("/") if len(reference) > 1 else []:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(here, list) and step.isdecimal() and int(step) < len(here):
            here = here[int(step)]
        elif isinstance(here, dict) and step in here:
            here = here[step]
        else:
            return None
    return here


def _outline(schema: Schema) -> Schema:
    """Return what is left of a schema whose inside is cut off."""
    kept = {name: schema[name] for name in ("type", "description") if isinstance(schema.get(name), str)}
    return {name: held for name, held in kept.items() if _is_valid(name, held)}


def _modern(schema: Schema) -> Schema:
    """Return the keywords of 2020-12 that are well formed, those of older drafts in today's words.

    Some services check the schemas of all tools, and one badly written would make them refuse every request.
    """
    out = {name: held for name, held in schema.items() if _is_valid(name, held)}
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


def _is_valid(name: str, held: object) -> bool:
    """Tell whether a keyword is known and its value one that it may have."""
    if name in _KINDS and not isinstance(held, _KINDS[name]):
        return False
    if name in ("enum", *_LISTS) and not held:
        return False
    if name in _NUMBERS or name in _COUNTS or name == "multipleOf":
        is_number = isinstance(held, (int, float)) and _is_number(held)
        if name in _COUNTS:
            return isinstance(held, int) and is_number and held >= 0
        return is_number and (name in _NUMBERS or held > 0)  # type: ignore[operator]
    if name == "type":
        named = [held] if isinstance(held, str) else _list(held)
        return bool(named) and all(isinstance(word, str) and word in _ALL_TYPES for word in named)
    if name in _VALUES:
        try:
            jsonl.check(held, "value", jsonl.DEPTH - VALUE_LEVELS)
        except SchemaError:
            return False
    return name in _KINDS or name in _VALUES
