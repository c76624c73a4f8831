"""What a process costs: memory, time, and the bytes and syncs it sends to flash. Knows nothing of Oasis."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

BARE = [sys.executable, "-I", "-S", "-c", "pass"]
# A bare interpreter that stays: blocked in a read, nothing imported that it had not at start.
_BLOCKED = [sys.executable, "-I", "-S", "-c", "import posix; posix.read(0, 1)"]
# A child forked from a bare interpreter: what is measured then is not the size of who measures.
_PEAK = """
import os, posix, sys
child = posix.fork()
if not child:
    null = posix.open("/dev/null", posix.O_RDWR)
    posix.dup2(null, 0)
    posix.dup2(null, 1)
    posix.execv(sys.argv[1], sys.argv[1:])
_, status, usage = posix.wait4(child, 0)
print(status, usage.ru_maxrss)
"""
_SYNCS = ("fsync", "fdatasync", "sync_file_range")
_WRITES = ("write", "pwrite64", "writev", "pwritev", "pwritev2", "sendfile", "copy_file_range")
_CALLS = ",".join(_WRITES + _SYNCS)
_LINE = re.compile(r"(?P<pid>\d+) +(?P<when>[\d.]+) (?P<rest>.*)")
_BEGUN = re.compile(r"(?P<call>\w+)\((?P<args>.*)")
_RESUMED = re.compile(r"<\.\.\. (?P<call>\w+) resumed>")
_RESULT = re.compile(r"= (?P<result>-?\d+)(<[^>]*>)?( \w+ \(.*\))?$")
_PATH = re.compile(r"\d+<(?P<path>/[^>]*)>")


@contextmanager
def new_folder(name: str) -> Iterator[str]:
    """Give a folder that is removed afterwards; its path has no chance in it, for the daemon logs it.

    A path with a mark that a token may have ("_" is one) is looked at for secrets, and that loads modules.
    """
    path = f"{tempfile.gettempdir()}/{name}-{os.getpid()}"
    os.mkdir(path, 0o700)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


class MeasureError(Exception):
    """A measurement could not be made; the message says why."""


def memory_kib(pid: int) -> dict[str, int]:
    """Return {"rss", "private_dirty"} of a process, in KiB."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as lines:
        rss = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii", errors="replace") as lines:
        dirty = next(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty:"))
    return {"rss": rss, "private_dirty": dirty}


def children(pid: int) -> list[int]:
    """Return the processes that a process has started and that live."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as handle:
                if int(handle.read().rpartition(")")[2].split()[1]) == pid:
                    found.append(int(name))
        except OSError:
            continue  # it ended meanwhile
    return found


def bare_memory_kib() -> dict[str, int]:
    """Return the memory of a bare interpreter that waits for input."""
    process = subprocess.Popen(_BLOCKED, stdin=subprocess.PIPE)
    try:
        for _ in range(200):
            with open(f"/proc/{process.pid}/wchan", encoding="ascii") as handle:
                if "pipe" in handle.read():
                    break
            time.sleep(0.01)
        else:
            time.sleep(0.5)  # a kernel that does not tell where a process sleeps
        return memory_kib(process.pid)
    finally:
        process.communicate(b"\n", timeout=10)


def peak_kib(argv: list[str], env: dict[str, str] | None = None) -> int:
    """Return the largest resident size of a program that ends well, in KiB."""
    command = [sys.executable, "-I", "-S", "-c", _PEAK, *argv]
    shown = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    status, size = shown.stdout.split()
    if int(status):
        raise MeasureError(f"{argv} ended with wait status {status}: {shown.stderr.strip()}")
    return int(size)


def cpu_s(argv: list[str], env: dict[str, str] | None = None) -> float:
    """Return the processor time that a program takes that ends well, its children's too."""
    with open(os.devnull, "r+b") as null:
        actions = [(os.POSIX_SPAWN_DUP2, null.fileno(), number) for number in (0, 1)]
        child = os.posix_spawnp(argv[0], argv, os.environ if env is None else env, file_actions=actions)
        _, status, usage = os.wait4(child, 0)
    if status:
        raise MeasureError(f"{argv} ended with wait status {status}")
    return usage.ru_utime + usage.ru_stime


def seconds(argv: list[str], env: dict[str, str] | None = None) -> float:
    """Return how long a program takes from start to end."""
    before = time.perf_counter()
    subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - before


def pairs(ours: list[str], env: dict[str, str], count: int) -> tuple[list[float], list[float]]:
    """Return the times of our program and of a bare interpreter, taken in turn so that both see the same machine."""
    mine, bare = [], []
    for number in range(count):
        order = ((mine, ours, env), (bare, BARE, None))
        for times, argv, environment in order if number % 2 else reversed(order):
            times.append(seconds(argv, environment))
    return mine, bare


class Trace:
    """The writes and syncs of a process and its children below some folders, as strace saw them."""

    def __init__(self, file: str, folders: list[str]) -> None:
        self._file = file
        self._folders = folders
        program = shutil.which("strace")
        self.wrapper = (program, "-f", "-y", "-ttt", "-s", "0", "-e", "trace=" + _CALLS, "-o", file) if program else ()

    def between(self, start_s: float, end_s: float) -> dict[str, int]:
        """Return {"bytes", "writes", "syncs"} of a span of wall time, for paths below the folders."""
        found = {"bytes": 0, "writes": 0, "syncs": 0}
        for when, call, args, result in self._calls():
            path = _PATH.match(args)
            is_inside = path is not None and path["path"].startswith(tuple(f + "/" for f in self._folders))
            if not start_s <= when <= end_s or result < 0:
                continue
            if call in _SYNCS:
                found["syncs"] += bool(path and (is_inside or path["path"] in self._folders))
            elif is_inside:
                found["bytes"] += result
                found["writes"] += 1
        return found

    def _calls(self) -> list[tuple[float, str, str, int]]:
        begun: dict[str, tuple[float, str, str]] = {}
        calls = []
        with open(self._file, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                whole = _LINE.match(line.rstrip("\n"))
                if whole is None:
                    continue
                rest = whole["rest"]
                first = _BEGUN.match(rest)
                if first and rest.endswith("<unfinished ...>"):
                    begun[whole["pid"]] = (float(whole["when"]), first["call"], first["args"])
                    continue
                result = _RESULT.search(rest)
                if result and first:
                    calls.append((float(whole["when"]), first["call"], first["args"], int(result["result"])))
                elif result and _RESUMED.match(rest) and whole["pid"] in begun:
                    calls.append((*begun.pop(whole["pid"]), int(result["result"])))
        return calls


def stored_bytes(folders: list[str]) -> int:
    """Return the bytes of all files below some folders."""
    found = 0
    for folder in folders:
        for where, _, names in os.walk(folder):
            found += sum(os.lstat(os.path.join(where, name)).st_size for name in names)
    return found
