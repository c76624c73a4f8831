"""The methods that upstream's programs call, its phone app among them: a table of the same form as ours (table.py).

Data only; what the methods do is in phone.py, which is loaded with the first call of one. All are for the bus: on the
socket nobody asks for them. No argument is required, because upstream tolerates each missing one and says so in the
reply. Source: the ubus objects of upstream's program at 3.2.6, and the calls of its phone app.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Arguments = dict[str, tuple[type, bool]]


def _texts(*names: str) -> Arguments:
    return dict.fromkeys(names, (str, False))


UPSTREAM: dict[str, tuple[str, Arguments]] = {
    "base_info": ("read", {}),
    "config": ("read", {}),
    "confirm": ("read", {}),
    "analize": ("read", _texts("message")),  # upstream's spelling
    "load_sysmsg_data": ("read", {}),
    "load_sysmsg_list": ("read", {}),
    "add_sysmsg_data": ("write", _texts("title", "message")),
    "update_sysmsg_data": ("write", _texts("target", "title", "message")),
    "delete_sysmsg_data": ("write", _texts("target")),
    "select_ai_service": ("write", _texts("id", "name", "model")),
    "load_icon_info": ("read", {}),
    "select_icon": ("write", _texts("using")),
    "delete_icon": ("write", _texts("target")),
    "chat.send": ("write", _texts("id", "sysmsg_key", "message")),
    "chat.create": ("write", _texts("role1", "content1", "role2", "content2", "role3", "content3")),
    "chat.append": ("write", _texts("id", "role1", "content1", "role2", "content2")),
    "title.auto_set": ("write", _texts("id")),
    "title.manual_set": ("write", _texts("id", "title")),
    "tool.manager.get_tool_list": ("read", {}),
    "tool.manager.set_tool_enabled": ("write", _texts("tool")),
    "tool.manager.set_tool_disabled": ("write", _texts("tool")),
    "tool.edge.tool_list": ("read", {}),
    "tool.edge.function_calling": ("write", _texts("tool", "param")),
    "service.operate": ("write", _texts("cmd", "service")),
    "system.confirm": ("write", _texts("option")),
}

# Ours and upstream's at once: a call that names nothing but what upstream's names is answered in its shape.
SHARED = ("chat.list", "chat.load", "chat.delete")

# As in table.py: named one by one.
ROLES: dict[str, tuple[str, ...]] = {
    "owner": tuple(UPSTREAM),
    "viewer": (
        "base_info", "config", "confirm", "analize", "load_sysmsg_data", "load_sysmsg_list", "load_icon_info",
        "tool.manager.get_tool_list", "tool.edge.tool_list",
    ),
}  # fmt: skip
