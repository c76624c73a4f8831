"""A peer whose bus is said by the test: the recorded bytes of a publishing client, and a bus that says anything."""

import contextlib
import socket
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oasis.ubus import message
from oasis.ubus.message import decode
from oasis.ubus.peer import Peer
from tests.fuzz.bus import Fed
from tests.router import busd
from tests.ubus.buskit import OBJECTS, Answers, Script, going, published, until
from tests.ubus.test_message import SCENES, messages

HELLO = b"\0\0\0\0\0\0\4\xd2\0\0\0\4"


@pytest.fixture
def scripted():
    """Start peers whose connections are the test's."""
    made = []

    def make(answers=None, objects=OBJECTS, hello=HELLO):
        script, answers = Script(hello), answers or Answers()
        peer = Peer(script.connect, objects, answers, answers.told.append)
        peer.start()
        made.append((peer, script))
        return peer, script, answers

    yield make
    for peer, script in made:
        script.close()
        peer.stop()


def invoke(sequence, number, method="info", client=0x1234, data=b"", **more):
    words = busd.blob(id=number, method=method, data=data, **more)
    return message.message(message.INVOKE, sequence, client, words)


def test_the_recorded_client_and_we_say_the_same_bytes(scripted):
    echo = {"s": "text", "i": "int", "b": "bool", "a": "list", "t": "table", "d": "number", "ubus_rpc_session": "text"}
    more = {"nul": None, "big": 5000000000, "neg": -7, "dbl": 0.25}
    answers = Answers(echo=lambda call: {**call.arguments, **more}, later=lambda call: {"late": True})
    peer, script, _ = scripted(answers, {"oasis.golden": {"echo": echo, "later": {}, "fail": {}}})
    end = script.next()
    numbers, said = published(end)
    theirs, calls = messages("publish", "client"), messages("publish", "bus")
    assert said[0] == (message.ADD_OBJECT, 1, theirs[0][3])
    assert numbers == {"oasis.golden": 0x9B40C579}
    assert theirs[0][0] == message.ADD_OBJECT and theirs[0][1] == 1
    for method, replies in ((b"echo\0", 2), (b"later\0", 2), (b"nomethod\0", 1)):
        wanted = next(one for one in calls if one[0] == message.INVOKE and busd.parse(one[3])[busd.OF_METHOD] == method)
        end.sendall(message.message(*wanted))
        found = [message.receive(end) for _ in range(replies)]
        assert found == [one for one in theirs if one[2] == wanted[2]], method
    call = answers.calls[0]
    assert (call.user, call.group, call.client) == ("root", "root", 0xEE743D16)
    active, inactive = [one for one in calls if one[0] == message.NOTIFY]
    end.sendall(message.message(*active))
    until(lambda: peer._watched)
    peer.notify("oasis.golden", "tick", {"n": 1})
    kind, _, number, content = message.receive(end)
    notice = next(one for one in theirs if one[0] == message.NOTIFY)
    assert (kind, number) == (message.NOTIFY, notice[2])
    assert content == notice[3] + busd.blob(no_reply=b"\1"), "nobody's answers are waited for"
    end.sendall(message.message(*inactive))
    until(lambda: not peer._watched)


def test_the_recorded_listener_and_we_ask_for_events_in_the_same_bytes(scripted):
    peer, script, _ = scripted()
    end = script.next()
    published(end)
    peer.listen("oasis.*", lambda event, data: None)
    theirs = [one for one in messages("listen", "client") if one[0] == message.INVOKE]
    kind, sequence, _, content = message.receive(end)
    assert (kind, content) == (message.ADD_OBJECT, b"")
    end.sendall(message.message(message.DATA, sequence, 0, busd.blob(id=0xA4FE6A41)))
    end.sendall(message.message(message.STATUS, sequence, 0, busd.blob(status=0)))
    kind, _, to, content = message.receive(end)
    assert [(kind, to, content)] == [(one[0], one[2], one[3]) for one in theirs]


