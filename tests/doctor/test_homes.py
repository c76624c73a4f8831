"""Usual homes: set-ups that many owners have on purpose, and that the doctor must not call ill."""

from __future__ import annotations

import copy
import json

import pytest

from tests.doctor.clinic import Clinic

DEFAULT = [{"target": "0.0.0.0", "mask": 0, "nexthop": "192.168.1.1"}]
VPN = """
uci set network.wg0=interface
uci set network.wg0.proto='wireguard'
"""
NAS = """
uci add dhcp host
uci set dhcp.@host[-1].name='nas'
uci set dhcp.@host[-1].ip='192.168.1.105'
uci set dhcp.@host[-1].mac='02:00:00:00:00:05'
"""
FORWARD = """
uci add firewall redirect
uci set firewall.@redirect[-1].src='wan'
uci set firewall.@redirect[-1].src_dport='8080'
uci set firewall.@redirect[-1].dest='lan'
uci set firewall.@redirect[-1].dest_ip='192.168.1.105'
uci set firewall.@redirect[-1].target='DNAT'
uci add network route
uci set network.@route[-1].interface='lan'
uci set network.@route[-1].target='192.168.77.0/24'
"""
ZONE = """
uci add firewall zone
uci set firewall.@zone[-1].name='vpn'
uci set firewall.@zone[-1].input='ACCEPT'
uci set firewall.@zone[-1].output='ACCEPT'
uci set firewall.@zone[-1].forward='ACCEPT'
"""


def added(clinic, name, like="wan", **values):
    """Add a live interface to the bus."""
    entry = copy.deepcopy(clinic.interface(like))
    entry.update({"interface": name, "device": name, "l3_device": name, "route": [], **values})
    clinic.bus["network.interface dump"]["interface"].append(entry)
    return entry


def at(address, mask=24):
    return [{"address": address, "mask": mask}]


def test_access_point_with_a_way_out_through_its_own_network():
    """The usual way of a second router: a fixed address, a gateway, no address server, the old WAN unused."""
    clinic = Clinic("uci set network.lan.gateway='192.168.1.254'\nuci set dhcp.lan.ignore='1'\n")
    clinic.interface("lan")["route"] = [{"target": "0.0.0.0", "mask": 0, "nexthop": "192.168.1.254"}]
    clinic.interface("wan").update({"up": False, "ipv4-address": [], "route": []})
    clinic.device("wan")["carrier"] = False
    assert clinic.found() == []


def test_access_point_that_gets_its_address():
    clinic = Clinic("uci set network.lan.proto='dhcp'\nuci delete network.wan\nuci delete network.wan6\n"
                    "uci set dhcp.lan.ignore='1'\nuci delete firewall.@zone[1]\n"
                    "uci delete firewall.@forwarding[0]\nuci delete firewall.@rule[0]\n")  # fmt: skip
    entries = clinic.bus["network.interface dump"]["interface"]
    entries[:] = [one for one in entries if not one["interface"].startswith("wan")]
    clinic.interface("lan").update({"proto": "dhcp", "route": DEFAULT})
    assert [one for one in clinic.found() if not one.startswith("forward")] == []


def test_vpn_for_guests_of_the_owner_in_a_zone_that_masquerades():
    """WireGuard as a server: in a zone of its own, with everything allowed, as most instructions have it."""
    clinic = Clinic(VPN + ZONE + "uci set firewall.@zone[-1].masq='1'\nuci set firewall.@zone[-1].mtu_fix='1'\n"
                    "uci add_list firewall.@zone[-1].network='wg0'\n")  # fmt: skip
    added(clinic, "wg0", proto="wireguard", **{"ipv4-address": at("10.9.0.1")})
    assert clinic.found() == []


def test_vpn_that_all_goes_through():
    clinic = Clinic(VPN + "uci add_list firewall.@zone[1].network='wg0'\n")
    added(clinic, "wg0", proto="wireguard", route=[{"target": "0.0.0.0", "mask": 0, "nexthop": "0.0.0.0"}],
          **{"ipv4-address": at("10.64.0.2", 32), "metric": 5})  # fmt: skip
    assert clinic.found() == []


def test_zone_by_device_holds_its_interface():
    clinic = Clinic(VPN + ZONE + "uci add_list firewall.@zone[-1].device='wg0'\n")
    added(clinic, "wg0", proto="wireguard", **{"ipv4-address": at("10.9.0.1")})
    assert clinic.found() == []


