"""Gemini's generateContent: tables of (chat, request body) and (recorded bytes, events)."""

import json

import pytest

from oasis.errors import AuthenticationError, ProviderError, SchemaError, SettingsError, UsageError
from oasis.providers import gemini
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
from tests.providers.test_anthropic import TOOL, USER, attached, call, result, said, text, told

SKIP = "skip_thought_signature_validator"


def signed(signature="c2ln", **more):
    """Return what a call keeps of the service that made it."""
    return {"provider_metadata": {"gemini": {"extra_content": {"google": {"thought_signature": signature, **more}}}}}


def thought(words="", **kept):
    return {"type": "thinking", "text": words, "provider_metadata": {"gemini": kept}}


def request_of(messages, tools=(), **more):
    return gemini.build_request(list(messages), list(tools), options("gemini", **{"model": "gemini-3-pro", **more}))


def body_of(messages, tools=(), **more):
    return json.loads(request_of(messages, tools, **more)["body"])


def parts_of(messages, number=1, **more):
    return body_of(messages, **more)["contents"][number]["parts"]


# Requests


def test_a_plain_turn_has_only_what_it_needs():
    request = request_of([{"role": "system", "content": "be short"}, USER], key="AIza-1")
    base = "https://generativelanguage.googleapis.com/v1beta"
    assert request["url"] == base + "/models/gemini-3-pro:streamGenerateContent?alt=sse"
    assert request["headers"]["x-goog-api-key"] == "AIza-1" and "authorization" not in request["headers"]
    assert "AIza" not in request["url"]
    assert json.loads(request["body"]) == {
        "systemInstruction": {"parts": [{"text": "be short"}]},
        "contents": [{"role": "user", "parts": [{"text": "how many devices?"}]}],
    }
    assert request_of([USER], stream=False)["url"] == base + "/models/gemini-3-pro:generateContent"


@pytest.mark.parametrize(
    ("base", "model", "url"),
    [
        ("http://h", "m", "http://h/v1beta/models/m"),
        ("http://h/v1beta/openai/", "m", "http://h/v1beta/models/m"),
        ("http://h/v1/models", "models/m", "http://h/v1/models/m"),
        ("http://v1host", "tunedModels/a b?c", "http://v1host/v1beta/tunedModels/a%20b%3Fc"),
    ],
)
def test_the_address_may_be_written_in_several_ways(base, model, url):
    assert request_of([USER], base_url=base, model=model, stream=False)["url"] == url + ":generateContent"


def test_results_stand_in_one_content_in_the_order_of_their_calls():
    chat = [USER, said(text("I look."), call("a"), call("b", "undo", n=1)), told(result("b"), result("a")), USER]
    assert body_of(chat)["contents"][1:] == [
        {
            "role": "model",
            "parts": [
                {"text": "I look."},
                {"functionCall": {"name": "status", "args": {}}, "thoughtSignature": SKIP},
                {"functionCall": {"name": "undo", "args": {"n": 1}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "status", "response": {"result": "3"}}},
                {"functionResponse": {"name": "undo", "response": {"result": "3"}}},
            ],
        },
        {"role": "user", "parts": [{"text": "how many devices?"}]},
    ]


def test_a_failed_result_is_an_error():
    parts = parts_of([USER, said(call()), told(result(is_error=True))], 2)
    assert parts == [{"functionResponse": {"name": "status", "response": {"error": "3"}}}]


def test_the_conversation_begins_and_ends_with_the_user():
    roles = [content["role"] for content in body_of([said(text("a")), USER, said(text("b"))])["contents"]]
    assert roles == ["user", "model", "user", "model", "user"]
    assert body_of([{"role": "system", "content": "s"}])["contents"] == [
        {"role": "user", "parts": [{"text": "Begin."}]}
    ]


# Signatures


def test_a_signature_goes_back_with_its_call_and_its_id_with_the_result():
    chat = [USER, said({**call("a"), **signed(id="x1")}, call("b")), told(result("a"), result("b"))]
    calls, results = parts_of(chat), parts_of(chat, 2)
    assert calls[0] == {"functionCall": {"name": "status", "args": {}, "id": "x1"}, "thoughtSignature": "c2ln"}
    assert calls[1] == {"functionCall": {"name": "status", "args": {}}}
    assert [part["functionResponse"].get("id") for part in results] == ["x1", None]


def test_a_call_of_another_model_says_so_and_only_the_first_of_each_step():
    chat = [USER, said(call("a"), call("b")), told(result("a"), result("b")), said(call("c")), told(result("c"))]
    signatures = [[part.get("thoughtSignature") for part in parts_of(chat, number)] for number in (1, 3)]
    assert signatures == [[SKIP, None], [SKIP]]
    assert "thoughtSignature" not in parts_of(chat, model="gemini-2.5-flash")[0], "older models know no such word"


