"""The tool servers of one router: found, reviewed by the owner, and each a source of the registry (tools/registry.py).

What they offer is read from manifests in /etc/oasis/tool-manifest.d and upstream's `tool` sections; a manifest counts
more. A server is called only while the file behind it (scripts.py) is the one that the owner reviewed:

    config plugin
        option server 'oasis.lua.template.tool'
        option sha256 '…'

The file is read again before each call; where it has become another one, all of the server's tools are off.

Results: reserved fields are taken out, the rest goes to the model. `user_only` goes to the owner alone, at any depth
and also from the JSON text that `result` may be; `reboot`, `shutdown` and `prepare_service_restart` are requests that
the owner is asked about. Fields that are ours (`is_error`, `untrusted`) cannot be forged. `error`, `message`, `note`
and the like pass. Source: the tool client of the Lua Oasis.
"""

from __future__ import annotations

import threading
import time

from oasis.config.settings import write
from oasis.core import clean, jsonl
from oasis.errors import OasisError, PolicyError, SchemaError, UsageError
from oasis.parts.lua import plugin_manifest
from oasis.parts.lua.manifest import FOLDER
from oasis.system.digest import is_equal, sha256
from oasis.tools.router import Watch, Watched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.api.parts import Kit
    from oasis.system.files import Files
    from oasis.system.root import Root
    from oasis.tools.operator import Operator
    from oasis.uci.cursor import Cursor
    from oasis.uci.model import Section

    Tool = dict[str, Any]
    Bus = Callable[[str, str, dict[str, object], float], dict[str, object] | None]
    Use = Callable[[str, dict[str, Any], Operator], tuple[str, bool, list[str]]]


MANIFESTS = 64
# What the owner reads of a file before he accepts it; the whole stands in the file.
LINES = 200
LINE_CHARS = 300
WORDS = "a plugin runs as root: it can do anything with this router. Accept it only when you trust who wrote it"
_NEW = "its file is not reviewed yet: oasis plugins review %s"
_CHANGED = "its file is not what you reviewed: oasis plugins review %s"
_HINTS = {
    "not found": "rpcd does not know it yet: /etc/init.d/rpcd reload",
    "no data": "it said nothing, or rpcd ended it after its own timeout",
}


class Plugin:
    """One tool server, as a source of the registry."""

    def __init__(self, server: str, specs: list[dict[str, Any]], call: Callable[..., dict[str, Any]]) -> None:
        self.name = "plugin:" + server
        self._specs = specs
        self._call = call

    def specs(self) -> list[dict[str, Any]]:
        """Return the specs of its tools."""
        return self._specs

    def call(self, name: str, arguments: dict[str, Any], operator: Operator, watch: Watch) -> dict[str, Any]:
        """Call a tool of it."""
        return self._call(name, arguments, operator, watch)


