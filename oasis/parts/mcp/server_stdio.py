"""MCP over standard input and output, also through ssh: one message a line, requests answered in any order.

Requests that may take long run in a thread of their own, bounded in number, so that a ping or a cancellation gets
through. Standard output belongs to the protocol alone.
"""

from __future__ import annotations

import threading

from oasis.core import jsonl
from oasis.errors import SchemaError
from oasis.parts.mcp import server
from oasis.parts.mcp.bridge import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

    Message = dict[str, Any]

# As many calls as the daemon takes of clients (runs.py); beyond, reading waits.
AT_ONCE = 6
# A person may take long; who has gone does not answer at all.
ANSWER_S = 600.0
_LONG = ("tools/call", "resources/read", "subscriptions/listen")


class Stdio:
    """One client at two streams."""

    def __init__(self, session: server.Session, source: BinaryIO, sink: BinaryIO) -> None:
        self._session = session
        self._source = source
        self._sink = sink
        self._writing = threading.Lock()
        self._places = threading.Semaphore(AT_ONCE)
        self._lock = threading.Lock()
        self._running: dict[object, _Exchange] = {}
        self._asked: dict[object, _Exchange] = {}
        self._count = 0
        self._threads: list[threading.Thread] = []

    def serve(self) -> None:
        """Serve until the input ends; what is still being answered is given up."""
        while True:
            line = self._source.readline(jsonl.LINE_BYTES + 1)
            if not line:
                break
            if not line.endswith(b"\n") and len(line) > jsonl.LINE_BYTES:
                self._skip_line()
                self.send(server.not_json("the line is longer than %d bytes" % jsonl.LINE_BYTES))
            elif line.strip():
                self._take(line)
        for exchange in list(self._running.values()):
            exchange.cancel()
        for thread in self._threads:
            thread.join(3)

    def _skip_line(self) -> None:
        while True:
            rest = self._source.readline(jsonl.LINE_BYTES)
            if not rest or rest.endswith(b"\n"):
                return

    def _take(self, line: bytes) -> None:
        try:
            found = parsed(line)
        except SchemaError as error:
            self.send(server.not_json(error.message))
            return
        for message in found if isinstance(found, list) else [found]:
            self._one(message)

    def _one(self, message: Message) -> None:
        if "method" not in message and "id" in message:
            self._answered(message)
            return
        params = message.get("params")
        if message.get("method") == "notifications/cancelled" and isinstance(params, dict):
            exchange = self._running.get(named(params.get("requestId")))
            if exchange is not None:
                exchange.cancel()
            return
        number = named(message.get("id"))
        exchange = _Exchange(self, number)
        if message.get("method") not in _LONG or number is None:
            self._reply(message, exchange)
            return
        self._places.acquire()
        with self._lock:
            self._running[message["id"]] = exchange
        thread = threading.Thread(target=self._long, args=(message, exchange), daemon=True)
        self._threads = [one for one in self._threads if one.is_alive()] + [thread]
        thread.start()

    def _long(self, message: Message, exchange: _Exchange) -> None:
        try:
            self._reply(message, exchange)
        finally:
            with self._lock:
                self._running.pop(message["id"], None)
            self._places.release()

    def _reply(self, message: Message, exchange: _Exchange) -> None:
        answer = self._session.handle(message, exchange)
        if answer is not None and not exchange.is_cancelled():  # nobody reads what was called off
            self.send(answer)

    def send(self, message: Message) -> None:
        """Write a message; a client that has gone is no fault of ours."""
        with self._writing:
            try:
                self._sink.write(jsonl.line(message))
                self._sink.flush()
            except (BrokenPipeError, ValueError):
                pass  # its end of the input follows

    def ask(self, method: str, params: Message, exchange: _Exchange) -> None:
        """Send a request of ours; its answer wakes the exchange."""
        with self._lock:
            self._count += 1
            number = "oasis-%d" % self._count
            self._asked[number] = exchange
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    def _answered(self, message: Message) -> None:
        with self._lock:
            exchange = self._asked.pop(named(message["id"]), None)
        if exchange is not None:
            result = message.get("result")
            exchange.answer = result if isinstance(result, dict) else None
            exchange.news.set()


def named(number: object) -> str | int | None:
    """Return the id of a request, None for what cannot be one."""
    return number if isinstance(number, (str, int)) and not isinstance(number, bool) else None


class _Exchange:
    """One request of the client's, as the session talks back about it."""

    def __init__(self, stdio: Stdio, number: object) -> None:
        self._stdio = stdio
        self._number = number
        self._is_cancelled = False
        self.news = threading.Event()
        self.answer: Message | None = None

    def cancel(self) -> None:
        self._is_cancelled = True
        self.news.set()

    def is_cancelled(self) -> bool:
        return self._is_cancelled

    def notify(self, method: str, params: Message) -> None:
        self._stdio.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: Message) -> Message | None:
        self.news.clear()
        self.answer = None
        self._stdio.ask(method, params, self)
        self.news.wait(ANSWER_S)
        return self.answer
