"""What each service of the OpenAI class does otherwise: files, choices, effort, fields it refuses, what goes back."""

import json

import pytest

from oasis import providers
from oasis.errors import SettingsError, UsageError
from oasis.providers import openai_chat
from tests.providers.recordings import JSON, at_every_cut, calls_of, decode, error_of, options, sse, text_of

TOOLS = [
    {"name": "status", "description": "Look.", "input_schema": {"type": "object", "properties": {}}},
    {"name": "mcp.undo", "description": "", "input_schema": {"properties": {"a": {"type": "string"}}}},
]
USER = {"role": "user", "content": "u"}
CLASS = sorted(name for name, entry in providers.profiles().items() if entry["vendor"] == "openai")
LOCAL = ["compatible", "llamacpp", "lmstudio", "vllm"]


def file(media_type, name="a.bin", kind="document"):
    return {"type": kind, "media_type": media_type, "sha256": "0", "name": name, "data": "aGk="}


IMAGE, PDF, TEXT = file("image/png", "a.png", "image"), file("application/pdf", "b.pdf"), file("text/plain", "c.txt")


def body_of(messages, profile="openai", tools=(), **more):
    asked = options(profile, **{"base_url": providers.profiles()[profile]["base_url"] or "http://h/v1", **more})
    return json.loads(openai_chat.build_request(list(messages), list(tools), asked)["body"])


def tool_turn(**more):
    call = {"type": "tool_use", "id": "x-1", "name": "mcp.undo", "input": {}, **more}
    result = {"type": "tool_result", "tool_use_id": "x-1", "name": "mcp.undo", "content": "3"}
    return [USER, {"role": "assistant", "content": [call]}, {"role": "tool", "content": [result]}]


# Files


def test_files_are_parts_beside_the_text():
    chat = [{"role": "user", "content": [{"type": "text", "text": "look"}, IMAGE, PDF, TEXT]}]
    assert body_of(chat)["messages"][0]["content"] == [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "file", "file": {"filename": "b.pdf", "file_data": "data:application/pdf;base64,aGk="}},
        {"type": "text", "text": "c.txt:\n\nhi"},
    ]


@pytest.mark.parametrize("profile", CLASS)
def test_each_service_gets_only_files_that_it_reads(profile):
    reads = {"openai": 2, "openrouter": 2, "deepseek": 0, "cerebras": 0}.get(profile, 1)
    for kind, needed in ((TEXT, 0), (IMAGE, 1), (PDF, 2)):
        chat = [{"role": "user", "content": [kind]}]
        if reads >= needed:
            assert len(body_of(chat, profile)["messages"][0]["content"]) == 1
            continue
        name = providers.profiles()[profile]["name"]
        with pytest.raises(UsageError, match=f"{name} cannot read {kind['name']}"):
            body_of(chat, profile)
        old = body_of([*chat, {"role": "assistant", "content": "no"}, USER], profile)
        assert f"cannot read {kind['media_type']}" in old["messages"][0]["content"]


def test_an_image_of_a_kind_that_services_refuse_is_refused_by_us():
    with pytest.raises(UsageError, match=r"OpenAI cannot read a\.bin \(image/tiff\)") as caught:
        body_of([{"role": "user", "content": [file("image/tiff", kind="image")]}])
    assert "PNG" in caught.value.hint and "PDF" in caught.value.hint


def test_a_file_that_is_gone_and_one_in_a_result_are_told_of():
    gone = {**IMAGE, "data": None}
    assert "no longer stored" in body_of([{"role": "user", "content": [gone]}])["messages"][0]["content"]
    chat = tool_turn()
    chat[2]["content"][0]["content"] = [{"type": "text", "text": "seen: "}, IMAGE, TEXT]
    told = body_of(chat)["messages"][2]["content"]
    assert told == "seen: [image a.png: this model cannot read image/png]c.txt:\n\nhi"


# Tools


@pytest.mark.parametrize("choice", ["auto", "none", "required"])
@pytest.mark.parametrize("profile", CLASS)
def test_words_of_choice_go_out_as_they_are(profile, choice):
    assert body_of([USER], profile, TOOLS, tool_choice=choice)["tool_choice"] == choice


