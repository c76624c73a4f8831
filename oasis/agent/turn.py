"""The agent loop: one owner message to its ending, through a model and tools.

The model and the tools enter as callables; the ending, whatever it is, becomes a stored message. Knows no process, no
socket and no settings.

    ask(messages, tools, on_event)   one call of a model; on_event gets the normalized events (see providers), and may
                                     get {"type": "taint", "taint": [whose words are in the answer]}, and
                                     {"type": "fences"}: this model cannot call tools, its answer may hold commands in
                                     fenced blocks, which stand for calls; without that, a block is only something said,
                                     and {"type": "source", "provider", "model"}: another service answers from here on
    context(chat, system, tools)     gives what the model is sent of the chat (context.py), by itself the newest of it
    call_tool(name, input, taint)    returns (text, is_error, taint); for arguments that were no JSON object, input is
                                     {"invalid": the arguments as written}

Taint goes with the text: a tool gets the taint of what the model was sent when it made the call, the taint of its
result is stored with it, and an answer given with tainted text in sight is tainted as well, for it may repeat that.
"""

from __future__ import annotations

from oasis.agent.loop_guard import LAST, TELL
from oasis.core import jsonl, schema, thread
from oasis.errors import CancelledError, OasisError, ProviderError
from oasis.tools import fences

if False:  # annotations only
    from oasis.agent.client import Failover
    from oasis.agent.shapes import AnswerEvent, Arguments, Brief, Callable, Emit, ToolCaller
    from oasis.core.shapes import Block, Message, Usage
    from oasis.core.store import Chat
    from oasis.tools.shapes import RunHandle

# Answers with calls in a turn: with a small window more have lost their way (upstream and its peers stop between 6 and
# 10); with a large one the budget and the loop guard are the bounds.
ROUNDS, LARGE_ROUNDS = 10, 40
# From here on the model hears how many are left.
COUNTDOWN = 3
# More parallel calls than this in one answer come from models that repeat themselves.
CALLS = 8
# One answer as JSON; with the results of its calls it must fit into a line of the chat (jsonl.LINE_BYTES).
ANSWER_BYTES = 256 * 1024

_TOO_MANY = "not run: at most %d calls in one answer" % CALLS
_STOPPED = "not run: stopped by "
_BROKEN = "not finished: a fault in oasis; look whether it had an effect"
_NO_MORE = "no more tool calls in this turn: tell the owner what was done and what is left"
_NO_EFFECT = "nothing was changed: what this answer claims was not done, or was rolled back"
_LEFT = "only %d more of your answers in this turn may call tools"


class Cancelled(Exception):
    """The owner stopped the run."""


