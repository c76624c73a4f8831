"""The Responses API: tables of (chat, request body) and (recorded bytes, events)."""

import base64
import json

import pytest

from oasis.errors import SchemaError, SettingsError, UsageError
from oasis.providers import events, responses
from tests.providers.recordings import (
    JSON,
    at_every_cut,
    calls_of,
    cut_off_everywhere,
    decode,
    error_of,
    options,
    text_of,
)

TOOL = {"name": "status", "description": "Look.", "input_schema": {"type": "object", "properties": {}}}
PNG = base64.b64encode(b"\x89PNG").decode()
PDF = base64.b64encode(b"%PDF-1.4").decode()
REASONING = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "sealed 1"}


def message(role, *blocks):
    return {"role": role, "content": [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]}


def call(ident="c1", name="status", arguments=None, **more):
    return {"type": "tool_use", "id": ident, "name": name, "input": arguments or {}, **more}


def result(ident="c1", words="3", **more):
    return {"type": "tool_result", "tool_use_id": ident, "name": "status", "content": words, **more}


def kept(**fields):
    return {"provider_metadata": {"responses": {"model": "m-1", **fields}}}


def body_of(messages, tools=(), profile="responses", **more):
    return json.loads(responses.build_request(list(messages), list(tools), options(profile, **more))["body"])


# Requests


def test_a_plain_turn_has_only_what_it_needs():
    request = responses.build_request(
        [message("system", "s"), message("user", "hi")], [], options("responses", key="k")
    )
    assert request["url"] == "https://api.openai.com/v1/responses"
    assert request["headers"]["authorization"] == "Bearer k"
    assert json.loads(request["body"]) == {
        "model": "m-1",
        "instructions": "s",
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }


def test_a_tool_turn_is_four_items():
    chat = [
        message("user", "u"),
        message("assistant", "I look. ", call("c1", arguments={"what": "x"}), call("c2")),
        message("tool", result("c1"), result("c2", "no", is_error=True)),
    ]
    assert body_of(chat)["input"][1:] == [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look. "}]},
        {"type": "function_call", "call_id": "c1", "name": "status", "arguments": '{"what":"x"}'},
        {"type": "function_call", "call_id": "c2", "name": "status", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "3"},
        {"type": "function_call_output", "call_id": "c2", "output": "Error: no"},
    ]


@pytest.mark.parametrize(
    ("choice", "field"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ({"name": "status"}, {"type": "function", "name": "status"}),
    ],
)
def test_tools_are_flat_and_never_strict_by_accident(choice, field):
    body = body_of([message("user", "u")], [TOOL], tool_choice=choice)
    schema = {"type": "object", "properties": {}}
    tool = {"type": "function", "name": "status", "description": "Look.", "parameters": schema, "strict": False}
    assert body["tools"] == [tool] and body["tool_choice"] == field


def test_without_tools_neither_tools_nor_choice_are_sent():
    assert not {"tools", "tool_choice"} & set(body_of([message("user", "u")], tool_choice="required"))


def test_strict_tools_are_closed_where_that_says_the_same():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    free = {"name": "free", "input_schema": {"type": "object", "additionalProperties": True}}
    tools = body_of([message("user", "u")], [{**TOOL, "input_schema": schema}, free], strict=True)["tools"]
    assert tools[0]["strict"] is True and tools[0]["parameters"]["additionalProperties"] is False
    assert tools[0]["parameters"]["properties"]["a"]["type"] == ["string", "null"]
    assert tools[1]["strict"] is False


def test_a_tool_schema_that_is_no_object_is_refused():
    with pytest.raises(SchemaError, match="invalid tool schema"):
        body_of([message("user", "u")], [{"name": "x", "input_schema": "{"}])


def test_limits_effort_and_temperature():
    body = body_of([message("user", "u")], max_tokens=5, temperature=0.5, thinking="low")
    assert body["max_output_tokens"] == 16 and body["temperature"] == 0.5 and body["reasoning"] == {"effort": "low"}
    assert body_of([message("user", "u")], max_tokens=500)["max_output_tokens"] == 500