def test_port_forward_into_a_vpn_or_behind_another_router():
    clinic = Clinic(VPN + """
uci add_list firewall.@zone[0].network='wg0'
uci add network route
uci set network.@route[-1].interface='lan'
uci set network.@route[-1].target='192.168.77.0/24'
uci set network.@route[-1].gateway='192.168.1.2'
""" + "".join("""
uci add firewall redirect
uci set firewall.@redirect[-1].name='%s'
uci set firewall.@redirect[-1].src='wan'
uci set firewall.@redirect[-1].dest='lan'
uci set firewall.@redirect[-1].src_dport='%s'
uci set firewall.@redirect[-1].dest_ip='%s'
uci set firewall.@redirect[-1].target='DNAT'
""" % one for one in (("vpn", "8081", "10.9.0.7"), ("routed", "8082", "192.168.77.9"))))  # fmt: skip
    added(clinic, "wg0", proto="wireguard", **{"ipv4-address": at("10.9.0.1")})
    assert clinic.found() == []


def test_modem_that_is_reached_beside_the_connection():
    clinic = Clinic("uci set network.modem=interface\nuci set network.modem.proto='static'\n"
                    "uci set network.modem.device='wan'\nuci set network.modem.ipaddr='192.168.100.2'\n"
                    "uci set network.modem.netmask='255.255.255.0'\n"
                    "uci add_list firewall.@zone[1].network='modem'\n")  # fmt: skip
    added(clinic, "modem", proto="static", device="wan", l3_device="wan", **{"ipv4-address": at("192.168.100.2")})
    assert clinic.found() == []


def test_provider_whose_first_hop_behind_pppoe_answers_no_ping():
    clinic = Clinic("uci set network.wan.proto='pppoe'\n")
    clinic.interface("wan").update(proto="pppoe", l3_device="pppoe-wan")
    clinic.bus["network.device status"]["pppoe-wan"] = {**clinic.device("wan"), "mtu": 1492}
    clinic.interface("wan")["route"][0]["nexthop"] = "62.155.0.1"
    clinic.pings = {"62.155.0.1": False, "203.0.113.1": True}
    assert clinic.found() == []


@pytest.mark.parametrize("name", ["wan", "wan6"])
def test_provider_of_ipv6_alone(name):
    """DS-Lite and the like: the line speaks IPv6, and netifd adds an interface for IPv4 that nobody configured."""
    gone = (
        "uci delete network.wan\nuci delete firewall.@zone[1].network\nuci add_list firewall.@zone[1].network='wan6'\n"
    )
    clinic = Clinic("uci set network.wan.proto='dhcpv6'\nuci delete network.wan6\n"
                    "uci del_list firewall.@zone[1].network='wan6'\n" if name == "wan" else gone)  # fmt: skip
    entries = clinic.bus["network.interface dump"]["interface"]
    entries[:] = [one for one in entries if one["interface"] not in ("wan", "wan6")]
    added(clinic, name, like="lan", proto="dhcpv6", device="wan", l3_device="wan",
          **{"ipv4-address": [], "ipv6-address": at("2001:db8::2", 64)})  # fmt: skip
    added(clinic, name + "_4", like="lan", proto="dslite", device="wan", l3_device="ds-" + name, dynamic=True,
          **{"ipv4-address": at("192.0.0.2", 32), "route": DEFAULT})  # fmt: skip
    assert clinic.found() == []


def test_pppoe_with_ipv6_alone_has_its_address_on_another_interface():
    clinic = Clinic("uci set network.wan.proto='pppoe'\nuci set network.wan.ipv6='auto'\n")
    clinic.interface("wan").update({"proto": "pppoe", "l3_device": "pppoe-wan", "ipv4-address": [], "route": []})
    clinic.bus["network.device status"]["pppoe-wan"] = {**clinic.device("wan"), "mtu": 1492}
    added(clinic, "wan_6", like="lan", proto="dhcpv6", device="pppoe-wan", l3_device="pppoe-wan", dynamic=True,
          **{"ipv4-address": [], "ipv6-address": at("2001:db8::2", 64)})  # fmt: skip
    assert clinic.found() == []


def test_mobile_modem_whose_own_interfaces_stand_in_the_zone():
    clinic = Clinic("uci set network.wan.proto='qmi'\nuci add_list firewall.@zone[1].network='wan_4'\n")
    clinic.interface("wan").update({"proto": "qmi", "ipv4-address": [], "route": []})
    added(clinic, "wan_4", like="lan", proto="dhcp", device="wwan0", l3_device="wwan0", dynamic=True,
          **{"ipv4-address": at("100.80.1.2", 30), "route": DEFAULT})  # fmt: skip
    assert clinic.found() == []


