"""Anthropic's Messages API: tables of (chat, request body) and (recorded bytes, events)."""

import base64
import json

import pytest

from oasis.errors import AuthenticationError, ProviderError, SchemaError, SettingsError, UsageError
from oasis.providers import anthropic
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
USER = {"role": "user", "content": "how many devices?"}


def call(ident="c-1", name="status", **arguments):
    return {"type": "tool_use", "id": ident, "name": name, "input": arguments}


def result(ident="c-1", *parts, **more):
    return {
        "type": "tool_result",
        "tool_use_id": ident,
        "name": "status",
        "content": list(parts or [text("3")]),
        **more,
    }


def text(words):
    return {"type": "text", "text": words}


def said(*blocks, **more):
    return {"role": "assistant", "content": list(blocks), **more}


def told(*results):
    return {"role": "tool", "content": list(results)}


def signed(words="look first", **kept):
    return {"type": "thinking", "text": words, "provider_metadata": {"anthropic": kept or {"signature": "s1=="}}}


def attached(kind, media_type, content, name="a"):
    data = base64.b64encode(content).decode()
    return {"type": kind, "media_type": media_type, "sha256": "0" * 64, "name": name, "data": data}


def request_of(messages, tools=(), **more):
    asked = options("anthropic", **{"model": "claude-sonnet-4-5", "cache": False, **more})
    return anthropic.build_request(list(messages), list(tools), asked)


def body_of(messages, tools=(), **more):
    return json.loads(request_of(messages, tools, **more)["body"])


# Requests


def test_a_plain_turn_has_only_what_it_needs():
    request = request_of([{"role": "system", "content": "be short"}, USER], key="sk-ant-1")
    assert (request["method"], request["url"]) == ("POST", "https://api.anthropic.com/v1/messages")
    assert request["headers"]["x-api-key"] == "sk-ant-1" and "authorization" not in request["headers"]
    assert request["headers"]["anthropic-version"] == "2023-06-01"
    assert "event-stream" in request["headers"]["accept"]
    assert json.loads(request["body"]) == {
        "model": "claude-sonnet-4-5",
        "max_tokens": 8192,
        "system": [text("be short")],
        "messages": [{"role": "user", "content": [text("how many devices?")]}],
        "stream": True,
    }


def test_without_a_key_no_header_of_it_is_sent():
    assert "x-api-key" not in request_of([USER])["headers"]


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://h", "http://h/v1/messages"),
        ("http://h/v1/", "http://h/v1/messages"),
        ("http://h/v1/messages", "http://h/v1/messages"),
        ("https://h/anthropic", "https://h/anthropic/v1/messages"),
    ],
)
def test_the_address_may_be_written_in_several_ways(base, url):
    assert request_of([USER], base_url=base)["url"] == url


def test_all_results_and_the_words_after_them_are_one_turn_of_the_user():
    chat = [USER, said(text("I look."), call("a"), call("b", what="x")), told(result("b"), result("a")), USER]
    assert body_of(chat, [TOOL])["messages"][1:] == [
        {"role": "assistant", "content": [text("I look."), call("a"), call("b", what="x")]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [text("3")]},
                {"type": "tool_result", "tool_use_id": "b", "content": [text("3")]},
                text("how many devices?"),
            ],
        },
    ]


def test_a_failed_result_has_the_flag_and_an_empty_one_a_word():
    chat = [USER, said(call()), told({**result(), "content": [], "is_error": True})]
    assert body_of(chat)["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "c-1", "content": [text("(nothing)")], "is_error": True}
    ]


def test_ids_and_names_are_made_legal_and_stay_apart():
    chat = [USER, said(call("a.1", "mcp.do it"), call("a:1")), told(result("a.1"), result("a:1", text("4")))]
    messages = body_of(chat)["messages"]
    assert [block["id"] for block in messages[1]["content"]] == ["a_1", "a_1_2"]
    assert [block["tool_use_id"] for block in messages[2]["content"]] == ["a_1", "a_1_2"]
    assert messages[1]["content"][0]["name"] == "mcp_do_it"