@pytest.mark.parametrize(
    ("model", "has_include", "has_temperature", "has_reasoning"),
    [
        ("gpt-4o", False, True, False),
        ("gpt-5.6", True, False, True),
        ("gpt-5.2", True, True, True),
        ("o3", True, False, True),
    ],
)
def test_what_models_refuse_is_not_sent(model, has_include, has_temperature, has_reasoning):
    body = body_of([message("user", "u")], model=model, temperature=0.5, thinking="high")
    assert ("include" in body, "temperature" in body, "reasoning" in body) == (
        has_include,
        has_temperature,
        has_reasoning,
    )


def test_reasoning_goes_back_before_what_it_led_to():
    second = {**REASONING, "id": "rs_2", "encrypted_content": "sealed 2"}
    chat = [
        message("user", "u"),
        message(
            "assistant",
            {"type": "thinking", "text": "hm", **kept(items=[REASONING], phase="commentary")},
            "I look.",
            call("c1", **kept(items=[second])),
        ),
        message("tool", result("c1")),
    ]
    items = body_of(chat)["input"]
    assert [item.get("encrypted_content", item["type"]) for item in items] == [
        "message",
        "sealed 1",
        "message",
        "sealed 2",
        "function_call",
        "function_call_output",
    ]
    assert items[1] == REASONING
    unsealed = {name: value for name, value in REASONING.items() if name != "encrypted_content"}
    chat[1]["content"][0].update(kept(items=[unsealed]))
    assert "id" not in body_of(chat)["input"][1], "the service has stored nothing under it"
    assert items[2]["phase"] == "commentary"
    assert not any("id" in item for item in items if item["type"] != "reasoning")


@pytest.mark.parametrize("asked", [{"model": "other"}, {"profile": "responses_compatible", "base_url": "http://h/v1"}])
def test_reasoning_of_another_model_or_service_stays_behind(asked):
    thought = {"type": "thinking", "text": "hm", **kept(items=[REASONING])}
    chat = [message("user", "u"), message("assistant", thought, "a"), message("user", "v")]
    assert "sealed 1" in json.dumps(body_of(chat))
    assert "sealed 1" not in json.dumps(body_of(chat, **asked))


def test_the_reasoning_of_a_call_that_was_dropped_is_dropped_with_it():
    chat = [
        message("user", "u"),
        message("assistant", "a", call("c1", **kept(items=[REASONING]))),
        message("user", "v"),
    ]
    assert [item["type"] for item in body_of(chat)["input"]] == ["message"] * 3
    alone = {"type": "thinking", "text": "hm", **kept(items=[REASONING])}
    chat = [message("user", "u"), message("assistant", "a", alone), message("user", "v")]
    assert [item["type"] for item in body_of(chat)["input"]] == ["message"] * 3


def test_images_pdf_and_text_files():
    image = {"type": "image", "media_type": "image/png", "sha256": "0", "name": "a.png", "data": PNG}
    pdf = {"type": "document", "media_type": "application/pdf", "sha256": "0", "name": "b.pdf", "data": PDF}
    words = {"type": "document", "media_type": "text/plain", "sha256": "0", "name": "c.txt", "data": "aGk="}
    assert body_of([message("user", "look", image, pdf, words)])["input"][0]["content"] == [
        {"type": "input_text", "text": "look"},
        {"type": "input_image", "image_url": "data:image/png;base64," + PNG, "detail": "auto"},
        {"type": "input_file", "filename": "b.pdf", "file_data": "data:application/pdf;base64," + PDF},
        {"type": "input_text", "text": "c.txt:\n\nhi"},
    ]
    chat = [message("user", "u"), message("assistant", call()), message("tool", result(words=[image]))]
    assert body_of(chat)["input"][-1]["output"][0]["type"] == "input_image"


