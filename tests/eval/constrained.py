"""A model that writes only text, held to calls of tools by a schema: what llama-server can do with any model.

The answer must be one object, {"tool": a name that was offered, "input": …} or {"say": text}, by `response_format` with
a JSON schema; it goes back to the daemon as the call or the text that it is. Nothing is added and nothing mended.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

from tests.eval import relay

# The model has a small window, and a router does not wait for a story.
OUTPUT_TOKENS = 160
TOLD_CHARS = 700
TIMEOUT_S = 300
_HOW = """You operate a router. Answer with one JSON object: {"tool": name, "input": arguments} to act, or
{"say": text} when it is done, when something is missing, or when it must not be done. Tools:
%s"""


# How an answer looks, by what no task asks for.
_EXAMPLES = (
    ("name the router gate", {"tool": "configure", "input": {"commands": ["uci set system.@system[0].hostname=gate"]}}),
    ('Result: {"status": "applied"}', {"say": "The router is called gate."}),
    ("which networks does it have?", {"tool": "status", "input": {"what": "wan"}}),
    ('Result: {"interfaces": [{"name": "wan"}]}', {"say": "It has the network wan."}),
)


def answerer(base_url: str) -> relay.Answerer:
    """Return what asks a llama-server for each request of the daemon."""

    def answer(path: str, headers: dict[str, str], body: bytes) -> relay.Answer:
        asked = json.loads(body)
        tools = [one["function"] for one in asked.get("tools") or []]
        sent = {
            "messages": [{"role": "system", "content": _HOW % _listed(tools)}, *_shown(), *_told(asked["messages"])],
            "max_tokens": OUTPUT_TOKENS, "temperature": 0, "seed": 1, "cache_prompt": True,
            "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema(tools)}},
        }  # fmt: skip
        request = urllib.request.Request(
            base_url + "/chat/completions", json.dumps(sent).encode(), {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as reply:
                given = json.load(reply)
        except (urllib.error.URLError, OSError) as error:
            return relay.failed(f"llama-server: {error}")
        return _counted(relay.said(read(given["choices"][0]["message"]["content"])), given.get("usage", {}))

    return answer


def schema(tools: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of an answer: one of the calls, or words."""
    kinds: list[dict[str, Any]] = [_object(say={"type": "string", "maxLength": 300})]
    for tool in tools:
        kinds.append(_object(tool={"const": tool["name"]}, input=_plain(tool["parameters"])))
    return {"anyOf": list(reversed(kinds))}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _plain(value: Any) -> Any:
    """Return a tool's schema with lists and texts short enough for a small model to end them."""
    if not isinstance(value, dict):
        return value
    found = {key: _plain(item) for key, item in value.items() if key != "description"}
    if found.get("type") == "array":
        found["maxItems"] = 4
    if found.get("type") == "string" and "enum" not in found:
        found["maxLength"] = 80
    return found


def _shown() -> list[dict[str, str]]:
    pairs = [(("user", said), ("assistant", json.dumps(answer))) for said, answer in _EXAMPLES]
    return [{"role": role, "content": text} for pair in pairs for role, text in pair]


def _listed(tools: list[dict[str, Any]]) -> str:
    return "\n".join(f"- {tool['name']}: {tool['description'].split('. ')[0]}" for tool in tools)


def _told(messages: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Return the conversation as texts of owner and model, which take turns; the newest, for the window is small."""
    found: list[dict[str, str]] = []
    for message in messages:
        if message["role"] == "system":
            continue
        role = "assistant" if message["role"] == "assistant" else "user"
        text = _text(message)[:TOLD_CHARS]
        if found and found[-1]["role"] == role:
            found[-1]["content"] += "\n" + text
        else:
            found.append({"role": role, "content": text})
    return found[-5:]


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    calls = [one["function"] for one in message.get("tool_calls") or []]
    told = [json.dumps({"tool": one["name"], "input": json.loads(one["arguments"])}) for one in calls]
    return ("Result: " if message["role"] == "tool" else "") + "\n".join([text, *told]).strip()


def read(text: str) -> str | list[tuple[str, dict[str, Any]]]:
    """Return the words or the call in an answer; what was cut at its limit is words."""
    try:
        value = json.loads(text)
    except ValueError:
        return text or "…"
    if "tool" in value:
        return [(value["tool"], value["input"])]
    return str(value.get("say") or "…")


def _counted(answer: relay.Answer, usage: dict[str, Any]) -> relay.Answer:
    chunk = {"choices": [], "usage": {key: usage.get(key, 0) for key in ("prompt_tokens", "completion_tokens")}}
    line = f"data: {json.dumps(chunk)}\n\n"
    return {**answer, "body": answer["body"].replace("data: [DONE]", line + "data: [DONE]")}
