"""What stands between a turn and a worker: the pace, and what a service said of itself."""

import traceback
from types import SimpleNamespace

import pytest

from oasis.agent.client import Asker, Asking, Failover
from oasis.agent.context import newest
from oasis.agent.turn import Turn
from oasis.core.store import Store
from oasis.errors import ProviderError
from oasis.llm import workers
from oasis.system.clock import Wait
from oasis.system.files import Files
from oasis.system.rate_limit import KEPT_S, SHORT, Patience


class Settings:
    def request(self, service):
        return {"vendor": service["vendor"], "key": "", "options": {"stream": True}}


class Redactor:
    def hide(self, value, chat=""):
        return value


class Pace:
    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def wait(self, name, per_s, burst, is_cancelled):
        self.asked.append((name, per_s, burst))
        return self.answer


class Hiding(Redactor):
    def hide(self, value, chat=""):
        return value.replace("s3cret", "***") if isinstance(value, str) else value


class Models:
    """Answers each request with the next of some lists of events."""

    def __init__(self, *scripts):
        self.scripts = list(scripts)
        self.requests = []

    def chat(self, request, on_event, is_cancelled):
        self.requests.append(request)
        for event in self.scripts.pop(0):
            on_event(event)

    def embed(self, request, texts, is_cancelled):
        self.requests.append({**request, "texts": texts})
        return [[float(len(text))] for text in texts]


SERVICE = {
    "identifier": "home", "vendor": "ollama", "profile": "ollama", "base_url": "http://h", "model": "m",
    "tool_mode": "auto", "pace": {"per_s": 2, "burst": 3},
}  # fmt: skip
DONE = {"type": "done", "stop_reason": "end_turn", "model": "m"}
MESSAGES = [{"role": "system", "content": "s"}, {"role": "user", "content": "hi"}]


def ask(asking, service=SERVICE):
    """Return (events, notes) of one request."""
    events, notes = [], []
    asker = Asker(asking, "c", lambda kind, text: notes.append(text), lambda: False)
    asker.ask(service, MESSAGES, [], events.append)
    return events, notes


def sleepless(_):
    raise AssertionError("nobody waits for a clock that is set")


def record(models, redactor):
    """Return the services of a daemon, as far as asking needs them."""
    unused = SimpleNamespace(blobs=None, unix_s=lambda: 0, now_s=None)
    return SimpleNamespace(
        settings=Settings(), models=models, offline=None, facts=None, redactor=redactor, chats=unused, clock=unused
    )


def make(models, pace, patience=None, clock=None):
    patience, clock = patience or Patience(float, int), clock or Wait(lambda: True, sleepless)
    return Asking(record(models, Redactor()), pace, patience, clock)


def test_every_request_keeps_the_pace_of_its_service():
    pace, models = Pace(True), Models([DONE], [DONE])
    asking = make(models, pace)
    assert ask(asking) == ([DONE], [])
    assert len(models.requests) == 1 and pace.asked == [("home", 2, 3)]


def test_a_request_that_is_cancelled_while_it_waits_is_never_made():
    models = Models()
    ((event,), _) = ask(make(models, Pace(False)))
    assert event["error"]["code"] == "cancelled" and models.requests == []


def test_what_a_service_refuses_is_remembered_for_it_and_its_model_alone():
    refused = {"type": "refused", "text": "m does not take seed: it is left out from now on", "parameter": "seed"}
    models = Models([refused, DONE], [DONE], [DONE])
    asking = make(models, Pace(True))
    assert ask(asking) == ([DONE], [refused["text"]])
    ask(asking)
    ask(asking, {**SERVICE, "model": "other"})
    assert [request["options"].get("without") for request in models.requests] == [None, ["seed"], None]


def unreached(code="unreachable"):
    return {"type": "error", "error": {"code": code, "message": "no", "hint": "", "retryable": True}}


def patience_of(models):
    return [{key: request["options"].get(key) for key in SHORT} for request in models.requests]


def test_a_service_that_was_not_reached_gets_one_short_try_until_it_is_there_again():
    clock, models = [0.0], Models([unreached()], [unreached("dns")], [DONE], [DONE])
    asking = make(models, Pace(True), Patience(lambda: clock[0], lambda: None))
    for _ in range(4):
        ask(asking)
        clock[0] += KEPT_S - 1
    whole = dict.fromkeys(SHORT)
    assert patience_of(models) == [whole, SHORT, SHORT, whole]


@pytest.mark.parametrize("code", ["rate_limit", "authentication", "clock"])
def test_a_service_that_said_no_was_reached(code):
    models = Models([unreached(code)], [DONE])
    asking = make(models, Pace(True))
    ask(asking), ask(asking)
    assert patience_of(models)[1] == dict.fromkeys(SHORT)