def test_a_file_that_cannot_be_read_is_refused_where_it_is_new_and_told_of_where_it_is_old():
    odd = {"type": "document", "media_type": "application/zip", "sha256": "0", "name": "a.zip", "data": "aGk="}
    with pytest.raises(UsageError, match=r"OpenAI Responses cannot read a\.zip \(application/zip\)"):
        body_of([message("user", "look", odd)])
    body = body_of([message("user", "look", odd), message("assistant", "no"), message("user", "why?")])
    assert "cannot read application/zip" in body["input"][0]["content"][1]["text"]


def test_search_is_a_tool_or_a_clear_error():
    body = body_of([message("user", "u")], [TOOL], search=True)
    assert body["tools"][1] == {"type": "web_search"} and len(body["tools"]) == 2
    assert body_of([message("user", "u")], search=True, tool_choice="required")["tools"] == [{"type": "web_search"}]
    with pytest.raises(SettingsError, match="search is not offered by m-1 of Server with the Responses API"):
        body_of([message("user", "u")], profile="responses_compatible", base_url="http://h/v1", search=True)


def test_long_call_ids_are_replaced_in_pairs_and_names_made_legal():
    chat = [message("user", "u"), message("assistant", call("x" * 80, "a.b")), message("tool", result("x" * 80))]
    made, answered = body_of(chat)["input"][1:]
    assert made["call_id"] == answered["call_id"] and len(made["call_id"]) <= 64 and made["name"] == "a_b"


@pytest.mark.parametrize(
    "base", ["http://h/v1", "http://h/v1/", "http://h/v1/responses", "http://h/v1/chat/completions"]
)
def test_the_address_may_be_written_in_several_ways(base):
    request = responses.build_request([], [], options("responses_compatible", base_url=base))
    assert request["url"] == "http://h/v1/responses"


# Streams


def sse(*recorded):
    return "".join([f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in recorded]).encode()


def event(kind, **fields):
    return {"type": "response." + kind, "sequence_number": 1, **fields}


def done(kind="completed", **fields):
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 5},
    }
    response = {"id": "resp_1", "model": "gpt-5.6-x", "status": kind, "output": [], "usage": usage, **fields}
    return event(kind, response=response)


START = event("created", response={"id": "resp_1", "model": "gpt-5.6-x", "status": "in_progress", "output": []})
SUMMARY = {
    **REASONING,
    "summary": [{"type": "summary_text", "text": "I think"}, {"type": "summary_text", "text": "so"}],
}
CALL_1 = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "c1",
    "name": "status",
    "arguments": '{"what":"x"}',
    "status": "completed",
}
CALL_2 = {
    "id": "fc_2",
    "type": "function_call",
    "call_id": "c2",
    "name": "undo",
    "arguments": "{}",
    "status": "completed",
}
SAID = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "phase": "commentary",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Grüße 😀", "annotations": [], "logprobs": []}],
}

