"""`make parts`: the tests of the core and of the parts in trees that lack some of them, and what each tree came to.

    python3 tests/part_sets.py [--quick | --marked] [--processes N] [NAME…] [-- TEST…]

A NAME is `none`, the name of a part that is there alone, or `all`; without any, all of these. A tree is a copy in
build/parts without what the packages of the other parts bring, and without their tests. --quick collects all tests and
runs a few, for `none` alone. --marked runs what can depend on a part: its own tests, those that name a part, and those
few; without a NAME, for each part alone. Exit status: 0 all passed, 1 a test failed or none ran.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree
from typing import Any

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, REPOSITORY)

from tests.mutants import LEFT_OUT  # noqa: E402
from tests.oasisd import PARTS  # noqa: E402

FOLDER = REPOSITORY + "/build/parts"
# What a core alone does and says, front end by front end: two minutes.
QUICK = (
    "tests/cli/test_core_alone.py", "tests/config/test_settings.py", "tests/daemon/test_reload.py",
    "tests/api/test_parts.py", "tests/api/test_roles.py", "tests/agent/test_failover.py", "tests/package/test_acl.py",
)  # fmt: skip
# The words of tests/conftest.py.
LACKING = "needs the part"
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "junit_family=xunit1")
COUNTS = ("core tests", "core run", "core lacking", "passed", "failed", "skipped")


def tree(name: str) -> str:
    """Make a tree with one part, none or all; return its folder."""
    folder = f"{FOLDER}/{name}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(REPOSITORY, folder, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
    os.symlink(REPOSITORY + "/tests/node_modules", folder + "/tests/node_modules")
    with open(REPOSITORY + "/package/manifest.json", encoding="utf-8") as handle:
        packages = json.load(handle)["packages"]
    for part in PARTS if name != "all" else ():
        if part != name:
            for path in (*packages["oasis-" + part]["files"].values(), "tests/parts/" + part):
                whole = f"{folder}/{path}"
                shutil.rmtree(whole) if os.path.isdir(whole) else os.unlink(whole)
    return folder


def run(folder: str, tests: list[str], processes: int, is_quiet: bool) -> dict[str, int]:
    """Run tests in a tree; return its counts. Quietly, only failures are printed: `make test` ends with its own sum."""
    report = folder + ".xml"
    spread = ["-n", str(processes), "--dist", "loadfile", "--no-loadscope-reorder"]
    with contextlib.suppress(FileNotFoundError):
        os.unlink(report)
    done = subprocess.run(
        [*PYTEST, *spread, f"--junit-xml={report}", *tests], cwd=folder, capture_output=is_quiet, text=True, check=False
    )
    if is_quiet and done.returncode:
        print(done.stdout)
    return counted(report)


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leave out what --marked does not run; called by the pytest that has this module as a plugin."""

    def is_kept(item: Any) -> bool:
        return item.nodeid.startswith((*QUICK, "tests/parts/")) or any(mark.args for mark in item.iter_markers("part"))

    config.hook.pytest_deselected(items=[item for item in items if not is_kept(item)])
    items[:] = filter(is_kept, items)


def counted(report: str) -> dict[str, int]:
    """Return the counts of a report: of the core's tests, how many ran and how many lack a part; how all ended."""
    found = dict.fromkeys(COUNTS, 0)
    if not os.path.exists(report):  # nothing could be collected
        return {**found, "failed": 1}
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        ends = {child.tag: child for child in case}
        is_core = not str(case.get("file") or case.get("classname", "")).replace(".", "/").startswith("tests/parts/")
        lacks = "skipped" in ends and str(ends["skipped"].get("message")).startswith(LACKING)
        end = "failed" if {"failure", "error"} & set(ends) else "skipped" if "skipped" in ends else "passed"
        found[end] += not lacks
        if is_core:
            found["core tests"] += 1
            found["core lacking"] += lacks
            found["core run"] += end != "skipped"
    return found


def table(rows: dict[str, dict[str, int]]) -> str:
    """Return the counts of all trees as a table for people."""
    lines = [("parts", *COUNTS), *((name, *map(str, row.values())) for name, row in rows.items())]
    return "\n".join("%-10s" % name + "".join("%14s" % word for word in words) for name, *words in lines)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--marked", action="store_true")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 2)
    parser.add_argument("names", nargs="*")
    cut = argv.index("--") if "--" in argv else len(argv)
    given, tests = parser.parse_args(argv[:cut]), argv[cut + 1 :]
    every = ["none", *PARTS, "all"]
    if set(given.names) - set(every):
        parser.error("NAME is one of " + ", ".join(every))
    rows = {}
    some = ["none"] if given.quick else PARTS if given.marked else every
    for name in given.names or some:
        print(f"--- parts: {name}", flush=True)
        folder = tree(name)
        if given.quick:
            done = subprocess.run([*PYTEST, "--collect-only"], cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                print(done.stdout[-4000:])
                return 1
        chosen = list(QUICK) if given.quick else ["-p", "tests.part_sets"] if given.marked else []
        rows[name] = run(folder, tests or chosen, given.processes, given.quick)
    print(table(rows))
    return int(any(row["failed"] or not row["passed"] for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
