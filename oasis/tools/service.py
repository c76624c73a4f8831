"""The tool that restarts or reloads one service."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.tools.operator import Operator

SPEC: dict[str, Any] = {
    "name": "service",
    "description": "Restart or reload a service of the router, for example dnsmasq. Needed only when the owner asks: "
    "after a configuration change the right services reload by themselves.",
    "kind": "change",
    "input_schema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "name of the init script"},
            "action": {"type": "string", "enum": ["restart", "reload"]},
        },
        "required": ["name"],
    },
}


def run(arguments: dict[str, Any], operator: Operator) -> dict[str, Any]:
    """Propose the action as a plan and carry it out as policy and owner decide."""
    return operator.act(str(arguments["name"]), str(arguments.get("action", "restart")))
