"""The card of packages with their configuration: all that it says without packages, and no yes for more."""

import os
import re

import pytest

from oasis.change.uci_commands import parse
from oasis.daemon.wiring import Daemon
from oasis.errors import OasisError, PolicyError
from oasis.system.root import Root
from oasis.tools.operator import NoRun, Operator
from oasis.tools.principal import Principal
from tests.daemon.test_wiring import config
from tests.oasisd import copy_root
from tests.tools.test_installing import Owner

OPEN = ["firewall rule", "firewall.@rule[-1].name=x", "firewall.@rule[-1].src=wan", "firewall.@rule[-1].proto=tcp",
        "firewall.@rule[-1].dest_port=22", "firewall.@rule[-1].target=ACCEPT"]  # fmt: skip
QUEUE = "config queue 'wan'\n\toption enabled '0'\n\toption interface 'eth1'\n"
QOS = "/usr/lib/sqm/piece_of_cake.qos"


class Here:
    def __init__(self, folder):
        self.root = copy_root(folder)
        self.daemon = Daemon(Root(self.root, [self.root + "/bin", "/usr/bin", "/bin"]))
        self.shop = self.daemon.methods._services
        self.shop.transaction.recover()
        self.owner = Owner()
        self.brings = {"/etc/config/sqm": QUEUE, QOS: "#"}
        self.installed = 0

    def operator(self, is_model=False):
        principal = Principal()
        principal.approver = self.owner
        return Operator(self.shop, NoRun(), principal, {"id": "chat1", "message": "message1"}, is_model)

    def work(self, folder):
        self.installed += 1
        for path, text in self.brings.items():
            os.makedirs(os.path.dirname(self.root + path), exist_ok=True)
            with open(self.root + path, "w") as handle:
                handle.write(text)

    def install(self, *lines, is_model=False, until=""):
        """Configure with a package; return its cards and the result."""
        self.owner.plans = []
        arguments = {"install": ["sqm-scripts"], "summary": "a test", "until": until}
        order = {"action": "install", "names": ["sqm-scripts"]}
        operator = self.operator(is_model)
        return operator.install(commands(lines), arguments, order, ["installs sqm-scripts"], self.work)

    def change(self, *lines, is_model=False, until=""):
        """Configure without a package, and decline."""
        self.owner.plans, self.owner.answer = [], "declined"
        self.operator(is_model).change(commands(lines), "a test", until)
        self.owner.answer = "approved"
        return self.owner.plans[0]

    def refused(self, *lines):
        with pytest.raises(OasisError) as caught:
            self.install(*lines)
        assert self.owner.plans == [] and self.installed == 0 and self.shop.refused == []
        return caught.value.message


def commands(lines):
    words = {" ": "add", "=": "set"}
    return parse("\n".join("uci %s %s" % (words["=" if "=" in one else " "], one) for one in lines))[0]


@pytest.fixture
def here(tmp_path):
    made = Here(str(tmp_path / "router"))
    yield made
    made.daemon.stop()


def test_it_says_who_is_let_in_as_without_packages(here):
    plain = here.change(*OPEN)
    here.owner.answer = "declined"
    here.install(*OPEN)
    (card,) = here.owner.plans
    assert any("from wan to the router, tcp 22" in one for one in card["reasons"])
    assert set(plain["reasons"]) <= set(card["reasons"]) and not any("not reviewed" in one for one in card["reasons"])
    assert set(plain["words"]) <= set(card["words"]) and "installs sqm-scripts" in card["words"]
    for key in ("diff", "verdict", "confirm_s", "uci", "services", "images", "before", "after"):
        assert card[key] == plain[key], key
    assert plain["diff"] and plain["verdict"] and plain["confirm_s"]


def test_it_says_who_chose_a_password_and_shows_it(here):
    line = "wireless.default_radio0.key=hunter2hunter2"
    plain = here.change(line, is_model=True)
    here.owner.answer = "declined"
    here.install(line, is_model=True)
    (card,) = here.owner.plans
    assert card["secrets"] == plain["secrets"] and card["secrets"][0]["value"] == "hunter2hunter2"
    assert set(plain["reasons"]) <= set(card["reasons"]) and any("who knows it" in one for one in card["reasons"])


def test_it_says_what_is_turned_aside(here):
    line = "dhcp.@dnsmasq[0].server=6.6.6.6"
    plain = here.change(line)
    here.owner.answer = "declined"
    here.install(line)
    assert any("6.6.6.6" in one for one in plain["reasons"])
    assert set(plain["reasons"]) <= set(here.owner.plans[0]["reasons"])


@pytest.mark.parametrize("line", [
    "dhcp.@dnsmasq[0].dhcpscript=/tmp/x", "sqm.wan.script=../../tmp/x.qos", "sqm.wan.script=/tmp/x.qos",
    "openvpn.x.config=/etc/openvpn/none.ovpn", "sqm.wan.iqdisc_opts='a; reboot'", "network.lan.proto=none",
    "sqm.wan.download=fast", "sqm.wan.rate=/tmp/x",
    "mwan3.globals.local_source=nowhere", "firewall.@zone[0].network=nowhere", "thing.main.start_command=reboot",
    "thing.main.level='a;b'", "dhcp.@dnsmasq[0].invented=1", "dhcp.gone.x=1",
])  # fmt: skip
def test_what_is_known_to_be_refused_is_refused_before_anybody_is_asked(here, line):
    assert here.refused("sqm.wan=queue", "sqm.wan.download=5000", line)
    assert here.refused("sqm.wan.download=5000", line)


