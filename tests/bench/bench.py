"""`make bench`: what Oasis costs, as a table; every figure, also the one it is compared with, is measured in this run.

    python3 tests/bench/bench.py [--budgets | --quick | --long] [--json FILE] [--write-baseline]

A row is missed beyond its goal, and beyond its tolerance over what it was when the baseline was written (baseline.py).
Exit status: 0 none is missed, 1 one is, 2 something could not be measured.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import platform
import signal
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, REPOSITORY)

from tests.bench import (  # noqa: E402
    baseline,
    budgets,
    bus,
    chats,
    facts,
    growth,
    instructions,
    knowledge,
    mcp_calls,
    measure,
    packages,
    providers,
    speed,
    tools,
)  # fmt: skip
from tests.bench.turns import NAMES, QUESTIONS, WORDS, ask, change, change_and_undo  # noqa: E402
from tests.cli import launcher  # noqa: E402
from tests.oasisd import Daemon, copy_root, start_daemon  # noqa: E402

TIME_GOAL = 4.0
# The promise is 150 ms, and an interpreter that does nothing takes 10 where it was made.
CPU_GOAL = 3.0
FLASH_GOAL = 1.15


class Bench:
    """Collects rows: {"name", "measured", "compared", "with", "ratio", "goal", "is_ok", "unit"}."""

    def __init__(self, sizes: argparse.Namespace) -> None:
        self.sizes = sizes
        self.rows: list[dict[str, object]] = []
        self.notes: list[str] = []

    def row(self, name: str, measured: float, compared: float, of: str, unit: str, goal: float | None = None) -> None:
        """Add a figure beside what it is compared with; no goal is never missed."""
        ratio = measured / compared if compared else None
        is_ok = goal is None or (ratio is not None and ratio <= goal)
        values = (name, measured, compared, of, ratio, goal, is_ok, unit)
        keys = ("name", "measured", "compared", "with", "ratio", "goal", "is_ok", "unit")
        self.rows.append(dict(zip(keys, values, strict=True)))

    def run(self, folder: str) -> None:
        """Measure everything in a folder that is empty and ours."""
        warm_up(copy_root(folder + "/warm"))
        budgets.rows(self, folder)
        if self.sizes.budgets:
            return
        packages.install(folder + "/packages")
        self._memory(copy_root(folder + "/memory"), folder + "/packages/usr/lib/oasis")
        self._command(copy_root(folder + "/command"), launcher.install(folder))
        self._flash(copy_root(folder + "/flash"), folder + "/trace")
        instructions.measure(self, folder)
        speed.measure(self, folder, self.sizes.pairs)
        chats.measure(self, folder, self.sizes.pairs)
        providers.measure(self, folder, self.sizes.pairs)
        bus.measure(self, folder, self.sizes.pairs)
        mcp_calls.measure(self, folder, self.sizes.pairs)
        packages.measure(self, folder, self.sizes.pairs)
        tools.measure(self, folder, self.sizes.pairs)
        knowledge.measure(self, folder, self.sizes.pairs)
        facts.measure(self, folder, self.sizes.pairs)

    def _memory(self, root: str, lib: str) -> None:
        """Measure the packages, as a router runs them: bytecode without docstrings, every part."""
        bare = measure.bare_memory_kib()
        peak = measure.peak_kib(measure.BARE)
        before = time.perf_counter()
        daemon = start_daemon(root, library=lib)
        try:
            daemon.call("info")
            ready_s = time.perf_counter() - before
            time.sleep(self.sizes.idle_s)
            self._daemon_rows(daemon, bare, f"idle oasisd after {self.sizes.idle_s:g} s")
            done = f"oasisd after {self.sizes.exchanges} exchanges"
            growth.rows(self, growth.asked(daemon, self.sizes.exchanges))
            self._daemon_rows(daemon, bare, done, budgets.WORKED_GOAL)
            growth.rows(self, growth.changed(daemon, self.sizes.plans))
            time.sleep(self.sizes.rest_s)
            self._daemon_rows(daemon, bare, f"{done}, {self.sizes.plans} plans", budgets.WORKED_GOAL)
        finally:
            daemon.stop()
        self.row("bare interpreter, peak", peak, bare["rss"], "the same, blocked", "KiB")
        bare_s = min(measure.seconds(measure.BARE) for _ in range(self.sizes.pairs))
        again = min([ready_s, *[start_s(root) for _ in range(self.sizes.starts)]])
        self.row("oasisd: start to first answer", again * 1000, bare_s * 1000, "bare start", "ms")

    def _daemon_rows(self, daemon: Daemon, bare: dict[str, int], name: str, goal: float = budgets.RSS_GOAL) -> None:
        now = measure.memory_kib(daemon.process.pid)
        self.row(name + ": RSS", now["rss"], bare["rss"], "bare, blocked", "KiB", goal)
        self.row(name + ": private dirty", now["private_dirty"], bare["private_dirty"], "bare, blocked", "KiB")

    def _command(self, root: str, program: list[str]) -> None:
        daemon = start_daemon(root)
        try:
            env = launcher.environment(root)
            argv = [*program, "prompt", WORDS]
            ours, bare = self._times(argv, env)
            for name, chosen in (("median", statistics.median), ("min", min)):
                figures = chosen(ours) * 1000, chosen(bare) * 1000
                self.row(f'oasis prompt "{WORDS}", {name} of {len(ours)}', *figures, "bare start", "ms", TIME_GOAL)
            ours, bare = self._times([*program, "prompt", QUESTIONS[0]], env)
            cpu = [min(measure.cpu_s(words, env) for _ in range(self.sizes.pairs)) for words in (argv, measure.BARE)]
            self.row("oasis prompt: processor time", cpu[0] * 1000, cpu[1] * 1000, "bare start", "ms", CPU_GOAL)
            without = [program[0], "-X", f"pycache_prefix={root}/none", *program[1:], "prompt", WORDS]
            first = measure.cpu_s(without, env)
            self.row("oasis prompt without bytecode: processor time", first * 1000, cpu[1] * 1000, "bare start", "ms")
            figures = statistics.median(ours) * 1000, statistics.median(bare) * 1000
            self.row("oasis prompt that asks the bus (stand-in), median", *figures, "bare start", "ms")
            peaks = measure.peak_kib(argv, env), measure.peak_kib(measure.BARE)
            self.row("oasis prompt, peak RSS", *peaks, "bare, peak", "KiB", budgets.RSS_GOAL)
        finally:
            daemon.stop()

    def _times(self, argv: list[str], env: dict[str, str]) -> tuple[list[float], list[float]]:
        for _ in range(3):
            measure.seconds(argv, env)  # the process that understands is started, files are in the cache
        return measure.pairs(argv, env, self.sizes.pairs)

    def _flash(self, root: str, trace_file: str) -> None:
        folders = [root + "/etc"]
        trace = measure.Trace(trace_file, folders)
        if not trace.wrapper:
            self.notes.append(
                "strace is not installed (apt-get install strace): flash bytes are the growth of files, no syncs"
            )
        before = measure.stored_bytes(folders)
        daemon = start_daemon(root, wrapper=trace.wrapper)
        try:
            start = time.time()
            for number in range(self.sizes.flash):
                ask(daemon, QUESTIONS[number % len(QUESTIONS)])
            middle = time.time()
            lines = sum(os.path.getsize(path) for path in glob.glob(root + "/etc/oasis/chats/*.jsonl"))
            grown = measure.stored_bytes(folders) - before
            change(daemon, NAMES[0])
            end = time.time()
            grown_after = measure.stored_bytes(folders) - before - grown
        finally:
            stop_traced(daemon)
        turns = f"{self.sizes.flash} exchanges: "
        if not trace.wrapper:
            self.row(turns + "growth on flash", grown, lines, "their JSON lines", "bytes", FLASH_GOAL)
            self.row("a low-risk plan: growth on flash", grown_after, 0, "", "bytes")
            return
        asked, changed = trace.between(start, middle), trace.between(middle, end)
        self.row(turns + "bytes written to flash", asked["bytes"], lines, "their JSON lines", "bytes", FLASH_GOAL)
        self.row("syncs a turn", asked["syncs"] / self.sizes.flash, 0, "", "calls")
        self.row("writes a turn", asked["writes"] / self.sizes.flash, 0, "", "calls")
        self.row("a low-risk plan: bytes written to flash", changed["bytes"], 0, "", "bytes")
        self.row("a low-risk plan: syncs", changed["syncs"], 0, "", "calls")


def warm_up(root: str) -> None:
    """Have the bytecode written that a package brings: compiling makes the first process bigger and slower."""
    daemon = start_daemon(root)
    try:
        ask(daemon, QUESTIONS[0])
        change_and_undo(daemon, NAMES[0])
    finally:
        daemon.stop()


def start_s(root: str) -> float:
    """Return the seconds from starting a daemon to its first answer."""
    before = time.perf_counter()
    daemon = start_daemon(root)
    try:
        daemon.call("info")
        return time.perf_counter() - before
    finally:
        daemon.stop()


def stop_traced(daemon: Daemon) -> None:
    """Stop a daemon that may run below strace: the signal goes to itself, and strace ends with it."""
    with open(daemon.root + "/var/run/oasis/lock", encoding="ascii") as handle:
        os.kill(int(handle.read()), 15)
    daemon.process.wait(30)


def table(rows: list[dict[str, object]]) -> str:
    """Return the rows as aligned text."""
    head = ("what", "measured", "compared with", "", "ratio", "goal", "was", "")
    lines = [head]
    for row in rows:
        with_ = f"{row['compared']:,.1f} {row['unit']}" if row["compared"] else "–"
        ratio = f"{row['ratio']:.2f}" if row["ratio"] is not None else "–"
        goal = f"{row['goal']:.2f}" if row["goal"] else "–"
        was = f"{row['was']:,.2f}" if "was" in row else "–"
        verdict = "MISSED" if not row["is_ok"] else "ok" if row["goal"] or "was" in row else ""
        measured = f"{row['measured']:,.1f} {row['unit']}"
        lines.append((row["name"], measured, with_, row["with"], ratio, goal, was, verdict))
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    aligned = ["<", ">", ">", "<", ">", ">", ">", "<"]
    form = "  ".join(f"{{:{side}{width}}}" for side, width in zip(aligned, widths, strict=True))
    return "\n".join(form.format(*line).rstrip() for line in lines)


def arguments(words: list[str]) -> argparse.Namespace:
    """Read the words of the command line and add the sizes they stand for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--budgets", action="store_true", help="only what has no noise, as make test has it")
    how.add_argument("--quick", action="store_true", help="small numbers, for the tests")
    how.add_argument("--long", action="store_true", help="large numbers: half an hour")
    parser.add_argument("--json", metavar="FILE", help="write the rows there as well")
    parser.add_argument("--write-baseline", action="store_true", help="what is measured now is what is compared with")
    read = parser.parse_args(words)
    sizes = {"idle_s": 60, "rest_s": 10, "exchanges": 100, "plans": 10, "pairs": 30, "starts": 5, "flash": 20}
    if read.quick:
        sizes = {"idle_s": 3, "rest_s": 1, "exchanges": 10, "plans": 2, "pairs": 5, "starts": 1, "flash": 5}
    if read.long:
        sizes.update(idle_s=300, rest_s=120, exchanges=1000, plans=100, pairs=200, starts=30, flash=200)
    for name, value in sizes.items():
        setattr(read, name, value)
    return read


def main(words: list[str]) -> int:
    sizes = arguments(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the daemons that were started end with us
    bench = Bench(sizes)
    with measure.new_folder("oasis-bench") as folder:
        try:
            bench.run(folder)
        except measure.MeasureError as error:
            print(f"bench: {error}", file=sys.stderr)
            return 2
    wrong = baseline.judge(bench.rows, {} if sizes.write_baseline else baseline.load())
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} processors")
    print(table(bench.rows))
    for note in bench.notes:
        print("note: " + note)
    if sizes.json:
        with open(sizes.json, "w", encoding="utf-8") as file:
            json.dump({"python": platform.python_version(), "rows": bench.rows, "notes": bench.notes}, file, indent=1)
    if sizes.write_baseline:
        baseline.write(bench.rows, not sizes.budgets)
    goals = [str(row["name"]) for row in bench.rows if (row["goal"] and row["ratio"] is None) or _is_beyond(row)]
    for text in wrong:
        print("more than it was: " + text)
    print("missed: " + "; ".join(goals) if goals else "every goal is met")
    return 1 if goals or wrong else 0


def _is_beyond(row: dict[str, object]) -> bool:
    return bool(row["goal"]) and row["ratio"] > row["goal"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
