"""What the part `mcp` offers: tools of MCP servers, and the router's tools to MCP clients."""

from __future__ import annotations

if False:  # annotations only
    from oasis.api.parts import Services

VERSION = "0.2.0"

_SECTIONS = ("mcp_server", "remote_mcp_server")

METHODS = {"mcp": "parts.mcp.servers"}
ROWS = {
    "mcp.list": ("read", "mcp.mcp_list", {}, {}, True),
    "mcp.add": ("write", "mcp.mcp_add", {"name": str}, {"command": list, "url": str}),
    "mcp.delete": ("write", "mcp.mcp_delete", {"name": str}),
    "mcp.key": ("write", "mcp.mcp_key", {"name": str, "key": str}),
    "mcp.refresh": ("write", "mcp.mcp_refresh", {"name": str}),
}
# A client is somebody else's program: it gets the state and the tools, but no chat, which holds what the owner typed.
# Of runs it follows its own.
ROLE_METHODS = {
    "viewer": ("mcp.list",),
    "client": (
        "info", "plan.list", "change.list", "change.pending", "config.list", "client.join", "tool.specs", "tool.call",
        "run.poll", "run.cancel",
    ),
}  # fmt: skip
# No tool that shows the owner's documents, files or schedules, or that was added to ours.
ROLE_TOOLS = {
    "client": (
        "status", "read_config", "configure", "diagnose", "service", "logs",
        "probe", "wifi_scan", "packages", "undo", "power", "backup",
    ),
}  # fmt: skip


def _has_any(kit: Services) -> bool:
    return any(section.type in _SECTIONS for section in kit.settings.sections())


OUTSIDE = {"mcp": _has_any}

COMMANDS = {
    "servers": (
        "[ACTION] [NAME] [COMMAND]…",
        "list MCP servers of others, add one, or remove one",
        "parts.mcp.command:servers",
        "ACTION is list, add, remove, key or refresh. COMMAND is what starts a server on this router, word by word,\n"
        "or the one address of a server elsewhere, whose token `key` asks for. A server runs as a user without\n"
        "rights; its tools are off until you switch them on with `oasis tools`.",
    ),
    "mcp": (
        "[--http PORT]",
        "offer the router's tools to programs that speak MCP",
        "parts.mcp.command:serve",
        "Speaks the Model Context Protocol over standard input and output: `ssh root@router oasis mcp` is the command\n"
        "of a server; with --http on 127.0.0.1, for who has the token of /etc/oasis/mcp-token. A client may look and\n"
        "propose; approving, keeping and setting stay with you, here and on the page.",
    ),
}
