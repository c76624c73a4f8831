"""`make bench` measures and judges; its figures on a busy machine are not judged here, only that they are there."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.oasisd import PARTS, has_part

if has_part("memory"):
    from tests.bench import baseline, bench, instructions, measure

pytestmark = pytest.mark.part(*PARTS)

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.mark.long  # a minute; make bench does more
def test_a_quick_run_gives_every_figure(tmp_path):
    file = tmp_path / "rows.json"
    argv = [sys.executable, HERE + "/bench.py", "--quick", "--json", str(file)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=280)
    assert done.returncode in (0, 1), done.stderr
    rows = {row["name"]: row for row in json.loads(file.read_text())["rows"]}
    memory = next(row for name, row in rows.items() if name.startswith("idle oasisd"))
    assert memory["measured"] > memory["compared"] > 4000
    assert rows["oasis prompt, peak RSS"]["ratio"] > 1
    flash = next(row for name, row in rows.items() if "on flash" in name or "to flash" in name)
    assert flash["ratio"] >= 1
    assert (done.returncode == 1) == any(not row["is_ok"] for row in rows.values())
    for name in rows:
        assert name in done.stdout


def test_a_missed_goal_is_told():
    made = bench.Bench(bench.arguments(["--quick"]))
    made.row("memory", 17.0, 10.0, "bare", "KiB", 1.6)
    made.row("time", 15.0, 10.0, "bare", "ms", 1.6)
    made.row("only told", 99.0, 10.0, "bare", "ms")
    assert [row["is_ok"] for row in made.rows] == [False, True, True]
    assert bench.table(made.rows).count("MISSED") == 1


def test_writes_and_syncs_are_counted_where_they_count(tmp_path):
    file = tmp_path / "trace"
    file.write_text(
        "10 1.0 write(3</r/etc/a>, \"\"..., 7) = 7\n"
        "10 2.0 write(3</r/etc/a>, \"\"..., 100 <unfinished ...>\n"
        "11 2.1 write(4</r/var/b>, \"\"..., 5) = 5\n"
        "10 2.2 <... write resumed>) = 40\n"
        "10 2.3 fsync(3</r/etc/a>) = 0\n"
        "10 2.4 fsync(5</r/etc>) = 0\n"
        "10 2.5 fsync(5</r/var>) = 0\n"
        "10 2.6 write(3</r/etc/a>, \"\"..., 9) = -1 ENOSPC (No space left on device)\n"
        "10 9.0 write(3</r/etc/a>, \"\"..., 3) = 3\n"
        "10 +++ exited with 0 +++\n"
    )  # fmt: skip
    trace = measure.Trace(str(file), ["/r/etc"])
    assert trace.between(0, 5) == {"bytes": 47, "writes": 2, "syncs": 2}
    assert trace.between(1.5, 5) == {"bytes": 40, "writes": 1, "syncs": 2}


def test_a_bare_interpreter_is_measured_as_itself():
    assert measure.bare_memory_kib()["rss"] > 4000
    held = bytearray(64 * 1024 * 1024)  # what measures is big, what is measured is not
    assert measure.peak_kib(measure.BARE) < 32 * 1024
    assert len(held)


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind counts instructions")
def test_instructions_are_the_same_in_each_run_and_without_those_of_children(tmp_path):
    child = f"import posix; posix.waitpid(posix.posix_spawn({sys.executable!r}, ['python', '-c', 'pass'], {{}}), 0)"
    plain, again, starting = (
        instructions.command([sys.executable, "-s", "-S", "-c", code], {}, str(tmp_path))
        for code in ("pass", "pass", child)
    )
    assert abs(again / plain - 1) < 0.001
    assert plain < starting < plain * 1.2


def test_instructions_of_another_build_of_python_are_not_compared():
    known = {"python": "3.11", "rows": {baseline.BARE: {"figure": 1000, "tolerance": 0.03}}}
    known["rows"]["oasis status: instructions"] = {"figure": 2.0, "tolerance": 0.03}
    for bare, is_wrong in ((1000, True), (1005, True), (1100, False)):
        rows = [
            {"name": baseline.BARE, "measured": bare, "ratio": None, "unit": "instructions"},
            {"name": "oasis status: instructions", "measured": 3 * bare, "ratio": 3.0, "unit": "instructions"},
        ]
        assert bool(baseline.judge(rows, known, "3.11")) is is_wrong
