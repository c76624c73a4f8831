"""The table of all methods: name, access, handler, arguments; which role may call what; and how arguments are checked.

The rows and roles of an optional part stand in its manifest. `access` is `read`, `write`, or `local`: on the socket
only, never on the bus, because its arguments are not checked again. The ACL files are made from the table.
"""

from __future__ import annotations

import sys

from oasis import parts
from oasis.errors import UsageError

if False:  # annotations only
    from oasis.change.shapes import Role

    Arguments = dict[str, type]

# What the owner says of a service; see settings.py.
SERVICE: dict[str, type] = {
    **dict.fromkeys(("model", "endpoint", "tool_mode", "thinking", "temperature", "search"), str),
    **dict.fromkeys(("max_tokens", "context_tokens"), int),
}
_TURN: dict[str, type] = {
    "chat": str, "service": str, "continues": list, "head": str, "options": dict, "topic": str, "attachments": list,
}  # fmt: skip
# The ends of a connection, as a web server tells them.
_ENDS = dict.fromkeys(("session", "remote_addr", "remote_port", "server_addr", "server_port"), str)


_pairs: dict[tuple[type, bool], tuple[type, bool]] = {}


def _pair(kind: type, is_required: bool) -> tuple[type, bool]:
    """Return the one pair of these: hundreds of rows live as long as the daemon."""
    pair = kind, is_required
    return _pairs.setdefault(pair, pair)


class Method:
    """One row of the table.

    `handler` is "OWNER.FUNCTION": the owner is `methods`, `chats` or `services` (methods.py), one of OWN
    (parts.py), or an optional part by its name in the METHODS of its manifest. `arguments` is {argument: (type, is
    required)}. With `takes_role` the handler gets the caller's role as well.
    """

    __slots__ = ("access", "arguments", "function", "owner", "takes_role")

    def __init__(
        self, access: str, handler: str, required: Arguments, optional: Arguments | None = None,
        takes_role: bool = False,
    ) -> None:  # fmt: skip
        self.access = access
        self.owner, _, function = handler.partition(".")
        # Interned: the interpreter remembers where thousands of names led, and would keep one for each call.
        self.function = sys.intern(function)
        self.arguments = {name: _pair(kind, True) for name, kind in required.items()}
        self.arguments.update((name, _pair(kind, False)) for name, kind in (optional or {}).items())
        self.takes_role = takes_role


