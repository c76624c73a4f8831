"""The tool that changes the configuration: UCI commands in, a plan, and what became of it out."""

from __future__ import annotations

from oasis.change.parse import commands
from oasis.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.tools.operator import Operator


def run(arguments: dict[str, Any], operator: Operator) -> dict[str, Any]:
    """Propose the commands as one plan and carry it out as policy and owner decide."""
    operations, notes = commands.parse("\n".join(arguments["commands"]))
    if not operations:
        raise ToolError("there is no change in these commands", "; ".join(notes))
    summary, until = str(arguments.get("summary", "")), str(arguments.get("until", ""))
    result = operator.change(operations, summary, until)
    if notes:
        result["notes"] = notes
    return result
