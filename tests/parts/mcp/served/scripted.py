"""An MCP server that does what its first argument says: a well-behaved one of an older year, and all kinds of bad ones.

`scripted.py KIND` speaks on standard input and output; kinds are the keys of KINDS.
"""

import json
import os
import sys
import threading
import time

VERSION = "2025-06-18"
TOOLS = [
    {"name": "echo", "description": "Say it again.", "annotations": {"readOnlyHint": True},
     "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
    {"name": "a___b", "description": "A name with the separator in it.", "inputSchema": {"type": "object"}},
    {"name": "slow", "description": "Take long.", "inputSchema": {"type": "object"}},
    {"name": "fail", "description": "Fail.", "inputSchema": {"type": "object"}},
    {"name": "wipe", "description": "Destroy.", "inputSchema": {"type": "object"},
     "annotations": {"destructiveHint": True}},
]  # fmt: skip
NEW = {"name": "new", "description": "Was not there before.", "inputSchema": {"type": "object"}}


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def note(text):
    with open(sys.argv[2], "a", encoding="utf-8") as handle:
        handle.write(text + "\n")


class Server:
    def __init__(self, kind):
        self.kind = kind
        self.tools = list(TOOLS)

    def serve(self):
        for line in sys.stdin:
            message = json.loads(line)
            note(json.dumps(message))
            method = message.get("method", "")
            answer = getattr(self, method.replace("/", "_"), None)
            if "id" not in message or not method:
                continue
            if answer is None:
                send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
            else:
                answer(message["id"], message.get("params", {}))

    def initialize(self, number, params):
        version = "1999-01-01" if self.kind == "old" else VERSION
        has = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}}
        send(
            {
                "id": number,
                "result": {"protocolVersion": version, "capabilities": has, "serverInfo": {"name": "scripted"}},
            }
        )

    def tools_list(self, number, params):
        start = int(params.get("cursor", 0))
        page = {"tools": self.tools[start : start + 2]}
        if self.kind == "endless":
            send({"id": number, "result": {"tools": [{**TOOLS[0], "name": f"t{start}"}], "nextCursor": str(start + 1)}})
            return
        if start + 2 < len(self.tools):
            page["nextCursor"] = str(start + 2)
        send({"id": number, "result": page})

    def tools_call(self, number, params):
        bad = getattr(self, "call_" + self.kind, None)
        if bad:
            bad(number, params)
            return
        name, arguments = params["name"], params.get("arguments", {})
        if name == "fail":
            send({"id": number, "error": {"code": -32000, "message": "it\u202e broke"}})
        elif name == "slow":
            threading.Thread(target=self.take_long, args=(number, params), daemon=True).start()
        else:
            text = arguments.get("text", name)
            content = [{"type": "text", "text": text}, {"type": "image", "data": "x", "mimeType": "image/png"}]
            send({"id": number, "result": {"content": content, "isError": text == "wrong"}})

    def take_long(self, number, params):
        token = params["_meta"]["progressToken"]
        for done in range(1, 100):
            told = {"progressToken": token, "progress": done, "total": 100, "message": f"step {done}"}
            send({"method": "notifications/progress", "params": told})
            time.sleep(0.3)
        send({"id": number, "result": {"content": []}})

    def resources_list(self, number, params):
        send({"id": number, "result": {"resources": [{"uri": "s://one", "name": "one", "secret": "not for us"}]}})

    def resources_read(self, number, params):
        send({"id": number, "result": {"contents": [{"uri": params["uri"], "text": "read " + params["uri"]}]}})

    def prompts_list(self, number, params):
        send({"id": number, "result": {"prompts": [{"name": "hi", "description": "greet"}]}})

    def prompts_get(self, number, params):
        text = f"{params['name']} {params.get('arguments', {})}"
        send({"id": number, "result": {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}})

    # What bad servers do when they are called

    def call_dies(self, number, params):
        sys.stderr.write("out of luck\n")
        sys.stderr.flush()
        os._exit(3)

    def call_lies(self, number, params):
        for wrong in (number + 1000, True, None, "x", -1):
            send({"id": wrong, "result": {"content": [{"type": "text", "text": "a lie"}]}})
        send({"id": number, "result": {"content": [{"type": "text", "text": "the truth"}]}})

    def call_floods(self, number, params):
        piece = "x" * 1_000_000
        for _ in range(100):
            sys.stdout.write(piece)
        sys.stdout.flush()

    def call_babbles(self, number, params):
        for _ in range(5000):
            sys.stdout.write("this is a log line\n")
        sys.stdout.flush()
        send({"id": number, "result": {"content": []}})

    def call_asks(self, number, params):
        send({"id": "s1", "method": "sampling/createMessage", "params": {"messages": []}})
        send({"id": "s2", "method": "ping"})
        send({"id": "s3", "method": "roots/list"})
        send({"id": number, "result": {"content": [{"type": "text", "text": "asked"}]}})

    def call_odd(self, number, params):
        send({"id": number, "result": ["no object"]})

    def call_changes(self, number, params):
        self.tools.append(NEW)
        send({"method": "notifications/tools/list_changed"})
        send({"id": number, "result": {"content": [{"type": "text", "text": "changed"}]}})

    def call_huge(self, number, params):
        send({"id": number, "result": {"content": [{"type": "text", "text": "y" * 300_000}]}})

    def call_forks(self, number, params):
        if os.fork() == 0:
            os.close(1)
            time.sleep(60)
            os._exit(0)
        send({"id": number, "result": {"content": [{"type": "text", "text": str(os.getpid())}]}})


KINDS = ("good", "old", "endless", "dies", "lies", "floods", "babbles", "asks", "odd", "changes", "huge", "forks")

if __name__ == "__main__":
    Server(sys.argv[1]).serve()
