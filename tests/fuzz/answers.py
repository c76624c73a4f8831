"""What services send and MCP servers declare, as targets: any bytes give events, or schemas, that keep their word."""

import json

from oasis import providers
from oasis.core import jsonl
from oasis.errors import ProviderError
from oasis.providers import schemas, wire
from oasis.worker import lines
from tests.providers import test_anthropic, test_cohere, test_gemini, test_responses
from tests.providers.recordings import joined, sse

PROFILES = ("openai", "anthropic", "gemini", "openrouter", "deepseek", "ollama", "responses", "cohere")
STATUSES = (200, 200, 200, 200, 400, 401, 429, 500, 302)
HEADERS = ({"content-type": "text/event-stream"}, {"content-type": "application/json", "retry-after": "3"}, {})


def answers(data):
    """An answer has one ending, whole lines, calls only when it is complete; cuts of its bytes change nothing."""
    choice, raw = (*data[:3], 0, 0, 0), data[3:]
    name = PROFILES[choice[0] % len(PROFILES)]
    asked = {"profile": {**providers.profiles()[name], "id": name}, "model": "m", "stream": True}
    how = (name, STATUSES[choice[1] % len(STATUSES)], HEADERS[choice[2] % len(HEADERS)], asked)
    whole = _decoded(how, [raw])
    for size in (1, 7, len(raw) // 2 or 1):
        assert joined(_decoded(how, [raw[at : at + size] for at in range(0, len(raw), size)])) == joined(whole), size
    endings = [event["type"] in ("done", "error") for event in whole]
    assert endings == [False] * (len(whole) - 1) + [True]
    if whole[-1]["type"] == "error":
        error = whole[-1]["error"]
        assert "tool_use" not in [event["type"] for event in whole]
        assert error["code"] and error["message"] and len(error["message"]) < 1000 and "\n" not in error["message"]
    for event in whole:
        for line in lines.encode(7, event):
            assert lines.decode(line, 7)["type"] == event["type"]
    _read_models(how, raw)


def _decoded(how, pieces):
    _, status, headers, asked = how
    decoder = providers.load(asked["profile"]["vendor"]).Decoder(status, headers, asked)
    events = [event for piece in pieces for event in decoder.feed(piece)] + decoder.close()
    assert decoder.is_ended and decoder.feed(b"more") == [] and decoder.close() == []
    return events


def _read_models(how, raw):
    _, status, headers, asked = how
    module = providers.load(asked["profile"]["vendor"])
    for read in (module.models_read, getattr(module, "embed_read", module.models_read)):
        try:
            jsonl.line({"read": read(wire.answer_of(status, headers, raw, asked), asked)})
        except ProviderError as error:
            assert error.code and error.message


def tools(data):
    """Any value is a schema; its forms can be sent, are objects, and reading a form again changes nothing more."""
    schema = _schema(iter(data), 0)
    plain = schemas.reduced(schema, "plain")
    assert schemas.reduced(plain, "plain") == plain and plain["type"] == "object"
    assert len(jsonl.dumps(plain)) < 1024 * 1024
    assert schemas.reduced(schema, "gemini")["type"] == "OBJECT"
    strict = schemas.reduced(schema, "strict")
    assert strict["required"] == list(strict["properties"]) and strict["additionalProperties"] is False
    for form in (plain, strict):
        jsonl.dumps({"tools": [{"function": {"parameters": form}}]})
    schemas.without_nulls({"a": None, "b": [{"a": None}]}, schema)
    schemas.fits_strict(schema)


def _schema(steps, level):
    """Return the schema that bytes describe: each chooses a keyword, a value, or how many there are."""
    if level > 12:
        return {}
    made = {}
    for _ in range(next(steps, 0) % 5):
        word = KEYWORDS[next(steps, 0) % len(KEYWORDS)]
        count = next(steps, 0) % 4
        if word in ("properties", "$defs"):
            made[word] = {NAMES[next(steps, 0) % len(NAMES)]: _schema(steps, level + 1) for _ in range(count)}
        elif word in ("anyOf", "allOf", "oneOf", "prefixItems") or (word == "items" and count > 2):
            made[word] = [_schema(steps, level + 1) for _ in range(count)]
        elif word in ("items", "additionalProperties", "not") and count:
            made[word] = _schema(steps, level + 1)
        else:
            made[word] = VALUES[next(steps, 0) % len(VALUES)]
    return made


KEYWORDS = (
    "type", "type", "type", "properties", "properties", "$ref", "$ref", "$defs", "anyOf", "allOf", "oneOf", "items",
    "prefixItems", "required", "enum", "const", "additionalProperties", "not", "minimum", "exclusiveMinimum", "format",
    "description", "nullable", "default", "x-other",
)  # fmt: skip
NAMES = ("a", "b", "type", "$ref", "properties", "")
VALUES = (
    "object", "array", "string", "integer", ["string", "null"], ["array", "object", 7], "#", "#/$defs/a",
    "#/properties/a", "#/properties/b/items", "#/anyOf/0", ["a", "b"], [None, "x", ""], None, True, False, 3, -1, 0.5,
    {"a": [[[]]]}, "words", [], [1, {"b": None}],
)  # fmt: skip


_OPENAI = sse(
    '{"id":"r","choices":[{"delta":{"role":"assistant","content":"Grüße","reasoning":"hm"}}]}',
    ": ping",
    '{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\\"a\\":"}}]}}]}',
    '{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]},"finish_reason":"tool_calls"}]}',
    '{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}',
)
_OLLAMA = (
    '{"model":"q","message":{"content":"Grüße","thinking":"hm"},"done":false}\n'
    '{"message":{"tool_calls":[{"function":{"name":"x","arguments":{"a":1}}}]},"done":false}\n'
    '{"message":{},"done":true,"done_reason":"stop","prompt_eval_count":5,"eval_count":2}\n'
).encode()
_GEMINI = test_gemini.stream(*test_gemini.ANSWERS)
_CLAUDE = test_anthropic.WHOLE_TURN
_ERRORS = [
    b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    b'[{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"34.4s"}]}}]',
    b'{"error":{"message":"no","type":"invalid_request_error","code":"context_length_exceeded","param":null}}',
    b"<html><body>502 Bad Gateway</body></html>",
    b'{"detail":[{"loc":["body"],"msg":"field required"}]}',
    b"",
]
_MODELS = [b'{"data":[{"id":"m","context_length":9}]}', b'{"models":[{"name":"models/m","inputTokenLimit":9}]}',
           b'{"embeddings":[{"values":[1,0.5]}]}', b'{"data":[{"index":0,"embedding":"AACAPw=="}]}',
           b'{"embeddings":{"float":[[1,0.5]]}}', b'{"models":[{"name":"c","features":["tools"]}]}']  # fmt: skip
_COHERE = test_cohere.sse(
    test_cohere.START, *test_cohere.THINKS, *test_cohere.SPEAKS, *test_cohere.CALLS, test_cohere.ended("TOOL_CALL")
)
_TYPED = {
    "anthropic": _CLAUDE,
    "gemini": _GEMINI,
    "ollama": _OLLAMA,
    "responses": test_responses.sse(*test_responses.WHOLE),
    "cohere": _COHERE,
}
SEEDS = [bytes([at, 0, 0]) + _TYPED.get(name, _OPENAI) for at, name in enumerate(PROFILES)]
SEEDS += [bytes([at, at + 3, 1]) + body for at in range(len(PROFILES)) for body in _ERRORS]
SEEDS += [bytes([at, 0, 1]) + body for at in range(len(PROFILES)) for body in (*_MODELS, *_ERRORS)]

WORDS = [
    *b"data: |event: error\n|\n\n|\r\n\r\n|: x\n|[DONE]|null|true|-1|1e999|{}|[]".split(b"|"),
    *b'"\\ud800"|""|\xff|<|\xef\xbb\xbf|0|7'.split(b"|"),
    *[json.dumps(word).encode() for word in (
        "error", "choices", "delta", "content", "tool_calls", "finish_reason", "usage", "input_json_delta", "index",
        "partial_json", "stop_reason", "max_tokens", "refusal", "message_stop", "signature", "candidates", "parts",
        "functionCall", "thoughtSignature", "finishReason", "STOP", "SAFETY", "promptFeedback", "done", "message",
        "output", "output_index", "item", "response", "incomplete", "function_call", "reasoning", "call_id",
        "arguments", "response.completed", "response.failed", "content-delta", "tool-call-start", "message-end",
        "tool_plan",
    )],
]  # fmt: skip

TOOL_SEEDS = [bytes(range(start, start + 200)) for start in range(0, 56, 8)] + [bytes([4, 3, 3]) * 60, b"\x02\x03" * 90]
TOOL_WORDS = [bytes([step]) for step in range(0, 60)]
