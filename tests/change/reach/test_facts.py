"""Facts of a running router, made from its own texts and replies; ways of owners, read from connection tables."""

import sys

import pytest

from oasis.change.reach import owner_way
from oasis.change.reach.owner_way import management_ports, owner_paths
from oasis.system.connections import connections


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


HEAD = b"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
REST = b" 00000000:00000000 00:00000000 00000000     0        0 2104 1 0000000000000000 100 0 0 10 0\n"


def line(local, remote, state=b"01"):
    return b"   4: " + local + b" " + remote + b" " + state + REST


def keys(paths):
    return [(path["family"], path["source"], path["source_port"], path["address"], path["port"]) for path in paths]


@pytest.fixture
def ways(tmp_path):
    """Return what gives the ways of the kernel's tables."""

    def found(tcp, tcp6, ports):
        (tmp_path / "tcp").write_bytes(HEAD + tcp)
        (tmp_path / "tcp6").write_bytes(HEAD + tcp6)
        return owner_paths(connections(str(tmp_path)), ports)

    return found


@pytest.mark.skipif(sys.byteorder == "big", reason="the tables are those of a router with little-endian numbers")
def test_an_established_connection_to_the_pages_is_a_way(ways):
    table = line(b"0101A8C0:0050", b"8E01A8C0:CE4E")
    assert keys(ways(table, b"", [80])) == [(4, "192.168.1.142", 52814, "192.168.1.1", 80)]


@pytest.mark.skipif(sys.byteorder == "big", reason="the tables are those of a router with little-endian numbers")
def test_ipv6_and_mapped_ipv4_are_read(ways):
    own = b"35FE8CFD000099EC0000000001000000"
    peer = b"35FE8CFD000099EC000000008E000000"
    mapped = line(b"0000000000000000FFFF00000101A8C0:0016", b"0000000000000000FFFF00008E01A8C0:CE4E")
    assert keys(ways(b"", line(own + b":0016", peer + b":C350"), [22])) == [
        (6, "fd8c:fe35:ec99::8e", 50000, "fd8c:fe35:ec99::1", 22)
    ]
    assert keys(ways(b"", mapped, [22])) == [(4, "192.168.1.142", 52814, "192.168.1.1", 22)]


@pytest.mark.parametrize(
    "one",
    [
        line(b"0101A8C0:0050", b"8E01A8C0:CE4E", b"06"),
        line(b"0100007F:0050", b"0100007F:CE4E"),
        line(b"0101A8C0:CE4E", b"8E01A8C0:0050"),
        line(b"00000000:0050", b"00000000:0000", b"0A"),
    ],
    ids=["closing", "loopback", "the router is the client", "listening"],
)
def test_what_is_no_way_of_an_owner_is_left_out(ways, one):
    assert ways(one, b"", [80]) == []


def test_several_connections_of_a_peer_are_one_way(ways):
    table = line(b"0101A8C0:0050", b"8E01A8C0:CE4E") + line(b"0101A8C0:0050", b"8E01A8C0:CE4F")
    assert len(ways(table, b"", [80])) == 1


def test_management_ports_are_those_of_both_services_and_the_usual_ones():
    files = {
        "dropbear": b"config dropbear\n\toption Port '2222'\n",
        "uhttpd": b"config uhttpd 'main'\n\tlist listen_http '[::]:8080'\n\tlist listen_https '8443'\n",
    }
    assert management_ports(files) == [22, 80, 443, 2222, 8080, 8443]
    assert management_ports({}) == [22, 80, 443]
