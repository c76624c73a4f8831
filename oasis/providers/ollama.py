"""Ollama's own chat API: NDJSON, whole tool calls with object arguments, usage in the last line.

Shares nothing with the OpenAI class but the gate: its system rule, its field for reasoning, its lenient tool schemas
and its form of images are its own. Source: Ollama, docs/api and api/types.go.
"""

from __future__ import annotations

from oasis.core.framing import Lines
from oasis.errors import SchemaError
from oasis.providers import decoding, events, gate, schemas, wire

if False:  # annotations only
    from oasis.providers.shapes import Dict, Embedded, Event, Model, Options, Request, Tool, Turn

# The server's own default is small and it cuts long prompts from the front without a word.
NUM_CTX = 16384

TEXTS = 512  # at once: the server embeds them one after the other


def build_request(messages: list[Dict], tools: list[Tool], options: Options) -> Request:
    """Return the HTTP request of one turn.

    There is no tool_choice in this API: none and one tool are said by what is offered, required cannot be said.
    """
    if options.get("search"):
        wire.search_of(options)
    checked = wire.checked(messages, wire.takes_of(options), options)
    limits: Dict = {"num_ctx": options.get("context_tokens") or options["profile"].get("num_ctx") or NUM_CTX}
    wire.put(limits, "num_predict", options.get("max_tokens"))
    wire.put(limits, "temperature", options.get("temperature"))
    body = wire.begun(options, messages=_messages(gate.prepare(checked, _merge_system_runs), options))
    body["options"] = limits
    choice = options.get("tool_choice")
    if tools and choice != "none":
        body["tools"] = declared = []
        for tool in wire.chosen(tools, choice):
            schema = tool.get("input_schema")
            parameters = schema if isinstance(schema, dict) and schema else schemas.EMPTY
            function = {"name": tool["name"], "description": tool.get("description", ""), "parameters": parameters}
            declared.append({"type": "function", "function": function})
    effort = wire.effort_of(options)
    if effort:  # all models but gpt-oss refuse a level and take true or false
        has_levels = "gpt-oss" in wire.model_of(options)
        body["think"] = effort if has_levels and effort != "none" else effort != "none"
    return wire.post(options, _url(options, "/api/chat"), body)


def models_request(options: Options) -> Request:
    return wire.get(options, _url(options, "/api/tags"))


def model_request(options: Options) -> Request:
    """Return the request for what the server says of a model."""
    return wire.post({**options, "stream": False}, _url(options, "/api/show"), {"model": wire.model_of(options)})


def models_read(answer: object, options: Options) -> list[Model]:
    listed = wire.models_of(answer, "models", "name", options)
    return [wire.model(entry["name"], abilities=entry.get("capabilities")) for entry in listed]


def embed_request(texts: list[str], options: Options) -> Request:
    """Return the request for the embeddings of some texts; options["dimensions"] shortens them where a model can."""
    body: Dict = {"model": wire.model_of(options), "input": wire.asked(texts, TEXTS, options)}
    wire.put(body, "dimensions", options.get("dimensions"))
    return wire.post({**options, "stream": False}, _url(options, "/api/embed"), body)


def embed_read(answer: object, options: Options) -> Embedded:
    """Return the embeddings in the order of the texts, and the tokens that they took."""
    whole = wire.part(answer)
    return wire.vectors(whole.get("embeddings"), options), {"input_tokens": whole.get("prompt_eval_count")}


def _url(options: Options, path: str) -> str:
    return wire.base_url_of(options, "/v1", "/api") + path


def _merge_system_runs(chat: list[Turn]) -> list[Turn]:
    """Join system messages that stand side by side, in place, with a blank line."""
    out: list[Turn] = []
    for message in chat:
        if message["role"] == "system" and out and out[-1]["role"] == "system":
            joined = "\n\n".join([text for text in (gate.text_of(out[-1]), gate.text_of(message)) if text])
            out[-1] = {"role": "system", "content": [{"type": "text", "text": joined}] if joined else []}
        else:
            out.append(message)
    return out


