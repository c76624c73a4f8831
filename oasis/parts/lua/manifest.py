"""What the part `lua` offers: tool servers made for the Lua Oasis, and its methods on the bus."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.api.parts import Services
    from oasis.bus.calls import Waiters
    from oasis.daemon.wiring import Daemon
    from oasis.parts.lua.phone import Phone

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


def _texts(*names: str) -> dict[str, type]:
    # No argument is required: the Lua Oasis tolerates each missing one and says so in the reply.
    return dict.fromkeys(names, str)


# The methods that programs of the Lua Oasis call and its phone app call, as rows of api/table.py. For the bus: on the
# socket nobody asks for them. Source: its ubus objects at 3.2.6, and the calls of its phone app.
BUS_METHODS = {
    "base_info": ("read", "phone._base_info", {}),
    "config": ("read", "phone._config", {}),
    "confirm": ("read", "phone._confirm", {}),
    "analize": ("read", "phone._analize", {}, _texts("message")),  # upstream's spelling
    "load_sysmsg_data": ("read", "phone._load_sysmsg_data", {}),
    "load_sysmsg_list": ("read", "phone._load_sysmsg_list", {}),
    "add_sysmsg_data": ("write", "phone._add_sysmsg_data", {}, _texts("title", "message")),
    "update_sysmsg_data": ("write", "phone._update_sysmsg_data", {}, _texts("target", "title", "message")),
    "delete_sysmsg_data": ("write", "phone._delete_sysmsg_data", {}, _texts("target")),
    "select_ai_service": ("write", "phone._select_ai_service", {}, _texts("id", "name", "model")),
    "load_icon_info": ("read", "phone._load_icon_info", {}),
    "select_icon": ("write", "phone._select_icon", {}, _texts("using")),
    "delete_icon": ("write", "phone._delete_icon", {}, _texts("target")),
    "chat.send": ("write", "phone._chat_send", {}, _texts("id", "sysmsg_key", "message")),
    "chat.create": (
        "write",
        "phone._chat_create",
        {},
        _texts("role1", "content1", "role2", "content2", "role3", "content3"),
    ),
    "chat.append": ("write", "phone._chat_append", {}, _texts("id", "role1", "content1", "role2", "content2")),
    "title.auto_set": ("write", "phone._title_auto_set", {}, _texts("id")),
    "title.manual_set": ("write", "phone._title_manual_set", {}, _texts("id", "title")),
    "tool.manager.get_tool_list": ("read", "phone._tool_manager_get_tool_list", {}),
    "tool.manager.set_tool_enabled": ("write", "phone._tool_manager_set_tool_enabled", {}, _texts("tool")),
    "tool.manager.set_tool_disabled": ("write", "phone._tool_manager_set_tool_disabled", {}, _texts("tool")),
    "tool.edge.tool_list": ("read", "phone._tool_edge_tool_list", {}),
    "tool.edge.function_calling": ("write", "phone._tool_edge_function_calling", {}, _texts("tool", "param")),
    "service.operate": ("write", "phone._service_operate", {}, _texts("cmd", "service")),
    "system.confirm": ("write", "phone._system_confirm", {}, _texts("option")),
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
    import time

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