THINKS = [
    event("output_item.added", output_index=0, item={**REASONING, "encrypted_content": "half"}),
    event("reasoning_summary_part.added", output_index=0, summary_index=0, item_id="rs_1", part={}),
    event("reasoning_summary_text.delta", output_index=0, summary_index=0, item_id="rs_1", delta="I "),
    event("reasoning_summary_text.delta", output_index=0, summary_index=0, item_id="rs_1", delta="think"),
    event("reasoning_summary_text.done", output_index=0, summary_index=0, item_id="rs_1", text="I think"),
    event("reasoning_summary_part.added", output_index=0, summary_index=1, item_id="rs_1", part={}),
    event("reasoning_summary_text.delta", output_index=0, summary_index=1, item_id="rs_1", delta="so"),
    event("output_item.done", output_index=0, item=SUMMARY),
]
SPEAKS = [
    event("output_item.added", output_index=1, item={**SAID, "content": [], "status": "in_progress"}),
    event(
        "content_part.added", output_index=1, content_index=0, item_id="msg_1", part={"type": "output_text", "text": ""}
    ),
    event("output_text.delta", output_index=1, content_index=0, item_id="msg_1", delta="Grüße ", obfuscation="xx"),
    event("output_text.delta", output_index=1, content_index=0, item_id="msg_1", delta="😀"),
    event("output_text.annotation.added", output_index=1, annotation={"type": "url_citation"}),
    event("output_text.done", output_index=1, content_index=0, item_id="msg_1", text="Grüße 😀"),
    event("output_item.done", output_index=1, item=SAID),
]
CALLS = [
    event("output_item.added", output_index=2, item={**CALL_1, "arguments": "", "status": "in_progress"}),
    event("output_item.added", output_index=3, item={**CALL_2, "arguments": "", "status": "in_progress"}),
    event("function_call_arguments.delta", output_index=2, item_id="fc_1", delta='{"what"'),
    event("function_call_arguments.delta", output_index=3, item_id="fc_2", delta="{}"),
    event("function_call_arguments.delta", output_index=2, item_id="fc_1", delta=':"x"}'),
    event("function_call_arguments.done", output_index=2, item_id="fc_1", arguments='{"what":"x"}'),
    event("output_item.done", output_index=2, item=CALL_1),
    event("output_item.done", output_index=3, item=CALL_2),
]
WHOLE = [START, *THINKS, *SPEAKS, *CALLS, done()]
USAGE = {"input_tokens": 10, "output_tokens": 7, "cache_read_input_tokens": 4, "reasoning_tokens": 5}
EVENTS = [
    {"type": "thinking", "text": "I think\n\nso"},
    {"type": "thinking", "text": "", **kept(items=[SUMMARY], phase="commentary")},
    {"type": "delta", "text": "Grüße 😀"},
    {"type": "tool_use", "id": "c1", "name": "status", "input": {"what": "x"}},
    {"type": "tool_use", "id": "c2", "name": "undo", "input": {}},
    {"type": "usage", "usage": USAGE},
    {"type": "done", "stop_reason": "tool_use", "model": "gpt-5.6-x"},
]


def test_reasoning_text_and_parallel_calls():
    assert at_every_cut(sse(*WHOLE), profile="responses") == EVENTS
    cut_off_everywhere(sse(*WHOLE), profile="responses")


def test_the_whole_answer_gives_the_same():
    answer = {
        "id": "resp_1",
        "object": "response",
        "model": "gpt-5.6-x",
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "output": [SUMMARY, SAID, CALL_1, CALL_2],
        "usage": done()["response"]["usage"],
    }
    raw = json.dumps(answer).encode()
    assert at_every_cut(raw, profile="responses", headers=JSON) == EVENTS
    cut_off_everywhere(raw, profile="responses", headers=JSON)


def test_gateways_that_name_no_place_change_ids_or_add_a_sentinel():
    placeless = [{name: value for name, value in e.items() if name != "output_index"} for e in WHOLE]
    assert at_every_cut(sse(*placeless) + b"data: [DONE]\n\n", profile="responses") == EVENTS
    number = iter(range(1000))
    changing = [{**e, "item_id": f"x{next(number)}"} if "item_id" in e else e for e in WHOLE]
    assert at_every_cut(sse(*changing), profile="responses") == EVENTS


def test_servers_that_send_only_whole_items_or_only_the_end():
    items = [e for e in WHOLE if e["type"] in ("response.output_item.done", "response.completed")]
    assert at_every_cut(sse(*items), profile="responses") == EVENTS
    only = done(output=[SUMMARY, SAID, CALL_1, CALL_2])
    assert at_every_cut(sse(only), profile="responses") == EVENTS


def test_a_call_that_is_complete_at_its_beginning():
    raw = sse(START, event("output_item.added", output_index=0, item=CALL_1), done())
    assert [(c["id"], c["input"]) for c in calls_of(at_every_cut(raw, profile="responses"))] == [("c1", {"what": "x"})]
    pieces = [event("function_call_arguments.delta", output_index=0, delta=part) for part in ('{"what":', '"x"}')]
    raw = sse(START, event("output_item.added", output_index=0, item=CALL_1), *pieces, done())
    assert calls_of(at_every_cut(raw, profile="responses"))[0]["input"] == {"what": "x"}


