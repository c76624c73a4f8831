"""The TCP connections of this machine, as the kernel lists them.

A connection is (local address, local port, remote address, remote port), addresses as 4 or 16 bytes; an IPv4 address
in an IPv6 socket counts as IPv4. Source: the kernel's tcp_ipv4.c, get_tcp4_sock: each 32-bit word of an address is
printed as a number of the host's own byte order, the port as a number.
"""

from __future__ import annotations

import _socket
import os
import sys

from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    Connection = tuple[bytes, int, bytes, int]

FOLDER = "/proc/net"
LISTENS = 10
# Established, and closed by the other end alone: it may have said all it wants and still reads.
OPEN = (1, 8)
_MAPPED = b"\0" * 10 + b"\xff\xff"


def connections(folder: str = FOLDER) -> dict[Connection, int]:
    """Return the state (kernel's number) of every TCP connection; what only listens is left out."""
    return {_both(words): int(words[3], 16) for words in _table(folder)}


def of_processes(pids: list[int], folder: str = "/proc") -> list[Connection]:
    """Return the connections whose sockets processes hold; none of a process that is gone or another user's.

    Source: proc(5), /proc/PID/fd: a socket is a link to "socket:[INODE]", the number of the tables' tenth column.
    """
    held = {link for pid in pids for link in _links("%s/%d/fd/" % (folder, pid))}
    return [_both(words) for words in _table(folder + "/net") if len(words) > 9 and "socket:[%s]" % words[9] in held]


def connection(local: str, local_port: str, remote: str, remote_port: str) -> Connection:
    """Return a connection from the words of a CGI's environment.

    Raises: UsageError when they are no addresses and ports.
    """
    return (*_words(local, local_port), *_words(remote, remote_port))


def is_loopback(address: bytes) -> bool:
    """Return whether an address never leaves the machine."""
    return address[:1] == b"\x7f" if len(address) == 4 else address == b"\0" * 15 + b"\x01"


def mirrored(one: Connection) -> Connection:
    """Return a connection as its other end sees it."""
    return (*one[2:], *one[:2])


def _table(folder: str) -> list[list[str]]:
    """Return the lines of all connections, as words."""
    found: list[list[str]] = []
    for name in ("tcp", "tcp6"):
        try:
            with open(folder + "/" + name, encoding="ascii") as lines:
                next(lines, "")
                rows = [line.split() for line in lines]
                found += [words for words in rows if len(words) > 3 and int(words[3], 16) != LISTENS]
        except OSError as error:
            if error.errno != 2:  # a kernel without IPv6 has no tcp6
                raise
    return found


def _links(folder: str) -> list[str]:
    """Return what the links of a folder point to; none of those, and of folders, that are gone meanwhile."""
    found = []
    try:
        for name in os.listdir(folder):
            try:
                found.append(os.readlink(folder + name))
            except OSError:
                continue
    except OSError:
        return found
    return found


def _both(words: list[str]) -> Connection:
    return (*_end(words[1]), *_end(words[2]))


def _end(text: str) -> tuple[bytes, int]:
    digits, _, port = text.partition(":")
    parts = [int(digits[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(digits), 8)]
    return _plain(b"".join(parts)), int(port, 16)


def _words(address: str, port: str) -> tuple[bytes, int]:
    family = _socket.AF_INET6 if ":" in address else _socket.AF_INET
    try:
        packed = _socket.inet_pton(family, address.partition("%")[0])
    except (OSError, ValueError):
        raise UsageError("%r is no address" % address[:64], "the web server gives it to a CGI script")
    if not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise UsageError("%r is no port" % port[:16], "the web server gives it to a CGI script")
    return _plain(packed), int(port)


def _plain(address: bytes) -> bytes:
    return address[12:] if address[:12] == _MAPPED else address
