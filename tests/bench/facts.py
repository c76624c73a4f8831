"""Rows of `make bench`: what remembering costs: bytes and syncs a fact, a day of fading, and looking one up."""

from __future__ import annotations

import os
import time
from typing import Any

from oasis.core.ids import Xid
from oasis.parts.memory import owner_facts, ranking
from oasis.parts.memory.extraction import Words
from oasis.system.files import Files
from oasis.system.records import Records

DAY_S = owner_facts.DAY_S
THINGS = (
    "printer",
    "television",
    "freezer",
    "heating",
    "doorbell",
    "telescope",
    "wallbox",
    "aquarium",
    "piano",
    "loom",
)
PLACES = ("kitchen", "attic", "basement", "garage", "garden", "office", "hall", "stable", "workshop", "nursery")
# A JSON line, with an id, where it came from and when: what makes it a fact that can be looked at and corrected.
BYTES_GOAL = 8.0


def measure(bench: Any, folder: str, times: int) -> None:
    """Add the rows."""
    words = Words()
    clock = [1_795_000_000]
    files = Counting()
    path = folder + "/facts/facts.jsonl"
    ids = Xid(lambda: clock[0], os.urandom)
    kept = owner_facts.Facts(
        Records(files, path, owner_facts.MOST + 1), lambda: clock[0], lambda newest: True, ids.next
    )
    near = ranking.Near(_NoEmbedder, lambda: words.empty, print)
    texts = [f"The {thing} of the owner is in the {place}." for place in PLACES for thing in THINGS]
    source = {"chat": ids.next(), "message": "x" * 25}
    for text in texts:
        kept.say(text, "personal", near.alike, source=source)
    said = sum(len(text.encode()) for text in texts) / len(texts)
    count = len(kept.all())
    bench.row(f"{count} facts: bytes written a fact", files.bytes / len(texts), said, "its words", "bytes", BYTES_GOAL)
    bench.row(f"{count} facts: syncs a fact", files.syncs / len(texts), 0, "", "calls")
    files.bytes = files.syncs = 0
    for _ in range(times):
        clock[0] += DAY_S
        kept.begin_day()
    bench.row(f"{count} facts: bytes written a day of fading", files.bytes / times, 0, "", "bytes")
    listed = _ms(kept.sure, times)
    look = _ms(lambda: near.nearest("is the piano in the hall?", kept.sure(), True, True), times)
    bench.row(f"{count} facts: find those of a message by words", look, listed, "reading them", "ms")


class Counting(Files):
    """Files that count the bytes written and the syncs, and need not wait for this host's disk."""

    def __init__(self) -> None:
        self.bytes = self.syncs = 0

    def write(self, handle: Any, data: bytes) -> None:
        self.bytes += len(data)
        super().write(handle, data)

    def sync(self, handle: Any) -> None:
        self.syncs += 1

    def sync_folder(self, path: str) -> None:
        self.syncs += 1


class _NoEmbedder:
    name = ""


def _ms(work: Any, times: int) -> float:
    took = []
    for _ in range(max(times, 3)):
        before = time.perf_counter()
        work()
        took.append(time.perf_counter() - before)
    return min(took) * 1000
