"""The manifest of the part `admin`: keys and images of the router."""

from __future__ import annotations

VERSION = "0.2.0"

METHODS = {
    "wireguard": "parts.admin.wireguard", "ssh_keys": "parts.admin.ssh_keys", "password": "parts.admin.password",
    "firmware": "parts.admin.firmware", "file": "parts.admin.file_places",
}  # fmt: skip
# All of it is the owner's alone.
ROWS = {
    "wireguard.list": ("read", "wireguard.wireguard_list", {}),
    "wireguard.change": (
        "write", "wireguard.wireguard_change", {"action": str},
        {"name": str, "public_key": str, "interface": str, "port": int}, True,
    ),
    "wireguard.show": (
        "write", "wireguard.wireguard_show", {"name": str},
        {"interface": str, "endpoint": str, "home": bool, "file": bool}, True,
    ),
    "wireguard.endpoint": ("write", "wireguard.wireguard_endpoint", {"host": str}),
    "ssh_keys.list": ("read", "ssh_keys.ssh_keys_list", {}),
    "firmware.look": ("read", "firmware.firmware_look", {}),
    "file.place": ("write", "file.file_place", {"upload": str, "kind": str}, {"name": str, "replace": bool}),
    "password.set": ("write", "password.password_set", {"password": str}, {}, True),
}  # fmt: skip
TOOLS = {
    "wireguard": "parts/admin/wireguard.json", "ssh_keys": "parts/admin/ssh_keys.json",
    "firmware": "parts/admin/firmware.json",
}  # fmt: skip

COMMANDS = {
    "wireguard": (
        "[--no-wait] [--interface NAME] [--port PORT] [--key KEY] [--endpoint HOST] [--home] [--file FILE] "
        "[ACTION] [NAME]",
        "WireGuard: a server here, its peers and their QR codes",
        "parts.admin.command:wireguard",
        "ACTION is list, server, add, show, remove, forget or endpoint. `server` makes the interface, its\n"
        "key and the firewall's rule as one plan; `add` makes a peer with the next free address, and its key unless\n"
        "--key gives the public one that the device made. `show` prints the peer's configuration and QR code, or\n"
        "writes it to a FILE that only root reads; with --home only the home network goes through the tunnel.\n"
        "--no-wait leaves a plan that waits for `oasis approve`.\n"
        "`forget` takes a peer's private key off the router. `endpoint HOST` says where the router is found from\n"
        "outside, if no DDNS name or address tells; `endpoint none` forgets it.",
    ),
    "ssh_keys": (
        "[--no-wait] [ACTION] [KEY…]",
        "the keys that log in by SSH: list, add, remove, undo",
        "parts.admin.command:ssh_keys",
        "ACTION is list, add, remove or undo. A KEY to add is a line like 'ssh-ed25519 AAAA… name', a file\n"
        "with one, or - for standard input; one to remove is its fingerprint or comment. Each change is shown and\n"
        "waits for your yes. The last key stays while login by password is off.",
    ),
    "password": (
        "",
        "set the password of the router, which is asked for",
        "parts.admin.command:password",
        "It is typed twice and not shown; from a pipe it is the first line. No model, log or list of processes has it.",
    ),
    "firmware": (
        "[--no-wait] [--version VERSION] [ACTION]",
        "what firmware runs here, what there is, and the upgrade",
        "parts.admin.command:firmware",
        "ACTION is status, check or upgrade. An image with your packages is made by owut or auc, where one of them is\n"
        "installed. `upgrade` makes a backup first, says what will be lost, and waits for your yes; settings are kept.",
    ),
    "upload": (
        "[--name NAME] [--replace] FILE KIND",
        "put a file where packages expect it",
        "parts.admin.command:upload",
        "KIND is ovpn, certificate, key or hosts. The file is checked for what it claims to be; a profile of\n"
        "OpenVPN that runs code is refused. NAME is the file's own without its ending where nothing else is said.",
    ),
}
