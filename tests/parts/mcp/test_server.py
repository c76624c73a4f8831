"""The MCP server over standard input and output: both ways of the protocol, what a client may, and what it may not."""

from __future__ import annotations

import json
import time

import pytest

from oasis.errors import OasisError, PolicyError
from oasis.parts.mcp.command import connect
from tests.cli.fake_daemon import FakeDaemon
from tests.oasisd import connected, copy_root, lacking, read_line, start_daemon
from tests.parts.mcp.peer import META, modern, text_of, tool

RENAME = tool("configure", commands=["uci set system.@system[0].hostname='attic'"], summary="call it attic")
MOVE = tool("configure", commands=["uci set network.lan.ipaddr='192.168.7.1'"], summary="move the network")


def config(daemon, package):
    with open(f"{daemon.root}/etc/config/{package}", encoding="utf-8") as handle:
        return handle.read()


def waiting(daemon):
    """Return the plan that waits for the owner, as soon as there is one."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        plans = daemon.call("plan.list")["plans"]
        if plans:
            return plans[0]
        time.sleep(0.05)
    raise AssertionError("no plan came")


def no_plan(daemon):
    deadline = time.monotonic() + 20
    while daemon.call("plan.list")["plans"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return True


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26"])
def test_older_versions_shake_hands(client, version):
    peer = client()
    told = peer.shake_hands(version)
    assert told["protocolVersion"] == version and told["serverInfo"]["name"] == "oasis"
    assert set(told["capabilities"]) == {"tools", "resources"} and "approves it at the router" in told["instructions"]
    assert peer.call("ping")["result"] == {}
    assert "resultType" not in peer.call("tools/list")["result"]


def test_unknown_version_is_answered_with_the_newest_that_shakes_hands(client):
    assert client().shake_hands("1999-01-01")["protocolVersion"] == "2025-11-25"


def test_newest_version_needs_no_handshake_and_tells_its_kind(client):
    peer = client()
    found = peer.call("server/discover", modern())["result"]
    assert found["supportedVersions"][0] == "2026-07-28" and found["resultType"] == "complete"
    tools = peer.call("tools/list", modern())["result"]
    assert tools["ttlMs"] == 0 and tools["cacheScope"] == "private"
    assert tools["_meta"][META + "serverInfo"]["name"] == "oasis"
    found = peer.call("tools/call", modern(**tool("status")))["result"]
    assert found["resultType"] == "complete" and json.loads(found["content"][0]["text"])["hostname"] == "OpenWrt"


def test_version_that_nobody_knows_is_refused_with_those_that_we_do(client):
    error = client().call("tools/list", modern(meta={META + "protocolVersion": "2031-01-01"}))["error"]
    assert error["code"] == -32022 and error["data"]["supported"][0] == "2026-07-28"
    assert error["data"]["requested"] == "2031-01-01"


def test_tools_are_described_with_schema_and_hints(client):
    peer = client()
    peer.shake_hands()
    tools = {one["name"]: one for one in peer.call("tools/list")["result"]["tools"]}
    assert {"status", "read_config", "configure", "diagnose", "run_result"} <= set(tools)
    assert tools["status"]["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
    assert tools["configure"]["annotations"]["readOnlyHint"] is False
    assert all(one["inputSchema"]["type"] == "object" and one["description"] for one in tools.values())


def test_wrong_arguments_are_a_result_and_an_unknown_tool_is_an_error(client):
    peer = client()
    peer.shake_hands()
    wrong = peer.call("tools/call", tool("status", what="nonsense"))
    assert wrong["result"]["isError"] is True and "nonsense" in text_of(wrong)["error"]["message"]
    assert peer.call("tools/call", tool("rm -rf"))["error"]["code"] == -32602
    assert peer.call("tools/call", {"name": "status", "arguments": [1]})["error"]["code"] == -32602


def test_tool_that_the_owner_switched_off_is_gone(client, daemon):
    assert daemon.call("tool.set", name="logs", enabled=False)["tool"]["enabled"] is False
    peer = client()
    peer.shake_hands()
    assert "logs" not in [one["name"] for one in peer.call("tools/list")["result"]["tools"]]
    assert peer.call("tools/call", tool("logs"))["error"]["message"] == "Unknown tool: logs"
    daemon.call("tool.set", name="logs", enabled=True)


def test_even_a_low_risk_change_of_a_client_waits_for_the_owner_and_is_then_done(client, daemon):
    peer = client()
    peer.shake_hands()
    number = peer.ask("tools/call", {**RENAME, "_meta": {"progressToken": "p"}})
    plan = waiting(daemon)
    assert plan["needs_approval"] and "probe" in json.dumps(plan["reasons"])
    assert "attic" not in config(daemon, "system")
    heard = peer.wait(lambda message: "waits for the owner" in json.dumps(message))
    assert heard["method"] == "notifications/progress" and heard["params"]["progressToken"] == "p"
    assert peer.call("ping")["result"] == {}
    daemon.call("plan.approve", plan=plan["id"], hash=plan["hash"])
    told = text_of(peer.answer(number))
    assert told["status"] == "waiting_confirm" and "attic" in config(daemon, "system")
    daemon.call("change.confirm", change=told["change"], unproved=True)
    assert daemon.call("change.pending")["change"] is None


def test_declined_change_is_told_and_not_made(client, daemon):
    peer = client()
    peer.shake_hands()
    number = peer.ask("tools/call", MOVE)
    daemon.call("plan.decline", plan=waiting(daemon)["id"], reason="not now")
    told = text_of(peer.answer(number))
    assert told["status"] == "declined" and "192.168.7.1" not in config(daemon, "network")


def test_cancelled_call_withdraws_its_plan_and_gets_no_answer(client, daemon):
    peer = client()
    peer.shake_hands()
    number = peer.ask("tools/call", MOVE)
    waiting(daemon)
    peer.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    assert no_plan(daemon)
    assert peer.call("ping")["result"] == {}
    assert all(message.get("id") != number for message in peer.heard)


def test_client_that_goes_away_leaves_no_plan_behind(client, daemon):
    peer = client()
    peer.shake_hands()
    peer.ask("tools/call", MOVE)
    waiting(daemon)
    assert peer.close() == 0
    assert no_plan(daemon)


def test_person_at_the_client_is_asked_about_waiting_only(client, daemon):
    peer = client()
    peer.shake_hands(elicitation={})
    number = peer.ask("tools/call", MOVE)
    asked = peer.wait(lambda message: message.get("method") == "elicitation/create")
    assert "has to approve this first" in asked["params"]["message"]
    assert set(asked["params"]["requestedSchema"]["properties"]) == {"wait"}
    peer.say({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {"wait": True}}})
    time.sleep(0.5)
    plan = waiting(daemon)
    assert "192.168.7.1" not in config(daemon, "network"), "a yes there approves nothing"
    daemon.call("plan.decline", plan=plan["id"])
    assert text_of(peer.answer(number))["status"] == "declined"


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_person_who_does_not_want_to_wait_withdraws_the_plan(client, daemon, action):
    peer = client()
    peer.shake_hands(elicitation={})
    number = peer.ask("tools/call", MOVE)
    asked = peer.wait(lambda message: message.get("method") == "elicitation/create")
    peer.say({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": action}})
    assert peer.answer(number)["result"]["isError"] is True
    assert no_plan(daemon)


def test_in_the_newer_way_the_question_is_a_result_and_the_call_comes_again(client, daemon):
    peer = client()
    first = peer.call("tools/call", modern(**MOVE, capabilities={"elicitation": {}}))["result"]
    assert first["resultType"] == "input_required"
    assert first["inputRequests"]["wait"]["method"] == "elicitation/create"
    again = modern(**MOVE, capabilities={"elicitation": {}}, requestState=first["requestState"],
                   inputResponses={"wait": {"action": "accept", "content": {"wait": True}}})  # fmt: skip
    number = peer.ask("tools/call", again)
    plans = daemon.call("plan.list")["plans"]
    assert len(plans) == 1, "the same plan, not a second one"
    daemon.call("plan.decline", plan=plans[0]["id"])
    assert text_of(peer.answer(number))["status"] == "declined"


def test_state_of_somebody_else_s_run_is_refused(client, daemon):
    run = daemon.call("run.start", message="what is your status?")["run"]
    peer = client()
    peer.shake_hands()
    assert "no run" in text_of(peer.call("tools/call", tool("run_result", run=run)))["error"]["message"]
    forged = modern(**MOVE, requestState=run, inputResponses={})
    assert "no run" in text_of(peer.call("tools/call", forged))["error"]["message"]


def test_secrets_stay_behind_placeholders(client, daemon):
    path = daemon.root + "/etc/config/wireless"
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(
            text.replace("option encryption 'none'", "option encryption 'psk2'\n\toption key 'quiet-river-stone'")
        )
    peer = client()
    peer.shake_hands()
    for answer in (
        peer.call("resources/read", {"uri": "oasis://config/wireless"}),
        peer.call("tools/call", tool("read_config", package="wireless")),
    ):
        assert "quiet-river-stone" not in json.dumps(answer) and "psk2" in json.dumps(answer)


def test_resources_are_listed_and_read(client):
    peer = client()
    peer.shake_hands()
    uris = [one["uri"] for one in peer.call("resources/list")["result"]["resources"]]
    assert {"oasis://status", "oasis://doctor", "oasis://changes", "oasis://config/network"} <= set(uris)
    for uri in uris:
        contents = peer.call("resources/read", {"uri": uri})["result"]["contents"]
        assert contents[0]["uri"] == uri and json.loads(contents[0]["text"])
    template = peer.call("resources/templates/list")["result"]["resourceTemplates"][0]
    assert template["uriTemplate"] == "oasis://config/{package}"


@pytest.mark.parametrize(
    "uri", ["oasis://config/../../etc/shadow", "oasis://config/oasis", "file:///etc/shadow", "", 5]
)
def test_what_is_no_resource_is_not_found(client, uri):
    peer = client()
    peer.shake_hands()
    assert peer.call("resources/read", {"uri": uri})["error"]["code"] == -32002
    assert peer.call("resources/read", modern(uri=uri))["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"not json", -32700), (b"[]", -32700), (b"5", -32700), (b'{"a":' * 70 + b"1" + b"}" * 70, -32700),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":1,"method":"a/b"}', -32601),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32602), (b"\xff\xfe", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"-5"}}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"\xc2\xb2"}}', -32602),
        (b'{"jsonrpc":"2.0","id":[],"method":"tools/call","params":{"name":"status"}}', -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"resources/read"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"tools/call"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":["tools/call"]}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"y" * 1_100_000 + b'"}}', -32700),
    ],
)  # fmt: skip
def test_broken_messages_are_errors_and_the_next_one_is_answered(client, line, code):
    peer = client()
    peer.say(line)
    assert peer.wait(lambda message: "error" in message)["error"]["code"] == code
    assert peer.call("ping")["result"] == {}


def test_cancellation_of_what_can_be_no_request_is_passed_over(client):
    peer = client()
    for number in ([], {}, None, True, 1.5):
        peer.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        peer.say({"jsonrpc": "2.0", "id": number, "result": {}})
    assert peer.call("ping")["result"] == {}


def test_batch_of_the_oldest_version_is_answered_one_by_one(client):
    peer = client()
    peer.say([{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in ("a", "b")])
    assert [peer.answer(n)["result"] for n in ("a", "b")] == [{}, {}]


def test_many_calls_at_once_are_all_answered(client):
    peer = client()
    peer.shake_hands()
    numbers = [peer.ask("tools/call", tool("read_config", package="system")) for _ in range(20)]
    assert all(peer.answer(number)["result"]["isError"] is False for number in numbers)


def lowered(daemon, *requests):
    """Return the replies to requests of one connection that was lowered to a client first."""
    with connected(daemon.socket) as connection:
        replies = []
        for method, params in (("client.join", {"name": "probe"}), *requests):
            connection.sendall(
                json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n"
            )
            replies.append(json.loads(read_line(connection)))
    return replies[1:]


@pytest.mark.parametrize(
    "method", ["plan.approve", "plan.decline", "change.confirm", "tool.set", "run.start", "chat.list", "service.key"]
)
def test_lowered_connection_decides_nothing_and_is_never_raised_again(daemon, method):
    first, second = lowered(daemon, (method, {}), ("client.join", {"name": "owner"}))
    assert first["error"]["data"]["code"] == "policy" and "role client" in first["error"]["data"]["hint"]
    assert second["error"]["data"]["code"] == "policy" and "for good" in second["error"]["data"]["message"]
    again = lowered(daemon, ("client.join", {"name": "owner"}), (method, {}))[1]
    assert again["error"]["data"]["code"] == "policy"


def test_client_follows_and_stops_only_runs_of_its_own_name(daemon):
    mine = daemon.call("run.start", message="what is your status?")["run"]
    for reply in lowered(daemon, ("run.poll", {"run": mine}), ("run.cancel", {"run": mine})):
        assert reply["error"]["data"]["message"] == f"run {mine} is not this client's"


NOT_FOR_CLIENTS = ("knowledge_search", "remember", "schedule_create", "schedule_list", "schedule_update",
                   "schedule_delete", "shell_exec", "file_read", "file_list", "http_fetch", "web_search")  # fmt: skip


def test_a_client_neither_sees_nor_reaches_what_is_the_owner_s_own(client, daemon):
    for name in ("shell_exec", "file_read", "file_list", "http_fetch"):
        daemon.call("tool.set", name=name, enabled=True)
    own = {one["name"] for one in daemon.call("tool.specs")["tools"]}
    assert {"knowledge_search", "file_read", "http_fetch"} - lacking("tools") <= own
    peer = client()
    peer.shake_hands()
    seen = {one["name"] for one in peer.call("tools/list")["result"]["tools"]}
    assert "status" in seen and not seen & set(NOT_FOR_CLIENTS)
    for name in NOT_FOR_CLIENTS:
        assert peer.call("tools/call", tool(name, query="wifi"))["error"]["code"] == -32602, name
    for name in ("shell_exec", "file_read", "file_list", "http_fetch"):
        daemon.call("tool.set", name=name, enabled=False)


@pytest.mark.parametrize("name", NOT_FOR_CLIENTS)
def test_a_connection_of_a_client_does_not_get_there_by_calling_the_tool_itself(daemon, name):
    with connected(daemon.socket) as connection:

        def call(method, **params):
            line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            connection.sendall(line.encode() + b"\n")
            return json.loads(read_line(connection))["result"]

        call("client.join", name="probe")
        run = call("tool.call", name=name, arguments={"query": "wifi"})["run"]
        events, since = [], 0
        while not any(event["type"] == "end" for event in events):
            reply = call("run.poll", run=run, since=since, wait_ms=2000)
            events, since = events + reply["events"], reply["next"]
    [result] = [event for event in events if event["type"] == "tool_result"]
    assert result["is_error"] and "is not for who asks here" in result["text"]
    assert daemon.call("plan.list")["plans"] == []


def test_nothing_is_asked_over_a_connection_that_could_not_be_lowered(tmp_path):
    def breaks(_):
        first.stop()
        raise OSError

    first = FakeDaemon(tmp_path, [("client.join", None, {}), ("info", None, breaks)])
    ask = connect(str(tmp_path / "var/run/oasis/oasis.sock"), "demo", 0.5)
    with pytest.raises(OasisError):
        ask("info", {})
    with FakeDaemon(tmp_path, [("client.join", None, {"error": {"code": "usage", "message": "not now"}})]) as second:
        for _ in range(2):
            with pytest.raises(OasisError):
                ask("info", {})
        assert [method for method, _ in second.calls] == ["client.join", "client.join"]


def test_a_client_stays_one_when_the_service_begins_again(tmp_path):
    """What is opened anew is an owner's connection until it is lowered."""
    root = copy_root(str(tmp_path / "router"))
    first = start_daemon(root)
    ask = connect(root + "/var/run/oasis/oasis.sock", "demo")
    assert "version" in ask("info", {})
    first.stop()
    second = start_daemon(root, wait=False)  # the client waits for it
    try:
        assert "version" in ask("info", {})
        with pytest.raises(PolicyError):
            ask("chat.list", {})
    finally:
        second.stop()


def test_a_call_of_a_tool_that_broke_off_is_not_made_twice(tmp_path):
    def breaks(_):
        first.stop()
        raise OSError

    first = FakeDaemon(tmp_path, [("client.join", None, {}), ("tool.call", None, breaks), ("info", None, breaks)])
    path = str(tmp_path / "var/run/oasis/oasis.sock")
    ask, look = connect(path, "demo"), connect(path, "demo")
    with pytest.raises(OasisError, match="ended during this call") as told:
        ask("tool.call", {"name": "power"})
    assert "look whether it had an effect" in told.value.hint
    answers = [("client.join", None, {}), ("tool.call", None, {}), ("info", None, {"version": "1"})]
    with FakeDaemon(tmp_path, answers) as second:
        assert look("info", {}) == {"version": "1"}  # its connection is over, and that is noticed before it is used
        assert ask("tool.call", {"name": "status"}) == {}
        assert [method for method, _ in second.calls] == ["client.join", "info", "client.join", "tool.call"]
