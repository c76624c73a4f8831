"""From an owner's sentence to what it probably asks for, by concepts; behind the exact patterns of reading.py.

A reading is SURE (carried out), UNSURE (said back as a question, and carried out after a yes) or none at all. Nothing
is a change that is negated, asked about, thought of or told of the past: words for that (`brakes`) stop every change.
Sentences may hold several requests, and may go on from the request before: "and the other band too".
"""

from __future__ import annotations

from oasis.offline import caution
from oasis.offline.clause import ASKED, Clause
from oasis.offline.frames import Fit, Frame, fit
from oasis.offline.lexicon import FILLER, Lexicon, Segment
from oasis.offline.reading import Part
from oasis.offline.scan import Names, Scanner
from oasis.offline.tokens import SENTENCE_CHARS, SENTENCE_TOKENS, narrow, tokenize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Raw = dict[str, tuple[str, bool]]

_GOES_ON = {"no", "instead", "to", "called", "is_", "it", "password", "name", "also", "follow", "and"}
_ELSEWHERE = {"howto", "hearsay"}  # words of questions that the state of the router does not answer
_LEADING = {"greet", "and", "also", "yes", "no", "follow", "it"}
NONE, UNSURE, SURE = 0, 1, 2
CUTS = 6
# What may be left over of a sentence: for carrying it out at once, and for asking whether it was meant.
SURE_LOSS, SURE_SHARE = 0.62, 0.3
UNSURE_LOSS, UNSURE_SHARE = 2.4, 0.65
WHOLE_LOSS, SPLIT_GAIN = 0.5, 2.5  # with less than this left over a sentence is one request
SAME_GAIN = 0.9  # for going on with the same request rather than with another one
ONE_LEFT = 1.6  # one word that nobody knows: it is asked
MARGIN = 0.3  # between the best intent and the next one


class Frames:
    """The frames of all intents, read once."""

    def __init__(self, data: dict[str, object], kinds: dict[str, dict[str, str]]) -> None:
        # A time of day that no hour belongs to (`until the morning`) is no end that could be set.
        self.brakes = {*_listed(data["brakes"]), "u_am", "u_pm", "u_night"}
        self.light = set(_listed(data["light"]))
        self.asking = set(_listed(data["asking"]))
        self.always = set(_listed(data["always"]))
        allowed = data["allowed"]
        self.allowed: dict[str, set[str]] = (
            {mood: set(_listed(words)) | self.always for mood, words in allowed.items()}
            if isinstance(allowed, dict)
            else {}
        )
        self.frames: list[Frame] = []
        moods = data["frames"]
        for mood, intents in moods.items() if isinstance(moods, dict) else []:
            for intent, texts in intents.items():
                self.frames += [Frame(intent, mood, text, kinds[intent]) for text in texts]
        self.of: dict[str, list[Frame]] = {}
        self._changing = {frame.intent for frame in self.frames if frame.mood == "change"}
        for frame in self.frames:
            self.of.setdefault(frame.intent, []).append(frame)

    def is_change(self, intent: str) -> bool:
        """Tell whether an intent changes something."""
        return intent in self._changing


class Guess:
    """What a sentence was taken for: parts, how certain that is, and whether it goes on from the request before."""

    def __init__(self, parts: list[Part], certainty: int, score: float = 0.0, loss: float = 0.0) -> None:
        self.parts = parts
        self.loss = loss
        self.certainty = certainty if parts else NONE
        self.score = score

    def names(self) -> set[str]:
        """Return the intents."""
        return {part.intent for part in self.parts}


