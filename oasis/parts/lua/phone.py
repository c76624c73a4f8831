"""The methods that programs of the Lua Oasis call (manifest.py): its names and reply shapes, over our methods.

Everything is done by a method of ours in the role of the caller, so nothing is let through here that is not let
through there. What upstream did past its owner is not done: a tool that changes anything is not run by itself but is
asked for in a chat, the router is restarted by no call, and no icon file is removed. Upstream's gate `rpc.enable` is
not read: it made up for calls without a login, and each of these has the rights of a session.

Replies keep upstream's keys and add to them; a failure has `status`, `desc` and `error`, and whatever the phone
app needs to find in it.

`oasis.chat.send` does a whole turn in one call, for programs that cannot follow a run. The phone app gives a call 30 s,
needs a text in every reply, and sends its message again after any failure, then once more after a new login. So the
reply comes within SEND_S, with the answer or with what there is to report meanwhile, and a message sent again joins the
turn that it began:

    while that runs or waits for the owner          whoever sends it again, for the chat or for a new one
    for AGAIN_S after it was last asked for         until its end is known to have arrived: the session that got it has
                                                    called anything else, as the app does, or came without the web

Only methods are called here, by the role of the caller.
"""

from __future__ import annotations

import binascii
import re
import threading

from oasis.api.chat_methods import ICON_FILE, ICONS
from oasis.api.methods import failure
from oasis.api.table import Method, check
from oasis.change.uci_commands import fenced
from oasis.core import jsonl
from oasis.core import lua_chats as forms
from oasis.errors import OasisError, PolicyError, UsageError
from oasis.system.digest import sha256
from oasis.uci.model import listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from oasis.bus.calls import Waiters
    from oasis.core.shapes import Json
    from oasis.daemon.wiring import Daemon
    from oasis.parts.lua import shapes
    from oasis.parts.lua.shapes import Icons, Params, Reply, Role, StoredIcons

    Call = Callable[[str, Params, Role], Mapping[str, Any]]  # a method of ours by its name
    Rows = Mapping[str, Sequence[Any]]  # of BUS_METHODS


# Answers of upstream's, word by word: programs compare them.
OK, ERROR, NOT_FOUND, NOT_DONE, NO_COMMANDS = "OK", "ERROR", "NOT FOUND", "NG", "No Parsing ..."
_HIDDEN = ("oasis", "rpcd")  # of the packages that a message may have attached
_IMAGES = ("png", "jpg", "jpeg", "webp", "gif", "svg")
# The app asks for the whole list afterwards.
_CHATS = 200
# How long a call waits for a service to be restarted, or for the plan of it to wait.
_OPERATE_S = 15.0
# name:type:value as upstream has it, entries parted by "," or ";", and by blanks where the phone app joins them.
_ENTRY = re.compile(r"(?:^|[\s,;]+)([A-Za-z_][\w-]*):(string|number|integer|boolean|array|object):")


