"""OpenAI Chat Completions and everything that imitates it; what a service does differently stands in profiles.json.

Pure translation, see the package's contract. Source: OpenAI API reference,
"Chat Completions", and the notes of the services on what they leave out or add.
"""

from __future__ import annotations

import urllib.parse

from oasis.core.framing import Events
from oasis.providers import decoding, events, gate, schemas, wire
from oasis.providers.decoding import Calls, Splitter

if False:  # annotations only
    from oasis.providers.shapes import Dict, Embedded, Event, Headers, Model, Options, Request, Tool, Turn


def build_request(messages: list[Dict], tools: list[Tool], options: Options) -> Request:
    profile, rule = options["profile"], wire.rule_of(options)
    rules: dict[str, bool] = {name: profile.get(name, False) for name in gate.RULES}  # type: ignore[misc]
    chat = gate.prepare(wire.checked(messages, wire.takes_of(options), options), gate.merge_system_first, **rules)
    body = wire.begun(options, messages=_messages(chat, options))
    if body["stream"] and profile.get("stream_options"):
        body["stream_options"] = {"include_usage": True}
    if options.get("search"):
        body.update(wire.search_of(options))
    choice = options.get("tool_choice") if tools else None
    if isinstance(choice, dict) and profile.get("one_tool") == "alone":
        tools, choice = wire.chosen(tools, choice), "required"  # it knows only words as a choice
    declared: list[Dict] = []
    kind = profile.get("schemas", "plain")
    for tool in tools:
        function = wire.function_of(tool, schemas.of_tool(tool, kind))
        is_strict = options.get("strict") and kind == "plain"
        if is_strict and schemas.fits_strict(tool.get("input_schema") or schemas.EMPTY):
            function.update({"parameters": schemas.of_tool(tool, "strict"), "strict": True})
        declared.append({"type": "function", "function": function})
    wire.put(body, "tools", declared or None)
    one = {"type": "function", "function": {"name": wire.legal(choice["name"])}} if isinstance(choice, dict) else None
    wire.put(body, "tool_choice", one or choice or None)
    wire.put(body, profile.get("max_tokens_field", "max_tokens"), options.get("max_tokens"))
    if rule.get("temperature", True):
        wire.put(body, "temperature", options.get("temperature"))
    is_forced = isinstance(choice, dict) or choice == "required"
    effort = "none" if is_forced and profile.get("forced") == "thoughtless" else wire.effort_of(options)
    if effort and rule.get("thinking") != "none":
        _add_thinking(body, effort, profile.get("thinking", ""))
    return wire.post(options, url(options, "/chat/completions"), body)


def _add_thinking(body: Dict, effort: str, how: str) -> None:
    is_off = effort == "none"
    if how == "switch":
        body["thinking"] = {"type": "disabled" if is_off else "enabled"}
    if how == "effort" or (how == "switch" and not is_off):
        body["reasoning_effort"] = effort
    elif how == "reasoning":
        body["reasoning"] = {"enabled": False} if is_off else {"effort": effort}
    elif how == "template":
        body["chat_template_kwargs"] = {"enable_thinking": not is_off}


def _messages(chat: list[Turn], options: Options) -> list[Dict]:
    profile = options["profile"]
    echo = profile.get("echo")
    ids: dict[str, str] = {}

    def id_of(ident: str) -> str:
        """Return a call id in the form that the service accepts; the same id gives the same word."""
        return ids.setdefault(ident, f"call{len(ids):05d}" if profile.get("call_ids") == "alnum9" else ident)

    out: list[Dict] = []
    for message in chat:
        if message["role"] == "tool":
            for block in message["content"]:
                ident = id_of(block["tool_use_id"])
                out.append({"role": "tool", "tool_call_id": ident, "content": wire.result_of(block)})
            continue
        if message["role"] != "assistant":
            out.append({"role": message["role"], "content": wire.content_of(message)})
            continue
        text, thoughts = gate.text_of(message), gate.blocks_of(message, "thinking")
        answer: Dict = {"role": "assistant", "content": text}
        calls: list[Dict] = []
        for block in gate.blocks_of(message, "tool_use"):
            call = wire.call_of(block, id_of(block["id"]))
            if echo == "extra_content":
                extra = wire.metadata_of(block, options).get("extra_content")
                if extra is None and not calls:  # history from elsewhere: what Google says for a missing signature
                    extra = {"google": {"thought_signature": "skip_thought_signature_validator"}}
                wire.put(call, "extra_content", extra)
            calls.append(call)
        if calls:
            answer["tool_calls"] = calls
            if not text and profile.get("null_content"):
                answer["content"] = None
            if echo == "reasoning_content":  # the service wants to see it again
                answer["reasoning_content"] = "".join([block["text"] for block in thoughts])
        for block in thoughts if echo == "reasoning_details" else ():
            kept = wire.metadata_of(block, options)
            if kept.get("model") == wire.model_of(options):  # as it was asked for; what is encrypted no other can open
                wire.put(answer, "reasoning_details", kept.get("reasoning_details"))
        out.append(answer)
    return out


