"""Which tools work for each role: the registry asks may_use(). The methods of each role are in api/table.py."""

from __future__ import annotations

# Named one by one; a new tool is the owner's alone until somebody decides otherwise. "*" is every tool, and "no NAME"
# takes one out again.
TOOLS: dict[str, tuple[str, ...]] = {
    "owner": ("*",),
    "viewer": (),
    # No tool that shows the owner's documents, files or schedules, or that was added to ours.
    "client": (
        "status", "read_config", "configure", "diagnose", "service", "logs",
        "probe", "wifi_scan", "packages", "undo", "power", "backup",
    ),
    "messenger": ("*",),
    # These show no configuration, no log and no package: what the router is doing, and what is wrong with it.
    "guest": ("status", "diagnose"),
    # A schedule makes no schedule: one wish would grow.
    "schedule": ("*", "no schedule_create", "no schedule_update", "no schedule_delete"),
}  # fmt: skip


def may_use(role: str, tool: str) -> bool:
    """Tell whether a tool is for a role."""
    named = TOOLS.get(role, ())
    return tool in named or ("*" in named and "no " + tool not in named)


def tools_of(role: str) -> list[str]:
    """Return the tools that are named for a role."""
    return [name for name in TOOLS[role] if name != "*" and not name.startswith("no ")]