class Plugins:
    """All tool servers of one daemon.

    `sections()` gives UCI as it is now, `bus` calls an object, `use` a tool of the registry: what a plugin wishes goes
    the way that it goes for a model.
    """

    def __init__(
        self, root: Root, files: Files, sections: Callable[[], list[Section]], cursor: Callable[[], Cursor], bus: Bus,
        use: Use, now_s: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._root = root
        self._files = files
        self._sections = sections
        self._cursor = cursor
        self._bus = bus
        self._use = use
        self._now_s = now_s
        self._lock = threading.Lock()
        self._watched = Watched()
        self._key: object = None
        self._found: list[Plugin] = []
        self._manifests: dict[str, tuple[object, list[Tool], str]] = {}

    # What there is

    def sources(self) -> list[Plugin]:
        """Return the tool servers, for the registry; the same ones while nothing changed."""
        with self._lock:
            sections = [one for one in self._sections() if one.type in ("tool", "plugin")]
            key = self._stamp(sections)
            if key != self._key:
                tools, _ = self._tools(sections)
                servers = list(dict.fromkeys(tool["server"] for tool in tools))
                self._found = [self._plugin(server, tools, _reviewed(sections)) for server in servers]
                self._key = key
            return self._found

    def _stamp(self, sections: list[Section]) -> object:
        """Return what is another value when anything is that the tools depend on."""
        words = [repr(sorted(one.options.items())) for one in sections]
        tools, _ = self._tools(sections)
        paths = {path for tool in tools for path in plugin_manifest.paths(self._root, tool["server"])}
        return words, tools, [(path, self._files.stamp(path)) for path in sorted(paths)]

    def _tools(self, sections: list[Section]) -> tuple[list[Tool], list[str]]:
        """Return the tools that are described, and what is wrong with manifests."""
        found: dict[tuple[str, str], Tool] = {}
        notes: list[str] = []
        folder = self._root.path(FOLDER)
        for name in [one for one in self._files.names(folder) if one.endswith(".json")][:MANIFESTS]:
            tools, fault = self._manifest(folder + "/" + name)
            if fault:
                notes.append(clean.line("%s: %s" % (name, fault)))
                continue
            stale = [tool["path"] for tool in tools if tool["kind"] != "manual" and not self._has(tool["path"])]
            notes += ["%s: its script %s is gone" % (clean.line(name), clean.line(path)) for path in stale[:1]]
            for tool in tools if not stale else []:
                found.setdefault((tool["server"], tool["name"]), tool)
        for tool in plugin_manifest.of_sections(sections):
            found.setdefault((tool["server"], tool["name"]), tool)
        return list(found.values()), notes

    def _manifest(self, path: str) -> tuple[list[Tool], str]:
        """Return the tools of a manifest, or what is wrong with it; read again when the file is another one."""
        stamp = self._files.stamp(path)
        known = self._manifests.get(path)
        if known is None or known[0] != stamp:
            try:
                known = (stamp, plugin_manifest.of_file(self._files.read(path) or b""), "")
            except OasisError as error:
                known = (stamp, [], error.message)
            self._manifests[path] = known
        return known[1], known[2]

    def _has(self, path: str) -> bool:
        is_plain = path.startswith("/") and ".." not in path.split("/") and "\0" not in path
        return not path or (is_plain and self._files.stamp(self._root.path(path)) is not None)

    def _plugin(self, server: str, tools: list[Tool], reviewed: dict[str, str]) -> Plugin:
        _, fault = self._state(server, reviewed)
        own = {tool["name"]: tool for tool in tools if tool["server"] == server}
        specs = [self._spec(tool, fault, _others(tool, tools)) for tool in own.values()]

        def call(name: str, arguments: dict[str, Any], operator: Operator, watch: Watch) -> dict[str, Any]:
            return self._call(own[name], arguments, operator, watch)

        return Plugin(server, specs, call)

    def _spec(self, tool: Tool, fault: str, others: list[str]) -> dict[str, Any]:
        spec = {key: tool[key] for key in ("name", "description", "input_schema")}
        spec.update({"class": "change", "timeout_s": 0, "untrusted": _whose(tool["server"]), "fault": fault})
        # Upstream's own mark for it is `conflict`.
        return {**spec, "note": "also a tool of " + ", ".join(others)} if others else spec

    def _state(self, server: str, reviewed: dict[str, str]) -> tuple[str, str]:
        """Return how it stands with a server (accepted, new, changed, refused), and why it cannot be called or ""."""
        try:
            data = plugin_manifest.find(self._root, server)["data"]
        except PolicyError as error:
            return "refused", error.message
        assert isinstance(data, bytes)
        if server not in reviewed:
            return "new", _NEW % server
        if not is_equal(reviewed[server], sha256(data)):
            return "changed", _CHANGED % server
        return "accepted", ""

    # A call

    def _call(self, tool: Tool, arguments: dict[str, Any], operator: Operator, watch: Watch) -> dict[str, Any]:
        """Call a tool; ends by itself: the program in its time, the owner when he says something.

        Raises: PolicyError when its file is not the reviewed one now, ToolError.
        """
        server, name = tool["server"], tool["name"]
        _, fault = self._state(server, _reviewed(self._sections()))
        if fault:
            raise PolicyError("the tool %s is off: %s" % (name, fault))
        if tool["says"]:
            watch.progress("; ".join(tool["says"]))
        seconds = float(tool["timeout_s"])
        inner = Watch(watch.progress, watch.is_cancelled, self._now_s, seconds)
        reply = self._watched.run(name, lambda: self._asked(server, name, arguments, seconds), inner)
        told, private, wishes = read(reply)
        asked = self._wished(server, wishes, operator)
        if asked:
            told["asked"] = asked
        return {**told, "user_only": private} if private else told

    def _asked(self, server: str, name: str, arguments: dict[str, Any], seconds: float) -> dict[str, object] | None:
        try:
            return self._bus(server, name, arguments, seconds)
        except OasisError as error:
            error.hint = error.hint or next((_HINTS[words] for words in _HINTS if error.message.endswith(words)), "")
            raise

    def _wished(self, server: str, wishes: dict[str, str], operator: Operator) -> dict[str, Any]:
        """Put to the owner what a plugin wishes to happen; return what came of it."""
        before = list(operator.taint)
        operator.seeing([*before, _whose(server)])
        try:
            if "power" in wishes:
                text, is_error, _ = self._use("power", {"action": wishes["power"]}, operator)
                return {wishes["power"]: _outcome(text, is_error)}
            if "restart" in wishes and self._has_service(wishes["restart"]):
                return {"restart": wishes["restart"], **_restarted(wishes["restart"], operator)}
            return {}
        finally:
            operator.seeing(before)

    def _has_service(self, name: str) -> bool:
        try:
            return bool(self._root.init_script(name))
        except UsageError:
            return False  # upstream drops a wish for what is not there, too

    # What the owner does

    def listed(self) -> dict[str, Any]:
        """Return every tool server that is described, and what is wrong with descriptions.

        Shape: {"plugins": [{"server", "state", "path", "tools": [name], "note"?}], "notes": [text]}
        """
        sections = self._sections()
        tools, notes = self._tools(sections)
        reviewed = _reviewed(sections)
        servers = list(dict.fromkeys(tool["server"] for tool in tools))
        return {"plugins": [self._entry(one, tools, reviewed) for one in servers], "notes": notes}

    def _entry(self, server: str, tools: list[Tool], reviewed: dict[str, str]) -> dict[str, Any]:
        state, note = self._state(server, reviewed)
        names = [clean.name(tool["name"]) for tool in tools if tool["server"] == server]
        path = "" if state == "refused" else str(plugin_manifest.find(self._root, server)["path"])
        entry = {"server": clean.name(server), "state": state, "path": path, "tools": names}
        return {**entry, "note": clean.line(note)} if note else entry

    def review(self, server: str) -> dict[str, Any]:
        """Return what the owner looks at before he accepts a server.

        Shape: {"server", "state", "path", "sha256", "lines": [text], "more": lines that are left out, "tools": [spec],
        "words"}
        Raises: UsageError for a server that nothing describes, PolicyError for one that cannot be.
        """
        tools = self._described(server)
        script = plugin_manifest.find(self._root, server)
        data = script["data"]
        assert isinstance(data, bytes)
        lines = data.decode("utf-8", "replace").split("\n")
        state, _ = self._state(server, _reviewed(self._sections()))
        shown = [clean.text(line.replace("\n", " "))[:LINE_CHARS] for line in lines[:LINES]]
        told = [{key: tool[key] for key in ("name", "description", "input_schema", "kind")} for tool in tools]
        head = {"server": server, "state": state, "path": script["path"], "sha256": sha256(data), "words": WORDS}
        return {**head, "lines": shown, "more": max(len(lines) - LINES, 0), "tools": clean.value(told)}

    def _described(self, server: str) -> list[Tool]:
        tools = [tool for tool in self._tools(self._sections())[0] if tool["server"] == server]
        if not tools:
            raise UsageError("no manifest describes a tool server %r" % clean.name(server), "list: oasis plugins")
        return tools

    def accept(self, server: str, digest: str) -> None:
        """Note that the owner reviewed the file with that sum, and accepts it; each tool is still switched on alone.

        Raises: UsageError when the file is another one by now, PolicyError for a server that cannot be one.
        """
        self._described(server)
        data = plugin_manifest.find(self._root, server)["data"]
        assert isinstance(data, bytes)
        if not is_equal(digest, sha256(data)):
            raise UsageError(
                "the file of %s does not have that sum" % server, "read it: oasis plugins review " + server
            )
        with self._lock:
            self._store(server, digest)

    def _store(self, server: str, digest: str) -> None:
        place = {"section": "@plugin[-1]"}
        steps: list[dict[str, Any]] = []
        for section in self._sections():
            if section.type == "plugin" and section.options.get("server") == server:
                place["section"] = str(section.name)
        if place["section"].startswith("@"):
            steps.append({"op": "add", "type": "plugin"})
            steps.append({"op": "set", **place, "option": "server", "value": server})
        steps.append({"op": "set", **place, "option": "sha256", "value": digest})
        write(self._cursor(), steps)


def _reviewed(sections: list[Section]) -> dict[str, str]:
    found = [section.options for section in sections if section.type == "plugin"]
    return {str(one.get("server", "")): str(one.get("sha256", "")).lower() for one in found}


def _others(tool: Tool, tools: list[Tool]) -> list[str]:
    """Return the other servers that have a tool of that name."""
    return [clean.name(one["server"]) for one in tools
            if one["name"] == tool["name"] and one["server"] != tool["server"]]  # fmt: skip


def _whose(server: str) -> str:
    return "words of the plugin " + clean.name(server)


def _outcome(text: str, is_error: bool) -> dict[str, Any]:
    """Return what came of a wish: what the owner decided, or what was done."""
    try:
        told = jsonl.loads(text)
    except SchemaError:
        told = {}
    return told if isinstance(told, dict) and (is_error or told) else {"status": "done"}


def _restarted(service: str, operator: Operator) -> dict[str, Any]:
    """Have the owner asked about a restart, whatever policy says of it; return what came of it."""
    operator.asking(True)
    try:
        result = operator.act(service, "restart")
        return {key: result[key] for key in ("status", "reason") if key in result}
    except OasisError as error:
        return {"error": error.as_dict()}
    finally:
        operator.asking(False)


def gather(kit: Kit) -> Plugins:
    """Return the plugins of a daemon."""
    return Plugins(
        kit.root, kit.files, kit.settings.uci_sections, kit.cursor, kit.ubus_call,
        lambda *call: kit.exchanges().registry.call(*call), kit.clock.now_s,
    )  # fmt: skip


# A table of neighbours fits; a run keeps 256 KiB of events.
OWNER_CHARS = 16 * 1024
# `result` in `result`: more than two nobody writes, and what is left of it stays text without what is reserved.
_LAYERS = 3
_DEPTH = 32
_OURS = ("is_error", "untrusted")


def read(reply: dict[str, Any] | None) -> tuple[dict[str, Any], str, dict[str, str]]:
    """Return what the model is told, what the owner alone is told, and the wishes.

    Shape of the wishes: {"power"?: "reboot" | "shutdown", "restart"?: name of a service}
    """
    merged = _merged(dict(reply or {}))
    wishes: dict[str, str] = {}
    for action in ("reboot", "shutdown"):
        # Only `true` is a wish: anything else is a word about it.
        if merged.get(action) is True:
            wishes["power"] = action
            del merged[action]
    service = merged.pop("prepare_service_restart", None)
    if isinstance(service, str) and service:
        wishes["restart"] = service
    private: list[str] = []
    told = {key: _public(value, private, 0) for key, value in merged.items() if key not in ("user_only", *_OURS)}
    if "user_only" in merged:
        private.insert(0, _text(merged["user_only"]))
    if told.get("error"):
        told["is_error"] = True
    return told, "\n".join(filter(None, private))[:OWNER_CHARS], wishes


def _merged(reply: dict[str, Any]) -> dict[str, Any]:
    """Lift what stands as JSON text in `result`; the text itself does not stay, for it would hold all of it again."""
    for _ in range(_LAYERS):
        inner = _object(reply.get("result"))
        if inner is None:
            return reply
        del reply["result"]
        reply = {**reply, **inner}
    if _object(reply.get("result")) is not None:
        del reply["result"]
    return reply


def _object(text: object) -> dict[str, Any] | None:
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return None
    try:
        found = jsonl.loads(text, max_depth=_DEPTH)
    except SchemaError:
        return None
    return found if isinstance(found, dict) else None


def _public(value: Any, private: list[str], depth: int) -> Any:
    """Return a value without the fields of that name at any depth; they are added to `private`."""
    if depth > _DEPTH:
        return None
    if isinstance(value, list):
        return [_public(item, private, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    private += [_text(item) for key, item in value.items() if key == "user_only"]
    return {key: _public(item, private, depth + 1) for key, item in value.items() if key != "user_only"}


def _text(value: object) -> str:
    return value if isinstance(value, str) else jsonl.dumps(value)
