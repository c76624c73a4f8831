"""A server that knows no tools changes the stock router, from the owner's words through blocks to the files."""

import http.server
import itertools
import json
import threading

import pytest

from tests.daemon.test_wiring import approve, config, follow, of_type, say, services
from tests.json_replies import JsonHandler
from tests.llm.test_workers import run  # noqa: F401  (a fixture)
from tests.oasisd import start_daemon

WIFI = "```sh\nuci set wireless.default_radio0.ssid='Attic'\nuci commit wireless\nwifi reload\n```"
NAME = "```\nuci set system.@system[0].hostname='attic'\n```"


class Server(http.server.ThreadingHTTPServer):
    """Answers with `script`, a list of texts or of tool calls (name, arguments), and keeps every body it was sent.

    `knows_tools`: without, a request that speaks of tools in any way is refused with a 400, as such servers do.
    """

    def __init__(self, *script, knows_tools=False, words="tiny does not support tools"):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = list(script)
        self.knows_tools = knows_tools
        self.words = words
        self.bodies = []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def sent(self):
        """Return the bodies of the requests that were answered."""
        return [body for body in self.bodies if self.knows_tools or "tools" not in body]


class Handler(JsonHandler):
    def do_POST(self):
        body = self.body()
        self.server.bodies.append(body)
        if not self.server.knows_tools and "tools" in body:
            return self.reply(400, {"error": {"message": self.server.words, "type": "api_error"}})
        problem = _problem(body["messages"], self.server.knows_tools)
        if problem:
            return self.reply(400, {"error": {"message": problem}})
        reply = self.server.script.pop(0)
        message = {"role": "assistant", "content": reply}
        if not isinstance(reply, str):
            function = {"name": reply[0], "arguments": json.dumps(reply[1])}
            message = {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
        reason = "stop" if isinstance(reply, str) else "tool_calls"
        return self.reply(200, {"model": "tiny", "choices": [{"message": message, "finish_reason": reason}]})


def _problem(messages, knows_tools):
    """Say what in a chat such a server does not take: calls and results, or, where it knows them, unpaired ones."""
    roles = [message["role"] for message in messages]
    calls = [call["id"] for message in messages for call in message.get("tool_calls", [])]
    results = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    if not knows_tools and (calls or results):
        return "unknown role tool"
    if calls != results:
        return f"calls {calls} and results {results}"
    turns = [role for role in roles if role != "system"]
    return "roles must alternate" if any(a == b != "tool" for a, b in itertools.pairwise(turns)) else ""


@pytest.fixture
def serve():
    running = []

    def start(*script, **more):
        running.append(Server(*script, **more))
        return running[-1]

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


def set_mode(daemon, value):
    path = daemon.root + "/etc/config/oasis"
    with open(path) as handle:
        text = handle.read()
    with open(path, "w") as handle:
        handle.write(
            text.replace("\toption model 'tiny'\n", f"\toption model 'tiny'\n\toption tool_mode '{value}'\n", 1)
        )


def stored(daemon, started):
    return daemon.call("chat.load", id=started["chat"])["messages"]


@pytest.mark.parametrize("profile", ["compatible", "llamacpp"])
def test_a_refusal_of_tools_is_learned_and_the_wifi_is_changed_with_approval(run, serve, profile):  # noqa: F811
    server = serve("```\nuci show wireless\n```", "I set it:\n" + WIFI, "Please keep it.", "Nothing to do.")
    daemon = run(profile, server.url, "tiny")
    before = config(daemon.root, "wireless")
    started = daemon.call("run.start", message="call the wifi Attic")
    events = follow(daemon, started, ("plan",))
    assert [event["text"] for event in of_type(events, "note")] == [
        "tiny cannot call tools: it writes commands instead"
    ]
    assert of_type(events, "plan")[0]["plan"]["needs_approval"]
    assert config(daemon.root, "wireless") == before
    assert approve(daemon, events)["decision"] == "approved"
    events = follow(daemon, started)
    assert of_type(events, "end")[0]["state"] == "done", events
    assert b"option ssid 'Attic'" in config(daemon.root, "wireless")
    assert services(daemon.root) == ["network reload"]
    change = daemon.call("change.pending")["change"]
    assert daemon.call("change.confirm", change=change["id"], unproved=True)["change"]["state"] == "confirmed"
    messages = stored(daemon, started)
    assert [message["role"] for message in messages] == ["user", *["assistant", "tool"] * 2, "assistant"]
    assert messages[3]["content"][1]["input"] == {"commands": ["uci set wireless.default_radio0.ssid=Attic"]}
    assert "waiting_confirm" in json.dumps(messages[4])
    assert len(server.bodies) == 4 and "tools" in server.bodies[0]
    asked = server.bodies[2]["messages"]
    assert "default_radio0" in asked[-1]["content"] and "uci commands" in asked[0]["content"]
    # Remembered: the next message is asked without tools at once, and told no more.
    events = say(daemon, "thanks", chat=started["chat"])
    assert of_type(events, "note") == [] and len(server.bodies) == 5 and "tools" not in server.bodies[4]


def test_a_setting_spares_the_first_try(run, serve):  # noqa: F811
    server = serve(NAME, "Done.")
    daemon = run("compatible", server.url, "tiny")
    set_mode(daemon, "none")
    events = say(daemon, "call it attic")
    assert b"option hostname 'attic'" in config(daemon.root, "system")
    assert of_type(events, "note") == []
    assert [("tools" in body) for body in server.bodies] == [False, False]


def test_a_mode_that_is_none_is_told(run, serve):  # noqa: F811
    daemon = run("compatible", serve().url, "tiny")
    set_mode(daemon, "sometimes")
    service = daemon.call("service.list")["service"][0]
    assert not service["ready"] and "tool_mode" in service["note"]


def test_an_invented_option_goes_back_to_the_model(run, serve):  # noqa: F811
    wrong = "```\nuci set system.@system[0].hostnam='attic'\n```"
    server = serve(wrong, NAME, "It is attic.")
    daemon = run("compatible", server.url, "tiny")
    events = say(daemon, "call it attic")
    assert [result["is_error"] for result in of_type(events, "tool_result")] == [True, False]
    assert "hostname" in server.sent()[1]["messages"][-1]["content"]
    assert b"option hostname 'attic'" in config(daemon.root, "system")


def test_a_model_with_tools_goes_on_with_such_a_chat_and_back_again(run, serve):  # noqa: F811
    server = serve(NAME, "It is attic.")
    daemon = run("compatible", server.url, "tiny")
    started = daemon.call("run.start", message="call it attic")
    follow(daemon, started)
    server.knows_tools = True
    daemon.stop()
    again = start_daemon(daemon.root)
    try:
        server.script += [("configure", {"commands": ["uci set system.@system[0].hostname=cellar"]}), "It is cellar."]
        events = say(again, "no, cellar", chat=started["chat"])
        assert of_type(events, "end")[0]["state"] == "done", events
        assert b"'cellar'" in config(again.root, "system")
        assert server.bodies[-1]["messages"][2]["tool_calls"], "the fence went out as a call"
        server.knows_tools = False
        server.script += ["It is called cellar."]
        events = say(again, "and now?", chat=started["chat"])
        assert of_type(events, "end")[0]["state"] == "done", events
        assert "uci set system.@system[0].hostname=cellar" in json.dumps(server.bodies[-1]["messages"])
    finally:
        again.stop()


def test_a_model_with_tools_that_shows_commands_changes_nothing(run, serve):  # noqa: F811
    server = serve("You could write:\n" + NAME, knows_tools=True)
    daemon = run("compatible", server.url, "tiny")
    before = config(daemon.root, "system")
    events = say(daemon, "how would one rename it?")
    assert of_type(events, "tool_use") == of_type(events, "plan") == of_type(events, "note") == []
    assert config(daemon.root, "system") == before


def test_what_is_offered_is_shown_and_never_run(run, serve):  # noqa: F811
    server = serve("```\nservice dnsmasq restart\nreboot\n```", "I may not do that.")
    daemon = run("compatible", server.url, "tiny")
    events = say(daemon, "restart the dns server")
    note = of_type(events, "note")[-1]["text"]
    assert "restart dnsmasq" in note and "reboot" in note
    assert of_type(events, "plan") == [] and services(daemon.root) == []
    assert "restart dnsmasq" in server.sent()[-1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    "words",
    [
        "registry.ollama.ai/library/tiny:latest does not support tools",
        "No endpoints found that support tool use. Try disabling it.",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    ],
)
def test_every_way_to_say_it_is_understood(run, serve, words):  # noqa: F811
    server = serve(NAME, "Done.", words=words)
    daemon = run("compatible", server.url, "tiny")
    assert of_type(say(daemon, "call it attic"), "end")[0]["state"] == "done"
    assert b"option hostname 'attic'" in config(daemon.root, "system")
