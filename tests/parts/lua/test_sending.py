"""A whole exchange in one call: what is said when it takes long, when it fails, and when it is sent again."""

import json
import threading
import time
from types import SimpleNamespace

import pytest

from oasis.bus.calls import Waiters
from oasis.errors import UsageError
from oasis.parts.lua.manifest import BUS_METHODS
from oasis.parts.lua.phone import AGAIN_S, SEND_S, Phone, Sending, Story, arguments_of, commands_of, proposal
from oasis.ubus.message import REPLY_BYTES, encode

ROLE = {"name": "owner", "terminal": False, "session": "a" * 32}
OTHER = {**ROLE, "session": "b" * 32}
LOCAL = {"name": "owner", "terminal": False}
PLAN = {"id": "p1", "summary": "open port 80", "words": ["Port 80 is open"], "uci": ["uci set firewall.a.b=c"],
        "needs_approval": True}  # fmt: skip


class Methods:
    """The methods that a send calls, with runs whose events a test writes. A poll that waits moves the clock."""

    def __init__(self):
        self.now_s = 100.0
        self.runs = {}
        self.started = []
        self.waits = []

    def __call__(self, name, params, role):
        return getattr(self, name.replace(".", "_"))(**params)

    def topic_list(self):
        return {"topics": [{"key": "default"}, {"key": "wifi"}]}

    def chat_list(self):
        return {"item": [{"id": run["chat"], "title": "A title"} for run in self.runs.values()]}

    def run_start(self, message, chat, topic=""):
        if message == "busy":
            raise UsageError("chat c is being answered already")
        name = f"r{len(self.runs)}"
        self.started.append((message, chat, topic))
        self.runs[name] = {"chat": chat or f"c{len(self.runs)}", "state": "running", "events": []}
        return {"run": name, "chat": self.runs[name]["chat"]}

    def run_poll(self, run, since, wait_ms=0):
        if run not in self.runs:
            raise UsageError("there is no run")
        found = self.runs[run]
        events = found["events"][since:]
        if not events and found["state"] == "running":
            self.waits.append(wait_ms)
            self.now_s += wait_ms / 1000
        return {"state": found["state"], "events": events, "next": len(found["events"])}

    def say(self, *events, state="running", run="r0"):
        self.runs[run]["events"] += events
        self.runs[run]["state"] = state


@pytest.fixture
def methods():
    return Methods()


@pytest.fixture
def sending(methods):
    return Sending(methods, Waiters(), lambda: methods.now_s)


def delta(text):
    return {"type": "delta", "text": text}


MESSAGE = {"type": "message", "role": "assistant", "id": "m"}


def test_an_answer_that_takes_too_long_is_told_with_what_goes_on_and_the_id(methods, sending):
    began_s = methods.now_s
    reply = sending.send(ROLE, "", "wifi", "hello")
    assert methods.now_s - began_s <= SEND_S <= 25
    assert reply["id"] == "c0"
    assert reply["title"] == "A title"
    for word in ("still working", "c0", "approved"):
        assert word in reply["content"]
    assert max(methods.waits) <= 3000
    assert methods.started == [("hello", "", "wifi")]


def test_what_was_said_so_far_is_told_too(methods, sending):
    sending.send(ROLE, "", "", "hello")
    methods.say(delta("The first "), delta("half"))
    assert sending.send(ROLE, "", "", "hello")["content"].startswith("The first half\n\nI am still working")


def test_whoever_sends_again_joins_the_exchange_that_runs_however_long_it_takes(methods, sending):
    sending.send(ROLE, "", "", "hello")
    methods.now_s += 10 * AGAIN_S
    for role, chat in ((ROLE, ""), (OTHER, ""), (LOCAL, ""), (ROLE, "c0")):
        assert sending.send(role, chat, "", "hello")["id"] == "c0"
    assert len(methods.started) == 1
    methods.say(delta("Done"), MESSAGE, state="done")
    assert sending.send(ROLE, "c0", "", "hello")["content"] == "Done"
    assert len(methods.started) == 1


def test_another_message_or_another_chat_is_another_exchange(methods, sending):
    sending.send(ROLE, "", "", "hello")
    sending.send(ROLE, "", "", "hello!")
    sending.send(ROLE, "c9", "", "hello")
    assert [message for message, *_ in methods.started] == ["hello", "hello!", "hello"]


def ended(methods, sending, role=ROLE):
    methods.started.clear()
    sending.send(role, "", "", "hello")
    methods.say(delta("Done"), MESSAGE, state="done")
    return sending.send(role, "", "", "hello")


