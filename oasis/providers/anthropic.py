"""Anthropic's Messages API: the system text apart from the messages, results in the user's turn, signed thoughts back.

Pure translation, see the package's contract. What models differ in stands in profiles.json. A whole answer is read as
the stream it could have been. Signatures, redacted thoughts and what a hosted tool did go along as what the service
wants back. Unknown kinds of events, blocks and pieces are skipped: the API adds some within a version.
Source: Anthropic API reference, "Messages", "Streaming Messages", "Tool use", "Prompt caching", "Extended thinking".
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.core.framing import TOTAL_BYTES
from oasis.errors import SchemaError, SettingsError
from oasis.providers import decoding, events, gate, schemas, wire
from oasis.providers.decoding import Calls
from oasis.providers.wire import Dict, Options, Request

VERSION = "2023-06-01"
MAX_TOKENS = 8192  # for a model that the profile says nothing about
CACHE_MARKS = 4  # more are refused
SEARCHES = 3  # in one answer: what was found goes back with every later question

_FILES = ("text", "image", "pdf")
_EMPTY = "(nothing)"  # a result without a word is refused

# Tokens of a level for models that want a number, and the level of a number for those that want a level.
_BUDGETS = {"low": 2048, "medium": 8192, "high": 16384}
_LEAST_BUDGET = 1024


def build_request(messages: list[Dict], tools: list[Dict], options: Options) -> Request:
    """Return the HTTP request of one turn.

    Raises: SchemaError for a tool whose schema is no object, SettingsError for a bad base_url, a missing model, or a
    search that the model does not offer, UsageError for a file that it cannot read.
    """
    rule = wire.rule_of(options)
    chat = _prepared(wire.checked(messages, _FILES, wire.label_of(options), in_results=_FILES))
    system = [gate.text_of(message) for message in chat if message["role"] == "system"]
    body: Dict = {
        "model": wire.model_of(options),
        "max_tokens": options.get("max_tokens") or rule.get("max_tokens") or MAX_TOKENS,
        "messages": _Messages(options).all([message for message in chat if message["role"] != "system"]),
        "stream": bool(options.get("stream")),
    }
    if system:
        body["system"] = [{"type": "text", "text": system[0]}]
    _add_tools(body, chat, tools, options, rule)
    _add_thinking(body, chat, options, rule)
    temperature = options.get("temperature")
    if isinstance(temperature, (int, float)) and rule.get("temperature", True) and not _is_thinking(body):
        body["temperature"] = min(temperature, 1)
    if options.get("cache") is not False:
        _mark_cache(body)
    return _with_version(wire.post(options, _url(options, "/messages"), _unmarked(body), _auth(options)))


def models_request(options: Options) -> Request:
    """Return the request for the list of models."""
    return _with_version(wire.get(options, _url(options, "/models?limit=1000"), _auth(options)))


def models_read(status: int, headers: dict[str, str], body: bytes, options: Options) -> list[Dict]:
    """Return the models: {"id", "context_tokens"?}.

    Raises: ProviderError with the kind of failure.
    """
    return [_model(entry) for entry in wire.models_of(status, headers, body, options, "data", "id")]


def _model(entry: Dict) -> Dict:
    model: Dict = {"id": events.clean(str(entry["id"]))}
    room = events.count(entry.get("max_input_tokens"))
    if room is not None:
        model["context_tokens"] = room
    return model


# Address and headers


def _url(options: Options, path: str) -> str:
    base = wire.base_url_of(options)
    for tail in ("/messages", "/v1"):  # as other programs write it down
        base = base[: -len(tail)] if base.endswith(tail) else base
    return f"{base}/v1{path}"


def _auth(options: Options) -> dict[str, str]:
    return {"x-api-key": str(options.get("key") or "")}


def _with_version(request: Request) -> Request:
    headers = request["headers"]
    assert isinstance(headers, dict)
    return {**request, "headers": {"anthropic-version": VERSION, **headers}}


# Messages


def _prepared(messages: list[Dict]) -> list[gate.Message]:
    """Return the conversation as this API takes it: turns alternate, the user's is the last.

    An answer that was refused would be refused again; one that paused is sent as the last to be gone on with.
    """
    kept = [_marked(message) for message in messages if message.get("stop_reason") != "refusal"]
    is_paused = bool(kept) and kept[-1].get("stop_reason") == "pause"
    return gate.prepare(kept, gate.merge_system_first, alternate=True, drop_empty=True, end_with_user=not is_paused)


def _marked(message: Dict) -> Dict:
    """Return a message without blank texts, its wish to be cached on its last block."""
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    kept = [block for block in (blocks if isinstance(blocks, list) else []) if not _is_blank(block)]
    if message.get("cache") is True and kept and isinstance(kept[-1], dict):
        kept[-1] = {**kept[-1], "cache": True}
    return {**message, "content": kept}


def _is_blank(block: object) -> bool:
    if not isinstance(block, dict) or block.get("type") != "text":
        return False
    return isinstance(block.get("text"), str) and not block["text"].strip()


class _Messages:
    """Turns prepared messages into those of the API, call ids in legal characters."""

    def __init__(self, options: Options):
        self._profile = wire.profile_of(options)
        self._may_search = bool(options.get("search"))
        self._ids = wire.Names([])

    def all(self, chat: list[gate.Message]) -> list[Dict]:
        out: list[Dict] = []
        for message in chat:
            role = "assistant" if message["role"] == "assistant" else "user"
            content = message["content"]
            assert isinstance(content, list)
            blocks = [new for block in content for new in self._block(block)]
            last = out[-1]["content"] if out and out[-1]["role"] == role else None
            if isinstance(last, list):  # results and the user's words after them are one turn
                last.extend(blocks)
            elif blocks:
                out.append({"role": role, "content": blocks})
        for message in out[:-1]:  # the last one may be a pause: its search is still to be run
            message["content"] = _searched(message["content"])
        return out

    def _block(self, block: gate.Block) -> list[Dict]:
        kind = block["type"]
        mark: Dict = {"cache": True} if block.get("cache") is True else {}
        if kind == "text":
            return [{"type": "text", "text": block["text"], **mark}]
        if kind == "thinking":
            return self._thought(block)
        if kind in ("image", "document"):
            return [{**_file(block), **mark}]
        if kind == "tool_use":
            ident = self._ids.legal(str(block["id"]))
            return [{"type": kind, "id": ident, "name": wire.legal(str(block["name"])), "input": block["input"]}]
        return [{**self._result(block), **mark}] if kind == "tool_result" else []

    def _thought(self, block: gate.Block) -> list[Dict]:
        """Return what this service made itself, as it came; thoughts of others are left out."""
        kept = wire.metadata_of(block, self._profile)
        hosted = kept.get("block")
        if isinstance(hosted, dict):  # of a search; it may not go back without the tool
            return [dict(hosted)] if self._may_search else []
        if kept.get("redacted"):
            return [{"type": "redacted_thinking", "data": kept["redacted"]}]
        if kept.get("signature"):
            return [{"type": "thinking", "thinking": block["text"], "signature": kept["signature"]}]
        return []

    def _result(self, block: gate.Block) -> Dict:
        parts = block["content"]
        assert isinstance(parts, list)
        content = [_part(part) for part in parts if not _is_blank(part)] or [{"type": "text", "text": _EMPTY}]
        ident = self._ids.legal(str(block["tool_use_id"]))
        result: Dict = {"type": "tool_result", "tool_use_id": ident, "content": content}
        return {**result, "is_error": True} if block.get("is_error") else result


def _searched(content: object) -> list[Dict]:
    """Return blocks without searches that have no answer, and answers without a search."""
    assert isinstance(content, list)
    asked = {block["id"] for block in content if block["type"] == "server_tool_use" and "id" in block}
    answered = {block.get("tool_use_id") for block in content if block["type"] == "web_search_tool_result"}
    both = asked & answered
    return [
        block
        for block in content
        if block["type"] not in ("server_tool_use", "web_search_tool_result")
        or block.get("id", block.get("tool_use_id")) in both
    ]


def _part(part: gate.Block) -> Dict:
    return {"type": "text", "text": part["text"]} if part["type"] == "text" else _file(part)


def _file(block: gate.Block) -> Dict:
    """Return an image or document in the API's form."""
    kind = wire.kind_of(block)
    if kind == "text":
        return {"type": "text", "text": wire.text_of(block).strip() or _EMPTY}
    source = {"type": "base64", "media_type": wire.media_type_of(block), "data": wire.data_of(block)}
    return {"type": "document" if kind == "pdf" else "image", "source": source}


