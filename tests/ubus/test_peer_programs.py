"""Our objects as the bus's own programs see them: ubus, ucode's ubus module, uhttpd; and the real ubusd, stopped."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest

from tests.ubus.buskit import Answers, RealBus, ask, going, make_peer, until

OBJECTS = {
    "oasis": {"info": {}, "fault": {}, "nothing": {}},
    "oasis.run": {
        "start": {"message": "text", "count": "int", "is_new": "bool", "parts": "list", "more": "table"},
        "poll": {},
    },
}
LISTED = """'oasis' @
\t"info":{}
\t"fault":{}
\t"nothing":{}
'oasis.run' @
\t"start":{"message":"String","count":"Integer","is_new":"Boolean","parts":"Array","more":"Table"}
\t"poll":{}
"""
REPLY = {
    "true": True, "false": False, "zero": 0, "one": 1, "negative": -7, "big": 5000000000, "least": -(1 << 63),
    "double": 0.25, "whole": 2.0, "none": None, "text": 'ä "q" \\ \n\t\x01', "empty": "", "list": [], "table": {},
    "deep": {"a": [[1, "x", {"k": []}], {"t": {}}, None, True]},
}  # fmt: skip
SCRIPT = """
let ubus = require('ubus'), uloop = require('uloop');
uloop.init();
let bus = ubus.connect(ARGV[0]);
print(bus.call('oasis', 'info', {}), '\\n');
print(bus.call('oasis.run', 'start', { message: 'x', count: 1 << 40, f: 1.5, parts: [{}], more: {} }), '\\n');
bus.call('oasis', 'fault', {});
print(ubus.error(), '\\n');
let late = bus.defer('oasis.run', 'poll', {}, (status, reply) => { print([status, reply], '\\n'); });
bus.defer('oasis', 'nothing', {}, (status, reply) => { print([status, reply], '\\n'); });
let told = bus.subscriber(note => { print([note.type, note.data], '\\n'); uloop.end(); });
told.subscribe('oasis.run');
uloop.timer(15000, () => uloop.end());
uloop.run();
"""


# rpcd keeps files in /var/run and has its plugins below /usr: it gets both of its own.
RPCD = """
mount -t tmpfs none "$(readlink -f /var/run)" && mount -t tmpfs none /usr/libexec && mkdir /usr/libexec/rpcd || exit 1
cat >/usr/libexec/rpcd/oasis.run <<'X'
#!/bin/sh
case "$1" in
list) echo '{"start":{"id":"str"}}' ;;
call) echo '{"by":"the plugin"}' ;;
esac
X
chmod +x /usr/libexec/rpcd/oasis.run
exec rpcd -s "$0"
"""


@pytest.fixture
def bus(tmp_path):
    missing = [name for name in ("ubusd", "ubus") if not shutil.which(name)]
    if missing:
        pytest.skip("NOT RUN: no real %s on PATH, our replies are not read by C programs" % " and ".join(missing))
    one = RealBus(str(tmp_path / "bus"))
    one.start()
    yield one
    one.kill()


@pytest.fixture
def gate():
    one = threading.Event()
    yield one
    one.set()


@pytest.fixture
def peer(bus, gate):
    answers = Answers(
        info=lambda call: REPLY, fault=lambda call: {}["x"], nothing=lambda call: {},
        poll=lambda call: {"late": gate.wait(20)},
    )  # fmt: skip
    one = make_peer(bus.path, answers, OBJECTS)
    yield one
    one.stop()


def ubus(bus, *words):
    done = subprocess.run(["ubus", "-s", bus.path, *words], capture_output=True, text=True, check=False, timeout=30)
    return done.returncode, done.stdout


def test_ubus_lists_our_objects_and_their_signatures(bus, peer):
    code, out = ubus(bus, "-v", "list", "oasis*")
    lines = [line.partition("@")[0] + "@" if "@" in line else line for line in out.splitlines()]
    assert (code, "\n".join(lines) + "\n") == (0, LISTED)


def test_ubus_prints_our_replies_of_every_type(bus, peer):
    code, out = ubus(bus, "-S", "call", "oasis", "info")
    assert code == 0 and json.loads(out) == REPLY
    assert '"list":[]' in out and '"table":{}' in out and '"one":1,' in out and '"whole":2.0' in out
    code, out = ubus(bus, "call", "oasis", "info")
    assert code == 0 and json.loads(out) == REPLY


def test_ubus_hands_arguments_over(bus, peer):
    values = {"message": "ä\n", "count": 5000000000, "is_new": True, "parts": [1, "x", {}], "more": {"k": [-0.5, None]}}
    code, out = ubus(bus, "-S", "call", "oasis.run", "start", json.dumps(values))
    assert code == 0 and json.loads(out) == {"got": values}


def test_ubus_ends_with_the_status_of_a_failure(bus, peer):
    assert ubus(bus, "-S", "call", "oasis", "fault")[0] == 9
    assert ubus(bus, "-S", "call", "oasis", "nope")[0] == 3
    assert ubus(bus, "-S", "call", "oasis.nope", "info")[0] == 4
    code, out = ubus(bus, "-S", "call", "oasis", "nothing")
    assert code == 0 and json.loads(out) == {}


def test_ubus_that_gives_up_waiting_holds_nobody_up(bus, peer, gate):
    began = time.monotonic()
    assert ubus(bus, "-S", "-t", "1", "call", "oasis.run", "poll")[0] == 7
    assert time.monotonic() - began < 5
    assert ubus(bus, "-S", "call", "oasis", "info")[0] == 0


def test_ubus_sees_our_objects_come_and_go(bus, tmp_path):
    listening = subprocess.Popen(
        ["ubus", "-s", bus.path, "-S", "-t", "20", "listen", "ubus.object.*"], stdout=subprocess.PIPE, text=True
    )
    try:
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(iter(listening.stdout.readline, "")), daemon=True)
        reader.start()

        def is_listening():
            make_peer(bus.path, Answers(), {"probe": {}}).stop()
            return any("probe" in line for line in lines)

        until(is_listening)
        del lines[:]
        waiting = subprocess.Popen(["ubus", "-s", bus.path, "-t", "20", "wait_for", "oasis", "oasis.run"])
        one = make_peer(bus.path, Answers(), OBJECTS)
        assert waiting.wait(20) == 0
        one.stop()
        until(lambda: len([line for line in lines if '"oasis' in line]) == 4)
        events = [json.loads(line) for line in lines if '"oasis' in line]
        told = [(event, value["path"]) for one in events for event, value in one.items()]
        assert sorted(told[:2]) == [("ubus.object.add", "oasis"), ("ubus.object.add", "oasis.run")]
        assert sorted(told[2:]) == [("ubus.object.remove", "oasis"), ("ubus.object.remove", "oasis.run")]
    finally:
        listening.kill()
        listening.wait()


def test_ucode_calls_waits_and_subscribes(bus, peer, gate, tmp_path):
    if not shutil.which("ucode"):
        pytest.skip("NOT RUN: no ucode on PATH")
    script = tmp_path / "script.uc"
    script.write_text(SCRIPT, encoding="utf-8")
    running = subprocess.Popen(["ucode", str(script), bus.path], stdout=subprocess.PIPE, text=True)
    try:
        until(lambda: peer._watched)
        gate.set()
        until(lambda: not going(peer))
        peer.notify("oasis.run", "news", {"n": 1, "list": []})
        out = running.communicate(timeout=30)[0].splitlines()
    finally:
        running.kill()
        running.wait()
    assert json.loads(out[0]) == REPLY
    assert json.loads(out[1]) == {"got": {"message": "x", "count": 1 << 40, "f": 1.5, "parts": [{}], "more": {}}}
    assert "'fault'" in out[2]
    later = [json.loads(line) for line in out[3:]]
    assert [0, {"late": True}] in later and [0, {}] in later and ["news", {"n": 1, "list": []}] in later


@pytest.fixture
def web(bus, tmp_path):
    """A real uhttpd that asks nobody who may call: only how it hands calls over is of interest."""
    if not shutil.which("uhttpd"):
        pytest.skip("NOT RUN: no real uhttpd on PATH")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    argv = ["uhttpd", "-f", "-h", str(tmp_path), "-p", "127.0.0.1:%d" % port, "-u", "/ubus", "-U", bus.path, "-a"]
    running = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def post(*params, method="call"):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        try:
            connection.request("POST", "/ubus", body)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def is_there():
        try:
            return post("oasis", method="list")
        except OSError:
            return running.poll() is not None

    until(is_there)
    if running.poll() is not None:
        pytest.skip("NOT RUN: uhttpd has no module for the bus")
    yield post
    running.kill()
    running.wait()


NOBODY = "0" * 32


def test_uhttpd_hands_calls_over_with_the_session(peer, web):
    assert web(NOBODY, "oasis", "info", {})["result"] == [0, REPLY]
    values = {"message": "ä", "parts": [1, {}], "count": 5000000000, "f": 0.5}
    assert web(NOBODY, "oasis.run", "start", values)["result"] == [
        0, {"got": {**values, "ubus_rpc_session": NOBODY}}
    ]  # fmt: skip
    assert web(NOBODY, "oasis", "fault", {})["result"] == [9]
    assert web(NOBODY, "oasis", "nope", {})["result"] == [3]
    assert "error" in web(NOBODY, "oasis.run", "start", {"ubus_rpc_session": "1" * 32}), "nobody chooses a session"
    assert web("oasis", method="list")["result"] == {"oasis": {"info": {}, "fault": {}, "nothing": {}}}


def test_uhttpd_answers_short_calls_while_a_long_one_waits(peer, web, gate):
    found = []
    waiting = threading.Thread(target=lambda: found.append(web(NOBODY, "oasis.run", "poll", {})))
    waiting.start()
    until(lambda: going(peer))
    assert web(NOBODY, "oasis", "info", {})["result"][0] == 0
    gate.set()
    waiting.join(20)
    assert found[0]["result"] == [0, {"late": True}]


def test_a_real_bus_that_stands_still_delays_an_answer_and_goes_on(bus, peer):
    assert ask(bus.path, "oasis", "nothing") == {}
    bus.process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        peer._watched.update(peer._numbers.values())
        for _ in range(20):
            peer.notify("oasis", "news", {"t": "x" * 200_000})
        assert time.monotonic() - began < 10
    finally:
        bus.process.send_signal(signal.SIGCONT)
    until(lambda: not peer.reason())

    def is_answered():
        return ubus(bus, "-S", "call", "oasis", "nothing")[0] == 0

    until(is_answered)


def test_the_name_of_a_plugin_of_the_real_rpcd_is_taken_when_rpcd_ends(bus):
    if os.geteuid() or not shutil.which("rpcd") or not os.path.isdir("/usr/libexec"):
        pytest.skip("NOT RUN: no real rpcd on PATH, or we are not root and cannot give it folders of its own")
    rpcd = subprocess.Popen(["unshare", "-m", "sh", "-c", RPCD, bus.path], stderr=subprocess.DEVNULL)
    peer = None
    try:
        until(lambda: rpcd.poll() is not None or ubus(bus, "-S", "call", "oasis.run", "start")[1])
        if rpcd.poll() is not None:
            pytest.skip("NOT RUN: rpcd cannot have folders of its own here")
        answers = Answers()
        peer = make_peer(bus.path, answers, OBJECTS)
        until(lambda: answers.told)
        assert answers.told[0].startswith("oasis.run is taken on the bus by another program, perhaps a plugin of rpcd")
        assert list(peer.taken()) == ["oasis.run"]
        assert json.loads(ubus(bus, "-S", "call", "oasis.run", "start")[1]) == {"by": "the plugin"}
        assert json.loads(ubus(bus, "-S", "call", "oasis", "info")[1]) == {"got": {}}
        rpcd.kill()
        rpcd.wait()
        until(lambda: not peer.taken())
        assert json.loads(ubus(bus, "-S", "call", "oasis.run", "start")[1]) == {"got": {}}
    finally:
        rpcd.kill()
        rpcd.wait()
        if peer:
            peer.stop()