def _messages(chat: list[Turn], options: Options) -> list[Dict]:
    out: list[Dict] = []
    names: dict[str, str] = {}
    newest = max([at for at, message in enumerate(chat) if message["role"] == "user"], default=0)
    for at, message in enumerate(chat):
        if message["role"] == "tool":
            for block in message["content"]:
                ident, text = block["tool_use_id"], wire.result_of(block)
                out.append({"role": "tool", "content": text, "tool_name": names[ident], "tool_call_id": ident})
            continue
        files = [*gate.blocks_of(message, "document"), *gate.blocks_of(message, "image")]
        # Text documents have no field of their own.
        texts = [wire.text_of(block) for block in files if wire.kind_of(block) == "text"]
        own = gate.text_of(message)
        plain: Dict = {"role": message["role"], "content": "\n\n".join([*texts, *([own] if own else [])])}
        images = [block["data"] for block in files if wire.kind_of(block) == "image"]
        if images:
            plain["images"] = images
        for block in gate.blocks_of(message, "tool_use"):
            names[block["id"]] = block["name"]
            call = {"id": block["id"], "function": {"name": block["name"], "arguments": block["input"]}}
            plain.setdefault("tool_calls", []).append(call)  # type: ignore[attr-defined]
        ours = [block for block in gate.blocks_of(message, "thinking") if wire.metadata_of(block, options)]
        thoughts = "".join([block["text"] for block in ours])
        if thoughts and at > newest and "tool_calls" in plain:  # models think on where they called a tool
            plain["thinking"] = thoughts
        out.append(plain)
    return out


# The answer

_STOP_REASONS = {"": "end_turn", "stop": "end_turn", "length": "max_tokens", "load": "end_turn", "unload": "end_turn"}


class Decoder(decoding.Decoder):
    """Decode a streamed or whole answer of /api/chat; both are the same lines."""

    _is_thinking = False
    whole_marks = b"["  # an object is a line of the stream; a list is nothing we know

    def make_reader(self) -> Lines:
        return _Objects()

    def on_piece(self, piece: Dict, event: str) -> list[Event]:
        is_line = "message" in piece or "done" in piece
        if piece.get("error") or (not is_line and events.has_error(piece)):
            return self.reported(piece)
        if not is_line:
            return []
        self.is_started = True
        self.model = str(piece.get("model") or self.model)
        self.seed = str(piece.get("created_at") or self.seed)
        message = wire.part(piece, "message")
        # The other names are of servers that only imitate Ollama.
        thought = message.get("thinking") or message.get("reasoning") or message.get("reasoning_content")
        out = events.text("thinking", thought)
        has_more = message.get("content") or message.get("tool_calls") or piece.get("done") is True
        is_thinking = self._is_thinking or bool(thought)
        if is_thinking and has_more:
            out += events.echo(self.owner, {"thoughts": True})  # no other service gets them
        self._is_thinking = is_thinking and not has_more
        out += events.text("delta", message.get("content"))
        self.calls.extend(message.get("tool_calls"), whole=True)
        if piece.get("done") is not True:
            return out
        self.stop_reason = _STOP_REASONS.get(str(piece.get("done_reason") or ""), "other")
        self.counts = {"input_tokens": piece.get("prompt_eval_count"), "output_tokens": piece.get("eval_count")}
        return [*out, *self.finish()]

    def on_whole(self, answer: Dict) -> list[Event]:
        return self.bad_answer("it is no answer of /api/chat")


class _Objects(Lines):
    """Lines; an object over several, as some proxies write it, is one that is complete with its last bracket."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[bytes] = []  # of an object that is not whole yet
        self._depth = 0  # how many brackets are open

    def feed(self, data: bytes) -> list[bytes]:
        return self._joined(super().feed(data))

    def close(self) -> list[bytes]:
        found = self._joined(super().close())
        if self._lines:
            raise SchemaError("it ends in the middle of an object")
        return found

    def _joined(self, lines: list[bytes]) -> list[bytes]:
        found = []
        for line in lines:
            # No text of JSON goes over a line: every other piece between quotes is bare.
            outside = b"".join(line.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
            opened = outside.count(b"{") + outside.count(b"[") - outside.count(b"}") - outside.count(b"]")
            if not self._lines and opened <= 0:
                found.append(line)
                continue
            self._lines.append(line)
            self._depth += opened
            if self._depth <= 0:
                found.append(b"\n".join(self._lines))
                self._lines, self._depth = [], 0
        return found