class Phone:
    """Upstream's methods on one daemon: `rows` are BUS_METHODS of the manifest. `now_s()` is monotonic."""

    def __init__(self, daemon: Daemon, waiters: Waiters, now_s: Callable[[], float], rows: Rows) -> None:
        self._daemon = daemon
        self._now_s = now_s
        self._rows = rows
        self._ask: Call = daemon.methods.call
        self._sending = Sending(self._ask, waiters, now_s)
        self.heard = self._sending.heard

    def call(self, name: str, params: Params, role: Role) -> Reply:
        """Call one of these methods; a missing argument is "". Raises: as they do, UsageError for what is no text."""
        method = Method(*self._rows[name])
        values = {**dict.fromkeys(method.arguments, ""), **check(name, params, method.arguments)}
        reply: Reply = getattr(self, method.function)(role, **values)
        return reply

    def failed(self, name: str, error: OasisError) -> Reply:
        """Return the reply to a call that failed, of upstream's methods or those that both have."""
        told = "\n".join(filter(None, (error.message, error.hint)))
        reply = {**failure(error), "status": ERROR, "desc": told}
        if name == "chat.send":  # without `content` the app sends the message once more
            reply.update(content=told, reboot=False, shutdown=False)
        elif name == "chat.load" and isinstance(error, UsageError):
            reply["status"] = NOT_FOUND
        elif name.startswith("tool.manager.set"):
            reply.update(status=NOT_DONE, comment=told)
        return reply

    def plain(self, reply: Mapping[str, Any]) -> Reply:
        """Return a thread with its messages as upstream's programs read them: a role and a text each."""
        return {**reply, "messages": forms.write(reply["messages"])["messages"]}

    def _base_info(self, role: Role) -> Reply:
        chats = self._ask("chat.list", {}, role)["item"][:_CHATS]
        services = self._ask("service.list", {}, role)["service"]
        names = listed(self._daemon.files.names(self._daemon.root.confdir))
        return {
            "icon": self._icons(),
            **self._load_sysmsg_list(role),
            "chat": {"item": _picked(chats, "id", "title")},
            "service": _picked(services, "identifier", "name", "model", "active"),
            "configs": [name for name in names if name not in _HIDDEN and not name.startswith(".")],
        }

    def _config(self, role: Role) -> Reply:
        path = self._daemon.settings.main().get("chat_path", "/etc/oasis/chats")
        return {"path": path, "prefix": "", "chat_max": "0"}  # 0: no limit

    def _confirm(self, role: Role) -> Reply:
        change = self._ask("change.pending", {}, role)["change"]
        if not change or change["state"] != "applied":
            return {"status": NOT_FOUND}
        diff = self._ask("change.load", {"change": change["id"]}, role)["change"]["diff"]
        commands = [command for part in diff for command in commands_of(part)]
        return {"status": OK, "uci_list": jsonl.dumps(proposal(commands)["uci_list"]), "change": change}

    def _analize(self, role: Role, message: str) -> Reply:
        commands = [str(item["command"]) for item in fenced(message) if item["kind"] == "change"]
        return {**proposal(commands)} if commands else {"status": NO_COMMANDS}

    def _load_sysmsg_list(self, role: Role) -> Reply:
        return {"sysmsg": _picked(self._ask("topic.list", {}, role)["topics"], "key", "title")}

    def _load_sysmsg_data(self, role: Role) -> Reply:
        topics = self._ask("topic.list", {}, role)["topics"]
        found = {topic["key"]: {"title": topic["title"], "chat": topic["text"]} for topic in topics}
        icons = self._icons()
        shown = {**icons["ctrl"], **icons["list"]} if icons["list"] else {}
        return {"general": {}, "title": {}, "icons": shown, **found}

    def _add_sysmsg_data(self, role: Role, title: str, message: str) -> Reply:
        key = self._ask("topic.add", {"title": title, "text": message}, role)["key"]
        return {"status": OK, "new_sysmsg_key": key}

    def _update_sysmsg_data(self, role: Role, target: str, title: str, message: str) -> Reply:
        return {**self._ask("topic.update", {"key": target, "title": title, "text": message}, role)}

    def _delete_sysmsg_data(self, role: Role, target: str) -> Reply:
        return {**self._ask("topic.delete", {"key": target}, role)}

    def _select_ai_service(self, role: Role, id: str, name: str, model: str) -> Reply:
        for item in self._ask("service.list", {}, role)["service"]:
            if item["identifier"] == id and name in ("", item["name"]) and model in ("", item["model"]):
                return {**self._ask("service.select", {"identifier": id}, role)}
        raise UsageError("there is no service %r of that name and model" % id, "ask for base_info again")

    def _service_operate(self, role: Role, cmd: str, service: str) -> Reply:
        if cmd not in ("restart", "reload"):
            raise PolicyError("a service is only restarted or reloaded here, not %r" % cmd, "LuCI: System, Startup")
        run = self._daemon.turn_starter().propose(
            lambda operator: operator.act(service, cmd), self._daemon.came(role), ()
        )
        story = self._sending.follow(run.id, role, self._now_s() + _OPERATE_S)
        text = story.text("")
        return {"status": OK, "message": text, "run": run.id} if not story.error else {"status": ERROR, "desc": text}

    def _system_confirm(self, role: Role, option: str) -> Reply:
        raise PolicyError("the router is neither restarted nor shut down from here", "LuCI: System, Reboot")

    # Icons: the page's own files and what an older Oasis left there

    def _icons(self) -> Icons:
        names = self._daemon.files.names(self._daemon.root.path("/www" + ICONS))
        images = [name for name in names if name.rpartition(".")[2].lower() in _IMAGES]
        stored = self._stored_icons()
        found = {"icon_%d" % number: name for number, name in enumerate(images, 1) if name not in stored["hidden"]}
        using = [key for key, name in found.items() if name == stored["using"]] or [*found, ""]
        return {"ctrl": {"path": ICONS, "using": using[0]}, "list": found}

    def _stored_icons(self) -> StoredIcons:
        data = self._daemon.files.read(self._daemon.root.state_folder + ICON_FILE)
        stored: StoredIcons = jsonl.shipped(data) if data else {"using": "", "hidden": []}
        return stored

    def _store_icons(self, icons: StoredIcons) -> Reply:
        self._daemon.files.replace(self._daemon.root.state_folder + ICON_FILE, jsonl.line(icons))
        return {"status": OK}

    def _icon(self, key: str) -> str:
        icons = self._icons()["list"]
        if key not in icons:
            raise UsageError("there is no icon %r" % key, "ask for load_icon_info")
        return icons[key]

    def _load_icon_info(self, role: Role) -> Reply:
        icons = self._icons()
        return {**icons} if icons["list"] else {"status": NOT_FOUND}

    def _select_icon(self, role: Role, using: str) -> Reply:
        return self._store_icons({**self._stored_icons(), "using": self._icon(using)})

    def _delete_icon(self, role: Role, target: str) -> Reply:
        stored = self._stored_icons()
        return self._store_icons({**stored, "hidden": [*stored["hidden"], self._icon(target)]})

    def _chat_send(self, role: Role, id: str, sysmsg_key: str, message: str) -> Reply:
        return self._sending.send(role, id, sysmsg_key, message)

    def _chat_create(self, role: Role, **messages: str) -> Reply:
        text = binascii.b2a_base64(_chat_file(messages, 3), newline=False).decode()
        upload = self._ask("upload.part", {"data": text, "name": "chat.json", "is_last": True}, role)["upload"]
        return {"status": OK, "id": self._ask("chat.import", {"upload": upload}, role)["chats"][0]["id"]}

    def _chat_append(self, role: Role, id: str, **messages: str) -> Reply:
        self._daemon.conversations().append(id, _chat_file(messages, 2))
        return {"status": OK}

    def _title_auto_set(self, role: Role, id: str) -> Reply:
        for item in self._ask("chat.list", {}, role)["item"]:
            if item["id"] == id:
                return {"status": OK, "title": item["title"]}  # made with the first answer
        raise UsageError("there is no chat %r" % id, "list them with: oasis list")

    def _title_manual_set(self, role: Role, id: str, title: str) -> Reply:
        if not title.strip():
            raise UsageError("a title has at least one character")
        self._ask("chat.rename", {"id": id, "title": title}, role)
        return {"status": OK, "title": title.strip()}

    def _tool_manager_get_tool_list(self, role: Role) -> Reply:
        tools = self._ask("tool.list", {}, role)["tools"]
        rows = [{"server": one["source"], "name": one["name"], "enable": _flag(one["enabled"])} for one in tools]
        return {"tool": rows}

    def _tool_manager_set_tool_disabled(self, role: Role, tool: str) -> Reply:
        return self._tool_manager_set_tool_enabled(role, tool, False)

    def _tool_manager_set_tool_enabled(self, role: Role, tool: str, is_on: bool = True) -> Reply:
        self._ask("tool.set", {"name": tool, "enabled": is_on}, role)
        return {"status": OK, "comment": "%s is %s" % (tool, "on" if is_on else "off")}

    def _tool_edge_tool_list(self, role: Role) -> Reply:
        schemas: dict[str, Any] = {
            spec["name"]: spec["input_schema"] for spec in self._daemon.turn_starter().registry.specs()
        }
        tools = self._ask("tool.list", {}, role)["tools"]
        found = {}
        for tool in tools:
            name, schema = tool["name"], schemas.get(tool["name"]) or {}
            # Upstream's registry has the properties as a list of name:type:description.
            given = [(key, one) for key, one in schema.get("properties", {}).items() if isinstance(one, dict)]
            found[name] = {
                "name": name, "server": tool["source"], "enable": _flag(tool["enabled"]), "type": "function",
                "description": tool["description"], "conflict": "0", "required": list(schema.get("required", [])),
                "property": ["%s:%s:%s" % (key, _type_of(one), one.get("description") or "") for key, one in given],
            }  # fmt: skip
        info = [{"name": name, "status": "loaded"} for name in sorted({tool["source"] for tool in tools})]
        return {"tools": found, "server_info": info, "local_tool": "1"}

    def _tool_edge_function_calling(self, role: Role, tool: str, param: str) -> Reply:
        found = [one for one in self._ask("tool.list", {}, role)["tools"] if one["name"] == tool]
        if not found:
            raise UsageError("there is no tool %r" % tool, "ask for tool_list")
        if found[0]["class"] != "read" or found[0]["approval"] != "allow":
            hint = "say what you want in the chat; what it changes is then shown to you before it is done"
            raise PolicyError("the tool %s is not run by itself: it may change something or reach others" % tool, hint)
        text = self._daemon.turn_starter().look(tool, arguments_of(param))
        reply: object = jsonl.loads(text)
        return reply if isinstance(reply, dict) else {"result": reply}


