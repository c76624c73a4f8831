"""`oasis agent`: a goal, worked on until one of five states; the lines and statuses are those of the Lua Oasis.

Contract: nothing is approved that the owner did not approve; what needs him is a state, not an error.
"""

from __future__ import annotations

from oasis.cli.run import Turn, checked, followed
from oasis.core import clean, jsonl
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

STATUSES = {"DONE": 0, "NEED_INPUT": 20, "NEED_CONFIRMATION": 21, "STUCK": 1, "FAILED": 2}


def agent(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Start a goal, follow it, and tell how it ended."""
    goal, turns = _goal(arguments["GOAL"], arguments["-t"])
    asked: dict[str, object] = {"goal": checked(goal)}
    asked.update({name: arguments["--" + name] for name in ("service", "chat") if arguments["--" + name]})
    if turns:
        asked["turns"] = turns
    started = call("agent.start", asked)
    if screen.is_json:
        screen.json({"type": "run", **started})
    turn = Turn(call, started["run"], screen)
    status = followed(turn, True)
    if not turn.ending:
        return status  # it was left before its end
    _show(turn.ending, screen)
    return STATUSES.get(str(turn.ending["state"]), STATUSES["FAILED"])


def _goal(words: str, option: str) -> tuple[str, int]:
    """Return the goal and its turns, which may stand in front of it as t=N or turns=N."""
    first, _, rest = words.replace("\n", " ").partition(" ")
    name, equals, number = first.partition("=")
    if equals and name in ("t", "turns"):
        words, option = rest, number
    if option and not option.isdigit():
        raise UsageError(f"{option!r} is no number of turns", "like: oasis agent -t 4 find out why the TV is slow")
    return words, int(option or 0)


def _show(ending: dict[str, Any], screen: Screen) -> None:
    if screen.is_json:
        return  # the event stands among the others
    screen.line(f"STATE: {ending['state']}")
    screen.line(f"MESSAGE: {clean.line(ending['message'])}")
    screen.line(f"TURNS: {ending['turns']}")
    screen.line(f"TOOLS: {', '.join(ending['tools']) or 'none'}")
    screen.line("OASIS_AGENT_RESULT=" + jsonl.dumps(ending))
