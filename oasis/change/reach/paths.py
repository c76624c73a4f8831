"""The ways by which owners reach the router now, read from connections.

Shape of a path: {"family": 4 | 6, "source": the peer's address, "source_port": int, "address": the router's address
that it uses, "port": int, "protocol": "tcp"}.
Knows nothing of the configuration but `management_ports`. Source: Linux, Documentation/networking/proc_net_tcp.rst.
"""

from __future__ import annotations

import sys

from oasis.catalogue import address_text
from oasis.change.reach import sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Iterable, Path
    from oasis.system.connections import Connection

_ESTABLISHED = b"01"
_MAPPED = 0xFFFF << 32  # ::ffff:0:0/96, IPv4 on a socket of both families
_DEFAULT_PORTS = (22, 80, 443)


def owner_paths(
    tcp_table: bytes, tcp6_table: bytes, listen_ports: Iterable[int], order: str = sys.byteorder
) -> list[Path]:
    """Return every established connection from elsewhere to one of the ports, each peer, address and port once.

    `tcp_table` and `tcp6_table` are the texts of /proc/net/tcp and tcp6 ("" where there is none); `order` is the byte
    order of the router, in whose words the kernel prints addresses.
    """
    ports, found, seen = set(listen_ports), [], set()
    for line in tcp_table.split(b"\n")[1:] + tcp6_table.split(b"\n")[1:]:
        words = line.split()
        if len(words) < 4 or words[3] != _ESTABLISHED:
            continue
        path = _path(_endpoint(words[2], order), _endpoint(words[1], order))
        key = path and (path["source"], path["address"], path["port"])
        if path and path["port"] in ports and key not in seen:
            seen.add(key)
            found.append(path)
    return found


def among(ways: list[Path], came: Iterable[Connection]) -> list[Path]:
    """Return the ways by which somebody came, as far as they stand; all of them when none of his does.

    A browser opens connections as it likes, so peer, address and port tell its way, and not the peer's port.
    """
    own = [(_text(one[2]), _text(one[0]), one[1]) for one in came]
    return [way for way in ways if (way["source"], way["address"], way["port"]) in own] or ways


def _text(address: bytes) -> str:
    return address_text.text_of(4 if len(address) == 4 else 6, int.from_bytes(address, "big"))


def management_ports(files: dict[str, bytes]) -> list[int]:
    """Return the ports that dropbear and uhttpd are told to listen on, and the usual ones."""
    ports = set(_DEFAULT_PORTS)
    config = sections.read({name: files[name] for name in ("dropbear", "uhttpd") if name in files})
    for section in sections.typed(config.get("dropbear", {}), "dropbear"):
        ports.update(int(word) for word in sections.texts(section, "Port") if address_text.is_port(word))
    for section in sections.typed(config.get("uhttpd", {}), "uhttpd"):
        for word in sections.texts(section, "listen_http") + sections.texts(section, "listen_https"):
            port = word.rpartition(":")[2]
            ports.update([int(port)] if address_text.is_port(port) else [])
    return sorted(ports)


def _path(peer: tuple[int, int, int], here: tuple[int, int, int]) -> Path | None:
    (family, source, source_port), (own_family, address, port) = _unmapped(peer), _unmapped(here)
    if family != own_family or _is_loopback(family, source) or _is_loopback(family, address):
        return None
    return {
        "family": family, "source": address_text.text_of(family, source), "source_port": source_port,
        "address": address_text.text_of(family, address), "port": port, "protocol": "tcp",
    }  # fmt: skip


def _unmapped(end: tuple[int, int, int]) -> tuple[int, int, int]:
    family, value, port = end
    if family == 6 and value & ~0xFFFFFFFF == _MAPPED:
        return 4, value & 0xFFFFFFFF, port
    return end


def _is_loopback(family: int, value: int) -> bool:
    return value >> 24 == 127 if family == 4 else value == 1


def _endpoint(word: bytes, order: str) -> tuple[int, int, int]:
    """Return (family, address, port) of ADDRESS:PORT in hex; each 32 bits of the address stand in the host's order."""
    address, _, port = word.partition(b":")
    value = 0
    for start in range(0, len(address), 8):
        raw = bytes.fromhex(address[start : start + 8].decode("ascii"))
        value = value << 32 | int.from_bytes(raw, "little" if order == "little" else "big")
    return 4 if len(address) == 8 else 6, value, int(port, 16)
