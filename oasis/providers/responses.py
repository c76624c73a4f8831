"""OpenAI's Responses API: a list of items instead of messages, and reasoning that goes back encrypted.

Pure translation, see the package's contract; responses_answer.py reads what comes back. Nothing is stored at the
service: each request holds the whole conversation, and reasoning items go back as they came, before the item they led
to, but without ids.
Also spoken by llama.cpp, LM Studio, Ollama, vLLM and OpenRouter. Source: OpenAI API reference, "Responses".
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.providers import documents, gate, names, schemas, wire
from oasis.providers.openai_models import embed_read as embed_read
from oasis.providers.openai_models import embed_request as embed_request
from oasis.providers.openai_models import models_read as models_read
from oasis.providers.openai_models import models_request as models_request
from oasis.providers.openai_models import url
from oasis.providers.responses_answer import Decoder as Decoder
from oasis.providers.wire import Options, Request

Dict = dict[str, object]

TOKENS = 16  # a smaller limit is refused
ID_CHARS = 64  # a longer call id is refused


def build_request(messages: list[Dict], tools: list[Dict], options: Options) -> Request:
    """Return the HTTP request of one turn.

    Raises: SchemaError for a tool whose schema is no object, SettingsError for a bad base_url, a missing model or a
    search that is not offered, UsageError for a file that cannot be read.
    """
    profile, rule = wire.profile_of(options), wire.rule_of(options)
    takes = wire.takes_of(options)
    checked = documents.checked(messages, takes, wire.label_of(options), in_results=takes)
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
        name, arguments = names.legal(str(block["name"])), jsonl.dumps(block["input"])
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
    kind = "words" if block["type"] == "text" else documents.kind_of(block)
    if kind == "image":
        return {"type": "input_image", "image_url": documents.data_url(block), "detail": "auto"}
    if kind == "pdf":
        return {"type": "input_file", "filename": documents.file_name(block), "file_data": documents.data_url(block)}
    return {"type": "input_text", "text": str(block["text"]) if kind == "words" else documents.text_of(block)}


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
        body["tool_choice"] = {"type": "function", "name": names.legal(str(choice["name"]))}
    elif choice and tools:
        body["tool_choice"] = choice


def _tool(tool: Dict, is_strict: bool) -> Dict:
    """Return a tool; `strict` is always said, because here it is true when it is not."""
    is_strict = is_strict and schemas.fits_strict(tool.get("input_schema") or {})
    return {
        "type": "function",
        "name": names.legal(str(tool["name"])),
        "description": str(tool.get("description") or ""),
        "parameters": schemas.of_tool(tool, "strict" if is_strict else "plain"),
        "strict": is_strict,
    }
