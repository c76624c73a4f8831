"""A whole daemon on a whole bus: the real ubusd where it is on PATH, and the stand-in."""

import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import pytest

from oasis.bus.calls import WAITERS
from oasis.bus.objects import CALLS
from oasis.errors import ToolError
from oasis.ubus import outgoing
from oasis.ubus.outgoing import Ubus
from tests.oasisd import REPOSITORY, copy_root, set_option, start_daemon
from tests.ubus.buskit import Answers, ask, make_bus, make_peer
from tests.ubus.buskit import until as until_s

# A machine that does five other things at once is still in time.
LONG_S = 90


def until(is_so):
    return until_s(is_so, LONG_S)


@pytest.fixture(params=["stand-in", "real"])
def place(request, tmp_path_factory):
    """A router root with a bus in it: `place.root`, `place.bus`, `place.path`; `place.daemon()` starts one there."""
    place = Place(request.param, copy_root(str(tmp_path_factory.mktemp("w") / "r")))
    yield place
    place.stop()


class Place:
    def __init__(self, kind, root):
        self.root = root
        self.path = root + "/var/run/ubus/ubus.sock"
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        self.bus = make_bus(kind, self.path)
        self.bus.start()
        self._running = []

    def daemon(self, **options):
        started = start_daemon(self.root, **options)
        self._running.append(started)

        def has_tried():
            reply = started.call("info")
            assert "bus" in reply, f"{reply}\n{started.log()[-2000:]}"  # a fault of ours tells its place in the log
            return reply["bus"] != ["not on the bus: not connected yet"]

        until(lambda: "ready on" in started.log())  # until then it has not joined the bus, and finds no fault there
        until(has_tried)
        return started

    def ask(self, name, method, /, timeout_s=LONG_S, **arguments):
        return ask(self.path, name, method, arguments, timeout_s)

    def stop(self):
        for daemon in self._running:
            if daemon.process.poll() is None:
                daemon.stop()
        self.bus.kill()


def waiting(place, daemon):
    """Start a run that waits for its owner; return it and its plan."""
    run = place.ask("oasis.run", "start", message="set the wifi name to Attic and the password to correct-horse")
    until(lambda: daemon.call("plan.list")["plans"])
    return run, daemon.call("plan.list")["plans"][0]


def test_the_same_is_said_on_the_bus_and_on_the_socket(place):
    daemon = place.daemon()
    assert place.ask("oasis", "info") == daemon.call("info")
    assert place.ask("oasis.topic", "list") == daemon.call("topic.list")
    assert place.ask("oasis.run", "poll", run="none")["error"] == daemon.call("run.poll", run="none")["error"]
    assert daemon.call("info")["bus"] == []


def test_what_the_bus_offers_are_all_methods_and_no_local_one(place):
    place.daemon()
    with pytest.raises(outgoing.Failed) as caught:
        place.ask("oasis.change", "alive", change="x")
    assert caught.value.status == 3
    with pytest.raises(outgoing.Failed):
        place.ask("oasis.path", "seen")


def test_a_plan_is_approved_over_the_bus_with_the_whole_hash(place):
    daemon = place.daemon()
    _, plan = waiting(place, daemon)
    assert place.ask("oasis.plan", "approve", plan=plan["id"], hash=plan["short"])["error"]["code"] == "policy"
    assert place.ask("oasis.plan", "approve", plan=plan["id"], hash=plan["hash"])["decision"] == "approved"
    until(lambda: place.ask("oasis.change", "pending")["change"])
    assert place.ask("oasis.change", "rollback")["change"]["state"] == "rolled_back"


def test_a_poll_is_answered_when_there_is_news(place):
    daemon = place.daemon()
    run, plan = waiting(place, daemon)
    since = place.ask("oasis.run", "poll", run=run["run"])["next"]
    replies = []
    work = threading.Thread(
        target=lambda: replies.append(place.ask("oasis.run", "poll", run=run["run"], since=since, wait_ms=15000))
    )
    work.start()
    time.sleep(0.3)
    assert replies == []
    began = time.monotonic()
    place.ask("oasis.plan", "decline", plan=plan["id"])
    work.join(LONG_S)
    assert replies[0]["events"][0]["type"] == "approval"
    assert time.monotonic() - began < 10, "the news woke it, not the end of its time"


