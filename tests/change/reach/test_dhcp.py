"""Does the owner get an address from the real dnsmasq through the real firewall, and reach the router then?

A router and a device in network namespaces: rulesets of fw4 as recorded, dnsmasq as the DHCP server, busybox's udhcpc
as the device's client. What happens is compared with the verdict. Skipped without root, nftables, dnsmasq or udhcpc.
"""

import os
import re
import shutil
import subprocess
import tempfile
import time

import pytest

from oasis.change.reach import owner_way
from oasis.change.reach.verdict import PACKAGES, verdict
from tests.change.reach import corpus, lab, record, test_corpus, test_nft
from tests.change.reach.kinds import KINDS

_CLIENT = """#!/bin/sh
[ "$1" = bound ] || [ "$1" = renew ] || exit 0
ip addr flush dev eth0 scope global
ip addr add "$ip/$mask" dev eth0
"""
# Those that name no address of the lan: its network moves in these tests, and a recorded ruleset does not.
MOVING = [name for name in KINDS if not re.search(r"192\.168|=!?lan$|fdd9|masq", KINDS[name], re.M)]
LEASE = "4000000000 %s 192.168.1.142 anna *\n"


def missing():
    for program, package in (("dnsmasq", "dnsmasq-base"), ("busybox", "busybox")):
        if not shutil.which(program):
            return f"{program} (apt-get install {package})"
    applets = subprocess.run(["busybox", "--list"], capture_output=True, text=True).stdout.split()
    return lab.missing() if "udhcpc" in applets else "udhcpc in busybox"


LACK = missing()
pytestmark = pytest.mark.skipif(bool(LACK), reason=f"comparing with the real dnsmasq needs {LACK}")


class Home:
    """A router at an address, with a device that has none yet, and a DHCP server; `config` is dnsmasq's file."""

    def __init__(self, address, pool, leases=""):
        self.folder = tempfile.mkdtemp(prefix="oasis-dhcp-")
        self.lab = lab.Lab({"br-lan": ([address + "/24"], [])})
        self.config = self.folder + "/dnsmasq.conf"
        net = address.rpartition(".")[0]
        lines = [
            "port=0", "interface=br-lan", "bind-dynamic", "no-ping", "user=root", "dhcp-authoritative",
            "keep-in-foreground",
            "dhcp-range=%s.%d,%s.%d,255.255.255.0,12h" % (net, pool[0], net, pool[0] + pool[1] - 1),
            "dhcp-leasefile=" + self.folder + "/leases", "pid-file=" + self.folder + "/pid",
        ]  # fmt: skip
        self._write("dnsmasq.conf", "\n".join(lines) + "\n")
        self._write("leases", leases)
        os.chmod(self._write("client", _CLIENT), 0o755)
        self.server = None

    def _write(self, name, text):
        path = self.folder + "/" + name
        with open(path, "w") as handle:
            handle.write(text)
        return path

    def serve(self):
        self.server = self.lab.run("br-lan", False, "dnsmasq", "-C", self.config)
        end_s = time.monotonic() + 10
        while not os.path.exists(self.folder + "/pid") and time.monotonic() < end_s:
            time.sleep(0.02)

    def ask(self, wanted=""):
        """Let the device ask for an address; return the one that it got, "" for none."""
        words = ["-r", wanted] if wanted else []
        argv = ["busybox", "udhcpc", "-i", "eth0", "-n", "-q", "-f", "-t", "2", "-T", "1", "-A", "0"]
        child = self.lab.run("br-lan", True, *argv, "-s", self.folder + "/client", *words)
        child.wait(30)
        with self.lab.run("br-lan", True, "ip", "-4", "-o", "addr", "show", "dev", "eth0") as shown:
            found = re.search(r"inet ([0-9.]+)/", shown.stdout.read())
        return found.group(1) if found else ""

    def close(self):
        if self.server is not None:
            self.server.terminate()
            self.server.wait(10)
        self.lab.close()
        shutil.rmtree(self.folder)


@pytest.fixture
def home():
    made = []

    def build(*words):
        made.append(Home(*words))
        return made[-1]

    yield build
    for one in made:
        one.close()


def test_the_real_dnsmasq_takes_the_file_and_refuses_a_broken_one(home):
    one = home("192.168.1.1", (100, 150))
    assert subprocess.run(["dnsmasq", "--test", "-C", one.config], capture_output=True).returncode == 0
    one._write("dnsmasq.conf", "dhcp-range=192.168.1.300\n")
    assert subprocess.run(["dnsmasq", "--test", "-C", one.config], capture_output=True).returncode != 0


def test_an_owner_who_has_a_lease_keeps_his_address(home):
    one = home("192.168.1.1", (10, 200), LEASE % lab.mac("br-lan"))
    one.serve()
    assert one.ask() == "192.168.1.142"
    before = test_corpus.files_of("stock")
    after = test_corpus.apply(before, "set dhcp.lan.start=10\nset dhcp.lan.limit=200")
    known = test_corpus.facts_of("usual", "stock")
    assert verdict(before, after, [corpus.PATHS["web"]], known)["verdict"] == "yes"
    assert one.lab.try_all([("br-lan", "192.168.1.142", "192.168.1.1", 80)]) == [True]


def judged(name):
    """Return the verdict of moving the lan together with a firewall of that kind."""
    text = test_nft.RECORDED["network"].partition("\n")[2].encode()
    before = {**test_corpus.files_of("stock"), "network": text}
    before["firewall"] = record.package_of(test_nft.RECORDED, "").encode()
    after = test_corpus.apply(before, "set network.lan.ipaddr=192.168.5.1\n" + KINDS[name])
    known = {"interfaces": owner_way.interfaces(test_nft.RECORDED["interfaces"]), "leases": [corpus.ANNA],
             "devices": {corpus.ANNA: "br-lan"}, "neighbours": {corpus.ANNA: lab.mac("br-lan")}}  # fmt: skip
    assert set(before) == set(PACKAGES)
    return verdict(before, after, [corpus.PATHS["web"]], known)


@pytest.mark.timeout(test_nft.LONG_S)
def test_a_lan_that_moves_is_reached_again_only_where_the_verdict_says_so(home, capsys):
    one = home("192.168.5.1", (100, 150))
    one.serve()
    rulesets = {case["case"]: case["ruleset"] for case in test_nft.RECORDED["cases"]}
    told = {"yes": [], "no": [], "cannot_tell": []}
    for name in MOVING:
        assert one.lab.load(rulesets[name]) == ""
        answer = judged(name)
        own = one.ask()
        came = bool(own) and one.lab.try_all([("br-lan", own, "192.168.5.1", 80)], lab.SLOW_S)[0]
        told[answer["verdict"]].append((name, came))
        assert answer["verdict"] != ("no" if came else "yes"), (name, own, answer["reasons"])
    with capsys.disabled():
        print("\nreach by DHCP:", {state: len(found) for state, found in told.items()})
    assert len(told["yes"]) >= 10
    assert len(told["no"]) >= 5
