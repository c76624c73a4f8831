"""The numbers that decide: each is explained in docs/offline.md with the evaluation that holds it."""

import os
import re
import subprocess
import sys

import pytest

from tests.oasisd import REPOSITORY, has_part

if has_part("offline"):
    from tests.eval.offline import thresholds

pytestmark = pytest.mark.part("offline")


def test_each_threshold_is_in_the_document_with_its_value_and_its_rows():
    with open(os.path.join(REPOSITORY, "docs/offline.md"), encoding="utf-8") as handle:
        rows = re.findall(r"^\| `([A-Z_]+)` \| ([\d.-]+) \| (.*) \| (.*) \| (.*) \|$", handle.read(), flags=re.M)
    known = {name: f"{value:g}" for name, value in thresholds.thresholds().items()}
    assert {name: value for name, value, *_ in rows} == known, "for a new row: tests/eval/offline/thresholds.py NAME"
    for name, _, meaning, *counts in rows:
        assert len(meaning) > 10, name
        assert all(re.fullmatch(r"[+-]\d+ [+-]\d+ [+-]\d+ [+-]\d+", one) for one in counts), name


def test_no_bare_number_decides():
    found = []
    for module in thresholds.MODULES:
        with open(module.__file__, encoding="utf-8") as handle:
            lines = handle.read().split("\n")
        bare = re.compile(r"[^\w.\"'][0-9]+\.[0-9]+")
        code = [(at, one.partition("#")[0]) for at, one in enumerate(lines, 1) if not re.match(r"[A-Z_, ]+ =", one)]
        numbers = [(at, number) for at, one in code for number in bare.findall(one)]
        found += [(module.__name__, at, number) for at, number in numbers if float(number[1:]) not in (0.0, 1.0)]
    assert found == []


def test_the_counts_are_made_with_one_number_another():
    program = os.path.join(REPOSITORY, "tests/eval/offline/thresholds.py")
    argv = [sys.executable, program, "--every", "150", "ENOUGH"]
    first, row = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()
    assert re.fullmatch(r"right, asked, wrong, taken: \d+ \d+ \d+ \d+", first)
    assert re.fullmatch(r"\| `ENOUGH` \| 0\.3 \| (?:[+-]\d+ ?){4} \| (?:[+-]\d+ ?){4} \|", row)
