"""What the part `lua` offers: tool servers made for the Lua Oasis, and its methods on the bus."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.api.parts import Kit
    from oasis.bus.calls import Waiters
    from oasis.daemon.wiring import Daemon
    from oasis.parts.lua.phone import Phone

# Where manifests of tool servers are put.
FOLDER = "/etc/oasis/tool-manifest.d"
_SECTIONS = ("plugin", "tool")  # `tool`: the owner set something of one

METHODS = {"plugin": "parts.lua.plugin_shelf"}


def _has_any(kit: Kit) -> bool:
    is_put = bool(kit.files.names(kit.root.path(FOLDER)))
    return is_put or any(section.type in _SECTIONS for section in kit.settings.sections())


OUTSIDE = {"plugin": _has_any}


def bus_table() -> Any:
    """Return the table of the Lua Oasis's methods."""
    from oasis.parts.lua import table

    return table


def bus_methods(daemon: Daemon, waiters: Waiters) -> Phone:
    """Return what answers them."""
    import time

    from oasis.parts.lua.phone import Phone

    return Phone(daemon, waiters, time.monotonic)


COMMANDS = {
    "plugins": (
        "[ACTION] [NAME] [HASH]",
        "list tool servers made for upstream, review one, or accept it",
        "parts.lua.command:plugins",
        "ACTION is list, review or accept. A plugin runs as root, so none is called before you accepted its file; one\n"
        "that changes is off again. Without a terminal accept needs the HASH that review shows. Its tools are off\n"
        "until you switch them on with `oasis tools`.",
    ),
}
