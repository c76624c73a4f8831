"""The MCP servers that the owner set up: sections of UCI, what each was last seen to have, and lines opened when used.

    config mcp_server 'files'
        option enabled '1'
        list command 'node'  list command '/opt/files.js'     a program, argument by argument; or
        option url 'https://mcp.example.org/mcp'              an address; its token is in keys.json under mcp:NAME
        option timeout '60'

Upstream's sections `remote_mcp_server` (server_label, server_url, allowed_tools) are read as well. A server is asked
what it has only when the owner asks (`refresh`) or when it says that this changed; the list is kept on flash, so that
a start of the router waits for nobody. Calls connect by themselves, and once more when the server has gone.

What servers were last seen to have is kept on flash, with the tools that a model may be offered. All of it is words of
others: a list is bounded when it is written, and a damaged file is read as empty.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from oasis.config.settings import is_at_home, write
from oasis.core import clean, jsonl
from oasis.errors import OasisError, SchemaError, StoreError, ToolError, UsageError
from oasis.parts.mcp.server_connection import ITEMS, USER, ForgottenError, Http, Peer, Stdio, whose
from oasis.tools.router import dicts

if False:  # annotations only
    from typing import TypeVar

    from oasis.api.parts import Services
    from oasis.change.shapes import Role
    from oasis.parts.mcp.shapes import Entry, Kept, Line, Message, ServerRow
    from oasis.system.files import Files
    from oasis.tools.router import Watch
    from oasis.tools.shapes import Arguments, GivenSpec, Schema
    from oasis.uci import model
    from oasis.uci.edit import Step

    T = TypeVar("T")


_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")
NAME_CHARS = 24
TIMEOUT_S, MOST_S = 60, 600


class Server:
    """One server, as a source of the registry (tools/registry.py); what it has is kept in the file at `path`."""

    def __init__(self, settings: Entry, connect: Callable[[Entry], Line], files: Files, path: str) -> None:
        self.settings = settings
        self.name = "mcp:" + settings["name"]
        self._connect = connect
        self._files = files
        self._path = path
        self._lock = threading.Lock()  # of who opens the line, which takes its time
        self._holding = threading.Lock()
        self._is_over = False
        self._peer: Peer | None = None
        self._line: Line | None = None
        self._kept: Kept | None = None
        self._specs: list[GivenSpec] | None = None
        self.fault = ""

    def _had(self) -> Kept:
        """Return what the server had when it was last asked: nothing when it never was or the file cannot be read."""
        if self._kept is None:
            try:
                found = jsonl.loads(self._files.read(self._path) or b"{}", LIST_BYTES)
            except SchemaError:
                found = {}
            known = found if isinstance(found, dict) else {}  # whatever became of the file
            has = known.get("has")
            names = [one for one in has if isinstance(one, str)] if isinstance(has, list) else []
            self._kept = {"tools": dicts(known.get("tools")), "has": names}
        return self._kept

    def specs(self) -> list[GivenSpec]:
        """Return what the server had when it was last asked, as the registry wants it."""
        if self._specs is not None:
            return self._specs
        settings, kept = self.settings, self._had()
        found: list[tuple[str, str, Schema, str]] = []  # name, description, schema, class
        for tool in kept["tools"]:
            own, schema, hints = tool.get("name"), tool.get("inputSchema"), tool.get("annotations")
            if not isinstance(own, str) or not own or (settings["allowed"] and own not in settings["allowed"]):
                continue
            schema, hints = (one if isinstance(one, dict) else {} for one in (schema, hints))
            kind = "danger" if hints.get("destructiveHint") is True else "change"
            kind = "read" if hints.get("readOnlyHint") is True else kind
            title = clean.line(tool.get("description") or tool.get("title") or own)
            found.append((own, title, {"type": "object", **schema}, kind))
        for own, (needs, words, arguments) in EXTRAS.items():
            if needs in kept["has"]:
                properties: Schema = {key: {"type": "string", "description": text} for key, text in arguments.items()}
                if own == "prompt":
                    properties["arguments"] = {"type": "object", "description": "to fill in"}
                schema = {"type": "object", "properties": properties, "required": list(arguments)}
                title = words.format(settings["name"])
                found.append((own, title, {**schema, "additionalProperties": False}, "read"))
        # That a tool only looks is the server's own claim: the owner is asked.
        self._specs = [
            {"name": settings["name"] + SEPARATOR + own, "description": title, "input_schema": schema, "class": kind,
             "timeout_s": settings["timeout_s"], "approval": "ask", "untrusted": whose(settings["name"])}
            for own, title, schema, kind in found
        ]  # fmt: skip
        return self._specs

    def call(self, name: str, arguments: Arguments, operator: object, watch: Watch) -> Message:
        """Call a tool of the server; connects where that is needed.

        Raises: ToolError with the server's words, or ours.
        """
        own = name.partition(SEPARATOR)[2]  # once, at the first: a tool's own name may hold the separator
        extra = "" if any(tool.get("name") == own for tool in self._had()["tools"]) else own  # see EXTRAS

        def work(peer: Peer) -> Message:
            if extra in ("resources", "prompts"):
                keys = ("uri", "name", "description", "mimeType", "arguments")
                items = peer.listed(extra, watch.left_s(TIMEOUT_S))
                return {"items": [{key: one[key] for key in keys if key in one} for one in items]}
            params: Message = {"name": own, "arguments": arguments}
            method, read = "tools/call", _content
            if extra == "read":
                method, params, read = "resources/read", {"uri": arguments["uri"]}, _contents
            elif extra == "prompt":
                method, read = "prompts/get", _prompt
                params = {"name": arguments["name"], "arguments": arguments.get("arguments", {})}
            result = read(peer.request(method, params, watch.left_s(MOST_S), watch.progress, watch.is_cancelled))
            if peer.is_changed:
                try:
                    self.refresh()
                except OasisError as error:  # that the new list cannot be had does not undo the call that was made
                    self.fault = error.message
            return result

        return self._on_line(work)

    def refresh(self) -> list[str]:
        """Ask the server what it has, keep that where it is something else, and return the names of its tools.

        Raises: ToolError when it cannot be reached, speaks no MCP or has too much; StoreError.
        """
        found: Kept = {
            "tools": self._on_line(lambda peer: peer.listed("tools")),
            "has": self._on_line(lambda peer: [one for one in ("resources", "prompts") if peer.has(one)]),
        }
        data = jsonl.dumps(found).encode()
        if len(data) > LIST_BYTES:
            what = "the MCP server %s describes its tools in %d bytes" % (self.settings["name"], len(data))
            raise ToolError(what, "let it offer less")
        if found != self._had():
            self._files.folder(os.path.dirname(self._path))
            self._files.replace(self._path, data)
        self._kept, self._specs = found, None
        return [str(one["name"]) for one in self.specs()]

    def _on_line(self, work: Callable[[Peer], T]) -> T:
        """Do what needs the line, and once more when the server has forgotten its session."""
        try:
            return work(self._opened())
        except ForgottenError:
            self.close()
            return work(self._opened())

    def _opened(self) -> Peer:
        with self._lock:
            if self._peer is not None and self._line is not None and self._line.is_alive():
                return self._peer
            self.close()
            line = self._connect(self.settings)
            peer = Peer(self.settings["name"], line)
            try:
                self._take(line, None)
                peer.connect()
                self._take(line, peer)
            except OasisError as error:
                self.close()
                self.fault = error.message
                raise
            self.fault = ""
            return peer

    def _take(self, line: Line, peer: Peer | None) -> None:
        """Hold a line; one that was closed while it was being opened is not held."""
        with self._holding:
            if not self._is_over and (peer is None or self._line is line):
                self._line, self._peer = line, peer
                return
        line.close()
        raise ToolError("the MCP server %s was switched off or changed" % self.settings["name"], "call it again")

    def close(self) -> None:
        """End the line, also one that is being opened; a later call opens another."""
        with self._holding:
            line, self._line, self._peer = self._line, None, None
        if line is not None:
            line.close()

    def end(self) -> None:
        """End the line for good: the server is off, or set up otherwise."""
        with self._holding:
            self._is_over = True
        self.close()

    def state(self) -> str:
        """Return how it stands with the line: connected, not connected, or what was wrong."""
        return self.fault or ("connected" if self._peer is not None else "not connected")


def read(sections: list[model.Section]) -> list[Entry]:
    """Return the servers of the settings, wrong ones with what is wrong in `note`."""
    found: dict[str, Entry] = {}
    for section in sections:
        if section.type not in ("mcp_server", "remote_mcp_server"):
            continue
        options, is_old = section.options, section.type == "remote_mcp_server"
        name = str(options.get("server_label" if is_old else "name") or section.name)
        url = str(options.get("server_url" if is_old else "url") or "")
        command, allowed = options.get("command", []), options.get("allowed_tools", [])
        command = [str(word) for word in command] if isinstance(command, list) else str(command).split()
        note = fault(name, command, url)
        seconds = str(options.get("timeout", TIMEOUT_S))
        is_number = seconds.isascii() and seconds.isdigit() and len(seconds) < 10
        found.setdefault(name, {
            "name": name, "command": command, "url": url, "note": note,
            "enabled": str(options.get("enabled", "0" if is_old else "1")) == "1" and not note,
            "timeout_s": min(int(seconds), MOST_S) if is_number and int(seconds) else TIMEOUT_S,
            "allowed": [str(one) for one in allowed] if isinstance(allowed, list) else str(allowed).split(),
        })  # fmt: skip
    return list(found.values())


def fault(name: str, command: list[str], url: str) -> str:
    """Return what is wrong with the settings of a server, "" for nothing."""
    if not name or len(name) > NAME_CHARS or set(name) - _NAME:
        return "the name may have letters, digits and -, %d at most" % NAME_CHARS
    if bool(command) == bool(url):
        return "either a command or a url is needed"
    scheme, slashes, rest = url.partition("://")
    is_plain = url.isascii() and url.isprintable() and not set(url) & set(" @#\"'<>\\")
    if url and not (scheme in ("http", "https") and slashes and is_plain and rest.partition("/")[0]):
        return "the url must be https://HOST/PATH, or http:// in the home network"
    if command and not command[0].startswith("/") and "/" in command[0]:
        return "the command must be a path from / or a name"
    return ""


def _content(result: Message) -> Message:
    """Return the result of a call as a tool tells it: its texts, and what else there was.

    Shape: {"text", "structured"?, "links"?: [uri], "left_out"?: [kinds of content], "is_error"?: True}
    """
    texts, links, left_out = [], [], []
    for block in dicts(result.get("content")):
        kind, resource = block.get("type"), block.get("resource")
        if kind == "text":
            texts.append(str(block.get("text", "")))
        elif kind == "resource" and isinstance(resource, dict) and isinstance(resource.get("text"), str):
            texts.append(resource["text"])
        elif kind == "resource_link":
            links.append(str(block.get("uri", ""))[:500])
        else:
            left_out.append(clean.line(kind)[:40])
    found: Message = {"text": "\n".join(texts)}
    if result.get("structuredContent") is not None and not texts:
        found["structured"] = result["structuredContent"]
    found.update({name: some[:ITEMS] for name, some in (("links", links), ("left_out", left_out)) if some})
    return {**found, "is_error": True} if result.get("isError") is True else found


def _contents(result: Message) -> Message:
    """Return what was read of a resource."""
    found = dicts(result.get("contents"))
    texts = [str(one["text"]) for one in found if isinstance(one.get("text"), str)]
    left = [clean.line(one.get("mimeType"))[:80] for one in found if "text" not in one]
    return {"text": "\n".join(texts), **({"left_out": left} if left else {})}


def _prompt(result: Message) -> Message:
    """Return the texts of a prompt."""
    contents = [one.get("content") for one in dicts(result.get("messages"))]
    return {"text": "\n\n".join(str(one["text"]) for one in dicts(contents) if isinstance(one.get("text"), str))}


class Servers:
    """The part `mcp` of one daemon: its methods, and the servers for the registry."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit
        self._lock = threading.Lock()
        self._servers: dict[str, Server] = {}

    def _entries(self) -> list[Entry]:
        return read(self._kit.settings.sections())

    def _file(self, name: str) -> str:
        return "%s/mcp/%s.json" % (self._kit.root.state_folder, name)

    def sources(self) -> list[Server]:
        """Return the servers that are on, for the registry."""
        with self._lock:
            wanted = {entry["name"]: entry for entry in self._entries()}
            gone = [one for name, one in self._servers.items() if one.settings != wanted.get(name)]
            for server in gone:
                del self._servers[server.settings["name"]]
            for name, entry in wanted.items():
                if entry["enabled"] and name not in self._servers:
                    self._servers[name] = Server(entry, self._connect, self._kit.files, self._file(name))
            found = [self._servers[name] for name in wanted if name in self._servers]
        _end(gone)
        return found

    def _connect(self, entry: Entry) -> Line:
        name = entry["name"]
        if not entry["url"]:
            # On a router as a user without rights; in a folder as who we are.
            return Stdio(name, entry["command"], {}, USER if self._kit.root.folder == "/" else "")
        token = self._kit.settings.key("mcp:" + name)
        if token and entry["url"].startswith("http://") and not is_at_home(entry["url"]):
            raise ToolError("the token of %s would be sent for all to read" % name, "give its address as https://…")
        return Http(name, entry["url"], token, self._kit.models.post)

    def close(self) -> None:
        """End all lines."""
        with self._lock:
            servers, self._servers = list(self._servers.values()), {}
        _end(servers)

    # Methods

    def mcp_list(self, role: Role) -> dict[str, list[ServerRow]]:
        """Return every server as the owner sees it; others see no arguments and no path, which may hold a token."""
        running = {server.settings["name"]: server for server in self.sources()}
        found: list[ServerRow] = []
        for entry in self._entries():
            server, where = running.get(entry["name"]), entry["url"] or " ".join(entry["command"])
            scheme, slashes, rest = entry["url"].partition("://")
            host = rest.partition("/")[0].partition("?")[0]
            origin = scheme + slashes + host if slashes else where.partition(" ")[0]
            found.append({
                "name": entry["name"], "enabled": entry["enabled"],
                "where": where if role["name"] == "owner" else origin,
                "state": server.state() if server else "off", "tools": len(server.specs()) if server else 0,
                "has_token": bool(entry["url"] and self._kit.settings.key("mcp:" + entry["name"])),
            })  # fmt: skip
            if entry["note"]:
                found[-1]["note"] = entry["note"]
        return {"servers": found}

    def mcp_add(self, name: str, command: list[str] | None = None, url: str = "") -> dict[str, str]:
        """Set up a server; it is on, and its tools are off.

        Raises: UsageError for a name that is taken, or settings that cannot be.
        """
        wrong = fault(name, command or [], url)
        if wrong:
            raise UsageError(wrong, "like: oasis servers add files node /opt/files.js")
        if any(entry["name"] == name for entry in self._entries()):
            raise UsageError("there is an MCP server %r already" % name, "remove it first")
        section = "@mcp_server[-1]"
        steps: list[Step] = [{"op": "add", "type": "mcp_server"}]
        steps += [{"op": "set", "section": section, "option": key, "value": value}
                  for key, value in (("name", name), ("url", url)) if value]  # fmt: skip
        steps += [{"op": "add_list", "section": section, "option": "command", "value": word} for word in command or []]
        write(self._kit.cursor(), steps)
        return {"status": "OK"}

    def mcp_delete(self, name: str) -> dict[str, str]:
        """Remove a server, its token and what was kept of it. Raises: UsageError when there is none."""
        self._check(name)
        sections = self._kit.settings.sections()
        named = [one.name for one in sections if any(entry["name"] == name for entry in read([one]))]
        write(self._kit.cursor(), [{"op": "delete", "section": str(one)} for one in named])
        self.sources()  # which ends its line
        try:
            self._kit.files.remove(self._file(name))
        except (OSError, StoreError):
            pass  # it was never asked
        self._kit.settings.set_key("mcp:" + name, "")
        return {"status": "OK"}

    def mcp_key(self, name: str, key: str) -> dict[str, str]:
        """Keep the token of a server; an empty one removes it."""
        self._check(name)
        self._kit.settings.set_key("mcp:" + name, key)
        return {"status": "OK"}

    def _check(self, name: str) -> None:
        if not any(entry["name"] == name for entry in self._entries()):
            raise UsageError("there is no MCP server %r" % clean.line(name)[:64], "list them: oasis servers")

    def mcp_refresh(self, name: str) -> dict[str, list[str]]:
        """Ask a server what it has, see Server.refresh. Raises: UsageError when it is not set up or is off."""
        for server in self.sources():
            if server.settings["name"] == name:
                return {"tools": server.refresh()}
        raise UsageError("there is no MCP server %r that is on" % clean.line(name)[:64], "list them: oasis servers")


gather = Servers


def _end(servers: list[Server]) -> None:
    """End servers, all at once: each may take its time, and who stops the daemon has little."""
    ending = [threading.Thread(target=server.end, daemon=True) for server in servers]
    for one in ending:
        one.start()
    for one in ending:
        one.join()


SEPARATOR = "___"
LIST_BYTES = 512 * 1024
# In addition to a server's tools: its resources and prompts, if it claims to have some.
EXTRAS: dict[str, tuple[str, str, dict[str, str]]] = {
    "resources": ("resources", "List the resources of the server {}: addresses, names, what they are.", {}),
    "read": ("resources", "Read a resource of the server {}.", {"uri": "its address"}),
    "prompts": ("prompts", "List the prompts that the server {} offers.", {}),
    "prompt": ("prompts", "Get a prompt of the server {}, filled in.", {"name": "its name"}),
}