def test_patience_comes_back_with_time_and_with_an_interface_that_came_up():
    clock, online = [0.0], [None]
    models = Models(*[[unreached()]] * 4)
    asking = make(models, Pace(True), Patience(lambda: clock[0], lambda: online[0]))
    ask(asking)
    clock[0] += KEPT_S + 1
    ask(asking)
    online[0] = b"12.3 4.5"
    ask(asking)
    ask(asking, {**SERVICE, "identifier": "other"})
    assert patience_of(models) == [dict.fromkeys(SHORT)] * 4


def test_a_wait_that_the_owner_made_shorter_stays():
    patience = Patience(float, int)
    patience.hear("home", unreached())
    assert patience.options("home", {"connect_s": 2, "retries": 5, "seed": 1}) == {
        "connect_s": 2, "retries": 0, "seed": 1,
    }  # fmt: skip


WAITING = "the clock of this router is not set yet: waiting for it"


def test_a_certificate_of_the_future_waits_for_the_clock_and_is_tried_once_more():
    slept = []
    models = Models([unreached("clock")], [DONE])
    clock = Wait(lambda: len(slept) > 3, slept.append)
    assert ask(make(models, Pace(True), clock=clock)) == ([DONE], [WAITING])
    assert len(models.requests) == 2 and models.requests[0] == models.requests[1] and 0 < sum(slept) < 5


def test_a_clock_that_nobody_sets_is_told_in_the_end():
    slept = []
    models = Models([unreached("clock")])
    (event,), notes = ask(make(models, Pace(True), clock=Wait(lambda: False, slept.append)))
    assert event["error"]["code"] == "clock" and notes == [WAITING] and 10 < sum(slept) < 60


def test_a_clock_that_is_set_waits_for_nothing():
    models = Models([unreached("clock")])
    (event,), notes = ask(make(models, Pace(True)))
    assert event["error"]["code"] == "clock" and notes == []


def test_whoever_stops_waits_for_no_clock():
    models, answers = Models([unreached("clock")]), iter([False, False, True])
    asking = make(models, Pace(True), clock=Wait(lambda: False, lambda _: None))
    events = []
    asker = Asker(asking, "c", lambda kind, text: None, lambda: next(answers, True))
    asker.ask(SERVICE, MESSAGES, [], events.append)
    assert [event["error"]["code"] for event in events] == ["clock"]


def test_a_retry_is_a_note_and_no_part_of_the_answer():
    retry = {"type": "retry", "text": "it is busy; asking again in 0.5 s", "wait_s": 0.5}
    assert ask(make(Models([retry, DONE]), Pace(True))) == ([DONE], [retry["text"]])


def test_texts_to_embed_keep_the_pace_and_hold_no_secret():
    models, pace = Models(), Pace(True)
    asking = Asking(record(models, Hiding()), pace, Patience(float, int), Wait(lambda: True, sleepless))
    assert asking.embed(SERVICE, "", ["wifi s3cret", "ab"], lambda: False) == [[8.0], [2.0]]
    assert models.requests[0]["texts"] == ["wifi ***", "ab"] and pace.asked == [("home", 2, 3)]


def test_embedding_that_is_cancelled_while_it_waits_is_never_asked_for():
    models = Models()
    with pytest.raises(ProviderError, match="cancelled"):
        make(models, Pace(False)).embed(SERVICE, "", ["a"], lambda: True)
    assert models.requests == []


class Frames:
    """Whoever hears a piece of an answer: keeps the functions of ours between the worker's event and the collector."""

    def __init__(self):
        self.names = []

    def hear(self, kind, **_):
        if kind == "delta":
            stack = [frame.name for frame in traceback.extract_stack() if "/oasis/" in frame.filename]
            self.names = stack[stack.index("chat") + 1 :]


def test_from_an_event_of_a_worker_to_the_collector_are_few_steps(tmp_path):
    frames = Frames()
    usage = SimpleNamespace(check=lambda service: "", add=lambda *_: None)

    class Metered(workers.Models):
        def _pool_of(self, op):
            pieces = ({"type": "delta", "text": "hi"}, DONE)
            return SimpleNamespace(ask=lambda request, on_event, *_: [on_event(event) for event in pieces])

    metered = Metered(1, 1, "", lambda: None, lambda: usage)
    asking = make(SimpleNamespace(chat=metered.chat), Pace(True))
    asker = Asker(asking, "c", frames.hear, lambda: False)
    service = {**SERVICE, "context_tokens": 0, "options": {}}
    failover = Failover([service], asker.ask, frames.hear, newest, asking.windows)
    chat = Store(Files(), str(tmp_path / "chats"), lambda: "9m4e2mr0ui3e8a215n4g").create()
    chat.add({"id": "0" * 25, "role": "user", "content": "hello"})
    ids = iter("%025d" % number for number in range(1, 9))
    run = SimpleNamespace(emit=frames.hear, is_cancelled=lambda: False)
    assert Turn(chat, failover, None, {"tools": [], "system": "s"}, run, lambda: next(ids)).run() == "done"
    after = frames.names[frames.names.index("hear") :]
    assert after[-1] == "take" and len(after) <= 8, after
