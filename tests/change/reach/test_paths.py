"""Ways of owners, read from connection tables."""

import pytest

from oasis.change.reach.owner_way import management_ports, owner_paths

HEAD = b"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
REST = b" 00000000:00000000 00:00000000 00000000     0        0 2104 1 0000000000000000 100 0 0 10 0\n"


def line(local, remote, state=b"01"):
    return b"   4: " + local + b" " + remote + b" " + state + REST


def keys(paths):
    return [(path["family"], path["source"], path["source_port"], path["address"], path["port"]) for path in paths]


def test_an_established_connection_to_the_pages_is_a_way():
    table = HEAD + line(b"0101A8C0:0050", b"8E01A8C0:CE4E")
    assert keys(owner_paths(table, b"", [80], "little")) == [(4, "192.168.1.142", 52814, "192.168.1.1", 80)]


def test_the_order_of_bytes_is_the_routers():
    table = HEAD + line(b"C0A80101:0050", b"C0A8018E:CE4E")
    assert keys(owner_paths(table, b"", [80], "big")) == [(4, "192.168.1.142", 52814, "192.168.1.1", 80)]


def test_ipv6_and_mapped_ipv4_are_read():
    own = b"35FE8CFD000099EC0000000001000000"
    peer = b"35FE8CFD000099EC000000008E000000"
    mapped = HEAD + line(b"0000000000000000FFFF00000101A8C0:0016", b"0000000000000000FFFF00008E01A8C0:CE4E")
    assert keys(owner_paths(b"", HEAD + line(own + b":0016", peer + b":C350"), [22], "little")) == [
        (6, "fd8c:fe35:ec99::8e", 50000, "fd8c:fe35:ec99::1", 22)
    ]
    assert keys(owner_paths(b"", mapped, [22], "little")) == [(4, "192.168.1.142", 52814, "192.168.1.1", 22)]


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
def test_what_is_no_way_of_an_owner_is_left_out(one):
    assert owner_paths(HEAD + one, b"", [80], "little") == []


def test_several_connections_of_a_peer_are_one_way():
    table = HEAD + line(b"0101A8C0:0050", b"8E01A8C0:CE4E") + line(b"0101A8C0:0050", b"8E01A8C0:CE4F")
    assert len(owner_paths(table, b"", [80], "little")) == 1


def test_management_ports_are_those_of_both_services_and_the_usual_ones():
    files = {
        "dropbear": b"config dropbear\n\toption Port '2222'\n",
        "uhttpd": b"config uhttpd 'main'\n\tlist listen_http '[::]:8080'\n\tlist listen_https '8443'\n",
    }
    assert management_ports(files) == [22, 80, 443, 2222, 8080, 8443]
    assert management_ports({}) == [22, 80, 443]
