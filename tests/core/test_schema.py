"""The chat schema: what a message must be, and what is told when it is not."""

from oasis.core import jsonl, schema
from oasis.errors import SchemaError

ID = "036z951mhjikzik2gsl81gr7l"
CALL = {"type": "tool_use", "id": "c1", "name": "status", "input": {"what": "wifi"}}
SHA256 = "0f" * 32


def message(**fields):
    value = {"id": ID, "role": "assistant", "content": "hello"}
    value.update(fields)
    return value


def refusal(value, check=schema.check_message):
    try:
        check(value)
    except SchemaError as error:
        return error.message
    raise AssertionError("it was taken")


def test_messages_of_every_role_and_kind_are_taken():
    for role in schema.ROLES:
        schema.check_message(message(role=role))
    for reason in schema.STOP_REASONS:
        schema.check_message(message(stop_reason=reason))
    content = [
        {"type": "text", "text": "a"},
        {"type": "thinking", "text": "b", "provider_metadata": {"x": 1}},
        CALL,
        schema.tool_result(CALL, "done", True, ["device names"]),
        {"type": "tool_use", "id": "c2", "name": "status", "input": {}, "invalid": "{what"},
        {"type": "document", "media_type": "text/plain", "sha256": SHA256, "name": "log", "size_bytes": 0},
        {"type": "image", "media_type": "image/png", "sha256": SHA256},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result"}]},
    ]
    schema.check_message(message(content=content, continues=[ID], options={}, usage={"input_tokens": 1}))
    schema.check_message(message(taint=["device names"]))
    schema.check_message(message(head="home-wifi", cache=True, provider="p", model="m", error={"code": "x"}))


def test_fields_of_newer_programs_are_kept():
    schema.check_message(message(content=[{"type": "text", "text": "a", "newer": 1}], newer=[1]))


def test_what_is_wrong_is_named_by_its_path():
    assert "message must be an object" in refusal([])
    assert "message.id" in refusal(message(id="home-wifi"))
    assert "message.id" in refusal({"role": "user", "content": ""})
    assert "message.role" in refusal(message(role="robot"))
    assert "message.content" in refusal(message(content=None))
    assert "message.content[1].text" in refusal(message(content=[{"type": "text", "text": ""}, {"type": "text"}]))
    assert "message.content[0].input" in refusal(
        message(content=[{"type": "tool_use", "id": "", "name": "", "input": []}])
    )
    assert "message.continues" in refusal(message(continues=ID))
    assert "message.continues[1]" in refusal(message(continues=[ID, 5]))
    assert "message.stop_reason" in refusal(message(stop_reason="stop"))
    assert "message.options" in refusal(message(options=[]))
    assert "message.usage" in refusal(message(usage=3))


def test_what_is_wrong_inside_a_block_is_named_by_its_path():
    image = {"type": "image", "media_type": "image/png", "sha256": SHA256}
    wrong = [
        ("[0].sha256", dict(image, sha256="../../etc/shadow")),
        ("[0].sha256", dict(image, sha256=SHA256.upper())),
        ("[0].media_type", {"type": "image", "sha256": SHA256}),
        ("[0].size_bytes", dict(image, size_bytes=-1)),
        ("[0].size_bytes", dict(image, size_bytes=True)),
        ("[0].name", dict(image, name=5)),
        ("[0].provider_metadata", {"type": "thinking", "text": "", "provider_metadata": "x"}),
        ("[0].invalid", dict(CALL, invalid={})),
        ("[0].is_error", dict(schema.tool_result(CALL, ""), is_error="yes")),
        ("[0].user_only", dict(schema.tool_result(CALL, ""), user_only=["x"])),
        ("[0].content[0].type", dict(schema.tool_result(CALL, ""), content=[schema.tool_result(CALL, "")])),
        ("[0].content[0].type", dict(schema.tool_result(CALL, ""), content=[CALL])),
        ("[0].taint", {"type": "text", "text": "", "taint": "x"}),
    ]
    for path, block in wrong:
        assert "message.content" + path in refusal(message(content=[block])), path


