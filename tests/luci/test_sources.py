"""What LuCI asks of a view, read from its sources: no HTML from text, rights for every call, a menu that leads."""

from __future__ import annotations

import glob
import json
import os
import re

import pytest

from tests.oasisd import granted, lacking

FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../files")
RESOURCES = os.path.join(FILES, "www/luci-static/resources")
SOURCES = sorted(
    os.path.relpath(path, RESOURCES)
    for folder in ("oasis", "view/oasis")
    for path in glob.glob(os.path.join(RESOURCES, folder, "*.js"))
)
LINES_MAX = 600


def read(name: str) -> str:
    with open(os.path.join(RESOURCES, name), encoding="utf-8") as file:
        return file.read()


def load(name: str) -> dict[str, dict[str, object]]:
    with open(os.path.join(FILES, name), encoding="utf-8") as file:
        return json.load(file)


@pytest.mark.parametrize("name", SOURCES)
def test_source_has_the_shape_of_a_luci_class(name: str) -> None:
    source = read(name)
    assert source.startswith("'use strict';\n'require ")
    assert re.search(r"^return (baseclass|view)\.extend\(\{$", source, re.M)
    assert source.count("\n") < LINES_MAX
    assert not re.search(r"^ +(?!\*)", source, re.M), "indent with tabs"


@pytest.mark.parametrize("name", SOURCES)
def test_text_never_becomes_html(name: str) -> None:
    source = read(name)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b", source)
    # a child that is a bare string is parsed as HTML; `E('div', {…}, 'text')` and `E('p', _('text'))` are such
    attributes = r"\{(?:[^{}]|\{[^{}]*\})*\}"
    assert not re.findall(rf"\bE\('\w+',\s*(?:{attributes},\s*)?(?:'|_\(|N_\(|`)", source)


@pytest.mark.parametrize("name", SOURCES)
def test_required_modules_exist(name: str) -> None:
    for module in re.findall(r"^'require (oasis\.\w+)", read(name), re.M):
        assert os.path.exists(os.path.join(RESOURCES, module.replace(".", "/") + ".js")), module


def test_every_declared_call_is_granted() -> None:
    declared = set(re.findall(r"declare\('([\w.]+)', '(\w+)'", read("oasis/rpc.js")))
    assert len(declared) > 10
    of_parts = {"oasis." + name for name in lacking("methods")}
    declared = {(where, method) for where, method in declared if where not in of_parts}
    assert declared <= set(granted("luci-app-oasis", "read", "write"))


def test_menu_leads_to_views_and_groups_that_exist() -> None:
    groups = load("usr/share/rpcd/acl.d/luci-app-oasis.json")
    for node in load("usr/share/luci/menu.d/luci-app-oasis.json").values():
        assert set(node["depends"]["acl"]) <= set(groups)
        if node["action"]["type"] == "view":
            assert os.path.exists(os.path.join(RESOURCES, "view", node["action"]["path"] + ".js"))


def requires(name: str) -> set[str]:
    return set(re.findall(r"^'require oasis\.(\w+)", read(name), re.M))


def test_parts_of_a_page_know_its_state_and_not_each_other() -> None:
    chat = requires("view/oasis/chat.js")
    parts = chat - {"rpc", "state", "clean", "page", "change"}
    assert len(parts) > 5
    for name in parts:
        assert not requires(f"oasis/{name}.js") & parts, name
    everything = {name: requires(name) for name in SOURCES}
    assert {name for name, needed in everything.items() if needed & {"panel", "conversation"}} == {
        f"view/oasis/{name}.js" for name in ("chat", "changes", "doctor", "memory", "schedule", "wireguard")
    }


def listened(source: str) -> set[str]:
    """Return the events that a source listens to: the keys of what it gives to state.on()."""
    found = set()
    for start in re.finditer(r"state\.on\(\{", source):
        depth, keys = 1, ""
        for char in source[start.end() :]:
            depth += (char in "{([") - (char in "})]")
            if not depth:
                break
            keys += char if depth == 1 else ""
        found |= set(re.findall(r"(\w+):", keys))
    return found


def test_every_event_has_a_listener_and_an_origin() -> None:
    text = "\n".join(read(name) for name in SOURCES)
    heard = set().union(*(listened(read(name)) for name in SOURCES))
    emitted = set(re.findall(r"emit(?:\.bind\(this\.state, |\()'(\w+)'", text))
    assert len(emitted) > 30
    assert emitted - heard == set()
    assert heard - emitted <= set(re.findall(r"'(\w+)'", text))