def test_blank_texts_are_left_out_and_the_turns_still_alternate():
    chat = [{"role": "user", "content": " \n"}, said(text("hi"), text("  ")), {"role": "user", "content": [text("")]}]
    assert [(m["role"], m["content"]) for m in body_of(chat)["messages"]] == [
        ("user", [text("Begin.")]),
        ("assistant", [text("hi")]),
        ("user", [text("Continue.")]),
    ]


def test_a_refused_answer_does_not_go_out_again():
    chat = [USER, said(text("I was about to"), stop_reason="refusal"), {"role": "user", "content": "and now?"}]
    assert body_of(chat)["messages"] == [{"role": "user", "content": [text("how many devices?\n\nand now?")]}]


def test_a_paused_answer_is_the_last_message():
    asked = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    chat = [USER, said(text("I search."), signed("", block=asked), stop_reason="pause")]
    assert body_of(chat, search=True)["messages"][-1] == {"role": "assistant", "content": [text("I search."), asked]}
    assert body_of([*chat, USER], search=True)["messages"][1]["content"] == [text("I search.")]


# Thoughts


def test_signed_and_redacted_thoughts_go_back_in_their_place():
    chat = [USER, said(signed(), signed("", redacted="xyz"), text("I look."), call()), told(result())]
    assert body_of(chat)["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "look first", "signature": "s1=="},
        {"type": "redacted_thinking", "data": "xyz"},
        text("I look."),
        call(),
    ]


def test_a_signature_without_a_thought_goes_back_too():
    chat = [USER, said(signed(""), call()), told(result())]
    assert body_of(chat)["messages"][1]["content"][0] == {"type": "thinking", "thinking": "", "signature": "s1=="}


@pytest.mark.parametrize(
    "metadata", [None, {}, {"gemini": {"signature": "g"}}, {"anthropic": {}}, {"anthropic": {"signature": ""}}]
)
def test_thoughts_of_others_and_without_signature_are_left_out(metadata):
    chat = [USER, said({"type": "thinking", "text": "hm", "provider_metadata": metadata}, text("a")), USER]
    assert body_of(chat)["messages"][1]["content"] == [text("a")]


def test_what_a_search_found_goes_back_only_as_a_pair_and_with_the_search():
    asked = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    lost = {**found, "tool_use_id": "srvtoolu_2"}
    chat = [USER, said(signed("", block=asked), signed("", block=found), signed("", block=lost), text("a")), USER]
    assert body_of(chat, search=True)["messages"][1]["content"] == [asked, found, text("a")]
    assert body_of(chat)["messages"][1]["content"] == [text("a")]


# Files


def test_files_become_what_the_api_reads():
    png, pdf = attached("image", "image/png", b"P"), attached("document", "application/pdf", b"D")
    words = attached("document", "text/plain; charset=utf-8", "grün".encode(), "notes.txt")
    content = body_of([{"role": "user", "content": [png, pdf, words, text("see")]}])["messages"][0]["content"]
    assert content == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png["data"]}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": pdf["data"]}},
        text("notes.txt:\n\ngrün"),
        text("see"),
    ]


def test_a_picture_in_a_result_stays_in_it():
    png = attached("image", "image/png", b"P")
    content = body_of([USER, said(call()), told(result("c-1", text("shot"), png))])["messages"][2]["content"]
    assert [part["type"] for part in content[0]["content"]] == ["text", "image"]


def test_a_new_file_it_cannot_read_is_refused_and_an_old_one_is_a_note():
    sheet = {"role": "user", "content": [attached("document", "application/vnd.ms-excel", b"X", "x.xls"), text("see")]}
    with pytest.raises(UsageError, match=r"Anthropic cannot read x\.xls"):
        body_of([sheet])
    assert "x.xls" in body_of([sheet, said(text("no")), USER])["messages"][0]["content"][0]["text"]


# Tools