def test_what_a_package_may_bring_is_not_missed(here):
    here.owner.answer = "declined"
    here.install("mwan3.balanced.use_member=wan_m1", "mwan3.wan_m1.interface=wan", "sqm.wan.enabled=1")
    assert len(here.owner.plans) == 1


def test_what_goes_of_a_package_that_is_not_there_is_said_by_its_command(here):
    here.owner.answer = "declined"
    words = ("delete sqm.wan.download", "rename sqm.eth1=wan2", "set sqm.wan2.enabled=1", "set thing.a.level=2")
    steps = parse("\n".join("uci " + one for one in words))[0]
    order = {"action": "install", "names": ["sqm-scripts"]}
    here.operator().install(steps, {"install": ["sqm-scripts"]}, order, ["installs sqm-scripts"], here.work)
    (card,) = here.owner.plans
    assert card["words"][1:-1] == ["thing.a.level: set to '2'", *["uci " + one for one in words[:3]]]


def test_it_says_until_when(here):
    here.owner.answer = "declined"
    here.install("sqm.wan.enabled=1", until="2h")
    (card,) = here.owner.plans
    assert card["until_unix_s"] and any(one.startswith("until ") for one in card["words"])


def test_what_the_catalogue_knows_is_reviewed_and_what_it_does_not_is_not(here):
    known = ["sqm.wan.interface=eth1", "sqm.wan.download=50000", "sqm.wan.upload=9000", "sqm.wan.enabled=1"]
    result = here.install(*known)
    (card,) = here.owner.plans
    assert not any("not reviewed" in one for one in card["reasons"]), card["reasons"]
    assert result["status"] == "waiting_confirm" and b"'50000'" in config(here.root, "sqm") and card["confirm_s"]
    assert result["confirm_in_s"] == card["confirm_s"]
    here.shop.transaction.roll_back(result["change"], "a test")
    os.remove(here.root + "/etc/config/sqm")
    here.owner.answer = "declined"
    here.install(*known, "sqm.wan.shiny=1", "thing.main.level=2")
    (card,) = here.owner.plans
    (reason,) = [one for one in card["reasons"] if "not reviewed" in one]
    assert re.search(r"what sqm\.wan\.shiny, thing\.main\.level does", reason)


def test_a_script_that_comes_with_the_package_is_within_its_bound(here):
    result = here.install("sqm.wan.script=piece_of_cake.qos")
    assert len(here.owner.plans) == 1 and result["status"] == "waiting_confirm"
    assert any("sqm.script names one of the scripts" in one for one in here.owner.plans[0]["reasons"])


def test_a_script_that_did_not_come_is_refused_and_all_is_gone(here):
    del here.brings[QOS]
    with pytest.raises(PolicyError) as caught:
        here.install("sqm.wan.script=piece_of_cake.qos")
    assert caught.value.message.endswith("; the packages are gone again")


@pytest.mark.parametrize("lines", [
    ["firewall.@rule[0].enabled=0", "sqm.wan.download=5"], ["sqm.wan=queue", "sqm.wan.download=5"],
    ["sqm.@queue[0].download=5"], ["sqm queue", "sqm.@queue[-1].interface=eth1", "sqm.@queue[-1].download=5"],
])  # fmt: skip
def test_what_is_as_the_card_said_asks_once(here, lines):
    assert here.install(*lines)["status"] == "waiting_confirm"
    assert len(here.owner.plans) == 1


def test_nothing_to_configure_installs_alone(here):
    assert here.install("system.@system[0].hostname=OpenWrt")["status"] == "applied"
    assert here.installed == 1


class Second(Owner):
    def wait(self, plan, is_cancelled):
        self.answer = "declined" if self.plans else "approved"
        return super().wait(plan, is_cancelled)


@pytest.mark.parametrize("approval", ["risky", "none"])
@pytest.mark.parametrize("what", ["other text", "let in"])
def test_more_than_the_card_said_needs_another_yes(here, what, approval):
    here.shop.planner.policy.set(approval, 0, 0)
    rule = "\nconfig rule\n\toption src 'wan'\n\toption proto 'tcp'\n\toption dest_port '22'\n\toption enabled '0'\n"
    more = {
        "other text": "\nconfig rule 'x'\n\toption name 'y'\n", "let in": rule + "\toption target 'ACCEPT'\n",
    }  # fmt: skip
    here.brings["/etc/config/firewall"] = config(here.root, "firewall").decode() + more[what]
    here.owner = Second()
    result = here.install("firewall.@rule[-1].enabled=1", "sqm.wan.download=5")
    assert len(here.owner.plans) == 2 and result["status"] == "declined", here.owner.plans[-1]["reasons"]
    assert "the packages brought more" in here.owner.plans[1]["reasons"][0]
    assert here.shop.journal.records()[0]["state"] == "rolled_back" and b"'5'" not in config(here.root, "sqm")
