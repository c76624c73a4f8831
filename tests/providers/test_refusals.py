"""What services say when a model does not take a parameter, as they say it; and requests without it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oasis.providers import events


def named(body, status=400):
    return events.of_status("Cloud", status, {}, json.dumps(body).encode())["error"].get("parameter", "")


def said(message, **more):
    return {"error": {"message": message, **more}}


@pytest.mark.parametrize(
    ("body", "parameter"),
    [
        # OpenAI and Azure: `param` says it
        (
            said(
                "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) is there.",
                type="invalid_request_error", param="temperature", code="unsupported_value",
            ),
            "temperature",
        ),
        (
            said(
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'.",
                param="max_tokens", code="unsupported_parameter",
            ),
            "max_tokens=max_completion_tokens",
        ),
        (said("Unsupported parameter: 'reasoning.effort'", param="reasoning.effort"), "reasoning"),
        (said("Unrecognized request argument supplied: stream_options", param=None), "stream_options"),
        # Anthropic
        ({"type": "error", "error": {"type": "x", "message": "`temperature` is deprecated for this model."}},
         "temperature"),
        (said("temperature: `temperature` may only be set to 1 when thinking is enabled."), "temperature"),
        (said("thinking: Extra inputs are not permitted"), "think"),
        # Gemini
        (said('Invalid JSON payload received. Unknown name "thinkingLevel" at \'generation_config.thinking_config\': '
              "Cannot find field.", status="INVALID_ARGUMENT"), "thinkingConfig"),
        (said("Thinking budget is not supported for this model."), "thinkingConfig"),
        # Groq, xAI, OpenRouter
        (said("property 'parallel_tool_calls' is unsupported"), "parallel_tool_calls"),
        (said("`reasoning_effort` is not supported with this model"), "reasoning_effort"),
        ({"code": "x", "error": "Model grok-4 does not support parameter reasoningEffort."}, "reasoning_effort"),
        # Mistral, vLLM: the detail list of FastAPI, and the object of older servers
        ({"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs are not p"}]},
         "stream_options"),
        ({"object": "error", "message": {"detail": [
            {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}}, "seed"),
        # Ollama, llama.cpp
        ({"error": '"llama3:latest" does not support thinking'}, "think"),
        (said("Unsupported param: chat_template_kwargs"), "chat_template_kwargs"),
    ],
)  # fmt: skip
def test_the_parameter_that_is_refused_is_named(body, parameter):
    assert named(body, 422 if "detail" in body else 400) == parameter


@pytest.mark.parametrize(
    "body",
    [
        said("max_tokens is too large: 99999. This model gives at most 4096 completion tokens.", param="max_tokens"),
        said("messages: roles must alternate"),
        said("Unsupported parameter: 'messages'", param="messages"),
        said("'tools' is not supported with this model", param="tools"),
        said("The image format is not supported"),
        {"error": "temperature"},
        said("Rate limit: temperature is not supported"),
    ],
)
def test_other_failures_name_none(body):
    status = 429 if "Rate limit" in str(body) else 400
    assert named(body, status) == ""


def request(**body):
    return {"method": "POST", "url": "http://h", "headers": {}, "body": json.dumps(body).encode()}


@pytest.mark.parametrize(
    ("body", "names", "left"),
    [
        ({"model": "m", "temperature": 1}, ["temperature"], {"model": "m"}),
        ({"max_tokens": 5}, ["max_tokens=max_completion_tokens"], {"max_completion_tokens": 5}),
        ({"generationConfig": {"temperature": 1, "topK": 2}}, ["temperature"], {"generationConfig": {"topK": 2}}),
        ({"options": {"seed": 1}, "think": True}, ["seed", "think"], {"options": {}}),
        ({"thinking": {"type": "enabled"}, "seed": 1}, ["think"], {"seed": 1}),
        ({"messages": [{"temperature": 1}]}, ["temperature"], {"messages": [{"temperature": 1}]}),
    ],
)
def test_a_request_leaves_it_out_wherever_the_vendor_has_it(body, names, left):
    assert json.loads(events.without(request(**body), names)["body"]) == left


def test_a_request_that_has_none_of_it_stays_the_very_same():
    asked = request(model="m")
    assert events.without(asked, ["temperature"]) is asked and events.without(asked, []) is asked
    assert events.without({**asked, "body": b""}, ["temperature"])["body"] == b""


@given(st.recursive(st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["error", "param", "detail", "loc", "message", "x"]), inner), max_leaves=12))  # fmt: skip
def test_no_error_body_breaks_the_reader(value):
    words, codes = events.words_of(value)
    assert isinstance(events.named(words, codes, value), str)
