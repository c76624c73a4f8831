"""What rows were when somebody wrote them down, and how much more each may be: tests/bench/baseline.json.

    {"python": "3.11", "rows": {NAME: {"figure": number, "tolerance": share}}}

The figure is the ratio to the peer of the same run where there is one, for time and memory say nothing by themselves;
of what has no noise (modules, bytes, tokens, calls) it is the number. `bench.py --write-baseline` writes the file on
purpose; a tolerance that was changed by hand stays.
"""

from __future__ import annotations

import json
import os
import platform
from typing import Any

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "baseline.json")
# Of rows by their unit: how much more is nothing yet. Time is another one on each machine, even beside a peer.
TOLERANCES = {
    "ms": 2.0, "µs": 2.0, "KiB": 0.25, "bytes": 0.05, "tokens": 0.03, "modules": 0.05, "modules of Python": 0.0,
    "bytes of Python": 0.05, "instructions": 0.03, "calls": 0.25, "": 0.25,
}  # fmt: skip
# What stands beside a peer of the same run; all else is the number itself.
_RATIOS = ("ms", "µs", "KiB", "instructions")
# What an interpreter takes that does nothing; of another build of the same Python instructions are not compared.
BARE = "bare start: instructions"
_SAME_BUILD = 0.01
# What another Python changes.
_OF_PYTHON = ("KiB", "modules of Python", "bytes of Python", "instructions")

Row = dict[str, Any]


def figure(row: Row) -> float | None:
    """Return what is compared of a row; None for time and memory without a peer, and where more is better."""
    if row["unit"] not in TOLERANCES:
        return None
    if row["unit"] in _RATIOS and row["name"] != BARE:
        return row["ratio"]
    return float(row["measured"])


def judge(rows: list[Row], known: dict[str, Any], python: str = "") -> list[str]:
    """Note in each row what it was ("was") and whether it is within its tolerance; return what is wrong, in words."""
    is_same = known.get("python") == (python or _python())
    is_build = all(_is_build(row, known) for row in rows if row["name"] == BARE)
    wrong = []
    for row in rows:
        entry, now = known.get("rows", {}).get(row["name"]), figure(row)
        if entry is None or now is None or (row["unit"] in _OF_PYTHON and not is_same):
            continue
        if row["unit"] == "instructions" and not is_build:
            continue
        row["was"] = entry["figure"]
        most = entry["figure"] * (1 + entry["tolerance"])
        if now > most + 1e-9:
            row["is_ok"] = False
            wrong.append(f"{row['name']}: {now:,.2f}, at most {most:,.2f} (it was {entry['figure']:,.2f})")
    return wrong


def _is_build(bare: Row, known: dict[str, Any]) -> bool:
    entry = known.get("rows", {}).get(BARE)
    return entry is not None and abs(bare["measured"] / entry["figure"] - 1) < _SAME_BUILD


def missing(rows: list[Row], known: dict[str, Any]) -> list[str]:
    """Return the names of rows that could be compared and have no figure to be compared with."""
    return [row["name"] for row in rows if figure(row) is not None and row["name"] not in known.get("rows", {})]


def load(path: str = FILE) -> dict[str, Any]:
    """Return the baseline, an empty one where there is none."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        known: dict[str, Any] = json.load(file)
    return known


def write(rows: list[Row], is_whole: bool, path: str = FILE) -> None:
    """Write rows as the baseline; those of a run of some rows only take the place of their own."""
    known = load(path)
    before: dict[str, Row] = known.get("rows", {})
    entries = {} if is_whole else dict(before)
    for row in rows:
        now = figure(row)
        if now is not None:
            tolerance = before.get(row["name"], {}).get("tolerance", TOLERANCES[row["unit"]])
            entries[row["name"]] = {"figure": round(now, 3), "tolerance": tolerance}
    lines = [f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(entries[name])}" for name in sorted(entries)]
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"python": "%s", "rows": {\n%s\n}}\n' % (_python(), ",\n".join(lines)))


def _python() -> str:
    return ".".join(platform.python_version_tuple()[:2])
