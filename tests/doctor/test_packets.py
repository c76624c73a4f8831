"""The checks that ask the network, over real packets: namespaces, nftables, two dnsmasq, busybox's programs.

The router's configuration and bus are those of the clinic; what answers a ping or a question for a name, what stands in
/proc/net and what dnsmasq logs is real.
"""

import os
import shutil
import subprocess
import time

import pytest

from oasis.doctor.rounds import examine
from oasis.doctor.scene import Scene
from oasis.doctor.uplink import ASKED
from oasis.errors import ToolError
from oasis.system.connections import Probe
from tests.change.reach import lab
from tests.doctor.clinic import Clinic

MOST_S = 5  # a round, also where nobody answers
HERE, THERE, HOME = "10.99.0.2/24", "10.99.0.1/24", "192.168.1.1/24"
DROP = "add table inet t { chain i { type filter hook input priority 0; %s drop; }; }"
_LACKS = lab.missing() or next((f"{name} (apt-get install {package})" for name, package in (
    ("dnsmasq", "dnsmasq-base"), ("busybox", "busybox")) if not shutil.which(name)), "")  # fmt: skip

pytestmark = pytest.mark.skipif(bool(_LACKS), reason="needs " + _LACKS)

# Sends datagrams that may not be cut, larger than the way out, whatever is known of it (IP_PMTUDISC_PROBE).
_LARGE = """
import socket
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one.setsockopt(socket.IPPROTO_IP, 10, 3)
for _ in range(3000):
    try:
        one.sendto(b"x" * 1400, ("10.99.0.1", 9))
    except OSError:
        pass  # that it is too large
"""


class Town:
    """A router with the programs it asks by, its own dnsmasq, and a provider with another."""

    def __init__(self, folder):
        self.folder = str(folder)
        self.lab = lab.Lab({"wan": ([HERE], [THERE]), "br-lan": ([HOME], ["192.168.1.2/24"])})
        self._servers = {}
        for name in ("ping", "nslookup"):
            os.symlink(shutil.which("busybox"), f"{self.folder}/{name}")

    def serve(self, is_provider, *more):
        """Start a dnsmasq; wait until it answers to a connection."""
        name = "provider" if is_provider else "own"
        log = f"{self.folder}/{name}.log"
        program = self.lab.run(
            "wan", is_provider, "dnsmasq", "--keep-in-foreground", "--no-resolv", "--no-hosts", "--conf-file=/dev/null",
            f"--pid-file={self.folder}/{name}.pid", f"--log-facility={log}", "--user=root", *more,
        )  # fmt: skip
        self._servers[name] = program
        deadline = time.monotonic() + 20
        while "started" not in self.log(name):
            assert program.poll() is None and time.monotonic() < deadline, self.log(name)
            time.sleep(0.02)

    def log(self, name):
        path = f"{self.folder}/{name}.log"
        if not os.path.exists(path):
            return ""
        with open(path) as handle:
            return handle.read()

    def end(self, name):
        program = self._servers.pop(name)
        program.terminate()
        program.wait()
        program.stdout.close()

    def on_router(self, argv, timeout_s):
        with self.lab.run("wan", False, *argv) as program:
            try:
                said = program.communicate(timeout=timeout_s)[0]
            except subprocess.TimeoutExpired:
                program.kill()
                raise ToolError("it took too long")
        return program.returncode, said.encode(), b""

    def at_provider(self, *argv):
        with self.lab.run("wan", True, *argv) as program:
            program.communicate()
        assert program.returncode == 0, argv

    def round(self, clinic=None):
        """Return what a round finds, and how long it took."""
        clinic = clinic or Clinic()
        clinic.place("203.0.113.9", 32, "10.99.0.1")
        servers = "/tmp/resolv.conf.d/resolv.conf.auto"
        clinic.files[servers] = clinic.files[servers].replace(b"203.0.113.1", b"10.99.0.1")
        clinic.files["/proc/net/snmp"] = self.on_router(["cat", "/proc/net/snmp"], 10)[1]

        def run(argv, timeout_s):
            try:
                return self.on_router(argv, timeout_s)
            finally:
                clinic.files["/proc/net/arp"] = self.on_router(["cat", "/proc/net/arp"], 10)[1]

        probe = Probe(run, lambda name: f"{self.folder}/{name}")
        facts = clinic.router.facts
        facts.history, facts.now_s = list, lambda: clinic.now_s
        found = examine(Scene(facts, clinic.names, probe, lambda: True), time.monotonic)
        assert not [one for one in found["checks"] if one["state"] == "skipped"]
        return [one["id"] for one in found["findings"]], found["took_ms"] / 1000

    def close(self):
        for name in list(self._servers):
            self.end(name)
        self.lab.close()


