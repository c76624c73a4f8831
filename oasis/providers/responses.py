"""OpenAI's Responses API: a list of items instead of messages, and reasoning that goes back encrypted.

Pure translation, see the package's contract. Nothing is stored at the service: each request holds the whole
conversation, and reasoning items go back as they came, before the item they led to: encrypted ones with their ids.
Also spoken by llama.cpp, LM Studio, Ollama, vLLM and OpenRouter. Source: OpenAI API reference, "Responses".
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.providers import decoding, events, gate, schemas, wire
from oasis.providers.openai_chat import embed_read, embed_request, models_read, models_request, url  # noqa: F401

if False:  # annotations only
    from oasis.providers.shapes import Block, Dict, Event, Headers, Options, Request, Tool, Turn

TOKENS = 16  # a smaller limit is refused
ID_CHARS = 64  # a longer call id is refused


def build_request(messages: list[Dict], tools: list[Tool], options: Options) -> Request:
    profile, rule, takes = options["profile"], wire.rule_of(options), wire.takes_of(options)
    alternate, bridge = profile.get("alternate", False), profile.get("bridge", False)
    system, chat = gate.parted(wire.checked(messages, takes, options, takes), alternate=alternate, bridge=bridge)
    body = wire.begun(options, input=_items(chat, options))
    body["store"] = False
    wire.put(body, "instructions", system or None)
    if profile.get("encrypted") and rule.get("thinking") != "none":
        body["include"] = ["reasoning.encrypted_content"]
    declared: list[Dict] = []
    for tool in tools:
        is_strict = bool(options.get("strict")) and schemas.fits_strict(tool.get("input_schema") or {})
        function = wire.function_of(tool, schemas.of_tool(tool, "strict" if is_strict else "plain"))
        declared.append({"type": "function", **function, "strict": is_strict})  # when it is not said, it is true
    if options.get("search"):
        declared.append(wire.search_of(options))
    wire.put(body, "tools", declared or None)
    choice = options.get("tool_choice")
    if declared and isinstance(choice, dict):
        body["tool_choice"] = {"type": "function", "name": wire.legal(choice["name"])}
    elif tools and choice:
        body["tool_choice"] = choice
    limit = options.get("max_tokens")
    wire.put(body, "max_output_tokens", None if limit is None else max(TOKENS, limit))
    if rule.get("temperature", True):
        wire.put(body, "temperature", options.get("temperature"))
    effort = wire.effort_of(options)
    if effort and rule.get("thinking") != "none":
        body["reasoning"] = {"effort": effort}
    return wire.post(options, url(options, "/responses"), body)


def _items(chat: list[Turn], options: Options) -> list[Dict]:
    """Return messages as items; reasoning whose item is gone stays behind, alone it would be refused.

    One that is not encrypted goes without its id: the service would look for that, and it has stored nothing.
    """
    ids: dict[str, str] = {}
    out: list[Dict] = []
    for message in chat:
        if message["role"] == "tool":
            for block in message["content"]:
                is_text = all(part["type"] == "text" for part in block["content"])
                output = wire.result_of(block) if is_text else _parts(block["content"])
                ident = _id(block["tool_use_id"], ids)
                out.append({"type": "function_call_output", "call_id": ident, "output": output})
            continue
        if message["role"] != "assistant":
            out.append({"type": "message", "role": message["role"], "content": _parts(message["content"])})
            continue
        before: list[Dict] = []
        phase: object = None
        for block in message["content"]:
            kept = wire.metadata_of(block, options)
            kept = kept if kept.get("model") == wire.model_of(options) else {}  # no other model can open it
            for item in wire.parts(kept.get("items")):
                is_whole = bool(item.get("encrypted_content"))
                before.append({name: held for name, held in item.items() if name != "id" or is_whole})
            if block["type"] == "thinking":
                phase = kept.get("phase", phase)
                continue
            if block["type"] == "text":
                content = [{"type": "output_text", "text": block["text"]}]
                said: Dict = {"type": "message", "role": "assistant", "content": content}
                before.append({**said, "phase": phase} if phase else said)
                phase = None
            else:
                name, arguments = wire.legal(block["name"]), jsonl.dumps(block["input"])
                call = {"type": "function_call", "call_id": _id(block["id"], ids), "name": name}
                before.append({**call, "arguments": arguments})
            out.extend(before)
            before = []
    return out


def _id(ident: str, ids: dict[str, str]) -> str:
    """Return a call id that is short enough; the same id gives the same word."""
    return ident if len(ident) <= ID_CHARS else ids.setdefault(ident, f"call_long_{len(ids)}")


def _parts(content: list[Block]) -> list[Dict]:
    out: list[Dict] = []
    for block in content:
        kind = "" if block["type"] == "text" else wire.kind_of(block)
        if kind == "image":
            out.append({"type": "input_image", "image_url": wire.data_url(block), "detail": "auto"})
        elif kind == "pdf":
            out.append({"type": "input_file", "filename": wire.file_name(block), "file_data": wire.data_url(block)})
        else:
            out.append({"type": "input_text", "text": wire.text_of(block) if kind else block["text"]})
    return out or [{"type": "input_text", "text": ""}]


# The answer
#
# It is a list of items; each is known by its place (`output_index`), for some gateways change the ids. What the service
# wants back (reasoning, hosted searches, the phase of a text) is kept with the text or the call that follows it:
# {"model", "items": [...], "phase"?}; the last of an answer that was cut off is followed by nothing and not kept.
# Unknown events and items are skipped.

_STOP_REASONS = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}

# Pieces of text: whether the model says it, or only thinks it.
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

    def __init__(self, status: int, headers: Headers, options: Options):
        super().__init__(status, headers, options)
        self._keeps = bool(self.profile.get("encrypted"))  # other servers read their own items in many ways
        self._before: list[Dict] = []  # kept items that wait for the text or call they led to
        self._calls: dict[int, Dict] = {}  # by place: the call's item, and what was kept before it
        self._pieces: dict[int, list[str]] = {}  # by place: of its arguments, joined once at the end
        self._kinds: dict[int, str] = {}  # by place: the kind of text of which something has come
        self._done: set[int] = set()
        self._places: dict[str, int] = {}  # of items that came without their place

    def on_done(self) -> list[Event]:
        return self.cut() if self.is_started else self.nothing()  # of gateways; the API itself has no such mark

    def on_piece(self, piece: Dict, event: str) -> list[Event]:
        kind = str(piece.get("type") or event)
        if kind in _FAILURES or ("type" not in piece and events.has_error(piece)):
            return self._failed(piece)
        self.is_started = True
        place, item = piece.get("output_index"), wire.part(piece, "item")
        if not isinstance(place, int):
            place = self._places.setdefault(str(piece.get("item_id") or item.get("id")), len(self._places))
        if kind in _DELTAS:
            return self._piece(place, _DELTAS[kind], piece.get("delta"))
        if kind == "response.reasoning_summary_part.added":
            return events.text("thinking", "\n\n") if self._kinds.get(place) == "thinking" else []
        if kind.startswith("response.function_call_arguments."):
            call = self._call(place, {})
            self._pieces.setdefault(place, []).append(wire.words(piece.get("delta")))
            if isinstance(piece.get("arguments"), str):
                call["arguments"] = piece["arguments"]
        elif kind == "response.output_item.added" and item.get("type") == "function_call":
            early = {"arguments": None, "early": item.get("arguments")}  # those that count come in pieces
            self._call(place, {**item, **early})
        elif kind == "response.output_item.added" and item.get("type") == "message":
            return self._opened(item)
        elif kind == "response.output_item.done" and item:
            return self._finished(place, item)
        elif kind.startswith("response.") and isinstance(piece.get("response"), dict):
            return self._ended(wire.part(piece, "response"), kind in _ENDS)
        return []

    def on_whole(self, answer: Dict) -> list[Event]:
        if not isinstance(answer.get("output"), list):
            return self.bad_answer("it holds no output")
        return self._ended(answer)

    # Items

    def _call(self, place: int, item: Dict) -> Dict:
        """Return the call at a place, with what a copy of its item says; a later one may lack what an earlier had."""
        if place not in self._calls:
            self._calls[place] = {"before": self._before}
            self._before = []
        names = ("call_id", "name", "arguments", "early", "status")
        self._calls[place].update({name: item[name] for name in names if item.get(name)})
        return self._calls[place]

    def _opened(self, item: Dict) -> list[Event]:
        """Return what goes back with the text that begins."""
        kept: Dict = {"model": self.asked_model}
        if self._before:
            kept["items"], self._before = self._before, []
        if self._keeps and isinstance(item.get("phase"), str):
            kept["phase"] = item["phase"]
        return events.echo(self.owner, kept) if len(kept) > 1 else []

    def _finished(self, place: int, item: Dict) -> list[Event]:
        """Take an item that is complete; what its pieces have said already is not repeated."""
        if place in self._done:
            return []
        self._done.add(place)
        kind = item.get("type")
        if kind == "function_call":
            self._call(place, item)
        if kind not in ("message", *_KEPT):
            return []
        out: list[Event] = []
        if place not in self._kinds:
            out += self._opened(item) if kind == "message" else []
            has_parts = False
            in_content = "thinking" if kind == "reasoning" else "text"
            for name, text_kind in (("summary", "thinking"), ("content", in_content)):
                for part in wire.parts(item.get(name)):
                    refusal, text = part.get("refusal"), part.get("text")
                    if isinstance(refusal, str):
                        out += self._piece(place, "refusal", refusal)
                    elif isinstance(text, str):
                        gap = "\n\n" if has_parts and text_kind == "thinking" else ""
                        out += self._piece(place, text_kind, gap + text)
                    else:
                        continue
                    has_parts = True
        if self._keeps and (kind == "web_search_call" or item.get("encrypted_content")):
            self._before.append(item)
        return out

    def _piece(self, place: int, kind: str, text: object) -> list[Event]:
        out = events.text("thinking" if kind == "thinking" else "delta", text)
        if out:
            self._kinds[place] = kind
            self.is_refused = self.is_refused or kind == "refusal"
        return out

    # Endings

    def _failed(self, event: Dict) -> list[Event]:
        response = wire.part(event, "response")
        if response.get("error"):
            return self.reported(response)
        if event.get("type") == "error" or events.has_error(event):
            return self.reported(event)
        return self.fail("server", f"{self.label} gave up in the middle of its answer")

    def _ended(self, response: Dict, is_whole: bool = True) -> list[Event]:
        """Take a response, whole or at its beginning; its output counts only where no item came before it."""
        self.model = wire.words(response.get("model")) or self.model
        self.seed = str(response.get("id") or self.seed)
        if not is_whole:
            return []
        status, reason = response.get("status"), wire.part(response, "incomplete_details").get("reason")
        if status in ("failed", "cancelled"):
            return self._failed({"response": response})
        out: list[Event] = []
        output = response.get("output")
        if not self._done and not self._kinds and not self._calls and isinstance(output, list):
            for place, item in enumerate(output):
                out += self._finished(place, item) if isinstance(item, dict) else []
        is_cut = status == "incomplete" or reason
        self.stop_reason = _STOP_REASONS.get(str(reason), "other") if is_cut else "end_turn"
        usage = wire.part(response, "usage")
        read, made = wire.part(usage, "input_tokens_details"), wire.part(usage, "output_tokens_details")
        self.counts = {
            "input_tokens": usage.get("input_tokens"),
            "output_tokens": usage.get("output_tokens"),
            "cache_read_input_tokens": read.get("cached_tokens"),
            "cache_creation_input_tokens": read.get("cache_write_tokens"),
            "reasoning_tokens": made.get("reasoning_tokens"),
        }
        return [*out, *self.finish()]

    def finish(self) -> list[Event]:
        calls = [self._calls[place] for place in sorted(self._calls)]
        for place, call in zip(sorted(self._calls), calls, strict=True):
            given = call.setdefault("arguments", "".join(self._pieces.get(place, [])) or call.get("early"))
            self.calls.add(
                {"id": call.get("call_id"), "function": {"name": call.get("name"), "arguments": given}}, True
            )
        out = super().finish()
        made = [event for event in out if event["type"] == "tool_use"]
        for event, call in zip(made, calls, strict=True):
            if call.get("status") == "incomplete":  # cut, though what is there may look whole
                event.update({"input": {}, "invalid": str(call.get("arguments") or "")[: events.INVALID_CHARS]})
            if call["before"]:
                kept = {"model": self.asked_model, "items": call["before"]}
                for echo in events.echo(self.owner, kept):
                    event["provider_metadata"] = echo["provider_metadata"]
        return out
