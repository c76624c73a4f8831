"""OpenAI's Responses API: a list of items instead of messages, and reasoning that goes back encrypted.

Pure translation, see the package's contract. Nothing is stored at the
service: each request holds the whole conversation, and reasoning items go back as they came, before the item they led
to, but without ids.
Also spoken by llama.cpp, LM Studio, Ollama, vLLM and OpenRouter. Source: OpenAI API reference, "Responses".
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.providers import decoding, events, faults, gate, schemas, wire
from oasis.providers.openai_chat import embed_read as embed_read
from oasis.providers.openai_chat import embed_request as embed_request
from oasis.providers.openai_chat import models_read as models_read
from oasis.providers.openai_chat import models_request as models_request
from oasis.providers.openai_chat import url
from oasis.providers.wire import Dict, Options, Request

TOKENS = 16  # a smaller limit is refused
ID_CHARS = 64  # a longer call id is refused


def build_request(messages: list[Dict], tools: list[Dict], options: Options) -> Request:
    """Return the HTTP request of one turn.

    Raises: SchemaError for a tool whose schema is no object, SettingsError for a bad base_url, a missing model or a
    search that is not offered, UsageError for a file that cannot be read.
    """
    profile, rule = wire.profile_of(options), wire.rule_of(options)
    takes = wire.takes_of(options)
    checked = wire.checked(messages, takes, wire.label_of(options), in_results=takes)
    alternate, bridge = bool(profile.get("alternate")), bool(profile.get("bridge"))
    chat = gate.prepare(checked, gate.merge_system_first, alternate=alternate, bridge=bridge)
    body: Dict = {
        "model": wire.model_of(options),
        "input": _Items(options).all([message for message in chat if message["role"] != "system"]),
        "stream": bool(options.get("stream")),
        "store": False,
    }
    system = [gate.text_of(message) for message in chat if message["role"] == "system"]
    if system:
        body["instructions"] = system[0]
    if profile.get("encrypted") and rule.get("thinking") != "none":
        body["include"] = ["reasoning.encrypted_content"]
    _add_tools(body, tools, options)
    _add_limits(body, options, rule)
    return wire.post(options, url(options, "/responses"), body)


def _add_limits(body: Dict, options: Options, rule: Dict) -> None:
    limit = options.get("max_tokens")
    if isinstance(limit, int):
        body["max_output_tokens"] = max(TOKENS, limit)
    if options.get("temperature") is not None and rule.get("temperature", True):
        body["temperature"] = options["temperature"]
    effort = wire.effort_of(options)
    if effort and rule.get("thinking") != "none":
        body["reasoning"] = {"effort": effort}


# Items


class _Items:
    """Turns prepared messages into items; call ids are short, the same id gives the same word."""

    def __init__(self, options: Options):
        self._profile = wire.profile_of(options)
        self._model = wire.model_of(options)
        self._ids: dict[str, str] = {}

    def all(self, chat: list[gate.Message]) -> list[Dict]:
        out: list[Dict] = []
        for message in chat:
            if message["role"] == "assistant":
                out.extend(self._answer(message))
            elif message["role"] == "tool":
                out.extend([self._result(block) for block in gate.blocks_of(message, "tool_result")])
            else:
                content = message["content"]
                assert isinstance(content, list)
                out.append({"type": "message", "role": message["role"], "content": _parts(content)})
        return out

    def _answer(self, message: gate.Message) -> list[Dict]:
        """Return the items of an answer; reasoning whose item is gone stays behind, alone it would be refused."""
        out: list[Dict] = []
        before: list[Dict] = []
        phase: object = None
        content = message["content"]
        assert isinstance(content, list)
        for block in content:
            kept = self._kept(block)
            before.extend(_items(kept.get("items")))
            if block["type"] == "thinking":
                phase = kept.get("phase", phase)
            elif block["type"] == "text":
                out.extend([*before, _said(str(block["text"]), phase)])
                before, phase = [], None
            elif block["type"] == "tool_use":
                out.extend([*before, self._call(block)])
                before = []
        return out

    def _kept(self, block: gate.Block) -> Dict:
        """Return what the block keeps for this service and this very model: others cannot open it."""
        kept = wire.metadata_of(block, self._profile)
        return kept if kept.get("model") == self._model else {}

    def _call(self, block: gate.Block) -> Dict:
        name, arguments = wire.legal(str(block["name"])), jsonl.dumps(block["input"])
        return {"type": "function_call", "call_id": self._id(block["id"]), "name": name, "arguments": arguments}

    def _result(self, block: gate.Block) -> Dict:
        content = block["content"]
        assert isinstance(content, list)
        output: object = gate.text_of(block)
        if any(part["type"] != "text" for part in content):
            output = _parts(content)
        elif block.get("is_error") and not str(output).lower().startswith("error"):
            output = f"Error: {output}"  # this format has no flag for it
        return {"type": "function_call_output", "call_id": self._id(block["tool_use_id"]), "output": output}

    def _id(self, ident: object) -> str:
        word = str(ident)
        if len(word) <= ID_CHARS:
            return word
        return self._ids.setdefault(word, f"call_long_{len(self._ids)}")


def _items(kept: object) -> list[Dict]:
    """Return kept items without their ids: the service would look for one, and it has stored nothing."""
    items = [item for item in kept if isinstance(item, dict)] if isinstance(kept, list) else []
    return [{name: held for name, held in item.items() if name != "id"} for item in items]


def _said(text: str, phase: object) -> Dict:
    """Return a text of the model's own."""
    item: Dict = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    return {**item, "phase": phase} if phase else item


