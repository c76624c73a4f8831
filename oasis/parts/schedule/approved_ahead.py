"""Plans that the owner approved ahead, when a job was made: these operations with this outcome, and nothing else.

An approval ahead fits a plan that leaves every file as the owner was shown it: the same operations, services and call,
the same reasons, and each touched package the same afterwards, section by section and option by option. So what the
plan does not set itself must be as it was then, and a plan that works out otherwise on another day waits like any
other. What the verdict and the checks rested on must be unchanged, too. The run of a dry run is part of its plans'
hashes: an approval given there fits nothing else. Knows no job and no run.
"""

from __future__ import annotations

from oasis.core import jsonl
from oasis.errors import UciError
from oasis.system.digest import is_equal, sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from oasis.change.shapes import Plan
    from oasis.parts.schedule.shapes import Approval

    Same = Literal["operations", "services", "call", "undoes", "forces", "risk", "typed_word"]
    Read = Callable[[str], bytes]

_SAME: tuple[Same, ...] = ("operations", "services", "call", "undoes", "forces", "risk", "typed_word")
# What a configuration may not be changed by ahead, and why; each waits for the owner every time.
_MOVES = "the router would be at another address afterwards"
_UNSURE = "nothing proves in advance that you still reach the router afterwards"
_TAINTED = "words of others were in sight"
_ENDS = "it has an end of its own, which is another one each time"


def fault(plan: Plan) -> str:
    """Return why a plan cannot be approved ahead, "" when it can."""
    if plan["tainted"]:
        return _TAINTED
    if plan["until_unix_s"] or plan["ends"]:
        return _ENDS
    if plan["new_address"]:
        return _MOVES
    # Nobody is there to prove it, so the proof is the one that was worked out while the owner was.
    return _UNSURE if plan["verdict"] and plan["verdict"]["verdict"] != "yes" else ""


def approval(plan: Plan, read: Read) -> Approval:
    """Return what is kept of a plan that the owner approved ahead."""
    others = [name for name in plan["before"] if name not in plan["images"]]
    return {"key": _key(plan), "read": {name: _now(name, read) for name in sorted(others)}}


def fits(plan: Plan, approvals: list[Approval], read: Read) -> bool:
    """Return whether a plan is one of those that were approved ahead."""
    if plan["tainted"] or plan["until_unix_s"] or plan["ends"]:
        return False
    key = _key(plan)
    return any(
        is_equal(str(one["key"]), key) and all(_now(name, read) == held for name, held in one["read"].items())
        for one in approvals
    )


def _key(plan: Plan) -> str:
    same: Mapping[str, object] = {name: plan[name] for name in _SAME}
    whole = {
        **same,
        "after": {name: _sum(name, pair[1]) for name, pair in plan["images"].items()},
        # Of a call the owner saw only its words as an outcome; the reason for asking differs in a dry run.
        "told": plan["words"] if plan["call"] else plan["reasons"],
    }
    return sha256(jsonl.canonical(whole).encode("utf-8"))


def _now(package: str, read: Read) -> str:
    try:
        return _sum(package, read(package))
    except UciError:
        return ""


def _sum(package: str, data: bytes) -> str:
    """Return the sum of what a package says, however it is written down."""
    from oasis.uci import model

    sections = [
        [one.type, "" if one.anonymous else one.name, sorted([name, value] for name, value in one.options.items())]
        for one in model.parse(data, package).sections
    ]
    return sha256(jsonl.canonical(sections).encode("utf-8"))