def test_tools_have_plain_schemas_and_the_choice_its_own_words():
    tool = {
        "name": "set",
        "input_schema": {"anyOf": [{"$ref": "#/$defs/A"}], "$defs": {"A": {"properties": {"a": {}}}}},
    }
    body = body_of([USER], [TOOL, tool])
    assert body["tools"] == [
        {"name": "status", "description": "Look.", "input_schema": {"type": "object", "properties": {}}},
        {"name": "set", "input_schema": {"type": "object", "properties": {"a": {}}, "required": []}},
    ]
    assert "tool_choice" not in body
    for choice, wanted in (
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ({"name": "status"}, {"type": "tool", "name": "status"}),
    ):
        assert body_of([USER], [TOOL], tool_choice=choice)["tool_choice"] == wanted


def test_a_schema_that_is_no_object_is_refused_before_anything_is_sent():
    with pytest.raises(SchemaError, match="invalid tool schema"):
        body_of([USER], [{"name": "x", "input_schema": "{"}])


def test_a_history_with_calls_names_its_tools_though_none_is_offered():
    body = body_of([USER, said(call()), told(result())], tool_choice="required")
    assert [tool["name"] for tool in body["tools"]] == ["status"] and body["tool_choice"] == {"type": "none"}
    assert not {"tools", "tool_choice"} & set(body_of([USER], tool_choice="required"))


def test_models_that_cannot_be_forced_are_asked():
    assert body_of([USER], [TOOL], tool_choice="required", model="claude-fable-5")["tool_choice"] == {"type": "auto"}


def test_search_is_a_tool_of_the_service_or_an_error():
    assert body_of([USER], search=True)["tools"] == [
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
    ]
    assert [tool["name"] for tool in body_of([USER], [TOOL], search=True)["tools"]] == ["status", "web_search"]
    with pytest.raises(SettingsError, match="search is not offered by llama"):
        body_of([USER], model="llama-x", search=True)


# Limits and thinking


@pytest.mark.parametrize(
    ("model", "thinking", "wanted"),
    [
        ("claude-sonnet-4-5", None, {}),
        ("claude-sonnet-4-5", "off", {}),
        ("claude-sonnet-4-5", "low", {"type": "enabled", "budget_tokens": 2048}),
        ("claude-sonnet-4-5", "adaptive", {"type": "enabled", "budget_tokens": 8192}),
        ("claude-sonnet-4-5", 100, {"type": "enabled", "budget_tokens": 1024}),
        ("claude-opus-4-1", 999999, {"type": "enabled", "budget_tokens": 32000 - 1024}),
        ("claude-sonnet-4-6", "adaptive", {"type": "adaptive"}),
        ("claude-opus-4-8", "high", {"type": "adaptive", "effort": "high"}),
        ("claude-opus-5", 3000, {"type": "adaptive", "effort": "medium"}),
        ("claude-opus-5", "off", {"type": "disabled"}),
        ("claude-opus-5-5", "off", {}),
        ("claude-fable-5", "low", {"type": "adaptive", "effort": "low"}),
        ("claude-3-5-haiku-latest", "high", {}),
        ("somebody-elses", "low", {"type": "enabled", "budget_tokens": 2048}),
    ],
)
def test_thinking_is_said_as_each_model_wants_it(model, thinking, wanted):
    body = body_of([USER], model=model, thinking=thinking, max_tokens=2000)
    effort = body.get("output_config", {})
    assert {**body.get("thinking", {}), **effort} == wanted
    assert body["max_tokens"] > body.get("thinking", {}).get("budget_tokens", 0)
    assert body["max_tokens"] >= 2000


def test_every_model_has_a_limit():
    limits = {model: body_of([USER], model=model)["max_tokens"] for model in ("claude-3-opus-1", "claude-opus-5", "x")}
    assert limits == {"claude-3-opus-1": 4096, "claude-opus-5": 16384, "x": 8192}
    assert body_of([USER], max_tokens=77)["max_tokens"] == 77


def test_a_forced_call_and_thinking_exclude_each_other():
    body = body_of([USER], [TOOL], thinking="high", tool_choice="required")
    assert "thinking" not in body and body["tool_choice"] == {"type": "any"}
    body = body_of([USER], [TOOL], thinking="high", tool_choice="required", model="claude-sonnet-5")
    assert body["thinking"] == {"type": "disabled"} and "output_config" not in body


