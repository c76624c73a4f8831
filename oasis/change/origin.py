"""By which connection somebody came who starts a run: the way that a plan of that run must leave open.

Over SSH the kernel tells it: the process at the other end of our socket descends from a login, whose server holds the
connection (system/connections.py). A page in a browser cannot know it, so the web server tells: a CGI script hands
on the addresses of its own request (`path.seen`, and each proof of life), and they are kept with the session. Whatever
else is asked comes from nobody in particular. Nothing here is ever taken from what a caller says of itself: a
connection that the kernel does not list, or that stays on this machine, as a tunnel's does, is no way.
"""

from __future__ import annotations

from oasis.system.connections import OPEN, is_loopback, mirrored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.apply.verification import Bus
    from oasis.change.shapes import Callable, Role, Seconds
    from oasis.system.connections import Connection

# A page asks again when it is loaded; a browser that roams meanwhile has another address.
KEEP_S = 1800
# More sessions than a router has owners: the oldest give way.
_SESSIONS = 16


class Origins:
    """The ways of those who are here.

    `connections()` gives {connection: state}, `may_keep(session)` tells whether it is an owner's, `of_login(pid)` gives
    the connections that the SSH login of a process holds, `now_s()` is monotonic.
    """

    def __init__(
        self,
        connections: Callable[[], dict[Connection, int]],
        may_keep: Callable[[str], bool],
        of_login: Callable[[int], list[Connection]],
        now_s: Seconds,
    ) -> None:
        self._connections = connections
        self._may_keep = may_keep
        self._of_login = of_login
        self._now_s = now_s
        self._seen: dict[str, tuple[Connection, float]] = {}

    def seen(self, session: str, one: Connection) -> str:
        """Note the connection of a session's request; return seen, loopback, stranger or denied, as for a proof."""
        known = self._connections()
        if known.get(one) not in OPEN:
            return "stranger"
        if is_loopback(one[2]) or one[0] == one[2] or mirrored(one) in known:
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


def gather(bus: Bus, now_s: Seconds) -> Origins:
    """Return the origins of one router."""
    from oasis.system import connections

    def may_keep(session: str) -> bool:
        from oasis.change.apply import evidence  # most runs come from no page

        return evidence.may_keep(bus, session)

    def of_login(pid: int) -> list[Connection]:
        servers = connections.servers_of(pid)
        return connections.of_processes(servers) if servers else []

    return Origins(connections.connections, may_keep, of_login, now_s)
