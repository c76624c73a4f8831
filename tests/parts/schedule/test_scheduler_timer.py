"""The clockwork: when entries fire, and how often, whatever the clock and the power do."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oasis.parts.schedule.scheduler import LONGEST_S, PAUSE_S, WRONG_S
from tests.change.kit import FailingFiles
from tests.parts.schedule.kit import BERLIN, DAY, HOUR, Quiet, Time, World, at


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_fires_at_its_moment_and_not_before(world):
    world.add("off", "22:00 daily")
    world.pass_to("2026-11-22 21:59")
    assert world.ran() == []
    world.pass_to("2026-11-22 22:00")
    assert world.ran() == ["off"]
    assert world.time.unix - at("2026-11-22 22:00") <= 1
    world.pass_to("2026-11-25 21:00")
    assert world.ran() == ["off", "off"]


def test_sleeps_until_the_next_moment_and_never_longer_than_ten_minutes(world):
    world.add("off", "22:00 daily")
    assert world.timer.step() == LONGEST_S == 600
    world.time.unix = at("2026-11-22 21:59") + 17
    assert world.timer.step() == 43


def test_thread_ends_when_nothing_is_enabled(world):
    assert world.timer.step() is None
    world.add("off", "22:00 daily", enabled=False)
    assert world.timer.step() is None


def test_once_ends_itself_with_the_write_that_notes_it(world):
    world.add("one", "13:00 once")
    world.pass_to("2026-11-22 13:00")
    assert world.ran() == ["one"]
    assert not world.records.get("one")["enabled"]
    with open(world.path, "rb") as handle:
        assert handle.read().count(b"\n") == 2, "made, and fired: one write a firing"
    world.pass_to("2026-11-29 13:00")
    assert world.ran() == []


def test_what_was_missed_while_the_router_was_off_comes_once(world):
    world.add("report", "*/30 * * * *")
    world.pass_to("2026-11-22 12:30")
    assert world.ran() == ["report"]
    world.time.pass_s(3 * DAY + 600)
    again = world.restart()
    again.pass_to("2026-11-25 12:41")
    assert again.ran() == ["report"]
    again.pass_to("2026-11-25 13:00")
    assert again.ran() == ["report"], "the next one as always"


def test_what_was_missed_comes_in_the_order_in_which_it_would_have(world):
    world.add("on", "08:00 daily")
    world.add("off", "22:00 daily")
    world.time.unix = at("2026-11-24 10:00")
    again = world.restart()
    again.timer.step()
    assert again.ran() == ["off", "on"], "off at 22, on at 8"
    again.time.unix = at("2026-11-25 23:00")
    again.timer.step()
    assert again.ran() == ["on", "off"]


def test_nothing_fires_while_the_clock_is_not_trusted(world):
    world.add("off", "22:00 daily")
    world.watch.found = [{"event": "wan_down", "text": "x", "taint": []}]
    world.add("down", "on wan_down")
    world.time.is_trusted = False
    world.time.unix = at("2026-12-22 23:00")
    assert world.timer.step() == LONGEST_S
    assert world.ran() == []
    world.time.is_trusted = True
    world.timer.step()
    assert sorted(world.ran()) == ["down", "off"]


def test_trust_is_asked_for_with_the_newest_firing(world):
    world.add("off", "22:00 daily", fired_unix_s=at("2026-11-21 22:00"))
    world.timer.step()
    assert world.time.newest == at("2026-11-21 22:00")


def test_clock_that_is_set_back_a_little_does_not_fire_twice(world):
    world.add("off", "22:00 daily")
    world.pass_to("2026-11-22 22:00")
    assert world.ran() == ["off"]
    world.time.unix -= 120
    world.pass_to("2026-11-22 22:10")
    assert world.ran() == []


def test_clock_that_was_a_year_ahead_does_not_silence_an_entry_for_a_year(world):
    world.add("off", "22:00 daily")
    world.time.unix += 365 * DAY
    world.timer.step()
    assert world.ran() == ["off"], "missed, as far as anybody knew"
    world.time.unix = at("2026-11-22 12:00")
    world.pass_to("2026-11-22 22:00")
    assert world.ran() == ["off"]


def test_bad_entry_is_disabled_and_told_and_the_others_go_on(world):
    world.add("bad", "at some time")
    world.add("never", "0 0 30 2 *")
    world.add("zone", "22:00 daily", timezone="nowhere")
    world.add("good", "12:01 daily")
    world.pass_to("2026-11-22 12:01")
    assert world.ran() == ["good"]
    assert sorted(name for name, _ in world.runner.told) == ["bad", "never", "zone"], "told once"
    assert [name for name in ("bad", "never", "zone", "good") if world.records.get(name)["enabled"]] == ["good"]


def test_entry_has_its_own_zone(world):
    world.add("tokyo", "22:00 daily", timezone="JST-9")
    world.pass_to("2026-11-22 14:00")
    assert world.ran() == ["tokyo"]


def test_event_fires_what_waits_for_it_and_then_rests(world):
    world.add("down", "on wan_down")
    world.add("up", "on wan_up")
    down = {"event": "wan_down", "text": "wan went down", "taint": []}
    for seconds, expected in ((0, ["down"]), (60, []), (PAUSE_S - 61, []), (2, ["down"])):
        world.time.pass_s(seconds)
        world.watch.found = [dict(down)]
        world.timer.step()
        assert world.ran() == expected


def test_event_rests_over_a_restart_and_as_long_as_its_entry_says(world):
    world.add("down", "on wan_down", pause_s=2 * HOUR)
    world.watch.found = [{"event": "wan_down", "text": "", "taint": []}]
    world.timer.step()
    assert world.ran() == ["down"]
    for seconds, expected in ((HOUR, []), (HOUR + 1, ["down"])):
        world.time.pass_s(seconds)
        world = world.restart()
        world.watch.found = [{"event": "wan_down", "text": "", "taint": []}]
        world.timer.step()
        assert world.ran() == expected


def test_owner_who_changes_an_entry_while_it_fires_wins(world):
    world.add("off", "12:00 daily", since_unix_s=world.time.unix - DAY)
    seen = world.records.get("off")
    world.records.put({**seen, "enabled": False})
    world.timer._fire(seen, world.time.unix)
    assert world.ran() == []
    assert not world.records.get("off")["enabled"]
    world.records.delete(["off"])
    world.timer._fire(seen, world.time.unix)
    assert world.records.get("off") is None, "a deleted entry does not come back"


# Power and flash


def test_every_step_to_the_flash_may_fail_and_nothing_fires_twice(tmp_path):
    """The n-th write, sync or rename fails; the power goes after every step of the clockwork."""
    outcomes = set()
    for number in range(1, 12):
        folder = tmp_path / str(number)
        folder.mkdir()
        time = Time("2026-11-22 21:00")
        world = World(folder, time=time)
        world.add("off", "22:00 daily")
        world.add("one", "22:00 once")
        time.unix = at("2026-11-22 22:00")
        files = FailingFiles(number)
        fired = []
        for _ in range(3):
            world = world.restart(files)
            try:
                world.timer.step()
            except Exception as error:
                assert type(error).__name__ == "StoreError"
            fired += world.ran()
            time.pass_s(20)
        assert len(fired) == len(set(fired)), (number, fired)
        assert set(fired) == {"off", "one"}, "a flash that failed once loses nothing"
        outcomes.add(files.steps >= number)
    assert outcomes == {True, False}, "some n fail, and the last one is beyond all steps"


def test_full_flash_is_told_once_and_tried_again_in_ten_minutes(tmp_path):
    world = World(tmp_path)
    world.add("off", "12:01 daily")
    files = FailingFiles()
    files._step = lambda: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    full = world.restart(files)
    full.time.pass_s(60)
    for _ in range(3):
        with pytest.raises(Exception, match="No space"):
            full.timer.step()
    assert full.ran() == []
    assert [name for name, _ in full.runner.told] == ["off"]
    files._step = lambda: None
    full.timer.step()
    assert full.ran() == ["off"]


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("pass"), st.integers(1, 30 * HOUR)),
        st.tuples(st.just("set"), st.integers(-2 * HOUR, 2 * HOUR)),
        st.tuples(st.just("cut"), st.integers(0, 3 * DAY)),
        st.tuples(st.just("doubt"), st.integers(1, DAY)),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(
    ACTIONS,
    st.sampled_from(["22:00 daily", "02:30 daily", "*/30 * * * *", "08:00 custom(mon,thu)", "07:00 monthly(31)"]),
)
def test_no_moment_fires_twice_and_each_wake_fires_once_at_most(tmp_path_factory, actions, text):
    world = World(tmp_path_factory.mktemp("r"), time=Time("2027-03-27 12:00"))  # the night that has one hour less
    world.add("it", text)
    for kind, seconds in actions:
        if kind == "pass":
            world.pass_to(BERLIN.shown(world.time.unix + seconds))
            world.ran()
        elif kind == "set":
            world.time.unix += seconds
        elif kind == "cut":
            world.time.pass_s(seconds)
            world = world.restart()
        else:
            world.time.is_trusted = False
            world.timer.step()
            assert world.ran() == []
            world.time.pass_s(seconds)
            world.time.is_trusted = True
        before = world.records.get("it").get("fired_unix_s", 0)
        world.timer.step()
        fired = world.ran()
        world.timer.step()
        assert len(fired) <= 1
        assert world.ran() == [], "what was missed comes once"
        after = world.records.get("it").get("fired_unix_s", 0)
        assert (after > before or before > world.time.unix + WRONG_S) if fired else after == before


def test_thread_sleeps_wakes_at_a_change_and_stops(tmp_path):
    """The real thread on a pipe of its own: no wake-up but those that are asked for."""
    from oasis.parts.schedule.router_events import Pipe

    class Counting(Pipe):
        waits = 0

        def wait(self, seconds):
            self.waits += 1
            return super().wait(seconds)

    import os
    import time as clock

    pipe = Counting(str(tmp_path / "events"))
    world = World(tmp_path, pipe=pipe)
    world.timer.look()
    assert not os.path.exists(tmp_path / "events"), "no thread for no entry"
    world.add("off", "22:00 daily")
    world.timer.look()

    def until(done):
        deadline = clock.monotonic() + 20
        while not done():
            assert clock.monotonic() < deadline
            clock.sleep(0.01)

    until(lambda: pipe.waits == 1)
    world.add("soon", "12:00 daily", since_unix_s=world.time.unix - DAY)
    world.timer.look()
    until(lambda: world.runner.ran)
    until(lambda: pipe.waits >= 3)
    asleep = pipe.waits
    clock.sleep(0.3)
    assert pipe.waits == asleep, "it sleeps"
    world.records.delete(["off", "soon"])
    world.timer.look()
    until(lambda: not os.path.exists(tmp_path / "events"))
    world.add("later", "23:00 daily")
    world.timer.look()
    until(lambda: os.path.exists(tmp_path / "events"))
    world.timer.stop()
    until(lambda: not os.path.exists(tmp_path / "events"))


def test_what_cannot_be_noted_or_read_ends_no_thread(tmp_path):
    """A new device while the flash is full, a fault, and an entry that is none: orders are carried out all the same."""
    import time as clock

    from oasis.errors import StoreError
    from oasis.parts.schedule.router_events import Pipe

    faults = [StoreError("the disk is full"), KeyError("mac")]

    class Failing(Quiet):
        def take(self, line, wanted):
            if faults:
                raise faults.pop(0)
            super().take(line, wanted)

    pipe = Pipe(str(tmp_path / "events"))
    world = World(tmp_path, pipe=pipe, watch=Failing())
    world.records.put({"id": "none", "enabled": True})
    world.add("new", "on new_device")
    world.timer.look()
    with open(tmp_path / "events", "wb", buffering=0) as hotplug:
        hotplug.write(b"dhcp add 02:00:00:00:00:09 192.168.1.9 x\n" * 3)

    def until(done):
        deadline = clock.monotonic() + 20
        while not done():
            assert clock.monotonic() < deadline, world.log
            clock.sleep(0.01)

    until(lambda: world.watch.lines)
    assert "the disk is full" in world.log[0] and "KeyError" in world.log[1]
    world.add("soon", "12:00 daily", since_unix_s=world.time.unix - DAY)
    world.timer.look()
    until(lambda: ("soon", "") in world.runner.ran)
    world.timer.stop()
    until(lambda: world.timer._thread is None)
