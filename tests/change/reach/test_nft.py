"""What the evaluator says against what the kernel does: real rulesets of fw4, real TCP connections between namespaces.

Rulesets recorded from fw4 (rulesets.json, made by record.py) are always used; where fw4's own parts are here, it also
renders the corpus and packages made by chance. Without root, iproute2 or nftables all of this is skipped, and says so.
"""

import collections
import json
import os

import pytest

from oasis.catalogue import address_text
from oasis.change.reach import network, owner_way, packet_path, ruleset, sections, verdict
from oasis.uci import model
from oasis.uci.model import tables
from tests.change.reach import corpus, fw4, kinds, lab, record, test_corpus, wild

LACK = lab.missing()
FW4_LACK = LACK or fw4.missing()
needs_lab = pytest.mark.skipif(bool(LACK), reason=f"comparing with real nftables needs {LACK}")
needs_fw4 = pytest.mark.skipif(bool(FW4_LACK), reason=f"comparing with the real fw4 needs {FW4_LACK}")
# More by hand: OASIS_WILD=600 (firewalls), OASIS_WILD_FROM (first seed)
WILD = int(os.environ.get("OASIS_WILD", "40"))
# Packages that the evaluator once got wrong: redirects that change nothing, rules that nft refuses, shut neighbours.
ONCE_WRONG = (14, 74, 287, 1105, 2001, 3591)
WILD_FROM = int(os.environ.get("OASIS_WILD_FROM", "0"))

with open(os.path.join(os.path.dirname(__file__), "rulesets.json")) as handle:
    RECORDED = json.load(handle)

LINKS = {
    "br-lan": (
        ["192.168.1.1/24", "fdd9:4418:ff9d::1/60"],
        ["192.168.1.142/24", "192.168.1.10/24", "192.168.9.9/24", "fdd9:4418:ff9d::8e/60"],
    ),
    "wan": (["10.99.0.75/24", "2001:db8:77::1/64"], ["10.99.0.1/24", "203.0.113.9/24", "2001:db8:77::2/64"]),
    "tun0": (["10.8.0.1/24"], ["10.8.0.2/24"]),
}
PROBES = [
    (device, source, address, port)
    for device, source, address in (
        ("br-lan", "192.168.1.142", "192.168.1.1"),
        ("br-lan", "192.168.1.10", "192.168.1.1"),
        ("br-lan", "fdd9:4418:ff9d::8e", "fdd9:4418:ff9d::1"),
        ("br-lan", "192.168.1.142", "10.99.0.75"),
        ("wan", "10.99.0.1", "10.99.0.75"),
        ("wan", "2001:db8:77::2", "2001:db8:77::1"),
        ("tun0", "10.8.0.2", "10.8.0.1"),
    )
    for port in (22, 80, 443, 8080)
]
UNKNOWN_SHARE = 0.1
LONG_S = 400  # what the kernel drops is waited for, hundreds of times


@pytest.fixture(scope="module")
def dump():
    kept = RECORDED["interfaces"]
    return json.loads(kept) if isinstance(kept, str) else kept


@pytest.fixture(scope="module")
def nets(dump):
    package = tables(model.parse(RECORDED["network"].partition("\n")[2].encode(), "network"))
    config = {"network": package}
    return network.networks(config, {"interfaces": owner_way.interfaces(dump)}, config)


@pytest.fixture(scope="module")
def router():
    made = lab.Lab(LINKS)
    yield made
    made.close()


def firewall_of(text):
    return tables(model.parse(text.encode(), "firewall"))


def judged(package, nets, probe):
    """Return what the evaluator says of a connection."""
    device, source, address, port = probe
    family, number = address_text.number(source)
    packet = {
        "family": family, "device": device, "source": (number, number), "address": address_text.number(address)[1],
        "source_port": (1024, 65535), "port": port, "mac": lab.mac(device),
    }  # fmt: skip
    rules = ruleset.compile_rules(package, nets, [])
    found = packet_path.judge(rules, packet, lambda one: network.owns(nets, *one), set())
    if family == 6 and found["state"] == "yes" and not verdict.judge_discovery(package, nets, [], packet, set())[0]:
        return {**found, "state": "cannot_tell"}
    return found


def compare(answers, router):
    """Return (the probes that the evaluator got wrong, how often each answer met each outcome)."""
    found = _compare(answers, router.try_all(PROBES))
    return _compare(answers, router.try_all(PROBES, lab.SLOW_S)) if found[0] else found


def _compare(answers, passed):
    counted = collections.Counter(
        (answer["state"], came) for _, answer, came in zip(PROBES, answers, passed, strict=True)
    )
    wrong = [
        (probe, answer["state"], answer["reason"])
        for probe, answer, came in zip(PROBES, answers, passed, strict=True)
        if answer["state"] == ("no" if came else "yes") and answer["port"] in lab.PORTS
    ]
    return wrong, counted


