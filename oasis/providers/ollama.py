"""Ollama's own chat API: NDJSON, whole tool calls with object arguments, usage in the last line.

Shares nothing with the OpenAI class but the gate: its system rule, its field for reasoning, its lenient tool schemas
and its form of images are its own. Source: Ollama, docs/api and api/types.go.
"""

from __future__ import annotations

from oasis.core.framing import Lines
from oasis.providers import decoding, events, faults, gate, wire
from oasis.providers.wire import Dict, Options, Request

_STOP_REASONS = {"": "end_turn", "stop": "end_turn", "length": "max_tokens", "load": "end_turn", "unload": "end_turn"}

# The server's own default is small and it cuts long prompts from the front without a word.
NUM_CTX = 16384

TEXTS = 512  # at once: the server embeds them one after the other


def build_request(messages: list[Dict], tools: list[Dict], options: Options) -> Request:
    """Return the HTTP request of one turn.

    There is no tool_choice in this API: none and one tool are said by what is offered, required cannot be said.

    Raises: SettingsError for a bad base_url, a missing model or a search, UsageError for a file that cannot be read.
    """
    if options.get("search"):
        wire.search_of(options)
    checked = wire.checked(messages, wire.takes_of(options), wire.label_of(options))
    limits: Dict = {"num_ctx": wire.profile_of(options).get("num_ctx") or NUM_CTX}
    if options.get("max_tokens") is not None:
        limits["num_predict"] = options["max_tokens"]
    if options.get("temperature") is not None:
        limits["temperature"] = options["temperature"]
    body: Dict = {
        "model": wire.model_of(options),
        "messages": _messages(gate.prepare(checked, _merge_system_runs)),
        "stream": bool(options.get("stream")),
        "options": limits,
    }
    offered = _offered(tools, options.get("tool_choice"))
    if offered:
        body["tools"] = [_tool(tool) for tool in offered]
    effort = wire.effort_of(options)
    if effort:
        body["think"] = effort if _knows_levels(options) and effort != "none" else effort != "none"
    return wire.post(options, _url(options, "/api/chat"), body)


def models_request(options: Options) -> Request:
    """Return the request for the list of models."""
    return wire.get(options, _url(options, "/api/tags"))


def models_read(status: int, headers: dict[str, str], body: bytes, options: Options) -> list[Dict]:
    """Return the models: {"id", "tools"?}.

    Raises: ProviderError with the kind of failure.
    """
    return [_model(entry) for entry in wire.models_of(status, headers, body, options, "models", "name")]


def embed_request(texts: list[str], options: Options) -> Request:
    """Return the request for the embeddings of some texts; options["dimensions"] shortens them where a model can.

    Raises: UsageError for texts that cannot be sent, SettingsError for a bad base_url or missing model.
    """
    body: Dict = {"model": wire.model_of(options), "input": wire.asked(texts, TEXTS, options)}
    if options.get("dimensions") is not None:
        body["dimensions"] = options["dimensions"]
    return wire.post({**options, "stream": False}, _url(options, "/api/embed"), body)


def embed_read(status: int, headers: dict[str, str], body: bytes, options: Options) -> wire.Made:
    """Return the embeddings in the order of the texts, and the tokens that they took.

    Raises: ProviderError with the kind of failure.
    """
    answer = wire.answer_of(status, headers, body, options)
    told = answer if isinstance(answer, dict) else {}
    return wire.read(told.get("embeddings"), options), {"input_tokens": told.get("prompt_eval_count")}


def _model(entry: Dict) -> Dict:
    model: Dict = {"id": events.clean(str(entry["name"]))}
    if isinstance(entry.get("capabilities"), list):
        model["tools"] = "tools" in entry["capabilities"]  # type: ignore[operator]
    return model


# The request


def _url(options: Options, path: str) -> str:
    base = wire.base_url_of(options)
    for tail in ("/v1", "/api"):  # copied from the OpenAI-compatible address or from the API's own pages
        if base.endswith(tail):
            base = base[: -len(tail)]
    return base + path


def _merge_system_runs(chat: list[gate.Message]) -> list[gate.Message]:
    """Join system messages that stand side by side, in place, with a blank line."""
    out: list[gate.Message] = []
    for message in chat:
        if message["role"] == "system" and out and out[-1]["role"] == "system":
            joined = "\n\n".join([text for text in (gate.text_of(out[-1]), gate.text_of(message)) if text])
            out[-1] = {"role": "system", "content": [{"type": "text", "text": joined}] if joined else []}
        else:
            out.append(message)
    return out


def _offered(tools: list[Dict], choice: object) -> list[Dict]:
    if choice == "none":
        return []
    if isinstance(choice, dict):
        return [tool for tool in tools if tool["name"] == choice["name"]] or tools
    return tools


def _knows_levels(options: Options) -> bool:
    """Tell whether a model takes low, medium and high; all others refuse a level and take true or false."""
    return "gpt-oss" in wire.model_of(options)


