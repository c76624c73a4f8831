"""What the command line tells while the service does not run: the history on flash; nothing is written."""

import json
import os
import subprocess

import pytest

from tests.cli import launcher
from tests.daemon.test_wiring import follow
from tests.oasisd import copy_root, start_daemon


def files(root):
    found = {}
    for folder, _, names in os.walk(root + "/etc"):
        for name in names:
            with open(os.path.join(folder, name), "rb") as handle:
                found[os.path.join(folder, name)] = handle.read()
    return found


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """Return (what runs a command, what the daemon said of its changes); the daemon is gone then."""
    folder = tmp_path_factory.mktemp("alone")
    root = copy_root(str(folder / "router"))
    program, environment = launcher.install(folder), launcher.environment(root)
    daemon = start_daemon(root)
    try:
        follow(daemon, daemon.call("run.start", message="call this router attic"))
        follow(daemon, daemon.call("run.start", message="call this router cellar"))
        told = daemon.call("change.list")["changes"]
        whole = daemon.call("change.load", change=told[0]["id"])
    finally:
        daemon.stop()
    before = files(root)

    def run(*words):
        done = subprocess.run(
            [*program, *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        assert files(root) == before
        return done

    return run, told, whole


def test_the_changes_are_those_that_the_service_told(bench):
    run, told, _ = bench
    done = run("changes", "-j")
    assert done.returncode == 0 and json.loads(done.stdout)["changes"] == told
    done = run("changes")
    shown = done.stdout
    assert "is not running" in done.stderr and "read from the flash" in done.stderr
    assert shown.index("rename the router to cellar") < shown.index("rename the router to attic")
    assert run("changes", "--package", "wireless").stdout == "no such changes\n"


def test_one_change_is_told_whole(bench):
    run, told, whole = bench
    assert json.loads(run("changes", "-j", told[0]["id"]).stdout) == whole
    assert "option hostname 'cellar'" in run("changes", told[0]["id"]).stdout
    done = run("changes", "nothing")
    assert done.returncode == 2 and "there is no change 'nothing'" in done.stderr


def test_what_needs_the_service_still_says_so(bench):
    done = bench[0]("undo")
    assert done.returncode == 69 and "start it" in done.stderr
