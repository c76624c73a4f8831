"""A chat that one service began goes on with any other: nothing foreign on the wire, nothing of its own lost."""

import json

import pytest

from oasis import providers
from tests.agent.test_turn import Scene, delta, done
from tests.providers import test_anthropic, test_cohere, test_gemini, test_responses
from tests.providers.recordings import decode, sse

OPENAI_CALL = {"index": 0, "id": "call.1", "function": {"name": "status", "arguments": '{"what":"wifi"}'}}
DETAILS = [{"type": "reasoning.encrypted", "data": "ROUTER-SIGN", "index": 0}]


def openai_class(**said):
    chunk = {
        "choices": [{"delta": {"content": "I look.", "tool_calls": [OPENAI_CALL], **said}, "finish_reason": "stop"}]
    }
    return sse(json.dumps(chunk))


OLLAMA_SAID = {"content": "I look.", "thinking": "OLLAMA-THOUGHT", "tool_calls": [OPENAI_CALL]}

OUTPUT = [
    {**test_responses.REASONING, "encrypted_content": "RESPONSE-SIGN"},
    {**test_responses.SAID, "content": [{"type": "output_text", "text": "I look."}]},
    {**test_responses.REASONING, "id": "rs_2", "encrypted_content": "CALL-SIGN"},
    test_responses.CALL_1,
    test_responses.CALL_2,
]
COHERE = test_cohere.sse(test_cohere.START, *test_cohere.THINKS, *test_cohere.CALLS, test_cohere.ended("TOOL_CALL"))

# Profile -> a turn of it, what it wants back, and what nobody else may see.
TURNS = {
    "anthropic": (test_anthropic.WHOLE_TURN, ["EqQBCgIY==", "b64==", "Let me löok."]),
    "gemini": (test_gemini.stream(*test_gemini.ANSWERS), ["dGV4dA==", "c2ln"]),
    "openrouter": (openai_class(reasoning_details=DETAILS), ["ROUTER-SIGN"]),
    "responses": (test_responses.sse(test_responses.done(output=OUTPUT)), ["RESPONSE-SIGN", "CALL-SIGN"]),
    "cohere": (COHERE, ['{"type":"thinking","thinking":"hm"}']),
    "deepseek": (openai_class(reasoning_content="DEEP-THOUGHT"), ["DEEP-THOUGHT"]),
    "ollama": (json.dumps({"message": OLLAMA_SAID, "done": True, "done_reason": "stop"}).encode(), []),
}
TARGETS = [name for name, entry in providers.profiles().items() if entry["vendor"] != "offline"]


def stored(profile, folder):
    """Return what the next request is given, once a service's turn and the results of its calls are stored."""
    said = [json.loads(json.dumps(event)) for event in decode(TURNS[profile][0], profile)]
    scene = Scene(folder, said, [delta("done"), done()], tool=lambda name, arguments: ("RESULT", False)).run()
    assert scene.state == "done"
    return scene.asked[1][0]


def wire_of(messages, profile):
    entry = {**providers.profiles()[profile], "id": profile}
    asked = {"profile": entry, "model": "m-1", "base_url": entry["base_url"] or "http://h", "stream": True}
    tool = {"name": "status", "description": "d", "input_schema": {}}
    body = providers.load(entry["vendor"]).build_request(messages, [tool], asked)["body"]
    return json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize("begun", sorted(TURNS))
@pytest.mark.parametrize("profile", TARGETS)
def test_a_chat_goes_on_with_another_service(tmp_path, begun, profile):
    chat = stored(begun, tmp_path)
    for messages in (chat, [*chat, {"role": "assistant", "content": "done"}, {"role": "user", "content": "go on"}]):
        body = wire_of(messages, profile)
        assert "ok." in body and body.count("RESULT") == len(chat[-1]["content"])
        wanted = TURNS[begun][1]
        if profile == begun:
            assert all(word in body for word in wanted), body
        elif profile != "deepseek":  # which wants the thoughts of all turns with calls
            assert not any(word in body for word in wanted), body
        assert "provider_metadata" not in body


def test_what_came_is_what_goes_back_through_the_stored_chat(tmp_path):
    blocks = json.loads(wire_of(stored("anthropic", tmp_path / "a"), "anthropic"))["messages"][1]["content"]
    assert [block["type"] for block in blocks] == ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"]
    assert blocks[0] == {"type": "thinking", "thinking": "Let me löok.", "signature": "EqQBCgIY=="}
    parts = json.loads(wire_of(stored("gemini", tmp_path / "g"), "gemini"))["contents"][1]["parts"]
    assert parts[:2] == [{"text": "I lö"}, {"text": "ok. 😀", "thoughtSignature": "dGV4dA=="}]
    assert parts[2]["thoughtSignature"] == "c2ln" and "thoughtSignature" not in parts[3]
