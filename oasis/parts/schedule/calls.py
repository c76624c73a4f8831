"""Calls of tools at a time, without a model: what stands in for one in a turn, and how the results are told.

In a run's first round it asks for the calls that the entry lists; in its second it tells what came of them: each
result under the name of its tool, or, where the entry says how, in the words of a model, which has no tools there.
A model that fails is done without.
"""

from __future__ import annotations

from oasis.core import jsonl, schema
from oasis.errors import OasisError, SchemaError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Call = dict[str, Any]
    OnEvent = Callable[[dict[str, Any]], None]

# As many as an answer of a model may have (turn.py).
CALLS = 8
# Of what a model says of the results: never a call, nor commands in blocks.
_PASSED = ("delta", "usage", "done", "error")


def parse(given: list[Any]) -> list[Call]:
    """Return calls, each given as {"tool", "params"} or as the JSON of that.

    Raises: UsageError naming the call.
    """
    if len(given) > CALLS:
        raise UsageError("%d calls of tools" % len(given), "at most %d in one schedule" % CALLS)
    return [_call(one, number) for number, one in enumerate(given)]


def _call(given: Any, number: int) -> Call:
    try:
        value = jsonl.loads(given) if isinstance(given, str) else given
    except SchemaError as error:
        raise UsageError("calls[%d] is no JSON: %s" % (number, error.message), _HINT)
    params = value.get("params", {}) if isinstance(value, dict) else None
    if not isinstance(params, dict) or not isinstance(value.get("tool"), str) or set(value) - {"tool", "params"}:
        raise UsageError("calls[%d] names no tool, or has something else in it" % number, _HINT)
    return {"tool": value["tool"], "params": params}


class Calls:
    """The calls of one run; `service` tells the results in its words, None when nobody does."""

    def __init__(self, entry: dict[str, Any], instruction: str, service: dict[str, Any] | None) -> None:
        self._entry = entry
        self._instruction = instruction
        self._service = service

    @property
    def has_teller(self) -> bool:
        """Whether a model hears the results: what is kept from models is kept from this one as well."""
        return self._service is not None

    def asking(self, asker: Callable[[dict[str, Any]], Any]) -> Any:
        """Return what a turn asks; `asker(service)` gives what asks a service."""

        def ask(messages: list[Any], tools: list[Any], on_event: OnEvent) -> None:
            if messages[-1]["role"] != "tool":
                self._begin(on_event)
            elif self._service is None or not self._told(asker(self._service), messages, on_event):
                on_event({"type": "delta", "text": self._raw(messages[-1])})
                on_event({"type": "done", "stop_reason": "end_turn", "model": ""})

        return ask

    def _begin(self, on_event: OnEvent) -> None:
        for number, call in enumerate(self._entry["calls"]):
            name = "schedule_%d" % number
            on_event({"type": "tool_use", "id": name, "name": call["tool"], "input": call["params"]})
        on_event({"type": "done", "stop_reason": "tool_use", "model": ""})

    def _raw(self, results: Any) -> str:
        return "**%s**\n\n%s" % (self._entry["wish"], _sections(results))

    def _told(self, ask: Any, messages: list[Any], on_event: OnEvent) -> bool:
        """Have a model tell the results; return whether it said anything."""
        said: list[str] = []

        service = self._service or {}

        def hear(event: dict[str, Any]) -> None:
            if event["type"] == "delta":
                if not said:
                    on_event({"type": "source", "provider": service["identifier"], "model": service["model"]})
                said.append(event["text"])
            if event["type"] == "done":
                event = {**event, "stop_reason": "end_turn"}
            if said and event["type"] in _PASSED:
                on_event(event)

        system = {"role": "system", "content": self._instruction}
        taint = [label for message in messages for label in schema.taint_of(message)]
        if taint:
            system["taint"] = list(dict.fromkeys(taint))  # type: ignore[assignment]
        asked = {"role": "user", "content": _sections(messages[-1])}
        try:
            ask([system, asked], [], hear)
        except OasisError:
            if said:
                raise  # the owner stopped it, or it broke in the middle
        return bool(said)


def _sections(results: Any) -> str:
    """Return each result under the name of its tool, errors named as such."""
    found = []
    for block in schema.blocks(results):
        text = "".join(one["text"] for one in block["content"] if one["type"] == "text")
        found.append("### %s\n%s%s" % (block["name"], "error: " if block.get("is_error") else "", text))
    return "\n\n".join(found)


_HINT = 'like {"tool": "status", "params": {"what": "devices"}}'