# Tools


def _add_tools(body: Dict, chat: list[gate.Message], tools: list[Dict], options: Options, rule: Dict) -> None:
    declared = [_tool(tool) for tool in tools] or [_tool({"name": name}) for name in _called(chat)]
    choice = _choice(options.get("tool_choice"), rule) if tools else {"type": "none"}
    if options.get("search"):
        if not rule.get("search"):
            raise SettingsError(
                f"search is not offered by {wire.model_of(options)} of {wire.label_of(options)}",
                "choose another model for this chat, or switch its search off",
            )
        declared.append({"type": "web_search_20250305", "name": "web_search", "max_uses": SEARCHES})
        choice = choice if tools else None
    if declared:
        body["tools"] = declared
        if choice:
            body["tool_choice"] = choice


def _called(chat: list[gate.Message]) -> list[str]:
    """Return the names of all tools called so far: the API wants to know them, also when none is offered."""
    return list(
        dict.fromkeys([str(block["name"]) for message in chat for block in gate.blocks_of(message, "tool_use")])
    )


def _tool(tool: Dict) -> Dict:
    described = {"description": tool["description"]} if tool.get("description") else {}
    return {"name": wire.legal(str(tool["name"])), **described, "input_schema": schemas.of_tool(tool, "plain")}


def _choice(choice: object, rule: Dict) -> Dict | None:
    """Return the field for auto, none, required or {"name": tool}; None leaves it out."""
    if choice in ("auto", "none"):
        return {"type": choice}
    if not choice or not rule.get("forced", True):
        return {"type": "auto"} if choice else None
    return {"type": "tool", "name": wire.legal(str(choice["name"]))} if isinstance(choice, dict) else {"type": "any"}


