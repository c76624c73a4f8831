"""Which addresses of the network a page may be fetched from: the internet, and what the owner listed.

The rule is data of the request: `open` lists places that are let through (HOST, HOST:PORT, an address or a network),
`closed` networks that are not although they look like the internet, as the router's own addresses and the prefixes of
its home network. All else that is not global is closed: loopback, private, link-local (with the metadata addresses of
clouds), shared, multicast, reserved, and IPv6 addresses that such an IPv4 address is wrapped in.
Source: the IANA special-purpose registries, as the module ipaddress has them; RFC 6052 for 64:ff9b::/96.
"""

from __future__ import annotations

import ipaddress
import socket

from oasis.errors import PolicyError, ProviderError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Address = ipaddress.IPv4Address | ipaddress.IPv6Address
    Resolve = Callable[[str, int], list[str]]

# A name with more is nobody's web page.
ADDRESSES = 16
_WRAPPED = ipaddress.ip_network("64:ff9b::/96")
# Not global everywhere in the module's older tables.
_ELSEWHERE = ("64:ff9b:1::/48", "5f00::/16", "fec0::/10", "192.88.99.0/24", "192.0.0.0/24", "::/96")
_MORE = tuple(map(ipaddress.ip_network, _ELSEWHERE))


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a host, as the system gives them.

    Raises: ProviderError when it has none.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ProviderError(f"{host} has no address: {error}", "is the name right, and the router online?")
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))[:ADDRESSES]


def checked(host: str, port: int, opened: list[str], closed: list[str], ask: Resolve) -> list[str]:
    """Return the addresses to connect to: those that were judged, so that a name cannot mean another one later.

    One closed address among them closes all: a name that leads both ways is a trick.
    Raises: PolicyError when it is not let through, ProviderError when there is no address.
    """
    found = ask(host, port)
    if not found:
        raise ProviderError(f"{host} has no address", "is the name right?")
    if is_listed(host, port, [], opened):
        return found
    for text in found:
        why = reason(text, closed)
        if why and not is_listed("", port, [text], opened):
            raise PolicyError(
                f"{host} is not fetched: {text} is {why}", "the owner lists what may be, in oasis.web.reach"
            )
    return found


def is_listed(host: str, port: int, addresses: list[str], opened: list[str]) -> bool:
    """Tell whether the owner listed a place, by its name or by one of the addresses."""
    for entry in opened:
        place, number = _split(entry.strip().lower())
        if number and number != port:
            continue
        if host and place == host.lower():
            return True
        network = _network(place)
        if network and any(_address(text) in network for text in addresses if _address(text)):
            return True
    return False


def reason(text: str, closed: list[str]) -> str:
    """Return what is wrong with an address, "" for one of the internet."""
    address = _address(text)
    if address is None:
        return "no address"
    for inner in (address, *_inside(address)):
        if inner.is_loopback:
            return "this router itself"
        if inner.is_link_local:
            return "of the local link"
        if not inner.is_global or inner.is_multicast or any(inner in network for network in _MORE):
            return "not of the internet"
        if any(network and inner in network for network in map(_network, closed)):
            return "of this router or its home network"
    return ""


def _inside(address: Address) -> list[Address]:
    """Return the IPv4 addresses that an IPv6 address stands for."""
    if address.version == 4:
        return []
    found: list[Address | None] = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _WRAPPED:
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [one for one in found if one is not None]


def _address(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _split(entry: str) -> tuple[str, int]:
    """Return host and port of HOST, HOST:PORT, [IPV6]:PORT or an IPv6 address."""
    if entry.startswith("["):
        host, _, rest = entry[1:].partition("]")
        port = rest[1:] if rest.startswith(":") else ""
    elif entry.count(":") == 1:
        host, _, port = entry.partition(":")
    else:
        host, port = entry, ""
    return host, int(port) if port.isascii() and port.isdigit() else 0
