"""The rules that keep the workers' users from the router itself: a table of nftables of our own, as text.

fw4 replaces only its own table, so ours stays through its reloads. Nothing here asks the router anything: user ids and
the addresses of model services come in, text goes out.

What the users keep: the resolver, port 53 of any address of the router; the model servers that the owner set, each by
its exact address and port; everything that is not the router. What they lose: every other port of the router whatever
its address (loopback, LAN, WAN, IPv6), broadcast, multicast, and answering connections as a server. Refused at once,
so that a wrong setting is an error and not a wait.
"""

from __future__ import annotations

import _socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    Server = tuple[str, str, int]

TABLE = "oasis_worker"
_PORTS = {"http": 80, "https": 443}
# SSH and the page: never a model server, whatever the settings say.
_MANAGEMENT_PORTS = (22, 80, 443)
_MAPPED = b"\0" * 10 + b"\xff\xff"

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
    host, port = _split(place)
    number = int(port) if port.isascii() and port.isdigit() else _PORTS.get(scheme.lower(), 0)
    if not 0 < number < 65536 or number in _MANAGEMENT_PORTS:
        return []
    hosts = ["127.0.0.1", "::1"] if host.lower() == "localhost" else [host]
    return [(*address, number) for address in map(_address, hosts) if address]


def _split(place: str) -> tuple[str, str]:
    if place.startswith("["):
        host, _, rest = place[1:].partition("]")
        return host, rest[1:] if rest.startswith(":") else ""
    host, _, port = place.partition(":")
    return host, port


def _address(text: str) -> tuple[str, str] | None:
    """Return (nft's word for the family, the address as the system writes it), None for what is no address."""
    family = _socket.AF_INET6 if ":" in text else _socket.AF_INET
    try:
        packed = _socket.inet_pton(family, text)
    except (OSError, ValueError):
        return None
    if packed[:12] == _MAPPED:
        return "ip", _socket.inet_ntop(_socket.AF_INET, packed[12:])
    return ("ip6" if family == _socket.AF_INET6 else "ip"), _socket.inet_ntop(family, packed)
