"""The process that talks to the network, and the daemon's side of it.

`python3 -I -B …/worker/__main__.py` reads one request a line on stdin and writes events on stdout (lines.py has the
form). llm/pool.py, lines.py and `program` run in the daemon; everything else here runs in the worker only.
"""

import sys


def program(name: str, *words: str) -> list[str]:
    """Return how to start a program of this folder, by its path and with nothing of the owner's Python settings."""
    folder, _, own = __file__.rpartition("/")
    suffix = own[own.index(".") :]  # .py, or .pyc where only bytecode is installed
    return [sys.executable, "-I", "-B", f"{folder}/{name}{suffix}", *words]