@pytest.mark.parametrize("profile", CLASS)
def test_one_tool_is_chosen_or_offered_alone(profile):
    body = body_of([USER], profile, TOOLS, tool_choice={"name": "mcp.undo"})
    names = [tool["function"]["name"] for tool in body["tools"]]
    if profile in ("lmstudio", "llamacpp"):
        assert body["tool_choice"] == "required" and names == ["mcp_undo"]
    else:
        assert body["tool_choice"] == {"type": "function", "function": {"name": "mcp_undo"}}
        assert names == ["status", "mcp_undo"]


def test_names_are_legal_and_the_same_in_tools_and_history():
    body = body_of(tool_turn(), tools=TOOLS)
    assert (
        body["messages"][1]["tool_calls"][0]["function"]["name"] == body["tools"][1]["function"]["name"] == "mcp_undo"
    )


def test_strict_is_said_only_when_it_is_asked_for_and_says_the_same():
    free = {"name": "free", "input_schema": {"type": "object", "additionalProperties": True}}
    strict, other = body_of([USER], tools=[TOOLS[1], free], strict=True)["tools"]
    assert strict["function"]["strict"] is True and strict["function"]["parameters"]["required"] == ["a"]
    assert "strict" not in other["function"] and "strict" not in json.dumps(body_of([USER], tools=TOOLS))


# Search


def test_search_is_a_body_field_or_a_clear_error():
    assert body_of([USER], "openrouter", search=True)["plugins"] == [{"id": "web"}]
    for profile in CLASS:
        if profile != "openrouter":
            with pytest.raises(SettingsError, match="search is not offered by m-1 of"):
                body_of([USER], profile, search=True)


# Effort and sampling

ON, OFF = {"chat_template_kwargs": {"enable_thinking": True}}, {"chat_template_kwargs": {"enable_thinking": False}}
# Profile, model, what "low" gives, what "high" gives, what "off" gives.
EFFORT = [
    ("openai", "gpt-5.6", "low", "high", "none"),
    ("openai", "gpt-5-mini", "low", "high", "minimal"),
    ("openai", "o3", "low", "high", "low"),
    ("openai", "gpt-4o", None, None, None),
    ("groq", "openai/gpt-oss-120b", "low", "high", "low"),
    ("groq", "qwen/qwen3-32b", "default", "default", "none"),
    ("groq", "llama-3.3-70b", None, None, None),
    ("cerebras", "gpt-oss-120b", "low", "high", "low"),
    ("xai", "grok-4.6", None, None, None),
    ("mistral", "m", None, None, None),
    ("lmstudio", "m", None, None, None),
    ("compatible", "m", None, None, None),
    ("openrouter", "m", {"reasoning": {"effort": "low"}}, {"reasoning": {"effort": "high"}},
     {"reasoning": {"enabled": False}}),
    ("llamacpp", "m", ON, ON, OFF),
    ("vllm", "m", ON, ON, OFF),
    ("deepseek", "m", {"thinking": {"type": "enabled"}, "reasoning_effort": "low"},
     {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}, {"thinking": {"type": "disabled"}}),
]  # fmt: skip


@pytest.mark.parametrize(("profile", "model", "low", "high", "off"), EFFORT)
def test_how_much_to_think_is_said_in_the_services_words(profile, model, low, high, off):
    plain = body_of([USER], profile, model=model)
    for wished, wanted in (("low", low), (1000, low), ("high", high), (99999, high), ("off", off), (0, off)):
        added = {"reasoning_effort": wanted} if isinstance(wanted, str) else wanted or {}
        assert body_of([USER], profile, model=model, thinking=wished) == {**plain, **added}, wished
    assert body_of([USER], profile, model=model, thinking="adaptive") == plain


def test_a_level_that_a_model_does_not_know_is_the_next_higher_one():
    assert body_of([USER], "deepseek", thinking="medium")["reasoning_effort"] == "high"
    assert body_of([USER], "deepseek", thinking="xhigh")["reasoning_effort"] == "max"
    assert body_of([USER], "groq", model="openai/gpt-oss-20b", thinking="max")["reasoning_effort"] == "high"


def test_deepseek_does_not_think_while_a_call_is_forced():
    for choice in ("required", {"name": "status"}):
        body = body_of([USER], "deepseek", TOOLS, tool_choice=choice, thinking="high")
        assert body["thinking"] == {"type": "disabled"} and "reasoning_effort" not in body
    assert "thinking" not in body_of([USER], "deepseek", TOOLS, tool_choice="auto")