def test_thinking_does_not_begin_in_the_middle_of_a_tool_loop():
    loop = [USER, said(text("I look."), call()), told(result())]
    assert "thinking" not in body_of(loop, [TOOL], thinking="low")
    assert "thinking" in body_of([USER, said(signed(), call()), told(result())], [TOOL], thinking="low")
    assert "thinking" in body_of([*loop, said(text("3")), USER], [TOOL], thinking="low")


@pytest.mark.parametrize(
    ("model", "thinking", "wanted"),
    [
        ("claude-sonnet-4-5", None, 1),
        ("claude-sonnet-4-5", "low", None),
        ("claude-opus-4-7", None, None),
        ("claude-sonnet-5", "off", None),
    ],
)
def test_temperature_is_sent_where_it_is_taken(model, thinking, wanted):
    assert body_of([USER], model=model, thinking=thinking, temperature=1.5).get("temperature") == wanted


def test_extra_fields_of_the_owner_are_merged():
    assert body_of([USER], extra={"metadata": {"user_id": "r"}})["metadata"] == {"user_id": "r"}


# Prompt cache


def marks(body):
    """Return the texts or names of what is marked, in the order of the prompt."""
    held = [*body.get("tools", []), *body.get("system", []), *[b for m in body["messages"] for b in m["content"]]]
    return [block.get("name") or block.get("text") or block["type"] for block in held if "cache_control" in block]


def test_tools_system_and_the_last_turns_are_kept_at_the_service():
    chat = [{"role": "system", "content": "S"}, USER, said(call()), told(result()), said(text("3")),
            {"role": "user", "content": "and now?"}]  # fmt: skip
    body = body_of(chat, [{"name": "other"}, TOOL], cache=None)
    assert marks(body) == ["status", "S", "tool_result", "and now?"]
    assert marks(body_of(chat, [TOOL], cache=False)) == []


def test_a_message_that_wishes_it_comes_before_an_older_turn():
    document = {"role": "user", "content": "a long document", "cache": True}
    chat = [document, said(text("ok")), USER, said(text("ok")), {"role": "user", "content": "and now?"}]
    body = body_of([{"role": "system", "content": "S"}, *chat], [TOOL], cache=None)
    assert marks(body) == ["status", "S", "a long document", "and now?"]
    assert "cache" not in json.dumps(body).replace("cache_control", "")


def test_never_more_than_four_marks_and_never_on_a_thought():
    chat = [{"role": "user", "content": f"u{number}", "cache": True} for number in range(9)]
    mixed = [part for message in chat for part in (message, said(text("a"), signed()))]
    body = body_of([{"role": "system", "content": "S"}, *mixed, USER], [TOOL], cache=None)
    assert len(marks(body)) == 4 and "thinking" not in marks(body)


def test_a_single_question_without_tools_is_not_kept():
    assert marks(body_of([{"role": "system", "content": "S"}, USER], cache=None)) == []


# Answers


def event(kind, **fields):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields}, ensure_ascii=False)}\n\n".encode()


def start(usage=None, **more):
    usage = usage or {"input_tokens": 10, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5,
                      "output_tokens": 1}  # fmt: skip
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": usage, **more}  # fmt: skip
    return event("message_start", message=message)


def block(index, kind, *deltas, **fields):
    pieces = [event("content_block_delta", index=index, delta=delta) for delta in deltas]
    opened = event("content_block_start", index=index, content_block={"type": kind, **fields})
    return b"".join([opened, *pieces, event("content_block_stop", index=index)])


def words(*pieces):
    return [{"type": "text_delta", "text": piece} for piece in pieces]


