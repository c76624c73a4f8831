"""What is shown of a plan before it is applied, and what the owner may force: an idle daemon needs no more of plans."""

from __future__ import annotations

from oasis.errors import PolicyError, UsageError

if False:  # annotations only
    from typing import Any

    from oasis.change.shapes import Card, Plan

FORCES = ("exec", "reachability", "unknown")
# What the owner types for code; the same in every language, so that nobody agrees to it by a word like yes.
FORCE_WORDS = "this runs code as root"
# Whose words a call is that a program of somebody else's makes; the rest is how it calls itself.
CLIENT = "words of the MCP client "


def checked_forces(kinds: list[str], words: str) -> tuple[str, ...]:
    """Return what the owner forces by their own commands, when they may.

    Raises: UsageError for an unknown kind, PolicyError when code is among them and the words are not FORCE_WORDS.
    """
    for kind in kinds:
        if kind not in FORCES:
            raise UsageError("there is nothing to force that is called %r" % kind, "there are: " + ", ".join(FORCES))
    if "exec" in kinds and words != FORCE_WORDS:
        raise PolicyError(
            "what runs code is only let through with its words", "type exactly: %s (oasis apply --words)" % FORCE_WORDS
        )
    return tuple(sorted(set(kinds)))


def ahead(plan: Plan) -> dict[str, object]:
    """Return what a front-end must know before a change is applied that has to be kept; {} for every other.

    Afterwards the router may answer at another address only. Shape: {"change", "confirm_s", "nonce", "new_address"?}
    """
    if not plan["images"] or not plan["confirm_s"]:
        return {}
    address = {"new_address": plan["new_address"]} if plan["new_address"] else {}
    return {"change": plan["id"], "confirm_s": plan["confirm_s"], "nonce": plan["nonce"], **address}


def card(plan: Plan, now_s: float) -> Card:
    """Return what people and programs are shown of a plan (see methods.py for the shape)."""
    keys = ("id", "hash", "run", "chat", "summary", "words", "uci", "diff", "risk", "reasons", "tainted", "services",
            "confirm_s", "needs_approval")  # fmt: skip
    where_set = ("until_unix_s", "new_address", "verdict", "forces", "typed_word", "unconfined", "call", "secrets",
                 "choice")  # fmt: skip
    every: dict[str, Any] = {**plan}
    shown: Card = {key: every[key] for key in (*keys, *where_set) if key in keys or every[key]}
    shown["short"] = str(plan["hash"])[:8]
    if plan["untrusted"] and plan["tainted"]:  # an old name that is replaced is no reason to be warned
        shown["untrusted"] = sorted(set(plan["untrusted"]))
    shown["expires_in_s"] = max(int(plan["expires_s"] - now_s), 0)
    return shown
