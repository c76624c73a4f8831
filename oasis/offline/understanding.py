"""From an owner's sentence to what it probably asks for, by concepts; behind the exact patterns of reading.py.

A reading is SURE (carried out), UNSURE (said back as a question, and carried out after a yes) or none at all. Nothing
is a change that is negated, asked about, thought of or told of the past: words for that (`brakes`) stop every change.
Sentences may hold several requests, and may go on from the request before: "and the other band too".
"""

from __future__ import annotations

from oasis.offline import caution, evidence
from oasis.offline.clause import ASKED, Clause
from oasis.offline.frames import Fit, Frames, fit
from oasis.offline.lexicon import FILLER, Segment
from oasis.offline.reading import Part
from oasis.offline.weighing import NONE, SURE, UNSURE, Guess, Weigher, certainty, part_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    Raw = dict[str, tuple[str, bool]]

_GOES_ON = {"no", "instead", "to", "called", "is_", "it", "password", "name", "also", "follow", "and"}
CUTS = 6
WHOLE_LOSS, SPLIT_GAIN = 0.5, 2.5  # with less than this left over a sentence is one request
MEANT = 0.6  # how probable a change must be that is asked about though words beside it hold changes back
UNHEARD = 0.03  # a request less probable than this is none of several in a sentence
SAME_GAIN = 0.9  # for going on with the same request rather than with another one


