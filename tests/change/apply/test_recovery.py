"""The daemon, the guard, or both gone in the window of a risky change: the old files come back all the same."""

import os
import signal
import subprocess
import time

import pytest

from oasis.change.apply.transaction import GUARD_LOOK_S
from tests.daemon.test_wiring import apply_wifi, config
from tests.guards import guards, kill_guards, wait_for_guard
from tests.oasisd import copy_root, set_option, start_daemon

# The window of 1 s, the guard's grace of 10 s, its look once a second, and a slow host.
GUARD_S = 40


@pytest.fixture
def patient_root(tmp_path):
    """Return a root on which a change waits as long as it does by default."""
    made = copy_root(str(tmp_path / "router"))
    yield made
    kill_guards(made)


@pytest.fixture
def root(patient_root):
    set_option(patient_root, "confirm_s", "1")
    return patient_root


def wait_for(root, before, seconds):
    deadline = time.monotonic() + seconds
    while config(root, "wireless") != before:
        assert time.monotonic() < deadline, "nobody put the old files back"
        time.sleep(0.1)


def test_a_daemon_that_was_replaced_by_exit_1(root, tmp_path):
    before = config(root, "wireless")
    daemon = start_daemon(root)
    apply_wifi(daemon)
    daemon.kill()
    broken = tmp_path / "oasisd"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    assert config(root, "wireless") != before
    for _ in range(6):  # as procd tries until it gives up
        assert subprocess.run([broken], env={"OASIS_ROOT": root}, check=False).returncode == 1
    wait_for(root, before, GUARD_S)


def test_a_guard_that_was_killed(root):
    before = config(root, "wireless")
    daemon = start_daemon(root)
    try:
        apply_wifi(daemon)
        assert kill_guards(root)
        wait_for(root, before, 10)
        deadline = time.monotonic() + 10
        while daemon.call("change.list")["changes"][0]["state"] != "rolled_back":  # after its services came back
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        daemon.stop()


def test_a_guard_that_was_killed_has_a_follower_that_waits_as_long(patient_root):
    root = patient_root
    before = config(root, "wireless")
    daemon = start_daemon(root)
    apply_wifi(daemon)
    with open(root + "/etc/oasis/pending/deadline", "rb") as handle:
        deadline = handle.read()
    first = wait_for_guard(root)
    os.kill(first, signal.SIGKILL)
    second = wait_for_guard(root, (first,), GUARD_LOOK_S + 10)
    with open(root + "/etc/oasis/pending/deadline", "rb") as handle:
        assert handle.read() == deadline
    daemon.kill()
    assert config(root, "wireless") != before
    assert guards(root) == [second], "one, and it outlives the daemon"
    with open(root + "/etc/oasis/pending/deadline", "w", encoding="ascii") as handle:
        handle.write("0\n")
    wait_for(root, before, 10)


def test_both_killed_and_the_next_start(patient_root):
    root = patient_root
    before = config(root, "wireless")
    daemon = start_daemon(root)
    change = apply_wifi(daemon)
    daemon.kill()
    kill_guards(root)
    assert config(root, "wireless") != before
    second = start_daemon(root)
    try:
        assert config(root, "wireless") == before
        assert second.call("change.list")["changes"][0]["id"] == change["id"]
    finally:
        second.stop()


def test_killed_in_the_middle_of_a_reload_that_hangs(root):
    before = config(root, "wireless")
    with open(root + "/var/run/faults/network", "w") as handle:
        handle.write("sleep 3\n")
    daemon = start_daemon(root)
    started = daemon.call("run.start", message="set the wifi name to Attic and the password to correct-horse")
    deadline = time.monotonic() + 30
    while not (plans := daemon.call("plan.list")["plans"]):
        assert time.monotonic() < deadline
    daemon.call("plan.approve", plan=plans[0]["id"], hash=plans[0]["hash"])
    while config(root, "wireless") == before:
        assert time.monotonic() < deadline, started
        time.sleep(0.01)
    daemon.kill()
    assert guards(root), "the guard watches from before the first commit"
    kill_guards(root)
    os.remove(root + "/var/run/faults/network")
    second = start_daemon(root)
    try:
        assert config(root, "wireless") == before
    finally:
        second.stop()