# The answer

_STOP_REASONS = {
    "stop": "end_turn", "eos": "end_turn", "tool_calls": "tool_use", "function_call": "tool_use",
    "length": "max_tokens", "model_length": "max_tokens", "content_filter": "refusal", "error": "error",
}  # fmt: skip


class Decoder(decoding.Decoder):
    """Decode a streamed or whole chat completion."""

    def __init__(self, status: int, headers: Headers, options: Options):
        super().__init__(status, headers, options)
        echo = self.profile.get("echo")
        self.calls = Calls(self.owner if echo == "extra_content" else "")
        self._keeps_details = echo == "reasoning_details"
        self._details: list[Dict] = []
        self._choice: object = None  # the number of the choice that came first
        self._text = Splitter()

    def make_reader(self) -> Events:
        return Events(extra_fields=("error",))  # older llama.cpp: a line `error: {…}` between the events

    def on_piece(self, piece: Dict, event: str) -> list[Event]:
        if event == "error" or piece.get("error") or piece.get("object") == "error":
            return self._failed(piece)
        self.is_started = True
        return self._chunk(piece, is_whole=False)

    def on_whole(self, answer: Dict) -> list[Event]:
        if not isinstance(answer.get("choices"), list) or not answer["choices"]:
            return self.bad_answer("it holds no choice")
        return self._chunk(answer, is_whole=True)

    def finish(self) -> list[Event]:
        if self.stop_reason == "error":
            return self.fail("server", f"{self.label} failed in the middle of its answer")
        out = self._text.close()
        if self._details:  # for the model that was asked: what is encrypted no other can open
            out.extend(events.echo(self.owner, {"reasoning_details": self._details, "model": self.asked_model}))
        return [*out, *super().finish()]

    def _chunk(self, chunk: Dict, is_whole: bool) -> list[Event]:
        self.model = wire.words(chunk.get("model")) or self.model
        self.seed = str(chunk.get("id") or self.seed)
        usage = wire.part(chunk, "usage") or wire.part(chunk, "x_groq", "usage")
        if usage:  # the newest: some servers send it with every piece
            prompt, output = wire.part(usage, "prompt_tokens_details"), usage.get("completion_tokens")
            reasoning = wire.part(usage, "completion_tokens_details").get("reasoning_tokens")
            if self.profile.get("usage_adds_reasoning") and isinstance(output, int) and isinstance(reasoning, int):
                output += reasoning
            self.counts = {
                "input_tokens": usage.get("prompt_tokens"),
                "output_tokens": output,
                "cache_read_input_tokens": prompt.get("cached_tokens", usage.get("prompt_cache_hit_tokens")),
                "cache_creation_input_tokens": prompt.get("cache_write_tokens"),
                "reasoning_tokens": reasoning,
            }
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return []
        if self._choice is None:
            self._choice = choice.get("index")
        if choice.get("index") != self._choice and choice.get("index") is not None:
            return []  # nobody asked for a second one, and its words belong to no other
        if choice.get("error"):
            return self._failed(choice)
        name = "message" if is_whole or not choice.get("delta") else "delta"
        out = self._message(wire.part(choice, name), is_whole)
        self.stopped(choice.get("finish_reason"), _STOP_REASONS)
        return out

    def _failed(self, value: Dict) -> list[Event]:
        if self.stop_reason == "max_tokens":
            return self.finish()  # OpenRouter says once more, as an error, that the length limit was reached
        return self.reported(value)

    def _message(self, message: Dict, is_whole: bool) -> list[Event]:
        out: list[Event] = []
        thought = message.get("reasoning_content") or message.get("reasoning")
        if isinstance(thought, str):
            out.append({"type": "thinking", "text": events.clean(thought)})
        # Pieces of one index and type belong together: text grows, other fields come once.
        for piece in wire.parts(message.get("reasoning_details")) if self._keeps_details else ():
            place = (piece.get("index"), piece.get("type"))
            same = [detail for detail in self._details if (detail.get("index"), detail.get("type")) == place]
            if not same:
                self._details.append(dict(piece))
            for name, value in piece.items() if same else ():
                here = same[0].get(name)
                if name in ("text", "summary", "data") and isinstance(here, str) and isinstance(value, str):
                    same[0][name] = here + value
                elif value is not None:
                    same[0][name] = value
        content = message.get("content")
        out.extend(self._text.feed(content) if isinstance(content, str) and content else [])
        for part in wire.parts(content):  # Mistral's list of text and thinking parts
            out += events.text("delta", part.get("text"))
            thoughts = [piece.get("text") for piece in wire.parts(part.get("thinking"))]
            out += [{"type": "thinking", "text": events.clean(text)} for text in thoughts if isinstance(text, str)]
        refusal = events.text("delta", message.get("refusal"))
        self.is_refused = self.is_refused or bool(refusal)
        self.calls.extend(message.get("tool_calls"), is_whole)
        return out + refusal


