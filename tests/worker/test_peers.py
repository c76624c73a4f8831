"""Real servers of others through the real worker: scripted tool turns in two formats, and a real model."""

import os
import threading

import pytest

from oasis.llm.pool import Pool, default_argv
from tests import model_server
from tests.peers import aimock

TOOLS = [
    {
        "name": name,
        "description": "Look at the router.",
        "input_schema": {"type": "object", "properties": {"what": {"type": "string"}}},
    }
    for name in ("status", "undo")
]


@pytest.fixture(scope="module")
def pool():
    pool = Pool(default_argv())
    yield pool
    pool.close()


def ask(pool, profile, base_url, messages, tools=(), cancelled=None, on_event=None, **options):
    events = []

    def take(event):
        events.append(event)
        if on_event:
            on_event(event)

    asked = {
        "profile": profile, "base_url": base_url, "key": "sk-test", "model": "m", "messages": messages,
        "tools": list(tools), "options": {"retries": 0, **options},
    }  # fmt: skip
    pool.chat(asked, take, cancelled)
    return events


def text_of(events):
    return "".join([e["text"] for e in events if e["type"] == "delta"])


def user(text):
    return {"role": "user", "content": text}


# Scripted answers


@pytest.fixture(scope="module")
def peer():
    peer = aimock.start()
    if peer is None:
        pytest.skip(aimock.ADVICE)
    yield peer
    peer.close()


FORMATS = [
    ("openai", "/v1"),
    ("openrouter", "/v1"),
    ("compatible", "/v1"),
    ("ollama", ""),
    ("anthropic", ""),
    ("gemini", ""),
    ("responses", "/v1"),
    ("cohere", ""),
]


@pytest.fixture(params=FORMATS, ids=[name for name, _ in FORMATS])
def service(request, peer):
    profile, path = request.param
    return profile, f"http://127.0.0.1:{peer.port}{path}"


@pytest.mark.parametrize("stream", [True, False])
def test_text(pool, service, stream):
    events = ask(pool, *service, [{"role": "system", "content": "s"}, user("hello")], stream=stream)
    assert text_of(events) == "Hello, what should the router do?"
    assert events[-1]["type"] == "done" and events[-1]["stop_reason"] == "end_turn"


@pytest.mark.parametrize("stream", [True, False])
def test_a_tool_turn_with_two_calls_and_its_second_round(pool, service, stream):
    chat = [user("how many devices")]
    events = ask(pool, *service, chat, TOOLS, stream=stream)
    calls = [e for e in events if e["type"] == "tool_use"]
    assert [(c["name"], c["input"]["what"]) for c in calls] == [("status", "devices"), ("status", 'wifi "guest"')]
    assert len({c["id"] for c in calls}) == 2 and events[-1]["stop_reason"] == "tool_use"
    results = [
        {"type": "tool_result", "tool_use_id": c["id"], "name": c["name"], "content": [{"type": "text", "text": "3"}]}
        for c in calls
    ]
    chat += [{"role": "assistant", "content": calls}, {"role": "tool", "content": results}]
    events = ask(pool, *service, chat, TOOLS, stream=stream)
    assert text_of(events) == "There are 3 devices: ä, ß and \U0001f600."


def test_a_call_without_arguments(pool, service):
    (call,) = [e for e in ask(pool, *service, [user("nothing to do")], TOOLS) if e["type"] == "tool_use"]
    assert (call["name"], call["input"]) == ("undo", {}) and "invalid" not in call


def test_a_refused_question_is_an_error(pool, service):
    events = ask(pool, *service, [user("not in the script")])
    assert [e["type"] for e in events] == ["error"] and events[0]["error"]["hint"]


def test_the_models_are_listed(pool, service):
    profile, base_url = service
    if profile in ("gemini", "cohere"):
        pytest.skip("aimock has no list of its models")
    models = pool.models({"profile": profile, "base_url": base_url, "key": "k"})
    assert models and all(model["id"] for model in models)


# A real model


@pytest.fixture(scope="module")
def model():
    server = model_server.start()
    if server is None:
        pytest.skip(model_server.ADVICE)
    yield server
    server.close()


@pytest.mark.model
@pytest.mark.parametrize("profile", ["llamacpp", "anthropic", "responses_compatible"])
@pytest.mark.parametrize("stream", [True, False])
def test_a_real_model_answers(pool, model, profile, stream):
    messages = [{"role": "system", "content": "Answer briefly."}, user("What is the capital of France?")]
    events = ask(pool, profile, model.base_url, messages, stream=stream, temperature=0, max_tokens=40)
    assert len(text_of(events)) > 5
    usage = next(e["usage"] for e in events if e["type"] == "usage")
    assert usage["input_tokens"] > 5 and 0 < usage["output_tokens"] <= 40
    assert events[-1]["stop_reason"] in ("end_turn", "max_tokens")


@pytest.mark.model
def test_a_real_model_streams(pool, model):
    events = ask(pool, "llamacpp", model.base_url, [user("Count to ten.")], temperature=0, max_tokens=30)
    assert len([e for e in events if e["type"] == "delta"]) > 5


@pytest.mark.model
def test_the_length_limit_is_told(pool, model):
    events = ask(pool, "llamacpp", model.base_url, [user("Tell a long story.")], max_tokens=5)
    assert events[-1]["stop_reason"] == "max_tokens"


@pytest.mark.model
@pytest.mark.parametrize("profile", ["llamacpp", "anthropic", "responses_compatible"])
def test_a_whole_conversation_with_tools_is_accepted(pool, model, profile):
    call = {"type": "tool_use", "id": "c1", "name": "status", "input": {"what": "devices"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "name": "status", "content": [{"type": "text", "text": "3"}]}
    messages = [
        {"role": "system", "content": "One."},
        {"role": "system", "content": "Two."},
        user("a"),
        user("b"),
        {"role": "assistant", "content": [call]},
        {"role": "tool", "content": [result]},
    ]
    events = ask(pool, profile, model.base_url, messages, TOOLS, max_tokens=20)
    assert events[-1]["type"] == "done", events


@pytest.mark.model
@pytest.mark.parametrize("profile", ["llamacpp", "anthropic", "responses_compatible"])
def test_a_prompt_longer_than_the_context_says_so(pool, model, profile):
    events = ask(pool, profile, model.base_url, [user("word " * 4000)], max_tokens=5)
    assert events[-1]["error"]["code"] == "context_length", events


@pytest.mark.model
def test_cancelling_a_real_answer_frees_the_model(pool, model):
    cancelled = threading.Event()
    events = ask(
        pool, "llamacpp", model.base_url, [user("Tell a very long story.")],
        cancelled=cancelled, on_event=lambda event: cancelled.set(), max_tokens=1500,
    )  # fmt: skip
    assert events[-1]["error"]["code"] == "cancelled"
    assert ask(pool, "llamacpp", model.base_url, [user("Hi")], max_tokens=5, idle_s=20)[-1]["type"] == "done"


@pytest.mark.model
def test_the_real_model_is_listed(pool, model):
    (entry,) = pool.models({"profile": "llamacpp", "base_url": model.base_url})
    assert os.path.basename(entry["id"]).startswith("SmolLM2")