def test_forwarding_to_everywhere_or_by_a_rule():
    assert Clinic("uci set firewall.@forwarding[0].dest='*'\n").found() == []
    rule = ("uci delete firewall.@forwarding[0]\nuci add firewall rule\nuci set firewall.@rule[-1].src='lan'\n"
            "uci set firewall.@rule[-1].dest='wan'\nuci set firewall.@rule[-1].proto='all'\n"
            "uci set firewall.@rule[-1].target='ACCEPT'\n")  # fmt: skip
    assert Clinic(rule).found() == []


def test_vpn_that_listens_where_web_pages_do_by_another_protocol():
    rule = ("uci add firewall rule\nuci set firewall.@rule[-1].src='wan'\nuci add_list firewall.@rule[-1].proto='udp'\n"
            "uci set firewall.@rule[-1].dest_port='443'\nuci set firewall.@rule[-1].target='ACCEPT'\n")  # fmt: skip
    assert Clinic(rule).found() == []
    assert [one.partition(":")[0] for one in Clinic(rule.replace("'udp'", "'tcp'")).found()] == ["open-management"]


def test_radio_whose_networks_are_all_switched_off():
    clinic = Clinic("uci set wireless.default_radio0.disabled='1'\n")
    clinic.bus["network.wireless status"]["radio0"]["up"] = False
    assert clinic.found() == []


def test_wan_switched_off_and_unplugged_is_told_once():
    clinic = Clinic("uci set network.wan.auto='0'\n")
    clinic.interface("wan").update({"up": False, "autostart": False, "ipv4-address": [], "route": []})
    clinic.device("wan")["carrier"] = False
    assert clinic.found() == ["wan-off:wan"]


# What no bus and no configuration should ever say, and some do.
ODD = [None, [], {}, "x", -1, 10**30, [None], {"a": None}, ["0.0.0.0"], "9" * 5000]


def spoiled(value, odd):
    """Yield copies of a value, each with one part replaced."""
    if isinstance(value, dict):
        for key in value:
            yield {**value, key: odd}
            for one in spoiled(value[key], odd):
                yield {**value, key: one}
    elif isinstance(value, list) and value:
        yield [odd]
        for one in spoiled(value[0], odd):
            yield [one, *value[1:]]


@pytest.mark.parametrize("odd", ODD, ids=[str(number) for number in range(len(ODD))])
def test_odd_replies_of_the_bus_end_no_round(odd):
    whole = Clinic()
    for name in ("network.interface dump", "network.wireless status", "system info", "system board"):
        for reply in spoiled(whole.bus[name], odd):
            clinic = Clinic.__new__(Clinic)
            clinic.__dict__.update(whole.__dict__)
            kept = whole.bus[name]
            whole.bus[name] = reply
            try:
                found = clinic.round()
            finally:
                whole.bus[name] = kept
            faults = [check for check in found["checks"] if "fault" in check.get("why", "")]
            assert not faults, (json.dumps(reply)[:400], faults)


def test_fault_in_a_check_is_told_and_ends_no_round(capsys):
    clinic = Clinic()
    clinic.bus["network.device status"] = {"wan": {"mtu": 1200, "carrier": True}}
    clinic.names = lambda path: 1 / 0
    found = clinic.round()
    checks = {one["id"]: one for one in found["checks"]}
    assert checks["heat"]["state"] == "skipped" and "fault" in checks["heat"]["why"]
    assert "mtu-small:wan" in [one["id"] for one in found["findings"]] and len(checks) == 45
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["network", "firewall", "dhcp", "wireless", "system"])
def test_odd_values_of_options_end_no_round(package):
    clinic = Clinic(NAS + FORWARD)
    configs = {name: clinic.router.config(name) for name in clinic.router.files}
    facts = clinic.router.facts
    for name, section in list(configs[package].items())[-8:]:
        for option in [one for one in section if not one.startswith(".")] + ["gateway", "netmask", "mtu"]:
            for odd in (["a", "b"], "", "²", "9" * 5000, "-1", "192.168.1.1/99", "%s"):
                odd_one = {**configs, package: {**configs[package], name: {**section, option: odd}}}
                facts._config = odd_one.get
                found = clinic.round()
                faults = [check for check in found["checks"] if "fault" in check.get("why", "")]
                assert not faults, (name, option, odd, faults)
