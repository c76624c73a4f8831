"""What a change turns aside or weakens at home is told, and nothing is told of what it is not true."""

import pytest

from oasis.change.reach.detours import PACKAGES, detours
from oasis.change.uci_commands import parse
from oasis.uci.model import preview
from tests.change.kit import Kit
from tests.oasisd import copy_root

BOX = "192.168.1.50"
RADIO = "wireless.default_radio0"
WIFI = f"uci set {RADIO}.encryption=psk2\nuci set {RADIO}.key=abcdefgh1"
LISTED = f"{WIFI}\nuci set {RADIO}.macfilter=allow\nuci add_list {RADIO}.maclist=aa:bb:cc:00:00:01"
THROUGH = f"devices of lan send their traffic through {BOX}"
ASKED = f"devices of lan get the order to ask {BOX} for names"


def section(kind, name, **options):
    package = "firewall" if kind in ("redirect", "rule") else "network"
    lines = [f"uci set {package}.{name}={kind}"]
    return "\n".join([*lines, *[f"uci set {package}.{name}.{key}='{value}'" for key, value in options.items()]])


def redirect(src, port, **more):
    return section("redirect", "x", src=src, src_dport=port, proto="tcp", dest_ip=BOX, target="DNAT", **more)


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    folder = copy_root(str(tmp_path_factory.mktemp("stock") / "root")) + "/etc/config/"
    held = {}
    for name in PACKAGES:
        with open(folder + name, "rb") as handle:
            held[name] = handle.read()
    return held


def changed(files, text):
    return {**files, **preview(files, parse(text)[0])} if text else files


INTERNET = f"traffic to the internet goes through {BOX}"
NO_PASSWORD = f"gets into {RADIO} without the password"
WEAKER = f"the encryption of {RADIO} gets weaker:"
TOLD = [
    ("", f"uci add_list dhcp.lan.dhcp_option=3,{BOX}", THROUGH),
    ("", f"uci add_list dhcp.lan.dhcp_option=tag:x,option:router,{BOX}", THROUGH),
    ("", f"uci add_list dhcp.lan.dhcp_option_force=121,0.0.0.0/0,{BOX}", THROUGH),
    ("", f"uci add_list dhcp.lan.dhcp_option=121,10.8.0.0/24,{BOX}",
     f"devices of lan send their traffic to 10.8.0.0/24 through {BOX}"),
    ("", f"uci add_list dhcp.lan.dhcp_option=6,{BOX}", ASKED),
    ("", f"uci set network.lan.gateway={BOX}", f"{INTERNET} (network.lan)"),
    ("", section("route", "r", interface="lan", target="0.0.0.0/0", gateway=BOX), INTERNET),
    ("", f"uci add_list dhcp.@dnsmasq[0].server={BOX}", f"the router asks {BOX} for names"),
    ("", f"uci add_list dhcp.@dnsmasq[0].server=/bank.example/{BOX}",
     f"the router asks {BOX} for names of bank.example"),
    ("", f"uci add_list dhcp.@dnsmasq[0].address=/bank.example/{BOX}", f"bank.example leads to {BOX}"),
    ("", f"uci add_list dhcp.@dnsmasq[0].address=/#/{BOX}", f"every name leads to {BOX}"),
    ("", redirect("lan", 443), f"what devices of lan send to port 443 goes to {BOX}"),
    (redirect("lan", 53, enabled=0), "uci set firewall.x.enabled=1",
     f"what devices of lan send to port 53 goes to {BOX}"),
    ("", "uci set firewall.ssh=rule", "firewall.ssh has no target, so this rule lets nothing in and keeps nothing out"),
    (WIFI, f"uci set {RADIO}.wps_pushbutton=1", f"whoever presses the WPS button {NO_PASSWORD}"),
    (WIFI, f"uci set {RADIO}.wps_label=1", f"whoever knows the WPS PIN {NO_PASSWORD}"),
    (WIFI, f"uci set {RADIO}.encryption=psk", f"{WEAKER} psk instead of psk2"),
    (WIFI, f"uci set {RADIO}.encryption=psk2+tkip",
     f"{WEAKER} psk2+tkip instead of psk2"),
    (LISTED, f"uci delete {RADIO}.macfilter",
     f"{RADIO} lets in every device with the password, not only those on its list"),
]  # fmt: skip
SILENT = [
    ("", "uci add_list dhcp.lan.dhcp_option=6,192.168.1.1"),
    ("", f"uci add_list dhcp.@dnsmasq[0].address=/nas.lan/{BOX}"),
    ("", redirect("wan", 443)),
    ("", redirect("lan", 443, enabled=0)),
    (redirect("lan", 443), "uci set firewall.x.name=web"),
    ("", section("rule", "ssh", src="wan", proto="tcp", dest_port=22, target="DROP")),
    ("uci set firewall.ssh=rule", "uci set firewall.ssh.name=ssh"),
    ("", WIFI),
    (WIFI, f"uci set {RADIO}.ssid=Attic"),
    (WIFI, f"uci set {RADIO}.encryption=sae"),
    (WIFI, f"uci set {RADIO}.encryption=psk2+ccmp"),
    (f"{WIFI}\nuci set {RADIO}.wps_pushbutton=1", f"uci set {RADIO}.ssid=Attic"),
    (LISTED, f"uci add_list {RADIO}.maclist=aa:bb:cc:00:00:02"),
    (f"uci add_list dhcp.lan.dhcp_option=3,{BOX}", "uci del_list dhcp.lan.dhcp_option=3," + BOX),
]


@pytest.mark.parametrize(("before", "change", "sentence"), TOLD)
def test_what_goes_through_a_box_at_home_or_gets_weaker_is_told(stock, before, change, sentence):
    held = changed(stock, before)
    assert detours(held, changed(held, change)) == [sentence]


@pytest.mark.parametrize(("before", "change"), SILENT)
def test_nothing_is_told_of_a_change_that_does_no_such_thing(stock, before, change):
    held = changed(stock, before)
    assert detours(held, changed(held, change)) == []


def test_the_card_has_it_first_and_the_plan_rests_on_what_was_looked_at(tmp_path):
    plan = Kit(tmp_path).plan(f"uci add_list dhcp.lan.dhcp_option=3,{BOX}")
    assert plan["reasons"][0] == THROUGH
    assert (plan["risk"], plan["needs_approval"]) == ("risky", True)
    assert {"network", "dhcp"} <= set(plan["before"])
