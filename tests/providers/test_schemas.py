"""Tool schemas in every vendor's form, and names that all of them take."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oasis.core import jsonl
from oasis.errors import SchemaError
from oasis.providers import schemas, wire
from oasis.providers.schemas import fits_strict, reduced, without_nulls
from oasis.providers.wire import Toolset

try:
    import jsonschema
except ImportError:
    jsonschema = None  # then the published rules of JSON Schema do not judge the forms

# Properties that are called like keywords.
NAMED = {
    name: {"type": "string"}
    for name in ("format", "type", "$ref", "$schema", "const", "anyOf", "additionalProperties", "properties", "default",
                 "required", "items", "enum", "exclusiveMinimum", "title", "not", "$defs", "nullable")
}  # fmt: skip


def of(kind, **properties):
    """Return the reduced schema of the property `a`."""
    return reduced({"type": "object", "properties": properties}, kind)["properties"]["a"]


# What is a name and what is a keyword


@pytest.mark.parametrize("kind", ["plain", "gemini", "strict"])
def test_properties_called_like_keywords_stay_at_every_depth(kind):
    schema = {"type": "object", "properties": {**NAMED, "inner": {
        "type": "array", "items": {"type": "object", "properties": NAMED, "required": list(NAMED)}}}}  # fmt: skip
    whole = reduced(schema, kind)
    inner = whole["properties"]["inner"]
    assert set(whole["properties"]) == {*NAMED, "inner"}
    assert set(inner["items"]["properties"]) == set(NAMED) == set(inner["items"]["required"])


@pytest.mark.parametrize("schema", [None, {}, True, False, [], "x", 7, {"type": "string"}, {"properties": []}])
@pytest.mark.parametrize("kind", ["plain", "gemini", "strict"])
def test_the_outermost_is_always_an_object(kind, schema):
    assert reduced(schema, kind)["type"] in ("object", "OBJECT")


def test_branches_of_the_outermost_are_one_object():
    schema = {"type": "object", "properties": {"a": {}}, "anyOf": [
        {"properties": {"b": {}, "c": {}}, "required": ["b", "c"]},
        {"properties": {"b": {}}, "required": ["b"]}]}  # fmt: skip
    whole = reduced(schema, "plain")
    assert set(whole["properties"]) == {"a", "b", "c"} and whole["required"] == ["b"] and "anyOf" not in whole


def test_a_tool_without_schema_takes_nothing_and_one_with_a_text_is_refused():
    assert schemas.of_tool({"name": "x"}, "plain") == {"type": "object", "properties": {}}
    with pytest.raises(SchemaError, match="tool 'x' has a str"):
        schemas.of_tool({"name": "x", "input_schema": "{"}, "plain")


def test_what_was_given_is_not_changed():
    schema = {"properties": {"a": {"allOf": [{"type": "string"}], "const": "x", "anyOf": [{"type": "string"}, True]}}}
    before = json.dumps(schema)
    for kind in ("plain", "gemini", "strict"):
        reduced(schema, kind)
    assert json.dumps(schema) == before


# References


def test_references_become_what_they_name():
    schema = {
        "properties": {"a": {"$ref": "#/$defs/A~1b", "description": "of a"}, "b": {"$ref": "#/definitions/B"},
                       "c": {"$ref": "#/properties/list/items/0"}, "list": {"items": [{"type": "integer"}]}},
        "$defs": {"A/b": {"type": "string", "description": "any"}}, "definitions": {"B": {"$ref": "#/$defs/A~1b"}},
    }  # fmt: skip
    properties = reduced(schema, "plain")["properties"]
    assert properties["a"] == {"type": "string", "description": "of a"}
    assert properties["b"] == {"type": "string", "description": "any"}
    assert properties["c"] == {"type": "integer"}
    assert "$ref" not in json.dumps(reduced(schema, "gemini"))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"type": "integer", "minimum": 3, "exclusiveMinimum": True}, {"type": "integer", "exclusiveMinimum": 3}),
        ({"type": "integer", "minimum": 3, "exclusiveMinimum": False}, {"type": "integer", "minimum": 3}),
        ({"items": [{"type": "string"}], "additionalItems": False}, {"prefixItems": [{"type": "string"}]}),
        ({"type": "any", "minLength": -1, "pattern": 7, "enum": [], "anyOf": {}, "x-order": 1}, {}),
        ({"type": ["string", 7]}, {}),
        ({"required": ["a", "a", 7], "properties": []}, {"required": ["a"]}),
        ({"multipleOf": 0, "maximum": True, "title": ["t"], "description": "d"}, {"description": "d"}),
    ],
)
def test_old_and_wrong_keywords_do_not_go_out(given, wanted):
    assert schemas.inlined(given) == wanted


@pytest.mark.parametrize("reference", ["#/nowhere", "http://example.org/x", "#anchor", "#/a/9", ""])
def test_references_to_nothing_are_left_open(reference):
    assert schemas.inlined({"$ref": reference, "description": "d"}) == {"description": "d"}


def test_recursion_is_cut_off():
    schema = {"$ref": "#/$defs/N", "$defs": {"N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}}}
    assert schemas.inlined(schema) == {"type": "object", "properties": {"next": {"type": "object"}}}
    assert schemas.inlined({"$ref": "#"}) == {}


def test_references_that_multiply_have_bounds():
    defined = {f"n{i}": {"type": "object", "description": "x" * 500, "properties": {
        side: {"$ref": f"#/$defs/n{i + 1}"} for side in "abcd"}} for i in range(18)}  # fmt: skip
    schema = {"properties": {"a": {"$ref": "#/$defs/n0"}}, "$defs": defined}
    for kind in ("plain", "gemini", "strict"):
        assert len(json.dumps(reduced(schema, kind))) < 1024 * 1024


def test_a_deep_schema_can_still_be_sent():
    schema = {"type": "string"}
    for _ in range(100):
        schema = {"type": "object", "properties": {"a": schema}}
    for kind in ("plain", "gemini", "strict"):
        jsonl.dumps({"tools": [{"functionDeclarations": [{"parameters": reduced(schema, kind)}]}]})


# Gemini


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}),
        ({"type": "null"}, {"type": "STRING", "nullable": True}),
        ({"const": "x"}, {"type": "STRING", "enum": ["x"]}),
        ({"const": 5}, {"type": "INTEGER", "description": "one of [5]"}),
        ({"enum": ["a", "", None, "a"]}, {"type": "STRING", "enum": ["a"], "nullable": True}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "INTEGER", "description": "one of [1,2]"}),
        ({"type": "integer", "enum": [1], "description": "d"}, {"type": "INTEGER", "description": "d (one of [1])"}),
        ({"type": "boolean", "enum": [True]}, {"type": "BOOLEAN"}),
        ({"items": {"type": "string"}, "anyOf": [{"type": "array"}, {"type": "null"}]},
         {"type": "ARRAY", "items": {"type": "STRING"}, "nullable": True}),
        ({"type": "integer", "exclusiveMinimum": 0}, {"type": "INTEGER", "minimum": 1}),
        ({"type": "number", "exclusiveMinimum": 0}, {"type": "NUMBER", "description": "(exclusiveMinimum: 0)"}),
        ({"type": "integer", "exclusiveMinimum": True, "minimum": 3},
         {"type": "INTEGER", "minimum": 4}),
        ({"type": "string", "format": "ipv4", "description": "An address."},
         {"type": "STRING", "description": "An address. (format: ipv4)"}),
        ({"type": "string", "format": "date-time", "default": "x"},
         {"type": "STRING", "format": "date-time", "description": "(default: x)"}),
        ({"type": "string", "minLength": 1, "pattern": "^a"}, {"type": "STRING", "minLength": 1, "pattern": "^a"}),
        ({"type": "array"}, {"type": "ARRAY", "items": {"type": "STRING"}}),
        ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
         {"type": "ARRAY", "items": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}}),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "OBJECT"}),
        ({"properties": {"b": True, "c": False}, "required": ["b", "b", "c", "d"]},
         {"type": "OBJECT", "properties": {"b": {"type": "STRING"}}, "required": ["b"]}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "description": "d"},
         {"type": "STRING", "description": "d", "nullable": True}),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}, {"const": None}], "description": "d"},
         {"anyOf": [{"type": "STRING", "description": "d", "nullable": True}, {"type": "INTEGER", "nullable": True}]}),
        ({"allOf": [{"properties": {"b": {"type": "string"}}, "required": ["b"]},
                    {"properties": {"c": {"type": "string"}}, "required": ["c"]}], "not": {}},
         {"type": "OBJECT", "properties": {"b": {"type": "STRING"}, "c": {"type": "STRING"}}, "required": ["b", "c"]}),
        ({"type": "object", "properties": {"b": {"type": "string"}}, "anyOf": [{"required": ["b"]}, {}]},
         {"type": "OBJECT", "properties": {"b": {"type": "STRING"}}}),
        ({}, {"type": "STRING"}),
    ],
)  # fmt: skip
def test_what_gemini_reads(given, wanted):
    assert of("gemini", a=given) == wanted


# Strict


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"type": "string", "minLength": 1}, {"type": ["string", "null"], "description": "(minLength: 1)"}),
        ({"enum": ["x"]}, {"type": ["string", "null"], "enum": ["x", None]}),
        ({"type": ["integer", "null"]}, {"type": ["integer", "null"]}),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]},
         {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}),
        ({"type": "array", "items": {"type": "object", "properties": {}}},
         {"type": ["array", "null"],
          "items": {"type": "object", "properties": {}, "required": [], "additionalProperties": False}}),
    ],
)  # fmt: skip
def test_what_strict_modes_take_for_an_optional_property(given, wanted):
    assert of("strict", a=given) == wanted


def test_strict_objects_are_closed_and_every_property_is_required():
    whole = reduced({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["b"]}, "strict")
    assert whole == {
        "type": "object",
        "properties": {"a": {"type": ["string", "null"]}, "b": {"type": "string"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("schema", "fits"),
    [
        ({}, True),
        ({"properties": {"a": {"type": "string"}}}, True),
        ({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}, True),
        ({"properties": {"a": {"type": "array", "items": {"type": "string"}}}}, True),
        ({"properties": {"a": False}}, True),
        ({"properties": {"a": {"type": "array"}}}, False),
        ({"properties": {"a": {}}}, False),
        ({"properties": {"a": {"type": "object"}}}, False),
        ({"properties": {"a": {"type": "object", "additionalProperties": {"type": "string"}}}}, False),
        ({"additionalProperties": True}, False),
        ({"properties": {"a": {"properties": {"b": {"patternProperties": {}, "properties": {}}}}}}, False),
        (
            {"$defs": {"N": {"properties": {"n": {"$ref": "#/$defs/N"}}}}, "properties": {"n": {"$ref": "#/$defs/N"}}},
            False,
        ),
    ],
)
def test_what_the_strict_form_says_whole(schema, fits):
    assert fits_strict(schema) is fits


def test_specs_of_the_strict_form_lose_their_nulls_where_the_schema_has_none():
    inner = {"properties": {"c": {"type": "string"}, "d": {"type": ["string", "null"]}}}
    schema = {"properties": {"a": {"type": "string"}, "b": {"type": "array", "items": inner},
                             "e": {"anyOf": [inner, {"type": "null"}]}, "f": {"type": "string"}},
              "required": ["f"]}  # fmt: skip
    given = {"a": None, "b": [{"c": None, "d": None}, 7], "e": {"c": None}, "f": None, "other": None}
    assert without_nulls(given, schema) == {"b": [{"d": None}, 7], "e": {}, "f": None, "other": None}


# Any schema

WORD = st.sampled_from(["a", "b", "type", "$ref"])
LEAF = st.one_of(
    st.sampled_from([True, False, {}, {"$ref": "#/properties/a"}, {"$ref": "#"}, {"const": 1}]),
    st.just({"enum": [None, "x", ""]}),
    st.builds(lambda kind, limit: {"type": kind, "minLength": limit, "exclusiveMinimum": limit, "format": "ipv4"},
              st.sampled_from(["string", "integer", ["string", "null"], ["array", "number"], "null", "x"]),
              st.sampled_from([1, True, "1", None])),
)  # fmt: skip


def _larger(inner):
    many = st.lists(inner, max_size=3)
    return st.one_of(
        st.builds(lambda held, needed: {"type": "object", "properties": held, "required": needed},
                  st.dictionaries(WORD, inner, max_size=3), st.lists(WORD | st.just(7), max_size=2)),
        st.builds(lambda held: {"type": "array", "items": held}, inner | many),
        st.builds(lambda word, held: {word: held, "description": "d"},
                  st.sampled_from(["anyOf", "oneOf", "allOf"]), many),
        st.builds(lambda held: {"type": "object", "additionalProperties": held, "title": "t"}, inner),
    )  # fmt: skip


SCHEMAS = st.recursive(LEAF, _larger, max_leaves=8).map(lambda held: held if isinstance(held, dict) else {})


# Two parts of one schema may need the same property.
TWICE = {"allOf": [{"type": "object", "properties": {}, "required": ["type"]}] * 2, "description": "d"}


@settings(max_examples=300, deadline=None)
@given(SCHEMAS)
@example(TWICE)
def test_any_schema_has_all_forms(schema):
    plain, strict = reduced(schema, "plain"), reduced(schema, "strict")
    assert '"$ref": "' not in json.dumps(plain)
    jsonl.dumps(reduced(schema, "gemini"))
    if jsonschema:
        for form in (plain, strict):
            jsonschema.Draft202012Validator.check_schema(form)
    _is_strict(strict)
    without_nulls({"a": None, "b": [{}]}, schema)
    assert reduced(plain, "gemini") == reduced(schema, "gemini") and fits_strict(plain) == fits_strict(schema)


def _is_strict(schema):
    assert set(schema) <= {"type", "description", "title", "enum", "anyOf", "items", "properties", "required",
                           "additionalProperties"}  # fmt: skip
    assert "type" in schema or "anyOf" in schema
    if "object" in schema.get("type", ()):
        assert schema["additionalProperties"] is False and schema["required"] == list(schema["properties"])
    for one in (
        *schema.get("properties", {}).values(),
        *schema.get("anyOf", ()),
        *([schema["items"]] if "items" in schema else []),
    ):
        _is_strict(one)


# Names


def test_names_are_legal_apart_and_come_back():
    given = ["status", "mcp.do it", "mcp:do it", "mcp_do_it", "9lives", "grün", "x" * 80, "x" * 90, "", "-a"]
    known = wire.Names(given)
    words = [known.legal(name) for name in given]
    assert words[:5] == ["status", "mcp_do_it_2", "mcp_do_it_3", "mcp_do_it", "_9lives"]
    assert len(set(words)) == len(given) and all(wire.legal(word) == word for word in words)
    assert [known.original(word) for word in words] == given
    assert known.original("never_heard") == "never_heard"


def test_names_of_a_request_are_changed_everywhere_and_back():
    use, result = {"type": "tool_use", "id": "1", "name": "a.b"}, {"type": "tool_result", "name": "c.d"}
    said = {"role": "assistant", "content": [{"type": "text", "text": "a.b"}, use]}
    chat = [{"role": "user", "content": "a.b"}, said, {"role": "tool", "content": [result, 7]}]
    tools, options = [{"name": "a.b", "description": "d"}], {"tool_choice": {"name": "a.b"}, "model": "m"}
    known = Toolset(chat, tools, options)
    assert known.tools == [{"name": "a_b", "description": "d"}]
    assert known.options == {"tool_choice": {"name": "a_b"}, "model": "m"}
    assert known.messages[1]["content"][1]["name"] == "a_b" and use["name"] == "a.b"
    assert known.messages[2]["content"][0]["name"] == "c_d" and known.messages[0] == chat[0]
    found = {"type": "tool_use", "name": "a_b", "input": {"x": None}}
    assert known.event(found) == {"type": "tool_use", "name": "a.b", "input": {"x": None}}
    assert known.event({"type": "delta", "text": "a_b"}) == {"type": "delta", "text": "a_b"}
    assert Toolset([], [], options).messages == []


def test_calls_in_strict_form_come_back_as_the_tool_wants_them():
    tool = {"name": "a.b", "input_schema": {"properties": {"x": {"type": "string"}, "y": {"type": "string"}}}}
    found = {"type": "tool_use", "name": "a_b", "input": {"x": None, "y": "1"}}
    known = Toolset([], [tool], {"strict": True})
    assert known.event(found) == {"type": "tool_use", "name": "a.b", "input": {"y": "1"}}


@given(st.lists(st.text(max_size=70), max_size=8, unique=True))
def test_any_names_are_legal_apart_and_come_back(given_names):
    known = wire.Names(given_names)
    words = [known.legal(name) for name in given_names]
    assert len(set(words)) == len(words) and [known.original(word) for word in words] == given_names
    assert all(0 < len(word) <= 64 and word == wire.legal(word) for word in words)
