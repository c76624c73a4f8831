"""The objects of the bus: every method by every role, long polls, and calls with something wrong; no bus is needed."""

import threading
import time

import pytest

from oasis import parts
from oasis.api.table import ROLES, TABLE
from oasis.bus import calls as module
from oasis.bus.calls import Waiters
from oasis.bus.objects import CALLS, OTHER_METHODS, objects
from oasis.change.uci_commands import parse
from oasis.daemon.wiring import Daemon
from oasis.errors import UsageError
from oasis.system.root import Root
from oasis.ubus.message import REPLY_BYTES, encode
from tests.bus.on_bus import GONE, OWNER, STRANGER, VIEWER, Bench, Clock
from tests.oasisd import copy_root

BUS_ROLES = parts.merged("BUS_ROLES")
EVERY = {**TABLE, **OTHER_METHODS}
SERVED = sorted(name for name, row in EVERY.items() if row.access != "local")
LOCAL = sorted(name for name, row in TABLE.items() if row.access == "local")
MAY = {role: ({*ROLES[role]} & {*TABLE} | {*BUS_ROLES.get(role, ())}) - set(LOCAL) for role in ("owner", "viewer")}
REFUSED = "is not for everybody"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    root = copy_root(str(tmp_path_factory.mktemp("bus") / "router"))
    made = Daemon(Root(root, [root + "/bin", "/usr/bin", "/bin"]))
    yield made
    made.stop()


@pytest.fixture
def bench(daemon):
    return Bench(daemon, time.monotonic, lambda waiters: parts.first("bus_methods")(daemon, waiters))


def split(name):
    where, _, method = ("oasis." + name).rpartition(".")
    return where, method


def is_refused(reply):
    return reply.get("error", {}).get("code") == "policy" and REFUSED in reply["error"]["message"]


def test_every_method_is_on_the_bus_but_for_those_of_the_socket_alone():
    found = {f"{where}.{method}" for where, methods in objects().items() for method in methods}
    assert found == {"oasis." + name for name in SERVED}
    assert LOCAL
    assert not set(TABLE) & set(OTHER_METHODS), "one name has one meaning"


def test_specs_have_their_kinds():
    run = objects()["oasis.run"]
    assert run["start"]["message"] == "text"
    assert run["start"]["attachments"] == "list"
    assert run["start"]["options"] == "table"
    assert run["poll"] == {"run": "text", "since": "int", "wait_ms": "int"}
    assert objects()["oasis.upload"]["part"]["is_last"] == "bool"


@pytest.mark.part("lua")
def test_upstream_names_what_its_roles_may_one_by_one():
    assert set(objects()["oasis"]["base_info"]) == set()
    assert set(BUS_ROLES["owner"]) == set(OTHER_METHODS)
    reads = {name for name, row in OTHER_METHODS.items() if row.access == "read"}
    assert set(BUS_ROLES["viewer"]) == reads


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.parametrize("session", [OWNER, VIEWER], ids=["write", "read"])
def test_a_session_may_what_its_rights_say(bench, name, session):
    """Without arguments: whoever is let through is told what is missing, or has the answer."""
    role = "owner" if session == OWNER else "viewer"
    reply = bench.call(*split(name), session)
    is_let_through = not is_refused(reply) and "may not call" not in str(reply.get("error", ""))
    assert is_let_through is (name in MAY[role]), reply


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.parametrize("user", ["root", "oasis", "nobody", ""])
def test_without_a_session_root_is_the_owner_and_everybody_else_only_looks(bench, name, user):
    reply = bench.call(*split(name), user=user)
    assert is_refused(reply) is (name not in MAY["owner" if user == "root" else "viewer"]), reply


@pytest.mark.parametrize("name", SERVED)
def test_a_web_server_that_is_not_root_asks_for_sessions_only(bench, name):
    assert "log in" in bench.call(*split(name), user="uhttpd")["error"]["hint"]
    assert "version" in bench.call("oasis", "info", VIEWER, user="uhttpd")


@pytest.mark.parametrize("name", LOCAL)
def test_what_is_for_the_socket_only_is_not_there(bench, name):
    assert "has no method" in bench.call(*split(name))["error"]["message"]


