"""What opens a way in is told in words and waits for its owner under every setting; see `opens` of the catalogue."""

import json
import os

import pytest

from oasis.catalogue import entries
from oasis.change import harmless
from oasis.change.policy import Policy
from oasis.uci import model
from tests.change.drafting import TOP

TTYD = "config ttyd\n\toption interface '@lan'\n"
SOCKS = "config microsocks 'config'\n\toption enabled '0'\n\toption listenip '0.0.0.0'\n"
MAPPED = "config natmap 'm'\n\toption enable '0'\n"
SNMP = "config access_default 'public'\n\toption Mode 'rocommunity'\n\toption CommunityName 'x'\n"
PROXY = "config tinyproxy 'main'\n\toption enabled '1'\n\tlist Allow '127.0.0.1'\n"
OPENED = [
    ("ttyd", TTYD, "set ttyd.@ttyd[0].interface=@wan", "a login to this router in the browser"),
    ("ttyd", TTYD, "delete ttyd.@ttyd[0].interface", "a login to this router in the browser"),
    ("microsocks", SOCKS, "set microsocks.config.enabled=1", "everybody who reaches that address"),
    ("microsocks", SOCKS.replace("0.0.0.0", "127.0.0.1").replace("'0'", "'1'"),
     "set microsocks.config.listenip=0.0.0.0", "everybody who reaches that address"),
    ("frpc", "config conf 'ssh'\n", "set frpc.ssh.local_ip=127.0.0.1\nuci set frpc.ssh.local_port=22\n"
     "uci set frpc.ssh.remote_port=6000", "whoever the frp server lets through"),
    ("sshtunnel", "config tunnelR 'r'\n", "set sshtunnel.r.localport=22",
     "whoever reaches that port of the SSH server"),
    ("natmap", MAPPED, "set natmap.m.forward_target=192.168.1.5\nuci set natmap.m.enable=1", "the internet, to that"),
    ("zerotier", "config zerotier 'global'\n", "set zerotier.earth=network\nuci set zerotier.earth.id=8056c2e21c000001",
     "the members of that network"),
    ("tailscale", "config settings 'settings'\n", "set tailscale.settings.runwebclient=1", "to the page of Tailscale"),
    ("tailscale", "config settings 'settings'\n", "add_list tailscale.settings.advertise_routes=192.168.1.0/24",
     "the devices of the tailnet, to these networks"),
    ("snmpd", SNMP, "set snmpd.public.Mode=rwcommunity", "whoever knows the community"),
    ("chrony", "config allow\n\tlist interface 'lan'\n", "add_list chrony.@allow[0].interface=wan", "to the clock"),
    ("tinyproxy", PROXY, "add_list tinyproxy.main.Allow=0.0.0.0/0", "these addresses, to the web by this router"),
]  # fmt: skip
SHUT = [
    ("ttyd", TTYD.replace("@lan", "@wan"), "set ttyd.@ttyd[0].interface=@lan"),
    ("microsocks", SOCKS.replace("'0'", "'1'"), "set microsocks.config.enabled=0"),
    ("microsocks", SOCKS.replace("0.0.0.0", "127.0.0.1"), "set microsocks.config.enabled=1"),
    ("tailscale", "config settings 'settings'\n\toption ssh '1'\n", "set tailscale.settings.ssh=0"),
    ("tailscale", "config settings 'settings'\n\toption shields_up '0'\n", "set tailscale.settings.shields_up=1"),
    ("chrony", "config allow\n\tlist interface 'lan'\n\tlist interface 'wan'\n",
     "del_list chrony.@allow[0].interface=wan"),
]  # fmt: skip


@pytest.mark.parametrize("approval", ["none", "risky"])
@pytest.mark.parametrize("package, before, command, who", OPENED)
def test_who_is_let_in_is_told_first_and_waits(make_kit, package, before, command, who, approval):
    kit = make_kit(approval=approval)
    kit.write(package, before.encode())
    plan = kit.plan("uci " + command)
    assert (plan["risk"], plan["needs_approval"]) == ("risky", True)
    assert "lets somebody in: " in plan["reasons"][0] and who in plan["reasons"][0], plan["reasons"]
    assert not any("0.0.0.0/0" in one for one in plan["reasons"])  # nothing is sent there


@pytest.mark.parametrize("package, before, command", SHUT)
def test_what_shuts_or_is_for_the_router_alone_lets_nobody_in(make_kit, package, before, command):
    kit = make_kit(approval="none")
    kit.write(package, before.encode())
    plan = kit.plan("uci " + command)
    assert not any("lets somebody in" in one for one in plan["reasons"]), plan["reasons"]
    assert not plan["needs_approval"]


def test_an_opening_of_the_firewall_waits_under_every_setting_too(make_kit):
    plan = make_kit(approval="none").plan(
        "uci add firewall rule\nuci set firewall.@rule[-1].src=wan\nuci set firewall.@rule[-1].proto=tcp\n"
        "uci set firewall.@rule[-1].dest_port=22\nuci set firewall.@rule[-1].target=ACCEPT"
    )
    assert plan["needs_approval"] and plan["is_asked"]


def test_a_section_that_goes_on_lets_in_what_it_was_set_to():
    before = "config ttyd\n\toption enable '0'\n\toption interface '@wan'\n\toption port '7681'\n"
    old, new = (model.parse(text.encode(), "ttyd") for text in (before, before.replace("'0'", "'1'")))
    (found,) = harmless.openings(old, new, Policy().rules)
    assert found.startswith("ttyd.@ttyd[0] (enable, interface, port) lets somebody in: ")
    assert harmless.openings(new, old, Policy().rules) == []


def test_every_option_that_is_said_to_let_somebody_in_is_one():
    with open(os.path.join(TOP, "package/options/review.json"), encoding="utf-8") as handle:
        opens = json.load(handle)["opens"]
    assert len(opens) > 60
    for place, every in opens.items():
        package, type_ = place.split(".")
        assert (entries.section_type(package, type_) or {}).get("opens") == every, place
        names = [name for shut in entries.opens(package, type_).values() for name in shut]
        assert names and all(entries.option(package, type_, name) for name in names), place
