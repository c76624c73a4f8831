"""Paths and programs of a router root; names of services that are looked up in it."""

import os

import pytest

from oasis.errors import UsageError
from oasis.system.root import Root
from tests.oasisd import copy_root


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return copy_root(str(tmp_path_factory.mktemp("root") / "router"))


def program(folder, name):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)


def test_on_a_router_paths_are_the_routers():
    root = Root("/")
    assert root.path("/etc/config/network") == "/etc/config/network"
    assert (root.confdir, root.state_folder, root.run_folder) == ("/etc/config", "/etc/oasis", "/var/run/oasis")
    assert root.socket == "/var/run/oasis/oasis.sock"
    assert Root("").folder == "/"


def test_in_a_folder_every_path_is_below_it(folder):
    root = Root(folder)
    for path in (root.confdir, root.state_folder, root.run_folder, root.socket, root.path("/tmp/x")):
        assert path.startswith(folder + "/")


def test_a_relative_folder_is_made_absolute():
    assert Root("router").folder == os.path.abspath("router")


def test_programs_are_found_once_in_the_order_of_the_search(tmp_path):
    program(tmp_path / "a", "ubus")
    program(tmp_path / "b", "ubus")
    program(tmp_path / "b", "uci")
    program(tmp_path / "b", "curl")
    (tmp_path / "a" / "uci").write_text("not executable")
    root = Root(str(tmp_path), ["relative", str(tmp_path / "a"), str(tmp_path / "b")])
    assert root.program("ubus") == str(tmp_path / "a/ubus")
    assert root.program("uci") == str(tmp_path / "b/uci")
    assert root.program("sh") == ""
    assert root.program("curl") == "", "only what is on the list"


def test_a_child_finds_the_programs_that_we_found(tmp_path):
    for name in ("ubus", "sh"):
        program(tmp_path / "a", name)
    for name in ("ubus", "uci"):
        program(tmp_path / "b", name)
    root = Root(str(tmp_path), [str(tmp_path / "a"), "/nothing", str(tmp_path / "b")])
    path = root.environment()["PATH"].split(":")
    assert path[:2] == [str(tmp_path / "a"), str(tmp_path / "b")]
    assert "/nothing" not in path


def test_nothing_of_our_environment_reaches_a_child(folder, tmp_path):
    assert set(Root("/").environment()) == {"PATH", "HOME", "LANG"}
    assert Root(folder).environment()["OASIS_ROOT"] == folder


def test_a_service_of_the_router_is_found(folder):
    root = Root(folder)
    assert root.init_script("network") == folder + "/etc/init.d/network"


@pytest.mark.parametrize(
    "name", ["", "..", ".", "../../bin/sh", "a/b", "net work", "-x", ".hidden", "network\n", "näme", "a;b"]
)
def test_what_cannot_be_a_service_is_refused(folder, name):
    with pytest.raises(UsageError, match="cannot be the name"):
        Root(folder).init_script(name)


def test_a_service_that_is_not_there_is_refused(folder):
    with pytest.raises(UsageError, match="no service 'asterisk'"):
        Root(folder).init_script("asterisk")


def test_in_a_folder_no_program_of_the_host_acts_on_it(tmp_path):
    """`make run` and every test work on a folder: what is switched off there must not be this machine."""
    for name in ("poweroff", "opkg", "ping", "ubus"):
        program(tmp_path / "host", name)
    program(tmp_path / "bin", "opkg")
    root = Root(str(tmp_path), [str(tmp_path / "bin"), str(tmp_path / "host")])
    assert (root.program("poweroff"), root.program("ping")) == ("", "")
    assert root.program("opkg") == str(tmp_path / "bin/opkg") and root.program("ubus") == str(tmp_path / "host/ubus")
    assert root.allowed("/scripts")([str(tmp_path / "host/poweroff"), "-f"]) is None
    assert Root("/", [str(tmp_path / "host")]).program("poweroff") == str(tmp_path / "host/poweroff")
