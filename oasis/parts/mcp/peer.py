"""One MCP server as a client sees it: which way of the protocol it speaks, what it has, what a call came to.

Knows no transport: `line.ask(message, seconds, on_message, is_cancelled)` sends a request and returns its response;
`line.tell(message)` sends a notification. Since 2026-07-28 a server is asked what it speaks, and each request tells all
that is to be known; older ones shake hands first. Everything that a server says is bounded here and checked by who
uses it. Source: the specification's schemas of 2025-06-18, 2025-11-25 and 2026-07-28.
"""

from __future__ import annotations

import threading

from oasis import VERSION
from oasis.core import clean, jsonl
from oasis.errors import PeerError, ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    Message = dict[str, Any]
    OnMessage = Callable[[Message], None]

    class Line(Protocol):
        version: str

        def ask(
            self, message: Message, seconds: float, on_message: OnMessage, is_cancelled: Callable[[], bool]
        ) -> Message: ...
        def tell(self, message: Message) -> None: ...


MODERN = "2026-07-28"
HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # newest first
_META = "io.modelcontextprotocol/"
_CLIENT = {"name": "oasis", "version": VERSION}
CONNECT_S = 20.0
# How long a server that may not know the question is waited for: older ones can hang on it.
PROBE_S = 5.0
PAGES = 20
ITEMS = 200
# Of all pages of a list together: what is longer is not kept anyway (servers.py).
LISTED_BYTES = 1024 * 1024
_PROGRESS_CHARS = 300
_UNSUPPORTED = -32022


class RefusedError(ToolError):
    """The server answered with an error; `number` is its code."""

    number: object = 0


class Peer:
    """A server behind a line that is open."""

    def __init__(self, name: str, line: Line) -> None:
        self._name = name
        self._line = line
        self._numbering = threading.Lock()
        self._number = 0
        self.is_modern = False
        self.capabilities: Message = {}
        self.is_changed = False  # it said that its tools are others now

    def connect(self) -> None:
        """Agree on a version.

        Raises: ToolError when the server speaks none of ours, or does not answer.
        """
        if self._discovers(PROBE_S):
            return
        try:
            self._shake_hands()
        except RefusedError as refused:
            # It answered the question after all, too late for us, and speaks the newer way since.
            if refused.number != _UNSUPPORTED or not self._discovers(CONNECT_S):
                raise

    def _discovers(self, seconds: float) -> bool:
        """Ask what the server speaks; tell whether it is the newer way. The older one says what else is wrong."""
        self.is_modern = True
        try:
            found = self._ask("server/discover", {}, seconds)
        except ToolError:
            found = {}
        versions = found.get("supportedVersions")
        self.is_modern = isinstance(versions, list) and MODERN in versions
        if self.is_modern:
            self._line.version = MODERN
            self._keep(found)
        return self.is_modern

    def _shake_hands(self) -> None:
        asked = {"protocolVersion": HANDSHAKE[0], "capabilities": {}, "clientInfo": _CLIENT}
        found = self._ask("initialize", asked, CONNECT_S)
        version = found.get("protocolVersion")
        if version not in HANDSHAKE:
            raise ToolError(
                "the MCP server %s speaks protocol %s, which oasis does not" % (self._name, clean.line(version)[:40]),
                "oasis speaks " + ", ".join((MODERN, *HANDSHAKE)),
            )
        self._line.version = str(version)
        self._keep(found)
        self._line.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _keep(self, found: Message) -> None:
        capabilities = found.get("capabilities")
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}

    def has(self, what: str) -> bool:
        """Tell whether the server says that it has tools, resources or prompts."""
        return isinstance(self.capabilities.get(what), dict)

    def listed(self, what: str, seconds: float = CONNECT_S) -> list[Message]:
        """Return its tools, resources or prompts, page by page; those that are no objects are left out."""
        found: list[Message] = []
        taken, cursor = 0, None
        for _ in range(PAGES):
            reply = self._ask(what + "/list", {} if cursor is None else {"cursor": cursor}, seconds)
            items = reply.get(what)
            found += [one for one in items if isinstance(one, dict)] if isinstance(items, list) else []
            cursor = reply.get("nextCursor")
            taken += len(jsonl.line(reply))
            if not isinstance(cursor, str) or len(found) >= ITEMS or taken > LISTED_BYTES:
                break
        if what == "tools":
            self.is_changed = False
        return found[:ITEMS]

    def request(
        self, method: str, params: Message, seconds: float, on_progress: Callable[[str, object, object], None],
        is_cancelled: Callable[[], bool],
    ) -> Message:  # fmt: skip
        """Ask something that may take long; progress is told meanwhile.

        Raises: ToolError with the server's words, or ours when it does not answer.
        """
        number = self._next()
        token = "oasis-%d" % number

        def on_message(message: Message) -> None:
            told = message.get("params")
            if message["method"] != "notifications/progress" or not isinstance(told, dict):
                return
            if told.get("progressToken") == token:
                words = clean.line(told.get("message") or "at work")[:_PROGRESS_CHARS]
                on_progress(words, told.get("progress"), told.get("total"))

        params = {**params, "_meta": {"progressToken": token}}
        return self._ask(method, params, seconds, on_message, is_cancelled, number)

    def _next(self) -> int:
        """Return a number that no other request has: calls may come at once."""
        with self._numbering:
            self._number += 1
            return self._number

    def _ask(
        self, method: str, params: Message, seconds: float, on_message: OnMessage | None = None,
        is_cancelled: Callable[[], bool] = lambda: False, number: int = 0,
    ) -> Message:  # fmt: skip
        if self.is_modern:
            meta = {_META + "protocolVersion": MODERN, _META + "clientInfo": _CLIENT, _META + "clientCapabilities": {}}
            params = {**params, "_meta": {**params.get("_meta", {}), **meta}}
        message = {"jsonrpc": "2.0", "id": number or self._next(), "method": method, "params": params}

        def heard(message: Message) -> None:
            if message.get("method") == "notifications/tools/list_changed":
                self.is_changed = True
            if on_message is not None:
                on_message(message)

        return self._result(self._line.ask(message, seconds, heard, is_cancelled))

    def _result(self, response: Message) -> Message:
        error = response.get("error")
        if isinstance(error, dict):
            words = clean.line(error.get("message"))[:1000] or "no reason given"
            fault = RefusedError("MCP Error (%s): %s" % (clean.line(error.get("code"))[:20], words))
            fault.untrusted = (whose(self._name),)
            fault.number = error.get("code")
            raise fault
        result = response.get("result")
        if not isinstance(result, dict):
            raise PeerError(
                "the MCP server %s answered with no result" % self._name, "it does not keep to the protocol"
            )
        if result.get("resultType") == "input_required":
            raise ToolError("the MCP server %s wants to ask somebody before it goes on" % self._name,
                            "this client has nobody to ask; give all that it needs in the arguments")  # fmt: skip
        return result


