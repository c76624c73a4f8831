"""Changes that end by themselves: at their time, by an ordinary undo, and only while the clock is trusted."""

import json
import os
import threading
import time
from types import SimpleNamespace

import pytest

from oasis.change.audit import Audit
from oasis.change.history import expiry
from oasis.change.history.expiry import Expiry
from oasis.core import when
from oasis.errors import ToolError, UsageError
from tests.change.kit import RENAME, WIFI

HOUR = 3600
OPEN = "\n".join(
    [
        "uci add firewall rule", "uci set firewall.@rule[-1].src=wan", "uci set firewall.@rule[-1].proto=tcp",
        "uci set firewall.@rule[-1].dest_port=22", "uci set firewall.@rule[-1].target=ACCEPT",
    ]
)  # fmt: skip


class Time:
    """The three times, set by hand."""

    def __init__(self):
        self.mono = 1000.0
        self.unix = int(time.time())
        self.up = 5000.0
        self.is_trusted = True
        self.newest = []

    def now_s(self):
        return self.mono

    def unix_s(self):
        return self.unix

    def up_s(self):
        return self.up

    def trusted(self, newest):
        self.newest.append(newest)
        return self.is_trusted


def spoken(words, now_s):
    raise UsageError("%r is no time" % words)


class World:
    def __init__(self, kit):
        self.kit = kit
        self.time = Time()
        self.log = []
        self.audit = kit.root.path("/etc/oasis/audit.jsonl")
        audit = Audit(kit.files, self.audit, kit.clock.unix_s)
        self.failed = []
        self.services = SimpleNamespace(
            journal=kit.journal, planner=kit.planner, transaction=kit.transaction, audit=audit, clock=self.time,
            is_clock_trusted=self.time.trusted, log=lambda text, is_fault: self.log.append(text), spoken=spoken,
            expiry_failed=lambda record, words: self.failed.append((record["id"], words)),
        )  # fmt: skip
        self.expiry = Expiry(self.services)

    def change(self, text, hours):
        """Carry out a change that ends in some hours, and keep it; return its id."""
        kit = self.kit
        until = self.time.unix + int(hours * HOUR) if hours else 0
        plan = kit.planner.propose(self.parse(text), "run1", "chat1", "a test", until)
        record = kit.transaction.apply(plan)
        if record["state"] == "applied":
            kit.transaction.confirm(str(record["id"]))
        return str(record["id"])

    def parse(self, text):
        from oasis.change.uci_commands import parse

        return parse(text)[0]

    def decisions(self):
        with open(self.audit, encoding="utf-8") as lines:
            return [(item["what"], item["role"]) for item in map(json.loads, lines)]


@pytest.fixture
def world(kit):
    made = World(kit)
    yield made
    made.expiry.stop()


def test_nothing_to_wait_for(world):
    world.change(RENAME, 0)
    assert world.expiry.step() is None


def test_a_change_ends_at_its_time_and_not_before(world):
    before = world.kit.config("system")
    change = world.change(RENAME, 0.1)
    assert world.expiry.step() == 360
    world.time.unix += 359
    assert world.expiry.step() == 1
    assert b"'attic'" in world.kit.config("system")
    world.time.unix += 1
    assert world.expiry.step() == 0
    assert world.kit.config("system") == before
    assert world.kit.journal.read(change)["undone_by"]
    assert world.expiry.step() is None
    assert world.decisions() == [("expired", "schedule")]
    assert world.log == [f"change {change} is undone: its time is over"]
    assert world.kit.journal.records()[0]["summary"] == "ended: a test"
    assert "until_unix_s" not in world.kit.journal.records()[0]


def test_the_end_is_on_flash(world):
    change = world.change(RENAME, 2)
    assert world.kit.again().journal.read(change)["until_unix_s"] == world.time.unix + 2 * HOUR


def test_a_long_sleep_is_cut_because_the_clock_may_be_set(world):
    world.change(RENAME, 48)
    assert world.expiry.step() == expiry.LONGEST_S


def test_a_risky_change_ends_without_anybody_there(world):
    before = world.kit.config("wireless")
    world.change(WIFI, 1)
    world.time.unix += HOUR
    world.expiry.step()
    assert world.kit.config("wireless") == before
    assert world.kit.transaction.pending() is None
    assert world.kit.journal.records()[0]["state"] == "confirmed"
    assert world.kit.services()[-1] == "network reload"


def test_a_change_that_waits_to_be_kept_does_not_end(world):
    kit = world.kit
    plan = kit.planner.propose(world.parse(WIFI), "run1", "chat1", "a test", world.time.unix - 5)
    record = kit.transaction.apply(plan)
    assert world.expiry.step() is None
    kit.transaction.confirm(str(record["id"]))
    assert world.expiry.step() == 0
    assert world.expiry.step() is None


