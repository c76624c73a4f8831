"""Rows of `make bench`: what long chats, many chats and searches cost, each beside a named peer in the same run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import tracemalloc

from oasis.chats import lookup
from oasis.core import jsonl, thread
from oasis.core.ids import Scru128, Xid
from oasis.core.store import Store
from oasis.system.files import Files
from tests.chats.kit import Kit

TURNS = 1000
LONG_TURNS = 10_000
# Of a chat of which the whole is looked over: who continues whom.
WHOLE_TURNS = 50_000
CHATS = 500
SEARCH_BYTES = 10 * 1024 * 1024
FLASH_GOAL = 1.15
# Memory and time may not grow with the file, or only in proportion to it.
FLAT_GOAL = 1.25
LINEAR_GOAL = 12.0  # for ten times the turns
FOURFOLD_GOAL = 6.0  # for four times of them
QUESTION = "Is the guest network still on, and which devices used it last night? "
ANSWER = "The guest network is on. Three devices used it: a phone, a tablet and the television in the attic. "


class Counting(Files):
    """Files that count the bytes written, and need not wait for this host's disk."""

    def __init__(self) -> None:
        self.bytes = 0

    def write(self, handle: object, data: bytes) -> None:
        self.bytes += len(data)
        super().write(handle, data)

    def sync(self, handle: object) -> None:
        pass

    def sync_folder(self, path: str) -> None:
        pass


def turn(ids: Scru128, heads: list[str], number: int) -> list[dict[str, object]]:
    """Return the messages of one exchange."""
    question = {"id": ids.next(), "role": "user", "content": QUESTION + str(number), "continues": heads}
    answer = {"id": ids.next(), "role": "assistant", "content": ANSWER * 3, "continues": [question["id"]]}
    return [question, answer]


def write_chat(folder: str, name: str, turns: int, ids: Scru128, options: dict[str, object] | None = None) -> str:
    """Write a chat of so many exchanges, with options at its first message; return its path."""
    path = f"{folder}/{name}.jsonl"
    heads: list[str] = []
    with open(path, "wb") as handle:
        for number in range(turns):
            messages = turn(ids, heads, number)
            heads = [str(messages[-1]["id"])]
            if options and not number:
                messages[0]["options"] = options
            handle.writelines(jsonl.line(message) for message in messages)
    return path


