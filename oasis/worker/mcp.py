"""One message to an MCP server over streamable HTTP, and what comes back; see lines.py for the shape.

The protocol's state is the daemon's: here are only headers, the stream, and bounds. Events of the server become
`message` events, the answer's head the ending `mcp`. A ping of the server's is answered, all else it asks is refused.
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.core.framing import Events
from oasis.errors import ProviderError, SchemaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from oasis.worker.transport import Response

    Message = dict[str, Any]
    Exchange = Callable[[dict[str, object]], Response]

MESSAGE_BYTES = 900 * 1024  # of one message: it must fit into an event line
TOTAL_BYTES = 8 * 1024 * 1024
# Of a server's, while it answers one request: each costs a connection.
QUESTIONS = 16
# What newer servers want to see in the head as well.
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_HANDSHAKE_YEARS = ("2024", "2025")


def exchange(request: Message, open_it: Exchange, read: Callable[[Response], bytes], emit: Callable[..., None]) -> None:
    """Send a message and pass on what comes; the last event is `mcp`.

    Raises: ProviderError for an answer that is none.
    """
    message = request["message"]
    response, asked = open_it(_request(request, message)), 0
    try:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        for found in _messages(response, kind, read):
            if "method" in found and "id" in found:
                asked += 1
                if asked > QUESTIONS:
                    raise ProviderError("the MCP server asks without end", "it does not keep to the protocol")
                _refuse(request, found, open_it)
                continue
            emit({"type": "message", "message": found})
            if "method" not in found and found.get("id") in (message.get("id"), None):
                break  # also without a number: this stream answers one request, and what it says of it cannot be read
        session = response.headers.get("mcp-session-id", "")[:200]
    finally:
        response.close()
    emit({"type": "mcp", "session": session, "status": response.status})


def _request(request: Message, message: Message) -> dict[str, object]:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    if request.get("key"):
        headers["Authorization"] = "Bearer " + str(request["key"])
    if request.get("session"):
        headers["Mcp-Session-Id"] = str(request["session"])
    meta = message.get("params", {}).get("_meta", {})
    version = str(meta.get("io.modelcontextprotocol/protocolVersion") or request.get("version") or "")
    if version:
        headers["MCP-Protocol-Version"] = version
    if version and not version.startswith(_HANDSHAKE_YEARS):
        headers["Mcp-Method"] = str(message.get("method", ""))
        named = message.get("params", {}).get(_NAMED.get(str(message.get("method")), ""))
        if named is not None:
            headers["Mcp-Name"] = _header(str(named))
    return {
        "method": "POST",
        "url": str(request["base_url"]),
        "headers": headers,
        "body": jsonl.dumps(message).encode(),
    }


def _header(text: str) -> str:
    """Return a value as a header can hold it: what is not plain goes in base64."""
    if text.isascii() and text.isprintable() and text == text.strip():
        return text
    import base64

    return "=?base64?%s?=" % base64.b64encode(text.encode()).decode("ascii")


def _messages(response: Response, kind: str, read: Callable[[Response], bytes]) -> Iterator[Message]:
    if kind == "text/event-stream":
        yield from _streamed(response, read)
    elif kind == "application/json":
        body = b"".join(_pieces(response, read, MESSAGE_BYTES))
        try:
            found = [_parsed(body)] if body else []
        except ProviderError:
            if 200 <= response.status < 300:
                raise
            found = []  # the status says it all
        yield from found
    elif not 200 <= response.status < 300 or not kind:
        return
    else:
        raise ProviderError(f"the answer is {kind[:60]!r}, which no MCP server sends", "is the address right?")


def _streamed(response: Response, read: Callable[[Response], bytes]) -> Iterator[Message]:
    decoder = Events(TOTAL_BYTES)
    for piece in _pieces(response, read, TOTAL_BYTES):
        for event in decoder.feed(piece):
            if event["data"].strip():
                yield _parsed(event["data"].encode())


def _pieces(response: Response, read: Callable[[Response], bytes], most: int) -> Iterator[bytes]:
    taken = 0
    while True:
        piece = read(response)
        if not piece:
            return
        taken += len(piece)
        if taken > most:
            raise ProviderError(f"the MCP server sent more than {most} bytes", "ask for less at once")
        yield piece


def _parsed(data: bytes) -> Message:
    try:
        found = jsonl.loads(data, MESSAGE_BYTES)
    except SchemaError as error:
        raise ProviderError(f"the MCP server sent no JSON: {error.message}", "is the address right?")
    if not isinstance(found, dict) or found.get("jsonrpc") != "2.0":
        raise ProviderError("the MCP server sent what is no message", "is the address right?")
    return found


def _refuse(request: Message, asked: Message, open_it: Exchange) -> None:
    reply: Message = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "ping":
        reply["result"] = {}
    else:
        reply["error"] = {"code": -32601, "message": "not supported by this client"}
    open_it(_request(request, reply)).close()
