"""What only the owner lets through: the kinds of it, the words for code, and the refusal that names what it would take.

Three rules refuse a plan and yet have an exception: an option that runs code (`exec`), a change after which the owner
would not reach the router (`reachability`), names and values that the catalogue does not know or calls bad (`unknown`).
An option without an entry is both: unknown, and code until shown otherwise. Whoever may force says so by a method of
their own (methods.py); no setting, no tool and no text of a model leads here. What policy.json forbids has no kind.

Shape of needs: {kind: [what breaks that rule]}, each kind only when it is needed.
"""

from __future__ import annotations

from oasis.errors import PolicyError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Draft
    from oasis.shapes import ErrorReply

KINDS = ("exec", "reachability", "unknown")
# What the owner types for code; the same in every language, so that nobody agrees to it by a word like yes.
WORDS = "this runs code as root"
# Reasons in one message; front ends get them all.
_TOLD = 5
_HINTS = {
    "exec": "leave that part out; only the owner does it: oasis apply --force exec",
    "unknown": "correct these and propose the whole change again",
    "reachability": "ask for a change that leaves your own way open, or come in by another way first",
}


class RefusedError(PolicyError):
    """A plan is refused that the owner may force: `forces` are the kinds that are missing, `reasons` all that is wrong.

    `uci` are the commands with secrets masked, `revisions` the sha256 of each package that they were meant for,
    `is_mistake` whether nothing but names and values that are not there is wrong.
    """

    def __init__(
        self, forces: list[str], reasons: list[str], uci: list[str], revisions: dict[str, str] | None = None, *,
        is_mistake: bool = False,
    ) -> None:  # fmt: skip
        hint = next(_HINTS[kind] for kind in ("unknown", "exec", "reachability") if kind in forces)
        super().__init__("; ".join(reasons[:_TOLD]), hint)
        self.forces = forces
        self.reasons = reasons
        self.uci = uci
        self.revisions = revisions or {}
        self.is_mistake = is_mistake

    def as_dict(self) -> ErrorReply:
        return {**super().as_dict(), "force": self.forces}


def allow(plan: Draft, needs: dict[str, list[str]]) -> None:
    """Mark a plan as forced: never low, and each rule that it breaks is among its reasons."""
    plan["forces"] = sorted(needs)
    plan["risk"] = "risky"
    for kind in plan["forces"]:
        broken = "; ".join(needs[kind])
        about = {
            "exec": "forced: %s (%s)" % (WORDS, broken),
            "reachability": "forced: you would not reach the router any more: %s" % broken,
            "unknown": "forced: %s" % broken,
        }
        plan["reasons"] = [*plan["reasons"], about[kind]]


def checked(kinds: list[str], words: str) -> tuple[str, ...]:
    """Return what the owner forces by their own commands, when they may.

    Raises: UsageError for an unknown kind, PolicyError when code is among them and the words are not exactly WORDS.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError("there is nothing to force that is called %r" % kind, "there are: " + ", ".join(KINDS))
    if "exec" in kinds and words != WORDS:
        raise PolicyError(
            "what runs code is only let through with its words", "type exactly: %s (oasis apply --words)" % WORDS
        )
    return tuple(sorted(set(kinds)))


def unreachable(needs: dict[str, list[str]]) -> tuple[str, str]:
    """Return message and hint for who would not reach the router any more."""
    return (
        "you would not reach the router any more: " + "; ".join(needs["reachability"]),
        "ask for a change that leaves your own way open, or come in by another way first",
    )


def reasons(needs: dict[str, list[str]], mistakes: list[str]) -> list[str]:
    """Return all that is wrong with a plan: the mistakes that were found, code, and the lost way in."""
    found = list(mistakes)
    if "exec" in needs and not mistakes:
        found.append("%s runs code or names a file" % ", ".join(needs["exec"]))
    if "reachability" in needs:
        found.append(unreachable(needs)[0])
    return found
