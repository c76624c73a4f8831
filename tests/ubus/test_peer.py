"""Our objects on a bus, the stand-in and the real ubusd: called, flooded, left alone, and there again after it ends."""

import array
import gc
import os
import socket
import threading
import time
import types

import pytest

from oasis.errors import ToolError
from oasis.ubus import message, outgoing
from oasis.ubus.incoming import ARGUMENT_BYTES, Call, Calls, Pending
from oasis.ubus.message import REPLY_BYTES, decode, encode
from oasis.ubus.outgoing import opener
from oasis.ubus.peer import Peer
from tests.router import busd
from tests.ubus.buskit import OBJECTS, Answers, Caller, ask, going, make_bus, make_peer, until

KINDS = {"text": 3, "int": 5, "bool": 7, "list": 1, "table": 2, "number": 8}


@pytest.fixture(params=["stand-in", "real"])
def bus(request, tmp_path):
    one = make_bus(request.param, str(tmp_path / "bus"))
    one.start()
    yield one
    one.kill()


@pytest.fixture
def peers():
    """Make peers that are stopped with the test."""
    made = []

    def make(bus, answers=None, objects=OBJECTS, **more):
        made.append(make_peer(bus.path, answers or Answers(), objects, **more))
        return made[-1]

    yield make
    for peer in made:
        peer.stop()


@pytest.fixture
def callers():
    made = []

    def make(bus):
        made.append(Caller(bus.path))
        return made[-1]

    yield make
    for caller in made:
        caller.close()


def listed(caller):
    """Return what a lookup of everything finds: {path: signature}."""
    caller.say(message.LOOKUP, 7, 0, b"")
    found = {}
    while True:
        kind, _, _, content = message.receive(caller.connection)
        if kind == message.STATUS:
            return found
        words = busd.parse(content)
        found[busd.text(words[busd.OF_PATH])] = decode(words[busd.OF_SIGNATURE])


def test_objects_are_listed_with_the_types_of_their_arguments(bus, peers, callers):
    peer = peers(bus)
    wanted = {
        name: {method: {key: KINDS[kind] for key, kind in words.items()} for method, words in methods.items()}
        for name, methods in OBJECTS.items()
    }
    assert listed(callers(bus)) == wanted
    assert peer.taken() == {}


def test_a_call_is_answered_and_tells_who_calls(bus, peers):
    answers = Answers()
    peers(bus, answers)
    values = {"message": "ä\n", "count": -7, "is_new": True, "parts": [1, "x", {"k": []}], "more": {"n": 1 << 40}}
    assert ask(bus.path, "oasis.run", "start", values) == {"got": values}
    (call,) = answers.calls
    assert (call.object, call.method, call.arguments) == ("oasis.run", "start", values)
    assert (call.user, call.group) == (busd.pwd.getpwuid(os.getuid()).pw_name, busd.grp.getgrgid(os.getgid()).gr_name)
    assert call.client > 1


def test_who_calls_is_never_what_the_caller_says(bus, peers, callers):
    answers = Answers()
    peers(bus, answers)
    caller = callers(bus)
    number = caller.number_of("oasis")
    caller.invoke(2, number, "info", user="somebody", group="others")
    assert caller.reply(2) == (0, [{"got": {}}])
    (call,) = answers.calls
    assert (call.user, call.client) == (busd.pwd.getpwuid(os.getuid()).pw_name, caller.number)
    assert call.group != "others"


def test_what_no_policy_names_and_wrong_types_reach_the_method_as_they_are(bus, peers):
    answers = Answers()
    peers(bus, answers)
    values = {"message": 5, "count": "x", "ubus_rpc_session": "0" * 32, "other": None, "f": 0.5}
    assert ask(bus.path, "oasis.run", "start", values) == {"got": values}


def test_types_of_replies_are_kept(bus, peers):
    reply = {
        "n": -5,
        "big": 1 << 40,
        "f": 1.5,
        "no": False,
        "none": None,
        "list": [],
        "table": {},
        "deep": [[{"a": [1]}]],
    }
    peers(bus, Answers(info=lambda call: reply))
    assert ask(bus.path, "oasis", "info") == reply


