"""What goes on from the request before: "and the other band too", "block her", "only until nine".

A clause that goes on leaves out what the request before it said: values go on, and what was talked about does.
"""

from __future__ import annotations

from oasis.parts.offline import evidence
from oasis.parts.offline.language.clause import ASKED, Clause
from oasis.parts.offline.language.frames import Fit, fit
from oasis.parts.offline.reading import Part
from oasis.parts.offline.weighing import (
    DOUBT,
    ENOUGH,
    NONE,
    UNSURE,
    Guess,
    Weigher,
    certainty,
    likeliest,
    part_of,
    request_of,
    weight,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    Raw = dict[str, tuple[str, bool]]

_GOES_ON = {"no", "instead", "to", "called", "is_", "it", "password", "name", "also", "follow", "and"}
SAME_GAIN = 0.9  # for going on with the same request rather than with another one


class Follower(Weigher):
    """Reads clauses that go on from a request."""

    def _goes_on(self, clause: Clause) -> bool:
        first = clause.segments[0].concepts
        return bool(clause.concepts & {"also", "it", "other", "instead", "follow"} or first & {"and", "no"})

    def _following(self, clause: Clause, before: Part) -> Guess:
        """Return the reading of a clause that leaves out what the request before it said."""
        start = 0
        while start < len(clause.segments) - 1 and clause.segments[start].concepts & {"no", "and", "also", "follow"}:
            start += 1
        signs = clause.signs | {"following"} | ({"also"} if start else set())
        bare = Clause(clause.sentence, clause.tokens, clause.segments[start:], signs, self._is_value)
        if bare.concepts & {"follow"} or clause.concepts & {"follow"}:
            bare.signs = bare.signs - {ASKED}
            bare.concepts = bare.concepts - {ASKED} - self._frames.asking
        given = dict(before.slots)
        fits = [one for one in self._fits(bare, given) if one.frame.intent != before.intent]
        fits += self._same(bare, before, given)
        fits.sort(key=lambda one: -one.score())
        if not fits:
            return Guess([], NONE)
        return Guess([part_of(fits[0])], certainty(fits, {}), fits[0].score())

    def _same(self, clause: Clause, before: Part, given: Raw) -> list[Fit]:
        """Return how a clause says the request before once more with other values."""
        found = []
        for frame in self._frames.of.get(before.intent, ()):
            if any(given.get(name) != (value, True) for name, value in frame.fixed.items()):
                continue
            if not frame.slots or self._is_stopped(clause, frame):
                continue
            if "other" in clause.concepts and any(name == "band" for name, _, _ in frame.slots):
                band = {"2g": "5g", "5g": "2g"}.get(given.get("band", ("", True))[0])
                if band:
                    found.append(Fit(frame, {**given, "band": (band, True)}, 2.0, 0.0))
            waived = frame.waived()
            allowed = self._frames.allowed[frame.mood] | {"it", "other", "instead", "band", "device", "on", "off"}
            one = fit(waived, clause, allowed, self._frames.light, {})
            changed = {name for name in one.slots if one.slots[name] != given.get(name)} if one else set()
            is_free = changed <= {name for name, _, _ in frame.free} and not clause.concepts & _GOES_ON
            if one and changed - set(frame.fixed) and not is_free:
                slots = {**given, **one.slots}
                found.append(Fit(frame, slots, one.gain + SAME_GAIN, one.loss))
        return sorted(found, key=lambda one: -one.score())[:1]

    def _loosely_following(self, clause: Clause, before: Part) -> Guess:
        """Return what a clause probably asks for that goes on from a request; it is asked about."""
        topic = self._frames.topic(before.intent)
        given = dict(before.slots)
        bare = Clause(clause.sentence, clause.tokens, clause.segments, clause.signs | {"following"}, self._is_value)
        odds = self._odds(bare, {"c:" + name for name in topic} | {"v:device" for name in given if "device" in name})
        if not odds:
            return Guess([], NONE)
        fits = self._likely_fits(bare, likeliest(odds), given)
        same = self._once_more(bare, before)
        if same:
            fits.append(same)
            odds = {name: chance / 2 for name, chance in odds.items()}
            odds[request_of(same)] = odds.get(request_of(same), 0.0) + 0.5
        fits = [one for one in fits if self._frames.needed(one.frame.intent) <= set(one.slots)]
        if not fits:
            return Guess([], NONE)
        best = max(fits, key=lambda one: weight(one, odds))
        is_likely = odds.get(request_of(best), 0.0) >= ENOUGH and odds.get(evidence.NOTHING, 0.0) < DOUBT
        return Guess([part_of(best)], UNSURE if is_likely else NONE, best.score(), best.loss)

    def _once_more(self, clause: Clause, before: Part) -> Fit | None:
        """Return the request before with the values that a clause says anew, None when it says none."""
        intent, fixed = evidence.parts_of(request_said(before))
        again = self._loose_fit(clause, intent, fixed, {})
        if again is None or all(again.slots[name] == before.slots.get(name) for name in again.slots):
            return None
        names = {name for frame in self._frames.of[intent] for name, _, _ in frame.slots} | set(fixed)
        again.slots = {**{name: raw for name, raw in before.slots.items() if name in names}, **again.slots}
        return again


def request_said(part: Part) -> str:
    """Return the request that a part counts as in the evidence."""
    return evidence.request_of(part.intent, {name: raw for name, (raw, _) in part.slots.items()})


def belief(part: Part, odds: dict[str, float]) -> float:
    """Return how probable the request of a part is."""
    return odds.get(request_said(part), 0.0)
