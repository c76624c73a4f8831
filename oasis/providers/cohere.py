"""Cohere's chat API, version 2: messages like OpenAI's, a plan before tool calls, its own events.

Pure translation, see the package's contract. What a model says before its calls is the `tool_plan` of that turn, and
goes back as one; its thoughts go back to it alone. Citations are left out. Source: Cohere API reference, "Chat v2",
"Chat v2 with streaming", "Embed v2", "List models".
"""

from __future__ import annotations

from oasis.providers import decoding, events, gate, schemas, wire

if False:  # annotations only
    from oasis.providers.shapes import Dict, Embedded, Event, Model, Options, Request, Tool, Turn

TEXTS = 96  # at once


def build_request(messages: list[Dict], tools: list[Tool], options: Options) -> Request:
    checked = wire.checked(messages, wire.takes_of(options), options)
    chat = gate.prepare(checked, gate.merge_system_first, drop_empty=True, end_with_user=True)
    body = wire.begun(options, messages=_messages(chat, options))
    if options.get("search"):
        body.update(wire.search_of(options))
    choice = options.get("tool_choice")
    if tools:  # the API knows no choice of one, so that one is offered alone
        functions = [wire.function_of(tool, schemas.of_tool(tool, "plain")) for tool in wire.chosen(tools, choice)]
        body["tools"] = [{"type": "function", "function": function} for function in functions]
        if isinstance(choice, dict) or choice in ("required", "none"):
            body["tool_choice"] = "NONE" if choice == "none" else "REQUIRED"
    wire.put(body, "max_tokens", options.get("max_tokens"))
    wire.put(body, "temperature", options.get("temperature"))
    effort, wished = wire.effort_of(options), options.get("thinking")
    if effort and wire.rule_of(options).get("thinking") != "none":
        body["thinking"] = {"type": "disabled" if effort == "none" else "enabled"}
        if isinstance(wished, int) and effort != "none":
            body["thinking"] = {"type": "enabled", "token_budget": wished}
    return wire.post(options, _url(options, "/v2/chat"), body)


def models_request(options: Options) -> Request:
    """Return the request for the list of models that chat."""
    return wire.get(options, _url(options, "/v1/models?page_size=1000&endpoint=chat"))


def models_read(answer: object, options: Options) -> list[Model]:
    listed = wire.models_of(answer, "models", "name", options)
    return [wire.model(one["name"], one.get("context_length") or None, one.get("features")) for one in listed]


def embed_request(texts: list[str], options: Options) -> Request:
    """Return the request for the embeddings of some texts; options["input_type"] is what they are for."""
    body: Dict = {
        "model": wire.model_of(options),
        "texts": wire.asked(texts, TEXTS, options),
        "input_type": options.get("input_type") or "search_document",
        "embedding_types": ["float"],
    }
    wire.put(body, "output_dimension", options.get("dimensions"))
    return wire.post({**options, "stream": False}, _url(options, "/v2/embed"), body)


def embed_read(answer: object, options: Options) -> Embedded:
    """Return the embeddings in the order of the texts, and the tokens that are billed."""
    found = wire.vectors(wire.part(answer, "embeddings").get("float"), options)
    return found, {"input_tokens": wire.part(answer, "meta", "billed_units").get("input_tokens")}


def _url(options: Options, path: str) -> str:
    return wire.base_url_of(options, "/chat", "/v2", "/v1") + path


def _messages(chat: list[Turn], options: Options) -> list[Dict]:
    out: list[Dict] = []
    for message in chat:
        if message["role"] == "tool":
            for block in message["content"]:
                content = wire.result_of(block) or "(nothing)"  # an empty one is refused
                out.append({"role": "tool", "tool_call_id": block["tool_use_id"], "content": content})
            continue
        if message["role"] != "assistant":
            out.append({"role": message["role"], "content": wire.content_of(message)})
            continue
        text, calls = gate.text_of(message), gate.blocks_of(message, "tool_use")
        thoughts: list[Dict] = [
            {"type": "thinking", "thinking": block["text"]}
            for block in gate.blocks_of(message, "thinking")
            if wire.metadata_of(block, options) and block["text"]
        ]
        answer: Dict = {"content": thoughts} if thoughts else {}
        if calls:
            answer["tool_calls"] = [wire.call_of(block, block["id"]) for block in calls]
            answer.update({"tool_plan": text} if text else {})
        elif text:
            answer["content"] = [*thoughts, {"type": "text", "text": text}] if thoughts else text
        if answer:
            out.append({"role": "assistant", **answer})
    return out


