"""Every implementation of ours, and one in memory where we have a single one, passes the contract of its interface."""

import io
import json
import types

from oasis import parts, providers
from oasis.api.parts import Offered
from oasis.cli import prompt
from oasis.cli.terminal import Screen
from oasis.tools.builtin import BuiltIn
from tests.contracts.contracts import (
    FrontendContract,
    ProviderContract,
    RegistryContract,
    ToolContract,
    tried,
)
from tests.tools import kit

# Providers

_WORDS = "The Wi-Fi is on."


def stream(*events, names=True):
    """Return events as a service streams them, each with its type as its name where the service does that."""
    head = "event: {type}\n" if names else ""
    return "".join(head.format(**event) + f"data: {json.dumps(event)}\n\n" for event in events).encode()


_MESSAGE = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": _WORDS}]}
_ANSWERS = {
    "openai": stream(
        {"choices": [{"delta": {"content": _WORDS}}]},
        {"choices": [{"delta": {}, "finish_reason": "stop"}]},
        names=False,
    )
    + b"data: [DONE]\n\n",
    "anthropic": stream(
        {"type": "message_start", "message": {"id": "m", "model": "m", "usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": _WORDS}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ),
    "gemini": stream(
        {"candidates": [{"content": {"role": "model", "parts": [{"text": _WORDS}]}}]},
        {"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}]},
        names=False,
    ),
    "ollama": b"".join(
        json.dumps({"model": "m", "message": {"role": "assistant", "content": words}, **more}).encode() + b"\n"
        for words, more in ((_WORDS, {"done": False}), ("", {"done": True, "done_reason": "stop"}))
    ),
    "cohere": stream(
        {"type": "message-start", "id": "m", "delta": {"message": {"role": "assistant"}}},
        {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}},
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": _WORDS}}}},
        {"type": "content-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": {"tokens": {"input_tokens": 1}}}},
    ),
    "responses": stream(
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": _WORDS},
        {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [_MESSAGE]}},
    ),
}


def provider(vendor):
    profile = {**providers.profiles()[vendor], "id": vendor}
    options = {"profile": profile, "base_url": profile.get("base_url") or "http://127.0.0.1:1", "key": "k"}
    return providers.load(vendor), {**options, "model": "m", "stream": True}, _ANSWERS[vendor], _WORDS


def test_every_vendor_is_tried():
    assert set(_ANSWERS) == set(providers.VENDORS)


@tried(ProviderContract, providers.VENDORS)
def test_providers(name, check):
    check(ProviderContract(lambda: provider(name)))


# Tools


class Watch:
    def left_s(self, most=60.0):
        return most

    def is_cancelled(self):
        return False

    def progress(self, *words):
        pass


def knowledge_tools():
    from oasis.parts.memory.knowledge import Knowledge

    class Part(Knowledge):
        def __init__(self):
            """Make no library."""

        def guide(self, query):
            return ""

        def told(self, query, limit, is_home, has_chats=False):
            return {"query": query, "passages": [], "sources": [], "options": []}

        def note(self, text, title, taint, is_cancelled, is_home):
            return {"id": "x", "title": title, "chunks": 1}

    calls = {"knowledge_search": {"query": "words"}, "remember": {"text": "a note"}}
    part = types.SimpleNamespace(source=Part())
    offered = Offered("knowledge", parts.merged("TOOLS")["knowledge"], lambda name: part, print)
    return offered, calls, kit.Hands(), Watch()


def built_in_tools():
    return BuiltIn(None), {"status": {"what": "nothing"}}, kit.Hands(), Watch()


def demo_tools():
    spec = {"description": "does what the demo does", "input_schema": {"type": "object"}}
    return kit.Source(one=(spec, lambda *_: {"n": 1})), {"one": {}}, kit.Hands(), Watch()


SOURCES = {"knowledge": knowledge_tools, "built-in": built_in_tools, "in memory": demo_tools}


@tried(ToolContract, SOURCES, {"knowledge": "memory"})
def test_tools(name, check):
    if name == "built-in" and check.__name__.startswith("check_calls"):
        return  # each has a module of its own, tried in tests/tools
    check(ToolContract(SOURCES[name]))


@tried(RegistryContract, ["ours"])
def test_tool_registries(name, check):
    def source(of, **tools):
        return kit.Source(name=of, **{tool: ({}, work) for tool, work in tools.items()})

    check(RegistryContract(lambda sources: kit.registry(*sources), source, kit.Hands))


# Front-ends


def terminal():
    """Return what reads a run at a terminal: the answer on standard output, all else on standard error."""

    def read(events, state):
        waiting = [events, []]

        def call(method, params):
            found = waiting.pop(0) if waiting else []
            return {"events": found, "next": len(events), "state": state}

        out = io.StringIO()
        prompt.follow(call, {"run": "r", "chat": "c"}, Screen(out, out))
        return out.getvalue()

    return read


def phone():
    from oasis.parts.lua.phone import Story

    def read(events, state):
        story = Story()
        story.take({"events": events, "state": state})
        return story.text("c")

    return read


def telegram():
    from oasis.parts.telegram.text import RunText

    def read(events, state):
        told = RunText()
        for event in events:
            told.take(event)
        return told.text(True)

    return read


FRONTENDS = {"terminal": terminal, "phone and bus": phone, "telegram": telegram}


@tried(FrontendContract, FRONTENDS, {"phone and bus": "lua", "telegram": "telegram"})
def test_frontends(name, check):
    check(FrontendContract(FRONTENDS[name]))
