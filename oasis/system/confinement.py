"""Keep the workers from the router itself, and tell whether they are.

The rules (`rules`) are loaded at start and looked at again before every request to a worker and every risky plan,
because others may have flushed the whole ruleset (`/etc/init.d/firewall stop` does): what the kernel lists must be what
it listed when we loaded them, else they are loaded again. They stay when oasisd ends or dies: a worker may outlive it,
and without workers they concern nobody.

A router root in a folder is no router: nothing is loaded, and there is nothing that a worker could reach there.
"""

from __future__ import annotations

import _socket
import threading
from collections.abc import Callable

from oasis.errors import OasisError, PolicyError
from oasis.system.connections import packed
from oasis.system.root import Root

if False:  # annotations only
    Run = Callable[[list[str], bytes | None, float], tuple[int, bytes, bytes]]
    Server = tuple[str, str, int]


USER = "oasis"
# The worker's user first; those of tools and of MCP servers are fenced in the same way where they exist.
USERS = (USER, "oasis-tool", "oasis-mcp")
# The page asks for the state with everything it asks.
KEPT_S = 3.0
_TIMEOUT_S = 10.0
_COMPLAINT_CHARACTERS = 200


def user_ids(passwd: bytes) -> dict[str, int]:
    """Return the numbers of our users that the router has; one that is root, or of root's group, is none.

    Source: passwd(5).
    """
    found: dict[str, int] = {}
    for line in passwd.split(b"\n"):
        name, _, uid, gid, *_ = [*line.split(b":"), b"", b"", b""]
        user = name.decode("ascii", "replace")
        if user in USERS and uid.isdigit() and gid.isdigit() and int(uid) and int(gid):
            found.setdefault(user, int(uid))
    return found


def has_password(passwd: bytes, shadow: bytes) -> bool:
    """Tell whether nobody gets in as root without a password; a locked account has one.

    Source: passwd(5), shadow(5): the second field, in `shadow` when the one in `passwd` is "x".
    """
    for text in (passwd, shadow):
        lines = [line.split(b":") for line in text.split(b"\n")]
        field = next((words[1] for words in lines if words[0] == b"root" and len(words) > 1), None)
        if field != b"x":
            break
    return field != b""


class Confinement:
    """The fence of one router.

    `read(path)` gives a file's bytes or None, `run` is the executor's, `urls()` the addresses of the model services,
    `uid` the daemon's own.
    """

    def __init__(
        self, root: Root, read: Callable[[str], bytes | None], run: Run, urls: Callable[[], list[str]], uid: int,
        now_s: Callable[[], float],
    ) -> None:  # fmt: skip
        self._root = root
        self._read = read
        self._run = run
        self._urls = urls
        self._uid = uid
        self._now_s = now_s
        self._lock = threading.Lock()
        self._loaded: tuple[str, bytes] | None = None  # our text, and the kernel's words for it
        self._state: tuple[float, str] | None = None

    def reason(self) -> str:
        """Return "" when the workers are kept from the router, else why not; loads the rules when they are gone."""
        with self._lock:
            now_s = self._now_s()
            if self._state is None or now_s - self._state[0] > KEPT_S:
                self._state = (now_s, self._look())
            return self._state[1]

    def shown(self) -> str:
        """Return what people are shown: `reason()`, and in a folder what root's workers can do to its host.

        No plan asks for a typed word because of the latter: what is changed there is no router.
        """
        if self._root.folder != "/" and self._uid == 0:
            return "this router is a folder on a host and oasisd runs as root, so its AI worker has root's rights there"
        return self.reason()

    def prepare(self) -> None:
        """Have the rules in force before a worker is asked something.

        Raises: PolicyError when a worker would have to be root.
        """
        if self._root.folder != "/" or self._uid != 0:
            return
        with self._lock:
            uids = user_ids(self._file("/etc/passwd"))
            if USER not in uids:
                raise PolicyError(
                    "no worker is started: the user %s does not exist" % USER,
                    "/etc/init.d/oasis restart makes it; the offline service works without",
                )
            self._complaint(uids)

    def _look(self) -> str:
        """Return "" when the workers are kept from the router, else one sentence that says why they are not."""
        if self._root.folder != "/":
            return ""  # a folder on a developer's host: the folder has no ports, and the host is not ours to fence
        if self._uid != 0:
            return "oasisd does not run as root, so its workers have all rights that it has"
        uids = user_ids(self._file("/etc/passwd"))
        if USER not in uids:
            return "the user %s does not exist, so no worker can be kept apart from the router" % USER
        if not self._root.program("nft"):
            return "nft is not installed, so nothing keeps the workers from the router's own ports"
        complaint = self._complaint(uids)
        if complaint:
            return "the rules that keep the workers from the router's own ports are not loaded: %s" % complaint
        if not has_password(self._file("/etc/passwd"), self._file("/etc/shadow")):
            return "root has no password, so whoever reaches the router's SSH or page is its owner"
        return ""

    def _complaint(self, uids: dict[str, int]) -> str:
        """Load the rules unless they are in force; return "" or what is wrong."""
        nft = self._root.program("nft")
        text = rules(list(uids.values()), self._urls())
        try:
            if self._loaded and self._loaded == (text, self._listed(nft)):
                return ""
            self._loaded = None
            # As fw4 does it: /dev/stdin may be missing.
            status, _, err = self._run([nft, "-f", "/proc/self/fd/0"], text.encode(), _TIMEOUT_S)
            listed = self._listed(nft) if status == 0 else b""
        except OasisError as error:
            return error.message
        if not listed:
            return err.decode("utf-8", "replace").strip().partition("\n")[0][:_COMPLAINT_CHARACTERS] or "nft said no"
        self._loaded = (text, listed)
        return ""

    def _listed(self, nft: str) -> bytes:
        """Return what the kernel has of our table, b"" when there is none."""
        status, out, _ = self._run([nft, "list", "table", "inet", TABLE], None, _TIMEOUT_S)
        return out if status == 0 else b""

    def _file(self, path: str) -> bytes:
        return self._read(self._root.path(path)) or b""


