"""Google's Gemini API, generateContent: parts, results in the order of their calls, signatures back in their parts.

Pure translation, see the package's contract. What models differ in stands in
profiles.json. Source: Gemini API reference, "Generating content", "Function calling", "Thought signatures",
"Embeddings"; Google's discovery document of generativelanguage v1beta.
"""

from __future__ import annotations

import urllib.parse

from oasis.errors import SettingsError
from oasis.providers import decoding, events, faults, gate, schemas, wire
from oasis.providers.decoding import Calls
from oasis.providers.wire import Dict, Options, Request

# What the API says to send with a call that none of its models made.
FOREIGN = "skip_thought_signature_validator"

_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
_BUDGETS = {"low": 1024, "medium": 8192, "high": 24576}
_FILES = ("text", "image", "pdf")
TEXTS = 100  # to embed at once


def build_request(messages: list[Dict], tools: list[Dict], options: Options) -> Request:
    """Return the HTTP request of one turn.

    Raises: SchemaError for a tool whose schema is no object, SettingsError for a bad base_url, a missing model, or a
    search that the model does not offer (with tools), UsageError for a file that it cannot read.
    """
    rule = wire.rule_of(options)
    checked = wire.checked(messages, _FILES, wire.label_of(options), in_results=_FILES)
    chat = gate.prepare(checked, gate.merge_system_first, alternate=True, drop_empty=True, end_with_user=True)
    system = [gate.text_of(message) for message in chat if message["role"] == "system"]
    body: Dict = {"contents": _Contents(options).all([message for message in chat if message["role"] != "system"])}
    if system:
        body["systemInstruction"] = {"parts": [{"text": system[0]}]}
    _add_tools(body, tools, options, rule)
    settings = _settings(options, rule)
    if settings:
        body["generationConfig"] = settings
    method = "streamGenerateContent?alt=sse" if options.get("stream") else "generateContent"
    return wire.post(options, f"{_url(options)}/{_model_path(options)}:{method}", body, _auth(options))


def models_request(options: Options) -> Request:
    """Return the request for the list of models."""
    return wire.get(options, _url(options) + "/models?pageSize=1000", _auth(options))


def models_read(status: int, headers: dict[str, str], body: bytes, options: Options) -> list[Dict]:
    """Return the models that can chat: {"id", "context_tokens"?}.

    Raises: ProviderError with the kind of failure.
    """
    listed = wire.models_of(status, headers, body, options, "models", "name")
    return [_model(entry) for entry in listed if _can_chat(entry)]


def embed_request(texts: list[str], options: Options) -> Request:
    """Return the request for the vectors of some texts; options["dimensions"] asks for shorter ones.

    Raises: UsageError for texts that cannot be sent, SettingsError for a bad base_url or missing model.
    """
    path = _model_path(options)
    wanted = {"outputDimensionality": options["dimensions"]} if options.get("dimensions") else {}
    asked = [
        {"model": path, "content": {"parts": [{"text": text}]}, **wanted} for text in wire.asked(texts, TEXTS, options)
    ]
    return wire.post(options, f"{_url(options)}/{path}:batchEmbedContents", {"requests": asked}, _auth(options))


def embed_read(status: int, headers: dict[str, str], body: bytes, options: Options) -> wire.Made:
    """Return one vector for each text, in their order, and the tokens where the model reports them.

    Raises: ProviderError with the kind of failure.
    """
    answer = wire.answer_of(status, headers, body, options)
    listed = answer.get("embeddings") if isinstance(answer, dict) else None
    found = [one.get("values") if isinstance(one, dict) else None for one in listed] if isinstance(listed, list) else []
    usage = wire.part(answer, "usageMetadata")
    return wire.read(found, options), {"input_tokens": usage.get("promptTokenCount", usage.get("totalTokenCount"))}


def _can_chat(entry: Dict) -> bool:
    methods = entry.get("supportedGenerationMethods")
    return not isinstance(methods, list) or "generateContent" in methods


def _model(entry: Dict) -> Dict:
    model: Dict = {"id": events.clean(str(entry["name"])).removeprefix("models/")}
    room = events.count(entry.get("inputTokenLimit"))
    if room is not None:
        model["context_tokens"] = room
    return model


# Address and key


def _url(options: Options) -> str:
    base = wire.base_url_of(options)
    for tail in ("/openai", "/models"):  # the address of its imitation of OpenAI, or of its own pages
        base = base[: -len(tail)] if base.endswith(tail) else base
    host, _, last = base.rpartition("/")
    has_version = not host.endswith("/") and last[:1] == "v" and last[1:2].isdigit()
    return base if has_version else base + "/v1beta"


