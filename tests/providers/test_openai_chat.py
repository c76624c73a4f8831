"""Chat Completions: tables of (chat, request body) and (recorded bytes, events)."""

import json

import pytest

from oasis import providers
from oasis.errors import SchemaError, SettingsError
from oasis.providers import openai_chat
from tests.providers.recordings import (
    JSON,
    STREAM,
    at_every_cut,
    calls_of,
    decode,
    error_of,
    joined,
    options,
    plain,
    sse,
    text_of,
)

TOOL = {"name": "status", "description": "Look.", "input_schema": {"type": "object", "properties": {}}}

TOOL_TURN = [
    {"role": "user", "content": "how many devices?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "text": "look first"},
            {"type": "text", "text": "I look. "},
            {"type": "tool_use", "id": "c-1", "name": "status", "input": {"what": "devices"}},
        ],
    },
    {
        "role": "tool",
        "content": [{"type": "tool_result", "tool_use_id": "c-1", "content": [{"type": "text", "text": "3"}]}],
    },
]


def chunk(delta=None, reason=None, **more):
    return json.dumps({"id": "r-1", "choices": [{"index": 0, "delta": delta or {}, "finish_reason": reason}], **more})


def piece(arguments=None, **call):
    function = {name: call.pop(name) for name in ("name",) if name in call}
    if arguments is not None:
        function["arguments"] = arguments
    return {"tool_calls": [{**call, "function": function}]}


def body_of(messages, profile="openai", tools=(), **more):
    request = openai_chat.build_request(list(messages), list(tools), options(profile, **more))
    return json.loads(request["body"])


# Requests


