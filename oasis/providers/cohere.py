"""Cohere's chat API, version 2: messages like OpenAI's, a plan before tool calls, its own events.

Pure translation, see the package's contract. What a model says before its calls is the `tool_plan` of that turn, and
goes back as one; its thoughts go back to it alone. Citations are left out. Source: Cohere API reference, "Chat v2",
"Chat v2 with streaming", "Embed v2", "List models".
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.providers import decoding, events, faults, gate, schemas, wire
from oasis.providers.wire import Dict, Options, Request

TEXTS = 96  # at once

_STOP_REASONS = {
    "COMPLETE": "end_turn",
    "STOP_SEQUENCE": "stop_sequence",
    "MAX_TOKENS": "max_tokens",
    "ERROR_LIMIT": "max_tokens",
    "TOOL_CALL": "tool_use",
    "ERROR_TOXIC": "refusal",
}
_FAILURES = {"ERROR": "server", "TIMEOUT": "timeout"}


def build_request(messages: list[Dict], tools: list[Dict], options: Options) -> Request:
    """Return the HTTP request of one turn.

    Raises: SchemaError for a tool whose schema is no object, SettingsError for a bad base_url, a missing model or a
    search, UsageError for a file that cannot be read.
    """
    checked = wire.checked(messages, wire.takes_of(options), wire.label_of(options))
    chat = gate.prepare(checked, gate.merge_system_first, drop_empty=True, end_with_user=True)
    body: Dict = {
        "model": wire.model_of(options),
        "messages": _messages(chat, wire.profile_of(options)),
        "stream": bool(options.get("stream")),
    }
    if options.get("search"):
        body.update(wire.search_of(options))
    _add_tools(body, tools, options.get("tool_choice"))
    for name in ("max_tokens", "temperature"):
        if options.get(name) is not None:
            body[name] = options[name]
    _add_thinking(body, options)
    return wire.post(options, _url(options, "/v2/chat"), body)


def models_request(options: Options) -> Request:
    """Return the request for the list of models that chat."""
    return wire.get(options, _url(options, "/v1/models?page_size=1000&endpoint=chat"))


def models_read(status: int, headers: dict[str, str], body: bytes, options: Options) -> list[Dict]:
    """Return the models: {"id", "context_tokens"?, "tools"?}.

    Raises: ProviderError with the kind of failure.
    """
    return [_model(entry) for entry in wire.models_of(status, headers, body, options, "models", "name")]


def embed_request(texts: list[str], options: Options) -> Request:
    """Return the request for the embeddings of some texts; options["input_type"] is what they are for.

    Raises: UsageError for texts that cannot be sent, SettingsError for a bad base_url or missing model.
    """
    body: Dict = {
        "model": wire.model_of(options),
        "texts": wire.asked(texts, TEXTS, options),
        "input_type": options.get("input_type") or "search_document",
        "embedding_types": ["float"],
    }
    if options.get("dimensions") is not None:
        body["output_dimension"] = options["dimensions"]
    return wire.post({**options, "stream": False}, _url(options, "/v2/embed"), body)


def embed_read(status: int, headers: dict[str, str], body: bytes, options: Options) -> wire.Made:
    """Return the embeddings in the order of the texts, and the tokens that are billed.

    Raises: ProviderError with the kind of failure.
    """
    answer = wire.answer_of(status, headers, body, options)
    made = wire.read(wire.part(answer, "embeddings").get("float"), options)
    return made, {"input_tokens": wire.part(answer, "meta", "billed_units").get("input_tokens")}


def _model(entry: Dict) -> Dict:
    model: Dict = {"id": events.clean(str(entry["name"]))}
    length, features = events.count(entry.get("context_length")), entry.get("features")
    if length:
        model["context_tokens"] = length
    if isinstance(features, list):
        model["tools"] = "tools" in features
    return model


# The request


def _url(options: Options, path: str) -> str:
    base = wire.base_url_of(options)
    for tail in ("/chat", "/v2", "/v1"):  # as other programs write it down
        base = base[: -len(tail)] if base.endswith(tail) else base
    return base + path


def _add_tools(body: Dict, tools: list[Dict], choice: object) -> None:
    """Add the tools; the API knows no choice of one, so that one is offered alone."""
    if isinstance(choice, dict):
        tools = [tool for tool in tools if tool["name"] == choice["name"]] or tools
        choice = "required"
    if not tools:
        return
    body["tools"] = [_tool(tool) for tool in tools]
    if choice in ("required", "none"):
        body["tool_choice"] = str(choice).upper()


def _tool(tool: Dict) -> Dict:
    function = {
        "name": wire.legal(str(tool["name"])),
        "description": str(tool.get("description") or ""),
        "parameters": schemas.of_tool(tool, "plain"),
    }
    return {"type": "function", "function": function}


def _add_thinking(body: Dict, options: Options) -> None:
    """Say how much to think where the model thinks at all."""
    wished = options.get("thinking")
    if not wire.effort_of(options) or wire.rule_of(options).get("thinking") == "none":
        return
    is_off = wire.effort_of(options) == "none"
    body["thinking"] = {"type": "disabled" if is_off else "enabled"}
    if isinstance(wished, int) and not is_off:
        body["thinking"] = {"type": "enabled", "token_budget": wished}


def _messages(chat: list[gate.Message], profile: Dict) -> list[Dict]:
    out: list[Dict] = []
    for message in chat:
        if message["role"] == "assistant":
            out.append(_assistant(message, profile))
        elif message["role"] == "tool":
            out.extend([_result(block) for block in gate.blocks_of(message, "tool_result")])
        else:
            out.append({"role": message["role"], "content": wire.content_of(message)})
    return [message for message in out if message["role"] != "assistant" or len(message) > 1]


def _assistant(message: gate.Message, profile: Dict) -> Dict:
    text = gate.text_of(message)
    calls = gate.blocks_of(message, "tool_use")
    thoughts = [
        {"type": "thinking", "thinking": block["text"]}
        for block in gate.blocks_of(message, "thinking")
        if wire.metadata_of(block, profile) and block["text"]
    ]
    out: Dict = {"role": "assistant"}
    if thoughts:
        out["content"] = thoughts
    if calls:
        out["tool_calls"] = [_call(block) for block in calls]
        out.update({"tool_plan": text} if text else {})
    elif text:
        out["content"] = [*thoughts, {"type": "text", "text": text}] if thoughts else text
    return out


def _call(block: gate.Block) -> Dict:
    function = {"name": wire.legal(str(block["name"])), "arguments": jsonl.dumps(block["input"])}
    return {"id": block["id"], "type": "function", "function": function}


def _result(block: gate.Block) -> Dict:
    text = gate.text_of(block)
    if block.get("is_error") and not text.lower().startswith("error"):
        text = "Error: " + text  # this format has no flag for it
    return {"role": "tool", "tool_call_id": block["tool_use_id"], "content": text or "(nothing)"}  # empty is refused


# The answer


class Decoder(decoding.Decoder):
    """Decode a streamed or whole answer of /v2/chat."""

    def __init__(self, status: int, headers: dict[str, str], options: Options):
        super().__init__(status, headers, options)
        self._owner = str(self.profile.get("id") or "")
        self._is_thinking = False

    def on_done(self) -> list[events.Event]:
        return self.cut() if self.is_started else self.nothing()  # an older habit: message-end completes an answer

    def on_piece(self, piece: Dict, event: str) -> list[events.Event]:
        if event == "error" or faults.has_error(piece):
            return self.reported(piece)
        self.is_started = True
        return self._event(str(piece.get("type") or event), piece)

    def on_whole(self, answer: Dict) -> list[events.Event]:
        message = answer.get("message")
        if not isinstance(message, dict):
            return self.bad_answer("it holds no message")
        self.seed = str(answer.get("id") or "")
        out: list[events.Event] = []
        content = message.get("content")
        for part in content if isinstance(content, list) else []:
            out.extend(self._said(part))
        out.extend(self._plan(message))
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            self.calls.add(call, whole=True)
        return [*out, *self._ended(answer)]

    def _event(self, kind: str, event: Dict) -> list[events.Event]:
        delta = event.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        message = delta.get("message")
        message = message if isinstance(message, dict) else {}
        if kind == "message-start":
            self.seed = str(event.get("id") or "")
        elif kind in ("content-start", "content-delta"):
            return self._said(message.get("content"))
        elif kind == "content-end":
            return self._thought()
        elif kind == "tool-plan-delta":
            return self._plan(message)
        elif kind in ("tool-call-start", "tool-call-delta"):
            self._called(event.get("index"), message.get("tool_calls"))
        elif kind == "message-end":
            return self._ended({**delta, "id": event.get("id")})
        return []

    def _said(self, part: object) -> list[events.Event]:
        if not isinstance(part, dict):
            return []
        out: list[events.Event] = []
        if isinstance(part.get("thinking"), str) and part["thinking"]:
            self._is_thinking = True
            out.append(events.thinking(part["thinking"]))
        if isinstance(part.get("text"), str) and part["text"]:
            out.extend([*self._thought(), events.delta(part["text"])])
        return out

    def _thought(self) -> list[events.Event]:
        """Return the mark that ends this model's own thoughts: they may go back to it."""
        is_thinking, self._is_thinking = self._is_thinking, False
        return events.echo(self._owner, {"thoughts": True}) if is_thinking else []

    def _plan(self, message: Dict) -> list[events.Event]:
        plan = message.get("tool_plan")
        return [*self._thought(), events.delta(plan)] if isinstance(plan, str) and plan else []

    def _called(self, index: object, pieces: object) -> None:
        for piece in pieces if isinstance(pieces, list) else [pieces]:
            if isinstance(piece, dict):
                self.calls.add({"index": index, **piece})

    def _ended(self, value: Dict) -> list[events.Event]:
        reason = str(value.get("finish_reason") or "")
        if reason in _FAILURES:
            words = value.get("error")
            message = faults.scrub(words) if isinstance(words, str) else "the answer was given up"
            return self.fail(faults.event(_FAILURES[reason], f"{self.label}: {message}"))
        if not reason:
            return self.cut()
        self.stop_reason = _STOP_REASONS.get(reason, "other")
        self._count(value.get("usage"))
        return [*self._thought(), *self.finish()]

    def _count(self, usage: object) -> None:
        """Keep the tokens that were used; those billed leave out what the service added to the prompt."""
        if not isinstance(usage, dict):
            return
        for name in ("billed_units", "tokens"):
            counts = usage.get(name)
            if isinstance(counts, dict):
                self.counts.update({key: counts.get(key) for key in ("input_tokens", "output_tokens")})
        self.counts["cache_read_input_tokens"] = usage.get("cached_tokens")