def test_signatures_of_other_services_are_left_out():
    foreign = {"type": "thinking", "text": "hm", "provider_metadata": {"anthropic": {"signature": "s"}}}
    assert parts_of([USER, said(foreign, text("a")), USER]) == [{"text": "a"}]


def test_a_signed_text_has_its_part_for_itself():
    chat = [USER, said(text("Hello world"), thought(signature="c2ln", text_chars=5)), USER]
    assert parts_of(chat) == [{"text": "Hello "}, {"text": "world", "thoughtSignature": "c2ln"}]
    chat = [USER, said(text("Hello"), thought(signature="c2ln", text_chars=5)), USER]
    assert parts_of(chat) == [{"text": "Hello", "thoughtSignature": "c2ln"}]
    chat = [USER, said(text("Hello"), thought(signature="c2ln", text_chars=0)), USER]
    assert parts_of(chat) == [{"text": "Hello"}, {"text": "", "thoughtSignature": "c2ln"}]
    chat = [USER, said(text("Hi"), thought(signature="c2ln", text_chars=9)), USER]
    assert parts_of(chat) == [{"text": "Hi"}, {"text": "", "thoughtSignature": "c2ln"}]


def test_signed_thoughts_and_hosted_parts_go_back_as_they_came():
    made = {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {"q": "x"}}, "thoughtSignature": "c2ln"}
    chat = [USER, said(thought("hm", signature="c2ln"), thought(part=made), text("a")), USER]
    assert parts_of(chat) == [{"text": "hm", "thought": True, "thoughtSignature": "c2ln"}, made, {"text": "a"}]


# Files


def test_files_become_what_the_api_reads():
    png, pdf = attached("image", "image/png", b"P"), attached("document", "application/pdf", b"D")
    words = attached("document", "application/json", b"{}", "a.json")
    assert parts_of([{"role": "user", "content": [png, pdf, words, text("see")]}], 0) == [
        {"inlineData": {"mimeType": "image/png", "data": png["data"]}},
        {"inlineData": {"mimeType": "application/pdf", "data": pdf["data"]}},
        {"text": "a.json:\n\n{}"},
        {"text": "see"},
    ]


