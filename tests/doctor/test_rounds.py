"""Every fault is found, with evidence and a mending that mends; the healthy router has none."""

from __future__ import annotations

import json

import pytest

from oasis.catalogue import check as catalogue
from oasis.change import uci_commands
from oasis.doctor.scene import data
from oasis.errors import UsageError
from oasis.uci.model import preview
from tests.doctor.clinic import Clinic, _arp, _snmp
from tests.router.stock import Router


def no_change(clinic):
    pass


def wan(**values):
    return lambda clinic: clinic.interface("wan").update(values)


def placed(address, mask, hop=""):
    """Put the interface to the internet into another network, with its first hop in it or elsewhere."""
    return lambda clinic: clinic.place(address, mask, hop or address.rpartition(".")[0] + ".254")


def silent(clinic):
    clinic.pings["203.0.113.1"] = False
    clinic.files["/proc/net/arp"] = _arp("203.0.113.1 0x0 00:00:00:00:00:00")


def file(path, data):
    return lambda clinic: clinic.files.__setitem__(path, data)


def log(*lines):
    return lambda clinic: clinic.log(*lines)


def memory(**values):
    return lambda clinic: clinic.bus["system info"].update(memory=values)


def device(name, **values):
    return lambda clinic: clinic.device(name).update(values)


def bus(key, value):
    return lambda clinic: clinic.bus.__setitem__(key, value)


def two_wans(clinic):
    second = json.loads(json.dumps(clinic.interface("wan")))
    second.update(interface="wanb", device="lan4", l3_device="lan4")
    second["ipv4-address"] = [{"address": "198.51.100.4", "mask": 24}]
    second["route"][0]["nexthop"] = "198.51.100.1"
    clinic.bus["network.interface dump"]["interface"].append(second)


def no_names(own, others):
    def change(clinic):
        clinic.lookups = {"127.0.0.1": own, "203.0.113.1": others}

    return change


def no_servers(clinic):
    clinic.files["/tmp/resolv.conf.d/resolv.conf.auto"] = b""
    clinic.interface("wan")["dns-server"] = []


def many_leases(clinic):
    lines = [f"1795300000 aa:bb:cc:00:01:{n:02x} 192.168.1.{n} host{n} *" for n in range(100, 250)]
    clinic.files["/tmp/dhcp.leases"] = "\n".join(lines).encode()


def gone(clinic):
    entries = clinic.bus["network.interface dump"]["interface"]
    entries[:] = [one for one in entries if one["interface"] not in ("wan", "wan6")]


DEAD = {"dnsmasq": {"instances": {"one": {"running": False, "exit_code": 1, "respawn": {"retry": 5}}}}}
FORWARD = """
uci add firewall redirect
uci set firewall.@redirect[-1].name='web'
uci set firewall.@redirect[-1].src='wan'
uci set firewall.@redirect[-1].dest='lan'
uci set firewall.@redirect[-1].src_dport='8080'
uci set firewall.@redirect[-1].dest_ip='192.168.1.105'
uci set firewall.@redirect[-1].target='DNAT'
"""
NAS = """
uci add dhcp host
uci set dhcp.@host[-1].name='nas'
uci set dhcp.@host[-1].mac='AA:BB:CC:00:00:05'
uci set dhcp.@host[-1].ip='192.168.1.105'
"""
RULE = """
uci add firewall rule
uci set firewall.@rule[-1].name='remote'
uci set firewall.@rule[-1].src='wan'
uci set firewall.@rule[-1].proto='tcp udp'
uci set firewall.@rule[-1].dest_port='%s'
uci set firewall.@rule[-1].target='ACCEPT'
"""
PPPOE = "uci set network.wan.proto='pppoe'\nuci set network.wan.username='a'\nuci set network.wan.password='b'\n"
GIGABIT = {"link-supported": ["1000baseT-F"], "link-partner-advertising": ["1000baseT-F"], "speed": "100F"}

