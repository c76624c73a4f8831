"""Tool servers that were made for the Lua Oasis: their manifests and files, the owner's review, and their calls.

Each reviewed server is a source of the tool registry.

Tools are read from manifests (version 1) and from the Lua Oasis's `tool` sections of UCI. Entries without a name are
left out, long texts cut, nonsense replaced by the default. Source: the manifests and sections that its setup program
writes and reads.

A bus object counts as a tool server only with a plugin file of rpcd behind it: the program /usr/libexec/rpcd/NAME, or
one script /usr/share/rpcd/ucode/*.uc that publishes NAME. Objects of the base system and our own never count, whatever
a manifest says. The file must belong to root, and nobody else may have write access.

A server is called only while its file is the one that the owner reviewed:

    config plugin
        option server 'oasis.lua.template.tool'
        option sha256 '…'

The file is read again before each call; if it has changed, all of the server's tools are off.

Results: reserved fields are taken out, the rest goes to the model. `user_only` goes to the owner alone, at any depth
and also from the JSON text that `result` may be; `reboot`, `shutdown` and `prepare_service_restart` are requests that
the owner is asked about. Fields that are ours (`is_error`, `untrusted`) cannot be forged. `error`, `message`, `note`
and the like pass. Source: the tool client of the Lua Oasis.
"""

from __future__ import annotations

import functools
import os
import re
import threading

from oasis.bus.objects import objects
from oasis.change.audit import NO_PLAN
from oasis.config.settings import write
from oasis.core import clean, jsonl
from oasis.errors import OasisError, PolicyError, SchemaError, ToolError, UsageError
from oasis.parts.lua.manifest import FOLDER
from oasis.system.digest import is_equal, sha256
from oasis.tools.router import Watched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from oasis.api.parts import Services
    from oasis.change.shapes import Role
    from oasis.core.shapes import Any, Json
    from oasis.parts.lua.shapes import PluginList, PluginRow, Review, Schema, Tool, Wishes
    from oasis.system.root import Root
    from oasis.tools.operator import Operator
    from oasis.tools.router import Watch
    from oasis.uci.edit import Step
    from oasis.uci.model import Section

    Values = dict[str, Json]
    Call = Callable[[str, Values, Operator, Watch], Values]


MANIFEST_BYTES = 256 * 1024
TOOLS = 200  # of one manifest
TIMEOUT_S, MOST_S = 60, 600
# Older ones say `script_type` and `script_path`.
_KINDS = {"lua_script": "lua", "ucode_script": "ucode", "manual": "manual", "lua": "lua", "ucode": "ucode"}
# The Lua Oasis's words for types, and those of JSON Schema; every other one is text, as there.
_TYPES = ("integer", "number", "boolean", "array", "object")
_NO = ("0", "off", "no", "false", "")
# Options that only the Lua Oasis writes: without them a section holds only what the owner set for a tool.
_TELLING = ("description", "script", "property")


def of_file(data: bytes) -> list[Tool]:
    """Return the tools of a manifest. Raises: SchemaError when it is no manifest of version 1."""
    given = jsonl.loads(data, MANIFEST_BYTES)
    if not isinstance(given, dict) or given.get("version") != 1 or isinstance(given["version"], bool):
        raise SchemaError("it is no manifest of version 1")
    kind, tools = _KINDS.get(str(given.get("source_type") or given.get("script_type"))), given.get("tools")
    if kind is None or not isinstance(tools, list):
        raise SchemaError("it has no tools of a known kind", "source_type is one of lua_script, ucode_script, manual")
    path = given.get("source_path") or given.get("script_path")
    found: list[Tool] = []
    for one in tools[:TOOLS]:
        if isinstance(one, dict) and _is_named(one):
            properties = one.get("properties")
            listed = [item for item in properties if isinstance(item, dict)] if isinstance(properties, list) else []
            triples = [(item.get("name"), item.get("type"), item.get("description")) for item in listed]
            tool = _tool(one, triples, one.get("additional_properties") is True)
            found.append({**tool, "kind": kind, "path": path if isinstance(path, str) else ""})
    return found


