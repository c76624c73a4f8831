"""From an owner's sentence to what it probably asks for, by concepts; used after the exact patterns of reading.py.

A reading is SURE (carried out), UNSURE (said back as a question, and carried out after a yes) or NONE. Words that
negate, ask, imagine or report the past (`brakes`) stop every change. A sentence may hold several requests, and may go
on from the request before ("and the other band too", "block her"): then the values and the topic of that one go on.

A frame says exactly which words make a request and what is left over (language/frames.py); the evidence says what
sentences like this one have meant. A request is SURE when a frame covers the clause and the evidence agrees; where only
one of them speaks for it, it is UNSURE.

Evidence is a probability for each request, learned from sentences. What a sentence shows is a list of features:
concepts of the lexicon and types of values, which are the same in every language, and words. Each has weights for some
of the requests, learned by tests/eval/offline/train.py and kept as data: intents/evidence.json for what all languages
share, evidence_XX.json for words. A word that was not trained has no weight. A request here is an intent, with its
switch or action where it has one: `led_switch switch=off`.

    merged(parts) -> parts      parts of one sentence that are one request, joined; nothing is added that no part says
    together(clause) -> parts   of one verb with several things: "turn off the VPN and the LEDs"; [] for other sentences
"""

from __future__ import annotations

import math
from itertools import combinations, pairwise

from oasis.parts.offline import caution
from oasis.parts.offline.language.clause import ASKED, Clause, Names, Scanner
from oasis.parts.offline.language.frames import Fit, Frame, Frames, fit
from oasis.parts.offline.language.lexicon import FILLER, ORDINARY, SENTENCE_CHARS, SENTENCE_TOKENS, narrow, tokenize
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


def request_said(part: Part) -> str:
    """Return the request that a part counts as in the evidence."""
    return request_name(part.intent, {name: raw for name, (raw, _) in part.slots.items()})


def belief(part: Part, odds: dict[str, float]) -> float:
    """Return how probable the request of a part is."""
    return odds.get(request_said(part), 0.0)


_BOTH = {("wifi_name", "wifi_password"): "wifi_both", ("guest_name", "guest_password"): "guest_setup"}
CUTS = 6
WHOLE_LOSS, SPLIT_GAIN = 0.5, 2.5  # with less than this left over a sentence is one request
MEANT = 0.6  # how probable a change must be that is asked about though other words hold changes back
UNHEARD = 0.03  # a request less probable than this is none of several in a sentence
HARDLY = 0.004  # the same where each speaks for itself in its part of the sentence
EACH, SECOND = 0.5, 0.1  # how probable each request must be by itself, and the second one in the whole
CLEAR = 0.8  # for another request than the one before, in a part of a sentence
SHORT = 5  # words that mean something, at most, where a sentence goes on from the one before


