"""The tool servers that were made for the Lua Oasis, as this router describes them: their tools, and their files.

Tools are read from manifests (version 1) and from the Lua Oasis's `tool` sections of UCI. Entries without a name are
left out, long texts cut, nonsense replaced by the default. Source: the manifests and sections that its setup program
writes and reads.

A bus object counts as a tool server only with a plugin file of rpcd behind it: the program /usr/libexec/rpcd/NAME, or
one script /usr/share/rpcd/ucode/*.uc that publishes NAME. Objects of the base system and our own never count, whatever
a manifest says. The file must belong to root, and nobody else may have write access.
"""

from __future__ import annotations

import os
import re

from oasis.core import clean, jsonl
from oasis.errors import PolicyError, SchemaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oasis.core.shapes import Json
    from oasis.parts.lua.shapes import Schema, Script, Tool
    from oasis.system.root import Root
    from oasis.uci.model import Section


MANIFEST_BYTES = 256 * 1024
TOOLS = 200  # of one manifest
TIMEOUT_S, MOST_S = 60, 600
# Older ones say `script_type` and `script_path`.
_KINDS = {"lua_script": "lua", "ucode_script": "ucode", "manual": "manual", "lua": "lua", "ucode": "ucode"}
# The Lua Oasis's words for types, and those of JSON Schema; every other one is text, as there.
_TYPES = {"integer": "integer", "number": "number", "boolean": "boolean", "array": "array", "object": "object"}
_NO = ("0", "off", "no", "false", "")
# Options that only the Lua Oasis writes: without them a section holds only what the owner set for a tool.
_TELLING = ("description", "script", "property")


def of_file(data: bytes) -> list[Tool]:
    """Return the tools of a manifest.

    Raises: SchemaError when it is no manifest of version 1.
    """
    given = jsonl.loads(data, MANIFEST_BYTES)
    if not isinstance(given, dict) or given.get("version") != 1 or isinstance(given["version"], bool):
        raise SchemaError("it is no manifest of version 1")
    kind, tools = _KINDS.get(str(given.get("source_type") or given.get("script_type"))), given.get("tools")
    if kind is None or not isinstance(tools, list):
        raise SchemaError("it has no tools of a known kind", "source_type is one of lua_script, ucode_script, manual")
    path = given.get("source_path") or given.get("script_path")
    found = []
    for one in tools[:TOOLS]:
        if isinstance(one, dict) and _is_named(one):
            properties = one.get("properties")
            listed = [item for item in properties if isinstance(item, dict)] if isinstance(properties, list) else []
            triples = [(item.get("name"), item.get("type"), item.get("description")) for item in listed]
            tool = _tool(one, triples, one.get("additional_properties") is True)
            tool["kind"], tool["path"] = kind, path if isinstance(path, str) else ""
            found.append(tool)
    return found


def _is_named(entry: Mapping[str, Json]) -> bool:
    return all(isinstance(entry.get(key), str) and entry[key] for key in ("server", "name"))


def of_sections(sections: Iterable[Section]) -> list[Tool]:
    """Return the tools of the Lua Oasis's registry; sections that only hold what the owner set are skipped."""
    found = []
    for section in sections:
        options: dict[str, Json] = {
            key: value if isinstance(value, str) else list(value) for key, value in section.options.items()
        }
        if section.type == "tool" and _is_named(options) and any(key in options for key in _TELLING):
            split = [[*text.split(":", 2), "", ""] for text in _texts(options.get("property"))]
            is_open = str(options.get("additionalProperties", "0")).lower() not in _NO
            tool = _tool(options, [(one[0], one[1], one[2]) for one in split], is_open)
            kind = str(options.get("script") or "manual")
            tool["kind"] = kind if kind in _KINDS.values() else "manual"
            tool["path"] = str(options.get("source_path") or "")
            found.append(tool)
    return found


def _tool(entry: Mapping[str, Json], properties: Iterable[tuple[Json, Json, Json]], is_open: bool) -> Tool:
    """Return a tool of (name, type, description) triples; its script is filled in by the caller.

    An argument without a description stays, and a required one that nobody described is text.
    """
    required = _texts(entry.get("required"))
    made: dict[str, Json] = {}
    for name, kind, words in properties:
        if isinstance(name, str) and name:
            described = {"description": clean.line(words)} if isinstance(words, str) and words else {}
            made[name] = {"type": _TYPES.get(str(kind), "string"), **described}
    for name in required:
        made.setdefault(name, {"type": "string"})
    schema: Schema = {"type": "object", "properties": made, "required": [*required], "additionalProperties": is_open}
    description = entry.get("description")
    says = [entry.get(key) for key in ("execution_message", "download_message")]
    return {
        "server": str(entry["server"]),
        "name": str(entry["name"]),
        "description": description if isinstance(description, str) else "",
        "input_schema": schema,
        "says": [clean.line(text) for text in says if isinstance(text, str) and text],
        "timeout_s": seconds(entry.get("timeout")),
        "kind": "manual",
        "path": "",
    }


