"""Services that fail: who is asked next, what is told, and who is named as the one that answered."""

import http.server
import threading

import pytest

from oasis.agent.client import CUTS, Failover
from oasis.errors import ProviderError
from oasis.llm.windows import Windows
from tests.daemon.test_wiring import follow, of_type, say
from tests.json_replies import JsonHandler
from tests.oasisd import copy_root, start_daemon

KEY = "sk-test-0123456789abcdef"


def service(identifier, vendor="openai", context_tokens=0):
    place = {"identifier": identifier, "profile": vendor, "base_url": "", "model": identifier + "-1", "vendor": vendor}
    return {**place, "context_tokens": context_tokens}


OFFLINE = service("offline", "offline")
DELTA = {"type": "delta", "text": "Hello"}
DONE = {"type": "done", "stop_reason": "end_turn", "model": "m"}


def failure(code="overloaded", message="it is busy"):
    return {"type": "error", "error": {"code": code, "message": message, "hint": "wait", "retryable": True}}


class Turns:
    """A turn over services that answer with what `scripts` holds for them, one list of events a request."""

    def __init__(self, services, **scripts):
        self.scripts = scripts
        self.asked, self.notes, self.events, self.windows = [], [], [], []
        self.too_long = False
        windows = Windows(None, None, lambda: 0.0)
        self.failover = Failover(services, self.ask_one, self.emit, self.context, windows)

    def ask_one(self, service, messages, tools, on_event):
        self.asked.append((service["identifier"], messages))
        for event in self.scripts[service["identifier"]].pop(0):
            on_event(event)

    def emit(self, kind, text):
        assert kind == "note"
        self.notes.append(text)

    def context(self, service, chat, system, tools):
        self.windows.append(service["context_tokens"])
        if self.too_long:
            raise ProviderError("the message is too long")
        return [chat, system, service["identifier"]]

    def ask(self):
        self.events = []
        messages = self.failover.context("chat", "system", [])
        self.failover.ask(messages, [], self.events.append)
        return [name for name, _ in self.asked]


def test_the_next_service_answers_and_is_named():
    turns = Turns([service("cloud"), service("home")], cloud=[[failure()]], home=[[DELTA, DONE]])
    assert turns.ask() == ["cloud", "home"]
    assert turns.notes == ["cloud: it is busy; trying home"]
    assert turns.events == [{"type": "source", "provider": "home", "model": "home-1"}, DELTA, DONE]
    assert turns.failover.service["identifier"] == "home"


def test_who_answered_stays_for_the_turn():
    turns = Turns([service("cloud"), service("home")], cloud=[[failure()]], home=[[DELTA, DONE], [DELTA, DONE]])
    turns.ask()
    assert turns.ask() == ["cloud", "home", "home"] and len(turns.notes) == 1


@pytest.mark.parametrize("code", ["authentication", "no_credit", "not_found", "tls", "refused", "context_length"])
def test_any_failure_of_a_service_counts(code):
    turns = Turns([service("cloud"), service("home")], cloud=[[failure(code)]], home=[[DELTA, DONE]])
    assert turns.ask() == ["cloud", "home"]


@pytest.mark.parametrize("shown", [DELTA, {"type": "tool_use"}, {"type": "thinking", "text": "hm"}])
def test_nobody_else_is_asked_once_something_was_shown(shown):
    turns = Turns([service("cloud"), service("home")], cloud=[[shown, failure("truncated")]], home=[])
    assert turns.ask() == ["cloud"]
    assert turns.events == [shown, failure("truncated")] and turns.notes == []


def test_what_the_owner_stopped_stays_stopped():
    turns = Turns([service("cloud"), service("home")], cloud=[[failure("cancelled")]], home=[])
    assert turns.ask() == ["cloud"] and turns.events[-1]["error"]["code"] == "cancelled"


def test_the_built_in_service_is_told_as_what_it_is():
    turns = Turns([service("cloud"), OFFLINE], cloud=[[failure()]], offline=[[DELTA, DONE]])
    assert turns.ask() == ["cloud", "offline"]
    assert "built-in service" in turns.notes[0]


def test_the_built_in_service_does_not_go_on_where_a_model_has_begun():
    turns = Turns([service("cloud"), OFFLINE], cloud=[[{"type": "tool_use"}, DONE], [failure()]], offline=[])
    turns.ask()
    assert turns.ask() == ["cloud", "cloud"] and turns.events[-1]["type"] == "error"


def test_the_failure_of_the_wanted_service_is_told_when_all_fail():
    scripts = {"a": [[failure("authentication", "the key is refused")]], "b": [[failure("refused", "nobody listens")]]}
    turns = Turns([service("a"), service("b")], **scripts)
    turns.ask()
    error = turns.events[-1]["error"]
    assert (error["code"], error["hint"]) == ("authentication", "wait")
    assert "the key is refused" in error["message"] and "nobody listens" in error["message"]
    assert turns.events[-2] == {"type": "source", "provider": "a", "model": "a-1"}


@pytest.mark.parametrize(("tokens", "sent"), [(4000, "home"), (8000, "cloud"), (99999, "cloud")])
def test_a_service_that_takes_less_is_sent_less_and_none_is_sent_more(tokens, sent):
    services = [service("cloud", context_tokens=8000), service("home", context_tokens=tokens)]
    turns = Turns(services, cloud=[[failure()]], home=[[DELTA, DONE]])
    turns.ask()
    assert turns.asked[-1][1][-1] == sent