def test_a_picture_in_a_result_follows_the_results():
    png = attached("image", "image/png", b"P")
    contents = body_of([USER, said(call("a"), call("b")), told(result("a", text("1"), png), result("b"))])["contents"]
    assert [list(part) for part in contents[2]["parts"]] == [["functionResponse"]] * 2
    assert contents[3] == {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": png["data"]}}]}


def test_a_new_file_it_cannot_read_is_refused():
    with pytest.raises(UsageError, match=r"Google Gemini cannot read x\.xls"):
        body_of([{"role": "user", "content": [attached("document", "application/vnd.ms-excel", b"X", "x.xls")]}])


# Tools


def test_tools_are_reduced_and_one_without_arguments_has_none():
    properties = {"format": {"type": ["string", "null"]}}
    schema = {"$schema": "x", "properties": properties, "additionalProperties": False}
    tool = {"name": "mcp.set", "description": "Set.", "input_schema": schema}
    assert body_of([USER], [TOOL, tool])["tools"] == [
        {
            "functionDeclarations": [
                {"name": "status", "description": "Look."},
                {
                    "name": "mcp_set",
                    "description": "Set.",
                    "parameters": {"type": "OBJECT", "properties": {"format": {"type": "STRING", "nullable": True}}},
                },
            ]
        }
    ]
    with pytest.raises(SchemaError, match="invalid tool schema"):
        body_of([USER], [{"name": "x", "input_schema": [1]}])


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ("auto", {"mode": "AUTO"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        ({"name": "status"}, {"mode": "ANY", "allowedFunctionNames": ["status"]}),
    ],
)
def test_a_choice_in_its_own_words_and_never_without_tools(choice, wanted):
    assert body_of([USER], [TOOL], tool_choice=choice)["toolConfig"] == {"functionCallingConfig": wanted}
    assert not {"tools", "toolConfig"} & set(body_of([USER], tool_choice=choice))


def test_search_is_a_tool_of_the_service_or_an_error():
    assert body_of([USER], search=True)["tools"] == [{"googleSearch": {}}]
    body = body_of([USER], [TOOL], search=True)
    assert [list(tool) for tool in body["tools"]] == [["functionDeclarations"], ["googleSearch"]]
    assert body["toolConfig"] == {"includeServerSideToolInvocations": True}
    assert body_of([USER], search=True, model="gemini-2.5-flash")["tools"] == [{"googleSearch": {}}]
    with pytest.raises(SettingsError, match=r"not offered together with tools by gemini-2\.5-flash"):
        body_of([USER], [TOOL], search=True, model="gemini-2.5-flash")
    with pytest.raises(SettingsError, match="not offered at all by gemma-3"):
        body_of([USER], search=True, model="gemma-3")


@pytest.mark.parametrize(
    ("model", "thinking", "wanted"),
    [
        ("gemini-3-pro", None, None),
        ("gemini-3-pro", "off", {"thinkingLevel": "LOW"}),
        ("gemini-3-pro", "medium", {"thinkingLevel": "HIGH", "includeThoughts": True}),
        ("gemini-3-flash-preview", "off", {"thinkingLevel": "MINIMAL"}),
        ("gemini-flash-latest", "adaptive", {"includeThoughts": True}),
        ("gemini-flash-latest", 8000, {"thinkingLevel": "MEDIUM", "includeThoughts": True}),
        ("gemini-2.5-flash", "off", {"thinkingBudget": 0}),
        ("gemini-2.5-pro", "off", {"thinkingBudget": 128}),
        ("gemini-2.5-pro", "adaptive", {"thinkingBudget": -1, "includeThoughts": True}),
        ("gemini-2.5-pro", 99999, {"thinkingBudget": 24576, "includeThoughts": True}),
        ("gemini-2.0-flash", "high", None),
    ],
)
def test_thinking_is_said_as_each_model_wants_it(model, thinking, wanted):
    settings = body_of([USER], model=model, thinking=thinking).get("generationConfig", {})
    assert settings.get("thinkingConfig") == wanted


def test_limits_and_extra_fields_of_the_owner():
    body = body_of(
        [USER], max_tokens=500, temperature=0.2, extra={"generationConfig": {"topP": 1}, "safetySettings": []}
    )
    assert body["generationConfig"] == {"maxOutputTokens": 500, "temperature": 0.2, "topP": 1}
    assert body["safetySettings"] == []


# Answers


def answer(*parts, reason=None, usage=None, **more):
    candidate = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    counts = {"promptTokenCount": 10, **(usage or {})}
    return {"candidates": [{**candidate, **({"finishReason": reason} if reason else {})}], "usageMetadata": counts,
            "modelVersion": "gemini-3-x", "responseId": "r-1", **more}  # fmt: skip


def stream(*answers):
    return b"".join([b"data: " + json.dumps(one, ensure_ascii=False).encode() + b"\r\n\r\n" for one in answers])


def calling(name, signature=None, **fields):
    return {"functionCall": {"name": name, **fields}, **({"thoughtSignature": signature} if signature else {})}


COUNTS = {"promptTokenCount": 110, "toolUsePromptTokenCount": 5, "cachedContentTokenCount": 90,
          "candidatesTokenCount": 20, "thoughtsTokenCount": 30, "totalTokenCount": 165}  # fmt: skip
ANSWERS = [
    answer({"text": "Let me ", "thought": True}),
    answer({"text": "löok.", "thought": True}),
    answer({"text": "I lö"}),
    answer({"text": "ok. 😀", "thoughtSignature": "dGV4dA=="}),
    answer(calling("status", "c2ln", args={"what": 'wifi "guest"'}, id="f1"), calling("undo")),
    answer(calling("undo", args={"n": 1})),
    answer({"text": ""}, reason="STOP", usage=COUNTS),
]
WANTED = [
    {"type": "thinking", "text": "Let me löok."},
    {"type": "delta", "text": "I löok. 😀"},
    {"type": "thinking", "text": "", "provider_metadata": {"gemini": {"signature": "dGV4dA==", "text_chars": 5}}},
    {
        "type": "tool_use",
        "id": "f1",
        "name": "status",
        "input": {"what": 'wifi "guest"'},
        "provider_metadata": {"gemini": {"extra_content": {"google": {"thought_signature": "c2ln", "id": "f1"}}}},
    },
    {"type": "tool_use", "id": "call_r11", "name": "undo", "input": {}},
    {"type": "tool_use", "id": "call_r12", "name": "undo", "input": {"n": 1}},
    {
        "type": "usage",
        "usage": {"input_tokens": 115, "output_tokens": 50, "cache_read_input_tokens": 90, "reasoning_tokens": 30},
    },
    {"type": "done", "stop_reason": "tool_use", "model": "gemini-3-x"},
]


def test_a_turn_with_thoughts_words_and_parallel_calls():
    assert at_every_cut(stream(*ANSWERS), profile="gemini") == WANTED


def test_the_same_turn_in_one_piece():
    parts = [part for one in ANSWERS for part in one["candidates"][0]["content"]["parts"]]
    whole = json.dumps(answer(*parts, reason="STOP", usage=COUNTS)).encode()
    assert at_every_cut(whole, profile="gemini", headers=JSON, stream=False) == WANTED


def test_a_stream_cut_off_anywhere_is_an_error_without_a_call():
    cut_off_everywhere(stream(*ANSWERS), profile="gemini")


def test_what_comes_back_is_what_came():
    blocks = [text(WANTED[1]["text"]), *WANTED[2:6]]
    chat = [USER, said(*blocks), told(result("f1"), result("call_r11"), result("call_r12"))]
    assert parts_of(chat) == [
        {"text": "I lö"},
        {"text": "ok. 😀", "thoughtSignature": "dGV4dA=="},
        calling("status", "c2ln", args={"what": 'wifi "guest"'}, id="f1"),
        calling("undo", args={}),
        calling("undo", args={"n": 1}),
    ]


@pytest.mark.parametrize(
    ("reason", "wanted"),
    [
        ("STOP", "end_turn"),
        ("MAX_TOKENS", "max_tokens"),
        ("SAFETY", "refusal"),
        ("PROHIBITED_CONTENT", "refusal"),
        ("LANGUAGE", "other"),
        ("SOMETHING_NEW", "other"),
    ],
)
def test_reasons_to_stop(reason, wanted):
    assert at_every_cut(stream(answer({"text": "a"}, reason=reason)), profile="gemini")[-1]["stop_reason"] == wanted


@pytest.mark.parametrize("reason", ["FINISH_REASON_UNSPECIFIED", "", 7, None])
def test_a_reason_that_is_none_does_not_end_an_answer(reason):
    going_on = answer({"text": "a"})
    going_on["candidates"][0]["finishReason"] = reason
    assert error_of(decode(stream(going_on), "gemini"))["code"] == "truncated"
    assert decode(stream(answer(reason="MAX_TOKENS"), going_on), "gemini")[-1]["stop_reason"] == "max_tokens"


def test_calls_beside_a_reason_nobody_knows_are_calls():
    events = decode(stream(answer(calling("undo"), reason="FUNCTION_CALL")), "gemini")
    assert events[-1]["stop_reason"] == "tool_use" and len(calls_of(events)) == 1


def test_a_refusal_says_why_and_runs_nothing():
    last = answer(calling("undo"), reason="SAFETY")
    last["candidates"][0]["finishMessage"] = "Too dangerous."
    events = at_every_cut(stream(last), profile="gemini")
    assert "Too dangerous." in text_of(events) and not calls_of(events) and events[-1]["stop_reason"] == "refusal"


@pytest.mark.parametrize("as_stream", [True, False])
def test_a_blocked_prompt_is_a_refusal(as_stream):
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 4}}
    raw = stream(blocked) if as_stream else json.dumps(blocked).encode()
    events = at_every_cut(raw, profile="gemini")
    assert "PROHIBITED_CONTENT" in text_of(events)
    assert events[-2:] == [{"type": "usage", "usage": {"input_tokens": 4}},
                           {"type": "done", "stop_reason": "refusal", "model": "m-1"}]  # fmt: skip


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"])
def test_a_call_nobody_can_read_may_be_asked_for_again(reason):
    error = error_of(at_every_cut(stream(answer(reason=reason)), profile="gemini"))
    assert error["code"] == "bad_tool_call" and error["retryable"] and reason in error["message"]


