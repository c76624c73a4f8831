"""Proof of life: only a new connection from elsewhere proves, with the nonce, of a session that may keep changes."""

import pytest

from oasis.change.apply.evidence import luci_waits
from oasis.change.apply.proof_of_life import Life, may_keep
from oasis.errors import ToolError, UnprovedError
from oasis.system.connections import connection, mirrored
from oasis.ubus.message import NO_DATA, NOT_FOUND

OLD = connection("192.168.1.1", "80", "192.168.1.142", "40000")
NEW = connection("192.168.1.1", "80", "192.168.1.142", "40001")
LOCAL = connection("127.0.0.1", "80", "127.0.0.1", "40002")
OWN = connection("192.168.1.1", "80", "192.168.1.1", "40003")
# ssh -L to the LAN address, from a router with another address of its own
TUNNEL = connection("192.168.1.1", "80", "10.0.0.1", "40004")
LATE = connection("192.168.1.1", "80", "192.168.1.142", "40005")
SESSION = "0123456789abcdef" * 2
NONCE = "5" * 32


class Router:
    """What the kernel, rpcd and the process table say; a test alters it."""

    def __init__(self):
        self.connections = {OLD: 1}
        self.may = True
        self.login = ("unknown", 0.0)
        self.asked = []

    def life(self, is_here_fine=False):
        life = Life(lambda: dict(self.connections), self.may_keep, lambda pid: self.login, lambda: 500.0, is_here_fine)
        life.begin("c1", NONCE)
        self.connections.update({NEW: 1, LOCAL: 1, OWN: 1, TUNNEL: 1, mirrored(TUNNEL): 1})
        return life

    def may_keep(self, session):
        self.asked.append(session)
        return self.may


@pytest.fixture
def router():
    return Router()


def judge(life, one, change="c1", nonce=None):
    return life.judge(change, life.nonce("c1") if nonce is None else nonce, SESSION, one)


@pytest.mark.parametrize(
    "one, answer",
    [(NEW, "proved"), (OLD, "reused"), (LOCAL, "loopback"), (OWN, "loopback"), (TUNNEL, "loopback"),
     (LATE, "stranger")],
)  # fmt: skip
def test_what_a_connection_proves(router, one, answer):
    assert judge(router.life(), one) == answer


def test_a_stranger_has_not_the_nonce(router):
    life = router.life()
    for nonce in ("", "0" * 32, life.nonce("c1")[:-1], life.nonce("c1") + "0"):
        assert judge(life, NEW, nonce=nonce) == "stranger"
    assert judge(life, NEW, change="c2") == "stranger"
    assert router.asked == [], "who has not the nonce learns nothing of sessions"


def test_a_session_that_may_not_keep_changes_proves_nothing(router):
    router.may = False
    assert judge(router.life(), NEW) == "denied"
    assert router.asked == [SESSION]


def test_a_connection_that_is_closing_proves_nothing(router):
    life = router.life()
    router.connections[NEW] = 6  # TIME_WAIT
    assert judge(life, NEW) == "stranger"


def test_each_change_has_a_nonce_of_its_own_until_it_is_decided(router):
    life = router.life()
    first = life.nonce("c1")
    assert first == NONCE
    life.begin("c2", "e" * 32)
    assert life.nonce("c1") == ""
    assert life.nonce("c2") not in ("", first)
    life.end()
    assert life.nonce("c2") == "" == life.nonce("")
    assert life.judge("", "", SESSION, NEW) == "stranger"


def test_in_a_folder_loopback_may_be_allowed(router):
    life = router.life(is_here_fine=True)
    assert judge(life, LOCAL) == judge(life, TUNNEL) == "proved"
    assert judge(life, OLD) == "reused"


@pytest.mark.parametrize(
    "login, terminal, here, unproved, answer",
    [
        (("ssh", 501.0), True, False, False, "login"),
        (("ssh", 501.0), False, False, False, "login"),
        (("ssh", 499.0), True, False, True, "word"),
        (("console", 0.0), True, False, False, "console"),
        (("unknown", 0.0), True, True, False, "console"),
        (("unknown", 0.0), False, True, True, "word"),
    ],
)
def test_what_speaks_for_keeping_without_a_connection(router, login, terminal, here, unproved, answer):
    router.login = login
    role = {"name": "owner", "terminal": terminal, "pid": 7}
    assert router.life(here).witness(role, unproved) == answer


