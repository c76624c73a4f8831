"""How well requests fit one clause: what its frames cover, and what its words speak for, weighed together.

A frame says exactly which words make a request and what is left over (frames.py); the evidence says what sentences like
this one have meant. A request is SURE when a frame covers the clause and the evidence agrees; where only one of them
speaks for it, it is UNSURE and asked about. Knows nothing of several requests in one sentence.

Evidence is a probability for each request, learned from sentences. What a sentence shows is a list of features:
concepts of the lexicon and types of values, which are the same in every language, and words. Each has weights for some
of the requests, learned by tests/eval/offline/train.py and kept as data: intents/evidence.json for what all languages
share, evidence_XX.json for words. A word that was not trained speaks for nothing. A request here is an intent, with its
switch or action where it has one: `led_switch switch=off`.

A clause that goes on from the request before ("and the other band too", "block her", "only until nine") leaves out what
that said: its values and what it was about go on (Follower).
"""

from __future__ import annotations

import math

from oasis.parts.offline import caution
from oasis.parts.offline.language.clause import ASKED, Clause, Names, Scanner
from oasis.parts.offline.language.frames import Fit, Frame, Frames, fit
from oasis.parts.offline.language.lexicon import FILLER, SENTENCE_CHARS, SENTENCE_TOKENS, narrow, tokenize
from oasis.parts.offline.reading import Part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.language.free import Naming
    from oasis.parts.offline.language.lexicon import Lexicon, Segment
    from oasis.parts.offline.shapes import Caution, EvidenceData, IsValue, Raw


NOTHING, STORY = "-", "~"  # no request at all; a clause that only tells why
SCALE = 100  # weights are kept as whole numbers
BEGIN = 4  # letters of the beginning of a longer word, which its other forms have too
_SIGNS = {"asked", "request", "following"}  # other signs are concepts that were said before
# Values with a form of their own: the type counts, never the words; of the others the value counts too.
_BY_FORM = {
    "quoted", "ip", "cidr", "ip6", "mac", "domain", "number", "range", "clock", "hours", "duration", "width", "speed",
    "power", "device", "decimal",
}  # fmt: skip
_NAMED = {"service", "package", "place", "country", "provider"}  # values whose type alone counts, with their words


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

    def __init__(self, shared: EvidenceData, words: EvidenceData) -> None:
        self.classes = shared.get("classes", [])
        self._weights = {**shared.get("weights", {}), **words.get("weights", {})}

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


def request_name(intent: str, slots: dict[str, str]) -> str:
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


_HOLDING = {"negation", "forbid", "past", "hearsay", "condition"}  # among these words hardly anything is wished for
_ASKING_HOW = {"howto", "ask"}
_ELSEWHERE = {"howto", "hearsay"}  # words of questions that the state of the router does not answer
_LEADING = {"greet", "and", "also", "yes", "no", "follow", "it"}
NONE, UNSURE, SURE = 0, 1, 2
# What may be left over of a sentence: for carrying it out at once, and for asking whether it was meant.
SURE_LOSS, SURE_SHARE = 0.62, 0.3
UNSURE_LOSS, UNSURE_SHARE = 2.4, 0.65
ONE_LEFT = 1.6  # one word that nobody knows: it is asked
MARGIN = 0.3  # between the best intent and the next one
# Of the evidence: what counts as nothing; what a request needs to be asked about, and how probable it may be that none
# was meant; what agrees with a frame, and what speaks against one.
SURELY_NOTHING = 0.9  # so probable that no request is meant, that no change is carried out without a yes
LITTLE, ENOUGH, DOUBT, DOUBT_HELD, AGREED, AGAINST = 0.002, 0.3, 0.55, 0.33, 0.3, 0.03
FRAME_SHARE = 0.5  # of a frame's score, against the logarithm of the evidence
LEFT_OUT = 0.35  # for a value that stands outside of the part that is covered
SPANS = 7  # places where a wish may begin; with more of them the whole sentence is looked at
_LISTED = {"device", "ip", "days", "number", "encryption", "clock", "hours", "band"}  # values that are said in a row
_NO_REQUEST = (NOTHING, STORY)
TRIED = 5  # requests without a frame that are looked at, the most probable ones


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


class Words:
    """What one language means: its lexicon, how its characters are folded, the frames, and the marks of caution.py."""

    def __init__(self, lexicon: Lexicon, fold: dict[str, str], frames: Frames, marks: Caution) -> None:
        self.lexicon = lexicon
        self.fold = fold
        self.frames = frames
        self.marks = marks


