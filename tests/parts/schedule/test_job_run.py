"""What the owner approved ahead fits the same operations with the same outcome, and nothing else on any other day."""

import pytest

from oasis.change.approval import ApprovalQueue as Queue
from oasis.change.uci_commands import parse
from oasis.parts.schedule.ahead import approval_ahead, fits_ahead, foreseen, why_not_ahead
from oasis.parts.schedule.job_run import WAIT_S, JobRun
from tests.change.conftest import kit  # noqa: F401  (a fixture)
from tests.change.kit import RENAME, WIFI
from tests.tools.kit import Hands, Source, registry

OPEN = "uci set firewall.@rule[1].target=ACCEPT\nuci set firewall.@rule[1].enabled=1"


@pytest.fixture
def world(kit):  # noqa: F811
    class World:
        planner = kit.planner

        def plan(self, text, run="run1", **more):
            return kit.planner.propose(parse(text)[0], run, "chat1", "a test", **more)

        def approve(self, text):
            self.kept = [approval_ahead(self.plan(text, "rehearsal"), kit.planner)]

        def fits(self, text, **more):
            return fits_ahead(self.plan(text, **more), self.kept, kit.planner)

        def fits_all(self, text, kept):
            return fits_ahead(self.plan(text), kept, kit.planner)

        def edit(self, package, old, new):
            path = kit.root.confdir + "/" + package
            data = kit.files.read(path)
            assert old in data
            kit.files.replace(path, data.replace(old, new))

        def read(self, package):
            return kit.files.read(kit.root.confdir + "/" + package)

        def write(self, package, data):
            kit.files.replace(kit.root.confdir + "/" + package, data)

    return World()


def test_same_plan_in_another_run_fits(world):
    world.approve(WIFI)
    assert world.plan(WIFI)["hash"] != world.plan(WIFI, "run2")["hash"], "another plan, as far as its own approval goes"
    assert world.fits(WIFI)


def test_value_that_the_plan_itself_sets_may_be_another_one_before(world):
    world.approve(WIFI)
    world.edit("wireless", b"option ssid", b"option  ssid")
    before = world.read("wireless")
    world.write("wireless", before.replace(b"OpenWrt", b"Cellar", 1))
    assert world.read("wireless") != before
    assert world.fits(WIFI), "the same outcome, written down otherwise"


@pytest.mark.parametrize(
    "text",
    ["uci set wireless.default_radio0.ssid=Other", WIFI + "\n" + "uci set wireless.radio0.disabled=1",
     "uci set wireless.default_radio1.ssid=Attic", RENAME],
)  # fmt: skip
def test_other_operations_do_not_fit(world, text):
    world.approve(WIFI)
    assert not world.fits(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"config wifi-iface 'default_radio0'", b"config wifi-iface 'default_radio0'\n\toption isolate '1'"),
     (b"config wifi-device 'radio0'", b"config wifi-iface 'new'\n\toption ssid 'x'\n\nconfig wifi-device 'radio0'")],
)  # fmt: skip
def test_package_that_is_otherwise_than_it_was_shown_does_not_fit(world, old, new):
    world.approve(WIFI)
    world.edit("wireless", old, new)
    assert not world.fits(WIFI)


def test_section_found_by_its_place_is_not_another_one_later(world):
    """The rule that was the second when the owner looked is the third now: enabling the second would open another."""
    world.approve(OPEN)
    data = world.read("firewall")
    at = data.index(b"config rule")
    world.write("firewall", data[:at] + b"config rule\n\toption name 'first'\n\toption src 'wan'\n\n" + data[at:])
    assert not world.fits(OPEN)


def test_added_section_fits_once(world):
    text = "uci add firewall rule\nuci set firewall.@rule[-1].name=once"
    world.approve(text)
    assert world.fits(text)
    world.write("firewall", world.read("firewall") + b"\nconfig rule\n\toption name 'once'\n")
    assert not world.fits(text), "a second one is another outcome"


def test_what_the_verdict_rested_on_must_be_as_it_was(world):
    plan = world.plan(WIFI)
    plan = world.planner.bind(plan, before={**plan["before"], "network": "revision of then"})
    kept = [approval_ahead(plan, world.planner)]
    # who is let in rests on all of these, and the plan touches none of them
    assert set(kept[0]["read"]) == {"network", "firewall", "dropbear", "uhttpd"}
    assert fits_ahead(plan, kept, world.planner)
    world.edit("network", b"config interface 'lan'", b"config interface 'lan'\n\toption mtu '1400'")
    assert not fits_ahead(plan, kept, world.planner)