# -- the rules, as text for nft ---------------------------------------------------------------------------------------
#
# fw4 replaces only its own table, so ours stays through its reloads. The rules ask the router nothing: user ids and the
# addresses of model services come in, text goes out.
#
# What the users keep: the resolver, port 53 of any address of the router; the model servers that the owner set, each by
# its exact address and port; everything that is not the router. What they lose: every other port of the router whatever
# its address (loopback, LAN, WAN, IPv6), broadcast, multicast, and answering connections as a server. Refused at once,
# so that a wrong setting is an error and not a wait.

TABLE = "oasis_worker"
_PORTS = {"http": 80, "https": 443}
# SSH and the page: never a model server, whatever the settings say.
_MANAGEMENT_PORTS = (22, 80, 443)

# After destination NAT (-100), so that the address is the one where the packet really goes.
_RULES = """table inet %(table)s
delete table inet %(table)s
table inet %(table)s {
	chain output {
		type filter hook output priority 10; policy accept;
		meta skuid { %(uids)s } jump worker
	}
	chain worker {
		tcp flags & (syn | ack) == syn | ack drop
		fib daddr type local udp dport 53 accept
		fib daddr type local tcp dport 53 accept
%(servers)s		fib daddr type { local, broadcast, anycast, multicast } jump closed
	}
	chain closed {
		meta l4proto tcp reject with tcp reset
		reject with icmpx admin-prohibited
	}
}
"""


def rules(uids: list[int], urls: list[str]) -> str:
    """Return what `nft -f` loads, in one step and in place of what was there.

    `urls` are the addresses of the model services.
    """
    servers = sorted({server for url in urls for server in _servers(url)})
    lines = ["\t\t%s daddr %s tcp dport %d accept\n" % server for server in servers]
    return _RULES % {"table": TABLE, "uids": ", ".join(map(str, sorted(uids))), "servers": "".join(lines)}


def lets(url: str) -> bool:
    """Tell whether a model server at this address can be reached even when it is on the router itself."""
    return bool(_servers(url))


def _servers(url: str) -> list[Server]:
    """Return where a service may be on the router itself; a name leads elsewhere, or is refused as the router."""
    scheme, _, rest = url.partition("://")
    place = rest.partition("/")[0].partition("?")[0].partition("#")[0].rpartition("@")[2]
    if place.startswith("["):
        host, _, after = place[1:].partition("]")
        port = after[1:] if after.startswith(":") else ""
    else:
        host, _, port = place.partition(":")
    number = int(port) if port.isascii() and port.isdigit() else _PORTS.get(scheme.lower(), 0)
    if not 0 < number < 65536 or number in _MANAGEMENT_PORTS:
        return []
    found: list[Server] = []
    for text in ["127.0.0.1", "::1"] if host.lower() == "localhost" else [host]:
        address = packed(text)
        if address:  # nft's word for the family, the address as the system writes it
            word, family = ("ip", _socket.AF_INET) if len(address) == 4 else ("ip6", _socket.AF_INET6)
            found.append((word, _socket.inet_ntop(family, address), number))
    return found
