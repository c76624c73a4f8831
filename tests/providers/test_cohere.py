"""Cohere's chat API v2: tables of (chat, request body) and (recorded bytes, events)."""

import json

import pytest

from oasis.errors import SchemaError, SettingsError, UsageError
from oasis.providers import cohere
from tests.providers.recordings import (
    JSON,
    at_every_cut,
    calls_of,
    cut_off_everywhere,
    decode,
    error_of,
    options,
    plain,
    text_of,
)

TOOL = {"name": "status", "description": "Look.", "input_schema": {"type": "object", "properties": {}}}
OTHER = {"name": "undo", "description": "Undo.", "input_schema": {}}
OWN = {"provider_metadata": {"cohere": {"thoughts": True}}}


def message(role, *blocks):
    return {"role": role, "content": [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]}


def call(ident="c1", name="status", arguments=None):
    return {"type": "tool_use", "id": ident, "name": name, "input": arguments or {}}


def result(ident="c1", words="3", **more):
    return {"type": "tool_result", "tool_use_id": ident, "name": "status", "content": words, **more}


def body_of(messages, tools=(), **more):
    return json.loads(cohere.build_request(list(messages), list(tools), options("cohere", **more))["body"])


# Requests


def test_a_plain_turn_has_only_what_it_needs():
    request = cohere.build_request([message("system", "s"), message("user", "hi")], [], options("cohere", key="k"))
    assert request["url"] == "https://api.cohere.com/v2/chat"
    assert request["headers"]["authorization"] == "Bearer k"
    assert json.loads(request["body"]) == {
        "model": "m-1",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "hi"}],
        "stream": True,
    }


def test_what_was_said_before_calls_is_their_plan():
    chat = [
        message("user", "u"),
        message("assistant", "I look.", call("c1", arguments={"what": "x"}), call("c2")),
        message("tool", result("c1"), result("c2", "no", is_error=True)),
    ]
    made = [("c1", '{"what":"x"}'), ("c2", "{}")]
    assert body_of(chat)["messages"][1:] == [
        {
            "role": "assistant",
            "tool_plan": "I look.",
            "tool_calls": [
                {"id": ident, "type": "function", "function": {"name": "status", "arguments": arguments}}
                for ident, arguments in made
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
        {"role": "tool", "tool_call_id": "c2", "content": "Error: no"},
    ]


def test_its_own_thoughts_go_back_and_those_of_others_stay_behind():
    for metadata, wanted in ((OWN, [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}]), ({}, "a")):
        thought = {"type": "thinking", "text": "hm", **metadata}
        chat = [message("user", "u"), message("assistant", thought, "a"), message("user", "v")]
        assert body_of(chat)["messages"][1]["content"] == wanted
    chat = [message("user", "u"), message("assistant", thought, call()), message("tool", result())]
    assert "content" not in body_of(chat)["messages"][1]


@pytest.mark.parametrize(
    ("choice", "tools", "field"),
    [
        (None, 2, None),
        ("auto", 2, None),
        ("required", 2, "REQUIRED"),
        ("none", 2, "NONE"),
        ({"name": "undo"}, 1, "REQUIRED"),
    ],
)
def test_one_tool_is_offered_alone(choice, tools, field):
    body = body_of([message("user", "u")], [TOOL, OTHER], tool_choice=choice)
    assert len(body["tools"]) == tools and body.get("tool_choice") == field
    assert body["tools"][-1]["function"] == {
        "name": "undo",
        "description": "Undo.",
        "parameters": {"type": "object", "properties": {}},
    }


def test_without_tools_neither_tools_nor_choice_are_sent():
    assert not {"tools", "tool_choice"} & set(body_of([message("user", "u")], tool_choice="required"))


def test_a_tool_schema_that_is_no_object_is_refused():
    with pytest.raises(SchemaError, match="invalid tool schema"):
        body_of([message("user", "u")], [{"name": "x", "input_schema": "{"}])


def test_limits_and_thinking():
    body = body_of([message("user", "u")], max_tokens=9, temperature=0.5, thinking="high")
    assert body["max_tokens"] == 9 and body["temperature"] == 0.5 and "thinking" not in body
    model = "command-a-reasoning-08-2025"
    for wished, field in (
        ("off", {"type": "disabled"}),
        ("low", {"type": "enabled"}),
        (500, {"type": "enabled", "token_budget": 500}),
        (0, {"type": "disabled"}),
        ("adaptive", None),
    ):
        assert body_of([message("user", "u")], model=model, thinking=wished).get("thinking") == field, wished


def test_nothing_empty_goes_out_and_the_end_is_a_users():
    chat = [message("user", "u"), message("assistant", call()), message("tool", result(words="")), message("assistant")]
    messages = body_of([*chat, message("assistant", "a")])["messages"]
    assert messages[2]["content"] == "(nothing)"
    assert messages[3:] == [{"role": "assistant", "content": "a"}, {"role": "user", "content": "Continue."}]


def test_images_and_text_files():
    image = {"type": "image", "media_type": "image/png", "sha256": "0", "data": "aGk="}
    words = {"type": "document", "media_type": "text/csv", "sha256": "0", "name": "c.csv", "data": "aGk="}
    assert body_of([message("user", "look", image, words)])["messages"][0]["content"] == [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "text", "text": "c.csv:\n\nhi"},
    ]


