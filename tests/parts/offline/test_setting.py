"""When the built-in provider answers: the option `offline` of the section main."""

import pytest

from oasis.agent.client import Asker, allowed
from oasis.config.settings import OFFLINE_SERVICE
from oasis.core import jsonl
from oasis.errors import ProviderError, SettingsError
from tests.agent.test_client import DONE, SERVICE, Models, Pace, make
from tests.parts.offline.stock import HOME, NOW_S, ONE, Router


class Offline:
    """The provider in this process."""

    def reply(self, messages, facts, now_s, only_sure=False):
        return ONE.reply(messages, Router(HOME).facts, NOW_S, only_sure)


class Broken:
    def reply(self, *_):
        raise ProviderError("it cannot be started")


def asked(text, offline=None, before=(), first=True):
    """Return the events of one request and what the model was asked."""
    models = Models([{"type": "delta", "text": "a model's words"}, DONE])
    asking = make(models, Pace(True))
    asking.offline, asking.facts = offline or Offline(), Router(HOME).facts
    events = []
    messages = [{"role": "system", "content": "s"}, *before, {"role": "user", "content": text}]
    Asker(asking, "c", lambda *_, **__: None, lambda: False, first).ask(SERVICE, messages, [], events.append)
    return events, models.requests


def test_first_answers_what_is_certain_without_the_model():
    events, requests = asked("turn off the wifi")
    assert not requests
    assert events[0] == {"type": "source", "provider": "offline", "model": "built-in"}
    assert [event["name"] for event in events if event["type"] == "tool_use"] == ["configure"]


@pytest.mark.parametrize("text", ["tell me a joke", "don't turn off the wifi", "block the fridge", "block the moon"])
def test_first_leaves_to_the_model_what_is_not_certain(text):
    events, requests = asked(text)
    assert len(requests) == 1
    assert events[0] == {"type": "source", "provider": "home", "model": "m"}
    assert "a model's words" in [event.get("text") for event in events]


def test_results_of_a_models_calls_go_to_the_model():
    called = {"type": "tool_use", "id": "call_1", "name": "status", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "call_1", "name": "status", "content": []}
    messages = [{"role": "user", "content": "status"}, {"role": "assistant", "content": [called]}]
    messages.append({"role": "tool", "content": [result]})
    assert ONE.reply(messages, Router().facts, NOW_S, True) == []


def test_first_falls_to_the_model_when_the_provider_cannot_run():
    assert len(asked("turn off the wifi", Broken())[1]) == 1


def test_other_settings_ask_the_model_at_once():
    assert len(asked("turn off the wifi", Broken(), first=False)[1]) == 1


def test_never_leaves_the_built_in_service_out():
    assert allowed([SERVICE, OFFLINE_SERVICE], "never") == [SERVICE]
    assert allowed([SERVICE, OFFLINE_SERVICE], "fallback") == [SERVICE, OFFLINE_SERVICE]
    with pytest.raises(SettingsError, match="never"):
        allowed([OFFLINE_SERVICE], "never")


class Counting(Offline):
    def __init__(self):
        self.requests = 0

    def reply(self, *asked):
        self.requests += 1
        return super().reply(*asked)


def closing(result, is_error=False):
    """Return what is said after a change was asked for and ended so, how often the provider was asked, what it says."""
    offline, events = Counting(), []
    asking = make(Models([]), Pace(True))
    asking.offline, asking.facts = offline, Router(HOME).facts
    ask = Asker(asking, "c", lambda *_, **__: None, lambda: False).ask
    messages = [{"role": "user", "content": "call this router attic"}]
    ask(OFFLINE_SERVICE, messages, [], events.append)
    call = next(event for event in events if event["type"] == "tool_use")
    text = {"type": "text", "text": jsonl.dumps({"summary": call["input"]["summary"], **result})}
    told = {"type": "tool_result", "tool_use_id": call["id"], "name": "configure", "content": [text]}
    messages.append({"role": "assistant", "content": [call]})
    messages.append({"role": "tool", "content": [{**told, "is_error": True} if is_error else told]})
    events.clear()
    ask(OFFLINE_SERVICE, messages, [], events.append)
    return events, offline.requests, ONE.reply(messages, Router(HOME).facts, NOW_S)


def test_the_words_for_a_change_that_is_applied_came_with_it():
    events, requests, said = closing({"status": "applied"})
    assert (events, requests) == (said, 1) and "attic" in events[0]["text"]


@pytest.mark.parametrize(
    "result",
    [
        {"status": "waiting_confirm", "confirm_in_s": 90},
        {"status": "applied", "until": "22:00"},
        {"status": "applied", "summary": "something else"},
        {"status": "declined", "reason": "not today"},
    ],
)
def test_the_words_for_any_other_end_are_asked_for(result):
    events, requests, said = closing(result)
    assert (events, requests) == (said, 2)


def test_the_words_for_an_error_are_asked_for():
    events, requests, said = closing({"error": {"code": "policy", "message": "no"}}, is_error=True)
    assert (events, requests) == (said, 2)