def _picked(rows: list[dict[str, Any]], *keys: str) -> list[dict[str, Any]]:
    return [{key: row[key] for key in keys} for row in rows]


def commands_of(part: shapes.PackageDiff) -> list[str]:
    """Return the difference of a package as commands, as far as its lines tell."""
    found, section = [], ""
    for line in part["lines"]:
        word, _, rest = line["text"].strip().partition(" ")
        name, _, value = rest.partition(" ")
        if word == "config":
            section = value.strip("'") or "@" + name.strip("'")
        elif word in ("option", "list") and line["op"] != " ":
            verbs = {"option": ("delete", "set"), "list": ("del_list", "add_list")}[word]
            found.append((verbs[line["op"] == "+"], "%s.%s.%s" % (part["package"], section, name), value.strip("'")))
    new = {path for verb, path, _ in found if verb == "set"}
    left = [one for one in found if one[0] != "delete" or one[1] not in new]
    return ["%s %s" % (verb, path if verb == "delete" else "%s=%s" % (path, value)) for verb, path, value in left]


def _flag(is_on: bool) -> str:
    return "1" if is_on else "0"


def _type_of(schema: Mapping[str, Any]) -> str:
    """Return the one type that upstream's programs read; a server of MCP may give several, or none."""
    given = schema.get("type")
    kinds = [kind for kind in (given if isinstance(given, list) else [given]) if kind != "null"]
    return str(kinds[0]) if kinds and kinds[0] else "string"