def test_a_flood_of_waiters_leaves_the_bus_and_the_owner_room(place):
    daemon = place.daemon()
    run, plan = waiting(place, daemon)
    since = place.ask("oasis.run", "poll", run=run["run"])["next"]
    replies = []

    def poll():
        replies.append(place.ask("oasis.run", "poll", run=run["run"], since=since, wait_ms=15000))

    work = [threading.Thread(target=poll) for _ in range(3 * CALLS)]
    for thread in work:
        thread.start()
    until(lambda: len(replies) >= 3 * CALLS - WAITERS)
    codes = [reply.get("error", {}).get("code", "") for reply in replies]
    assert set(codes) <= {"busy", ""}
    assert daemon.call("info")["version"], "the socket goes on"
    assert place.ask("oasis.plan", "decline", plan=plan["id"])["decision"] == "declined"
    for thread in work:
        thread.join(LONG_S)
    assert len(replies) == 3 * CALLS


def test_a_daemon_that_dies_in_a_call_leaves_its_caller_no_answer_and_the_next_one_serves(place):
    """ubusd tells nobody that an answer will not come: a caller has its own limit, as LuCI, uhttpd and `ubus` do."""
    daemon = place.daemon()
    run, _ = waiting(place, daemon)
    since = place.ask("oasis.run", "poll", run=run["run"])["next"]
    failed = []

    def poll():
        try:
            place.ask("oasis.run", "poll", run=run["run"], since=since, wait_ms=15000, timeout_s=3)
        except (ToolError, OSError) as error:
            failed.append(error)

    work = threading.Thread(target=poll)
    work.start()
    time.sleep(0.3)
    daemon.kill()
    again = place.daemon()
    until(lambda: is_there(place))
    assert "there is no run" in place.ask("oasis.run", "poll", run=run["run"])["error"]["message"]
    assert again.call("info")["bus"] == []
    work.join(LONG_S)
    assert len(failed) == 1


def is_there(place):
    try:
        return place.ask("oasis", "info", timeout_s=2)["version"]
    except (ToolError, OSError):
        return ""


def test_a_daemon_that_stops_takes_its_objects_along(place):
    daemon = place.daemon()
    assert is_there(place)
    assert daemon.stop() == 0
    until(lambda: not is_there(place))


def test_a_bus_that_is_started_again_has_the_objects_again(place):
    daemon = place.daemon()
    assert is_there(place)
    place.bus.kill()
    until(lambda: daemon.call("info")["bus"] != [])
    assert "not on the bus" in daemon.call("info")["bus"][0]
    place.bus.start()
    until(lambda: is_there(place))
    assert daemon.call("info")["bus"] == []


def test_a_name_that_somebody_has_is_told_and_the_socket_goes_on(place):
    other = make_peer(place.path, Answers(), {"oasis.chat": {"list": {}}})
    daemon = place.daemon()
    try:
        told = until(lambda: [line for line in daemon.call("info")["bus"] if "is taken" in line])
        assert len(told) == 1
        for word in ("oasis.chat is taken on the bus by", "remove the Oasis that was here before"):
            assert word in told[0]
            until(lambda word=word: word in daemon.log())
        assert "another program" in told[0]
        assert place.ask("oasis.chat", "list") == {"got": {}}, "it keeps its name"
        assert place.ask("oasis.topic", "list")["topics"], "the others are ours"
        assert daemon.call("chat.list")["item"] == []
        shown = subprocess.run([sys.executable, "-IS", "-c", STATUS % REPOSITORY], capture_output=True, text=True,
                               env={"OASIS_ROOT": place.root, "PATH": os.environ["PATH"]}, timeout=60)  # fmt: skip
        assert "oasis.chat is taken on the bus by" in shown.stdout, shown.stderr
    finally:
        other.stop()
    until(lambda: daemon.call("info")["bus"] == [])
    assert place.ask("oasis.chat", "list") == {"item": []}


STATUS = "import sys; sys.path.insert(0, %r); from oasis.cli.main import main; sys.exit(main(['status']))"


def test_the_owner_may_want_no_bus(place):
    set_option(place.root, "bus", "0")
    daemon = place.daemon()
    assert daemon.call("info")["bus"] == []
    assert not is_there(place)


