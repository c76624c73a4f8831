"""What `make run` and `make test` install is pinned with hashes, and the pins fit their sources (`make lock`)."""

from __future__ import annotations

import json
import os
import re

import pytest

tomllib = pytest.importorskip("tomllib", reason="NOT RUN: this Python has no tomllib (3.11 and later do)")

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PINS = os.path.join(REPOSITORY, "tests", "requirements")


def read(*parts):
    with open(os.path.join(REPOSITORY, *parts), encoding="utf-8") as file:
        return file.read()


def pinned(name):
    """Return {package: (version, hashes)} of a list of pins."""
    found = {}
    for entry in re.split(r"\n(?=\S)", read(PINS, name + ".txt").strip()):
        package, version = re.match(r"([A-Za-z0-9._-]+)==(\S+)", entry).groups()
        found[package] = (version, re.findall(r"--hash=sha256:[0-9a-f]{64}\b", entry))
    return found


def wanted(name):
    """Return the words "package==version" or "package" that a list of pins is made from."""
    if name in ("peers", "models"):
        lines = read(PINS, name + ".in").splitlines()
        return [line.partition(";")[0].strip() for line in lines if line and not line.startswith("#")]
    extras = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]
    lines = {"run": extras["http"], "package": extras["package"]}.get(name) or [
        one for some in extras.values() for one in some
    ]
    return [line.partition(";")[0].strip() for line in lines]


@pytest.mark.parametrize("name", ["run", "dev", "package", "peers", "models"])
def test_every_part_is_pinned_to_its_bytes(name):
    pins = pinned(name)
    for word in wanted(name):
        package, _, version = word.partition("==")
        assert package in pins, f"{word} is not in tests/requirements/{name}.txt: make lock"
        assert version in ("", pins[package][0]), f"{word}: make lock"
    assert [package for package, (_, hashes) in pins.items() if not hashes] == []
    assert "://" not in read(PINS, name + ".txt")


def test_the_npm_parts_are_pinned_to_their_bytes():
    lock = json.loads(read("tests", "package-lock.json"))["packages"]
    assert lock[""]["devDependencies"] == json.loads(read("tests", "package.json"))["devDependencies"]
    assert [name for name, part in lock.items() if name and "integrity" not in part] == []


def test_make_installs_what_is_pinned_and_nothing_else():
    for name in ("Makefile", "tests/setup.sh"):
        for line in read(name).splitlines():
            if "pip install" in line and not re.match(r'\s*("run|lack|@?echo)', line):
                assert "--require-hashes" in line or "--no-deps" in line or re.search(r"\w==[0-9]", line), line
            assert "npm install" not in line or "--package-lock-only" in line, line
