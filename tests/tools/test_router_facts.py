"""Facts about the router: everything injected, foreign names cleaned, nobody answering is no error."""

from oasis.errors import ToolError, UciError
from oasis.tools.router import Facts
from oasis.uci import model
from tests.router.stock import HOME, LEASES, NOW_S, Router


def facts(config=None, ubus=None, files=None):
    bus, found = ubus or {}, files or {}
    return Facts((config or {}).get, lambda name, method, _: bus.get(f"{name} {method}"), found.get, lambda: NOW_S)


def test_sections_keep_the_order_of_the_file():
    package = model.parse(b"config rule b\n\nconfig rule c\n\nconfig rule a\n", "firewall")
    assert list(facts({"firewall": model.tables(package)}).config("firewall")) == ["b", "c", "a"]


def test_package_that_is_missing_or_broken_is_empty():
    def broken(package):
        raise UciError("parse error")

    assert facts().config("network") == {}
    assert not facts().has_package("network")
    assert Facts(broken, lambda *_: None, lambda _: None, lambda: 0).config("network") == {}


def test_failing_bus_is_silence():
    def failing(name, method, arguments):
        raise ToolError("ubus call: not found")

    found = Facts(lambda _: None, failing, lambda _: None, lambda: 0)
    assert (found.ubus("system", "board"), found.services(), found.interfaces(), found.packages()) == ({}, {}, [], [])


def test_leases_are_read_from_the_file_that_dnsmasq_writes():
    config = {"dhcp": {"d": {".name": "d", ".type": "dnsmasq", ".index": 0, "leasefile": "/srv/leases"}}}
    leases = facts(config, files={"/srv/leases": LEASES.encode()}).leases()
    assert leases[0] == {
        "mac": "aa:bb:cc:00:00:01", "ip": "192.168.1.101", "name": "annas-iphone", "expires_unix_s": 1795300000,
    }  # fmt: skip
    assert len(leases) == 7 and leases[5]["name"] == ""


def test_lease_lines_of_another_kind_are_left_out():
    text = "duid 00:01:00:01\n1795300000 1234 fd00::1 host 00:01\nbroken\n\n0 AA:BB:CC:00:00:01 192.168.1.9 x\u202ey\n"
    leases = facts(files={"/tmp/dhcp.leases": text.encode()}).leases()
    assert [(lease["mac"], lease["name"]) for lease in leases] == [("aa:bb:cc:00:00:01", "xy")]


def test_what_is_no_address_in_the_lease_file_is_no_device():
    lines = "0 aa:bb:cc:00:00:0x 192.168.1.9 a *\n0 aa:bb:cc:00:00:01 set-dns-to-6.6.6.6 b *\n"
    assert facts(files={"/tmp/dhcp.leases": lines.encode()}).leases() == []


def test_a_digit_that_is_no_number_is_none():
    host = {".name": "h", ".type": "host", ".index": 0, "mac": "aa:bb:cc:00:00:02", "ip": "192.168.1.²"}
    lines = "² aa:bb:cc:00:00:01 192.168.1.9 a *\n"
    found = facts({"dhcp": {"h": host}}, files={"/tmp/dhcp.leases": lines.encode()}).devices()
    assert [one["mac"] for one in found] == ["aa:bb:cc:00:00:02"]


def test_lease_file_of_any_bytes_is_read():
    assert (
        facts(files={"/tmp/dhcp.leases": b"0 aa:bb:cc:00:00:01 192.168.1.9 \xff\xfe *\n"}).leases()[0]["ip"]
        == "192.168.1.9"
    )


def test_devices_join_leases_fixed_addresses_and_neighbours():
    router = Router(
        HOME + "uci add dhcp host\nuci set dhcp.@host[-1].mac='AA:BB:CC:00:00:99'\nuci set dhcp.@host[-1].name='cam'\n"
    )
    router.host_files["/proc/net/arp"] = (
        b"IP address       HW type     Flags       HW address            Mask     Device\n"
        b"192.168.1.200    0x1         0x2         aa:bb:cc:00:00:77     *        br-lan\n"
        b"192.168.1.201    0x1         0x0         00:00:00:00:00:00     *        br-lan\n"
        b"10.99.0.1        0x1         0x2         aa:bb:cc:00:00:78     *        wan\n"
    )
    devices = {device["mac"]: device for device in router.facts.devices()}
    assert devices["aa:bb:cc:00:00:05"]["fixed"] and devices["aa:bb:cc:00:00:05"]["present"]
    assert devices["aa:bb:cc:00:00:99"] == {
        "name": "cam",
        "mac": "aa:bb:cc:00:00:99",
        "ip": "",
        "fixed": False,
        "present": False,
    }
    assert devices["aa:bb:cc:00:00:77"]["ip"] == "192.168.1.200"
    assert "aa:bb:cc:00:00:78" not in devices and "00:00:00:00:00:00" not in devices
    assert next(iter(devices)) == "aa:bb:cc:00:00:01"


def test_services_come_from_init_scripts_or_from_procd():
    rc = {
        "rc list": {"dnsmasq": {"start": 19, "enabled": True, "running": True}, "led": {"start": 96, "enabled": False}}
    }
    assert facts(ubus=rc).services() == {"dnsmasq": {"enabled": True, "running": True}, "led": {"enabled": False}}
    procd = {"service list": {"log": {"instances": {"a": {"running": True}}}, "firewall": {}}}
    assert facts(ubus=procd).services() == {"log": {"running": True}, "firewall": {"running": False}}