# Thinking


def _add_thinking(body: Dict, chat: list[gate.Message], options: Options, rule: Dict) -> None:
    """Say how much to think, in the words of this model; a forced call and thinking exclude each other."""
    wished, how = options.get("thinking"), rule.get("thinking", "budget")
    choice = body.get("tool_choice")
    is_forced = isinstance(choice, dict) and choice["type"] in ("any", "tool")
    if how == "none" or (how == "always" and wished in (None, "off")):
        return
    if is_forced or wished == "off":
        if how == "adaptive":
            body["thinking"] = {"type": "disabled"}
    elif wished is not None and how == "budget":
        if not _lacks_thought(body):
            _add_budget(body, wished, rule)
    elif wished is not None:
        body["thinking"] = {"type": "adaptive"}
        if _level(wished):
            body["output_config"] = {"effort": _level(wished)}


def _add_budget(body: Dict, wished: object, rule: Dict) -> None:
    budget = wished if isinstance(wished, int) else _BUDGETS.get(str(wished), _BUDGETS["medium"])
    words, most = body["max_tokens"], rule.get("most_tokens")
    assert isinstance(words, int)
    total = words + max(_LEAST_BUDGET, budget)  # thoughts count: the room for words stays
    total = min(total, most) if isinstance(most, int) else total
    body["max_tokens"] = total
    body["thinking"] = {"type": "enabled", "budget_tokens": max(_LEAST_BUDGET, min(budget, total - _LEAST_BUDGET))}


