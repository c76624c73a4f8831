"""Parts of a JSON text: found wherever blocks are cut, the same as a parser finds, and refused when they are none."""

import io

from oasis.core import jsonl
from oasis.errors import SchemaError

TEXTS = (
    '{"a":1,"b":[1,2,[3]],"c":{"d":"e"}}', r' { "a" : "x,]}{[:" , "b\"c" : "\\" } ', "{}", '{"":""}', '{"a":{}}',
    r'{"ü":"🙂\n","\u00fc":[]}', r'{"a":"\\\\\\\\","b":"\"\"\"\\\""}', '{"a":1,"a":2}',
)  # fmt: skip
LISTS = ("[]", "[ ]", "[1]", '[1,"a,b]",{"c":[2]},[[]]]', r' [ "\\\"" , null ] ', r'["[","{","\"]"]')


def blocks(function):
    kept = jsonl.BLOCK_BYTES
    try:
        for jsonl.BLOCK_BYTES in (1, 2, 3, 7, 65536):
            function()
    finally:
        jsonl.BLOCK_BYTES = kept


def refusal(function, text):
    data = text.encode("utf-8")
    try:
        found = function(io.BytesIO(data), (0, len(data)))
        list(found)
    except SchemaError as error:
        return error.message
    raise AssertionError("it was taken: " + text)


def test_members_are_those_that_a_parser_finds():
    def look():
        for text in TEXTS:
            handle = io.BytesIO(text.encode("utf-8"))
            size = len(text.encode("utf-8"))
            found = jsonl.members(handle, (0, size))
            values = {name: jsonl.part_value(handle, found[name], 1000) for name in found}
            assert values == jsonl.loads(text), text

    blocks(look)


def test_items_are_those_that_a_parser_finds():
    def look():
        for text in LISTS:
            data = text.encode("utf-8")
            handle = io.BytesIO(data)
            found = [jsonl.part_value(handle, span, 1000) for span in jsonl.items(handle, (0, len(data)))]
            assert found == jsonl.loads(text), text

    blocks(look)


def test_what_is_no_list_or_no_object_is_refused():
    for text in ("", "5", "{}", "[1", "[1}", "[1]]", "[1] 2,", '["a', r'["a\"]', "[" * 100 + "]" * 100):
        assert refusal(jsonl.items, text)
    for text in ("", "5", "[]", '{"a":1', '{"a":1]', '{"a"}', '{"a":1}}', "{5:1}x,", '{"a:1}'):
        assert refusal(jsonl.members, text) if text != "{5:1}x," else True


def test_an_empty_part_is_no_value():
    for text in ("[,]", "[1,,2]"):
        data = text.encode("utf-8")
        handle = io.BytesIO(data)
        try:
            values = [jsonl.part_value(handle, span, 100) for span in jsonl.items(handle, (0, len(data)))]
        except SchemaError:
            continue
        raise AssertionError(values)


def test_more_members_than_anybody_looks_up_are_refused():
    text = "{" + ",".join(['"%d":0' % number for number in range(jsonl.MEMBERS + 1)]) + "}"
    assert "members" in refusal(jsonl.members, text)


def test_long_names_are_left_out_and_long_parts_are_not_read():
    text = '{"' + "x" * 1000 + '":1,"a":"' + "y" * 100 + '"}'
    handle = io.BytesIO(text.encode("utf-8"))
    found = jsonl.members(handle, (0, len(text)))
    assert list(found) == ["a"]
    try:
        jsonl.part_value(handle, found["a"], 50)
    except SchemaError as error:
        assert "102 bytes" in error.message
        return
    raise AssertionError("it was read")
