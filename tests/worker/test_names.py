"""Tools with names that no service takes, through a whole request: legal on the wire, their own to the caller."""

import json

import pytest

from oasis import providers
from oasis.worker import protocol
from tests.providers import test_anthropic, test_gemini
from tests.providers.recordings import sse

NAME = "home server___lights.set"
WIRE = "home_server___lights_set"
TOOL = {"name": NAME, "description": "d", "input_schema": {"type": "object", "properties": {"on": {"type": "boolean"}}}}
CHAT = [
    {"role": "user", "content": "u"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": NAME, "input": {}}]},
    {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "a", "name": NAME, "content": []}]},
]
CALL = {"index": 0, "id": "b", "function": {"name": WIRE, "arguments": "{}"}}
ANSWERS = {
    "openai": sse(json.dumps({"choices": [{"delta": {"tool_calls": [CALL]}, "finish_reason": "tool_calls"}]})),
    "anthropic": test_anthropic.start()
    + test_anthropic.block(0, "tool_use", id="b", name=WIRE, input={})
    + test_anthropic.end("tool_use"),
    "gemini": test_gemini.stream(test_gemini.answer(test_gemini.calling(WIRE), reason="STOP")),
    "ollama": json.dumps({"message": {"tool_calls": [CALL]}, "done": True, "done_reason": "stop"}).encode() + b"\n",
}


class Response:
    """An answer that is there at once."""

    def __init__(self, raw):
        self.status, self.headers, self._pieces = 200, {}, [raw, b""]

    def read(self):
        return self._pieces.pop(0)

    def close(self):
        pass


@pytest.mark.parametrize("profile", sorted(ANSWERS))
def test_names_are_legal_on_the_wire_and_their_own_to_the_caller(profile):
    sent, events = [], []

    def send(http, limits):
        sent.append(http)
        return Response(ANSWERS[profile])

    request = {"op": "chat", "profile": profile, "model": "m", "messages": CHAT, "tools": [TOOL],
               "options": {"tool_choice": {"name": NAME}, "retries": 0}}  # fmt: skip
    protocol.answer(request, providers.profiles(), send, events.append, lambda wait_s: None)
    body = sent[0]["body"].decode()
    assert NAME not in body and body.count(WIRE) >= (2 if profile == "ollama" else 3)
    assert [event["name"] for event in events if event["type"] == "tool_use"] == [NAME]
    assert events[-1]["type"] == "done"
