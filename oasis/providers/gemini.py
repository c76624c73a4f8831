"""Google's Gemini API, generateContent: parts, results in the order of their calls, signatures back in their parts.

Pure translation, see the package's contract. What models differ in stands in profiles.json. Source: Gemini API
reference, "Generating content", "Function calling", "Thought signatures", "Embeddings"; Google's discovery document of
generativelanguage v1beta.
"""

from __future__ import annotations

import urllib.parse

from oasis.providers import decoding, events, gate, schemas, wire
from oasis.providers.decoding import Calls

if False:  # annotations only
    from oasis.providers.shapes import Block, Dict, Embedded, Event, Headers, Model, Options, Request, Rule, Tool, Turn

# What the API says to send with a call that none of its models made.
FOREIGN = "skip_thought_signature_validator"

_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
_BUDGETS = {"low": 1024, "medium": 8192, "high": 24576}
_FILES = ("text", "image", "pdf")
TEXTS = 100  # to embed at once


def build_request(messages: list[Dict], tools: list[Tool], options: Options) -> Request:
    rule = wire.rule_of(options)
    checked = wire.checked(messages, _FILES, options, _FILES)
    system, chat = gate.parted(checked, alternate=True, drop_empty=True, end_with_user=True)
    body: Dict = {"contents": _contents(chat, options)}
    wire.put(body, "systemInstruction", {"parts": [{"text": system}]} if system else None)
    _add_tools(body, tools, options, rule)
    settings: Dict = {}
    wire.put(settings, "maxOutputTokens", options.get("max_tokens"))
    wire.put(settings, "temperature", options.get("temperature"))
    wire.put(settings, "thinkingConfig", _thinking(options.get("thinking"), rule))
    wire.put(body, "generationConfig", settings or None)
    method = "streamGenerateContent?alt=sse" if options.get("stream") else "generateContent"
    return wire.post(options, f"{_url(options)}/{_model_path(options)}:{method}", body, _auth(options))


def models_request(options: Options) -> Request:
    return wire.get(options, _url(options) + "/models?pageSize=1000", _auth(options))


def models_read(answer: object, options: Options) -> list[Model]:
    """Return the models that can chat."""
    found = []
    for entry in wire.models_of(answer, "models", "name", options):
        methods = entry.get("supportedGenerationMethods")
        if not isinstance(methods, list) or "generateContent" in methods:
            found.append(wire.model(str(entry["name"]).removeprefix("models/"), entry.get("inputTokenLimit")))
    return found


def embed_request(texts: list[str], options: Options) -> Request:
    """Return the request for the vectors of some texts; options["dimensions"] asks for shorter ones."""
    path, texts = _model_path(options), wire.asked(texts, TEXTS, options)
    wanted = {"outputDimensionality": options["dimensions"]} if options.get("dimensions") else {}
    asked = [{"model": path, "content": {"parts": [{"text": text}]}, **wanted} for text in texts]
    return wire.post(options, f"{_url(options)}/{path}:batchEmbedContents", {"requests": asked}, _auth(options))


def embed_read(answer: object, options: Options) -> Embedded:
    """Return one vector for each text, in their order, and the tokens where the model reports them."""
    listed = wire.part(answer).get("embeddings")
    found = [wire.part(one).get("values") for one in listed] if isinstance(listed, list) else []
    usage = wire.part(answer, "usageMetadata")
    return wire.vectors(found, options), {"input_tokens": usage.get("promptTokenCount", usage.get("totalTokenCount"))}


def _url(options: Options) -> str:
    base = wire.base_url_of(options, "/openai", "/models")  # its imitation of OpenAI, or its own pages
    host, _, last = base.rpartition("/")
    has_version = not host.endswith("/") and last[:1] == "v" and last[1:2].isdigit()
    return base if has_version else base + "/v1beta"


def _model_path(options: Options) -> str:
    model = wire.model_of(options)
    return urllib.parse.quote(model if "/" in model else f"models/{model}", safe="/-._~")


def _auth(options: Options) -> Headers:
    return {"x-goog-api-key": options.get("key") or ""}