def _is_named(entry: Mapping[str, Json]) -> bool:
    return all(isinstance(entry.get(key), str) and entry[key] for key in ("server", "name"))


def of_sections(sections: Iterable[Section]) -> list[Tool]:
    """Return the tools of the Lua Oasis's registry; sections that only hold what the owner set are skipped."""
    found: list[Tool] = []
    for section in sections:
        options: dict[str, Json] = {
            key: value if isinstance(value, str) else list(value) for key, value in section.options.items()
        }
        if section.type == "tool" and _is_named(options) and any(key in options for key in _TELLING):
            split = [[*text.split(":", 2), "", ""] for text in _texts(options.get("property"))]
            is_open = str(options.get("additionalProperties", "0")).lower() not in _NO
            tool = _tool(options, [(one[0], one[1], one[2]) for one in split], is_open)
            kind = str(options.get("script") or "manual")
            kind = kind if kind in _KINDS.values() else "manual"
            found.append({**tool, "kind": kind, "path": str(options.get("source_path") or "")})
    return found


def _tool(entry: Mapping[str, Json], properties: Iterable[tuple[Json, Json, Json]], is_open: bool) -> Tool:
    """Return a tool of (name, type, description) triples; a required argument that nobody described is text."""
    required, description = _texts(entry.get("required")), entry.get("description")
    made: dict[str, Json] = {}
    for name, kind, words in properties:
        if isinstance(name, str) and name:
            described = {"description": clean.line(words)} if isinstance(words, str) and words else {}
            made[name] = {"type": kind if kind in _TYPES else "string", **described}
    for name in required:
        made.setdefault(name, {"type": "string"})
    schema: Schema = {"type": "object", "properties": made, "required": [*required], "additionalProperties": is_open}
    says = [entry.get(key) for key in ("execution_message", "download_message")]
    return {
        "server": str(entry["server"]), "name": str(entry["name"]),
        "description": description if isinstance(description, str) else "", "input_schema": schema,
        "says": [clean.line(text) for text in says if isinstance(text, str) and text],
        "timeout_s": seconds(entry.get("timeout")), "kind": "manual", "path": "",
    }  # fmt: skip


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


def find(root: Root, server: str) -> tuple[str, bytes]:
    """Return path and bytes of a tool server's file on the router. Raises: PolicyError saying why none counts."""
    if not _NAME.match(server):
        raise PolicyError(f"{server[:64]!r} cannot be the name of a tool server")
    if server in objects():
        raise PolicyError(f"{server} is an object of Oasis itself and no tool server")
    if re.split(r"[.-]", server)[0] in BASE:
        raise PolicyError(f"{server} belongs to the router's own system and is no tool server")
    found: list[tuple[str, bytes]] = []
    path = PROGRAMS + "/" + server
    if os.path.lexists(root.path(path)):
        found.append((path, _read(root, path)))
        if not os.access(root.path(path), os.X_OK):
            raise PolicyError(f"{path} is not executable, so rpcd does not run it")
    name = re.escape(server.encode())
    # `server.tool("NAME", …)` of upstream, or a key of what the script returns to rpcd.
    wanted = re.compile(rb"tool\s*\(\s*([\"'])%s\1\s*,|([\"'])%s\2\s*:|(?<![\w.\"'-])%s\s*:\s*\{" % (name, name, name))
    scripts = [(path, _read(root, path)) for path in _ucode(root)]
    found += [(path, data) for path, data in scripts if wanted.search(data)]
    if not found:
        hint = f"there is neither {PROGRAMS}/{server} nor a script that names it"
        raise PolicyError(f"{server} is no plugin of rpcd", hint)
    if len(found) > 1:
        several = ", ".join(path for path, _ in found)
        raise PolicyError(f"{server} is named by more than one file", f"remove all but one: {several}")
    return found[0]


def _ucode(root: Root) -> list[str]:
    try:
        names = sorted(os.listdir(root.path(SCRIPTS)))
    except OSError:
        return []
    return [SCRIPTS + "/" + name for name in names if name.endswith(".uc")]


