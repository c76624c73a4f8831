"""Rows of `make bench`: what is worked for a command or an answer, in instructions, which no other load changes.

    python3 -m tests.bench.instructions [--installed FOLDER] [--write-baseline] [SCENE...]

Counted by valgrind's callgrind, each process apart and without its children; beside each an interpreter that starts and
does nothing. What runs is what the packages install, with bytecode for this Python: built from this tree, or unpacked
into FOLDER before. Strings hash the same in each run, and a daemon has done each thing once before. The built-in
service is counted from its start, as for an owner who says something now and then, and for the same sentence once more.
The seconds are of a router that is assumed (ROUTERS): no flash is read and nothing else runs.

Exit status of the command: 0, 1 when a row is more than its baseline allows, 2 when nothing is counted.
"""

from __future__ import annotations

import argparse
import glob
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.bench import baseline, packages
from tests.bench.measure import MeasureError
from tests.bench.turns import POLL_MS, change
from tests.cli import launcher
from tests.oasisd import Daemon, connected, copy_root, start_daemon

WORDS = "call this router attic"
PROMPT = f'prompt "{WORDS}"'
OPERATIONS = 50
# Clock and instructions a cycle. A MIPS 24Kc or 1004Kc begins one instruction a cycle at most, in order (MIPS32 24K
# Processor Core Family Software User's Manual), a Cortex-A53 two (Arm Cortex-A53 MPCore Technical Reference Manual).
# How many an interpreter comes to is assumed: half of that, for it misses small caches and predictions of branches.
# That an instruction of x86-64 is one of theirs is assumed as well.
ROUTERS = {"580 MHz MIPS, about": (580e6, 0.5), "1.35 GHz ARMv8, about": (1350e6, 1.0)}
PAGE = ("info", "chat.list", "service.list", "change.list")  # what the chat page asks before it shows anything
# Files that were written a moment ago are read each time, a router's were not.
SETTLED_S = 3
_WAIT_S = 120
_TOOL = ("valgrind", "--tool=callgrind")
_COUNTED = re.compile(r"Collected : (\d+)")
# As with -IS, which takes no seed: what a dictionary costs depends on how its keys hash.
_FLAGS = ["-s", "-S"]
_ENV = {"PYTHONHASHSEED": "0", "PYTHONSAFEPATH": "1"}
# The built-in service may not be silent for long, and below callgrind it is: what it is told is written down, and it is
# counted by itself afterwards.
_SERVICE = """#!/bin/sh
tee '%s' | '%s' "$@"
"""
_DAEMON = """#!/bin/sh
export %s
exec %s --callgrind-out-file='%s' '%s' %s -c "$3"
"""

Rows = Iterator[tuple[str, int]]


def measure(bench: Any, folder: str, scenes: list[str] | None = None, installed: str = "") -> None:
    """Add the rows of some scenes, by default of all; `folder` is empty and ours."""
    if not shutil.which("valgrind"):
        bench.notes.append("valgrind is not installed (apt-get install valgrind): no instructions are counted")
        return
    if not installed:
        installed = folder + "/installed"
        packages.install(installed)
    bare = command([sys.executable, *_FLAGS, "-c", "pass"], {}, folder)
    bench.row(baseline.BARE, bare, 0, "", "instructions")
    for scene in scenes or SCENES:
        place = f"{folder}/{scene}"
        os.mkdir(place)
        for name, count in SCENES[scene](place, installed):
            bench.row(f"{name}: instructions", count, bare, "bare start", "instructions")
            bench.notes.append(f"{name}: {expected(count)}")


def expected(count: int) -> str:
    """Return in words how long a router takes for some instructions."""
    return ", ".join(f"{name} {count / hertz / each:.2f} s" for name, (hertz, each) in ROUTERS.items())


def command(argv: list[str], env: dict[str, str], folder: str, told: bytes = b"") -> int:
    """Return how many instructions a program takes, without those of its children."""
    log = folder + "/command.log"
    whole = [*_TOOL, "--callgrind-out-file=/dev/null", "--log-file=" + log, *argv]
    done = subprocess.run(whole, env={**os.environ, **env, **_ENV}, input=told, capture_output=True, check=False)
    if done.returncode:
        raise MeasureError(f"{argv} ended with {done.returncode}: {done.stderr[-500:]!r}")
    with open(log, encoding="utf-8", errors="replace") as file:
        return _collected(file.read())


