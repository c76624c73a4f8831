"""An end is dropped, moved and brought back through the daemon: by a sentence, by the CLI's commands, by a model."""

import json
import subprocess
import sys
import time

import pytest

from tests.agent.test_untrusted_words import Scene, lease
from tests.daemon.test_wiring import approve, config, follow, of_type, say
from tests.oasisd import REPOSITORY, copy_root, start_daemon

TV = "aa:bb:cc:00:00:67"
BLOCKED = f"block {TV} until 22:00"
FOR_GOOD = "stays for good; it would have ended at "


@pytest.fixture
def daemon(tmp_path):
    root = copy_root(str(tmp_path / "router"))
    lease(root, "tv", TV, "192.168.1.167")
    running = start_daemon(root)
    yield running
    running.stop()


def carry_out(daemon, started):
    """Approve and keep what a run plans; return its plan and the change."""
    events = follow(daemon, started, ("plan",))
    plan = of_type(events, "plan")[-1]["plan"]
    assert plan["needs_approval"], plan
    approve(daemon, events)
    follow(daemon, started)
    if daemon.call("change.pending")["change"]:
        daemon.call("change.confirm", unproved=True)
    return plan, daemon.call("change.list")["changes"][0]


def sentence(daemon, text):
    return carry_out(daemon, daemon.call("run.start", message=text))


def change(daemon, old):
    return daemon.call("change.load", change=old["id"])["change"]


def end_now(daemon, old):
    """Let an hour pass for a change that ends: its record says a time that is over, then the daemon starts again."""
    path = f"{daemon.root}/etc/oasis/changes/{old['id']}/record.json"
    with open(path, encoding="utf-8") as handle:
        record = json.load(handle)
    if record.get("until_unix_s"):
        record["until_unix_s"] = int(time.time()) - 5
        with open(path, "w", encoding="utf-8") as handle:
            json.dump(record, handle)
    assert daemon.stop() == 0
    return start_daemon(daemon.root)


def test_a_block_until_a_time_and_then_for_good_does_not_fall(daemon):
    _, blocked = sentence(daemon, BLOCKED)
    assert blocked["until_unix_s"]
    plan, dropped = sentence(daemon, f"block {TV} for good")
    assert len(plan["words"]) == 1 and FOR_GOOD in plan["words"][0] and "22:00" in plan["words"][0]
    assert plan["reasons"] == ["changes when an earlier change ends"]
    assert (dropped["state"], dropped["packages"]) == ("confirmed", [])
    assert "until_unix_s" not in change(daemon, blocked)
    again = end_now(daemon, blocked)
    try:
        time.sleep(1)
        assert TV.encode() in config(daemon.root, "firewall").lower()
        assert not of_type(say(again, f"block {TV} for good"), "plan")
        plan, _ = carry_out(again, again.call("change.undo"))
        assert plan["words"][0].endswith(" again") and "22:00" in plan["words"][0]
        assert change(again, blocked)["until_unix_s"] == blocked["until_unix_s"]
        last = end_now(again, blocked)
        deadline = time.monotonic() + 30
        while not change(last, blocked).get("undone_by"):
            assert time.monotonic() < deadline, last.log()
            time.sleep(0.1)
        assert TV.encode() not in config(daemon.root, "firewall").lower()
        last.stop()
    finally:
        again.stop()


def test_a_block_until_another_time_ends_then(daemon):
    _, blocked = sentence(daemon, BLOCKED)
    plan, _ = sentence(daemon, f"block {TV} until 23:00")
    assert " ends at " in plan["words"][0] and "23:00 instead of " in plan["words"][0]
    assert change(daemon, blocked)["until_unix_s"] != blocked["until_unix_s"]


def test_a_declined_plan_leaves_the_end(daemon):
    _, blocked = sentence(daemon, BLOCKED)
    started = daemon.call("run.start", message=f"block {TV} for good")
    plan = of_type(follow(daemon, started, ("plan",)), "plan")[-1]["plan"]
    daemon.call("plan.decline", plan=plan["id"])
    follow(daemon, started)
    assert change(daemon, blocked)["until_unix_s"] == blocked["until_unix_s"]


def test_commands_of_the_cli_say_it_too(daemon):
    _, blocked = sentence(daemon, BLOCKED)
    rule = config(daemon.root, "firewall").decode().split("config rule '")[1].split("'")[0]
    code = f"import sys; sys.path.insert(0, {REPOSITORY!r}); from oasis.cli.main import main; "
    code += "sys.exit(main(sys.argv[1:]))"
    argv = [sys.executable, "-IS", "-c", code, "apply", "-"]
    found = subprocess.Popen(
        argv, env={"OASIS_ROOT": daemon.root, "PATH": "/usr/bin:/bin", "HOME": "/"}, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    found.stdin.write(f"uci set firewall.{rule}=rule\n")
    found.stdin.close()
    deadline = time.monotonic() + 30
    while not daemon.call("plan.list")["plans"]:
        assert time.monotonic() < deadline and found.poll() is None, found.stdout.read()
        time.sleep(0.1)
    (plan,) = daemon.call("plan.list")["plans"]
    assert FOR_GOOD in plan["words"][0]
    daemon.call("plan.approve", plan=plan["id"], hash=plan["hash"])
    assert found.wait(30) == 0
    assert FOR_GOOD in found.stdout.read()
    assert "until_unix_s" not in change(daemon, blocked)


def test_a_model_that_says_it_again_needs_the_owner_and_is_told(tmp_path):
    here = Scene(tmp_path)
    try:
        commands = [f"uci set firewall.x{at}" for at in ("=rule", ".src=lan", ".dest=wan", ".target=REJECT")]
        call = {"commands": commands, "summary": "no internet"}
        here.say("no internet for an hour", [("configure", {**call, "until": "1h"})], "Done.", until=("plan",))
        _, first = carry_out(here.daemon, here.started)
        here.say("for good", [("configure", call)], "It stays.", until=("plan",))
        plan, _ = carry_out(here.daemon, here.started)
        assert plan["words"][0].startswith("no internet: " + FOR_GOOD)
        results = [block for line in here.stored() if line["role"] == "tool" for block in line["content"]]
        assert FOR_GOOD in json.dumps(results[-1]) and '"applied"' in json.dumps(results[-1]).replace("\\", "")
        assert "until_unix_s" not in change(here.daemon, first)
    finally:
        here.close()