@pytest.mark.parametrize(("model", "is_sent"), [("gpt-4o", True), ("gpt-5.4", True), ("gpt-5.6", False), ("o3", False)])
def test_models_of_openai_that_refuse_a_temperature_get_none(model, is_sent):
    assert ("temperature" in body_of([USER], model=model, temperature=0.5)) is is_sent
    assert ("reasoning_effort" in body_of([USER], model=model, thinking="low")) is (model != "gpt-4o")


@pytest.mark.parametrize("profile", CLASS)
def test_the_length_limit_has_the_services_name(profile):
    body = body_of([USER], profile, max_tokens=9)
    newer = profile in ("openai", "groq", "xai", "cerebras")
    assert body.get("max_completion_tokens" if newer else "max_tokens") == 9
    assert ("max_tokens" in body) is not newer


@pytest.mark.parametrize("profile", CLASS)
def test_what_some_services_refuse_is_never_sent(profile):
    body = body_of([{"role": "system", "content": "s"}, USER], profile)
    assert not {"tools", "tool_choice", "parallel_tool_calls", "seed", "n"} & set(body)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert ("stream_options" in body) is (profile not in ("mistral", "openrouter", "compatible"))


# The order and content of messages


@pytest.mark.parametrize("profile", LOCAL)
def test_templates_get_one_system_message_first_and_turns(profile):
    chat = [USER, {"role": "system", "content": "a"}, {"role": "system", "content": "b"}, USER]
    assert body_of(chat, profile)["messages"] == [
        {"role": "system", "content": "a\n\nb"},
        {"role": "user", "content": "u\n\nu"},
    ]


