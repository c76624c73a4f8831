"""The ACL files are the method tables', those of each part apart, and nothing else can be called through them."""

import importlib.util
import json
import os

from oasis import parts
from oasis.api.table import ROLES, TABLE
from oasis.bus.objects import OTHER_METHODS
from tests.oasisd import REPOSITORY, granted

BUS_VIEWER = parts.merged("BUS_ROLES").get("viewer", ())
# What each group is of: the pages have no use for what only programs of the Lua Oasis call.
TABLES = {"luci-app-oasis": TABLE, "oasis": {**TABLE, **OTHER_METHODS}}
SERVED = {name for name, row in TABLES["oasis"].items() if row.access != "local"}


def generator():
    spec = importlib.util.spec_from_file_location("acl", REPOSITORY + "/package/acl.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def named(group, *kinds):
    return [f"{where}.{method}" for where, method in granted(group, *kinds)]


def bus_files():
    folder = REPOSITORY + "/files/usr/share/acl.d/"
    for name in sorted(os.listdir(folder)):
        with open(folder + name, encoding="utf-8") as handle:
            yield name, json.load(handle)


def test_the_checked_in_files_are_the_generated_ones():
    texts = generator().texts()
    for path, text in texts.items():
        with open(path, encoding="utf-8") as handle:
            assert handle.read() == text, "run: make acl"
    for folder in ("rpcd/acl.d", "acl.d"):
        there = REPOSITORY + "/files/usr/share/" + folder
        assert {f"{there}/{name}" for name in os.listdir(there)} == {path for path in texts if there in path}


def test_every_method_is_named_once_and_by_itself_and_under_its_access():
    viewers = {*ROLES["viewer"], *BUS_VIEWER}
    for group, table in TABLES.items():
        for access in ("read", "write"):
            all_ = [method for method, row in table.items() if row.access != "local"]
            wanted = ["oasis." + method for method in all_ if (method in viewers) == (access == "read")]
            assert sorted(named(group, access)) == sorted(wanted)
        assert not any("*" in one for one in named(group, "read", "write"))


def test_readers_are_granted_what_the_daemon_serves_them_and_nothing_else():
    for group, roles in (("luci-app-oasis", ROLES["viewer"]), ("oasis", (*ROLES["viewer"], *BUS_VIEWER))):
        assert set(named(group, "read")) == {"oasis." + one for one in roles}
    assert not {"memory.list", "memory.export", "telegram.list"} & set(ROLES["viewer"])


def test_what_is_for_the_socket_only_stands_in_no_file():
    local = [name for name, row in TABLE.items() if row.access == "local"]
    assert local
    for text in generator().texts().values():
        for name in local:
            assert f'"{name.rpartition(".")[2]}"' not in text


def test_a_file_of_a_part_has_the_methods_of_that_part_alone():
    for manifest in parts.manifests():
        part = manifest.__name__.split(".")[2]
        own = {"oasis." + name for table in ("ROWS", "BUS_METHODS") for name in getattr(manifest, table, {})}
        found = [file for name, file in bus_files() if name == f"oasis-{part}.json"]
        methods = {
            f"{where}.{one}" for file in found for where, rule in file["access"].items() for one in rule["methods"]
        }
        assert methods == own


def test_a_web_server_without_root_is_let_through_to_each_method_and_no_other():
    methods = set()
    for _, file in bus_files():
        assert set(file) == {"user", "access"}, "it may call, and neither publish, send, listen nor subscribe"
        assert file["user"] == "uhttpd"
        assert all(set(rule) == {"methods"} for rule in file["access"].values())
        methods |= {f"{where}.{one}" for where, rule in file["access"].items() for one in rule["methods"]}
    assert methods == {"oasis." + name for name in SERVED}
