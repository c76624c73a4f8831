"""The owner at a terminal with the real daemon: what is answered there is what the router then has."""

import os

import pytest

from tests.daemon import copy_root, set_option, start_daemon
from tests.frontends import launcher
from tests.frontends.terminal import Terminal


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
