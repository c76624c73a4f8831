"""What the words of a sentence speak for, as learned from sentences: a probability for each request.

What a sentence shows is a list of features: concepts of the lexicon and types of values, which are the same in every
language, and words. Each has weights for some of the requests; they were learned by tests/eval/offline/train.py from
the training sentences, and are data: intents/evidence.json for what all languages share, evidence_XX.json for words.
Of no word that nobody trained is anything known, and it speaks for nothing. Decides nothing; see weighing.py.

A request here is an intent, with its switch or action where it has one: `led_switch switch=off`.
"""

from __future__ import annotations

import math

from oasis.parts.offline.language.lexicon import FILLER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.clause import Clause
    from oasis.parts.offline.language.lexicon import Segment

NOTHING, STORY = "-", "~"  # no request at all; a clause that only tells why
SCALE = 100  # weights are kept as whole numbers
BEGIN = 4  # letters of the beginning of a longer word, which its other forms have too
_SIGNS = {"asked", "request", "following"}  # other signs are concepts that were said before
# Values told by their form: the type counts, never the words; of the others the value counts too.
_BY_FORM = {
    "quoted", "ip", "cidr", "ip6", "mac", "domain", "number", "range", "clock", "hours", "duration", "width", "speed",
    "power", "device", "decimal",
}  # fmt: skip
_NAMED = {"service", "package", "place", "country", "provider"}  # values whose type counts alone, beside their words


def features(clause: Clause) -> list[str]:
    """Return what a clause shows: `c:` concepts, `v:` values, `s:` signs of the whole, `w:` words."""
    found = {("s:" if sign in _SIGNS else "c:") + sign for sign in clause.signs}
    kinds: dict[str, int] = {}
    for segment in clause.segments:
        found |= {"c:" + concept for concept in segment.concepts if concept != FILLER}
        for kind, value in segment.values.items():
            kinds[kind] = kinds.get(kind, 0) + 1
            if kind not in _BY_FORM and kind not in _NAMED and kind != "half":
                found.add(f"v:{kind}={value}")
        found |= _words(clause, segment)
    for kind, count in kinds.items():
        if kind != "half":
            found |= {"v:" + kind, f"v:{kind}2"} if count > 1 else {"v:" + kind}
    return sorted(found)


def _words(clause: Clause, segment: Segment) -> set[str]:
    if segment.slips or set(segment.values) & (_BY_FORM | {"place", "provider"}):
        return set()
    norms = [token.norm for token in clause.tokens[segment.start : segment.end]]
    return {"w:" + norm for norm in norms} | {f"w:{norm[:BEGIN]}*" for norm in norms if len(norm) > BEGIN}


class Evidence:
    """The learned weights for one language."""

    def __init__(self, shared: dict[str, object], words: dict[str, object]) -> None:
        classes = shared.get("classes")
        self.classes: list[str] = classes if isinstance(classes, list) else []
        self._weights = {**_table(shared.get("weights")), **_table(words.get("weights"))}

    def probabilities(self, clause: Clause, more: set[str] | None = None) -> dict[str, float]:
        """Return how probable each request is for a clause, all together 1; {} when nothing was learned.

        `more` are features that the clause does not show, because they were said before it.
        """
        if not self.classes:
            return {}
        totals = [0.0] * len(self.classes)
        known = sorted(name for name in {*features(clause), *(more or ())} if name in self._weights)
        share = 1.0 / (SCALE * math.sqrt(max(len(known), 1)))
        for name in known:
            self._add(totals, self._weights[name], share)
        self._add(totals, self._weights.get("", ""), 1.0 / SCALE)
        most = max(totals)
        odds = [math.exp(total - most) for total in totals]
        whole = sum(odds)
        return {name: odd / whole for name, odd in zip(self.classes, odds, strict=True)}

    def _add(self, totals: list[float], weights: str, share: float) -> None:
        numbers = weights.split()
        for at in range(0, len(numbers) - 1, 2):
            totals[int(numbers[at])] += int(numbers[at + 1]) * share


def request_of(intent: str, slots: dict[str, str]) -> str:
    """Return the request that an intent with its slots counts as."""
    for name in ("switch", "action"):
        if name in slots:
            return f"{intent} {name}={slots[name]}"
    return intent


def parts_of(request: str) -> tuple[str, dict[str, str]]:
    """Return the intent of a request and the slots that are fixed by it."""
    intent, _, rest = request.partition(" ")
    name, _, value = rest.partition("=")
    return intent, {name: value} if name else {}


def _table(value: object) -> dict[str, str]:
    return value if isinstance(value, dict) else {}
