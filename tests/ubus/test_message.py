"""Values of the bus: as the real programs say them to the byte, every type and limit, and whatever lies of itself."""

import json
import math
import os
import struct
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oasis.errors import ToolError
from oasis.ubus import message
from oasis.ubus.message import DEEPEST, VALUES, attribute, attributes, decode, encode

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "bus_recorded.json"), encoding="utf-8") as handle:
    SCENES = json.load(handle)["scenes"]

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
NUMBERS = st.integers(-(1 << 63), (1 << 63) - 1)
PLAIN = st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
NAMES = TEXTS.filter(bool)
NESTED = st.recursive(
    PLAIN, lambda one: st.lists(one, max_size=4) | st.dictionaries(NAMES, one, max_size=4), max_leaves=12
)


def named(kind, name, content, flag=0x80):
    head = len(name).to_bytes(2, "big") + name + b"\0"
    head += bytes(-len(head) % 4)
    return (flag << 24 | kind << 24 | 4 + len(head) + len(content)).to_bytes(4, "big") + head + content


def padded(data):
    return data + bytes(-len(data) % 4)


def messages(scene, side):
    """Return (type, number, peer, attributes) of all messages that one side said."""
    said = b"".join(bytes.fromhex(one) for who, one in SCENES[scene]["bytes"] if who == side)
    found = []
    while said:
        size = 8 + (int.from_bytes(said[8:12], "big") & 0xFFFFFF)
        found.append((said[1], int.from_bytes(said[2:4], "big"), int.from_bytes(said[4:8], "big"), said[12:size]))
        said = said[size:]
    return found


def every_data():
    for scene in SCENES:
        for side in ("bus", "client"):
            for number, (_, _, _, content) in enumerate(messages(scene, side)):
                words = attributes(content)
                for kind in (message.OF_DATA, message.OF_SIGNATURE):
                    if kind in words:
                        yield pytest.param(words[kind], id="%s-%s-%d-%d" % (scene, side, number, kind))


@pytest.mark.parametrize("data", list(every_data()))
def test_recorded_values_are_written_as_they_were_read(data):
    again = encode(decode(data))
    assert decode(again) == decode(data)
    if b"expires" not in data:  # a small number that rpcd says in 64 bits
        assert again == data


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("side", ["bus", "client"])
def test_recorded_messages_are_written_as_they_were_read(scene, side):
    for kind, sequence, peer, content in messages(scene, side):
        words = b"".join(attribute(key, value) for key, value in attributes(content).items())
        head = bytes([0, kind]) + sequence.to_bytes(2, "big") + peer.to_bytes(4, "big")
        size = (4 + len(content)).to_bytes(4, "big")
        assert message.message(kind, sequence, peer, words) == head + size + content


def test_recorded_values_are_those_that_the_program_printed():
    reply = attributes(messages("call-uci-get", "bus")[-2][3])[message.OF_DATA]
    assert decode(reply) == json.loads(SCENES["call-uci-get"]["result"]["stdout"])
    replies = [words[3] for words in messages("publish", "client") if words[0] == message.DATA]
    shown = json.loads(SCENES["publish"]["result"][1]["stdout"])
    assert decode(attributes(replies[0])[message.OF_DATA]) == shown
    assert shown["big"] == 5000000000 and shown["nul"] is None and shown["dbl"] == 0.25 and shown["b"] is True


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(NAMES, NESTED, max_size=5))
def test_what_is_written_is_read_as_the_same(values):
    again = decode(encode(values))
    assert again == values
    assert json.dumps(again, sort_keys=True) == json.dumps(values, sort_keys=True), "true is not 1, 1 is not 1.0"


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_values_or_refused(data):
    for read in (decode, attributes):
        try:
            found = read(data)
        except ToolError:
            continue
        assert isinstance(found, dict)
    try:
        values = decode(data)
    except ToolError:
        return
    assert json.dumps(decode(encode(without_infinite(values)))) is not None


