"""The owner at a terminal with the real daemon: what is answered there is what the router then has."""

import os

import pytest

from tests.daemon import copy_root, set_option, start_daemon
from tests.frontends import launcher
from tests.frontends.terminal import Terminal

SCRIPT = "uci set dhcp.@dnsmasq[0].dhcpscript=/etc/hello.sh"


@pytest.fixture
def daemon(tmp_path):
    root = copy_root(str(tmp_path / "root"))
    set_option(root, "alive_loopback", "1")  # as `make run` does for its folder
    daemon = start_daemon(root)
    yield daemon
    daemon.stop()


def names_of_networks(daemon):
    with open(os.path.join(daemon.root, "etc/config/wireless"), encoding="utf-8") as file:
        return [line.split()[-1] for line in file if "option ssid" in line]


@pytest.mark.parametrize(
    ("approve", "keep", "status", "name"),
    [("y", "y", 0, "'Home'"), ("y", "n", 12, "'OpenWrt'"), ("n", None, 11, "'OpenWrt'")],
)
def test_answers_decide_what_the_router_has(daemon, tmp_path, approve, keep, status, name):
    program = launcher.install(tmp_path)
    terminal = Terminal([*program, "prompt", "change the wifi name to Home"], launcher.environment(daemon.root))
    terminal.wait_for("Apply this? [y/N] ")
    assert set(names_of_networks(daemon)) == {"'OpenWrt'"}
    terminal.type(approve + "\n")
    if keep:
        terminal.wait_for("Keep it? [y/N]")
        assert set(names_of_networks(daemon)) == {"'Home'"}
        terminal.type(keep + "\n")
    assert terminal.leave() == status, terminal.text
    assert set(names_of_networks(daemon)) == {name}


def dnsmasq(daemon):
    with open(os.path.join(daemon.root, "etc/config/dhcp"), encoding="utf-8") as file:
        return file.read()


def at_terminal(daemon, tmp_path, *words):
    return Terminal([*launcher.install(tmp_path), *words], launcher.environment(daemon.root))


def test_what_is_refused_is_forced_by_an_answer_and_code_by_its_words(daemon, tmp_path):
    terminal = at_terminal(daemon, tmp_path, "apply", SCRIPT)
    terminal.wait_for("runs code")
    terminal.wait_for("Propose it all the same, with what runs code or is not known? [y/N] ")
    terminal.type("y\n")
    terminal.wait_for("Type exactly: this runs code as root")
    terminal.type("this runs code as root\n")
    terminal.wait_for("forced by you: exec")
    terminal.wait_for("Apply this? [y/N] ")
    assert "hello.sh" not in dnsmasq(daemon)
    terminal.type("y\n")
    terminal.wait_for("Keep it? [y/N]")
    assert "hello.sh" in dnsmasq(daemon)
    terminal.type("y\n")
    assert terminal.leave() == 0, terminal.text
    assert "hello.sh" in dnsmasq(daemon)


@pytest.mark.parametrize("words", ["yes", "This runs code as root", "this runs code as root!", ""])
def test_other_words_propose_nothing(daemon, tmp_path, words):
    terminal = at_terminal(daemon, tmp_path, "apply", "--force", "exec", SCRIPT)
    terminal.wait_for("Type exactly: ")
    terminal.type(words + "\n")
    terminal.wait_for("nothing is proposed")
    assert terminal.leave() == 1
    assert daemon.call("plan.list")["plans"] == []


def test_who_does_not_want_to_force_ends_with_the_refusal(daemon, tmp_path):
    terminal = at_terminal(daemon, tmp_path, "apply", SCRIPT)
    terminal.wait_for("Propose it all the same")
    terminal.type("\n")
    assert terminal.leave() == 5
    assert "hello.sh" not in dnsmasq(daemon)
