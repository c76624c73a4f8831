"""From an owner's sentence to what it probably asks for, by concepts; used after the exact patterns of reading.py.

A reading is SURE (carried out), UNSURE (said back as a question, and carried out after a yes) or NONE. Words that
negate, ask, imagine or report the past (`brakes`) stop every change. A sentence may hold several requests, and may go
on from the request before ("and the other band too", "block her"): then the values and the topic of that one go on.

A frame says exactly which words make a request and what is left over (frames.py); the evidence says what sentences like
this one have meant. A request is SURE when a frame covers the clause and the evidence agrees; where only one of them
speaks for it, it is UNSURE.

Evidence is a probability for each request, learned from sentences. What a sentence shows is a list of features:
concepts of the lexicon and types of values, which are the same in every language, and words. Each has weights for some
of the requests, learned by tests/eval/offline/train.py and kept as data: intents/evidence.json for what all languages
share, evidence_XX.json for words. The weights of a feature stand in the order of the requests, each after how many
requests further it is. A word that was not trained has no weight. A request here is an intent, with its switch or
action where it has one: `led_switch switch=off`.

    merged(parts) -> parts      parts of one sentence that are one request, joined; nothing is added that no part says
    together(clause) -> parts   of one verb with several things: "turn off the VPN and the LEDs"; [] for other sentences
"""

from __future__ import annotations

import functools
import math
from itertools import combinations, pairwise

from oasis.parts.offline import amending, caution
from oasis.parts.offline.clause import (
    ASKED,
    FILLER,
    ORDINARY,
    SENTENCE_CHARS,
    SENTENCE_TOKENS,
    VERBS,
    Clause,
    Names,
    Scanner,
    narrow,
)
from oasis.parts.offline.frames import FREE, TOPICS, VALUE, Fit, Frame, Frames
from oasis.parts.offline.reading import Part
from oasis.parts.offline.tables import BASE, FIRST, Texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.clause import Lexicon, Naming
    from oasis.parts.offline.shapes import Callable, Caution, EvidenceTables, IsValue, Raw, Sequence
    from oasis.parts.offline.slots import World

    Cut = tuple[int, int]  # the end of one request and the start of the next, as numbers of segments


NOTHING = "-"  # no request at all
SCALE = 100  # weights are kept as whole numbers …
STEP = 5  # … and used in steps: exact ones take a sixth more, and changed one of 508 answers
MIDDLE = BASE * BASE // 2
_ZERO = FIRST * BASE + FIRST + MIDDLE
SMALL = 3  # letters of the words around a name: the kids
BEGIN = 4  # letters of the beginning of a longer word, which its other forms have too
_SIGNS = {"asked", "request", "following"}  # other signs are concepts that were said before
# Values with a form of their own: the type counts, never the words; of the others the value counts too.
_BY_FORM = {
    "quoted", "ip", "cidr", "ip6", "mac", "domain", "number", "range", "clock", "hours", "duration", "width", "speed",
    "power", "device", "decimal", "socket", "app", "sshkey",
}  # fmt: skip
_NAMED = {"service", "package", "place", "country", "provider"}  # values whose type alone counts, with their words


def features(clause: Clause) -> list[str]:
    """Return what a clause shows: `c:` concepts, `v:` values, `s:` signs of the whole, `w:` words."""
    found = {("s:" if sign in _SIGNS else "c:") + sign for sign in clause.signs}
    kinds = [kind for segment in clause.segments for kind in segment.values if kind != "half"]
    found |= {"v:" + kind for kind in kinds} | {f"v:{kind}2" for kind in kinds if kinds.count(kind) > 1}
    for segment in clause.segments:
        found |= {"c:" + concept for concept in segment.concepts if concept != FILLER}
        by_value = segment.values.keys() - _BY_FORM - _NAMED - {"half"}
        found |= {f"v:{kind}={segment.values[kind]}" for kind in by_value}
        if not segment.slips and not segment.values.keys() & (_BY_FORM | {"place", "provider"}):
            norms = [token.norm for token in clause.tokens[segment.start : segment.end]]
            found |= {"w:" + norm for norm in norms} | {f"w:{norm[:BEGIN]}*" for norm in norms if len(norm) > BEGIN}
    return sorted(found)


class Evidence:
    """The learned weights for one language.

    A weight is three figures to the base BASE: how many requests further it is, and itself with MIDDLE added.
    """

    def __init__(self, shared: EvidenceTables, words: EvidenceTables) -> None:
        self.classes = shared["classes"]
        self._weights = Texts(words["weights"])
        self._shared = Texts(shared["weights"])

    def probabilities(self, clause: Clause, more: set[str] | None = None) -> dict[str, float]:
        """Return how probable each request is for a clause, all together 1; {} for one without segments.

        `more` are features that the clause does not show, because they were said before it.
        """
        if not self.classes or not clause.segments:
            return {}
        totals = [0.0] * len(self.classes)
        known = sorted(name for name in {*features(clause), *(more or ())} if self.weights(name))
        share = STEP / (SCALE * math.sqrt(max(len(known), 1)))
        for name in (*known, ""):
            part = share if name else STEP / SCALE
            figures = iter(self.weights(name).encode())
            request = 0
            for gap, high, low in zip(figures, figures, figures, strict=False):  # of one iterator: three at a time
                request += gap - FIRST
                totals[request] += (high * BASE + low - _ZERO) * part
        most = max(totals)
        odds = [math.exp(total - most) for total in totals]
        whole = sum(odds)
        return {name: odd / whole for name, odd in zip(self.classes, odds, strict=True)}

    def weights(self, name: str) -> str:
        return self._weights.get(name) or self._shared.get(name) or ""