def test_an_answer_that_may_be_lost_is_given_again_for_a_while(methods, sending):
    assert ended(methods, sending)["content"] == "Done"
    methods.now_s += AGAIN_S - 1
    assert sending.send(OTHER, "", "", "hello")["content"] == "Done"
    methods.now_s += AGAIN_S + 1
    sending.send(OTHER, "", "", "hello")
    assert len(methods.started) == 2


def test_an_answer_that_arrived_is_not_given_again(methods, sending):
    ended(methods, sending)
    sending.heard("b" * 32)
    assert sending.send(ROLE, "", "", "hello")["content"] == "Done", "it was another session that called"
    sending.heard(ROLE["session"])
    sending.send(ROLE, "", "", "hello")
    assert len(methods.started) == 2


def test_without_the_web_no_answer_is_lost(methods, sending):
    ended(methods, sending, LOCAL)
    sending.send(LOCAL, "", "", "hello")
    assert len(methods.started) == 2


def test_a_run_that_is_forgotten_is_not_joined(methods, sending):
    ended(methods, sending)
    methods.now_s += AGAIN_S + 1
    methods.runs["r9"] = methods.runs.pop("r0")
    assert sending.send(ROLE, "", "", "hello")["id"] == "c1"


def test_what_is_remembered_stays_small(methods, sending):
    for number in range(100):
        methods.now_s += SEND_S
        sending.send(ROLE, "", "", f"hello {number}")
    assert len(sending._known) <= 16


