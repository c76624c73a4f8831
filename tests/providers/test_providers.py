"""The tables: vendors, profiles, and decoders that survive anything."""

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oasis import providers
from oasis.core import jsonl
from oasis.errors import SettingsError
from tests.providers.recordings import options
from tests.providers.test_gate import MESSAGE

TOOL = {"name": "status", "description": "Look.", "input_schema": {"type": "object", "properties": {}}}

FLAGS = {
    "name", "vendor", "base_url", "key", "key_env", "model", "local", "idle_s", "max_tokens_field", "stream_options",
    "alternate", "drop_empty", "end_with_user", "null_content", "call_ids", "echo", "usage_adds_reasoning", "headers",
    "num_ctx", "takes", "thinking", "forced", "one_tool", "search", "encrypted", "models", "per_s",
    "burst", "bridge", "schemas", "window",
}  # fmt: skip


def test_every_profile_is_complete_and_uses_only_known_keys():
    for name, entry in providers.profiles().items():
        assert {"name", "vendor", "base_url", "key", "key_env", "model", "idle_s"} <= set(entry) <= FLAGS, name
        assert entry["vendor"] in providers.VENDORS and entry["key"] in ("required", "optional", "none"), name
        assert entry["base_url"].startswith("https://") or entry["key"] == "optional", name


def test_the_services_we_promise_are_there():
    promised = {
        "openai", "openrouter", "lmstudio", "llamacpp", "vllm", "groq", "deepseek", "mistral", "xai", "cerebras",
        "compatible", "anthropic", "gemini", "ollama", "responses", "cohere",
    }  # fmt: skip
    assert promised <= set(providers.profiles())


def test_every_vendor_keeps_the_contract():
    for vendor in providers.VENDORS:
        module = providers.load(vendor)
        for name in ("build_request", "Decoder", "models_request", "models_read"):
            assert callable(getattr(module, name)), vendor


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(SettingsError) as caught:
        providers.load("nobody")
    assert "openai" in caught.value.hint


HISTORY = st.lists(MESSAGE, max_size=8)


@settings(max_examples=300, deadline=None)
@given(HISTORY, st.sampled_from(sorted(providers.profiles())), st.booleans())
def test_any_chat_can_be_sent_to_any_service(chat, profile, is_whole):
    asked = options(profile, base_url="http://h", stream=not is_whole)
    module = providers.load(asked["profile"]["vendor"])
    before = json.dumps(chat)
    request = module.build_request([{"role": "user", "content": "u"}, *chat], [TOOL], asked)
    json.loads(request["body"])
    assert request["body"] and json.dumps(chat) == before


@settings(max_examples=300, deadline=None)
@given(HISTORY, st.sampled_from(["openai", "mistral", "llamacpp", "cohere", "ollama"]))
def test_every_call_on_the_wire_is_followed_by_its_result(chat, profile):
    asked = options(profile)
    body = providers.load(asked["profile"]["vendor"]).build_request(chat, [], asked)["body"]
    waiting, seen = [], []
    for message in json.loads(body)["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            continue
        assert waiting == []
        waiting = [call["id"] for call in message.get("tool_calls") or []]
        seen += waiting
    assert waiting == [] and len(seen) == len(set(seen))


@settings(max_examples=300, deadline=None)
@given(HISTORY)
def test_every_call_of_responses_has_its_output(chat):
    items = json.loads(providers.load("responses").build_request(chat, [], options("responses"))["body"])["input"]
    calls = [item["call_id"] for item in items if item["type"] == "function_call"]
    outputs = [item["call_id"] for item in items if item["type"] == "function_call_output"]
    assert sorted(calls) == sorted(outputs) and len(calls) == len(set(calls))
    assert all(items.index(item) > [i.get("call_id") for i in items].index(item["call_id"]) for item in items
               if item["type"] == "function_call_output")  # fmt: skip
    kinds = [item["type"] for item in items]
    assert all(after != "message" for now, after in itertools.pairwise(kinds) if now == "function_call")


WORDS = b'data: |error: |:|<|{|}|[|]|[DONE]|null|{}|"choices":|{"message":{"content":"y"},"done":true}'.split(b"|")
CHUNKS = [
    b'{"choices":[{"delta":{"content":"x"}}]}',
    b'{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a"}]},"finish_reason":"stop"}]}',
    b'{"choices":[{"delta":{"tool_calls":[7]}}]}',
    b'{"choices":{"a":1},"usage":[1]}',
    b'{"type":"response.output_text.delta","output_index":0,"delta":"x"}',
    b'{"type":"response.output_item.done","item":{"type":"function_call","call_id":"a","name":"x","arguments":7}}',
    b'{"type":"response.incomplete","response":{"status":"incomplete","output":[1,{"type":"reasoning"}]}}',
    b'{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":[{"id":"a"},7]}}}',
    b'{"type":"message-end","delta":{"finish_reason":"COMPLETE","usage":{"tokens":{"input_tokens":-1}}}}',
    b'{"type":"content_block_start","content_block":{"type":"tool_use","id":7,"name":"x","input":[1]}}',
    b'{"type":"content_block_start","content_block":{"type":"server_tool_use","id":"\\ud800"}}',
    b'{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{"}}',
    b'{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"s"}}',
    b'{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":true}}',
    b'{"type":"message_stop"}',
    b'{"candidates":[{"content":{"parts":[{"functionCall":{"name":"x","args":[]}},{"text":"t","thoughtSignature":7}]}}]}',
    b'{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":"3"}}',
    b'{"candidates":[7],"promptFeedback":{"blockReason":"SAFETY"}}',
]
PIECES = st.sampled_from([b"\n", b"\n\n", b"\r", b"\xff", *WORDS, *CHUNKS])


@settings(max_examples=600, deadline=None)
@given(
    st.lists(PIECES, max_size=12),
    st.sampled_from(["openai", "anthropic", "gemini", "openrouter", "ollama", "responses", "cohere"]),
    st.sampled_from([200, 500]),
)
def test_any_bytes_give_events_with_exactly_one_ending(pieces, profile, status):
    asked = options(profile)
    decoder = providers.load(asked["profile"]["vendor"]).Decoder(status, {}, asked)
    events = []
    for piece in pieces:
        events.extend(decoder.feed(piece))
    events.extend(decoder.close())
    assert [e["type"] in ("done", "error") for e in events] == [False] * (len(events) - 1) + [True]
    for event in events:
        jsonl.line(event)
    assert decoder.feed(b"more") == [] and decoder.close() == []
