"""What the part `mcp` offers: tools of MCP servers, and the router's tools to MCP clients."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.api.parts import Kit

_SECTIONS = ("mcp_server", "remote_mcp_server")

METHODS = {"mcp": "parts.mcp.servers"}


def _has_any(kit: Kit) -> bool:
    return any(section.type in _SECTIONS for section in kit.settings.sections())


OUTSIDE = {"mcp": _has_any}

COMMANDS = {
    "servers": (
        "[ACTION] [NAME] [COMMAND]…",
        "list MCP servers of others, add one, or remove one",
        "parts.mcp.command_servers:servers",
        "ACTION is list, add, remove, key or refresh. COMMAND is what starts a server on this router, word by word,\n"
        "or the one address of a server elsewhere, whose token `key` asks for. A server runs as a user without\n"
        "rights; its tools are off until you switch them on with `oasis tools`.",
    ),
    "mcp": (
        "[--http PORT]",
        "offer the router's tools to programs that speak MCP",
        "parts.mcp.command_mcp:serve",
        "Speaks the Model Context Protocol over standard input and output: `ssh root@router oasis mcp` is the command\n"
        "of a server; with --http on 127.0.0.1, for who has the token of /etc/oasis/mcp-token. A client may look and\n"
        "propose; approving, keeping and setting stay with you, here and on the page.",
    ),
}
