"""Rows of `make bench`: what the packages weigh, packed and installed, what a page loads, what compiling costs."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from typing import Any

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RESOURCES = "/www/luci-static/resources/"
CALL = "import sys; sys.dont_write_bytecode = True; sys.path.insert(0, %r); from oasis.daemon.wiring import Daemon"


# What a router installs: the packages, and the goals in bytes, installed and as .ipk.
SETS: dict[str, tuple[tuple[str, ...], int, int]] = {
    "core": (("oasis",), 3_200_000, 950_000),
    "core, page and English": (("oasis", "luci-app-oasis", "oasis-offline"), 4_500_000, 1_400_000),
    "everything": ((), 6_500_000, 2_200_000),
    "the page": (("luci-app-oasis",), 0, 75_000),
    **{f"language {name}": ((f"oasis-offline-{name}",), 0, 130_000) for name in ("de", "es", "ja", "zh")},
}
# The sources to read are no part of what runs.
SOURCES = ("oasis-src",)
TEXTS = "/usr/lib/oasis/oasis/texts/"
OWN = "%d.%d" % sys.version_info[:2]


def weights(bench: Any) -> None:
    """Add the rows that are bytes; translations of what people are told are counted nowhere, as those of the pages."""
    build, _ = _modules()
    every = _every(OWN)
    for one in every:
        for path in [path for path in one.files if path.startswith(TEXTS) and path.endswith(".po")]:
            del one.files[path]
    built = {name.partition("_")[0]: one for name, one in build.build(every, 0).items()}
    for name, (names, most, most_packed) in SETS.items():
        # The meta package has only dependencies; the sources to read are no part of what runs.
        every_one = {one for one in built if not one.startswith("luci-i18n-")} - {*SOURCES, "oasis-requests"}
        some = [built[one] for one in names or every_one]
        for how, figure, goal in (
            ("installed", sum(size for _, _, size in some), most),
            ("as .ipk", sum(len(data) for _, data, _ in some), most_packed),
        ):
            if goal:
                bench.row(f"{name}, {how}", figure, goal, "its goal", "bytes", 1.0)
    sources = sum(size for name, (_, _, size) in build.build(_every(""), 0).items() if "-src_" not in name)
    compiled = sum(size for name, (_, _, size) in built.items() if name != "oasis-src")
    bench.row("everything with sources that the router compiles", sources, compiled, "as bytecode", "bytes installed")
    _pages(bench, _files(every, "luci-app-oasis"))


def _files(every: list[Any], name: str) -> dict[str, tuple[bytes, int]]:
    """Return the files of a package."""
    found: dict[str, tuple[bytes, int]] = next(one.files for one in every if one.name == name)
    return found


def measure(bench: Any, folder: str, times: int) -> None:
    """Add the rows of what compiling costs; `folder` is empty and ours."""
    lib = _lay_out(_files(_every(""), "oasis"), folder + "/installed")
    sources = _bytes(lib, ".py")
    loading = [sys.executable, "-ISB", "-c", CALL % lib]
    without_ms = min(_cpu_ms(loading) for _ in range(times))
    bench.row("compiling at install, CPU", _cpu_ms([sys.executable, "-IS", "-m", "compileall", "-q", lib]), 0, "", "ms")
    bench.row("bytecode", _bytes(lib, ".pyc"), sources, "its sources", "bytes of Python")
    with_ms = min(_cpu_ms(loading) for _ in range(times))
    bench.row("loading the daemon without bytecode, CPU", without_ms, with_ms, "with bytecode", "ms")


def install(folder: str) -> None:
    """Lay out everything that runs, with bytecode for this Python, in a folder as in a router's root."""
    for one in _every(OWN):
        if one.name not in SOURCES:
            _lay_out(one.files, folder)


def _modules() -> tuple[Any, Any]:
    if REPOSITORY + "/package" not in sys.path:
        sys.path.insert(0, REPOSITORY + "/package")
    return importlib.import_module("build"), importlib.import_module("manifest")


def _every(python: str) -> list[Any]:
    build, manifests = _modules()
    found: list[Any] = build.packages(manifests.load(), REPOSITORY, python)
    return found


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
    for name, some in (("the chat page", _needed(pages, "view/oasis/chat.js")), ("all pages", set(pages))):
        bench.row(f"{name}, scripts and styles", sum(len(pages[path]) for path in some), 0, "", "bytes")


def _needed(pages: dict[str, bytes], first: str) -> set[str]:
    """Return the files of ours that a page loads: those that are required, and the styles that are named."""
    found, open_ones = set(), [first]
    while open_ones:
        path = open_ones.pop()
        if path in found or path not in pages:
            continue
        found.add(path)
        text = pages[path].decode()
        open_ones += [name.replace(".", "/") + ".js" for name in re.findall(r"'require ([\w.]+)", text)]
        open_ones += re.findall(r"oasis/\w+\.css", text)
    return found


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
