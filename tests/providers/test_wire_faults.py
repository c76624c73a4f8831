"""Answers as services gave them, whole and at every cut, that were told wrongly or mixed up before."""

import json

import pytest

from oasis import providers
from tests.providers.recordings import JSON, at_every_cut, options

# profile, status, body: a prompt that is longer than the model's context.
TOO_LONG = [
    ("gemini", 400, {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "The input token count (1200000) "
     "exceeds the maximum number of tokens allowed (1048575)."}}),
    ("llamacpp", 400, {"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9000,
     "message": "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it"}}),
    ("llamacpp", 400, {"error": {"code": 400, "type": "invalid_request_error",
     "message": "the request exceeds the available context size. try increasing the context size or enable context "
     "shift"}}),
    ("llamacpp", 500, {"error": {"code": 500, "type": "server_error", "message": "Context size has been exceeded."}}),
    ("llamacpp", 500, {"error": {"code": 500, "type": "server_error", "message": "input is too large to process. "
     "increase the physical batch size"}}),
]  # fmt: skip


@pytest.mark.parametrize(("profile", "status", "body"), TOO_LONG)
def test_a_prompt_that_is_too_long_is_told_as_that(profile, status, body):
    (event,) = at_every_cut(json.dumps(body).encode(), profile=profile, status=status, headers=JSON)
    assert event["error"]["code"] == "context_length"


@pytest.mark.parametrize(
    "raw",
    [
        "The model does not like your question",
        '{"error":{"message":"The model does not like your question","type":"invalid_request_error"}}',
    ],
)
def test_the_words_of_the_service_behind_openrouter_are_shown(raw):
    body = {
        "error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw, "provider_name": "X"}}
    }
    (event,) = at_every_cut(json.dumps(body).encode(), profile="openrouter", status=400, headers=JSON)
    assert event["error"]["message"].count("does not like your question") == 1
    assert '{"error"' not in event["error"]["message"]


@pytest.mark.parametrize("first", [0, 1])
def test_a_second_choice_is_left_out(first):
    chunks = [
        {"choices": [{"index": first, "delta": {"content": "one"}}]},
        {"choices": [{"index": 1 - first, "delta": {"content": "TWO"}}]},
        {"choices": [{"index": first, "delta": {"content": " more"}}]},
        {"choices": [{"index": 1 - first, "delta": {"content": "TWO"}, "finish_reason": "length"}]},
        {"choices": [{"index": first, "delta": {}, "finish_reason": "stop"}]},
    ]
    raw = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in chunks) + b"data: [DONE]\n\n"
    found = at_every_cut(raw, profile="openai")
    assert [event for event in found if event["type"] == "delta"] == [{"type": "delta", "text": "one more"}]
    assert found[-1]["stop_reason"] == "end_turn"


LINE = {"model": "qwen3", "message": {"role": "assistant", "content": 'a "{[" \\ b'}, "done": False}
LAST = {"model": "qwen3", "message": {"content": "!"}, "done": True, "done_reason": "stop", "prompt_eval_count": 3}


@pytest.mark.parametrize("indent", [None, 0, 2])
def test_ollama_s_json_may_go_over_several_lines(indent):
    raw = "\n".join(json.dumps(one, indent=indent) for one in (LINE, LAST)).encode()
    found = at_every_cut(raw, profile="ollama", headers=JSON)
    assert found[0] == {"type": "delta", "text": 'a "{[" \\ b!'} and found[-1]["stop_reason"] == "end_turn"


def test_an_object_over_several_lines_that_breaks_off_is_cut():
    raw = json.dumps(LINE, indent=2).encode() + b"\n" + json.dumps(LAST, indent=2).encode()[:-20]
    assert at_every_cut(raw, profile="ollama", headers=JSON)[-1]["error"]["code"] == "truncated"


@pytest.mark.parametrize(
    "call",
    [
        {"name": "configure", "args": {"a": 1}, "willContinue": True},
        {"name": "configure", "partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}]},
    ],
)
def test_a_gemini_call_whose_arguments_go_on_is_never_run(call):
    answer = {"candidates": [{"content": {"parts": [{"functionCall": call}]}, "finishReason": "STOP"}]}
    found = at_every_cut(b"data: " + json.dumps(answer).encode() + b"\r\n\r\n", profile="gemini")
    assert found[-1]["error"]["code"] == "bad_tool_call" and not [one for one in found if one["type"] == "tool_use"]


def test_cerebras_gets_no_words_of_schemas_that_it_refuses():
    schema = {
        "type": "object", "required": ["at"],
        "properties": {
            "at": {"type": "string", "format": "date-time", "nullable": True},
            "format": {"type": "integer", "minimum": 1, "maximum": 9, "description": "how many"},
            "list": {"type": "array", "maxItems": 3, "items": {"type": "string", "pattern": "x"}},
        },
    }  # fmt: skip
    tool = {"name": "t", "description": "", "input_schema": schema}
    asked = [{"role": "user", "content": "hi"}]
    request = providers.load("openai").build_request(asked, [tool], options("cerebras", key="k", strict=True))
    body = json.loads(request["body"]) if isinstance(request["body"], (str, bytes)) else request["body"]
    sent = body["tools"][0]["function"]["parameters"]
    assert set(sent["properties"]) == {"at", "format", "list"} and sent["required"] == ["at"]
    for one in [*sent["properties"].values(), sent["properties"]["list"]["items"]]:
        assert not set(one) & {"format", "minimum", "maximum", "maxItems", "pattern", "nullable"}
    assert sent["properties"]["at"]["type"] == ["string", "null"]
    assert "minimum: 1" in sent["properties"]["format"]["description"]
