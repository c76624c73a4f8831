"""The line to MCP servers over HTTP, through a real worker: sessions, tokens, answers of all kinds, and bounds."""

from __future__ import annotations

import http.server
import json
import threading
import time

import pytest

from oasis.errors import ToolError
from oasis.llm.pool import Pool, default_argv
from oasis.parts.mcp.server_connection import ForgottenError, Http, Peer
from oasis.parts.mcp.servers import Server
from oasis.system.files import Files
from tests.parts.mcp.test_client import Watching

TOKEN = "a-token-of-somebody"


class Web(http.server.ThreadingHTTPServer):
    """Answers a POST by `answer(message, headers)` -> (status, headers, body); keeps what it was sent."""

    daemon_threads = True

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.seen = []
        self.url = f"http://127.0.0.1:{self.server_port}/mcp"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((dict(self.headers), message))
        status, headers, body = self.server.answer(message, self.headers)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(getattr(body, "body", body))
        if isinstance(body, Held):
            self.wfile.flush()
            body.over.wait(60)

    def log_message(self, *words):
        pass


JSON = {"Content-Type": "application/json"}


def result(message, value):
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": value}).encode()


def older(message, headers, **calls):
    """Answer as a server of an older year that keeps sessions."""
    method = message.get("method")
    if "id" not in message:
        return 202, {}, b""
    if method == "initialize":
        told = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x"}}
        return 200, {**JSON, "Mcp-Session-Id": "s1"}, result(message, told)
    if method == "server/discover":
        return 400, JSON, json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601}}).encode()
    if headers.get("Mcp-Session-Id") != "s1":
        return 404, JSON, b""
    if method in calls:
        return calls[method](message)
    return 200, JSON, result(message, {"tools": []})


@pytest.fixture(scope="module")
def pool():
    made = Pool(default_argv())
    yield made
    made.close()


@pytest.fixture
def serve():
    running = []

    def start(answer):
        running.append(Web(answer))
        return running[-1]

    yield start
    for web in running:
        web.shutdown()
        web.server_close()


def connected(pool, web, key=""):
    peer = Peer("web", Http("web", web.url, key, pool.post))
    peer.connect()
    return peer


def call(peer):
    return peer.request("tools/call", {"name": "x", "arguments": {}}, 10, lambda *_: None, lambda: False)


def test_session_version_and_token_are_sent_again(pool, serve):
    web = serve(older)
    peer = connected(pool, web, TOKEN)
    peer.listed("tools")
    headers, message = web.seen[-1]
    assert message["method"] == "tools/list" and headers["Mcp-Session-Id"] == "s1"
    assert headers["MCP-Protocol-Version"] == "2025-06-18" and headers["Authorization"] == "Bearer " + TOKEN
    assert "Mcp-Method" not in headers


def test_newer_server_is_told_by_headers_as_well(pool, serve):
    def answer(message, headers):
        if message["method"] == "server/discover":
            told = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "resultType": "complete"}
            return 200, JSON, result(message, told)
        return 200, JSON, result(message, {"content": [], "resultType": "complete"})

    web = serve(answer)
    peer = connected(pool, web)
    peer.request("tools/call", {"name": "gr\u00fc\u00df", "arguments": {}}, 10, lambda *_: None, lambda: False)
    headers, message = web.seen[-1]
    assert headers["MCP-Protocol-Version"] == "2026-07-28" and headers["Mcp-Method"] == "tools/call"
    assert headers["Mcp-Name"] == "=?base64?Z3LDvMOf?="
    assert message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"


def test_stream_with_progress_and_a_question_of_the_server(pool, serve):
    def stream(message):
        token = message["params"]["_meta"]["progressToken"]
        said = [
            {"jsonrpc": "2.0", "method": "notifications/progress",
             "params": {"progressToken": token, "progress": 1, "message": "half"}},
            {"jsonrpc": "2.0", "id": 99, "method": "sampling/createMessage", "params": {}},
            {"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": "whole"}]}},
        ]  # fmt: skip
        body = b": hello\n\n" + b"".join(b"event: message\ndata: " + json.dumps(one).encode() + b"\n\n" for one in said)
        return 200, {"Content-Type": "text/event-stream"}, body

    web = serve(lambda message, headers: older(message, headers, **{"tools/call": stream}))
    peer, told = connected(pool, web), []
    found = peer.request(
        "tools/call", {"name": "x", "arguments": {}}, 10, lambda *words: told.append(words), lambda: False
    )
    assert found["content"][0]["text"] == "whole" and told == [("half", 1, None)]
    refused = next(message for _, message in web.seen if message.get("id") == 99)
    assert refused["error"]["code"] == -32601