def _read(root: Root, path: str) -> bytes:
    """Return a plugin's file. Raises: PolicyError for a link, a long one, or one that somebody else could change."""
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


MANIFESTS = 64
# What the owner reads of a file before they accept it; the whole stands in the file.
LINES = 200
LINE_CHARS = 300
WORDS = "a plugin runs as root: it can do anything with this router. Accept it only when you trust who wrote it"
_HINTS = {
    "not found": "rpcd does not know it yet: /etc/init.d/rpcd reload",
    "no data": "it said nothing, or rpcd ended it after its own timeout",
}


class Plugin:
    """One tool server, as a source of the registry; `specs()` is always the same list."""

    def __init__(self, server: str, specs: list[Values], call: Call) -> None:
        self.name = "plugin:" + server
        self.specs = lambda: specs
        self.call = call


class Plugins:
    """The part `plugin`: all tool servers of one daemon, and its methods."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit
        self._root = kit.root
        self._files = kit.files
        self._sections = kit.settings.uci_sections
        self._lock = threading.Lock()
        self._watched = Watched()
        self._key: object = None
        self._found: list[Plugin] = []
        self._manifests: dict[str, tuple[object, list[Tool], str]] = {}

    def sources(self) -> list[Plugin]:
        """Return the tool servers for the registry; the same list while nothing changed."""
        with self._lock:
            sections = [one for one in self._sections() if one.type in ("tool", "plugin")]
            tools, _ = self._tools(sections)
            # Every path of this host that could be behind a server.
            paths = {self._root.path(path) for path in _ucode(self._root)}
            paths |= {self._root.path(PROGRAMS + "/" + tool["server"]) for tool in tools}
            stamps = [(path, self._files.stamp(path)) for path in sorted(paths if tools else ())]
            key = ([repr(sorted(one.options.items())) for one in sections], tools, stamps)
            if key != self._key:
                self._key, self._found = key, []
                for server, own in _by_server(tools).items():
                    fault = self._state(server, sections)[1]
                    call = functools.partial(self._call, {tool["name"]: tool for tool in own})
                    self._found.append(Plugin(server, [_spec(tool, fault, tools) for tool in own], call))
            return self._found

    def _tools(self, sections: list[Section]) -> tuple[list[Tool], list[str]]:
        found: dict[tuple[str, str], Tool] = {}
        notes: list[str] = []
        folder = self._root.path(FOLDER)
        for name in [one for one in self._files.names(folder) if one.endswith(".json")][:MANIFESTS]:
            path = folder + "/" + name
            stamp = self._files.stamp(path)
            if path not in self._manifests or self._manifests[path][0] != stamp:  # it is read again when it has changed
                try:
                    self._manifests[path] = (stamp, of_file(self._files.read(path) or b""), "")
                except OasisError as error:
                    self._manifests[path] = (stamp, [], error.message)
            _, tools, fault = self._manifests[path]
            if fault:
                notes.append(clean.line(f"{name}: {fault}"))
                continue
            stale = [tool["path"] for tool in tools if tool["kind"] != "manual" and not self._has(tool["path"])]
            notes += [f"{clean.line(name)}: its script {clean.line(path)} is gone" for path in stale[:1]]
            for tool in tools if not stale else []:
                found.setdefault((tool["server"], tool["name"]), tool)
        for tool in of_sections(sections):
            found.setdefault((tool["server"], tool["name"]), tool)
        return list(found.values()), notes

    def _has(self, path: str) -> bool:
        is_plain = path.startswith("/") and ".." not in path.split("/") and "\0" not in path
        return not path or (is_plain and self._files.stamp(self._root.path(path)) is not None)

    def _state(self, server: str, sections: list[Section]) -> tuple[str, str]:
        """Return a server's state (accepted, new, changed, refused), and why it cannot be called or ""."""
        try:
            _, data = find(self._root, server)
        except PolicyError as error:
            return "refused", error.message
        found = [section.options for section in sections if section.type == "plugin"]
        reviewed = {str(one.get("server", "")): str(one.get("sha256", "")).lower() for one in found}
        if server not in reviewed:
            return "new", f"its file is not reviewed yet: oasis plugins review {server}"
        if not is_equal(reviewed[server], sha256(data)):
            return "changed", f"its file is not what you reviewed: oasis plugins review {server}"
        return "accepted", ""

    def _call(
        self, tools: dict[str, Tool], name: str, arguments: Values, operator: Operator, watch: Watch
    ) -> Values:  # fmt: skip
        """Call a tool, for as long as it may take. Raises: PolicyError when its file is not the reviewed one now."""
        tool, server = tools[name], tools[name]["server"]
        _, fault = self._state(server, self._sections())
        if fault:
            raise PolicyError(f"the tool {name} is off: {fault}")
        if tool["says"]:
            watch.progress("; ".join(tool["says"]))
        seconds = float(tool["timeout_s"])
        try:
            work: Callable[[], Any] = lambda: self._kit.ubus_call(server, name, arguments, seconds)  # noqa: E731
            shown, private, wishes = read(self._watched.run(name, work, watch.within(seconds)))
        except ToolError as error:
            hint = error.hint or next((_HINTS[words] for words in _HINTS if error.message.endswith(words)), "")
            raise ToolError(error.message, hint, untrusted=error.untrusted)
        asked = self._wished(server, wishes, operator)
        if asked:
            shown["asked"] = asked
        return {**shown, "user_only": private} if private else shown

    def _wished(self, server: str, wishes: Wishes, operator: Operator) -> Values:
        """Have the owner asked about what a result wishes for, whatever policy says of it; return the outcome."""
        before = list(operator.taint)
        operator.seeing([*before, _whose(server)])
        try:
            if "power" in wishes:
                registry = self._kit.turn_starter().registry
                told: Any = jsonl.loads(registry.call("power", {"action": wishes["power"]}, operator)[0])
                return {wishes["power"]: told or {"status": "done"}}
            service = wishes.get("restart", "")
            try:
                if not self._root.init_script(service):
                    return {}
            except UsageError:
                return {}  # the Lua Oasis drops a wish for a missing service, too
            operator.asking(True)
            try:
                result = operator.act(service, "restart")
                return {"restart": service, **{key: result[key] for key in ("status", "reason") if key in result}}
            except OasisError as error:
                return {"restart": service, "error": {**error.as_dict()}}  # type: ignore[dict-item]
            finally:
                operator.asking(False)
        finally:
            operator.seeing(before)

    # What the owner does

    def plugin_list(self) -> PluginList:
        """Return every tool server that is described, and what is wrong with descriptions."""
        sections = self._sections()
        tools, notes = self._tools(sections)
        rows: list[PluginRow] = []
        for server, own in _by_server(tools).items():
            state, note = self._state(server, sections)
            path = "" if state == "refused" else find(self._root, server)[0]
            names = [clean.name(tool["name"]) for tool in own]
            row: PluginRow = {"server": clean.name(server), "state": state, "path": path, "tools": names}
            rows.append({**row, "note": clean.line(note)} if note else row)
        return {"plugins": rows, "notes": notes}

    def plugin_review(self, server: str) -> Review:
        """Return what the owner looks at before they accept a server. Raises: UsageError, PolicyError."""
        tools = self._described(server)
        path, data = find(self._root, server)
        lines = data.decode("utf-8", "replace").split("\n")
        shown = [{key: tool[key] for key in ("name", "description", "input_schema", "kind")} for tool in tools]
        return {
            "server": server, "state": self._state(server, self._sections())[0], "path": path, "sha256": sha256(data),
            "words": WORDS, "lines": [clean.text(line)[:LINE_CHARS] for line in lines[:LINES]],
            "more": max(len(lines) - LINES, 0), "tools": clean.value(shown),
        }  # fmt: skip

    def _described(self, server: str) -> list[Tool]:
        tools = [tool for tool in self._tools(self._sections())[0] if tool["server"] == server]
        if not tools:
            raise UsageError(f"no manifest describes a tool server {clean.name(server)!r}", "list: oasis plugins")
        return tools

    def plugin_accept(self, role: Role, server: str, hash: str) -> dict[str, str]:
        """Note that the owner accepts the file with that sum; tools are enabled one by one. Raises: UsageError."""
        self._described(server)
        if not is_equal(hash, sha256(find(self._root, server)[1])):
            raise UsageError(f"the file of {server} does not have that sum", f"read it: oasis plugins review {server}")
        with self._lock:
            own = [one for one in self._sections() if one.type == "plugin" and one.options.get("server") == server]
            name = str(own[-1].name) if own else "@plugin[-1]"
            first: Step = {"op": "set", "section": name, "option": "server", "value": server}
            steps: list[Step] = [] if own else [{"op": "add", "type": "plugin"}, first]
            write(self._kit.cursor(), [*steps, {"op": "set", "section": name, "option": "sha256", "value": hash}])
        call = {"name": "plugin " + server, "sha256": hash}
        self._kit.audit.write("plugin accepted", {**NO_PLAN, "call": call}, str(role["name"]))
        return {"status": "OK"}


