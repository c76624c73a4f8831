"""Which options hold names that somebody else chose, and where they turn up again."""

import pytest

from oasis.change import foreign
from oasis.uci import model


@pytest.mark.parametrize(
    ("package", "section", "kind", "values", "expected"),
    [
        ("dhcp", "x", "host", {"name": "tv", "mac": "m"}, {"name": "device names"}),
        ("dhcp", "x", "host", {"mac": "m"}, {}),
        ("dhcp", "x", "domain", {"name": "nas.lan"}, {}),
        ("firewall", "oasis_block_1", "rule", {"name": "Block tv"}, {"name": "device names"}),
        ("firewall", "cfg0192bd", "rule", {"name": "Allow-Ping"}, {}),
        ("wireless", "x", "wifi-iface", {"mode": "sta", "ssid": "Next door"}, {"ssid": "network names"}),
        ("wireless", "x", "wifi-iface", {"mode": "mesh", "mesh_id": "m"}, {"mesh_id": "network names"}),
        ("wireless", "x", "wifi-iface", {"mode": "ap", "ssid": "Home"}, {}),
        ("wireless", "x", "wifi-iface", {"ssid": "Home"}, {}),
    ],
)
def test_foreign_options(package, section, kind, values, expected):
    assert foreign.options(package, section, kind, values) == expected


def test_a_sentence_that_tells_a_foreign_name_is_known():
    package = model.parse(
        b"config host 'a'\n\toption name 'odd-name'\n\nconfig host 'b'\n\toption name 'other'\n", "dhcp"
    )
    assert foreign.told(package, ["name: 'odd-name' to 'tv'", "mac: 'odd-name'"]) == ["device names"]
    assert foreign.told(package, ["hostname: 'x' to 'y'"]) == foreign.told(package, []) == []