@pytest.mark.parametrize(
    "login, terminal, here, words",
    [
        (("ssh", 499.0), True, False, "older than the change"),
        (("ssh", 499.0), False, False, "older than the change"),
        (("unknown", 0.0), True, False, "nothing shows yet"),
        (("unknown", 0.0), False, True, "nothing shows yet"),
        (("console", 0.0), False, False, "nothing shows yet"),
    ],
)
def test_without_any_of_it_keeping_is_refused(router, login, terminal, here, words):
    router.login = login
    with pytest.raises(UnprovedError, match=words) as caught:
        router.life(here).witness({"name": "owner", "terminal": terminal, "pid": 7}, False)
    assert "--unproved" in caught.value.hint


@pytest.mark.parametrize(
    "one, answer", [(NEW, "proved"), (OLD, "reused"), (LOCAL, "loopback"), (TUNNEL, "loopback"), (LATE, "stranger")]
)
def test_a_page_that_did_not_make_the_change_may_keep_it_when_its_own_connection_is_new(router, one, answer):
    life = router.life()
    role = {"name": "owner", "terminal": False, "pid": 0, "session": SESSION}
    assert life.arrive(SESSION, one) == answer
    assert life.has_arrived(SESSION) is (answer == "proved")
    if answer == "proved":
        assert life.witness(role, False) == "login"
    for other in (role if answer != "proved" else {**role, "session": "f" * 32}, {**role, "session": ""}):
        with pytest.raises(UnprovedError):
            life.witness(other, False)


def test_what_a_page_proved_for_one_change_says_nothing_of_the_next(router):
    life = router.life()
    assert life.arrive(SESSION, NEW) == "proved"
    life.begin("c2", NONCE)
    assert not life.has_arrived(SESSION)
    assert life.arrive(SESSION, NEW) == "reused"
    life.end()
    assert life.arrive(SESSION, LATE) == "" and not life.has_arrived(SESSION)


def test_a_session_that_may_only_look_never_arrives(router):
    router.may = False
    life = router.life()
    assert life.arrive(SESSION, NEW) == "denied"
    assert not life.has_arrived(SESSION)


@pytest.mark.parametrize("reply, answer", [({"access": True}, True), ({"access": False}, False), (None, False)])
def test_the_right_of_a_session_is_rpcds_to_tell(reply, answer):
    asked = []
    assert may_keep(lambda *call: asked.append(call) or reply, SESSION) is answer
    expected = {"ubus_rpc_session": SESSION, "scope": "ubus", "object": "oasis.change", "function": "confirm"}
    assert asked == [("session", "access", expected)]


@pytest.mark.parametrize("session", ["", "x" * 32, SESSION[:-1], SESSION + "0", '{"a":1}', SESSION.upper()])
def test_what_cannot_be_a_session_is_not_asked_about(session):
    assert may_keep(lambda *call: pytest.fail("asked"), session) is False


def test_an_unknown_session_may_nothing():
    def bus(*call):
        raise ToolError("ubus call session access: not found")

    assert may_keep(bus, SESSION) is False


@pytest.mark.parametrize(
    "status, waits", [(NO_DATA, False), (NOT_FOUND, False), (6, True), (7, True), (None, True), (0, True)]
)
def test_whether_an_apply_of_luci_waits_is_rpcds_to_tell(status, waits):
    """A session that nobody has confirms nothing. None: it answers as to one that it waits for."""
    asked = []

    def bus(*call):
        asked.append(call)
        if status is not None:
            error = ToolError("ubus call uci confirm: …")
            error.status = status
            raise error

    assert luci_waits(bus) is luci_waits(bus) is waits
    (name, method, first), (_, _, second) = asked
    assert (name, method, list(first)) == ("uci", "confirm", ["ubus_rpc_session"])
    assert len(first["ubus_rpc_session"]) == 32 and first != second