def test_no_reply_is_given_where_none_is_wanted(scripted):
    _, script, answers = scripted()
    end = script.next()
    number = published(end)[0]["oasis"]
    end.sendall(invoke(1, number, no_reply=b"\1") + invoke(2, number, no_reply=b"\0"))
    assert {message.receive(end)[1] for _ in range(2)} == {2}
    until(lambda: len(answers.calls) == 2)


STRANGE = {
    "an unknown type": message.message(99, 1, 1, b""),
    "hello again": HELLO,
    "a status of nobody": message.message(message.STATUS, 77, 0, busd.blob(status=0)),
    "a status without one": message.message(message.STATUS, 1, 0, b""),
    "data of nobody": message.message(message.DATA, 78, 0, busd.blob(data=b"")),
    "a call of nothing": message.message(message.INVOKE, 5, 9, b""),
    "attributes that lie": message.message(message.INVOKE, 5, 9, b"\3\0\0\xff\0\0\0\0"),
    "an attribute of no size": message.message(message.INVOKE, 5, 9, b"\3\0\0\0" * 4),
    "a number of one byte": message.message(message.INVOKE, 5, 9, b"\3\0\0\5\1\0\0\0"),
    "a method that is no text": message.message(message.INVOKE, 5, 9, busd.blob(method=b"\xff\xfe")),
    "an empty notice": message.message(message.NOTIFY, 5, 9, b""),
    "a notice for nobody": message.message(message.NOTIFY, 5, 9, busd.blob(id=5, active=b"\1")),
    "a notice of no byte": message.message(message.NOTIFY, 5, 9, busd.blob(id=5, active=b"")),
    "an end of nothing": message.message(message.UNSUBSCRIBE, 5, 9, busd.blob(id=5, target=6)),
    "a megabyte": message.message(message.DATA, 5, 9, bytes((1 << 20) - 4)),
    "the monitor's": message.message(11, 5, 9, b"\0\0\0\4"),
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_message_is_passed_over(scripted, name):
    _, script, answers = scripted()
    end = script.next()
    number = published(end)[0]["oasis"]
    end.sendall(STRANGE[name] * 3 + invoke(9, number))
    while True:
        kind, sequence, _, content = message.receive(end)
        if sequence == 9:
            break
        assert kind == message.STATUS and busd.parse(content)[busd.OF_STATUS] == b"\0\0\0\4"
    assert (kind, decode(busd.parse(content)[busd.OF_DATA])) == (message.DATA, {"got": {}})
    assert len(answers.told) <= 1, "a bus that is mad does not fill the log"


@pytest.mark.parametrize("said", [
    b"\0\1\0\1\0\0\0\0\0\0\0\3", b"\0\1\0\1\0\0\0\0\0\xff\xff\xff", b"\1\1\0\1\0\0\0\0\0\0\0\4",
    b"GET / HTTP/1.0\r\n\r\n", b"\0\1\0\1\0\0\0\0\0\x10\0\4",
])  # fmt: skip
def test_what_is_no_message_ends_the_connection_and_the_next_one_works(scripted, said):
    peer, script, answers = scripted()
    end = script.next()
    published(end)
    until(lambda: not peer.reason())
    end.sendall(said)
    again = script.next()
    with contextlib.suppress(ConnectionResetError):
        assert end.recv(1000) == b""
    number = published(again)[0]["oasis"]
    again.sendall(invoke(9, number))
    assert message.receive(again)[:2] == (message.DATA, 9)
    until(lambda: len(answers.told) == 2)
    assert "the bus sent a message of" in answers.told[0]


@pytest.mark.parametrize("hello", [b"", b"\0" * 4, b"\0\1" + bytes(9) + b"\4", bytes(11) + b"\3", b"x" * 12])
def test_whoever_does_not_say_hello_is_tried_again(scripted, hello):
    peer, script, answers = scripted(hello=hello)
    first = script.next()
    if len(hello) < 12:
        first.close()
    until(lambda: answers.told)
    script.hello = HELLO
    while True:
        script.next()
        try:
            published(script.ends[-1])
            break
        except Exception:
            continue
    until(lambda: not peer.reason())
    assert len([text for text in answers.told if "trying again" in text]) == 1


def test_a_bus_that_says_hello_and_leaves_is_not_asked_without_a_pause(scripted):
    _, script, answers = scripted()
    began = time.monotonic()
    for _ in range(4):
        script.next().close()
    assert time.monotonic() - began > 0.1 + 0.2 + 0.4 - 0.05
    assert len(answers.told) == 1


def test_a_bus_that_reads_nothing_holds_an_answer_up_for_seconds_and_no_longer(scripted):
    reply = {"t": "x" * 250_000}
    peer, script, answers = scripted(Answers(info=lambda call: reply))
    end = script.next()
    number = published(end)[0]["oasis"]
    for sequence in range(1, 12):
        end.sendall(invoke(sequence, number))
    began = time.monotonic()
    again = script.next()
    assert time.monotonic() - began < 8
    until(lambda: not going(peer))
    assert published(again)[0] == {"oasis": 0x9B40C579, "oasis.run": 0x9B40C57A}
    assert "does not read" in answers.told[0] or "ended the connection" in answers.told[0]


def test_stopping_a_peer_whose_bus_does_nothing_takes_no_longer(scripted):
    gate = threading.Event()
    peer, script, _ = scripted(Answers(info=lambda call: {"late": gate.wait(10)}))
    end = script.next()
    end.sendall(invoke(1, published(end)[0]["oasis"]))
    until(lambda: going(peer))
    began = time.monotonic()
    peer.stop()
    assert time.monotonic() - began < 2.2
    gate.set()


def test_a_fault_of_ours_while_connecting_is_told_and_tried_again():
    answers, script, faults = Answers(), Script(), [KeyError("x")]

    def connect(timeout_s):
        if faults:
            raise faults.pop()
        return script.connect(timeout_s)

    peer = Peer(connect, OBJECTS, answers, answers.told.append)
    peer.start()
    try:
        assert set(published(script.next())[0]) == set(OBJECTS)
        assert "KeyError" in answers.told[0]
    finally:
        script.close()
        peer.stop()


def test_an_answer_for_a_connection_that_has_ended_is_not_sent_over_the_next(scripted):
    gate = threading.Event()
    peer, script, _ = scripted(Answers(info=lambda call: {"late": gate.wait(10)}))
    end = script.next()
    end.sendall(invoke(1, published(end)[0]["oasis"]))
    until(lambda: going(peer))
    end.close()
    again = script.next()
    published(again)
    gate.set()
    until(lambda: not going(peer))
    again.settimeout(0.2)
    with pytest.raises(socket.timeout):
        again.recv(1)


RECORDED = [bytes.fromhex(one) for who, one in SCENES["publish"]["bytes"] if who == "bus"]
PIECES = [*RECORDED, *STRANGE.values(), b"\0", b"\5", b"\xff\xff", b"\0\0\0\4", b"\3\0\0\x08\x9b\x40\xc5\x79"]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=30), max_size=8))
def test_whatever_a_bus_says_the_reader_ends_with_a_reason_and_what_it_said_is_messages(pieces):
    wire, told = Fed(RECORDED[0] + RECORDED[1] + b"".join(pieces)), []
    peer = Peer(lambda timeout_s: wire, {"oasis.golden": {"echo": {}}}, lambda call: {}, told.append)
    reason = peer._lived()
    assert reason == "the bus ended the connection" or reason.startswith("the bus sent a message of")
    until(lambda: not going(peer))
    assert wire.data == b"" and len(told) <= 1
    said = bytes(wire.said)
    while said:
        size = 8 + int.from_bytes(said[8:12], "big")
        assert said[0] == 0 and 12 <= size <= len(said) and size % 4 == 0
        said = said[size:]