def arguments(*pieces):
    return [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


def end(reason="end_turn", **usage):
    delta = {"stop_reason": reason, "stop_sequence": None}
    return event("message_delta", delta=delta, usage={"output_tokens": 15, **usage}) + event("message_stop")


PING = event("ping")
THOUGHT = [
    {"type": "thinking_delta", "thinking": "Let me "},
    {"type": "thinking_delta", "thinking": "löok."},
    {"type": "signature_delta", "signature": "EqQBCgIY=="},
]
WHOLE_TURN = b"".join([
    start(), PING,
    block(0, "thinking", *THOUGHT, thinking="", signature=""),
    block(1, "redacted_thinking", data="b64=="),
    block(2, "text", *words("I ", "lö", "ok. 😀"), text=""),
    block(3, "tool_use", *arguments("", '{"wh', 'at": "wifi \\"g', 'uest\\""}'), id="toolu_1", name="status", input={}),
    PING,
    block(4, "tool_use", id="toolu_2", name="undo", input={}),
    end("tool_use", output_tokens_details={"thinking_tokens": 7}),
])  # fmt: skip

WANTED = [
    {"type": "thinking", "text": "Let me löok."},
    {"type": "thinking", "text": "", "provider_metadata": {"anthropic": {"signature": "EqQBCgIY=="}}},
    {"type": "thinking", "text": "", "provider_metadata": {"anthropic": {"redacted": "b64=="}}},
    {"type": "delta", "text": "I löok. 😀"},
    {"type": "tool_use", "id": "toolu_1", "name": "status", "input": {"what": 'wifi "guest"'}},
    {"type": "tool_use", "id": "toolu_2", "name": "undo", "input": {}},
    {
        "type": "usage",
        "usage": {
            "input_tokens": 105,
            "output_tokens": 15,
            "cache_read_input_tokens": 90,
            "cache_creation_input_tokens": 5,
            "reasoning_tokens": 7,
        },
    },
    {"type": "done", "stop_reason": "tool_use", "model": "claude-x"},
]


def test_a_turn_with_thoughts_words_and_parallel_calls():
    assert at_every_cut(WHOLE_TURN, profile="anthropic") == WANTED


def test_the_same_turn_in_one_piece():
    content = [
        {"type": "thinking", "thinking": "Let me löok.", "signature": "EqQBCgIY=="},
        {"type": "redacted_thinking", "data": "b64=="},
        {"type": "text", "text": "I löok. 😀"},
        {"type": "tool_use", "id": "toolu_1", "name": "status", "input": {"what": 'wifi "guest"'}},
        {"type": "tool_use", "id": "toolu_2", "name": "undo", "input": {}},
    ]
    usage = {"input_tokens": 10, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5, "output_tokens": 15,
             "output_tokens_details": {"thinking_tokens": 7}}  # fmt: skip
    answer = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": content,
              "stop_reason": "tool_use", "usage": usage}  # fmt: skip
    assert at_every_cut(json.dumps(answer).encode(), profile="anthropic", headers=JSON, stream=False) == WANTED


def test_a_stream_cut_off_anywhere_is_an_error_without_a_call():
    cut_off_everywhere(WHOLE_TURN, profile="anthropic")


def test_what_comes_back_is_what_came():
    """The events of an answer, stored as blocks, make the same assistant message in the next request."""
    blocks = [{"type": "thinking", "text": WANTED[0]["text"], "provider_metadata": WANTED[1]["provider_metadata"]},
              WANTED[2], text(WANTED[3]["text"]), WANTED[4], WANTED[5]]  # fmt: skip
    chat = [USER, said(*blocks), told(result("toolu_1"), result("toolu_2"))]
    assert body_of(chat, [TOOL])["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "Let me löok.", "signature": "EqQBCgIY=="},
        {"type": "redacted_thinking", "data": "b64=="},
        text("I löok. 😀"),
        call("toolu_1", what='wifi "guest"'),
        call("toolu_2", "undo"),
    ]


@pytest.mark.parametrize(
    ("reason", "wanted"),
    [
        ("end_turn", "end_turn"),
        ("stop_sequence", "stop_sequence"),
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("pause_turn", "pause"),
        ("refusal", "refusal"),
        ("tool_use", "end_turn"),  # though there is none
        ("something_new", "other"),
    ],
)
def test_reasons_to_stop(reason, wanted):
    raw = start() + block(0, "text", *words("a"), text="") + end(reason)
    assert at_every_cut(raw, profile="anthropic")[-1]["stop_reason"] == wanted


