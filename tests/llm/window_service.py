"""A simulated model service with a window of its own: it calls tools by a script and keeps what it was sent."""

from __future__ import annotations

import json
import threading
from http.server import ThreadingHTTPServer
from typing import Any

from oasis.core import trim
from tests.json_replies import JsonHandler

Call = tuple[str, dict[str, Any]]


class WindowService(ThreadingHTTPServer):
    """Answer each request with the next of `rounds`, which are lists of calls, then with words.

    `paths` are its answers to GET. Where `limit` is set, it refuses a request of more tokens for its length.
    """

    def __init__(self, rounds: list[list[Call]], paths: dict[str, object], limit: int = 0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.rounds, self.paths, self.limit = list(rounds), paths, limit
        self.bodies: list[dict[str, Any]] = []
        self.gets: list[str] = []
        self.refused = 0
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """End it."""
        self.shutdown()
        self.server_close()


class _Handler(JsonHandler):
    protocol_version = "HTTP/1.1"
    server: WindowService

    def do_GET(self) -> None:
        self.server.gets.append(self.path)
        found = self.server.paths.get(self.path)
        self.reply(200 if found is not None else 404, {} if found is None else found)

    def do_POST(self) -> None:
        body = self.body()
        limit = self.server.limit
        if limit and trim.tokens(json.dumps(body)) > limit:
            self.server.refused += 1
            words = f"This model's maximum context length is {limit} tokens"
            return self.reply(400, {"error": {"message": words, "code": "context_length_exceeded"}})
        self.server.bodies.append(body)
        message: dict[str, Any] = {"role": "assistant", "content": "All read."}
        if self.server.rounds and body.get("tools"):
            number = len(self.server.rounds)
            message["tool_calls"] = [
                {"id": f"c{number}x{place}", "type": "function",
                 "function": {"name": name, "arguments": json.dumps(given)}}
                for place, (name, given) in enumerate(self.server.rounds.pop(0))
            ]  # fmt: skip
        reason = "tool_calls" if "tool_calls" in message else "stop"
        return self.reply(200, {"model": "m", "choices": [{"message": message, "finish_reason": reason}]})