def _level(wished: object) -> str:
    if isinstance(wished, int):
        return next((level for level, budget in _BUDGETS.items() if wished <= budget), "high")
    return "" if wished == "adaptive" else str(wished)


def _lacks_thought(body: Dict) -> bool:
    """Tell whether a running tool loop began without thinking: these models cannot begin in its middle."""
    messages = body["messages"]
    assert isinstance(messages, list)
    if len(messages) < 2 or messages[-1]["content"][0]["type"] != "tool_result":
        return False
    return messages[-2]["content"][0]["type"] not in ("thinking", "redacted_thinking")


def _is_thinking(body: Dict) -> bool:
    thinking = body.get("thinking")
    return isinstance(thinking, dict) and thinking["type"] != "disabled"


# Prompt cache


def _mark_cache(body: Dict) -> None:
    """Mark where the prompt may be taken from the cache: tools, system, the last turns and what the caller marked.

    Only where something may follow: a single question without tools is never asked again.
    """
    messages, tools, system = body["messages"], body.get("tools"), body.get("system")
    assert isinstance(messages, list)
    if not tools and len(messages) < 2:
        return
    said = [message["content"][-1] for message in messages if message["role"] == "user"]
    wished = [block for message in messages for block in message["content"] if block.get("cache")]
    marked = [held[-1] for held in (tools, system) if isinstance(held, list) and held]
    for block in [*said[-1:], *wished[::-1], *said[-2:-1]]:
        if len(marked) < CACHE_MARKS and not any(block is one for one in marked):
            marked.append(block)
    for block in marked:
        block["cache_control"] = {"type": "ephemeral"}


def _unmarked(body: Dict) -> Dict:
    """Return the body without the callers' marks."""
    messages = body["messages"]
    assert isinstance(messages, list)
    for message in messages:
        for block in message["content"]:
            block.pop("cache", None)
    return body


# The answer

_STOP_REASONS = {
    "end_turn": "end_turn",
    "stop_sequence": "stop_sequence",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "pause_turn": "pause",
    "refusal": "refusal",
}

