"""What a daemon holds after many turns and changes: memory, descriptors, threads, lines in the log. It must be flat.

    python3 tests/bench/growth.py [--turns N] [--plans N] [--model]     a curve, of 2000 turns and 100 plans

The packages run, as on a router, and what is asked of the bus goes over its socket. The owner deletes old chats from
time to time. Modules that are loaded with the first turn are no growth: what is held after a fifth of the turns, and
of the plans, is compared with what is held at their end.
Exit status: 0 it is flat, 1 it grows, 2 it could not be measured.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
if __name__ == "__main__":
    sys.path.insert(0, REPOSITORY)

from tests.bench import measure, packages, turns  # noqa: E402
from tests.oasisd import Daemon, copy_root, start_daemon  # noqa: E402

# A thread or a connection that is just ending is none that stays.
_LOOKS, _LOOK_S = 5, 0.2
# Fewer times are no beginning: buffers and lists still get the size that they keep.
FIRST = 5
# What may be more at the end: pages of the heap that one more thread touched, a longer list.
MORE_KIB = 256
MORE_LOG_BYTES = 4096
# How often a long life is looked at, and how often the owner deletes all chats but the newest.
STEP, TIDY, KEPT = 200, 100, 20
A_CHAT = 10
COLUMNS = ("rss", "private_dirty", "fds", "threads", "log_bytes")

Sample = dict[str, int]
Tell = Callable[[str, Sample], object]


def sample(daemon: Daemon) -> Sample:
    """Return what a daemon holds now, see COLUMNS; of several looks the smallest numbers."""
    looks = []
    for _ in range(_LOOKS):
        folder = f"/proc/{daemon.process.pid}/"
        counts = {"fds": len(os.listdir(folder + "fd")), "threads": len(os.listdir(folder + "task"))}
        looks.append({**measure.memory_kib(daemon.process.pid), **counts, "log_bytes": len(daemon.log().encode())})
        time.sleep(_LOOK_S)
    return {column: min(look[column] for look in looks) for column in COLUMNS}


def live(
    daemon: Daemon, what: str, count: int, work: Callable[[int], object], tell: Tell | None = None
) -> list[tuple[str, Sample]]:
    """Do something so often, at least twice; return what the daemon holds after a fifth and at the end.

    `tell` is told both, and what it holds each STEP times.
    """
    found = []
    first = min(max(count // 5, FIRST), count - 1)
    for number in range(1, count + 1):
        work(number - 1)
        if number in (first, count) or (tell and number % STEP == 0):
            found.append((f"{number} {what}", sample(daemon)))
            if tell:
                tell(*found[-1])
        if number % TIDY == 0 and number < count:
            turns.delete_old(daemon, KEPT)
    return [one for one in found if one[0].partition(" ")[0] in (str(first), str(count))]


def asked(daemon: Daemon, count: int, tell: Tell | None = None) -> list[tuple[str, Sample]]:
    """Have questions answered by the built-in service."""
    return live(daemon, "turns", count, lambda number: turns.ask(daemon, turns.QUESTIONS[number % 3]), tell)


def asked_model(daemon: Daemon, count: int, tell: Tell | None = None) -> list[tuple[str, Sample]]:
    """Have questions answered by a model, some in each chat: the first one has a title made, by the model as well."""
    chats = [""]

    def ask(number: int) -> None:
        chats.append(turns.ask_model(daemon, chats.pop() if number % A_CHAT else ""))

    return live(daemon, "turns with a model", count, ask, tell)


def changed(daemon: Daemon, count: int, tell: Tell | None = None) -> list[tuple[str, Sample]]:
    """Have plans applied and taken back."""
    return live(daemon, "plans", count, lambda number: turns.change_and_undo(daemon, turns.NAMES[number % 2]), tell)


def grown(samples: list[tuple[str, Sample]]) -> list[str]:
    """Return in words what grew between the two samples of live, none where it is flat."""
    (before, first), (after, last) = samples
    most = {"rss": MORE_KIB, "fds": 0, "threads": 0, "log_bytes": MORE_LOG_BYTES}
    return [
        f"from {before} to {after}: {column} {first[column]} to {last[column]}, at most {allowed} more"
        for column, allowed in most.items() if last[column] - first[column] > allowed
    ]  # fmt: skip


def rows(bench: Any, samples: list[tuple[str, Sample]]) -> None:
    """Add what grew between the two samples of live."""
    (before, first), (after, last) = samples
    what = f"from {before} to {after.partition(' ')[0]}: "
    allowed = 1 + MORE_KIB / first["rss"]
    bench.row(what + "RSS", last["rss"], first["rss"], "before", "KiB", allowed)
    bench.row(what + "descriptors", last["fds"], first["fds"], "before", "", 1.0)
    bench.row(what + "threads", last["threads"], first["threads"], "before", "", 1.0)
    bench.row(what + "log", last["log_bytes"] - first["log_bytes"], 0, "", "bytes")


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--turns", type=int, default=2000)
    parser.add_argument("--plans", type=int, default=100)
    parser.add_argument("--model", action="store_true", help="turns with a scripted model, not the built-in service")
    read = parser.parse_args(words)
    bare = measure.bare_memory_kib()

    def tell(name: str, held: Sample) -> None:
        of_bare = held["rss"] / bare["rss"]
        print(f"{name:24}{held['rss']:>6} KiB{of_bare:>8.2f}{held['private_dirty']:>6} KiB{held['fds']:>6}"
              f"{held['threads']:>9}{held['log_bytes']:>11}", flush=True)  # fmt: skip

    with measure.new_folder("oasis-growth") as folder, turns.model() as url:
        packages.install(folder + "/installed")
        root = turns.with_model(copy_root(folder + "/router"), url)
        with turns.bus(root):
            daemon = start_daemon(root, library=folder + "/installed/usr/lib/oasis")
            try:
                time.sleep(
                    1
                )  # it is on the bus then: else the answer has that in it, and words are looked at for secrets
                daemon.call("info")
                print(f"{'':24}{'RSS':>10}{'x bare':>8}{'private':>10}{'fds':>6}{'threads':>9}{'log bytes':>11}")
                tell("idle", sample(daemon))
                wrong = grown((asked_model if read.model else asked)(daemon, read.turns, tell))
                wrong += grown(changed(daemon, read.plans, tell))
            except measure.MeasureError as error:
                print(f"growth: {error}", file=sys.stderr)
                return 2
            finally:
                daemon.stop()
    print("\n".join(wrong) or f"flat: at most {MORE_KIB} KiB more, no descriptor, no thread")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
