"""The rules as data: every catalogued package reloads what reads it, and what is open or shut is known as such."""

import json
import os

import pytest

from oasis.change import difference, entries
from oasis.change.policy import Policy
from oasis.uci import model
from tests.daemon import REPOSITORY

with open(REPOSITORY + "/oasis/change/services.json", encoding="utf-8") as handle:
    SERVICES = json.load(handle)
with open(REPOSITORY + "/oasis/change/policy.json", encoding="utf-8") as handle:
    RULES = json.load(handle)


def everything(name):
    return True


@pytest.mark.parametrize("package", entries.packages())
def test_a_catalogued_package_reloads_a_service_or_says_why_none(package):
    found = Policy().services([package], everything)
    assert bool(found) is not bool(SERVICES["none"].get(package)), "one of both, and not both"


def test_the_map_names_no_package_twice_for_a_service_and_tells_its_source():
    rules = SERVICES["services"]
    assert len({(rule["package"], rule["name"]) for rule in rules}) == len(rules)
    assert {rule["package"] for rule in rules} | set(SERVICES["none"]) == set(entries.packages())
    assert {rule["action"] for rule in rules} <= {"reload", "restart", "renew"}
    assert all(rule["source"] for rule in rules)


def test_only_what_is_installed_is_reloaded_once_and_in_order():
    policy = Policy()
    assert policy.services(["sqm", "adblock"], lambda name: name == "adblock") == [
        {"name": "adblock", "action": "reload"}
    ]
    assert policy.services(["upnpd"], everything) == [{"name": "miniupnpd", "action": "reload"}]
    both = [item["name"] for item in policy.services(["dhcp", "system", "firewall", "network"], everything)]
    assert both == ["system", "log", "sysntpd", "led", "dnsmasq", "network", "firewall", "odhcpd"]
    assert policy.services(["nobody-knows-this"], lambda name: name == "dnsmasq") == []


@pytest.mark.parametrize("name", os.listdir(REPOSITORY + "/tests/router/root/etc/init.d"))
def test_what_a_stock_router_would_reload_is_reloaded(name):
    """The stand-in's scripts say which packages trigger them, as recorded on a router."""
    with open(f"{REPOSITORY}/tests/router/root/etc/init.d/{name}", encoding="utf-8") as handle:
        triggers = [line.split("=")[1].strip().strip('"').split() for line in handle if line.startswith("TRIGGERS=")]
    for package in triggers[0] if triggers else []:
        assert name in [item["name"] for item in Policy().services([package], everything)], package


@pytest.mark.parametrize("path", RULES["low"])
def test_what_is_low_sends_nothing_elsewhere_and_hides_no_secret(path):
    """An outward option is risky wherever it stands: a low entry over it would only seem to decide otherwise."""
    package, kind, *option = path.split(".")
    names = option or list(entries.section_type(package, kind)["options"])
    assert {entries.mark(package, kind, name) for name in names} <= {"plain", "exec"}


@pytest.mark.parametrize("option", ["domain.ip", "cname.target", "hostrecord.ip"])
def test_a_name_that_leads_elsewhere_is_risky(option):
    kind, name = option.split(".")
    item = {"kind": "set", "package": "dhcp", "section": "x", "type": kind, "option": name}
    assert Policy().judge([item]) == ("risky", [f"dhcp.{name} sends traffic or logs elsewhere"])


def test_a_fixed_lease_is_low():
    item = {"kind": "set", "package": "dhcp", "section": "x", "type": "host", "option": "ip"}
    assert Policy().judge([item]) == ("low", [])