@pytest.mark.parametrize(
    ("field", "value"),
    [("tainted", True), ("until_unix_s", 2_000_000_000), ("forces", ["unknown"]), ("typed_word", "risky"),
     ("undoes", "x"), ("risk", "low"), ("reasons", ["another one"]),
     ("services", [{"name": "network", "action": "restart"}])],
)  # fmt: skip
def test_plan_that_says_anything_else_does_not_fit(world, field, value):
    world.approve(WIFI)
    plan = world.plan(WIFI)
    assert fits_ahead(plan, world.kept, world.planner)
    assert not fits_ahead({**plan, field: value}, world.kept, world.planner)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [("tainted", True, "words of others"), ("until_unix_s", 5, "an end of its own"),
     ("new_address", "192.168.7.1", "another address"),
     ("verdict", {"verdict": "cannot_tell"}, "nothing proves in advance"),
     ("verdict", {"verdict": "no"}, "nothing proves in advance")],
)  # fmt: skip
def test_what_cannot_be_known_ahead_cannot_be_approved_ahead(world, field, value, said):
    plan = {**world.plan(WIFI), "verdict": {"verdict": "yes"}}
    assert why_not_ahead(plan, world.planner.policy) == ""
    assert said in why_not_ahead({**plan, field: value}, world.planner.policy)


def call(world, name, arguments, reasons, words=("restarts the router",), **other):
    tool = {"name": name, "source": "built-in", "class": "danger", **other}
    return world.planner.call(tool, arguments, "run1", "chat1", reasons, list(words))


def test_call_of_a_tool_fits_to_the_letter(world):
    kind = {"class": "change"}
    kept = [approval_ahead(call(world, "lamp", {"on": True}, ["a rehearsal"], **kind), world.planner)]
    assert fits_ahead(call(world, "lamp", {"on": True}, ["change"], **kind), kept, world.planner)
    for other in (
        call(world, "lamp", {"on": False}, ["change"], **kind),
        call(world, "lamp", {"on": True}, ["change"], ["restarts another router"], **kind),
        call(world, "lamp", {"on": True}, ["change"], source="mcp:evil", **kind),
        call(world, "light", {"on": True}, ["change"], **kind),
        call(world, "lamp", {"on": True}, ["change"], **{"class": "danger"}),
    ):
        assert not fits_ahead(other, kept, world.planner)


@pytest.mark.parametrize(
    ("name", "arguments", "source"),
    [("power", {"action": "shutdown"}, "built-in"), ("power", {"action": "reboot"}, "mcp:evil"),
     ("packages", {"action": "install", "names": ["tcpdump"]}, "built-in"),
     ("ssh_keys", {"action": "add"}, "built-in"), ("firmware", {"action": "upgrade"}, "built-in")],
)  # fmt: skip
def test_dangerous_call_is_asked_for_each_time_but_a_restart(world, name, arguments, source):
    reboot = call(world, "power", {"action": "reboot"}, ["danger"])
    assert why_not_ahead(reboot, world.planner.policy) == ""
    assert fits_ahead(reboot, [approval_ahead(reboot, world.planner)], world.planner)
    plan = call(world, name, arguments, ["danger"], source=source)
    assert why_not_ahead(plan, world.planner.policy) == f"you are asked for each call of {name}"
    assert not fits_ahead(plan, [approval_ahead(plan, world.planner)], world.planner), "nor one of an older version"


def test_neither_code_nor_the_end_of_a_service_is_approved_ahead(world):
    stop = world.planner.service("dropbear", "stop", "run1", "chat1")
    code = world.plan("uci set uhttpd.main.interpreter='.sh=/bin/sh'", forces=("exec",))
    for plan, why in ((stop, "ends a service"), (code, "runs code"), ({**code, "forces": []}, "runs code")):
        assert why in why_not_ahead(plan, world.planner.policy)
        assert not fits_ahead(plan, [approval_ahead(plan, world.planner)], world.planner)
    restart = world.planner.service("dropbear", "restart", "run1", "chat1")
    assert why_not_ahead(restart, world.planner.policy) == ""


class Unchanged:
    """Tools and their operator, where the commands of a call change nothing now."""

    taint = ()

    def kind(self, name, params):
        return "change"

    def rehearsal(self, who):
        return self

    def call(self, name, params, operator):
        return '{"status":"unchanged"}', False, []


def test_call_that_changes_nothing_is_approved_as_the_way_back_to_this_state(world):
    calls = [{"tool": "configure", "params": {"commands": WIFI.replace("Attic", "OpenWrt").split("\n")}}]
    (words,), kept = foreseen(calls, Unchanged(), Unchanged(), world.planner)
    assert words.startswith("approved with this card") and words.endswith("(it is so now)")
    was, commands = world.read("wireless"), calls[0]["params"]["commands"][0]
    world.edit("wireless", b"OpenWrt", b"Cellar")
    assert not world.fits_all(commands, kept), "the other radio would not be as it was"
    world.write("wireless", was.replace(b"OpenWrt", b"Cellar", 1))
    assert world.fits_all(commands, kept)
    world.edit("firewall", b"config zone", b"config zone\n\toption log '1'")
    assert not world.fits_all(commands, kept), "who is let in was another one then"


@pytest.mark.parametrize(
    ("more", "taint"), [({"until": "22:00"}, ()), ({"install": ["tcpdump"]}, ()), ({}, ("device names",))]
)
def test_way_back_is_not_approved_with_an_end_with_packages_or_in_words_of_others(world, more, taint):
    calls = [{"tool": "configure", "params": {"commands": [WIFI], **more}}]
    operator = Unchanged()
    operator.taint = taint
    (words,), kept = foreseen(calls, operator, Unchanged(), world.planner)
    assert words.startswith("waits for you each time") and kept == [words.partition("(")[2].partition(")")[0]]