class Understander:
    """Read sentences in one language by concepts."""

    def __init__(
        self,
        lexicon: Lexicon,
        fold: dict[str, str],
        frames: Frames,
        names: Names,
        is_value: Callable[[str, str, bool], bool],
        marks: dict[str, object] | None = None,
    ) -> None:
        self._marks = marks or {}
        self._lexicon = lexicon
        self._fold = fold
        self._frames = frames
        self._names = names
        self._is_value = is_value

    def clause(self, sentence: str) -> Clause | None:
        """Return a whole sentence as one clause, None when it is none or too long."""
        if len(sentence) > SENTENCE_CHARS:
            return None
        sentence = narrow(sentence)
        tokens = self._lexicon.refined(tokenize(sentence, self._fold))
        if not tokens or len(tokens) > SENTENCE_TOKENS:
            return None
        segments = Scanner(self._lexicon, self._names, tokens).segments()
        for one in segments:
            if one.slips:
                one.concepts -= self._frames.brakes  # a name is not a mistyped "not"
        caution.times_marked(tokens, segments, self._marks)
        whole = Clause(sentence, tokens, segments, set(), self._is_value)
        caution.yes_or_if(whole)
        whole = Clause(sentence, tokens, segments, set(), self._is_value)
        return Clause(sentence, tokens, segments, self._signs(whole), self._is_value)

    def _signs(self, clause: Clause) -> set[str]:
        is_request = "request" in clause.concepts
        last = clause.tokens[clause.segments[-1].end - 1].tail if clause.segments else ""
        is_marked = any(mark in last for mark in "?？") or bool(clause.concepts & {"question_end"})
        is_first = bool(self._first(clause) & {"ask_first"})
        is_asked = bool(clause.concepts & self._frames.asking) or ((is_marked or is_first) and not is_request)
        return ({"request"} if is_request else set()) | ({ASKED} if is_asked else set())

    def _first(self, clause: Clause) -> set[str]:
        """Return the concepts of the first word that is no greeting."""
        for one in clause.segments:
            if not one.concepts & _LEADING:
                return one.concepts
        return set()

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
        return fits[0].frame.intent if fits and _certainty(fits) else ""

    def _whole(self, clause: Clause) -> Guess:
        """Return the reading of a sentence; a change is held back by what any clause of it says."""
        guess = self._joint(clause)
        changes = [part for part in guess.parts if self._frames.is_change(part.intent)]
        if not changes:
            return guess
        said = caution.stopped(clause, changes[0])
        certainty = NONE if said - {caution.OTHERS} else UNSURE if said else SURE
        return Guess(guess.parts, min(guess.certainty, certainty), guess.score, guess.loss)

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

    def _one(self, clause: Clause, given: Raw) -> Guess:
        fits = self._fits(clause, given)
        if not fits:
            return Guess([], NONE)
        best = fits[0]
        return Guess([_part(best)], _certainty(fits), best.score(), best.loss)

    def _fits(self, clause: Clause, given: Raw, is_topic: bool = False) -> list[Fit]:
        """Return the best fit of each intent, the best one first."""
        best: dict[str, Fit] = {}
        for frame in self._frames.frames:
            if not is_topic and self._is_stopped(clause, frame):
                continue
            allowed = self._frames.allowed[frame.mood]
            if is_topic:
                allowed = allowed | self._frames.brakes | self._frames.asking
            found = fit(frame, clause, allowed, self._frames.light, given)
            if found and (frame.intent not in best or found.score() > best[frame.intent].score()):
                best[frame.intent] = found
        return sorted(best.values(), key=lambda one: -one.score())

    def _is_stopped(self, clause: Clause, frame: Frame) -> bool:
        """Tell whether words in a clause say that nothing is to be changed."""
        meant = set().union(*frame.needs) | frame.wants if frame.needs else frame.wants
        if frame.mood != "change":
            return frame.mood == "read" and bool(clause.concepts & _ELSEWHERE - meant)
        if any(kind == "switch" for _, kind, _ in frame.slots):
            meant = meant | {"on", "off"}
        brakes = self._frames.brakes - meant
        is_braked = any(one.concepts & brakes and not one.concepts & meant for one in clause.segments)
        return is_braked or (ASKED in clause.signs and ASKED not in meant)

    def _cuts(self, clause: Clause) -> list[tuple[int, int]]:
        """Return (end of one request, start of the next), as numbers of segments."""
        found = []
        count = len(clause.segments)
        for at in range(1, count):
            if "and" in clause.segments[at].concepts and not clause.segments[at - 1].concepts & {"and"}:
                start = at
                while start < count and "and" in clause.segments[start].concepts:
                    start += 1
                if start < count:
                    found.append((at, start))
            elif clause.tail(at - 1) and not clause.segments[at].concepts & {"and"}:
                found.append((at, at))
        return found

    def _piece(self, clause: Clause, start: int, end: int) -> Clause:
        segments = clause.segments[start:end]
        piece = Clause(clause.sentence, clause.tokens, segments, set(), self._is_value)
        signs = self._signs(piece) | (clause.signs & {"request"})
        return Clause(clause.sentence, clause.tokens, segments, signs, self._is_value)

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
        return Guess([_part(fits[0])], _certainty(fits), fits[0].score())

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


def _joined(first: list[Part], rest: list[Part]) -> list[Part]:
    """Return the parts of a sentence; what a later one says once more and completes is one request."""
    one, two = first[-1], rest[0]
    if one.intent == two.intent and one.slots.items() <= two.slots.items():
        first = first[:-1]
    said = [(part.intent, part.slots) for part in first]
    return [*first, *(part for part in rest if (part.intent, part.slots) not in said)]


def _certainty(fits: list[Fit]) -> int:
    best = fits[0]
    if best.gain < 0.9 or best.loss > UNSURE_LOSS or best.loss > max(UNSURE_SHARE * best.gain, ONE_LEFT):
        return NONE
    is_clear = len(fits) < 2 or best.score() - fits[1].score() >= MARGIN
    is_whole = best.loss <= SURE_LOSS and best.loss <= SURE_SHARE * best.gain
    return SURE if is_clear and is_whole else UNSURE


def _part(found: Fit) -> Part:
    return Part(found.frame.intent, found.slots, found.score())


def _listed(value: object) -> list[str]:
    return value if isinstance(value, list) else []


__all__ = ["NONE", "SURE", "UNSURE", "Frames", "Guess", "Segment", "Understander"]
