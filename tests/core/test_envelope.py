"""Upstream's envelope of tool outputs: foreign, measured, parsed; what means something to the program is split off."""

from oasis.core import envelope, jsonl, schema
from oasis.errors import SchemaError


def refusal(function, *arguments):
    try:
        function(*arguments)
    except SchemaError as error:
        return error.message
    raise AssertionError("it was taken")


def wrapped(*outputs, **fields):
    value = {"service": "OpenAI", "tool_outputs": list(outputs)}
    value.update(fields)
    return value


def output(value, name="wifi_scan", ident="c1"):
    return {"tool_call_id": ident, "name": name, "output": value if isinstance(value, str) else jsonl.dumps(value)}


def test_an_envelope_as_upstream_writes_it_is_read():
    text = (
        '{"service":"OpenAI","tool_outputs":[{"tool_call_id":"c1","name":"wifi_scan","output":'
        '"{\\"result\\":\\"success\\",\\"user_only\\":\\"| ssid |\\"}"}],"reboot":false,"shutdown":false}'
    )
    for given in (text, text.encode(), jsonl.loads(text)):
        found = envelope.read(given)
        assert found["service"] == "OpenAI"
        assert found["effects"] == {
            "user_only": ["| ssid |"], "reboot": False, "shutdown": False, "services": [], "notes": [],
        }  # fmt: skip
        (one,) = found["outputs"]
        assert (one["id"], one["name"], one["text"], one["is_error"]) == ("c1", "wifi_scan", "success", False)


def test_words_for_the_owner_never_stay_wherever_they_hide():
    inside = jsonl.dumps({"user_only": "SECRET", "b": 1})
    for value in (
        {"user_only": "SECRET"}, {"a": 1, "user_only": "SECRET"}, {"a": {"b": [{"user_only": "SECRET"}]}},
        [{"user_only": "SECRET"}], {"result": inside}, {"result": inside, "a": 1}, {"error": inside}, {"a": inside},
        {"a": [jsonl.dumps({"x": inside})]}, {"user_only": {"deep": "SECRET"}},
        {"user_only": ["SECRET"], "result": "x"},
        inside, {"result": inside, "user_only": "SECRET"}, {"a": jsonl.dumps(inside)},
        {"result": jsonl.dumps([{"user_only": "SECRET"}])}, {"a": '  {"user\\u005fonly": "SECRET"}'},
    ):  # fmt: skip
        text, _, effects = envelope.split(value if isinstance(value, str) else jsonl.dumps(value))
        assert "SECRET" not in text, value
        assert "SECRET" in "".join(effects["user_only"]), value


def test_words_about_the_field_are_just_words():
    for text in ("the field user_only is reserved", '{"user_only" is no JSON'):
        assert envelope.split(jsonl.dumps({"result": text})) == (text, False, envelope.no_effects())


def test_reserved_fields_become_effects_and_no_model_sees_them():
    text, is_error, effects = envelope.split(
        jsonl.dumps(
            {
                "message": "ok", "reboot": True, "shutdown": False, "prepare_service_restart": "network",
                "prepare_service_stop": "dnsmasq",
            }
        )
    )  # fmt: skip
    assert jsonl.loads(text) == {"message": "ok"}
    assert not is_error
    assert (effects["reboot"], effects["shutdown"]) == (True, False)
    assert effects["services"] == [{"action": "restart", "name": "network"}, {"action": "stop", "name": "dnsmasq"}]
    assert effects["notes"] == []


def test_reserved_fields_inside_of_result_count_too():
    for value in ({"result": '{"reboot":true,"a":1}'}, {"result": '{"reboot":true,"a":1}', "b": 2}):
        text, _, effects = envelope.split(jsonl.dumps(value))
        assert effects["reboot"] is True
        assert "reboot" not in text
        assert jsonl.loads(text)["a"] == 1


