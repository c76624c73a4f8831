"""The rules as data: every catalogued package reloads what reads it, and what is open or shut is known as such."""

import json
import os

import pytest

from oasis.catalogue import entries
from oasis.change import difference, harmless
from oasis.change.policy import Policy
from oasis.change.reach import admission
from oasis.uci import model
from tests.oasisd import REPOSITORY

with open(REPOSITORY + "/oasis/change/services.json", encoding="utf-8") as handle:
    SERVICES = json.load(handle)
with open(REPOSITORY + "/oasis/change/policy.json", encoding="utf-8") as handle:
    RULES = json.load(handle)


def everything(name):
    return True


@pytest.mark.parametrize("package", entries.by_hand())
def test_a_catalogued_package_reloads_a_service_or_says_why_none(package):
    found = Policy().services([package], everything)
    assert bool(found) is not bool(SERVICES["none"].get(package)), "one of both, and not both"


def test_the_map_names_no_package_twice_for_a_service_and_tells_its_source():
    rules = SERVICES["services"]
    assert len({(rule["package"], rule["name"]) for rule in rules}) == len(rules)
    assert {rule["package"] for rule in rules} | set(SERVICES["none"]) == set(entries.by_hand())
    assert {rule["action"] for rule in rules} <= {"reload", "restart", "renew"}
    assert all(rule["source"] for rule in rules)


def test_a_generated_package_reloads_the_services_that_read_it():
    assert Policy().services(["xl2tp"], everything) == [{"name": "xl2tpd", "action": "reload"}]
    assert Policy().services(["ipsec"], lambda name: name == "swanctl") == [{"name": "swanctl", "action": "reload"}]


def test_only_what_is_installed_is_reloaded_once_and_in_order():
    policy = Policy()
    assert policy.services(["sqm", "adblock"], lambda name: name == "adblock") == [
        {"name": "adblock", "action": "reload"}
    ]
    assert policy.services(["upnpd"], everything) == [{"name": "miniupnpd", "action": "reload"}]
    both = [item["name"] for item in policy.services(["dhcp", "system", "firewall", "network"], everything)]
    assert both == ["system", "log", "sysntpd", "led", "dnsmasq", "network", "oasis-wireguard", "firewall", "odhcpd"]
    assert policy.services(["nobody-knows-this"], lambda name: name == "dnsmasq") == []


@pytest.mark.parametrize("name", os.listdir(REPOSITORY + "/tests/router/root/etc/init.d"))
def test_what_a_stock_router_would_reload_is_reloaded(name):
    """The stand-in's scripts say which packages trigger them, as recorded on a router."""
    with open(f"{REPOSITORY}/tests/router/root/etc/init.d/{name}", encoding="utf-8") as handle:
        triggers = [line.split("=")[1].strip().strip('"').split() for line in handle if line.startswith("TRIGGERS=")]
    for package in triggers[0] if triggers else []:
        assert name in [item["name"] for item in Policy().services([package], everything)], package


@pytest.mark.parametrize("path", [row["path"] for row in RULES["places"] if "check" in row])
def test_what_is_low_sends_nothing_elsewhere_and_hides_no_secret(path):
    """An outward option is risky wherever it stands: a low entry over it would only seem to decide otherwise."""
    package, kind, *option = path.split(".")
    names = option or list(entries.section_type(package, kind)["options"])
    assert {entries.mark(package, kind, name) for name in names} <= {"plain", "exec"}


ELSEWHERE = [
    ("dhcp", "domain.ip", None, "203.0.113.7", "203.0.113.7"),
    ("dhcp", "cname.target", None, "tracker.example.org", "tracker.example.org"),
    ("dhcp", "dnsmasq.server", ["/lan/192.168.1.2"], ["/lan/192.168.1.2", "/example.org/9.9.9.9#53"], "9.9.9.9"),
    ("network", "interface.dns", ["1.1.1.1"], ["1.1.1.1", "8.8.8.8"], "8.8.8.8"),
    ("network", "wireguard_wg0.allowed_ips", ["10.8.0.2/32"], ["0.0.0.0/0"], "0.0.0.0/0"),
    ("network", "wireguard_wg0.endpoint_host", None, "vpn.example.org", "vpn.example.org"),
    ("system", "system.log_ip", "192.168.1.9", "203.0.113.7", "203.0.113.7"),
    ("system", "timeserver.server", [], ["time.cloudflare.com"], "time.cloudflare.com"),
    ("collectd", "curl_page.url", None, "https://me:word@example.org:8443/a?b=9.9.9.9", "example.org"),
    ("openvpn", "openvpn.remote", None, ["vpn.example.org 1194 udp"], "vpn.example.org"),
]  # fmt: skip


@pytest.mark.parametrize("package, place, old, new, where", ELSEWHERE)
def test_a_new_destination_outside_is_told_with_its_name(package, place, old, new, where):
    kind, option = place.split(".")
    item = {"kind": "set", "package": package, "section": "x", "type": kind, "option": option, "old": old, "new": new}
    assert Policy().judge([item]) == ("risky", [f"sends traffic or logs elsewhere: {package}.{option} to {where}"])
    back = {**item, "old": new, "new": old}
    risk, reasons = Policy().judge([back])
    assert risk == "risky" and "elsewhere" not in "".join(reasons)


