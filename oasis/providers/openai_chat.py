"""OpenAI Chat Completions and everything that imitates it; what a service does differently stands in profiles.json.

Pure translation, see the package's contract. Source: OpenAI API reference,
"Chat Completions", and the notes of the services on what they leave out or add.
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.core.framing import Events
from oasis.errors import SchemaError
from oasis.providers import decoding, events, faults, gate, schemas, wire
from oasis.providers.decoding import Calls, Splitter
from oasis.providers.wire import Dict, Options, Request


def build_request(messages: list[Dict], tools: list[Dict], options: Options) -> Request:
    """Return the HTTP request of one turn.

    Raises: SchemaError for a tool whose schema is no object, SettingsError for a bad base_url, a missing model or a
    search that is not offered, UsageError for a file that cannot be read.
    """
    profile = wire.profile_of(options)
    checked = wire.checked(messages, wire.takes_of(options), wire.label_of(options))
    chat = gate.prepare(
        checked,
        gate.merge_system_first,
        alternate=bool(profile.get("alternate")),
        drop_empty=bool(profile.get("drop_empty")),
        end_with_user=bool(profile.get("end_with_user")),
        bridge=bool(profile.get("bridge")),
    )
    body: Dict = {
        "model": wire.model_of(options),
        "messages": _messages(chat, {**profile, "model": wire.model_of(options)}),
        "stream": bool(options.get("stream")),
    }
    if body["stream"] and profile.get("stream_options"):
        body["stream_options"] = {"include_usage": True}
    if options.get("search"):
        body.update(wire.search_of(options))
    is_forced = _add_tools(body, tools, options)
    _add_limits(body, options, is_forced)
    return wire.post(options, url(options, "/chat/completions"), body)


# What a body holds in addition to the messages


def _add_tools(body: Dict, tools: list[Dict], options: Options) -> bool:
    """Add the tools and how they are chosen; return whether the model must call one."""
    choice = options.get("tool_choice") if tools else None
    if isinstance(choice, dict) and wire.profile_of(options).get("one_tool") == "alone":
        tools = [tool for tool in tools if tool["name"] == choice["name"]] or tools  # it knows only words as a choice
        choice = "required"
    if tools:
        body["tools"] = [
            _tool(tool, bool(options.get("strict")), str(wire.profile_of(options).get("schemas") or "plain"))
            for tool in tools
        ]
    if isinstance(choice, dict):
        body["tool_choice"] = {"type": "function", "function": {"name": wire.legal(str(choice["name"]))}}
    elif choice:
        body["tool_choice"] = choice
    return isinstance(choice, dict) or choice == "required"


def _tool(tool: Dict, is_strict: bool, kind: str) -> Dict:
    schema = tool.get("input_schema") or {"type": "object", "properties": {}}
    if not isinstance(schema, dict):
        raise SchemaError(
            f"invalid tool schema: tool {tool.get('name')!r} has a {type(schema).__name__}, not an object"
        )
    function: Dict = {
        "name": wire.legal(str(tool["name"])),
        "description": tool.get("description", ""),
        "parameters": schemas.of_tool(tool, kind),
    }
    if is_strict and kind == "plain" and schemas.fits_strict(schema):
        function.update({"parameters": schemas.of_tool(tool, "strict"), "strict": True})
    return {"type": "function", "function": function}


def _add_limits(body: Dict, options: Options, is_forced: bool) -> None:
    profile, rule = wire.profile_of(options), wire.rule_of(options)
    _set(body, str(profile.get("max_tokens_field") or "max_tokens"), options.get("max_tokens"))
    if rule.get("temperature", True):
        _set(body, "temperature", options.get("temperature"))
    effort = "none" if is_forced and profile.get("forced") == "thoughtless" else wire.effort_of(options)
    if not effort or rule.get("thinking") == "none":
        return
    if profile.get("thinking") == "effort":
        body["reasoning_effort"] = effort
    elif profile.get("thinking") == "reasoning":
        body["reasoning"] = {"enabled": False} if effort == "none" else {"effort": effort}
    elif profile.get("thinking") == "switch":
        body["thinking"] = {"type": "disabled" if effort == "none" else "enabled"}
        _set(body, "reasoning_effort", None if effort == "none" else effort)
    elif profile.get("thinking") == "template":
        body["chat_template_kwargs"] = {"enable_thinking": effort != "none"}


def _set(body: Dict, name: str, value: object) -> None:
    if value is not None:
        body[name] = value


# Messages


def _messages(chat: list[gate.Message], profile: Dict) -> list[Dict]:
    ids = _Ids(str(profile.get("call_ids") or ""))
    out: list[Dict] = []
    for message in chat:
        if message["role"] == "assistant":
            out.append(_assistant(message, profile, ids))
        elif message["role"] == "tool":
            out.extend([_result(block, ids) for block in gate.blocks_of(message, "tool_result")])
        else:
            out.append({"role": message["role"], "content": wire.content_of(message)})
    return out


def _assistant(message: gate.Message, profile: Dict, ids: _Ids) -> Dict:
    text = gate.text_of(message)
    out: Dict = {"role": "assistant", "content": text}
    calls = gate.blocks_of(message, "tool_use")
    if calls:
        out["tool_calls"] = [_call(block, number, profile, ids) for number, block in enumerate(calls)]
        if not text and profile.get("null_content"):
            out["content"] = None
    _echo(out, message, profile)
    return out


def _call(block: gate.Block, number: int, profile: Dict, ids: _Ids) -> Dict:
    function = {"name": wire.legal(str(block["name"])), "arguments": jsonl.dumps(block["input"])}
    call: Dict = {"id": ids.get(str(block["id"])), "type": "function", "function": function}
    if profile.get("echo") == "extra_content":
        extra = wire.metadata_of(block, profile).get("extra_content")
        if extra is None and number == 0:  # history from elsewhere: the word Google gives for a missing signature
            extra = {"google": {"thought_signature": "skip_thought_signature_validator"}}
        _set(call, "extra_content", extra)
    return call


def _result(block: gate.Block, ids: _Ids) -> Dict:
    text = gate.text_of(block)
    if block.get("is_error") and not text.lower().startswith("error"):
        text = "Error: " + text  # this format has no flag for it
    return {"role": "tool", "tool_call_id": ids.get(str(block["tool_use_id"])), "content": text}


def _echo(out: Dict, message: gate.Message, profile: Dict) -> None:
    """Give back the reasoning that a service wants to see again."""
    thoughts = gate.blocks_of(message, "thinking")
    if profile.get("echo") == "reasoning_content" and "tool_calls" in out:
        out["reasoning_content"] = "".join([str(block["text"]) for block in thoughts])
    if profile.get("echo") == "reasoning_details":
        for block in thoughts:
            kept = wire.metadata_of(block, profile)
            if kept.get("model") == profile["model"]:  # as it was asked for; what is encrypted no other can open
                _set(out, "reasoning_details", kept.get("reasoning_details"))


class _Ids:
    """Call ids in the form a service accepts; the same id gives the same word within one request."""

    def __init__(self, form: str):
        self._form = form
        self._known: dict[str, str] = {}

    def get(self, ident: str) -> str:
        if self._form != "alnum9":
            return ident
        return self._known.setdefault(ident, f"call{len(self._known):05d}")


# The answer

_STOP_REASONS = {
    "stop": "end_turn",
    "eos": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "model_length": "max_tokens",
    "content_filter": "refusal",
    "error": "error",
}


class Decoder(decoding.Decoder):
    """Decode a streamed or whole chat completion."""

    def __init__(self, status: int, headers: dict[str, str], options: Dict):
        super().__init__(status, headers, options)
        echo = self.profile.get("echo")
        self._owner, self._asked_model = str(self.profile.get("id") or ""), self.model
        self.calls = Calls(self._owner if echo == "extra_content" else "")
        self._keeps_details = echo == "reasoning_details"
        self._details: list[Dict] = []
        self._is_refused = False
        self._choice: object = None  # the number of the choice that came first
        self._text = Splitter()

    def make_reader(self) -> Events:
        return Events(extra_fields=("error",))  # older llama.cpp: a line `error: {…}` between the events

    def on_piece(self, piece: Dict, event: str) -> list[events.Event]:
        if event == "error" or piece.get("error") or piece.get("object") == "error":
            return self._failed(piece)
        self.is_started = True
        return self._chunk(piece, is_whole=False)

    def on_whole(self, answer: Dict) -> list[events.Event]:
        if not isinstance(answer.get("choices"), list) or not answer["choices"]:
            return self.bad_answer("it holds no choice")
        return self._chunk(answer, is_whole=True)

    def finish(self) -> list[events.Event]:
        if self.stop_reason == "error":
            return self.fail(faults.event("server", f"{self.label} failed in the middle of its answer"))
        if self._is_refused:
            self.stop_reason = "refusal"
        out = self._text.close()
        if self._details:  # for the model that was asked (wire.model_of): what is encrypted no other can open
            asked = str(self._asked_model or self.profile.get("model") or "")
            out.extend(events.echo(self._owner, {"reasoning_details": self._details, "model": asked}))
        return [*out, *super().finish()]

    def _chunk(self, chunk: Dict, is_whole: bool) -> list[events.Event]:
        if isinstance(chunk.get("model"), str) and chunk["model"]:
            self.model = str(chunk["model"])
        self.seed = str(chunk.get("id") or self.seed)
        self._count(chunk)
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
        said = choice.get("message") if is_whole else choice.get("delta") or choice.get("message")
        out = self._said(said, is_whole) if isinstance(said, dict) else []
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self.stop_reason = _STOP_REASONS.get(reason, "other")
        return out

    def _failed(self, value: Dict) -> list[events.Event]:
        if self.stop_reason == "max_tokens":
            return self.finish()  # OpenRouter says once more, as an error, that the length limit was reached
        return self.reported(value)

    def _said(self, said: Dict, is_whole: bool) -> list[events.Event]:
        out: list[events.Event] = []
        thought = said.get("reasoning_content") or said.get("reasoning")
        if isinstance(thought, str):
            out.append(events.thinking(thought))
        if self._keeps_details:
            _join_details(self._details, said.get("reasoning_details"))
        out.extend(self._content(said.get("content")))
        if isinstance(said.get("refusal"), str) and said["refusal"]:
            self._is_refused = True
            out.append(events.delta(str(said["refusal"])))
        calls = said.get("tool_calls")
        for piece in calls if isinstance(calls, list) else []:
            self.calls.add(piece, is_whole)
        return out

    def _content(self, content: object) -> list[events.Event]:
        """Return the events of a content: text, or Mistral's list of text and thinking parts."""
        if isinstance(content, str):
            return self._text.feed(content) if content else []
        out: list[events.Event] = []
        for part in content if isinstance(content, list) else []:
            if not isinstance(part, dict):
                continue
            if isinstance(part.get("text"), str) and part["text"]:
                out.append(events.delta(part["text"]))
            thoughts = part.get("thinking")
            for thought in thoughts if isinstance(thoughts, list) else []:
                if isinstance(thought, dict) and isinstance(thought.get("text"), str):
                    out.append(events.thinking(thought["text"]))
        return out

    def _count(self, chunk: Dict) -> None:
        """Keep the newest usage; some servers send it with every piece."""
        groq = chunk.get("x_groq")
        usage = chunk.get("usage") or (groq.get("usage") if isinstance(groq, dict) else None)
        if not isinstance(usage, dict):
            return
        prompt, completion = _object(usage, "prompt_tokens_details"), _object(usage, "completion_tokens_details")
        output, reasoning = usage.get("completion_tokens"), completion.get("reasoning_tokens")
        if self.profile.get("usage_adds_reasoning") and isinstance(output, int) and isinstance(reasoning, int):
            output += reasoning
        self.counts = {
            "input_tokens": usage.get("prompt_tokens"),
            "output_tokens": output,
            "cache_read_input_tokens": prompt.get("cached_tokens", usage.get("prompt_cache_hit_tokens")),
            "cache_creation_input_tokens": prompt.get("cache_write_tokens"),
            "reasoning_tokens": reasoning,
        }