def test_an_effect_of_the_wrong_kind_is_none_and_is_told():
    for field, value in (
        ("reboot", "true"), ("reboot", 1), ("shutdown", None), ("prepare_service_restart", "../../bin/sh"),
        ("prepare_service_restart", ""), ("prepare_service_start", {}), ("prepare_service_enable", "x" * 65),
        ("prepare_service_disable", ".hidden"), ("prepare_service_stop", "a b"),
    ):  # fmt: skip
        text, _, effects = envelope.split(jsonl.dumps({field: value, "a": 1}))
        assert jsonl.loads(text) == {"a": 1}
        assert (effects["reboot"], effects["shutdown"], effects["services"]) == (False, False, [])
        assert field in effects["notes"][0]


def test_conventions_are_left_for_the_model():
    value = {
        "status": "OK",
        "note": "n",
        "caution": "c",
        "announce": "a",
        "comment": "x",
        "message": "m",
        "request": "r",
    }
    text, is_error, effects = envelope.split(jsonl.dumps(value))
    assert jsonl.loads(text) == value
    assert (is_error, effects) == (False, envelope.no_effects())


def test_an_error_is_an_error():
    assert envelope.split('{"error":"no such interface"}')[:2] == ("no such interface", True)
    text, is_error, _ = envelope.split('{"error":"tool_not_recognized","cause":"hallucination"}')
    assert is_error and jsonl.loads(text)["cause"] == "hallucination"
    assert envelope.split('{"error":""}')[1] is True
    assert envelope.split('{"error":"","a":1}')[1] is False


def test_fields_of_one_name_in_result_and_beside_it_are_both_kept():
    text, _, _ = envelope.split(jsonl.dumps({"a": 1, "result": '{"a":2,"b":3}'}))
    assert jsonl.loads(text) == {"a": 1, "b": 3, "result": {"a": 2}}


def test_what_has_nothing_to_split_off_stays_to_the_byte():
    for text in ('{"a" : 1.50}', "[1, 2]", "3", "null", '{"result": {"a": 1}}', '{"result":3}'):
        assert envelope.split(text) == (text, False, envelope.no_effects())
    assert envelope.split('"words"')[0] == "words"


def test_outputs_that_are_no_json_text_are_refused_by_their_path():
    deep = "[" * (envelope.DEPTH + 1) + "]" * (envelope.DEPTH + 1)
    for wrong in ({"a": 1}, None, 5, "", "{", "words", deep, '"%s"' % ("x" * envelope.OUTPUT_BYTES), '{"a":NaN}'):
        value = wrapped(output({"a": 1}), {"name": "x", "output": wrong})
        assert "envelope.tool_outputs[1].output" in refusal(envelope.read, value)


def test_what_is_wrong_in_an_envelope_is_named_by_its_path():
    good = output({})
    for path, value in (
        ("envelope must", []), ("envelope must", "5"), ("envelope.tool_outputs must", {"service": "x"}),
        ("envelope.tool_outputs must", wrapped(*([good] * (envelope.OUTPUTS + 1)))),
        ("envelope.tool_outputs[0] must", wrapped("x")), ("envelope.service", wrapped(service=5)),
        ("envelope.tool_outputs[0].name", wrapped({"output": "{}"})),
        ("envelope.tool_outputs[0].name", wrapped(output({}, "x" * 1025))),
        ("envelope.tool_outputs[0].tool_call_id", wrapped(output({}, "x", ["c"]))),
        ("envelope.reboot", wrapped(good, reboot="yes")), ("envelope.shutdown", wrapped(good, shutdown=1)),
    ):  # fmt: skip
        assert path in refusal(envelope.read, value), path
    assert "not a JSON text" in refusal(envelope.read, b"\xff")


def test_effects_of_the_whole_join_those_of_the_parts():
    found = envelope.read(
        wrapped(output({"reboot": True, "user_only": "a"}), output({"user_only": "b"}), shutdown=True)
    )
    assert found["effects"]["reboot"] and found["effects"]["shutdown"]
    assert found["effects"]["user_only"] == ["a", "b"]
    assert not found["outputs"][1]["effects"]["reboot"]


