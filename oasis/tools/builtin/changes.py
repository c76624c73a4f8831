"""The tools `configure`, `service` and `undo`: each proposes a plan and carries it out as policy and owner decide."""

from __future__ import annotations

from oasis.change.parse import commands
from oasis.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.tools.operator import Operator


def configure(arguments: dict[str, Any], operator: Operator) -> dict[str, Any]:
    """Propose UCI commands as one plan."""
    operations, notes = commands.parse("\n".join(arguments["commands"]))
    if not operations:
        raise ToolError("there is no change in these commands", "; ".join(notes))
    summary, until = str(arguments.get("summary", "")), str(arguments.get("until", ""))
    result = operator.change(operations, summary, until)
    if notes:
        result["notes"] = notes
    return result


def service(arguments: dict[str, Any], operator: Operator) -> dict[str, Any]:
    """Propose an action on one service."""
    return operator.act(str(arguments["name"]), str(arguments.get("action", "restart")))


def undo(arguments: dict[str, Any], operator: Operator) -> dict[str, Any]:
    """Propose the way back from a change."""
    return operator.undo(str(arguments.get("change", "")))