_HOLDING = {"negation", "forbid", "past", "hearsay", "condition"}  # among these words hardly anything is wished for
_ASKING_HOW = {"howto", "ask"}
_ELSEWHERE = {"howto", "hearsay"}  # words of questions that the state of the router does not answer
_LEADING = {"greet", "and", "also", "yes", "no", "follow", "it"}
_GOES_ON = {"no", "instead", "to", "called", "is_", "it", "password", "name", "also", "follow", "and"}
_LIGHT_VERBS = {"set", "make", "use", "give", "add", "show"}  # they need not say what a sentence is about
_BOTH = {("wifi_name", "wifi_password"): "wifi_both", ("guest_name", "guest_password"): "guest_setup"}
_LINES = {"wan_pppoe", "wan_static", "wan_dhcp", "zone_policy"}  # said as a list of values, each with its word
_LISTED = {"device", "ip", "days", "number", "encryption", "clock", "hours", "band"}  # values that are said in a row
NONE, UNSURE, SURE = 0, 1, 2
# Of a switch or a request, the word that says the opposite.
_OPPOSITES = {"on": "off", "off": "on", "block": "unblock", "unblock": "block", "port_forward_remove": "open"}
_TURNED = {"adblock_switch", "wifi_isolate", "wifi_hide"}  # on is what others would call off: away with the ads
_NAMES = {"hostname", "ssid", "key", "user"}  # slots of a text of any words
_NAMED = {"ssid", "hostname", "name", "password", "wifi", "guest", "router", "network"}  # what has such a name
# What may be left over of a sentence: for carrying it out at once, and for asking whether it was meant.
SURE_LOSS, SURE_SHARE = 0.62, 0.3
UNSURE_LOSS, UNSURE_SHARE = 2.4, 0.65
LEAST_GAIN = 0.9  # of a frame that says anything at all
ONE_LEFT = 1.6  # one word that nobody knows: it is asked
MARGIN = 0.3  # between the best intent and the next one
# Of the evidence: what counts as nothing; what a request needs to be asked about, and how probable it may be that none
# was meant; what agrees with a frame, and what speaks against one.
SURELY_NOTHING = 0.9  # so probable that no request is meant, that no change is carried out without a yes
LITTLE, ENOUGH, DOUBT, DOUBT_HELD, AGREED, AGAINST = 0.002, 0.3, 0.55, 0.33, 0.3, 0.03
FRAME_SHARE = 0.5  # of a frame's score, against the logarithm of the evidence
LEFT_OUT = 0.35  # for a value that stands outside of the part that is covered
SPANS = 7  # places where a wish may begin; with more of them the whole sentence is looked at
TRIED = 5  # requests without a frame that are looked at, the most probable ones
OTHER_GAIN = 2.0  # for the same request with the other band: "and the other one"
AGAIN = 0.5  # how probable the request before is made, where the next sentence has another value for it
SAME_GAIN = 0.9  # for going on with the same request rather than with another one
CUTS = 6
WHOLE_LOSS, SPLIT_GAIN = 0.5, 2.5  # with less than this left over a sentence is one request
SAME_LOSS = 1.0  # the same where its parts come to the same request
SEVERAL_GAIN = 0.2  # of several requests over one that is as certain
TWO_VERBS_LOSS = 0.3  # what may be left over of a request that is said with two verbs
MEANT = 0.6  # how probable a change must be that is asked about though other words hold changes back
UNHEARD = 0.03  # a request less probable than this is none of several in a sentence
HARDLY = 0.004  # the same where each speaks for itself in its part of the sentence
EACH, SECOND = 0.5, 0.1  # how probable each request must be by itself, and the second one in the whole
CLEAR = 0.8  # for another request than the one before, in a part of a sentence
# For showing a change that is not certain as a plan: of the held-out and later sentences that were asked about with
# more than this, 259 of 305 changes were meant, with less 164 of 266. What shows something has no card: 116 of 122.
LIKELY, LIKELY_READ = 0.8, 0.95
CHOICE = 0.02  # for the other request that is offered with it
SHORT = 5  # words that mean something, at most, where a sentence goes on from the one before


class Guess:
    """What a sentence was taken for: parts, and how certain that is."""

    def __init__(self, parts: Sequence[Part] = (), certainty: int = NONE, score: float = 0, loss: float = 0) -> None:
        self.parts = list(parts)
        self.loss = loss
        self.certainty = certainty if parts else NONE
        self.score = score

    def at_most(self, certainty: int) -> Guess:
        """Return the same, not more certain than this."""
        return Guess(self.parts, min(self.certainty, certainty), self.score, self.loss)

    def names(self) -> set[str]:
        return {part.intent for part in self.parts}


# Words of an answer that are in no request: make it 20, number 3.
_OF_ANSWERS = {"it", "other", "instead", "until", "to", "with_", "for_", "from_", "is_", "use", "make", "last"}
# A bare number after "how fast, for example 50 Mbit/s?" and "how long, for example 12 hours?"
_UNITS = {"speed": lambda number: f"{number}000", "duration": lambda number: f"{number * 60}m"}


def _guess(found: Fit | None, certainty: int = UNSURE) -> Guess:
    if found is None:
        return Guess()
    return Guess([Part(found.intent, found.slots, found.score())], certainty, found.score(), found.loss)


def request_name(intent: str, slots: dict[str, str]) -> str:
    """Return the request that an intent with its slots counts as."""
    for name in ("switch", "action"):
        if name in slots:
            return f"{intent} {name}={slots[name]}"
    return intent


def _request(one: Fit | Part) -> str:
    return request_name(one.intent, {name: raw for name, (raw, _) in one.slots.items()})


def _intent_of(request: str) -> tuple[str, dict[str, str]]:
    intent, _, rest = request.partition(" ")
    name, _, value = rest.partition("=")
    return intent, {name: value} if name else {}


def _belief(one: Fit | Part, odds: dict[str, float]) -> float:
    return odds.get(_request(one), 0.0)