class Weigher:
    """Reads clauses of one language; `learned` and `naming` help where the language has them."""

    def __init__(
        self,
        words: Words,
        names: Names,
        is_value: IsValue,
        learned: Evidence | None = None,
        naming: Naming | None = None,
    ) -> None:
        self._naming = naming
        self._learned = learned
        self._marks = words.marks
        self._lexicon = words.lexicon
        self._fold = words.fold
        self._frames = words.frames
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
        if self._naming:
            segments = self._naming.joined(sentence, tokens, segments, self._lexicon.norms(tokens)[0])
        for one in segments:
            if one.slips:
                one.concepts -= self._frames.brakes  # a name is not a mistyped "not"
        caution.times_marked(tokens, segments, self._marks)
        caution.not_this(tokens, segments)
        whole = Clause(sentence, tokens, segments, set(), self._is_value)
        caution.yes_or_if(whole)
        whole = Clause(sentence, tokens, segments, set(), self._is_value)
        return Clause(sentence, tokens, segments, self._signs(whole), self._is_value)

    def _signs(self, clause: Clause) -> set[str]:
        is_request = "request" in clause.concepts
        last = clause.tokens[clause.segments[-1].end - 1].tail if clause.segments else ""
        is_marked = any(mark in last for mark in "?？") or _ends_asking(clause)
        is_first = bool(self._first(clause) & {"ask_first"})
        is_asked = bool(clause.concepts & self._frames.asking) or ((is_marked or is_first) and not is_request)
        return ({"request"} if is_request else set()) | ({ASKED} if is_asked else set())

    def _first(self, clause: Clause) -> set[str]:
        """Return the concepts of the first word that is no greeting."""
        for one in clause.segments:
            if not one.concepts & _LEADING:
                return one.concepts
        return set()

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
        offs = sum("off" in one.concepts for one in clause.segments)
        is_braked = any(
            one.concepts & brakes and (not one.concepts & meant or ("off" in one.concepts and offs > 1))
            for one in clause.segments  # no longer needed is off; no need to turn it off is not
        )
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

    def _one(self, clause: Clause, given: Raw) -> Guess:
        """Return the request that a frame covers best, the evidence considered."""
        fits = self._fits(clause, given)
        if not fits:
            return Guess([], NONE)
        odds = self._odds(clause)
        fits.sort(key=lambda one: -weight(one, odds))
        best = fits[0]
        is_typed_wrong = any(one.slips for one in clause.segments)
        return Guess([part_of(best)], certainty(fits, odds, is_typed_wrong), best.score(), best.loss)

    def _odds(self, clause: Clause, more: set[str] | None = None) -> dict[str, float]:
        return self._learned.probabilities(clause, more) if self._learned else {}

    def _loosely(self, clause: Clause, odds: dict[str, float], given: Raw) -> Guess:
        """Return what the evidence speaks for where no frame is sure; it is asked about.

        The wish may stand in a part of the sentence, while the rest only says why: then only that part is covered.
        """
        likely = likeliest(odds)
        values = {at for at, one in enumerate(clause.segments) if one.values}
        best, most = None, -9.0
        for start, end in self._spans(clause):
            whole = (start, end) == (0, len(clause.segments))
            piece = clause if whole else self._piece(clause, start, end)
            outside = LEFT_OUT * sum(not start <= at < end for at in values)
            for found in self._likely_fits(piece, likely, given):
                good = weight(found, odds) - outside
                if good > most:
                    best, most = found, good
        if best is None or not self._is_likely(clause, best, odds):
            return Guess([], NONE)
        return Guess([part_of(best)], UNSURE, best.score(), best.loss)

    def _is_likely(self, clause: Clause, best: Fit, odds: dict[str, float]) -> bool:
        """Tell whether a request is probable enough to be asked about."""
        nothing = odds.get(NOTHING, 0.0)
        is_change = best.frame.mood == "change"
        if is_change and self._is_told_how(clause):
            return False
        holding = (_HOLDING if is_change else {"howto"}) - best.frame.wants
        doubt = DOUBT_HELD if clause.concepts & holding else DOUBT
        if sum(not clause.is_filler(at) for at in range(len(clause.segments))) < 2:
            return False
        return nothing < doubt and odds.get(request_of(best), 0.0) >= ENOUGH * (1.0 - nothing)

    def _is_told_how(self, clause: Clause) -> bool:
        """Tell whether a sentence asks how something is done: it is explained, and nothing is changed."""
        asking = [one.concepts for one in clause.segments if one.concepts & _ASKING_HOW and FILLER not in one.concepts]
        return any("wish" not in concepts for concepts in asking) and "request" not in clause.signs

    def _likely_fits(self, clause: Clause, likely: list[str], given: Raw) -> list[Fit]:
        """Return how the frames of some requests cover a clause, and how the requests do without their words."""
        found = []
        for name in likely:
            intent, fixed = parts_of(name)
            for frame in self._frames.of.get(intent, ()):
                if not self._is_stopped(clause, frame):
                    one = fit(frame, clause, self._frames.allowed[frame.mood], self._frames.light, given)
                    if one and request_of(one) == name:
                        found.append(one)
            loose = self._loose_fit(clause, intent, fixed, given)
            if loose:
                found.append(loose)
        return found

    def _spans(self, clause: Clause) -> list[tuple[int, int]]:
        """Return the parts of a clause that a wish may stand in, the whole one first."""
        count = len(clause.segments)
        cuts = [cut for cut in self._cuts(clause) if not joins_values(clause, *cut)]
        cuts += [(at, at + 1) for at in clause.of("seam") if 0 < at < count - 1]
        starts, ends = {0, *(start for _, start in cuts)}, {count, *(end for end, _ in cuts)}
        if len(starts) > SPANS:
            return [(0, count)]
        spans = [(start, end) for start in sorted(starts) for end in sorted(ends) if start < end]
        return sorted(spans, key=lambda span: span[0] - span[1])

    def _loose_fit(self, clause: Clause, intent: str, fixed: dict[str, str], given: Raw) -> Fit | None:
        frame = self._frames.loose(intent, fixed)
        if frame is None:
            return None
        allowed = self._frames.allowed[frame.mood] | {"on", "off"}
        found = fit(frame, clause, allowed, self._frames.light, given)
        if found:
            found.loss += sum(1.0 for name in self._frames.needed(intent) if name not in found.slots)
        return found


