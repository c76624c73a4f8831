"""The lines between daemon and worker; loaded on both sides, so it imports next to nothing.

Request, one line:  {"op": "chat"|"show"|"models"|"embed"|"mcp"|"fetch"|"search"|"read"|"find", "id": int,
                     "profile": str, "vendor"?, "base_url"?, "key"?, "model"?,
                     "messages": [message], "tools": [{"name", "description", "input_schema"}], "options"?: {...}}
                     `show` is as `chat` and sends nothing: the HTTP request comes back
                     "texts": [str] of `embed` in the place of messages and tools
                     "message": {…}, "session", "version" of `mcp`, for the server at base_url; key is its token
                     "url" of `fetch`; "query", "engine": "brave"|"searxng" of `search`, which is at base_url;
                     "open", "closed": [place or network] of both, see hostnames.py; "chars"?: of text at most
                     "html" of `read`: the text of a page that is here already
                     "places": [address] of `find`, see finding.py
                     "method", "parameters": {…} of `telegram`; key is the bot's token
options:            {"stream"?: bool, "max_tokens"?, "temperature"?, "tool_choice"?, "extra"?: {body fields},
                     "idle_s"?, "connect_s"?, "total_s"?, "retries"?, "ca_file"?: path, "proxy"?, "proxy_auth"?,
                     "walled"?: bool (see transport.py), "without"?: [parameter that this model does not take]}
Event, one line:    {"id": int, "event": {...}}; the events of providers/events.py, and
                    {"type": "models", "models": [...]}
                    {"type": "embedding", "embedding": [float]}  of the next text; `usage` and `done` after the last
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

# Characters of a text at most, where PIECE_CHARS is more than it ever has. The worker cuts what a service sent; a line
# with more comes from no worker of ours.
_CHARS = {
    "id": 512, "name": 256, "invalid": 256, "stop_reason": 64, "model": 256, "method": 64, "url": 16384,
    "session": 4096, "parameter": 128, "code": 64, "message": 4096, "hint": 4096,
}  # fmt: skip
_DATA_CHARS = EVENT_BYTES  # base64, which is not spread
MODELS = 4096  # of one list; the longest of today has some hundreds
VECTOR_NUMBERS = 8192
# What a number in an event may be: a wait in seconds, a status, a count of tokens.
_MOST = 10**9

_ERROR_SHAPE: dict[str, type] = {"code": str, "message": str, "hint": str, "retryable": bool}
_ERROR_MORE: dict[str, type] = {"status?": int, "retry_after_s?": float, "parameter?": str}


def encode(number: int, event: dict[str, object]) -> list[bytes]:
    """Return the lines of an event; long text is spread over several.

    Raises: PeerError when an event that cannot be spread is longer than a line may be.
    """
    event = _cut(event)
    text = event.get("text")
    if isinstance(text, str) and len(text) > PIECE_CHARS:
        starts = range(0, len(text), PIECE_CHARS)
        return [line for at in starts for line in encode(number, {**event, "text": text[at : at + PIECE_CHARS]})]
    line = jsonl.line({"id": number, "event": event})
    if len(line) > EVENT_BYTES:
        kind = event.get("type")
        raise PeerError(f"an event {kind} of {len(line)} bytes is too long", "ask for less at once")
    return [line]


def _cut(event: dict[str, object]) -> dict[str, object]:
    """Return an event whose texts are no longer than they may be; the error inside one, too."""
    inner = event.get("error")
    cut = {name: _cut_text(name, value) for name, value in event.items()}
    if isinstance(inner, dict):
        cut["error"] = {name: _cut_text(name, value) for name, value in inner.items()}
    listed = event.get("models")
    if isinstance(listed, list):
        cut["models"] = [{**model, "id": str(model["id"])[: _CHARS["id"]]} for model in listed[:MODELS]]
    return cut


def _cut_text(name: str, value: object) -> object:
    return value[: _CHARS[name]] if isinstance(value, str) and name in _CHARS else value


def decode(line: bytes, number: int) -> dict[str, object]:
    """Return the event of a line.

    Raises: PeerError for anything but a known event of this very request.
    """
    try:
        value: object = jsonl.loads(line, max_bytes=EVENT_BYTES)
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
    elif kind in _INSIDE:
        name, is_good = _INSIDE[kind]
        if not is_good(event[name]):
            raise PeerError(f"the worker wrote an event {kind} that holds what is no {kind}")
    return event


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= _MOST


def _is_usage(value: object) -> bool:
    return isinstance(value, dict) and len(value) <= 16 and all(map(_is_count, value.values()))


def _is_vector(value: object) -> bool:
    numbers = value if isinstance(value, list) else []
    return len(numbers) <= VECTOR_NUMBERS and all(
        type(number) in (int, float) and -1e38 < number < 1e38 for number in numbers
    )


def _is_models(value: object) -> bool:
    return isinstance(value, list) and len(value) <= MODELS and all(map(_is_model, value))


def _is_model(value: object) -> bool:
    if not isinstance(value, dict) or not set(value) <= {"id", "context_tokens", "tools"}:
        return False
    name, room = value.get("id"), value.get("context_tokens", 0)
    return isinstance(name, str) and len(name) <= _CHARS["id"] and _is_count(room)


# Type of event -> the value inside that has a form of its own.
_INSIDE = {"usage": ("usage", _is_usage), "embedding": ("embedding", _is_vector), "models": ("models", _is_models)}


def _longest(kind: str, name: str) -> int:
    """Return how many characters a text may have; `data` is base64 in one piece."""
    return _DATA_CHARS if name == "data" else _CHARS.get(name, PIECE_CHARS)


def _check(event: dict[str, object], shape: dict[str, type], kind: str) -> None:
    known = {name.rstrip("?"): wanted for name, wanted in shape.items()}
    for name, value in event.items():
        if name == "type":
            continue
        if name not in known:
            raise PeerError(f"the worker wrote an event {kind} with the unknown key {name[:40]!r}")
        wanted = known[name]
        if type(value) is not wanted and not (wanted is float and type(value) is int):
            raise PeerError(f"the worker wrote an event {kind} whose {name} is a {type(value).__name__}")
        if isinstance(value, str) and len(value) > _longest(kind, name):
            raise PeerError(f"the worker wrote an event {kind} whose {name} has {len(value)} characters")
        if wanted in (int, float) and not 0 <= value <= _MOST:  # type: ignore[operator]
            raise PeerError(f"the worker wrote an event {kind} whose {name} is no such number")
    for name in shape:
        if not name.endswith("?") and name not in event:
            raise PeerError(f"the worker wrote an event {kind} without {name}")
