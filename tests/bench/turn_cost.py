"""What one sentence of the owner costs in the daemon: files read, UCI parses, functions entered, offline requests.

    python3 tests/bench/turn_cost.py [--cold] [--list]     four numbers each for the first sentence and a later one

Counted from the call of `run.start` to the end of the run, polls included, for a change of low risk that the built-in
service makes of "call this router NAME"; of files, those of the router that are there. This file is also the program
that counts: put before the daemon's command line it installs an audit hook and a profile hook, then runs the daemon,
which knows nothing of it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
NUMBERS = ("reads", "parses", "functions", "requests")
# Where each sentence enters the parser of UCI, and the process of the built-in service.
_PARSER, _PROCESS = "uci/parser.py:read", "parts/offline/child_process.py:_answer"
_SYNTHETIC = ("<module>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")  # how a version of Python compiles
_IS_FUNCTION = 0x1  # CO_OPTIMIZED: a body of a class is none
# A router's settings were not written a moment ago, as those of a fresh copy were: so long they are read each time.
SETTLED_S = 3
# Modules that are imported with the tables beside them, and the pipe of the one who counts; what the kernel tells in
# /proc is no file either, and what is not there is looked for, and not read.
_NO_DATA = (".py", ".pyc", "/orders")
_NAMES = ("Attic", "Cellar")


class Counter:
    """What a process does while it is told to count."""

    def __init__(self) -> None:
        self._is_on = False
        self._thread = threading.local()
        self._ours = REPOSITORY + "/oasis/"
        self._reads: list[str] = []
        self._functions: dict[Any, int] = {}

    def watch(self) -> None:
        """Count from here on, in every thread that starts."""
        sys.addaudithook(self._hear)
        threading.setprofile(self._enter)
        sys.setprofile(self._enter)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._is_on or event != "open":
            return
        path, mode, flags = arguments
        # `open` with an opener of its own is heard twice, the second time without a mode.
        is_again = mode is None and getattr(self._thread, "opened", "") == path
        self._thread.opened = "" if mode is None else path
        is_kernel = str(path).startswith("/proc/") or "/router/proc/" in str(path)
        is_ours = str(path).endswith(_NO_DATA) or str(path).startswith(self._ours)
        is_file = not is_kernel and not is_ours and os.path.isfile(path)
        if is_file and not is_again and flags & (os.O_WRONLY | os.O_RDWR) == 0:
            self._reads.append(str(path))

    def _enter(self, frame: Any, event: str, _: object) -> None:
        if self._is_on and event == "call":
            code = frame.f_code
            self._functions[code] = self._functions.get(code, 0) + 1

    def turn(self, is_on: bool) -> bytes:
        """Begin to count, or end; return what was counted as a line of JSON."""
        self._is_on = is_on
        told = {} if is_on else self._told()
        return json.dumps(told).encode() + b"\n"

    def _told(self) -> dict[str, object]:
        calls = {}
        for code, times in self._functions.items():
            is_function = code.co_flags & _IS_FUNCTION and code.co_name not in _SYNTHETIC
            if code.co_filename.startswith(self._ours) and is_function:
                calls[f"{code.co_filename[len(self._ours) :]}:{code.co_firstlineno}:{code.co_qualname}"] = times
        reads, self._reads, self._functions = self._reads, [], {}
        return {"reads": reads, "functions": calls}


def summed(told: dict[str, Any]) -> dict[str, int]:
    """Return the four numbers of what a counter told."""
    parses = requests = 0
    for name, times in told["functions"].items():
        file, _, function = name.split(":")
        parses += times if f"{file}:{function.rpartition('.')[2]}" == _PARSER else 0
        requests += times if f"{file}:{function.rpartition('.')[2]}" == _PROCESS else 0
    return {"reads": len(told["reads"]), "parses": parses, "functions": len(told["functions"]), "requests": requests}


class Counted:
    """A daemon on a copy of the stock router, with a counter in it."""

    def __init__(self, folder: str) -> None:
        from tests.oasisd import copy_root, start_daemon

        self._orders, self._replies = folder + "/orders", folder + "/replies"
        os.mkfifo(self._orders)
        os.mkfifo(self._replies)
        wrapper = (sys.executable, "-IS", os.path.abspath(__file__), self._orders, self._replies)
        self.daemon = start_daemon(copy_root(folder + "/router"), wrapper=wrapper)

    def sentence(self, name: str) -> dict[str, Any]:
        """Have the router renamed; return what that cost, as the counter tells it."""
        from tests.bench import turns

        self._order("start")
        turns.change(self.daemon, name)
        return self._order("stop")

    def _order(self, word: str) -> dict[str, Any]:
        with open(self._orders, "wb") as orders:
            orders.write(word.encode() + b"\n")
        with open(self._replies, "rb") as replies:
            told: dict[str, Any] = json.loads(replies.readline())
        return told


def costs(folder: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the first sentence of a daemon costs, and what the second one does."""
    counted = Counted(folder)
    time.sleep(SETTLED_S)
    try:
        counted.daemon.call("info")
        first = counted.sentence(_NAMES[0])
        time.sleep(SETTLED_S)
        return first, counted.sentence(_NAMES[1])
    finally:
        counted.daemon.stop()


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cold", action="store_true", help="list those of the first sentence")
    parser.add_argument("--list", action="store_true", help="list the files and the functions in their order")
    read = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="oasis-cost-") as folder:
        first, second = costs(folder)
    for name, told in (("first", first), ("second", second)):
        print(f"{name:8}" + "".join(f"{value:>6} {what}" for what, value in summed(told).items()))
    if read.list:
        told = first if read.cold else second
        print("\n".join(told["reads"]))
        print("\n".join(f"{times:>6} {name}" for name, times in told["functions"].items()))
    return 0


def _run(orders: str, replies: str, command: list[str]) -> None:
    """Run the code of an interpreter's command line (… -c CODE) in this process, counted."""
    counter = Counter()

    def serve() -> None:
        while True:
            with open(orders, "rb") as lines:
                word = lines.readline()
            answer = counter.turn(word == b"start\n")
            with open(replies, "wb") as told:
                told.write(answer)

    threading.Thread(target=serve, daemon=True).start()
    counter.watch()
    sys.argv = ["-c"]
    exec(compile(command[-1], "<oasisd>", "exec"), {"__name__": "__main__"})


if __name__ == "__main__":
    if sys.flags.isolated:
        _run(sys.argv[1], sys.argv[2], sys.argv[3:])
    else:
        sys.path.insert(0, REPOSITORY)
        sys.exit(main(sys.argv[1:]))