class Turn:
    """One turn of a chat.

    `model` asks the services, `run` gets what happens, and its cancellation is looked at between and during all steps,
    `new_id()` gives message ids; `brief` is what the turn begins with (shapes.pyi).
    """

    def __init__(
        self, chat: Chat, model: Failover, call_tool: ToolCaller, brief: Brief, run: RunHandle,
        new_id: Callable[[], str],
    ) -> None:  # fmt: skip
        self._chat = chat
        self._model = model
        self._call_tool = call_tool
        self._tools = brief["tools"]
        self._system = brief["system"]
        self._head = brief.get("head", "")
        self._rounds = brief.get("rounds", ROUNDS)
        self._correction = brief.get("correction")
        self._looking = brief.get("looking") or []
        self._as_stored = brief.get("as_stored")
        self._new_id = new_id
        self._emit = run.emit
        self._is_cancelled = run.is_cancelled
        self._run = run
        self._source = model.source  # {"provider", "model"} as stored with each answer; another service changes it
        self._taint: list[str] = []  # of what the model was sent last
        self._written: fences.Written | None = None
        self._said = brief.get("said", "")
        self._outcome = brief.get("outcome")
        self._results: list[tuple[str, Arguments, str]] = []  # of calls that did not fail
        self.stop_reason = ""

    def run(self) -> str:
        """Answer the chat's newest message; return how it ended: done, cancelled or error.

        Raises: StoreError when the ending could not be put on flash; what is no OasisError, once it is stored.
        """
        left = self._rounds
        state = "done"
        error: OasisError | None = None
        try:
            while True:
                answer, calls = self._answer(left)
                if calls:
                    self._run_calls(calls)
                elif answer["stop_reason"] != "pause":  # a search of the service that is to be gone on with
                    self._mark_claim(answer)
                    break
                if left == 0:
                    break
                left -= 1
                if self._correction is not None and self._correction.is_over:  # it may look why, and tells
                    left = min(left, COUNTDOWN)
        except Cancelled:
            state, error = "cancelled", CancelledError("stopped by " + self._run.ended_by)
        except OasisError as failure:
            state, error = "error", failure
        except Exception as bug:
            # Stored here; the run reports and logs it.
            fault = "a fault in oasis: %s" % type(bug).__name__
            self._store_error(OasisError(fault, "its log tells more: logread -e oasis"))
            self._chat.flush()
            raise
        if error is not None:
            self._store_error(error)
            if error.code != "cancelled":
                self._emit("error", error=error.as_dict())
        self._chat.flush()
        return state

    def _mark_claim(self, answer: Message) -> None:
        """Tell the owner that nothing was changed where a model says that it was and no change of the turn stands."""
        if self._tools is None:
            return  # nobody's words: the built-in service tells what it did
        outcomes = [self._outcome(*one) for one in self._results] if self._outcome else []
        if "changed" in outcomes:
            return
        from oasis.agent.claims import is_claimed

        if is_claimed(schema.text_of(answer), self._said, "unchanged" in outcomes):
            self._emit("note", text=_NO_EFFECT)

    def _told(self, left: int, is_refused: bool) -> str:
        """Return the system prompt, with what the model must know of the end of its turn."""
        told = [self._system]
        if is_refused:
            told.append(TELL)
        if left == 0:
            told.append(_NO_MORE)
        elif left <= COUNTDOWN and left < self._rounds and self._tools:
            told.append(_LEFT % left)
        return "\n".join(told)

    def _answer(self, left: int) -> tuple[Message, list[Block]]:
        """Ask the model once and store what it said, also when it broke off; so many answers may call tools.

        Return it as it is stored, and its calls as they are run: with the secrets that the model chose.
        """
        is_refused = self._correction is not None and self._correction.is_over
        tools = (self._looking if is_refused else self._tools or []) if left else []
        may_call = left > 0 and (self._tools is None or bool(tools))
        collector = _Collector(self._emit, self._is_cancelled, self._source)
        try:
            if self._is_cancelled():
                raise Cancelled
            system = self._system if self._tools is None else self._told(left, is_refused)
            context = self._model.context(self._chat, system, tools)
            self._taint = thread.taint(context)
            self._model.ask(context, tools, collector.take)
            if self._is_cancelled():
                raise Cancelled
            if collector.error is not None:
                raise collector.error
            if not may_call:
                collector.drop_calls()
            said = collector.blocks()
            texts = [block["text"] for block in said if block["type"] == "text"]
            has_calls = any(block["type"] == "tool_use" for block in said)
            # Thinking alone is no answer.
            if not has_calls and not "".join(texts).strip() and collector.stop_reason != "pause":
                raise ProviderError("the model gave an empty answer", "ask again, or choose another model")
            if collector.is_fenced and not has_calls:
                # Calls are made of the commands in its blocks, and the owner hears which are none.
                self._written = self._written or fences.Written(self._new_id)
                is_cut = collector.stop_reason == "max_tokens"
                calls, note = self._written.read("\n".join(texts), is_cut, may_call)
                collector.add_calls(calls)
                if note:
                    self._emit("note", text=note)
        except Exception as failure:
            # The cut answer is kept for the reader; its calls were never run and do not stay.
            collector.drop_calls("other" if isinstance(failure, Cancelled) else "error")
            if collector.blocks():
                self._store_answer(collector)
            raise
        return self._store_answer(collector), [one for one in collector.blocks() if one["type"] == "tool_use"]

    def _store_answer(self, collector: _Collector) -> Message:
        self.stop_reason = collector.stop_reason
        message: Message = {
            "role": "assistant", "content": schema.compact(collector.blocks()), "provider": self._source["provider"],
            "model": collector.model or self._source["model"], "stop_reason": collector.stop_reason,
        }  # fmt: skip
        if collector.usage:
            message["usage"] = collector.usage
        taint = self._taint + [label for label in collector.taint if label not in self._taint]
        if taint:
            message["taint"] = taint
        return self._store(self._as_stored(message) if self._as_stored else message)

    def _run_calls(self, calls: list[Block]) -> None:
        """Run the calls of one answer and store a result for each, whatever happens."""
        results: list[Block] = []
        written, correction = self._written, self._correction
        try:
            for number, call in enumerate(calls):
                name = call["name"]
                self._emit("tool_use", id=call["id"], name=name, input=call["input"])
                is_error, taint = True, list[str]()
                if number >= CALLS:
                    text = _TOO_MANY
                elif self._is_cancelled():
                    text = _STOPPED + self._run.ended_by
                elif correction and correction.is_over and name not in [tool["name"] for tool in self._looking]:
                    text = LAST
                else:
                    if written and call["id"] in written.refusals:
                        text = written.refusals[call["id"]]
                    else:
                        arguments: Arguments = {"invalid": call["invalid"]} if "invalid" in call else call["input"]
                        text, is_error, taint = self._call_tool(name, arguments, self._taint)
                        self._results += [] if is_error else [(name, arguments, text)]
                    text = correction.judged(name, text, is_error) if correction else text
                if written and number == len(calls) - 1 and written.remark:
                    text += "\n" + written.remark
                results.append(schema.tool_result(call, text, is_error, taint))
                self._emit("tool_result", tool_use_id=call["id"], name=name, text=text, is_error=is_error)
        finally:
            results += [schema.tool_result(call, _BROKEN, True) for call in calls[len(results) :]]
            self._store({"role": "tool", "content": results})
        note = correction.end_round() if correction else ""
        if note:
            self._emit("note", text=note)

    def _store(self, message: Message) -> Message:
        message = {"id": self._new_id(), **message, "continues": list(self._chat.heads)}
        if self._head:
            message["head"] = self._head
        self._chat.add(message)
        self._emit("message", id=message["id"], role=message["role"])
        return message

    def _store_error(self, error: OasisError) -> None:
        self.stop_reason = "other" if error.code == "cancelled" else "error"
        ending: Message = {"role": "assistant", "content": "", "stop_reason": self.stop_reason}
        ending["error"] = error.as_dict()
        ending["provider"], ending["model"] = self._source["provider"], self._source["model"]
        self._store(ending)