def test_later_edits_stay(world):
    kit = world.kit
    world.change(RENAME, 1)
    kit.write("system", kit.config("system").replace(b"'UTC'", b"'JST-9'"))
    world.time.unix += HOUR
    world.expiry.step()
    assert b"'OpenWrt'" in kit.config("system")
    assert b"'JST-9'" in kit.config("system")


def test_a_conflict_is_told_once_and_left_to_the_owner(world):
    kit = world.kit
    change = world.change(RENAME, 1)
    kit.write("system", kit.config("system").replace(b"'attic'", b"'cellar'"))
    world.time.unix += HOUR
    world.expiry.step()
    assert world.expiry.step() is None
    told = kit.journal.read(change)["expiry"]
    assert world.failed == [(change, told)]
    assert told.startswith("could not expire: changed since")
    assert "'cellar'" in told
    assert world.log == [f"change {change} {told}"]
    assert b"'cellar'" in kit.config("system")


def test_an_opening_whose_images_are_lost_is_left_alone(world):
    change = world.change(OPEN, 1)
    world.time.is_trusted = False
    os.remove(world.kit.root.path(f"/etc/oasis/changes/{change}/before/firewall"))
    assert world.expiry.step() == expiry.LOOK_S
    world.time.is_trusted = True
    world.time.unix += HOUR
    world.expiry.step()
    assert "has no before image" in world.kit.journal.read(change)["expiry"]


def test_what_was_undone_by_hand_does_not_end_again(world):
    from oasis.change.history.undo import plan_undo

    change = world.change(RENAME, 1)
    world.kit.transaction.apply(plan_undo(world.kit.journal, world.kit.planner, change, "r", ""))
    world.time.unix += HOUR
    assert world.expiry.step() is None
    assert world.log == []


def test_another_change_that_waits_only_delays_the_end(world):
    kit = world.kit
    world.change(RENAME, 1)
    waiting = kit.transaction.apply(kit.plan(WIFI))
    world.time.unix += HOUR
    world.expiry.step()
    assert b"'attic'" in kit.config("system")
    assert world.expiry.step() == 60
    kit.transaction.confirm(str(waiting["id"]))
    world.time.mono += 59.5
    assert world.expiry.step() == 0.5
    world.time.mono += 1
    world.expiry.step()
    assert b"'OpenWrt'" in kit.config("system")


def test_each_pause_is_longer_up_to_an_hour(world):
    world.change(RENAME, 1)
    world.kit.fault("system", "1")
    world.time.unix += HOUR
    pauses = []
    for _ in range(9):
        world.expiry.step()
        pauses.append(world.expiry._not_before_s[world.kit.journal.records()[-1]["id"]] - world.time.mono)
        world.time.mono += pauses[-1]
    assert pauses == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
    assert b"'attic'" in world.kit.config("system")


def test_both_of_two_ends_come(world):
    world.change(RENAME, 1)
    world.change("uci set system.@system[0].notes=x", 2)
    world.time.unix += HOUR
    world.expiry.step()
    assert b"'OpenWrt'" in world.kit.config("system")
    assert b"notes 'x'" in world.kit.config("system")
    assert world.expiry.step() == expiry.LONGEST_S
    world.time.unix += HOUR
    world.expiry.step()
    assert b"notes" not in world.kit.config("system")


# --- without a clock


def test_without_a_clock_nothing_ends_at_first(world):
    world.change(RENAME, 1)
    world.change(OPEN, 1)
    world.time.is_trusted, world.time.up = False, expiry.UNTRUSTED_S - 1
    world.time.unix += 9 * HOUR
    assert world.expiry.step() == expiry.LOOK_S == 60
    assert expiry.UNTRUSTED_S == 15 * 60
    assert b"'attic'" in world.kit.config("system")
    assert world.time.newest[-1] == max(item["when_unix_s"] for item in world.kit.journal.records())


def test_without_a_clock_openings_are_closed_after_15_minutes_and_others_wait(world):
    before = world.kit.config("firewall")
    world.change(RENAME, 1)
    change = world.change(OPEN, 1)
    world.time.is_trusted, world.time.up = False, expiry.UNTRUSTED_S
    assert world.expiry.step() == 0
    assert world.kit.config("firewall") == before
    assert b"'attic'" in world.kit.config("system")
    assert world.log == [f"change {change} is undone: the clock is not set, and it opens the router"]
    assert world.decisions() == [("closed", "schedule")]
    assert world.expiry.step() == expiry.LOOK_S
    world.time.is_trusted = True
    world.time.unix += HOUR
    world.expiry.step()
    assert b"'OpenWrt'" in world.kit.config("system")


