"""A connection to one MCP server: the transports (child process, HTTP), and the protocol over them.

Stdio starts the server as a child process, confined by worker/rights.py: a user of its own, limits, a complete
environment. One message a line, read in a thread of its own; line length and noise are bounded. A server that floods or
dies is ended, and started again with the next call.

Http is streamable HTTP: each message is one request of a worker, which alone has network access. It keeps session and
version, which the server wants to see again. A session that the server has forgotten raises ForgottenError, and the
caller connects again.

Peer speaks the protocol. Since 2026-07-28 a server is asked which versions it speaks, and each request carries all that
is needed; older servers shake hands first. What a server says is bounded here and checked by the caller.
Source: the specification's schemas of 2025-06-18, 2025-11-25 and 2026-07-28.
"""

from __future__ import annotations

import itertools
import os
import re
import threading
import time
from collections.abc import Callable

from oasis import VERSION, worker
from oasis.core import clean, jsonl
from oasis.errors import PeerError, SchemaError, ToolError
from oasis.system.child import SERVER, Child
from oasis.tools.router import dicts

if False:  # annotations only
    from oasis.parts.mcp.shapes import IsCancelled, Line, Message, OnMessage

    OnProgress = Callable[[str, float | None, float | None], None]  # words, done, total
    Post = Callable[[Message, OnMessage, IsCancelled], None]


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


