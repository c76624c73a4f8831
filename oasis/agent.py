"""The agent loop: one owner message to its ending, through a model and tools.

The model and the tools enter as callables; the ending, whatever it is, becomes a stored message. Knows no process, no
socket and no settings.

    ask(messages, tools, on_event)   one call of a model; on_event gets the normalized events (see providers)
    call_tool(name, input)           returns (text, is_error)
"""

from __future__ import annotations

from oasis.core import schema, thread
from oasis.errors import OasisError, ProviderError

# A turn with more rounds has lost its way; upstream and its peers stop between 6 and 10.
ROUNDS = 10
# More parallel calls than this in one answer come from models that repeat themselves.
CALLS = 8

_TOO_MANY = "not run: at most %d calls in one answer" % CALLS
_NO_MORE = "no more tool calls in this turn: tell the owner what was done and what is left"


class Cancelled(Exception):
    """The owner stopped the run."""


class Turn:
    """One exchange of a chat.

    `new_id()` gives message ids, `emit(type, **fields)` tells the front-ends, `is_cancelled()` is looked at between and
    during all steps, `source` is {"provider", "model"} as stored with each answer.
    """

    def __init__(
        self, chat: object, ask: object, call_tool: object, tools: list[dict[str, object]], system: str, new_id: object,
        emit: object, is_cancelled: object, source: dict[str, str],
    ) -> None:  # fmt: skip
        self._chat = chat
        self._ask = ask
        self._call_tool = call_tool
        self._tools = tools
        self._system = system
        self._new_id = new_id
        self._emit = emit
        self._is_cancelled = is_cancelled
        self._source = source
        self.stop_reason = ""

    def run(self) -> str:
        """Answer the chat's newest message; return how it ended: done, cancelled or error."""
        state, error = "done", None
        try:
            self._loop()
        except Cancelled:
            state, error = "cancelled", OasisError("stopped by the owner")
            error.code = "cancelled"
        except OasisError as failure:
            state, error = "error", failure
        except Exception as bug:
            # Stored here, told and logged by the run.
            self._store_error(OasisError("a fault in oasis: %s" % type(bug).__name__, "its log tells more: logread -e oasis"))
            self._chat.flush()
            raise
        self._close(error)
        return state

    def _loop(self) -> None:
        for number in range(ROUNDS + 1):
            answer = self._answer(self._tools if number < ROUNDS else [])
            calls = schema.tool_uses(answer)
            if not calls:
                return
            self._store({"role": "tool", "content": self._run_calls(calls)})
            if number == ROUNDS - 1:
                self._system += "\n" + _NO_MORE

    def _answer(self, tools: list[dict[str, object]]) -> dict[str, object]:
        """Ask the model once and store what it said, also when it broke off."""
        collector = _Collector(self._emit, self._look)
        try:
            self._look()
            self._ask(self._context(), tools, collector.take)
            self._look()
            if collector.error is not None:
                raise collector.error
        except (OasisError, Cancelled):
            if collector.blocks:
                # The cut answer is kept for the reader; its calls were never run and do not stay.
                collector.blocks = [block for block in collector.blocks if block["type"] != "tool_use"]
                collector.stop_reason = "error"
                if collector.blocks:
                    self._store(self._message(collector))
            raise
        if not tools:
            collector.blocks = [block for block in collector.blocks if block["type"] != "tool_use"]
        if not collector.blocks:
            raise ProviderError("the model gave an empty answer", "ask again, or choose another model")
        return self._store(self._message(collector))

    def _message(self, collector: _Collector) -> dict[str, object]:
        self.stop_reason = collector.stop_reason
        message = {
            "role": "assistant",
            "content": schema.compact(collector.blocks),
            "provider": self._source["provider"],
            "model": collector.model or self._source["model"],
            "stop_reason": collector.stop_reason,
        }
        if collector.usage:
            message["usage"] = collector.usage
        return message

    def _context(self) -> list[dict[str, object]]:
        ordered = thread.context(self._chat.messages, self._chat.heads)
        return [{"role": "system", "content": self._system}, *[message for message in ordered if message["content"]]]

    def _run_calls(self, calls: list[dict[str, object]]) -> list[dict[str, object]]:
        results = []
        for number, call in enumerate(calls):
            self._emit("tool_use", id=call["id"], name=call["name"], input=call["input"])
            text, is_error = _TOO_MANY, True
            if number < CALLS and not self._is_cancelled():
                text, is_error = self._call_tool(call["name"], call["input"])
            elif number < CALLS:
                text = "not run: stopped by the owner"
            results.append(schema.tool_result(call, text, is_error))
            self._emit("tool_result", tool_use_id=call["id"], name=call["name"], text=text, is_error=is_error)
        return results

    def _store(self, message: dict[str, object]) -> dict[str, object]:
        message = {"id": self._new_id(), **message, "continues": list(self._chat.heads)}
        self._chat.add(message)
        self._emit("message", id=message["id"], role=message["role"])
        return message

    def _close(self, error: OasisError | None) -> None:
        """Store the ending and put the exchange on flash."""
        if error is not None:
            self._store_error(error)
            if error.code != "cancelled":
                self._emit("error", error=error.as_dict())
        self._chat.flush()

    def _store_error(self, error: OasisError) -> None:
        self.stop_reason = "other" if error.code == "cancelled" else "error"
        self._store({
            "role": "assistant", "content": "", "stop_reason": self.stop_reason, "error": error.as_dict(), **self._source,
        })  # fmt: skip

    def _look(self) -> None:
        if self._is_cancelled():
            raise Cancelled


class _Collector:
    """Turns the events of one model call into content blocks."""

    def __init__(self, emit: object, look: object) -> None:
        self._emit = emit
        self._look = look
        self.blocks: list[dict[str, object]] = []
        self.usage: dict[str, object] = {}
        self.stop_reason = "other"
        self.model = ""
        self.error: ProviderError | None = None

    def take(self, event: dict[str, object]) -> None:
        self._look()
        kind = event["type"]
        if kind == "delta":
            self._join("text", event)
            self._emit("delta", text=event["text"])
        elif kind == "thinking":
            self._join("thinking", event)
        elif kind == "tool_use":
            self.blocks.append({key: event[key] for key in ("type", "id", "name", "input")})
        elif kind == "usage":
            self.usage.update(event["usage"])
        elif kind == "done":
            self.stop_reason = event["stop_reason"]
            self.model = event.get("model", "")
        elif kind == "error":
            self.error = _provider_error(event["error"])

    def _join(self, kind: str, event: dict[str, object]) -> None:
        if not self.blocks or self.blocks[-1]["type"] != kind:
            self.blocks.append({"type": kind, "text": ""})
        self.blocks[-1]["text"] += event["text"]
        if "provider_metadata" in event:
            self.blocks[-1]["provider_metadata"] = event["provider_metadata"]


def _provider_error(error: dict[str, object]) -> ProviderError:
    failure = ProviderError(str(error.get("message", "the model failed")), str(error.get("hint", "")))
    failure.code = str(error.get("code", "provider"))
    failure.retryable = bool(error.get("retryable"))
    return failure