def seconds(given: Json) -> int:
    """Return how long a call may take; some tools give it in milliseconds."""
    text = str(given) if isinstance(given, (int, str)) and not isinstance(given, bool) else ""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    return min(number // 1000 if number > MOST_S else number, MOST_S) or TIMEOUT_S


def _texts(given: Json) -> list[str]:
    items = given if isinstance(given, list) else [given]
    return list(dict.fromkeys(item for item in items if isinstance(item, str) and item))


PROGRAMS = "/usr/libexec/rpcd"
SCRIPTS = "/usr/share/rpcd/ucode"
SCRIPT_BYTES = 512 * 1024
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\Z")
# First words of objects that a router has without us; each alone, or before a dot or a dash.
BASE = (
    "container", "dhcp", "dnsmasq", "dropbear", "file", "firewall", "hostapd", "hotplug", "iwinfo", "log", "luci",
    "luci2", "network", "netifd", "odhcpd", "procd", "rc", "rpc", "rpcd", "service", "session", "system", "ubus",
    "uci", "udebug", "uhttpd", "umdns", "wireless", "wpa_supplicant",
)  # fmt: skip
# Our own objects (bus/objects.py, compared by a test); upstream's tool servers begin with the same word.
OURS = (
    "oasis", "oasis.agent", "oasis.alias", "oasis.audit", "oasis.bookmark", "oasis.change", "oasis.chat",
    "oasis.config", "oasis.doctor", "oasis.knowledge", "oasis.mcp", "oasis.memory", "oasis.notice", "oasis.plan",
    "oasis.plugin", "oasis.privacy", "oasis.run", "oasis.schedule", "oasis.secret", "oasis.service", "oasis.setup",
    "oasis.skill", "oasis.system", "oasis.telegram", "oasis.title", "oasis.tool", "oasis.tool.edge",
    "oasis.tool.manager", "oasis.topic", "oasis.upload", "oasis.upstream", "oasis.usage",
)  # fmt: skip


def find(root: Root, server: str) -> Script:
    """Return the file of a tool server.

    Raises: PolicyError saying why no file counts.
    """
    if not _NAME.match(server):
        raise PolicyError(f"{server[:64]!r} cannot be the name of a tool server")
    if server in OURS:
        raise PolicyError(f"{server} is an object of Oasis itself and no tool server")
    if re.split(r"[.-]", server)[0] in BASE:
        raise PolicyError(f"{server} belongs to the router's own system and is no tool server")
    found = [one for one in (_program(root, server), *_published(root, server)) if one]
    if not found:
        raise PolicyError(
            f"{server} is no plugin of rpcd", f"there is neither {PROGRAMS}/{server} nor a script that names it"
        )
    if len(found) > 1:
        several = ", ".join(one["path"] for one in found)
        raise PolicyError(f"{server} is named by more than one file", f"remove all but one: {several}")
    return found[0]


def paths(root: Root, server: str) -> list[str]:
    """Return every path of this host that could be behind a server, to be watched for changes."""
    return [root.path(PROGRAMS + "/" + server), *(root.path(path) for path in _ucode(root))]


def _program(root: Root, server: str) -> Script | None:
    path = PROGRAMS + "/" + server
    if not os.path.lexists(root.path(path)):
        return None
    data = _read(root, path)
    if not os.access(root.path(path), os.X_OK):
        raise PolicyError(f"{path} is not executable, so rpcd does not run it")
    return {"path": path, "kind": "lua", "data": data}


def _published(root: Root, server: str) -> list[Script]:
    name = re.escape(server.encode())
    # `server.tool("NAME", …)` of upstream, or a key of what the script returns to rpcd.
    wanted = re.compile(rb"tool\s*\(\s*([\"'])%s\1\s*,|([\"'])%s\2\s*:|(?<![\w.\"'-])%s\s*:\s*\{" % (name, name, name))
    found: list[Script] = []
    for path in _ucode(root):
        data = _read(root, path)
        if wanted.search(data):
            found.append({"path": path, "kind": "ucode", "data": data})
    return found


def _ucode(root: Root) -> list[str]:
    try:
        names = sorted(os.listdir(root.path(SCRIPTS)))
    except OSError:
        return []
    return [SCRIPTS + "/" + name for name in names if name.endswith(".uc")]


def _read(root: Root, path: str) -> bytes:
    """Return the bytes of a plugin's file.

    Raises: PolicyError when it is a link, no file, too long, or somebody else could change it.
    """
    try:
        number = os.open(root.path(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise PolicyError(f"{path} cannot be read: {error.strerror}", "a link does not count")
    try:
        state = os.fstat(number)
        if state.st_mode & 0o170000 != 0o100000:
            raise PolicyError(f"{path} is no file")
        if state.st_uid != os.geteuid() or state.st_mode & 0o022:
            raise PolicyError(f"others than root can write to {path}", f"chown root {path}; chmod go-w {path}")
        with open(number, "rb", closefd=False) as handle:
            data = handle.read(SCRIPT_BYTES + 1)
    finally:
        os.close(number)
    if len(data) > SCRIPT_BYTES:
        raise PolicyError(f"{path} is longer than {SCRIPT_BYTES} bytes", "nobody reviews that much")
    return data