def _collected(log: str) -> int:
    found = _COUNTED.search(log)
    if not found:
        raise MeasureError("callgrind counted nothing: " + log[-500:])
    return int(found[1])


class _Counted:
    """A daemon of the installed packages below callgrind, and the built-in service that it starts."""

    def __init__(self, folder: str, installed: str) -> None:
        self._out = folder + "/daemon.out"
        self._seen: set[str] = set()
        heard = folder + "/heard"
        os.mkfifo(heard)  # the service may write no file
        self._heard = os.open(heard, os.O_RDWR | os.O_NONBLOCK)
        # The daemon starts the built-in service with the Python that it runs by: this name, which is another one then.
        python, real = folder + "/python", os.path.realpath(sys.executable)
        words = " ".join(f"{name}={value}" for name, value in _ENV.items()), " ".join(_TOOL)
        flags = " ".join(_FLAGS)
        _write(folder + "/oasisd", _DAEMON % (*words, self._out, python, flags))
        _write(folder + "/service", _SERVICE % (heard, real))
        os.symlink(real, python)
        library = installed + "/usr/lib/oasis"
        root = copy_root(folder + "/root")
        self.daemon: Daemon = start_daemon(root, python=folder + "/oasisd", library=library, wait=False)
        _listen(self.daemon)
        os.replace(folder + "/service", python)

    def count(self) -> int:
        """Return the instructions of the daemon since the last call."""
        pid = str(self.daemon.process.pid)
        subprocess.run(["callgrind_control", "-d", pid], capture_output=True, check=True)
        until = time.monotonic() + _WAIT_S
        while True:
            new = {path: _total(path) for path in glob.glob(self._out + ".*") if path not in self._seen}
            if any(new.values()) or time.monotonic() > until:
                break
            time.sleep(0.2)
        self._seen |= set(new)
        return sum(new.values())

    def heard(self) -> bytes:
        """Return what the built-in service was told since the last call."""
        told = b""
        while select.select([self._heard], [], [], 0)[0]:
            told += os.read(self._heard, 65536)
        return told

    def close(self) -> None:
        self.daemon.stop()
        os.close(self._heard)


def _listen(daemon: Daemon) -> None:
    """Wait for a daemon that starts as slowly as callgrind makes it."""
    until = time.monotonic() + _WAIT_S
    while time.monotonic() < until:
        try:
            connected(daemon.socket).close()
            return
        except OSError:
            time.sleep(0.2)
    raise MeasureError("oasisd did not start: " + daemon.log()[-1000:])


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


def _total(path: str) -> int:
    with open(path, encoding="utf-8", errors="replace") as file:
        found = re.search(r"^(?:totals|summary): (\d+)", file.read(), re.M)
    return int(found[1]) if found else 0


@contextmanager
def _counted(folder: str, installed: str) -> Iterator[_Counted]:
    counted = _Counted(folder, installed)
    try:
        yield counted
    finally:
        counted.close()


def _program(folder: str, installed: str) -> list[str]:
    _, _, path = launcher.install(folder, installed + "/usr/bin/oasis", installed + "/usr/lib/oasis")
    return [sys.executable, *_FLAGS, path]


def _status(folder: str, installed: str) -> Rows:
    root = copy_root(folder + "/root")
    daemon = start_daemon(root, library=installed + "/usr/lib/oasis")
    try:
        argv = [*_program(folder, installed), "status"]
        yield "oasis status", command(argv, launcher.environment(root), folder)
    finally:
        daemon.stop()