@pytest.mark.parametrize(
    "package, place, old, new",
    [
        ("dhcp", "domain.ip", None, "192.168.1.20"),
        ("dhcp", "cname.target", None, "nas.lan"),
        ("dhcp", "dnsmasq.address", [], ["/ads.example.org/0.0.0.0", "/ads.example.org/::"]),
        ("dhcp", "dnsmasq.server", [], ["192.168.1.53", "/example.org/"]),
        ("dhcp", "dhcp.dhcp_option", [], ["6,192.168.1.53"]),
        ("firewall", "redirect.dest_ip", None, "192.168.1.50"),
        ("firewall", "redirect.src_dport", None, "8443"),
        ("upnpd", "upnpd.enabled", "1", "0"),
        ("upnpd", "upnpd.enabled", "0", "1"),
        ("network", "interface.dns", ["8.8.8.8", "1.1.1.1"], ["1.1.1.1"]),
        ("network", "interface.server", "198.51.100.1", None),
        ("acme", "cert.domains", [], ["home.example.org"]),
        ("uhttpd", "uhttpd.listen_http", [], ["[::]:80", "0.0.0.0:80"]),
    ],
)
def test_what_sends_nothing_to_a_new_place_outside_does_not_say_so_and_is_still_risky(package, place, old, new):
    kind, option = place.split(".")
    item = {"kind": "set", "package": package, "section": "x", "type": kind, "option": option, "old": old, "new": new}
    risk, reasons = Policy().judge([item])
    assert risk == "risky" and len(reasons) == 1 and "elsewhere" not in reasons[0]


def test_an_outward_option_is_risky_even_where_its_place_is_low():
    policy = Policy()
    policy.rules["places"].append({"path": "dhcp.domain", "check": "among", "values": ["192.168.1.20", "nas"]})
    item = {"kind": "set", "package": "dhcp", "section": "x", "type": "domain", "option": "ip", "new": "192.168.1.20"}
    assert policy.judge([item], False, object())[0] == "risky"
    assert policy.judge([{**item, "option": "name", "new": "nas"}], False, object())[0] == "low"


def test_several_packages_are_one_reason():
    places = [("firewall", "rule"), ("network", "interface"), ("dhcp", "dhcp"), ("wireless", "wifi-iface")]
    items = [{"kind": "section_added", "package": package, "section": "x", "type": kind} for package, kind in places]
    assert Policy().judge(items)[1] == ["firewall and network are on the way by which you reach the router"]
    assert Policy().judge(items[2:])[1] == ["dhcp and wireless can interrupt somebody's connection"]


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
    assert harmless.openings(before, after, Policy().rules)
    assert not harmless.openings(after, before, Policy().rules)
    assert not harmless.openings(before, before, Policy().rules)


@pytest.mark.parametrize("name", ["banip", "adblock", "openvpn", "mwan3", "firewall"])
def test_a_service_that_guards_or_carries_traffic_is_not_stopped_without_the_owner(name):
    assert Policy().judge_service(name)[0] == "risky"


@pytest.mark.parametrize("name", ["oasis", "oasis-restore", "boot", "done", "umount", "fstab"])
def test_a_service_that_only_the_owner_or_the_boot_starts_is_forbidden(name):
    assert Policy().judge_service(name)[0] == "forbidden"


def test_a_service_that_nobody_knows_is_not_restarted_without_the_owner():
    assert Policy().judge_service("some-package")[0] == "risky"
    assert Policy().judge_service("dnsmasq")[0] == "risky"


def test_an_option_taken_from_a_section_that_runs_code_counts_as_code_unless_all_of_it_goes():
    whole = b"config include 'hook'\n\toption path '/etc/hook.sh'\n\toption enabled '0'\n"
    before = model.parse(whole, "firewall")
    on, gone = model.parse(whole.replace(b"\toption enabled '0'\n", b""), "firewall"), model.parse(b"", "firewall")
    assert Policy().code(difference.compare(before, on, "firewall")) == ["firewall.hook.enabled"]
    assert Policy().code(difference.compare(before, gone, "firewall")) == []


def test_there_is_no_second_opinion_on_what_the_evaluator_judges():
    held = {rule["package"] for kind in ("openings", "barriers") for rule in RULES[kind]}
    assert held & set(admission.PACKAGES) == {"uhttpd"}
    # Whose pages may ask for the router's is a matter of names, which no firewall sees.
    assert [rule["has"] for rule in RULES["openings"] if rule["package"] == "uhttpd"] == [{"rfc1918_filter": ["", "0"]}]


TOLD = [
    ("snmpd", "", "config agent\n", "snmpd.@agent[0] (agent) lets in somebody who could not come in before"),
    ("dhcp", "config dnsmasq\n", "config dnsmasq\n\toption localservice '0'\n",
     "dhcp.@dnsmasq[0] (dnsmasq, localservice 0) lets in somebody who could not come in before"),
    ("banip", "config banip 'no'\n\toption ban_enabled '1'\n", "",
     "banip.no (banip, ban_enabled 1) no longer keeps out those that it kept out"),
]  # fmt: skip


@pytest.mark.parametrize("package, before, after, sentence", TOLD)
def test_an_opening_is_told_by_its_section_and_what_opens(package, before, after, sentence):
    versions = [model.parse(text.encode(), package) for text in (before, after)]
    assert harmless.openings(*versions, Policy().rules) == [sentence]
    assert harmless.openings(*reversed(versions), Policy().rules) == []