def _likeliest(odds: dict[str, float]) -> list[str]:
    return [name for name in sorted(odds, key=lambda name: -odds[name])[:TRIED] if name != NOTHING]


def _weight(one: Fit, odds: dict[str, float]) -> float:
    """Return how good a fit is: what its frame covers, and how probable its request is."""
    return math.log(_belief(one, odds) + LITTLE) + FRAME_SHARE * one.score() if odds else one.score()


def _certainty(fits: list[Fit], odds: dict[str, float], is_typed_wrong: bool = False) -> int:
    """Return how certain the first of some fits is; of a mistyped word the evidence knows nothing."""
    best = fits[0]
    if best.gain < LEAST_GAIN or best.loss > UNSURE_LOSS or best.loss > max(UNSURE_SHARE * best.gain, ONE_LEFT):
        return NONE
    is_whole = best.loss <= SURE_LOSS and best.loss <= SURE_SHARE * best.gain
    is_clear = len(fits) < 2 or best.score() - fits[1].score() >= MARGIN
    if odds:
        is_asked = any(not best.slots.get(name, ("", True))[1] for name in ("device", "devices"))  # about the device
        # A frame that leaves nothing over has read each word, but for a text that may be any words.
        is_open = best.loss > 0 or any(kind in FREE for _, kind, _ in best.frame.slots)
        is_nothing = odds.get(NOTHING, 0.0) >= SURELY_NOTHING and not is_typed_wrong and is_open
        if best.frame.mood == "change" and is_nothing and not is_asked:
            return UNSURE
        share = _belief(best, odds) / max(1.0 - odds.get(NOTHING, 0.0), LITTLE)
        is_clear = share >= AGREED or (is_clear and share >= AGAINST)
    return SURE if is_clear and is_whole else UNSURE


def _joins_values(clause: Clause, cut: Cut) -> bool:
    """Tell whether two values of one type stand on both sides of a cut: xbox and the tv."""
    first, second = clause.before(cut[0]), clause.after(cut[1] - 1)
    if first < 0 or second >= len(clause.segments):
        return False
    return bool(set(clause.segments[first].values) & set(clause.segments[second].values) & _LISTED)


def _holding(clause: Clause, change: Part) -> set[str]:
    """Return what of a sentence holds a change back."""
    said = caution.stopped(clause, change)
    # A word that means nothing here stands right behind `and`: block the xbox and paint the fence.
    pairs = pairwise(clause.segments)
    if any("and" in one.concepts and following.concepts == {ORDINARY} for one, following in pairs):
        said.add(caution.OTHERS)
    return said


class Words:
    """What is known of one language: its lexicon, the forms of names, the marks of caution.py, and what was learned."""

    def __init__(self, lexicon: Lexicon, naming: Naming, marks: Caution, learn: Callable[[], Evidence]) -> None:
        self.lexicon = lexicon
        self.naming = naming
        self.marks = marks
        self._learn = learn

    @functools.cached_property
    def learned(self) -> Evidence:
        """What was learned, read when a sentence is understood in this language and not just held against it."""
        return self._learn()


