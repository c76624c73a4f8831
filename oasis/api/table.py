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

    Arguments = dict[str, tuple[type, bool]]

# What the owner says of a service; see settings.py.
SERVICE: dict[str, tuple[type, bool]] = {
    "model": (str, False),
    "endpoint": (str, False),
    "tool_mode": (str, False),
    "thinking": (str, False),
    "temperature": (str, False),
    "search": (str, False),
    "max_tokens": (int, False),
    "context_tokens": (int, False),
}


class Method:
    """One row of the table.

    `handler` is "OWNER.FUNCTION": the owner is `methods`, `tools`, `chats` or `services` (methods.py), one of OWN
    (parts.py), or an optional part by its name in the METHODS of its manifest. `arguments` is {argument: (type, is
    required)}. With `takes_role` the handler gets the caller's role as well; `is_masked` says that its reply holds no
    secret any more.
    """

    __slots__ = ("access", "arguments", "function", "is_masked", "owner", "takes_role")

    def __init__(
        self, access: str, handler: str, arguments: Arguments, takes_role: bool = False, is_masked: bool = False
    ) -> None:
        self.access = access
        self.owner, _, function = handler.partition(".")
        # Interned: the interpreter remembers where thousands of names led, and would keep one for each call.
        self.function = sys.intern(function)
        self.arguments = arguments
        self.takes_role = takes_role
        self.is_masked = is_masked