gather = Plugins


def _by_server(tools: list[Tool]) -> dict[str, list[Tool]]:
    servers = dict.fromkeys(tool["server"] for tool in tools)
    return {server: [tool for tool in tools if tool["server"] == server] for server in servers}


def _spec(tool: Tool, fault: str, tools: list[Tool]) -> Values:
    spec: Values = {
        "name": tool["name"], "description": tool["description"], "input_schema": tool["input_schema"],
        "class": "change", "timeout_s": 0, "untrusted": _whose(tool["server"]), "fault": fault,
    }  # fmt: skip
    others = [clean.name(one["server"]) for one in tools
              if one["name"] == tool["name"] and one["server"] != tool["server"]]  # fmt: skip
    # The Lua Oasis marks these as `conflict`.
    return {**spec, "note": "also a tool of " + ", ".join(others)} if others else spec


def _whose(server: str) -> str:
    return "words of the plugin " + clean.name(server)


# A table of neighbours fits; a run keeps 256 KiB of events.
OWNER_CHARS = 16 * 1024
# Nobody nests `result` more than twice; what is left stays text, without reserved fields.
_LAYERS = 3
_DEPTH = 32
_RESERVED = ("user_only", "is_error", "untrusted")


def read(reply: Values | None) -> tuple[Values, str, Wishes]:
    """Return what the model gets, what only the owner gets, and the wishes."""
    merged = dict(reply or {})
    # What stands as JSON text in `result` is lifted; the text itself is dropped, because it would hold all of it again.
    for layer in range(_LAYERS + 1):
        text = merged.get("result")
        if not isinstance(text, str) or not text.lstrip().startswith("{"):
            break
        try:
            inner = jsonl.loads(text, max_depth=_DEPTH)
        except SchemaError:
            break
        del merged["result"]
        if layer < _LAYERS and isinstance(inner, dict):
            merged.update(inner)
    wishes: Wishes = {}
    for action in ("reboot", "shutdown"):
        # Only `true` is a wish: anything else is a word about it.
        if merged.get(action) is True:
            wishes["power"] = action
            del merged[action]
    service = merged.pop("prepare_service_restart", None)
    if isinstance(service, str) and service:
        wishes["restart"] = service
    private: list[str] = []
    shown = {key: _public(value, private, 0) for key, value in merged.items() if key not in _RESERVED}
    if "user_only" in merged:
        private.insert(0, _text(merged["user_only"]))
    if shown.get("error"):
        shown["is_error"] = True
    return shown, "\n".join(filter(None, private))[:OWNER_CHARS], wishes


def _public(value: Json, private: list[str], depth: int) -> Json:
    """Return a value without its `user_only` fields at any depth; they are added to `private`."""
    if depth > _DEPTH:
        return None
    if isinstance(value, list):
        return [_public(item, private, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    private += [_text(item) for key, item in value.items() if key == "user_only"]
    return {key: _public(item, private, depth + 1) for key, item in value.items() if key != "user_only"}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else jsonl.dumps(value)