def test_reasoning_right_before_a_call_is_kept_with_the_call():
    raw = sse(START, *THINKS, *CALLS, done())
    calls = calls_of(at_every_cut(raw, profile="responses"))
    assert calls[0]["provider_metadata"] == kept(items=[SUMMARY])["provider_metadata"]
    assert "provider_metadata" not in calls[1]


def test_what_came_back_goes_out_again_without_ids():
    search = {
        "id": "ws_1",
        "type": "web_search_call",
        "status": "completed",
        "action": {"type": "search", "query": "q"},
    }
    again = {**REASONING, "id": "rs_2", "encrypted_content": "sealed 2"}
    output = [REASONING, search, again, SAID, {**REASONING, "id": "rs_3", "encrypted_content": "sealed 3"}, CALL_1]
    events = decode(json.dumps({"status": "completed", "output": output}).encode(), "responses", headers=JSON)
    blocks = []
    for made in events:
        if made["type"] in ("thinking", "tool_use"):
            blocks.append(made)
        elif made["type"] == "delta":
            blocks.append({"type": "text", "text": made["text"]})
    items = body_of([message("user", "u"), message("assistant", *blocks), message("tool", result("c1"))])["input"]
    assert [item.get("encrypted_content", item["type"]) for item in items] == [
        "message",
        "sealed 1",
        "web_search_call",
        "sealed 2",
        "message",
        "sealed 3",
        "function_call",
        "function_call_output",
    ]
    assert items[2] == {name: held for name, held in search.items() if name != "id"}


@pytest.mark.parametrize(
    "how", [{"profile": "responses_compatible", "base_url": "http://h/v1"}, {"profile": "responses"}]
)
def test_reasoning_that_cannot_go_back_is_only_shown(how):
    open_item = {
        "id": "rs_1",
        "type": "reasoning",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "hm"}],
    }
    item = {**REASONING, **open_item} if how["profile"] == "responses_compatible" else open_item
    events = decode(sse(done(output=[item, {**SAID, "phase": None}])), **how)
    assert events[0] == {"type": "thinking", "text": "hm"} and "provider_metadata" not in str(events)


def test_the_model_of_the_profile_is_as_good_as_a_named_one():
    [call_made] = [e for e in decode(sse(START, *THINKS, *CALLS[:1], done()), "responses", model="") if "id" in e]
    chat = [message("user", "u"), message("assistant", call_made), message("tool", result("c1"))]
    assert [item["type"] for item in body_of(chat, model="")["input"]][1] == "reasoning"


def test_reasoning_that_led_to_nothing_is_not_kept():
    raw = sse(START, *THINKS, done("incomplete", incomplete_details={"reason": "max_output_tokens"}))
    events = at_every_cut(raw, profile="responses")
    assert events[-1]["stop_reason"] == "max_tokens" and "provider_metadata" not in json.dumps(events)


def test_reasoning_text_of_open_models():
    raw = sse(START, event("reasoning_text.delta", output_index=0, delta="hm"), *SPEAKS, done())
    assert at_every_cut(raw, profile="responses")[0] == {"type": "thinking", "text": "hm"}


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        ({"reason": "max_output_tokens"}, "max_tokens"),
        ({"reason": "content_filter"}, "refusal"),
        (None, "other"),
        ({"reason": "new"}, "other"),
    ],
)
def test_incomplete_answers(details, reason):
    raw = sse(START, *SPEAKS, done("incomplete", incomplete_details=details))
    events = at_every_cut(raw, profile="responses")
    assert events[-1]["stop_reason"] == reason and text_of(events) == "Grüße 😀"


def test_a_call_that_the_limit_cut_is_not_run_even_when_it_looks_whole():
    cut = {**CALL_2, "status": "incomplete"}
    raw = sse(
        START,
        *CALLS[:-1],
        event("output_item.done", output_index=3, item=cut),
        done("incomplete", incomplete_details={"reason": "max_output_tokens"}),
    )
    whole, broken = calls_of(at_every_cut(raw, profile="responses"))
    assert "invalid" not in whole and broken["invalid"] == "{}" and broken["input"] == {}


