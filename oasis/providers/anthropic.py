"""Anthropic's Messages API: the system text apart from the messages, results in the user's turn, signed thoughts back.

Pure translation, see the package's contract. What models differ in stands in profiles.json. A whole answer is read as
the stream it could have been. Signatures, redacted thoughts and what a hosted tool did go along as what the service
wants back. Unknown kinds of events, blocks and pieces are skipped: the API adds some within a version.
Source: Anthropic API reference, "Messages", "Streaming Messages", "Tool use", "Prompt caching", "Extended thinking".
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.core.framing import TOTAL_BYTES
from oasis.errors import SchemaError
from oasis.providers import decoding, events, gate, schemas, wire

if False:  # annotations only
    from oasis.providers.shapes import Block, Dict, Event, Model, Options, Request, Rule, Sent, Tool, Turn

VERSION = "2023-06-01"
MAX_TOKENS = 8192  # for a model that the profile says nothing about
CACHE_MARKS = 4  # more are refused
SEARCHES = 3  # in one answer: what was found goes back with every later question

_FILES = ("text", "image", "pdf")
_EMPTY = "(nothing)"  # a result without a word is refused

# Tokens of a level for models that want a number, and the level of a number for those that want a level.
_BUDGETS = {"low": 2048, "medium": 8192, "high": 16384}
_LEAST_BUDGET = 1024


def build_request(messages: list[Dict], tools: list[Tool], options: Options) -> Request:
    rule = wire.rule_of(options)
    # An answer that was refused would be refused again; one that paused is sent as the last to be gone on with.
    kept = [message for message in wire.checked(messages, _FILES, options, _FILES)
            if message.get("stop_reason") != "refusal"]  # fmt: skip
    for at, message in enumerate(kept):  # without blank texts, the wish to be cached on the last block
        content = message.get("content")
        blocks = [_text(content)] if isinstance(content, str) else content
        blocks = [block for block in (blocks if isinstance(blocks, list) else []) if not _is_blank(block)]
        if message.get("cache") is True and blocks and isinstance(blocks[-1], dict):
            blocks[-1] = {**blocks[-1], "cache": True}
        kept[at] = {**message, "content": blocks}
    is_paused = bool(kept) and kept[-1].get("stop_reason") == "pause"
    system, chat = gate.parted(kept, alternate=True, drop_empty=True, end_with_user=not is_paused)
    limit = options.get("max_tokens") or rule.get("max_tokens") or MAX_TOKENS
    body = wire.begun(options, max_tokens=limit, messages=[])
    turns = _turns(chat, options)
    wire.put(body, "system", [_text(system)] if system else None)
    _add_tools(body, chat, tools, options, rule)
    _add_thinking(body, turns, options, rule)
    temperature = options.get("temperature")
    is_thinking = wire.part(body, "thinking").get("type", "disabled") != "disabled"
    if temperature is not None and rule.get("temperature", True) and not is_thinking:
        body["temperature"] = min(temperature, 1)
    if options.get("cache") is not False:
        _mark_cache(body, turns)
    for turn in turns:
        for block in turn["content"]:
            block.pop("cache", None)  # the callers' own mark
    body["messages"] = turns
    return _with_version(wire.post(options, _url(options, "/messages"), body, _auth(options)))


def models_request(options: Options) -> Request:
    return _with_version(wire.get(options, _url(options, "/models?limit=1000"), _auth(options)))


def models_read(answer: object, options: Options) -> list[Model]:
    listed = wire.models_of(answer, "data", "id", options)
    return [wire.model(entry["id"], entry.get("max_input_tokens")) for entry in listed]


def _url(options: Options, path: str) -> str:
    return wire.base_url_of(options, "/messages", "/v1") + "/v1" + path


def _auth(options: Options) -> dict[str, str]:
    return {"x-api-key": options.get("key") or ""}


def _with_version(request: Request) -> Request:
    return {**request, "headers": {"anthropic-version": VERSION, **request["headers"]}}


def _is_blank(block: object) -> bool:
    text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
    return isinstance(text, str) and not text.strip()


def _turns(chat: list[Turn], options: Options) -> list[Sent]:
    """Return prepared messages as those of the API, call ids in legal characters."""
    ids = wire.Names([])
    out: list[Sent] = []
    for message in chat:
        role = "assistant" if message["role"] == "assistant" else "user"
        blocks = [new for block in message["content"] for new in _blocks(block, options, ids)]
        if out and out[-1]["role"] == role:  # results and the user's words after them are one turn
            out[-1]["content"].extend(blocks)
        elif blocks:
            out.append({"role": role, "content": blocks})
    hosted = ("server_tool_use", "web_search_tool_result")
    for turn in out[:-1]:  # without searches that have no answer and answers without one; the last may be a pause
        asked = {block["id"] for block in turn["content"] if block["type"] == hosted[0] and "id" in block}
        both = asked & {block.get("tool_use_id") for block in turn["content"] if block["type"] == hosted[1]}
        turn["content"] = [
            block for block in turn["content"]
            if block["type"] not in hosted or block.get("id", block.get("tool_use_id")) in both
        ]  # fmt: skip
    return out


def _blocks(block: Block, options: Options, ids: wire.Names) -> list[Dict]:
    kind = block["type"]
    mark: Dict = {"cache": True} if block.get("cache") is True else {}
    if kind == "text":
        return [{**_text(block["text"]), **mark}]
    if kind == "thinking":  # what this service made itself goes back as it came; thoughts of others are left out
        kept = wire.metadata_of(block, options)
        hosted = kept.get("block")
        if isinstance(hosted, dict):  # of a search; it may not go back without the tool
            return [dict(hosted)] if options.get("search") else []
        if kept.get("redacted"):
            return [{"type": "redacted_thinking", "data": kept["redacted"]}]
        thought = {"type": "thinking", "thinking": block["text"], "signature": kept.get("signature")}
        return [thought] if thought["signature"] else []
    if kind in ("image", "document"):
        return [{**_part(block), **mark}]
    if kind == "tool_use":
        ident = ids.legal(block["id"])
        return [{"type": kind, "id": ident, "name": wire.legal(block["name"]), "input": block["input"]}]
    if kind != "tool_result":
        return []
    content = [_part(part) for part in block["content"] if not _is_blank(part)] or [_text(_EMPTY)]
    result: Dict = {"type": kind, "tool_use_id": ids.legal(block["tool_use_id"]), "content": content}
    return [{**result, **({"is_error": True} if block.get("is_error") else {}), **mark}]


def _text(text: str) -> Dict:
    return {"type": "text", "text": text}


def _part(block: Block) -> Dict:
    """Return a text, an image or a document in the API's form."""
    if block["type"] == "text":
        return _text(block["text"])
    kind = wire.kind_of(block)
    if kind == "text":
        return _text(wire.text_of(block).strip() or _EMPTY)
    source = {"type": "base64", "media_type": wire.media_type_of(block), "data": block["data"]}
    return {"type": "document" if kind == "pdf" else "image", "source": source}