class Understander:
    """Reads sentences of one language; `learned` and `naming` help where the language has them."""

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
                one.drop(self._frames.brakes)  # a name is not a mistyped "not"
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
        for one in clause.segments:
            if not one.concepts & _LEADING:
                return one.concepts
        return set()

    def _fits(self, clause: Clause, given: Raw, is_topic: bool = False) -> list[Fit]:
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
        if found is None:
            return None
        missing = sum(1.0 for name in self._frames.needed(intent) if name not in found.slots)
        return Fit(frame, found.slots, found.gain, found.loss + missing)

    # What goes on from the request before

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
        if "follow" in clause.concepts:
            bare.drop_question(self._frames.asking)
        given = dict(before.slots)
        fits = [one for one in self._fits(bare, given) if one.frame.intent != before.intent]
        fits += self._same(bare, before, given)
        fits.sort(key=lambda one: -one.score())
        if not fits:
            return Guess([], NONE)
        return Guess([part_of(fits[0])], certainty(fits, {}), fits[0].score())

    def _same(self, clause: Clause, before: Part, given: Raw) -> list[Fit]:
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
        slots = {**{name: raw for name, raw in before.slots.items() if name in names}, **again.slots}
        return Fit(again.frame, slots, again.gain, again.loss)

    # Whole sentences

    def read(self, sentence: str, before: list[Part]) -> Guess:
        """Return what a sentence asks for; `before` is what the one before asked for."""
        whole = self.clause(sentence)
        if whole is None:
            return Guess([], NONE)
        guess = self._whole(whole)
        if before and before[-1].intent.startswith("guest_") and not whole.concepts & {"wifi", "guest", "admin"}:
            guess = self._of_guests(whole, guess)
        if before and (guess.certainty < SURE or self._goes_on(whole)):
            more = self._following(whole, before[-1])
            if more.certainty > guess.certainty or (more.certainty and more.score >= guess.score):
                guess = more
            if guess.certainty < SURE:
                loose = self._loosely_following(whole, before[-1])
                is_short = sum(not whole.is_filler(at) for at in range(len(whole.segments))) <= SHORT
                if loose.certainty and (not guess.certainty or is_short or self._goes_on(whole)):
                    return loose
        return guess

    def held_back(self, sentence: str, parts: list[Part]) -> set[str]:
        """Return what says that a change is not wanted now: see caution.py."""
        return caution.stopped(self.clause(sentence), parts[0] if parts else None)

    def speaks_against(self, sentence: str, part: Part) -> bool:
        """Tell whether a sentence hardly speaks for a request, and clearly for another one."""
        clause = self.clause(sentence)
        odds = self._odds(clause) if clause else {}
        likely = likeliest(odds)[:1]
        return bool(likely) and belief(part, odds) < HARDLY and odds[likely[0]] >= CLEAR

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
        odds = self._odds(clause)
        guess = self._joint(clause, odds)
        if odds:
            guess = self._supported(clause, guess, odds)
            if guess.certainty < SURE and len(guess.parts) < 2:
                loose = self._severally(clause, odds)
                if not loose.certainty:
                    loose = self._loosely(clause, odds, {})
                guess = loose if loose.certainty else guess
        # A name and its password are one request; a word of thanks behind a request is none.
        found: list[Part] = []
        for part in guess.parts:
            last = found[-1] if found else None
            both = _BOTH.get((last.intent, part.intent)) if last else None
            bands = {one.slots["band"] for one in (last, part) if one and "band" in one.slots}
            if last and both and len(bands) < 2 and (both == "wifi_both" or odds.get(both, 0.0) >= SECOND):
                found[-1] = Part(both, {**last.slots, **part.slots}, last.score + part.score)
            elif not (last and part.intent in ("thanks", "greet")):
                found.append(part)
        return self._held(clause, Guess(found, guess.certainty, guess.score, guess.loss), odds)

    def _supported(self, clause: Clause, guess: Guess, odds: dict[str, float]) -> Guess:
        """Return a reading without the questions that nothing in the sentence speaks for; then it is asked about."""
        if len(guess.parts) != 2:
            return guess
        heard = [self._frames.is_change(part.intent) or belief(part, odds) >= UNHEARD for part in guess.parts]
        parts = [part for part, is_heard in zip(guess.parts, heard, strict=True) if is_heard]
        if len(parts) == len(guess.parts) or not parts:
            return guess
        return Guess(parts, min(guess.certainty, UNSURE), guess.score, guess.loss)

    def _held(self, clause: Clause, guess: Guess, odds: dict[str, float]) -> Guess:
        """Return a reading as certain as the rest of the sentence lets it be."""
        changes = [part for part in guess.parts if self._frames.is_change(part.intent)]
        said = caution.stopped(clause, changes[0]) if changes else set()
        if changes and _goes_elsewhere(clause):
            said.add(caution.OTHERS)
        if not said:
            return guess
        certainty = UNSURE
        if said - {caution.OTHERS}:
            wish = self._wish(clause, changes[0])
            told = caution.stopped(wish, changes[0]) - {caution.OTHERS}
            is_meant = belief(changes[0], odds) >= MEANT * (1.0 - odds.get(NOTHING, 1.0))
            certainty = UNSURE if is_meant and "later" not in told else NONE
        return Guess(guess.parts, min(guess.certainty, certainty), guess.score, guess.loss)

    def _wish(self, clause: Clause, part: Part) -> Clause:
        pieces = [self._piece(clause, *span) for span in self._spans(clause)]
        return max(pieces, key=lambda piece: (belief(part, self._odds(piece)), -len(piece.segments)))

    def _joint(self, clause: Clause, odds: dict[str, float]) -> Guess:
        one = self._one(clause, {})
        cuts = self._cuts(clause) or caution.seams(clause)
        if not cuts or len(cuts) > CUTS:
            return one
        several = self._several(clause, cuts, None)
        if caution.is_double(clause, cuts) and not (one.loss < 0.3 and one.names() <= caution.TWO_VERBS):
            # With two verbs it is both requests, or a question about the one that was understood.
            if several.certainty:
                return several
            if any(self._frames.is_change(name) for name in one.names()) or not one.certainty:
                return self._in_noise(clause, cuts)
            return Guess(one.parts, min(one.certainty, UNSURE), one.score, one.loss)
        if one.certainty == SURE and one.loss < WHOLE_LOSS:
            is_mixed = len({part.intent for part in several.parts}) > 1
            is_heard = bool(odds) and all(belief(part, odds) >= UNHEARD for part in several.parts)
            is_better = several.certainty == SURE and (several.score > one.score + SPLIT_GAIN or is_heard)
            return several if is_mixed and is_better else one
        is_same = {part.intent for part in several.parts} == {part.intent for part in one.parts}
        if is_same and one.certainty and one.loss < 2 * WHOLE_LOSS:
            return one
        if several.certainty and (several.certainty, several.score) > (one.certainty, one.score + 0.2):
            return several
        return one if one.certainty else self._in_noise(clause, cuts)

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
        if more.certainty and self._says_other(piece, more):
            return guess if guess.certainty else self._said(piece)
        if (more.certainty, more.score) > (guess.certainty, guess.score):
            return more
        return self._of_guests(piece, guess) if before.intent.startswith("guest_") and goes_on else guess

    def _says_other(self, piece: Clause, more: Guess) -> bool:
        """Tell whether a piece speaks clearly for another request than the one that it seems to go on with."""
        odds = self._odds(piece)
        first = likeliest(odds)[:1]
        return bool(first) and first[0] != request_said(more.parts[0]) and odds[first[0]] >= CLEAR

    def _said(self, piece: Clause) -> Guess:
        """Return what a piece of a sentence clearly speaks for, as far as it says all that is needed."""
        odds = self._odds(piece)
        fits = self._likely_fits(piece, likeliest(odds)[:1], {})
        fits = [one for one in fits if self._frames.needed(one.frame.intent) <= set(one.slots)]
        best = max(fits, key=Fit.score, default=None)
        return Guess([part_of(best)], UNSURE, best.score(), best.loss) if best else Guess([], NONE)

    def _of_guests(self, piece: Clause, guess: Guess) -> Guess:
        """Return the reading of a piece as one about the Wi-Fi of the guests, who were spoken of just before."""
        signs = piece.signs | {"guest"}
        found = self._one(Clause(piece.sentence, piece.tokens, piece.segments, signs, self._is_value), {})
        is_theirs = bool(found.parts) and found.parts[0].intent.startswith("guest_")
        return found if is_theirs and found.certainty >= guess.certainty else guess

    def _severally(self, clause: Clause, odds: dict[str, float]) -> Guess:
        """Return the requests of a sentence of which each part speaks for one, as far as the evidence goes."""
        cuts = [cut for cut in self._cuts(clause) if cut[0] and not joins_values(clause, *cut)]
        if not cuts or len(cuts) > CUTS // 2 + 1 or not (caution.is_double(clause, cuts) or _are_two(odds)):
            return Guess([], NONE)
        best, most = Guess([], NONE), 0.0
        for count in (1, 2):
            for chosen in combinations(cuts, count):
                parts, belief = self._each(clause, [(0, 0), *chosen, (len(clause.segments), 0)], odds)
                if parts and belief > most:
                    best, most = Guess(parts, UNSURE, sum(part.score for part in parts)), belief
        return best if most >= EACH else Guess([], NONE)

    def _each(self, clause: Clause, edges: list[tuple[int, int]], odds: dict[str, float]) -> tuple[list[Part], float]:
        """Return the requests of the pieces between some cuts, and how probable the least of them is."""
        parts: list[Part] = []
        least = 1.0
        for (_, start), (end, _) in pairwise(edges):
            piece = self._piece(clause, start, end)
            goes_on = bool(parts) and ("it" in piece.concepts or len(piece.segments) < SHORT)
            if goes_on:
                piece.go_on(self._frames.topic(parts[-1].intent))
            known = self._odds(piece)
            fits = self._likely_fits(piece, likeliest(known), dict(parts[-1].slots) if goes_on else {})
            fits = [one for one in fits if self._frames.needed(one.frame.intent) <= set(one.slots)]
            if not fits:
                return [], 0.0
            best = max(fits, key=lambda one: weight(one, known))
            name = request_of(best)
            least = min(least, known[name], 1.0 if odds.get(name, 0.0) >= HARDLY else 0.0)
            parts.append(part_of(best))
        is_same = len({(part.intent, str(part.slots)) for part in parts}) < len(parts)
        return ([], 0.0) if is_same else (parts, least)