def _model_path(options: Options) -> str:
    model = wire.model_of(options)
    return urllib.parse.quote(model if "/" in model else f"models/{model}", safe="/-._~")


def _auth(options: Options) -> dict[str, str]:
    return {"x-goog-api-key": str(options.get("key") or "")}


# Messages


class _Contents:
    """Turns prepared messages into contents."""

    def __init__(self, options: Options):
        self._profile = wire.profile_of(options)
        self._rule = wire.rule_of(options)
        self._calls: dict[object, tuple[str, object]] = {}  # call id -> its name and the service's own id

    def all(self, chat: list[gate.Message]) -> list[Dict]:
        out: list[Dict] = []
        for message in chat:
            content = message["content"]
            assert isinstance(content, list)
            if message["role"] == "tool":
                out.append({"role": "user", "parts": [self._result(block) for block in content]})
                files = [_file(part) for block in content for part in block["content"] if part["type"] != "text"]
                out.extend([{"role": "user", "parts": files}] if files else [])
                continue
            parts = self._said(content) if message["role"] == "assistant" else [_asked(block) for block in content]
            if parts:
                out.append({"role": "model" if message["role"] == "assistant" else "user", "parts": parts})
        return out

    def _said(self, content: list[gate.Block]) -> list[Dict]:
        parts: list[Dict] = []
        is_first = True
        for block in content:
            if block["type"] == "text":
                parts.append({"text": block["text"]})
            elif block["type"] == "thinking":
                self._thought(parts, wire.metadata_of(block, self._profile), str(block["text"]))
            elif block["type"] == "tool_use":
                parts.append(self._call(block, is_first))
                is_first = False
        return parts

    def _thought(self, parts: list[Dict], kept: Dict, text: str) -> None:
        """Add what this service made itself; a signature goes to the end of the text it came with."""
        hosted = kept.get("part")
        if isinstance(hosted, dict):
            parts.append(dict(hosted))
        elif "text_chars" in kept:
            _sign(parts, kept["text_chars"], kept.get("signature"))
        elif kept.get("signature"):
            parts.append({"text": text, "thought": True, "thoughtSignature": kept["signature"]})

    def _call(self, block: gate.Block, is_first: bool) -> Dict:
        extra = wire.metadata_of(block, self._profile).get("extra_content")
        own = extra.get("google") if isinstance(extra, dict) else None
        own = own if isinstance(own, dict) else {}
        name = wire.legal(str(block["name"]))
        self._calls[block["id"]] = (name, own.get("id"))
        call: Dict = {"name": name, "args": block["input"], **({"id": own["id"]} if own.get("id") else {})}
        signature = own.get("thought_signature") or (FOREIGN if is_first and self._rule.get("signed", True) else None)
        return {"functionCall": call, **({"thoughtSignature": signature} if signature else {})}

    def _result(self, block: gate.Block) -> Dict:
        name, ident = self._calls[block["tool_use_id"]]
        said = {"error" if block.get("is_error") else "result": gate.text_of(block)}
        return {"functionResponse": {"name": name, "response": said, **({"id": ident} if ident else {})}}


def _sign(parts: list[Dict], count: object, signature: object) -> None:
    """Give the last `count` characters of the last text a part of their own with the signature."""
    last = parts[-1] if parts else {}
    text = last.get("text")
    if count and isinstance(count, int) and isinstance(text, str) and len(text) >= count and list(last) == ["text"]:
        parts.pop()
        parts.extend([{"text": text[:-count]}] if len(text) > count else [])
        parts.append({"text": text[-count:], "thoughtSignature": signature})
    else:
        parts.append({"text": "", "thoughtSignature": signature})


def _asked(block: gate.Block) -> Dict:
    return {"text": block["text"]} if block["type"] == "text" else _file(block)


def _file(block: gate.Block) -> Dict:
    """Return an image or document in the API's form."""
    if wire.kind_of(block) == "text":
        return {"text": wire.text_of(block)}
    return {"inlineData": {"mimeType": wire.media_type_of(block), "data": wire.data_of(block)}}


# Tools and settings