def _contents(chat: list[Turn], options: Options) -> list[Dict]:
    calls: dict[str, tuple[str, object]] = {}  # call id -> its name and the service's own id
    out: list[Dict] = []
    for message in chat:
        content, role = message["content"], "model" if message["role"] == "assistant" else "user"
        if message["role"] == "tool":
            results: list[Dict] = []
            for block in content:
                name, ident = calls[block["tool_use_id"]]
                response = {"error" if block.get("is_error") else "result": gate.text_of(block)}
                answer = {"name": name, "response": response, **({"id": ident} if ident else {})}
                results.append({"functionResponse": answer})
            out.append({"role": role, "parts": results})
            content = [part for block in content for part in block["content"] if part["type"] != "text"]
        parts: list[Dict] = []
        for block in content:
            kept = wire.metadata_of(block, options)
            if block["type"] == "tool_use":
                own = wire.part(kept, "extra_content", "google")
                calls[block["id"]] = name, ident = wire.legal(block["name"]), own.get("id")
                call: Dict = {"name": name, "args": block["input"], **({"id": ident} if ident else {})}
                is_first = block is gate.blocks_of(message, "tool_use")[0]
                foreign = FOREIGN if is_first and wire.rule_of(options).get("signed", True) else None
                signature = own.get("thought_signature") or foreign
                parts.append({"functionCall": call, **({"thoughtSignature": signature} if signature else {})})
            elif block["type"] != "thinking":
                parts.append(_part(block))
            elif isinstance(kept.get("part"), dict):  # what this service made itself
                parts.append(wire.part(kept, "part"))
            elif "text_chars" in kept:
                _sign(parts, kept["text_chars"], kept.get("signature"))
            elif kept.get("signature"):
                parts.append({"text": block["text"], "thought": True, "thoughtSignature": kept["signature"]})
        if parts:
            out.append({"role": role, "parts": parts})
    return out


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


def _part(block: Block) -> Dict:
    """Return a text, an image or a document in the API's form."""
    if block["type"] == "text":
        return {"text": block["text"]}
    if wire.kind_of(block) == "text":
        return {"text": wire.text_of(block)}
    return {"inlineData": {"mimeType": wire.media_type_of(block), "data": block["data"]}}


def _add_tools(body: Dict, tools: list[Tool], options: Options, rule: Rule) -> None:
    functions = [wire.function_of(tool, schemas.of_tool(tool, "gemini")) for tool in tools]
    for function in functions:
        if not wire.part(function, "parameters").get("properties"):
            del function["parameters"]  # an object without properties was refused by older models
    declared: list[Dict] = [{"functionDeclarations": functions}] if tools else []
    config: Dict = {}
    choice = options.get("tool_choice")
    if tools and isinstance(choice, dict):
        config["functionCallingConfig"] = {"mode": "ANY", "allowedFunctionNames": [wire.legal(choice["name"])]}
    elif tools and choice in _MODES:
        config["functionCallingConfig"] = {"mode": _MODES[choice]}
    if options.get("search"):
        offered = rule.get("search", True)
        if not offered or (offered == "alone" and tools):
            how = " together with tools" if offered == "alone" else " at all"
            raise wire.no_search(options, how, "a Gemini 3 model")
        declared.append({"googleSearch": {}})
        if tools:
            config["includeServerSideToolInvocations"] = True
    wire.put(body, "tools", declared or None)
    wire.put(body, "toolConfig", config or None)


def _thinking(wished: str | int | None, rule: Rule) -> Dict | None:
    """Return how much to think, in the words of this model; None leaves it to the model."""
    how = rule.get("thinking", "level")
    if wished is None or how == "none":
        return None
    if wished == "off":
        name, usual = ("thinkingLevel", "LOW") if how == "level" else ("thinkingBudget", 0)
        return {name: rule.get("least", usual)}
    if how == "budget":
        budget = min(wished, _BUDGETS["high"]) if isinstance(wished, int) else _BUDGETS.get(wished, -1)
        return {"thinkingBudget": budget, "includeThoughts": True}
    if wished == "adaptive":
        return {"includeThoughts": True}
    if isinstance(wished, int):
        wished = next((level for level, budget in _BUDGETS.items() if wished <= budget), "high")
    level = wished.upper()
    levels = rule.get("levels", [level])
    return {"thinkingLevel": level if level in levels else levels[-1], "includeThoughts": True}


# The answer
#
# A stream is whole answers, each with what is new; it has no end mark, so the last one names the reason it stopped.
# Signatures go back with the very part they came in, so they are kept with it: with a call, or as an empty thought
# behind a text, which says how many characters of it were signed. Source: "GenerateContentResponse".

_REFUSALS = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY",
             "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR")  # fmt: skip
