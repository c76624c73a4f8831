"""The corpus: every verdict as worked out by hand. A wrong "yes" would shut an owner out."""

import collections
import json
import os

import pytest

from oasis.change import uci_commands
from oasis.change.reach import owner_way, sections
from oasis.change.reach.verdict import PACKAGES, verdict
from oasis.uci.model import preview
from tests.change.reach import corpus
from tests.change.reach.corpus_firewall import firewall_cases
from tests.change.reach.corpus_listeners import listener_cases
from tests.change.reach.corpus_network import network_cases

STOCK = os.path.join(os.path.dirname(__file__), "..", "..", "router")
CANNOT_TELL_SHARE = 0.15
LEAST = 120

firewall_cases()
network_cases()
listener_cases()


def _read(*parts):
    with open(os.path.join(STOCK, *parts), "rb") as handle:
        return handle.read()


def files_of(base):
    """Return the packages of a router of the corpus."""
    stock = {name: _read("root/etc/config", name) for name in PACKAGES}
    text = corpus.BASES[base] + ("" if base in ("plain", "bound", "stock") else corpus.BASES["stock"])
    return apply(stock, text)


def apply(files, text):
    """Return the packages after uci commands written without the word uci."""
    lines = ["uci " + line for line in text.strip().split("\n") if line]
    return preview(files, uci_commands.parse("\n".join(lines))[0]) if lines else files


def facts_of(name, base):
    """Return what the router knows in a case."""
    dump = json.loads(_read("ubus/network.interface~dump.json"))
    macs, devices = owner_way.neighbours(_read("root/proc/net/arp"))
    found = {
        "interfaces": owner_way.interfaces(dump), "neighbours": macs, "devices": devices,
        "leases": owner_way.leases(_read("root/tmp/dhcp.leases")),
    }  # fmt: skip
    lan = found["interfaces"]["lan"]
    if base in ("vlan", "trunk", "switch"):
        lan["device"] = {"vlan": "br-lan.10", "trunk": "eth0.5", "switch": "eth0.1"}[base]
        found["devices"] = dict.fromkeys(devices, lan["device"])
    if base == "vpn":
        found["interfaces"]["vpn"] = {"device": "vpn", "up": True, "addresses": [(4, 0x0A080001, 24)], "zone": ""}
    if name in ("port", "trunk"):
        found["ports"] = {corpus.ANNA: "lan2", corpus.TV: "lan4"} if name == "port" else {corpus.ANNA: "eth0"}
    if name == "air":
        found["ports"], found["wifi"] = {corpus.ANNA: "phy0-ap0"}, {"phy0-ap0": "default_radio0"}
    if name == "with tls":
        found["has_tls"] = True
    return found


def told(one):
    before = files_of(one["base"])
    after = apply(before, one["change"])
    ways = [corpus.PATHS[way] for way in one["ways"]]
    return verdict(before, after, ways, facts_of(one["knows"], one["base"]))


@pytest.mark.parametrize("one", corpus.CASES, ids=lambda one: one["name"])
def test_the_verdict_is_the_one_worked_out_by_hand(one):
    answer = told(one)
    assert (answer["verdict"], answer["new_address"]) == (one["verdict"], one["new_address"]), answer["reasons"]
    if answer["verdict"] != "yes":
        assert answer["reasons"]
        assert all(reason and reason[-1] != "." for reason in answer["reasons"])


def test_the_corpus_is_large_and_seldom_undecided(capsys):
    counted = collections.Counter(told(one)["verdict"] for one in corpus.CASES)
    with capsys.disabled():
        print("\nreach corpus: %d cases, yes %d, no %d, cannot tell %d (%.1f %%)" % (
            len(corpus.CASES), counted["yes"], counted["no"], counted["cannot_tell"],
            100 * counted["cannot_tell"] / len(corpus.CASES),
        ))  # fmt: skip
    assert len(corpus.CASES) >= LEAST
    assert counted["cannot_tell"] <= CANNOT_TELL_SHARE * len(corpus.CASES)


def test_every_change_of_the_corpus_is_another():
    seen = {}
    for one in corpus.CASES:
        before = files_of(one["base"])
        key = str((sections.read(before), sections.read(apply(before, one["change"])), one["ways"], one["knows"]))
        assert key not in seen, (one["name"], seen.get(key))
        seen[key] = one["name"]
