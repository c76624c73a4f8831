"""Agent mode: a goal through a model with tools over the whole stack, its five endings, and the command around it."""

from __future__ import annotations

import json
import subprocess

import pytest

from oasis.agent.goal import MOST_TURNS, TURNS, checked
from oasis.errors import UsageError
from tests.agent.test_toolless import serve  # noqa: F401  (a fixture)
from tests.cli import launcher
from tests.daemon.test_wiring import config, follow, of_type
from tests.llm.test_workers import run  # noqa: F401  (a fixture)

RENAME = ("configure", {"commands": ["uci set system.@system[0].hostname='attic'"]})
LOOK = ("read_config", {"package": "system"})
MOVE = ("configure", {"commands": ["uci set network.lan.ipaddr='192.168.7.1'"]})


@pytest.fixture
def agent(run, serve):  # noqa: F811  (the fixture's name)
    """Return a function that gives a goal to a scripted model and returns (the ending, the daemon, the server)."""

    def work(*script, goal="call the router attic", **more):
        server = serve(*script, knows_tools=True)
        daemon = run("compatible", server.url, "tiny")
        events = follow(daemon, daemon.call("agent.start", goal=goal, **more))
        endings = of_type(events, "agent")
        assert len(endings) == 1
        ending = {key: endings[0][key] for key in ("state", "message", "turns", "tools")}
        return ending, daemon, server

    return work


def test_done_after_looking_changing_and_looking_again(agent):
    ending, daemon, server = agent(LOOK, RENAME, LOOK, "The router is called attic now.")
    assert ending == {
        "state": "DONE",
        "message": "The router is called attic now.",
        "turns": 4,
        "tools": ["read_config", "configure"],
    }
    assert b"attic" in config(daemon.root, "system")
    assert "NEED_INPUT:" in server.bodies[0]["messages"][0]["content"]


def test_question_for_the_owner_is_need_input(agent):
    ending, _, _ = agent(LOOK, "NEED_INPUT: Which name do you want?")
    assert (ending["state"], ending["message"]) == ("NEED_INPUT", "Which name do you want?")


def test_risky_plan_that_nobody_approves_is_need_confirmation(run, serve):  # noqa: F811
    server = serve(MOVE, "It waits for you.", knows_tools=True)
    daemon = run("compatible", server.url, "tiny")
    started = daemon.call("agent.start", goal="move the network")
    since, plan = 0, None
    while plan is None:
        reply = daemon.call("run.poll", run=started["run"], since=since, wait_ms=2000)
        since = reply["next"]
        plan = next((event["plan"] for event in reply["events"] if event["type"] == "plan"), None)
    daemon.call("plan.decline", plan=plan["id"])
    ending = of_type(follow(daemon, started), "agent")[0]
    assert (ending["state"], ending["message"]) == ("NEED_CONFIRMATION", "It waits for you.")
    assert b"192.168.7.1" not in config(daemon.root, "network")


def test_turns_used_up_are_stuck_and_the_last_answer_has_no_tools(agent):
    script = [("read_config", {"package": name}) for name in ("system", "network", "dhcp")]
    ending, _, server = agent(*script, "I looked at everything.", turns=3)
    assert (ending["state"], ending["turns"], ending["message"]) == ("STUCK", 4, "I looked at everything.")
    assert "tools" in server.bodies[2] and not server.bodies[3].get("tools")


def test_same_call_again_and_again_is_not_made_and_ends_stuck(agent):
    ending, daemon, _ = agent(LOOK, LOOK, LOOK, LOOK, LOOK, "I give up.")
    assert ending["state"] == "STUCK"
    lines = daemon.call("chat.load", id=daemon.call("chat.list")["item"][0]["id"])["messages"]
    results = [block for line in lines if line["role"] == "tool" for block in line["content"]]
    assert [bool(block.get("is_error")) for block in results] == [False, False, True, True, True]
    assert "the very same call was made 2 times already" in results[2]["content"][0]["text"]


def test_failing_service_is_failed_with_its_reason(agent):
    ending, _, _ = agent()  # an empty script: the server breaks the connection
    assert ending["state"] == "FAILED" and ending["message"] and ending["turns"] == 0


def test_goal_is_a_chat_that_goes_on(agent):
    _, daemon, server = agent("NEED_INPUT: Which name?")
    server.script += [RENAME, "Done."]
    chat = daemon.call("chat.list")["item"][0]["id"]
    follow(daemon, daemon.call("run.start", message="attic", chat=chat))
    assert b"attic" in config(daemon.root, "system")


@pytest.mark.parametrize("turns", [-1, MOST_TURNS + 1])
def test_turns_outside_the_bounds_are_refused(turns):
    with pytest.raises(UsageError, match="turns are not allowed"):
        checked(turns)
    assert checked(0) == TURNS


@pytest.mark.parametrize(
    ("words", "script", "state", "status"),
    [
        (("call it attic",), [RENAME, "Done."], "DONE", 0),
        (("t=2", "call", "it", "attic"), ["NEED_INPUT: what?"], "NEED_INPUT", 20),
        (("-t", "1", "look"), [LOOK, "That was all."], "STUCK", 1),
    ],
)
def test_command_prints_the_lines_of_upstream_and_its_statuses(run, serve, tmp_path, words, script, state, status):  # noqa: F811
    server = serve(*script, knows_tools=True)
    daemon = run("compatible", server.url, "tiny")
    argv = [*launcher.install(str(tmp_path)), "agent", *words]
    done = subprocess.run(
        argv, env=launcher.environment(daemon.root), capture_output=True, text=True, timeout=60, check=False
    )
    lines = done.stdout.split("\n")
    assert done.returncode == status, done.stderr
    found = json.loads(next(line for line in lines if line.startswith("OASIS_AGENT_RESULT=")).partition("=")[2])
    assert found["state"] == state and f"STATE: {state}" in lines
    assert any(line.startswith("TURNS: ") for line in lines) and any(line.startswith("TOOLS: ") for line in lines)