def _parts(content: list[gate.Block]) -> list[Dict]:
    return [_part(block) for block in content] or [{"type": "input_text", "text": ""}]


def _part(block: gate.Block) -> Dict:
    kind = "words" if block["type"] == "text" else wire.kind_of(block)
    if kind == "image":
        return {"type": "input_image", "image_url": wire.data_url(block), "detail": "auto"}
    if kind == "pdf":
        return {"type": "input_file", "filename": wire.file_name(block), "file_data": wire.data_url(block)}
    return {"type": "input_text", "text": str(block["text"]) if kind == "words" else wire.text_of(block)}


# Tools


def _add_tools(body: Dict, tools: list[Dict], options: Options) -> None:
    declared = [_tool(tool, bool(options.get("strict"))) for tool in tools]
    if options.get("search"):
        declared.append(wire.search_of(options))
    if not declared:
        return
    body["tools"] = declared
    choice = options.get("tool_choice")
    if isinstance(choice, dict):
        body["tool_choice"] = {"type": "function", "name": wire.legal(str(choice["name"]))}
    elif choice and tools:
        body["tool_choice"] = choice


def _tool(tool: Dict, is_strict: bool) -> Dict:
    """Return a tool; `strict` is always said, because here it is true when it is not."""
    is_strict = is_strict and schemas.fits_strict(tool.get("input_schema") or {})
    return {
        "type": "function",
        "name": wire.legal(str(tool["name"])),
        "description": str(tool.get("description") or ""),
        "parameters": schemas.of_tool(tool, "strict" if is_strict else "plain"),
        "strict": is_strict,
    }


# The answer
#
# It is a list of items; each is known by its place (`output_index`), for some gateways change the ids. What the service
# wants back (reasoning, hosted searches, the phase of a text) is kept with the text or the call that follows it:
# {"model", "items": [...], "phase"?}; the last of an answer that was cut off is followed by nothing and not kept.
# Unknown events and items are skipped.

_Events = list[events.Event]

_STOP_REASONS = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}

# Pieces of text: the key that holds them, and whether the model says it or only thinks it.
_DELTAS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "thinking",
    "response.reasoning_text.delta": "thinking",
}
_ENDS = ("response.completed", "response.incomplete")
_FAILURES = ("response.failed", "response.cancelled", "error")

# Items of hosted tools that must stand between the reasoning items around them.
_KEPT = ("reasoning", "web_search_call")