def test_outputs_become_results_that_the_schema_takes():
    found = envelope.read(
        wrapped(output({"result": "done", "user_only": "for you"}), output({"error": "no"}, "x", "c2"))
    )
    first, second = envelope.to_results(found, taint=["tool texts"])
    for block in (first, second):
        schema.check_block(block)
    assert (first["tool_use_id"], first["name"], first["user_only"]) == ("c1", "wifi_scan", "for you")
    assert first["content"] == [{"type": "text", "text": "done"}]
    assert first["taint"] == ["tool texts"]
    assert ("is_error" in first, second["is_error"], "user_only" in second) == (False, True, False)


def test_outputs_without_an_id_answer_the_first_open_call_of_their_name():
    calls = [
        {"type": "tool_use", "id": ident, "name": name, "input": {}}
        for ident, name in (("1", "a"), ("2", "b"), ("3", "a"))
    ]
    found = envelope.read(wrapped(*[{"name": name, "output": "{}"} for name in ("a", "b", "a", "c")]))
    assert [block["tool_use_id"] for block in envelope.to_results(found, calls)] == ["1", "2", "3", ""]
    found = envelope.read(wrapped(output("{}", "a", "3"), {"name": "a", "output": "{}"}))
    assert [block["tool_use_id"] for block in envelope.to_results(found, calls)] == ["3", "1"]


def result(text, is_error=False):
    return schema.tool_result({"id": "c1", "name": "status"}, text, is_error)


def test_what_is_written_is_read_again_word_for_word():
    for text in (
        "", "done", "two\nlines \u2028", '"quoted"', "5", "[1]", "{}", '{"a":1}', '{"a" : 1}', '{"result":"x"}',
        '{"error":"x"}', '{"result":{"a":1}}', '{"result":"{}","b":1}', "{broken", "user_only", '{"a":"user_only"}',
    ):  # fmt: skip
        for is_error in (False, True):
            if text == '{"error":"x"}' and not is_error:
                continue  # who says "error" failed
            block = result(text, is_error)
            written = jsonl.loads(jsonl.line(envelope.write([block], "Oasis")))
            assert isinstance(jsonl.loads(written["tool_outputs"][0]["output"]), dict)
            assert envelope.to_results(envelope.read(written)) == [block], text


def test_words_for_the_owner_are_written_only_for_the_owner():
    for text in ("done", '{"a":1}'):
        block = dict(result(text), user_only="for you")
        assert "for you" not in jsonl.dumps(envelope.write([block], "Oasis"))
        written = envelope.write([block], "Oasis", True, False, True)
        assert (written["reboot"], written["shutdown"]) == (True, False)
        assert envelope.to_results(envelope.read(written)) == [block]


def test_any_output_of_a_tool_is_read_or_refused():
    state = 3

    def below(limit):
        nonlocal state
        state = state * 48271 % 2147483647
        return state // 7 % limit

    def value(depth):
        kind = below(8 if depth else 5)
        if kind < 5:
            return ["x", 5, True, None, '{"user_only":"SECRET","a":[1]}'][kind]
        if kind == 5:
            return [value(depth - 1) for _ in range(below(3))]
        if kind == 6:
            return jsonl.dumps(value(depth - 1))
        keys = ("result", "error", "user_only", "reboot", "prepare_service_stop", "a", "b")
        return {keys[below(len(keys))]: value(depth - 1) for _ in range(below(4))}

    for _ in range(400):
        text, is_error, effects = envelope.split(jsonl.dumps(value(4)))
        assert "SECRET" not in text
        assert isinstance(text, str) and isinstance(is_error, bool) and sorted(effects) == sorted(envelope.no_effects())
        schema.check_block(result(text, is_error))
