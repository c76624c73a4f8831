"""The plan for a call of a tool that changes no configuration: shown, approved and bound like any other.

It has no images, so applying it is not the transaction's: who asked for it makes the call once it is approved. What is
bound is the tool, where it is from, and its arguments to the letter.
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.errors import ApplyError, PolicyError
from oasis.uci.visible import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.plan import Planner
    from oasis.change.shapes import CalledTool, Plan, Record
    from oasis.core.shapes import Json

# Nobody reads more before they say yes.
ARGUMENT_CHARS = 16 * 1024


def plan(
    planner: Planner, tool: CalledTool, arguments: dict[str, Json], told: tuple[list[str], list[str]], run: str,
    chat: str,
) -> Plan:  # fmt: skip
    """Return the plan of one call, which always waits for the owner; `tool` is {"name", "source", "class"}.

    `told` are the reasons why they are asked, and what the call would do, both in words.
    Raises: PolicyError for arguments that are too long to be read.
    """
    length = len(jsonl.dumps(arguments))
    if length > ARGUMENT_CHARS:
        raise PolicyError(
            "%s asks the owner, and its arguments are %d characters long" % (tool["name"], length),
            "at most %d can be shown: do it in parts" % ARGUMENT_CHARS,
        )
    reasons, words = told
    made = planner.empty(run, chat, words[0] if words else "call the tool %s" % tool["name"])
    made["call"] = {"name": tool["name"], "source": tool["source"], "class": tool["class"], "arguments": arguments}
    made["words"] = ["tool %s (%s)" % (tool["name"], tool["source"]), *words]
    made["words"] += [line for name, value in arguments.items() for line in _shown(name, value)]
    made["risk"] = "risky" if tool["class"] in ("change", "danger") else "low"
    made["reasons"], made["is_asked"] = list(reasons), True
    return planner.bind(made)


def check_idle(pending: Record | None) -> None:
    """Raise ApplyError while a change waits to be kept: what cannot be taken back might take its way back."""
    if pending is not None:
        raise ApplyError(
            "change %s waits to be kept or rolled back; nothing was done" % pending["id"],
            "keep it with `oasis confirm` or put it back with `oasis rollback`, then try again",
        )


def _shown(name: str, value: Json) -> list[str]:
    """Return an argument, whole; each line of a longer text is marked, so that none looks like an argument."""
    lines = (value if isinstance(value, str) else jsonl.dumps(value)).split("\n")
    if len(lines) == 1:
        return ["%s: %s" % (plain(name), plain(lines[0]))]
    return ["%s (%d lines):" % (plain(name), len(lines)), *["| " + plain(line) for line in lines]]
