"""What MCP servers were last seen to have, kept on flash, and the tools that a model may be told of it.

All of it is words of others: a list is bounded when it is written, and read whatever became of its file. Asks nobody.
"""

from __future__ import annotations

from oasis.core import clean, jsonl
from oasis.errors import SchemaError, StoreError, ToolError
from oasis.parts.mcp import peer as protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.parts.mcp.peer import Message
    from oasis.system.files import Files

SEPARATOR = "___"
LIST_BYTES = 512 * 1024
# Beside a server's tools: its resources and prompts, where it says that it has some.
EXTRAS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "resources": ("resources", "List the resources of the server {}: addresses, names, what they are.", {}),
    "read": ("resources", "Read a resource of the server {}.", {"uri": "its address"}),
    "prompts": ("prompts", "List the prompts that the server {} offers.", {}),
    "prompt": ("prompts", "Get a prompt of the server {}, filled in.", {"name": "its name"}),
}


class Keep:
    """What the servers had when they were last asked, a file each in a folder on flash."""

    def __init__(self, files: Files, folder: str) -> None:
        self._files = files
        self._folder = folder
        self._read: dict[str, Message] = {}

    def read(self, name: str) -> Message:
        """Return {"tools": [...], "has": [...]}, {} when it was never asked or cannot be read."""
        if name not in self._read:
            data = self._files.read("%s/%s.json" % (self._folder, name))
            try:
                found = jsonl.loads(data, LIST_BYTES) if data else {}
            except SchemaError:
                found = {}
            self._read[name] = _kept(found) if isinstance(found, dict) and found else {}
        return self._read[name]

    def write(self, name: str, found: Message) -> None:
        """Keep what a server has; written only when it is something else.

        Raises: ToolError for a list that is too long, StoreError.
        """
        if found == self.read(name):
            return
        data = jsonl.dumps(found).encode()
        if len(data) > LIST_BYTES:
            raise ToolError(
                "the MCP server %s describes its tools in %d bytes" % (name, len(data)), "let it offer less"
            )
        self._files.folder(self._folder)
        self._files.replace("%s/%s.json" % (self._folder, name), data)
        self._read[name] = found

    def drop(self, name: str) -> None:
        """Forget a server that is no more."""
        self._read.pop(name, None)
        try:
            self._files.remove("%s/%s.json" % (self._folder, name))
        except (OSError, StoreError):
            pass  # it was never asked


def _kept(found: Message) -> Message:
    """Return a list as it was kept, whatever became of its file."""
    tools, has = found.get("tools"), found.get("has")
    return {
        "tools": [one for one in tools if isinstance(one, dict)] if isinstance(tools, list) else [],
        "has": [one for one in has if isinstance(one, str)] if isinstance(has, list) else [],
    }


def specs(settings: dict[str, Any], kept: Message) -> list[dict[str, Any]]:
    """Return the specs of what a server has (tools/registry.py)."""
    name, found = settings["name"], []
    tools = kept.get("tools")
    for tool in tools if isinstance(tools, list) else []:
        own, schema = tool.get("name"), tool.get("inputSchema")
        if not isinstance(own, str) or not own or (settings["allowed"] and own not in settings["allowed"]):
            continue
        schema = schema if isinstance(schema, dict) else {"type": "object"}
        title = clean.line(tool.get("description") or tool.get("title") or own)
        found.append(_spec(settings, own, title, {"type": "object", **schema}, _class(tool.get("annotations"))))
    for own, (needs, words, arguments) in EXTRAS.items():
        if needs in (kept.get("has") or []):
            properties = {key: {"type": "string", "description": text} for key, text in arguments.items()}
            schema = {"type": "object", "properties": properties, "required": list(arguments)}
            if own == "prompt":
                schema["properties"] = {**properties, "arguments": {"type": "object", "description": "to fill in"}}
            found.append(_spec(settings, own, words.format(name), {**schema, "additionalProperties": False}, "read"))
    return found


def _spec(settings: dict[str, Any], own: str, words: str, schema: dict[str, Any], kind: str) -> dict[str, Any]:
    name = settings["name"]
    return {
        "name": name + SEPARATOR + own,
        "description": words,
        "input_schema": schema,
        "class": kind,
        "timeout_s": settings["timeout_s"],
        "approval": "ask",  # that it only looks is the server's own claim
        "untrusted": protocol.whose(name),
    }


def _class(hints: object) -> str:
    if not isinstance(hints, dict):
        return "change"
    if hints.get("readOnlyHint") is True:
        return "read"
    return "danger" if hints.get("destructiveHint") is True else "change"
