"""Tool servers behind the daemon: the owner reviews, accepts, switches on; a wish of one is a plan like any other."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.daemon.test_wiring import follow, of_type
from tests.oasisd import REPOSITORY, copy_root, start_daemon
from tests.parts.lua.kit import PROGRAM, SERVED, SERVER, manifest


@pytest.fixture
def daemon(tmp_path):
    root = copy_root(str(tmp_path / "router"))
    os.makedirs(os.path.dirname(root + PROGRAM))
    shutil.copy(SERVED, root + PROGRAM)
    os.chmod(root + PROGRAM, 0o755)
    os.makedirs(root + "/etc/oasis/tool-manifest.d")
    with open(root + "/etc/oasis/tool-manifest.d/lua.template.json", "w", encoding="utf-8") as handle:
        json.dump(manifest(), handle)
    started = start_daemon(root)
    yield started
    started.stop()


def oasis(daemon, *words):
    """Run the command line without a terminal; return (status, output)."""
    code = "import sys; sys.path.insert(0, %r); from oasis.cli.main import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-IS", "-c", code % REPOSITORY, *words], capture_output=True, text=True, check=False,
        env={"OASIS_ROOT": daemon.root, "PATH": os.environ["PATH"]}, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def switch_on(daemon, name):
    reply = daemon.call("plugin.accept", server=SERVER, hash=daemon.call("plugin.review", server=SERVER)["sha256"])
    assert reply == {"status": "OK"}
    return daemon.call("tool.set", name=name, enabled=True, approval="allow")["tool"]


def test_from_the_list_to_a_call_whose_private_part_is_a_note(daemon):
    found = daemon.call("plugin.list")["plugins"]
    assert [(one["server"], one["state"]) for one in found] == [(SERVER, "new")]
    assert switch_on(daemon, "neighbours")["enabled"]
    events = follow(daemon, daemon.call("tool.call", name="neighbours", arguments={}))
    note = of_type(events, "note")[0]
    assert "attic-secret" in note["text"] and note["is_private"] is True, "a messenger does not tell it"
    told = of_type(events, "tool_result")[0]
    assert "attic-secret" not in told["text"] and told["taint"] == ["words of the plugin " + SERVER]
    assert daemon.call("plugin.list")["plugins"][0]["state"] == "accepted"
    with open(daemon.root + "/etc/oasis/audit.jsonl", encoding="utf-8") as handle:
        assert "plugin accepted" in handle.read()


def test_a_wish_to_reboot_is_a_card_and_declined_nothing_happens(daemon):
    switch_on(daemon, "ask_reboot")
    started = daemon.call("tool.call", name="ask_reboot", arguments={})
    plan = of_type(follow(daemon, started, ("plan",)), "plan")[-1]["plan"]
    assert plan["call"]["name"] == "power" and plan["call"]["arguments"] == {"action": "reboot"}
    daemon.call("plan.decline", plan=plan["id"])
    told = json.loads(of_type(follow(daemon, started), "tool_result")[0]["text"])
    assert told["asked"]["reboot"]["status"] == "declined"


def test_a_wish_to_restart_a_service_waits_for_the_owner_too(daemon):
    switch_on(daemon, "ask_restart")
    started = daemon.call("tool.call", name="ask_restart", arguments={"service": "x"})
    plan = of_type(follow(daemon, started, ("plan",)), "plan")[-1]["plan"]
    assert plan["services"] == [{"name": "dnsmasq", "action": "restart"}] and plan["needs_approval"]
    daemon.call("plan.approve", plan=plan["id"], hash=plan["hash"])
    told = json.loads(of_type(follow(daemon, started), "tool_result")[0]["text"])
    assert told["asked"]["status"] == "applied"


def test_command_line_lists_reviews_and_accepts_by_the_sum(daemon):
    status, out = oasis(daemon, "plugins")
    assert status == 0 and SERVER in out and "new" in out
    status, out = oasis(daemon, "plugins", "accept", SERVER)
    assert status == 2 and "sum of the file is needed" in out
    status, out = oasis(daemon, "plugins", "review", SERVER)
    assert status == 0 and "#!/bin/sh" in out and "runs as root" in out
    digest = daemon.call("plugin.review", server=SERVER)["sha256"]
    assert digest in out
    assert oasis(daemon, "plugins", "accept", SERVER, "0" * 64)[0] == 2
    status, out = oasis(daemon, "plugins", "accept", SERVER, digest)
    assert status == 0 and "oasis tools enable" in out
    assert oasis(daemon, "plugins", "switch")[0] == 2 and oasis(daemon, "plugins", "review")[0] == 2
