"""Proof of life: what shows that the owner still reaches the router after a change, and what does not.

A reload leaves old connections alone: the page may go on talking over one that nobody could open any more. So the
proof is a connection that did not exist when the reload was over. `begin` lists all connections of that moment. A
nonce goes to the front-end whose run made the change or that approved it, before anything is applied, and to nobody
else. That front-end posts nonce and session to a CGI script, which adds the addresses and ports of the very connection
that it was asked over. Answers:

    proved      a new connection from another machine, with the nonce, of a session that may keep changes
    reused      the connection is older than the end of the reload: try again over a new one
    loopback    its other end is this machine, as with a tunnel through SSH: it proves the tunnel only
    stranger    wrong change or nonce, or the kernel knows no such connection
    denied      the session may not keep changes

The proof is automatic, and keeps nothing: keeping is the owner's press. Without a connection that proved it, keeping
needs one of these, which the record names ("proof"):

    login       asked from a login over SSH that was accepted after the reload, with or without a terminal; or from a
                page that did not make the change, whose session came over a connection as above (`arrive`): that
                shows its own way and no other, so it speaks for keeping only when this very session asks
    console     asked at a serial line or screen of the router: it proves nothing of the network, but is always there
    word        the owner says so, without a proof

A pseudo terminal that no SSH server made (tmux, a terminal on a web page) may be older than it looks and counts as
nothing. On a router root in a folder the settings may allow loopback (`alive_loopback`): there page, terminal and
daemon are on one machine on purpose. Knows no HTTP; all that it asks enters as a callable.

Before a change, the connection by which somebody came who starts a run is the way that a plan of that run must leave
open (`Origins`). Over SSH the server of their login holds it. Of a page a CGI script hands on the addresses of its own
request (`path.seen`, and each proof of life), and they are kept with the session. Nothing here is ever taken from what
a caller says of itself: a connection that the kernel does not list, or that stays on this machine, is no way.
"""

from __future__ import annotations

from oasis.errors import UnprovedError
from oasis.system import connections
from oasis.system.connections import OPEN, is_loopback, mirrored
from oasis.system.digest import is_equal
from oasis.ubus.outgoing import is_session, may

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.apply.verification import Bus
    from oasis.change.shapes import Callable, Role, Seconds
    from oasis.system.connections import Connection

# A page asks again when it is loaded; a browser that roams meanwhile has another address.
KEEP_S = 1800
# More sessions than a router has owners: the oldest give way.
_SESSIONS = 16


