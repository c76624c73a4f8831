"""SECURITY.md names tests: they are there, and each threat has at least one."""

import ast
import os
import re

import pytest

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def text():
    with open(os.path.join(REPOSITORY, "SECURITY.md"), encoding="utf-8") as handle:
        return handle.read()


def rows():
    lines = [line for line in text().splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    return [row for row in cells if not row[0].startswith(("Who", "---"))]


NAMED = sorted(set(re.findall(r"`(tests/[\w/.]+(?:::\w+)?)`", text())))


@pytest.mark.parametrize("name", NAMED)
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
