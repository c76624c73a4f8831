"""Which file stands behind a tool server, and what is none."""

import os

import pytest

from oasis.bus.objects import objects
from oasis.errors import PolicyError
from oasis.parts.lua import plugins
from oasis.system.root import Root
from tests.parts.lua.kit import PROGRAM, SERVER
from tests.router import ubus as fixtures

UCODE = """'use strict';
let server = require('oasis.local.tool.server');
server.tool("oasis.ucode.tool.template", "get_goodbye", { call: function() { return { message: "bye" }; } });
server.tool('two', 'x', {}); let other = "three";
return { 'four.x': { list: {} }, five: { list: {} } };
"""


@pytest.fixture
def root(tmp_path):
    put(tmp_path, PROGRAM, "#!/bin/sh\n", 0o755)
    put(tmp_path, "/usr/share/rpcd/ucode/a.uc", UCODE)
    return Root(str(tmp_path))


def put(folder, path, text, mode=0o644):
    name = str(folder) + path
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "w", encoding="utf-8") as handle:
        handle.write(text)
    os.chmod(name, mode)


def why(root, server):
    with pytest.raises(PolicyError) as caught:
        plugins.find(root, server)
    return caught.value.message


def test_a_program_of_that_name_or_a_script_that_publishes_it(root):
    assert plugins.find(root, SERVER) == (PROGRAM, b"#!/bin/sh\n")
    for name in ("oasis.ucode.tool.template", "two", "four.x", "five"):
        assert plugins.find(root, name)[0] == "/usr/share/rpcd/ucode/a.uc"


@pytest.mark.parametrize("server", ["three", "get_goodbye", "message", "oasis.ucode.tool", "oasisXucode.tool"])
def test_a_name_that_a_script_only_mentions_is_none(root, server):
    assert "no plugin of rpcd" in why(root, server)


def test_our_own_objects_are_none(root):
    for name in sorted(objects()):
        put(root.folder, "/usr/libexec/rpcd/" + name, "#!/bin/sh\n", 0o755)
        assert "Oasis itself" in why(root, name)


def test_objects_of_the_base_system_are_none_even_with_a_file(root):
    for name in [
        *fixtures.Router(root.folder).objects(),
        "luci-rpc",
        "luci.wireguard",
        "hostapd.wl0",
        "rpc-sys",
        "uci",
    ]:
        put(root.folder, "/usr/libexec/rpcd/" + name, "#!/bin/sh\n", 0o755)
        assert "own system" in why(root, name)


@pytest.mark.parametrize("server", ["", ".", "..", "../x", "a/b", "a b", "-x", "x\0y", "x\n", "é", "x" * 65, "$(id)"])
def test_names_that_could_be_paths_or_worse_are_none(root, server):
    assert "cannot be the name" in why(root, server)


def test_links_folders_and_what_others_can_write_do_not_count(root):
    folder = root.folder + "/usr/libexec/rpcd/"
    os.symlink(root.folder + PROGRAM, folder + "linked")
    os.mkdir(folder + "folder")
    os.mkfifo(folder + "pipe", 0o755)
    put(root.folder, "/usr/libexec/rpcd/open", "#!/bin/sh\n", 0o777)
    put(root.folder, "/usr/libexec/rpcd/plain", "#!/bin/sh\n", 0o644)
    put(root.folder, "/usr/libexec/rpcd/long", "x" * (plugins.SCRIPT_BYTES + 1), 0o755)
    os.chmod(folder + "pipe", 0o755)
    assert "cannot be read" in why(root, "linked")
    assert "is no file" in why(root, "folder") and "is no file" in why(root, "pipe")
    assert "others than root" in why(root, "open")
    assert "not executable" in why(root, "plain")
    assert "longer than" in why(root, "long")


def test_two_files_for_one_name_are_none(root):
    put(root.folder, "/usr/libexec/rpcd/five", "#!/bin/sh\n", 0o755)
    assert "more than one file" in why(root, "five")
