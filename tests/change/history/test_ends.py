"""What is said again about a change that ends: it stays for good, or gets another end, and the card says so."""

import pytest

from oasis.change.history.ends import REASON
from oasis.change.history.undo import plan_undo
from oasis.change.plan_card import card
from oasis.core import when
from oasis.errors import ApplyError, StoreError
from tests.change.history.test_expiry import HOUR, World
from tests.change.kit import RENAME, FailingFiles, Kit


def block(name, mac="94:83:c4:00:00:01"):
    place = f"uci set firewall.{name}"
    options = ("src=lan", f"src_mac={mac}", "dest=wan", "proto=all", "target=REJECT")
    return "\n".join([f"{place}=rule", *(f"{place}.{option}" for option in options)])


TV, PHONE = block("tv"), block("phone", "94:83:c4:00:00:02")


@pytest.fixture
def world(kit):
    made = World(kit)
    yield made
    made.expiry.stop()


def say(world, text, hours=0.0):
    """Return the plan of commands, which may end in some hours from the start."""
    until = start(world) + int(hours * HOUR) if hours else 0
    return world.kit.planner.propose(world.parse(text), "run1", "chat1", "said again", until)


def start(world):
    if not hasattr(world, "start"):
        world.start = world.time.unix
    return world.start


def do(world, text, hours=0.0):
    plan = say(world, text, hours)
    return keep(world, plan)


def keep(world, plan):
    record = world.kit.transaction.apply(plan)
    if record["state"] == "applied":
        world.kit.transaction.confirm(str(record["id"]))
    return str(record["id"])


def at(world, hours):
    world.time.unix = start(world) + int(hours * HOUR)
    world.time.mono += 9 * HOUR
    return world.expiry.step()


def rules(world):
    text = world.kit.config("firewall")
    return [name for name in ("tv", "phone") if b"config rule '%s'" % name.encode() in text]


def until(world, change):
    return world.kit.journal.read(change).get("until_unix_s", 0) and (
        (world.kit.journal.read(change)["until_unix_s"] - start(world)) / HOUR
    )


def test_the_same_value_for_good_drops_the_end_and_says_so(world):
    change = do(world, TV, 1)
    before = world.kit.config("firewall")
    plan = say(world, TV)
    assert plan["words"] == ["said again: stays for good; it would have ended at %s" % when.shown(start(world) + HOUR)]
    assert (plan["risk"], plan["reasons"], plan["needs_approval"]) == ("risky", [REASON], True)
    assert (plan["images"], plan["diff"], plan["services"], card(plan, 0)["confirm_s"]) == (
        {},
        [],
        [],
        plan["confirm_s"],
    )
    assert until(world, change) == 1  # planning drops nothing
    dropped = keep(world, plan)
    assert until(world, change) == 0
    assert at(world, 2) is None
    assert world.kit.config("firewall") == before
    assert world.kit.journal.read(dropped)["state"] == "confirmed"
    assert say(world, TV) is None


def test_the_same_value_until_the_same_time_changes_nothing(world):
    do(world, TV, 1)
    assert say(world, TV, 1) is None


@pytest.mark.parametrize("hours", [0.5, 2])
def test_the_same_value_until_another_time_ends_then(world, hours):
    change = do(world, TV, 1)
    plan = say(world, TV, hours)
    times = [when.shown(start(world) + int(one * HOUR)) for one in (hours, 1)]
    assert plan["words"] == ["said again: ends at %s instead of %s" % tuple(times)]
    keep(world, plan)
    assert until(world, change) == hours
    at(world, hours - 0.01)
    assert rules(world) == ["tv"]
    at(world, hours)
    assert rules(world) == []
    assert world.kit.journal.read(change)["undone_by"]
    assert at(world, 9) is None