def _join_details(known: list[Dict], pieces: object) -> None:
    """Add pieces of reasoning details to those of the same index and type; text grows, other fields come once."""
    for piece in pieces if isinstance(pieces, list) else []:
        if not isinstance(piece, dict):
            continue
        place = (piece.get("index"), piece.get("type"))
        same = [detail for detail in known if (detail.get("index"), detail.get("type")) == place]
        if not same:
            known.append(dict(piece))
            continue
        for name, value in piece.items():
            here = same[0].get(name)
            if name in ("text", "summary", "data") and isinstance(here, str) and isinstance(value, str):
                same[0][name] = here + value
            elif value is not None:
                same[0][name] = value


def _object(usage: Dict, name: str) -> Dict:
    part = usage.get(name)
    return part if isinstance(part, dict) else {}


# The list of models, and embeddings. Source: OpenAI API reference, "Models" and "Embeddings"

TEXTS = 2048  # at once

# What people copy from a service's pages as its address, and what of it is no part of the address.
_TAILS = ("/chat/completions", "/responses", "/embeddings", "/models")


def url(options: Options, path: str) -> str:
    """Return the address of a method.

    Raises: SettingsError when base_url is missing or no http address.
    """
    base = wire.base_url_of(options)
    for tail in _TAILS:
        base = base[: -len(tail)] if base.endswith(tail) else base
    return base + path


