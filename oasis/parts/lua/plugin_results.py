"""What a tool server's answer means: the fields that are reserved, taken out; the rest, for the model.

`user_only` goes to the owner alone, at whatever depth it stands and also from the JSON text that `result` may be;
`reboot`, `shutdown` and `prepare_service_restart` are wishes that the owner is asked about. Fields that are ours
(`is_error`, `untrusted`) cannot be forged. `error`, `message`, `note` and the like pass.
Source: upstream's tool client.
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.errors import SchemaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# A table of neighbours fits; a run keeps 256 KiB of events.
OWNER_CHARS = 16 * 1024
# `result` in `result`: more than two nobody writes, and what is left of it stays text without what is reserved.
_LAYERS = 3
_DEPTH = 32
_OURS = ("is_error", "untrusted")


def read(reply: dict[str, Any] | None) -> tuple[dict[str, Any], str, dict[str, str]]:
    """Return what the model is told, what the owner alone is told, and the wishes.

    Shape of the wishes: {"power"?: "reboot" | "shutdown", "restart"?: name of a service}
    """
    merged = _merged(dict(reply or {}))
    wishes: dict[str, str] = {}
    for action in ("reboot", "shutdown"):
        # Only `true` is a wish: anything else is a word about it.
        if merged.get(action) is True:
            wishes["power"] = action
            del merged[action]
    service = merged.pop("prepare_service_restart", None)
    if isinstance(service, str) and service:
        wishes["restart"] = service
    private: list[str] = []
    told = {key: _public(value, private, 0) for key, value in merged.items() if key not in ("user_only", *_OURS)}
    if "user_only" in merged:
        private.insert(0, _text(merged["user_only"]))
    if told.get("error"):
        told["is_error"] = True
    return told, "\n".join(filter(None, private))[:OWNER_CHARS], wishes


def _merged(reply: dict[str, Any]) -> dict[str, Any]:
    """Lift what stands as JSON text in `result`; the text itself does not stay, for it would hold all of it again."""
    for _ in range(_LAYERS):
        inner = _object(reply.get("result"))
        if inner is None:
            return reply
        del reply["result"]
        reply = {**reply, **inner}
    if _object(reply.get("result")) is not None:
        del reply["result"]
    return reply


def _object(text: object) -> dict[str, Any] | None:
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return None
    try:
        found = jsonl.loads(text, max_depth=_DEPTH)
    except SchemaError:
        return None
    return found if isinstance(found, dict) else None


def _public(value: Any, private: list[str], depth: int) -> Any:
    """Return a value without the fields of that name at any depth; they are added to `private`."""
    if depth > _DEPTH:
        return None
    if isinstance(value, list):
        return [_public(item, private, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    private += [_text(item) for key, item in value.items() if key == "user_only"]
    return {key: _public(item, private, depth + 1) for key, item in value.items() if key != "user_only"}


def _text(value: object) -> str:
    return value if isinstance(value, str) else jsonl.dumps(value)
