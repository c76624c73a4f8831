"""What Oasis sent in a task, small enough to be kept and read: each request by what is new in it.

A transcript is {"rounds": [{"kept": messages that are as in the request before, "messages": those after them, "tokens":
about how many the whole request is, "system"?: the system prompt and "tools"?: names, where they changed}]}.
It knows the forms of OpenAI, Anthropic, Ollama and Gemini: messages are whatever a list of them holds.
"""

from __future__ import annotations

import json
from typing import Any

from oasis.core import trim

Transcript = dict[str, Any]
# What stands in a message for the protocol alone, and costs next to nothing.
_SILENT = ("role", "type", "id", "tool_call_id", "call_id", "tool_use_id")


def of(bodies: list[str]) -> Transcript:
    """Return the transcript of the bodies of all requests of a task, in order."""
    rounds, before = list[dict[str, Any]](), dict[str, Any]()
    for body in bodies:
        now = _parts(json.loads(body))
        kept = 0
        for old, new in zip(before.get("messages", []), now["messages"], strict=False):
            if old != new:
                break
            kept += 1
        entry = {"kept": kept, "messages": now["messages"][kept:], "tokens": tokens(json.loads(body))}
        entry.update({key: now[key] for key in ("system", "tools") if now[key] != before.get(key)})
        rounds.append(entry)
        before = now
    return {"rounds": rounds}


def tokens(body: dict[str, Any]) -> int:
    """Return about how many tokens a request is, by Oasis's own estimate: system prompt, messages and tools."""
    parts = _parts(body)
    texts = [parts["system"], *_texts(parts["messages"]), *[json.dumps(one) for one in functions(body)]]
    return sum(trim.tokens(text) for text in texts)


def messages(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of a request without its system prompt."""
    return list(_parts(body)["messages"])


def functions(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return {"name", "description", "parameters"} of every tool that a request offers."""
    found = []
    for given in body.get("tools") or []:
        for one in given.get("functionDeclarations") or given.get("function_declarations") or [given]:
            one = one.get("function", one)
            schema = one.get("parameters") or one.get("input_schema") or one.get("parametersJsonSchema") or {}
            found.append({"name": one.get("name", ""), "description": one.get("description", ""), "parameters": schema})
    return found


def readable(body: dict[str, Any]) -> str:
    """Return a request as a person reads it: what was said and done so far, then the tools with their arguments."""
    lines = []
    parts = _parts(body)
    for role, message in [("system", parts["system"]), *[(one.get("role", ""), one) for one in parts["messages"]]]:
        lines += [f"=== {role}", *([message] if isinstance(message, str) else _shown(message)), ""]
    lines.append("=== tools, each with what it is for and the schema of its arguments")
    for one in functions(body):
        lines += [
            "",
            f"{one['name']}: {one['description']}",
            "    " + json.dumps(one["parameters"], ensure_ascii=False),
        ]
    return "\n".join(lines) + "\n"


def _shown(message: dict[str, Any]) -> list[str]:
    content = message.get("content")
    lines = [content] if isinstance(content, str) else _texts(content)
    for call in message.get("tool_calls") or []:
        lines.append(f"call {call['function']['name']} {call['function']['arguments']}")
    return lines


def _parts(body: dict[str, Any]) -> dict[str, Any]:
    messages = body.get("messages") or body.get("contents") or body.get("input") or []
    system = body.get("system") or body.get("systemInstruction") or body.get("instructions") or ""
    if messages and messages[0].get("role") == "system":
        system, messages = messages[0]["content"], messages[1:]
    text = system if isinstance(system, str) else "\n".join(_texts(system))
    return {"system": text, "messages": messages, "tools": [one["name"] for one in functions(body)]}


def _texts(value: Any) -> list[str]:
    """Return every text in a value, names of keys left out."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    if isinstance(value, dict):
        return [text for key, one in value.items() if key not in _SILENT for text in _texts(one)]
    return []


def table(tasks: list[tuple[str, list[int], bool]]) -> str:
    """Return a Markdown table of (task, tokens of each request, whether it passed): what each cost."""
    lines = ["| task | requests | first request | all requests | passed |", "| --- | ---: | ---: | ---: | --- |"]
    for name, sent, passed in tasks:
        lines.append(f"| {name} | {len(sent)} | {sum(sent[:1])} | {sum(sent)} | {'yes' if passed else 'no'} |")
    if tasks:
        every = [sent for _, sent, _ in tasks]
        means = [sum(map(of, every)) / len(every) for of in (len, lambda sent: sum(sent[:1]), sum)]
        passed = sum(one for _, _, one in tasks)
        lines.append(f"| **mean** | {means[0]:.1f} | {means[1]:.0f} | {means[2]:.0f} | {passed} of {len(tasks)} |")
    return "\n".join(lines) + "\n"
