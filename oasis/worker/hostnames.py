"""Names and addresses of hosts: which addresses of the network a page may be fetched from, and names without a codec.

The rule is data of the request: `open` lists places that are let through (HOST, HOST:PORT, an address or a network),
`closed` networks that are not although they look like the internet, as the router's own addresses and the prefixes of
its home network. All else that is not of the internet (core/addresses.py) is closed: loopback, private, link-local,
with the metadata addresses of clouds, shared, multicast, reserved, and IPv6 addresses that such an IPv4 address is in.

A router has no python3-codecs, which is large and holds what the codec `idna` needs. Sockets and TLS encode every name
with that codec, also names that need nothing of it. Where it cannot be imported, one takes its place that takes ASCII
and refuses the rest (UnicodeEncodeError); such names can be written as xn--….
"""

from __future__ import annotations

import codecs
import socket
import urllib.parse

from oasis.core.addresses import not_of_internet, number, wrapped
from oasis.errors import PolicyError, ProviderError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import ReadableBuffer as Buffer

    Network = tuple[int, int, int]  # 4 or 6, the first bits, how many
    Resolve = Callable[[str, int], list[str]]


def split(url: str) -> urllib.parse.SplitResult:
    """Take an address apart.

    Raises: ValueError for what is none, and for letters that cannot be judged here (urllib asks unicodedata).
    """
    try:
        return urllib.parse.urlsplit(url)
    except ImportError:
        raise ValueError("letters beyond ASCII in a host's name")


def prepare() -> bool:
    """Have names encoded by something, before rights are dropped; return whether that is the whole codec."""
    try:
        import encodings.idna  # noqa: F401
    except ImportError:
        codecs.register(_search)
        return False
    return True


def _search(name: str) -> codecs.CodecInfo | None:
    return codecs.CodecInfo(_encode, _decode, name="idna") if name == "idna" else None


def _encode(text: str, errors: str = "strict") -> tuple[bytes, int]:
    return text.encode("ascii", errors), len(text)


def _decode(data: Buffer, errors: str = "strict") -> tuple[str, int]:
    whole = bytes(data)
    return whole.decode("ascii", errors), len(whole)


# A name with more is nobody's web page.
ADDRESSES = 16
_BITS = {4: 32, 6: 128}


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
        place, wanted = _split(entry.strip().lower())
        if wanted and wanted != port:
            continue
        if host and place == host.lower():
            return True
        network = _network(place)
        if network and any(_is_in(number(text.partition("%")[0]), network) for text in addresses):
            return True
    return False


def reason(text: str, closed: list[str]) -> str:
    """Return what is wrong with an address, "" for one of the internet."""
    why = not_of_internet(text)
    if why:
        return why
    address = number(text.partition("%")[0])
    assert address is not None
    inner = [(4, one) for one in wrapped(address[1])] if address[0] == 6 else []
    networks = [network for network in map(_network, closed) if network]
    if any(_is_in(one, network) for one in (address, *inner) for network in networks):
        return "of this router or its home network"
    return ""


def _is_in(address: tuple[int, int] | None, network: Network) -> bool:
    family, first, length = network
    return address is not None and address[0] == family and address[1] >> (_BITS[family] - length) == first


def _network(text: str) -> Network | None:
    place, slash, bits = text.partition("/")
    address = number(place)
    if address is None:
        return None
    most = _BITS[address[0]]
    length = int(bits) if bits.isascii() and bits.isdigit() and len(bits) < 4 else -1 if slash else most
    return (address[0], address[1] >> (most - length), length) if 0 <= length <= most else None


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
