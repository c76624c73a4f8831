"""A line to an MCP server that is a child process: one message a line, read in a thread of its own.

The child is confined (worker/confined.py): a user of its own, limits, an environment given whole. What it says is
bounded by line and by noise; one that floods or dies is ended, and started again with the next call.

The other line is streamable HTTP: each message is one request of a worker, which alone has network access. It keeps
what the server wants to see again: session and version. A session that the server has forgotten raises ForgottenError,
and the caller connects anew.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time

from oasis.core import clean, jsonl
from oasis.errors import SchemaError, ToolError
from oasis.system.child import SERVER, Child

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Message = dict[str, Any]
    Post = Callable[[Message, Callable[[Message], None], Callable[[], bool]], None]


LINE_BYTES = 4 * 1024 * 1024
# Of lines that are no message: some servers print words where only messages belong.
NOISE = 1000
WORDS_BYTES = 2000
# How long an answer may still come behind the last line when one was no message. Such a line may have been a word for a
# log, as many servers print them, or the answer itself, spoiled: which of the two shows only by what follows. A line
# that names the call it was meant for fails that call at once.
DOUBT_S = 3.0
_BOM = b"\xef\xbb\xbf"
# Of a line that nobody can read: where the number of what it answers stands, at its beginning or its end.
_HEAD_BYTES = 512
_NUMBER = re.compile(rb'"id"\s*:\s*(\d{1,9})\b')
STOP_S = 2.0
# A server that takes nothing for so long reads no more.
WRITE_S = 10.0
# Questions of a server's whose answers it has not taken yet; we are asked a handful, one by one.
REPLIES = 16
_PIECE = 65536
_LOOK_S = 0.1
_PAUSE_S = 0.02
_WORDS_S = 0.5
USER = "oasis-mcp"
# What a server may see of where it runs.
ENV = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp", "LC_ALL": "C.UTF-8"}  # noqa: S108


def confined(argv: list[str], user: str) -> list[str]:
    """Return how to start a server as a user, "" as who we are."""
    folder, _, own = __file__.rpartition("/")
    program = folder.rpartition("/")[0].rpartition("/")[0] + "/worker/confined" + own[own.index(".") :]
    return [sys.executable, "-I", "-B", program, user, *argv]


class Stdio:
    """A running server."""

    def __init__(self, name: str, argv: list[str], env: dict[str, str], user: str) -> None:
        """Start it.

        Raises: ToolError when it cannot be started.
        """
        self.version = ""
        self._name = name
        try:
            self._child = Child(confined(argv, user), {**ENV, **env}, SERVER, True, True)
        except OSError as error:
            raise ToolError("the MCP server %s cannot be started: %s" % (name, error), "look at its command")
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._waiting: dict[object, Callable[[Message], None]] = {}
        self._answers: dict[object, Message] = {}
        self._doubted: dict[object, str] = {}  # what is waited for -> why nobody can read the line that may answer it
        self._doubt_s = 0.0  # until when what is doubted is waited for
        self._words = b""
        self._ended = ""
        self._noise = 0
        self._replies = 0
        self._readers = []
        os.set_blocking(self._child.stdin, False)
        for number, work in ((self._child.stdout, self._read), (self._child.stderr, self._keep_words)):
            os.set_blocking(number, True)
            self._readers.append(threading.Thread(target=work, args=(number,), name="mcp " + name, daemon=True))
            self._readers[-1].start()

    def is_alive(self) -> bool:
        return not self._ended

    def ask(
        self, message: Message, seconds: float, on_message: Callable[[Message], None], is_cancelled: Callable[[], bool]
    ) -> Message:
        """Send a request and return its response; see peer.py.

        Raises: ToolError when the server ends, or does not answer in time, or the owner stops the call.
        """
        number, deadline = message["id"], time.monotonic() + seconds
        with self._changed:
            self._waiting[number] = on_message
        try:
            self.tell(message)
            with self._changed:
                while number not in self._answers:
                    if self._ended:
                        break
                    if is_cancelled() or time.monotonic() > deadline:
                        raise self._given_up(number, is_cancelled(), seconds)
                    if number in self._doubted and time.monotonic() > self._doubt_s:
                        return self._unread(number, self._doubted[number])
                    self._changed.wait(_LOOK_S)
                if number in self._answers:
                    return self._answers.pop(number)
            raise ToolError(*self._obituary())
        finally:
            with self._changed:
                self._waiting.pop(number, None)
                self._doubted.pop(number, None)

    def _unread(self, number: object, why: str) -> Message:
        """Return what stands for an answer that nobody could read.

        Raises: ToolError when there was none at all, but words.
        """
        if not why:
            raise ToolError("the MCP server %s wrote what is no message, and no answer" % self._name,
                            "its words for a log belong on its error output")  # fmt: skip
        error = {"code": -32700, "message": "the server's answer is not readable: %s" % why}
        return {"jsonrpc": "2.0", "id": number, "error": error}

    def _given_up(self, number: object, is_stopped: bool, seconds: float) -> ToolError:
        why = "stopped by the owner" if is_stopped else "no answer in time"
        self.tell(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number, "reason": why}}
        )
        if is_stopped:
            return ToolError("the call was stopped by the owner", "look whether it had an effect")
        return ToolError("the MCP server %s did not answer within %g s" % (self._name, seconds), "try again later")

    def tell(self, message: Message) -> None:
        """Send a message; a server that has ended is found by who waits for it."""
        with self._writing:
            try:
                self._write(jsonl.line(message))
            except OSError:
                self._end("it reads no more")

    def _write(self, data: bytes) -> None:
        """Write, and wait for a server that is slow; one that is ended meanwhile is waited for no longer."""
        until_s = time.monotonic() + WRITE_S
        while data and not self._ended:
            try:
                data = data[os.write(self._child.stdin, data[:_PIECE]) :]
            except BlockingIOError:
                if time.monotonic() > until_s:
                    raise
                time.sleep(_PAUSE_S)

    def close(self) -> None:
        """End the server and everything in its group."""
        self._end("it was ended")
        with self._writing:
            self._child.close_input()
        deadline = time.monotonic() + STOP_S
        # Looked at without being reaped: as long as it is there, its number names its group and no other.
        while time.monotonic() < deadline and self._child.returncode is None and not _has_ended(self._child.pid):
            time.sleep(_PAUSE_S)
        if self._child.returncode is None:  # else its group was ended already, and the number may be another's
            self._child.end_group()
        for reader in self._readers:
            reader.join(STOP_S)  # nobody writes any more; the numbers are free for others only after that
        self._child.close()

    def _read(self, number: int) -> None:
        try:
            self._read_lines(number)
        finally:
            self._end("nobody reads what it says")  # a fault of ours; who waits is told

    def _read_lines(self, number: int) -> None:
        rest = b""
        while not self._ended:
            piece = _piece(number)
            if not piece:
                self._end("it ended")
                return
            *lines, rest = (rest + piece).split(b"\n")
            if len(rest) > LINE_BYTES:
                self._stop_it("it wrote a line of more than %d bytes" % LINE_BYTES)
                return
            for line in lines:
                self._take(line)

    def _take(self, line: bytes) -> None:
        line = line.removeprefix(_BOM).strip()
        try:
            message = jsonl.loads(line, LINE_BYTES) if line else None
            fault = "it answers nothing that was asked" if line and _is_broken(message) else ""
        except SchemaError as error:
            # What begins otherwise may be a word that got lost on the way to a log.
            message, fault = None, error.message if line.startswith(b"{") else ""
        is_message = isinstance(message, dict) and message.get("jsonrpc") == "2.0"
        if line:
            self._doubt(line, fault, is_message and not fault)
        if not isinstance(message, dict) or not is_message:
            self._noise += 1
            if self._noise > NOISE:
                self._stop_it("it writes what is no message")
        elif "method" not in message:
            self._answer(message)
        elif "id" in message:
            self._refuse(message)
        else:
            self._hear(message)

    def _answer(self, message: Message) -> None:
        number = message.get("id")
        with self._changed:
            # A response to nothing that was asked is dropped: late, or a lie.
            if isinstance(number, int) and not isinstance(number, bool) and number in self._waiting:
                self._answers[number] = message
                self._changed.notify_all()

    def _doubt(self, line: bytes, why: str, is_message: bool) -> None:
        """Fail the call that a line names which nobody can read; else let all calls wait for a moment longer only.

        `why`: it was meant as an answer. The moment begins anew with each line: what answers nothing that was asked
        may stand before the answer.
        """
        found = _NUMBER.findall(line[:_HEAD_BYTES] + line[-_HEAD_BYTES:]) if why else []
        with self._changed:
            named: list[object] = [number for number in map(int, found) if number in self._waiting]
            for number in named[:1]:
                self._answers[number] = self._unread(number, why)
            if not is_message and not named:
                for number in self._waiting:
                    self._doubted[number] = self._doubted.get(number) or why
            self._doubt_s = time.monotonic() + DOUBT_S
            self._changed.notify_all()

    def _refuse(self, message: Message) -> None:
        """Answer a request of the server's: it may see whether we are there, and ask for nothing else."""
        reply: Message = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "ping":
            reply["result"] = {}
        else:
            reply["error"] = {"code": -32601, "message": "not supported by this client"}
        with self._changed:
            self._replies += 1
            is_flood = self._replies > REPLIES
        if is_flood:
            self._stop_it("it asks and takes no answer")
        else:
            threading.Thread(target=self._reply, args=(reply,), daemon=True).start()

    def _reply(self, reply: Message) -> None:
        self.tell(reply)
        with self._changed:
            self._replies -= 1

    def _hear(self, message: Message) -> None:
        with self._changed:
            self._doubted.clear()  # it is at work, and knows how to tell
            listeners = list(self._waiting.values())
        for listener in listeners:
            listener(message)

    def _keep_words(self, number: int) -> None:
        while True:
            piece = _piece(number)
            if not piece:
                return
            self._words = (self._words + piece)[-WORDS_BYTES:]

    def _stop_it(self, why: str) -> None:
        self._end(why)
        self._child.end_group()

    def _end(self, why: str) -> None:
        with self._changed:
            self._ended = self._ended or why
            self._changed.notify_all()

    def _obituary(self) -> tuple[str, str]:
        self._readers[1].join(_WORDS_S)  # what it said last may lie in the pipe still
        last = clean.line(self._words.decode("utf-8", "replace").strip().split("\n")[-1])[:300]
        return "the MCP server %s is gone: %s" % (self._name, self._ended), last or "look at its command"


