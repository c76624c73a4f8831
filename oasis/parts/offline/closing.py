"""The words after tool results: what became of a change, and what was read.

A change answers with {"status", "summary"?, "confirm_in_s"?, "reason"?, "until"?}, where status is applied, unchanged,
waiting_confirm, declined, expired, cancelled, refused, failed or rolled_back; what failed with {"error": {"code",
"message", "hint"}}. An unknown status is shown as it is: nothing is claimed that the result does not say.
"""

from __future__ import annotations

from oasis.core import clean, jsonl
from oasis.errors import SchemaError
from oasis.parts.offline.language.template import sentence
from oasis.parts.offline.requests import answers, report

TYPE_CHECKING = False
if TYPE_CHECKING:
    Result = dict[str, object]

RESULT_CHARS = 64 * 1024  # a larger result is not read; ours are a few kB
TEXT_CHARS = 400  # of a foreign message that is shown
_STATES = {"confirmed": "applied"}
_FAULTS = {"policy": "refused", "apply": "failed", "rollback": "rollback_failed"}  # code of an error -> what it means


def results(messages: list[dict[str, object]]) -> list[Result]:
    """Return the tool results that end the chat, in order.

    Shape: [{"id", "name", "input": {}, "text", "is_error": bool}]; [] when the last message is no tool result.
    """
    calls: dict[object, dict[str, object]] = {}
    found: list[Result] = []
    for message in messages:
        if message.get("role") != "tool":
            found = []
        for block in _blocks(message):
            if block.get("type") == "tool_use":
                calls[block.get("id")] = block
            elif block.get("type") == "tool_result":
                call = calls.get(block.get("tool_use_id"), {})
                told = {"id": call.get("id"), "name": block.get("name") or call.get("name", "")}
                told["text"] = "".join(str(one.get("text", "")) for one in _listed(block.get("content")))
                found.append({**told, "input": call.get("input", {}), "is_error": block.get("is_error") is True})
    return found


def words(found: list[Result], closing: dict[str, str], status: dict[str, str]) -> str:
    """Return what to say about all results."""
    paragraphs = [_one(result, closing, status) for result in found]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _one(result: Result, closing: dict[str, str], status: dict[str, str]) -> str:
    data = _json(str(result["text"]))
    if result["is_error"] or not data:
        error = _error(data)
        message = clean.line(error.get("message") or result["text"])[:TEXT_CHARS].rstrip(".")
        template = closing[_FAULTS.get(str(error.get("code")), "error")]
        return sentence(template, {"reason": message, "hint": _hint(error)})
    if result["name"] == "status" or (not result["name"] and "what" in data):
        return report.status(data, status)
    if result["name"] == "read_config":
        return report.config(data)
    # A call that the owner had to be asked about may have ended as a change does.
    told = "" if str(data.get("status")) in closing else answers.told(str(result["name"]), data, status)
    return told or _change(data, result, closing)


def _hint(error: dict[str, object]) -> str:
    return clean.line(error.get("hint") or "")[:TEXT_CHARS].rstrip(".")


def _change(data: dict[str, object], result: Result, closing: dict[str, str]) -> str:
    state = _state(data)
    wished = result["input"]
    fields: dict[str, object] = {
        "summary": data.get("summary") or (wished.get("summary", "") if isinstance(wished, dict) else ""),
        "seconds": data.get("confirm_in_s", ""),
        "reason": str(data.get("reason", "")).rstrip("."),
        "until": data.get("until", ""),
        "state": state,
    }
    wished = wished if isinstance(wished, dict) else {}
    name = str(result["name"])
    own = closing.get(f"{name}_{wished.get('action', 'restart')}_{state}") or closing.get(f"{name}_{state}")
    return sentence(own or closing.get(state) or closing["other"], {**wished, **fields})


def _state(data: dict[str, object]) -> str:
    for name in ("status", "state"):
        if isinstance(data.get(name), str):
            state = str(data[name]).lower()
            state = _STATES.get(state, state)
            # An applied change that still counts down is not safe yet.
            return "waiting_confirm" if state == "applied" and data.get("confirm_in_s") else state
    return "other"


def _error(data: dict[str, object]) -> dict[str, object]:
    error = data.get("error")
    if isinstance(error, dict):
        return error
    return {"message": error} if isinstance(error, str) else {}


def _blocks(message: dict[str, object]) -> list[dict[str, object]]:
    return _listed(message.get("content"))


def _listed(value: object) -> list[dict[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _json(text: str) -> dict[str, object]:
    if not text.startswith("{") or len(text) > RESULT_CHARS:
        return {}
    try:
        data = jsonl.loads(text)
    except SchemaError:
        return {}
    return data if isinstance(data, dict) else {}