def test_a_refusal_is_text_and_a_stop_reason():
    part = {"type": "refusal", "refusal": "I will not"}
    item = {**SAID, "content": [part]}
    raw = sse(
        START,
        event("output_item.added", output_index=0, item={**item, "content": []}),
        event("refusal.delta", output_index=0, delta="I will "),
        event("refusal.delta", output_index=0, delta="not"),
        event("refusal.done", output_index=0, refusal="I will not"),
        event("output_item.done", output_index=0, item=item),
        done(),
    )
    for heard in (at_every_cut(raw, profile="responses"), decode(sse(done(output=[item])), "responses")):
        assert text_of(heard) == "I will not" and heard[-1]["stop_reason"] == "refusal"


# Endings that are none

FAILED = {"code": "server_error", "message": "the model is overloaded"}


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (event("failed", response={"status": "failed", "error": FAILED}), "overloaded"),
        ({"type": "error", "code": "rate_limit_exceeded", "message": "slow", "param": None}, "rate_limit"),
        (
            {"type": "error", "error": {"type": "invalid_request_error", "code": "invalid_prompt", "message": "no"}},
            "invalid_request",
        ),
        (event("failed", response={"status": "failed", "error": None}), "server"),
        (event("cancelled", response={"status": "cancelled"}), "server"),
        (event("completed", response={"status": "failed", "error": FAILED}), "overloaded"),
        ({"error": {"message": "quota", "code": "insufficient_quota"}}, "no_credit"),
    ],
)
def test_failures_in_the_middle_end_the_answer_without_calls(ending, code):
    raw = sse(START, *SPEAKS, *CALLS) + f"data: {json.dumps(ending)}\n\n".encode() + sse(done())
    events = at_every_cut(raw, profile="responses")
    assert error_of(events)["code"] == code and not calls_of(events)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "empty_answer"),
        (b"data: [DONE]\n\n", "empty_answer"),
        (sse(START, *SPEAKS, *CALLS), "truncated"),
        (sse(START, *SPEAKS, *CALLS) + b"data: [DONE]\n\n", "truncated"),
        (b"<html>", "portal"),
        (b'{"output":{}}', "bad_answer"),
        (b'{"id":"x","choices":[]}', "bad_answer"),
        (b"data: [1]\n\n", "bad_answer"),
        (b'{"status":"failed","output":[],"error":{"code":"server_error","message":"broke"}}', "server"),
        (b'{"error":{"message":"no such model","code":"model_not_found"}}', "not_found"),
    ],
)
def test_good_statuses_that_are_no_answer(raw, code):
    assert error_of(at_every_cut(raw, profile="responses"))["code"] == code


def test_an_unknown_model_is_told_by_its_code_though_the_status_is_400():
    body = b'{"error":{"message":"There is none.","type":"invalid_request_error","code":"model_not_found"}}'
    error = error_of(decode(body, "responses", 400, JSON))
    assert error["code"] == "not_found" and not error["retryable"]


def test_unknown_events_and_items_are_skipped():
    odd = [
        event("moon.rises", output_index=9, delta="x"),
        {"type": "keepalive"},
        event("output_item.done", output_index=8, item={"type": "hologram", "content": [{"text": "x"}]}),
        event("web_search_call.searching", output_index=7),
        event("output_item.added", output_index=6, item=None),
    ]
    assert at_every_cut(sse(START, *odd, *THINKS, *SPEAKS, *CALLS, done()), profile="responses") == EVENTS


def test_a_model_without_encrypted_reasoning_names_what_it_refuses():
    words = "Encrypted content is not supported with this model."
    for param in ("include", None):
        body = {"error": {"message": words, "type": "invalid_request_error", "param": param, "code": None}}
        error = error_of(decode(json.dumps(body).encode(), "responses", 400, JSON))
        assert error["parameter"] == "include"
    request = responses.build_request([message("user", "u")], [], options("responses"))
    assert "include" not in json.loads(events.without(request, ["include"])["body"])
