"""What Oasis and the programs that come near it do, as a table with evidence: features.json, printed and judged.

    python3 tests/bench/features.py                  prints docs/peers.md
    python3 tests/bench/features.py --folder FOLDER  looks for the evidence in what `make peers` installed there

Contract: a cell without evidence is an error, and so is evidence that is not found in the version that was read.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import re
import sys
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
OWN, READ_ONLY = "oasis", "upstream"
VERDICTS = ("yes", "partly", "no", "-")

_HEAD = """\
# Next to other programs

What owners care about, and who does it. `make peers` prints this page behind the figures, and looks for each piece of
evidence in the programs that it installed; `tests/bench/test_features.py` keeps page, data and our own tests together
(`tests/bench/features.json`). "-" is not its business. Who finds a cell wrong, please say so.

Read were {programs}.

Nearest to a router are regent-mcp and the Oasis in Lua. nanobot does much more than Oasis for whoever has a computer
that is always on, and `llm` is the better tool for one question from a shell.
"""


def load() -> dict[str, Any]:
    """Return the table.

    Shape: {"programs": {name: version}, "rows": [{"feature", "cells": {name: [verdict, words, evidence]}}]}.
    """
    with open(os.path.join(HERE, "features.json"), encoding="utf-8") as handle:
        found: dict[str, Any] = json.load(handle)
    return found


def page(data: dict[str, Any]) -> str:
    """Return docs/peers.md: the table, and below it the evidence of each cell."""
    programs = data["programs"]
    told = ", ".join(f"{name} {version}" for name, version in programs.items() if name != OWN)
    lines = [_HEAD.format(programs=told), "| |" + "".join(f" {name} |" for name in programs)]
    lines.append("|---|" + "---|" * len(programs))
    for row in data["rows"]:
        cells = [_cell(*row["cells"][name][:2]) for name in programs]
        lines.append(f"| {row['feature']} | " + " | ".join(cells) + " |")
    lines += ["", "## Evidence", ""]
    for row in data["rows"]:
        found = [f"{name} {_shown(name, row['cells'][name][2])}" for name in programs]
        lines.append(f"- **{row['feature']}**: " + "; ".join(found))
    return "\n".join(lines) + "\n"


def _cell(verdict: str, words: str) -> str:
    return f"{verdict}: {words}" if words else verdict


def _shown(name: str, evidence: str) -> str:
    if name in (OWN, READ_ONLY):
        return f"`{evidence}`" if name == OWN else f"({evidence})"
    path, text, is_there = parts(evidence)
    return f"`{path}` has `{text}`" if is_there else f"`{path}` has nothing like `{text}`"


def parts(evidence: str) -> tuple[str, str, bool]:
    """Return (path below site-packages, text or pattern, whether it must be there)."""
    path, _, text = evidence.partition(": ")
    return (path, text[3:], False) if text.startswith("no ") else (path, text, True)


def missing(name: str, site: str, data: dict[str, Any]) -> list[str]:
    """Return the evidence on a program that is not as it is told, for what is installed in a site-packages."""
    (info,) = glob.glob(os.path.join(site, name.replace("-", "_") + "-*.dist-info"))
    installed = info[: -len(".dist-info")].rsplit("-", 1)[1]
    version = data["programs"][name]
    found = [] if installed == version else [f"{name} {installed} is installed, {version} was read"]
    for row in data["rows"]:
        path, text, is_there = parts(row["cells"][name][2])
        whole = _texts(os.path.join(info, path) if path == "METADATA" else os.path.join(site, path))
        has = (text in whole) if is_there else bool(re.search(text, whole))
        if not whole or has != is_there:
            found.append(f"{name}: {row['feature']}: {row['cells'][name][2]}")
    return found


def _texts(path: str) -> str:
    """Return the text of a file, or of all sources below a folder."""
    names = [path]
    if os.path.isdir(path):
        names = [one for end in ("py", "json") for one in glob.glob(f"{path}/**/*.{end}", recursive=True)]
    found = []
    for name in sorted(names):
        if os.path.isfile(name):
            with open(name, encoding="utf-8", errors="replace") as handle:
                found.append(handle.read())
    return "\n".join(found)


def site_of(folder: str, name: str) -> str:
    """Return the site-packages of a peer's environment, "" when it is not there."""
    return next(iter(glob.glob(os.path.join(folder, name, "lib/python3*/site-packages"))), "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--folder")
    chosen = parser.parse_args()
    data = load()
    print(page(data), end="")
    return told(chosen.folder, data) if chosen.folder else 0


def told(folder: str, data: dict[str, Any]) -> int:
    """Look for the evidence in what is installed in a folder and say what is missing; return the exit status."""
    wrong = []
    for name in [one for one in data["programs"] if one not in (OWN, READ_ONLY)]:
        site = site_of(folder, name)
        wrong += missing(name, site, data) if site else []
        print(f"peers: evidence on {name}: {'looked for in what is installed' if site else 'NOT HERE'}")
    for one in wrong:
        print("peers: EVIDENCE MISSING: " + one)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