@pytest.mark.parametrize("profile", [*LOCAL, "mistral"])
def test_no_user_follows_a_tool_where_that_is_refused(profile):
    roles = [message["role"] for message in body_of([*tool_turn(), USER], profile)["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    assert len(body_of([*tool_turn(), USER], "openai")["messages"]) == 4


def test_mistral_gets_short_ids_no_empty_message_and_a_users_end():
    chat = [*tool_turn(), {"role": "assistant", "content": ""}, {"role": "assistant", "content": "done"}]
    messages = body_of(chat, "mistral")["messages"]
    assert messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"] == "call00000"
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant", "user"]


@pytest.mark.parametrize("profile", CLASS)
def test_reasoning_goes_back_only_where_it_is_wanted(profile):
    chat = tool_turn()
    details = [{"type": "reasoning.text", "text": "t", "signature": "s"}]
    thought = {
        "type": "thinking",
        "text": "hm",
        "provider_metadata": {"openrouter": {"reasoning_details": details, "model": "m-1"}},
    }
    chat[1]["content"].insert(0, thought)
    said = body_of(chat, profile)["messages"][1]
    assert (said.get("reasoning_content") == "hm") is (profile == "deepseek")
    assert (said.get("reasoning_details") == details) is (profile == "openrouter")
    assert set(said) <= {"role", "content", "tool_calls", "reasoning_content", "reasoning_details"}


def test_deepseek_gets_its_reasoning_back_even_when_it_is_empty():
    assert body_of(tool_turn(), "deepseek")["messages"][1]["reasoning_content"] == ""


def test_openrouter_is_told_who_asks():
    headers = openai_chat.build_request([USER], [], options("openrouter", key="k"))["headers"]
    assert headers["x-openrouter-title"] == "Oasis"


# What they answer


def chunk(delta=None, reason=None, **more):
    return json.dumps({"id": "r", "choices": [{"index": 0, "delta": delta or {}, "finish_reason": reason}], **more})


def test_mistral_sends_whole_calls_without_place_and_its_own_reason():
    calls = [{"id": f"abcdefgh{n}", "function": {"name": "status", "arguments": "{}"}} for n in (1, 2)]
    raw = sse(chunk({"tool_calls": calls}, "tool_calls", usage={"prompt_tokens": 5, "completion_tokens": 2}))
    events = at_every_cut(raw, profile="mistral")
    assert [call["id"] for call in calls_of(events)] == ["abcdefgh1", "abcdefgh2"]
    assert decode(sse(chunk({"content": "a"}, "model_length")), "mistral")[-1]["stop_reason"] == "max_tokens"


def test_groq_says_that_the_model_wrote_a_bad_call():
    body = {"error": {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": "<x>"}}
    error = error_of(decode(json.dumps(body).encode(), "groq", 400, JSON))
    assert error["code"] == "bad_tool_call" and error["retryable"]
    large = b'{"error":{"message":"Request too large","code":"rate_limit_exceeded"}}'
    error = error_of(decode(large, "groq", 413, JSON))
    assert error["code"] == "too_large" and not error["retryable"]
    assert error_of(decode(b'{"error":{"message":"capacity"}}', "groq", 498, JSON))["retryable"]


def test_deepseek_says_what_is_missing():
    for status, code in ((402, "no_credit"), (422, "invalid_request"), (429, "rate_limit"), (503, "overloaded")):
        assert error_of(decode(b'{"error":{"message":"x"}}', "deepseek", status, JSON))["code"] == code
    raw = b": keep-alive\n\n" * 3 + sse(chunk({"reasoning_content": "hm"}), chunk({"content": "a"}, "stop"))
    assert [event["type"] for event in at_every_cut(raw, profile="deepseek")][:2] == ["thinking", "delta"]


def test_llama_cpp_says_that_the_chat_is_too_long_and_that_it_still_loads():
    long = {"error": {"code": 400, "message": "the request exceeds the available context size", "n_ctx": 2048,
                      "type": "exceed_context_size_error"}}  # fmt: skip
    assert error_of(decode(json.dumps(long).encode(), "llamacpp", 400, JSON))["code"] == "context_length"
    loading = b'{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}'
    error = error_of(decode(loading, "llamacpp", 503, JSON))
    assert error["code"] == "overloaded" and error["retryable"]


def test_vllm_says_that_it_was_started_without_tools():
    body = b'{"object":"error","message":"\\"auto\\" tool choice requires --enable-auto-tool-choice","code":400}'
    error = error_of(decode(body, "vllm", 400, JSON))
    assert error["code"] == "no_tools" and "tool_mode" in error["hint"]


def test_vllm_sends_usage_with_every_piece():
    raw = sse(*[chunk({"content": "a"}, "stop" if n == 3 else None, usage={"prompt_tokens": 5, "completion_tokens": n})
                for n in (1, 2, 3)])  # fmt: skip
    events = at_every_cut(raw, profile="vllm")
    assert [event["usage"] for event in events if event["type"] == "usage"] == [{"input_tokens": 5, "output_tokens": 3}]


def test_lm_studio_names_its_errors_in_two_ways():
    assert error_of(decode(b'{"error":"No models loaded"}', "lmstudio", 400, JSON))["code"] == "invalid_request"
    raw = sse(chunk({"content": "a"}), done=False) + b'event: error\ndata: {"message":"Model unloaded."}\n\n'
    assert "Model unloaded" in error_of(at_every_cut(raw, profile="lmstudio"))["message"]


def test_openrouter_tells_errors_inside_an_answer_and_how_long_to_wait():
    wait = {"code": 503, "message": "no provider", "availability": {"retry_after": 7}}
    error = error_of(decode(json.dumps({"error": wait}).encode(), "openrouter", 503, JSON))
    assert error["retry_after_s"] == 7.0
    inside = {"choices": [{"error": {"code": 429, "message": "slow"}, "finish_reason": "error", "message": {}}]}
    assert error_of(decode(json.dumps(inside).encode(), "openrouter", headers=JSON))["code"] == "rate_limit"
    last = json.dumps({"choices": [{"delta": {}, "finish_reason": None}], "usage": {"prompt_tokens": 5, "cost": 0.1}})
    events = at_every_cut(sse(": OPENROUTER PROCESSING", chunk({"content": "a"}, "length"), last), profile="openrouter")
    assert events[-1]["stop_reason"] == "max_tokens" and text_of(events) == "a"


def test_xai_and_cerebras_count_reasoning():
    usage = {"prompt_tokens": 5, "completion_tokens": 1, "completion_tokens_details": {"reasoning_tokens": 290}}
    for profile, made in (("xai", 291), ("cerebras", 1)):
        events = decode(sse(chunk({"content": "a"}, "stop", usage=usage)), profile)
        assert events[-2]["usage"] == {"input_tokens": 5, "output_tokens": made, "reasoning_tokens": 290}