def test_contents_may_be_missing():
    """A limit reached while thinking has no parts, a refusal no content, a candidate may be none."""
    for candidate in ({"content": {}, "finishReason": "MAX_TOKENS"}, {"finishReason": "STOP"}):
        assert decode(stream({"candidates": [candidate]}), "gemini")[-1]["type"] == "done"
    assert error_of(decode(stream({"candidates": []}), "gemini"))["code"] == "truncated"


def test_hosted_parts_are_kept_and_unknown_ones_skipped():
    made = {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB"}}
    events = decode(stream(answer(made, {"hologram": 1}, 7, {"text": "a"}, reason="STOP")), "gemini")
    assert events[0]["provider_metadata"] == {"gemini": {"part": made}} and text_of(events) == "a"


def test_counts_of_a_last_answer_after_the_reason_are_taken():
    raw = stream(answer({"text": "a"}, reason="STOP"), {"usageMetadata": COUNTS})
    assert at_every_cut(raw, profile="gemini")[-2]["usage"]["input_tokens"] == 115


def test_a_call_whose_arguments_are_no_object_is_not_run():
    [found] = calls_of(decode(stream(answer(calling("undo", args=[1]), reason="STOP")), "gemini"))
    assert found["input"] == {} and "invalid" in found


# Errors


@pytest.mark.parametrize(
    ("code", "status", "message", "details", "kind"),
    [
        (400, "INVALID_ARGUMENT", "Unknown name", [], "invalid_request"),
        (400, "INVALID_ARGUMENT", "API key not valid.", [{"reason": "API_KEY_INVALID"}], "authentication"),
        (400, "FAILED_PRECONDITION", "User location is not supported for the API use.", [], "permission"),
        (403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers", [], "permission"),
        (404, "NOT_FOUND", "models/x is not found", [], "not_found"),
        (429, "RESOURCE_EXHAUSTED", "Quota exceeded", [{"retryDelay": "34.4s"}], "rate_limit"),
        (429, "RESOURCE_EXHAUSTED", "Quota", [{"violations": [{"quotaId": "GenerateRequestsPerDay"}]}], "quota"),
        (500, "INTERNAL", "An internal error", [], "server"),
        (503, "UNAVAILABLE", "The model is overloaded", [], "overloaded"),
        (504, "DEADLINE_EXCEEDED", "Deadline expired", [], "server"),
    ],
)
def test_errors_of_the_service(code, status, message, details, kind):
    body = {"error": {"code": code, "message": message, "status": status, "details": details}}
    for raw in (json.dumps(body).encode(), json.dumps([body]).encode()):
        error = error_of(at_every_cut(raw, profile="gemini", status=code, headers=JSON))
        assert (error["code"], error["status"]) == (kind, code)
        assert error.get("retry_after_s") == (34.4 if "retryDelay" in str(details) else None)
    for before in (b"", stream(answer({"text": "a"}))):
        assert error_of(at_every_cut(before + stream(body), profile="gemini"))["code"] == kind


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "empty_answer"),
        (b"<html>", "portal"),
        (b'{"models":[]}', "bad_answer"),
        (b"data: [1]\n\n", "bad_answer"),
        (stream(answer({"text": "a"})), "truncated"),
    ],
)
def test_good_statuses_that_are_no_answer(raw, code):
    assert error_of(decode(raw, "gemini"))["code"] == code