def without_infinite(value):
    if isinstance(value, dict):
        return {key: without_infinite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [without_infinite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(NAMES, NESTED, max_size=4), st.data())
def test_values_with_a_changed_byte_are_values_or_refused(values, data):
    said = bytearray(encode(values) or b"\0")
    said[data.draw(st.integers(0, len(said) - 1))] = data.draw(st.integers(0, 255))
    try:
        decode(bytes(said))
    except ToolError as error:
        assert error.message.startswith("the bus sent")


@pytest.mark.parametrize("kind, content, value", [
    (message.NOTHING, b"", None), (message.NOTHING, b"abcd", None), (message.INT8, b"\0", False),
    (message.INT8, b"\x7f", True), (message.INT16, b"\xff\xfe", -2), (message.INT32, b"\x80\0\0\0", -(1 << 31)),
    (message.INT64, b"\x7f" + b"\xff" * 7, (1 << 63) - 1), (message.DOUBLE, struct.pack(">d", 1.5), 1.5),
    (message.STRING, b"\0", ""), (message.STRING, b"a\xffb\0", "a\ufffdb"), (message.STRING, b"ab\0cd\0", "ab"),
    (message.ARRAY, b"", []), (message.TABLE, b"", {}),
])  # fmt: skip
def test_each_type_has_its_value(kind, content, value):
    found = decode(padded(named(kind, b"x", content)))
    assert found == {"x": value} and type(found["x"]) is type(value)


@pytest.mark.parametrize("kind, content", [
    (message.INT8, b""), (message.INT8, b"\0\1"), (message.INT16, b"\1"), (message.INT32, b"\0" * 8),
    (message.INT64, b"\0" * 4), (message.DOUBLE, b"\0" * 4), (message.STRING, b""), (message.STRING, b"ab"),
    (9, b"\0"), (127, b""), (message.TABLE, b"\x80\0\0\x0a\0\1a\0\0"), (message.ARRAY, b"\0\0\0\3"),
])  # fmt: skip
def test_a_value_that_its_type_cannot_have_is_refused(kind, content):
    with pytest.raises(ToolError, match="a broken message"):
        decode(padded(named(kind, b"x", content)))


@pytest.mark.parametrize("data", [
    b"\x83\0\0\0", b"\x83\0\0\3", b"\x83\0\0\x09\0\1x\0", b"\x83\0\0\x08\xff\xff\0\0", b"\x83\0\0\x06\0\0",
    b"\x83\0\0\x08\0\1xy", b"\x83\0\0\x04", b"\x83\0\0\x0a\0\4abcd", b"\x83\xff\xff\xff" + bytes(20),
    padded(named(3, b"x", b"ok\0")) + b"\x83\0\1\0abcd",
])  # fmt: skip
def test_a_length_that_lies_is_refused(data):
    with pytest.raises(ToolError, match="a broken message"):
        decode(data)


def test_a_name_may_be_no_text_and_is_then_another_name():
    assert decode(padded(named(7, b"\xff\xfe", b"\1"))) == {"\ufffd\ufffd": True}
    assert decode(padded(named(7, b"a\0b", b"\1"))) == {"a\0b": True}


def test_the_first_of_a_name_counts_and_what_has_none_is_passed_over_as_in_c():
    twice = padded(named(3, b"ubus_rpc_session", b"one\0")) + padded(named(3, b"ubus_rpc_session", b"two\0"))
    assert decode(twice) == {"ubus_rpc_session": "one"}
    assert decode(b"\x05\0\0\x08\0\0\0\1" + twice) == {"ubus_rpc_session": "one"}
    assert decode(padded(named(1, b"a", b"\x05\0\0\x08\0\0\0\1"))) == {"a": [1]}


def test_text_that_c_would_cut_is_not_cut():
    assert decode(encode({"words": "open\0 the door", "a\0b": 1})) == {"words": "open\ufffd the door", "a\ufffdb": 1}
    assert decode(encode({"half": "\ud800"})) == {"half": "?"}


def test_what_only_json_can_say_is_said_as_near_as_may_be():
    assert decode(encode({"n": 1 << 63, "m": -(1 << 63) - 1})) == {"n": str(1 << 63), "m": str(-(1 << 63) - 1)}
    assert decode(encode({"": {"": 1}})) == {"\ufffd": {"\ufffd": 1}}


def deep(levels):
    value = named(7, b"x", b"\1")
    for _ in range(levels):
        value = named(2, b"t", padded(value))
    return padded(value)


def test_levels_have_an_end_in_both_directions():
    values = decode(deep(DEEPEST))
    assert encode(values) == deep(DEEPEST)
    with pytest.raises(ToolError, match="more than 64 levels"):
        decode(deep(DEEPEST + 1))
    assert len(encode({"t": {"t": {"t": values}}})) > len(deep(DEEPEST + 2)), "what was read goes out inside of more"
    round_and_round = {}
    round_and_round["again"] = [round_and_round]
    with pytest.raises(ToolError, match="more than 128 levels"):
        encode(round_and_round)


def test_the_number_of_values_has_an_end_and_is_counted_over_all_levels():
    one = b"\x00\0\0\4"
    half = padded(named(1, b"", one * (VALUES // 2 - 1)))
    assert len(decode(half)[""]) == VALUES // 2 - 1
    with pytest.raises(ToolError, match="more than 65536 values"):
        decode(half * 3)


def test_a_megabyte_of_anything_is_read_in_time():
    cases = [
        b"\x00\0\0\4" * (1 << 18),
        bytes(1 << 20),
        padded(named(3, b"x", b"a" * (1 << 20) + b"\0")),
        deep(64) * 800,
    ]
    cases.append(padded(named(2, b"t", padded(named(1, b"a", b"\x01\0\0\4" * 60000)))))
    began = time.process_time()
    for data in cases:
        try:
            decode(data)
        except ToolError:
            pass
    assert time.process_time() - began < 5


@pytest.mark.parametrize("value, words", [
    (math.nan, "takes no nan"),
    (-math.inf, "takes no -inf"), (b"x", "takes no bytes"), ({1, 2}, "takes no set"), (object, "takes no type"),
])  # fmt: skip
def test_a_value_that_the_bus_has_no_type_for_is_refused(value, words):
    with pytest.raises(ToolError, match=words):
        encode({"a": [{"b": value}]})


def test_what_is_too_long_for_an_attribute_is_refused():
    with pytest.raises(ToolError, match="more than the bus takes"):
        encode({"a": "x" * (1 << 24)})
    with pytest.raises(ToolError, match="no name of 65536 bytes"):
        encode({"x" * 65536: 1})
    assert decode(encode({"x" * 65535: 1})) == {"x" * 65535: 1}


def test_lists_of_any_kind_are_arrays_and_names_are_text():
    assert decode(encode({1: (1, 2), "n": None})) == {"1": [1, 2], "n": None}