@pytest.mark.parametrize("session", [STRANGER, GONE, "0" * 32], ids=["no-rights", "over", "null"])
@pytest.mark.parametrize("name", ["info", "run.start", "base_info", "chat.send"])
def test_a_session_without_the_right_may_nothing_even_for_root(bench, name, session):
    error = bench.call(*split(name), session)["error"]
    assert error["code"] == "policy"
    assert "log in" in error["hint"]


@pytest.mark.parametrize("session", [5, None, True, ["a" * 32], {"a": 1}, "", "a" * 31, "A" * 32, "g" * 32, "a" * 33])
def test_what_is_no_session_never_reaches_rpcd(bench, session):
    reply = bench.call("oasis.run", "start", user="nobody", ubus_rpc_session=session, message="help")
    assert reply["error"]["code"] == "policy"
    assert bench.rpcd.asked == []


def test_an_argument_gives_nobody_a_role(bench):
    for claim in ({"role": "owner"}, {"user": "root"}, {"terminal": True}, {"session": OWNER}):
        reply = bench.call("oasis.run", "start", VIEWER, message="help", **claim)
        assert reply["error"]["code"] == "policy"


def test_the_session_goes_into_the_role_so_that_the_owner_s_way_is_found(daemon):
    seen = []

    class Methods:
        def call(self, name, params, role):
            seen.append(role)
            return {"state": "done", "events": []}

    bench = Bench(daemon, time.monotonic, None)
    bench.bus._methods = Methods()
    bench.call("oasis.run", "start", OWNER, message="help")
    bench.call("oasis.run", "cancel", user="root", run="x")
    assert seen[0] == {"name": "owner", "terminal": False, "pid": 0, "session": OWNER}
    assert seen[1] == {"name": "owner", "terminal": False, "pid": 0}


def test_rpcd_is_asked_once_in_a_while_and_a_right_that_is_gone_is_gone_then(daemon):
    clock = Clock()
    bench = Bench(daemon, clock, None)
    for _ in range(5):
        assert "version" in bench.call("oasis", "info", OWNER)
    assert len(bench.rpcd.asked) == 2, "for the method, and for who he is"
    del bench.rpcd.rights[OWNER]
    assert "version" in bench.call("oasis", "info", OWNER)
    clock.s += module.RIGHT_S
    assert bench.call("oasis", "info", OWNER)["error"]["code"] == "policy"


def test_what_is_remembered_of_sessions_stays_small(daemon):
    bench = Bench(daemon, Clock(), None)
    for number in range(2000):
        session = f"{number:032x}"
        bench.rpcd.rights[session] = {("oasis", "info")}
        assert "version" in bench.call("oasis", "info", session)
    assert len(bench.bus._rights._known) <= 256


def test_rpcd_that_is_gone_lets_nobody_in(daemon):
    bench = Bench(daemon, Clock(), None)
    bench.rpcd.rights.clear()
    assert bench.call("oasis", "info", OWNER)["error"]["code"] == "policy"
    assert "version" in bench.call("oasis", "info", user="root")


WRONG = {
    str: [5, True, ["x"], {}],
    int: ["5", True, [1]],
    list: ["x", {}, [5], [None]],
    bool: [1, "true"],
    dict: [1, "x", []],
}


@pytest.mark.parametrize("name", SERVED)
def test_wrong_types_and_unknown_arguments_are_told(bench, name):
    where, method = split(name)
    for key, (kind, _) in EVERY[name].arguments.items():
        for value in WRONG[kind]:
            error = bench.call(where, method, OWNER, **{key: value})["error"]
            assert error["code"] in ("usage", "policy"), (key, value)
            assert key in error["message"], (key, value, error)
    assert "no argument 'nonsense'" in bench.call(where, method, OWNER, nonsense=1)["error"]["message"]