@pytest.mark.parametrize("reason", [None, "", 7])
def test_a_reason_that_is_none_does_not_end_an_answer(reason):
    going_on = event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 3})
    assert error_of(decode(start() + going_on, "anthropic"))["code"] == "truncated"
    raw = start() + event("message_delta", delta={"stop_reason": "max_tokens"}) + going_on
    assert decode(raw, "anthropic")[-1]["stop_reason"] == "max_tokens"


def test_a_refusal_says_why_and_runs_nothing():
    stop = {"stop_reason": "refusal", "stop_details": {"type": "refusal", "category": "cyber", "explanation": "No."}}
    called = block(0, "tool_use", *arguments("{}"), id="t", name="undo", input={})
    raw = start() + called + event("message_delta", delta=stop, usage={"output_tokens": 2}) + event("message_stop")
    events = at_every_cut(raw, profile="anthropic")
    assert text_of(events) == "No." and not calls_of(events) and events[-1]["stop_reason"] == "refusal"
    assert "declined" in text_of(decode(start() + end("refusal"), "anthropic"))


def test_a_call_cut_by_the_length_limit_is_never_run():
    raw = start() + block(0, "tool_use", *arguments('{"a": 1'), id="t", name="undo", input={}) + end("max_tokens")
    [found] = calls_of(at_every_cut(raw, profile="anthropic"))
    assert found["input"] == {} and found["invalid"] == '{"a": 1'
    raw = start() + block(0, "tool_use", id="t", name="undo", input={}) + end("max_tokens")
    assert "invalid" in calls_of(decode(raw, "anthropic"))[0]


def test_specs_may_come_with_the_start_of_a_block():
    pieces = arguments("", " ")
    raw = start() + block(0, "tool_use", *pieces, id="t", name="undo", input={"a": 1}) + end("tool_use")
    assert calls_of(at_every_cut(raw, profile="anthropic"))[0]["input"] == {"a": 1}


def test_a_hosted_search_goes_along_as_what_goes_back():
    asked = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    hit = {"type": "web_search_result", "url": "http://h", "title": "t", "encrypted_content": "e", "page_age": None}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [hit]}
    opened = {"id": "srvtoolu_1", "name": "web_search", "input": {}}
    cited = {"type": "citations_delta", "citation": {"type": "web_search_result_location", "url": "http://h"}}
    raw = start() + block(0, "server_tool_use", *arguments('{"query":', ' "x"}'), **opened)
    raw += block(1, "web_search_tool_result", tool_use_id="srvtoolu_1", content=[hit])
    raw += block(2, "text", *words("It is "), text="") + block(3, "text", *words("so."), cited, text="") + end()
    events = at_every_cut(raw, profile="anthropic")
    assert [event["provider_metadata"] for event in events[:2]] == [
        {"anthropic": {"block": asked}},
        {"anthropic": {"block": found}},
    ]
    assert text_of(events) == "It is so."


def test_unknown_events_blocks_and_pieces_are_skipped():
    raw = start() + event("content_block_news", index=0) + block(0, "hologram", {"type": "light_delta"}, text="no")
    raw += block(1, "text", {"type": "new_delta", "text": "no"}, *words("yes"), text="") + end()
    assert text_of(at_every_cut(raw, profile="anthropic")) == "yes"


def test_habits_of_gateways():
    """A repeated start, a text in it, no end of blocks, counts that are restated, a sentinel."""
    opened = event("content_block_start", index=0, content_block={"type": "text", "text": "a"})
    raw = start() + start() + opened + event("content_block_delta", index=0, delta=words("b")[0])
    raw += event("message_delta", delta={"stop_reason": "end_turn"}, usage={"input_tokens": 20, "output_tokens": None})
    events = at_every_cut(raw + b"data: [DONE]\n\n", profile="anthropic")
    assert text_of(events) == "ab"
    assert events[-2]["usage"] == {"input_tokens": 115, "output_tokens": 1, "cache_read_input_tokens": 90,
                                   "cache_creation_input_tokens": 5}  # fmt: skip
    assert decode(raw, "anthropic")[-1]["type"] == "done", "the reason is there, the last event is not needed"


