"""The manifest of the part `admin`: keys and images of the router."""

from __future__ import annotations

VERSION = "0.2.0"

METHODS = {"wireguard": "parts.admin.wireguard"}
# All of it is the owner's alone, and of roles that have every tool none has these: keys are no work for a schedule.
ROWS = {
    "wireguard.list": ("read", "wireguard.wireguard_list", {}),
    "wireguard.change": (
        "write", "wireguard.wireguard_change", {"action": str},
        {"name": str, "public_key": str, "interface": str, "port": int}, True,
    ),
    "wireguard.show": (
        "write", "wireguard.wireguard_show", {"name": str}, {"interface": str, "endpoint": str, "home": bool}, True,
    ),
    "wireguard.endpoint": ("write", "wireguard.wireguard_endpoint", {"host": str}),
}  # fmt: skip
TOOLS = {"wireguard": "parts/admin/wireguard.json"}

COMMANDS = {
    "wireguard": (
        "[--interface NAME] [--port PORT] [--key KEY] [--endpoint HOST] [--home] [--file FILE] [ACTION] [NAME]",
        "WireGuard: a server here, its peers and their QR codes",
        "parts.admin.command:wireguard",
        "ACTION is list, server, add, show, remove, forget NAME, or endpoint HOST. `server` makes the interface, its\n"
        "key and the firewall's rule as one plan; `add` makes a peer with the next free address, and its key unless\n"
        "--key gives the public one that the device made. `show` prints the peer's configuration and QR code, or\n"
        "writes it to a FILE that only root reads; with --home only the home network goes through the tunnel.\n"
        "`forget` takes a peer's private key off the router. HOST is where the router is found from outside, if no\n"
        "DDNS name or address tells; none forgets it.",
    ),
}
