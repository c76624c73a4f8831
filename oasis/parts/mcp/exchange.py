"""One message to an MCP server over streamable HTTP, and what comes back; see shapes.pyi.

The protocol's state is the daemon's: here are only headers, the stream, and bounds. Events of the server become
`message` events, the answer's head the ending `mcp`. A ping of the server's is answered, all else it asks is refused.
"""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterator

from oasis.core import jsonl
from oasis.core.framing import Events
from oasis.errors import ProviderError, SchemaError
from oasis.providers import wire
from oasis.worker import transport

if False:  # annotations only
    from oasis.providers.shapes import Request as Http
    from oasis.worker.shapes import Emit, Exchange, McpMessage, Read, Request
    from oasis.worker.transport import Response

MESSAGE_BYTES = 900 * 1024  # of one message: it must fit into an event line
TOTAL_BYTES = 8 * 1024 * 1024
# Of a server's, while it answers one request: each costs a connection.
QUESTIONS = 16
# What newer servers want to see in the head as well.
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_HINT = "ask for less at once"
_HANDSHAKE_YEARS = ("2024", "2025")


def exchange(request: Request, open_it: Exchange, read: Read, emit: Emit) -> None:
    """Send a message and pass on what comes; the last event is `mcp`.

    Raises: ProviderError for an answer that is none.
    """
    message, asked = request["message"], 0
    with contextlib.closing(open_it(_request(request, message))) as response:
        for found in _messages(response, read):
            if "method" in found and "id" in found:
                asked += 1
                if asked > QUESTIONS:
                    raise ProviderError("the MCP server asks without end", "it does not keep to the protocol")
                reply: McpMessage = {"jsonrpc": "2.0", "id": found["id"]}
                if found["method"] == "ping":
                    reply["result"] = {}
                else:
                    reply["error"] = {"code": -32601, "message": "not supported by this client"}
                open_it(_request(request, reply)).close()
                continue
            emit({"type": "message", "message": found})
            if "method" not in found and found.get("id") in (message.get("id"), None):
                break  # also without a number: this stream answers one request, and what it says of it cannot be read
    session = response.headers.get("mcp-session-id", "")[:200]
    emit({"type": "mcp", "session": session, "status": response.status})


def _request(request: Request, message: McpMessage) -> Http:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    if request.get("key"):
        headers["Authorization"] = "Bearer " + request["key"]
    if request.get("session"):
        headers["Mcp-Session-Id"] = request["session"]
    params, method = message.get("params", {}), message.get("method", "")
    meta = wire.part(params, "_meta")
    version = str(meta.get("io.modelcontextprotocol/protocolVersion") or request.get("version") or "")
    if version:
        headers["MCP-Protocol-Version"] = version
    if version and not version.startswith(_HANDSHAKE_YEARS):
        headers["Mcp-Method"] = method
        named = params.get(_NAMED.get(method, ""))
        if named is not None:
            text = str(named)
            if not text.isascii() or not text.isprintable() or text != text.strip():  # no header can hold it
                text = f"=?base64?{base64.b64encode(text.encode()).decode('ascii')}?="
            headers["Mcp-Name"] = text
    body = jsonl.dumps(message).encode()
    return {"method": "POST", "url": request["base_url"], "headers": headers, "body": body}


def _messages(response: Response, read: Read) -> Iterator[McpMessage]:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_good = 200 <= response.status < 300
    if kind == "text/event-stream":
        decoder = Events(TOTAL_BYTES)
        for piece in transport.pieces(response, read, TOTAL_BYTES, "the MCP server", _HINT):
            for event in decoder.feed(piece):
                if event["data"].strip():
                    yield _parsed(event["data"].encode())
    elif kind == "application/json":
        body = b"".join(transport.pieces(response, read, MESSAGE_BYTES, "the MCP server", _HINT))
        try:
            found = [_parsed(body)] if body else []
        except ProviderError:
            if is_good:
                raise
            found = []  # the status says it all
        yield from found
    elif is_good and kind:
        raise ProviderError(f"the answer is {kind[:60]!r}, which no MCP server sends", "is the address right?")


def _parsed(data: bytes) -> McpMessage:
    try:
        found = jsonl.loads(data, MESSAGE_BYTES)
    except SchemaError as error:
        raise ProviderError(f"the MCP server sent no JSON: {error.message}", "is the address right?")
    if not isinstance(found, dict) or found.get("jsonrpc") != "2.0":
        raise ProviderError("the MCP server sent what is no message", "is the address right?")
    return found  # type: ignore[return-value]
