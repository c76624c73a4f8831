"""Services by themselves: who is asked before one is ended, and whether it really ended, began or changed at boot."""

import os

import pytest

from oasis.change.policy import Policy
from oasis.errors import ToolError
from tests.change.apply.test_verification import World, plan, running
from tests.change.kit import Kit


@pytest.fixture
def kit(tmp_path):
    made = Kit(tmp_path / "router", approval="none")
    yield made
    made.transaction.stop()


@pytest.mark.parametrize("name", ["network", "firewall", "dropbear", "uhttpd", "rpcd", "wpad", "dnsmasq"])
@pytest.mark.parametrize("action", ["stop", "disable"])
def test_what_everybody_needs_is_not_ended_without_the_owner_whatever_is_set(kit, name, action):
    made = kit.planner.service(name, action, "r", "c")
    assert made["needs_approval"] and made["risk"] == "risky" and made["reasons"][0].startswith("without %s " % name)


def test_other_services_are_ended_by_the_policy_as_it_is_set(kit):
    assert not kit.planner.service("cron", "stop", "r", "c")["needs_approval"]
    assert Policy().judge_service("cron", "stop")[0] == "risky"
    assert Policy().judge_service("cron", "start")[0] == "risky"


def act(kit, name, action):
    made = kit.planner.service(name, action, "r", "c")
    return kit.transaction.apply(made)


@pytest.mark.parametrize("action, state", [("stop", False), ("start", True), ("restart", True)])
def test_an_action_is_done_and_read_back(kit, action, state):
    if action != "stop":
        act(kit, "sysntpd", "stop")
    record = act(kit, "sysntpd", action)
    assert record["state"] == "confirmed" and record["verified"][0]["result"] == "seen"
    path = kit.root.folder + "/var/run/services/sysntpd"
    assert os.path.exists(path) == state


@pytest.mark.parametrize("action", ["enable", "disable"])
def test_a_start_at_boot_is_read_back(kit, action):
    act(kit, "sysntpd", "disable")
    record = act(kit, "sysntpd", action)
    assert record["verified"] == [{"what": "start of sysntpd at boot", "result": "seen"}]
    links = os.listdir(kit.root.folder + "/etc/rc.d")
    assert any(link.endswith("sysntpd") and link[0] == "S" for link in links) == (action == "enable")


def test_a_service_that_does_not_stop_is_told():
    world = World(**{"service dnsmasq": running(7)})
    with pytest.raises(ToolError, match="still runs"):
        world.verify(plan(services=[("dnsmasq", "stop")]))
    world = World(**{"service dnsmasq": None})
    world.replies["service other"] = running(1)
    assert world.verify(plan(services=[("dnsmasq", "stop")])) == {"service dnsmasq": "seen"}
