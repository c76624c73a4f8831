"""Every method that front-ends may call: the functions behind the table (table.py), and who is let through to them.

Served as JSON-RPC on the unix socket and, with the prefix "oasis.", as objects of the bus (`run.start` is method
`start` of object `oasis.run`; `info` is a method of `oasis`). Arguments are checked here; functions may trust them.
"""

from __future__ import annotations

import os
import sys

from oasis import VERSION, parts
from oasis.api.table import ROLES, TABLE, check, client_of
from oasis.change.apply.journal import chosen
from oasis.change.audit import NO_PLAN
from oasis.change.plan_card import CLIENT, ahead, card, checked_forces
from oasis.config.settings import is_at_home
from oasis.core import clean
from oasis.core.addresses import is_home
from oasis.errors import OasisError, PolicyError, UsageError
from oasis.redaction.redactor import Redactor, walk
from oasis.system.connections import connection
from oasis.tools.principal import MESSENGER, OWNER, may_use
from oasis.uci.package import quote

if False:  # annotations only
    from typing import TypeVar

    from oasis.agent.runs import Run
    from oasis.agent.shapes import Asked, News
    from oasis.api import shapes as api
    from oasis.api.parts import Services
    from oasis.api.shapes import Done, Started
    from oasis.change.shapes import Audited, Record, Role
    from oasis.core.shapes import Any, Callable, Mapping, Options
    from oasis.tools.router import Facts
    from oasis.tools.shapes import Arguments, ChatContext

    T = TypeVar("T", str, bytes)

_ENDS = ("server_addr", "server_port", "remote_addr", "remote_port")
# To find servers: one packet to each port, and a question to who answers, see worker/web.py.
_OPTIONS = {"idle_s": 60, "retries": 0}
_HERE = "127.0.0.1"
PART_BYTES = 96 * 1024  # as base64 below what a reply of the bus may hold
_BYTES_A_TOKEN = 4  # about, of English
AUDIT_LINES = 200  # of about 400 bytes: well below a reply of the bus

_SHOWN = ("id", "state", "chat", "message", "summary", "words", "packages", "services", "risk", "when_unix_s", "reason",
          "kept", "undoes", "undone_by", "confirm_in_s", "until_unix_s", "expiry", "source", "new_address",
          "verified", "proof")  # fmt: skip


# Replies that hold what people and models wrote, and no text of ours.
_OWN_WORDS = {
    "chat.list", "chat.load", "chat.tree", "chat.export", "chat.search", "topic.list", "bookmark.list", "tool.specs",
    "tool.call", "privacy.show", "memory.list", "knowledge.list", "knowledge.search",
}  # fmt: skip


def spoken(reply: Any, language: str) -> Any:
    """Return a reply, or a list of texts, as a front end shows it that serves a reader of a language."""
    if not language or language == "en":
        return reply
    from oasis.texts.translation import translation  # an idle daemon, and whoever reads English, does without

    found = translation(language)
    return found.reply(reply, isinstance(reply, list)) if found else reply


def shown(record: Mapping[str, object]) -> dict[str, object]:
    """Return what front-ends see of a change's record."""
    return {key: record[key] for key in _SHOWN if key in record}