class Understander:
    """Reads sentences of one language."""

    def __init__(self, words: Words, frames: Frames, names: Names, is_value: IsValue) -> None:
        self._words = words
        self._frames = frames
        self._names = names
        self._is_value = is_value
        self._clauses: dict[str, Clause] = {}

    def _odds(self, clause: Clause, more: set[str] | None = None) -> dict[str, float]:
        """Return how probable each request is. A sentence is a wish as far as a piece of it is: the rest tells why."""
        odds = self._words.learned.probabilities(clause, more)
        pieces = self._pieces(clause)
        if not odds or len(pieces) < 2:
            return odds
        nothing = min(self._idleness(clause, piece) for piece in pieces)
        if nothing >= odds[NOTHING]:
            return odds
        share = (1.0 - nothing) / max(1.0 - odds[NOTHING], LITTLE**3)
        return {name: nothing if name == NOTHING else chance * share for name, chance in odds.items()}

    def _pieces(self, clause: Clause) -> list[tuple[int, int]]:
        """Return where the pieces between marks of punctuation begin and end."""
        count = len(clause.segments)
        ends = [at for at in range(1, count) if clause.tail(at - 1)]
        return list(pairwise((0, *ends, count)))

    def _idleness(self, clause: Clause, piece: tuple[int, int]) -> float:
        """Return how probable it is that a piece asks for nothing by itself."""
        return self._words.learned.probabilities(self._piece(clause, *piece)).get(NOTHING, 1.0)

    def clause(self, sentence: str) -> Clause:
        """Return a whole sentence as one clause, without segments when it is none or too long."""
        if sentence not in self._clauses:
            narrowed = narrow(sentence) if len(sentence) <= SENTENCE_CHARS else ""
            tokens = self._words.lexicon.tokens(narrowed)
            clause = Clause(narrowed, tokens, [], set(), self._is_value)
            if 0 < len(tokens) <= SENTENCE_TOKENS:
                scanner = Scanner(self._words.lexicon, self._names, tokens)
                clause = Clause(narrowed, tokens, scanner.segments(), set(), self._is_value)
                segments = self._words.naming.joined(clause, scanner.words)
                clause = Clause(narrowed, tokens, segments, set(), self._is_value)
                for one in clause.segments:
                    if one.slips:
                        one.concepts.difference_update(self._frames.brakes)  # a name is not a mistyped "not"
                caution.times_marked(clause, self._words.marks)
                caution.ordinals(clause)
                caution.stays(clause)
                caution.not_this(clause)
                caution.yes_or_if(clause)
                clause = self._piece(clause, 0, None)
            self._clauses[sentence] = clause
        return self._clauses[sentence]

    def _piece(self, whole: Clause, start: int, end: int | None) -> Clause:
        """Return some segments of a clause, with the signs of their own; what was a request stays one."""
        clause = whole.part(set(), start, end)
        signs = {"request"} & (clause.concepts | whole.signs)
        last = len(clause.segments) - 1
        # A word may make a question of a clause, as Japanese and Chinese have them; 不 ahead is a no.
        tail = clause.tail(last) if clause.segments else ""
        is_asked = any(mark in tail for mark in "?？") or any(
            "question_end" in one.concepts and ("no" not in one.concepts or at == last)
            for at, one in enumerate(clause.segments)
        )
        first = next((one.concepts for one in clause.segments if not one.concepts & _LEADING), set())
        is_asked = (is_asked or "ask_first" in first) and "request" not in clause.concepts
        if is_asked or clause.concepts & self._frames.asking:
            signs = signs | {ASKED}
        return clause.part(signs)

    def _fits(self, clause: Clause, given: Raw, is_topic: bool = False) -> list[Fit]:
        best: dict[str, Fit] = {}
        more = self._frames.brakes | self._frames.asking if is_topic else None
        for frame in self._frames.needing(clause.concepts):
            if is_topic or not self._is_stopped(clause, frame):
                found = self._frames.fit(frame, clause, given, more)
                if found and (frame.intent not in best or found.score() > best[frame.intent].score()):
                    best[frame.intent] = found
        return sorted(best.values(), key=lambda one: -one.score())

    def _is_stopped(self, clause: Clause, frame: Frame) -> bool:
        meant = frame.meant
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

    def _cuts(self, clause: Clause) -> list[Cut]:
        found = []
        count = len(clause.segments)
        for at in range(1, count):
            if "and" in clause.concepts_at(at) and "and" not in clause.concepts_at(at - 1):
                start = next((start for start in range(at, count) if "and" not in clause.concepts_at(start)), count)
                if start < count:
                    found.append((at, start))
            elif clause.tail(at - 1) and "and" not in clause.concepts_at(at):
                found.append((at, at))
        return found

    def _one(self, clause: Clause) -> Guess:
        fits = self._fits(clause, {})
        if not fits:
            return Guess()
        odds = self._odds(clause)
        fits.sort(key=lambda one: -_weight(one, odds))
        return _guess(fits[0], _certainty(fits, odds, any(one.slips for one in clause.segments)))

    def _loosely(self, clause: Clause, odds: dict[str, float]) -> Guess:
        """Return what the evidence speaks for where no frame is sure; it is asked about.

        The wish may stand in a part of the sentence, while the rest only says why: then only that part is covered.
        """
        likely = _likeliest(odds)
        values = {at for at, one in enumerate(clause.segments) if one.values}
        best, most = None, -math.inf
        for start, end in self._spans(clause):
            piece = clause if (start, end) == (0, len(clause.segments)) else self._piece(clause, start, end)
            outside = LEFT_OUT * sum(not start <= at < end for at in values)
            for found in self._likely_fits(piece, likely, {}):
                good = _weight(found, odds) - outside
                if good > most:
                    best, most = found, good
        if best is None or clause.weight() < 2:
            return Guess()
        is_change = best.frame.mood == "change"
        asking = [one.concepts for one in clause.segments if one.concepts & _ASKING_HOW and FILLER not in one.concepts]
        if is_change and "request" not in clause.signs and any("wish" not in concepts for concepts in asking):
            return Guess()  # how something is done is explained, and nothing is changed
        holding = (_HOLDING if is_change else {"howto"}) - best.frame.wants
        nothing = odds.get(NOTHING, 0.0)
        is_likely = nothing < (DOUBT_HELD if clause.concepts & holding else DOUBT)
        return _guess(best) if is_likely and _belief(best, odds) >= ENOUGH * (1.0 - nothing) else Guess()

    def _likely_fits(self, clause: Clause, likely: list[str], given: Raw) -> list[Fit]:
        """Return how the frames of some requests cover a clause, and how the requests do without their words."""
        found = []
        for name in likely:
            intent, fixed = _intent_of(name)
            frames = [frame for frame in self._frames.of(intent) if not self._is_stopped(clause, frame)]
            fits = [self._frames.fit(frame, clause, given) for frame in frames]
            found += [one for one in fits if one and _request(one) == name]
            loose = self._loose_fit(clause, intent, fixed, given)
            found += [loose] if loose else []
        return found

    def _whole_fits(self, clause: Clause, likely: list[str], given: Raw) -> list[Fit]:
        """Return those of the likely fits that say all that is needed."""
        fits = self._likely_fits(clause, likely, given)
        return [one for one in fits if self._frames.needed(one.intent) <= set(one.slots)]

    def _loose_fit(self, clause: Clause, intent: str, fixed: dict[str, str], given: Raw) -> Fit | None:
        state = fixed.get("switch", intent)
        if state in _OPPOSITES and intent not in _TURNED and not clause.concepts & {state, "close", "remove"}:
            for one in clause.segments:
                is_new = not one.is_known() and not self._words.learned.weights("w:" + clause.norm(one))
                is_open = is_new and state != intent and "following" not in clause.signs
                if is_open or (_OPPOSITES[state] in one.concepts and FILLER not in one.concepts):
                    return None  # the opposite is said, or maybe with a word that nobody knows
        frame = self._frames.loose(intent, fixed)
        found = self._frames.fit(frame, clause, given, {"on", "off"}) if frame else None
        if frame is None or found is None:
            return None
        return Fit(frame, found.slots, found.gain, found.loss + len(self._frames.needed(intent) - set(found.slots)))

    def _spans(self, clause: Clause) -> list[tuple[int, int]]:
        count = len(clause.segments)
        cuts = [cut for cut in self._cuts(clause) if not _joins_values(clause, cut)]
        cuts += [(at, at + 1) for at in clause.of("seam") if 0 < at < count - 1]
        starts, ends = {0, *(start for _, start in cuts)}, {count, *(end for end, _ in cuts)}
        if len(starts) > SPANS:
            return [(0, count)]
        spans = [(start, end) for start in sorted(starts) for end in sorted(ends) if start < end]
        return sorted(spans, key=lambda span: span[0] - span[1])

    # What goes on from the request before

    def _following(self, clause: Clause, before: Part) -> Guess:
        """Return the reading of a clause that leaves out what the request before it said."""
        start = 0
        while start < len(clause.segments) - 1 and clause.concepts_at(start) & {"no", "and", "also", "follow"}:
            start += 1
        bare = clause.part(clause.signs | {"following"} | ({"also"} if start else set()), start)
        if "follow" in clause.concepts:
            # 'what about the other one' is no question
            bare = bare.without(bare.signs - {ASKED}, {ASKED, *self._frames.asking})
        given = dict(before.slots)
        fits = [one for one in self._fits(bare, given) if one.intent != before.intent]
        fits += self._same(bare, before, given)
        fits.sort(key=lambda one: -one.score())
        if not fits:
            return Guess()
        found = _guess(fits[0], _certainty(fits, {}))
        return Guess(found.parts, found.certainty, found.score)

    def _same(self, clause: Clause, before: Part, given: Raw) -> list[Fit]:
        found = []
        for frame in self._frames.of(before.intent):
            if any(given.get(name) != (value, True) for name, value in frame.fixed.items()):
                continue
            if not frame.slots or self._is_stopped(clause, frame):
                continue
            if "other" in clause.concepts and any(name == "band" for name, _, _ in frame.slots):
                band = {"2g": "5g", "5g": "2g"}.get(given.get("band", ("", True))[0])
                if band:
                    found.append(Fit(frame, {**given, "band": (band, True)}, OTHER_GAIN, 0.0))
            more = {"it", "other", "instead", "band", "device", "on", "off"}
            one = self._frames.fit(frame.loose([frame], frame.fixed, frame.bars), clause, {}, more)
            changed = {name for name in one.slots if one.slots[name] != given.get(name)} if one else set()
            is_free = changed <= {name for name, _, _ in frame.free} and not clause.concepts & _GOES_ON
            if one and changed - set(frame.fixed) and not is_free:
                found.append(Fit(frame, {**given, **one.slots}, one.gain + SAME_GAIN, one.loss))
        return sorted(found, key=lambda one: -one.score())[:1]

    def _loosely_following(self, clause: Clause, before: Part) -> Guess:
        given = dict(before.slots)
        bare = clause.part(clause.signs | {"following"})
        more = {"c:" + name for name in self._frames.topic(before.intent)}
        odds = self._odds(bare, more | {"v:device" for name in given if "device" in name})
        if not odds:
            return Guess()
        fits = self._whole_fits(bare, _likeliest(odds), given)
        # The request before, with the values that the clause says anew.
        intent, fixed = _intent_of(_request(before))
        again = self._loose_fit(bare, intent, fixed, {})
        if again and any(again.slots[name] != given.get(name) for name in again.slots):
            names = {name for frame in self._frames.of(intent) for name, _, _ in frame.slots} | set(fixed)
            slots = {**{name: raw for name, raw in given.items() if name in names}, **again.slots}
            again = Fit(again.frame, slots, again.gain, again.loss)
            odds = {name: chance * (1.0 - AGAIN) for name, chance in odds.items()}
            odds[_request(again)] = _belief(again, odds) + AGAIN
            if self._frames.needed(intent) <= set(slots):
                fits.append(again)
        if not fits:
            return Guess()
        best = max(fits, key=lambda one: _weight(one, odds))
        is_likely = _belief(best, odds) >= ENOUGH and odds.get(NOTHING, 0.0) < DOUBT
        return _guess(best, UNSURE if is_likely else NONE)

    # Whole sentences

    def read(self, sentence: str, before: list[Part], spoken_of: Raw | None = None) -> Guess:
        """Return what a sentence asks for; `before` is what the one before asked for, `spoken_of` what "it" means."""
        whole = self.clause(sentence)
        guess = self._whole(whole) if whole.segments else Guess()
        it = dict(spoken_of or {}) if "it" in whole.concepts else {}
        if "device" in it or "devices" in it:  # a wish may be about one or several
            one = it.get("device") or it["devices"]
            it = {"device": one, "devices": one, **it}
        # All the others are not the one that was spoken of.
        if not (before or it) or not whole.segments or {"everything", "other"} <= whole.concepts:
            return guess
        last = before[-1] if before else Part("", {}, 0)
        last = Part(last.intent, {**it, **last.slots}, last.score)
        if last.intent.startswith("guest_") and not whole.concepts & {"wifi", "guest", "admin"}:
            guess = self._of_guests(whole, guess)
        going_on = whole.concepts & {"also", "it", "other", "instead", "follow"} | whole.concepts_at(0) & {"and", "no"}
        goes_on = bool(going_on)
        strong = VERBS - _LIGHT_VERBS
        has_verb = any(one.concepts & strong for one in whole.segments if FILLER not in one.concepts)
        if guess.certainty == SURE and has_verb and not going_on & {"it", "other", "follow"}:
            return guess  # it says all that it needs
        if guess.certainty < SURE or goes_on:
            more = self._following(whole, last)
            if more.certainty > guess.certainty or (more.certainty and more.score >= guess.score):
                guess = more
            if guess.certainty < SURE:
                loose = self._loosely_following(whole, last)
                if loose.certainty and (not guess.certainty or whole.weight() <= SHORT or goes_on):
                    return loose
        return guess

    def answered(self, sentence: str, part: Part, slot: str, kind: str) -> Raw:
        """Return the values of a request in a sentence that says nothing else; {} without the one of `slot`."""
        clause = self.clause(sentence)
        frame = self._frames.loose(*_loose_key(part))
        if not frame or not clause.segments or clause.concepts & self._frames.brakes - frame.meant:
            return {}
        found = self._frames.fit(frame, clause.part({"following"}), {}, _OF_ANSWERS)
        slots = {name: raw for name, raw in found.slots.items() if name not in frame.fixed} if found else {}
        numbers = clause.with_value("number")
        if found and slot not in slots and kind in _UNITS and len(numbers) == 1 and found.loss <= SURE_LOSS + VALUE:
            number = int(clause.segments[numbers[0]].values["number"])
            return {**slots, slot: (_UNITS[kind](number), True)}
        # A text of any words is found where the patterns of answers are.
        is_right = found is not None and found.loss <= SURE_LOSS and (kind not in FREE or len(slots) > 1)
        return slots if is_right and slots.get(slot, ("", False))[1] else {}

    def amended(self, sentence: str, part: Part, world: World) -> tuple[Raw, bool] | None:
        """Return what a message makes of the request before it; see amending.py."""
        clause = self.clause(sentence)
        frame = self._frames.loose(*_loose_key(part))
        held = self._frames.brakes - {"negation", "forbid", "later"}
        if frame is None or not clause.segments or clause.concepts & held:
            return None
        if ASKED in clause.signs and "no" not in clause.concepts_at(0):  # as 不 seems to
            return None
        return amending.amended(clause, part, frame, self._frames, world)

    def is_reversed(self, sentence: str, part: Part) -> bool:
        """Tell whether a sentence says nothing but the opposite of a request."""
        return amending.is_reversed(self.clause(sentence), part)

    def is_fragment(self, sentence: str) -> bool:
        """Tell whether a sentence names no thing of the router and nothing to do: at 7, the big one."""
        said = self.clause(sentence).segments
        return not any(one.concepts & (VERBS | TOPICS) for one in said if FILLER not in one.concepts)

    def within(self, sentence: str, around: set[str]) -> str:
        """Return a sentence without the words of some concepts at its beginning and end."""
        clause = self.clause(sentence)
        inner = [at for at, one in enumerate(clause.segments) if not one.concepts & {*around, "and", "end_"}]
        return clause.text(inner[0], inner[-1]) if inner else ""

    def speaks_against(self, sentence: str, part: Part) -> bool:
        """Tell whether a sentence hardly speaks for a request, and clearly for another one.

        Of a request that was never learned the evidence knows nothing.
        """
        odds = self._odds(self.clause(sentence))
        likely, known = _likeliest(odds)[:1], odds.get(_request(part))
        return bool(likely) and known is not None and known < HARDLY and odds[likely[0]] >= CLEAR

    def likely(self, sentence: str, parts: list[Part]) -> tuple[bool, list[Part]]:
        """Tell whether requests are what a sentence most probably means; and return the one that is next, if any."""
        clause = self.clause(sentence)
        odds = self._odds(clause)
        if sum(not one.is_known() for one in clause.segments) * 2 > clause.weight():
            return False, []  # most of it is strange
        for part in parts:
            meant = set[str]().union(*[frame.meant for frame in self._frames.of(part.intent)])
            held = _holding(clause, part) or clause.concepts & _HOLDING - meant
            is_change = self._frames.is_change(part.intent)
            if _belief(part, odds) < (LIKELY if is_change else LIKELY_READ) or (held and is_change):
                return False, []
        known = {_request(part) for part in parts}
        rest = [name for name in _likeliest(odds) if name not in known and odds[name] >= CHOICE]
        fits = self._whole_fits(clause, rest[:1], {}) if len(parts) == 1 else []
        return True, _guess(max(fits, key=lambda one: _weight(one, odds), default=None)).parts

    def bare(self, sentence: str, part: Part) -> str:
        """Return the new name when a sentence has nothing else but a word for the thing; "" when it says more."""
        clause = self.clause(sentence)
        for name, (value, is_quoted) in part.slots.items():
            if len(part.slots) > 1 or is_quoted or name not in _NAMES:
                break
            for at, one in enumerate(clause.segments):
                # The verb `name` stands before what is named; the noun behind it.
                is_verb = "rename" in one.concepts and clause.concepts_at(clause.after(at)) & _NAMED
                is_thing = clause.is_filler(at) or (one.concepts & _NAMED and not is_verb)
                if clause.text(at, at) not in value and (not is_thing or clause.tail(at).strip(".,!")):
                    return ""
            return value
        return ""

    def is_own(self, text: str) -> bool:
        """Tell whether all words of a text are the router's own, so that it names no device.

        Small words name one where they are its whole name: block kids.
        """
        lexicon = self._words.lexicon
        words = [token.norm for token in lexicon.tokens(narrow(text)) if not token.is_quoted]
        is_small = all(lexicon.longest([word], 0)[1] == {FILLER} for word in words)
        if is_small and self._names.is_whole([word for word in words if len(word) > SMALL]):
            return False
        return all(map(lexicon.is_own, words))

    def unknown(self, sentence: str) -> int:
        """Return how many words of a sentence are in no list of this language, twice; mistyped ones and places once.

        The name of a device is a word of no language.
        """
        found = 0
        for one in self.clause(sentence).segments:
            is_known = one.is_known() and (one.concepts or set(one.values) != {"device"})
            found += one.slips if is_known else 2 - bool(one.concepts)
        return found

    def is_said(self, sentence: str, concept: str, others: set[str] | None = None) -> bool:
        """Tell whether a sentence says one concept, such as yes, and nothing else but `others`, of which it has one."""
        segments = self.clause(sentence).segments
        # Many a word for yes also fills a sentence: alone it is the answer.
        allowed = {concept, FILLER, *self._frames.always, *(others or ())}
        is_said = any(concept in one.concepts for one in segments) and all(one.concepts & allowed for one in segments)
        return is_said and (not others or any(one.concepts & others for one in segments))

    def topic(self, sentence: str) -> str:
        """Return the intent that a question or a forbidden wish is about, "" when there is none."""
        whole = self.clause(sentence)
        fits = self._fits(whole.part(set()), {}, is_topic=True) if whole.segments else []
        return fits[0].intent if fits and _certainty(fits, {}) else ""

    def _whole(self, clause: Clause) -> Guess:
        """Return the reading of a sentence; a change is held back by what any clause of it says."""
        odds = self._odds(clause)
        first = _likeliest(odds)[:1]
        is_one = bool(first) and first[0] in _LINES and odds[first[0]] >= CLEAR
        guess = self._one(clause) if is_one else self._joint(clause, odds)
        if odds and len(guess.parts) == 2:
            # A question that nothing in the sentence speaks for is left out; then the rest is asked about.
            heard = [one for one in guess.parts if self._frames.is_change(one.intent) or _belief(one, odds) >= UNHEARD]
            if len(heard) == 1:
                guess = Guess(heard, min(guess.certainty, UNSURE), guess.score, guess.loss)
        if odds and guess.certainty < SURE and len(guess.parts) < 2:
            loose = Guess() if is_one else self._severally(clause, odds)
            loose = loose if loose.certainty else self._loosely(clause, odds)
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

    def _held(self, clause: Clause, guess: Guess, odds: dict[str, float]) -> Guess:
        """Return a reading as certain as the rest of the sentence lets it be."""
        change = next((part for part in guess.parts if self._frames.is_change(part.intent)), None)
        if change is None:
            return guess
        said = _holding(clause, change)
        if not said - {caution.OTHERS}:
            return guess.at_most(UNSURE) if said else guess
        pieces = [self._piece(clause, *span) for span in self._spans(clause)]
        wish = max(pieces, key=lambda piece: (_belief(change, self._odds(piece)), -len(piece.segments)))
        is_meant = _belief(change, odds) >= MEANT * (1.0 - odds.get(NOTHING, 1.0))
        return guess.at_most(UNSURE if is_meant and "later" not in caution.stopped(wish, change) else NONE)

    def _joint(self, clause: Clause, odds: dict[str, float]) -> Guess:
        one = self._one(clause)
        cuts = self._cuts(clause) or caution.seams(clause)
        if not cuts or len(cuts) > CUTS:
            return one
        several = self._several(clause, cuts, None)
        if caution.is_double(clause, cuts) and not (one.loss < TWO_VERBS_LOSS and one.names() <= caution.TWO_VERBS):
            # With two verbs it is both requests, or a question about the one that was understood.
            if several.certainty:
                return several
            if any(self._frames.is_change(name) for name in one.names()) or not one.certainty:
                return self._in_noise(clause, cuts)
            return one.at_most(UNSURE)
        if one.certainty == SURE and one.loss < WHOLE_LOSS:
            is_list = all(_joins_values(clause, cut) for cut in cuts)
            is_heard = bool(odds) and not is_list and all(_belief(part, odds) >= UNHEARD for part in several.parts)
            is_better = several.certainty == SURE and (several.score > one.score + SPLIT_GAIN or is_heard)
            return several if len(several.names()) > 1 and is_better else one
        if several.names() == one.names() and one.certainty and one.loss < SAME_LOSS:
            return one
        if several.certainty and (several.certainty, several.score) > (one.certainty, one.score + SEVERAL_GAIN):
            return several
        return one if one.certainty else self._in_noise(clause, cuts)

    def _in_noise(self, clause: Clause, cuts: list[Cut]) -> Guess:
        """Return the one clause of a sentence that asks for something where the others only tell why; to be asked."""
        spans = [(start, end) for start, end in caution.spans(clause, cuts) if start < end]
        if clause.concepts & (self._frames.brakes - {"ask"}):
            return Guess()
        read = [guess for guess in (self._one(self._piece(clause, *span)) for span in spans) if guess.certainty]
        return read[0].at_most(UNSURE) if len(read) == 1 and len(spans) <= 3 else Guess()

    def _several(self, clause: Clause, cuts: list[Cut], before: Part | None, start: int = 0) -> Guess:
        best = Guess()
        for at, (end, following) in enumerate(cuts):
            if end <= start:
                continue
            first = self._part_of(self._piece(clause, start, end), before)
            if not first.certainty:
                continue
            options = [self._part_of(self._piece(clause, following, len(clause.segments)), first.parts[-1])]
            if at + 1 < len(cuts):
                options.append(self._several(clause, cuts[at + 1 :], first.parts[-1], following))
            for option in options:
                certainty, score = min(first.certainty, option.certainty), first.score + option.score
                if certainty and (certainty, score) > (best.certainty, best.score):
                    # What a later part says once more and completes is one request.
                    parts = first.parts[: -1 if _says_as_much(option.parts[0], first.parts[-1]) else None]
                    said = [(part.intent, part.slots) for part in parts]
                    parts += [part for part in option.parts if (part.intent, part.slots) not in said]
                    best = Guess(parts, certainty, score)
        return best

    def _part_of(self, piece: Clause, before: Part | None) -> Guess:
        guess = self._one(piece)
        goes_on = "it" in piece.concepts or not piece.concepts & {"wifi", "guest", "everything"}
        if before is None or (guess.certainty == SURE and not goes_on):
            return guess
        more = self._following(piece, before)
        if more.certainty:
            # A piece may speak clearly for another request than the one that it seems to go on with.
            odds = self._odds(piece)
            first = _likeliest(odds)[:1]
            if first and first[0] != _request(more.parts[0]) and odds[first[0]] >= CLEAR:
                if guess.certainty:
                    return guess
                return _guess(max(self._whole_fits(piece, first, {}), key=Fit.score, default=None))
        if (more.certainty, more.score) > (guess.certainty, guess.score):
            return more
        return self._of_guests(piece, guess) if before.intent.startswith("guest_") and goes_on else guess

    def _of_guests(self, piece: Clause, guess: Guess) -> Guess:
        """Return the reading of a piece as one about the Wi-Fi of the guests, who were spoken of just before."""
        found = self._one(piece.part(piece.signs | {"guest"}))
        is_theirs = bool(found.parts) and found.parts[0].intent.startswith("guest_")
        is_meant = "it" in piece.concepts or found.names() != {"guest_remove"}
        if not is_theirs or found.certainty < guess.certainty:
            return guess
        return found if is_meant else found.at_most(UNSURE)

    def _severally(self, clause: Clause, odds: dict[str, float]) -> Guess:
        """Return the requests of a sentence of which each part speaks for one, as far as the evidence goes."""
        cuts = [cut for cut in self._cuts(clause) if cut[0] and not _joins_values(clause, cut)]
        if not cuts or len(cuts) > CUTS // 2 + 1:
            return Guess()
        are_two = sum(chance >= SECOND for name, chance in odds.items() if name != NOTHING) > 1
        best, most = Guess(), 0.0
        for count in (1, 2) if are_two or caution.is_double(clause, cuts) else ():
            for chosen in combinations(cuts, count):
                parts, least = self._each(clause, [(0, 0), *chosen, (len(clause.segments), 0)], odds)
                if parts and least > most:
                    best, most = Guess(parts, UNSURE, sum(part.score for part in parts)), least
        return best if most >= EACH else Guess()

    def _each(self, clause: Clause, edges: list[Cut], odds: dict[str, float]) -> tuple[list[Part], float]:
        """Return the requests of the pieces between some cuts, and how probable the least of them is."""
        parts: list[Part] = []
        least = 1.0
        for (_, start), (end, _) in pairwise(edges):
            piece = self._piece(clause, start, end)
            goes_on = bool(parts) and ("it" in piece.concepts or len(piece.segments) < SHORT)
            if goes_on:
                more = {"following"} | (self._frames.topic(parts[-1].intent) - piece.concepts)
                piece = piece.without(piece.signs | more, more)
            known = self._odds(piece)
            fits = self._whole_fits(piece, _likeliest(known), dict(parts[-1].slots) if goes_on else {})
            if not fits:
                return [], 0.0
            best = max(fits, key=lambda one: _weight(one, known))
            least = min(least, known[_request(best)], 1.0 if _belief(best, odds) >= HARDLY else 0.0)
            parts += _guess(best).parts
        is_same = len({(part.intent, str(part.slots)) for part in parts}) < len(parts)
        return ([], 0.0) if is_same else (parts, least)