def _add_tools(body: Dict, chat: list[Turn], tools: list[Tool], options: Options, rule: Rule) -> None:
    # The API wants to know all tools called so far, also when none is offered.
    called = {block["name"]: None for message in chat for block in gate.blocks_of(message, "tool_use")}
    offered: list[Tool] = tools or [{"name": name} for name in called]
    declared: list[Dict] = []
    for tool in offered:
        described = {"description": tool["description"]} if tool.get("description") else {}
        declared.append({"name": wire.legal(tool["name"]), **described, "input_schema": schemas.of_tool(tool, "plain")})
    wished, choice = options.get("tool_choice") if tools else "none", None
    if wished in ("auto", "none") or (wished and not rule.get("forced", True)):
        choice = {"type": "none" if wished == "none" else "auto"}
    elif wished:
        choice = {"type": "tool", "name": wire.legal(wished["name"])} if isinstance(wished, dict) else {"type": "any"}
    if options.get("search"):
        if not rule.get("search"):
            raise wire.no_search(options, "", "another model")
        declared.append({"type": "web_search_20250305", "name": "web_search", "max_uses": SEARCHES})
        choice = choice if tools else None
    wire.put(body, "tools", declared or None)
    wire.put(body, "tool_choice", choice if declared else None)


def _add_thinking(body: Dict, turns: list[Sent], options: Options, rule: Rule) -> None:
    """Say how much to think, in the words of this model; a forced call and thinking exclude each other."""
    wished, how = options.get("thinking"), rule.get("thinking", "budget")
    is_forced = wire.part(body, "tool_choice").get("type") in ("any", "tool")
    if how == "none" or (how == "always" and wished in (None, "off")):
        return
    if is_forced or wished == "off":
        if how == "adaptive":
            body["thinking"] = {"type": "disabled"}
    elif wished is not None and how == "budget":
        # These models cannot begin to think in the middle of a tool loop.
        kinds = [turn["content"][0]["type"] for turn in turns[-2:]]
        if len(kinds) < 2 or kinds[1] != "tool_result" or kinds[0] in ("thinking", "redacted_thinking"):
            budget = wished if isinstance(wished, int) else _BUDGETS.get(wished, _BUDGETS["medium"])
            words = body["max_tokens"]
            assert isinstance(words, int)
            total = words + max(_LEAST_BUDGET, budget)  # thoughts count: the room for words stays
            body["max_tokens"] = total = min(total, rule.get("most_tokens", total))
            budget = max(_LEAST_BUDGET, min(budget, total - _LEAST_BUDGET))
            body["thinking"] = {"type": "enabled", "budget_tokens": budget}
    elif wished is not None:
        body["thinking"] = {"type": "adaptive"}
        level = wished
        if isinstance(wished, int):
            level = next((level for level, budget in _BUDGETS.items() if wished <= budget), "high")
        if level != "adaptive":
            body["output_config"] = {"effort": level}