def _add_tools(body: Dict, tools: list[Dict], options: Options, rule: Dict) -> None:
    declared: list[Dict] = [{"functionDeclarations": [_tool(tool) for tool in tools]}] if tools else []
    config: Dict = {}
    choice = _choice(options.get("tool_choice"))
    if tools and choice:
        config["functionCallingConfig"] = choice
    if options.get("search"):
        _refuse_search(options, rule, bool(tools))
        declared.append({"googleSearch": {}})
        if tools:
            config["includeServerSideToolInvocations"] = True
    if declared:
        body["tools"] = declared
    if config:
        body["toolConfig"] = config


def _refuse_search(options: Options, rule: Dict, has_tools: bool) -> None:
    offered = rule.get("search", True)
    if offered is True or (offered == "alone" and not has_tools):
        return
    how = "together with tools" if offered == "alone" else "at all"
    raise SettingsError(
        f"search is not offered {how} by {wire.model_of(options)} of {wire.label_of(options)}",
        "choose a Gemini 3 model for this chat, or switch its search off",
    )


def _tool(tool: Dict) -> Dict:
    schema = schemas.of_tool(tool, "gemini")
    # An object without properties was refused by older models.
    parameters: Dict = {"parameters": schema} if schema.get("properties") else {}
    return {"name": wire.legal(str(tool["name"])), "description": tool.get("description") or "", **parameters}


def _choice(choice: object) -> Dict | None:
    """Return the field for auto, none, required or {"name": tool}; None leaves it out."""
    if isinstance(choice, dict):
        return {"mode": "ANY", "allowedFunctionNames": [wire.legal(str(choice["name"]))]}
    return {"mode": _MODES[str(choice)]} if choice in _MODES else None


def _settings(options: Options, rule: Dict) -> Dict:
    given = {
        "maxOutputTokens": options.get("max_tokens"),
        "temperature": options.get("temperature"),
        "thinkingConfig": _thinking(options.get("thinking"), rule),
    }
    return {name: value for name, value in given.items() if value is not None}


def _thinking(wished: object, rule: Dict) -> Dict | None:
    """Return how much to think, in the words of this model; None leaves it to the model."""
    how = rule.get("thinking", "level")
    if wished is None or how == "none":
        return None
    if wished == "off":
        return (
            {"thinkingLevel": rule.get("least", "LOW")} if how == "level" else {"thinkingBudget": rule.get("least", 0)}
        )
    if how == "budget":
        budget = min(wished, _BUDGETS["high"]) if isinstance(wished, int) else _BUDGETS.get(str(wished), -1)
        return {"thinkingBudget": budget, "includeThoughts": True}
    if wished == "adaptive":
        return {"includeThoughts": True}
    return {"thinkingLevel": _level(wished, rule), "includeThoughts": True}


def _level(wished: object, rule: Dict) -> str:
    if isinstance(wished, int):
        wished = next((level for level, budget in _BUDGETS.items() if wished <= budget), "high")
    level = str(wished).upper()
    levels = rule.get("levels")
    return level if not isinstance(levels, list) or level in levels else str(levels[-1])


# The answer
#
# A stream is whole answers, each with what is new; it has no end mark, so the last one names the reason it stopped.
# Signatures go back with the very part they came in, so they are kept with it: with a call, or as an empty thought
# behind a text, which says how many characters of it were signed. Source: "GenerateContentResponse".

_STOP_REASONS = {
    "STOP": "end_turn",
    "MAX_TOKENS": "max_tokens",
    "SAFETY": "refusal",
    "RECITATION": "refusal",
    "BLOCKLIST": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "SPII": "refusal",
    "IMAGE_SAFETY": "refusal",
    "IMAGE_PROHIBITED_CONTENT": "refusal",
    "IMAGE_RECITATION": "refusal",
    "MODEL_ARMOR": "refusal",
    "MALFORMED_FUNCTION_CALL": "error",
    "UNEXPECTED_TOOL_CALL": "error",
    "TOO_MANY_TOOL_CALLS": "error",
    "MALFORMED_RESPONSE": "error",
}

# Parts that a hosted tool made; they go back as they came.
_HOSTED = ("toolCall", "toolResponse", "executableCode", "codeExecutionResult")