def test_oversized_arguments_are_refused_and_nothing_is_kept(bench):
    huge = "x" * (1 << 20)
    before = bench.call("oasis.chat", "list")["item"]
    for where, method, values in (
        ("oasis.run", "start", {"message": huge}), ("oasis.chat", "send", {"message": huge, "id": ""}),
        ("oasis.upload", "part", {"data": huge}), ("oasis.topic", "add", {"title": "t", "text": huge}),
        ("oasis", "add_sysmsg_data", {"title": huge, "message": "m"}),
        ("oasis.tool.edge", "function_calling", {"tool": "status", "param": huge}),
    ):  # fmt: skip
        reply = bench.call(where, method, OWNER, **values)
        assert reply["error"]["message"]
        assert len(str(reply)) < 4000
    assert bench.call("oasis.chat", "list")["item"] == before


def test_a_fault_of_ours_is_an_error_like_any_other_and_stands_in_the_log(daemon, capfd):
    class Methods:
        def call(self, name, params, role):
            return {}["nothing"]

    bench = Bench(daemon, time.monotonic, None)
    bench.bus._methods = Methods()
    assert "KeyError" in bench.call("oasis", "info")["error"]["message"]
    assert "Traceback" in capfd.readouterr().err


# Long polls


class Silent:
    """Methods with one run that says nothing until it is told to."""

    def __init__(self):
        self.said = threading.Event()
        self.polls = []

    def call(self, name, params, role):
        self.polls.append(params["wait_ms"])
        if params["wait_ms"] and self.said.wait(min(params["wait_ms"], 20) / 1000):
            return {"run": "r", "state": "running", "events": [{"seq": 0, "type": "delta", "text": "x"}], "next": 1}
        return {"run": "r", "state": "running", "events": [], "next": 0}


def waiting(bench, count):
    replies = []
    work = [threading.Thread(target=lambda: replies.append(poll(bench)), daemon=True) for _ in range(count)]
    for thread in work:
        thread.start()
    return work, replies


def poll(bench, **values):
    return bench.call("oasis.run", "poll", OWNER, run="r", wait_ms=15000, **values)


def test_a_poll_waits_for_news_and_no_longer_than_15_s(daemon):
    bench, silent = Bench(daemon, Clock(), None), Silent()
    bench.bus._methods = silent
    work, replies = waiting(bench, 1)
    until = time.monotonic() + 10
    while not silent.polls and time.monotonic() < until:
        time.sleep(0.005)
    silent.said.set()
    work[0].join(10)
    assert replies[0]["events"]
    assert max(silent.polls) <= 3000


def test_a_poll_ends_when_its_time_is_over(daemon):
    bench, silent, clock = Bench(daemon, Clock(), None), Silent(), Clock()
    bench.bus._methods, bench.bus._now_s = silent, clock
    work, replies = waiting(bench, 1)
    until = time.monotonic() + 10
    while len(silent.polls) < 2 and time.monotonic() < until:
        time.sleep(0.005)
    clock.s += 15
    work[0].join(10)
    assert replies[0]["events"] == []


def test_a_flood_of_waiters_sends_away_those_that_waited_longest(daemon):
    bench, silent = Bench(daemon, Clock(), None), Silent()
    bench.bus._methods = silent
    first, early = waiting(bench, module.WAITERS)
    until = time.monotonic() + 10
    while len(bench.bus._waiters._waiting) < module.WAITERS and time.monotonic() < until:
        time.sleep(0.005)
    later, late = waiting(bench, 5)
    while len(early) < 5 and time.monotonic() < until:
        time.sleep(0.005)
    assert len(early) == 5
    assert all(reply["events"] == [] for reply in early), "they are told that there is nothing new"
    assert late == []
    silent.said.set()
    for thread in first + later:
        thread.join(10)
    assert len(early + late) == module.WAITERS + 5
    assert bench.bus._waiters._waiting == []


def test_waiters_leave_room_for_whoever_does_something():
    assert module.WAITERS < CALLS - 4


def test_a_place_that_was_given_up_is_not_given_up_twice():
    waiters = Waiters(1)
    first = waiters.enter()
    second = waiters.enter()
    assert (first, second) == ([True], [False])
    waiters.leave(first)
    waiters.leave(second)
    third = waiters.enter()
    assert third == [False]


def test_a_poll_without_waiting_takes_no_place(bench):
    assert bench.call("oasis.run", "poll", OWNER, run="x", wait_ms=0)["error"]["code"] == UsageError.code
    assert bench.call("oasis.run", "poll", OWNER, run="x", wait_ms="soon")["error"]["code"] == UsageError.code
    assert bench.bus._waiters._waiting == []