TABLE: dict[str, Method] = {
    "info": Method("read", "methods.info", {}, takes_role=True),
    "run.start": Method("write", "methods.run_start", {"message": str}, _TURN, takes_role=True),
    "agent.start": Method(
        "write", "methods.agent_start", {"goal": str}, {"turns": int, "chat": str, "service": str}, takes_role=True
    ),
    "run.poll": Method("read", "methods.run_poll", {"run": str}, {"since": int, "wait_ms": int}, takes_role=True),
    "run.cancel": Method("write", "methods.run_cancel", {"run": str}, takes_role=True),
    "run.active": Method("read", "methods.run_active", {}),
    "plan.list": Method("read", "methods.plan_list", {}),
    "plan.propose": Method(
        "write", "methods.plan_propose", {"commands": list}, {"summary": str, "force": list, "words": str}, True
    ),
    "plan.force": Method("write", "methods.plan_force", {"refused": str}, {"force": list}, takes_role=True),
    "plan.approve": Method("write", "methods.plan_approve", {"plan": str}, {"hash": str, "word": str}, takes_role=True),
    "plan.decline": Method("write", "methods.plan_decline", {"plan": str}, {"reason": str}),
    "change.list": Method(
        "read", "methods.change_list", {}, {"since_unix_s": int, "chat": str, "package": str}, takes_role=True
    ),
    "change.load": Method("read", "methods.change_load", {"change": str}, takes_role=True),
    "change.pending": Method("read", "methods.change_pending", {}, takes_role=True),
    "change.confirm": Method("write", "methods.change_confirm", {}, {"change": str, "unproved": bool}, takes_role=True),
    "change.extend": Method("write", "methods.change_extend", {}, {"change": str, "seconds": int}),
    "change.alive": Method("local", "methods.change_alive", {"change": str, "nonce": str, **_ENDS}),
    "path.seen": Method("local", "methods.path_seen", {**_ENDS}),
    "change.rollback": Method("write", "methods.change_rollback", {}, {"change": str}),
    "change.undo": Method("write", "methods.change_undo", {}, {"change": str, "skip_conflicts": bool}, takes_role=True),
    "chat.list": Method("read", "methods.chat_list", {}),
    "chat.load": Method("read", "chats.chat_load", {"id": str}, {"head": str, "before": str, "limit": int}),
    "chat.tree": Method("read", "chats.chat_tree", {"id": str}),
    "chat.export": Method("read", "chats.chat_export", {"id": str}, {"form": str, "head": str, "part": int}),
    "chat.summarise": Method(
        "write", "methods.chat_summarise", {"id": str}, {"head": str, "service": str}, takes_role=True
    ),
    "chat.import": Method("write", "chats.chat_import", {"upload": str}),
    "chat.search": Method("read", "methods.chat_search", {"text": str}, {"limit": int, "meaning": bool}),
    "chat.rename": Method("write", "methods.chat_rename", {"id": str, "title": str}),
    "chat.archive": Method("write", "methods.chat_archive", {"id": str}, {"archived": bool}),
    "chat.forget": Method("write", "methods.chat_forget", {"message": str}, {"chat": str}),
    "chat.delete": Method("write", "methods.chat_delete", {"id": str}),
    "bookmark.list": Method("read", "chats.bookmark_list", {}, {"chat": str}),
    "bookmark.set": Method("write", "chats.bookmark_set", {"name": str, "message": str}, {"chat": str, "move": bool}),
    "bookmark.delete": Method("write", "chats.bookmark_delete", {"name": str}, {"chat": str}),
    "upload.part": Method("write", "chats.upload_part", {"data": str}, {"upload": str, "name": str, "is_last": bool}),
    "upload.drop": Method("write", "chats.upload_drop", {"upload": str}),
    "config.list": Method("read", "methods.config_list", {}),
    "config.attach": Method("write", "methods.config_attach", {"package": str}),
    "upstream.import": Method("write", "chats.upstream_import", {}),
    "topic.list": Method("read", "chats.topic_list", {}),
    "topic.add": Method("write", "chats.topic_add", {"title": str, "text": str}),
    "topic.update": Method("write", "chats.topic_update", {"key": str, "title": str, "text": str}),
    "topic.delete": Method("write", "chats.topic_delete", {"key": str}),
    "service.list": Method("read", "methods.service_list", {}),
    "service.select": Method("write", "services.service_select", {"identifier": str}),
    "service.providers": Method("read", "services.service_providers", {}),
    "service.add": Method("write", "services.service_add", {"name": str}, {"key": str, **SERVICE}),
    "service.change": Method(
        "write", "services.service_change", {"identifier": str}, {"name": str, "position": int, **SERVICE}
    ),
    "service.delete": Method("write", "services.service_delete", {"identifier": str}),
    "service.key": Method("write", "services.service_key", {"identifier": str, "key": str}),
    "service.test": Method("write", "services.service_test", {"identifier": str}),
    "service.models": Method("write", "services.service_models", {"identifier": str}),
    "alias.list": Method("read", "services.alias_list", {}),
    "alias.set": Method("write", "services.alias_set", {"name": str, "targets": list}),
    "alias.delete": Method("write", "services.alias_delete", {"name": str}),
    "usage.list": Method("read", "services.usage_list", {}, {"month": str}),
    "usage.chat": Method("read", "services.usage_chat", {"id": str}),
    "usage.limit": Method(
        "write", "services.usage_limit", {}, {"budget_tokens": int, "budget_cost": str, "currency": str}
    ),
    "usage.price": Method(
        "write", "services.usage_price", {"model": str}, {"service": str, "input": str, "output": str, "cached": str}
    ),
    "tool.list": Method("read", "methods.tool_list", {}),
    "tool.specs": Method("read", "methods.tool_specs", {}, takes_role=True),
    "tool.call": Method("write", "methods.tool_call", {"name": str}, {"arguments": dict}, takes_role=True),
    "client.join": Method("local", "methods.client_join", {"name": str}, takes_role=True),
    "tool.set": Method("write", "methods.tool_set", {"name": str}, {"enabled": bool, "approval": str}, takes_role=True),
    "secret.keep": Method("write", "methods.secret_keep", {"value": str}),
    "setup.state": Method("read", "methods.setup_state", {}),
    "setup.find": Method("write", "methods.setup_find", {}),
    "privacy.show": Method(
        "write", "methods.privacy_show", {"message": str}, {"chat": str, "service": str, "part": int}
    ),
    "doctor.run": Method("read", "methods.doctor_run", {}),
    "doctor.fix": Method("write", "methods.doctor_fix", {"finding": str}, takes_role=True),
    "notice.list": Method("read", "notice.notice_list", {}, {"since": str}),
    "audit.list": Method("read", "methods.audit_list", {}, {"limit": int, "skip": int}),
    "audit.verify": Method("read", "methods.audit_verify", {}),
    **{name: Method(*row) for name, row in parts.merged("ROWS").items()},
}

# What each role may call, named one by one: a new method is the owner's alone until somebody decides otherwise.
# Who approves, confirms, forces, undoes or sets anything is the owner, and nobody else ever. The roles of programs and
# messengers stand in the manifests of their parts. Tools: tools/principal.py.
ROLES: dict[str, tuple[str, ...]] = parts.joined(
    "ROLE_METHODS",
    {
        "owner": tuple(TABLE),
        "viewer": (
            "info", "run.poll", "run.active", "plan.list", "change.list", "change.load", "change.pending", "chat.list",
            "chat.load", "chat.search", "chat.tree", "chat.export", "bookmark.list", "topic.list", "service.list",
            "service.providers", "config.list", "alias.list", "usage.list", "usage.chat",
            "audit.list", "audit.verify", "tool.list", "tool.specs", "notice.list", "doctor.run", "setup.state",
        ),
    },
)  # fmt: skip


_WORDS = {str: "text", int: "whole number", list: "list of texts", bool: "truth value", dict: "object"}


def check(name: str, params: dict[str, object], arguments: dict[str, tuple[type, bool]]) -> dict[str, object]:
    """Return the arguments of a call without what the bus adds (`ubus_rpc_session`), or raise UsageError."""
    values = {key: value for key, value in params.items() if key != "ubus_rpc_session" and value is not None}
    for key, value in values.items():
        if key not in arguments:
            raise UsageError("%s has no argument %r" % (name, key), "it has: " + (", ".join(arguments) or "none"))
        kind = arguments[key][0]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise UsageError("%s: %s must be a %s" % (name, key, _WORDS[kind]))
        if isinstance(value, list) and not all(isinstance(item, str) for item in value):
            raise UsageError("%s: %s must be a %s" % (name, key, _WORDS[kind]))
    for key, (_, is_required) in arguments.items():
        if is_required and key not in values:
            raise UsageError("%s needs the argument %s" % (name, key))
    return values


def client_of(role: Role) -> str:
    """Return how the MCP client calls itself that a connection was lowered for, "" for all others."""
    return str(role.get("client", "")) if role["name"] == "client" else ""