# Id of the finding, UCI commands, what else happens to the router.
FAULTS = [
    ("wan-no-carrier:wan", "", lambda clinic: (wan(up=False)(clinic), device("wan", carrier=False)(clinic))),
    ("half-duplex:lan2", "", device("lan2", speed="100H")),
    ("slow-link:lan1", "", device("lan1", **GIGABIT)),
    ("link-flaps:lan3", "", log(*["kernel: mtk_soc_eth lan3: Link is Down"] * 6)),
    ("wan-missing", "", gone),
    ("wan-off:wan", "uci set network.wan.auto='0'", wan(up=False, autostart=False)),
    ("wan-no-device:wan", "", wan(up=False, errors=[{"subsystem": "interface", "code": "NO_DEVICE"}])),
    ("wan-login:wan", PPPOE, lambda clinic: (wan(up=False, proto="pppoe")(clinic),
     clinic.log("pppd[1]: PAP authentication failed"))),
    ("wan-no-session:wan", PPPOE, lambda clinic: (wan(up=False, proto="pppoe")(clinic),
     clinic.log("pppd[1]: Timeout waiting for PADO packets"))),
    ("wan-no-lease:wan", "", wan(up=False, **{"ipv4-address": [], "route": []})),
    ("wan-down:wan", "uci set network.wan.proto='wireguard'", wan(up=False, proto="wireguard")),
    ("wan-no-address:wan", "", wan(**{"ipv4-address": []})),
    ("wan-link-local:wan", "", placed("169.254.7.7", 16)),
    ("double-nat:wan", "", placed("192.168.178.20", 24)),
    ("carrier-nat:wan", "", placed("100.72.1.2", 10)),
    ("same-network:lan-wan", "", placed("192.168.1.77", 24)),
    ("no-route", "uci set network.wan.defaultroute='0'", wan(route=[])),
    ("equal-routes", "uci set network.wanb=interface\nuci set network.wanb.proto='dhcp'\n"
     "uci add_list firewall.@zone[1].network='wanb'", two_wans),
    ("gateway-outside:wan", "", placed("203.0.113.9", 24, "198.51.100.1")),
    ("gateway-silent:203.0.113.1", "", silent),
    ("mtu-small:wan", "", device("wan", mtu=900)),
    ("mtu-pppoe:wan", PPPOE + "uci set network.wan.mtu='1500'", wan(proto="pppoe")),
    ("no-mtu-fix:wan", "uci set firewall.@zone[1].mtu_fix='0'", device("wan", mtu=1460)),
    ("too-large", "", file("/proc/net/snmp", _snmp(5000, 90000))),
    ("no-dns-servers", "", no_servers),
    ("dns-own-silent", "", no_names(False, True)),
    ("dns-silent", "", no_names(False, False)),
    ("dns-rebind", "", log("dnsmasq[1]: possible DNS-rebind attack detected: nas.example.org")),
    ("dns-busy", "", log("dnsmasq[1]: Maximum number of concurrent DNS queries reached (max: 150)")),
    ("pool-outside:dhcp.lan", "uci set dhcp.lan.start='300'", no_change),
    ("pool-empty:dhcp.lan", "", many_leases),
    ("no-dhcp-server:lan", "uci set dhcp.lan.ignore='1'", no_change),
    ("lease-of-router:dhcp.@host[0]", NAS.replace(".105'", ".1'"), no_change),
    ("lease-twice:dhcp.@host[1]", NAS + NAS.replace("00:05'", "00:09'"), no_change),
    ("lease-outside:dhcp.@host[0]", NAS.replace("192.168.1.105", "192.168.9.105"), no_change),
    ("address-taken:192.168.1.105", NAS, file("/proc/net/arp", _arp("203.0.113.1 0x2 f2:6d:61:1b:b2:1e",
     "192.168.1.105 0x2 aa:bb:cc:00:00:99"))),
    ("clock-past", "", lambda clinic: setattr(clinic, "now_s", 86400)),
    ("clock-unset", "", lambda clinic: setattr(clinic, "is_clock_set", False)),
    ("ntp-off", "uci set system.ntp.enabled='0'", no_change),
    ("ntp-none", "uci delete system.ntp.server\nuci set system.ntp.use_dhcp='0'", no_change),
    ("no-masquerade:wan", "uci delete firewall.@zone[1].masq", no_change),
    ("no-forwarding:lan", "uci delete firewall.@forwarding[0]", no_change),
    ("no-zone:iot", "uci set network.iot=interface\nuci set network.iot.proto='dhcp'", no_change),
    ("two-zones:lan", "uci add_list firewall.@zone[1].network='lan'", no_change),
    ("zone-of-nothing:dmz", "uci add_list firewall.@zone[0].network='dmz'", no_change),
    ("forward-no-source:firewall.@redirect[0]", NAS + FORWARD + "uci delete firewall.@redirect[0].src", no_change),
    ("forward-unknown-zone:firewall.@redirect[0]", NAS + FORWARD.replace("'wan'", "'internet'"), no_change),
    ("forward-unknown-zone:firewall.@redirect[0]-dest", NAS + FORWARD.replace("'lan'", "'home'"), no_change),
    ("forward-family:firewall.@redirect[0]", NAS + FORWARD + "uci set firewall.@redirect[0].family='ipv6'", no_change),
    ("forward-outside:firewall.@redirect[0]", FORWARD.replace("192.168.1.", "192.168.0."), no_change),
    ("forward-not-fixed:firewall.@redirect[0]", FORWARD, no_change),
    ("forward-twice:firewall.@redirect[1]", NAS + FORWARD + FORWARD, no_change),
    ("open-to-all:wan", "uci set firewall.@zone[1].input='ACCEPT'", no_change),
    ("open-management:firewall.@rule[9]", RULE % "22", no_change),
    ("open-management:firewall.@rule[9]", RULE % "1-1024", no_change),
    ("open-service:firewall.@rule[9]", RULE % "53", no_change),
    ("wifi-down:radio1", "", bus("network.wireless status", {"radio1": {"up": False, "pending": False}})),
    ("wifi-no-country:radio0", "uci delete wireless.radio0.country", no_change),
    ("wifi-countries", "uci set wireless.radio1.country='US'", no_change),
    ("wifi-channel:radio0", "uci set wireless.radio0.channel='4'", no_change),
    ("wifi-wide:radio0", "uci set wireless.radio0.htmode='HE40'\nuci set wireless.radio0.noscan='1'", no_change),
    ("wifi-open:wireless.default_radio1", "uci set wireless.default_radio1.encryption='none'", no_change),
    ("wifi-broken:wireless.default_radio1", "uci set wireless.default_radio1.encryption='wep'", no_change),
    ("wifi-old:wireless.default_radio1", "uci set wireless.default_radio1.encryption='psk-mixed'", no_change),
    ("wifi-common-key:wireless.default_radio1", "uci set wireless.default_radio1.key='password'", no_change),
    ("wifi-no-interface:wireless.default_radio1", "uci set wireless.default_radio1.network='attic'", no_change),
    ("no-password", "", file("/etc/shadow", b"root::20000:0:99999:7:::\n")),
    ("flash-full", "", lambda clinic: clinic.bus["system info"].update(root={"total": 8192, "avail": 100})),
    ("tmp-full", "", lambda clinic: clinic.bus["system info"].update(tmp={"total": 60000, "avail": 1000})),
    ("memory-low", "", memory(total=64 << 20, available=3 << 20)),
    ("memory-killed", "", log("kernel: Out of memory: Killed process 812 (python3)")),
    ("conntrack-full", "", file("/proc/sys/net/netfilter/nf_conntrack_count", b"16000\n")),
    ("conntrack-full", "", log("kernel: nf_conntrack: nf_conntrack: table full, dropping packet")),
    ("hot:thermal_zone0", "", file("/sys/class/thermal/thermal_zone0/temp", b"104000\n")),
    ("service-dead:dnsmasq", "", bus("service list", DEAD)),
    ("service-off:dnsmasq", "", bus("rc list", {"dnsmasq": {"enabled": False, "running": True}})),
    ("staged", "", bus("uci changes", {"changes": {"network": [["set", "lan", "ipaddr", "10.0.0.1"]]}})),
    ("staged", "", file("/tmp/.uci/dhcp", b"dhcp.lan.limit='50'\n")),
    ("config-broken:luci", "", lambda clinic: (clinic.router.files.__setitem__("luci", b"config core 'x\n"),
     file("/etc/config/luci", b"config core 'x\n")(clinic))),
    ("settings-wrong", "", lambda clinic: clinic.router.files.__setitem__(
        "oasis", b"config oasis 'main'\n\toption approval 'foo'\n")),
    ("rollback-failed:d1", "", lambda clinic: clinic.history.append({"id": "d1", "state": "rollback_failed",
     "summary": "move the LAN", "reason": "no space left"})),
    ("part-refused:schedule", "", lambda clinic: clinic.refused.update(
        schedule=UsageError("the schedule: the package oasis-schedule cannot be used: cut off", "install it again"))),
    ("release-old", "", lambda clinic: clinic.bus["system board"]["release"].update(version="22.03.5")),
]  # fmt: skip
# What a fault brings with it: the same fault seen from higher up.
ALSO = {
    "wan-no-carrier:wan": set(), "wan-missing": set(), "same-network:lan-wan": {"double-nat:wan"},
    "no-route": set(), "pool-outside:dhcp.lan": set(), "mtu-pppoe:wan": set(), "no-masquerade:wan": set(),
    "wifi-countries": set(), "equal-routes": set(), "two-zones:lan": set(), "mtu-small:wan": set(),
}  # fmt: skip


