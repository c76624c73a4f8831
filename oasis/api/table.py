"""The table of all methods: name, access, arguments; which role may call what; and how arguments are checked.

Data and its judges; what the methods do is in methods.py and behind it. `access` is `read`, `write`, or `local`:
on the socket only, never on the bus, because its arguments are taken at their word; the ACL files are made from it.
"""

from __future__ import annotations

from oasis.errors import UsageError

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

# What the owner says of a standing order; see parts/schedule/book.py.
ORDER: dict[str, tuple[type, bool]] = {
    "timezone": (str, False),
    "calls": (list, False),
    "synthesis": (str, False),
    "service": (str, False),
    "pause_s": (int, False),
}

# name -> (access, {argument: (type, is required)}); the function is the name with "_" for "."
TABLE: dict[str, tuple[str, dict[str, tuple[type, bool]]]] = {
    "info": ("read", {}),
    "run.start": (
        "write",
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
    ),
    "agent.start": (
        "write",
        {"goal": (str, True), "turns": (int, False), "chat": (str, False), "service": (str, False)},
    ),
    "run.poll": ("read", {"run": (str, True), "since": (int, False), "wait_ms": (int, False)}),
    "run.cancel": ("write", {"run": (str, True)}),
    "run.active": ("read", {}),
    "plan.list": ("read", {}),
    "plan.propose": (
        "write",
        {"commands": (list, True), "summary": (str, False), "force": (list, False), "words": (str, False)},
    ),
    "plan.force": ("write", {"refused": (str, True), "force": (list, False)}),
    "plan.approve": ("write", {"plan": (str, True), "hash": (str, False), "word": (str, False)}),
    "plan.decline": ("write", {"plan": (str, True), "reason": (str, False)}),
    "change.list": ("read", {"since_unix_s": (int, False), "chat": (str, False), "package": (str, False)}),
    "change.load": ("read", {"change": (str, True)}),
    "change.pending": ("read", {}),
    "change.confirm": ("write", {"change": (str, False), "unproved": (bool, False)}),
    "change.extend": ("write", {"change": (str, False), "seconds": (int, False)}),
    "change.alive": (
        "local",
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
    "path.seen": (
        "local",
        {
            "session": (str, True),
            "remote_addr": (str, True),
            "remote_port": (str, True),
            "server_addr": (str, True),
            "server_port": (str, True),
        },
    ),
    "change.rollback": ("write", {"change": (str, False)}),
    "change.undo": ("write", {"change": (str, False), "skip_conflicts": (bool, False)}),
    "chat.list": ("read", {}),
    "chat.load": ("read", {"id": (str, True), "head": (str, False), "before": (str, False), "limit": (int, False)}),
    "chat.tree": ("read", {"id": (str, True)}),
    "chat.export": ("read", {"id": (str, True), "form": (str, False), "head": (str, False), "part": (int, False)}),
    "chat.summarise": ("write", {"id": (str, True), "head": (str, False), "service": (str, False)}),
    "chat.import": ("write", {"upload": (str, True)}),
    "chat.search": ("read", {"text": (str, True), "limit": (int, False), "meaning": (bool, False)}),
    "chat.rename": ("write", {"id": (str, True), "title": (str, True)}),
    "chat.archive": ("write", {"id": (str, True), "archived": (bool, False)}),
    "chat.forget": ("write", {"message": (str, True), "chat": (str, False)}),
    "chat.delete": ("write", {"id": (str, True)}),
    "bookmark.list": ("read", {"chat": (str, False)}),
    "bookmark.set": (
        "write",
        {"name": (str, True), "message": (str, True), "chat": (str, False), "move": (bool, False)},
    ),
    "bookmark.delete": ("write", {"name": (str, True), "chat": (str, False)}),
    "upload.part": (
        "write",
        {"data": (str, True), "upload": (str, False), "name": (str, False), "is_last": (bool, False)},
    ),
    "upload.drop": ("write", {"upload": (str, True)}),
    "config.list": ("read", {}),
    "config.attach": ("write", {"package": (str, True)}),
    "upstream.import": ("write", {}),
    "topic.list": ("read", {}),
    "topic.add": ("write", {"title": (str, True), "text": (str, True)}),
    "topic.update": ("write", {"key": (str, True), "title": (str, True), "text": (str, True)}),
    "topic.delete": ("write", {"key": (str, True)}),
    "service.list": ("read", {}),
    "service.select": ("write", {"identifier": (str, True)}),
    "service.providers": ("read", {}),
    "service.add": ("write", {"name": (str, True), "key": (str, False), **SERVICE}),
    "service.change": (
        "write",
        {"identifier": (str, True), "name": (str, False), "position": (int, False), **SERVICE},
    ),
    "service.delete": ("write", {"identifier": (str, True)}),
    "service.key": ("write", {"identifier": (str, True), "key": (str, True)}),
    "service.test": ("write", {"identifier": (str, True)}),
    "service.models": ("write", {"identifier": (str, True)}),
    "alias.list": ("read", {}),
    "alias.set": ("write", {"name": (str, True), "targets": (list, True)}),
    "alias.delete": ("write", {"name": (str, True)}),
    "usage.list": ("read", {"month": (str, False)}),
    "usage.chat": ("read", {"id": (str, True)}),
    "usage.limit": (
        "write",
        {"budget_tokens": (int, False), "budget_cost": (str, False), "currency": (str, False)},
    ),
    "usage.price": (
        "write",
        {
            "model": (str, True),
            "service": (str, False),
            "input": (str, False),
            "output": (str, False),
            "cached": (str, False),
        },
    ),
    "tool.list": ("read", {}),
    "tool.specs": ("read", {}),
    "tool.call": ("write", {"name": (str, True), "arguments": (dict, False)}),
    "mcp.list": ("read", {}),
    "mcp.add": ("write", {"name": (str, True), "command": (list, False), "url": (str, False)}),
    "mcp.delete": ("write", {"name": (str, True)}),
    "mcp.key": ("write", {"name": (str, True), "key": (str, True)}),
    "mcp.refresh": ("write", {"name": (str, True)}),
    "plugin.list": ("read", {}),
    "plugin.review": ("write", {"server": (str, True)}),
    "plugin.accept": ("write", {"server": (str, True), "hash": (str, True)}),
    "client.join": ("local", {"name": (str, True)}),
    "tool.set": ("write", {"name": (str, True), "enabled": (bool, False), "approval": (str, False)}),
    "secret.keep": ("write", {"value": (str, True)}),
    "setup.state": ("read", {}),
    "setup.find": ("write", {}),
    "privacy.show": (
        "write",
        {"message": (str, True), "chat": (str, False), "service": (str, False), "part": (int, False)},
    ),
    "schedule.list": ("read", {}),
    "schedule.add": ("write", {"when": (str, True), "wish": (str, True), "approve": (bool, False), **ORDER}),
    "schedule.change": (
        "write",
        {"id": (str, True), "when": (str, False), "wish": (str, False), "enabled": (bool, False), **ORDER},
    ),
    "schedule.delete": ("write", {"id": (str, False), "all": (bool, False)}),
    "schedule.run": ("write", {"id": (str, True)}),
    "schedule.approve": ("write", {"id": (str, True)}),
    "doctor.run": ("read", {}),
    "doctor.fix": ("write", {"finding": (str, True)}),
    "knowledge.add": (
        "write",
        {"title": (str, False), "text": (str, False), "upload": (str, False), "url": (str, False)},
    ),
    "knowledge.list": ("read", {}),
    "knowledge.search": ("read", {"query": (str, True), "limit": (int, False)}),
    "knowledge.delete": ("write", {"id": (str, True)}),
    "knowledge.embed": ("write", {}),
    "knowledge.option": ("read", {"path": (str, True)}),
    "memory.list": ("read", {}),
    "memory.add": ("write", {"fact": (str, True), "category": (str, False)}),
    "memory.change": ("write", {"id": (str, True), "fact": (str, True), "category": (str, False)}),
    "memory.forget": ("write", {"id": (str, False), "all": (bool, False)}),
    "memory.export": ("read", {}),
    "memory.set": ("write", {"extract": (bool, False), "tainted": (bool, False)}),
    "skill.list": ("read", {}),
    "skill.load": ("read", {"name": (str, True)}),
    "skill.set": ("write", {"name": (str, True), "text": (str, True)}),
    "skill.delete": ("write", {"name": (str, True)}),
    "skill.set_enabled": ("write", {"name": (str, True), "enabled": (bool, True)}),
    "notice.list": ("read", {"since": (str, False)}),
    "telegram.list": ("read", {}),
    "telegram.pair": ("write", {"who": (str, False)}),
    "telegram.forget": ("write", {"id": (str, True)}),
    "telegram.secret": ("write", {"code": (str, False)}),
    "telegram.set": ("write", {"enabled": (bool, False), "approve": (bool, False), "notices": (bool, False)}),
    "audit.list": ("read", {"limit": (int, False), "skip": (int, False)}),
    "audit.verify": ("read", {}),
}

# What each role may call, named one by one: a new method is the owner's alone until somebody decides otherwise.
# Who approves, confirms, forces, undoes or sets anything is the owner, and nobody else ever. Tools: tools/roles.py.
ROLES: dict[str, tuple[str, ...]] = {
    "owner": tuple(TABLE),
    "viewer": (
        "info", "run.poll", "run.active", "plan.list", "change.list", "change.load", "change.pending", "chat.list",
        "chat.load", "chat.search", "chat.tree", "chat.export", "bookmark.list", "topic.list", "service.list",
        "service.providers", "config.list", "alias.list", "usage.list", "usage.chat",
        "audit.list", "audit.verify", "tool.list", "tool.specs", "mcp.list",
        "plugin.list", "notice.list", "schedule.list", "doctor.run", "setup.state", "knowledge.option",
    ),
    # A program of somebody else's (MCP): the state and the tools, but no chat, which holds what the owner typed. Of
    # runs it has its own.
    "client": (
        "info", "plan.list", "change.list", "change.pending", "config.list", "client.join", "tool.specs", "tool.call",
        "run.poll", "run.cancel",
    ),
    # The owner by a messenger, whose words come through a program that talks to the network: what they say is a run,
    # but no plan becomes real by it that would wait for their approval on the page; see parts/telegram/card.py.
    "messenger": (
        "info", "run.start", "run.poll", "run.cancel", "plan.list", "plan.decline", "change.pending", "change.undo",
    ),
    # Somebody whom the owner let ask (parts/telegram/people.py).
    "guest": ("run.poll", "run.cancel"),
    # A run without anybody there; it works through tools and calls nothing.
    "schedule": (),
}  # fmt: skip


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


def client_of(role: dict[str, object]) -> str:
    """Return how the MCP client calls itself that a connection was lowered for, "" for all others."""
    return str(role.get("client", "")) if role["name"] == "client" else ""