_ERRORS = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE")
_STOP_REASONS = {
    "STOP": "end_turn",
    "MAX_TOKENS": "max_tokens",
    **dict.fromkeys(_REFUSALS, "refusal"),
    **dict.fromkeys(_ERRORS, "error"),
}

# Parts that a hosted tool made; they go back as they came.
_HOSTED = ("toolCall", "toolResponse", "executableCode", "codeExecutionResult")


class Decoder(decoding.Decoder):
    """Decode one or many GenerateContentResponse."""

    _is_partial = False
    _reason = _words = ""  # why it stopped, in the service's own words

    def __init__(self, status: int, headers: Headers, options: Options):
        super().__init__(status, headers, options)
        self.calls = Calls(self.owner)

    def on_done(self) -> list[Event]:
        return []  # of gateways: the last answer says that it is the last

    def on_piece(self, piece: Dict, event: str) -> list[Event]:
        return self.reported(piece) if piece.get("error") or event == "error" else self._answer(piece)

    def on_whole(self, answer: Dict) -> list[Event]:
        if not isinstance(answer.get("candidates"), list) and not isinstance(answer.get("promptFeedback"), dict):
            return self.bad_answer("it holds no candidate")
        return self._answer(answer)

    def finish(self) -> list[Event]:
        if self._is_partial:
            message = f"{self.label} sent a tool call in pieces, which is not understood; it was not run"
            return self.fail("bad_tool_call", message)
        if self.stop_reason == "error":
            return self.fail("bad_tool_call", f"{self.label} wrote a tool call nobody can read ({self._reason})")
        out: list[Event] = []
        if self.stop_reason == "refusal":
            out = self.declined(f"({self.label} declined to answer: {events.scrub(self._words or self._reason)})")
        return [*out, *super().finish()]

    def _answer(self, answer: Dict) -> list[Event]:
        self.is_started = True
        self.model = str(answer.get("modelVersion") or self.model)
        self.seed = str(answer.get("responseId") or self.seed)
        usage = wire.part(answer, "usageMetadata")
        if usage:  # each answer of a stream has those so far
            self.counts = {
                "input_tokens": events.total(usage.get("promptTokenCount"), usage.get("toolUsePromptTokenCount")),
                "output_tokens": events.total(usage.get("candidatesTokenCount"), usage.get("thoughtsTokenCount")),
                "cache_read_input_tokens": usage.get("cachedContentTokenCount"),
                "reasoning_tokens": usage.get("thoughtsTokenCount"),
            }
        if self._is_reason(wire.part(answer, "promptFeedback").get("blockReason"), ""):
            self.stop_reason = "refusal"
        candidates = answer.get("candidates")
        candidate = wire.part(candidates[0]) if isinstance(candidates, list) and candidates else {}
        out = [event for part in wire.parts(wire.part(candidate, "content").get("parts")) for event in self._part(part)]
        if self._is_reason(candidate.get("finishReason"), candidate.get("finishMessage")):
            self.stopped(self._reason, _STOP_REASONS)
        return out

    def _is_reason(self, reason: object, words: object) -> bool:
        """Keep why the service stopped; False when it did not say."""
        if not isinstance(reason, str) or not reason or reason.endswith("_UNSPECIFIED"):
            return False
        self._reason, self._words = reason, wire.words(words)
        return True

    def _part(self, part: Dict) -> list[Event]:
        signature = part.get("thoughtSignature") or part.get("thought_signature")
        if isinstance(part.get("functionCall"), dict):
            call = wire.part(part, "functionCall")
            # Streamed arguments are not asked for; what came is not all of them.
            self._is_partial |= call.get("willContinue") is True or "partialArgs" in call
            kept = (("thought_signature", signature), ("id", call.get("id")))
            own: Dict = {name: value for name, value in kept if value}
            function = {"name": call.get("name"), "arguments": call.get("args") or {}}
            extra = {"extra_content": {"google": own}} if own else {}
            self.calls.add({"id": call.get("id"), "function": function, **extra}, whole=True)
            return []
        if any(name in part for name in _HOSTED):
            return events.echo(self.owner, {"part": part})
        text, is_thought = part.get("text"), part.get("thought") is True
        if not isinstance(text, str):
            return []
        out = events.text("thinking" if is_thought else "delta", text)
        self.has_text = self.has_text or (bool(text) and not is_thought)
        if signature:
            chars = {} if is_thought else {"text_chars": len(text)}
            out += events.echo(self.owner, {"signature": signature, **chars})
        return out
