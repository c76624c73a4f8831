"""The owner's own way is tried on each risky plan, as the running router tells it."""

import pytest

from oasis.change.owner import OwnerWay
from oasis.errors import ApplyError, PolicyError, ToolError
from oasis.system.ubus import Ubus
from tests.change.kit import RENAME, WIFI

# 192.168.1.142:50000 is connected to 192.168.1.1:80, as /proc/net/tcp prints it on a little-endian host.
PAGE = "   9: 0101A8C0:0050 8E01A8C0:C350 01 00000000:00000000 00:00000000 00000000     0        0 4000 1 0\n"


@pytest.fixture
def kit(kit):
    """A kit whose planner asks for the owner's way."""
    ubus = Ubus(kit.executor, kit.root.program("ubus"))
    kit.planner._reach = OwnerWay(kit.root, kit.files, ubus.call)
    return kit


HEAD = "  sl  local_address rem_address   st\n"


def connect(kit, line=PAGE):
    for name, text in (("tcp", HEAD + line), ("tcp6", HEAD)):
        with open(kit.root.path("/proc/net/" + name), "w") as table:
            table.write(text)


def test_nobody_is_connected_and_it_cannot_tell(kit):
    connect(kit, "")
    assert kit.plan("uci set network.wan.mtu=1400")["verdict"]["verdict"] == "cannot_tell"


def test_a_change_elsewhere_leaves_the_way_open(kit):
    connect(kit)
    plan = kit.plan("uci set network.wan.mtu=1400")
    assert plan["verdict"]["verdict"] == "yes", plan["verdict"]


@pytest.mark.parametrize(
    "change",
    [
        "uci set firewall.@zone[0].input=REJECT",
        "uci delete network.lan",
        "uci add firewall rule\nuci set firewall.@rule[-1].src=lan\nuci set firewall.@rule[-1].dest_port=80\n"
        "uci set firewall.@rule[-1].proto=tcp\nuci set firewall.@rule[-1].target=DROP\n",
    ],
)
def test_a_change_that_locks_the_owner_out_is_refused_with_the_reason(kit, change):
    connect(kit)
    before = {name: kit.config(name) for name in ("network", "firewall")}
    with pytest.raises(PolicyError, match=r"would not reach the router any more: .") as caught:
        kit.plan(change)
    assert caught.value.hint
    assert {name: kit.config(name) for name in before} == before


def test_a_moved_address_is_told_before(kit):
    connect(kit)
    plan = kit.plan("uci set network.lan.ipaddr=192.168.7.1")
    assert plan["verdict"]["verdict"] in ("yes", "cannot_tell")
    assert "192.168.7.1" in repr([plan["verdict"], plan.get("new_address")])


def test_low_risk_and_other_packages_are_not_asked(kit):
    kit.planner._reach = lambda images: pytest.fail("asked")
    assert kit.plan(RENAME)["verdict"] == {}


def test_the_verdict_is_part_of_what_is_approved(kit):
    plan = kit.plan(WIFI)
    plan["verdict"] = {"verdict": "no", "reasons": [], "new_address": ""}
    assert kit.planner.hash(plan) != plan["hash"]


def test_a_plan_is_stale_when_anything_that_the_verdict_read_has_changed(kit):
    connect(kit)
    plan = kit.plan("uci set network.wan.mtu=1400")
    kit.write("firewall", kit.config("firewall").replace(b"option input 'ACCEPT'", b"option input 'REJECT'"))
    with pytest.raises(ApplyError, match="firewall was changed by somebody else"):
        kit.transaction.apply(plan)


def test_a_bus_that_does_not_answer_makes_it_careful(kit):
    def broken(*words):
        raise ToolError("no bus")

    connect(kit)
    kit.planner._reach = OwnerWay(kit.root, kit.files, broken)
    assert kit.plan("uci set network.wan.mtu=1400")["verdict"]["verdict"] in ("yes", "cannot_tell")