class _Collector:
    """Turns the events of one model call into content blocks."""

    def __init__(self, emit: Emit, is_cancelled: Callable[[], bool], source: dict[str, str]) -> None:
        self._emit = emit
        self._is_cancelled = is_cancelled
        self._source = source
        self._blocks: list[Block] = []
        self._pieces: list[str] = []  # of the last block, joined once: an answer may come in thousands
        self._size = 0
        self.usage: Usage = {}
        self.taint: list[str] = []
        self.stop_reason = "other"
        self.model = ""
        self.error: ProviderError | None = None
        self.is_fenced = False

    def take(self, event: AnswerEvent) -> None:
        if self._is_cancelled():
            raise Cancelled
        kind = event["type"]
        self._size += len(jsonl.line(event))
        if self._size > ANSWER_BYTES and kind in ("delta", "thinking", "tool_use"):
            raise ProviderError("the answer is longer than %d bytes" % ANSWER_BYTES, "ask for less at once")
        if kind in ("delta", "thinking"):
            of = "text" if kind == "delta" else kind
            last = self._blocks[-1] if self._blocks else {"type": ""}
            if last["type"] != of or "provider_metadata" in last:  # what a service wants back ends its block
                self._seal()
                self._blocks.append({"type": of, "text": ""})
            self._pieces.append(event["text"])
            if "provider_metadata" in event:
                self._blocks[-1]["provider_metadata"] = {**event["provider_metadata"]}
            if kind == "delta":
                self._emit("delta", text=event["text"])
        elif kind == "tool_use":
            self._seal()
            call: Block = {"type": "tool_use", "id": event["id"], "name": event["name"], "input": event["input"]}
            if "invalid" in event:
                call["invalid"] = event["invalid"]
            if "provider_metadata" in event:
                call["provider_metadata"] = {**event["provider_metadata"]}
            self._blocks.append(call)
        elif kind == "usage":
            self.usage.update(event["usage"])
        elif kind == "taint":
            self.taint += event["taint"]
        elif kind == "fences":
            self.is_fenced = True
        elif kind == "source":  # what the failed service reported of its answer is dropped
            self._source.update(provider=event["provider"], model=event["model"])
            self.is_fenced, self.usage, self.model = False, {}, ""
        elif kind == "done":
            self.stop_reason = event["stop_reason"] if event["stop_reason"] in schema.STOP_REASONS else "other"
            self.model = event.get("model", "")
        elif kind == "error":
            error = event["error"]
            self.error = ProviderError(
                str(error.get("message", "the model failed")), str(error.get("hint", "")),
                code=str(error.get("code", "provider")), retryable=bool(error.get("retryable")),
            )  # fmt: skip

    def _seal(self) -> None:
        if self._pieces:
            self._blocks[-1]["text"] += "".join(self._pieces)
            self._pieces = []

    def blocks(self) -> list[Block]:
        """Return the content so far; texts without a character are left out."""
        self._seal()
        return [block for block in self._blocks if block.get("text", " ") or "provider_metadata" in block]

    def add_calls(self, calls: list[Block]) -> None:
        self._seal()
        self._blocks += calls
        if calls:
            self.stop_reason = "tool_use"

    def drop_calls(self, stop_reason: str = "") -> None:
        self._seal()
        self._blocks = [block for block in self._blocks if block["type"] != "tool_use"]
        if stop_reason or self.stop_reason == "tool_use":
            self.stop_reason = stop_reason or "other"