def test_undo_brings_the_end_back_and_an_undo_of_that_drops_it_again(world):
    kit = world.kit
    change = do(world, TV, 1)
    dropped = do(world, TV)
    plan = plan_undo(kit.journal, kit.planner, "", "run2", "")
    assert plan["undoes"] == dropped
    assert plan["words"] == ["said again: ends at %s again" % when.shown(start(world) + HOUR)]
    assert plan["needs_approval"]
    undone = keep(world, plan)
    assert (until(world, change), kit.journal.read(dropped)["undone_by"]) == (1, undone)
    keep(world, plan_undo(kit.journal, kit.planner, undone, "run3", ""))
    assert until(world, change) == 0
    assert "undone_by" not in kit.journal.read(dropped)
    assert at(world, 2) is None
    assert rules(world) == ["tv"]


def test_a_part_said_again_stays_and_the_rest_ends(world):
    change = do(world, TV + "\n" + PHONE, 1)
    plan = say(world, TV)
    assert plan["words"] == ["firewall.tv: stays for good; it would have ended at %s" % when.shown(start(world) + HOUR)]
    keep(world, plan)
    at(world, 1)
    assert rules(world) == ["tv"]
    assert not world.kit.journal.read(change).get("undone_by")
    assert at(world, 9) is None


def test_a_part_with_another_end_ends_by_itself(world):
    change = do(world, TV + "\n" + PHONE, 2)
    do(world, TV, 3)
    assert until(world, change) == 2
    at(world, 2)
    assert (rules(world), until(world, change)) == (["tv"], 3)
    at(world, 3)
    assert rules(world) == []
    assert at(world, 9) is None


def test_a_part_with_an_earlier_end_ends_first(world):
    change = do(world, TV + "\n" + PHONE, 2)
    do(world, TV, 1)
    at(world, 1)
    assert (rules(world), until(world, change)) == (["phone"], 2)
    at(world, 2)
    assert rules(world) == []


def hostname(world):
    return world.kit.config("system").split(b"hostname '")[1].split(b"'")[0]


CELLAR = RENAME.replace("attic", "cellar")


def test_another_value_for_good_stays_at_the_time_and_is_no_failed_end(world):
    change = do(world, RENAME, 1)
    plan = say(world, CELLAR)
    assert "does not come back at %s any more" % when.shown(start(world) + HOUR) in plan["words"][-1]
    second = keep(world, plan)
    assert at(world, 2) is None
    assert hostname(world) == b"cellar"
    assert "expiry" not in world.kit.journal.read(change)
    world.time.unix = start(world)
    keep(world, plan_undo(world.kit.journal, world.kit.planner, second, "r", ""))
    assert (hostname(world), until(world, change)) == (b"attic", 1)
    at(world, 1)
    assert hostname(world) == b"OpenWrt"


def test_another_value_for_a_shorter_time_falls_back_twice(world):
    do(world, RENAME, 2)
    do(world, CELLAR, 1)
    at(world, 1)
    assert hostname(world) == b"attic"
    at(world, 2)
    assert hostname(world) == b"OpenWrt"


def test_another_value_for_a_longer_time_falls_back_to_what_was_before_both(world):
    do(world, RENAME, 1)
    do(world, CELLAR, 2)
    at(world, 1)
    assert hostname(world) == b"cellar"
    at(world, 2)
    assert hostname(world) == b"OpenWrt"
    assert at(world, 9) is None


def test_the_first_value_said_again_under_two_ends_stays(world):
    do(world, RENAME, 2)
    do(world, CELLAR, 1)
    do(world, RENAME)
    assert at(world, 1) is None
    assert at(world, 3) is None
    assert hostname(world) == b"attic"


def test_other_parts_of_a_change_end_though_one_was_set_otherwise(world):
    do(world, RENAME + "\nuci set system.@system[0].timezone=JST-9", 1)
    do(world, CELLAR)
    at(world, 1)
    assert hostname(world) == b"cellar"
    assert b"JST-9" not in world.kit.config("system")


def test_what_is_set_inside_a_barrier_ends_with_it(world):
    do(world, TV, 1)
    plan = say(world, "uci set firewall.tv.name=Television")
    assert plan["until_unix_s"] == start(world) + HOUR
    assert plan["words"][-1].startswith("until ")
    keep(world, plan)
    at(world, 1)
    assert rules(world) == []
    assert at(world, 9) is None