def test_a_pdf_is_refused_where_it_is_new():
    pdf = {"type": "document", "media_type": "application/pdf", "sha256": "0", "name": "b.pdf", "data": "aGk="}
    with pytest.raises(UsageError, match=r"Cohere cannot read b\.pdf \(application/pdf\)"):
        body_of([message("user", "look", pdf)])
    body = body_of([message("user", "look", pdf), message("assistant", "no"), message("user", "why?")])
    assert "cannot read application/pdf" in body["messages"][0]["content"]


def test_a_search_is_a_clear_error():
    with pytest.raises(SettingsError, match="search is not offered by m-1 of Cohere"):
        body_of([message("user", "u")], search=True)


@pytest.mark.parametrize("base", ["http://h", "http://h/", "http://h/v2", "http://h/v1", "http://h/v2/chat"])
def test_the_address_may_be_written_in_several_ways(base):
    assert cohere.build_request([], [], options("cohere", base_url=base))["url"] == "http://h/v2/chat"


# Streams


def sse(*recorded):
    return "".join([f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in recorded]).encode()


def event(kind, index=None, **said):
    place = {} if index is None else {"index": index}
    return {"type": kind, **place, "delta": {"message": said}}


def begun(ident, name, index):
    made = {"id": ident, "type": "function", "function": {"name": name, "arguments": ""}}
    return event("tool-call-start", index, tool_calls=made)


def argued(text, index):
    return event("tool-call-delta", index, tool_calls={"function": {"arguments": text}})


def ended(reason="COMPLETE", **more):
    usage = {
        "billed_units": {"input_tokens": 5, "output_tokens": 3},
        "tokens": {"input_tokens": 71.0, "output_tokens": 9.0},
        "cached_tokens": 64,
    }
    return {"type": "message-end", "id": "m", "delta": {"finish_reason": reason, "usage": usage, **more}}


START = {
    "type": "message-start",
    "id": "m",
    "delta": {"message": {"role": "assistant", "content": [], "tool_plan": ""}},
}
THINKS = [
    event("content-start", 0, content={"type": "thinking", "thinking": ""}),
    event("content-delta", 0, content={"thinking": "h"}),
    event("content-delta", 0, content={"thinking": "m"}),
    {"type": "content-end", "index": 0},
]
SPEAKS = [
    event("content-start", 1, content={"type": "text", "text": ""}),
    event("content-delta", 1, content={"text": "Grüße "}),
    {"type": "citation-start", "index": 0, "delta": {"message": {"citations": {"text": "Grüße", "sources": []}}}},
    {"type": "citation-end", "index": 0},
    event("content-delta", 1, content={"text": "😀"}),
    {"type": "content-end", "index": 1},
]
CALLS = [
    event("tool-plan-delta", tool_plan="I will "),
    event("tool-plan-delta", tool_plan="look."),
    begun("c1", "status", 0),
    argued('{"what"', 0),
    begun("c2", "undo", 1),
    argued(':"x"}', 0),
    argued("{}", 1),
    {"type": "tool-call-end", "index": 0},
    {"type": "tool-call-end", "index": 1},
]
USAGE = {"input_tokens": 71, "output_tokens": 9, "cache_read_input_tokens": 64}
THOUGHT = [{"type": "thinking", "text": "hm"}, {"type": "thinking", "text": "", **OWN}]
TEXT_TURN = [
    *THOUGHT,
    {"type": "delta", "text": "Grüße 😀"},
    {"type": "usage", "usage": USAGE},
    {"type": "done", "stop_reason": "end_turn", "model": "m-1"},
]
TOOL_TURN = [
    *THOUGHT,
    {"type": "delta", "text": "I will look."},
    {"type": "tool_use", "id": "c1", "name": "status", "input": {"what": "x"}},
    {"type": "tool_use", "id": "c2", "name": "undo", "input": {}},
    {"type": "usage", "usage": USAGE},
    {"type": "done", "stop_reason": "tool_use", "model": "m-1"},
]


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        (sse(START, *THINKS, *SPEAKS, ended()), TEXT_TURN),
        (sse(START, *THINKS, *CALLS, ended("TOOL_CALL")), TOOL_TURN),
        (sse(START, *THINKS, *SPEAKS, ended()) + b"data: [DONE]\n\n", TEXT_TURN),
    ],
)
def test_thoughts_text_plans_and_parallel_calls(raw, wanted):
    assert at_every_cut(raw, profile="cohere") == wanted
    cut_off_everywhere(raw, profile="cohere")


