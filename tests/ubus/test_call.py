"""The bus's protocol: what is sent byte for byte, what is made of answers, and the same calls over the real ubusd."""

import json
import shutil
import socket
import subprocess
import threading
import time

import pytest

from oasis.errors import ToolError
from oasis.ubus import outgoing
from oasis.ubus.outgoing import Ubus, opener

HELLO = bytes.fromhex("00000000 12345678 00000004")
# Object 0x7e: found, and the status that ends the search.
FOUND = bytes.fromhex("00020001 00000000 00000018 02000009 6563686f 00000000 03000008 0000007e")
FOUND_END = bytes.fromhex("00010001 00000000 0000000c 01000008 00000000")
OBJECT = """
let ubus = require('ubus'), uloop = require('uloop');
uloop.init();
let bus;
while (!(bus = ubus.connect(ARGV[0]))) sleep(20);
bus.publish('echo', {
	say: {
		args: { a: {}, b: [], c: 1, d: '', e: true },
		call: r => ({ got: r.args, n: -5, big: 1 << 40, f: 1.5, no: false, none: null, l: [1, 'x', { k: [] }], t: 'ü' })
	},
	long: { call: r => ({ text: join(',', map(split(sprintf('%65000s', ''), ''), c => 'xxxx')) }) },
	nothing: { call: r => r.reply() }
});
uloop.run();
"""
CALLS = [
    {},
    {"a": {"x": [1, True, {}]}, "b": [], "c": -7, "d": "it's ü", "e": False},
    {"c": 1 << 20, "a": {"n": 1 << 40}},
]


def named(kind, name, content):
    head = len(name).to_bytes(2, "big") + name + b"\0"
    head += bytes(-len(head) % 4)
    return (0x80000000 | kind << 24 | 4 + len(head) + len(content)).to_bytes(4, "big") + head + content


def padded(data):
    return data + bytes(-len(data) % 4)


def message(kind, number, attributes):
    return bytes([0, kind, 0, number, 0, 0, 0, 0x7E]) + (len(attributes) + 4).to_bytes(4, "big") + attributes


def status(number, value):
    return message(1, number, bytes.fromhex("01000008") + value.to_bytes(4, "big"))


def data(number, *values):
    content = b"".join(padded(value) for value in values)
    return message(2, number, padded((0x07000000 | 4 + len(content)).to_bytes(4, "big") + content))


class Wire:
    """A connection that says what a test gave it, a few bytes at a time, and keeps what it was told."""

    def __init__(self, *said, step=1 << 20):
        self.said = b"".join(said)
        self.told = b""
        self.step = step

    def sendall(self, given):
        self.told += given

    def recv(self, size):
        part, self.said = self.said[: min(size, self.step)], self.said[min(size, self.step) :]
        return part


def call(*said, arguments=None, step=1 << 20):
    wire = Wire(*said, step=step)
    return outgoing.invoke(wire, "echo", "say", arguments or {}), wire.told


@pytest.mark.parametrize("step", [1, 3, 1 << 20])
def test_a_call_looks_up_and_invokes(step):
    values = (
        named(5, b"n", b"\xff\xff\xff\xfb"),
        named(1, b"list", padded(named(3, b"", b"x\0"))),
        named(7, b"yes", b"\1"),
    )
    reply, told = call(HELLO, FOUND, FOUND_END, data(2, *values), status(2, 0), step=step)
    assert reply == {"n": -5, "list": ["x"], "yes": True}
    lookup = bytes.fromhex("00040001 00000000 00000010 02000009 6563686f 00000000")
    invoke = bytes.fromhex("00050002 0000007e 00000018 03000008 0000007e 04000008 73617900 07000004")
    assert told == lookup + invoke


def test_specs_go_as_named_data():
    _, told = call(HELLO, FOUND, FOUND_END, status(2, 0), arguments={"a": True, "b": "x", "c": 1 << 40})
    values = padded(named(7, b"a", b"\1")) + padded(named(3, b"b", b"x\0"))
    assert told.endswith(values + named(4, b"c", (1 << 40).to_bytes(8, "big")))


def test_the_first_of_several_answers_counts_and_what_belongs_to_no_question_is_passed_over():
    first, second = (data(2, named(3, b"text", word + b"\0")) for word in (b"one", b"two"))
    strange = data(9, named(3, b"text", b"stranger\0")), message(10, 2, b"")
    assert call(HELLO, FOUND, FOUND_END, *strange, first, second, status(2, 0))[0] == {"text": "one"}


def test_an_answer_without_data_is_none():
    assert call(HELLO, FOUND, FOUND_END, status(2, 0))[0] is None


@pytest.mark.parametrize("said, number", [([HELLO, status(1, 4)], 4), ([HELLO, FOUND, FOUND_END, status(2, 6)], 6),
                                          ([HELLO, status(1, 0)], 5)])  # fmt: skip
def test_a_status_ends_the_call(said, number):
    with pytest.raises(outgoing.Failed) as caught:
        call(*said)
    assert caught.value.status == number


