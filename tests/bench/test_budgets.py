"""The budgets: what has no noise is held to the baseline by every `make test`; how rows are judged and written."""

import argparse
import json

import pytest

from tests.bench import baseline, budgets, imports
from tests.oasisd import PARTS, has_part

if has_part("memory"):
    from tests.bench import bench

pytestmark = pytest.mark.part(*PARTS)

ADVICE = "is it worth it? then: python3 tests/bench/bench.py --budgets --write-baseline"


def made():
    return bench.Bench(argparse.Namespace(budgets=True))


# Memory at the edge of its goal is a page or two more in some starts: what is too much in each of so many is too much.
TRIES = 3


def test_nothing_without_noise_is_more_than_it_was(tmp_path_factory):
    known = baseline.load()
    for _ in range(TRIES):
        rows = made()
        # A path with a mark that a token may have is looked at for secrets when it is logged, and that loads modules.
        folder = str(tmp_path_factory.mktemp("budgets"))
        bench.warm_up(bench.copy_root(folder + "/warm"))
        budgets.rows(rows, folder)
        worse = [*baseline.missing(rows.rows, known), *baseline.judge(rows.rows, known)]
        missed = [row["name"] for row in rows.rows if not row["is_ok"]]
        if not worse and not missed:
            break
    assert not worse, "\n".join([*map(str, worse), ADVICE])
    assert missed == []


@pytest.mark.parametrize(
    ("unit", "measured", "compared", "figure"),
    [("modules", 79, 0, 79), ("bytes", 500, 1000, 500), ("KiB", 15, 10, 1.5), ("ms", 30, 10, 3), ("ms", 30, 0, None)],
)
def test_what_has_a_peer_is_compared_as_its_ratio(unit, measured, compared, figure):
    rows = made()
    rows.row("it", measured, compared, "a peer", unit)
    assert baseline.figure(rows.rows[0]) == figure


def test_more_than_the_tolerance_is_wrong_and_less_is_not(tmp_path):
    path = str(tmp_path / "baseline.json")
    before = made()
    before.row("modules", 100, 0, "", "modules")
    before.row("memory", 15.0, 10.0, "bare", "KiB")
    baseline.write(before.rows, True, path)
    known = baseline.load(path)
    for modules, memory, count in ((100, 15.0, 0), (90, 9.0, 0), (105, 16.0, 0), (106, 15.0, 1), (106, 19.0, 2)):
        now = made()
        now.row("modules", modules, 0, "", "modules")
        now.row("memory", memory, 10.0, "bare", "KiB")
        assert len(baseline.judge(now.rows, known)) == count
        assert [row["is_ok"] for row in now.rows].count(False) == count
        assert bench.table(now.rows).count("MISSED") == count
    now = made()
    now.row("memory", 30.0, 10.0, "bare", "KiB")
    assert baseline.judge(now.rows, known, python="3.99") == [], "memory is another one on another Python"


def test_a_baseline_keeps_tolerances_and_the_rows_that_were_not_measured(tmp_path):
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps({"python": "3.11", "rows": {
        "a": {"figure": 1, "tolerance": 0.5}, "b": {"figure": 2, "tolerance": 0.1}}}))  # fmt: skip
    now = made()
    now.row("a", 3, 0, "", "bytes")
    baseline.write(now.rows, False, str(path))
    assert baseline.load(str(path))["rows"] == {
        "a": {"figure": 3.0, "tolerance": 0.5}, "b": {"figure": 2, "tolerance": 0.1}}  # fmt: skip
    baseline.write(now.rows, True, str(path))
    assert list(baseline.load(str(path))["rows"]) == ["a"]
    assert baseline.missing([{**now.rows[0], "name": "new"}], baseline.load(str(path))) == ["new"]


def test_imports_are_read_with_their_depth_and_counted_once():
    found = imports.parsed(
        "import time: self [us] | cumulative | imported package\n"
        "import time:       120 |        120 |     oasis.errors\n"
        "oasisd: ready\n"
        "import time:        10 |        130 |   oasis.core\n"
        "import time:        40 |        170 | select\n"
        "import time:         1 |          1 | select\n"
    )
    assert found == [(2, "oasis.errors", 120), (1, "oasis.core", 10), (0, "select", 40)]
    assert imports.ours(found) == 2
    assert imports.tree(found).split("\n")[0].endswith(" select")