def _tool(tool: Dict) -> Dict:
    schema = tool.get("input_schema")
    parameters = schema if isinstance(schema, dict) and schema else {"type": "object", "properties": {}}
    function = {"name": tool["name"], "description": tool.get("description", ""), "parameters": parameters}
    return {"type": "function", "function": function}


def _messages(chat: list[gate.Message]) -> list[Dict]:
    out: list[Dict] = []
    names: dict[object, object] = {}
    for message in chat:
        if message["role"] == "tool":
            out.extend([_result(block, names) for block in gate.blocks_of(message, "tool_result")])
            continue
        plain: Dict = {"role": message["role"], "content": _words(message)}
        images = [block for block in _files(message) if wire.kind_of(block) == "image"]
        if images:
            plain["images"] = [wire.data_of(block) for block in images]
        calls = gate.blocks_of(message, "tool_use")
        if calls:
            plain["tool_calls"] = [_call(block) for block in calls]
            names.update({block["id"]: block["name"] for block in calls})
        out.append(plain)
    return out


def _words(message: gate.Message) -> str:
    """Return the text of a message with its text documents, which have no field of their own."""
    texts = [wire.text_of(block) for block in _files(message) if wire.kind_of(block) == "text"]
    said = gate.text_of(message)
    return "\n\n".join([*texts, *([said] if said else [])]) if texts else said


def _files(message: gate.Message) -> list[gate.Block]:
    return [block for kind in ("document", "image") for block in gate.blocks_of(message, kind)]


def _call(block: gate.Block) -> Dict:
    return {"id": block["id"], "function": {"name": block["name"], "arguments": block["input"]}}


def _result(block: gate.Block, names: dict[object, object]) -> Dict:
    text = gate.text_of(block)
    if block.get("is_error") and not text.lower().startswith("error"):
        text = "Error: " + text  # this format has no flag for it
    ident = block["tool_use_id"]
    return {"role": "tool", "content": text, "tool_name": names.get(ident, ""), "tool_call_id": ident}


# The answer


class Decoder(decoding.Decoder):
    """Decode a streamed or whole answer of /api/chat; both are the same lines."""

    whole_marks = b"["  # an object is a line of the stream; a list is nothing we know

    def __init__(self, status: int, headers: dict[str, str], options: Options):
        super().__init__(status, headers, options)
        self._lines: list[bytes] = []  # of an object that is not whole yet
        self._depth = 0

    def make_reader(self) -> Lines:
        return Lines()

    def on_piece(self, piece: Dict, event: str) -> list[events.Event]:
        if piece.get("error"):
            return self.reported(piece)
        if "message" not in piece and "done" not in piece:
            return self.reported(piece) if faults.has_error(piece) else []
        self.is_started = True
        return self._line(piece)

    def _item(self, item: object) -> list[events.Event]:
        """Take a line; an object over several lines, as some proxies write it, is complete with its last bracket."""
        assert isinstance(item, bytes)
        if self._depth or _opened(item) > 0:
            self._lines.append(item)
            self._depth += _opened(item)
            if self._depth > 0:
                return []
            item, self._lines, self._depth = b"\n".join(self._lines), [], 0
        return super()._item(item)

    def _close_stream(self) -> list[events.Event]:
        if self._lines:
            return self.cut() if self.is_started else self.bad_answer("it ends in the middle of an object")
        return super()._close_stream()

    def on_whole(self, answer: Dict) -> list[events.Event]:
        return self.bad_answer("it is no answer of /api/chat")

    def _line(self, line: Dict) -> list[events.Event]:
        self.model = str(line.get("model") or self.model)
        self.seed = str(line.get("created_at") or self.seed)
        message = line.get("message")
        out = self._said(message) if isinstance(message, dict) else []
        if line.get("done") is not True:
            return out
        self.stop_reason = _STOP_REASONS.get(str(line.get("done_reason") or ""), "other")
        self.counts = {"input_tokens": line.get("prompt_eval_count"), "output_tokens": line.get("eval_count")}
        return [*out, *self.finish()]

    def _said(self, message: Dict) -> list[events.Event]:
        out: list[events.Event] = []
        thought = message.get("thinking") or message.get("reasoning") or message.get("reasoning_content")
        if isinstance(thought, str) and thought:  # the other names are of servers that only imitate Ollama
            out.append(events.thinking(thought))
        if isinstance(message.get("content"), str) and message["content"]:
            out.append(events.delta(str(message["content"])))
        calls = message.get("tool_calls")
        for piece in calls if isinstance(calls, list) else []:
            self.calls.add(piece, whole=True)
        return out


def _opened(line: bytes) -> int:
    """Return how many more brackets a line of a JSON text opens than it closes; no text of JSON goes over a line."""
    bare = line.replace(b"\\\\", b"").replace(b'\\"', b"")
    outside = b"".join(bare.split(b'"')[::2])
    return sum(outside.count(sign) for sign in (b"{", b"[")) - sum(outside.count(sign) for sign in (b"}", b"]"))
