"""The ACL files are the method tables', and nothing else can be called through them."""

import importlib.util
import json

from oasis.api.table import ROLES, TABLE
from oasis.bus.objects import OTHER_METHODS
from oasis.parts.lua.manifest import BUS_ROLES
from tests.oasisd import REPOSITORY

SERVED = {name for name, row in {**TABLE, **OTHER_METHODS}.items() if row.access != "local"}


def generator():
    spec = importlib.util.spec_from_file_location("acl", REPOSITORY + "/package/acl.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def group(path, name):
    with open(path, encoding="utf-8") as handle:
        found = json.load(handle)
    assert list(found) == [name]
    return found[name]


def named(access):
    return [f"{where}.{method}" for where, methods in access["ubus"].items() for method in methods]


def test_the_checked_in_files_are_the_generated_ones():
    for path, text in generator().texts().items():
        with open(path, encoding="utf-8") as handle:
            assert handle.read() == text, "run: make acl"


def test_every_method_is_named_once_and_by_itself_and_under_its_access():
    made = generator()
    for path, name, table in (
        (made.PAGES, "luci-app-oasis", TABLE),
        (made.CALLERS, "oasis", {**TABLE, **OTHER_METHODS}),
    ):
        found = group(path, name)
        for access in ("read", "write"):
            served = {*ROLES["viewer"], *BUS_ROLES["viewer"]}
            all_ = [method for method, row in table.items() if row.access != "local"]
            wanted = ["oasis." + method for method in all_ if (method in served) == (access == "read")]
            assert sorted(named(found[access])) == sorted(wanted)
            assert set(found[access]) == {"ubus"}, "neither files nor packages"
        assert not any("*" in one for access in ("read", "write") for one in named(found[access]))


def test_readers_are_granted_what_the_daemon_serves_them_and_nothing_else():
    made = generator()
    for path, name, roles in (
        (made.PAGES, "luci-app-oasis", ROLES["viewer"]),
        (made.CALLERS, "oasis", (*ROLES["viewer"], *BUS_ROLES["viewer"])),
    ):
        assert set(named(group(path, name)["read"])) == {"oasis." + one for one in roles}
    assert not {"memory.list", "memory.export", "telegram.list"} & set(ROLES["viewer"])


def test_what_is_for_the_socket_only_stands_in_no_file():
    local = [name for name, row in TABLE.items() if row.access == "local"]
    assert local
    for text in generator().texts().values():
        for name in local:
            assert f'"{name.rpartition(".")[2]}"' not in text


def test_a_web_server_without_root_is_let_through_to_each_method_and_no_other():
    with open(generator().BUS, encoding="utf-8") as handle:
        found = json.load(handle)
    assert set(found) == {"user", "access"}, "it may call, and neither publish, send, listen nor subscribe"
    assert found["user"] == "uhttpd"
    methods = {f"{where}.{one}" for where, rule in found["access"].items() for one in rule["methods"]}
    assert methods == {"oasis." + name for name in SERVED}
    assert all(set(rule) == {"methods"} for rule in found["access"].values())