def _loose_key(part: Part) -> tuple[str, dict[str, str]]:
    return _intent_of(_request(part))


# intent: those that only say more of it
_COMPLETING = {
    "guest_setup": {"guest_name", "guest_password", "wifi_name", "wifi_password", "wifi_both"},
    "wifi_both": {"wifi_name", "wifi_password"},
    "wan_pppoe": {"wan_vlan"},
    "wan_static": {"wan_vlan", "dns_servers"},
    "wan_dhcp": {"wan_vlan"},
    "trouble_device": {"diagnose"},
    "trouble_place": {"diagnose"},
    "trouble_app": {"diagnose"},
    "stranger": {"devices"},
    "usage_now": {"devices", "traffic"},
}
_COVERED = {"diagnose", "devices", "traffic"}  # these say less, whichever comes first
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
    is_listed = all(
        any(clause.concepts_at(at) & {"and", "also"} for at in range(first + 1, last))
        or any(clause.tail(at) for at in range(first, last))
        for (first, _), (last, _) in pairwise(things)
    )
    intents = [intent for _, intent in things]
    is_one_wish = states in ({"on"}, {"off"}) and not clause.concepts & _STOPS
    if not is_listed or not is_one_wish or not 1 < len(set(intents)) == len(intents):
        return []
    return [Part(intent, {"switch": (next(iter(states)), True)}, 1.0) for intent in intents]