def test_way_back_to_a_state_that_is_not_kept_yet_is_not_approved(world):
    calls = [{"tool": "configure", "params": {"commands": [WIFI]}}]
    (words,), kept = foreseen(calls, Unchanged(), Unchanged(), world.planner, is_kept=False)
    assert words.startswith("waits for you each time (a change waits to be kept)")
    assert kept == ["a change waits to be kept"]


class ApprovalQueue:
    def __init__(self, decision="approved"):
        self.decision, self.seen, self.queued = decision, [], []

    def put(self, plan):
        self.queued.append(plan)

    def drop(self, plan):
        self.queued.remove(plan)

    def wait(self, plan, is_cancelled):
        self.seen.append(plan)
        return self.decision, "owner"


class Kit:
    def __init__(self, planner, desk):
        self.planner, self.approvals = planner, desk

    def now_s(self):
        return 1000.0


class Runner:
    """Hears of plans that wait."""

    def __init__(self, services, plan_waits=lambda made, plan: None):
        self.kit, self.plan_waits = services, plan_waits


def role(world, desk, job=None, rehearses=False):
    job = {"id": "e1", "when": "22:00 daily", "wish": "x", **(job or {})}
    return JobRun(Runner(Kit(world.planner, desk)), job, "", [], rehearses=rehearses)


def test_desk_of_a_run_asks_for_everything_but_low_risk_and_what_was_approved(world):
    desk = ApprovalQueue()
    alone = role(world, desk)
    risky, low = world.plan(WIFI), world.plan(RENAME)
    risky = world.planner.bind(risky, needs_approval=False)  # as the setting 'none' has it
    risky, low = alone.judge(risky), alone.judge(low)
    assert risky["needs_approval"] and not low["needs_approval"]
    assert risky["expires_s"] == 1000 + WAIT_S and risky["confirm_s"] > 0
    assert world.planner.hash(risky) == risky["hash"], "what the owner approves is what was shown"
    assert alone.wait(risky, lambda: False) == ("approved", "owner") and desk.seen == [risky]
    world.approve(WIFI)
    ahead = role(world, desk, {"approved": world.kept})
    plan = ahead.judge(world.plan(WIFI))
    assert plan["confirm_s"] == 0
    assert ahead.wait(plan, lambda: False)[0] == "approved" and len(desk.seen) == 1
    tainted = ahead.judge(world.planner.taint(world.plan(WIFI), ["device names"]))
    ahead.wait(tainted, lambda: False)
    assert desk.seen[-1] is tainted, "the last judgement counts, not the one before"


def test_who_hears_of_a_plan_that_waits_may_decide_at_once(world):
    queue = Queue(lambda: 1000.0)
    owner = {"name": "owner", "terminal": False}
    runner = Runner(Kit(world.planner, queue), lambda made, plan: queue.approve(plan["id"], plan["hash"], owner))
    alone = JobRun(runner, {"id": "e1", "when": "22:00 daily", "wish": "x"}, "", [])
    plan = alone.judge(world.plan(WIFI))
    assert alone.wait(plan, lambda: False) == ("approved", "owner")


def test_plan_that_could_not_be_told_does_not_stay_in_the_queue(world):
    def fail(made, plan):
        raise OSError("the flash is full")

    queue = ApprovalQueue()
    runner = Runner(Kit(world.planner, queue), fail)
    with pytest.raises(OSError):
        JobRun(runner, {"id": "e1", "when": "22:00 daily", "wish": "x"}, "", []).judge(world.plan(WIFI))
    assert queue.queued == []


def test_rehearsal_asks_for_low_risk_too_and_approves_nothing_to_be_done(world):
    desk = ApprovalQueue()
    alone = role(world, desk, rehearses=True)
    plan = alone.judge(world.plan(RENAME))
    assert plan["needs_approval"]
    assert alone.wait(plan, lambda: False)[0] == "noted"
    assert len(alone.approved) == 1
    desk.decision = "declined"
    assert alone.wait(plan, lambda: False)[0] == "declined" and len(alone.approved) == 1
    tainted = world.planner.taint(world.plan(WIFI), ["device names"])
    assert alone.wait(tainted, lambda: False)[0] == "declined" and len(desk.seen) == 2, "not even asked"


@pytest.mark.parametrize(("kind", "is_asked"), [("read", False), ("change", True), ("net", True), ("danger", True)])
def test_rehearsal_makes_no_call_that_does_something_even_where_it_is_allowed(kind, is_asked):
    done = []
    look = {"class": kind, "approval": "allow"}
    found = registry(Source(tool=(look, lambda *_: done.append(1) or {"text": "done"})))
    hands = Hands(answer={"status": "noted"})
    hands.rehearses = True
    text, is_error, _ = found.call("tool", {}, hands)
    assert bool(hands.asked) is is_asked and bool(done) is not is_asked and not is_error
    assert ("noted" in text) is is_asked