class Methods:
    """Calls the handlers that the table names, and has those of the owner `methods` itself.

    `services` is the record of daemon/wiring.py. An idle daemon makes no other owner of handlers.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._parts = services.parts
        self._settings = services.settings
        self._turn_starter = services.turn_starter
        self._talks = services.conversations
        self._runs = services.runs
        self._owners: dict[str, Callable[[], object]] = {
            "methods": lambda: self, "chats": services.conversations, "services": services.book,
        }  # fmt: skip

    def call(self, name: str, params: dict[str, object], role: Role) -> dict[str, object]:
        """Call a method for somebody.

        Shape of role: {"name": one of ROLES, "terminal": bool}; set by the kernel or the session, never by `params`.
        Raises: any OasisError; UsageError for an unknown method or bad arguments, PolicyError for a wrong role.
        """
        if name not in TABLE:
            absent = parts.missing("methods", name.partition(".")[0])
            raise absent or UsageError("there is no method %r" % name, "there are: " + ", ".join(TABLE))
        method = TABLE[name]
        parts.check_role(str(role["name"]))
        if name not in ROLES.get(str(role["name"]), ()):
            raise PolicyError("%s is not for everybody" % name, "this connection has the role %s" % role["name"])
        language = str(params.get("lang") or "")[:2]
        values = check(name, {key: value for key, value in params.items() if key != "lang"}, method.arguments)
        try:
            handler = getattr(self if method.owner == "methods" else self.owner(method.owner), method.function)
            reply = handler(role=role, **values) if method.takes_role else handler(**values)
        except OasisError as error:
            fault = error.masked(self._services.redactor.hide)
            fault.message, fault.hint = spoken([fault.message, fault.hint], language)
            raise fault
        known = lambda: self._services.facts  # noqa: E731
        clear = cleared(reply, self._services.redactor, known, role["name"] == "owner")
        return clear if name in _OWN_WORDS else spoken(clear, language)

    def owner(self, name: str) -> Any:
        """Return what a row of the table names, made with its first call; raise UsageError where there is none."""
        make = self._owners.get(name)
        return make() if make else self._parts.part(name)

    def info(self, role: Role) -> dict[str, object]:
        service = self._settings.services()[0]
        pending = self._services.transaction.pending(_session(role))
        return {
            "version": VERSION, "root": self._services.root.folder, "backend": self._services.backend_name,
            "provider": {key: service[key] for key in ("identifier", "name", "model", "note")},
            "approval": self._services.policy.approval, "pending": shown(pending) if pending else None,
            "waiting": self._cards(), "ending": self._ending(), "unconfined": self._services.unconfined(),
            "upstream": self._services.has_old(), "bus": self._services.bus_faults(),
            "parts_wait": self._services.parts_wait(),
            "runs": [{"run": run.id, "chat": run.chat} for run in self._runs.active()],
            "settings_wrong": self._settings.fault(),
            "refused": ["%s: %s" % (one.message, one.hint) for one in parts.all_refused().values()],
            "missing": [
                {"part": name, "message": one.message, "hint": one.hint, "refused": name in parts.refused}
                for name, one in parts.all_missing().items()
            ],
        }  # fmt: skip

    def run_start(
        self, role: Role, message: str, *, chat: str = "", service: str = "",
        continues: list[str] | None = None, head: str = "", options: Options | None = None, topic: str = "",
        attachments: list[str] | None = None,
    ) -> Started:  # fmt: skip
        asked: Asked = {
            "message": message, "chat": chat, "service": service, "continues": continues, "head": head,
            "options": options, "topic": self._talks().topics.text(topic) if topic else "",
            "files": self._talks().files(attachments) if attachments else [],
        }  # fmt: skip
        who = MESSENGER if role["name"] == "messenger" else OWNER
        started = _started(self._turn_starter().start(asked, self._services.came(role), who))
        if attachments:
            self._talks().uploads.drop(attachments)
        return started

    def agent_start(self, role: Role, goal: str, turns: int = 0, chat: str = "", service: str = "") -> Started:
        asked: Asked = {"message": goal, "chat": chat, "service": service, "turns": turns}
        return _started(self._turn_starter().start(asked, self._services.came(role)))

    def chat_summarise(self, role: Role, id: str, head: str = "", service: str = "") -> Started:
        return _started(self._turn_starter().summarise(id, head, service, self._services.came(role)))

    def run_poll(self, role: Role, run: str, since: int = 0, wait_ms: int = 0) -> News:
        return self._run(role, run).poll(since, wait_ms)

    def _run(self, role: Role, name: str) -> Run:
        run = self._runs.get(name)
        if role["name"] == "client" and run.client != client_of(role):
            raise PolicyError("run %s is not this client's" % name, "a client follows the runs that it began")
        return run

    def run_cancel(self, role: Role, run: str) -> api.RunState:
        found = self._run(role, run)
        found.cancel()
        return {"run": run, "state": found.state}

    def run_active(self) -> api.ActiveRuns:
        return {"runs": [{"run": run.id, "chat": run.chat, "state": run.state} for run in self._runs.active()]}

    def plan_list(self) -> dict[str, object]:
        return {"plans": self._cards()}

    def _cards(self) -> list[dict[str, object]]:
        now_s = self._services.now_s()
        return [card(plan, now_s) for plan in self._services.approvals.plans()]

    def plan_propose(
        self, role: Role, commands: list[str], summary: str = "", force: list[str] | None = None,
        words: str = "",
    ) -> Started:  # fmt: skip
        from oasis.change.uci_commands import parse  # an idle daemon does without

        forces = checked_forces(force or [], words)
        operations, notes = parse("\n".join(commands))
        if not operations:
            raise UsageError("there is no change in these commands", "; ".join(notes) or "uci set … and the like")
        change = lambda operator: operator.change(operations, summary)  # noqa: E731
        return _started(self._turn_starter().propose(change, self._services.came(role), forces))

    def doctor_run(self) -> dict[str, object]:
        return self._services.examine()

    def doctor_fix(self, role: Role, finding: str) -> Started:
        found = next((one for one in self._services.examine()["findings"] if one["id"] == finding), None)
        if found is None or "fix" not in found:
            raise UsageError("there is no finding %r that could be mended" % finding, "run the doctor again")
        return self.plan_propose(role, found["fix"]["commands"], "; ".join(found["fix"]["words"]))

    def plan_force(self, role: Role, refused: str, force: list[str] | None = None) -> Started:
        from oasis.tools.operator import find_refused, forced_kinds

        kept = find_refused(self._services, refused)
        forces = forced_kinds(kept, force)
        chat: ChatContext = {"id": kept["chat"], "message": kept["message"]}
        again = lambda operator: operator.force(kept)  # noqa: E731
        return _started(self._turn_starter().propose(again, self._services.came(role), forces, chat))

    def plan_approve(self, role: Role, plan: str, hash: str = "", word: str = "") -> api.Decision:
        applying = ahead(self._services.approvals.approve(plan, hash, role, word))
        reply: api.Decision = {"plan": plan, "decision": "approved"}
        return {**reply, "applying": applying} if applying else reply

    def plan_decline(self, plan: str, reason: str = "") -> api.Decision:
        self._services.approvals.decline(plan, reason)
        return {"plan": plan, "decision": "declined"}

    def change_list(self, role: Role, since_unix_s: int = 0, chat: str = "", package: str = "") -> dict[str, object]:
        records = [self._current(record, role) for record in self._services.journal.records()]
        return {"changes": [shown(record) for record in chosen(records, since_unix_s, chat, package)]}

    def change_load(self, role: Role, change: str) -> dict[str, object]:
        record = self._current(self._services.journal.read(change), role)
        return {"change": {**shown(record), "diff": self._services.journal.diff(record)}}

    def _current(self, record: Record, role: Role) -> Record:
        """Return a record, with the seconds that are left when it is the one that waits."""
        pending = self._services.transaction.pending(_session(role))
        return pending if pending and pending["id"] == record["id"] else record

    def change_pending(self, role: Role) -> dict[str, object]:
        pending = self._services.transaction.pending(_session(role))
        ending = self._ending()
        return {"change": shown(pending) if pending else None, **({"ending": ending} if ending else {})}

    def _ending(self) -> list[api.Ending]:
        """Return the changes that stand and will be undone by themselves, the next one first."""
        records = sorted(self._services.journal.ending(), key=lambda one: int(one["until_unix_s"]))
        return [{"id": one["id"], "summary": one["summary"], "until_unix_s": one["until_unix_s"]} for one in records]

    def change_confirm(self, role: Role, change: str = "", unproved: bool = False) -> dict[str, object]:
        proof = self._services.transaction.witness(role, unproved)
        return {"change": shown(self._services.transaction.confirm(change, proof))}

    def change_extend(self, change: str = "", seconds: int = 0) -> dict[str, object]:
        if seconds < 0:
            raise UsageError("change.extend: seconds must not be negative", "without it the whole window begins again")
        return {"change": shown(self._services.transaction.extend(change, seconds))}

    def change_alive(self, *, change: str, nonce: str, session: str, **ends: str) -> api.Alive:
        one = connection(*map(ends.__getitem__, _ENDS))
        word = self._services.transaction.judge(change, nonce, session, one)
        if word in ("proved", "reused"):
            self._services.origins().seen(session, one)
        return {"alive": word}

    def path_seen(self, *, session: str, **ends: str) -> dict[str, object]:
        one = connection(*map(ends.__getitem__, _ENDS))
        path = self._services.origins().seen(session, one)
        return {"path": path, **self._services.transaction.arrive(session, one)}

    def change_rollback(self, change: str = "") -> dict[str, object]:
        return {"change": shown(self._services.transaction.roll_back(change, "the owner rolled it back"))}

    def change_undo(self, role: Role, change: str = "", skip_conflicts: bool = False) -> Started:
        undo = lambda operator: operator.undo(change, skip_conflicts)  # noqa: E731
        return _started(self._turn_starter().propose(undo, self._services.came(role), name="undo"))

    def chat_list(self) -> dict[str, object]:
        return {"item": self._services.chats.items()}

    def chat_search(self, text: str, limit: int = 0, meaning: bool = False) -> dict[str, object]:
        # What the owner asks here was said to no service at home: the model that they chose for vectors may hear it.
        chats = self._services.chats
        reply = self._parts.part("said").search(text, limit, False) if meaning else chats.search(text, limit)
        items = {item["id"]: item for item in chats.items()}
        found = [
            {**one, "title": items[one["chat"]]["title"], "archived": items[one["chat"]]["archived"]}
            for one in reply["results"]
            if one["chat"] in items  # another one was deleted meanwhile
        ]
        return {"found": found, **{key: value for key, value in reply.items() if key != "results"}}

    def chat_rename(self, id: str, title: str) -> Done:
        self._runs.alone(id, lambda: self._services.chats.rename(id, title))
        return {"status": "OK"}

    def chat_archive(self, id: str, archived: bool = True) -> Done:
        self._runs.alone(id, lambda: self._services.chats.archive(id, archived))
        return {"status": "OK"}

    def chat_forget(self, message: str, chat: str = "") -> Done:
        name = chat or self._services.chats.chat_of(message)
        self._runs.alone(name, lambda: self._services.chats.forget(message, name))
        return {"status": "OK", "chat": name}

    def chat_delete(self, id: str) -> Done:
        self._runs.alone(id, lambda: self._services.chats.delete(id))
        return {"status": "OK"}

    def service_list(self) -> dict[str, object]:
        """Return what front-ends see of the services: of a key, whether there is one."""
        offered: list[dict[str, Any]] = [{**one} for one in self._settings.services()]
        key = self._settings.key
        return {
            "service": [
                {**{name: one[name] for name in _OFFERED}, "has_key": bool(key(one["identifier"]))} for one in offered
            ]
        }

    def client_join(self, role: Role, name: str) -> api.Joined:
        peer: Any = role.get("peer")
        if peer is None:
            raise UsageError("client.join is for a connection of the socket", "the bus asks for each call who it is")
        parts.check_role("client")
        known = clean.name(name) or "without a name"
        if peer.setdefault("client", known) != known:  # under another name it would follow what others began
            raise PolicyError("this connection is the client %s for good" % peer["client"], "open another one")
        return {"version": VERSION}

    def config_list(self) -> api.PackageNames:
        return {"packages": [name for name in self._services.facts.packages() if name != "oasis"]}

    def config_attach(self, package: str) -> api.Upload:
        """Put a package among the uploads as `uci show` has it, without secrets: a message can have it attached."""
        from oasis.tools.builtin import read_config

        found: Any = read_config.run({"package": package}, self._services.facts)
        lines: list[str] = []
        for name, section in found["sections"].items():
            lines.append("%s.%s=%s\n" % (package, name, section.get(".type")))
            for option, value in section.items():
                if not option.startswith("."):
                    items = value if isinstance(value, list) else [value]
                    words = " ".join(quote(str(item)) for item in items)
                    lines.append("%s.%s.%s=%s\n" % (package, name, option, words))
        return self._talks().put(package + ".txt", "".join(lines))

    def secret_keep(self, value: str) -> api.SecretKept:
        return {"secret": self._services.redactor.keep(value, os.urandom(16).hex())}

    def audit_list(self, limit: int = AUDIT_LINES, skip: int = 0) -> dict[str, object]:
        return {"lines": self._services.audit.lines(min(max(limit, 0), AUDIT_LINES), max(skip, 0))}

    def audit_verify(self) -> Audited:
        return self._services.audit.verify()

    # Setting up: which model servers the home network has, which tools are on, and what a message would send. A request
    # that is shown is that of an answer to the last byte, and is not sent; secrets of the router are placeholders in it
    # already, and the key is no part of it.

    def setup_state(self) -> dict[str, object]:
        """Return what is set up. Shape: {"models": services with a model that can be used, "unconfined": why or ""}."""
        offered = self._settings.services()
        ready = [one["identifier"] for one in offered if one["ready"] and one["vendor"] != "offline"]
        return {"models": ready, "unconfined": self._services.unconfined()}

    def setup_find(self) -> dict[str, object]:
        """Return the model servers at home.

        Shape: {"servers": [{"host", "name": of the machine, "profile", "endpoint", "models"}], "asked"}
        Raises: ProviderError when the worker cannot look.
        """
        names = {_HERE: ""}
        for device in self._services.facts.devices():
            # A neighbour with another address may be the provider's, and the firewall need not tell.
            if device["present"] and is_home(str(device["ip"])):
                names[str(device["ip"])] = str(device["name"])
        asked = {"op": "find", "profile": "compatible", "options": dict(_OPTIONS), "places": list(names)}
        reply = self._services.models.web({**asked}, lambda: False)
        found = reply["servers"]
        assert isinstance(found, list)  # the protocol of workers saw to that
        taken = {str(one.get("base_url")).rstrip("/") for one in self._settings.services()}
        more = [{"name": names.get(one["host"], ""), "is_set": one["endpoint"].rstrip("/") in taken} for one in found]
        return {"servers": [{**one, **two} for one, two in zip(found, more, strict=True)], "asked": reply["asked"]}

    def tool_list(self) -> dict[str, object]:
        tools = self._turn_starter().registry.listed()
        return {"tools": tools, "tokens": sum(tool["tokens"] for tool in tools if tool["enabled"])}

    def tool_specs(self, role: Role) -> dict[str, object]:
        registry = self._turn_starter().registry
        classes = {tool["name"]: tool["class"] for tool in registry.listed()}
        specs = [spec for spec in registry.specs() if role["name"] != "client" or may_use("client", spec["name"])]
        return {"tools": [{**spec, "class": classes[spec["name"]]} for spec in specs]}

    def tool_call(self, role: Role, name: str, arguments: Arguments | None = None) -> Started:
        client = client_of(role)
        words = CLIENT + client if client else ""
        return _started(self._turn_starter().use(name, arguments or {}, self._services.came(role), words, client))

    def tool_set(self, role: Role, name: str, enabled: bool | None = None, approval: str = "") -> dict[str, object]:
        tool = self._turn_starter().registry.set(name, enabled, approval)
        what = "tool " + (approval or ("on" if tool["enabled"] else "off"))
        self._services.audit.write(what, {**NO_PLAN, "call": {"name": name}}, str(role["name"]))
        return {"tool": tool}

    def privacy_show(self, message: str, chat: str = "", service: str = "", part: int = 0) -> dict[str, object]:
        """Return what a message would send: the receiver, and a part of the bytes.

        Shape: {"service": {"identifier", "name", "model", "is_local"}, "method", "url", "headers", "bytes",
                "tokens": about, "data": base64 of this part, "parts"}; for the built-in service, which sends nothing,
                "url" is "" and "bytes" 0.
        Raises: UsageError, SettingsError and StoreError as run.start does.
        """
        found = self._turn_starter().show({"message": message, "chat": chat, "service": service})
        request = found["request"] or {"method": "", "url": "", "headers": {}, "text": ""}
        body = str(request["text"]).encode("utf-8")
        import binascii  # it maps a library

        raw, count = piece(body, part, PART_BYTES, "request")
        data = binascii.b2a_base64(raw, newline=False).decode()
        service_shown = {key: found["service"][key] for key in ("identifier", "name", "model", "is_local")}
        if request["url"] and is_at_home(str(request["url"])):
            service_shown["is_local"] = True  # a server of any make, on this machine or in its network
        return {
            "service": service_shown, **{key: request[key] for key in ("method", "url", "headers")},
            "bytes": len(body), "tokens": len(body) // _BYTES_A_TOKEN, "data": data, "parts": count,
        }  # fmt: skip


def piece(whole: T, part: int, size: int, what: str) -> tuple[T, int]:
    """Return a part of a text or of bytes that are longer than a reply, and how many parts there are."""
    count = max((len(whole) + size - 1) // size, 1)
    if not 0 <= part < count:
        raise UsageError("part is %d" % part, "this %s has the parts 0 to %d" % (what, count - 1))
    return whole[part * size : (part + 1) * size], count


def _started(run: Run) -> Started:
    reply: Started = {"run": run.id, "chat": run.chat}
    return {**reply, "message": run.message} if run.message else reply


def _session(role: Role) -> str:
    """Return the session of a page's call, "" for all others."""
    return str(role.get("session", ""))


