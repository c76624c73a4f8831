"""OpenAI Chat Completions and everything that imitates it; what a service does differently stands in profiles.json.

Pure translation, see the package's contract; openai_answer.py reads what comes back. Source: OpenAI API reference,
"Chat Completions", and the notes of the services on what they leave out or add.
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.errors import SchemaError
from oasis.providers import documents, gate, names, parts, schemas, wire
from oasis.providers.openai_answer import Decoder as Decoder
from oasis.providers.openai_models import embed_read as embed_read
from oasis.providers.openai_models import embed_request as embed_request
from oasis.providers.openai_models import models_read as models_read
from oasis.providers.openai_models import models_request as models_request
from oasis.providers.openai_models import url
from oasis.providers.wire import Options, Request

Dict = dict[str, object]


def build_request(messages: list[Dict], tools: list[Dict], options: Options) -> Request:
    """Return the HTTP request of one turn.

    Raises: SchemaError for a tool whose schema is no object, SettingsError for a bad base_url, a missing model or a
    search that is not offered, UsageError for a file that cannot be read.
    """
    profile = wire.profile_of(options)
    checked = documents.checked(messages, wire.takes_of(options), wire.label_of(options))
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


# What stands beside the messages


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
        body["tool_choice"] = {"type": "function", "function": {"name": names.legal(str(choice["name"]))}}
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
        "name": names.legal(str(tool["name"])),
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
            out.append({"role": message["role"], "content": parts.content_of(message)})
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
    function = {"name": names.legal(str(block["name"])), "arguments": jsonl.dumps(block["input"])}
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
