"""Rows of `make bench`: what searching the owner's documents costs, what they take of the flash, and what is found."""

from __future__ import annotations

import os
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

from oasis.parts.memory.knowledge import Ingest
from oasis.parts.memory.ranking import packed
from tests.parts.memory import minilm, recall
from tests.parts.memory.store import Shelf, Swift

CHUNKS, A_DOCUMENT = 5000, 100
CHARS = 900
DIMS = 384
INGESTED = 1_000_000
# numpy with the whole matrix in memory is the limit: a product of it there is one call. Ours may take so many times
# that, and half of the memory.
NUMPY_GOAL, MEMORY_GOAL = 400.0, 0.5
FLASH_GOAL = 1.6
# What words add must not take away: of what vectors find alone, both together miss nothing on the whole.
RECALL_GOAL = 1.0


class _Random:
    """An embedder whose vectors are random: what a search costs does not depend on what they mean."""

    name = "bench/random"

    def __init__(self) -> None:
        self._chance = random.Random(5)
        self.made: list[list[float]] = []

    def service(self) -> dict[str, str]:
        return {"name": self.name}

    def rows(self, texts: list[str], is_cancelled: object = None, told: object = None) -> list[bytes]:
        made = [[self._chance.gauss(0, 1) for _ in range(DIMS)] for _ in texts]
        self.made += made
        return [packed(vector) for vector in made]


def measure(bench: Any, folder: str, times: int) -> None:
    """Add the rows."""
    _search(bench, folder + "/library", times)
    _ingest(bench)
    _recall(bench, folder + "/recall")


def _search(bench: Any, folder: str, times: int) -> None:
    chance = random.Random(4)
    words = [f"{first}{second}" for first in "abcdefghijklmnopqrst" for second in ("onga", "ilt", "urm", "espe", "ard")]
    words += [word + "s" for word in words]
    shelf = Shelf(folder, Swift(), limit=1 << 30)
    text_bytes = 0
    for number in range(CHUNKS // A_DOCUMENT):
        texts = [_text(chance, words) for _ in range(A_DOCUMENT)]
        text_bytes += sum(map(len, texts))
        shelf.add(f"Document {number}", *texts)
    embedder = shelf.embedder = _Random()
    shelf.library.embed(lambda: False)
    count = f"{CHUNKS} chunks"
    query = "bilt zurm"
    by_words = _ms(lambda: shelf.library.search(query, 5, "words"), max(times, 3))
    bench.row(f"{count}: search by words", by_words, 0, "", "ms")
    by_vectors = _ms(lambda: shelf.library.search(query, 5, "vectors"), max(times, 3))
    whole = _numpy_ms(embedder.made[:CHUNKS], max(times, 3))
    bench.row(
        f"{count}: search by vectors", by_vectors, whole, "numpy, all in memory", "ms", NUMPY_GOAL if whole else None
    )
    both = _ms(lambda: shelf.library.search(query, 5), max(times, 3))
    bench.row(f"{count}: search by both", both, by_words + by_vectors, "each alone", "ms")
    tracemalloc.start()
    shelf.library.search(query)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    matrix = CHUNKS * DIMS * 4
    bench.row(f"{count}: peak memory of a search", peak / 1024, matrix / 1024, "numpy's matrix", "KiB", MEMORY_GOAL)
    written = sum(os.path.getsize(os.path.join(shelf.folder, name)) for name in os.listdir(shelf.folder))
    bench.row(
        "bytes on flash a chunk, vector and all", written / CHUNKS, text_bytes / CHUNKS, "its text", "bytes", FLASH_GOAL
    )


def _text(chance: random.Random, words: list[str]) -> str:
    text = ""
    while len(text) < CHARS:
        text += chance.choice(words) + " "
    return text


def _numpy_ms(vectors: list[list[float]], times: int) -> float:
    try:
        import numpy
    except ImportError:
        return 0.0
    matrix = numpy.array(vectors, "f4")
    lengths = numpy.linalg.norm(matrix, axis=1)
    asked = matrix[0].copy()
    return _ms(lambda: numpy.argsort(-(matrix @ asked) / lengths)[:50], times)


def _ingest(bench: Any) -> None:
    sentence = "The router keeps what was said about it, and nobody has to say it twice. "
    paragraph = sentence * 6
    text = (paragraph + "\n\n") * (INGESTED // (len(paragraph) + 2))
    kit: Any = None  # nothing is read elsewhere
    ingest = Ingest(kit, bool)
    took = _ms(lambda: ingest.file("a.md", text.encode()), 1)
    copied = _ms(lambda: text.encode().decode().split("\n\n"), 3)
    bench.row("1 MB of Markdown: read and cut into chunks", took, copied, "decode and split", "ms")


def _recall(bench: Any, folder: str) -> None:
    found = minilm.find()
    shelf, names = recall.shelved(folder, minilm.Model(found) if found else None)
    by_words = recall.recall(shelf, names, "words")[0]
    bench.row("recall@5 by words, of 70 questions", 100 * by_words, 0, "", "%")
    if not found:
        bench.notes.append("recall@5 by vectors: no model of embeddings here; " + minilm.ADVICE)
        return
    by_vectors, both = (recall.recall(shelf, names, mode)[0] for mode in ("vectors", "fused"))
    bench.row("recall@5 by vectors of MiniLM-L6", 100 * by_vectors, 100 * by_words, "by words", "%")
    bench.row("recall@5 by vectors alone, beside both", 100 * by_vectors, 100 * both, "both", "%", RECALL_GOAL)


def _ms(work: Callable[[], object], times: int) -> float:
    took = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return statistics.median(took) * 1000
