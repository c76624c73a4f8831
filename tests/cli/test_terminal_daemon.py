"""The owner at a terminal with the real daemon: what is answered there is what the router then has."""

import os
import signal
import subprocess
import time

import pytest

from tests.cli import launcher
from tests.cli.terminal import Terminal
from tests.oasisd import copy_root, set_option, start_daemon

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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_takes_its_run_along(daemon, tmp_path, number):
    command = [*launcher.install(tmp_path), "prompt", "change the wifi name to Home"]
    environment = launcher.environment(daemon.root)
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # whoever runs the tests by nohup ignores it
    )  # fmt: skip
    while not daemon.call("plan.list")["plans"]:
        time.sleep(0.05)
    process.send_signal(number)
    assert process.wait(20) == 130
    for _ in range(100):
        if not daemon.call("run.active")["runs"]:
            break
        time.sleep(0.1)
    assert daemon.call("run.active")["runs"] == [] and daemon.call("plan.list")["plans"] == []
    process.stdout.close()


def test_a_closed_terminal_takes_the_run_along(daemon, tmp_path):
    terminal = at_terminal(daemon, tmp_path, "prompt", "change the wifi name to Home")
    terminal.wait_for("Apply this? [y/N] ")
    terminal.close()
    for _ in range(100):
        if not daemon.call("run.active")["runs"]:
            break
        time.sleep(0.1)
    assert daemon.call("run.active")["runs"] == []


def test_what_ignores_the_end_of_its_terminal_goes_on(daemon, tmp_path):
    command = [*launcher.install(tmp_path), "prompt", "change the wifi name to Home"]
    environment = launcher.environment(daemon.root)
    process = subprocess.Popen(["nohup", *command], env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip
    while not daemon.call("plan.list")["plans"]:
        time.sleep(0.05)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert process.poll() is None and len(daemon.call("plan.list")["plans"]) == 1
    process.terminate()
    assert process.wait(20) == 130
    process.stdout.close()


def printed(daemon, tmp_path, *words):
    command = [*launcher.install(tmp_path), *words]
    return subprocess.run(command, env=launcher.environment(daemon.root), capture_output=True, text=True)


@pytest.mark.part("offline")
def test_a_change_that_ends_by_itself_says_when_until_it_has(daemon, tmp_path):
    until = time.strftime("%H:%M", time.gmtime(time.time() + 7200))
    terminal = at_terminal(daemon, tmp_path, "prompt", "turn on the wifi until " + until)
    terminal.wait_for("Apply this? [y/N] ")
    terminal.type("y\n")
    terminal.wait_for("Applied: turn Wi-Fi on, until 20")
    terminal.wait_for("Keep it? [y/N]")
    terminal.type("y\n")
    assert terminal.leave() == 0
    lines = terminal.text.rstrip().splitlines()
    assert "kept: turn Wi-Fi on" in lines[-2]
    assert lines[-1].startswith("  until 20") and lines[-1].endswith(until + ": then it is undone by itself")
    for words in ("status", "pending"):
        last = printed(daemon, tmp_path, words).stdout.splitlines()[-1]
        assert last.startswith("turn Wi-Fi on: until ") and until in last and "undone by itself" in last
    assert "A change is kept: turn Wi-Fi on" in printed(daemon, tmp_path, "notices").stdout
    printed(daemon, tmp_path, "undo", "--no-wait")
    for plan in daemon.call("plan.list")["plans"]:
        daemon.call("plan.approve", plan=plan["id"], hash=plan["hash"])
    while not daemon.call("change.pending")["change"]:
        time.sleep(0.05)
    daemon.call("change.confirm", unproved=True)
    assert "undone by itself" not in printed(daemon, tmp_path, "status").stdout
