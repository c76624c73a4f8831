"""The way of every request of a model task: a server of ours between daemon and service, which keeps what passes.

A Relay answers by a function of the request: `forward(base_url)` asks a real service, `replay(answers)` gives what was
recorded, `scripted(next)` what a script says. What was asked and answered stays in `requests` and `answers`: the first
is searched for secrets, the second can be judged again without the service. Keys pass in headers and are kept nowhere.
"""

from __future__ import annotations

import http.client
import http.server
import json
import re
import ssl
import threading
import urllib.parse
from collections.abc import Callable
from typing import Any

from tests.eval import transcript

Answer = dict[str, Any]  # {"status": int, "type": content type, "body": text}
Call = tuple[str, dict[str, Any]]
Answerer = Callable[[str, dict[str, str], bytes], Answer]

# A small model on a slow machine thinks long before its first word.
TIMEOUT_S = 900
_OURS = ("host", "content-length", "connection", "accept-encoding", "transfer-encoding")


class Relay:
    """`url(path)` is where the daemon finds the service."""

    def __init__(self, answerer: Answerer) -> None:
        self.requests: list[str] = []
        self.answers: list[Answer] = []
        relay = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                relay.requests.append(body.decode("utf-8", "replace"))
                answer = answerer(self.path, dict(self.headers), body)
                relay.answers.append(answer)
                data = answer["body"].encode("utf-8")
                self.send_response(answer["status"])
                self.send_header("Content-Type", answer["type"])
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def url(self, base_url: str = "/v1") -> str:
        path = urllib.parse.urlsplit(base_url).path.rstrip("/")
        return f"http://127.0.0.1:{self._server.server_address[1]}{path}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Page:
    """A web page of somebody else's, for tasks that send a service there; `place` is the server's."""

    def __init__(self, html: str) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                data = html.encode("utf-8")
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.place = f"127.0.0.1:{self._server.server_address[1]}"
        self.url = f"http://{self.place}/router-setup"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def forward(base_url: str) -> Answerer:
    """Return what asks a real service."""
    place = urllib.parse.urlsplit(base_url)

    def ask(path: str, headers: dict[str, str], body: bytes) -> Answer:
        kind = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
        more = {"context": ssl.create_default_context()} if place.scheme == "https" else {}
        connection = kind(place.hostname or "", place.port, timeout=TIMEOUT_S, **more)
        try:
            kept = {key: value for key, value in headers.items() if key.lower() not in _OURS}
            connection.request("POST", path, body, kept)
            reply = connection.getresponse()
            text = reply.read().decode("utf-8", "replace")
            return {"status": reply.status, "type": reply.getheader("Content-Type", ""), "body": text}
        except (OSError, http.client.HTTPException) as error:
            return failed(f"{place.hostname} cannot be reached: {error}")
        finally:
            connection.close()

    return ask


# What Oasis calls by names of its own, which are others on each router: devices, secrets, plans and changes.
_NAMES = re.compile(r"dev#\d+|«\w+:[0-9a-f]{6,}»|\b[0-9a-v]{20}\b")


def replay(answers: list[Answer], rounds: list[dict[str, Any]] | None = None) -> Answerer:
    """Return what gives recorded answers in their order, and an error when there are no more.

    With the requests that were recorded too (transcript.py), the names that Oasis made are those of now.
    """
    left, asked, names = list(answers), list(rounds or []), dict[str, str]()

    def answer(path: str, headers: dict[str, str], body: bytes) -> Answer:
        if asked:
            then = asked.pop(0)
            now = transcript.messages(json.loads(body))[then["kept"] :]
            for old, new in zip(_names(then["messages"]), _names(now), strict=False):
                names.setdefault(old, new)
        if not left:
            return failed("no further answer was recorded")
        given = left.pop(0)
        return {**given, "body": _NAMES.sub(lambda found: names.get(found[0], found[0]), given["body"])}

    return answer


def _names(messages: list[dict[str, Any]]) -> list[str]:
    return list(_NAMES.findall(json.dumps(messages, ensure_ascii=False)))


def scripted(following: Callable[[dict[str, Any]], str | list[tuple[str, dict[str, Any]]]]) -> Answerer:
    """Return what says, in OpenAI's chat form, what a function of the request gives: a text, or calls of tools."""

    def answer(path: str, headers: dict[str, str], body: bytes) -> Answer:
        return said(following(json.loads(body)))

    return answer


def said(given: str | list[Call], calls: list[Call] | None = None, number: int = 0) -> Answer:
    """Return a text, calls, or a text with calls, as a stream of OpenAI's chat form; `number` makes the calls' ids."""
    words, made = (given, calls or []) if isinstance(given, str) else ("", given)
    delta: dict[str, Any] = {"role": "assistant"}
    if words or not made:
        delta["content"] = words
    if made:
        delta["tool_calls"] = [
            {
                "index": index,
                "id": f"call_{number}_{index}" if number else f"call_{index}",
                "type": "function",
                "function": _function(*call),
            }
            for index, call in enumerate(made)
        ]
    reason = "tool_calls" if made else "stop"
    chunks = [{"index": 0, "delta": delta}, {"index": 0, "delta": {}, "finish_reason": reason}]
    lines = [f"data: {json.dumps({'choices': [choice]}, ensure_ascii=False)}\n\n" for choice in chunks]
    return {"status": 200, "type": "text/event-stream", "body": "".join(lines) + "data: [DONE]\n\n"}


def _function(name: str, arguments: dict[str, Any]) -> dict[str, str]:
    return {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}


def failed(text: str) -> Answer:
    # A status that is not tried again: what was not recorded does not come by asking twice.
    return {"status": 400, "type": "application/json", "body": json.dumps({"error": {"message": text}})}
