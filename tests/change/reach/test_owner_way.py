"""The owner's own way is tried on each risky plan, as the running router tells it."""

import os

import pytest

from oasis.change.reach.owner_way import OwnerWay
from oasis.errors import ApplyError, PolicyError, ToolError
from oasis.system.connections import connection
from oasis.ubus.outgoing import Ubus
from tests.change.kit import RENAME, WIFI
from tests.change.reach.test_dangers import GOOD

# 192.168.1.142:50000 is connected to 192.168.1.1:80, as /proc/net/tcp prints it on a little-endian host.
PAGE = "   9: 0101A8C0:0050 8E01A8C0:C350 01 00000000:00000000 00:00000000 00000000     0        0 4000 1 0\n"


@pytest.fixture
def kit(kit):
    """A kit whose planner asks for the owner's way."""
    ubus = Ubus(kit.executor, kit.root.program("ubus"))
    way = OwnerWay(kit.root, kit.files, ubus.call)
    kit.planner._questions.reach = lambda images, run: way(images)
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
    kit.planner._questions.reach = lambda images, run: pytest.fail("asked")
    assert kit.plan(RENAME)["verdict"] == {}


def test_the_verdict_is_part_of_what_is_approved(kit):
    plan = kit.plan(WIFI)
    other = {"verdict": "no", "reasons": [], "new_address": ""}
    assert kit.planner.hash({**plan, "verdict": other}) != plan["hash"]


def test_a_plan_is_stale_when_anything_that_the_verdict_read_has_changed(kit):
    connect(kit)
    plan = kit.plan("uci set network.wan.mtu=1400")
    kit.write(
        "dhcp", kit.config("dhcp").replace(b"option start '100'", b"option start '90'")
    )  # only the verdict reads it
    with pytest.raises(ApplyError, match="dhcp was changed by somebody else"):
        kit.transaction.apply(plan)


def test_a_bus_that_does_not_answer_makes_it_careful(kit):
    def broken(*words):
        raise ToolError("no bus")

    connect(kit)
    kit.planner._questions.reach = lambda images, run: OwnerWay(kit.root, kit.files, broken)(images)
    assert kit.plan("uci set network.wan.mtu=1400")["verdict"]["verdict"] in ("yes", "cannot_tell")


SSH = "  10: 0101A8C0:0016 8D01A8C0:C351 01 00000000:00000000 00:00000000 00000000     0        0 4001 1 0\n"
ANNA = "d43b049e652a"


def reach(kit, came=()):
    ubus = Ubus(kit.executor, kit.root.program("ubus"))
    way = OwnerWay(kit.root, kit.files, ubus.call)
    kit.planner._questions.reach = lambda images, run: way(images, came)


def put(kit, path, data):
    os.makedirs(os.path.dirname(kit.root.path(path)), exist_ok=True)
    with open(kit.root.path(path), "wb") as handle:
        handle.write(data)


def bridge(kit, port, name="br-lan"):
    """Write the kernel's files of a bridge with three ports, Anna's device behind one of them."""
    for number, one in enumerate(("lan1", "lan2", "lan4"), 1):
        put(kit, f"/sys/class/net/{name}/brif/{one}/port_no", b"0x%x\n" % number)
    entry = bytes.fromhex(ANNA) + bytes([port, 0]) + bytes(8)
    put(kit, f"/sys/class/net/{name}/brforward", entry)


def test_the_connection_of_the_runs_owner_decides_and_not_somebody_elses(kit):
    connect(kit, PAGE + SSH)
    shut = "uci add firewall rule\nuci set firewall.@rule[-1].src=lan\nuci set firewall.@rule[-1].dest_port=22\n"
    shut += "uci set firewall.@rule[-1].proto=tcp\nuci set firewall.@rule[-1].target=DROP\n"
    with pytest.raises(PolicyError):
        kit.plan(shut)
    reach(kit, [connection("192.168.1.1", "80", "192.168.1.142", "40404")])
    assert kit.plan(shut)["verdict"]["verdict"] == "yes"
    reach(kit, [connection("192.168.1.1", "22", "192.168.1.141", "50001")])
    with pytest.raises(PolicyError):
        kit.plan(shut)


def test_a_connection_that_is_gone_leaves_all_that_stand(kit):
    connect(kit, SSH)
    reach(kit, [connection("192.168.1.1", "80", "192.168.1.142", "50000")])
    with pytest.raises(PolicyError):
        kit.plan("uci set dropbear.main.enable=0")


def test_the_bridge_tells_behind_which_port_the_owner_is(kit):
    connect(kit)
    leaves = "uci del_list network.@device[0].ports=lan4"
    assert kit.plan(leaves)["verdict"]["verdict"] == "cannot_tell"
    bridge(kit, 2)
    assert kit.plan(leaves)["verdict"]["verdict"] == "yes"
    bridge(kit, 3)
    with pytest.raises(PolicyError, match="lan4"):
        kit.plan(leaves)