def models_request(options: Options) -> Request:
    """Return the request for the list of models."""
    return wire.get(options, url(options, "/models"))


def models_read(status: int, headers: dict[str, str], body: bytes, options: Options) -> list[Dict]:
    """Return the models: {"id", "context_tokens"?, "tools"?}.

    Raises: ProviderError with the kind of failure.
    """
    return [_model(entry) for entry in wire.models_of(status, headers, body, options, "data", "id", is_bare=True)]


def embed_request(texts: list[str], options: Options) -> Request:
    """Return the request for the embeddings of some texts; options["dimensions"] shortens them where a model can.

    Raises: UsageError for texts that cannot be sent, SettingsError for a bad base_url or missing model.
    """
    body: Dict = {
        "model": wire.model_of(options),
        "input": wire.asked(texts, TEXTS, options),
        "encoding_format": "float",
    }
    if options.get("dimensions") is not None:
        body["dimensions"] = options["dimensions"]
    return wire.post({**options, "stream": False}, url(options, "/embeddings"), body)


def embed_read(status: int, headers: dict[str, str], body: bytes, options: Options) -> wire.Made:
    """Return the embeddings in the order of the texts, and the tokens that they took.

    Raises: ProviderError with the kind of failure.
    """
    answer = wire.answer_of(status, headers, body, options)
    listed = answer.get("data") if isinstance(answer, dict) else None
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    places = [entry.get("index") for entry in entries]
    if all(type(place) is int for place in places):  # they are only compared
        entries.sort(key=lambda entry: int(entry["index"]))
    usage = wire.part(answer, "usage")
    tokens = usage.get("prompt_tokens", usage.get("total_tokens"))
    return wire.read([entry.get("embedding") for entry in entries], options), {"input_tokens": tokens}


def _model(entry: Dict) -> Dict:
    model: Dict = {"id": events.clean(str(entry["id"]))}
    for name in ("context_length", "context_window", "max_context_length", "max_model_len"):
        room = events.count(entry.get(name))
        if room is not None:
            model["context_tokens"] = room
    abilities, parameters = entry.get("capabilities"), entry.get("supported_parameters")
    if isinstance(abilities, dict) and isinstance(abilities.get("function_calling"), bool):
        model["tools"] = abilities["function_calling"]
    elif isinstance(parameters, list):
        model["tools"] = "tools" in parameters
    return model
