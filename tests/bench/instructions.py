"""Rows of `make bench`: what is worked for a command or an answer, in instructions, which no other load changes.

Counted by valgrind's callgrind, of the command and of the daemon apart; each beside an interpreter that starts and does
nothing. From them docs/administrator.md says what to expect of a slow router.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
import time
from typing import Any

from tests.bench.measure import BARE, MeasureError
from tests.bench.turns import change, follow
from tests.cli import launcher
from tests.oasisd import Daemon, copy_root, start_daemon

WORDS = "call this router attic"
OPERATIONS = 50
_CALLGRIND = ("valgrind", "-q", "--tool=callgrind")


def measure(bench: Any, folder: str) -> None:
    """Add the rows; `folder` is empty and ours."""
    if not shutil.which("valgrind"):
        bench.notes.append("valgrind is not installed (apt-get install valgrind): no instructions are counted")
        return
    bare = command(BARE, {}, folder + "/bare")
    for name, count in _commands(folder, launcher.install(folder)).items():
        bench.row(f"oasis {name}: instructions", count, bare, "bare start", "instructions")
    for name, count in _daemon(copy_root(folder + "/counted"), folder + "/daemon").items():
        bench.row(f"oasisd, {name}: instructions", count, bare, "bare start", "instructions")


def command(argv: list[str], env: dict[str, str], out: str) -> int:
    """Return how many instructions a program takes, without those of its children."""
    whole = [*_CALLGRIND, f"--callgrind-out-file={out}.%p", *argv]
    done = subprocess.run(whole, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MeasureError(f"{argv} ended with {done.returncode}: {done.stderr[-500:]}")
    return sum(map(_total, glob.glob(out + ".*")))


def _total(path: str) -> int:
    with open(path, encoding="utf-8", errors="replace") as file:
        found = re.search(r"^(?:totals|summary): (\d+)", file.read(), re.M)
    return int(found[1]) if found else 0


def _commands(folder: str, program: list[str]) -> dict[str, int]:
    """Return the counts of commands; the daemon that they ask is not counted."""
    root = copy_root(folder + "/asked")
    daemon = start_daemon(root)
    env = launcher.environment(root)
    try:
        change(daemon, "cellar")  # what the first turn alone does is done
        return {
            "status": command([*program, "status"], env, folder + "/status"),
            f'prompt "{WORDS}"': command([*program, "prompt", WORDS], env, folder + "/prompt"),
        }
    finally:
        daemon.stop()


class _Counted:
    """A daemon below callgrind: each question is what was counted since the one before."""

    def __init__(self, root: str, out: str) -> None:
        self._out = out
        self.daemon: Daemon = start_daemon(root, wrapper=(*_CALLGRIND, f"--callgrind-out-file={out}"))
        self._seen: set[str] = set()

    def count(self) -> int:
        """Return the instructions since the last call."""
        pid = str(self.daemon.process.pid)
        subprocess.run(["callgrind_control", "-d", pid], capture_output=True, check=True)
        until = time.monotonic() + 60
        while True:
            new = {path for path in glob.glob(self._out + ".*") if os.path.getsize(path)} - self._seen
            if new or time.monotonic() > until:
                break
            time.sleep(0.2)
        self._seen |= new
        return sum(map(_total, new))


def _daemon(root: str, out: str) -> dict[str, int]:
    """Return the counts of what a daemon does for one request; each once before, when what it needs is loaded."""
    counted = _Counted(root, out)
    daemon = counted.daemon
    many = [
        f"uci add_list dhcp.@dnsmasq[0].address='/site{number}.example/192.168.1.9'" for number in range(OPERATIONS)
    ]
    asks = {
        f'prompt "{WORDS}"': lambda: change(daemon, "attic"),
        "the chat page's first reply": lambda: daemon.call("info"),
        "doctor": lambda: daemon.call("doctor.run"),
        f"plan of {OPERATIONS} operations": lambda: _declined(daemon, many),
    }
    found = {}
    try:
        change(daemon, "cellar")
        for name, ask in asks.items():
            if not name.startswith("prompt"):
                ask()
            counted.count()
            ask()
            found[name] = counted.count()
    finally:
        daemon.stop()
    return found


def _declined(daemon: Daemon, commands: list[str]) -> None:
    """Have a plan made, and decline it."""
    started = daemon.call("plan.propose", commands=commands)
    until = time.monotonic() + 60
    while not (waiting := daemon.call("plan.list")["plans"]):
        if "run" not in started or time.monotonic() > until:
            raise MeasureError(f"no plan: {started}\n{daemon.log()[-1000:]}")
        time.sleep(1)  # each look costs instructions, too
    daemon.call("plan.decline", plan=waiting[0]["id"])
    follow(daemon, started)


if __name__ == "__main__":
    import tempfile
    import types

    def show(name: str, count: int, bare: int, *_: object) -> None:
        print(f"{name:60} {count:>14,} {count / bare:8.2f}")

    with tempfile.TemporaryDirectory() as place:
        measure(types.SimpleNamespace(notes=[], row=show), place)
    sys.exit(0)
