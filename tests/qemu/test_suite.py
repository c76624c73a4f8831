"""The runner of the steps: what fails is told, what cannot be done is skipped with its reason, the rest goes on."""

import io

import pytest

from tests.qemu import suite
from tests.qemu.router import Failed
from tests.qemu.transcript import Transcript


class Guest:
    """What the runner needs of a router; a failed step is followed by `recover`."""

    def __init__(self, path):
        self.out = io.StringIO()
        self.log = Transcript(str(path), self.out)
        self.features = {"bus"}
        self.recovered = 0

    def recover(self):
        self.recovered += 1


@pytest.fixture
def guest(tmp_path):
    one = Guest(tmp_path / "transcript.txt")
    yield one
    one.log.close()


def fails(router):
    raise Failed("it is another one")


def breaks(router):
    raise KeyError("name")


def passes(router):
    router.log.line("  passed by")


def steps(*what):
    return [suite.Step(function, title, needs) for title, function, *needs in what]


def outcomes(report):
    return [(title, outcome) for title, outcome, _, _ in report.rows]


def test_a_step_that_fails_stops_no_other(guest):
    report = suite.run(guest, steps(("one", fails), ("two", breaks), ("three", passes)))
    assert outcomes(report) == [("one", "FAILED"), ("two", "FAILED"), ("three", "ok")]
    assert report.failures == ["one: it is another one", "two: KeyError: 'name'"]
    assert guest.recovered == 2


def test_a_step_whose_needs_are_not_there_is_skipped_with_the_reason(guest):
    report = suite.run(guest, steps(("pages", fails, "luci"), ("bus", passes, "bus")))
    assert outcomes(report) == [("pages", "skipped"), ("bus", "ok")]
    assert "pages: skipped, LuCI is not in this guest" in guest.out.getvalue()
    assert report.failures == []


def test_nothing_is_tried_after_a_vital_step_has_failed(guest):
    def install(router):
        raise Failed("no room")

    report = suite.run(guest, steps(("install", install), ("use", passes)))
    assert outcomes(report) == [("install", "FAILED"), ("use", "skipped")]
    assert report.count("skipped") == 1


def test_the_transcript_is_what_was_shown(guest, tmp_path):
    suite.run(guest, steps(("one", passes)))
    assert (tmp_path / "transcript.txt").read_text() == guest.out.getvalue()


def test_long_output_is_shown_by_its_ends(guest):
    guest.log.said("\n".join("line %d" % number for number in range(1000)))
    shown = guest.out.getvalue()
    assert "line 0\n" in shown
    assert "line 999\n" in shown
    assert "940 lines" in shown