TABLE: dict[str, Method] = {
    "info": Method("read", "methods.info", {}, takes_role=True),
    "run.start": Method(
        "write",
        "methods.run_start",
        {
            "message": (str, True),
            "chat": (str, False),
            "service": (str, False),
            "continues": (list, False),
            "head": (str, False),
            "options": (dict, False),
            "topic": (str, False),
            "attachments": (list, False),
        },
        takes_role=True,
    ),
    "agent.start": Method(
        "write",
        "methods.agent_start",
        {"goal": (str, True), "turns": (int, False), "chat": (str, False), "service": (str, False)},
        takes_role=True,
    ),
    "run.poll": Method(
        "read",
        "methods.run_poll",
        {"run": (str, True), "since": (int, False), "wait_ms": (int, False)},
        takes_role=True,
        is_masked=True,  # event by event, as they entered the run
    ),
    "run.cancel": Method("write", "methods.run_cancel", {"run": (str, True)}, takes_role=True),
    "run.active": Method("read", "methods.run_active", {}),
    "plan.list": Method("read", "methods.plan_list", {}),
    "plan.propose": Method(
        "write",
        "methods.plan_propose",
        {"commands": (list, True), "summary": (str, False), "force": (list, False), "words": (str, False)},
        takes_role=True,
    ),
    "plan.force": Method(
        "write", "methods.plan_force", {"refused": (str, True), "force": (list, False)}, takes_role=True
    ),
    "plan.approve": Method(
        "write",
        "methods.plan_approve",
        {"plan": (str, True), "hash": (str, False), "word": (str, False)},
        takes_role=True,
    ),
    "plan.decline": Method("write", "methods.plan_decline", {"plan": (str, True), "reason": (str, False)}),
    "change.list": Method(
        "read",
        "methods.change_list",
        {"since_unix_s": (int, False), "chat": (str, False), "package": (str, False)},
        takes_role=True,
    ),
    "change.load": Method("read", "methods.change_load", {"change": (str, True)}, takes_role=True),
    "change.pending": Method("read", "methods.change_pending", {}, takes_role=True),
    "change.confirm": Method(
        "write", "methods.change_confirm", {"change": (str, False), "unproved": (bool, False)}, takes_role=True
    ),
    "change.extend": Method("write", "methods.change_extend", {"change": (str, False), "seconds": (int, False)}),
    "change.alive": Method(
        "local",
        "methods.change_alive",
        {
            "change": (str, True),
            "nonce": (str, True),
            "session": (str, True),
            "remote_addr": (str, True),
            "remote_port": (str, True),
            "server_addr": (str, True),
            "server_port": (str, True),
        },
    ),
    "path.seen": Method(
        "local",
        "methods.path_seen",
        {
            "session": (str, True),
            "remote_addr": (str, True),
            "remote_port": (str, True),
            "server_addr": (str, True),
            "server_port": (str, True),
        },
    ),
    "change.rollback": Method("write", "methods.change_rollback", {"change": (str, False)}),
    "change.undo": Method(
        "write", "methods.change_undo", {"change": (str, False), "skip_conflicts": (bool, False)}, takes_role=True
    ),
    "chat.list": Method("read", "methods.chat_list", {}),
    "chat.load": Method(
        "read",
        "chats.chat_load",
        {"id": (str, True), "head": (str, False), "before": (str, False), "limit": (int, False)},
    ),
    "chat.tree": Method("read", "chats.chat_tree", {"id": (str, True)}),
    "chat.export": Method(
        "read",
        "chats.chat_export",
        {"id": (str, True), "form": (str, False), "head": (str, False), "part": (int, False)},
    ),
    "chat.summarise": Method(
        "write",
        "methods.chat_summarise",
        {"id": (str, True), "head": (str, False), "service": (str, False)},
        takes_role=True,
    ),
    "chat.import": Method("write", "chats.chat_import", {"upload": (str, True)}),
    "chat.search": Method(
        "read", "methods.chat_search", {"text": (str, True), "limit": (int, False), "meaning": (bool, False)}
    ),
    "chat.rename": Method("write", "methods.chat_rename", {"id": (str, True), "title": (str, True)}),
    "chat.archive": Method("write", "methods.chat_archive", {"id": (str, True), "archived": (bool, False)}),
    "chat.forget": Method("write", "methods.chat_forget", {"message": (str, True), "chat": (str, False)}),
    "chat.delete": Method("write", "methods.chat_delete", {"id": (str, True)}),
    "bookmark.list": Method("read", "chats.bookmark_list", {"chat": (str, False)}),
    "bookmark.set": Method(
        "write",
        "chats.bookmark_set",
        {"name": (str, True), "message": (str, True), "chat": (str, False), "move": (bool, False)},
    ),
    "bookmark.delete": Method("write", "chats.bookmark_delete", {"name": (str, True), "chat": (str, False)}),
    "upload.part": Method(
        "write",
        "chats.upload_part",
        {"data": (str, True), "upload": (str, False), "name": (str, False), "is_last": (bool, False)},
    ),
    "upload.drop": Method("write", "chats.upload_drop", {"upload": (str, True)}),
    "config.list": Method("read", "methods.config_list", {}),
    "config.attach": Method("write", "methods.config_attach", {"package": (str, True)}),
    "upstream.import": Method("write", "chats.upstream_import", {}),
    "topic.list": Method("read", "chats.topic_list", {}),
    "topic.add": Method("write", "chats.topic_add", {"title": (str, True), "text": (str, True)}),
    "topic.update": Method(
        "write", "chats.topic_update", {"key": (str, True), "title": (str, True), "text": (str, True)}
    ),
    "topic.delete": Method("write", "chats.topic_delete", {"key": (str, True)}),
    "service.list": Method("read", "methods.service_list", {}),
    "service.select": Method("write", "services.service_select", {"identifier": (str, True)}),
    "service.providers": Method("read", "services.service_providers", {}),
    "service.add": Method("write", "services.service_add", {"name": (str, True), "key": (str, False), **SERVICE}),
    "service.change": Method(
        "write",
        "services.service_change",
        {"identifier": (str, True), "name": (str, False), "position": (int, False), **SERVICE},
    ),
    "service.delete": Method("write", "services.service_delete", {"identifier": (str, True)}),
    "service.key": Method("write", "services.service_key", {"identifier": (str, True), "key": (str, True)}),
    "service.test": Method("write", "services.service_test", {"identifier": (str, True)}),
    "service.models": Method("write", "services.service_models", {"identifier": (str, True)}),
    "alias.list": Method("read", "services.alias_list", {}),
    "alias.set": Method("write", "services.alias_set", {"name": (str, True), "targets": (list, True)}),
    "alias.delete": Method("write", "services.alias_delete", {"name": (str, True)}),
    "usage.list": Method("read", "services.usage_list", {"month": (str, False)}),
    "usage.chat": Method("read", "services.usage_chat", {"id": (str, True)}),
    "usage.limit": Method(
        "write",
        "services.usage_limit",
        {"budget_tokens": (int, False), "budget_cost": (str, False), "currency": (str, False)},
    ),
    "usage.price": Method(
        "write",
        "services.usage_price",
        {
            "model": (str, True),
            "service": (str, False),
            "input": (str, False),
            "output": (str, False),
            "cached": (str, False),
        },
    ),
    "tool.list": Method("read", "tools.tool_list", {}),
    "tool.specs": Method("read", "tools.tool_specs", {}, takes_role=True),
    "tool.call": Method("write", "tools.tool_call", {"name": (str, True), "arguments": (dict, False)}, takes_role=True),
    "client.join": Method("local", "methods.client_join", {"name": (str, True)}, takes_role=True),
    "tool.set": Method(
        "write",
        "tools.tool_set",
        {"name": (str, True), "enabled": (bool, False), "approval": (str, False)},
        takes_role=True,
    ),
    "secret.keep": Method("write", "methods.secret_keep", {"value": (str, True)}),
    "setup.state": Method("read", "setup.setup_state", {}),
    "setup.find": Method("write", "setup.setup_find", {}),
    "privacy.show": Method(
        "write",
        "privacy.privacy_show",
        {"message": (str, True), "chat": (str, False), "service": (str, False), "part": (int, False)},
    ),
    "doctor.run": Method("read", "methods.doctor_run", {}),
    "doctor.fix": Method("write", "methods.doctor_fix", {"finding": (str, True)}, takes_role=True),
    "notice.list": Method("read", "notice.notice_list", {"since": (str, False)}),
    "audit.list": Method("read", "methods.audit_list", {"limit": (int, False), "skip": (int, False)}),
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
    """Return the arguments of a call; what the bus adds (`ubus_rpc_session`) is left out.

    Raises: UsageError naming method and argument.
    """
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