def _chat_file(messages: Mapping[str, str], count: int) -> bytes:
    """Return a chat file of the messages role1, content1, role2, …; incomplete ones are left out."""
    pairs = [(messages[f"role{number}"], messages[f"content{number}"]) for number in range(1, count + 1)]
    return jsonl.line({"messages": [{"role": role, "content": text} for role, text in pairs if role and text]})


def arguments_of(param: str) -> dict[str, Json]:
    """Return a tool's arguments as upstream's programs write them. Raises: UsageError, SchemaError for broken JSON."""
    param = param.strip()
    if not param or param[0] == "{":
        found = jsonl.loads(param or "{}")
        return found if isinstance(found, dict) else {}
    parts = _ENTRY.split(param)
    if parts[0]:
        raise UsageError("param is neither JSON nor name:type:value", "like name:string:lan")
    values: dict[str, Json] = {}
    for name, kind, text in zip(*[iter(parts[1:])] * 3, strict=True):
        text = text.strip()
        try:
            if kind == "boolean":
                values[name] = text.lower() in ("true", "1")
            else:
                values[name] = text if kind == "string" else jsonl.loads(text)
        except OasisError:
            raise UsageError("%r is no %s" % (text[:40], kind))
    return values


# With the start of a run and the way through the web server well below the 30 s of the app.
SEND_S = 23.0
AGAIN_S = 120.0
_RECEIVED = -1.0  # until when the same message joins a turn whose end is known to have arrived
_SLICE_MS = 3000
# Turns that are remembered: more than the phones of a house begin in two minutes.
_KEPT = 16
_OPEN = ("running", "waiting")
# A reply of the bus has 256 KiB, and one that is too long would have no content: then the app sends once more. Of what
# tools said it shows the names.
_CONTENT_CHARS = 40_000
_OUTPUTS, _OUTPUT_CHARS = 16, 500
_NOTES, _NOTE_CHARS = 8, 2000
_VERBS = ("set", "add", "add_list", "del_list", "delete", "reorder")


