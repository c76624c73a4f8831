"""A model service that says what a test wrote down, and keeps every byte that it was sent.

A script is a list of answers, taken in turn: a text, a list of calls [(name, arguments)], or a function of the request
(the body as JSON) that returns one of these. (status, text) is an answer as an error. Past its end it says "Done."
"""

from __future__ import annotations

import contextlib
import http.server
import json
import threading


class Recorder:
    """`url` is the base address, `requests` what came: [{"line", "headers", "body": bytes}]."""

    def __init__(self, *script):
        self.script = list(script)
        self.requests = []
        recorder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = str(self.headers)
                recorder.requests.append({"line": self.requestline, "headers": headers, "body": body})
                status, kind, answer = recorder.answer(body, headers)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(answer)))
                with contextlib.suppress(BrokenPipeError):  # who asked was killed, or cancelled
                    self.end_headers()
                    self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def answer(self, body, headers):
        given = self.script.pop(0) if self.script else "Done."
        if callable(given):
            given = given(json.loads(body), headers)
        if isinstance(given, tuple):
            return given[0], "application/json", json.dumps({"error": {"message": given[1]}}).encode()
        return 200, "text/event-stream", _stream(given, len(self.requests))

    def bodies(self):
        """Return the bodies of all requests, as one text each."""
        return [request["body"].decode("utf-8") for request in self.requests]

    def messages(self, number=-1):
        """Return the messages of one request."""
        return json.loads(self.requests[number]["body"])["messages"]

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def _stream(given, number):
    delta = {"role": "assistant"}
    if isinstance(given, str):
        delta["content"] = given
    else:
        delta["tool_calls"] = [
            {
                "index": index,
                "id": f"call_{number}_{index}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
                },
            }
            for index, (name, arguments) in enumerate(given)
        ]
    reason = "stop" if isinstance(given, str) else "tool_calls"
    chunks = [
        {"choices": [{"index": 0, "delta": delta}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
    ]
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"


def results(body):
    """Return the tool results of a request's body, as texts, oldest first."""
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]
