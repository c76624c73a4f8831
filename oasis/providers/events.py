"""The events every decoder speaks, made in one place so that their shape is written down once.

    {"type": "delta", "text"}                 a piece of the answer
    {"type": "thinking", "text", "provider_metadata"?: {}}
    {"type": "tool_use", "id", "name", "input": {}, "invalid"?: str, "provider_metadata"?: {}}
    {"type": "usage", "usage": {...}}
    {"type": "done", "stop_reason", "model"}                  ends the answer
    {"type": "error", "error": {"code", "message", "hint", "retryable", "status"?, "retry_after_s"?, "parameter"?}}

The last one ends it too; `parameter` is the one that the model does not take, see faults.py.

`tool_use` comes only when the whole turn is complete. `invalid` holds the first 200 characters of arguments that were
no JSON object; then `input` is {} and the call must be answered with an error result, never run. `invalid` is for
the caller only and never goes out again (gate.py removes it).
`provider_metadata` is {profile name: {...}}: what that service wants back unchanged; others ignore it. A thinking event
with it ends its block: the texts of the thinking events before it belong to the same block, those after it do not.
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.errors import SchemaError

STOP_REASONS = ("end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "pause", "error", "other")

INVALID_CHARS = 200  # enough for a model to recognise its own slip, too little to fill a log

# Metadata travels that deep in a stored message, and may not be deeper there than half of a line.
ECHO_LEVEL = 34
# An answer is stored in 256 KiB; encrypted thoughts of a hundred are seen.
ECHO_BYTES = 160 * 1024

# A thousand times the longest context of today. A number with thousands of digits cannot even be written again.
MOST_TOKENS = 10**9

Event = dict[str, object]


def delta(text: str) -> Event:
    return {"type": "delta", "text": clean(text)}


def thinking(text: str, provider_metadata: dict[str, object] | None = None) -> Event:
    event: Event = {"type": "thinking", "text": clean(text)}
    if provider_metadata:
        event["provider_metadata"] = provider_metadata
    return event


def echo(owner: str, kept: dict[str, object]) -> list[Event]:
    """Return the event that ends a thinking block with what `owner` wants back.

    Nothing for what JSON cannot hold, nor for more than a message has room for: then the answer is worth more.
    """
    try:
        jsonl.check(kept, "what goes back", ECHO_LEVEL)
    except SchemaError:
        return []
    return [thinking("", {owner: kept})] if len(jsonl.dumps(kept)) <= ECHO_BYTES else []


def count(value: object) -> int | None:
    """Return a number of tokens as a service reports it, None (unknown) for an invalid number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= MOST_TOKENS:
        return None
    return int(value) if value == int(value) else None


def usage(counts: dict[str, object]) -> list[Event]:
    """Return the usage event of the counts that are known; none at all gives no event."""
    known: dict[str, object] = {}
    for name, value in counts.items():
        number = count(value)
        if number is not None:
            known[name] = number
    return [{"type": "usage", "usage": known}] if known else []


def done(stop_reason: str, model: str) -> Event:
    return {"type": "done", "stop_reason": stop_reason, "model": clean(model)}


def error(
    code: str,
    message: str,
    hint: str = "",
    retryable: bool = False,
    *,
    status: int | None = None,
    retry_after_s: float | None = None,
    parameter: str = "",
) -> Event:
    body: dict[str, object] = {"code": code, "message": clean(message), "hint": hint, "retryable": retryable}
    if status is not None:
        body["status"] = status
    if retry_after_s is not None:
        body["retry_after_s"] = retry_after_s
    if parameter:
        body["parameter"] = parameter
    return {"type": "error", "error": body}


def clean(text: str) -> str:
    """Replace halves of surrogate pairs, which JSON can spell and no file can hold."""
    try:
        text.encode("utf-8")
    except UnicodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
