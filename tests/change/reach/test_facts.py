"""Facts of a running router, made from its own texts and replies."""

from oasis.change.reach import owner_way


def test_interfaces_keep_device_and_addresses():
    dump = {
        "interface": [
            {
                "interface": "lan", "up": True, "l3_device": "br-lan", "device": "eth0", "data": {"zone": "home"},
                "ipv4-address": [{"address": "192.168.1.1", "mask": 24}],
                "ipv6-prefix-assignment": [{}, {"local-address": {"address": "fd00::1", "mask": 60}}],
            },
            {"interface": "wan", "up": False, "device": "wan"},
        ]
    }  # fmt: skip
    assert owner_way.interfaces(dump) == {
        "lan": {
            "device": "br-lan",
            "up": True,
            "addresses": [(4, 0xC0A80101, 24), (6, 0xFD << 120 | 1, 60)],
            "zone": "home",
        },
        "wan": {"device": "wan", "up": False, "addresses": [], "zone": ""},
    }


def test_the_arp_table_gives_macs_and_devices_of_answered_entries():
    table = (
        b"IP address       HW type     Flags       HW address            Mask     Device\n"
        b"192.168.1.142    0x1         0x2         D4:3B:04:9e:65:2a     *        br-lan\n"
        b"192.168.1.9      0x1         0x0         00:00:00:00:00:00     *        br-lan\n"
    )
    assert owner_way.neighbours(table) == ({"192.168.1.142": "d4:3b:04:9e:65:2a"}, {"192.168.1.142": "br-lan"})


def test_leases_are_the_addresses_of_the_file():
    assert owner_way.leases(b"1795334000 8a:3f:1c:52:07:b4 192.168.1.120 pixel-7 01:8a\nduid 00:01\n") == [
        "192.168.1.120"
    ]


def test_a_forwarding_table_tells_the_port_of_a_peer():
    entry = bytes.fromhex("d43b049e652a") + bytes([3, 0]) + bytes(4) + bytes([0, 0, 0, 0])
    own = bytes.fromhex("020000000001") + bytes([3, 1]) + bytes(8)
    macs = {"192.168.1.142": "d4:3b:04:9e:65:2a", "192.168.1.1": "02:00:00:00:00:01"}
    assert owner_way.ports(entry + own, {3: "lan2"}, macs) == {"192.168.1.142": "lan2"}


def test_rules_of_protocols_and_services_are_gathered():
    dump = {
        "interface": [
            {"interface": "vpn", "l3_device": "tun0", "data": {"firewall": [{"type": "rule", "target": "DROP"}]}}
        ]
    }
    services = {"upnp": {"firewall": [{"type": "rule"}], "instance1": {"firewall": [{"type": "redirect"}]}}}
    assert owner_way.added_rules(dump, services) == [
        {"type": "rule", "target": "DROP", "device": "tun0"}, {"type": "rule"}, {"type": "redirect"},
    ]  # fmt: skip


def test_access_points_are_known_by_their_devices():
    status = {
        "radio0": {"up": True, "interfaces": [{"section": "default_radio0", "ifname": "phy0-ap0"}, {"section": "x"}]},
        "radio1": {"up": False, "interfaces": []},
    }
    assert owner_way.access_points(status) == {"phy0-ap0": "default_radio0"}
    assert owner_way.access_points({}) == {}


def test_the_certificates_of_all_sections_are_named():
    text = b"config uhttpd 'main'\n\toption cert '/etc/a'\n\nconfig cert 'defaults'\n\nconfig uhttpd 'b'\n"
    assert owner_way.certificates(text) == [("/etc/a", ""), ("", "")]