def test_a_message_sent_at_the_same_time_is_started_once(methods):
    sending = Sending(methods, Waiters(), time.monotonic)
    slow = methods.run_start
    methods.run_start = lambda **values: (time.sleep(0.1), slow(**values))[1]
    methods.run_poll = lambda run, since, wait_ms=0: {"state": "done", "events": [delta("x")], "next": 1}
    work = [threading.Thread(target=sending.send, args=(ROLE, "", "", "hello")) for _ in range(8)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join(30)
    assert len(methods.started) == 1


def test_what_is_refused_is_raised_and_joins_nothing_later(methods, sending):
    with pytest.raises(UsageError):
        sending.send(ROLE, "c", "", "busy")
    assert sending._known == []


def test_more_waiters_than_there_may_be_are_answered_with_what_there_is(methods):
    waiters = Waiters(1)
    sending = Sending(methods, waiters, time.monotonic)
    begun = threading.Event()

    def run_poll(run, since, wait_ms=0):
        begun.set()
        time.sleep(min(wait_ms, 10) / 1000)
        return {"state": "running", "events": [], "next": 0}

    methods.run_poll = run_poll
    replies = []
    work = threading.Thread(target=lambda: replies.append(sending.send(ROLE, "", "", "hello")))
    work.start()
    assert begun.wait(10)
    waiters.enter()
    work.join(10)
    assert "still working" in replies[0]["content"]


# The story of a run


def told(*events, state="done", chat="c"):
    story = Story()
    story.take({"state": state, "events": list(events), "next": len(events)})
    return story.reply(chat)


def test_the_content_is_never_empty():
    for state in ("done", "cancelled", "error", "running", "waiting"):
        assert told(state=state)["content"].strip()


def test_blocks_of_text_are_paragraphs_and_tools_are_named():
    call = {"type": "tool_result", "tool_use_id": "t", "name": "status", "text": "x" * 9000, "is_error": False}
    reply = told(delta("Let me see."), MESSAGE, call, delta("All is well."), MESSAGE)
    assert reply["content"] == "Let me see.\n\nAll is well."
    output = {"tool_call_id": "t", "name": "status", "output": "x" * 500}
    assert json.loads(reply["tool_info"]) == {
        "service": "oasis", "tool_outputs": [output], "reboot": False, "shutdown": False,
    }  # fmt: skip
    assert "tool_info" not in told(delta("x"))


def test_a_reply_is_never_too_long_for_the_bus():
    call = {"type": "tool_result", "tool_use_id": "t", "name": "status", "text": "\u6c34" * 16000, "is_error": False}
    reply = told(*[call] * 80, delta("\u6c34" * 300_000), MESSAGE)
    assert len(encode(reply)) < REPLY_BYTES
    assert "the rest is in chat c" in reply["content"]


def test_a_reset_takes_the_place_of_what_was_dropped():
    assert told({"type": "reset", "text": "All of it"}, delta(" and more"))["content"] == "All of it and more"


def test_an_error_is_told_with_its_hint():
    error = {"type": "error", "error": {"code": "provider", "message": "no answer", "hint": "try again"}}
    assert told(delta("Half"), error, state="error")["content"] == "Half\n\nno answer\ntry again"


def test_what_a_tool_has_for_the_owner_alone_is_told():
    assert (
        told({"type": "note", "text": "| ssid |"}, delta("Here they are."))["content"] == "Here they are.\n\n| ssid |"
    )
    many = [{"type": "note", "text": "n" * 9000} for _ in range(100)]
    assert len(told(*many)["content"]) < 20_000


def test_a_plan_that_was_decided_waits_no_more():
    plan = {"type": "plan", "plan": PLAN}
    waiting = told(plan, state="waiting")
    assert "waits for your approval: open port 80" in waiting["content"]
    assert waiting["uci_parse_tbl"] == proposal(PLAN["uci"])
    decided = told(plan, {"type": "approval", "plan": "p1", "decision": "declined"}, delta("Well then."))
    assert decided["content"] == "Well then."
    assert "uci_parse_tbl" not in decided


def test_nothing_restarts_the_phone_s_router():
    assert (told()["reboot"], told()["shutdown"]) == (False, False)


# Upstream's forms


@pytest.mark.parametrize("param, found", [
    ("", {}), ("{}", {}), ('{"a": [1]}', {"a": [1]}), ("[1]", None),
    ("name:string:lan", {"name": "lan"}),
    ("name:string:lan,count:number:3;on:boolean:true", {"name": "lan", "count": 3, "on": True}),
    ("name:string:a b c count:integer:3", {"name": "a b c", "count": 3}),
    ("name:string:a, b", {"name": "a, b"}),
    ("url:string:http://x:80/ on:boolean:0", {"url": "http://x:80/", "on": False}),
    ("list:array:[1,2]", {"list": [1, 2]}),
    ("name:string:", {"name": ""}),
    ("lan", None), ("name=lan", None), ("n:number:x", None), ("{broken", None), ("n:text:x", None),
])  # fmt: skip
def test_specs_are_read_as_upstream_s_programs_write_them(param, found):
    if found is None:
        with pytest.raises(Exception) as caught:
            arguments_of(param)
        assert caught.type.__module__ == "oasis.errors"
    else:
        assert arguments_of(param) == found


def test_a_difference_is_told_as_commands():
    lines = [(" ", "config wifi-iface 'home'"), ("-", "\toption ssid 'Old'"), ("+", "\toption ssid 'New'"),
             ("-", "\toption key '(secret)'"), (" ", "\tlist x 'a'"), ("+", "\tlist x 'b'"), ("-", "\tlist x 'c'"),
             (" ", "…"), ("+", "config rule"), ("+", "\toption name 'A b'")]  # fmt: skip
    part = {"package": "wireless", "lines": [{"op": op, "text": text} for op, text in lines]}
    assert commands_of(part) == [
        "set wireless.home.ssid=New", "delete wireless.home.key", "add_list wireless.home.x=b",
        "del_list wireless.home.x=c", "set wireless.@rule.name=A b",
    ]  # fmt: skip


def test_a_send_whose_answer_failed_is_joined_and_not_begun_again(methods, sending):
    """On a router that is up for long: the time counts from the start of the turn."""
    methods.now_s = 5000.0
    poll, methods.run_poll = methods.run_poll, failing
    with pytest.raises(UsageError):
        sending.send(ROLE, "", "", "hello")
    methods.run_poll = poll
    methods.say(delta("Done"), MESSAGE, state="done")
    methods.now_s += 5
    assert sending.send(ROLE, "", "", "hello")["content"] == "Done"
    assert len(methods.started) == 1


def failing(**_):
    raise UsageError("the daemon is busy")


def test_a_tool_of_a_foreign_server_is_listed_whatever_its_schema_says():
    schema = {"properties": {"a": {"type": ["null", "integer"], "description": None}, "b": True, "c": {}}}
    starter = SimpleNamespace(registry=SimpleNamespace(specs=lambda: [{"name": "x.y", "input_schema": schema}]))
    row = {"name": "x.y", "source": "x", "enabled": True, "description": "d"}
    methods = SimpleNamespace(call=lambda name, params, role: {"tools": [row]})
    daemon = SimpleNamespace(turn_starter=lambda: starter, methods=methods)
    phone = Phone(daemon, None, time.monotonic, BUS_METHODS)
    assert phone.call("tool.edge.tool_list", {}, ROLE)["tools"]["x.y"]["property"] == ["a:integer:", "c:string:"]
