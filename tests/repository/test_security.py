"""SECURITY.md names tests: they are there, and each threat has at least one."""

import ast
import os
import re

import pytest

from tests.oasisd import parts_in

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def text():
    with open(os.path.join(REPOSITORY, "SECURITY.md"), encoding="utf-8") as handle:
        return handle.read()


def rows():
    lines = [line for line in text().splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    return [row for row in cells if not row[0].startswith(("Who", "---"))]


NAMED = sorted(set(re.findall(r"`(tests/[\w/.]+(?:::\w+)?)`", text())))


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.part(*parts_in(name))) for name in NAMED])
def test_a_test_that_is_named_is_there(name):
    path, _, function = name.partition("::")
    path = os.path.join(REPOSITORY, path)
    assert os.path.exists(path)
    if os.path.isdir(path):
        assert any(one.startswith("test_") for one in os.listdir(path))
        return
    with open(path, encoding="utf-8") as handle:
        found = {node.name for node in ast.walk(ast.parse(handle.read())) if isinstance(node, ast.FunctionDef)}
    assert any(one.startswith("test_") for one in found)
    assert not function or function in found


def test_each_threat_is_shown_by_a_test():
    assert len(rows()) > 15
    assert [row for row in rows() if "`tests/" not in row[3]] == []


@pytest.mark.parametrize("who", [
    "The owner", "guest on the LAN", "web page in the owner's browser", "hostile or wrong model", "hostile MCP server",
    "Hostile device names", "steals a backup",
])  # fmt: skip
def test_who_the_model_of_threats_begins_with_has_tests_by_name(who):
    found = [number for number, row in enumerate(rows()) if who in row[0]]
    assert len(found) == 1, "SECURITY.md needs one row whose first cell holds: " + who
    own = [rows()[found[0]]]
    for row in rows()[found[0] + 1 :]:
        if row[0]:
            break
        own.append(row)
    assert all(all(row[1:]) for row in own)
    assert any("::" in row[3] for row in own)


@pytest.mark.parametrize("row", [row[3] for row in rows()])
def test_no_row_is_shown_by_a_whole_folder_alone(row):
    assert re.search(r"`tests/[\w/]+\.py", row)
