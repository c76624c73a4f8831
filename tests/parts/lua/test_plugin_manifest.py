"""What manifests and upstream's sections say of tools, whatever is in them."""

import json

import pytest

from oasis.errors import SchemaError
from oasis.parts.lua import plugins
from oasis.uci import model
from tests.parts.lua.kit import manifest as made
from tests.parts.lua.kit import tool

SECTION = """
config tool
	option name 'get_weather'
	option script 'lua'
	option server 'oasis.lua.template.tool'
	option enable '0'
	option type 'function'
	option description 'Get the weather: of a place'
	option execution_message 'Looking'
	option timeout '5000'
	option conflict '0'
	list required 'location'
	list property 'location:string:City and country: e.g. Oslo'
	list property 'days:number:'
	option additionalProperties '0'

config tool
	option name 'status'
	option enable '1'

config tool
	option name 'files___read'
	option server 'mcp:files'
	option enable '1'
"""


def of(**more):
    return plugins.of_file(json.dumps({**made(names=("say_hello",)), **more}).encode())


def test_a_property_without_description_is_kept():
    found = plugins.of_file(json.dumps(made(names=("add",))).encode())[0]
    assert found["input_schema"]["properties"] == {"a": {"type": "string"}, "b": {"type": "string"}}
    assert found["input_schema"]["required"] == ["a", "b"] and found["input_schema"]["additionalProperties"] is False


def test_a_required_argument_that_nobody_described_is_text():
    found = of(tools=[tool("confirm", required=["option"])])[0]
    assert found["input_schema"]["properties"] == {"option": {"type": "string"}}


@pytest.mark.parametrize(
    "kind, wanted",
    [("string", "string"), ("integer", "integer"), ("number", "number"), ("boolean", "boolean"), ("a_string", "string"),
     (7, "string"), (["boolean"], "string")],
)  # fmt: skip
def test_types_are_those_of_json_schema_and_all_else_is_text(kind, wanted):
    entry = tool("x", properties=[{"name": "one", "type": kind, "description": "d"}])
    assert of(tools=[entry])[0]["input_schema"]["properties"]["one"] == {"type": wanted, "description": "d"}


def test_older_manifests_call_script_and_path_otherwise():
    old = {"version": 1, "script_type": "ucode", "script_path": "/usr/share/rpcd/ucode/a.uc", "tools": [tool("x")]}
    found = plugins.of_file(json.dumps(old).encode())[0]
    assert (found["kind"], found["path"]) == ("ucode", "/usr/share/rpcd/ucode/a.uc")


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"null", b"{", b'{"version":2}', b'{"version":true,"source_type":"manual","tools":[]}',
     b'{"version":1,"source_type":"shell","tools":[]}', b'{"version":1,"source_type":"manual","tools":{}}',
     b"[" * 100_000, b'{"version":1,"source_type":"manual","tools":[' + b" " * plugins.MANIFEST_BYTES + b"]}"],
)  # fmt: skip
def test_what_is_no_manifest_is_refused(data):
    with pytest.raises(SchemaError):
        plugins.of_file(data)


def test_wrong_types_anywhere_are_left_out_or_take_the_usual():
    junk = [None, 1, "x", [], {}, {"server": 1, "name": "x"}, {"server": "s", "name": ""}]
    odd = {"server": "s", "name": "n", "description": 5, "required": {"a": 1}, "properties": "x", "timeout": {}}
    found = of(tools=[*junk, odd, tool("y", properties=[1, {"name": None}, {"name": ""}], required=[1, "", None])])
    assert [one["name"] for one in found] == ["n", "y"]
    assert found[0]["description"] == "" and found[0]["timeout_s"] == plugins.TIMEOUT_S
    assert all(one["input_schema"]["properties"] == {} and one["input_schema"]["required"] == [] for one in found)


@pytest.mark.parametrize(
    "given, wanted",
    [("", 60), (None, 60), (0, 60), ("90", 90), (600, 600), (60000, 60), ("1500", 1), (True, 60), (-5, 60), (1.5, 60),
     ("9" * 40, 60), (999_999_999, 600)],
)  # fmt: skip
def test_timeouts_are_seconds_or_thousandths_and_bounded(given, wanted):
    assert plugins.seconds(given) == wanted


def test_more_tools_than_anybody_reads_are_cut():
    assert len(of(tools=[tool("t%d" % n) for n in range(1000)])) == plugins.TOOLS


def test_sections_of_upstream_are_read_as_they_stand_and_permits_are_no_tools():
    found = plugins.of_sections(model.parse(SECTION.encode(), "oasis").sections)
    assert [(one["server"], one["name"], one["kind"], one["timeout_s"], one["says"]) for one in found] == [
        ("oasis.lua.template.tool", "get_weather", "lua", 5, ["Looking"])
    ]
    assert found[0]["input_schema"] == {
        "type": "object", "required": ["location"], "additionalProperties": False,
        "properties": {"location": {"type": "string", "description": "City and country: e.g. Oslo"},
                       "days": {"type": "number"}},
    }  # fmt: skip