def best_s(work: object, times: int) -> float:
    """Return the shortest of some calls."""
    best = 99.0
    for _ in range(times):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def peak_bytes(work: object) -> int:
    """Return what a call had allocated at most."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def measure(bench: object, folder: str, times: int) -> None:
    """Add the rows to a Bench."""
    folder += "/chats-bench"
    os.makedirs(folder)
    ids = Scru128(lambda: time.time_ns() // 1_000_000, os.urandom)
    xids = Xid(lambda: time.time_ns() // 1_000_000_000, os.urandom)
    _appending(bench, folder + "/append", ids, xids)
    _opening(bench, folder + "/open", ids, xids, min(times, 5))
    _looking_over(bench, folder + "/whole", ids, xids, min(times, 3))
    _listing(bench, folder + "/list", ids, min(times, 5))
    _searching(bench, folder + "/search", ids, xids, min(times, 5))


def _appending(bench: object, folder: str, ids: Scru128, xids: Xid) -> None:
    os.makedirs(folder)
    files = Counting()
    store = Store(files, folder, xids.next)
    name = store.create().id
    heads: list[str] = []
    grown, theirs, upstream, seconds = [], 0, [], []
    for number in range(TURNS):
        messages = turn(ids, heads, number)
        heads = [str(messages[-1]["id"])]
        before = files.bytes
        chat = store.open(name) if number else store.create()
        name = chat.id
        began = time.perf_counter()
        for message in messages:
            chat.add(message)
            chat.flush()
        seconds.append(time.perf_counter() - began)
        grown.append(files.bytes - before)
        # Upstream's rule: the whole chat is written again with each answer.
        plain = [{"role": message["role"], "content": message["content"]} for message in messages]
        upstream += plain
        theirs += len(json.dumps({"messages": upstream}, separators=(",", ":")))
    what = f"a chat of {TURNS} turns: "
    said = sum(len(jsonl.line(message)) for message in messages)
    bench.row(what + "bytes written for the last turn", grown[-1], said, "its JSON lines", "bytes", FLASH_GOAL)
    bench.row(what + "the last turn beside the second", grown[-1], grown[1], "the second turn", "bytes", FLASH_GOAL)
    bench.row(what + "all bytes written", sum(grown), theirs, "upstream's rule", "bytes", 0.02)
    bench.row(what + "append, no disk", min(seconds) * 1000, 0, "", "ms")
    bench.row(what + "append to this disk, two syncs", _synced_s(folder, ids, xids) * 1000, 0, "", "ms")


def _synced_s(folder: str, ids: Scru128, xids: Xid) -> float:
    chat = Store(Files(), folder, xids.next).create()
    seconds = []
    for number in range(20):
        began = time.perf_counter()
        for message in turn(ids, chat.heads, number):
            chat.add(message)
            chat.flush()
        seconds.append(time.perf_counter() - began)
    return sorted(seconds)[len(seconds) // 2]


def _opening(bench: object, folder: str, ids: Scru128, xids: Xid, times: int) -> None:
    os.makedirs(folder)
    store = Store(Files(), folder, xids.next)
    short, long = xids.next(), xids.next()
    path = write_chat(folder, long, LONG_TURNS, ids)
    write_chat(folder, short, LONG_TURNS // 10, ids)

    def parse() -> None:
        with open(path, "rb") as handle:
            for line in handle:
                json.loads(line)

    def context(name: str) -> None:
        chat = store.open(name)
        if len(thread.context(chat.messages, chat.heads)) < 100:
            raise AssertionError("the context is not there")

    what = f"a chat of {LONG_TURNS} turns: "
    peer = best_s(parse, times) * 1000
    bench.row(
        what + "open and context", best_s(lambda: context(long), times) * 1000, peer, "json.loads of it", "ms", 1.0
    )
    page = best_s(lambda: store.chat(long).page(), times) * 1000
    bench.row(what + "the newest page", page, peer, "json.loads of it", "ms", 1.0)
    peaks = peak_bytes(lambda: context(long)) / 1024, peak_bytes(lambda: context(short)) / 1024
    bench.row(what + "peak of open and context", *peaks, "a tenth of the turns", "KiB", FLAT_GOAL)
    # Options at the root of a thread are in force: all of it is followed for them.
    for name, turns in ((short, LONG_TURNS // 10), (long, LONG_TURNS)):
        write_chat(folder, name, turns, ids, {"provider_ptr": "nano"})
    if store.open(long).older_options != {"provider_ptr": "nano"}:
        raise AssertionError("the options are not there")
    figures = best_s(lambda: context(long), times) * 1000, best_s(lambda: context(short), times) * 1000
    bench.row(what + "options at its root", *figures, "a tenth of the turns", "ms", LINEAR_GOAL)
    peaks = peak_bytes(lambda: context(long)) / 1024, peak_bytes(lambda: context(short)) / 1024
    bench.row(what + "options at its root, peak", *peaks, "a tenth of the turns", "KiB", FLAT_GOAL)


def _looking_over(bench: object, folder: str, ids: Scru128, xids: Xid, times: int) -> None:
    os.makedirs(folder)
    store = Store(Files(), folder, xids.next)
    short, long = xids.next(), xids.next()
    write_chat(folder, short, WHOLE_TURNS // 4, ids)
    write_chat(folder, long, WHOLE_TURNS, ids)

    def look(name: str) -> None:
        found = lookup.Map(store.chat(name))
        if found.leaf("") != found.newest or found.reports:
            raise AssertionError("the newest message is not the end of the chat")

    what = f"a chat of {2 * WHOLE_TURNS} messages: "
    figures = best_s(lambda: look(long), times) * 1000, best_s(lambda: look(short), times) * 1000
    bench.row(what + "who continues whom", *figures, "a quarter of them", "ms", FOURFOLD_GOAL)
    peaks = peak_bytes(lambda: look(long)) / 1024, peak_bytes(lambda: look(short)) / 1024
    bench.row(what + "who continues whom, peak", *peaks, "a quarter of them", "KiB", FOURFOLD_GOAL)


def _listing(bench: object, folder: str, ids: Scru128, times: int) -> None:
    kit = Kit(folder, Counting())
    os.makedirs(kit.folder)
    paths = [write_chat(kit.folder, kit.xids.next(), 5, ids) for _ in range(CHATS)]

    def parse() -> None:
        for path in paths:
            with open(path, "rb") as handle:
                for line in handle:
                    json.loads(line)

    def first() -> None:
        os.remove(kit.scratch + "/chats")
        kit.chats.items()

    if len(kit.chats.items()) != CHATS:
        raise AssertionError("not every chat is listed")
    peer = best_s(parse, times) * 1000
    what = f"{CHATS} chats: "
    bench.row(
        what + "settle at the start", best_s(kit.chats.settle, times) * 1000, peer, "json.loads of all", "ms", 1.0
    )
    bench.row(what + "first list after a boot", best_s(first, times) * 1000, peer, "json.loads of all", "ms", 6.0)
    bench.row(what + "every other list", best_s(kit.chats.items, times) * 1000, peer, "json.loads of all", "ms", 1.0)


def _searching(bench: object, folder: str, ids: Scru128, xids: Xid, times: int) -> None:
    kit = Kit(folder)
    os.makedirs(kit.folder)
    size, paths = 0, []
    while size < SEARCH_BYTES:
        paths.append(write_chat(kit.folder, xids.next(), 1000, ids))
        size += os.path.getsize(paths[-1])
    with open(paths[0], "ab") as handle:
        handle.write(jsonl.line({"id": ids.next(), "role": "user", "content": "where is the Needle?"}))

    def ours() -> None:
        if len(kit.chats.search("needle")["results"]) != 1:
            raise AssertionError("it was not found")

    def parse() -> None:
        found = 0
        for path in paths:
            with open(path, "rb") as handle:
                found += sum("needle" in json.loads(line)["content"].casefold() for line in handle)
        if found != 1:
            raise AssertionError("it was not found")

    what = f"search in {size // 1024 // 1024} MB: "
    seconds = best_s(ours, times) * 1000
    bench.row(what + "time", seconds, best_s(parse, 2) * 1000, "json.loads and look", "ms", 0.5)
    grep = shutil.which("grep")
    if grep:
        argv = [grep, "-ci", "needle", *paths]
        theirs = best_s(lambda: subprocess.run(argv, stdout=subprocess.DEVNULL, check=True), times) * 1000
        bench.row(what + "time beside grep", seconds, theirs, "grep -ci, its start counted", "ms")
    bench.row(what + "peak", peak_bytes(ours) / 1024, 0, "", "KiB")
