"""The password of root goes to `passwd` on its standard input, and nowhere else."""

import os

import pytest

from tests.oasisd import copy_root, start_daemon
from tests.parts.admin.world import called, program

pytestmark = pytest.mark.part("admin")
NEW = "correct-horse 漢字 'battery'"


@pytest.fixture
def daemon(tmp_path):
    root = copy_root(str(tmp_path / "router"))
    # What a `passwd` sees: its arguments, its environment, its input.
    program(root, "passwd", f"env >{root}/var/log/env; cat >{root}/got; [ ! -e {root}/fail ] || exit 1")
    running = start_daemon(root)
    yield running
    running.stop()


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def test_it_is_given_twice_on_standard_input_and_is_in_nothing_else(daemon):
    root = daemon.root
    assert daemon.call("password.set", password=NEW) == {"set": True, "notes": []}
    assert read(root + "/got") == f"{NEW}\n{NEW}\n"
    assert called(root, "passwd") == ["root"] and "correct" not in read(root + "/var/log/env")
    os.remove(root + "/got")
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    assert b"correct-horse" not in file.read(), path
    assert daemon.call("audit.list")["lines"][0]["what"] == "password set"


@pytest.mark.parametrize("text", ["", "a\nb", "a\x00b", "\x7f", "x" * 129])
def test_what_cannot_be_one_is_refused(daemon, text):
    assert daemon.call("password.set", password=text)["error"]["code"] == "usage"
    assert called(daemon.root, "passwd") == []


def test_a_failure_says_that_the_old_one_stays(daemon):
    with open(daemon.root + "/fail", "w"):
        pass
    error = daemon.call("password.set", password=NEW)["error"]
    assert "is as before" in error["message"] and "correct" not in str(error)


def test_a_short_one_is_told(daemon):
    assert daemon.call("password.set", password="abc")["notes"]
