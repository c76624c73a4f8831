"""`oasis mcp` as a child process, spoken to line by line, and the stock router's daemon behind it."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from typing import Any

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
CODE = f"import sys; sys.path.insert(0, {REPOSITORY!r})\nfrom oasis.cli.main import main; sys.exit(main(sys.argv[1:]))"
ANSWER_S = 20
META = "io.modelcontextprotocol/"


def command(*words: str) -> list[str]:
    return [sys.executable, "-IS", "-c", CODE, *words]


def environment(root: str) -> dict[str, str]:
    return {"OASIS_ROOT": root, "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


class Peer:
    """A client that says exactly what it is told to."""

    def __init__(self, root: str) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command("mcp"), env=environment(root), stdin=pipe, stdout=pipe, stderr=pipe)
        self.heard: list[dict[str, Any]] = []
        self._rest = b""
        self._number = 0

    def say(self, message: object) -> None:
        assert self.process.stdin
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any] | None = None, **more: Any) -> int:
        """Send a request; return its id."""
        self._number += 1
        self.say({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params or {}, **more})
        return self._number

    def answer(self, number: object) -> dict[str, Any]:
        """Return the answer to a request; what comes before is kept in `heard`."""
        return self.wait(lambda message: message.get("id") == number and "method" not in message)

    def wait(self, fits: Any) -> dict[str, Any]:
        deadline = time.monotonic() + ANSWER_S
        while True:
            for message in self.heard:
                if fits(message):
                    self.heard.remove(message)
                    return message
            assert time.monotonic() < deadline, f"nothing like it among {self.heard}"
            self._hear(deadline)

    def _hear(self, deadline: float) -> None:
        assert self.process.stdout
        ready, _, _ = select.select([self.process.stdout], [], [], max(deadline - time.monotonic(), 0))
        if not ready:
            return
        piece = os.read(self.process.stdout.fileno(), 65536)
        assert piece, f"it ended: {self.process.stderr.read() if self.process.stderr else ''!r}"
        *lines, self._rest = (self._rest + piece).split(b"\n")
        self.heard += [json.loads(line) for line in lines]

    def call(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        return self.answer(self.ask(method, params))

    def shake_hands(self, version: str = "2025-11-25", **capabilities: Any) -> dict[str, Any]:
        client = {"name": "probe", "version": "1"}
        told = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": client}
        result: dict[str, Any] = self.call("initialize", told)["result"]
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result

    def close(self) -> int:
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.process.stdin.close()
        status = self.process.wait(10)
        self.process.stdout.close()
        self.process.stderr.close()
        return status


def modern(**params: Any) -> dict[str, Any]:
    """Return params as the newer way of the protocol wants them."""
    capabilities = params.pop("capabilities", {})
    meta = {
        META + "protocolVersion": "2026-07-28",
        META + "clientInfo": {"name": "probe", "version": "1"},
        META + "clientCapabilities": capabilities,
        **params.pop("meta", {}),
    }
    return {**params, "_meta": meta}


def tool(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def text_of(answer: dict[str, Any]) -> Any:
    """Return what a tool told."""
    return json.loads(answer["result"]["content"][0]["text"])