def test_the_whole_answer_gives_the_same():
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Grüße 😀"}]
    text = {"id": "m", "finish_reason": "COMPLETE", "message": {"role": "assistant", "content": content}}
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "status", "arguments": '{"what":"x"}'}},
        {"id": "c2", "type": "function", "function": {"name": "undo", "arguments": "{}"}},
    ]
    plan = {"role": "assistant", "content": content[:1], "tool_plan": "I will look.", "tool_calls": calls}
    tools = {"id": "m", "finish_reason": "TOOL_CALL", "message": plan}
    for answer, wanted in ((text, TEXT_TURN), (tools, TOOL_TURN)):
        raw = json.dumps({**answer, "usage": ended()["delta"]["usage"]}).encode()
        assert at_every_cut(raw, profile="cohere", headers=JSON) == wanted
        cut_off_everywhere(raw, profile="cohere", headers=JSON)


def test_usage_of_older_answers_is_what_was_billed():
    end = {
        "type": "message-end",
        "delta": {"finish_reason": "COMPLETE", "usage": {"billed_units": {"input_tokens": 5}}},
    }
    events = decode(sse(START, *SPEAKS, end), "cohere")
    assert events[-2] == {"type": "usage", "usage": {"input_tokens": 5}}


@pytest.mark.parametrize(
    ("raw_reason", "reason"),
    [
        ("COMPLETE", "end_turn"),
        ("STOP_SEQUENCE", "stop_sequence"),
        ("MAX_TOKENS", "max_tokens"),
        ("ERROR_TOXIC", "refusal"),
        ("NEW", "other"),
    ],
)
def test_finish_reasons(raw_reason, reason):
    assert decode(sse(START, *SPEAKS, ended(raw_reason)), "cohere")[-1]["stop_reason"] == reason


def test_a_call_that_the_limit_cut_is_not_run():
    raw = sse(START, begun("c1", "status", 0), argued('{"what', 0), ended("MAX_TOKENS"))
    assert calls_of(at_every_cut(raw, profile="cohere"))[0]["invalid"] == '{"what'


# Endings that are none


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (ended("ERROR", error="the model is overloaded"), "server"),
        (ended("ERROR"), "server"),
        (ended("TIMEOUT"), "timeout"),
        ({"type": "message-end"}, "truncated"),
        ({"type": "message-end", "delta": {}}, "truncated"),
        ({"type": "error", "message": "server is overloaded"}, "overloaded"),
    ],
)
def test_failures_in_the_middle_end_the_answer_without_calls(ending, code):
    raw = sse(START, *CALLS, ending, ended())
    events = at_every_cut(raw, profile="cohere")
    error = error_of(events)
    assert error["code"] == code and error["retryable"] and not calls_of(events)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "empty_answer"),
        (b"data: [DONE]\n\n", "empty_answer"),
        (sse(START, *CALLS), "truncated"),
        (sse(START, *CALLS) + b"data: [DONE]\n\n", "truncated"),
        (b"<html>", "portal"),
        (b'{"message":{"content":[{"type":"text","text":"a"}]}}', "truncated"),
        (b'{"text":"an answer of version 1"}', "bad_answer"),
        (b"data: [1]\n\n", "bad_answer"),
        (b'{"message":"model not found, overloaded"}', "overloaded"),
    ],
)
def test_good_statuses_that_are_no_answer(raw, code):
    assert error_of(at_every_cut(raw, profile="cohere"))["code"] == code


@pytest.mark.parametrize(
    ("status", "words", "code", "retryable"),
    [
        (401, "invalid api token", "authentication", False),
        (404, "model 'x' not found", "not_found", False),
        (422, "unknown field: parameter 'x'", "invalid_request", False),
        (429, "Please wait and try again later", "rate_limit", True),
        (429, "You are using a Trial key, which is limited to 1000 API calls / month.", "quota", False),
        (500, "internal server error", "server", True),
    ],
)
def test_errors_of_the_service(status, words, code, retryable):
    error = error_of(decode(json.dumps({"id": "x", "message": words}).encode(), "cohere", status, JSON))
    assert (error["code"], error["retryable"], error["status"]) == (code, retryable, status)
    assert code == "authentication" or words[:20] in error["message"]


def test_unknown_events_are_skipped():
    odd = [{"type": "debug", "prompt": "x"}, {"type": "moon-rises", "delta": 7}, {"type": "content-delta"},
           {"type": "tool-call-delta", "delta": {"message": {"tool_calls": 7}}}]  # fmt: skip
    assert text_of(at_every_cut(sse(START, *odd, *SPEAKS, ended()), profile="cohere")) == "Grüße 😀"


# Model lists


def test_models_are_read():
    listed = [{"name": "a", "context_length": 256000.0, "features": ["tools", "vision"]}, {"name": "b", "features": []},
              {"name": "c", "features": None}, {}]  # fmt: skip
    asked = options("cohere")
    assert cohere.models_request(asked)["url"] == "https://api.cohere.com/v1/models?page_size=1000&endpoint=chat"
    assert plain(cohere.models_read, 200, JSON, json.dumps({"models": listed}).encode(), asked) == [
        {"id": "a", "context_tokens": 256000, "tools": True},
        {"id": "b", "tools": False},
        {"id": "c"},
    ]
