"""A model, from the owner's words to the router's files, through daemon and worker: scripted ones and a real one."""

import http.server
import json
import os
import threading

import pytest

from tests import model_server
from tests.daemon.test_wiring import config, follow, of_type, say
from tests.oasisd import copy_root, start_daemon
from tests.peers import aimock

KEY = "sk-test-0123456789abcdef"


def root_with(tmp_path, profile, base_url, model, key=""):
    """Return a router root whose active service is the given one."""
    root = copy_root(str(tmp_path / "router"))
    path = root + "/etc/config/oasis"
    with open(path) as handle:
        text = handle.read()
    service = f"config service '{profile}'\n\toption name '{profile}'\n\toption identifier '{profile}'\n"
    service += f"\toption model '{model}'\n\toption endpoint '{base_url}'\n\n"
    with open(path, "w") as handle:
        text = text.replace("config oasis 'main'\n", "config oasis 'main'\n\toption titles 'words'\n", 1)
        handle.write(text.replace("config service", service + "config service", 1))
    if key:
        os.makedirs(root + "/etc/oasis", 0o700, exist_ok=True)
        with open(root + "/etc/oasis/keys.json", "w") as handle:
            json.dump({profile: key}, handle)
    return root


@pytest.fixture
def run(tmp_path):
    """Start a daemon on a service; it is stopped at the end."""
    running = []

    def start(profile, base_url, model="scripted", key=""):
        running.append(start_daemon(root_with(tmp_path, profile, base_url, model, key)))
        return running[-1]

    yield start
    for daemon in running:
        daemon.stop()


def fixtures(path, *pairs):
    """Write aimock's fixtures: a tool call first, words once its result is there."""
    found = []
    for message, arguments, words in pairs:
        found.append({"match": {"userMessage": message, "hasToolResult": True}, "response": {"content": words}})
        call = {"name": "configure", "arguments": arguments}
        found.append({"match": {"userMessage": message}, "response": {"toolCalls": [call]}})
    path.write_text(json.dumps({"fixtures": found}))
    return str(path)


@pytest.fixture
def scripted(tmp_path):
    path = fixtures(
        tmp_path / "fixtures.json",
        ("attic", {"commands": ["uci set system.@system[0].hostname=attic"], "summary": "rename"}, "It is attic now."),
        ("invent", {"commands": ["uci set system.@system[0].hostnam=x"]}, "There is no such option."),
        ("shell", {"commands": ["uci set system.@system[0].hostname=x; reboot"]}, "I may not do that."),
    )
    peer = aimock.start(path)
    if peer is None:
        pytest.skip(aimock.ADVICE)
    yield peer
    peer.close()


# Profile -> what its address ends with, and a model of it.
SCRIPTED = {
    "anthropic": ("/v1", "claude-sonnet-5"),
    "gemini": ("/v1beta", "gemini-3-pro"),
    "openai": ("/v1", "gpt-5.6"),
    "responses": ("/v1", "gpt-5.6"),
    "cohere": ("", "command-a-03-2025"),
    "ollama": ("", "llama3.2"),
}


def texts(message):
    """Return the texts of a stored answer, without what a service wants back beside them."""
    content = message["content"]
    if isinstance(content, str):
        return [content]
    return [block["text"] for block in content if block["type"] == "text"]


