"""The manifest of the part `monitor`: a closer look at traffic, links, rules and services."""

from __future__ import annotations

VERSION = "0.2.0"

METHODS = {"monitor": "parts.monitor.look"}
ROWS = {
    "monitor.look": ("read", "monitor.monitor_look", {"what": str}, {"target": str}),
    "monitor.speed": ("write", "monitor.monitor_speed", {"target": str}),
}
ROLE_METHODS = {"viewer": ("monitor.look",)}
TOOLS = {"monitor": "parts/monitor/tools.json"}

COMMANDS = {
    "look": (
        "WHAT [TARGET]",
        "traffic, radios, ports, rules, services, topology, or a speed test",
        "parts.monitor.command:look",
        "WHAT is traffic (bytes and rate of each device), radios (channels, widths and power that they can), ports\n"
        "(link and network of each), rules (of the running firewall, in words), services (what VPN, adblock, SQM and\n"
        "others say of themselves), topology, or speed: a download from TARGET and an upload to it. TARGET of speed\n"
        "is the address of a large file, like https://speed.example.org/100MB.bin; at most 25 MB and 8 s each way.\n"
        "TARGET of the others is the one device, radio, port, zone or service that is shown.",
    ),
}
