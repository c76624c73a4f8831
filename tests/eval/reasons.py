"""What the cards of the tasks say: the risk and the reasons of the plan that each task's solution asks for.

    python3 tests/eval/reasons.py [--list] [WORD…]

WORDs choose tasks by id, kind or language. Prints how many cards carry how many
reasons and which; --list prints each card.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import sys
import tempfile
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [
    os.path.dirname(os.path.dirname(HERE)),
    *[one for one in sys.path if os.path.abspath(one or ".") != HERE],
]

from oasis.errors import OasisError  # noqa: E402
from tests.change.kit import Kit  # noqa: E402
from tests.eval import roots, tasks  # noqa: E402

# Kinds of reasons, told by a piece of their text; each is counted once a card.
KINDS = (
    ("who is let in", r"lets? in|is let|are let|keep out|through to"),
    ("traffic or logs elsewhere", r"elsewhere|sends traffic|goes to"),
    ("the way to the router", r"on the way by which"),
    ("interrupts a connection", r"interrupt"),
)


def turns(task: tasks.Task) -> list[str]:
    """Return the uci commands of a task's solution, a text for each turn that has some."""
    solution = task.get("solution") or []
    parts = solution if solution and isinstance(solution[0], list) else [solution]
    lines = [[line for line in part if isinstance(line, str) and line.startswith("uci ")] for part in parts]
    return ["\n".join(part) for part in lines if part]


def cards(chosen: list[tasks.Task]) -> list[tuple[str, dict[str, Any]]]:
    """Return (task id, plan) for each plan of the solutions; a later turn finds what the earlier one did."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for task in chosen:
            asked = turns(task)
            if not asked:
                continue
            kit = Kit(None, root=roots.make(task["root"], os.path.join(folder, task["id"])))
            for text in asked:
                try:
                    plan = kit.plan(text)
                except OasisError:
                    continue  # a solution that only the owner could force has no card of its own
                if plan is not None:
                    found.append((task["id"], plan))
                    for name, (_, after) in plan["images"].items():
                        kit.write(name, after)
    return found


def kind_of(reason: str) -> str:
    """Return the kind of a reason, "other" for one that none of KINDS describes."""
    return next((name for name, pattern in KINDS if re.search(pattern, reason)), "other")


def summary(plans: list[dict[str, Any]]) -> str:
    """Return the counts: cards by number of reasons, and cards that carry a reason of each kind."""
    risky = [plan for plan in plans if plan["risk"] != "low"]
    numbers = collections.Counter(len(plan["reasons"]) for plan in risky)
    kinds = collections.Counter(kind for plan in risky for kind in {kind_of(one) for one in plan["reasons"]})
    lines = [f"{len(plans)} cards, {len(plans) - len(risky)} of them low"]
    lines += [f"  {number} reason{'s' * (number != 1)}: {numbers[number]} cards" for number in sorted(numbers)]
    return "\n".join(lines + [f"  {name}: {count} of {len(risky)} risky cards" for name, count in kinds.most_common()])


def main(argv: list[str] | None = None) -> int:
    """Print the counts of the chosen tasks."""
    parser = argparse.ArgumentParser(description="what the cards of the evaluation tasks say")
    parser.add_argument("--list", action="store_true", help="print each card")
    parser.add_argument("word", nargs="*", help="id, kind or language of tasks")
    arguments = parser.parse_args(argv)
    found = cards(tasks.chosen(arguments.word))
    for name, plan in found if arguments.list else []:
        print(f"{name}: {plan['risk']}", *[f"\n    {reason}" for reason in plan["reasons"]])
    print(summary([plan for _, plan in found]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