# The list of models, and embeddings. Source: OpenAI API reference, "Models" and "Embeddings"

TEXTS = 2048  # at once


def url(options: Options, path: str) -> str:
    """Return the address of a method; people copy a service's pages with more than its address."""
    return wire.base_url_of(options, "/chat/completions", "/responses", "/embeddings", "/models") + path


def models_request(options: Options) -> Request:
    return wire.get(options, url(options, "/models"))


def model_request(options: Options) -> Request | None:
    """Return the request for what a server says of its model, at an address outside of the API."""
    path = options["profile"].get("window", "")
    root = wire.base_url_of(options, "/chat/completions", "/responses", "/embeddings", "/models", "/v1")
    name = urllib.parse.quote(wire.model_of(options), safe="/")
    return wire.get(options, root + path.replace("MODEL", name)) if path[:1] == "/" else None


def models_read(answer: object, options: Options) -> list[Model]:
    """Return the models; some services send the list alone."""
    found: list[Model] = []
    for entry in wire.models_of({"data": answer} if isinstance(answer, list) else answer, "data", "id", options):
        found.append(wire.model(entry["id"], wire.room_of(entry), entry.get("supported_parameters")))
        can_call = wire.part(entry, "capabilities").get("function_calling")
        if isinstance(can_call, bool):
            found[-1]["tools"] = can_call
    return found


def embed_request(texts: list[str], options: Options) -> Request:
    """Return the request for the embeddings of some texts; options["dimensions"] shortens them where a model can."""
    body: Dict = {"model": wire.model_of(options), "input": wire.asked(texts, TEXTS, options)}
    body["encoding_format"] = "float"
    wire.put(body, "dimensions", options.get("dimensions"))
    return wire.post({**options, "stream": False}, url(options, "/embeddings"), body)


def embed_read(answer: object, options: Options) -> Embedded:
    """Return the embeddings in the order of the texts, and the tokens that they took."""
    entries = wire.parts(wire.part(answer).get("data"))
    places = [place for place in (entry.get("index") for entry in entries) if type(place) is int]
    if len(places) == len(entries):  # they are only compared
        entries = [entry for _, entry in sorted(zip(places, entries, strict=True), key=lambda pair: pair[0])]
    usage = wire.part(answer, "usage")
    tokens = usage.get("prompt_tokens", usage.get("total_tokens"))
    return wire.vectors([entry.get("embedding") for entry in entries], options), {"input_tokens": tokens}