class Decoder(decoding.Decoder):
    """Decode a response."""

    def __init__(self, status: int, headers: dict[str, str], options: Dict):
        super().__init__(status, headers, options)
        self._owner = str(self.profile.get("id") or "")
        # What goes back is for the model as it was asked for (wire.model_of), whatever name it answers with.
        self._asked_model = str(options.get("model") or self.profile.get("model") or "")
        self._keeps = bool(self.profile.get("encrypted"))  # other servers read their own items in many ways
        self._before: list[Dict] = []  # kept items that wait for the text or call they led to
        self._calls: dict[int, Dict] = {}  # by place: the call's item, and what was kept before it
        self._pieces: dict[int, list[str]] = {}  # by place: of its arguments, joined once at the end
        self._heard: dict[int, str] = {}  # by place: the kind of text of which something has come
        self._done: set[int] = set()
        self._places: dict[str, int] = {}  # of items that came without their place
        self._is_refused = False

    def on_done(self) -> _Events:
        return self.cut() if self.is_started else self.nothing()  # of gateways; the API itself has no such mark

    def on_piece(self, piece: Dict, event: str) -> _Events:
        return self._event(str(piece.get("type") or event), piece)

    def on_whole(self, answer: Dict) -> _Events:
        if not isinstance(answer.get("output"), list):
            return self.bad_answer("it holds no output")
        return self._ended(answer)

    def _event(self, kind: str, event: Dict) -> _Events:
        if kind in _FAILURES or ("type" not in event and faults.has_error(event)):
            return self._failed(event)
        self.is_started = True
        place = self._place(event)
        if kind in _DELTAS:
            return self._piece(place, _DELTAS[kind], event.get("delta"))
        if kind == "response.reasoning_summary_part.added":
            return [events.thinking("\n\n")] if self._heard.get(place) == "thinking" else []
        if kind.startswith("response.function_call_arguments."):
            return self._argued(place, event)
        item = event.get("item")
        if kind == "response.output_item.added" and isinstance(item, dict):
            return self._added(place, item)
        if kind == "response.output_item.done" and isinstance(item, dict):
            return self._finished(place, item)
        response = event.get("response")
        if kind.startswith("response.") and isinstance(response, dict):
            self._named(response)
            return self._ended(response) if kind in _ENDS else []
        return []

    # Items

    def _place(self, event: Dict) -> int:
        """Return where in the output an event belongs; without a place its item's id says it."""
        place, item = event.get("output_index"), event.get("item")
        if isinstance(place, int):
            return place
        ident = event.get("item_id") or (item.get("id") if isinstance(item, dict) else None)
        return self._places.setdefault(str(ident), len(self._places))

    def _call(self, place: int) -> Dict:
        if place not in self._calls:
            self._calls[place] = {"before": self._taken()}
        return self._calls[place]

    def _taken(self) -> list[Dict]:
        taken, self._before = self._before, []
        return taken

    def _argued(self, place: int, event: Dict) -> _Events:
        call, piece = self._call(place), event.get("delta")
        if isinstance(piece, str):
            self._pieces.setdefault(place, []).append(piece)
        if isinstance(event.get("arguments"), str):
            call["arguments"] = event["arguments"]
        return []

    def _added(self, place: int, item: Dict) -> _Events:
        if item.get("type") == "function_call":
            early = {"arguments": None, "early": item.get("arguments")}  # those that count come in pieces
            self._call(place).update(_without_nothing({**item, **early}))
        if item.get("type") == "message":
            return self._opened(item)
        return []

    def _opened(self, item: Dict) -> _Events:
        """Return what goes back with the text that begins."""
        kept: Dict = {"model": self._asked_model}
        items = self._taken()
        if items:
            kept["items"] = items
        if self._keeps and isinstance(item.get("phase"), str):
            kept["phase"] = item["phase"]
        return events.echo(self._owner, kept) if len(kept) > 1 else []

    def _finished(self, place: int, item: Dict) -> _Events:
        """Take an item that is complete; what its pieces have said already is not repeated."""
        if place in self._done:
            return []
        self._done.add(place)
        kind = item.get("type")
        if kind == "function_call":
            self._call(place).update(_without_nothing(item))
        if kind not in ("message", *_KEPT):
            return []
        out: _Events = [] if kind != "message" or place in self._heard else self._opened(item)
        if place not in self._heard:
            for part in _texts(item):
                out.extend(self._piece(place, *part))
        if self._keeps and (kind == "web_search_call" or item.get("encrypted_content")):
            self._before.append(item)
        return out

    def _piece(self, place: int, kind: str, text: object) -> _Events:
        if not isinstance(text, str) or not text:
            return []
        self._heard[place] = kind
        if kind == "thinking":
            return [events.thinking(text)]
        self._is_refused = self._is_refused or kind == "refusal"
        return [events.delta(text)]

    # Endings

    def _named(self, response: Dict) -> None:
        if isinstance(response.get("model"), str) and response["model"]:
            self.model = str(response["model"])
        self.seed = str(response.get("id") or self.seed)

    def _failed(self, event: Dict) -> _Events:
        response = event.get("response")
        value = response if isinstance(response, dict) and response.get("error") else event
        if value is response or event.get("type") == "error" or faults.has_error(event):
            return self.reported(value)
        return self.fail(faults.event("server", f"{self.label} gave up in the middle of its answer"))

    def _ended(self, response: Dict) -> _Events:
        """Take the whole response; its output counts only where no item came before it."""
        self._named(response)
        status, details = response.get("status"), response.get("incomplete_details")
        if status in ("failed", "cancelled"):
            return self._failed({"response": response})
        out: _Events = []
        output = response.get("output")
        if not self._done and not self._heard and not self._calls and isinstance(output, list):
            for place, item in enumerate(output):
                out.extend(self._finished(place, item) if isinstance(item, dict) else [])
        reason = details.get("reason") if isinstance(details, dict) else None
        self.stop_reason = "end_turn"
        if status == "incomplete" or reason:
            self.stop_reason = _STOP_REASONS.get(str(reason), "other")
        self._count(response.get("usage"))
        return [*out, *self.finish()]

    def finish(self) -> _Events:
        if self._is_refused:
            self.stop_reason = "refusal"
        calls = [self._calls[place] for place in sorted(self._calls)]
        for place, call in self._calls.items():
            call.setdefault("arguments", "".join(self._pieces.get(place, [])) or call.get("early"))
        for call in calls:
            function = {"name": call.get("name"), "arguments": call.get("arguments")}
            self.calls.add({"id": call.get("call_id"), "function": function}, whole=True)
        out = super().finish()
        made = [event for event in out if event["type"] == "tool_use"]
        for event, call in zip(made, calls, strict=True):
            if call.get("status") == "incomplete":  # cut, though what is there may look whole
                event.update({"input": {}, "invalid": str(call.get("arguments") or "")[: events.INVALID_CHARS]})
            if call["before"]:
                kept = {"model": self._asked_model, "items": call["before"]}
                for echo in events.echo(self._owner, kept):
                    event["provider_metadata"] = echo["provider_metadata"]
        return out

    def _count(self, usage: object) -> None:
        if isinstance(usage, dict):
            read, made = _object(usage, "input_tokens_details"), _object(usage, "output_tokens_details")
            self.counts = {
                "input_tokens": usage.get("input_tokens"),
                "output_tokens": usage.get("output_tokens"),
                "cache_read_input_tokens": read.get("cached_tokens"),
                "cache_creation_input_tokens": read.get("cache_write_tokens"),
                "reasoning_tokens": made.get("reasoning_tokens"),
            }


def _without_nothing(item: Dict) -> Dict:
    """Return the fields of a call that say something: a later copy may lack what an earlier one had."""
    return {name: item[name] for name in ("call_id", "name", "arguments", "early", "status") if item.get(name)}


def _texts(item: Dict) -> list[tuple[str, str]]:
    """Return the texts of a whole item as (kind, text)."""
    found: list[tuple[str, str]] = []
    for name, kind in (("summary", "thinking"), ("content", "thinking" if item.get("type") == "reasoning" else "text")):
        parts = item.get(name)
        for part in parts if isinstance(parts, list) else []:
            if not isinstance(part, dict):
                continue
            if isinstance(part.get("refusal"), str):
                found.append(("refusal", part["refusal"]))
            elif isinstance(part.get("text"), str):
                found.append((kind, ("\n\n" if found and kind == "thinking" else "") + part["text"]))
    return found


def _object(usage: Dict, name: str) -> Dict:
    part = usage.get(name)
    return part if isinstance(part, dict) else {}
