"""What tests of the bus share: a bus of either kind, a peer on it, callers that say exactly what they are told."""

import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest

from oasis.ubus import message, outgoing
from oasis.ubus.message import attributes, decode
from oasis.ubus.outgoing import opener
from oasis.ubus.peer import Peer
from tests.router import busd

WAIT_S = 20


def until(is_so, seconds=WAIT_S):
    """Wait until a condition holds, and return its value."""
    deadline = time.monotonic() + seconds
    while True:
        found = is_so()
        if found:
            return found
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


class RealBus:
    """The real ubusd, killed and started at will."""

    name = "real"

    def __init__(self, path):
        self.path = path
        self.process = None

    def start(self):
        self.process = subprocess.Popen(["ubusd", "-s", self.path])
        until(lambda: can_open(self.path))

    def kill(self):
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None


class StandInBus:
    """The tests' own, in a thread."""

    name = "stand-in"

    def __init__(self, path):
        self.path = path
        self.bus = None

    def start(self):
        self.bus = busd.Busd(self.path)
        self.bus.thread.start()

    def kill(self):
        if self.bus:
            self.bus.kill()
            self.bus = None


def can_open(path):
    try:
        opener(path)(1).close()
    except OSError:
        return False
    return True


def make_bus(kind, path):
    """Return a bus of a kind, not started; skips when the real one is not there."""
    if kind == "real" and not shutil.which("ubusd"):
        pytest.skip("NOT RUN: no real ubusd on PATH, the peer is tried with the stand-in alone")
    return {"real": RealBus, "stand-in": StandInBus}[kind](path)


class Answers:
    """What a peer answers: a function for each method, {"got": arguments} else; keeps calls and what was told."""

    def __init__(self, **ways):
        self.ways = ways
        self.calls = []
        self.told = []

    def __call__(self, call):
        self.calls.append(call)
        way = self.ways.get(call.method)
        return way(call) if way else {"got": call.arguments}


OBJECTS = {
    "oasis": {"info": {}},
    "oasis.run": {
        "start": {"message": "text", "count": "int", "is_new": "bool", "parts": "list", "more": "table"},
        "poll": {"run": "text", "since": "int", "wait_ms": "int"},
    },
}


def make_peer(path, answers, objects=OBJECTS, **more):
    """Return a peer that is started and has all its objects, or knows which it has not."""
    peer = Peer(opener(path), objects, answers, answers.told.append, **more)
    peer.start()
    until(lambda: not peer.reason())
    return peer


def going(peer):
    """Return the calls that a peer is answering."""
    return peer._calls._pending


def ask(path, name, method, arguments=None, timeout_s=WAIT_S):
    """Call over a connection of its own."""
    connection = opener(path)(timeout_s)
    try:
        return outgoing.invoke(connection, name, method, arguments or {})
    finally:
        connection.close()


class Caller:
    """A client that says what it is told; `reply(sequence)` returns (status, data of all replies)."""

    def __init__(self, path):
        self.connection = opener(path)(WAIT_S)
        _, _, self.number, _ = message.receive(self.connection)
        self.came = []

    def number_of(self, name):
        return outgoing.look_up(self.connection, name)

    def say(self, kind, sequence, peer, words):
        self.connection.sendall(message.message(kind, sequence, peer, words))

    def invoke(self, sequence, number, method, values=b"", **more):
        words = busd.blob(id=number, method=method, data=values, **more)
        self.say(message.INVOKE, sequence, number, words)

    def reply(self, sequence):
        data = []
        while True:
            kind, to, _, content = message.receive(self.connection)
            words = attributes(content)
            if to != sequence:
                continue
            if kind == message.STATUS:
                return message.number_of(words[message.OF_STATUS]), data
            data.append(decode(words.get(message.OF_DATA, b"")))

    def close(self):
        self.connection.close()


class Script:
    """The other end of a peer's connection, said by the test: `connect` is for the peer."""

    def __init__(self, hello=b"\0\0\0\0\0\0\4\xd2\0\0\0\4"):
        self.hello = hello
        self.ends = []
        self.came = threading.Semaphore(0)

    def connect(self, timeout_s):
        ours, theirs = socket.socketpair()
        ours.settimeout(timeout_s)
        theirs.settimeout(WAIT_S)
        theirs.sendall(self.hello)
        self.ends.append(theirs)
        self.came.release()
        return ours

    def next(self):
        """Return the test's end of the next connection that the peer opens."""
        assert self.came.acquire(timeout=WAIT_S)
        return self.ends[-1]

    def close(self):
        for end in self.ends:
            end.close()


def published(end, first=0x9B40C579):
    """Answer a fresh peer as ubusd does until all its objects are there; return {path: number}, and what it said."""
    found, said = {}, []
    while True:
        kind, sequence, _, content = message.receive(end)
        words = busd.parse(content)
        said.append((kind, sequence, content))
        if kind == message.LOOKUP and words[busd.OF_PATH] == b"\0":
            end.sendall(message.message(message.STATUS, sequence, 0, busd.blob(status=busd.BAD_ARGUMENT)))
            return found, said
        if kind == message.ADD_OBJECT:
            number = first + len(found)
            found[busd.text(words.get(busd.OF_PATH, b"\0"))] = number
            end.sendall(message.message(message.DATA, sequence, 0, busd.blob(id=number, type=1)))
        end.sendall(message.message(message.STATUS, sequence, 0, busd.blob(status=0)))