def _mark_cache(body: Dict, turns: list[Sent]) -> None:
    """Mark where the prompt may be taken from the cache: tools, system, the last turns and what the caller marked.

    Only where something may follow: a single question without tools is never asked again.
    """
    tools = body.get("tools")
    if not tools and len(turns) < 2:
        return
    asked = [turn["content"][-1] for turn in turns if turn["role"] == "user"]
    wished = [block for turn in turns for block in turn["content"] if block.get("cache")]
    marked = [held[-1] for held in (tools, body.get("system")) if isinstance(held, list) and held]
    for block in [*asked[-1:], *wished[::-1], *asked[-2:-1]]:
        if len(marked) < CACHE_MARKS and not any(block is one for one in marked):
            marked.append(block)
    for block in marked:
        block["cache_control"] = {"type": "ephemeral"}


# The answer

_STOP_REASONS = {
    **{reason: reason for reason in ("end_turn", "stop_sequence", "tool_use", "max_tokens", "refusal")},
    "model_context_window_exceeded": "max_tokens",
    "pause_turn": "pause",
}

# The statuses of its errors: those in the middle of a stream come without one.
_STATUS = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "conflict_error": 409, "request_too_large": 413, "rate_limit_error": 429,
    "api_error": 500, "timeout_error": 504, "overloaded_error": 529,
}  # fmt: skip