AS_SOMEBODY = """
import sys, os
sys.path.insert(0, %r)
from oasis.ubus import outgoing
from oasis.ubus.outgoing import Ubus
from oasis.ubus.outgoing import opener
import pwd, json
connection = opener(sys.argv[1])(20)
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
connection.close()
connection = opener("bus")(20)
try:
    print(json.dumps(outgoing.invoke(connection, sys.argv[2], sys.argv[3], json.loads(sys.argv[4]))))
except outgoing.Failed as error:
    print(json.dumps({"status": error.status}))
"""


@pytest.mark.part("lua")
@pytest.mark.skipif(os.geteuid() != 0, reason="becoming a second user needs root")
def test_another_user_may_not_decide_whatever_the_bus_lets_through(place):
    """The stand-in lets everybody through, as a list that is too wide would; the real ubusd has none for him."""
    daemon = place.daemon()
    os.chmod(place.path, 0o777)
    folder = os.open(os.path.dirname(place.path), os.O_RDONLY | os.O_DIRECTORY)

    def ask_as_somebody(name, method, arguments="{}"):
        code = (AS_SOMEBODY % REPOSITORY).replace('opener("bus")', f'opener("/proc/self/fd/{folder}/ubus.sock")')
        done = subprocess.run([sys.executable, "-IS", "-c", code, place.path, name, method, arguments],
                              capture_output=True, text=True, timeout=60, pass_fds=(folder,))  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    try:
        if place.bus.name == "real":
            assert ask_as_somebody("oasis", "info")["status"] in (4, 5, 6)
            return
        assert ask_as_somebody("oasis", "info")["version"]
        for name, method in (("oasis.run", "start"), ("oasis.plan", "approve"), ("oasis.chat", "send")):
            assert ask_as_somebody(name, method)["error"]["code"] == "policy"
        claim = '{"ubus_rpc_session": "%s", "message": "help"}' % ("a" * 32)
        assert ask_as_somebody("oasis.run", "start", claim)["error"]["code"] == "policy"
    finally:
        os.close(folder)
    assert daemon.call("plan.list")["plans"] == []


def test_the_session_of_a_proof_of_life_never_stands_in_an_argv(place, tmp_path):
    """rpcd is asked over the bus's own socket; the program `ubus` is not started for it."""
    session = "e" * 32
    seen = []
    rpcd = make_peer(place.path, Answers(access=lambda call: seen.append(call.arguments) or {"access": True}),
                     {"session": {"access": {}}})  # fmt: skip
    program = pathlib.Path(place.root, "bin", "ubus")
    record = tmp_path / "argv"
    text = f'#!/bin/sh\necho "$*" >>{record}\nexit 4\n'
    program.unlink(missing_ok=True)
    program.write_text(text)
    program.chmod(0o755)
    daemon = place.daemon()
    try:
        words = {"session": session, "remote_addr": "192.0.2.1", "remote_port": "5", "server_addr": "192.0.2.2",
                 "server_port": "80"}  # fmt: skip
        assert daemon.call("path.seen", **words)["path"] == "stranger"
        reply = place.ask("oasis", "info", ubus_rpc_session=session)
        assert reply["version"]
        assert [call["ubus_rpc_session"] for call in seen] == [session, session]
        assert not record.exists() or session not in record.read_text()
    finally:
        rpcd.stop()


def test_a_session_goes_over_the_bus_or_nowhere():
    """On a router the program is no way for it, not even while ubusd is away; in a folder nothing is worth hiding."""
    started = []

    class Program:
        def run(self, words, timeout_s=0):
            started.append(words)
            return 0, b'{"access": true}', b""

    def no_bus(timeout_s):
        raise FileNotFoundError

    wanted = {"ubus_rpc_session": "a" * 32, "scope": "ubus"}
    with pytest.raises(ToolError, match="cannot be reached"):
        Ubus(Program(), "/bin/ubus", no_bus).call("session", "access", wanted)
    assert started == []
    Ubus(Program(), "/bin/ubus", no_bus).call("system", "board")
    Ubus(Program(), "/bin/ubus", no_bus, False).call("session", "access", wanted)
    assert len(started) == 2
