"""What the bus may send: values, messages and whole connections, changed at will (see targets.py)."""

import json
import math
import os
import time

from oasis.errors import ToolError
from oasis.ubus.message import DEEPEST, VALUES, attributes, decode, encode
from oasis.ubus.peer import Peer
from tests.oasisd import REPOSITORY

OBJECTS = {"oasis.golden": {"echo": {"s": "text", "i": "int"}, "later": {}}}
# How long an answer of ours, which does nothing, may take on a busy machine.
ANSWER_S = 10


def bus(data):
    """Values are read or refused, and what was read is written and read as the same; no connection ends the reader."""
    for read in (attributes, decode):
        try:
            found = read(data)
        except ToolError as error:
            assert error.message.startswith("the bus sent")
            continue
        if read is decode:
            assert _levels(found) <= DEEPEST + 2 and _count(found) <= VALUES
            if all(map(math.isfinite, _floats(found))):
                written = encode(found)
                assert encode(decode(written)) == written
    _connection(data)


def _connection(data):
    wire, told, calls = Fed(BEGINNING + data), [], []

    def answer(call):
        calls.append(call)
        return {"got": call.arguments}

    peer = Peer(lambda timeout_s: wire, OBJECTS, answer, told.append)
    peer.listen("x", lambda event, values: None)
    reason = peer._lived()
    assert reason == "the bus ended the connection" or reason.startswith("the bus sent a message of"), reason
    until_s = time.monotonic() + ANSWER_S
    while peer._calls is not None and peer._calls._pending:
        assert time.monotonic() < until_s, "an answer did not end"
        time.sleep(0)
    assert len(told) <= 1, told
    assert all(call.object in OBJECTS and call.method in OBJECTS[call.object] for call in calls)
    said = bytes(wire.said)
    while said:
        size = 8 + int.from_bytes(said[8:12], "big")
        assert said[0] == 0 and 12 <= size <= len(said) and size % 4 == 0, "what we say is messages"
        attributes(said[12:size])
        said = said[size:]


class Fed:
    """A connection that says what it was given and keeps what it is told; no thread and no socket."""

    def __init__(self, data):
        self.data = data
        self.said = bytearray()

    def settimeout(self, timeout_s):
        assert timeout_s is None

    def recv(self, size):
        part, self.data = self.data[:size], self.data[size:]
        return part

    def send(self, data, flags):
        self.said += data
        return len(data)

    def shutdown(self, how):
        self.data = b""

    def close(self):
        self.data = b""


def _levels(value):
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_levels, inside), default=0)


def _count(value):
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_count, inside))


def _floats(value):
    if isinstance(value, float):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _floats(one)


def _recorded():
    with open(os.path.join(REPOSITORY, "tests/ubus/bus_recorded.json"), encoding="utf-8") as handle:
        scenes = json.load(handle)["scenes"]
    return [bytes.fromhex(one) for scene in scenes.values() for _, one in scene["bytes"]]


# The bus says hello, and that the object of the recorded scene is there; our first request is for the listener.
BEGINNING = bytes.fromhex(
    "00000000 61f14ef8 00000004"
    "00020001 00000000 0000000c 03000008 a4fe6a41 00010001 00000000 0000000c 01000008 00000000"
    "00020002 00000000 00000014 03000008 9b40c579 05000008 1b1d53a9 00010002 00000000 0000000c 01000008 00000000"
)
SEEDS = [*_recorded(), *(one[12:] for one in _recorded()), encode({"a": [1, "x", {"k": None}], "f": 1.5, "n": 1 << 40})]
WORDS = [
    b"\0", b"\xff", b"\0\0\0\4", b"\0\0\0\x08", b"\0\xff\xff\xff", b"\x00\x05\0\1", b"\x00\x02\0\1", b"\x00\x01\0\2",
    b"\x00\x0a\0\1", b"\x03\0\0\x08\x9b\x40\xc5\x79", b"\x03\0\0\x08\xa4\xfe\x6a\x41", b"\x04\0\0\x09echo\0\0\0\0",
    b"\x07\0\0\4", b"\x82\0\0\x0c\0\1t\0", b"\x81\0\0\x0c\0\1a\0", b"\x0a\0\0\5\1\0\0\0", b"\x83\0\0\x0c\0\1s\0x\0\0\0",
]  # fmt: skip