def test_what_is_wrong_beside_the_content_is_named_by_its_path():
    wrong = [
        ("head", {"head": ""}), ("head", {"head": ID}), ("head", {"head": "a\nb"}), ("head", {"head": 5}),
        ("cache", {"cache": False}), ("cache", {"cache": "yes"}),
        ("provider", {"provider": None}), ("model", {"model": 5}), ("error", {"error": "x"}),
        ("usage.input_tokens", {"usage": {"input_tokens": -1}}),
        ("usage.output_tokens", {"usage": {"output_tokens": None}}),
        ("usage.reasoning_tokens", {"usage": {"reasoning_tokens": True}}),
        ("options.servers", {"options": {"servers": "a"}}), ("options.servers[0]", {"options": {"servers": [5]}}),
        ("options.search", {"options": {"search": "no"}}), ("options.tool_mode", {"options": {"tool_mode": "any"}}),
        ("options.provider_ptr", {"options": {"provider_ptr": {}}}),
    ]  # fmt: skip
    for path, fields in wrong:
        assert "message." + path in refusal(message(**fields)), path
    schema.check_message(message(options={"servers": [], "search": False, "tool_mode": "none", "provider_ptr": ""}))


def nested(levels):
    value = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def test_what_is_too_big_too_deep_or_too_many_is_refused_by_its_path():
    def limits():
        yield ".content has", message(content="x" * (schema.TEXT_CHARS + 1))
        yield ".content[0].text has", message(content=[{"type": "text", "text": "x" * (schema.TEXT_CHARS + 1)}])
        yield ".content has", message(content=[{"type": "text", "text": ""}] * (schema.BLOCKS + 1))
        yield ".continues has", message(continues=[ID] * (schema.PARENTS + 1))
        yield ".content[0].input has", message(content=[dict(CALL, input=nested(schema.VALUE_DEPTH + 1))])
        yield ".content[0].input has", message(content=[dict(CALL, input={"a": [0] * schema.VALUE_ITEMS})])
        yield ".content[0].name has", message(content=[dict(CALL, name="x" * (schema.WORD_CHARS + 1))])
        yield ".options has", message(options=nested(schema.VALUE_DEPTH + 1))
        yield ".head", message(head="x" * (schema.BOOKMARK_CHARS + 1))
        yield ".content[0] has", message(content=[{"type": "server_tool_use", "x": nested(schema.VALUE_DEPTH)}])

    for path, value in limits():
        assert "message" + path in refusal(value), path
    schema.check_message(message(content=[dict(CALL, input=nested(schema.VALUE_DEPTH))]))
    schema.check_message(message(content="x" * schema.TEXT_CHARS, continues=[ID] * schema.PARENTS))


def test_what_passes_can_be_written_and_read_again():
    deep = message(content=[dict(CALL, input=nested(schema.VALUE_DEPTH))], options=nested(schema.VALUE_DEPTH))
    schema.check_message(deep)
    assert jsonl.loads(jsonl.line({"request": {"messages": [deep]}}))["request"]["messages"] == [deep]


def test_records_about_the_chat_are_taken():
    for record in (
        {"type": "title", "title": "Home"}, {"type": "title", "title": "", "by": "model", "taint": ["device names"]},
        {"title": "as first written"},
        {"type": "bookmark", "name": "home wifi", "target": ID}, {"type": "bookmark", "name": "x", "target": ""},
        {"type": "archived", "archived": False, "unix_s": 1}, {"type": "archived", "archived": True},
        {"type": "forgotten", "id": ID, "continues": [ID]}, {"type": "newer", "anything": [1]},
    ):  # fmt: skip
        schema.check_record(record)
        assert not schema.is_message(schema.check_line(record))
    assert schema.is_message(schema.check_line(message()))


def test_what_is_wrong_in_a_record_is_named_by_its_path():
    for path, record in (
        ("record must", []), ("record.title", {}), ("record.title", {"type": "title", "title": 5}),
        ("record.by", {"title": "", "by": "nobody"}), ("record.by", {"title": "", "by": []}),
        ("record.title has", {"title": "x" * (schema.TITLE_CHARS + 1)}),
        ("record.type", {"type": 5}), ("record.type", {"type": ""}), ("record.type", {"type": []}),
        ("record.name", {"type": "bookmark", "target": ID}), ("record.target", {"type": "bookmark", "name": "x"}),
        ("record.name", {"type": "bookmark", "name": ID, "target": ID}),
        ("record.target", {"type": "bookmark", "name": "x", "target": "home"}),
        ("record.archived", {"type": "archived", "archived": 1}),
        ("record.unix_s", {"type": "archived", "archived": True, "unix_s": -1}),
        ("record.id", {"type": "forgotten", "id": "x"}), ("record.taint", {"title": "", "taint": []}),
    ):  # fmt: skip
        assert path in refusal(record, schema.check_record), path
    assert "line.role" in refusal({"role": None, "id": ID, "content": ""}, schema.check_line)
    assert "line must" in refusal("x", schema.check_line)


