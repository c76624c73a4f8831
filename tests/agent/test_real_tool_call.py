"""A model that nobody scripted calls a tool, and the stock router is another one afterwards.

It is a small one: it picks the tool and copies the words of its arguments, so the owner's words here hold the command.
"""

import os

import pytest

from tests.daemon.test_wiring import approve, follow, of_type
from tests.llm.test_workers import root_with
from tests.oasisd import set_option, start_daemon
from tests.peers import tool_model

# A minute of both processors; tests/parts/memory/test_facts_model.py is what `make test` has of a real model.
pytestmark = [pytest.mark.model, pytest.mark.long]


@pytest.fixture(scope="module")
def model():
    model = tool_model.start()
    if model is None:
        pytest.skip(tool_model.ADVICE)
    yield model
    model.close()


@pytest.fixture
def daemon(tmp_path, model):
    daemon = start_daemon(root_with(tmp_path, "compatible", model.url, "needle"))
    yield daemon
    daemon.stop()


def say(daemon, words):
    """Ask, approve what wants it, and return all events and the call."""
    started = daemon.call("run.start", message=words)
    events = follow(daemon, started, ("plan", "end"))
    if of_type(events, "plan") and of_type(events, "plan")[0]["plan"]["needs_approval"]:
        assert approve(daemon, events)["decision"] == "approved"
    if not of_type(events, "end"):
        events = follow(daemon, started)
    return events, of_type(events, "tool_use")[0]


def test_a_real_model_renames_the_stock_router_by_a_tool_call(daemon):
    path = os.path.join(daemon.root, "etc/config/system")
    with open(path) as handle:
        assert "'attic'" not in handle.read()
    events, call = say(daemon, "Configure the router with the command 'uci set system.@system[0].hostname=attic'")
    assert call["name"] == "configure" and any("hostname" in command for command in call["input"]["commands"])
    with open(path) as handle:
        assert "option hostname 'attic'" in handle.read(), events
    (change,) = daemon.call("change.list")["changes"]
    assert change["packages"] == ["system"] and change["state"] in ("applied", "confirmed")


@pytest.fixture(scope="module")
def whole(tmp_path_factory, model):
    """A daemon that tells its model of every tool there is."""
    daemon = start_daemon(root_with(tmp_path_factory.mktemp("whole"), "compatible", model.url, "needle"))
    set_option(daemon.root, "tools", "all")
    yield daemon
    daemon.stop()


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "name", "arguments"),
    [
        ("Ping the address 1.1.1.1", "probe", {"target": "1.1.1.1"}),
        ("Show the log lines of dnsmasq", "logs", {"service": "dnsmasq"}),
        ("What is the status of the router?", "status", {}),
        ("Search for the package nano", "packages", {"action": "search"}),
    ],
)
def test_a_real_model_chooses_among_the_whole_catalogue(whole, words, name, arguments):
    tools = [tool["name"] for tool in whole.call("tool.list")["tools"] if tool["enabled"]]
    assert len(tools) >= 12
    events, call = say(whole, words)
    assert call["name"] == name and arguments.items() <= call["input"].items()
    results = of_type(events, "tool_result")
    assert results and not results[0]["is_error"], results
