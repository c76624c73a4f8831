"""Numbers that a service tells: what no number of tokens can be is unknown, and spoils neither answer nor store."""

import json

import pytest

from oasis.core import jsonl
from oasis.providers import events
from tests.providers.recordings import JSON, decode

NEVER = [
    "1e400",
    "-1",
    "true",
    "false",
    "null",
    '"9"',
    "1.5",
    "9" * 4299,
    "9" * 5000,
    "1e300",
    "[1]",
    "{}",
    "1" + "0" * 20,
]
# profile -> an answer in one piece, with %s where numbers of tokens stand.
ANSWERS = {
    "openai": '{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%s,'
    '"completion_tokens":%s,"completion_tokens_details":{"reasoning_tokens":%s}}}',
    "xai": '{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%s,'
    '"completion_tokens":%s,"completion_tokens_details":{"reasoning_tokens":%s}}}',
    "responses": '{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}],'
    '"usage":{"input_tokens":%s,"output_tokens":%s,"output_tokens_details":{"reasoning_tokens":%s}}}',
    "anthropic": '{"content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":%s,'
    '"output_tokens":%s,"cache_read_input_tokens":%s}}',
    "gemini": '{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}],'
    '"usageMetadata":{"promptTokenCount":%s,"candidatesTokenCount":%s,"thoughtsTokenCount":%s}}',
    "cohere": '{"message":{"content":[{"type":"text","text":"hi"}]},"finish_reason":"COMPLETE",'
    '"usage":{"tokens":{"input_tokens":%s,"output_tokens":%s},"cached_tokens":%s}}',
    "ollama": '{"message":{"content":"hi"},"done":true,"done_reason":"stop","prompt_eval_count":%s,"eval_count":%s,'
    '"x":%s}',
}


def decoded(profile, body, step):
    pieces = [body[at : at + step] for at in range(0, len(body), step)]
    return decode(body, profile, headers=JSON, pieces=pieces)


@pytest.mark.parametrize("number", NEVER, ids=lambda text: text[:8])
@pytest.mark.parametrize("profile", ANSWERS)
@pytest.mark.parametrize("step", [1, 10**6])
def test_what_is_no_number_of_tokens_is_unknown(profile, number, step):
    body = (ANSWERS[profile] % (number, number, number)).encode()
    if number == "1e400":  # the JSON reader refuses it: the answer is nobody's
        assert decoded(profile, body, step)[-1]["type"] == "error"
        return
    heard = decoded(profile, body, step)
    assert heard[-1]["type"] == "done", heard
    assert "".join(event["text"] for event in heard if event["type"] == "delta") == "hi"
    for event in heard:
        assert len(jsonl.line(event)) < 1000
        if event["type"] == "usage":
            assert all(type(one) is int and 0 <= one <= events.MOST_TOKENS for one in event["usage"].values())


def test_a_number_of_tokens_that_is_one_is_kept():
    body = (ANSWERS["openai"] % ("7", "3.0", "0")).encode()
    usage = next(event["usage"] for event in decoded("openai", body, 1) if event["type"] == "usage")
    assert usage["input_tokens"] == 7 and usage["output_tokens"] == 3


@pytest.mark.parametrize("code", ["9" * 5000, "²²²", "", "40", None, True, 1e300, [400]])
def test_an_odd_code_inside_an_error_is_no_status(code):
    value = json.loads(json.dumps({"error": {"message": "no", "code": code}}))
    assert events.of_object("it", value, {})["error"]["code"]