def merged(parts: list[Part]) -> list[Part]:
    """Return the requests of a sentence, those that complete one another as one."""
    found: list[Part] = []
    for part in _servers(parts):
        last = found[-1] if found else None
        whole = _completed(last, part) if last else None
        if last and not whole and last.intent in _COVERED:
            whole = _completed(part, last)
        if whole:
            found[-1] = whole
        elif not any(_says_as_much(one, part) for one in found):
            found = [one for one in found if not _says_as_much(part, one)] + [part]
    return found


def _servers(parts: list[Part]) -> list[Part]:
    """Return requests with all addresses of DNS servers in one of them: whose they are says nothing more."""
    given = [part for part in parts if part.intent == "dns_servers" and "servers" in part.slots]
    if not given or sum(part.intent == "dns_servers" for part in parts) < 2:
        return parts
    servers = ", ".join(dict.fromkeys(part.slots["servers"][0] for part in given))
    one = Part("dns_servers", {"servers": (servers, True)}, given[0].score)
    first = next(at for at, part in enumerate(parts) if part.intent == "dns_servers")
    return [one if at == first else part for at, part in enumerate(parts) if at == first or part.intent != one.intent]


def _says_as_much(one: Part, other: Part) -> bool:
    return one.intent == other.intent and other.slots.items() <= one.slots.items()


def _completed(first: Part, second: Part) -> Part | None:
    """Return two parts as one request, None when they are two."""
    is_pair = {first.intent, second.intent} == {"wifi_name", "wifi_password"} and all(
        part.slots.keys() - {"band"} for part in (first, second)
    )
    if not is_pair and second.intent not in _COMPLETING.get(first.intent, ()):
        return None
    slots = {**first.slots, **second.slots}
    if any(slots[name] != value for name, value in first.slots.items()):
        return None  # said twice, and not the same
    return Part("wifi_both" if is_pair else first.intent, slots, first.score + second.score)