def test_a_response_has_every_part_of_the_normalized_form():
    response = {
        "type": "message", "role": "assistant", "model": "m", "content": [CALL], "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 2},
    }  # fmt: skip
    schema.check_response(response)
    for name in response:
        less = {key: response[key] for key in response if key != name}
        assert "response." + name in refusal(less, schema.check_response), name
    assert "response.content" in refusal(dict(response, content="x"), schema.check_response)
    assert "response.content[0].id" in refusal(
        dict(response, content=[{"type": "tool_use", "name": "x", "input": {}}]), schema.check_response
    )


def test_names_of_bookmarks():
    for name in ("home", "home wifi", "Gäste", "chat:telegram:5", "x" * schema.BOOKMARK_CHARS, ID[:24], ID + "0"):
        assert schema.bookmark_fault(name) == "", name
    for name in (
        "",
        ID,
        ID.upper(),
        "a" * 25,
        "1" * 25,
        "a\tb",
        " a",
        "a ",
        "a\u202eb",
        "a\u200bb",
        "\x7f",
        None,
        5,
        [],
    ):
        assert schema.bookmark_fault(name), name


def test_taint_that_cannot_be_read_does_not_pass_for_none():
    for wrong in ("device names", [], [5], None, True, {}):
        assert "message.taint" in refusal(message(taint=wrong))
        result = schema.tool_result(CALL, "done")
        result["taint"] = wrong
        assert "message.content[0].taint" in refusal(message(role="tool", content=[result]))


def test_the_taint_of_a_message_is_its_own_and_that_of_its_blocks():
    first = schema.tool_result(CALL, "a", False, ["device names", "log lines"])
    second = schema.tool_result(CALL, "b")
    third = schema.tool_result(CALL, "c", False, ["log lines", "web pages"])
    assert "taint" not in second
    assert schema.taint_of(message(role="tool", content=[first, second, third])) == [
        "device names", "log lines", "web pages",
    ]  # fmt: skip
    assert schema.taint_of(message(taint=["x"], content=[first])) == ["x", "device names", "log lines"]
    assert schema.taint_of(message()) == schema.taint_of(message(content="")) == []


def test_a_block_type_of_any_value_is_refused_not_a_fault():
    for kind in (None, 5, [], {}, "video", True):
        assert "content[0].type" in refusal(message(content=[{"type": kind}]))
    assert "content[0]" in refusal(message(content=["text"]))


def test_roles_and_reasons_of_any_value_are_refused_not_a_fault():
    for value in (None, [], {}, 1):
        assert "role" in refusal(message(role=value))
        assert "stop_reason" in refusal(message(stop_reason=value))


def test_the_inside_of_a_result_is_checked():
    result = {"type": "tool_result", "tool_use_id": "c1", "name": "status", "content": [{"type": "text"}]}
    assert "content[0].content[0].text" in refusal(message(content=[result]))


def test_blocks_of_both_stored_forms():
    assert schema.blocks(message(content="a")) == [{"type": "text", "text": "a"}]
    assert schema.blocks(message(content="")) == []
    assert schema.blocks(message(content=[CALL])) == [CALL]


def test_the_text_of_a_message_leaves_other_blocks_out():
    content = [{"type": "text", "text": "a"}, {"type": "thinking", "text": "no"}, CALL, {"type": "text", "text": "b"}]
    assert schema.text_of(message(content=content)) == "a\nb"


def test_one_plain_text_is_stored_as_text_and_nothing_is_lost_by_it():
    assert schema.compact([{"type": "text", "text": "a"}]) == "a"
    assert schema.compact([]) == ""
    kept = [{"type": "text", "text": "a", "provider_metadata": {"x": 1}}]
    assert schema.compact(kept) == kept
    assert schema.compact([CALL]) == [CALL]


def test_a_result_answers_its_call():
    result = schema.tool_result(CALL, "no", True)
    assert (result["tool_use_id"], result["name"], result["is_error"]) == ("c1", "status", True)
    assert "is_error" not in schema.tool_result(CALL, "yes")
