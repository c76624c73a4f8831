"""The tool that undoes a change by proposing the way back as a plan."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.tools.operator import Operator


def run(arguments: dict[str, Any], operator: Operator) -> dict[str, Any]:
    """Propose the undo as a plan and carry it out as policy and owner decide."""
    return operator.undo(str(arguments.get("change", "")))
