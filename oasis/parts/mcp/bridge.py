"""The daemon as an MCP client sees it: tools, calls that may wait for the owner, and resources to read.

Everything goes over the daemon's socket in the role of a client, which can propose and look, and never approve. Asking
the client's person (elicitation) is about waiting only: who sits there may be anybody.

    call(method, params) -> result    of the daemon; `connect()` gives a fresh one, in the role of a client
"""

from __future__ import annotations

import threading

from oasis.core import clean, jsonl
from oasis.errors import OasisError, SchemaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.parts.mcp.server import Request

    Message = dict[str, Any]
    Call = Callable[[str, dict[str, object]], dict[str, Any]]

POLL_MS = 2000
# Clients give a call 60 s by default; who hears of progress waits longer.
WAIT_S = 45.0
PATIENT_S = 600.0
# Runs that a client can ask for again: the daemon keeps fewer.
RUNS = 64
# Beside the tools of the router: what a client asks with when the owner took longer than its call could.
FOLLOW = "run_result"
_FOLLOW_TOOL = {
    "name": FOLLOW,
    "title": "Result of an earlier call",
    "description": "Tell what became of an earlier call that waited for the owner. Give the run that it named.",
    "inputSchema": {
        "type": "object",
        "properties": {"run": {"type": "string", "description": "as the earlier answer named it"}},
        "required": ["run"],
        "additionalProperties": False,
    },
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}
_HINTS = {
    "read": {"readOnlyHint": True, "openWorldHint": False},
    "change": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    "danger": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    "net": {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": True},
}
# uri: (name, what it is, tool, its arguments)
RESOURCES: dict[str, tuple[str, str, str, Message]] = {
    "oasis://status": ("status", "What the router is and does", "status", {}),
    "oasis://doctor": ("doctor", "What is wrong with the router, and how it is mended", "diagnose", {}),
    "oasis://changes": ("changes", "What was changed here, newest first", "status", {"what": "changes"}),
}
CONFIG = "oasis://config/"
_ENDED = ("done", "cancelled", "error")


class Bridge:
    """One client's way to the daemon."""

    def __init__(self, connect: Callable[[str], Call], now_s: Callable[[], float]) -> None:
        self._connect = connect
        self._now_s = now_s
        self._name = ""
        self._lock = threading.Lock()
        self._shared: Call | None = None
        self._runs: dict[str, tuple[str, int]] = {}  # run: tool, and up to where its events are known

    def introduce(self, name: str) -> None:
        """Note how the client calls itself first; it is shown to the owner beside what the client proposes."""
        with self._lock:
            if name and not self._name:
                self._name, self._shared = name, None

    def _call(self, method: str, params: dict[str, object]) -> dict[str, Any]:
        with self._lock:
            if self._shared is None:
                self._shared = self._connect(self._name)
            return self._shared(method, params)

    def tools(self) -> list[Message]:
        """Return the tools that are on, as MCP describes them."""
        found = self._call("tool.specs", {})["tools"]
        return [*[_described(spec) for spec in found], _FOLLOW_TOOL]

    def has(self, name: str) -> bool:
        return name == FOLLOW or any(spec["name"] == name for spec in self._call("tool.specs", {})["tools"])

    def use(self, name: str, arguments: Message, request: Request) -> Message:
        """Call a tool and return its result, or how to ask for it later."""
        answers = request.params.get("inputResponses")
        earlier = request.params.get("requestState")
        if isinstance(earlier, str) and isinstance(answers, dict):
            return self._go_on(earlier, answers, request)
        if name == FOLLOW:
            return self._follow(str(arguments.get("run", "")), request)
        return self._follow(self._begin(name, arguments), request)

    def _begin(self, tool: str, arguments: Message) -> str:
        run = str(self._call("tool.call", {"name": tool, "arguments": arguments})["run"])
        with self._lock:
            self._runs[run] = (tool, 0)
            if len(self._runs) > RUNS:
                del self._runs[next(iter(self._runs))]
        return run

    def _go_on(self, run: str, answers: Message, request: Request) -> Message:
        answer = answers.get("wait")
        if isinstance(answer, dict) and answer.get("action") != "accept":
            self._withdraw(run)
        return self._follow(run, request, may_ask=False)

    def _withdraw(self, run: str) -> None:
        if run in self._runs:
            self._call("run.cancel", {"run": run})

    def _follow(self, run: str, request: Request, may_ask: bool = True) -> Message:
        if run not in self._runs:
            return _told({"error": {"message": "there is no run %r of this client" % clean.line(run)[:64]}}, True)
        watching = _Watching(self._connect(self._name), run, request, self._now_s)
        name, since = self._runs[run]
        try:
            ending = watching.until_end(since, may_ask)
        finally:
            self._runs[run] = (name, 0)
        if request.exchange.is_cancelled() or ending == "withdrawn":
            self._withdraw(run)
            return _told({"status": "cancelled"}, True)
        if ending == "ask":  # only the newer way gets here: the client asks its person, and comes again
            return {"resultType": "input_required", "inputRequests": {"wait": watching.question()}, "requestState": run}
        if ending == "waiting":
            return _told({"status": "waiting_for_owner", **watching.waiting, "run": run, "ask_later_with": FOLLOW})
        return watching.result()

    def resources(self) -> list[Message]:
        """Return the resources of the router: fixed ones, and its configuration by package."""
        found = [_resource(uri, *entry[:2]) for uri, entry in RESOURCES.items()]
        for name in self._call("config.list", {})["packages"]:
            found.append(_resource(CONFIG + name, name, "UCI configuration of the package %s" % name))
        return found

    def templates(self) -> list[Message]:
        told = {"name": "configuration", "description": "UCI configuration of a package; secrets are placeholders"}
        return [{"uriTemplate": CONFIG + "{package}", "mimeType": "application/json", **told}]

    def read(self, uri: str, request: Request) -> str | None:
        """Return a resource as JSON text, None when there is none of that name."""
        if uri in RESOURCES:
            tool, arguments = RESOURCES[uri][2:]
        elif uri.startswith(CONFIG) and "/" not in uri[len(CONFIG) :]:
            tool, arguments = "read_config", {"package": uri[len(CONFIG) :]}
        else:
            return None
        found = self._follow(self._begin(tool, arguments), request, may_ask=False)
        return None if found.get("isError") else str(found["content"][0]["text"])


class _Watching:
    """One call of a tool, followed over a connection of its own: a poll may wait."""

    def __init__(self, call: Call, run: str, request: Request, now_s: Callable[[], float]) -> None:
        self._call = call
        self._run = run
        self._request = request
        self._now_s = now_s
        self._result: Message = {}
        self._error: Message = {}
        self._state = "running"
        self._asked = False
        self._count = 0
        self.waiting: Message = {}

    def until_end(self, since: int, may_ask: bool) -> str:
        """Follow the run; return "end", "waiting" (time is up), "ask" (in the newer way) or "withdrawn"."""
        began = self._now_s()
        while True:
            reply = self._call("run.poll", {"run": self._run, "since": since, "wait_ms": POLL_MS})
            since, self._state = int(reply["next"]), str(reply["state"])
            for event in reply["events"]:
                self._take(event)
            if self._state in _ENDED:
                return "end"
            if self._request.exchange.is_cancelled():
                return "withdrawn"
            if self.waiting and may_ask and not self._asked:
                self._asked = True
                answer = self._ask()
                if answer:
                    return answer
            is_heard = self._request.progress(self._next(), self._words())
            if self._now_s() - began > (PATIENT_S if is_heard else WAIT_S):
                return "waiting"

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _words(self) -> str:
        return "waits for the owner: " + self.waiting["summary"] if self.waiting else "at work"

    def _take(self, event: Message) -> None:
        kind = event["type"]
        if kind == "tool_result":
            self._result = event
        elif kind == "error":
            self._error = event["error"]
        elif kind == "plan" and event["plan"]["needs_approval"]:
            plan = event["plan"]
            how = "on the page of Oasis, or on the router: oasis approve %s" % plan["id"]
            self.waiting = {"summary": plan["summary"], "changes": plan["words"][:8], "risk": plan["reasons"],
                            "plan": plan["id"], "approve": how}  # fmt: skip
        elif kind == "approval":
            self.waiting = {}

    def question(self) -> Message:
        """Return what the client's person is asked: to wait or not, never to approve."""
        text = "The router's owner has to approve this first: %s. Wait for it? It is approved %s." % (
            self.waiting["summary"], self.waiting["approve"])  # fmt: skip
        schema = {"type": "object", "properties": {"wait": {"type": "boolean", "title": "Wait", "default": True}}}
        return {"method": "elicitation/create", "params": {"mode": "form", "message": text, "requestedSchema": schema}}

    def _ask(self) -> str:
        if not self._request.can_elicit:
            return ""
        if self._request.is_modern:
            return "ask"
        answer = self._request.exchange.ask("elicitation/create", self.question()["params"])
        return "" if answer is None or answer.get("action") == "accept" else "withdrawn"

    def result(self) -> Message:
        """Return what the tool told."""
        if self._result:
            return _told(self._result["text"], bool(self._result["is_error"]))
        return _told({"error": self._error or {"message": "the call ended without a result"}}, True)


def _told(value: Message | str, is_error: bool = False) -> Message:
    text = value if isinstance(value, str) else jsonl.dumps(value)
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def _described(spec: Message) -> Message:
    schema = {"type": "object", **spec["input_schema"]}
    told = {"name": spec["name"], "description": spec["description"], "inputSchema": schema}
    return {**told, "annotations": _HINTS.get(spec["class"], _HINTS["danger"])}


def _resource(uri: str, name: str, description: str) -> Message:
    return {"uri": uri, "name": name, "description": description, "mimeType": "application/json"}


def joined(call: Call, name: str) -> Call:
    """Lower a connection of the daemon to the role of a client, for good; return its `call`.

    Raises: OasisError when the daemon does not run.
    """
    call("client.join", {"name": name or "an MCP client"})
    return call


def parsed(line: bytes | str) -> Message | list[Message]:
    """Return a message, or a batch of them (2025-03-26).

    Raises: SchemaError for what is no JSON object, or is too long or too deep.
    """
    value = jsonl.loads(line)
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return value
    if not isinstance(value, dict):
        raise SchemaError("a message must be an object")
    return value


__all__ = ["Bridge", "OasisError", "joined", "parsed"]