def whose(name: str) -> str:
    """Return whose words all is that a server tells."""
    return "words of the MCP server " + name


def told(result: Message) -> Message:
    """Return the result of a call as a tool tells it: its texts, and what else there was.

    Shape: {"text", "structured"?, "links"?: [uri], "left_out"?: [kinds of content], "is_error"?: True}
    """
    content = result.get("content")
    blocks = [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    texts, links, left_out = [], [], []
    for block in blocks:
        kind, resource = block.get("type"), block.get("resource")
        if kind == "text":
            texts.append(str(block.get("text", "")))
        elif kind == "resource" and isinstance(resource, dict) and isinstance(resource.get("text"), str):
            texts.append(resource["text"])
        elif kind == "resource_link":
            links.append(str(block.get("uri", ""))[:500])
        else:
            left_out.append(clean.line(kind)[:40])
    found: Message = {"text": "\n".join(texts)}
    structured = result.get("structuredContent")
    if structured is not None and not texts:
        found["structured"] = structured
    if links:
        found["links"] = links[:ITEMS]
    if left_out:
        found["left_out"] = left_out[:ITEMS]
    if result.get("isError") is True:
        found["is_error"] = True
    return found


def contents(result: Message) -> Message:
    """Return what was read of a resource."""
    items = result.get("contents")
    found = [one for one in items if isinstance(one, dict)] if isinstance(items, list) else []
    texts = [str(one["text"]) for one in found if isinstance(one.get("text"), str)]
    left = [clean.line(one.get("mimeType"))[:80] for one in found if "text" not in one]
    return {"text": "\n".join(texts), "left_out": left} if left else {"text": "\n".join(texts)}


def prompt(result: Message) -> Message:
    """Return the texts of a prompt."""
    items = result.get("messages")
    texts = []
    for one in items if isinstance(items, list) else []:
        content = one.get("content") if isinstance(one, dict) else None
        if isinstance(content, dict) and isinstance(content.get("text"), str):
            texts.append(content["text"])
    return {"text": "\n\n".join(texts)}