def _goes_elsewhere(clause: Clause) -> bool:
    """Tell whether a word that means nothing here stands right behind `and`: block the xbox and paint the fence."""
    pairs = pairwise(clause.segments)
    return any("and" in one.concepts and following.concepts == {ORDINARY} for one, following in pairs)


def _are_two(odds: dict[str, float]) -> bool:
    return sum(chance >= SECOND for name, chance in odds.items() if name != NOTHING) > 1


def _joined(first: list[Part], rest: list[Part]) -> list[Part]:
    """Return the parts of a sentence; what a later one says once more and completes is one request."""
    one, two = first[-1], rest[0]
    if one.intent == two.intent and one.slots.items() <= two.slots.items():
        first = first[:-1]
    said = [(part.intent, part.slots) for part in first]
    return [*first, *(part for part in rest if (part.intent, part.slots) not in said)]


# intent: those that only say more of it
_COMPLETING = {
    "guest_setup": {"guest_name", "guest_password", "wifi_name", "wifi_password", "wifi_both"},
    "wifi_both": {"wifi_name", "wifi_password"},
}
_TOGETHER = {("wifi_name", "wifi_password"), ("wifi_password", "wifi_name")}  # what both are: wifi_both
_SWITCHED = {
    "guest": "guest_switch", "wifi": "wifi_switch", "upnp": "upnp_switch", "ipv6": "ipv6_switch",
    "vpn": "vpn_switch", "qos": "qos_switch", "ads": "adblock_switch", "ntp": "ntp_switch", "led": "led_switch",
}  # fmt: skip
_STOPS = {"negation", "howto", "condition", "past", "hearsay", "later", "ask", "who", ASKED}
# Words that say nothing but the things and the verb.
_BESIDE = {
    FILLER, "and", "also", "request", "end_", "set", "use", "everything", "to", "is_", "with_", "greet", "instead",
}  # fmt: skip