def test_pages_go_on_to_https_only_where_uhttpd_can_serve_it(kit):
    connect(kit)
    redirect = "uci add_list uhttpd.main.listen_https=0.0.0.0:443\nuci set uhttpd.main.redirect_https=1"
    assert kit.plan(redirect)["verdict"]["verdict"] == "cannot_tell"
    for path in ("/lib/libustream-ssl.so", "/etc/uhttpd.crt", "/etc/uhttpd.key"):
        put(kit, path, b"x")
    assert kit.plan(redirect)["verdict"]["verdict"] == "yes"
    put(kit, "/etc/uhttpd.key", b"")
    assert kit.plan(redirect)["verdict"]["verdict"] == "cannot_tell"


def test_an_owner_on_wifi_is_not_told_yes_when_the_wifi_goes(kit):
    connect(kit)
    kit.write("wireless", kit.config("wireless").replace(b"option disabled '1'", b"option disabled '0'"))
    bridge(kit, 1)
    put(kit, "/sys/class/net/br-lan/brif/phy0-ap0/port_no", b"0x9\n")
    put(kit, "/sys/class/net/br-lan/brforward", bytes.fromhex(ANNA) + bytes([9, 0]) + bytes(8))
    status = {"radio0": {"interfaces": [{"section": "default_radio0", "ifname": "phy0-ap0"}]}}
    answers = {"network.wireless": status}
    way = OwnerWay(kit.root, kit.files, lambda name, method, more=None: answers.get(name) or real(name, method, more))
    real = Ubus(kit.executor, kit.root.program("ubus")).call
    kit.planner._questions.reach = lambda images, run: way(images)
    with pytest.raises(PolicyError, match="switched off"):
        kit.plan("uci set wireless.radio0.disabled=1")
    assert kit.plan("uci set wireless.default_radio0.ssid=Other")["verdict"]["verdict"] == "cannot_tell"


def test_passwords_that_go_off_without_a_key_are_the_first_thing_on_the_card(kit):
    connect(kit)
    plan = kit.plan("uci set dropbear.main.PasswordAuth=off")
    assert plan["verdict"]["verdict"] == "yes" and plan["reasons"][0].startswith(
        "dropbear.main.PasswordAuth goes off: nobody"
    )
    put(kit, "/etc/dropbear/authorized_keys", GOOD)
    plan = kit.plan("uci set dropbear.main.PasswordAuth=off")
    assert plan["reasons"] == ["dropbear is on the way by which you reach the router"]
    connect(kit, SSH)
    assert kit.plan("uci set dropbear.main.PasswordAuth=off")["verdict"]["verdict"] == "cannot_tell"
    put(kit, "/etc/dropbear/authorized_keys", b"ssh-dss AAAA old\n")
    with pytest.raises(PolicyError, match="holds no key that dropbear reads"):
        kit.plan("uci set dropbear.main.PasswordAuth=off")


HOME = """uci rename network.lan=home
uci delete firewall.@zone[0].network
uci add_list firewall.@zone[0].network=home"""
NAMED = [
    (HOME, "dhcp.lan.interface (interface lan)"),
    (HOME, "dropbear.main.Interface (interface lan)"),
    (HOME, "wireless.default_radio0.network (interface lan)"),
    ("uci delete network.wan6", "firewall.@zone[1].network (interface wan6)"),
    ("uci delete network.lan.device\nuci delete network.@device[0]", "sqm.q.interface (bridge br-lan)"),
]  # fmt: skip


@pytest.mark.parametrize("change, told", NAMED)
def test_what_still_names_a_section_that_goes_is_told_in_every_package(kit, change, told):
    connect(kit, PAGE if change == HOME else "")
    kit.write("dropbear", kit.config("dropbear") + b"\toption Interface 'lan'\n")
    kit.write("sqm", b"config queue 'q'\n\toption interface 'br-lan'\n")
    (reason,) = [one for one in kit.plan(change)["reasons"] if "leaves behind" in one]
    assert told in reason


def test_a_device_that_the_router_makes_and_a_peer_of_a_tunnel_are_named_as_well(kit):
    made = b"\nconfig device 'v'\n\toption name 'guest9'\n\toption type '8021q'\n\toption ifname 'lan1'\n"
    wire = b"\nconfig interface 'wg0'\n\toption proto 'wireguard'\n\nconfig wireguard_wg0 'phone'\n"
    kit.write("network", kit.config("network") + made + wire)
    kit.write("sqm", b"config queue 'q'\n\toption interface 'guest9'\n")
    assert "sqm.q.interface (device guest9)" in kit.plan("uci delete network.v")["reasons"][0]
    assert "network.phone (interface wg0)" in kit.plan("uci delete network.wg0")["reasons"][0]
    assert "leaves behind" not in str(kit.plan("uci delete network.phone")["reasons"])
    assert "leaves behind" not in str(kit.plan("uci set network.lan.mtu=1400")["reasons"])


def test_an_undo_that_leaves_a_name_behind_says_so(kit):
    old = kit.config("network")
    new = old + b"\nconfig interface 'guest'\n\toption proto 'none'\n"
    kit.write("network", new)
    kit.write("dhcp", kit.config("dhcp") + b"\nconfig dhcp 'guest'\n\toption interface 'guest'\n")
    plan = kit.planner.restore({"network": (new, old)}, [], "r", "c", "", "x")
    assert plan["reasons"][0] == "leaves behind names of what is gone: dhcp.guest.interface (interface guest)"