@pytest.fixture
def town(tmp_path):
    made = Town(tmp_path)
    try:
        made.serve(True, f"--address=/{ASKED}/93.184.215.14")
        made.serve(False, "--server=10.99.0.1")
        yield made
    finally:
        made.close()


def test_a_town_in_which_all_answers_has_no_finding(town):
    found, took_s = town.round()
    assert found == []
    assert took_s < MOST_S


def test_a_name_without_an_ipv6_address_is_found_where_servers_refuse_that_question(town):
    assert "REFUSED" in town.on_router([f"{town.folder}/nslookup", ASKED, "127.0.0.1"], 10)[1].decode()
    assert town.round()[0] == []


def test_a_provider_that_answers_no_ping_is_no_fault(town):
    town.at_provider(
        "nft", "add table inet t { chain i { type filter hook input priority 0; icmp type echo-request drop; }; }"
    )
    assert town.round()[0] == []


def test_a_dead_line_is_found_and_told_in_time(town):
    town.at_provider("ip", "link", "set", "eth0", "down")
    town.on_router(["ip", "neigh", "flush", "all"], 10)
    found, took_s = town.round()
    assert found == ["gateway-silent:10.99.0.1", "dns-silent"]
    assert took_s < MOST_S


def test_servers_of_the_provider_that_are_silent(town):
    town.end("provider")
    assert town.round()[0] == ["dns-silent"]


def test_a_resolver_of_our_own_that_does_not_run(town):
    town.end("own")
    assert town.round()[0] == ["dns-own-silent"]


def test_questions_that_the_provider_s_firewall_drops(town):
    town.at_provider("nft", DROP % "udp dport 53")
    found, took_s = town.round()
    assert found == ["dns-silent"]
    assert took_s < MOST_S


def test_words_of_the_real_dnsmasq_about_an_answer_with_a_private_address(town):
    town.end("own")
    town.end("provider")
    town.serve(True, "--address=/nas.example.org/192.168.1.5", f"--address=/{ASKED}/93.184.215.14")
    town.serve(False, "--server=10.99.0.1", "--stop-dns-rebind")
    deadline = time.monotonic() + 30
    while "rebind" not in town.log("own"):
        assert time.monotonic() < deadline
        town.on_router([f"{town.folder}/nslookup", "nas.example.org", "127.0.0.1"], 10)
    clinic = Clinic()
    clinic.log(*[line.partition("]: ")[2] for line in town.log("own").splitlines()])
    assert town.round(clinic)[0] == ["dns-rebind"]


def test_words_of_the_real_dnsmasq_about_too_many_questions(town):
    town.end("own")
    town.serve(False, "--server=10.99.0.1", "--dns-forward-max=2")
    town.at_provider("nft", DROP % "udp dport 53")
    flood = "".join(f"{town.folder}/nslookup n{number}.example.org 127.0.0.1 & " for number in range(20))
    town.on_router(["timeout", "3", "sh", "-c", flood + "wait"], 20)
    clinic = Clinic()
    clinic.log(*[line.partition("]: ")[2] for line in town.log("own").splitlines()])
    assert "dns-busy" in town.round(clinic)[0]


def test_packets_that_may_not_be_cut_and_do_not_fit(town):
    town.on_router(["sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward; ip link set wan mtu 1300"], 10)
    with town.lab.run("br-lan", True, "python3", "-c", _LARGE) as program:
        program.communicate(timeout=30)
    assert program.returncode == 0
    assert town.round()[0] == ["too-large"]