def test_what_is_not_there_has_the_status_that_libubus_gives(bus, peers, callers):
    answers = Answers()
    peers(bus, answers)
    caller = callers(bus)
    number = caller.number_of("oasis")
    caller.invoke(2, number, "nope")
    assert caller.reply(2) == (message.NO_METHOD, [])
    caller.invoke(3, number, "info", None)
    assert caller.reply(3) == (message.INVALID_ARGUMENT, [])
    caller.invoke(4, number, "info", b"\x83\0\0\x08\xff\xff\0\0")
    assert caller.reply(4) == (message.INVALID_ARGUMENT, [])
    caller.invoke(5, number ^ 1, "info")
    assert caller.reply(5) == (message.NOT_FOUND, [])
    caller.invoke(6, number, "info")
    assert caller.reply(6) == (0, [{"got": {}}])
    assert len(answers.calls) == 1 and answers.told == []


def test_a_fault_is_a_status_and_a_line_that_says_where_and_the_next_call_is_answered(bus, peers):
    answers = Answers(start=lambda call: {}["secret"])
    peers(bus, answers)
    with pytest.raises(outgoing.Failed) as caught:
        ask(bus.path, "oasis.run", "start")
    assert caught.value.status == message.UNKNOWN_ERROR
    assert len(answers.told) == 1 and "oasis.run start failed: KeyError" in answers.told[0]
    assert "test_peer.py:" in answers.told[0]
    assert ask(bus.path, "oasis", "info") == {"got": {}}


@pytest.mark.parametrize("reply, code, words", [
    ({"t": "x" * REPLY_BYTES}, "too_large", "the reply of oasis info has 262156 bytes"),
    ({"t": b"x"}, "tool", "the reply of oasis info: the bus takes no bytes"),
    ({"t": float("nan")}, "tool", "takes no nan"),
])  # fmt: skip
def test_a_reply_that_the_bus_does_not_take_is_an_error(bus, peers, reply, code, words):
    peers(bus, Answers(info=lambda call: reply))
    error = ask(bus.path, "oasis", "info")["error"]
    assert error["code"] == code and words in error["message"]


def test_a_reply_of_the_allowed_size_goes(bus, peers):
    text = "x" * (REPLY_BYTES - 16)
    peers(bus, Answers(info=lambda call: {"t": text}))
    assert ask(bus.path, "oasis", "info") == {"t": text}


def test_specs_of_nearly_a_megabyte_are_taken_and_larger_ones_end_only_their_caller(bus, peers):
    peers(bus, Answers(start=lambda call: {"size": len(call.arguments["message"])}))
    assert ask(bus.path, "oasis.run", "start", {"message": "x" * 900_000}) == {"size": 900_000}
    with pytest.raises((ToolError, OSError)):
        ask(bus.path, "oasis.run", "start", {"message": "x" * (1 << 20)})
    assert ask(bus.path, "oasis", "info") == {"got": {}}


def test_a_later_call_may_be_answered_first(bus, peers, callers):
    gate = threading.Event()
    peers(bus, Answers(poll=lambda call: {"late": gate.wait(20)}))
    caller = callers(bus)
    number = caller.number_of("oasis.run")
    caller.invoke(2, number, "poll")
    caller.invoke(3, number, "start")
    assert caller.reply(3) == (0, [{"got": {}}])
    gate.set()
    assert caller.reply(2) == (0, [{"late": True}])


class Crowd:
    """A method that waits for a gate, and knows how many waited at once."""

    def __init__(self):
        self.gate = threading.Event()
        self.lock = threading.Lock()
        self.inside = self.most = 0

    def __call__(self, call):
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.gate.wait(30)
        with self.lock:
            self.inside -= 1
        return {"done": True}


def test_of_500_calls_at_once_so_many_are_answered_and_the_rest_is_told_at_once(bus, peers, callers):
    crowd = Crowd()
    peers(bus, Answers(poll=crowd), waiters=8)
    before = threading.active_count()
    them = [callers(bus) for _ in range(20)]
    number = them[0].number_of("oasis.run")
    for caller in them:
        for sequence in range(1, 26):
            caller.invoke(sequence, number, "poll")
    replies = []
    for place, caller in enumerate(them):
        # The first eight calls are waiting; all others, and whatever is called meanwhile, are answered.
        for sequence in range(9 if place == 0 else 1, 26):
            replies.append(caller.reply(sequence))
    assert len(replies) == 492 and {status for status, _ in replies} == {0}
    assert {data[0]["error"]["code"] for _, data in replies} == {"busy"}
    assert threading.active_count() <= before + 8 and crowd.most == 8
    crowd.gate.set()
    until(lambda: crowd.inside == 0)
    until(lambda: ask(bus.path, "oasis.run", "poll").get("done"))