class Decoder(decoding.Decoder):
    """Decode one or many GenerateContentResponse."""

    def __init__(self, status: int, headers: dict[str, str], options: dict[str, object]):
        super().__init__(status, headers, options)
        self._owner = str(self.profile.get("id") or "")
        self.calls = Calls(self._owner)
        self._has_text = False
        self._is_partial = False
        self._reason = ""  # in the service's own words
        self._words = ""

    def on_done(self) -> list[events.Event]:
        return []  # of gateways: the last answer says that it is the last

    def on_piece(self, piece: Dict, event: str) -> list[events.Event]:
        return self.reported(piece) if piece.get("error") or event == "error" else self._answer(piece)

    def on_whole(self, answer: Dict) -> list[events.Event]:
        if not isinstance(answer.get("candidates"), list) and not isinstance(answer.get("promptFeedback"), dict):
            return self.bad_answer("it holds no candidate")
        return self._answer(answer)

    def finish(self) -> list[events.Event]:
        if self._is_partial:
            message = f"{self.label} sent a tool call in pieces, which is not understood; it was not run"
            return self.fail(faults.event("bad_tool_call", message))
        if self.stop_reason == "error":
            message = f"{self.label} wrote a tool call nobody can read ({self._reason})"
            return self.fail(faults.event("bad_tool_call", message))
        out: list[events.Event] = []
        if self.stop_reason == "refusal":
            self.calls = Calls()
            if not self._has_text:
                why = self._words or self._reason
                out.append(events.delta(f"({self.label} declined to answer: {faults.scrub(why)})"))
        return [*out, *super().finish()]

    def _answer(self, answer: Dict) -> list[events.Event]:
        self.is_started = True
        self.model = str(answer.get("modelVersion") or self.model)
        self.seed = str(answer.get("responseId") or self.seed)
        self._count(answer.get("usageMetadata"))
        self._stop(_object(answer, "promptFeedback").get("blockReason"), "", "refusal")
        candidates = answer.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        if not isinstance(candidate, dict):
            return []
        parts = _object(candidate, "content").get("parts")
        out: list[events.Event] = []
        for part in parts if isinstance(parts, list) else []:
            out.extend(self._take(part) if isinstance(part, dict) else [])
        self._stop(candidate.get("finishReason"), candidate.get("finishMessage"), "other")
        return out

    def _stop(self, reason: object, words: object, unknown: str) -> None:
        if not isinstance(reason, str) or not reason or reason.endswith("_UNSPECIFIED"):
            return
        self._reason, self._words = reason, words if isinstance(words, str) else ""
        self.stop_reason = unknown if unknown == "refusal" else _STOP_REASONS.get(reason, unknown)

    def _take(self, part: Dict) -> list[events.Event]:
        signature = part.get("thoughtSignature") or part.get("thought_signature")
        if isinstance(part.get("functionCall"), dict):
            return self._call(_object(part, "functionCall"), signature)
        if any(name in part for name in _HOSTED):
            return events.echo(self._owner, {"part": part})
        text = part.get("text")
        if not isinstance(text, str):
            return []
        is_thought = part.get("thought") is True
        out = [events.thinking(text) if is_thought else events.delta(text)] if text else []
        self._has_text = self._has_text or (bool(text) and not is_thought)
        if signature:
            kept = {"signature": signature} if is_thought else {"signature": signature, "text_chars": len(text)}
            out += events.echo(self._owner, kept)
        return out

    def _call(self, call: Dict, signature: object) -> list[events.Event]:
        arguments = call.get("args")
        if call.get("willContinue") is True or "partialArgs" in call:
            self._is_partial = True  # streamed arguments are not asked for; what came is not all of them
        own: Dict = {name: value for name, value in (("thought_signature", signature), ("id", call.get("id"))) if value}
        piece: Dict = {"id": call.get("id"), "function": {"name": call.get("name"), "arguments": arguments or {}}}
        if own:
            piece["extra_content"] = {"google": own}
        self.calls.add(piece, whole=True)
        return []

    def _count(self, usage: object) -> None:
        """Take counts; each answer of a stream has those so far."""
        if not isinstance(usage, dict):
            return
        self.counts = {
            "input_tokens": _sum(usage, "promptTokenCount", "toolUsePromptTokenCount"),
            "output_tokens": _sum(usage, "candidatesTokenCount", "thoughtsTokenCount"),
            "cache_read_input_tokens": usage.get("cachedContentTokenCount"),
            "reasoning_tokens": usage.get("thoughtsTokenCount"),
        }


def _sum(usage: Dict, *names: str) -> int | None:
    numbers = [value for value in [usage.get(name) for name in names] if isinstance(value, int)]
    return sum(numbers) if numbers else None


def _object(value: Dict, name: str) -> Dict:
    part = value.get(name)
    return part if isinstance(part, dict) else {}
