"""Every implementation of ours, and one in memory where we have a single one, passes the contract of its interface."""

import io
import itertools
import json
import random
import types

import pytest

from oasis import parts, providers
from oasis.api.parts import Offered
from oasis.cli import prompt
from oasis.cli.terminal import Screen
from oasis.core.ids import Xid
from oasis.errors import SchemaError, UsageError
from oasis.parts.lua.phone import Story
from oasis.parts.memory.documents import Vectors
from oasis.parts.memory.owner_facts import Facts
from oasis.parts.memory.ranking import SCALE, Embedder, nearness
from oasis.parts.telegram.text import RunText
from oasis.system.records import Records
from oasis.tools.builtin import BuiltIn
from tests.contracts.contracts import (
    EmbeddingContract,
    FrontendContract,
    MemoryStoreContract,
    ProviderContract,
    RegistryContract,
    ToolContract,
    VectorStoreContract,
    checks,
)
from tests.parts.memory import minilm
from tests.parts.memory.recall import Given
from tests.parts.memory.store import Meanings, Swift
from tests.tools import kit


def tried(contract, factories):
    """Parametrize a test with every factory and every check of a contract."""
    pairs = [(name, check) for name in factories for check in checks(contract)]
    ids = [f"{name}-{check.__name__.removeprefix('check_')}" for name, check in pairs]
    return pytest.mark.parametrize("name, check", pairs, ids=ids)


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


# Embeddings


class Service:
    """Settings and models of a daemon, as far as the embedder looks at them; the vectors are those of Meanings."""

    def __init__(self, is_set):
        self.is_set = is_set

    def aliases(self):
        return {"embedding": ["s/m"]} if self.is_set else {}

    def service(self, name):
        return {"identifier": "s", "model": "m", "name": "S", "vendor": "openai"}

    def request(self, service):
        return {"model": service["model"]}

    def embed(self, request, texts, cancelled):
        return [Meanings().vector(text) for text in texts]


def ours(is_set=True):
    redactor = types.SimpleNamespace(hide=lambda text, name: text)
    service = Service(is_set)
    return Embedder(types.SimpleNamespace(settings=service, models=service, redactor=redactor))


EMBEDDERS = {"ours": ours, "in memory": lambda is_set=True: Meanings("m" if is_set else "")}


@tried(EmbeddingContract, EMBEDDERS)
def test_embedding_providers(name, check):
    check(EmbeddingContract(EMBEDDERS[name]))


@pytest.mark.skipif(not minilm.find(), reason="no model of embeddings here; " + minilm.ADVICE)
def test_a_real_model_gives_a_vector_for_each_text_in_their_order():
    model = Given(minilm.Model(minilm.find()))
    EmbeddingContract(lambda: model).check_a_vector_for_each_text_in_their_order()


# Vectors


class InMemory:
    """A vector store as simple as one can be."""

    def __init__(self):
        self.kept = {}

    def write(self, name, label, rows):
        if len({SCALE.size, *map(len, rows)}) != 2:
            raise SchemaError("one length")
        self.kept[name] = (label, rows)

    def about(self, name):
        if name not in self.kept:
            return None
        label, rows = self.kept[name]
        return {"label": label, "dims": len(rows[0]) - SCALE.size, "count": len(rows)}

    def delete(self, name):
        self.kept.pop(name, None)

    def nearest(self, asked, names, most, label=""):
        found = []
        for name in names:
            own, rows = self.kept.get(name, ("", []))
            for number, row in enumerate(rows):
                if len(row) == len(asked) and label in ("", own):
                    found.append((nearness(asked)(row), (name, number)))
        return sorted(found, key=lambda row: -row[0])[:most]


@tried(VectorStoreContract, ["files", "in memory"])
def test_vector_stores(tmp_path, name, check):
    make = {"files": lambda: Vectors(Swift(), str(tmp_path / "v")), "in memory": InMemory}[name]
    check(VectorStoreContract(make))


# Facts


class FactsInMemory:
    """A store of facts as simple as one can be."""

    def __init__(self):
        self.kept = {}
        self.ids = itertools.count()

    def all(self):
        return list(self.kept.values())

    def get(self, name):
        if name not in self.kept:
            raise UsageError("there is no fact")
        return self.kept[name]

    def say(self, text, category, alike):
        scores, least = alike(text, self.all())
        same = next((fact for fact, score in zip(self.all(), scores, strict=True) if score > least), None)
        fact = {"id": f"{next(self.ids):020d}", "created_unix_s": 1, **(same or {})}
        fact.update(fact=text, category=category, confidence=1.0, updated_unix_s=2)
        self.kept[fact["id"]] = fact
        return fact

    def correct(self, name, text, category):
        return self.get(name).update(fact=text) or self.get(name)

    def forget(self, names):
        return len([self.kept.pop(name) for name in names if name in self.kept])

    def forget_all(self):
        return self.forget(list(self.kept))


@tried(MemoryStoreContract, ["files", "in memory"])
def test_memory_stores(tmp_path, name, check):
    def files():
        ids = Xid(lambda: 1_790_000_000, random.Random(1).randbytes)
        return Facts(Records(Swift(), str(tmp_path / "f.jsonl")), lambda: 1_790_000_000, lambda newest: True, ids.next)

    check(MemoryStoreContract({"files": files, "in memory": FactsInMemory}[name]))


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

        def told(self, query, limit, is_home, has_chats=False):
            return {"query": query, "passages": [], "sources": [], "options": []}

        def note(self, text, title, taint, is_cancelled, is_home):
            return {"id": "x", "title": title, "chunks": 1}

    calls = {"knowledge_search": {"query": "words"}, "remember": {"text": "a note"}}
    part = types.SimpleNamespace(source=Part())
    return Offered("knowledge", parts.merged("TOOLS")["knowledge"], lambda name: part), calls, kit.Hands(), Watch()


def built_in_tools():
    return BuiltIn(None), {"status": {"what": "nothing"}}, kit.Hands(), Watch()


def demo_tools():
    spec = {"description": "does what the demo does", "input_schema": {"type": "object"}}
    return kit.Source(one=(spec, lambda *_: {"n": 1})), {"one": {}}, kit.Hands(), Watch()


SOURCES = {"knowledge": knowledge_tools, "built-in": built_in_tools, "in memory": demo_tools}


@tried(ToolContract, SOURCES)
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
    def read(events, state):
        story = Story()
        story.take({"events": events, "state": state})
        return story.text("c")

    return read


def telegram():
    def read(events, state):
        told = RunText()
        for event in events:
            told.take(event)
        return told.text(True)

    return read


FRONTENDS = {"terminal": terminal, "phone and bus": phone, "telegram": telegram}


@tried(FrontendContract, FRONTENDS)
def test_frontends(name, check):
    check(FrontendContract(FRONTENDS[name]))
