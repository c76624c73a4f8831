"""Reading back what really runs: what must show up, what fails a change, what is only not told."""

import os
import shutil
import subprocess

import pytest

from oasis.change.apply.verification import WAIT_S, Verification
from oasis.errors import ApplyError, ToolError
from oasis.ubus.outgoing import Ubus
from tests.change.kit import RENAME, WIFI

FIREWALL = b"""
config rule
	option name 'Allow-Web'
	option target 'ACCEPT'

config redirect
	option name 'Game'
	option target 'DNAT'
"""
DHCP = b"""
config dnsmasq
	list server '9.9.9.9'

config host
	option mac 'AA:BB:CC:DD:EE:FF'
	option ip '192.168.1.50'
"""
NETWORK = b"""
config interface 'lan'
	option proto 'static'
	option ipaddr '%s'

config interface 'wan'
	option proto 'dhcp'
"""
WIRELESS = b"""
config wifi-device 'radio0'

config wifi-iface 'one'
	option device 'radio0'
	option ssid '%s'
"""
RULES = 'chain input { tcp dport 80 accept comment "!fw4: Allow-Web"\n dnat ip to 1.2.3.4 comment "!fw4: Game" }'
DNSMASQ = shutil.which("dnsmasq", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
GENERATED = b"no-resolv\nserver=9.9.9.9\ndhcp-host=aa:bb:cc:dd:ee:ff,192.168.1.50,printer\n"


class World:
    """A router whose answers a test sets; sleeping makes time pass. `later` is what becomes of it, by seconds."""

    def __init__(self, **replies):
        self.replies = {key.replace("__", "."): value for key, value in replies.items()}
        self.rules = None
        self.files = {}
        self.passed_s = 0.0
        self.later = {}
        self.calls = []

    def bus(self, name, method, arguments):
        self.calls.append((name, method))
        if name == "service":
            known = {key[len("service ") :]: value for key, value in self.replies.items() if key.startswith("service ")}
            reply = {key: value for key, value in known.items() if value is not None} or None
            reply = next((value for value in known.values() if isinstance(value, Exception)), reply)
        else:
            reply = self.replies.get(name)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def sleep(self, seconds):
        self.passed_s += seconds
        for at, act in list(self.later.items()):
            if self.passed_s >= at:
                del self.later[at]
                act(self)

    def verification(self):
        names = {path.rpartition("/")[2] for path in self.files}
        return Verification(
            self.bus,
            lambda: self.rules,
            self.files.get,
            lambda folder: sorted(names),
            lambda: self.passed_s,
            self.sleep,
        )

    def verify(self, plan, before=None):
        """Return {what: result} of a change; `before` are replies of the time before it."""
        after, self.replies = self.replies, {**self.replies, **(before or {})}
        verification = self.verification()
        seen = verification.look(plan)
        self.replies = after
        return {item["what"]: item["result"] for item in verification.verify(plan, seen)}


def plan(package="", old=b"", new=b"", services=(), diff=()):
    images = {package: (old, new)} if package else {}
    actions = [{"name": name, "action": action} for name, action in services]
    lines = [{"op": "+", "text": text} for text in diff]
    return {"images": images, "services": actions, "diff": [{"package": package, "lines": lines}]}


def running(*pids):
    return {"instances": {f"i{n}": {"running": bool(pid), "pid": pid} for n, pid in enumerate(pids)}}


RELOAD = plan(services=[("dnsmasq", "reload")])
RESTART = plan(services=[("uhttpd", "restart")])


def test_a_service_that_runs_on_is_seen():
    world = World(**{"service dnsmasq": running(7)})
    assert world.verify(RELOAD) == {"service dnsmasq": "seen"}
    assert world.passed_s <= 2


def test_a_service_that_comes_up_late_is_waited_for():
    world = World(**{"service dnsmasq": running(0)})
    world.later[8] = lambda one: one.replies.update({"service dnsmasq": running(9)})
    assert world.verify(RELOAD, {"service dnsmasq": running(7)}) == {"service dnsmasq": "seen"}
    assert 8 <= world.passed_s < 12


@pytest.mark.parametrize(
    "asked, before, after, words",
    [
        (RELOAD, running(7), running(0), "service dnsmasq does not run"),
        (RELOAD, running(7, 8), running(7, 0), "service dnsmasq does not run"),
        (RELOAD, running(7), {"instances": {}}, "service dnsmasq runs no process any more"),
        (RELOAD, running(7), {}, "service dnsmasq runs no process any more"),
        (RELOAD, running(7), None, "service dnsmasq is gone"),
        (RESTART, running(7), running(7), "service uhttpd was not restarted"),
        (plan(services=[("network", "reload")]), running(7), running(8), "service network lost its process"),
    ],
)
def test_a_service_that_does_not_run_as_it_should_fails_the_change(asked, before, after, words):
    name = "service " + asked["services"][0]["name"]
    world = World(**{name: after})
    with pytest.raises(ToolError, match=words):
        world.verify(asked, {name: before})
    assert WAIT_S <= world.passed_s < WAIT_S + 2


def test_a_service_that_keeps_dying_fails_the_change():
    world = World(**{"service dnsmasq": running(8)})

    def another(pid):
        def act(one):
            one.replies["service dnsmasq"] = running(pid)

        return act

    world.later = {n / 2: another(100 + n) for n in range(1, 60)}
    with pytest.raises(ToolError, match="does not stay up"):
        world.verify(RELOAD, {"service dnsmasq": running(7)})


def alive(pid, began, state="S"):
    return {f"/proc/{pid}/stat": b"%d (a (b) c) %s 1 %s%d 0" % (pid, state.encode(), b"0 " * 17, began)}


def test_processes_that_procd_told_of_are_watched_without_asking_again():
    world = World(**{"service dnsmasq": running(7)})
    world.files.update(alive(7, 100))
    assert world.verify(RELOAD) == {"service dnsmasq": "seen"}
    assert world.calls == [("service", "list")] * 2, "once before the change, once behind it"
    assert world.passed_s >= 1, "it has to stay up"


@pytest.mark.parametrize("after", [{}, alive(7, 101), alive(7, 100, "Z")])
def test_a_watched_process_that_ends_is_asked_about_again(after):
    world = World(**{"service dnsmasq": running(7)})
    world.files.update(alive(7, 100))

    def end(one):
        del one.files["/proc/7/stat"]
        one.files.update(after)
        one.replies["service dnsmasq"] = running(0)

    world.later[0.5] = end
    with pytest.raises(ToolError, match="service dnsmasq does not run"):
        world.verify(RELOAD)


@pytest.mark.parametrize("script, asked", [(b"USE_PROCD=1\n", 1), (b"USE_PROCD=1\nprocd_open_instance\n", 2), (b"", 2)])
def test_a_service_whose_script_has_no_process_run_is_not_asked_for(script, asked):
    world = World(**{"service firewall": {}})
    world.files["/etc/init.d/firewall"] = script
    assert world.verify(plan(services=[("firewall", "reload")])) == {"service firewall": "seen"}
    assert len(world.calls) == asked


def test_a_service_that_the_plan_turns_off_may_end():
    world = World(**{"service dnsmasq": {"instances": {}}})
    off = plan(services=[("dnsmasq", "reload")], diff=["option enabled '0'"])
    assert world.verify(off, {"service dnsmasq": running(7)}) == {"service dnsmasq": "seen"}


def refused():
    """Return a plan whose script ended with 1, as that of a service that is turned off."""
    made = plan(services=[("dnsmasq", "reload")])
    made["services"][0].update(ok=True, status=1)
    return made


def test_a_service_whose_script_refused_because_it_is_off_must_have_ended():
    world = World(**{"service dnsmasq": running(7)})
    world.later[4] = lambda one: one.replies.update({"service dnsmasq": running(0)})
    assert world.verify(refused(), {"service dnsmasq": running(7)}) == {"service dnsmasq": "seen"}
    assert world.passed_s >= 4
    for gone in ({"service other": {}}, {"service dnsmasq": {}}):
        assert World(**gone).verify(refused(), {"service dnsmasq": running(7)}) == {"service dnsmasq": "seen"}


def test_a_service_whose_script_refused_and_that_still_runs_fails_the_change():
    with pytest.raises(ToolError, match="service dnsmasq still runs, although it is turned off"):
        World(**{"service dnsmasq": running(7)}).verify(refused())


def test_a_service_whose_script_refused_is_not_read_back_without_a_bus():
    assert World().verify(refused()) == {"service dnsmasq": "not read back"}


def test_a_service_without_processes_and_one_that_procd_does_not_know():
    world = World(**{"service firewall": {}, "service led": None})
    both = plan(services=[("firewall", "reload"), ("led", "reload")])
    assert world.verify(both) == {"service firewall": "seen", "service led": "not read back"}
    assert world.passed_s <= 2


SYSTEM = [b"config system\n\toption hostname '%s'\n" % name for name in (b"old", b"attic")]
HOST_NAME = plan("system", *SYSTEM, services=[("system", "reload")])


def test_the_host_name_is_the_new_one():
    world = World(system={"hostname": "old"}, **{"service system": {}})
    world.later[3] = lambda one: one.replies.update(system={"hostname": "attic"})
    assert world.verify(HOST_NAME)["host name attic"] == "seen"


def test_a_host_name_that_stays_fails_the_change():
    with pytest.raises(ToolError, match="the host name is 'old', not 'attic'"):
        World(system={"hostname": "old"}, **{"service system": {}}).verify(HOST_NAME)


def test_what_cannot_be_asked_is_told_and_fails_nothing():
    silent = World(system=ToolError("no bus"), **{"service system": {}})
    assert silent.verify(HOST_NAME)["host name attic"] == "not read back"
    assert silent.passed_s < 5, "nobody waits the whole time for what is not there"
    dead = World()
    assert set(dead.verify(HOST_NAME).values()) == {"not read back"}
    assert dead.passed_s == 0, "without a bus there is nothing to wait for"


MOVED = plan("network", NETWORK % b"192.168.1.1", NETWORK % b"192.168.9.1", services=[("network", "reload")])
KNOWN = {"service network": running(7)}


def dump(address, up=True):
    held = [{"address": address, "mask": 24}] if address else []
    return {"interface": [{"interface": "lan", "up": up, "ipv4-address": held}, {"interface": "wan", "up": False}]}


def test_an_interface_is_up_with_its_new_address():
    before = {"network.interface": dump("192.168.1.1")}
    assert World(network__interface=dump("192.168.9.1"), **KNOWN).verify(MOVED, before) == {
        "service network": "seen", "interface lan 192.168.9.1": "seen",
    }  # fmt: skip


@pytest.mark.parametrize("reply", [dump("192.168.1.1"), dump("192.168.9.1", up=False), dump("")])
def test_an_interface_that_does_not_come_up_fails_the_change(reply):
    with pytest.raises(ToolError, match="interface lan"):
        World(network__interface=reply, **KNOWN).verify(MOVED, {"network.interface": dump("192.168.1.1")})


def test_an_interface_that_was_down_before_is_no_fault_of_the_change():
    before = {"network.interface": dump("", up=False)}
    assert World(network__interface=dump("", up=False), **KNOWN).verify(MOVED, before) == {"service network": "seen"}


NAMED = plan("wireless", WIRELESS % b"Old", WIRELESS % b"Attic", services=[("network", "reload")])


def radio(ssid="Attic", **more):
    return {"radio0": {"up": True, "interfaces": [{"section": "one", "config": {"ssid": ssid}}], **more}}


@pytest.mark.parametrize(
    "before, after, result",
    [
        (radio("Old"), radio(), "seen"),
        (radio("Old"), radio(up=False, pending=True), "not read back"),
        (radio("Old", up=False), radio(up=False, retry_setup_failed=True), "not read back"),
        (None, None, "not read back"),
    ],
)
def test_a_network_is_in_the_air_where_the_radio_is(before, after, result):
    world = World(network__wireless=after, **KNOWN)
    assert world.verify(NAMED, {"network.wireless": before})["network 'Attic' on radio0"] == result


@pytest.mark.parametrize("after", [radio("Old"), radio(up=False, retry_setup_failed=True)])
def test_a_network_that_does_not_come_fails_the_change(after):
    with pytest.raises(ToolError, match="the radio radio0"):
        World(network__wireless=after, **KNOWN).verify(NAMED, {"network.wireless": radio("Old")})


OPENED = plan("firewall", b"", FIREWALL, services=[("firewall", "reload")])
CLOSED = plan("firewall", FIREWALL, b"", services=[("firewall", "reload")])
FIRE = {"service firewall": {}}


def test_rules_are_in_what_was_compiled():
    world = World(**FIRE)
    world.rules = RULES
    assert set(world.verify(OPENED).values()) == {"seen"}
    world.rules = "chain input { }"
    assert len(world.verify(CLOSED)) == 3


@pytest.mark.parametrize(
    "asked, rules, words",
    [
        (OPENED, RULES.replace("Game", "Other"), "did not take the redirect 'Game'"),
        (OPENED, RULES.replace("Allow-Web", "Allow-Web-2"), "did not take the rule 'Allow-Web'"),
        (CLOSED, RULES, "still has the rule 'Allow-Web'"),
    ],
)
def test_a_rule_that_was_dropped_or_left_fails_the_change(asked, rules, words):
    world = World(**FIRE)
    world.rules = rules
    with pytest.raises(ToolError, match=words):
        world.verify(asked)


def test_only_what_the_plan_touches_is_looked_for():
    world = World(**FIRE)
    world.rules = 'comment "!fw4: New"'
    added = FIREWALL + b"\nconfig rule\n\toption name 'New'\n\toption target 'DROP'\n"
    same = plan("firewall", FIREWALL, added, services=[("firewall", "reload")])
    assert world.verify(same)["rule 'New' in the firewall"] == "seen"


def test_without_nft_the_rules_are_not_read_back():
    assert World(**FIRE).verify(OPENED)["rule 'Allow-Web' in the firewall"] == "not read back"


LEASE = plan("dhcp", b"config dnsmasq\n", DHCP, services=[("dnsmasq", "reload")])


def test_leases_and_servers_are_in_what_dnsmasq_was_given():
    world = World(**{"service dnsmasq": running(7)})
    assert set(world.verify(LEASE).values()) == {"seen", "not read back"}
    world.files = {"/var/etc/dnsmasq.conf.cfg01411c": GENERATED}
    assert set(world.verify(LEASE).values()) == {"seen"}


@pytest.mark.skipif(DNSMASQ is None, reason="no dnsmasq: apt-get install dnsmasq-base")
@pytest.mark.parametrize("text, status", [(GENERATED, 0), (GENERATED.replace(b"no-resolv", b"no-resolved"), 1)])
def test_what_is_looked_for_is_what_dnsmasq_itself_accepts(tmp_path, text, status):
    (tmp_path / "dnsmasq.conf").write_bytes(text)
    done = subprocess.run([DNSMASQ, "--test", "-C", tmp_path / "dnsmasq.conf"], capture_output=True, check=False)
    assert done.returncode == status, done.stderr


@pytest.mark.parametrize("gone, words", [(b"server=", "server 9.9.9.9"), (b"aa:bb", "lease of aa:bb")])
def test_a_line_that_dnsmasq_was_not_given_fails_the_change(gone, words):
    world = World(**{"service dnsmasq": running(7)})
    world.files = {"/var/etc/dnsmasq.conf.cfg01411c": GENERATED.replace(gone, b"x")}
    with pytest.raises(ToolError, match=words):
        world.verify(LEASE)


# On the stock router: the same through the transaction.


@pytest.fixture
def impatient(kit):
    """A kit whose read-back waits in a time of its own, which passes at once."""
    passed = [0.0]

    def sleep(seconds):
        passed[0] += 5

    bus = Ubus(kit.executor, kit.root.program("ubus")).call
    kit.evidence().verification = Verification(
        bus, lambda: None, lambda path: None, lambda path: [], lambda: passed[0], sleep
    )
    return kit


@pytest.mark.parametrize("text, package, service", [(WIFI, "wireless", "network"), (RENAME, "system", "sysntpd")])
def test_a_service_that_exits_0_and_starts_nothing_puts_everything_back(impatient, text, package, service):
    before = impatient.config(package)
    impatient.fault(service, "dead")
    with pytest.raises(ApplyError, match=f"service {service} does not run; everything was rolled back"):
        impatient.transaction.apply(impatient.plan(text))
    assert impatient.config(package) == before
    assert impatient.told[-1]["state"] == "rolled_back"
    assert f"service {service} does not run" in impatient.told[-1]["reason"]
    assert not impatient.journal.is_pending()


def test_the_record_says_what_was_read_back(kit):
    record = kit.transaction.apply(kit.plan(RENAME))
    assert {"what": "host name attic", "result": "seen"} in record["verified"]
    assert kit.journal.read(str(record["id"]))["verified"] == record["verified"]
