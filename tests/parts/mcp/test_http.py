"""The MCP server over HTTP: nobody without the token, no page of a browser, both ways of the protocol."""

from __future__ import annotations

import http.client
import json
import os
import stat
import subprocess

import pytest

from tests.parts.mcp.peer import command, environment, modern, tool
from tests.parts.mcp.test_server import MOVE, no_plan, waiting


class Served:
    """A running `oasis mcp --http`."""

    def __init__(self, root):
        self.process = subprocess.Popen(
            command("mcp", "--http", "0"), env=environment(root), stderr=subprocess.PIPE, stdout=subprocess.PIPE
        )
        line = self.process.stderr.readline().decode()
        assert "MCP at http://127.0.0.1:" in line, line + self.process.stderr.read().decode()
        self.told = line
        self.port = int(line.split("127.0.0.1:")[1].split("/")[0])
        self.file = root + "/etc/oasis/mcp-token"
        with open(self.file, encoding="ascii") as handle:
            self.token = handle.read().strip()
        self.session = ""

    def ask(self, message, method="POST", path="/mcp", **changes):
        """Return (status, headers, body) of one request; None for a header leaves it out."""
        headers = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json",
                   "Accept": "application/json, text/event-stream"}  # fmt: skip
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        for name, value in changes.items():
            headers[name.replace("_", "-")] = value
        headers = {name: value for name, value in headers.items() if value is not None}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        connection.request(method, path, body if method == "POST" else None, headers)
        answer = connection.getresponse()
        found = answer.status, dict(answer.getheaders()), answer.read().decode()
        connection.close()
        return found

    def call(self, method, params=None, **changes):
        status, _, body = self.ask({"jsonrpc": "2.0", "id": 7, "method": method, "params": params or {}}, **changes)
        return status, json.loads(body)

    def shake_hands(self, **capabilities):
        params = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "probe"}}
        status, headers, body = self.ask({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        self.session = headers["Mcp-Session-Id"]
        return status, json.loads(body)["result"]


@pytest.fixture
def served(daemon):
    server = Served(daemon.root)
    yield server
    server.process.terminate()
    server.process.wait(10)
    server.process.stderr.close()
    server.process.stdout.close()


def test_token_is_made_once_for_its_owner_alone_and_never_shown(served, daemon):
    assert stat.S_IMODE(os.stat(served.file).st_mode) == 0o600 and len(served.token) >= 32
    assert served.token not in served.told
    with open(f"/proc/{served.process.pid}/cmdline", "rb") as handle:
        assert served.token.encode() not in handle.read()
    again = Served(daemon.root)
    assert again.token == served.token
    again.process.terminate()
    again.process.wait(10)


def test_token_that_others_can_read_is_refused(daemon, served):
    os.chmod(served.file, 0o644)
    done = subprocess.run(
        command("mcp", "--http", "0"),
        env=environment(daemon.root),
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    os.chmod(served.file, 0o600)
    assert done.returncode == 1 and "others can read" in done.stderr and "chmod 600" in done.stderr


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"Authorization": None}, 401), ({"Authorization": "Bearer wrong"}, 401), ({"Authorization": "Basic x"}, 401),
        ({"Host": "evil.example"}, 403), ({"Host": "192.168.1.1"}, 403), ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403), ({"Content_Type": "text/plain"}, 415), ({"path": "/"}, 404),
    ],
)  # fmt: skip
def test_who_is_not_the_client_gets_nothing(served, changes, status):
    found, _, body = served.ask({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": modern()}, **changes)
    assert found == status and "capabilities" not in body and served.token not in body


def test_session_of_the_older_way(served):
    status, told = served.shake_hands()
    assert status == 200 and told["protocolVersion"] == "2025-11-25"
    assert served.ask({"jsonrpc": "2.0", "method": "notifications/initialized"})[0] == 202
    status, answer = served.call("tools/call", tool("status"), MCP_Protocol_Version="2025-11-25")
    assert status == 200 and answer["result"]["isError"] is False
    assert served.call("ping", MCP_Protocol_Version="1999-01-01")[0] == 400
    assert served.ask(b"", method="GET")[0] == 405
    assert served.ask(b"", method="DELETE")[0] == 200
    assert served.call("ping")[0] == 404
    served.session = ""
    assert served.call("ping")[0] == 400


def test_call_that_waits_is_a_stream_with_progress_and_an_answer(served, daemon):
    served.shake_hands()
    message = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {**MOVE, "_meta": {"progressToken": 1}}}
    headers = {"Authorization": "Bearer " + served.token, "Content-Type": "application/json",
               "Mcp-Session-Id": served.session}  # fmt: skip
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    connection.request("POST", "/mcp", json.dumps(message), headers)
    answer = connection.getresponse()
    assert answer.status == 200 and answer.getheader("Content-Type") == "text/event-stream"
    daemon.call("plan.decline", plan=waiting(daemon)["id"])
    events = [json.loads(line[6:]) for line in answer.read().decode().split("\n") if line.startswith("data: ")]
    connection.close()
    assert events[0]["method"] == "notifications/progress" and events[-1]["id"] == 9
    assert json.loads(events[-1]["result"]["content"][0]["text"])["status"] == "declined"


def test_client_that_breaks_off_withdraws_its_plan(served, daemon):
    served.shake_hands()
    message = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {**MOVE, "_meta": {"progressToken": 1}}}
    headers = {"Authorization": "Bearer " + served.token, "Content-Type": "application/json",
               "Mcp-Session-Id": served.session}  # fmt: skip
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    connection.request("POST", "/mcp", json.dumps(message), headers)
    connection.getresponse()
    waiting(daemon)
    connection.close()
    assert no_plan(daemon)