def _prompt(folder: str, installed: str) -> Rows:
    with _counted(folder, installed) as counted:
        change(counted.daemon, "cellar")
        time.sleep(SETTLED_S)
        counted.count()
        counted.heard()
        argv = [*_program(folder, installed), "prompt", WORDS]
        own = command(argv, launcher.environment(counted.daemon.root), folder)
        daemon, heard = counted.count(), counted.heard()
    (path,) = glob.glob(installed + "/usr/lib/oasis/oasis/parts/offline/__main__.py*")
    argv = [sys.executable, *_FLAGS, "-B", path, "1"]
    service, both = (command(argv, {}, folder, heard * times) for times in (1, 2))
    yield f"oasis {PROMPT}", own
    yield f"oasisd, {PROMPT}", daemon
    yield f"built-in service, start and {PROMPT}", service
    yield f"built-in service, {PROMPT} once more", both - service
    yield f"all three, {PROMPT}", own + daemon + service
    yield f"all three, {PROMPT} once more", own + daemon + both - service


def _asked(name: str, ask: Callable[[Daemon], object]) -> Callable[[str, str], Rows]:
    """Return the scene of what a daemon does for something; once before, when what it needs is loaded."""

    def scene(folder: str, installed: str) -> Rows:
        with _counted(folder, installed) as counted:
            ask(counted.daemon)
            time.sleep(SETTLED_S)
            counted.count()
            ask(counted.daemon)
            yield f"oasisd, {name}", counted.count()

    return scene


def _page(daemon: Daemon) -> None:
    for method in PAGE:
        if "error" in daemon.call(method):
            raise MeasureError(f"{method} is refused: {daemon.log()[-1000:]}")


def _doctor(daemon: Daemon) -> None:
    if "error" in daemon.call("doctor.run"):
        raise MeasureError("the doctor is refused: " + daemon.log()[-1000:])


def _plan(daemon: Daemon) -> None:
    """Have a plan made, and decline it."""
    commands = [
        f"uci add_list dhcp.@dnsmasq[0].address='/site{number}.example/192.168.1.9'" for number in range(OPERATIONS)
    ]
    started = daemon.call("plan.propose", commands=commands)
    until = time.monotonic() + _WAIT_S
    while not (waiting := daemon.call("plan.list")["plans"]):
        if "run" not in started or time.monotonic() > until:
            raise MeasureError(f"no plan: {started}\n{daemon.log()[-1000:]}")
        time.sleep(1)  # each look costs instructions, too
    daemon.call("plan.decline", plan=waiting[0]["id"])
    reply: dict[str, Any] = {"state": "running", "next": 0}
    while reply["state"] in ("running", "waiting") and time.monotonic() < until:
        reply = daemon.call("run.poll", run=started["run"], since=reply["next"], wait_ms=POLL_MS)


SCENES: dict[str, Callable[[str, str], Rows]] = {
    "status": _status,
    "prompt": _prompt,
    "page": _asked("the chat page's first replies", _page),
    "doctor": _asked("doctor", _doctor),
    "plan": _asked(f"plan of {OPERATIONS} operations", _plan),
}


def _main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--installed", default="", help="a folder in which packages were unpacked; else they are built")
    parser.add_argument("--write-baseline", action="store_true", help="what is counted now is what is compared with")
    parser.add_argument("scene", nargs="*", help=", ".join(SCENES))
    read = parser.parse_args(words)
    if set(read.scene) - set(SCENES):
        parser.error("there are: " + ", ".join(SCENES))
    bench = _Rows()
    with tempfile.TemporaryDirectory() as place:
        measure(bench, place, read.scene, os.path.abspath(read.installed) if read.installed else "")
    if not bench.rows:
        print(*bench.notes, sep="\n")
        return 2
    if read.write_baseline:
        baseline.write(bench.rows, is_whole=False)
    wrong = baseline.judge(bench.rows, {} if read.installed else baseline.load())
    for text in wrong:
        print("more than it was: " + text)
    return 1 if wrong else 0


class _Rows:
    """Prints each row as it comes."""

    def __init__(self) -> None:
        self.rows: list[baseline.Row] = []
        self.notes: list[str] = []

    def row(self, name: str, measured: int, compared: int, _: str, unit: str) -> None:
        ratio = measured / compared if compared else None
        self.rows.append({"name": name, "measured": measured, "compared": compared, "ratio": ratio, "unit": unit})
        print(f"{name:75} {measured:>13,} {ratio or 1:6.2f}  {expected(measured)}", flush=True)


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
