"""Arguments against a JSON Schema: errors name place, value and what is allowed; foreign schemas are bounded."""

import random
import time

import pytest

from oasis.errors import ToolError
from oasis.tools.specs import check

PET = {"anyOf": [{"type": "object", "properties": {"cat": {"type": "integer"}}, "required": ["cat"]}, {"type": "null"}]}

FITTING = [
    ({"type": "string"}, "x"), ({"type": "integer"}, 3), ({"type": "integer"}, 3.0), ({"type": "number"}, 3),
    ({"type": "number"}, 0.5), ({"type": "null"}, None), ({"type": ["string", "null"]}, None), ({}, {"any": [1]}),
    (True, 1), ({"enum": ["a", None]}, None), ({"const": 1}, 1), ({"minimum": 1, "maximum": 3}, 2),
    ({"exclusiveMinimum": 1}, 1.5), ({"type": "string", "maxLength": 2}, "ab"),
    ({"type": "object"}, {"more": 1}), ({"properties": {"a": {"type": "string"}}}, {"a": "x", "b": 1}),
    ({"additionalProperties": {"type": "integer"}}, {"a": 1}), ({"items": {"type": "integer"}}, [1, 2]), (PET, None),
    (PET, {"cat": 1}), ({"format": "no such", "made-up": 1}, "x"), ({"type": "made-up"}, 1),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}, 1), ({"$ref": "https://elsewhere/x"}, "x"),
    ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, 1), ({"allOf": [{"minimum": 1}, {"maximum": 3}]}, 2),
]  # fmt: skip

MISFITS = [
    ({"type": "string"}, 3, "it must be a string, not 3"),
    ({"type": "integer"}, True, "it must be an integer, not true"),
    ({"type": "number"}, True, "it must be a number, not true"),
    ({"type": "integer"}, 0.5, "it must be an integer, not 0.5"),
    ({"type": ["string", "null"]}, 1, "it must be a string or null, not 1"),
    ({"enum": ["on", "off"]}, "up", "it is 'up'; allowed are on, off"),
    ({"enum": [1]}, True, "it is true; allowed are 1"),
    ({"const": "a"}, "b", "it is 'b'; only 'a' is allowed"),
    ({"maximum": 10}, 99, "it is 99; at most 10 is allowed"),
    ({"exclusiveMaximum": 10}, 10, "it is 10; less than 10 is allowed"),
    ({"maxLength": 3}, "long", "it is 4 long; at most 3 characters are allowed"),
    ({"minItems": 1}, [], "it is 0 long; at least 1 items are allowed"),
    ({"required": ["a"]}, {}, "it needs the argument a"),
    ({"additionalProperties": False}, {"b": 1}, "it has no argument 'b'"),
    ({"properties": {"a": {"type": "string"}}}, {"a": 1}, "it.a must be a string, not 1"),
    ({"additionalProperties": {"type": "integer"}}, {"a": "x"}, "it.a must be an integer, not 'x'"),
    ({"items": {"type": "integer"}}, [1, "x"], "it[1] must be an integer, not 'x'"),
    ({"properties": {"a": {"items": {"properties": {"b": {"enum": ["x"]}}}}}}, {"a": [{"b": "y"}]}, "it.a[0].b is 'y'"),
    (PET, {"cat": "no"}, "it.cat must be an integer, not 'no'"),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}, "x", "it must be an integer"),
    (False, 1, "it is not allowed"),
]


@pytest.mark.parametrize("schema, value", FITTING)
def test_what_fits_is_let_through(schema, value):
    check(value, schema, "it")


@pytest.mark.parametrize("schema, value, message", MISFITS)
def test_what_does_not_fit_is_told_by_place_value_and_what_is_allowed(schema, value, message):
    with pytest.raises(ToolError) as failure:
        check(value, schema, "it")
    assert failure.value.message.startswith(message)


def test_a_long_value_is_told_in_short():
    with pytest.raises(ToolError) as failure:
        check("x" * 100_000, {"enum": ["a"]}, "it")
    assert len(failure.value.message) < 200


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"},
        {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}] * 50}}, "$ref": "#/$defs/a"},
        {"items": {"anyOf": [{"type": "null"}] * 500}},
    ],
)
def test_a_schema_without_end_is_refused_soon(schema):
    begin_s = time.monotonic()
    with pytest.raises(ToolError):
        check([1] * 500, schema, "it")
    assert time.monotonic() - begin_s < 3


def test_what_a_pattern_says_of_a_text_is_left_to_the_tool():
    begin_s = time.monotonic()
    for pattern in ("^[a-z]+$", "^(a+)+$", "(x+x+)+y", "("):
        check("A" + "a" * 5000 + "!", {"type": "string", "pattern": pattern}, "it")
    assert time.monotonic() - begin_s < 1


def made_up(chance, depth=0):
    """Return a schema of what is understood here, at random."""
    kinds = ["string", "integer", "number", "boolean", "null", "array", "object"]
    schema = {}
    if chance.random() < 0.7:
        schema["type"] = chance.choice([chance.choice(kinds), chance.sample(kinds, 2)])
    for key, value in (
        ("minimum", chance.randint(-3, 3)), ("exclusiveMaximum", chance.randint(-1, 5)), ("maxLength", 2),
        ("minItems", 1), ("maxProperties", 1), ("enum", [1, "a", None, True]), ("const", "ab"),
        ("required", ["a"]), ("additionalProperties", False),
    ):  # fmt: skip
        if chance.random() < 0.1:
            schema[key] = value
    if depth < 3:
        for key in ("items", "additionalProperties"):
            if chance.random() < 0.2:
                schema[key] = made_up(chance, depth + 1)
        if chance.random() < 0.3:
            schema["properties"] = {name: made_up(chance, depth + 1) for name in "ab"}
        for key in ("anyOf", "allOf"):
            if chance.random() < 0.15:
                schema[key] = [made_up(chance, depth + 1) for _ in range(2)]
    return schema


def something(chance, depth=0):
    kind = chance.randrange(7 if depth < 3 else 5)
    if kind == 5:
        return [something(chance, depth + 1) for _ in range(chance.randrange(3))]
    if kind == 6:
        return {name: something(chance, depth + 1) for name in chance.sample("abc", chance.randrange(3))}
    return [chance.randint(-3, 6), chance.choice([0.5, 2.0]), chance.choice(["", "a", "ab", "cab"]), True, None][kind]


def test_the_verdict_is_that_of_jsonschema():
    jsonschema = pytest.importorskip("jsonschema")
    chance = random.Random(7)
    refused = 0
    for _ in range(4000):
        schema, value = made_up(chance), something(chance)
        is_fine = jsonschema.Draft202012Validator(schema).is_valid(value)
        try:
            check(value, schema, "it")
            assert is_fine, (schema, value)
        except ToolError as error:
            refused += 1
            assert not is_fine, (schema, value, error.message)
    assert 1000 < refused < 3900