# The answer

_STOP_REASONS = {
    "COMPLETE": "end_turn", "STOP_SEQUENCE": "stop_sequence", "MAX_TOKENS": "max_tokens", "ERROR_LIMIT": "max_tokens",
    "TOOL_CALL": "tool_use", "ERROR_TOXIC": "refusal",
}  # fmt: skip
_FAILURES = {"ERROR": "server", "TIMEOUT": "timeout"}


class Decoder(decoding.Decoder):
    """Decode a streamed or whole answer of /v2/chat."""

    _is_thinking = False

    def on_done(self) -> list[Event]:
        return self.cut() if self.is_started else self.nothing()  # an older habit: message-end completes an answer

    def on_piece(self, piece: Dict, event: str) -> list[Event]:
        if event == "error" or events.has_error(piece):
            return self.reported(piece)
        self.is_started = True
        kind = str(piece.get("type") or event)
        message = wire.part(piece, "delta", "message")
        if kind == "message-start":
            self.seed = str(piece.get("id") or "")
        elif kind in ("content-start", "content-delta"):
            return self._content(wire.part(message, "content"))
        elif kind == "content-end":
            return self._thought()
        elif kind == "tool-plan-delta":
            return self._content({"text": message.get("tool_plan")})
        elif kind in ("tool-call-start", "tool-call-delta"):
            pieces = message.get("tool_calls")
            for call in wire.parts(pieces if isinstance(pieces, list) else [pieces]):
                self.calls.add({"index": piece.get("index"), **call})
        elif kind == "message-end":
            return self._ended(wire.part(piece, "delta"))
        return []

    def on_whole(self, answer: Dict) -> list[Event]:
        if not isinstance(answer.get("message"), dict):
            return self.bad_answer("it holds no message")
        message = wire.part(answer, "message")
        self.seed = str(answer.get("id") or "")
        out = [event for part in wire.parts(message.get("content")) for event in self._content(part)]
        out.extend(self._content({"text": message.get("tool_plan")}))
        self.calls.extend(message.get("tool_calls"), whole=True)
        return [*out, *self._ended(answer)]

    def _content(self, part: Dict) -> list[Event]:
        thought, text = wire.words(part.get("thinking")), wire.words(part.get("text"))
        self._is_thinking = self._is_thinking or bool(thought)
        out = events.text("thinking", thought)
        return [*out, *self._thought(), *events.text("delta", text)] if text else out

    def _thought(self) -> list[Event]:
        """Return the mark that ends this model's own thoughts: they may go back to it."""
        is_thinking, self._is_thinking = self._is_thinking, False
        return events.echo(self.owner, {"thoughts": True}) if is_thinking else []

    def _ended(self, value: Dict) -> list[Event]:
        reason = str(value.get("finish_reason") or "")
        if reason in _FAILURES:
            words = value.get("error")
            message = events.scrub(words) if isinstance(words, str) else "the answer was given up"
            return self.fail(_FAILURES[reason], f"{self.label}: {message}")
        if not reason:
            return self.cut()
        self.stopped(reason, _STOP_REASONS)
        usage = wire.part(value, "usage")
        for name in ("billed_units", "tokens"):  # those billed leave out what the service added to the prompt
            if isinstance(usage.get(name), dict):
                counts = wire.part(usage, name)
                self.counts.update({key: counts.get(key) for key in ("input_tokens", "output_tokens")})
        self.counts["cache_read_input_tokens"] = usage.get("cached_tokens")
        return [*self._thought(), *self.finish()]
