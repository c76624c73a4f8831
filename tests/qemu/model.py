"""A scripted model on this host for the guest: speaks the streamed form of OpenAI's chat completions, and no other."""

from __future__ import annotations

import http.server
import json
import threading

ANSWER = ("Hello", " from the", " model.")


class Model:
    """`url` is the endpoint for the guest; `keys` are the keys that were shown to it."""

    def __init__(self, host: str) -> None:
        self.keys: list[str] = []
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = "http://%s:%d/v1" % (host, self._server.server_port)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _handler(self) -> type:
        keys = self.keys

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                keys.append(self.headers.get("Authorization", ""))
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for piece in ANSWER:
                    self._say({"choices": [{"index": 0, "delta": {"content": piece}}]})
                self._say({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
                self.wfile.write(b"data: [DONE]\n\n")

            def _say(self, value: dict) -> None:
                self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")

            def log_message(self, *words: object) -> None:
                return

        return Handler

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
