"""A client of the daemon: JSON-RPC lines over its unix socket, one call at a time.

Knows nothing of terminals or commands. Contract: `Client(path).call(method, params)` returns the result's object; a
failure in the daemon is raised as the same class of error that was raised there, so exit statuses agree. A call
that does not complete (error, timeout, Ctrl-C) drops the connection, and the next call opens a new one: its reply
can never be taken for another's. While the service begins, its process lives and nobody listens: that is waited for.
`_socket` instead of `socket`: half the start-up time of a command.
"""

from __future__ import annotations

import _socket
import os
import time

from oasis.core import jsonl, rpc
from oasis.errors import OasisError, PeerError, PolicyError, ProviderError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.shapes import Any, Callable, Params
    from oasis.cli.shapes import Call as Call  # Client.call, as every command gets it

REPLY_BYTES = 1024 * 1024  # the daemon pages above 256 KiB; one line is never longer than a JSON line may be
TIMEOUT_S = 60  # the longest call waits 15 s (run.poll); a router under load may take a while longer
PIECE_BYTES = 65536
# How long a service that begins, also again with other parts, is waited for: a slow router loads it in ten seconds.
WAIT_S = 20.0
LOOK_S = 0.25
_AGAIN = "the service began again, as it does when parts are added or removed"


class NoDaemon(OasisError):
    code = "no_daemon"
    exit_status = 69  # EX_UNAVAILABLE of sysexits.h
    retryable = True

    def __init__(self, message: str, hint: str = "", is_absent: bool = False) -> None:
        super().__init__(message, hint)
        self.is_absent = is_absent  # it never answered: whatever was asked of it has not been done


class BrokenOff(NoDaemon):
    """The connection ended during a call, which may have been done or not."""


class Client:
    def __init__(self, path: str, timeout_s: float = TIMEOUT_S, hint: str = "/etc/init.d/oasis start") -> None:
        """Prepare a client; nothing is opened before the first call. `hint` is the command that starts the daemon."""
        self.path = path
        self._timeout_s = timeout_s
        self._hint = hint
        self._socket: _socket.socket | None = None
        self._number = 0
        self._has_answered = False

    def call(self, method: str, params: Params) -> dict[str, Any]:
        """Call one method and return its result.

        Raises: NoDaemon, PolicyError (socket not ours to open), PeerError (broken or silent peer), or what the
        daemon raised.
        """
        self._number += 1
        line = rpc.request(self._number, method, params)
        if len(line) > REPLY_BYTES:  # the service ends a connection that says more, and nobody would know why
            raise UsageError(
                f"{method} has {(len(line) + 1023) >> 10} kB to send, and a call may have {REPLY_BYTES >> 10} kB",
                "say it shorter, or give a long text as a file: --attach FILE",
            )
        try:
            reply = rpc.parse(self._exchange(line, method))
            self._has_answered = True
        except BaseException:
            self.close()
            raise
        if "method" in reply or reply.get("id") not in (self._number, None):
            self.close()
            raise PeerError(f"the answer to {method} belongs to another call", "restart the service")
        if "error" in reply:
            raise error_of(reply["error"])
        result = reply.get("result")
        if not isinstance(result, dict):
            raise PeerError(f"the answer to {method} is no object", "the service and this program differ in version")
        return result

    def ask(self, method: str, params: Params, tell: Callable[[str], object]) -> dict[str, Any]:
        """Call as the owner: where the service ended the connection before this call, over a new one, and tell so.

        Nothing is sent twice. Who was lowered to a role (client.join) has to be that again first, and uses `call`.
        """
        if self._socket is not None and not self.is_open():
            self._socket = self._connect()
            tell(_AGAIN)
        return self.call(method, params)

    def is_open(self) -> bool:
        """Tell whether the next call goes over the connection of the one before; one that the service ended is over."""
        if self._socket is None:
            return False
        try:
            self._socket.settimeout(0)
            self._socket.recv(1, _socket.MSG_PEEK)
        except BlockingIOError:  # nothing was said, and nothing is over
            self._socket.settimeout(self._timeout_s)
            return True
        except OSError:
            pass
        self.close()  # what comes unasked is nobody's answer
        return False

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _exchange(self, line: bytes, method: str) -> bytes:
        if self._socket is None:
            self._socket = self._connect()
        try:
            self._socket.sendall(line)
            pieces = b""
            while not pieces.endswith(b"\n"):
                piece = self._socket.recv(PIECE_BYTES)
                if not piece:
                    raise ConnectionResetError(104, "it closed the connection")
                pieces += piece
                if len(pieces) > REPLY_BYTES:
                    raise PeerError(
                        f"the service answered with more than {REPLY_BYTES} bytes", "ask for less at a time"
                    )
            return pieces
        except TimeoutError:
            raise PeerError(
                f"the service did not answer {method} within {self._timeout_s:g} s", "see: logread -e oasis"
            )
        except OSError as error:
            words = f"the service ended during this call: {error.strerror}"
            raise BrokenOff(words, "look what was done, then ask again; if it does not run: " + self._hint)

    def _connect(self) -> _socket.socket:
        until_s = time.monotonic() + WAIT_S
        while True:
            try:
                return self._dial()
            except NoDaemon:
                if not self._has_process() or time.monotonic() > until_s:
                    raise
            time.sleep(LOOK_S)

    def _has_process(self) -> bool:
        """Tell whether the service has a process, though nobody listens: it begins, or ends."""
        try:
            with open(os.path.join(os.path.dirname(self.path), "lock"), "rb") as file:
                number = file.read(32).strip()
            with open(b"/proc/%s/cmdline" % (number or b"self"), "rb") as file:  # empty: it is just being written
                return b"oasis" in file.read()
        except OSError:
            return False

    def _dial(self) -> _socket.socket:
        channel = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            channel.settimeout(self._timeout_s)
            # By way of its open folder: an address has 107 bytes, and the path may be longer.
            folder, name = os.path.split(self.path)
            descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
            try:
                channel.connect(f"/proc/self/fd/{descriptor}/{name}")
            finally:
                os.close(descriptor)
        except PermissionError:
            channel.close()
            raise PolicyError(f"no permission to open {self.path}", "only root may talk to the service")
        except OSError as error:
            channel.close()
            words = f"the oasis service is not running ({self.path}: {error.strerror})"
            raise NoDaemon(words, f"start it: {self._hint}", not self._has_answered)
        return channel


def error_of(error: object) -> OasisError:
    """Return the exception for a JSON-RPC error object, or for {"code", "message", "hint"} itself."""
    given = error if isinstance(error, dict) else {}
    data = given.get("data") or given
    code = data.get("code")
    message = str(data.get("message") or "the service gave no reason")
    hint = str(data.get("hint") or "")
    kinds = [OasisError]
    for kind in kinds:  # which grows by the classes below
        if kind.code == code:
            return kind(message, hint)
        kinds += kind.__subclasses__()
    if isinstance(code, int):
        return PeerError(message, hint)
    if code == "budget":  # of llm/usage.py, which no command loads
        return PolicyError(message, hint)
    # Most kinds of failures of a model's service have no class of their own.
    kinds_of_services = jsonl.table(os.path.dirname(__file__), "providers/failures.json")["kinds"]
    is_service = code in kinds_of_services or code in ("worker", "status")
    return ProviderError(message, hint, code=str(code)) if is_service else OasisError(message, hint)
