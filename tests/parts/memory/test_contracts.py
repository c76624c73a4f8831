"""What this part has of a kind, and one in memory, passes the contract of its interface."""

import itertools
import random
import types

import pytest

from oasis.core.ids import Xid
from oasis.errors import SchemaError, UsageError
from oasis.parts.memory.documents import Vectors
from oasis.parts.memory.owner_facts import Facts
from oasis.parts.memory.ranking import SCALE, Embedder, nearness
from oasis.system.records import Records
from tests.contracts.contracts import EmbeddingContract, MemoryStoreContract, VectorStoreContract, tried
from tests.parts.memory import minilm
from tests.parts.memory.recall import Given
from tests.parts.memory.store import Meanings, Swift

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
