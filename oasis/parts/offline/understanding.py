"""From an owner's sentence to what it probably asks for, by concepts; used after the exact patterns of reading.py.

A reading is SURE (carried out), UNSURE (said back as a question, and carried out after a yes) or none at all. Words
that negate, ask, imagine or report the past (`brakes`) stop every change. Sentences may hold several requests, and may
go on from the request before: "and the other band too".

    merged(parts) -> parts      parts of one sentence that are one request, joined; nothing is added that no part says
    together(clause) -> parts   of one verb with several things: "turn off the VPN and the LEDs"; [] for other sentences
"""

from __future__ import annotations

from itertools import combinations, pairwise

from oasis.parts.offline import caution, weighing
from oasis.parts.offline.language.clause import ASKED, Clause
from oasis.parts.offline.language.frames import Fit
from oasis.parts.offline.language.lexicon import FILLER, ORDINARY
from oasis.parts.offline.reading import Part
from oasis.parts.offline.weighing import (
    NONE,
    SURE,
    UNSURE,
    Follower,
    Guess,
    belief,
    certainty,
    joins_values,
    likeliest,
    part_of,
    request_of,
    request_said,
    weight,
)

_BOTH = {("wifi_name", "wifi_password"): "wifi_both", ("guest_name", "guest_password"): "guest_setup"}
CUTS = 6
WHOLE_LOSS, SPLIT_GAIN = 0.5, 2.5  # with less than this left over a sentence is one request
MEANT = 0.6  # how probable a change must be that is asked about though other words hold changes back
UNHEARD = 0.03  # a request less probable than this is none of several in a sentence
HARDLY = 0.004  # the same where each speaks for itself in its part of the sentence
EACH, SECOND = 0.5, 0.1  # how probable each request must be by itself, and the second one in the whole
CLEAR = 0.8  # for another request than the one before, in a part of a sentence
SHORT = 5  # words that mean something, at most, where a sentence goes on from the one before


class Understander(Follower):
    """Read sentences in one language by concepts."""

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
        guess.parts = _as_said(guess.parts, odds)
        return self._held(clause, guess, odds)

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
            is_meant = belief(changes[0], odds) >= MEANT * (1.0 - odds.get(weighing.NOTHING, 1.0))
            certainty = UNSURE if is_meant and "later" not in told else NONE
        return Guess(guess.parts, min(guess.certainty, certainty), guess.score, guess.loss)

    def _wish(self, clause: Clause, part: Part) -> Clause:
        """Return the part of a sentence that speaks most for a request."""
        pieces = [self._piece(clause, *span) for span in self._spans(clause)]
        return max(pieces, key=lambda piece: (belief(part, self._odds(piece)), -len(piece.segments)))

    def _joint(self, clause: Clause, odds: dict[str, float]) -> Guess:
        one = self._one(clause, {})
        cuts = self._cuts(clause) or caution.seams(clause)
        if not cuts or len(cuts) > CUTS:
            return one
        several = self._several(clause, cuts, None)
        if caution.is_double(clause, cuts) and not (one.loss < 0.3 and one.names() <= caution.TWO_VERBS):
            return self._apart(clause, cuts, one, several)
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
                piece.signs = piece.signs | {"following"} | (self._frames.topic(parts[-1].intent) - piece.concepts)
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
    """Tell whether a sentence speaks for two requests."""
    return sum(chance >= SECOND for name, chance in odds.items() if name != weighing.NOTHING) > 1


def _as_said(parts: list[Part], odds: dict[str, float]) -> list[Part]:
    """Return requests with a name and its password as one, and without a word of thanks behind them."""
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        both = _BOTH.get((last.intent, part.intent)) if last else None
        bands = {one.slots["band"] for one in (last, part) if one and "band" in one.slots}
        if last and both and len(bands) < 2 and (both == "wifi_both" or odds.get(both, 0.0) >= SECOND):
            found[-1] = Part(both, {**last.slots, **part.slots}, last.score + part.score)
        elif not (last and part.intent in ("thanks", "greet")):
            found.append(part)
    return found


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
    "guest": "guest_switch",
    "wifi": "wifi_switch",
    "upnp": "upnp_switch",
    "ipv6": "ipv6_switch",
    "vpn": "vpn_switch",
    "qos": "qos_switch",
    "ads": "adblock_switch",
    "ntp": "ntp_switch",
    "led": "led_switch",
}
_STOPS = {"negation", "howto", "condition", "past", "hearsay", "later", "ask", "who", ASKED}
# Words that say nothing but the things and the verb.
_BESIDE = {
    FILLER,
    "and",
    "also",
    "request",
    "end_",
    "set",
    "use",
    "everything",
    "to",
    "is_",
    "with_",
    "greet",
    "instead",
}


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
    """Tell whether a word for `and` or a comma stands between two segments."""
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
    """Tell whether a part says all that another one says."""
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
