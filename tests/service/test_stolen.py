"""What who steals a backup of sysupgrade has of Oasis: keys in one file, and no way to anything that waited."""

import os
import shutil

import pytest

from tests.daemon.test_wiring import WIFI, approve, follow, of_type
from tests.oasisd import copy_root, set_option, start_daemon
from tests.service.test_keep import kept

KEY = "sk-stolen-0123456789abcdef"
PASSWORD = "blue-lantern-77"


def plan_of(daemon, message):
    started = daemon.call("run.start", message=message)
    return of_type(follow(daemon, started, ("plan",)), "plan")[-1]["plan"]


@pytest.fixture
def stolen(tmp_path):
    """Return a router root of somebody else's with the backup in it, and the plan that waited when it was made."""
    root, other = copy_root(str(tmp_path / "router")), copy_root(str(tmp_path / "thief"))
    set_option(root, "approval", "all")
    set_option(root, "alive_loopback", "1")
    daemon = start_daemon(root)
    try:
        daemon.call("service.add", name="openai", key=KEY, model="m")
        secret = daemon.call("secret.keep", value=PASSWORD)["secret"]
        started = daemon.call("run.start", message=f"set the wifi password to {secret}")
        approve(daemon, follow(daemon, started, ("plan",)))
        change = of_type(follow(daemon, started), "change")[-1]["change"]["id"]
        daemon.call("change.confirm", change=change, unproved=True)
        follow(daemon, daemon.call("run.start", message="show the wifi password"))
        waiting = plan_of(daemon, WIFI)
        for path in kept(root) | {"/etc/config/oasis"}:
            os.makedirs(os.path.dirname(other + path), exist_ok=True)
            shutil.copy2(root + path, other + path)
    finally:
        daemon.stop()
    return other, waiting


def test_keys_are_in_their_one_file_and_passwords_in_no_chat(stolen):
    root, _ = stolen
    holding = {KEY: set(), PASSWORD: set()}
    for path in kept(root):
        with open(root + path, "rb") as handle:
            data = handle.read()
        assert os.stat(root + path).st_mode & 0o077 == 0, path
        for value, places in holding.items():
            if value.encode() in data:
                places.add("/".join(path.split("/")[:4]))
    assert holding == {KEY: {"/etc/oasis/keys.json"}, PASSWORD: {"/etc/oasis/changes"}}
    assert any("/chats/" in path for path in kept(root))


def test_what_waited_for_a_yes_waits_nowhere_else(stolen):
    root, waiting = stolen
    daemon = start_daemon(root)
    try:
        assert daemon.call("plan.list")["plans"] == [] and daemon.call("change.pending")["change"] is None
        refused = daemon.call("plan.approve", plan=waiting["id"], hash=waiting["hash"])
        assert refused["error"]["message"].startswith("no plan"), refused
        again = plan_of(daemon, WIFI)
        assert again["summary"] == waiting["summary"] and again["hash"] != waiting["hash"]
    finally:
        daemon.stop()
