"""The lines between daemon and worker; loaded on both sides, so it imports next to nothing.

Request, one line:  {"op": "chat"|"show"|"models"|"embed"|"mcp"|"fetch"|"search"|"read"|"find", "id": int,
                     "profile": str, "vendor"?, "base_url"?, "key"?, "model"?,
                     "messages": [message], "tools": [{"name", "description", "input_schema"}], "options"?: {...}}
                     `show` is as `chat` and sends nothing: the HTTP request comes back
                     "texts": [str] of `embed` in the place of messages and tools
                     "message": {…}, "session", "version" of `mcp`, for the server at base_url; key is its token
                     "url" of `fetch`; "query", "engine": "brave"|"searxng" of `search`, which is at base_url;
                     "open", "closed": [place or network] of both, see addresses.py; "chars"?: of text at most
                     "html" of `read`: the text of a page that is here already
                     "places": [address] of `find`, see finding.py
                     "method", "parameters": {…} of `telegram`; key is the bot's token
options:            {"stream"?: bool, "max_tokens"?, "temperature"?, "tool_choice"?, "extra"?: {body fields},
                     "idle_s"?, "connect_s"?, "total_s"?, "retries"?, "ca_file"?: path, "proxy"?, "proxy_auth"?,
                     "walled"?: bool (see transport.py), "without"?: [parameter that this model does not take]}
Event, one line:    {"id": int, "event": {...}}; the events of providers/events.py, and
                    {"type": "models", "models": [...]}
                    {"type": "embedding", "embedding": [float]}  of the next text
                    {"type": "shown", "method", "url", "headers": {…}, "text"}  of `show`: a piece of the body; no key
                    {"type": "retry", "text", "wait_s"}          it failed before a word came and is asked again
                    {"type": "refused", "text", "parameter"}     the model does not take it: asked again without
                    {"type": "message", "message": {…}}          of the MCP server
                    {"type": "mcp", "session", "status"}         the end of that: its session, the HTTP status
                    {"type": "web", "result": {…}}              of `fetch`, `search`, `read`, `find`: web.py, finding.py
                    {"type": "update", "update": {…}}, {"type": "piece", "data": base64}, and the ending
                    {"type": "telegram", "result": {…}}          of `telegram`, see telegram.py
A request ends with one `done`, `models`, `mcp`, `web`, `telegram` or `error`. The key is on stdin only, never in argv
or the environment.
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.errors import PeerError, SchemaError

REQUEST_BYTES = 16 * 1024 * 1024  # a long chat with its tool results; also all event lines of one request together
EVENT_BYTES = 1024 * 1024
PIECE_CHARS = 100_000  # text of one event line: stays below EVENT_BYTES even when each character is escaped

ENDINGS = ("done", "models", "mcp", "web", "telegram", "error")

# Type of event -> its keys with their types; keys with ? may be absent. What is not listed is refused.
_SHAPES: dict[str, dict[str, type]] = {
    "delta": {"text": str},
    "thinking": {"text": str, "provider_metadata?": dict},
    "tool_use": {"id": str, "name": str, "input": dict, "invalid?": str, "provider_metadata?": dict},
    "usage": {"usage": dict},
    "done": {"stop_reason": str, "model": str},
    "models": {"models": list},
    "embedding": {"embedding": list},
    "shown": {"method": str, "url": str, "headers": dict, "text": str},
    "retry": {"text": str, "wait_s": float},
    "refused": {"text": str, "parameter": str},
    "message": {"message": dict},
    "mcp": {"session": str, "status": int},
    "web": {"result": dict},
    "update": {"update": dict},
    "piece": {"data": str},
    "telegram": {"result": dict},
    "error": {"error": dict},
}

_ERROR_SHAPE: dict[str, type] = {"code": str, "message": str, "hint": str, "retryable": bool}
_ERROR_MORE: dict[str, type] = {"status?": int, "retry_after_s?": float, "parameter?": str}


def encode(number: int, event: dict[str, object]) -> list[bytes]:
    """Return the lines of an event; long text is spread over several.

    Raises: PeerError when an event that cannot be spread is longer than a line may be.
    """
    text = event.get("text")
    if isinstance(text, str) and len(text) > PIECE_CHARS:
        starts = range(0, len(text), PIECE_CHARS)
        return [line for at in starts for line in encode(number, {**event, "text": text[at : at + PIECE_CHARS]})]
    line = jsonl.line({"id": number, "event": event})
    if len(line) > EVENT_BYTES:
        kind = event.get("type")
        raise PeerError(f"an event {kind} of {len(line)} bytes is too long", "ask for less at once")
    return [line]


def decode(line: bytes, number: int) -> dict[str, object]:
    """Return the event of a line.

    Raises: PeerError for anything but a known event of this very request.
    """
    try:
        value = jsonl.loads(line, max_bytes=EVENT_BYTES)
    except SchemaError as error:
        raise PeerError(f"the worker wrote no event: {error.message}")
    if not isinstance(value, dict) or value.get("id") != number or not isinstance(value.get("event"), dict):
        raise PeerError("the worker wrote a line that is no event of this request")
    event: dict[str, object] = value["event"]
    kind = event.get("type")
    if not isinstance(kind, str) or kind not in _SHAPES:
        raise PeerError(f"the worker wrote an event of the unknown type {str(kind)[:40]!r}")
    _check(event, _SHAPES[kind], kind)
    if kind == "error":
        error_body = event["error"]
        assert isinstance(error_body, dict)
        _check({"type": kind, **error_body}, {**_ERROR_SHAPE, **_ERROR_MORE}, kind)
    return event


def _check(event: dict[str, object], shape: dict[str, type], kind: str) -> None:
    known = {name.rstrip("?"): wanted for name, wanted in shape.items()}
    for name, value in event.items():
        if name == "type":
            continue
        if name not in known:
            raise PeerError(f"the worker wrote an event {kind} with the unknown key {name[:40]!r}")
        wanted = known[name]
        if not isinstance(value, wanted) and not (wanted is float and isinstance(value, int)):
            raise PeerError(f"the worker wrote an event {kind} whose {name} is a {type(value).__name__}")
    for name in shape:
        if not name.endswith("?") and name not in event:
            raise PeerError(f"the worker wrote an event {kind} without {name}")
