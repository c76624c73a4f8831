"""Rows of `make bench`: what the packages weigh, packed and installed, what a page loads, what compiling costs."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from typing import Any

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RESOURCES = "/www/luci-static/resources/"
CALL = "import sys; sys.dont_write_bytecode = True; sys.path.insert(0, %r); from oasis.daemon.wiring import Daemon"


def weights(bench: Any) -> None:
    """Add the rows that are bytes."""
    found = _built(bench)
    _pages(bench, found["luci-app-oasis"])


def measure(bench: Any, folder: str, times: int) -> None:
    """Add the rows of what compiling costs; `folder` is empty and ours."""
    lib = _lay_out(_contents()["oasis"], folder + "/installed")
    sources = _bytes(lib, ".py")
    loading = [sys.executable, "-ISB", "-c", CALL % lib]
    without_ms = min(_cpu_ms(loading) for _ in range(times))
    bench.row("compiling at install, CPU", _cpu_ms([sys.executable, "-IS", "-m", "compileall", "-q", lib]), 0, "", "ms")
    bench.row("bytecode", _bytes(lib, ".pyc"), sources, "its sources", "bytes of Python")
    with_ms = min(_cpu_ms(loading) for _ in range(times))
    bench.row("loading the daemon without bytecode, CPU", without_ms, with_ms, "with bytecode", "ms")


def _modules() -> tuple[Any, Any]:
    if REPOSITORY + "/package" not in sys.path:
        sys.path.insert(0, REPOSITORY + "/package")
    return importlib.import_module("build"), importlib.import_module("manifest")


def _contents() -> dict[str, dict[str, tuple[bytes, int]]]:
    build, manifests = _modules()
    return {name: files for name, _, files in build.packages(manifests.load(), REPOSITORY)}


def _built(bench: Any) -> dict[str, dict[str, tuple[bytes, int]]]:
    build, manifests = _modules()
    for name, (_, data, installed) in build.build(manifests.load(), REPOSITORY, 0).items():
        # Without its number: a new version is not another package.
        name = name.partition("_")[0] + ".ipk"
        bench.row(f"{name}: packed, beside installed", len(data), installed, "installed, not compressed", "bytes")
    return _contents()


def _cpu_ms(argv: list[str]) -> float:
    """Return the CPU time of a program, which other work on this machine does not change."""
    child = subprocess.Popen(argv)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{argv} ended with {child.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1000


def _pages(bench: Any, files: dict[str, tuple[bytes, int]]) -> None:
    pages = {path.removeprefix(RESOURCES): data for path, (data, _) in files.items() if path.startswith(RESOURCES)}
    if not shutil.which("jsmin"):
        bench.notes.append("jsmin of luci-base is not on PATH: scripts of the pages are as they are written")
    for name, some in (("the chat page", _needed(pages, "view/oasis/chat.js")), ("all pages", set(pages))):
        whole = sum(len(pages[path]) for path in some)
        small = sum(len(_minified(path, pages[path])) for path in some)
        bench.row(f"{name}, scripts and styles", whole, 0, "", "bytes")
        if shutil.which("jsmin"):
            what = f"{name}: {len(some)} scripts and styles, minified"
            bench.row(what, small, whole, "as they are written", "bytes with jsmin")  # no budget: few have it


def _needed(pages: dict[str, bytes], first: str) -> set[str]:
    """Return the files of ours that a page loads: those that are required, and the styles that are named."""
    found, open_ones = set(), [first]
    while open_ones:
        path = open_ones.pop()
        if path in found or path not in pages:
            continue
        found.add(path)
        text = pages[path].decode()
        open_ones += [name.replace(".", "/") + ".js" for name in re.findall(r"^'require ([\w.]+)", text, re.M)]
        open_ones += re.findall(r"oasis/\w+\.css", text)
    return found


def _minified(path: str, data: bytes) -> bytes:
    if not path.endswith(".js") or not shutil.which("jsmin"):
        return data
    return subprocess.run(["jsmin"], input=data, stdout=subprocess.PIPE, check=True).stdout


def _lay_out(files: dict[str, tuple[bytes, int]], folder: str) -> str:
    for path, (data, _) in files.items():
        os.makedirs(os.path.dirname(folder + path), exist_ok=True)
        with open(folder + path, "wb") as file:
            file.write(data)
    return folder + "/usr/lib/oasis"


def _bytes(folder: str, ending: str) -> int:
    return sum(
        os.path.getsize(os.path.join(top, name)) for top, _, names in os.walk(folder) for name in names
        if name.endswith(ending)
    )  # fmt: skip
