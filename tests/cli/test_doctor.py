"""`oasis doctor` over the stock root: with the daemon, without it, and a fix that becomes a plan."""

from __future__ import annotations

import json
import os

import pytest

from oasis.doctor import rounds
from tests.cli import launcher
from tests.oasisd import copy_root, start_daemon

OPEN = """
config rule
\toption name 'Remote'
\toption src 'wan'
\toption proto 'tcp'
\toption dest_port '22'
\toption target 'ACCEPT'
"""


@pytest.fixture
def root(tmp_path):
    folder = copy_root(str(tmp_path / "router"))
    with open(folder + "/etc/config/firewall", "a", encoding="utf-8") as handle:
        handle.write(OPEN)
    return folder


def oasis(root, tmp_path, *words):
    import subprocess

    argv = [*launcher.install(str(tmp_path)), *words]
    done = subprocess.run(argv, env=launcher.environment(root), capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def test_without_the_daemon_it_looks_by_itself_and_writes_nothing(root, tmp_path):
    before = sorted(os.listdir(root + "/etc")), sorted(os.listdir(root + "/var/run"))
    status, out, err = oasis(root, tmp_path, "doctor")
    assert status == 1 and "error: The rule Remote opens SSH to the internet" in out
    assert "the doctor looks by itself" in err
    assert (sorted(os.listdir(root + "/etc")), sorted(os.listdir(root + "/var/run"))) == before


def test_json_is_the_round_itself_and_within_five_seconds(root, tmp_path):
    status, out, _ = oasis(root, tmp_path, "-j", "doctor")
    found = json.loads(out)
    assert status == 1 and found["took_ms"] < 5000
    assert [check["id"] for check in found["checks"]] == [name for name, _ in rounds.CHECKS]
    assert found["findings"][0]["evidence"] == ["firewall.@rule[9]: tcp from wan, port 22"]


def test_fix_is_a_plan_that_waits_and_ends_the_finding_when_approved(root):
    daemon = start_daemon(root)
    try:
        finding = next(one for one in daemon.call("doctor.run")["findings"] if "fix" in one)
        started = daemon.call("doctor.fix", finding=finding["id"])
        plan = wait_for_plan(daemon, started["run"])
        assert plan["needs_approval"] and plan["uci"] == ["uci set firewall.@rule[9].enabled=0"]
        assert any(one["id"] == finding["id"] for one in daemon.call("doctor.run")["findings"])  # not applied yet
        daemon.call("plan.approve", plan=plan["id"], hash=plan["hash"])
        wait_for(lambda: all(one["id"] != finding["id"] for one in daemon.call("doctor.run")["findings"]))
    finally:
        daemon.stop()


def test_fix_of_nothing_is_refused(root):
    daemon = start_daemon(root)
    try:
        refused = daemon.call("doctor.fix", finding="wan-off:wan")["error"]
        assert refused["message"] == "there is no finding 'wan-off:wan' that could be mended"
    finally:
        daemon.stop()


def wait_for_plan(daemon, run):
    since = 0
    for _ in range(50):
        reply = daemon.call("run.poll", run=run, since=since, wait_ms=500)
        since = reply["next"]
        for event in reply["events"]:
            if event["type"] == "plan":
                return event["plan"]
    raise AssertionError("no plan came")


def wait_for(condition):
    import time

    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_stock_root_as_it_comes_has_only_a_note(tmp_path):
    """Its provider gives a private address; nothing else is wrong, probes by its own programs included."""
    root = copy_root(str(tmp_path / "stock"))
    argv = launcher.install(str(tmp_path))
    env = launcher.environment(root, PATH=root + "/bin:" + os.environ["PATH"])
    import subprocess

    done = subprocess.run([*argv, "-j", "doctor"], env=env, capture_output=True, text=True, timeout=60, check=False)
    found = json.loads(done.stdout)
    assert [one["id"] for one in found["findings"]] == ["double-nat:wan"] and done.returncode == 0
    assert {one["id"] for one in found["checks"] if one["state"] == "skipped"} <= {"fragments"}