class Life:
    """Proofs of the one change that waits.

    `listed()` gives {connection: state}, `may_keep(session)` asks for the right, `login_of(pid)` as in
    system/connections.py, `up_s()` is the uptime, `is_here_fine` allows loopback.
    """

    def __init__(
        self, listed: Callable[[], dict[Connection, int]], may_keep: Callable[[str], bool],
        login_of: Callable[[int], tuple[str, float]], up_s: Seconds, is_here_fine: bool = False,
    ) -> None:  # fmt: skip
        self._listed, self._may_keep, self._login_of = listed, may_keep, login_of
        self._up_s, self._is_here_fine = up_s, is_here_fine
        self._since_s = 0.0
        self._old: frozenset[Connection] = frozenset()
        self._arrived: set[str] = set()
        self._change = self._nonce = ""

    def begin(self, change: str, nonce: str) -> None:
        """Remember this moment as the end of a change's reload; the nonce is that of its plan."""
        self._old, self._since_s = frozenset(self._listed()), self._up_s()
        self._arrived = set()
        self._nonce = nonce
        self._change = change

    def end(self) -> None:
        """Forget the change: it is confirmed or rolled back."""
        self._change, self._nonce, self._old, self._arrived = "", "", frozenset(), set()

    def nonce(self, change: str) -> str:
        """Return the nonce of a change that waits, "" for any other."""
        return self._nonce if change == self._change else ""

    def judge(self, change: str, nonce: str, session: str, one: Connection) -> str:
        """Return what a connection proves: one of the words of the module's docstring."""
        if not change or change != self._change or not is_equal(nonce, self._nonce):
            return "stranger"
        return self._weigh(session, one)

    def arrive(self, session: str, one: Connection) -> str:
        """Return what the connection of a page proves that has no nonce, "" while no change waits.

        A session that proved so much may keep the change itself, see `has_arrived`.
        """
        answer = self._weigh(session, one) if self._change else ""
        if answer == "proved":
            self._arrived.add(session)
        return answer

    def has_arrived(self, session: str) -> bool:
        """Return whether a session came over a new connection since the reload."""
        return session in self._arrived

    def _weigh(self, session: str, one: Connection) -> str:
        known = self._listed()
        if known.get(one) not in OPEN:
            return "stranger"
        if not self._may_keep(session):
            return "denied"
        if _is_here(one, known) and not self._is_here_fine:
            return "loopback"
        return "reused" if one in self._old else "proved"

    def witness(self, role: Role, is_unproved: bool) -> str:
        """Return what speaks for keeping when no connection proved it: login, console or word.

        Raises: UnprovedError when nothing does and the owner did not say that this is meant.
        """
        if self.has_arrived(str(role.get("session", ""))):
            return "login"
        kind, accepted_s = self._login_of(int(role.get("pid", 0)))
        if kind == "ssh" and accepted_s > self._since_s:
            return "login"
        if role["terminal"] and (kind == "console" or self._is_here_fine):
            return "console"
        if is_unproved:
            return "word"
        if kind == "ssh":
            raise UnprovedError(
                "this login is older than the change, so it does not show that you can still get in",
                "log in again and run `oasis confirm`, or, without a proof, `oasis confirm --unproved`",
            )
        raise UnprovedError(
            "nothing shows yet that you still reach the router",
            "open the chat page, or log in over SSH again and run `oasis confirm`; without a proof: "
            "`oasis confirm --unproved`",
        )


class Origins:
    """The ways of those who are here.

    `listed()` gives {connection: state}, `may_keep(session)` tells whether it is an owner's, `of_login(pid)` gives the
    connections that the SSH login of a process holds, `now_s()` is monotonic.
    """

    def __init__(
        self, listed: Callable[[], dict[Connection, int]], may_keep: Callable[[str], bool],
        of_login: Callable[[int], list[Connection]], now_s: Seconds,
    ) -> None:  # fmt: skip
        self._listed, self._may_keep, self._of_login, self._now_s = listed, may_keep, of_login, now_s
        self._seen: dict[str, tuple[Connection, float]] = {}

    def seen(self, session: str, one: Connection) -> str:
        """Note the connection of a session's request; return seen, loopback, stranger or denied, as for a proof."""
        known = self._listed()
        if known.get(one) not in OPEN:
            return "stranger"
        if _is_here(one, known):
            return "loopback"
        if not self._may_keep(session):
            return "denied"
        self._seen.pop(session, None)
        self._seen[session] = (one, self._now_s())
        while len(self._seen) > _SESSIONS:
            del self._seen[next(iter(self._seen))]
        return "seen"

    def of(self, role: Role) -> list[Connection]:
        """Return the connections by which somebody came, [] when nothing tells."""
        session = str(role.get("session", ""))
        if session:
            one, since_s = self._seen.get(session, (None, 0.0))
            return [one] if one is not None and self._now_s() - since_s <= KEEP_S else []
        pid = int(role.get("pid", 0))
        return self._of_login(pid) if pid > 0 else []


def of_login(pid: int) -> list[Connection]:
    """Return the connections that the SSH login of a process holds."""
    servers = [number for number, _ in connections.servers_of(pid)]
    return connections.of_processes(servers) if servers else []


def _is_here(one: Connection, known: dict[Connection, int]) -> bool:
    # A tunnel's end may use any of our own addresses: then the kernel lists both ends.
    return is_loopback(one[2]) or one[0] == one[2] or mirrored(one) in known


def may_keep(bus: Bus, session: str) -> bool:
    """Return whether a session of rpcd may keep changes."""
    return is_session(session) and may(bus, session, "oasis.change", "confirm") is True
