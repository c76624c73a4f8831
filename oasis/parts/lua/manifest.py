"""What the part `lua` offers: tool servers made for the Lua Oasis, and its methods on the bus."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.api.parts import Services
    from oasis.bus.calls import Waiters
    from oasis.daemon.wiring import Daemon
    from oasis.parts.lua.phone import Phone

VERSION = "0.2.0"

# Where manifests of tool servers are put.
FOLDER = "/etc/oasis/tool-manifest.d"
_SECTIONS = ("plugin", "tool")  # `tool`: the owner set something of one

METHODS = {"plugin": "parts.lua.plugins"}
ROWS = {
    "plugin.list": ("read", "plugin.plugin_list", {}),
    "plugin.review": ("write", "plugin.plugin_review", {"server": str}),
    "plugin.accept": ("write", "plugin.plugin_accept", {"server": str, "hash": str}, {}, True),
}
ROLE_METHODS = {"viewer": ("plugin.list",)}


def _has_any(kit: Services) -> bool:
    is_put = bool(kit.files.names(kit.root.path(FOLDER)))
    return is_put or any(section.type in _SECTIONS for section in kit.settings.sections())


OUTSIDE = {"plugin": _has_any}


# The methods that programs of the Lua Oasis call and its phone app call, with their arguments, all of them texts and
# none required: the Lua Oasis tolerates each missing one and says so in the reply. For the bus: on the socket nobody
# asks for them. Source: its ubus objects at 3.2.6, and the calls of its phone app.
_READ = {
    "base_info": (), "config": (), "confirm": (), "analize": ("message",),  # upstream's spelling
    "load_sysmsg_data": (), "load_sysmsg_list": (), "load_icon_info": (), "tool.manager.get_tool_list": (),
    "tool.edge.tool_list": (),
}  # fmt: skip
_WRITE = {
    "add_sysmsg_data": ("title", "message"), "update_sysmsg_data": ("target", "title", "message"),
    "delete_sysmsg_data": ("target",), "select_ai_service": ("id", "name", "model"), "select_icon": ("using",),
    "delete_icon": ("target",), "chat.send": ("id", "sysmsg_key", "message"),
    "chat.create": ("role1", "content1", "role2", "content2", "role3", "content3"),
    "chat.append": ("id", "role1", "content1", "role2", "content2"), "title.auto_set": ("id",),
    "title.manual_set": ("id", "title"), "tool.manager.set_tool_enabled": ("tool",),
    "tool.manager.set_tool_disabled": ("tool",), "tool.edge.function_calling": ("tool", "param"),
    "service.operate": ("cmd", "service"), "system.confirm": ("option",),
}  # fmt: skip
# As rows of api/table.py.
BUS_METHODS: dict[str, tuple[str, str, dict[str, type], dict[str, type]]] = {
    name: (access, "phone._" + name.replace(".", "_"), {}, dict.fromkeys(arguments, str))
    for access, methods in (("read", _READ), ("write", _WRITE))
    for name, arguments in methods.items()
}

# Ours and theirs at once: a call that gives only the arguments that theirs has is answered in their shape.
BUS_SHARED = ("chat.list", "chat.load", "chat.delete")

# As in api/table.py: named one by one.
BUS_ROLES: dict[str, tuple[str, ...]] = {
    "owner": tuple(BUS_METHODS),
    "viewer": (
        "base_info", "config", "confirm", "analize", "load_sysmsg_data", "load_sysmsg_list", "load_icon_info",
        "tool.manager.get_tool_list", "tool.edge.tool_list",
    ),
}  # fmt: skip


def bus_methods(daemon: Daemon, waiters: Waiters) -> Phone:
    """Return what answers BUS_METHODS."""
    from oasis.parts.lua.phone import Phone

    return Phone(daemon, waiters, time.monotonic, BUS_METHODS)


COMMANDS = {
    "plugins": (
        "[ACTION] [NAME] [HASH]",
        "list tool servers made for upstream, review one, or accept it",
        "parts.lua.command:plugins",
        "ACTION is list, review or accept. A plugin runs as root, so none is called before you accepted its file; one\n"
        "that changes is off again. Without a terminal accept needs the HASH that review shows. Its tools are off\n"
        "until you switch them on with `oasis tools`.",
    )
}
