"""The tool that changes the configuration: UCI commands in, a plan, and what became of it out."""

from __future__ import annotations

from oasis.change import commands
from oasis.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.tools.operator import Operator

SPEC: dict[str, Any] = {
    "name": "configure",
    "description": (
        "Change the router's configuration. Give uci commands (set, add, add_list, del_list, delete, rename, reorder), "
        "one each, in order. Commit and service reload happen by themselves. Read the configuration first: use the "
        "section names that exist. The owner sees the difference and may have to approve it; the result tells what "
        "happened."
    ),
    "kind": "change",
    "input_schema": {
        "type": "object",
        "properties": {
            "commands": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": 200,
                "description": "for example: uci set system.@system[0].hostname='attic'. dev#N.mac and dev#N.ip as a "
                "whole value stand for the address of a device",
            },
            "summary": {"type": "string", "description": "what this does, in the owner's language, one line"},
            "until": {
                "type": "string",
                "description": "only when the owner wants this for a time: when it is undone by itself, like 22:00, 2h "
                "or 2026-11-20 18:00",
            },
        },
        "required": ["commands"],
    },
}


def run(arguments: dict[str, Any], operator: Operator) -> dict[str, Any]:
    """Propose the commands as one plan and carry it out as policy and owner decide."""
    operations, notes = commands.parse("\n".join(arguments["commands"]))
    if not operations:
        raise ToolError("there is no change in these commands", "; ".join(notes))
    summary, until = str(arguments.get("summary", "")), str(arguments.get("until", ""))
    result = operator.change(operations, summary[:200], until)
    if notes:
        result["notes"] = notes
    return result
