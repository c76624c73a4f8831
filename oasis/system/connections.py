"""Who is at the other end: TCP connections as the kernel lists them, the logins behind them, probes, our own socket.

A connection is (local address, local port, remote address, remote port), addresses as 4 or 16 bytes; an IPv4 address
in an IPv6 socket counts as IPv4. Source: the kernel's tcp_ipv4.c, get_tcp4_sock: each 32-bit word of an address is
printed as a number of the host's own byte order, the port as a number.
"""

from __future__ import annotations

import _socket
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator

from oasis.errors import StoreError, ToolError, UsageError

if False:  # annotations only
    Connection = tuple[bytes, int, bytes, int]
    Run = Callable[..., tuple[int, bytes, bytes]]
    Answer = Callable[[bytes, dict[str, object]], bytes]


FOLDER = "/proc/net"
LISTENS = 10
# Established, and closed by the other end alone: it may have said all it wants and still reads.
OPEN = (1, 8)
_MAPPED = b"\0" * 10 + b"\xff\xff"


def connections(folder: str = FOLDER) -> dict[Connection, int]:
    """Return the state (kernel's number) of every TCP connection; what only listens is left out."""
    return {one: state for one, state, _ in _table(folder)}


def of_processes(pids: list[int], folder: str = "/proc") -> list[Connection]:
    """Return the connections whose sockets processes hold; none of a process that is gone or another user's.

    Source: proc(5), /proc/PID/fd: a socket is a link to "socket:[INODE]", the number of the tables' tenth column.
    """
    held = set()
    for pid in pids:
        try:
            places = [entry.path for entry in os.scandir("%s/%d/fd" % (folder, pid))]
        except OSError:
            continue
        for place in places:
            try:
                held.add(os.readlink(place))
            except OSError:
                continue  # closed meanwhile
    return [one for one, _, inode in _table(folder + "/net") if "socket:[%s]" % inode in held]


def connection(local: str, local_port: str, remote: str, remote_port: str) -> Connection:
    """Return a connection from the words of a CGI's environment.

    Raises: UsageError when they are no addresses and ports.
    """
    ends = []
    for address, port in ((local, local_port), (remote, remote_port)):
        found = packed(address.partition("%")[0])
        if found is None:
            raise UsageError("%r is no address" % address[:64], "the web server gives it to a CGI script")
        if not (port.isascii() and port.isdigit() and int(port) < 65536):
            raise UsageError("%r is no port" % port[:16], "the web server gives it to a CGI script")
        ends.append((found, int(port)))
    return (*ends[0], *ends[1])


def packed(text: str) -> bytes | None:
    """Return an address as 4 or 16 bytes, None for what is none."""
    try:
        return _plain(_socket.inet_pton(_socket.AF_INET6 if ":" in text else _socket.AF_INET, text))
    except (OSError, ValueError):
        return None


def is_loopback(address: bytes) -> bool:
    return address[:1] == b"\x7f" if len(address) == 4 else address == b"\0" * 15 + b"\x01"


def mirrored(one: Connection) -> Connection:
    """Return a connection as its other end sees it."""
    return (*one[2:], *one[:2])


def _table(folder: str) -> Iterator[tuple[Connection, int, str]]:
    """Yield (connection, state, number of the inode or "") of each line of the kernel's tables that does not listen."""
    for name in ("tcp", "tcp6"):
        try:
            with open(folder + "/" + name, encoding="ascii") as lines:
                rows = [line.split() for line in lines][1:]
        except OSError as error:
            if error.errno != 2:  # a kernel without IPv6 has no tcp6
                raise
            continue
        for words in rows:
            if len(words) > 3 and int(words[3], 16) != LISTENS:
                inode = words[9] if len(words) > 9 else ""
                yield (*_end(words[1]), *_end(words[2])), int(words[3], 16), inode