OPENINGS = [
    ("upnpd", "config upnpd 'config'\n\toption enabled '0'\n", "config upnpd 'config'\n\toption enabled '1'\n"),
    ("upnpd", "config upnpd 'config'\n\toption enabled '0'\n", "config upnpd 'config'\n"),
    ("upnpd", "config upnpd 'c'\n\toption secure_mode '1'\n", "config upnpd 'c'\n\toption secure_mode '0'\n"),
    ("upnpd", "config perm_rule\n\toption action 'deny'\n", "config perm_rule\n\toption action 'allow'\n"),
    ("openvpn", "config openvpn 'home'\n", "config openvpn 'home'\n\toption enabled '1'\n"),
    ("snmpd", "config snmpd 'general'\n\toption enabled '0'\n", "config snmpd 'general'\n\toption enabled '1'\n"),
    ("samba4", "", "config sambashare\n\toption name 'disk'\n"),
    ("samba4", "config sambashare\n\toption name 'd'\n",
     "config sambashare\n\toption name 'd'\n\toption guest_ok 'yes'\n"),
    ("minidlna", "config minidlna 'config'\n", "config minidlna 'config'\n\toption enabled '1'\n"),
    ("transmission", "config transmission\n", "config transmission\n\toption enabled '1'\n"),
    ("uhttpd", "config uhttpd 'main'\n\toption rfc1918_filter '1'\n", "config uhttpd 'main'\n"),
    ("dhcp", "config dnsmasq\n\toption localservice '1'\n", "config dnsmasq\n\toption localservice '0'\n"),
    ("unbound", "config unbound\n\toption localservice '1'\n", "config unbound\n\toption localservice '0'\n"),
    ("prometheus-node-exporter-lua", "config prometheus-node-exporter-lua 'main'\n\toption listen_interface 'lan'\n",
     "config prometheus-node-exporter-lua 'main'\n\toption listen_interface '*'\n"),
    ("adblock", "config adblock 'global'\n\toption adb_enabled '1'\n",
     "config adblock 'global'\n\toption adb_enabled '0'\n"),
    ("banip", "config banip 'global'\n\toption ban_enabled '1'\n", "config banip 'global'\n"),
    ("bcp38", "config bcp38 'bcp38'\n\toption enabled '1'\n", "config bcp38 'bcp38'\n\toption enabled '0'\n"),
]  # fmt: skip


@pytest.mark.parametrize("package, shut, open_", OPENINGS)
def test_what_opens_the_router_or_takes_a_barrier_away(package, shut, open_):
    before, after = (model.parse(text.encode(), package) for text in (shut, open_))
    assert Policy().is_opening(before, after)
    assert not Policy().is_opening(after, before)
    assert not Policy().is_opening(before, before)


@pytest.mark.parametrize("name", ["banip", "adblock", "openvpn", "mwan3", "firewall"])
def test_a_service_that_guards_or_carries_traffic_is_not_stopped_without_the_owner(name):
    assert Policy().judge_service(name)[0] == "risky"


@pytest.mark.parametrize("name", ["oasis", "oasis-restore", "boot", "done", "umount", "fstab"])
def test_a_service_that_only_the_owner_or_the_boot_starts_is_forbidden(name):
    assert Policy().judge_service(name)[0] == "forbidden"


def test_a_service_that_nobody_knows_is_not_restarted_without_the_owner():
    assert Policy().judge_service("some-package")[0] == "risky"
    assert Policy().judge_service("dnsmasq") == ("low", [])


def test_an_option_taken_from_a_section_that_runs_code_counts_as_code_unless_all_of_it_goes():
    whole = b"config include 'hook'\n\toption path '/etc/hook.sh'\n\toption enabled '0'\n"
    before = model.parse(whole, "firewall")
    on, gone = model.parse(whole.replace(b"\toption enabled '0'\n", b""), "firewall"), model.parse(b"", "firewall")
    assert Policy().code(difference.compare(before, on, "firewall")) == ["firewall.hook.enabled"]
    assert Policy().code(difference.compare(before, gone, "firewall")) == []


TOLD = [
    ("firewall", "", "config rule\n\toption target 'ACCEPT'\n\toption src 'wan'\n",
     "firewall.@rule[0] (rule, target ACCEPT) lets in somebody who could not come in before"),
    ("wireless", "config wifi-iface 'guest'\n\toption encryption 'psk2'\n", "config wifi-iface 'guest'\n",
     "wireless.guest (wifi-iface, encryption not set) lets in somebody who could not come in before"),
    ("firewall", "config rule 'no'\n\toption target 'DROP'\n", "",
     "firewall.no (rule, target DROP) does not keep out any more whom it kept out"),
]  # fmt: skip


@pytest.mark.parametrize("package, before, after, sentence", TOLD)
def test_an_opening_is_told_by_its_section_and_what_opens(package, before, after, sentence):
    versions = [model.parse(text.encode(), package) for text in (before, after)]
    assert Policy().openings(*versions) == [sentence]
    assert Policy().openings(*reversed(versions)) == []
