"""What tool servers say of their tools: manifests (version 1), and upstream's `tool` sections of UCI as they stand.

Reads values, opens nothing, and believes nothing: what has no name is left out, what is too long is cut, of what makes
no sense the usual is taken. Source: the manifests and sections that upstream's setup program writes and reads.

Shape of a tool: {"server", "name", "description", "input_schema", "says": [text for the owner while it runs],
"timeout_s", "kind": lua | ucode | manual, "path": of its script or ""}

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
    from collections.abc import Iterable
    from typing import Any

    from oasis.system.root import Root
    from oasis.uci.model import Section

    Tool = dict[str, Any]
    Script = dict[str, object]


MANIFEST_BYTES = 256 * 1024
TOOLS = 200  # of one manifest
TIMEOUT_S, MOST_S = 60, 600
# Older ones say `script_type` and `script_path`.
_KINDS = {"lua_script": "lua", "ucode_script": "ucode", "manual": "manual", "lua": "lua", "ucode": "ucode"}
# Upstream's words for types, and those of JSON Schema; every other one is text, as upstream has it.
_TYPES = {"integer": "integer", "number": "number", "boolean": "boolean", "array": "array", "object": "object"}
_NO = ("0", "off", "no", "false", "")
# An option that only upstream writes tells its sections from those in which an owner's word alone stands.
_TELLING = ("description", "script", "property")


def of_file(data: bytes) -> list[Tool]:
    """Return the tools of a manifest.

    Raises: SchemaError when it is none of version 1.
    """
    given = jsonl.loads(data, MANIFEST_BYTES)
    if not isinstance(given, dict) or given.get("version") != 1 or isinstance(given["version"], bool):
        raise SchemaError("it is no manifest of version 1")
    kind, tools = _KINDS.get(str(given.get("source_type") or given.get("script_type"))), given.get("tools")
    if kind is None or not isinstance(tools, list):
        hint = "source_type is one of lua_script, ucode_script, manual"
        raise SchemaError("it has no tools of a kind that is known", hint)
    path = given.get("source_path") or given.get("script_path")
    where = {"kind": kind, "path": path if isinstance(path, str) else ""}
    return [{**_of_entry(one), **where} for one in tools[:TOOLS] if isinstance(one, dict) and _is_named(one)]


def _is_named(entry: dict[str, Any]) -> bool:
    return all(isinstance(entry.get(key), str) and entry[key] for key in ("server", "name"))


def _of_entry(entry: dict[str, Any]) -> Tool:
    given = entry.get("properties")
    properties = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    triples = [(one.get("name"), one.get("type"), one.get("description")) for one in properties]
    return _tool(entry, triples, entry.get("required"), entry.get("additional_properties") is True)


def of_sections(sections: Iterable[Section]) -> list[Tool]:
    """Return the tools of upstream's registry; sections that only hold what the owner set are none."""
    found = []
    for section in sections:
        options: dict[str, Any] = section.options
        if section.type == "tool" and _is_named(options) and any(key in options for key in _TELLING):
            triples = [tuple([*text.split(":", 2), "", ""][:3]) for text in _texts(options.get("property"))]
            is_open = str(options.get("additionalProperties", "0")).lower() not in _NO
            kind = str(options.get("script") or "manual")
            tool = _tool(options, triples, options.get("required"), is_open)
            tool.update(kind=kind if kind in _KINDS.values() else "manual", path=str(options.get("source_path") or ""))
            found.append(tool)
    return found


def _tool(entry: dict[str, Any], properties: list[Any], required: object, is_open: bool) -> Tool:
    says = [clean.line(entry[key]) for key in ("execution_message", "download_message") if _is_text(entry.get(key))]
    return {
        "server": entry["server"],
        "name": entry["name"],
        "description": entry["description"] if _is_text(entry.get("description")) else "",
        "input_schema": schema(properties, _texts(required), is_open),
        "says": says,
        "timeout_s": seconds(entry.get("timeout")),
    }


def schema(properties: list[Any], required: list[str], is_open: bool) -> dict[str, Any]:
    """Return the JSON Schema of (name, type, description) triples.

    An argument without a description stays, and a required one that nobody described is text.
    """
    made: dict[str, Any] = {}
    for name, kind, description in properties:
        if _is_text(name):
            made[name] = {"type": _TYPES.get(str(kind), "string")}
            if _is_text(description):
                made[name]["description"] = clean.line(description)
    for name in required:
        made.setdefault(name, {"type": "string"})
    return {"type": "object", "properties": made, "required": required, "additionalProperties": is_open}


def seconds(given: object) -> int:
    """Return how long a call may take; some of upstream's tools tell it in thousandths."""
    text = str(given) if isinstance(given, (int, str)) and not isinstance(given, bool) else ""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    return min(number // 1000 if number > MOST_S else number, MOST_S) or TIMEOUT_S


def _texts(given: object) -> list[str]:
    items = given if isinstance(given, list) else [given]
    return list(dict.fromkeys(item for item in items if isinstance(item, str) and item))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


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
    """Return the file of a tool server: {"path": on the router, "kind": lua | ucode, "data": bytes}.

    Raises: PolicyError saying why there is none that counts.
    """
    if not _NAME.match(server):
        raise PolicyError("%r cannot be the name of a tool server" % server[:64])
    if server in OURS:
        raise PolicyError("%s is an object of Oasis itself and no tool server" % server)
    if re.split(r"[.-]", server)[0] in BASE:
        raise PolicyError("%s belongs to the router's own system and is no tool server" % server)
    found = [one for one in (_program(root, server), *_published(root, server)) if one]
    if not found:
        raise PolicyError(
            "%s is no plugin of rpcd" % server, "there is neither %s/%s nor a script that names it" % (PROGRAMS, server)
        )
    if len(found) > 1:
        raise PolicyError(
            "%s is named by more than one file" % server,
            "remove all but one: " + ", ".join(str(f["path"]) for f in found),
        )
    return found[0]


def paths(root: Root, server: str) -> list[str]:
    """Return every path of this host that could be behind a server: what to look at for changes."""
    return [root.path(PROGRAMS + "/" + server), *(root.path(path) for path in _ucode(root))]


def _program(root: Root, server: str) -> Script | None:
    path = PROGRAMS + "/" + server
    if not os.path.lexists(root.path(path)):
        return None
    data = _read(root, path)
    if not os.access(root.path(path), os.X_OK):
        raise PolicyError("%s is not executable, so rpcd does not run it" % path)
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
        raise PolicyError("%s cannot be read: %s" % (path, error.strerror), "a link does not count")
    try:
        state = os.fstat(number)
        if state.st_mode & 0o170000 != 0o100000:
            raise PolicyError("%s is no file" % path)
        if state.st_uid != os.geteuid() or state.st_mode & 0o022:
            raise PolicyError("others than root can write to %s" % path, "chown root %s; chmod go-w %s" % (path, path))
        with open(number, "rb", closefd=False) as handle:
            data = handle.read(SCRIPT_BYTES + 1)
    finally:
        os.close(number)
    if len(data) > SCRIPT_BYTES:
        raise PolicyError("%s is longer than %d bytes" % (path, SCRIPT_BYTES), "nobody reviews that much")
    return data
