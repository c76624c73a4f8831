"""What the evaluator says against what was seen on a router: real netifd, fw4 and uhttpd, and a device beside it.

observed.json: the configuration, the facts, and changes made by chance, each with [the address of the page, "" when it
is the old one; whether the page came over a new connection] for the device's IPv4 and IPv6 way. A "yes" must have been
seen; so must a "no", but for what IPv6 survives when the interface's IPv4 settings are refused.
"""

import collections
import json
import os

import pytest

from oasis.change.reach import owner_way
from oasis.change.reach.verdict import verdict
from tests.change.reach import corpus, test_corpus

with open(os.path.join(os.path.dirname(__file__), "observed.json")) as _handle:
    OBSERVED = json.load(_handle)
FILES = {name: text.encode() for name, text in OBSERVED["files"].items()}
WAYS = {
    "web": corpus._path("192.168.1.142", "192.168.1.1", 80),
    "web6": corpus._path("fd12:3456:789a::8e", "fd12:3456:789a::1", 80),
}


def told(change, way):
    macs, devices = owner_way.neighbours(OBSERVED["arp"].encode())
    known = {"interfaces": owner_way.interfaces(OBSERVED["interfaces"]), "neighbours": macs, "devices": devices,
             "leases": ["192.168.1.142"]}  # fmt: skip
    return verdict(FILES, test_corpus.apply(FILES, change), [WAYS[way]], known)


@pytest.mark.parametrize("way", WAYS)
def test_what_was_seen_is_what_the_verdict_says(way, capsys):
    counted = collections.Counter()
    for one in OBSERVED["changes"]:
        answer = told(one["change"], way)
        address, came = one[way]
        counted[answer["verdict"], came] += 1
        if answer["verdict"] == "yes":
            assert (answer["new_address"], came) == (address, True), (one["change"], answer)
        if answer["verdict"] == "no" and way == "web":
            assert not came, (one["change"], answer)
    with capsys.disabled():
        print("\nreach, observed, %s:" % way, dict(counted))
    assert counted["yes", True] > 100