def _is_broken(message: Any) -> bool:
    """Tell whether a JSON value was meant as an answer, and is none: no word for a log looks like that."""
    if not isinstance(message, dict):
        return True
    if "method" in message:
        return False
    if message.get("jsonrpc") == "2.0":
        return message.get("id") is None
    return "result" in message or "error" in message


def _has_ended(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _piece(number: int) -> bytes:
    try:
        return os.read(number, _PIECE)
    except OSError:
        return b""  # closed by us


class ForgottenError(ToolError):
    """The server does not know our session any more."""


class Http:
    """A line to one address; `key` is sent as a bearer token, "" for none."""

    def __init__(self, name: str, url: str, key: str, post: Post) -> None:
        self.version = ""
        self._name = name
        self._url = url
        self._key = key
        self._post = post
        self._session = ""

    def is_alive(self) -> bool:
        return True

    def ask(
        self, message: Message, seconds: float, on_message: Callable[[Message], None], is_cancelled: Callable[[], bool]
    ) -> Message:
        """Send a request and return its response; see peer.py."""
        found: list[Message] = []

        def heard(said: Message) -> None:
            if "method" in said:
                on_message(said)
            elif said.get("id") in (message["id"], None):
                found.append(said)

        self._send(message, seconds, heard, is_cancelled)
        if not found:
            raise ToolError("the MCP server %s gave no answer" % self._name, "look whether its address is right")
        return found[0]

    def tell(self, message: Message) -> None:
        """Send a notification."""
        self._send(message, 20.0, lambda said: None, lambda: False)

    def close(self) -> None:
        """Nothing is held open."""

    def _send(
        self, message: Message, seconds: float, heard: Callable[[Message], None], is_cancelled: Callable[[], bool]
    ) -> None:
        told = {"profile": "compatible", "base_url": self._url, "key": self._key, "message": message}
        told.update(session=self._session, version=self.version)
        told["options"] = {"idle_s": seconds, "total_s": seconds, "retries": 0}
        ending: Message = {}

        def on_event(event: Message) -> None:
            if event["type"] == "message":
                heard(event["message"])
            elif event["type"] in ("mcp", "error"):
                ending.update(event)

        self._post(told, on_event, is_cancelled)
        self._check(ending)

    def _check(self, ending: Message) -> None:
        if ending.get("type") == "error":
            error = ending["error"]
            raise ToolError("the MCP server %s: %s" % (self._name, error["message"]), str(error["hint"]))
        status = int(ending.get("status", 0))
        if status == 404 and self._session:
            self._session = ""
            raise ForgottenError("the MCP server %s forgot the session" % self._name)
        if status in (401, 403):
            hint = "set its token: oasis servers key %s" % self._name
            raise ToolError("the MCP server %s lets nobody in without a token (HTTP %d)" % (self._name, status), hint)
        self._session = str(ending.get("session", "")) or self._session