def ill(commands_text, change):
    clinic = Clinic(commands_text)
    change(clinic)
    return clinic


def test_healthy_router_has_no_finding_and_every_check_ran():
    found = Clinic().round()
    assert found["findings"] == []
    assert [check["id"] for check in found["checks"] if check["state"] != "ok"] == []


def test_guest_network_that_is_open_on_purpose_is_no_finding():
    clinic = Clinic("uci set wireless.guest.encryption='none'\n", with_guest=True)
    assert clinic.found() == []


@pytest.mark.parametrize(("wanted", "text", "change"), FAULTS, ids=[f"{n}-{one[0]}" for n, one in enumerate(FAULTS)])
def test_fault_is_found_with_evidence_and_nothing_else_is(wanted, text, change):
    findings = {one["id"]: one for one in ill(text, change).round()["findings"]}
    assert wanted in findings
    extra = set(findings) - {wanted}
    assert extra <= ALSO.get(wanted, set()), extra
    finding = findings[wanted]
    assert finding["title"] and "%" not in finding["title"] and finding["explanation"]
    assert finding["evidence"] and all(finding["evidence"])
    assert "fix" in finding or finding.get("advice") or finding["severity"] != "error" or finding["explanation"]


def test_every_text_has_a_fault_that_shows_it():
    shown = {wanted.partition(":")[0] for wanted, _, _ in FAULTS}
    assert set(data()["findings"]) == shown


