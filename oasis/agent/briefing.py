"""The system prompt: what a model is here for, what time it is, what router this is, and what it may do.

What changes from one request to the next stands last, so that a service that keeps the beginning can do so.
"""

from __future__ import annotations

import time

from oasis.agent.client import prompts
from oasis.agent.turn import CALLS, LARGE_ROUNDS, ROUNDS
from oasis.core import clean, when
from oasis.tools import specs

if False:  # annotations only
    from oasis.agent.client import Asking
    from oasis.agent.goal import Goal
    from oasis.agent.shapes import TurnExtras
    from oasis.config.shapes import Service
    from oasis.tools.router import Facts

# Of the names of packages with a configuration; a router with everything has some sixty.
NAMES_CHARS = 400
QUARTER_S = 900
_MAY = {
    "risky": "Changes that are risky wait for the owner's approval.",
    "all": "Every change waits for the owner's approval.",
    "none": "Changes are made without asking; those that could lock the owner out must be kept afterwards.",
}


def rounds_of(service: Service, goal: Goal | None = None) -> int:
    """Return how many answers of a turn may call tools."""
    if goal:
        return goal.turns
    return LARGE_ROUNDS if specs.is_large(service["context_tokens"]) else ROUNDS


def system(asking: Asking, goal: Goal | None, extras: TurnExtras | None, rounds: int, approval: str, role: str) -> str:
    """Return the system prompt; `extras` is what the optional parts add, `rounds` how many answers may call tools."""
    lines = [prompts()["system"], prompts()["agent"] if goal else "", *(extras.system if extras else [])]
    lines += [_router(asking.facts), _MAY[approval] if role == "owner" else "You act for the role %s." % role]
    lines += [prompts()["limits"] % (rounds, CALLS), _now(asking)]
    return "\n".join(filter(None, lines))


def _router(facts: Facts) -> str:
    """Return what this router is, as far as it says so."""
    board = facts.ubus("system", "board")
    release = board.get("release")
    release = release if isinstance(release, dict) else {}
    found = [board.get("model"), release.get("description"), release.get("target")]
    words = ["Router: %s." % ", ".join([clean.line(str(one)) for one in found if one])] if any(found) else []
    names = ", ".join(facts.packages())
    if len(names) > NAMES_CHARS:
        names = names[:NAMES_CHARS].rpartition(", ")[0] + " and more"
    words.append("Packages with a configuration: %s." % names)
    return " ".join(words)


def _now(asking: Asking) -> str:
    """Return the day and time, and whether the clock can be trusted: every rule by time is as right as that.

    By the quarter of an hour: with each minute the service would have to read the whole chat again, which it keeps
    until then.
    """
    unix_s = asking.unix_s() // QUARTER_S * QUARTER_S
    local = time.localtime(unix_s)
    zone = local.tm_zone or "UTC"
    words = "It is %s, about %s (time zone %s)" % (time.strftime("%A", local), when.shown(unix_s)[:16], zone)
    if zone == "UTC":
        words += ", perhaps not the owner's: rules by time follow it"
    return words + (". The clock is right." if asking.clock.is_set() else ". The clock is not set yet: this is wrong.")
