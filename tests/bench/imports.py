"""What the daemon, the command line and the other processes import: how many modules, and who wants each first.

    python3 tests/bench/imports.py [NAME]...     a tree with microseconds for each of these scenes, and all counts

Only what a program imports beyond a bare interpreter is told. Modules of ours are the same under every Python, so that
their number is a budget without noise (budgets.py).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
if __name__ == "__main__":
    sys.path.insert(0, REPOSITORY)

from tests.bench import turns  # noqa: E402
from tests.bench.measure import MeasureError, new_folder  # noqa: E402
from tests.oasisd import Daemon, copy_root, start_daemon  # noqa: E402

# Starts the program behind it, an interpreter, with the option that tells of imports.
_TELLING = (
    sys.executable, "-I", "-S", "-c",
    "import os, sys; os.execv(sys.argv[1], [sys.argv[1], '-X', 'importtime', *sys.argv[2:]])",
)  # fmt: skip
_LINE = re.compile(r"import time: +(\d+) \| +\d+ \|( +)(\S+)")
_CLI = "import sys; sys.path.insert(0, %r); from oasis.cli.main import main; sys.exit(main(%r))"

Imported = list[tuple[int, str, int]]


def scenes(folder: str) -> dict[str, Imported]:
    """Return {scene: [(depth, module, microseconds)]}; a scene of the daemon holds those before it in the same life."""
    found = _lives(folder)
    found["oasis help"] = _told(["-I", "-S", "-c", _CLI % (REPOSITORY, ["help"])])
    found["oasis --version"] = _told(["-I", "-S", "-c", _CLI % (REPOSITORY, ["--version"])])
    # Without site-packages, so that no `requests` that may be installed is counted.
    found["worker"] = _told(["-I", "-S", "-B", REPOSITORY + "/oasis/worker/__main__.py"])
    found["built-in service"] = _told(["-I", "-S", "-B", REPOSITORY + "/oasis/parts/offline/__main__.py", "1"])
    bare = {name for _, name, _ in _told(["-I", "-S", "-c", "pass"])}
    return {scene: [one for one in imported if one[1] not in bare] for scene, imported in found.items()}


def _lives(folder: str) -> dict[str, Imported]:
    found: dict[str, Imported] = {}
    daemon = start_daemon(copy_root(folder + "/imports"), wrapper=_TELLING)
    try:
        daemon.call("info")
        found["oasisd, idle"] = _read(daemon)
        argv = ["-I", "-S", "-c", _CLI % (REPOSITORY, ["prompt", turns.QUESTIONS[0]])]
        found["oasis prompt"] = _told(argv, {"OASIS_ROOT": daemon.root, "LC_ALL": "C.UTF-8"})
        found["oasisd, after a question"] = _read(daemon)
        turns.change_and_undo(daemon, turns.NAMES[0])
        found["oasisd, after a plan"] = _read(daemon)
    finally:
        daemon.stop()
    with turns.model() as url:
        daemon = start_daemon(turns.with_model(copy_root(folder + "/imports-model"), url), wrapper=_TELLING)
        try:
            turns.ask_model(daemon)
            found["oasisd, after a turn with a model"] = _read(daemon)
        finally:
            daemon.stop()
    return found


def _read(daemon: Daemon) -> Imported:
    return parsed(daemon.log())


def _told(argv: list[str], more: dict[str, str] | None = None) -> Imported:
    env = {"PATH": os.environ["PATH"], **(more or {})}
    argv = [sys.executable, "-X", "importtime", *argv]
    done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise MeasureError(f"{argv} ended with {done.returncode}: {done.stderr[-500:]}")
    return parsed(done.stderr)


def parsed(text: str) -> Imported:
    """Return what an interpreter told of its imports, in the order in which they ended; each module once."""
    found: dict[str, tuple[int, str, int]] = {}
    for line in text.splitlines():
        match = _LINE.match(line)
        if match:
            found.setdefault(match[3], ((len(match[2]) - 1) // 2, match[3], int(match[1])))
    return list(found.values())


def ours(imported: Imported) -> int:
    """Return how many of these modules are ours."""
    return sum(name.split(".")[0] == "oasis" for _, name, _ in imported)


def tree(imported: Imported) -> str:
    """Return modules below who imported them first: an import is told when it has ended, so the list is turned over."""
    lines = [f"{micros:>8} µs  {'  ' * depth}{name}" for depth, name, micros in reversed(imported)]
    return "\n".join(lines)


def main(words: list[str]) -> int:
    with new_folder("oasis-imports") as folder:
        found = scenes(folder)
    for name in words:
        if name not in found:
            print(f"imports: no scene {name!r}; there are: {', '.join(found)}", file=sys.stderr)
            return 2
        print(f"{name}:\n{tree(found[name])}\n")
    for name, imported in found.items():
        mine = ours(imported)
        print(f"{name:36} {mine:4} modules of ours, {len(imported) - mine:4} of Python, beyond a bare interpreter")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
