"""The tool that restarts or reloads one service."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.tools.operator import Operator


def run(arguments: dict[str, Any], operator: Operator) -> dict[str, Any]:
    """Propose the action as a plan and carry it out as policy and owner decide."""
    return operator.act(str(arguments["name"]), str(arguments.get("action", "restart")))