@needs_lab
def test_without_rules_every_connection_of_the_lab_comes_through(router):
    router.clear()
    assert all(router.try_all(PROBES))


@needs_lab
@pytest.mark.timeout(LONG_S)
def test_recorded_rulesets_pass_what_the_evaluator_says(router, nets, capsys):
    counted = collections.Counter()
    for one in RECORDED["cases"]:
        package = firewall_of(one["firewall"].partition("\n")[2])
        assert router.load(one["ruleset"]) == ""
        wrong, met = compare([judged(package, nets, probe) for probe in PROBES], router)
        assert not wrong, one["case"]
        counted += met
    with capsys.disabled():
        print("\nreach, recorded rulesets:", dict(counted))
    assert {one["case"] for one in RECORDED["cases"]} >= set(kinds.KINDS)
    assert counted["yes", True] > 1000
    assert counted["no", False] > 1000
    assert counted["cannot_tell", True] + counted["cannot_tell", False] <= UNKNOWN_SHARE * counted.total()


@pytest.mark.skipif(bool(fw4.missing()), reason=f"rendering with the real fw4 needs {fw4.missing()}")
def test_what_was_recorded_is_what_fw4_renders_now(tmp_path):
    held = {one["case"]: one for one in RECORDED["cases"]}
    for name, commands in kinds.KINDS.items():
        text, ruleset = record.made(RECORDED, commands, str(tmp_path))
        assert held[name]["firewall"].partition("\n")[2] == text, name
        assert held[name]["ruleset"] == ruleset, name


@needs_fw4
@pytest.mark.timeout(LONG_S)
def test_packages_by_chance_pass_what_the_evaluator_says(router, nets, dump, tmp_path, capsys):
    counted = collections.Counter()
    for seed in (*ONCE_WRONG, *range(WILD_FROM, WILD_FROM + WILD)):
        package = firewall_of(wild.Wild(seed).firewall())
        text = fw4.render(package, dump, str(tmp_path))[0]
        answers = [judged(package, nets, probe) for probe in PROBES]
        complaint = router.load(text) if "chain input" in text else "fw4 gives no rules"
        if complaint:
            counted["not loaded"] += 1
            assert {answer["state"] for answer in answers} == {"cannot_tell"}, (seed, complaint)
            continue
        wrong, met = compare(answers, router)
        assert not wrong, seed
        counted += met
    with capsys.disabled():
        print("\nreach, packages by chance:", dict(counted))


def _in_lab(one):
    """Return whether a case of the corpus is about the firewall alone, and its ways are of the stock lan."""
    before = test_corpus.files_of(one["base"])
    after = test_corpus.apply(before, one["change"])
    is_firewall = all(
        sections.content(side[0]) == sections.content(side[1])
        for name, side in _pairs(before, after)
        if name in ("network", "wireless", "dropbear", "uhttpd")
    )
    has_include = b"config include" in after["firewall"]
    return (
        is_firewall
        and not has_include
        and set(one["ways"]) <= {"web", "ssh", "web6", "ssh6", "by wan address"}
        and one["ways"]
    )


def _pairs(before, after):
    old, new = sections.read(before), sections.read(after)
    return [(name, (old[name], new[name])) for name in old]


@needs_fw4
@pytest.mark.timeout(LONG_S)
def test_the_firewall_cases_of_the_corpus_hold_on_real_nftables(tmp_path):
    dump = json.loads(test_corpus._read("ubus/network.interface~dump.json"))
    links = {
        "br-lan": (["192.168.1.1/24", "fd8c:fe35:ec99::1/60"], ["192.168.1.142/24", "fd8c:fe35:ec99::8e/60"]),
        "wan": (["10.99.0.81/24"], ["10.99.0.1/24"]),
    }
    made = lab.Lab(links)
    counted = collections.Counter()
    try:
        made.set_mac("br-lan", "d4:3b:04:9e:65:2a")
        for one in filter(_in_lab, corpus.CASES):
            after = test_corpus.apply(test_corpus.files_of(one["base"]), one["change"])
            complaint = made.load(fw4.render(firewall_of(after["firewall"].decode()), dump, str(tmp_path))[0])
            assert not complaint or one["verdict"] == "cannot_tell", (one["name"], complaint)
            if complaint:
                continue
            ways = [corpus.PATHS[way] for way in one["ways"]]
            probes = [("br-lan", way["source"], way["address"], way["port"]) for way in ways]
            passed = made.try_all(probes)
            if one["verdict"] == "yes" and not all(passed):
                passed = made.try_all(probes, lab.SLOW_S)
            counted[one["verdict"], all(passed)] += 1
            assert one["verdict"] in ("cannot_tell", "yes" if all(passed) else "no"), one["name"]
    finally:
        made.close()
    assert counted["yes", True] + counted["no", False] >= 80, counted
