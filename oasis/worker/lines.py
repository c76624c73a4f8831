"""The lines between daemon and worker; loaded on both sides, so it imports next to nothing.

A request is one line; its op is chat, show, models, embed, fetch, search, read, find, or the name of a part whose
module `exchange` answers it; its keys are those of Request in shapes.pyi. Each event is a line {"id": of the request,
"event": {...}}, its keys those of Event in providers/shapes.pyi. A request ends with one `done`, `models`, `mcp`,
`web`, `telegram` or `error`. The key is on stdin only, never in argv or the environment.
"""

from __future__ import annotations

from collections.abc import Mapping

from oasis.core import jsonl
from oasis.errors import PeerError, SchemaError

if False:  # annotations only
    from oasis.providers.shapes import Dict, Event

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
    "session": 4096, "parameter": 128, "code": 64, "message": 4096, "hint": 4096, "data": EVENT_BYTES,
}  # fmt: skip
MODELS = 4096  # of one list; the longest of today has some hundreds
VECTOR_NUMBERS = 8192
# What a number in an event may be: a wait in seconds, a status, a count of tokens.
_MOST = 10**9

_ERROR_SHAPE: dict[str, type] = {
    "code": str, "message": str, "hint": str, "retryable": bool,
    "status?": int, "retry_after_s?": float, "parameter?": str,
}  # fmt: skip


def encode(number: int, event: Event) -> list[bytes]:
    """Return the lines of an event; long text is spread over several.

    Raises: PeerError when an event that cannot be spread is longer than a line may be.
    """
    cut = _cut(event)
    if "error" in event:
        cut["error"] = _cut(event["error"])
    if "models" in event:
        cut["models"] = [_cut(model) for model in event["models"][:MODELS]]
    text = cut.get("text")
    if not isinstance(text, str):
        return [_line(number, cut)]
    starts = range(0, max(len(text), 1), PIECE_CHARS)
    return [_line(number, {**cut, "text": text[at : at + PIECE_CHARS]}) for at in starts]


def _cut(values: Mapping[str, object]) -> Dict:
    """Return values whose texts are no longer than they may be."""
    return {name: value[: _CHARS.get(name)] if isinstance(value, str) else value for name, value in values.items()}


def _line(number: int, event: Dict) -> bytes:
    line = jsonl.line({"id": number, "event": event})
    if len(line) > EVENT_BYTES:
        raise PeerError(f"an event {event.get('type')} of {len(line)} bytes is too long", "ask for less at once")
    return line


def decode(line: bytes, number: int) -> Event:
    """Return the event of a line.

    Raises: PeerError for anything but a known event of this very request.
    """
    try:
        value: object = jsonl.loads(line, max_bytes=EVENT_BYTES)
    except SchemaError as error:
        raise PeerError(f"the worker wrote no event: {error.message}")
    if not isinstance(value, dict) or value.get("id") != number or not isinstance(value.get("event"), dict):
        raise PeerError("the worker wrote a line that is no event of this request")
    event: Event = value["event"]
    kind = event.get("type")
    if not isinstance(kind, str) or kind not in _SHAPES:
        raise PeerError(f"the worker wrote an event of the unknown type {str(kind)[:40]!r}")
    _check(event, _SHAPES[kind], kind)
    if kind == "error":
        _check(event["error"], _ERROR_SHAPE, kind)
    if not _holds(kind, event):
        raise PeerError(f"the worker wrote an event {kind} that holds what is no {kind}")
    return event


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= _MOST


def _holds(kind: str, event: Event) -> bool:
    """Tell whether the value inside an event has its form."""
    if kind == "usage":
        return len(event["usage"]) <= 16 and all(map(_is_count, event["usage"].values()))
    if kind == "embedding":
        numbers = event["embedding"]
        are_numbers = all(type(number) in (int, float) and -1e38 < number < 1e38 for number in numbers)
        return len(numbers) <= VECTOR_NUMBERS and are_numbers
    for value in event["models"] if kind == "models" else ():
        if not isinstance(value, dict) or not set(value) <= {"id", "context_tokens", "tools"}:
            return False
        name, tools = value.get("id"), value.get("tools", False)
        if not isinstance(name, str) or len(name) > _CHARS["id"] or not isinstance(tools, bool):
            return False
        if not _is_count(value.get("context_tokens", 0)):
            return False
    return kind != "models" or len(event["models"]) <= MODELS


def _check(event: Mapping[str, object], shape: dict[str, type], kind: str) -> None:
    known = {name.rstrip("?"): wanted for name, wanted in shape.items()}
    for name, value in event.items():
        if name == "type" and kind == value:
            continue
        if name not in known:
            raise PeerError(f"the worker wrote an event {kind} with the unknown key {name[:40]!r}")
        wanted = known[name]
        if type(value) is not wanted and not (wanted is float and type(value) is int):
            raise PeerError(f"the worker wrote an event {kind} whose {name} is a {type(value).__name__}")
        if isinstance(value, str) and len(value) > _CHARS.get(name, PIECE_CHARS):
            raise PeerError(f"the worker wrote an event {kind} whose {name} has {len(value)} characters")
        if isinstance(value, (int, float)) and not 0 <= value <= _MOST:
            raise PeerError(f"the worker wrote an event {kind} whose {name} is no such number")
    for name in shape:
        if not name.endswith("?") and name not in event:
            raise PeerError(f"the worker wrote an event {kind} without {name}")