@pytest.mark.parametrize("said, words", [
    ([], "ended the connection"),
    ([HELLO[:7]], "ended the connection"),
    ([HELLO, FOUND[:-1]], "ended the connection"),
    ([HELLO[:8] + b"\0\0\0\3"], "a message of 3 bytes"),
    ([HELLO[:8] + b"\0\xff\xff\xff"], "a message of 16777215 bytes"),
    ([HELLO, message(2, 1, b"\3\0\0\0")], "a broken message"),
    ([HELLO, message(2, 1, b"\3\0\0\x09abcd")], "a broken message"),
])  # fmt: skip
def test_what_is_no_bus_is_told(said, words):
    with pytest.raises(ToolError, match=words):
        call(*said)


def test_data_of_too_many_levels_is_refused():
    value = named(7, b"x", b"\1")
    for _ in range(100):
        value = named(2, b"t", padded(value))
    with pytest.raises(ToolError, match="more than 64 levels"):
        call(HELLO, FOUND, FOUND_END, data(2, value), status(2, 0))


def test_a_value_that_no_call_has_is_refused_before_anything_is_said():
    wire = Wire(HELLO, FOUND, FOUND_END)
    with pytest.raises(ToolError, match="takes no bytes"):
        outgoing.invoke(wire, "echo", "say", {"x": b"1"})
    assert wire.told == b""


def bus(path):
    return Ubus(None, "", opener(path))


def test_a_silent_bus_times_out_and_a_lost_one_is_an_error(tmp_path):
    path = str(tmp_path / "bus")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(1)
        with pytest.raises(ToolError, match="ubus call echo say: timed out"):
            Ubus(None, "", lambda _: opener(path)(0.05)).call("echo", "say")
        listener.accept()[0].close()
        closer = threading.Thread(target=lambda: listener.accept()[0].close())
        closer.start()
        with pytest.raises(ToolError, match=r"ended the connection|reset"):
            bus(path).call("echo", "say")
        closer.join()


def test_without_a_socket_the_program_is_asked(tmp_path):
    class Program:
        def run(self, argv, timeout_s=0):
            return 0, b'{"by": "program"}', b""

    assert Ubus(Program(), "/bin/ubus", opener(str(tmp_path / "none"))).call("a", "b") == {"by": "program"}


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """Return the socket of a real ubusd on which an object `echo` is."""
    if not shutil.which("ubusd") or not shutil.which("ucode") or not shutil.which("ubus"):
        pytest.skip("NOT RUN: no real ubusd and ucode on PATH, our calls are not compared with those of ubus")
    folder = tmp_path_factory.mktemp("bus")
    path = str(folder / "sock")
    (folder / "object.uc").write_text(OBJECT, encoding="utf-8")
    started = [subprocess.Popen(["ubusd", "-s", path])]
    try:
        started.append(subprocess.Popen(["ucode", str(folder / "object.uc"), path]))
        deadline = time.monotonic() + 10
        while by_program(path, "echo", "nothing")[0]:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield path
    finally:
        for process in started:
            process.kill()
            process.wait()


def by_program(path, *words):
    done = subprocess.run(["ubus", "-s", path, "-S", "call", *words], capture_output=True, check=False, timeout=30)
    return done.returncode, done.stdout


@pytest.mark.parametrize("arguments", CALLS)
def test_the_real_bus_answers_us_as_it_answers_its_own_program(real, arguments):
    code, out = by_program(real, "echo", "say", json.dumps(arguments))
    assert code == 0
    ours = bus(real).call("echo", "say", arguments)
    assert ours == json.loads(out)
    assert ours["got"] == arguments


def test_a_long_answer_of_the_real_bus_is_whole(real):
    assert bus(real).call("echo", "long") == json.loads(by_program(real, "echo", "long")[1])


def test_an_answer_of_the_real_bus_without_data_is_none(real):
    assert by_program(real, "echo", "nothing") == (0, b"")
    assert bus(real).call("echo", "nothing") is None


@pytest.mark.parametrize(
    "words, told",
    [(("echo", "gone"), "no such method"), (("gone", "say"), "not found"), (("", ""), "invalid argument")],
)
def test_a_failure_of_the_real_bus_is_the_one_that_its_program_tells(real, words, told):
    code, _ = by_program(real, *words)
    with pytest.raises(ToolError, match=told) as caught:
        bus(real).call(*words)
    with pytest.raises(ToolError) as theirs:
        Ubus(type("Ended", (), {"run": lambda *_, **__: (code, b"", b"")})(), "/bin/ubus").call(*words)
    assert caught.value.message == theirs.value.message


def test_a_bus_that_cannot_be_opened_is_told_as_the_system_does(tmp_path):
    path = str(tmp_path / "ubus.sock")
    with pytest.raises(FileNotFoundError):
        opener(path)(1)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        with pytest.raises(ConnectionRefusedError):
            opener(path)(1)
