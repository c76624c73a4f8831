"""JSON lines: what is refused before it is parsed, what is refused before it is written."""

import sys

from oasis.core import jsonl
from oasis.errors import SchemaError


def refusal(function, *arguments):
    try:
        function(*arguments)
    except SchemaError as error:
        return error.message
    raise AssertionError("it was taken")


def nested(levels):
    value = []
    for _ in range(levels - 1):
        value = [value]
    return value


def test_a_value_comes_back():
    value = {"text": "Grüße \U0001f600", "list": [1, -2, 2.5, True, None, {"deep": []}], "": ""}
    assert jsonl.loads(jsonl.line(value)) == value


def test_a_line_is_compact_raw_utf_8_with_one_line_end():
    assert jsonl.line({"a": "ü\u2028"}) == b'{"a":"\xc3\xbc\xe2\x80\xa8"}\n'
    assert jsonl.line({"a": "one\ntwo"}).count(b"\n") == 1


def test_blanks_around_a_value_are_no_part_of_it():
    assert jsonl.loads(' \t{"a": 1}\r\n') == {"a": 1}


def test_a_deep_text_is_refused_before_it_is_parsed():
    for opening in (b"[", b'{"a":', b'[{"a":'):
        assert "nested deeper than 64" in refusal(jsonl.loads, opening * 100_000)


def test_the_deepest_text_allowed_is_read_and_written():
    assert jsonl.loads(b"[" * 64 + b"]" * 64) == nested(64)
    assert jsonl.loads(jsonl.line(nested(64))) == nested(64)


def test_what_could_not_be_read_again_is_not_written():
    assert "64 levels" in refusal(jsonl.line, nested(65))
    assert "64 levels" in refusal(jsonl.loads, b"[" * 65 + b"]" * 65)


def test_brackets_in_texts_are_not_counted():
    text = "[{" * 1000 + '"\\'
    assert jsonl.loads(jsonl.line([text])) == [text]


def test_neighbours_are_no_depth():
    assert len(jsonl.loads(b"[" + b"[]," * 5000 + b"[]]")) == 5001


def test_unbalanced_brackets_do_not_hide_depth():
    assert refusal(jsonl.loads, b"]" * 50 + b"[" * 100_000)
    assert refusal(jsonl.loads, b'"' + b"[" * 100_000)


def test_a_long_text_is_refused_before_it_is_parsed():
    assert "1048577 bytes" in refusal(jsonl.loads, b" " * (jsonl.LINE_BYTES + 1))
    assert jsonl.loads(b" " * (jsonl.LINE_BYTES - 1) + b"1") == 1


def test_limits_can_be_smaller():
    assert "11 bytes" in refusal(jsonl.loads, b'"123456789"', 10)
    assert "2 levels" in refusal(jsonl.loads, b"[[[]]]", 100, 2)


def test_what_is_no_json_is_refused():
    for text in (b"", b" ", b"{", b"{'a': 1}", b"nul", b"1 2", b"{}{}", b"\xff"):
        assert refusal(jsonl.loads, text)


def test_what_micropython_would_take_is_refused_on_a_router():
    if sys.implementation.name == "micropython":
        return  # its parser takes a comma too many, and raw control characters
    for text in (b"{]", b"[1,]", b"[1 2]", b'{"a":1,}', b'"\n"', b'"\xed\xa0\x80"', b"01", b"1.", b'"\\x"', b'{"a"}'):
        assert refusal(jsonl.loads, text)


def test_words_that_only_python_takes_for_numbers_are_refused():
    for text in (b"NaN", b"[Infinity]", b'{"a": -Infinity}'):
        assert refusal(jsonl.loads, text)


def test_numbers_too_large_for_a_float_are_refused():
    for text in (b"1e400", b"[-1e400]", b'{"a": [1, {"b": 1E+999}]}', b"[1.5, 1" + b"0" * 400 + b".0]"):
        assert refusal(jsonl.loads, text)
    assert jsonl.loads(b"[1e300, -2.5, 1e-400]") == [1e300, -2.5, 0.0]


def test_a_message_about_a_bad_text_is_short():
    try:
        jsonl.loads(b"x" * 10_000)
    except SchemaError as error:
        assert len(error.message + error.hint) < 300


def test_a_value_without_json_form_is_named_by_its_path():
    assert "a.b[1]" in refusal(jsonl.dumps, {"a": {"b": [1, b"bytes"]}})
    assert "a.b[0]" in refusal(jsonl.dumps, {"a": {"b": [float("nan")]}})
    assert "value" in refusal(jsonl.dumps, float("inf"))
    assert "7" in refusal(jsonl.dumps, {"a": {7: 1}})
    assert "set" in refusal(jsonl.dumps, [{1, 2}])


def test_canonical_text_does_not_depend_on_the_order_of_keys():
    one = {"b": [1, {"d": None, "c": True}], "a": "ü"}
    other = {"a": "ü", "b": [1, {"c": True, "d": None}]}
    assert jsonl.canonical(one) == jsonl.canonical(other) == '{"a":"ü","b":[1,{"c":true,"d":null}]}'


def test_canonical_text_differs_where_values_do():
    texts = [jsonl.canonical(value) for value in (1, "1", [1], {"1": 1}, True, None, [[1]], [1, 1], "")]
    assert len(set(texts)) == len(texts)


def test_of_what_is_no_json_nothing_is_quoted():
    try:
        jsonl.loads(b"root:$1$salt$hash")
    except SchemaError as error:
        assert "root" not in error.message + error.hint and "salt" not in error.message + error.hint
        return
    raise AssertionError("it was taken")


def test_a_long_text_is_written_in_pieces_as_it_would_be_whole():
    long = ('quote " line\n\u2028 🙂 \\' + "é" * 61) * 2000
    for value in (long, {"a": long, "b": [1, {"c": long, "d": None}]}, [long, True], {long: 1.5}):
        assert jsonl.line(value) == jsonl.dumps(value).encode("utf-8") + b"\n"


def test_a_text_of_too_many_values_is_refused_before_it_is_parsed():
    for text in ("[" + "0," * 50 + "0]", "[" + "[]," * 30 + "[]]", "{" + '"a":1,' * 60 + '"b":2}'):
        assert jsonl.loads(text, max_values=200) is not None
        try:
            jsonl.loads(text, max_values=30)
        except SchemaError as error:
            assert "values" in error.message
            continue
        raise AssertionError(text)
    assert jsonl.loads('["' + ",[{" * 500 + '"]', max_values=10), "what stands in a text is none"
    kept = jsonl._BLOCK_BYTES
    try:
        for jsonl._BLOCK_BYTES in (1, 2, 3, 7):
            assert jsonl.loads('["\\\\\\"[,{",["\\\\",0]' + ",1" * 70 + "]", max_depth=2, max_values=80)
    finally:
        jsonl._BLOCK_BYTES = kept


def test_a_whole_number_too_long_to_be_read_costs_its_own_place_alone():
    if sys.implementation.name == "micropython":
        return  # it reads them
    for digits in ("9" * 4301, "-" + "9" * 5000):
        assert jsonl.loads('{"tokens":' + digits + ',"text":"kept"}') == {"tokens": None, "text": "kept"}
    assert jsonl.loads("9" * 4300) == int("9" * 4300)
