"""MCP over streamable HTTP on 127.0.0.1, with a token: for programs on this machine, or through an ssh tunnel.

Not part of the daemon: a process of its own, started by hand. Nobody is let in without the token in the header
Authorization; a page in a browser is kept out by Host and Origin as well, whatever it guesses. One address, /mcp:
POST brings a message, and is answered by JSON or by a stream of events when there is something to say before the
answer; GET has no stream of its own to offer; DELETE ends a session (older protocol versions).

The other transport is standard input and output, also through ssh: one message a line, answered in any order. Requests
that may take long run in threads, bounded in number, so that a ping or a cancellation gets through. Standard output
belongs to the protocol alone.
"""

from __future__ import annotations

import http.server
import os
import queue
import secrets
import threading
from collections.abc import Callable

from oasis.cli.commands import OK
from oasis.core import clean, jsonl
from oasis.errors import OasisError, SchemaError
from oasis.parts.mcp import server as mcp
from oasis.parts.mcp.server import Exchange, handed_on, named, parsed

if False:  # annotations only
    from typing import BinaryIO

    from oasis.cli.terminal import Screen
    from oasis.parts.mcp.shapes import Message


PATH = "/mcp"
SESSIONS = 16
_META = "io.modelcontextprotocol/protocolVersion"
_CLIENT = "io.modelcontextprotocol/clientInfo"
_HEADER_MISMATCH = -32020
# Of a request of the newer kind: what its headers repeat, so that what stands in front need not read the body.
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_STATUS = {-32601: 404, -32602: 400, -32600: 400, -32700: 400, _HEADER_MISMATCH: 400, mcp.UNSUPPORTED: 400}
PING_S = 15.0


def serve(session: Callable[[], mcp.Session], port: int, token_file: str, screen: Screen) -> int:
    """Serve until a signal; say where, never with which token."""
    server = Server(("127.0.0.1", port), session, token(token_file))
    screen.notice(f"MCP at http://127.0.0.1:{server.server_port}{PATH}; the token is in {token_file}")
    try:
        server.serve_forever()
    finally:
        server.server_close()
    return OK


def token(path: str) -> str:
    """Return the token of a file that only its owner can read; made when it is not there.

    Raises: OasisError for a file that others can read, or that is too short to be one.
    """
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as handle:
            handle.write(secrets.token_urlsafe(32) + "\n")
    except FileExistsError:
        pass
    if os.stat(path).st_mode & 0o077:
        raise OasisError("others can read %s" % path, "chmod 600 %s" % path)
    with open(path, encoding="ascii", errors="replace") as handle:
        found = handle.read().strip()
    if len(found) < 32:
        raise OasisError("%s holds no token" % path, "remove it: a new one is made")
    return found