def test_without_a_clock_no_end_is_taken(world):
    world.time.is_trusted = False
    with pytest.raises(ToolError, match="clock is not set"):
        world.expiry.moment("2h")
    assert world.expiry.moment("") == 0


def test_an_end_in_words(world):
    assert world.expiry.moment("2h") == world.time.unix + 2 * HOUR
    assert world.expiry.moment(" ") == 0
    with pytest.raises(UsageError, match="more than a year"):
        world.expiry.moment("367d")
    with pytest.raises(UsageError, match="is no time"):
        world.expiry.moment("soon")


def test_an_end_as_people_say_it_is_read_by_the_reader_of_schedules(world):
    world.services.spoken = lambda words, now_s: now_s + len(words)
    assert world.expiry.moment("tomorrow at 8 pm") == world.time.unix + 16
    assert world.expiry.moment("2h") == world.time.unix + 2 * HOUR
    with pytest.raises(UsageError, match="over already"):
        world.expiry.moment("2020-01-01 10:00")


# --- the thread


def wait_for(what, seconds=10):
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def names():
    return [thread.name for thread in threading.enumerate()]


def test_a_thread_lives_only_while_something_waits(world):
    world.expiry.schedule()
    wait_for(lambda: "expiry" not in names())
    change = world.change(RENAME, 1)
    world.expiry.schedule()
    world.expiry.schedule()
    time.sleep(0.1)
    assert names().count("expiry") == 1
    world.time.unix += HOUR
    world.expiry.schedule()
    wait_for(lambda: world.kit.journal.read(change).get("undone_by"))
    wait_for(lambda: "expiry" not in names())


def test_the_thread_goes_on_to_the_next_end(world):
    first = world.change(RENAME, 1)
    second = world.change("uci set system.@system[0].notes=x", 2)
    for change in (first, second):
        world.time.unix += HOUR
        world.expiry.schedule()
        wait_for(lambda one=change: world.kit.journal.read(one).get("undone_by"))
        assert (change == second) or "expiry" in names()


def test_the_thread_wakes_by_itself_at_the_end(world):
    change = world.change(RENAME, 0)
    world.kit.journal.update(change, until_unix_s=world.time.unix + 1)
    world.expiry.schedule()
    wait_for(lambda: world.time.newest)
    world.time.unix += 1
    wait_for(lambda: world.kit.journal.read(change).get("undone_by"))


def test_the_thread_stops_at_once(world):
    world.change(RENAME, 1)
    world.expiry.schedule()
    wait_for(lambda: world.time.newest)
    world.expiry.stop()
    wait_for(lambda: "expiry" not in names())
    world.expiry.schedule()
    assert "expiry" not in names()


# --- the plan


def test_the_end_is_told_and_bound_by_the_hash(kit):
    from oasis.change.plan_card import card

    until = kit.clock.unix_s() + HOUR
    operations = kit.plan(RENAME)["operations"]
    plan = kit.planner.propose(operations, "run1", "chat1", "a test", until)
    assert plan["words"][-1] == f"until {when.shown(until)}: then all of this is undone by itself"
    assert card(plan, 0)["until_unix_s"] == until
    assert kit.planner.hash(plan) == plan["hash"]
    assert kit.planner.hash({**plan, "until_unix_s": until + 1}) != plan["hash"]
    assert "until_unix_s" not in card(kit.plan(RENAME), 0)


# --- what opens a router

RULE = "\nconfig rule\n\toption name 'x'\n\toption src 'wan'\n\toption target 'ACCEPT'\n"


@pytest.mark.parametrize(
    "package, before, after, answer",
    [
        ("firewall", "", RULE, True),
        ("firewall", RULE, "", False),
        ("firewall", RULE, RULE + "\toption dest_port '22'\n", False),
        ("firewall", RULE + "\toption dest_port '22'\n", RULE, True),
        ("upnpd", "config upnpd 'config'\n\toption enabled '0'\n", "config upnpd 'config'\n", True),
    ],
)
def test_what_lets_somebody_in_is_judged_with_the_packages_that_stay(kit, package, before, after, answer):
    stock = kit.config(package) if package == "firewall" else b""
    images = {package: (stock + before.encode(), stock + after.encode())}
    told, read = kit.planner.openings(images)
    assert bool(told) is answer
    assert set(read) == ({"network", "wireless", "dropbear", "uhttpd"} if package == "firewall" else set())
