"""Framing: the same items whole, byte by byte and at any cut."""

from oasis.core.framing import Events, Lines, text
from oasis.errors import SchemaError


def run(make, pieces):
    reader = make()
    items = []
    for piece in pieces:
        items.extend(reader.feed(piece))
    items.extend(reader.close())
    return items


def at_every_cut(make, raw):
    whole = run(make, [raw])
    assert run(make, [raw[i : i + 1] for i in range(len(raw))]) == whole
    for cut in range(len(raw) + 1):
        assert run(make, [raw[:cut], raw[cut:]]) == whole, cut
    for size in (2, 3, 5):
        assert run(make, [raw[i : i + size] for i in range(0, len(raw), size)]) == whole, size
    return whole


def data_of(events):
    return [event["data"] for event in events]


def test_every_line_end_gives_the_same_events():
    for end in (b"\n", b"\r\n", b"\r"):
        raw = b"data: one" + end + end + b"data: two" + end + end
        assert data_of(at_every_cut(Events, raw)) == ["one", "two"], end


def test_mixed_line_ends_in_one_stream():
    raw = b"data: a\r\n\ndata: b\r\rdata: c\n\r\n"
    assert data_of(at_every_cut(Events, raw)) == ["a", "b", "c"]


def test_data_lines_of_one_event_are_joined_with_a_line_feed():
    assert data_of(at_every_cut(Events, b"data: a\ndata:b\ndata\ndata:  c\n\n")) == ["a\nb\n\n c"]


def test_a_line_end_cut_in_two_is_one_line_end():
    assert data_of(at_every_cut(Events, b"data: a\r\ndata: b\r\n\r\n")) == ["a\nb"]


def test_comments_ids_retries_and_unknown_fields_are_left_out():
    raw = b": ping\n\n:\nid: 4\nretry: 10\nother: x\ndata: kept\n\nevent: lonely\n\n"
    assert at_every_cut(Events, raw) == [{"event": "message", "data": "kept"}]


def test_the_event_name_belongs_to_one_event_only():
    raw = b"event: error\ndata: 1\n\ndata: 2\n\n"
    assert at_every_cut(Events, raw) == [{"event": "error", "data": "1"}, {"event": "message", "data": "2"}]


def test_one_leading_byte_order_mark_is_removed():
    assert data_of(at_every_cut(Events, b"\xef\xbb\xbfdata: x\n\n")) == ["x"]
    assert data_of(at_every_cut(Events, b"data: \xef\xbb\xbfx\n\n")) == ["\ufeffx"]


def test_an_event_left_open_by_the_end_is_delivered():
    assert data_of(at_every_cut(Events, b"data: 1\n\ndata: [DONE]")) == ["1", "[DONE]"]
    assert data_of(at_every_cut(Events, b"data: [DONE]\n")) == ["[DONE]"]


def test_characters_cut_in_two_are_whole_again():
    words = "Straße 日本 \U0001f600"
    assert data_of(at_every_cut(Events, ("data: " + words + "\n\n").encode("utf-8"))) == [words]


def test_only_cr_and_lf_end_a_line():
    words = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg"
    assert data_of(at_every_cut(Events, ("data: " + words + "\n\n").encode("utf-8"))) == [words]
    assert at_every_cut(Lines, (words + "\n").encode("utf-8")) == [words.encode("utf-8")]


def test_bytes_that_are_no_utf8_do_not_end_the_stream():
    events = run(Events, [b"data: a\xff\n\ndata: b\n\n"])
    assert "\ufffd" in events[0]["data"] and events[1]["data"] == "b"
    assert text(b"plain") == "plain"


def test_a_field_beyond_the_standard_is_read_when_asked_for():
    raw = b'error: {"a":1}\n\ndata: [DONE]\n\n'
    assert data_of(run(Events, [raw])) == ["[DONE]"]
    events = at_every_cut(lambda: Events(extra_fields=("error",)), raw)
    assert events[0] == {"event": "error", "data": '{"a":1}'}


def test_long_events_are_cut_nowhere():
    long = "x" * 300000
    assert data_of(run(Events, [b"data: " + long.encode() + b"\n\n"])) == [long]


def test_lines_come_without_ends_and_blank_ones_are_left_out():
    assert at_every_cut(Lines, b'{"a":1}\n\n{"b":2}\r\n\r\n{"c":3}') == [b'{"a":1}', b'{"b":2}', b'{"c":3}']
    assert at_every_cut(Lines, b"") == []


def test_bytes_count_as_they_came():
    reader = Events(max_bytes=10)
    reader.feed(b"\r\n" * 5)
    try:
        reader.feed(b"\n")
        raise AssertionError("it was taken")
    except SchemaError:
        pass


def test_more_bytes_than_allowed_are_an_error():
    for make in (Lines, Events):
        reader = make(max_bytes=10)
        reader.feed(b"1234567890")
        try:
            reader.feed(b"1")
        except SchemaError as error:
            assert "10 bytes" in error.message and error.hint
        else:
            raise AssertionError("the limit let an eleventh byte pass")
