"""Services on a whole daemon: a trial and a list through a real worker, an alias for titles, keys, counts, a budget."""

import json
import os
import time

import pytest

from tests.daemon.test_wiring import follow, of_type
from tests.llm.test_workers import KEY, root_with
from tests.oasisd import copy_root, set_option, start_daemon
from tests.recorder import Recorder

USAGE = b'data: {"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 5}}\n\n'


class Counting(Recorder):
    """Says what each answer used, as services do."""

    def answer(self, body, headers):
        status, kind, answer = super().answer(body, headers)
        return status, kind, answer.replace(b"data: [DONE]", USAGE + b"data: [DONE]")

    def asked(self):
        return [json.loads(body) for body in self.bodies()]


@pytest.fixture
def start(tmp_path):
    running = []

    def started(more="", **options):
        model = Counting()
        root = root_with(tmp_path, "openai", model.url, "scripted", KEY)
        for name, value in options.items():
            set_option(root, name, value)
        with open(root + "/etc/config/oasis", "a") as handle:
            handle.write(more)
        running.append((start_daemon(root), model))
        return running[-1]

    yield started
    for daemon, model in running:
        daemon.stop()
        model.close()


def wait_for(check):
    deadline = time.monotonic() + 10
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def say(daemon, message, **params):
    started = daemon.call("run.start", message=message, **params)
    assert "run" in started, started
    return follow(daemon, started)


def test_a_trial_goes_all_the_way_to_the_service_and_back(start):
    daemon, model = start()
    model.script = ["OK"]
    reply = daemon.call("service.test", identifier="openai")
    assert reply["ok"] and reply["ms"] > 0
    assert model.asked()[0]["model"] == "scripted" and model.asked()[0]["max_completion_tokens"] == 16
    daemon.call("service.add", name="ollama", endpoint="http://127.0.0.1:1", model="m")
    reply = daemon.call("service.test", identifier="ollama")
    assert not reply["ok"] and reply["fault"]["message"] and "error" not in reply
    assert daemon.call("service.models", identifier="ollama")["error"]["message"]


def test_what_was_used_is_counted_and_a_spent_budget_stops_with_a_clear_error(start):
    daemon, model = start(budget_tokens="1")
    model.script = ["hello"]
    say(daemon, "hello")
    used = daemon.call("usage.list")
    assert used["usage"][0]["service"] == "openai" and used["usage"][0]["requests"] == 1
    chat = daemon.call("chat.list")["item"][0]["id"]
    assert daemon.call("usage.chat", id=chat)["usage"][0]["output_tokens"] == used["usage"][0]["output_tokens"] > 0
    events = say(daemon, "and again")
    assert of_type(events, "error")[0]["error"]["code"] == "budget" and len(model.requests) == 1


@pytest.mark.part("offline")
def test_the_built_in_service_answers_when_the_budget_is_spent(start):
    daemon, model = start(budget_tokens="1")
    say(daemon, "hello")
    assert of_type(say(daemon, "and again"), "error")[0]["error"]["code"] == "budget"
    assert of_type(say(daemon, "help", service="offline"), "error") == [] and len(model.requests) == 1


def test_the_alias_title_makes_titles(start):
    alias = "\nconfig alias\n\toption name 'title'\n\tlist target 'openai/small'\n"
    daemon, model = start(alias)
    with open(daemon.root + "/etc/config/oasis") as handle:
        text = handle.read()
    with open(daemon.root + "/etc/config/oasis", "w") as handle:
        handle.write(text.replace("\toption titles 'words'\n", ""))
    model.script = ["Well.", "A title"]
    say(daemon, "how is the printer")
    wait_for(lambda: len(model.requests) == 2)
    assert [request["model"] for request in model.asked()] == ["scripted", "small"]


def test_an_alias_answers_and_stays_with_its_thread(start):
    daemon, model = start("\nconfig alias\n\toption name 'nano'\n\tlist target 'openai/small'\n")
    model.script = ["one", "two"]
    started = daemon.call("run.start", message="hello", options={"provider_ptr": "nano"})
    follow(daemon, started)
    say(daemon, "again", chat=started["chat"])
    assert [request["model"] for request in model.asked()] == ["small", "small"]


def test_keys_of_upstream_are_moved_before_anybody_is_served(tmp_path):
    root = copy_root(str(tmp_path / "router"))
    with open(root + "/etc/config/oasis", "a") as handle:
        handle.write(f"\nconfig service\n\toption name 'OpenAI'\n\toption model 'm'\n\toption api_key '{KEY}'\n")
    daemon = start_daemon(root)
    try:
        shown = daemon.call("service.list")["service"][-1]
        assert shown["ready"] and shown["has_key"] and shown["identifier"].isdigit()
        wait_for(lambda: "1 keys were moved" in daemon.log())
        assert KEY not in daemon.log()
        assert KEY not in json.dumps([daemon.call(name) for name in ("info", "service.list", "service.providers")])
        for name in os.listdir(root + "/etc/config"):
            with open(f"{root}/etc/config/{name}") as handle:
                assert KEY not in handle.read()
    finally:
        daemon.stop()