def together(clause: Clause) -> list[Part]:
    """Return the requests of a clause that switches several things with one verb, [] when it says anything else."""
    things: list[tuple[int, str]] = []
    states = set()
    for at, one in enumerate(clause.segments):
        thing = next((intent for concept, intent in _SWITCHED.items() if concept in one.concepts), "")
        state = one.concepts & {"on", "off"} if FILLER not in one.concepts else set()
        if thing == "wifi_switch" and things and things[-1] == (at - 1, "guest_switch"):
            things[-1] = (at, "guest_switch")  # one thing in two words
        elif thing and not state:
            things.append((at, thing))
        elif state:
            states.add("".join(sorted(state)))
        elif not one.concepts & _BESIDE and one.values.get("band") != "both":
            return []
    intents = [intent for _, intent in things]
    places = [at for at, _ in things]
    is_listed = all(_are_joined(clause, places[at], places[at + 1]) for at in range(len(places) - 1))
    if not is_listed or not 1 < len(set(intents)) == len(intents) or states not in ({"on"}, {"off"}):
        return []
    if (clause.concepts | clause.signs) & _STOPS:
        return []
    return [Part(intent, {"switch": (next(iter(states)), True)}, 1.0) for intent in intents]


def _are_joined(clause: Clause, first: int, last: int) -> bool:
    return any(clause.tail(at) for at in range(first, last)) or any(
        one.concepts & {"and", "also"} for one in clause.segments[first + 1 : last]
    )


def merged(parts: list[Part]) -> list[Part]:
    """Return the requests of a sentence, those that complete one another as one."""
    found: list[Part] = []
    for part in parts:
        whole = _whole(found[-1], part) if found else None
        if whole:
            found[-1] = whole
        elif not any(_says_as_much(one, part) for one in found):
            found = [one for one in found if not _says_as_much(part, one)] + [part]
    return found


def _says_as_much(one: Part, other: Part) -> bool:
    return one.intent == other.intent and other.slots.items() <= one.slots.items()


def _whole(first: Part, second: Part) -> Part | None:
    """Return two parts as one request, None when they are two."""
    is_pair = (first.intent, second.intent) in _TOGETHER and all(
        part.slots.keys() - {"band"} for part in (first, second)
    )
    if not is_pair and second.intent not in _COMPLETING.get(first.intent, ()):
        return None
    slots = {**first.slots, **second.slots}
    if any(slots[name] != value for name, value in first.slots.items()):
        return None  # said twice, and not the same
    score = first.score + second.score
    return Part("wifi_both" if is_pair else first.intent, slots, score, first.slips + second.slips)
