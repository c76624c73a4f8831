"""Our `uci` against what the real one (2025-01-20) answered: 150 recorded cases."""

import json
from pathlib import Path

import pytest

from tests.uci.programs import Folders, run_ours

RECORDED = Path(__file__).with_name("golden-uci-cases.jsonl")
CASES = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[f"case{case['seed']}" for case in CASES])
def test_recorded_case_comes_out_equal(case, tmp_path):
    folders = Folders(tmp_path)
    folders.write({name: text.encode() for name, text in case["packages"].items()})
    for step, result in zip(case["steps"], case["results"], strict=True):
        status, stdout, stderr = run_ours([*folders.options(), *step["argv"]], (step["stdin"] or "").encode())
        assert {"rc": status, "out": stdout.decode(), "err": stderr.decode()} == result, step
    assert _filled(folders.files()) == case["files"]
    assert _filled(folders.deltas()) == case["delta"]


def _filled(contents):
    return {name: data.decode() for name, (_, data) in contents.items() if data}
