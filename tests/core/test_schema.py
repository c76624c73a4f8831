"""The chat schema: what a message must be, and what is told when it is not."""

from oasis.core import schema
from oasis.errors import SchemaError

ID = "036z951mhjikzik2gsl81gr7l"
CALL = {"type": "tool_use", "id": "c1", "name": "status", "input": {"what": "wifi"}}


def message(**fields):
    value = {"id": ID, "role": "assistant", "content": "hello"}
    value.update(fields)
    return value


def refusal(value):
    try:
        schema.check_message(value)
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
        {"type": "document", "media_type": "text/plain", "sha256": "0", "name": "log"},
        {"type": "image", "media_type": "image/png", "sha256": "0"},
    ]
    schema.check_message(message(content=content, continues=[ID], options={}, usage={"input_tokens": 1}))
    schema.check_message(message(taint=["device names"]))


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
