"""Hints for a model: the tool that does what a command of people's does, and who does what no tool of a model can."""

from __future__ import annotations

import re

# By command: the tool that does the same, and how many words may follow for that.
_TOOLS = {
    "changes": ("the tool status, what=changes", 1), "undo": ("the tool undo", 1), "doctor": ("the tool diagnose", 0),
    "knowledge": ("the tool knowledge_search", 0), "look": ("the tool look", 2),
    "schedule": ("the tool schedule_list", 0), "wireguard": ("the tool wireguard, action=list", 0),
}  # fmt: skip
# A command, whether it is quoted or ends its clause; not `service oasis start`, a path, or a package of that name.
_COMMAND = re.compile(r"`(oasis [^`]*)`|(?<!service )(?<![/\w.-])(oasis [a-z][^`;,()]*)")
_OWNERS = "only the owner can do this, tell them: "


def for_model(hint: str) -> str:
    """Return a hint as a model gets it: with a tool for each command, or else said to be for the owner."""
    told = _COMMAND.sub(_tool, hint)
    return told if not _COMMAND.search(told) or "owner" in hint else _OWNERS + hint


def _tool(found: re.Match[str]) -> str:
    _, name, *words = (found[1] or found[2]).split()
    tool, most = _TOOLS.get(name, ("", 0))
    is_same = tool and len(words) <= most and not any(word.startswith("-") for word in words)
    return tool if is_same else found[0]