def _ends_asking(clause: Clause) -> bool:
    """Tell whether a word makes a question of a clause, as Japanese and Chinese have them; 不 ahead is a no."""
    last = len(clause.segments) - 1
    return any(
        "question_end" in one.concepts and ("no" not in one.concepts or at == last)
        for at, one in enumerate(clause.segments)
    )


def joins_values(clause: Clause, end: int, start: int) -> bool:
    """Tell whether two values of one type stand on both sides of a cut: xbox and tv."""
    return bool(set(clause.segments[end - 1].values) & set(clause.segments[start].values) & _LISTED)


def likeliest(odds: dict[str, float]) -> list[str]:
    """Return the most probable requests, in order."""
    return [name for name in sorted(odds, key=lambda name: -odds[name])[:TRIED] if name not in _NO_REQUEST]


def weight(one: Fit, odds: dict[str, float]) -> float:
    """Return how good a fit is: what its frame covers, and how probable its request is."""
    if not odds:
        return one.score()
    return math.log(odds.get(request_of(one), 0.0) + LITTLE) + FRAME_SHARE * one.score()


def request_of(one: Fit) -> str:
    """Return the request that a fit counts as in the evidence."""
    return request_name(one.frame.intent, {name: raw for name, (raw, _) in one.slots.items()})


def certainty(fits: list[Fit], odds: dict[str, float], is_typed_wrong: bool = False) -> int:
    """Return how certain the first of some fits is; of a mistyped word the evidence knows nothing."""
    best = fits[0]
    if best.gain < 0.9 or best.loss > UNSURE_LOSS or best.loss > max(UNSURE_SHARE * best.gain, ONE_LEFT):
        return NONE
    is_whole = best.loss <= SURE_LOSS and best.loss <= SURE_SHARE * best.gain
    is_clear = len(fits) < 2 or best.score() - fits[1].score() >= MARGIN
    if odds:
        is_asked = any(not best.slots.get(name, ("", True))[1] for name in ("device", "devices"))  # about the device
        is_nothing = odds.get(NOTHING, 0.0) >= SURELY_NOTHING and not is_typed_wrong
        if best.frame.mood == "change" and is_nothing and not is_asked:
            return UNSURE
        belief = odds.get(request_of(best), 0.0) / max(1.0 - odds.get(NOTHING, 0.0), LITTLE)
        is_clear = belief >= AGREED or (is_clear and belief >= AGAINST)
    return SURE if is_clear and is_whole else UNSURE


def part_of(found: Fit) -> Part:
    return Part(found.frame.intent, found.slots, found.score())


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
        is_likely = odds.get(request_of(best), 0.0) >= ENOUGH and odds.get(NOTHING, 0.0) < DOUBT
        return Guess([part_of(best)], UNSURE if is_likely else NONE, best.score(), best.loss)

    def _once_more(self, clause: Clause, before: Part) -> Fit | None:
        """Return the request before with the values that a clause says anew, None when it says none."""
        intent, fixed = parts_of(request_said(before))
        again = self._loose_fit(clause, intent, fixed, {})
        if again is None or all(again.slots[name] == before.slots.get(name) for name in again.slots):
            return None
        names = {name for frame in self._frames.of[intent] for name, _, _ in frame.slots} | set(fixed)
        again.slots = {**{name: raw for name, raw in before.slots.items() if name in names}, **again.slots}
        return again


def request_said(part: Part) -> str:
    """Return the request that a part counts as in the evidence."""
    return request_name(part.intent, {name: raw for name, (raw, _) in part.slots.items()})


def belief(part: Part, odds: dict[str, float]) -> float:
    """Return how probable the request of a part is."""
    return odds.get(request_said(part), 0.0)