MENDED = [one for one in FAULTS if one[1]]


@pytest.mark.parametrize(("wanted", "text", "change"), MENDED, ids=[f"{n}-{one[0]}" for n, one in enumerate(MENDED)])
def test_commands_of_a_fix_are_known_options_and_end_the_finding(wanted, text, change):
    clinic = ill(text, change)
    finding = next(one for one in clinic.round()["findings"] if one["id"] == wanted)
    is_mended_by_people = "fix" not in data()["findings"][wanted.partition(":")[0]]
    assert is_mended_by_people or "fix" in finding or wanted == "mtu-pppoe:wan"
    if "fix" not in finding:
        return
    operations, notes = uci_commands.parse("\n".join(finding["fix"]["commands"]))
    assert operations and not notes
    assert catalogue.check(operations, clinic.router.config) == []
    after = Clinic(text)
    after.router.files = preview(after.router.files, operations)
    if change is not no_change and wanted.startswith("wan-off"):
        return  # what the bus says of it changes with the reload
    change(after)
    left = [one for one in after.round()["findings"] if one["id"] == wanted and "fix" in one]
    assert left == [] or wanted in ("mtu-pppoe:wan", "no-route")


def test_a_fix_of_overlapping_networks_moves_the_home_to_a_free_one():
    clinic = ill("", placed("192.168.1.77", 24))
    finding = next(one for one in clinic.round()["findings"] if one["id"].startswith("same-network"))
    assert finding["fix"]["commands"] == ["uci set network.lan.ipaddr='192.168.50.1'"]


def test_router_out_of_the_box_is_told_what_is_open():
    clinic = Clinic()
    clinic.router.files = Router().files
    clinic.files["/etc/shadow"] = b"root::0:0:99999:7:::\n"
    assert clinic.found() == ["no-password"]  # its radios are off: nothing is open on the air


def test_access_point_without_a_way_out_is_not_called_broken():
    clinic = Clinic("uci delete network.wan\nuci delete network.wan6\nuci delete firewall.@zone[1]\n"
                    "uci delete firewall.@forwarding[0]\nuci set dhcp.lan.ignore='1'\n")  # fmt: skip
    entries = clinic.bus["network.interface dump"]["interface"]
    entries[:] = [one for one in entries if not one["interface"].startswith("wan")]
    clinic.lookups = {}
    assert [one for one in clinic.found() if not one.startswith("forward")] == []


def test_silent_bus_is_skipped_and_not_called_healthy():
    clinic = Clinic()
    clinic.bus.clear()
    checks = {one["id"]: one for one in clinic.round()["checks"]}
    assert checks["wan"]["state"] == "skipped" and checks["wan"]["why"] == "netifd does not answer"
    assert checks["services"]["state"] == "skipped" and checks["flash"]["state"] == "skipped"


def test_hostile_names_are_cleaned_and_marked():
    name = "evil\u202e\x1b[31m" + "x" * 5000
    clinic = Clinic(NAS.replace("192.168.1.105", "192.168.9.105"))
    clinic.router.files["dhcp"] = clinic.router.files["dhcp"].replace(b"'nas'", f"'{name}'".encode())
    finding = next(one for one in clinic.round()["findings"] if one["id"].startswith("lease-outside"))
    assert finding["foreign"] is True
    assert "\u202e" not in json.dumps(finding, ensure_ascii=False) and len(json.dumps(finding)) < 2000


def test_worst_findings_come_first():
    clinic = ill("uci set wireless.radio0.channel='4'\n", lambda one: one.files.update({"/etc/shadow": b"root::0:\n"}))
    assert [one["severity"] for one in clinic.round()["findings"]] == ["error", "info"]


def test_without_a_name_server_nobody_is_told_that_names_are_found():
    for own in (True, False):
        clinic = Clinic()
        no_servers(clinic)
        no_names(own, False)(clinic)
        checks = {check["id"]: check for check in clinic.round()["checks"]}
        assert checks["dns-servers"]["state"] == "found"
        assert (checks["dns"]["state"], checks["dns"].get("why")) == ("skipped", "there is no name server to ask"), own