class Understander(Weigher):
    """Read sentences in one language by concepts."""

    def read(self, sentence: str, before: list[Part]) -> Guess:
        """Return what a sentence asks for; `before` is what the one before asked for."""
        whole = self.clause(sentence)
        if whole is None:
            return Guess([], NONE)
        guess = self._whole(whole)
        if before and (guess.certainty < SURE or self._goes_on(whole)):
            more = self._following(whole, before[-1])
            if more.certainty > guess.certainty or (more.certainty and more.score >= guess.score):
                return more
        return guess

    def held_back(self, sentence: str, parts: list[Part]) -> set[str]:
        """Return what says that a change is not wanted now: see caution.py."""
        return caution.stopped(self.clause(sentence), parts[0] if parts else None)

    def is_later(self, sentence: str) -> bool:
        """Tell whether something is to be done at another time than now."""
        return caution.is_later(self.clause(sentence))

    def unknown(self, sentence: str) -> int:
        """Return how many words of a sentence are in no list of this language, twice; mistyped ones once."""
        whole = self.clause(sentence)
        if whole is None:
            return 0
        return sum(2 if not one.is_known() else one.slips for one in whole.segments)

    def is_said(self, sentence: str, concept: str) -> bool:
        """Tell whether a sentence says one concept, such as yes, and nothing else."""
        whole = self.clause(sentence)
        if whole is None:
            return False
        # Many a word for yes also fills a sentence: alone it is the answer.
        allowed = {concept, FILLER, *self._frames.always}
        segments = whole.segments
        return any(concept in one.concepts for one in segments) and all(one.concepts & allowed for one in segments)

    def says(self, sentence: str, concepts: set[str]) -> bool:
        """Tell whether a sentence has a word for any of the concepts."""
        whole = self.clause(sentence)
        return bool(whole and whole.concepts & concepts)

    def topic(self, sentence: str) -> str:
        """Return the intent that a question or a forbidden wish is about, "" when there is none."""
        whole = self.clause(sentence)
        if whole is None:
            return ""
        bare = Clause(whole.sentence, whole.tokens, whole.segments, set(), self._is_value)
        fits = self._fits(bare, {}, is_topic=True)
        return fits[0].frame.intent if fits and certainty(fits, {}) else ""

    def _whole(self, clause: Clause) -> Guess:
        """Return the reading of a sentence; a change is held back by what any clause of it says."""
        guess = self._joint(clause)
        odds = self._odds(clause)
        if odds:
            guess = self._supported(clause, guess, odds)
            if guess.certainty < SURE and len(guess.parts) < 2:
                loose = self._loosely(clause, odds, {})
                guess = loose if loose.certainty else guess
        return self._held(clause, guess, odds)

    def _supported(self, clause: Clause, guess: Guess, odds: dict[str, float]) -> Guess:
        """Return a reading without the questions that nothing in the sentence speaks for; then it is asked about."""
        if len(guess.parts) != 2:
            return guess
        heard = [self._frames.is_change(part.intent) or _belief(part, odds) >= UNHEARD for part in guess.parts]
        parts = [part for part, is_heard in zip(guess.parts, heard, strict=True) if is_heard]
        if len(parts) == len(guess.parts) or not parts:
            return guess
        return Guess(parts, min(guess.certainty, UNSURE), guess.score, guess.loss)

    def _held(self, clause: Clause, guess: Guess, odds: dict[str, float]) -> Guess:
        """Return a reading as certain as the rest of the sentence lets it be."""
        changes = [part for part in guess.parts if self._frames.is_change(part.intent)]
        said = caution.stopped(clause, changes[0]) if changes else set()
        if not said:
            return guess
        certainty = UNSURE
        if said - {caution.OTHERS}:
            wish = self._wish(clause, changes[0])
            told = caution.stopped(wish, changes[0]) - {caution.OTHERS}
            is_meant = _belief(changes[0], odds) >= MEANT * (1.0 - odds.get(evidence.NOTHING, 1.0))
            certainty = UNSURE if is_meant and "later" not in told else NONE
        return Guess(guess.parts, min(guess.certainty, certainty), guess.score, guess.loss)

    def _wish(self, clause: Clause, part: Part) -> Clause:
        """Return the part of a sentence that speaks most for a request."""
        pieces = [self._piece(clause, *span) for span in self._spans(clause)]
        return max(pieces, key=lambda piece: (_belief(part, self._odds(piece)), -len(piece.segments)))

    def _joint(self, clause: Clause) -> Guess:
        one = self._one(clause, {})
        cuts = self._cuts(clause) or caution.seams(clause)
        if not cuts or len(cuts) > CUTS:
            return one
        several = self._several(clause, cuts, None)
        if caution.is_double(clause, cuts) and not (one.loss < 0.3 and one.names() <= caution.TWO_VERBS):
            return self._apart(clause, cuts, one, several)
        if one.certainty == SURE and one.loss < WHOLE_LOSS:
            is_mixed = len({part.intent for part in several.parts}) > 1
            is_better = several.certainty == SURE and several.score > one.score + SPLIT_GAIN
            return several if is_mixed and is_better else one
        is_same = {part.intent for part in several.parts} == {part.intent for part in one.parts}
        if is_same and one.certainty and one.loss < 2 * WHOLE_LOSS:
            return one
        if several.certainty and (several.certainty, several.score) > (one.certainty, one.score + 0.2):
            return several
        return one if one.certainty else self._in_noise(clause, cuts)

    def _apart(self, clause: Clause, cuts: list[tuple[int, int]], one: Guess, several: Guess) -> Guess:
        """Return the reading of a sentence with two verbs: both requests, or a question about the one understood."""
        if several.certainty:
            return several
        if any(self._frames.is_change(name) for name in one.names()) or not one.certainty:
            return self._in_noise(clause, cuts)
        one.certainty = min(one.certainty, UNSURE)
        return one

    def _in_noise(self, clause: Clause, cuts: list[tuple[int, int]]) -> Guess:
        """Return the one clause of a sentence that asks for something where the others only tell why; to be asked."""
        edges = [0, *(edge for cut in cuts for edge in cut), len(clause.segments)]
        spans = [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]
        if clause.concepts & (self._frames.brakes - {"ask"}):
            return Guess([], NONE)
        read = [guess for guess in (self._one(self._piece(clause, *span), {}) for span in spans) if guess.certainty]
        if len(read) != 1 or len(spans) > 3:
            return Guess([], NONE)
        return Guess(read[0].parts, UNSURE, read[0].score, read[0].loss)

    def _several(self, clause: Clause, cuts: list[tuple[int, int]], before: Part | None, start: int = 0) -> Guess:
        """Return the best reading as two or more requests; a later one may leave out what the one before said."""
        best = Guess([], NONE)
        for at, (end, following) in enumerate(cuts):
            if end <= start:
                continue
            first = self._part_of(self._piece(clause, start, end), before)
            if not first.certainty:
                continue
            rest = self._part_of(self._piece(clause, following, len(clause.segments)), first.parts[-1])
            options = [rest]
            if at + 1 < len(cuts):
                options.append(self._several(clause, cuts[at + 1 :], first.parts[-1], following))
            for option in options:
                if not option.certainty:
                    continue
                certainty = min(first.certainty, option.certainty)
                score = first.score + option.score
                if (certainty, score) > (best.certainty, best.score):
                    best = Guess(_joined(first.parts, option.parts), certainty, score)
        return best

    def _part_of(self, piece: Clause, before: Part | None) -> Guess:
        guess = self._one(piece, {})
        goes_on = "it" in piece.concepts or not piece.concepts & {"wifi", "guest", "everything"}
        if before is None or (guess.certainty == SURE and not goes_on):
            return guess
        more = self._following(piece, before)
        if (more.certainty, more.score) > (guess.certainty, guess.score):
            return more
        return self._of_guests(piece, guess) if before.intent.startswith("guest_") and goes_on else guess

    def _of_guests(self, piece: Clause, guess: Guess) -> Guess:
        """Return the reading of a piece as one about the Wi-Fi of the guests, who were spoken of just before."""
        signs = piece.signs | {"guest"}
        found = self._one(Clause(piece.sentence, piece.tokens, piece.segments, signs, self._is_value), {})
        is_theirs = bool(found.parts) and found.parts[0].intent.startswith("guest_")
        return found if is_theirs and found.certainty >= guess.certainty else guess

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


def _belief(part: Part, odds: dict[str, float]) -> float:
    """Return how probable the request of a part is."""
    return odds.get(evidence.request_of(part.intent, {name: raw for name, (raw, _) in part.slots.items()}), 0.0)


def _joined(first: list[Part], rest: list[Part]) -> list[Part]:
    """Return the parts of a sentence; what a later one says once more and completes is one request."""
    one, two = first[-1], rest[0]
    if one.intent == two.intent and one.slots.items() <= two.slots.items():
        first = first[:-1]
    said = [(part.intent, part.slots) for part in first]
    return [*first, *(part for part in rest if (part.intent, part.slots) not in said)]


__all__ = ["NONE", "SURE", "UNSURE", "Frames", "Guess", "Segment", "Understander"]