def test_a_plain_turn_has_only_what_it_needs():
    request = openai_chat.build_request([{"role": "user", "content": "hi"}], [], options("openai", key="sk-1"))
    assert request["method"] == "POST"
    assert request["url"] == "https://api.openai.com/v1/chat/completions"
    assert request["headers"]["authorization"] == "Bearer sk-1"
    assert request["headers"]["accept-encoding"] == "identity"
    assert json.loads(request["body"]) == {
        "model": "m-1",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_without_key_no_authorization_is_sent():
    assert "authorization" not in openai_chat.build_request([], [], options("llamacpp"))["headers"]


def test_a_tool_turn_becomes_calls_with_json_text_and_tool_messages():
    assert body_of(TOOL_TURN)["messages"][1:] == [
        {
            "role": "assistant",
            "content": "I look. ",
            "tool_calls": [
                {"id": "c-1", "type": "function", "function": {"name": "status", "arguments": '{"what":"devices"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c-1", "content": "3"},
    ]


def test_a_failed_result_says_so_in_its_text():
    chat = json.loads(json.dumps(TOOL_TURN))
    chat[2]["content"][0]["is_error"] = True
    assert body_of(chat)["messages"][2]["content"] == "Error: 3"


def test_tools_and_settings_go_into_the_body():
    body = body_of(TOOL_TURN, tools=[TOOL], max_tokens=500, temperature=0.2, tool_choice={"name": "status"})
    assert body["tools"] == [
        {
            "type": "function",
            "function": {"name": "status", "description": "Look.", "parameters": TOOL["input_schema"]},
        }
    ]
    assert body["max_completion_tokens"] == 500 and body["temperature"] == 0.2
    assert body["tool_choice"] == {"type": "function", "function": {"name": "status"}}


def test_without_tools_neither_tools_nor_choice_are_sent():
    assert not {"tools", "tool_choice"} & set(body_of(TOOL_TURN, tool_choice="required"))


def test_extra_fields_of_the_owner_are_merged():
    assert body_of([], extra={"reasoning_effort": "low", "stream_options": {"x": 1}})["stream_options"] == {
        "include_usage": True,
        "x": 1,
    }


def test_stream_is_said_even_when_it_is_false():
    body = body_of([], stream=False)
    assert body["stream"] is False and "stream_options" not in body


@pytest.mark.parametrize("profile", ["mistral", "openrouter", "compatible"])
def test_services_without_stream_options_get_none(profile):
    assert "stream_options" not in body_of([], profile, base_url="http://h/v1")


def test_a_tool_schema_that_is_no_object_is_refused_before_anything_is_sent():
    with pytest.raises(SchemaError, match="invalid tool schema"):
        body_of([], tools=[{"name": "x", "input_schema": "{"}])
    assert body_of([], tools=[{"name": "x"}])["tools"][0]["function"]["parameters"] == {
        "type": "object",
        "properties": {},
    }


def test_names_of_old_calls_are_made_legal():
    chat = json.loads(json.dumps(TOOL_TURN))
    chat[1]["content"][2]["name"] = "get status!" + "x" * 80
    name = body_of(chat)["messages"][1]["tool_calls"][0]["function"]["name"]
    assert name.startswith("get_status_x") and len(name) == 64


@pytest.mark.parametrize("base", ["http://h/v1", "http://h/v1/", "http://h/v1/chat/completions"])
def test_the_address_may_be_written_in_several_ways(base):
    url = openai_chat.build_request([], [], options("compatible", base_url=base))["url"]
    assert url == "http://h/v1/chat/completions"


@pytest.mark.parametrize("base", ["", "h:80", "ftp://h", "http://a b"])
def test_an_address_that_is_none_is_refused(base):
    with pytest.raises(SettingsError, match="no http address"):
        openai_chat.build_request([], [], options("compatible", base_url=base))


def test_a_missing_model_is_refused():
    with pytest.raises(SettingsError, match="no model"):
        openai_chat.build_request([], [], options("compatible", base_url="http://h", model=""))


def test_mistral_gets_ids_of_nine_characters_and_a_users_end():
    messages = body_of([*TOOL_TURN, {"role": "assistant", "content": "3 devices"}], "mistral")["messages"]
    ident = messages[1]["tool_calls"][0]["id"]
    assert len(ident) == 9 and ident.isalnum() and messages[2]["tool_call_id"] == ident
    assert messages[-1] == {"role": "user", "content": "Continue."}


def test_deepseek_gets_its_reasoning_back_with_calls_only():
    messages = body_of([*TOOL_TURN, {"role": "assistant", "content": "3"}], "deepseek")["messages"]
    assert messages[1]["reasoning_content"] == "look first"
    assert "reasoning_content" not in messages[3]
    assert "reasoning_content" not in body_of(TOOL_TURN, "openai")["messages"][1]


# Google's imitation of this format, should somebody put it behind a profile of their own.
IMITATED = {**providers.profiles()["compatible"], "id": "gemini", "echo": "extra_content", "base_url": "http://h/v1"}


def test_gemini_gets_its_signature_back_and_a_stand_in_for_foreign_calls():
    def body_of(chat):
        asked = {**options("compatible"), "profile": IMITATED}
        return json.loads(openai_chat.build_request(chat, [], asked)["body"])

    chat = json.loads(json.dumps(TOOL_TURN))
    skip = body_of(chat)["messages"][1]["tool_calls"][0]["extra_content"]
    assert skip == {"google": {"thought_signature": "skip_thought_signature_validator"}}
    signature = {"google": {"thought_signature": "s"}}
    chat[1]["content"][2]["provider_metadata"] = {"gemini": {"extra_content": signature}}
    assert body_of(chat)["messages"][1]["tool_calls"][0]["extra_content"] == signature


def test_what_gemini_wants_back_goes_to_nobody_else():
    chat = json.loads(json.dumps(TOOL_TURN))
    chat[1]["content"][2]["provider_metadata"] = {"gemini": {"extra_content": {"google": {"thought_signature": "s"}}}}
    assert "extra_content" not in body_of(chat, "openai")["messages"][1]["tool_calls"][0]


def test_openrouter_gets_its_reasoning_details_back():
    chat = json.loads(json.dumps(TOOL_TURN))
    details = [{"type": "reasoning.text", "text": "t", "signature": "s"}]
    chat[1]["content"][0]["provider_metadata"] = {"openrouter": {"reasoning_details": details, "model": "m-1"}}
    assert body_of(chat, "openrouter")["messages"][1]["reasoning_details"] == details
    assert "reasoning_details" not in body_of(chat, "openrouter", model="other")["messages"][1]


def test_every_profile_builds_a_request_or_names_what_is_missing():
    for name, profile in providers.profiles().items():
        asked = {"profile": {**profile, "id": name}, "model": "m", "base_url": profile["base_url"] or "http://h"}
        module = providers.load(profile["vendor"])
        assert module.build_request(TOOL_TURN, [TOOL], asked)["url"].startswith("http")
        assert module.models_request(asked)["method"] == "GET"


# Streams


def test_text_in_pieces_with_keep_alives_and_usage():
    raw = sse(
        ": PROCESSING",
        chunk({"role": "assistant", "content": None}, model="m-2"),
        chunk({"content": "Grüß "}),
        ":",
        chunk({"content": "dich \U0001f600"}),  # written as an escaped surrogate pair
        chunk(reason="stop"),
        json.dumps(
            {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": None}}
        ),
    )
    assert at_every_cut(raw) == [
        {"type": "delta", "text": "Grüß dich \U0001f600"},
        {"type": "usage", "usage": {"input_tokens": 7, "output_tokens": 3}},
        {"type": "done", "stop_reason": "end_turn", "model": "m-2"},
    ]


def test_crlf_streams_and_a_sentinel_without_line_end():
    raw = sse(chunk({"content": "a"}), end="\r\n", done=False) + b"data: [DONE]"
    assert text_of(at_every_cut(raw)) == "a"


def test_what_follows_the_sentinel_is_ignored():
    raw = sse(chunk({"content": "a"}, "stop")) + sse(chunk({"content": "b"}))
    assert text_of(at_every_cut(raw)) == "a"


def test_a_first_chunk_without_choices_is_normal():
    assert (
        text_of(at_every_cut(sse('{"choices":[],"prompt_filter_results":[]}', chunk({"content": "a"}, "stop")))) == "a"
    )


@pytest.mark.parametrize(
    ("raw_reason", "reason"),
    [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("model_length", "max_tokens"),
        ("content_filter", "refusal"),
        ("tool_calls", "end_turn"),
        ("something_new", "other"),
    ],
)
def test_finish_reasons(raw_reason, reason):
    assert decode(sse(chunk({"content": "a"}, raw_reason)))[-1]["stop_reason"] == reason


def test_calls_beside_the_reason_stop_are_a_tool_use():
    events = decode(sse(chunk(piece("{}", index=0, id="a", name="status")), chunk(reason="stop")))
    assert events[-1]["stop_reason"] == "tool_use"


def test_a_refusal_is_text_and_a_stop_reason():
    events = decode(sse(chunk({"refusal": "I will "}), chunk({"refusal": "not"}), chunk(reason="stop")))
    assert text_of(events) == "I will not" and events[-1]["stop_reason"] == "refusal"


def test_a_missing_finish_reason_is_accepted_when_the_sentinel_came():
    assert decode(sse(chunk({"content": "a"})))[-1]["stop_reason"] == "end_turn"


def test_a_finish_reason_is_enough_without_sentinel():
    assert decode(sse(chunk({"content": "a"}, "stop"), done=False))[-1]["type"] == "done"


def test_a_later_null_reason_does_not_reset_it():
    raw = sse(chunk({"content": "a"}, "length"), chunk(usage={"prompt_tokens": 1}), done=False)
    assert decode(raw)[-1]["stop_reason"] == "max_tokens"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_comes_as_thinking(field):
    events = joined(
        decode(sse(chunk({field: "hm "}), chunk({field: "so", "content": None}), chunk({"content": "a"}, "stop")))
    )
    assert events[0] == {"type": "thinking", "text": "hm so"} and text_of(events) == "a"


@pytest.mark.parametrize(
    ("content", "thoughts", "text"),
    [
        ("<think>hm, so</think>\n\nYes.", "hm, so", "Yes."),
        ("\n<think>a < b </thin k></think>ok", "a < b </thin k>", "ok"),
        ("<think></think>ok", "", "ok"),
        ("<think>cut off", "cut off", ""),
        ("<th", "", "<th"),
        ("I <think> so </think>", "", "I <think> so </think>"),
        ("  plain", "", "  plain"),
    ],
)
def test_thoughts_written_into_the_text_are_parted_from_it(content, thoughts, text):
    for size in (1, 3, 100):
        pieces = [content[at : at + size] for at in range(0, len(content), size)]
        events = decode(sse(*[chunk({"content": piece}) for piece in pieces], chunk(reason="stop")))
        assert text_of(events) == text
        assert "".join([e["text"] for e in events if e["type"] == "thinking"]) == thoughts


def test_mistrals_content_lists_are_read():
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "a"}]
    events = decode(sse(chunk({"content": parts}, "stop")), "mistral")
    assert events[:2] == [{"type": "thinking", "text": "hm"}, {"type": "delta", "text": "a"}]


def test_openrouters_details_are_joined_and_kept_for_it():
    pieces = [
        {"type": "reasoning.text", "index": 0, "text": "a"},
        {"type": "reasoning.text", "index": 0, "text": "b"},
        {"type": "reasoning.text", "index": 0, "signature": "s", "text": None},
    ]
    events = decode(
        sse(*[chunk({"reasoning_details": [p]}) for p in pieces], chunk({"content": "x"}, "stop")), "openrouter"
    )
    kept = [e["provider_metadata"] for e in events if e.get("provider_metadata")]
    wanted = [{"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"}]
    assert kept == [{"openrouter": {"reasoning_details": wanted, "model": "m-1"}}]


def test_more_than_a_message_has_room_for_is_not_kept():
    for size, is_kept in ((100_000, True), (200_000, False)):
        details = [{"type": "reasoning.encrypted", "data": "x" * size}]
        events = decode(sse(chunk({"reasoning_details": details}), chunk({"content": "x"}, "stop")), "openrouter")
        assert ("reasoning_details" in str(events)) is is_kept and text_of(events) == "x"


def test_usage_of_all_dialects():
    details = {"prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 5}}
    whole = {"prompt_tokens": 10, "completion_tokens": 2, **details}
    table = [
        ("openai", {"usage": whole}, {"cache_read_input_tokens": 4, "reasoning_tokens": 5, "output_tokens": 2}),
        ("xai", {"usage": whole}, {"output_tokens": 7}),
        ("deepseek", {"usage": {"prompt_tokens": 10, "prompt_cache_hit_tokens": 3}}, {"cache_read_input_tokens": 3}),
        ("groq", {"x_groq": {"usage": {"prompt_tokens": 10}}}, {"input_tokens": 10}),
    ]
    for profile, given, wanted in table:
        events = decode(sse(chunk({"content": "a"}, "stop", **given)), profile)
        usage = next(e["usage"] for e in events if e["type"] == "usage")
        assert usage["input_tokens"] == 10 and wanted.items() <= usage.items(), profile


# Tool calls: the same two calls in every dialect we know of

CALLS = [("a", "status", {"what": "devices"}), ("b", "undo", {})]
DIALECTS = {
    "by index, in pieces": [
        piece("", index=0, id="a", name="status"),
        piece('{"what":', index=0),
        piece("", index=1, id="b", name="undo"),
        piece('"devices"}', index=0),
        piece("{}", index=1),
    ],
    "first index is one": [
        piece('{"what":"devices"}', index=1, id="a", name="status"),
        piece("{}", index=2, id="b", name="undo"),
    ],
    "every index is zero": [
        piece('{"what":"devices"}', index=0, id="a", name="status"),
        piece("{}", index=0, id="b", name="undo"),
    ],
    "id and name repeated": [
        piece('{"what":', index=0, id="a", name="status"),
        piece('"devices"}', index=0, id="a", name="status"),
        piece("{}", index=1, id="b", name="undo"),
        piece("", index=1, id="b", name="undo"),
    ],
    "empty id and name later": [
        piece('{"what":', index=0, id="a", name="status"),
        piece('"devices"}', index=0, id="", name=""),
        piece(None, index=1, id="b", name="undo"),
        piece(None, index=1, id=None, name=None),
    ],
    "no index, by id": [
        piece('{"what":', id="a", name="status"),
        piece("{}", id="b", name="undo"),
        piece('"devices"}', id="a"),
    ],
    "no index, last call": [
        piece('{"what":', id="a", name="status"),
        piece('"devices"}'),
        piece("{}", id="b", name="undo"),
    ],
    "object arguments, none at all": [
        piece({"what": "devices"}, index=0, id="a", name="status"),
        piece(None, index=1, id="b", name="undo"),
    ],
    "text within text": [
        piece('"{\\"what\\":\\"devices\\"}"', index=0, id="a", name="status"),
        piece("null", index=1, id="b", name="undo"),
    ],
}


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_tool_calls_in_the_dialect(dialect):
    raw = sse(*[chunk(delta) for delta in DIALECTS[dialect]], chunk(reason="tool_calls"))
    events = at_every_cut(raw)
    assert [(c["id"], c["name"], c["input"]) for c in calls_of(events)] == CALLS
    assert events[-1]["stop_reason"] == "tool_use"


def test_ids_that_never_come_are_made_and_differ():
    calls = calls_of(decode(sse(chunk(piece("{}", index=0, name="x")), chunk(piece("{}", index=1, name="y"), "stop"))))
    assert len({call["id"] for call in calls}) == 2 and all(call["id"] for call in calls)
    other = calls_of(decode(sse(chunk(piece("{}", index=0, name="x"), "stop").replace("r-1", "r-2"))))
    assert other[0]["id"] != calls[0]["id"]


def test_equal_ids_in_one_turn_are_told_apart():
    whole = {
        "choices": [
            {
                "message": {
                    "tool_calls": [
                        {"id": "a", "function": {"name": "x", "arguments": "{}"}},
                        {"id": "a", "function": {"name": "y", "arguments": "{}"}},
                    ]
                },
                "finish_reason": "tool_calls",
            }
        ]
    }
    calls = calls_of(decode(json.dumps(whole).encode(), headers=JSON))
    assert [c["name"] for c in calls] == ["x", "y"] and calls[0]["id"] != calls[1]["id"]


@pytest.mark.parametrize(
    "broken",
    ['{"what": "dev', "[1]", "7", '{"a": NaN}', '{"a": "\\ud83d"}', '{"a":' * 40 + "1" + "}" * 40, "no json " * 50],
)
def test_specs_that_are_no_object_are_handed_over_as_invalid(broken):
    events = decode(sse(chunk(piece(broken, index=0, id="a", name="status")), chunk(reason="tool_calls")))
    assert calls_of(events) == [{"type": "tool_use", "id": "a", "name": "status", "input": {}, "invalid": broken[:200]}]
    assert events[-1]["type"] == "done"


def test_a_call_that_the_length_limit_cut_is_invalid_even_when_nothing_of_it_came():
    raw = sse(chunk(piece("{}", index=0, id="a", name="x")), chunk(piece("", index=1, id="b", name="y"), "length"))
    calls = calls_of(decode(raw))
    assert "invalid" not in calls[0] and calls[1]["invalid"] == ""
    assert decode(raw)[-1]["stop_reason"] == "max_tokens"


def test_a_call_without_name_can_not_be_run():
    assert "invalid" in calls_of(decode(sse(chunk(piece("{}", index=0, id="a"), "tool_calls"))))[0]


def test_geminis_signature_is_kept_with_its_call():
    extra = {"google": {"thought_signature": "s"}}
    raw = sse(chunk(piece("{}", index=0, id="a", name="x", extra_content=extra), "tool_calls"))
    decoder = openai_chat.Decoder(200, STREAM, {**options("compatible"), "profile": IMITATED})
    assert calls_of(decoder.feed(raw))[0]["provider_metadata"] == {"gemini": {"extra_content": extra}}
    assert "provider_metadata" not in calls_of(decode(raw, "compatible"))[0]


# Endings that are none


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_a_cut_stream_is_an_error_and_runs_no_call(keep):
    chunks = [chunk({"content": "a"}), chunk(piece("{}", index=0, id="a", name="x")), chunk({"content": "b"})]
    events = at_every_cut(sse(*chunks[:keep], done=False))
    assert error_of(events)["code"] == "truncated" and error_of(events)["hint"] and not calls_of(events)


def test_a_stream_cut_in_the_middle_of_an_event_is_a_cut_stream():
    raw = sse(chunk({"content": "a"}), chunk({"content": "b"}), done=False)[:-9]
    assert error_of(at_every_cut(raw))["code"] == "truncated"


@pytest.mark.parametrize(
    "shape",
    [
        '{"error":{"message":"upstream is overloaded","code":"server_is_overloaded"}}',
        '{"error":"overloaded"}',
        '{"object":"error","message":"overloaded","code":503}',
        '{"choices":[{"delta":{},"finish_reason":"error","error":{"message":"overloaded","code":503}}]}',
    ],
)
def test_an_error_in_the_middle_of_a_stream_ends_it(shape):
    events = at_every_cut(sse(chunk({"content": "a"}), shape, chunk({"content": "b"})))
    assert text_of(events) == "a" and error_of(events)["code"] == "overloaded"


def test_an_error_line_beside_the_events_ends_the_stream_too():
    raw = sse(chunk({"content": "a"}), done=False) + b'error: {"message":"slot failed"}\n\ndata: [DONE]\n\n'
    assert "slot failed" in error_of(at_every_cut(raw))["message"]


def test_the_reason_error_without_words_is_an_error():
    assert error_of(decode(sse(chunk({"content": "a"}, "error"))))["code"] == "server"


def test_an_error_that_repeats_the_length_limit_is_none():
    raw = sse(chunk({"content": "a"}, "length"), '{"error":{"message":"Token limit reached","code":502}}')
    assert decode(raw)[-1]["stop_reason"] == "max_tokens"


def test_a_stream_request_answered_by_plain_json_is_read():
    for headers in (JSON, {}, {"content-type": "text/event-stream"}):
        message = {"content": "hi", "tool_calls": [{"id": "a", "function": {"name": "x", "arguments": "{}"}}]}
        whole = {
            "model": "m-2",
            "choices": [{"message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1},
        }
        raw = b"\n\n" + json.dumps(whole, indent=1).encode()
        assert [e["type"] for e in at_every_cut(raw, headers=headers)] == ["delta", "tool_use", "usage", "done"]


def test_a_stream_announced_as_json_is_read():
    assert text_of(decode(sse(chunk({"content": "a"}, "stop")), headers=JSON)) == "a"


@pytest.mark.parametrize(
    ("raw", "headers", "code"),
    [
        (b"", {}, "empty_answer"),
        (b"  \r\n", {}, "empty_answer"),
        (b"data: [DONE]\n\n", {}, "empty_answer"),
        (b"<!DOCTYPE html><html>Welcome to the hotel</html>", {"content-type": "text/html"}, "portal"),
        (b"\xef\xbb\xbf\n <html></html>", JSON, "portal"),
        (b"OK", {"content-type": "text/plain"}, "bad_answer"),
        (b": ping\n\n", {"content-type": "text/plain"}, "bad_answer"),
        (b": ping\n\n", STREAM, "truncated"),
        (b'{"choices":[]}', JSON, "bad_answer"),
        (b'{"hello":1}', JSON, "bad_answer"),
        (b"[1,2]", JSON, "bad_answer"),
        (b'{"choices":[{"message":{"content":"a', JSON, "truncated"),
        (b'data: {"a"\n\ndata: [DONE]\n\n', {}, "bad_answer"),
        (b"data: [1]\n\n", {}, "bad_answer"),
        (b"data: " + b"[" * 100 + b"\n\n", {}, "bad_answer"),
        (b'{"error":{"message":"no such model","code":"model_not_found"}}', JSON, "not_found"),
        (b'[{"error":{"message":"quota","status":"RESOURCE_EXHAUSTED","code":429}}]', JSON, "rate_limit"),
        (b'{"detail":"overloaded"}', JSON, "overloaded"),
    ],
)
def test_good_statuses_that_are_no_answer(raw, headers, code):
    events = at_every_cut(raw, headers=headers)
    assert error_of(events)["code"] == code and error_of(events)["hint"], events


def test_an_endless_answer_is_ended():
    decoder = openai_chat.Decoder(200, {}, options("compatible"))
    events = []
    for _ in range(300):
        events.extend(decoder.feed(b": " + b"x" * 65536 + b"\n"))
    assert error_of(events)["code"] == "bad_answer" and "longer than" in error_of(events)["message"]


def test_half_surrogates_do_not_come_through():
    raw = sse('{"choices":[{"delta":{"content":"a\\ud83d"},"finish_reason":"stop"}]}')
    assert text_of(decode(raw)).encode("utf-8") == "a\ufffd".encode()


# Model lists


def test_models_are_read_with_what_is_known_of_them():
    body = {
        "data": [
            {"id": "a", "context_window": 4096, "capabilities": {"function_calling": True}},
            {"id": "b", "supported_parameters": ["tools"]},
            {"id": "c", "meta": None, "max_model_len": 10},
            {"no": "id"},
        ]
    }
    assert plain(openai_chat.models_read, 200, JSON, json.dumps(body).encode(), options("vllm")) == [
        {"id": "a", "context_tokens": 4096, "tools": True},
        {"id": "b", "tools": True},
        {"id": "c", "context_tokens": 10},
    ]


def test_a_bare_list_of_models_is_read_where_services_send_one():
    body = b'[{"id":"a","context_length":10},{"no":"id"},7]'
    assert plain(openai_chat.models_read, 200, JSON, body, options("compatible")) == [{"id": "a", "context_tokens": 10}]


def test_a_bare_list_is_no_answer_of_services_that_never_send_one():
    with pytest.raises(openai_chat.wire.ProviderError) as caught:
        openai_chat.wire.models_of([{"id": "a"}], "data", "id", options("openai"))
    assert caught.value.code == "bad_answer"


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, b'{"error":{"message":"Incorrect key sk-a**z"}}', "authentication"),
        (200, b"<html>", "portal"),
        (200, b"{", "bad_answer"),
        (200, b'{"data":{}}', "bad_answer"),
        (200, b'{"error":"overloaded"}', "overloaded"),
    ],
)
def test_a_failed_model_list_says_why(status, body, code):
    with pytest.raises(openai_chat.wire.ProviderError) as caught:
        plain(openai_chat.models_read, status, {}, body, options("openai"))
    assert caught.value.code == code and "sk-a" not in caught.value.message
