"""What the schema refuses is read all the same: as much as can be kept is kept, the rest is reported, nothing fails."""

from oasis.core import chat_line, jsonl, schema
from oasis.errors import SchemaError

ID = "036z951mhjikzik2gsl81gr7l"
OTHER = "036z951mhjikzik2gsl81gr7m"
RESULT = {"type": "tool_result", "tool_use_id": "c1", "name": "status", "content": [{"type": "text", "text": "up"}]}


def message(**fields):
    value = {"id": ID, "role": "assistant", "content": "hello"}
    value.update(fields)
    return value


def read(**fields):
    """Return a message as it is read from a line, and the reports."""
    reports = []
    found = chat_line.line(0, jsonl.line(message(**fields))[:-1], reports)
    schema.check_message(found)
    return found, reports


def test_what_means_the_same_in_another_form_is_read_without_a_report():
    for fields, wanted in (
        ({"id": ID.upper()}, {"id": ID}),
        ({"continues": OTHER}, {"continues": [OTHER]}),
        ({"continues": None}, {"continues": []}),
        ({"continues": [OTHER.upper()]}, {"continues": [OTHER]}),
        ({"head": ""}, {"head": None}),
        ({"head": None}, {"head": None}),
        ({"cache": False}, {"cache": None}),
        ({"content": None}, {"content": ""}),
        ({"newer": [1]}, {"newer": [1]}),
        ({"options": None}, {"options": None}),
    ):
        found, reports = read(**fields)
        assert reports == [], fields
        for key in wanted:
            assert found.get(key) == wanted[key], (key, found)
        assert fields.get("content", 1) is None or found["content"] == "hello"


def test_what_cannot_be_read_costs_its_place_alone_and_is_named():
    audio = {"type": "audio", "sha256": "0f" * 32}
    for fields, name in (
        ({"content": [{"type": "text", "text": "a"}, audio]}, "content[1]"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "tool_use", "id": 5}]}, "content[1]"),
        ({"content": [{"type": "text", "text": "a"}, "text"]}, "content[1]"),
        ({"content": 7}, "content"),
        ({"role": "robot"}, "role"),
        ({"continues": [OTHER, 5]}, "continues"),
        ({"continues": {"a": 1}}, "continues"),
        ({"head": ID}, "head"),
        ({"stop_reason": "tired"}, "stop_reason"),
        ({"usage": {"input_tokens": 3, "output_tokens": -1}}, "usage"),
        ({"options": {"tool_mode": "auto", "search": "x"}}, "options"),
        ({"options": 3}, "options"),
        ({"model": 4}, "model"),
        ({"error": "boom"}, "error"),
        ({"taint": "device names"}, "taint"),
    ):
        found, reports = read(**fields)
        assert len(reports) == 1 and name in reports[0] and ID in reports[0], (fields, reports)
        assert found["id"] == ID
    found, _ = read(content=[{"type": "text", "text": "a"}, audio])
    assert found["content"][0] == {"type": "text", "text": "a"} and found["content"][1]["unread"] == audio
    assert "audio" in found["content"][1]["text"]
    assert read(continues=[OTHER, 5])[0]["continues"] == [OTHER]
    assert read(usage={"input_tokens": 3, "output_tokens": -1})[0]["usage"] == {"input_tokens": 3}
    assert read(options={"tool_mode": "auto", "search": "x"})[0]["options"] == {"tool_mode": "auto"}


def test_a_part_of_a_result_is_read_in_its_place():
    result = dict(RESULT, content=[{"type": "text", "text": "up"}, {"type": "audio"}])
    found, reports = read(role="tool", content=[result])
    block = found["content"][0]
    assert block["type"] == "tool_result" and block["tool_use_id"] == "c1" and len(block["content"]) == 2
    assert "content[0].content[1]" in reports[0]


def test_whose_words_cannot_be_told_are_not_the_owners():
    for fields in (
        {"taint": "device names"}, {"taint": []}, {"taint": [5]}, {"taint": None}, {"role": "robot"}, {"content": 7},
        {"content": [{"type": "audio"}]}, {"content": [dict(RESULT, taint=[])]}, {"content": [dict(RESULT, taint=5)]},
        {"content": [dict(RESULT, content=[{"type": "audio"}])]},
    ):  # fmt: skip
        assert chat_line.UNREADABLE in schema.taint_of(read(**fields)[0]), fields
    assert read(taint=["web pages", 5])[0]["taint"] == ["web pages", chat_line.UNREADABLE]
    assert schema.taint_of(read(head="")[0]) == []


def test_an_unknown_role_does_not_speak_as_oasis_or_as_a_model():
    found, _ = read(role="developer")
    assert found["role"] == "user" and found["foreign_role"] == "developer"


def test_without_an_id_there_is_no_message():
    for value in (message(id="home"), message(id=None), message(id="z" * 25), {"role": "user"}, 5, [], None):
        reports = []
        assert chat_line.line(7, jsonl.line(value)[:-1], reports) is None
        assert len(reports) == 1 and "byte 7" in reports[0] and "skipped" in reports[0]


def test_records_are_read_in_the_same_way():
    for value, wanted in (
        ({"type": "bookmark", "name": "x", "target": ID.upper()}, {"target": ID}),
        ({"title": "a", "by": "robot"}, {"title": "a"}),
        ({"title": "a" * 5000}, {"title": "a" * schema.TITLE_CHARS}),
        ({"type": "archived", "archived": True, "unix_s": "now"}, {"archived": True}),
        ({"type": "newer", "taint": 5}, {"taint": [chat_line.UNREADABLE]}),
    ):
        found = chat_line.lenient_record(value, [])
        schema.check_record(found)
        for key in wanted:
            assert found[key] == wanted[key]
    for value in ({"type": "bookmark", "name": "", "target": ID}, {"type": "bookmark", "name": "x", "target": 3}):
        try:
            chat_line.lenient_record(value, [])
        except SchemaError:
            continue
        raise AssertionError(value)


def test_any_change_of_any_field_is_read_or_refused_and_never_a_fault():
    whole = message(
        role="tool", content=[RESULT], continues=[OTHER], head="home", options={"search": True}, cache=True,
        usage={"input_tokens": 1}, stop_reason="end_turn", provider="p", model="m", error={"message": "x"}, taint=["a"],
    )  # fmt: skip
    wrong = (None, True, -1, 1.5, "", "x" * 2000, [], [None], [[]], {}, {"a": {}}, [{"type": "text"}], "z" * 25, ID)
    for key in list(whole):
        for value in wrong:
            made = dict(whole)
            made[key] = value
            _is_read(made)
    for key in list(RESULT):
        for value in wrong:
            block = dict(RESULT)
            block[key] = value
            _is_read(dict(whole, content=[block]))


def _is_read(value):
    reports = []
    found = chat_line.line(0, jsonl.line(value)[:-1], reports)
    if found is None or "role" not in found:
        assert reports or "role" not in value
        return
    schema.check_message(found)
    jsonl.line(found)