# The statuses of its errors: those in the middle of a stream come without one.
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class Decoder(decoding.Decoder):
    """Decode a message of the Messages API."""

    def __init__(self, status: int, headers: dict[str, str], options: dict[str, object]):
        super().__init__(status, headers, options)
        self._owner = str(self.profile.get("id") or "")
        self._usage: Dict = {}
        self._block: Dict = {}  # the one that is open
        self._pieces: list[str] = []  # of its arguments or its signature
        self._has_text = False
        self._explanation = ""

    def on_piece(self, piece: Dict, event: str) -> list[events.Event]:
        kind = piece.get("type")
        if kind == "error" or event == "error" or piece.get("error"):
            return self._failed(piece)
        if kind == "message_start":
            self._begin(_object(piece, "message"))
        elif kind == "content_block_start":
            return self._open(_object(piece, "content_block"))
        elif kind == "content_block_delta":
            return self._more(_object(piece, "delta"))
        elif kind == "content_block_stop":
            return self._shut()
        elif kind == "message_delta":
            self._stop(_object(piece, "delta"))
            self._count(piece.get("usage"))
        elif kind == "message_stop":
            return self.finish() if self.is_started else self.nothing()
        return []

    def on_whole(self, answer: Dict) -> list[events.Event]:
        content = answer.get("content")
        if not isinstance(content, list):
            return self.bad_answer("it holds no content")
        self._begin(answer)
        out: list[events.Event] = []
        for block in content:
            out.extend(self._open(block) if isinstance(block, dict) else [])
        self._stop(answer)
        return out

    def finish(self) -> list[events.Event]:
        out = self._shut()
        if self.stop_reason == "refusal":
            self.calls = Calls()  # of an answer that was taken back
            if not self._has_text:
                out.append(events.delta(self._explanation or f"({self.label} declined to answer.)"))
        return [*out, *super().finish()]

    # The message

    def _begin(self, message: Dict) -> None:
        self.is_started = True
        self.model = str(message.get("model") or self.model)
        self.seed = str(message.get("id") or self.seed)
        self._count(message.get("usage"))

    def _stop(self, delta: Dict) -> None:
        reason, details = delta.get("stop_reason"), _object(delta, "stop_details")
        if isinstance(reason, str) and reason:
            self.stop_reason = _STOP_REASONS.get(reason, "other")
        if isinstance(details.get("explanation"), str):
            self._explanation = str(details["explanation"])

    def _failed(self, piece: Dict) -> list[events.Event]:
        error = piece.get("error")
        if isinstance(error, dict) and "code" not in error and error.get("type") in _STATUS:
            piece = {**piece, "error": {**error, "code": _STATUS[str(error["type"])]}}
        return self.reported(piece)

    def _count(self, usage: object) -> None:
        """Take counts; later ones replace earlier ones, what is missing stays."""
        given = usage if isinstance(usage, dict) else {}
        self._usage.update({name: value for name, value in given.items() if value is not None})
        parts = [self._usage.get(f"{name}input_tokens") for name in ("", "cache_read_", "cache_creation_")]
        numbers = [part for part in parts if isinstance(part, int)]
        self.counts = {
            "input_tokens": sum(numbers) if numbers else None,
            "output_tokens": self._usage.get("output_tokens"),
            "cache_read_input_tokens": parts[1],
            "cache_creation_input_tokens": parts[2],
            "reasoning_tokens": _object(self._usage, "output_tokens_details").get("thinking_tokens"),
        }

    # Its blocks

    def _open(self, block: Dict) -> list[events.Event]:
        out = self._shut()
        self.is_started, self._block = True, block
        kind = block.get("type")
        return out + self._said(kind, block.get("text") if kind == "text" else block.get("thinking"))

    def _more(self, delta: Dict) -> list[events.Event]:
        kind = delta.get("type")
        if kind == "input_json_delta" and isinstance(delta.get("partial_json"), str):
            self._pieces.append(str(delta["partial_json"]))
        if kind == "signature_delta" and isinstance(delta.get("signature"), str):
            self._pieces = [str(delta["signature"])]  # whole each time
        if kind == "text_delta":
            return self._said("text", delta.get("text"))
        return self._said("thinking", delta.get("thinking")) if kind == "thinking_delta" else []

    def _said(self, kind: object, text: object) -> list[events.Event]:
        if not isinstance(text, str) or not text or kind not in ("text", "thinking"):
            return []
        self._has_text = self._has_text or kind == "text"
        return [events.delta(text) if kind == "text" else events.thinking(text)]

    def _shut(self) -> list[events.Event]:
        """End the open block; return what goes back."""
        block, joined = self._block, "".join(self._pieces)
        self._block, self._pieces = {}, []
        kind = block.get("type")
        if kind == "tool_use":
            given = block.get("input")
            arguments = joined if joined.strip() or not given else given
            call = {"id": block.get("id"), "function": {"name": block.get("name"), "arguments": arguments}}
            self.calls.add(call, whole=True)
        elif kind == "thinking":
            signature = joined or block.get("signature")
            return events.echo(self._owner, {"signature": signature}) if signature else []
        elif kind == "redacted_thinking":
            return events.echo(self._owner, {"redacted": block.get("data")})
        elif kind in ("server_tool_use", "web_search_tool_result"):
            return self._hosted(block, joined)
        return []

    def _hosted(self, block: Dict, joined: str) -> list[events.Event]:
        """Return what a hosted tool was asked, or found, to go back as it came."""
        if joined.strip():
            try:
                block = {**block, "input": jsonl.loads(joined, max_bytes=TOTAL_BYTES)}
            except SchemaError:
                return []  # cut in the middle of its arguments: it was never run
        return events.echo(self._owner, {"block": block})


def _object(value: Dict, name: str) -> Dict:
    part = value.get(name)
    return part if isinstance(part, dict) else {}
