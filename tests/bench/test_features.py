"""The table of features: printed as docs/peers.md has it, each cell with evidence, ours by tests that are there."""

import ast
import os

import pytest

from tests.bench import features
from tests.oasisd import parts_in

DATA = features.load()
ROWS = {row["feature"]: row["cells"] for row in DATA["rows"]}
SHOWN = [pytest.param(name, marks=pytest.mark.part(*parts_in(row[features.OWN][2]))) for name, row in ROWS.items()]


def test_the_page_in_docs_is_the_one_that_is_printed():
    with open(os.path.join(features.REPOSITORY, "docs", "peers.md"), encoding="utf-8") as handle:
        assert handle.read() == features.page(DATA), "python3 tests/bench/features.py > docs/peers.md"


@pytest.mark.parametrize("feature", ROWS)
def test_each_cell_has_a_verdict_and_evidence(feature):
    assert list(ROWS[feature]) == list(DATA["programs"])
    for name, (verdict, words, evidence) in ROWS[feature].items():
        assert verdict in features.VERDICTS and evidence and "|" not in words, name
        assert name in (features.OWN, features.READ_ONLY) or all(features.parts(evidence)[:2]), name


@pytest.mark.parametrize("feature", SHOWN)
def test_what_we_say_of_ours_is_shown_by_a_test(feature):
    path, _, function = ROWS[feature][features.OWN][2].partition("::")
    assert os.path.basename(path).startswith("test_")
    with open(os.path.join(features.REPOSITORY, path), encoding="utf-8") as handle:
        names = {node.name for node in ast.walk(ast.parse(handle.read())) if isinstance(node, ast.FunctionDef)}
    assert any(name.startswith("test_") for name in names) and (not function or function in names)


def test_somebody_else_is_better_at_something():
    better = [one for one in ROWS.values() if one[features.OWN][0] == "partly" and one["nanobot-ai"][0] == "yes"]
    assert better


def installed(site, name, version, **files):
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Summary: all of it")
    for file, text in files.items():
        (site / name).mkdir(exist_ok=True)
        (site / name / (file + ".py")).write_text(text)
    return str(site)


def judged(site, *evidence, version="1.0"):
    rows = [{"feature": "x", "cells": {"tool": ["yes", "", one]}} for one in evidence]
    return features.missing("tool", site, {"programs": {"tool": version}, "rows": rows})


def test_evidence_is_looked_for_in_what_is_installed(tmp_path):
    site = installed(tmp_path, "tool", "1.0", a="def rollback(): ...", b="import os")
    assert judged(site, "tool/a.py: def rollback", "tool: no (?i)telegram", "METADATA: all of it") == []
    for wrong in ("tool/a.py: def undo", "tool: no (?i)ROLLBACK", "tool/gone.py: no undo", "METADATA: none"):
        assert judged(site, wrong) == [f"tool: x: {wrong}"]
    assert judged(site, version="1.1") == ["tool 1.0 is installed, 1.1 was read"]