def test_a_service_that_names_ever_less_is_not_asked_for_ever():
    names = iter(range(127_000, 0, -9000))
    scripts = {"cloud": [[failure("context_length", "at most %d tokens" % next(names))] for _ in range(9)]}
    turns = Turns([service("cloud", context_tokens=128_000), service("home")], home=[[DELTA, DONE]], **scripts)
    assert turns.ask() == ["cloud"] * (1 + CUTS) + ["home"]


def test_where_the_question_fits_no_more_the_next_service_is_asked():
    turns = Turns([service("cloud", context_tokens=128_000), service("home")], cloud=[[failure("context_length")]],
                  home=[[DELTA, DONE]])  # fmt: skip
    messages = turns.failover.context("chat", "system", [])
    turns.too_long = True
    turns.failover.ask(messages, [], turns.events.append)
    assert [name for name, _ in turns.asked] == ["cloud", "home"] and turns.events[-1] == DONE


@pytest.mark.parametrize(
    ("window", "words", "windows"),
    [
        (128_000, "it is too long", [128_000, 64_000, 32_000]),  # halved where it says no number
        (128_000, "maximum context length is 8192 tokens, you requested 9000", [128_000, 8192]),
        (4096, "it is too long", [4096, 2048]),  # less holds no answer: the next one is asked
    ],
)
def test_a_service_that_takes_less_than_it_said_is_sent_less(window, words, windows):
    refusals = [[failure("context_length", words)]] * (len(windows) - (window > 4096))
    scripts = {"cloud": [*refusals, [DELTA, DONE]], "home": [[DELTA, DONE]]}
    services = [service("cloud", context_tokens=window), service("home", context_tokens=window)]
    turns = Turns(services, **scripts)
    turns.ask()
    assert turns.windows == windows
    assert turns.failover.service["identifier"] == ("cloud" if window > 4096 else "home")
    assert turns.failover.service["context_tokens"] == (windows[-1] if window > 4096 else window)


# The whole daemon


class Model(JsonHandler):
    """Answers as the first word of its path says, and keeps the bodies."""

    def do_POST(self):
        body = self.body()
        kind = self.path.split("/")[1]
        seen = self.server.seen.setdefault(kind, [])
        seen.append(body)
        if kind == "key":
            return self.reply(401, {"error": {"message": "Incorrect API key provided: " + KEY}})
        if kind == "busy" and len(seen) == 1:
            return self.reply(503, {"error": {"message": "overloaded"}})
        if kind == "plain" and "temperature" in body:
            return self.reply(400, {"error": {"message": "'temperature' is not supported", "param": "temperature"}})
        answer = {"message": {"role": "assistant", "content": "Hello from " + kind}, "finish_reason": "stop"}
        return self.reply(200, {"model": "m-" + kind, "choices": [answer]})


@pytest.fixture
def model():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.seen = {}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def run(tmp_path, model):
    """Start a daemon with a service for each name, which is also what the server does; `more` are options of each."""
    running = []

    def start(*names, targets=(), more=""):
        root = copy_root(str(tmp_path / "router"))
        text = "config oasis 'main'\n\toption titles 'words'\n"
        for name in names:
            text += f"config service '{name}'\n\toption name 'compatible'\n\toption identifier '{name}'\n"
            text += f"\toption model '{name}-1'\n\toption endpoint 'http://127.0.0.1:{model.server_port}/{name}/v1'\n"
            text += more
        text += "config alias\n\toption name 'chat'\n" + "".join(f"\tlist target '{name}'\n" for name in targets)
        with open(root + "/etc/config/oasis", "w") as handle:
            handle.write(text)
        running.append(start_daemon(root))
        return running[-1]

    yield start
    for daemon in running:
        daemon.stop()


def notes(events):
    return [event["text"] for event in of_type(events, "note")]


def test_a_chat_goes_on_with_the_next_service_and_says_so(run, model):
    daemon = run("key", "home", targets=("key", "home"))
    started = daemon.call("run.start", message="hello")
    events = follow(daemon, started)
    assert of_type(events, "end")[0]["state"] == "done", events
    (note,) = notes(events)
    assert note.startswith("key: ") and "refused the key" in note and note.endswith("trying home") and KEY not in note
    answer = daemon.call("chat.load", id=started["chat"])["messages"][-1]
    assert (answer["provider"], answer["model"], answer["content"]) == ("home", "m-home", "Hello from home")


@pytest.mark.part("offline")
def test_the_built_in_service_answers_in_the_end(run):
    daemon = run("key", targets=("key", "offline"))
    started = daemon.call("run.start", message="what can you do?")
    events = follow(daemon, started)
    assert of_type(events, "end")[0]["state"] == "done", events
    assert "built-in service" in notes(events)[0]
    assert daemon.call("chat.load", id=started["chat"])["messages"][-1]["provider"] == "offline"


def test_a_retry_is_told(run, model):
    events = say(run("busy"), "hello")
    assert of_type(events, "end")[0]["state"] == "done"
    (note,) = notes(events)
    assert "overloaded" in note and "asking again" in note
    assert len(model.seen["busy"]) == 2


def test_what_a_model_refuses_is_told_once_and_left_out_from_then_on(run, model):
    daemon = run("plain", more="\toption temperature '0.2'\n")
    first, second = say(daemon, "hello"), say(daemon, "again")
    assert of_type(first + second, "error") == []
    assert notes(first) == ["plain-1 does not take temperature: it is left out from now on"] and notes(second) == []
    assert ["temperature" in body for body in model.seen["plain"]] == [True, False, False]