def test_what_is_taken_away_before_its_end_is_no_failed_end(world):
    change = do(world, TV, 1)
    plan = say(world, "uci delete firewall.tv")
    assert not any("end" in word for word in plan["words"])
    keep(world, plan)
    assert at(world, 2) is None
    assert "expiry" not in world.kit.journal.read(change)


def test_an_anonymous_section_is_known_by_its_place_after_the_change(world):
    options = ("name=x", "src=lan", "dest=wan", "target=REJECT")
    rule = "\n".join(["uci add firewall rule", *(f"uci set firewall.@rule[-1].{option}" for option in options)])
    change = do(world, rule, 1)
    keep(world, world.kit.planner.propose(world.parse(PHONE), "r", "c", "", 0))
    assert until(world, change) == 1
    at(world, 1)
    assert (rules(world), b"option name 'x'" in world.kit.config("firewall")) == (["phone"], False)


def test_a_low_change_may_stay_without_asking_and_another_change_has_no_word_of_ends(world):
    do(world, RENAME, 1)
    plan = say(world, RENAME)
    assert (plan["risk"], plan["needs_approval"]) == ("low", False)
    assert say(world, PHONE)["ends"] == []


def test_the_hash_binds_what_becomes_of_the_end(world):
    do(world, TV, 1)
    plan = say(world, TV)
    assert world.kit.planner.hash(plan) == plan["hash"]
    entry = {**plan["ends"][0], "after": {**plan["ends"][0]["after"], "until_unix_s": 5}}
    assert world.kit.planner.hash({**plan, "ends": [entry]}) != plan["hash"]


def test_an_end_that_came_while_the_plan_waited_refuses_it(world):
    do(world, TV, 1)
    plan = say(world, TV)
    at(world, 1)
    with pytest.raises(ApplyError, match="nothing was written"):
        world.kit.transaction.apply(plan)


def test_a_plan_made_before_the_end_was_moved_is_refused(world):
    do(world, TV, 1)
    plan = say(world, TV)
    do(world, TV, 2)
    with pytest.raises(ApplyError, match="another one since the plan was made"):
        world.kit.transaction.apply(plan)


def test_an_end_that_is_planned_already_does_not_take_what_was_dropped_meanwhile(world):
    change = do(world, TV, 1)
    world.time.unix += HOUR
    ending = world.expiry._plan(world.kit.journal.read(change), world.time.unix)
    do(world, TV)
    with pytest.raises(ApplyError, match="another one since"):
        world.kit.transaction.apply(ending)
    assert rules(world) == ["tv"]


def test_a_change_that_is_put_back_leaves_the_end(world):
    change = do(world, TV, 1)
    plan = say(world, TV + "\n" + PHONE)
    record = world.kit.transaction.apply(plan)
    assert (record["state"], until(world, change)) == ("applied", 1)
    world.kit.transaction.roll_back(str(record["id"]), "no")
    assert until(world, change) == 1


def test_at_every_failing_write_the_end_stays_or_is_dropped_and_the_record_says_which(world, tmp_path):
    kit = world.kit
    change = do(world, TV, 1)
    for step in range(1, 60):
        files = FailingFiles()
        broken = Kit(None, root=kit.root.folder, files=files)
        plan = broken.planner.propose(world.parse(TV), "run1", "chat1", "again", 0)
        files.fail_at = files.steps + step
        try:
            broken.transaction.apply(plan)
        except StoreError:
            pass
        else:
            if files.steps < files.fail_at:
                break
        fresh = kit.again()
        fresh.transaction.recover()
        newest = fresh.journal.records()[0]
        is_dropped = not fresh.journal.read(change).get("until_unix_s")
        assert is_dropped == (newest["id"] != change and newest["state"] == "confirmed"), (step, newest)
        fresh.journal.update(change, until_unix_s=start(world) + HOUR)
        for name in [one["id"] for one in fresh.journal.records() if one["id"] != change]:
            fresh.journal._remove(name)
    else:
        raise AssertionError("no end")
    assert step > 3