class _Sent:
    """A turn that a call began: until when the same message joins it though it has ended."""

    def __init__(self, run: str, chats: tuple[str, str], message: str, until_s: float) -> None:
        self.run = run
        self.chats = chats  # its chat, and the one that was wanted: "" where a new one was
        self.message = message  # its digest
        self.joined(until_s, "")

    def joined(self, until_s: float, session: str) -> None:
        """Note a reply; `session` is the one that got the end of the turn, "" for none."""
        self.until_s, self.session = until_s, session


class Sending:
    """The turns that programs start with a single call. `call(name, arguments, role)` calls a method."""

    def __init__(self, call: Call, waiters: Waiters, now_s: Callable[[], float]) -> None:
        self._call = call
        self._waiters = waiters
        self._now_s = now_s
        self._lock = threading.Lock()
        self._known: list[_Sent] = []

    def send(self, role: Role, chat: str, topic: str, message: str) -> Reply:
        """Give a message to a chat, "" for a new one, and return its answer; a run that fails is reported in it."""
        until_s = self._now_s() + SEND_S
        with self._lock:
            sent = self._sent(role, chat, message) or self._begin(role, chat, topic, message)
        story = self.follow(sent.run, role, until_s)
        session = "" if story.is_open else str(role.get("session", ""))
        with self._lock:  # without a session nothing tells later that the end arrived
            sent.joined(self._now_s() + AGAIN_S if story.is_open or session else _RECEIVED, session)
        name = sent.chats[0]
        titles = [one["title"] for one in self._call("chat.list", {}, role)["item"] if one["id"] == name]
        return {**story.reply(name), "id": name, "title": str(titles[0]) if titles else ""}

    def heard(self, session: str) -> None:
        """Note that a session calls something else: the last reply to it has arrived."""
        with self._lock:
            for sent in self._known:
                if session and sent.session == session:
                    sent.joined(_RECEIVED, session)

    def follow(self, run: str, role: Role, until_s: float) -> Story:
        """Follow a run until it ends, waits for its owner, or the time is over; return its story."""
        story, since = Story(), 0
        place = self._waiters.enter()
        try:
            while True:
                left_ms = max(int((until_s - self._now_s()) * 1000), 0)
                wait_ms = 0 if place[0] else min(left_ms, _SLICE_MS)
                params: Params = {"run": run, "since": since, "wait_ms": wait_ms}
                reply: shapes.Poll = self._call("run.poll", params, role)  # type: ignore[assignment]
                story.take(reply)
                since = reply["next"]
                if reply["state"] != "running" or wait_ms == 0:
                    return story
        finally:
            self._waiters.leave(place)

    def _sent(self, role: Role, chat: str, message: str) -> _Sent | None:
        """Return the turn that a message started before, if it should be joined."""
        digest = sha256(message.encode("utf-8", "replace"))
        for sent in reversed(self._known):
            if sent.message != digest or chat not in sent.chats:
                continue
            try:
                state = self._call("run.poll", {"run": sent.run, "since": 1 << 30}, role)["state"]
            except UsageError:
                state = ""  # long over
            if state in _OPEN or self._now_s() <= sent.until_s:
                return sent
        return None

    def _begin(self, role: Role, chat: str, topic: str, message: str) -> _Sent:
        params: Params = {"message": message, "chat": chat}
        if topic and not chat:
            known = [item["key"] for item in self._call("topic.list", {}, role)["topics"]]
            params["topic"] = topic if topic in known else "default"  # as upstream does
        run = self._call("run.start", params, role)
        digest = sha256(message.encode("utf-8", "replace"))
        sent = _Sent(run["run"], (run["chat"], chat), digest, self._now_s() + AGAIN_S)
        self._known = [*self._known[1 - _KEPT :], sent]
        return sent