# Models and vectors


def test_models_that_chat_are_read():
    listed = [
        {"name": "models/a", "inputTokenLimit": 9, "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/embed", "supportedGenerationMethods": ["embedContent"]},
        {"name": "models/b"},
        {},
    ]
    asked = options("gemini", key="k")
    assert gemini.models_request(asked)["url"].endswith("/v1beta/models?pageSize=1000")
    assert gemini.models_request(asked)["headers"]["x-goog-api-key"] == "k"
    body = json.dumps({"models": listed}).encode()
    assert plain(gemini.models_read, 200, JSON, body, asked) == [{"id": "a", "context_tokens": 9}, {"id": "b"}]
    with pytest.raises(ProviderError):
        plain(gemini.models_read, 200, JSON, b"[]", asked)
    with pytest.raises(AuthenticationError):
        invalid = {"error": {"code": 400, "message": "x", "details": [{"reason": "API_KEY_INVALID"}]}}
        plain(gemini.models_read, 400, JSON, json.dumps(invalid).encode(), asked)


def test_vectors_are_asked_for_in_one_request_and_read_in_order():
    asked = options("gemini", model="gemini-embedding-001", dimensions=2)
    request = gemini.embed_request(["a", "ß"], asked)
    assert request["url"].endswith("/v1beta/models/gemini-embedding-001:batchEmbedContents")
    assert json.loads(request["body"])["requests"][1] == {
        "model": "models/gemini-embedding-001",
        "content": {"parts": [{"text": "ß"}]},
        "outputDimensionality": 2,
    }
    body = b'{"embeddings":[{"values":[1,0.5]},{"values":[0,-1]}]}'
    assert plain(gemini.embed_read, 200, JSON, body, asked)[0] == [[1.0, 0.5], [0.0, -1.0]]


@pytest.mark.parametrize(
    "body",
    [b"{}", b'{"embeddings":[]}', b'{"embeddings":[{"values":[]}]}', b'{"embeddings":[{"values":["1"]}]}', b"[]"],
)
def test_vectors_that_are_none_are_a_bad_answer(body):
    with pytest.raises(ProviderError) as caught:
        plain(gemini.embed_read, 200, JSON, body, options("gemini"))
    assert caught.value.code == "bad_answer"
