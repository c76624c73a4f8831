"""A model server whose answers a test writes: `answer(body)` gives the words for a request; all bodies are kept.

What an answer raises as `Refused` is a 400 of the service. Speaks OpenAI's chat completions as a stream, and its
embeddings where `embed(texts)` is given; `usage` is what it says of either's tokens.
"""

import http.server
import json
import threading


class Refused(Exception):
    pass


class Scripted:
    def __init__(self, answer, embed=None):
        self.bodies, self.usage = [], {}
        self._answer = answer
        self._embed = embed
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def asides(self):
        """Return the requests that asked for JSON."""
        return [body for body in self.bodies if is_aside(body)]

    def turns(self):
        """Return the requests of turns."""
        return [body for body in self.bodies if "messages" in body and not is_aside(body)]

    def _reply(self, body):
        if "input" in body:
            rows = [{"index": at, "embedding": found} for at, found in enumerate(self._embed(body["input"]))]
            return "application/json", json.dumps({"data": rows, "usage": self.usage})
        chunks = [
            {"delta": {"role": "assistant", "content": self._answer(body)}},
            {"delta": {}, "finish_reason": "stop"},
        ]
        told = [{"choices": [{"index": 0, **chunk}]} for chunk in chunks]
        told += [{"choices": [], "usage": self.usage}] if self.usage else []
        lines = ["data: " + json.dumps(chunk) + "\n\n" for chunk in told]
        return "text/event-stream", "".join(lines) + "data: [DONE]\n\n"

    def _handler(whole):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                whole.bodies.append(body)
                try:
                    status, (kind, text) = 200, whole._reply(body)
                except Refused as refusal:
                    status, kind, text = 400, "application/json", json.dumps({"error": {"message": str(refusal)}})
                data = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *words):
                pass

        return Handler


def is_aside(body):
    """Return whether a request is one of those that ask for JSON beside a turn: they offer no tools."""
    return "messages" in body and "JSON" in system(body) and "tools" not in body


def system(body):
    return " ".join(message["content"] for message in body["messages"] if message["role"] == "system")


def said(body):
    """Return the newest words of the user in a request."""
    content = [message["content"] for message in body["messages"] if message["role"] == "user"][-1]
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)