class Story:
    """The events of a run as one text."""

    def __init__(self) -> None:
        self.is_open = True
        self.error: shapes.Failure | None = None  # where the run ended in one
        self._state = "running"
        self._said = [""]
        self._tools: list[shapes.ToolOutput] = []
        self._notes: list[str] = []
        self._plan: shapes.WaitingPlan | None = None
        self._change: shapes.AppliedChange | None = None

    def take(self, reply: shapes.Poll) -> None:
        """Take the next part of a run's events, as run.poll gives it."""
        self._state = reply["state"]
        self.is_open = self._state in _OPEN
        for event in reply["events"]:
            kind = event["type"]
            if kind == "delta":
                self._said[-1] += event["text"]
            elif kind == "reset":
                self._said = [event["text"]]
            elif kind == "message":
                self._said.append("")
            elif kind == "tool_result":
                self._tools.append({"tool_call_id": event["tool_use_id"], "name": event["name"],
                                    "output": event["text"][:_OUTPUT_CHARS]})  # fmt: skip
            elif kind == "note":  # what a tool has for the owner alone is one too
                self._notes.append(event["text"][:_NOTE_CHARS])
            elif kind in ("plan", "approval"):
                self._plan = event["plan"] if kind == "plan" else None
            elif kind == "change":
                self._change = event["change"]
            elif kind == "error":
                self.error = event["error"]

    def reply(self, chat: str) -> Reply:
        """Return the story in upstream's shape; `content` is never empty."""
        found: Reply = {"content": self.text(chat), "reboot": False, "shutdown": False}
        if self._tools:
            outputs = {"service": "oasis", "tool_outputs": self._tools[-_OUTPUTS:], "reboot": False, "shutdown": False}
            found["tool_info"] = jsonl.dumps(outputs)
        if self._plan is not None:
            found["uci_parse_tbl"] = proposal(self._plan["uci"])
        return found

    def text(self, chat: str) -> str:
        """Return what was said, and what goes on or waits."""
        said = "\n\n".join([text.strip() for text in self._said if text.strip()])
        if len(said) > _CONTENT_CHARS:
            said = "%s…\n(the rest is in chat %s on the router's Oasis page)" % (said[:_CONTENT_CHARS], chat)
        parts = [*([said] if said else []), *self._notes[-_NOTES:]]
        change = self._change
        if self._plan is not None:
            words = "\n".join("- " + word for word in self._plan["words"])
            parts.append(
                "A change waits for your approval: %s\n%s\n"
                "Approve or decline it in chat %s on the router's Oasis page, or in a shell with: oasis approve %s"
                % (self._plan["summary"], words, chat, self._plan["id"])
            )
        elif self._state == "waiting":
            parts.append("This waits for your word. Open chat %s on the router's Oasis page." % chat)
        elif change is not None and change["state"] == "applied" and change.get("confirm_in_s"):
            parts.append(
                "The change is applied and is undone automatically in %d s unless you keep it: open chat %s on the "
                "router's Oasis page and press Keep, or run: oasis confirm" % (change["confirm_in_s"], chat)
            )
        elif self.is_open:
            parts.append("I am still working on this. Open chat %s again in a moment for the rest; a change that needs "
                         "your word is approved on the router's Oasis page." % chat)  # fmt: skip
        if self.error is not None:
            parts.append("\n".join(filter(None, (self.error["message"], self.error["hint"]))))
        if self._state == "cancelled":
            parts.append("This was stopped.")
        return "\n\n".join(parts) or "Done."


def proposal(commands: list[str]) -> shapes.Proposal:
    """Return UCI commands in the shape of upstream's proposals."""
    found: dict[str, list[shapes.Param]] = {verb: [] for verb in _VERBS}
    for command in commands:
        verb, _, rest = command.removeprefix("uci ").partition(" ")
        if verb in found:
            is_quoted = rest[:1] + rest[-1:] == "''" and rest.count("'") == 2
            found[verb].append({"param": rest[1:-1] if is_quoted else rest})
    return {"uci_notify": True, "uci_list": found}
