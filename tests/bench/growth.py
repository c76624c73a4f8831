"""What a daemon holds after many turns and changes: memory, descriptors, threads, lines in the log. It must be flat.

    python3 tests/bench/growth.py [--turns N] [--plans N] [--model]     a table, for example of 1000 turns and 100 plans

Modules that are loaded with the first turn are no growth: looked at after a fifth of the turns, and again at the end.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
if __name__ == "__main__":
    sys.path.insert(0, REPOSITORY)

from tests.bench import measure, turns  # noqa: E402
from tests.oasisd import Daemon, copy_root, start_daemon  # noqa: E402

# A thread or a connection that is just ending is none that stays.
_LOOKS, _LOOK_S = 5, 0.2
# Fewer times are no beginning: buffers and lists still get the size that they keep.
FIRST = 5
# What may be more at the end: pages of the heap that one more thread touched, a longer list.
MORE_KIB = 256
COLUMNS = ("rss", "private_dirty", "fds", "threads", "log_bytes")

Sample = dict[str, int]


def sample(daemon: Daemon) -> Sample:
    """Return what a daemon holds now, see COLUMNS; of several looks the smallest numbers."""
    looks = []
    for _ in range(_LOOKS):
        folder = f"/proc/{daemon.process.pid}/"
        counts = {"fds": len(os.listdir(folder + "fd")), "threads": len(os.listdir(folder + "task"))}
        looks.append({**measure.memory_kib(daemon.process.pid), **counts, "log_bytes": len(daemon.log().encode())})
        time.sleep(_LOOK_S)
    return {column: min(look[column] for look in looks) for column in COLUMNS}


def live(daemon: Daemon, what: str, count: int, work: Callable[[int], object]) -> list[tuple[str, Sample]]:
    """Do something so often, at least twice; return what the daemon holds after a fifth and at the end."""
    found = []
    first = min(max(count // 5, FIRST), count - 1)
    for number in range(count):
        work(number)
        if number + 1 in (first, count):
            found.append((f"{number + 1} {what}", sample(daemon)))
    return found


def asked(daemon: Daemon, count: int) -> list[tuple[str, Sample]]:
    """Have questions answered by the built-in service."""
    return live(daemon, "turns", count, lambda number: turns.ask(daemon, turns.QUESTIONS[number % 3]))


def asked_model(daemon: Daemon, count: int) -> list[tuple[str, Sample]]:
    """Have questions answered by a model."""
    return live(daemon, "turns with a model", count, lambda _: turns.ask_model(daemon))


def changed(daemon: Daemon, count: int) -> list[tuple[str, Sample]]:
    """Have plans applied and taken back."""
    return live(daemon, "plans", count, lambda number: turns.change_and_undo(daemon, turns.NAMES[number % 2]))


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
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--plans", type=int, default=100)
    parser.add_argument("--model", action="store_true", help="turns with a scripted model, not the built-in service")
    read = parser.parse_args(words)
    bare = measure.bare_memory_kib()
    with tempfile.TemporaryDirectory(prefix="oasis-growth-") as folder, turns.model() as url:
        daemon = start_daemon(turns.with_model(copy_root(folder + "/router"), url))
        try:
            daemon.call("info")
            samples = [("idle", sample(daemon))]
            samples += (asked_model if read.model else asked)(daemon, read.turns)
            samples += changed(daemon, read.plans)
        finally:
            daemon.stop()
    print(f"{'':24}{'RSS':>10}{'x bare':>8}{'private':>10}{'fds':>6}{'threads':>9}{'log bytes':>11}")
    for name, held in samples:
        of_bare = held["rss"] / bare["rss"]
        print(f"{name:24}{held['rss']:>6} KiB{of_bare:>8.2f}{held['private_dirty']:>6} KiB{held['fds']:>6}"
              f"{held['threads']:>9}{held['log_bytes']:>11}")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