def _end(text: str) -> tuple[bytes, int]:
    digits, _, port = text.partition(":")
    parts = [int(digits[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(digits), 8)]
    return _plain(b"".join(parts)), int(port, 16)


def _plain(address: bytes) -> bytes:
    return address[12:] if address[:12] == _MAPPED else address


# -- probes: does an address answer, is a name found? -----------------------------------------------------------------
#
# Knows busybox's words for them. One packet, one question, a time limit; a host without the programs gets None.

# Time that the program may need in addition to its own limit, to start and to end.
_MORE_S = 0.5
# nslookup asks for IPv4 and IPv6 and fails when one of them is refused: what it found stands under this word.
_FOUND = b"\nName:"


class Probe:
    """The probes of one router; `run` is the executor's, `program(name)` the path of a program or ""."""

    def __init__(self, run: Run, program: Callable[[str], str]) -> None:
        self._run = run
        self._program = program

    def ping(self, address: str, seconds: int) -> bool | None:
        """Tell whether an address answers a ping within some seconds; None when nobody can ask."""
        answer = self._ask("ping", ["-c", "1", "-W", str(seconds), address], seconds)
        return None if answer is None else answer[0] == 0

    def lookup(self, name: str, server: str, seconds: int) -> bool | None:
        """Tell whether a server finds a name within some seconds; None when nobody can ask."""
        answer = self._ask("nslookup", [name, server], seconds)
        return None if answer is None else answer[0] == 0 or _FOUND in answer[1]

    def _ask(self, name: str, words: list[str], seconds: int) -> tuple[int, bytes] | None:
        """Return exit status and words of a program, None where there is none."""
        program = self._program(name)
        if not program:
            return None
        try:
            status, answer, _ = self._run([program, *words], timeout_s=seconds + _MORE_S)
        except ToolError:
            return 1, b""  # it did not end in time: nobody answered
        return status, answer


# -- logins: how the process at the other end came to this machine ----------------------------------------------------
#
# Followed from the process to its parents in /proc. An SSH server has one process a login, made when its connection was
# accepted and gone with it; a session shared over an older connection (ControlMaster) belongs to the older process.
# Source: proc(5), /proc/PID/stat.

PROC = "/proc"
SERVERS = ("dropbear", "sshd", "sshd-session", "sshd-auth")
# Major numbers of Unix 98 pseudo terminals; any other terminal is a serial line or a screen of the machine itself.
_PSEUDO = range(136, 144)
# More parents than any login has.
_DEPTH = 64


def login_of(pid: int, folder: str = PROC) -> tuple[str, float]:
    """Return how a process came here and, for SSH, when its connection was accepted.

    Shape: ("ssh", seconds of uptime), ("console", 0.0) or ("unknown", 0.0).
    """
    servers = servers_of(pid, folder)
    if servers:
        return "ssh", servers[-1][1] / os.sysconf("SC_CLK_TCK")
    first = _stat(pid, folder)
    major = (first[2] >> 8) & 0xFFF if first else 0
    return ("console" if major and major not in _PSEUDO else "unknown"), 0.0


def servers_of(pid: int, folder: str = PROC) -> list[tuple[int, int]]:
    """Return the processes of the SSH server that serve the login of a process alone; [] when it has no such login.

    Each with its start in clock ticks, the innermost first.
    """
    process = _stat(pid, folder)
    found: list[tuple[int, int]] = []
    for _ in range(_DEPTH):
        if process is None:
            break
        name, parent, _, started = process
        above = _stat(parent, folder) if parent > 0 else None
        if name in SERVERS:
            # The one that listens is the last of them and serves everybody, so it is not the login.
            if not found or (above is not None and above[0] in SERVERS):
                found.append((pid, started))
        elif found:
            break
        process, pid = above, parent
    return found


def _stat(pid: int, folder: str) -> tuple[str, int, int, int] | None:
    """Return (name, parent, controlling terminal, start in clock ticks since boot) of a process, None without one."""
    try:
        with open("%s/%d/stat" % (folder, pid), encoding="utf-8", errors="replace") as handle:
            text = handle.read()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    name = text.partition("(")[2].rpartition(")")[0]
    return name, int(fields[1]), int(fields[4]), int(fields[19])


# -- our socket: lines, answered -------------------------------------------------------------------------------------
#
# The kernel says who is at the other end (SO_PEERCRED) when the connection opens, never by what it says. The socket and
# its folder are private to the user that runs us.

LINE_BYTES = 1024 * 1024
# A page of LuCI, a few terminals, a messenger and a phone: each holds one connection while it polls.
CONNECTIONS = 32
# When no descriptor or no thread is to be had, the next try waits this long.
_PAUSE_S = 0.1


class LineServer:
    """A listening socket: one thread a connection, one line in, one line out.

    `answer(line, peer)` returns the reply line; peer is {"pid", "uid", "terminal"}.
    """

    def __init__(self, path: str, answer: Answer) -> None:
        self._answer = answer
        self._path = path
        self._is_stopped = False
        self._slots = threading.BoundedSemaphore(CONNECTIONS)
        # `_socket` does what `socket` would, without what that imports; it closes itself on exec as well.
        self._listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        folder, name = os.path.split(path)
        number = -1
        try:
            number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            if os.path.exists(path):
                os.remove(path)  # left by a killed daemon: the caller holds the lock
            # A socket's address has 108 bytes; a folder on a developer's machine may be deeper.
            self._listener.bind("/proc/self/fd/%d/%s" % (number, name))
            os.chmod(path, 0o600)
            self._listener.listen(CONNECTIONS)  # as many may knock at once: beyond that a client must try again
        except OSError as error:
            self._listener.close()
            raise StoreError("cannot listen on %s: %s" % (path, error), "is the folder writable?")
        finally:
            if number >= 0:
                os.close(number)

    def serve(self) -> None:
        """Accept connections until `stop`."""
        while not self._is_stopped:
            try:
                number, _ = self._listener._accept()  # type: ignore[attr-defined]  # not in the stubs
            except OSError as error:
                if not self._is_stopped:
                    print("oasisd: cannot accept a connection: %s" % error, file=sys.stderr)
                    time.sleep(_PAUSE_S)
                continue
            connection = _socket.socket(fileno=number)
            if not self._slots.acquire(blocking=False):
                connection.close()
                continue
            try:
                threading.Thread(target=self._talk, args=(connection,), name="connection", daemon=True).start()
            except RuntimeError as error:  # no memory for a thread
                print("oasisd: cannot serve a connection: %s" % error, file=sys.stderr)
                connection.close()
                self._slots.release()

    def stop(self) -> None:
        """Stop accepting; connections end after the line that they are at."""
        self._is_stopped = True
        try:
            os.remove(self._path)
        except OSError:
            pass  # gone already, with its folder
        # close() alone does not wake a thread that waits in accept().
        try:
            self._listener.shutdown(_socket.SHUT_RDWR)
        except OSError:
            pass  # never connected: the wake-up is what counts
        self._listener.close()

    def _talk(self, connection: _socket.socket) -> None:
        try:
            # Who is connected: struct ucred has three 32-bit numbers.
            raw = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
            pid, uid = [int.from_bytes(raw[at : at + 4], sys.byteorder, signed=at == 0) for at in (0, 4)]
            peer: dict[str, object] = {"pid": pid, "uid": uid, "terminal": has_terminal(pid)}
            rest = b""
            while True:
                piece = connection.recv(65536)
                if not piece:
                    return
                rest += piece
                while b"\n" in rest:
                    line, _, rest = rest.partition(b"\n")
                    connection.sendall(self._answer(line, peer))
                    if self._is_stopped:
                        return
                if len(rest) > LINE_BYTES:
                    return
        except OSError as error:
            if error.errno not in (32, 104):  # the other end left: EPIPE, ECONNRESET
                print("oasisd: connection failed: %s" % error, file=sys.stderr)
        finally:
            connection.close()
            self._slots.release()


def has_terminal(pid: int) -> bool:
    """Return whether a process has a controlling terminal."""
    found = _stat(pid, PROC)
    return bool(found and found[2])