def test_newer_way_without_a_session_and_with_headers_that_agree(served):
    headers = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/call", "Mcp_Name": "status"}
    status, answer = served.call("tools/call", modern(**tool("status")), **headers)
    assert status == 200 and answer["result"]["resultType"] == "complete"
    for name in headers:
        status, answer = served.call("tools/call", modern(**tool("status")), **{**headers, name: "other"})
        assert status == 400 and answer["error"]["code"] == -32020
    headers["Mcp_Method"] = "no/such"
    status, answer = served.call("no/such", modern(), **headers)
    assert status == 404 and answer["error"]["code"] == -32601


def test_clients_of_the_newer_way_have_runs_of_their_own(served, daemon):
    headers = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/call", "Mcp_Name": MOVE["name"]}

    def ask(client, **more):
        params = modern(capabilities={"elicitation": {}}, **MOVE, **more)
        params["_meta"]["io.modelcontextprotocol/clientInfo"] = {"name": client, "version": "1"}
        return served.call("tools/call", params, **headers)[1]["result"]

    state = ask("first")["requestState"]
    plan = waiting(daemon)
    declined = {"requestState": state, "inputResponses": {"wait": {"action": "decline"}}}
    assert "there is no run" in ask("second", **declined)["content"][0]["text"]
    assert waiting(daemon)["id"] == plan["id"]
    assert "cancelled" in ask("first", **declined)["content"][0]["text"]
    assert no_plan(daemon)


@pytest.mark.parametrize("body", [b"not json", b"[]", b'{"jsonrpc":"2.0","id":1,"method":7}', b""])
def test_broken_bodies_are_400(served, body):
    served.shake_hands()
    assert served.ask(body)[0] == 400


def test_body_without_or_with_a_huge_length_is_refused_unread(served):
    for length in (str(1 << 40), "0" * 20 + str(1 << 40), "9" * 5000):
        assert served.ask(b"{}", Content_Length=length)[0] == 413


def test_many_sessions_let_the_oldest_go(served):
    served.shake_hands()
    first = served.session
    for _ in range(16):
        served.session = ""
        served.shake_hands()
    assert served.call("ping")[0] == 200
    served.session = first
    assert served.call("ping")[0] == 404


def test_it_listens_on_this_machine_alone(served):
    inodes = {os.readlink(f"/proc/{served.process.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{served.process.pid}/fd")}
    with open("/proc/net/tcp", encoding="ascii") as handle:
        rows = [line.split() for line in handle.readlines()[1:]]
    own = [row[1] for row in rows if f"socket:[{row[9]}]" in inodes and row[3] == "0A"]
    assert own == [f"0100007F:{served.port:04X}"]
