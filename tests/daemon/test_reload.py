"""Settings that a running daemon takes over with SIGHUP, and what it says of the others."""

import os
import re
import signal
import subprocess
import time

import pytest

from tests.cli import launcher
from tests.daemon.test_wiring import follow, of_type
from tests.oasisd import copy_root, start_daemon

RENAME = "set the hostname to attic"


@pytest.fixture
def daemon(tmp_path):
    running = start_daemon(copy_root(str(tmp_path / "router")))
    yield running
    running.stop()


def set_option(daemon, name, value):
    """Set an option that may be there already."""
    path = daemon.root + "/etc/config/oasis"
    with open(path) as handle:
        text = re.sub(rf"\n\toption {name} .*", "", handle.read())
    with open(path, "w") as handle:
        handle.write(text.replace("config oasis 'main'", f"config oasis 'main'\n\toption {name} '{value}'", 1))


def hang_up(daemon, *words):
    """Send what procd sends after a change of the settings; wait for words in the log."""
    daemon.process.send_signal(signal.SIGHUP)
    until = time.monotonic() + 20
    while not all(word in daemon.log() for word in words):
        assert time.monotonic() < until, daemon.log()
        time.sleep(0.05)


def test_how_approval_works_is_taken_over_without_a_new_start(daemon):
    set_option(daemon, "approval", "all")
    hang_up(daemon, "settings taken over: approval")
    started = daemon.call("run.start", message=RENAME)
    assert of_type(follow(daemon, started, ("plan",)), "plan")[0]["plan"]["needs_approval"] is True
    assert daemon.call("info")["approval"] == "all"
    assert daemon.process.poll() is None


def test_what_needs_a_new_start_is_told(daemon):
    set_option(daemon, "chat_path", "/etc/oasis/elsewhere")
    set_option(daemon, "worker_max", "1")
    hang_up(daemon, "settings taken over: worker_max", "at the next start (service oasis restart): chat_path")
    daemon.call("chat.list")
    assert not os.path.exists(daemon.root + "/etc/oasis/elsewhere")


def test_a_value_that_is_none_changes_nothing_and_stops_nobody(daemon):
    set_option(daemon, "worker_max", "many")
    set_option(daemon, "approval", "none")
    hang_up(daemon, "the settings stay as they were: oasis.main.worker_max is 'many'")
    assert daemon.call("info")["approval"] == "risky"


def test_a_wrong_value_is_said_where_the_owner_looks_until_it_is_right(daemon, tmp_path):
    set_option(daemon, "approval", "foo")
    hang_up(daemon, "the settings stay as they were: oasis.main.approval is 'foo'")
    words = "/etc/config/oasis: oasis.main.approval is 'foo' (one of risky, all, none)"
    status = [*launcher.install(tmp_path), "status"]

    def shown():
        done = subprocess.run(
            status, env=launcher.environment(daemon.root), capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    assert words + "; what was in force before stays" in shown() and "approval: risky" in shown()
    assert [one["text"] for one in daemon.call("notice.list")["notices"] if words in one["text"]]
    assert words in str(daemon.call("doctor.run"))
    set_option(daemon, "approval", "all")
    hang_up(daemon, "settings taken over: approval")
    assert "'foo'" not in str([daemon.call("notice.list"), daemon.call("doctor.run"), shown()])
    set_option(daemon, "approval", "bar")
    assert daemon.stop() == 0
    told = shown()
    assert "is not running" in told and "oasis.main.approval is 'bar' (one of risky, all, none); then start it" in told


def test_a_switch_that_is_neither_on_nor_off_is_said(daemon):
    with open(daemon.root + "/etc/config/oasis", "a") as handle:
        handle.write("\nconfig telegram 'telegram'\n\toption enabled 'maybe'\n")
    assert "oasis.telegram.enabled is 'maybe' (1 or 0)" in daemon.call("info")["settings_wrong"]
    assert "oasis.telegram.enabled is 'maybe' (1 or 0)" in str(daemon.call("doctor.run"))


def test_a_signal_for_nothing_says_nothing(daemon):
    daemon.process.send_signal(signal.SIGHUP)
    assert "version" in daemon.call("info")
    set_option(daemon, "approval", "none")
    hang_up(daemon, "approval")
    assert daemon.log().count("settings") == 1