def test_callers_in_parallel_are_all_answered(bus, peers):
    peers(bus, Answers(), waiters=64)
    wrong = []

    def some(place):
        for turn in range(10):
            values = {"count": place * 1000 + turn}
            if ask(bus.path, "oasis.run", "start", values) != {"got": values}:
                wrong.append(values)

    threads = [threading.Thread(target=some, args=(place,)) for place in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []


def test_specs_of_all_calls_together_have_an_end(bus, peers, callers):
    crowd = Crowd()
    peers(bus, Answers(start=crowd))
    caller = callers(bus)
    number = caller.number_of("oasis.run")
    many = ARGUMENT_BYTES // 900_000 + 1
    for sequence in range(2, 2 + many):
        caller.invoke(sequence, number, "start", encode({"message": "x" * 900_000}))
        # ubusd drops what we have not read when more than a megabyte of it waits.
        until(lambda sequence=sequence: crowd.inside == min(sequence - 1, many - 1))
    status, data = caller.reply(1 + many)
    assert (status, data[0]["error"]["code"]) == (0, "busy")
    assert ask(bus.path, "oasis", "info") == {"got": {}}
    crowd.gate.set()
    until(lambda: crowd.inside == 0)
    assert ask(bus.path, "oasis.run", "start", {"message": "x" * 900_000}) == {"done": True}


def test_a_caller_that_goes_away_takes_nobody_with_it(bus, peers, callers):
    crowd, answers = Crowd(), Answers()
    answers.ways["poll"] = crowd
    peers(bus, answers, waiters=3)
    for count in range(3):
        caller = Caller(bus.path)
        caller.invoke(2, caller.number_of("oasis.run"), "poll")
        until(lambda count=count: len(answers.calls) > count)
        caller.close()
    assert ask(bus.path, "oasis", "info")["error"]["code"] == "busy"
    crowd.gate.set()
    until(lambda: crowd.inside == 0)
    until(lambda: "got" in ask(bus.path, "oasis", "info"))
    assert answers.told == []


def test_stopping_answers_what_waits_and_takes_the_objects_away(bus, peers, callers):
    gate = threading.Event()
    peer = peers(bus, Answers(poll=lambda call: {"late": gate.wait(20)}))
    caller = callers(bus)
    caller.invoke(2, caller.number_of("oasis.run"), "poll")
    until(lambda: going(peer))
    began = time.monotonic()
    peer.stop()
    assert time.monotonic() - began < 2
    assert caller.reply(2)[1][0]["error"]["code"] == "stopping"
    assert until(lambda: listed(caller) == {})
    gate.set()
    assert not peer._thread.is_alive()


def test_stopping_lets_a_short_answer_end(bus, peers, callers):
    peer = peers(bus, Answers(poll=lambda call: time.sleep(0.2) or {"done": True}))
    caller = callers(bus)
    caller.invoke(2, caller.number_of("oasis.run"), "poll")
    until(lambda: going(peer))
    peer.stop()
    assert caller.reply(2) == (0, [{"done": True}])


def test_a_bus_that_is_killed_and_started_again_has_the_objects_again(bus, peers, callers):
    crowd, answers = Crowd(), Answers()
    answers.ways["poll"] = crowd
    peer = peers(bus, answers)
    caller = callers(bus)
    caller.invoke(2, caller.number_of("oasis.run"), "poll")
    until(lambda: crowd.inside)
    for _ in range(2):
        bus.kill()
        until(peer.reason)
        bus.start()
        until(lambda: not peer.reason())
        assert ask(bus.path, "oasis.run", "start", {"count": 3}) == {"got": {"count": 3}}
        assert set(listed(callers(bus))) == set(OBJECTS)
    crowd.gate.set()  # its caller belonged to the bus that has gone
    until(lambda: crowd.inside == 0)
    assert ask(bus.path, "oasis", "info") == {"got": {}}
    assert [text.split(":")[0] for text in answers.told] == ["not on the bus", "on the bus again"] * 2


def test_a_bus_that_comes_late_is_found_and_its_absence_told_once(tmp_path):
    bus = make_bus("stand-in", str(tmp_path / "bus"))
    answers = Answers()
    peer = Peer(opener(bus.path), OBJECTS, answers, answers.told.append)
    assert peer.reason()
    peer.start()
    try:
        until(lambda: answers.told)
        time.sleep(0.4)
        bus.start()
        until(lambda: not peer.reason())
        assert ask(bus.path, "oasis", "info") == {"got": {}}
        assert len(answers.told) == 2 and "No such file" in answers.told[0]
    finally:
        peer.stop()
        bus.kill()


def test_a_peer_without_a_bus_stops_at_once(tmp_path):
    answers = Answers()
    peer = Peer(opener(str(tmp_path / "none")), OBJECTS, answers, answers.told.append)
    peer.stop()
    peer = Peer(opener(str(tmp_path / "none")), OBJECTS, answers, answers.told.append)
    peer.start()
    until(lambda: answers.told)
    began = time.monotonic()
    peer.stop()
    assert time.monotonic() - began < 1 and not peer._thread.is_alive()


def test_a_name_that_is_taken_is_told_and_the_others_are_there(bus, peers):
    peers(bus, objects={"oasis": {"hers": {}}})
    answers = Answers()
    peer = peers(bus, answers)
    assert "another program" in until(lambda: peer.taken().get("oasis"))
    until(lambda: answers.told)
    assert answers.told[0].startswith("oasis is taken on the bus by another program, perhaps a plugin of rpcd (")
    assert set(peer.taken()) == {"oasis"}
    assert ask(bus.path, "oasis.run", "start") == {"got": {}}


def test_a_name_is_taken_when_its_owner_leaves(bus, peers):
    other, answers = peers(bus, objects={"oasis": {}}), Answers()
    peer = peers(bus, answers)
    until(lambda: answers.told)
    time.sleep(0.1)  # it listens by now
    other.stop()
    until(lambda: not peer.taken())
    assert ask(bus.path, "oasis", "info") == {"got": {}}
    assert answers.told[-1] == "oasis is on the bus now"


def subscribed(caller, name):
    """Subscribe to an object; return the number of the caller's own object."""
    target = caller.number_of(name)
    caller.say(message.ADD_OBJECT, 50, 0, b"")
    while True:
        kind, sequence, _, content = message.receive(caller.connection)
        if kind == message.DATA and sequence == 50:
            number = busd.number(busd.parse(content)[busd.OF_ID])
            break
    caller.say(message.SUBSCRIBE, 51, 0, busd.blob(id=number, target=target))
    assert caller.reply(51) == (0, [])
    return number, target


def test_subscribers_are_told_and_nothing_is_sent_when_there_are_none(bus, peers, callers):
    peer = peers(bus)
    peer.notify("oasis.run", "news", {"n": 0})
    caller = callers(bus)
    number, target = subscribed(caller, "oasis.run")
    until(lambda: peer._watched)
    peer.notify("oasis.run", "news", {"n": 1})
    kind, _, _, content = message.receive(caller.connection)
    words = busd.parse(content)
    assert (kind, busd.number(words[busd.OF_ID]), words[busd.OF_METHOD]) == (message.INVOKE, number, b"news\0")
    assert decode(words[busd.OF_DATA]) == {"n": 1} and words[busd.OF_NO_REPLY] == b"\1"
    caller.say(message.UNSUBSCRIBE, 52, 0, busd.blob(id=number, target=target))
    assert caller.reply(52) == (0, [])
    until(lambda: not peer._watched)
    peer.notify("oasis.run", "news", {"n": 2})
    peer.notify("nobody", "news", {})
    with pytest.raises(ToolError, match="takes no bytes"):
        peer._watched.add(peer._numbers["oasis"])
        peer.notify("oasis", "news", {"b": b""})
    with pytest.raises(ToolError, match="the event news of oasis has"):
        peer.notify("oasis", "news", {"b": "x" * REPLY_BYTES})
    assert ask(bus.path, "oasis", "info") == {"got": {}}


def test_what_others_tell_is_told_on_whenever_they_are_there(bus, peers, callers):
    got, answers = [], Answers()
    peer = peers(bus, answers)
    peer.subscribe("network", lambda event, data: got.append((event, data)))
    peer.subscribe("later", lambda event, data: got.append((event, data)))
    peer.listen("net.*", lambda event, data: got.append((event, data)))

    def tell(name, value):
        other = peers(bus, objects={name: {}})
        until(lambda: other._watched)
        other.notify(name, "up", {"n": value})
        until(lambda: ("up", {"n": value}) in got)
        other.stop()

    tell("network", 1)
    tell("later", 2)
    tell("network", 3)
    bus.kill()
    until(peer.reason)
    bus.start()
    until(lambda: not peer.reason())
    tell("network", 4)
    caller = callers(bus)
    caller.invoke(9, 1, "send", encode({"id": "net.up", "data": {"k": True}}))
    until(lambda: ("net.up", {"k": True}) in got)
    caller.invoke(10, 1, "send", encode({"id": "other", "data": {}}))
    assert caller.reply(10)[0] == 0
    assert [data.get("n") for _, data in got] == [1, 2, 3, 4, None], "each once, in order"


def test_what_is_wanted_before_there_is_a_connection_is_asked_for_over_the_first(bus, callers):
    answers, got = Answers(), []
    peer = Peer(opener(bus.path), OBJECTS, answers, answers.told.append)
    peer.listen("news", lambda event, data: got.append(event))
    peer.start()
    try:
        caller = callers(bus)
        until(lambda: caller.invoke(9, 1, "send", encode({"id": "news", "data": {}})) or time.sleep(0.05) or got)
    finally:
        peer.stop()


class Odd(bytes):
    """Arguments at which our own reader fails."""

    def __getitem__(self, place):
        raise IndexError("odd")


def test_a_fault_of_ours_in_reading_arguments_is_a_line_in_the_log():
    answers, sent = Answers(), []
    pending = Pending(Call("oasis", "info", {}), Odd(8), types.SimpleNamespace(send=sent.append), 1, 2, True)
    Calls(answers, answers.told.append, 1).begin(pending)
    until(lambda: sent)
    assert answers.told[0].startswith("oasis info failed: IndexError: odd") and not answers.calls
    assert busd.blob(status=message.UNKNOWN_ERROR) in sent[0]


def test_a_fault_in_what_is_told_is_a_line_and_no_end(bus, peers, callers):
    answers = Answers()
    peer = peers(bus, answers)
    peer.listen("news", lambda event, data: data["missing"])
    caller = callers(bus)
    until(lambda: caller.invoke(9, 1, "send", encode({"id": "news", "data": {}})) or time.sleep(0.05) or answers.told)
    assert "KeyError" in answers.told[0]
    assert ask(bus.path, "oasis", "info") == {"got": {}}


def test_descriptors_that_come_with_a_call_are_dropped(bus, peers, callers):
    peers(bus)
    caller = callers(bus)
    number = caller.number_of("oasis")
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for sequence in range(2, 12):
        words = busd.blob(id=number, method="info", data=b"")
        data = message.message(message.INVOKE, sequence, number, words)
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))]
        sock = socket.socket(fileno=os.dup(caller.connection.fileno()))
        sock.sendmsg([data], ancillary)
        sock.close()
        assert caller.reply(sequence) == (0, [{"got": {}}])
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_client_that_reads_nothing_holds_up_nobody(bus, peers, callers):
    peers(bus, Answers(start=lambda call: {"t": "x" * 250_000}), waiters=64)
    lazy = callers(bus)
    number = lazy.number_of("oasis.run")
    for sequence in range(2, 42):
        lazy.invoke(sequence, number, "start")
    until(lambda: ask(bus.path, "oasis", "info") == {"got": {}}, 10)


def test_a_peer_that_waits_costs_no_time(bus, peers):
    peer = peers(bus)
    ask(bus.path, "oasis", "info")
    path = "/proc/self/task/%d/status" % peer._thread.native_id

    def switches():
        with open(path, encoding="ascii") as lines:
            return [line for line in lines if "ctxt_switches" in line]

    time.sleep(0.3)
    before = switches()
    time.sleep(1.0)
    assert switches() == before


def test_stopping_leaves_no_thread_and_no_descriptor(bus):
    gc.collect()
    threads, files = threading.active_count(), len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        peer = make_peer(bus.path, Answers())
        assert ask(bus.path, "oasis", "info") == {"got": {}}
        peer.stop()
    until(lambda: threading.active_count() == threads)
    until(lambda: len(os.listdir("/proc/self/fd")) <= files)
