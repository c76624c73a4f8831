"""Changes that nobody approved are few, and push nothing out that the owner did approve."""

import json
import time

import pytest

from oasis.change.apply.journal import AUTOMATIC, HISTORY
from oasis.change.approval import A_TURN, AN_HOUR, HOUR_S, Allowance
from tests.agent.test_untrusted_words import Scene
from tests.daemon.test_wiring import config, of_type


@pytest.fixture
def scene(tmp_path):
    made = Scene(tmp_path)
    yield made
    made.close()


def rename(name):
    return [("configure", {"commands": [f"uci set system.@system[0].hostname={name}"], "summary": "as said"})]


def test_the_sixth_change_of_one_turn_waits_for_the_owner(scene):
    events, started = [], scene.daemon
    scene.model.script = [*[rename(f"name{at}") for at in range(A_TURN + 1)], "Done."]
    run = started.call("run.start", message="rename it a few times")
    deadline, since = time.monotonic() + 60, 0
    while len(of_type(events, "plan")) <= A_TURN:
        assert time.monotonic() < deadline, events
        reply = started.call("run.poll", run=run["run"], since=since, wait_ms=1000)
        events, since = events + reply["events"], reply["next"]
    plans = [event["plan"] for event in of_type(events, "plan")]
    assert [plan["needs_approval"] for plan in plans] == [False] * A_TURN + [True]
    assert "many changes were made without you" in plans[-1]["reasons"][-1]
    assert started.call("plan.list")["plans"][0]["id"] == plans[-1]["id"]
    assert f"'name{A_TURN - 1}'".encode() in config(scene.root, "system")
    started.call("plan.decline", plan=plans[-1]["id"])
    records = started.call("change.list")["changes"]
    assert len(records) == A_TURN
    with open(f"{scene.root}/etc/oasis/changes/{records[0]['id']}/record.json") as handle:
        assert json.load(handle)["automatic"] is True


def test_so_many_an_hour_whatever_the_turn():
    now = [0.0]
    allowance = Allowance(lambda: now[0])
    taken = [allowance.take(f"run{at // A_TURN}") for at in range(AN_HOUR)]
    assert taken == [""] * AN_HOUR
    assert str(AN_HOUR) in allowance.take("another") and str(A_TURN) in allowance.take("run0")
    now[0] = HOUR_S + 1.0
    assert allowance.take("another") == ""
    assert allowance.take("run3"), "a turn gets no more, however long it lasts"


def apply(kit, name, is_automatic):
    plan = kit.plan(f"uci set system.@system[0].hostname={name}")
    return str(kit.transaction.apply(kit.planner.bind(plan, is_automatic=is_automatic))["id"])


def test_what_the_owner_approved_stays_undoable_whatever_is_done_at_once(kit):
    kept = apply(kit, "mine", False)
    first = apply(kit, "first", True)
    for at in range(AUTOMATIC + 3):
        apply(kit, f"name{at}", True)
    names = [record["id"] for record in kit.journal.records()]
    assert kept in names and first not in names and len(names) == AUTOMATIC + 1


def test_the_owner_s_own_changes_are_bounded_as_well_and_leave_the_others(kit):
    at_once = apply(kit, "first", True)
    kept = [apply(kit, f"name{at}", False) for at in range(HISTORY + 2)]
    names = [record["id"] for record in kit.journal.records()]
    assert kept[0] not in names and kept[2] in names and at_once in names and len(names) == HISTORY + 1