class Stdio:
    """A running server."""

    def __init__(self, name: str, argv: list[str], env: dict[str, str], user: str) -> None:
        """Start it. Raises: ToolError when it cannot be started."""
        self._name = name
        try:  # rights.py confines it: it becomes the user, "" as who we are
            whole = worker.program("rights", user, *argv)
            self._child = Child(whole, {**ENV, **env}, SERVER, True, True)
        except OSError as error:
            raise ToolError("the MCP server %s cannot be started: %s" % (name, error), "look at its command")
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._waiting: dict[object, Callable[[Message], None]] = {}
        self._answers: dict[object, Message] = {}
        self._doubted: dict[object, str] = {}  # what is waited for -> why nobody can read the line that may answer it
        self._doubt_s = 0.0  # until when doubted answers are waited for
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

    def agree(self, version: str) -> None:
        """Nothing of a message depends on it."""

    def ask(self, message: Message, seconds: float, on_message: OnMessage, is_cancelled: IsCancelled) -> Message:
        """Send a request and return its response; see Line.

        Raises: ToolError when the server ends, or does not answer in time, or the owner stops the call.
        """
        number, deadline = message["id"], time.monotonic() + seconds
        with self._changed:
            self._waiting[number] = on_message
        try:
            self.tell(message)
            with self._changed:
                while number not in self._answers and not self._ended:
                    is_stopped = is_cancelled()
                    if is_stopped or time.monotonic() > deadline:
                        why = "stopped by the owner" if is_stopped else "no answer in time"
                        params = {"requestId": number, "reason": why}
                        self.tell({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
                        if is_stopped:
                            raise ToolError("the call was stopped by the owner", "look whether it had an effect")
                        what = "the MCP server %s did not answer within %g s" % (self._name, seconds)
                        raise ToolError(what, "try again later")
                    if number in self._doubted and time.monotonic() > self._doubt_s:
                        return self._unread(number, self._doubted[number])
                    self._changed.wait(_LOOK_S)
                if number in self._answers:
                    return self._answers.pop(number)
            self._readers[1].join(_WORDS_S)  # what it said last may lie in the pipe still
            last = clean.line(self._words.decode("utf-8", "replace").strip().split("\n")[-1])[:300]
            raise ToolError("the MCP server %s is gone: %s" % (self._name, self._ended), last or "look at its command")
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

    def tell(self, message: Message) -> None:
        """Send a message, and wait for a server that is slow; one that is ended meanwhile is waited for no longer."""
        data = jsonl.line(message)
        with self._writing:
            until_s = time.monotonic() + WRITE_S
            while data and not self._ended:
                try:
                    data = data[os.write(self._child.stdin, data[:_PIECE]) :]
                except OSError as error:
                    if not isinstance(error, BlockingIOError) or time.monotonic() > until_s:
                        self._end("it reads no more")
                    time.sleep(_PAUSE_S)

    def close(self) -> None:
        """End the server and everything in its group."""
        self._end("it was ended")
        with self._writing:
            self._child.close_input()
        deadline = time.monotonic() + STOP_S
        # Looked at without being reaped: as long as it is there, its number names its group and no other.
        while time.monotonic() < deadline and self._child.returncode is None:
            try:
                if os.waitid(os.P_PID, self._child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                    break
            except ChildProcessError:
                break
            time.sleep(_PAUSE_S)
        if self._child.returncode is None:  # else its group was ended already, and the number may be another's
            self._child.end_group()
        for reader in self._readers:
            reader.join(STOP_S)  # nobody writes any more; the numbers are free for others only after that
        self._child.close()

    def _read(self, number: int) -> None:
        rest = b""
        try:
            while not self._ended:
                piece = _piece(number)
                if not piece:
                    self._end("it ended")
                *lines, rest = (rest + piece).split(b"\n")
                if len(rest) > LINE_BYTES:
                    self._stop_it("it wrote a line of more than %d bytes" % LINE_BYTES)
                else:
                    for line in lines:
                        self._take(line)
        finally:
            self._end("nobody reads what it says")  # a fault of ours; whoever waits gets an error

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
            number = message.get("id")
            with self._changed:
                # A response to nothing that was asked is dropped: late, or a lie.
                if isinstance(number, int) and not isinstance(number, bool) and number in self._waiting:
                    self._answers[number] = message
                    self._changed.notify_all()
        elif "id" in message:
            self._refuse(message)
        else:
            with self._changed:
                self._doubted.clear()  # it is at work, and knows how to tell
                listeners = list(self._waiting.values())
            for listener in listeners:
                listener(message)

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
        error = {"code": -32601, "message": "not supported by this client"}
        reply: Message = {"result": {}} if message["method"] == "ping" else {"error": error}

        def send() -> None:
            self.tell({"jsonrpc": "2.0", "id": message["id"], **reply})
            with self._changed:
                self._replies -= 1

        with self._changed:
            self._replies += 1
            is_flood = self._replies > REPLIES
        if is_flood:
            self._stop_it("it asks and takes no answer")
        else:
            threading.Thread(target=send, daemon=True).start()

    def _keep_words(self, number: int) -> None:
        while piece := _piece(number):
            self._words = (self._words + piece)[-WORDS_BYTES:]

    def _stop_it(self, why: str) -> None:
        self._end(why)
        self._child.end_group()

    def _end(self, why: str) -> None:
        with self._changed:
            self._ended = self._ended or why
            self._changed.notify_all()


def _is_broken(message: object) -> bool:
    """Return whether a JSON value was meant as an answer but is not one; no log message looks like that."""
    if not isinstance(message, dict):
        return True
    if "method" in message:
        return False
    if message.get("jsonrpc") == "2.0":
        return message.get("id") is None
    return "result" in message or "error" in message


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
        self._name = name
        self._url = url
        self._key = key
        self._post = post
        self._session = self._version = ""

    def is_alive(self) -> bool:
        return True

    def agree(self, version: str) -> None:
        """Name the version that was agreed on with each message."""
        self._version = version

    def ask(self, message: Message, seconds: float, on_message: OnMessage, is_cancelled: IsCancelled) -> Message:
        """Send a request and return its response; see Line."""
        found = self._send(message, seconds, on_message, is_cancelled)
        if not found:
            raise ToolError("the MCP server %s gave no answer" % self._name, "look whether its address is right")
        return found[0]

    def tell(self, message: Message) -> None:
        """Send a notification."""
        self._send(message, 20.0, lambda said: None, lambda: False)

    def close(self) -> None:
        """Nothing is held open."""

    def _send(
        self, message: Message, seconds: float, on_message: OnMessage, is_cancelled: IsCancelled
    ) -> list[Message]:  # fmt: skip
        """Send a message; return what answers it."""
        request = {"profile": "compatible", "base_url": self._url, "key": self._key, "message": message,
                   "session": self._session, "version": self._version,
                   "options": {"idle_s": seconds, "total_s": seconds, "retries": 0}}  # fmt: skip
        found: list[Message] = []
        ending: Message = {}

        def on_event(event: Message) -> None:
            if event["type"] in ("mcp", "error"):
                ending.update(event)
            elif event["type"] == "message" and "method" in event["message"]:
                on_message(event["message"])
            elif event["type"] == "message" and event["message"].get("id") in (message.get("id"), None):
                found.append(event["message"])

        self._post(request, on_event, is_cancelled)
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
        return found


MODERN = "2026-07-28"
HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # newest first
_META = "io.modelcontextprotocol/"
_CLIENT = {"name": "oasis", "version": VERSION}
CONNECT_S = 20.0
# How long a server that may not know the question is waited for: older ones can hang on it.
PROBE_S = 5.0
PAGES = 20
ITEMS = 200
# Of all pages of a list together: what is longer is not kept anyway (servers.py).
LISTED_BYTES = 1024 * 1024
_PROGRESS_CHARS = 300
MOST_PROGRESS = 1e15  # 1e999 is a number in JSON, and endless here
_UNSUPPORTED = -32022


class RefusedError(ToolError):
    """The server answered with an error; `number` is its code."""

    def __init__(self, number: object, words: str, untrusted: tuple[str, ...]) -> None:
        super().__init__("MCP Error (%s): %s" % (clean.line(number)[:20], words), untrusted=untrusted)
        self.number = number


class Peer:
    """A server behind a line that is open."""

    def __init__(self, name: str, line: Line) -> None:
        self._name = name
        self._line = line
        self._numbers = itertools.count(1)  # a number that no other request has: calls may come at once
        self._is_modern = False
        self._capabilities: object = None
        self.is_changed = False  # it said that its tools are others now

    def connect(self) -> None:
        """Agree on a version. Raises: ToolError when the server speaks none of ours, or does not answer."""
        if self._discovers(PROBE_S):
            return
        try:
            asked = {"protocolVersion": HANDSHAKE[0], "capabilities": {}, "clientInfo": _CLIENT}
            found = self.request("initialize", asked, CONNECT_S)
        except RefusedError as refused:
            # It answered the question after all, too late for us, and speaks the newer way since.
            if refused.number != _UNSUPPORTED or not self._discovers(CONNECT_S):
                raise
            return
        version = found.get("protocolVersion")
        if version not in HANDSHAKE:
            what = "the MCP server %s speaks protocol %s, which oasis does not"
            hint = "oasis speaks " + ", ".join((MODERN, *HANDSHAKE))
            raise ToolError(what % (self._name, clean.line(version)[:40]), hint)
        self._capabilities = found.get("capabilities")
        self._line.agree(str(version))
        self._line.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _discovers(self, seconds: float) -> bool:
        """Ask which versions the server speaks; return whether the newer protocol is among them."""
        self._is_modern = True
        try:
            found = self.request("server/discover", {}, seconds)
        except ToolError:
            found = {}
        versions = found.get("supportedVersions")
        self._is_modern = isinstance(versions, list) and MODERN in versions
        if self._is_modern:
            self._line.agree(MODERN)
            self._capabilities = found.get("capabilities")
        return self._is_modern

    def has(self, what: str) -> bool:
        """Return whether the server claims to have tools, resources or prompts."""
        return isinstance(self._capabilities, dict) and isinstance(self._capabilities.get(what), dict)

    def listed(self, what: str, seconds: float = CONNECT_S) -> list[Message]:
        """Return its tools, resources or prompts, page by page; those that are no objects are left out."""
        found: list[Message] = []
        taken, cursor = 0, None
        for _ in range(PAGES):
            reply = self.request(what + "/list", {} if cursor is None else {"cursor": cursor}, seconds)
            found += dicts(reply.get(what))
            cursor = reply.get("nextCursor")
            taken += len(jsonl.line(reply))
            if not isinstance(cursor, str) or len(found) >= ITEMS or taken > LISTED_BYTES:
                break
        if what == "tools":
            self.is_changed = False
        return found[:ITEMS]

    def request(
        self, method: str, params: Message, seconds: float, on_progress: OnProgress | None = None,
        is_cancelled: IsCancelled = lambda: False,
    ) -> Message:  # fmt: skip
        """Ask something; `on_progress` hears meanwhile how far it is.

        Raises: ToolError with the server's words, or ours when it does not answer; PeerError.
        """
        number = next(self._numbers)
        token = "oasis-%d" % number
        meta: Message = {}
        if on_progress is not None:
            meta["progressToken"] = token
        if self._is_modern:
            meta.update({_META + "protocolVersion": MODERN, _META + "clientInfo": _CLIENT})
            meta[_META + "clientCapabilities"] = {}
        if meta:
            params = {**params, "_meta": meta}

        def heard(message: Message) -> None:
            kind, told = message.get("method"), message.get("params")
            if kind == "notifications/tools/list_changed":
                self.is_changed = True
            told = told if kind == "notifications/progress" and isinstance(told, dict) else {}
            if on_progress is not None and told.get("progressToken") == token:
                words = clean.line(told.get("message") or "at work")[:_PROGRESS_CHARS]
                on_progress(words, _number(told.get("progress")), _number(told.get("total")))

        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        response = self._line.ask(message, seconds, heard, is_cancelled)
        error, result = response.get("error"), response.get("result")
        if isinstance(error, dict):
            words = clean.line(error.get("message"))[:1000] or "no reason given"
            raise RefusedError(error.get("code"), words, (whose(self._name),))
        if not isinstance(result, dict):
            what = "the MCP server %s answered with no result" % self._name
            raise PeerError(what, "it does not keep to the protocol")
        if result.get("resultType") == "input_required":
            raise ToolError("the MCP server %s wants to ask somebody before it goes on" % self._name,
                            "this client has nobody to ask; give all that it needs in the arguments")  # fmt: skip
        return result


def _number(value: object) -> float | None:
    """Return a share of work as a server tells it, None for anything that cannot be shown."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number and abs(value) < MOST_PROGRESS else None  # type: ignore[arg-type, return-value]


def whose(name: str) -> str:
    """Return the taint label of everything that a server says."""
    return "words of the MCP server " + name