class Decoder(decoding.Decoder):
    """Decode a message of the Messages API."""

    def __init__(self, status: int, headers: dict[str, str], options: Options):
        super().__init__(status, headers, options)
        self._usage: Dict = {}
        self._block: Dict = {}  # the one that is open
        self._pieces: list[str] = []  # of its arguments or its signature
        self._explanation = ""

    def on_piece(self, piece: Dict, event: str) -> list[Event]:
        kind = piece.get("type")
        error = piece.get("error")
        if kind == "error" or event == "error" or error:
            if isinstance(error, dict) and "code" not in error and error.get("type") in _STATUS:
                piece = {**piece, "error": {**error, "code": _STATUS[error["type"]]}}
            return self.reported(piece)
        if kind == "message_start":
            self._begin(wire.part(piece, "message"))
        elif kind == "content_block_start":
            return self._open(wire.part(piece, "content_block"))
        elif kind == "content_block_delta":
            delta = wire.part(piece, "delta")
            kind = delta.get("type")
            if kind == "input_json_delta":
                self._pieces.append(wire.words(delta.get("partial_json")))
            elif kind == "signature_delta" and isinstance(delta.get("signature"), str):
                self._pieces = [str(delta["signature"])]  # whole each time
            elif kind in ("text_delta", "thinking_delta"):
                name = str(kind).removesuffix("_delta")
                return self._piece(name, delta.get(name))
        elif kind == "content_block_stop":
            return self._shut()
        elif kind == "message_delta":
            self._stop(wire.part(piece, "delta"))
            self._count(wire.part(piece, "usage"))
        elif kind == "message_stop":
            return self.finish() if self.is_started else self.nothing()
        return []

    def on_whole(self, answer: Dict) -> list[Event]:
        if not isinstance(answer.get("content"), list):
            return self.bad_answer("it holds no content")
        self._begin(answer)
        out = [event for block in wire.parts(answer["content"]) for event in self._open(block)]
        self._stop(answer)
        return out

    def finish(self) -> list[Event]:
        out = self._shut()
        if self.stop_reason == "refusal":
            out += self.declined(self._explanation or f"({self.label} declined to answer.)")
        return [*out, *super().finish()]

    # The message

    def _begin(self, message: Dict) -> None:
        self.is_started = True
        self.model = str(message.get("model") or self.model)
        self.seed = str(message.get("id") or self.seed)
        self._count(wire.part(message, "usage"))

    def _stop(self, delta: Dict) -> None:
        self.stopped(delta.get("stop_reason"), _STOP_REASONS)
        explanation = wire.part(delta, "stop_details").get("explanation")
        self._explanation = wire.words(explanation) or self._explanation

    def _count(self, usage: Dict) -> None:
        """Take counts; later ones replace earlier ones, what is missing stays."""
        self._usage.update({name: value for name, value in usage.items() if value is not None})
        parts = [self._usage.get(f"{name}input_tokens") for name in ("", "cache_read_", "cache_creation_")]
        self.counts = {
            "input_tokens": events.total(*parts),
            "output_tokens": self._usage.get("output_tokens"),
            "cache_read_input_tokens": parts[1],
            "cache_creation_input_tokens": parts[2],
            "reasoning_tokens": wire.part(self._usage, "output_tokens_details").get("thinking_tokens"),
        }

    # Its blocks

    def _open(self, block: Dict) -> list[Event]:
        out = self._shut()
        self.is_started, self._block = True, block
        kind = block.get("type")
        return out + self._piece(kind, block.get("text" if kind == "text" else "thinking"))

    def _piece(self, kind: object, text: object) -> list[Event]:
        self.has_text = self.has_text or (kind == "text" and bool(wire.words(text)))
        return events.text("delta" if kind == "text" else "thinking", text) if kind in ("text", "thinking") else []

    def _shut(self) -> list[Event]:
        """End the open block; return what goes back."""
        block, joined = self._block, "".join(self._pieces)
        self._block, self._pieces = {}, []
        kind = block.get("type")
        if kind == "tool_use":
            arguments = joined if joined.strip() else block.get("input") or joined
            call = {"id": block.get("id"), "function": {"name": block.get("name"), "arguments": arguments}}
            self.calls.add(call, whole=True)
        elif kind == "thinking":
            signature = joined or block.get("signature")
            return events.echo(self.owner, {"signature": signature}) if signature else []
        elif kind == "redacted_thinking":
            return events.echo(self.owner, {"redacted": block.get("data")})
        elif kind in ("server_tool_use", "web_search_tool_result"):  # as it was asked, or found
            if joined.strip():
                try:
                    block = {**block, "input": jsonl.loads(joined, max_bytes=TOTAL_BYTES)}
                except SchemaError:
                    return []  # cut in the middle of its arguments: it was never run
            return events.echo(self.owner, {"block": block})
        return []