@pytest.mark.parametrize("profile", sorted(SCRIPTED))
def test_a_scripted_model_renames_the_router(run, scripted, profile):
    tail, model = SCRIPTED[profile]
    daemon = run(profile, f"http://127.0.0.1:{scripted.port}{tail}", model, KEY)
    events = say(daemon, "call it attic")
    assert of_type(events, "end")[0]["state"] == "done", events
    assert b"option hostname 'attic'" in config(daemon.root, "system")
    messages = daemon.call("chat.load", id=daemon.call("chat.list")["item"][0]["id"])["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert texts(messages[-1]) == ["It is attic now."]
    assert messages[-1]["provider"] == profile
    assert KEY not in json.dumps([messages, daemon.call("info"), daemon.call("service.list")])
    assert KEY not in daemon.log()


@pytest.mark.parametrize(("message", "reason"), [("invent it", "hostname"), ("a shell", "no UCI")])
def test_what_a_model_may_not_do_becomes_a_tool_error_it_can_read(run, scripted, message, reason):
    daemon = run("openai", f"http://127.0.0.1:{scripted.port}/v1", "gpt-5.6", KEY)
    before = config(daemon.root, "system")
    events = say(daemon, message)
    result = of_type(events, "tool_result")[0]
    assert result["is_error"]
    assert reason in result["text"]
    assert of_type(events, "end")[0]["state"] == "done"
    assert config(daemon.root, "system") == before


@pytest.mark.model
@pytest.mark.parametrize("profile", ["llamacpp", "responses_compatible"])
def test_a_real_model_streams_through_the_whole_path(run, profile):
    found = model_server.find()
    if found is None:
        pytest.skip(model_server.ADVICE)
    server = model_server.start()
    try:
        daemon = run(profile, server.base_url, "smollm2")
        started = daemon.call("run.start", message="Say the colours of the rainbow in one sentence.")
        pieces, since = 0, 0
        while True:
            reply = daemon.call("run.poll", run=started["run"], since=since, wait_ms=5000)
            pieces += len(of_type(reply["events"], "delta"))
            since = reply["next"]
            if of_type(reply["events"], "end"):
                break
        assert of_type(reply["events"], "end")[0]["state"] == "done", reply
        message = daemon.call("chat.load", id=started["chat"])["messages"][-1]
        assert message["role"] == "assistant"
        assert len(message["content"]) > 5
        assert message["usage"]["output_tokens"] > 0
        assert pieces >= 2, "the answer came in one piece"
    finally:
        server.close()


class Liar(http.server.BaseHTTPRequestHandler):
    """Answers as its path says: a refused key, a cut stream, a call with broken arguments, a page of a portal."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        kind = self.path.split("/")[1]
        if kind == "key":
            body = json.dumps({"error": {"message": "Incorrect API key provided: " + KEY, "code": "invalid_api_key"}})
            return self.answer(401, "application/json", body)
        if kind == "portal":
            return self.answer(200, "text/html", "<html><title>Sign in to the hotel network</title></html>")
        chunk = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "I will "}}]}
        body = "data: " + json.dumps(chunk) + "\n\n"
        if kind == "broken":
            call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "undo", "arguments": '{"chan'}}
            body += "data: " + json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}) + "\n\n"
            body += 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n'
        return self.answer(200, "text/event-stream", body)

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *words):
        pass


@pytest.fixture
def liar():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("kind", "code", "kept"),
    [("key", "authentication", None), ("cut", "truncated", "I will "), ("portal", "portal", None)],
)
def test_a_lying_server_is_told_with_a_hint_and_loses_nothing(run, liar, kind, code, kept):
    daemon = run("openai", f"{liar}/{kind}", "gpt-5.6", KEY)
    started = daemon.call("run.start", message="call it attic")
    events = follow(daemon, started)
    error = of_type(events, "error")[0]["error"]
    assert error["code"] == code, error
    assert error["hint"]
    assert KEY not in json.dumps(events)
    messages = daemon.call("chat.load", id=started["chat"])["messages"]
    assert messages[0]["content"] == "call it attic"
    assert messages[-1]["error"]["code"] == code
    if kept:
        assert messages[1]["content"] == kept
    assert b"attic" not in config(daemon.root, "system")


def test_a_call_with_broken_arguments_is_not_run(run, liar):
    daemon = run("openai", f"{liar}/broken", "gpt-5.6", KEY)
    events = say(daemon, "undo it")
    result = of_type(events, "tool_result")[0]
    assert result["is_error"]
    assert "no JSON object" in result["text"]
    assert daemon.call("change.list")["changes"] == []


def test_nobody_listens_there(run):
    daemon = run("compatible", "http://127.0.0.1:9/v1", "any")
    events = say(daemon, "hello")
    error = of_type(events, "error")[0]["error"]
    assert error["code"] == "refused"
    assert "127.0.0.1:9" in error["message"] + error["hint"]


def test_a_service_without_a_key_is_refused_before_anything_is_stored(run):
    daemon = run("openai", "http://127.0.0.1:9/v1", "gpt-5.6")
    error = daemon.call("run.start", message="hello")["error"]
    assert error["code"] == "settings"
    assert daemon.call("chat.list")["item"] == []
