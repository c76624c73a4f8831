"""Fuzzed calls of tools: arguments against schemas of anybody, and the words that reach programs of the router."""

import json
import re

from oasis.core import jsonl
from oasis.errors import OasisError, SchemaError, ToolError
from oasis.tools import specs
from oasis.tools.builtin import packages, probing

WORDS = (
    b'{|}|[|]|,|:|"type":|"string"|"integer"|"number"|"null"|["string","null"]|"enum":|"const":|"required":|"a"|'
    b'"properties":|"additionalProperties":|"items":|"minimum":|"maxLength":|"minItems":|"pattern":|"^(a+)+$"|"anyOf":|'
    b'"oneOf":|"allOf":|"$ref":"#"|"$ref":"#/$defs/a"|"$defs":|true|false|null|-0|1e308|9|"\\ud800"|"\xe2\x80\xae"'
).split(b"|")
SEEDS = [
    json.dumps(pair).encode()
    for pair in (
        [{"type": "object", "properties": {"a": {"enum": ["x", 1]}}, "required": ["a"]}, {"a": "x"}],
        [{"anyOf": [{"type": "string", "pattern": "^[a-z]+$"}, {"type": "null"}]}, "abc"],
        [{"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}, "maxItems": 2}}}, [[], [[]]]],
        [{"allOf": [{"minimum": 1}, {"exclusiveMaximum": 3}], "additionalProperties": {"type": "number"}}, {"b": 0.5}],
    )
]
PROGRAM_WORDS = b"-|--|.|:|::|1.1.1.1|192.168.1.1|dev#|.ip|openwrt.org|\n|\0|;|$(|`| |/|\xe2\x80\xae|.ipk|_|x".split(
    b"|"
)
PROGRAM_SEEDS = [
    b"openwrt.org",
    b"1.1.1.1",
    b"2a03:b0c0:3:f0::1b4a:f000",
    b"dev#12345",
    b"luci-app-sqm",
    b"::ffff:1.2.3.4",
]
_PLAIN = re.compile(r"[a-z0-9_][a-z0-9_.:-]*\Z|[0-9a-f:.]+\Z")


def schemas(data):
    """Arguments fit or are refused in few words, in time; what a schema says is never taken for code."""
    try:
        schema, value = jsonl.loads(data)
    except (SchemaError, ValueError, TypeError):
        return
    try:
        specs.check(value, schema, "tool")
    except ToolError as error:
        assert error.message.startswith(("tool", "the schema of tool")) and len(error.message) < 4000, error.message


class _Facts:
    key = b""

    def devices(self):
        return []

    def called(self, name):
        return []


def programs(data):
    """What becomes a word of a program is a plain name or address, never an option, or it is refused."""
    text = data.decode("utf-8", "replace")
    try:
        target = probing._target(text.strip().lower(), _Facts())
        assert _PLAIN.match(target) and not target.startswith("-"), target
    except OasisError as error:
        assert len(error.message) < 1200
    try:
        [name] = packages._names({"action": "install", "names": [text]})
        assert re.match(r"[A-Za-z0-9][A-Za-z0-9.+_-]*\Z", name), name
    except OasisError as error:
        assert len(error.message) < 1200