def test_a_list_of_chats_always_fits_and_tells_what_is_left_out(daemon):
    class Many:
        def call(self, name, params, role):
            item = {"id": "x" * 20, "title": "\u6c34" * 60, "exchanges": 1, "updated_unix_s": 1 << 31, "size": 1 << 20}
            return {"item": [{**item, "number": number, "archived": False} for number in range(5000)]}

    bench = Bench(daemon, time.monotonic, None)
    bench.bus._methods = Many()
    reply = bench.call("oasis.chat", "list")
    assert len(encode(reply)) < REPLY_BYTES
    assert len(reply["item"]) + reply["more"] == 5000
    assert [item["number"] for item in reply["item"]] == list(range(len(reply["item"]))), "the newest"


# Names that somebody else has


class Peer:
    def __init__(self, taken=(), reason=""):
        self._taken, self._reason = dict(taken), reason

    def taken(self):
        return self._taken

    def reason(self):
        return self._reason


def test_a_name_that_is_taken_is_told_with_its_owner_and_the_way_out(daemon, bench):
    peer = Peer({"oasis.chat": "a plugin of rpcd"})
    daemon._peer = peer
    try:
        told = bench.call("oasis", "info")["bus"]
        assert len(told) == 1
        for word in ("oasis.chat", "a plugin of rpcd", "remove", "restart rpcd"):
            assert word in told[0]
        assert daemon.methods.call("info", {}, {"name": "owner", "terminal": False})["bus"] == told, "on the socket too"
        daemon._peer = Peer(reason="no such file or directory")
        assert bench.call("oasis", "info")["bus"] == ["not on the bus: no such file or directory"]
    finally:
        daemon._peer = None
    assert bench.call("oasis", "info")["bus"] == []


def at_once(part, count=8):
    """Call something in many threads at the same moment; return what it gave."""
    found, start = [], threading.Barrier(count)
    work = [threading.Thread(target=lambda: (start.wait(), found.append(part()))) for _ in range(count)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join(60)
    return found


def test_what_is_made_with_its_first_use_is_made_once(tmp_path):
    """Calls come in many threads: a second book would write beside the first, a second shelf would drop its uploads."""
    root = copy_root(str(tmp_path / "r"))
    daemon = Daemon(Root(root, [root + "/bin", "/usr/bin", "/bin"]))
    try:
        for part in (daemon.turn_starter, daemon.conversations, daemon.book, daemon.origins):
            found = at_once(part)
            assert len(found) == 8
            assert len(set(map(id, found))) == 1
    finally:
        daemon.stop()


def test_a_page_with_a_login_of_its_own_is_told_what_that_login_proved_and_keeps_the_change(tmp_path):
    root = copy_root(str(tmp_path / "router"))
    daemon = Daemon(Root(root, [root + "/bin", "/usr/bin", "/bin"]))
    bench = Bench(daemon, time.monotonic, None)
    other = "d" * 32
    bench.rpcd.rights[other] = bench.rpcd.rights[OWNER]
    operations = parse("uci set wireless.default_radio0.ssid=Attic")[0]
    plan = daemon.methods._services.planner.propose(operations, "run1", "chat1", "a test")
    change = str(daemon.transaction.apply(plan)["id"])
    try:
        daemon._evidence().life._arrived.add(other)  # as Life.arrive does; see tests/change/apply/test_proof_of_life.py
        for where, method in (("oasis", "info"), ("oasis.change", "pending"), ("oasis.change", "list")):
            for session, proof in ((other, "login"), (OWNER, None)):
                reply = bench.call(where, method, session)
                found = reply.get("pending") or reply.get("change") or reply["changes"][0]
                assert (found["id"], found.get("proof")) == (change, proof), (method, session)
        assert bench.call("oasis.change", "confirm", OWNER)["error"]["code"] == "unproved"
        kept = bench.call("oasis.change", "confirm", other)["change"]
        assert (kept["state"], kept["proof"]) == ("confirmed", "login")
    finally:
        daemon.stop()