class Server(http.server.ThreadingHTTPServer):
    """Many clients; `session()` makes one for each."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], session: Callable[[], mcp.Session], secret: str) -> None:
        super().__init__(address, Handler)
        self.secret = secret
        self.make = session
        self.lock = threading.Lock()
        self.sessions: dict[str, tuple[mcp.Session, dict[object, Exchange]]] = {}
        self.shared: dict[str, mcp.Session] = {}  # by the name of a client


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server_version = "oasis"
    sys_version = ""
    timeout = 30
    server: Server

    def do_GET(self) -> None:
        if self._may():
            self._refuse(405, "there is no stream to listen to", {"Allow": "POST, DELETE"})

    def do_DELETE(self) -> None:
        if not self._may():
            return
        with self.server.lock:
            found = self.server.sessions.pop(self.headers.get("Mcp-Session-Id", ""), None)
        self._send(200 if found else 404, b"")

    def do_POST(self) -> None:
        if not self._may():
            return
        length = self.headers.get("Content-Length", "")
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            self._refuse(415, "the body must be application/json")
            return
        if not (length.isascii() and length.isdigit() and len(length) < 10) or int(length) > jsonl.LINE_BYTES:
            self._refuse(413, "the body must have a length of at most %d bytes" % jsonl.LINE_BYTES)
            return
        try:
            message = parsed(self.rfile.read(int(length)))
            if isinstance(message, list):
                raise SchemaError("batches are no more")
        except SchemaError as error:
            self._answer(mcp.not_json(error.message))
            return
        params = message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        if isinstance(meta, dict) and _META in meta:
            self._modern(message, str(meta[_META]))
        else:
            self._older(message)

    def _may(self) -> bool:
        """Let in who has the token and is no page of a browser; answer all others."""
        own = {f"{name}:{self.server.server_port}" for name in ("127.0.0.1", "localhost")}
        origin = self.headers.get("Origin")
        given, wanted = self.headers.get("Authorization", ""), "Bearer " + self.server.secret
        if self.headers.get("Host", "") not in own or (origin and origin.partition("://")[2] not in own):
            return self._refuse(403, "not from here")
        if self.path.partition("?")[0] != PATH:
            return self._refuse(404, "the address is " + PATH)
        if not secrets.compare_digest(given.encode(), wanted.encode()):
            return self._refuse(401, "the token is missing or wrong", {"WWW-Authenticate": "Bearer"})
        return True

    def _modern(self, message: Message, version: str) -> None:
        method = str(message.get("method"))
        wanted = {"MCP-Protocol-Version": version, "Mcp-Method": method}
        if method in _NAMED:
            wanted["Mcp-Name"] = str(message["params"].get(_NAMED[method]))
        wrong = [header for header, value in wanted.items() if self.headers.get(header) != value]
        if wrong:
            text = "Bad Request: the header %s does not agree with the body" % wrong[0]
            error = {"code": _HEADER_MISMATCH, "message": text}
            self._answer({"jsonrpc": "2.0", "id": message.get("id"), "error": error})
        elif "id" not in message:
            self._send(202, b"")
        else:
            # Requests tell all else themselves. Each client has runs of its own, and the owner sees who proposes what.
            client, known = message["params"]["_meta"].get(_CLIENT), self.server.shared
            name = clean.name(client.get("name")) if isinstance(client, dict) else ""
            with self.server.lock:
                session = known.pop(name, None) or self.server.make()
                if len(known) >= SESSIONS:
                    del known[next(iter(known))]
                known[name] = session
            self._work(session, message, {})

    def _older(self, message: Message) -> None:
        if message.get("method") == "initialize":
            name, session = secrets.token_hex(16), self.server.make()
            running: dict[object, Exchange] = {}
            with self.server.lock:
                if len(self.server.sessions) >= SESSIONS:
                    del self.server.sessions[next(iter(self.server.sessions))]  # the oldest gives way
                self.server.sessions[name] = (session, running)
            self._work(session, message, running, {"Mcp-Session-Id": name})
            return
        name = self.headers.get("Mcp-Session-Id", "")
        found = self.server.sessions.get(name)
        if found is None:
            self._refuse(404 if name else 400, "there is no such session; initialize first")
            return
        version = self.headers.get("MCP-Protocol-Version")
        if version is not None and version not in mcp.HANDSHAKE:
            self._refuse(400, "the protocol version is not supported")
            return
        if handed_on(message, found[1]) or "method" not in message or "id" not in message:
            self._send(202, b"")
        else:
            self._work(found[0], message, found[1])

    def _work(
        self, session: mcp.Session, message: Message, running: dict[object, Exchange],
        headers: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        """Answer a request: by JSON, or by events once something was said before the answer."""
        said: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        exchange = Exchange(said.put)
        number = named(message.get("id"))
        running[number] = exchange
        answers: list[Message] = []

        def work() -> None:
            try:
                answer = session.handle(message, exchange)
                answers.extend([answer] if answer else [])
            finally:
                said.put(None)

        threading.Thread(target=work, daemon=True).start()
        try:
            first = said.get()
            if first is None:
                self._answer(answers[0] if answers else {}, headers)
                return
            self.close_connection = True
            self.send_response(200)
            for name, value in (("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"),
                                ("Connection", "close")):  # fmt: skip
                self.send_header(name, value)
            self.end_headers()
            data = _event(first)
            while data:
                self.wfile.write(data)
                self.wfile.flush()
                try:
                    more = said.get(timeout=PING_S)
                    data = _event(more) if more is not None else b""
                except queue.Empty:
                    data = b": still here\n\n"
            self.wfile.write(b"".join(map(_event, answers)))
            self.wfile.flush()
        except OSError:
            exchange.cancel()  # the client has gone, and with it who would read the answer
        finally:
            running.pop(number, None)

    def _answer(self, message: Message, headers: dict[str, str] | None = None) -> None:
        code = message.get("error", {}).get("code", 0)
        self._send(_STATUS.get(code, 200), jsonl.line(message), headers)

    def _refuse(self, status: int, reason: str, headers: dict[str, str] | None = None) -> bool:
        """Refuse what nobody may have read to its end, so the connection ends with it; return False."""
        error = {"code": -32000, "message": reason}
        self._send(status, jsonl.line({"jsonrpc": "2.0", "id": None, "error": error}), headers)
        self.close_connection = True
        return False

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if body:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: standard error is the owner's terminal."""


def _event(message: Message) -> bytes:
    return b"event: message\ndata: " + jsonl.line(message) + b"\n"


# As many calls as the daemon takes of clients (runs.py); beyond, reading waits.
AT_ONCE = 6
_LONG = ("tools/call", "resources/read", "subscriptions/listen")


def serve_streams(session: mcp.Session, source: BinaryIO, sink: BinaryIO) -> None:
    """Serve one client at two streams until the input ends; what is still being answered is given up."""
    writing, places = threading.Lock(), threading.Semaphore(AT_ONCE)
    running: dict[object, Exchange] = {}
    threads: list[threading.Thread] = []

    def send(message: Message) -> None:
        with writing:
            try:
                sink.write(jsonl.line(message))
                sink.flush()
            except (BrokenPipeError, ValueError):
                pass  # a client that has gone is no fault of ours; its end of the input follows

    def reply(message: Message, exchange: Exchange, number: str | int | None = None) -> None:
        """Answer a message; `number` is the id of one that has a thread of its own."""
        try:
            answer = session.handle(message, exchange)
            if answer is not None and not exchange.is_cancelled():  # nobody reads what was called off
                send(answer)
        finally:
            if number is not None:
                running.pop(number, None)
                places.release()

    while line := source.readline(jsonl.LINE_BYTES + 1):
        if not line.endswith(b"\n") and len(line) > jsonl.LINE_BYTES:
            while line and not line.endswith(b"\n"):
                line = source.readline(jsonl.LINE_BYTES)
            send(mcp.not_json("the line is longer than %d bytes" % jsonl.LINE_BYTES))
            continue
        try:
            found = parsed(line) if line.strip() else []
        except SchemaError as error:
            send(mcp.not_json(error.message))
            continue
        for message in found if isinstance(found, list) else [found]:
            if handed_on(message, running):
                continue
            number, exchange = named(message.get("id")), Exchange(send)
            if message.get("method") not in _LONG or number is None:
                reply(message, exchange)
                continue
            places.acquire()
            running[number] = exchange
            thread = threading.Thread(target=reply, args=(message, exchange, number), daemon=True)
            threads = [one for one in threads if one.is_alive()] + [thread]
            thread.start()
    for exchange in list(running.values()):
        exchange.cancel()
    for thread in threads:
        thread.join(3)