def test_server_that_asks_without_end_is_given_up(pool, serve):
    def stream(message):
        body = b"".join(b'data: {"jsonrpc": "2.0", "id": %d, "method": "ping"}\n\n' % one for one in range(1000))
        return 200, {"Content-Type": "text/event-stream"}, body

    web = serve(lambda message, headers: older(message, headers, **{"tools/call": stream}))
    with pytest.raises(ToolError, match="asks without end"):
        call(connected(pool, web))
    assert len(web.seen) < 30


def test_forgotten_session_is_told_and_the_source_connects_anew(pool, serve, tmp_path):
    known = {"s1": True}

    def answer(message, headers):
        if message.get("method") == "initialize":
            known["s1"] = True
        elif not known["s1"] and "id" in message and message["method"] != "server/discover":
            return 404, JSON, b""
        return older(message, headers, **{"tools/call": lambda one: (200, JSON, result(one, {"content": []}))})

    web = serve(answer)
    peer = connected(pool, web)
    known["s1"] = False
    with pytest.raises(ForgottenError):
        call(peer)
    entry = {"name": "web", "enabled": True, "command": [], "url": web.url, "timeout_s": 20, "allowed": [], "note": ""}
    source = Server(entry, lambda one: Http("web", one["url"], "", pool.post), Files(), str(tmp_path / "web.json"))
    source.refresh()
    known["s1"] = False
    assert source.call("web___x", {}, None, Watching()) == {"text": ""}


@pytest.mark.parametrize(
    ("status", "headers", "body", "words"),
    [
        (401, JSON, b"{}", "lets nobody in without a token"), (403, JSON, b"", "lets nobody in without a token"),
        (200, {"Content-Type": "text/html"}, b"<html>", "which no MCP server sends"), (200, JSON, b"{", "sent no JSON"),
        (200, JSON, b"[]", "sent what is no message"), (200, JSON, b"x" * 2_000_000, "sent more than"),
        (500, {}, b"", "gave no answer"), (200, JSON, b'{"jsonrpc":"2.0","id":12345,"result":{}}', "gave no answer"),
        (302, {"Location": "http://127.0.0.1:1/"}, b"", "gave no answer"),
    ],
)  # fmt: skip
def test_answers_that_are_none_are_explained(pool, serve, status, headers, body, words):
    web = serve(lambda message, _: (status, headers, body))
    with pytest.raises(ToolError, match=words):
        connected(pool, web, TOKEN)


def test_token_never_comes_back_in_an_error(pool, serve):
    web = serve(lambda message, headers: (200, JSON, json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "error": {
        "code": -1, "message": "bad token " + headers.get("Authorization", "")}}).encode()))  # fmt: skip
    with pytest.raises(ToolError) as failure:
        connected(pool, web, TOKEN)
    assert TOKEN not in failure.value.message


def test_nobody_there_is_told(pool):
    with pytest.raises(ToolError, match="the MCP server web: "):
        Peer("web", Http("web", "http://127.0.0.1:9/mcp", "", pool.post)).connect()


DEEP = b'{"jsonrpc":"2.0","id":%d,"result":' + b"[" * 5000 + b"]" * 5000 + b"}"
UNREADABLE = {
    "too deep": DEEP, "cut": b'{"jsonrpc":"2.0","id":%d,"result":{"content":[', "no object": b"[%d]",
    "no version": b'{"id":%d,"result":{}}', "no JSON": b"Segmentation fault %d",
    "no number": b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error of %d"}}',
    "no number at all": b'{"jsonrpc":"2.0","error":{"code":-32603,"message":"fell over at %d"}}',
    "no characters": b'{"jsonrpc":"2.0","id":%d,"result":"\xff\xfe"',
    "as deep as a line may be": b'{"jsonrpc":"2.0","id":%d,"result":' + b"[" * 98 + b"]" * 98 + b"}",
}  # fmt: skip


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n"])
def test_an_unreadable_answer_fails_its_call_at_once_where_the_stream_stays_open(pool, serve, data, end):
    """Servers hold the stream of an answer open; the call waits for what it may take only where nothing came."""
    over = threading.Event()

    def answer(message, headers):
        if message.get("method") != "tools/call":
            return older(message, headers)
        whole = b"data: " + data.replace(b"%d", b"%d" % message["id"]) + end
        return 200, {"Content-Type": "text/event-stream"}, Held(whole, over)

    web = serve(answer)
    peer = connected(pool, web)
    began = time.monotonic()
    try:
        with pytest.raises(ToolError):
            peer.request("tools/call", {"name": "x", "arguments": {}}, 60, lambda *_: None, lambda: False)
        assert time.monotonic() - began < 20
    finally:
        over.set()


class Held:
    """A body after which the connection stays open until `over` is set."""

    def __init__(self, body, over):
        self.body, self.over = body, over