_OFFERED = ("identifier", "name", "model", "profile", "base_url", "tool_mode", "context_tokens", "options", "key",
            "is_local", "ready", "active", "note")  # fmt: skip


# What people see of a reply: secrets masked, also those that were only typed, and devices with their names. The one
# place on the way to every front-end, for events, stored chats, plans, changes and titles alike.


def cleared(
    reply: dict[str, Any], redactor: Redactor, facts: Callable[[], Facts], is_owner: bool = False
) -> dict[str, Any]:
    """Return a method's reply as a front-end may have it; secrets that somebody chose are for the owner's eyes."""

    def named(text: str) -> str:
        if "dev#" not in text:
            return text
        from oasis.tools.router import known_devices, with_names  # an idle daemon does without

        return with_names(text, lambda: known_devices(facts()))

    found = walk(redactor.hide(without_typed(reply, is_owner)), named)
    assert isinstance(found, dict)  # as the reply is
    if not is_owner:
        return found
    # The cards hold the chosen secrets in clear, also one that the owner typed for something else.
    plans, events = reply.get("plans"), reply.get("events")
    pairs = list(zip(found["plans"], plans, strict=True)) if isinstance(plans, list) else []
    # Other methods call other lists by these names: schedule.list has the events that an order can wait for.
    if isinstance(events, list) and any(isinstance(one, dict) and one.get("type") == "plan" for one in events):
        told = zip(found["events"], events, strict=True)
        pairs += [(new["plan"], old["plan"]) for new, old in told if old["type"] == "plan"]
    for new, old in pairs:
        for one, given in zip(new.get("secrets") or [], old.get("secrets") or [], strict=True):
            if one.get("value") != given.get("value"):  # masked on the way, and so an object of this reply alone
                one["value"] = given["value"]
    return found


def without_typed(value: object, has_chosen: bool = True) -> object:
    """Mask what the calls of tools set, in stored blocks and in events: both have the type tool_use.

    Without `has_chosen` the values of chosen secrets (change/text_origin.py) go from the cards of plans as well.
    """
    if isinstance(value, (list, tuple)):
        return [without_typed(item, has_chosen) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "tool_use" and "=" in str(value):
        from oasis.redaction.secret_forms import hide_typed  # with the first call that sets something

        hidden: object = hide_typed(value)
        return hidden
    left_out = "value" if not has_chosen and {"where", "from", "value"} == set(value) else None
    return {key: without_typed(item, has_chosen) for key, item in value.items() if key != left_out}


def bug_fault(bug: Exception) -> OasisError:
    """Log where a method broke; return the error that its caller gets."""
    sys.excepthook(type(bug), bug, bug.__traceback__)
    return OasisError("a fault in oasis: %s" % type(bug).__name__, "its log tells more: logread -e oasis")


def failure(error: OasisError) -> dict[str, object]:
    """Return the reply that a failed method has on every front-end."""
    return {"error": error.as_dict()}