def test_unknown_counts_are_left_out():
    raw = start({"input_tokens": 3, "output_tokens": 1}) + end()
    assert decode(raw, "anthropic")[-2]["usage"] == {"input_tokens": 3, "output_tokens": 15}


def test_metadata_that_json_cannot_hold_is_left_out():
    raw = start() + block(0, "redacted_thinking", data="DATA") + block(1, "text", *words("a"), text="") + end()
    events = decode(raw.replace(b"DATA", b"\\ud800"), "anthropic")
    assert [event["type"] for event in events] == ["delta", "usage", "done"]


# Errors


@pytest.mark.parametrize(
    ("kind", "code", "retryable"),
    [
        ("overloaded_error", "overloaded", True),
        ("rate_limit_error", "rate_limit", True),
        ("api_error", "server", True),
        ("authentication_error", "authentication", False),
        ("billing_error", "no_credit", False),
        ("permission_error", "permission", False),
        ("request_too_large", "too_large", False),
        ("something_new", "server", True),
    ],
)
@pytest.mark.parametrize("before", [b"", start() + block(0, "text", *words("a"), text="")])
def test_an_error_in_the_middle_of_a_stream_ends_it(kind, code, retryable, before):
    raw = before + event("error", error={"type": kind, "message": "Words of the service"})
    error = error_of(at_every_cut(raw, profile="anthropic"))
    assert (error["code"], error["retryable"]) == (code, retryable)


@pytest.mark.parametrize(
    ("status", "kind", "message", "code"),
    [
        (400, "invalid_request_error", "messages.0: bad", "invalid_request"),
        (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", "context_length"),
        (400, "invalid_request_error", "Your credit balance is too low", "no_credit"),
        (401, "authentication_error", "invalid x-api-key", "authentication"),
        (404, "not_found_error", "model: claude-x", "not_found"),
        (413, "request_too_large", "Request exceeds the maximum size", "too_large"),
        (429, "rate_limit_error", "This request would exceed your limit", "rate_limit"),
        (529, "overloaded_error", "Overloaded", "overloaded"),
    ],
)
def test_errors_of_the_service(status, kind, message, code):
    body = json.dumps({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}).encode()
    error = error_of(at_every_cut(body, profile="anthropic", status=status, headers={"retry-after": "7"}))
    assert (error["code"], error["status"]) == (code, status)
    assert error.get("retry_after_s") == (7.0 if error["retryable"] else None)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "empty_answer"),
        (event("message_stop"), "empty_answer"),
        (b"<html>", "portal"),
        (b'{"id":"x"}', "bad_answer"),
        (b"data: 7\n\n", "bad_answer"),
        (b"data: \n\n", "truncated"),
        (start(), "truncated"),
    ],
)
def test_good_statuses_that_are_no_answer(raw, code):
    assert error_of(decode(raw, "anthropic"))["code"] == code


def test_what_was_said_before_a_piece_nobody_can_read_is_kept():
    raw = start() + block(0, "text", *words("a"), text="") + b"data: {oops\n\n" + PING
    events = at_every_cut(raw, profile="anthropic")
    assert text_of(events) == "a" and error_of(events)["code"] == "bad_answer"


# Models


def test_models_are_read():
    body = (
        b'{"data":[{"type":"model","id":"claude-x","max_input_tokens":200000},{"id":"claude-y"},{}],"has_more":false}'
    )
    asked = options("anthropic", key="k")
    request = anthropic.models_request(asked)
    assert request["url"] == "https://api.anthropic.com/v1/models?limit=1000"
    assert request["headers"]["x-api-key"] == "k" and request["headers"]["anthropic-version"]
    wanted = [{"id": "claude-x", "context_tokens": 200000}, {"id": "claude-y"}]
    assert plain(anthropic.models_read, 200, JSON, body, asked) == wanted
    with pytest.raises(ProviderError):
        plain(anthropic.models_read, 200, JSON, b"{}", asked)
    with pytest.raises(AuthenticationError):
        plain(anthropic.models_read, 401, JSON, b'{"type":"error","error":{"type":"authentication_error"}}', asked)
