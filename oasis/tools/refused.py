"""Refused proposals that the owner may force: kept in memory for a short while.

Never on flash, because operations hold secrets in clear. A proposal that runs code is shown and not kept: the owner
does that by commands of their own. It is used once, and only while its packages are as they were: @rule[-1] would
be another section. Shape of a kept refusal:
    {"id", "until_s" (monotonic), "forces": [kinds that it needs], "operations", "summary", "until_unix_s", "known",
     "chat", "message", "taint": [whose words its maker had in sight], "revisions": {package: sha256}}
"""

from __future__ import annotations

from oasis.errors import ApplyError, MistakeError, PolicyError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.force import RefusedError
    from oasis.tools.operator import Workshop
    from oasis.tools.shapes import Order, RefusalEvent, Refused

# As long as a plan waits, and for no more than one owner can have in mind.
KEEP_S = 600
KEPT = 16
_BY_HAND = "only the owner may set what runs code: oasis apply --force exec"


def keep(shop: Workshop, error: RefusedError, order: Order) -> RefusalEvent:
    """Keep a refusal, unless it is one for code; return the fields of its event.

    Shape: {"refused": id or "", "summary", "uci", "reasons", "force": [kinds], "tainted", "hint"?}
    """
    name = ""
    if "exec" not in error.forces:
        name = shop.planner.new_id()
        kept: Refused = {
            **order,
            "id": name,
            "until_s": shop.now_s() + KEEP_S,
            "forces": error.forces,
            "revisions": error.revisions,
        }
        shop.refused.append(kept)
        del shop.refused[:-KEPT]
    told: RefusalEvent = {
        "refused": name, "summary": order["summary"], "uci": error.uci, "reasons": error.reasons,
        "force": error.forces, "tainted": bool(order["taint"]),
    }  # fmt: skip
    return told if name else {**told, "hint": _BY_HAND}


def for_owner(error: RefusedError, forced: tuple[str, ...]) -> RefusedError:
    """Return a refusal of the owner's own commands with the hint how to force them."""
    options = ["--force " + kind for kind in sorted({*forced, *error.forces})]
    error.hint = "to have it all the same: oasis apply " + " ".join(options)
    return error


def plain(error: RefusedError) -> PolicyError:
    """Return the same refusal for somebody who cannot force anything and need not know that others can."""
    kind = MistakeError if error.is_mistake else PolicyError
    return kind(error.message, error.hint)


def find(shop: Workshop, name: str) -> Refused:
    """Return a kept refusal.

    Raises: UsageError when there is none of that id any more.
    """
    for one in list(shop.refused):
        if one["id"] == name and one["until_s"] > shop.now_s():
            return one
    raise UsageError("nothing refused is kept as %r any more" % name, "ask for the change again")


def use(shop: Workshop, kept: Refused) -> None:
    """Take a refusal out of what is kept: nobody forces it a second time.

    Raises: UsageError when somebody else was faster.
    """
    try:
        shop.refused.remove(kept)
    except ValueError:
        raise UsageError("refusal %s was forced already" % kept["id"], "ask for the change again")


def check_unmoved(kept: Refused, revisions: dict[str, str]) -> None:
    """Raise ApplyError unless the packages of a refusal, as far as they are known, are as they were then."""
    moved = [name for name, revision in kept["revisions"].items() if revisions.get(name, revision) != revision]
    if moved:
        raise ApplyError(
            "the router is not as it was when this was proposed: %s was changed" % ", ".join(moved),
            "ask for the change again: it will be worked out on the new state",
        )


def kinds(kept: Refused, wanted: list[str] | None) -> tuple[str, ...]:
    """Return what is forced of a kept refusal: what was asked for, or else all that it needs; never code.

    Raises: UsageError for anything that it does not need.
    """
    for kind in wanted or ():
        if kind not in kept["forces"]:
            raise UsageError(
                "refusal %s does not need %r" % (kept["id"], kind), "it needs: " + ", ".join(kept["forces"])
            )
    return tuple(wanted or kept["forces"])
