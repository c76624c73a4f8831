"""The ACL file is the method table's, and nothing else can be called through it."""

import importlib.util
import json

from oasis.methods import TABLE
from tests.daemon import REPOSITORY


def generator():
    spec = importlib.util.spec_from_file_location("acl", REPOSITORY + "/package/acl.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_checked_in_acl_is_the_generated_one():
    with open(generator().PATH, encoding="utf-8") as handle:
        assert handle.read() == generator().text(), "run: make acl"


def test_every_method_is_named_once_and_by_itself():
    group = json.loads(generator().text())["luci-app-oasis"]
    named = [
        f"{where}.{method}"
        for access in ("read", "write")
        for where, methods in group[access]["ubus"].items()
        for method in methods
    ]
    assert sorted(named) == sorted("oasis." + name for name, (access, _) in TABLE.items() if access != "local")
    assert not any("*" in name for name in named)
