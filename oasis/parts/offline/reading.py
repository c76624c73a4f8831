"""From an owner's sentence to what it asks for: intents with raw slots, in the language that fits best.

Pure: the language files and the sentence in, a Reading out. A request is read only when every word of it is understood;
questions about how to do something never become a change.
"""

from __future__ import annotations

from oasis.parts.offline.language import slots as slot_types
from oasis.parts.offline.language.pattern import Branch, Grammar, Match, Matcher
from oasis.parts.offline.language.tokens import SENTENCE_CHARS, SENTENCE_TOKENS, Token, tokenize

CUTS = 5  # places where one sentence may be two requests; each costs a pass over the patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Intents = dict[str, dict[str, object]]
    Check = Callable[[str, str, bool], bool]


class Part:
    """One request: the intent, and the slots as (text, is_quoted); a listed value is (value, True)."""

    def __init__(self, intent: str, slots: dict[str, tuple[str, bool]], score: float, slips: int = 0) -> None:
        self.intent = intent
        self.slots = slots
        self.score = score
        self.slips = slips


class Reading:
    """What a sentence says: `parts` to do, or `topic`, an intent that is asked about, or neither."""

    def __init__(self, parts: list[Part], topic: str = "") -> None:
        self.parts = parts
        self.topic = topic

    def score(self) -> float:
        return sum(part.score for part in self.parts)

    def is_clean(self) -> bool:
        """Tell whether it was understood without taking any word for a mistyped one."""
        return bool(self.parts) and not any(part.slips for part in self.parts)

    def is_loose(self) -> bool:
        """Tell whether a text without quotes has several words, or names devices: more than the value may be in it."""
        return any(
            not quoted and (" " in text or slot == "devices")
            for part in self.parts
            for slot, (text, quoted) in part.slots.items()
        )


class Reader:
    """Read sentences in one language. `is_value(kind, text, is_quoted)` checks the slots marked strict."""

    def __init__(self, grammar: Grammar, intents: Intents, is_value: Check) -> None:
        self._grammar = grammar
        self._intents = intents
        self._is_value = is_value
        self._stops = grammar.words("stops")
        self._vague = grammar.words("vague")

    def read(self, sentence: str) -> Reading:
        """Return what the sentence asks for."""
        tokens = tokenize(sentence, self._grammar.fold) if len(sentence) <= SENTENCE_CHARS else []
        if not tokens or len(tokens) > SENTENCE_TOKENS:
            return Reading([])
        asked = self._question(tokens)
        if asked is None:
            parts = self._split(sentence, tokens)
            return Reading(parts) if parts else Reading([], self._topic(sentence, tokens, bare=True))
        part = self._one(sentence, tokens, may_change=False)
        return Reading([part]) if part else Reading([], self._topic(sentence, asked, bare=False))

    def answer(self, sentence: str, kind: str) -> tuple[str, bool] | None:
        """Return the value in an answer to a question for a slot of type `kind`, None when it holds none."""
        tokens = self._polite(tokenize(sentence[:SENTENCE_CHARS], self._grammar.fold))[0]
        if not tokens or len(tokens) > SENTENCE_TOKENS or self._question(tokens) is not None:
            return None  # a question is no answer
        rests = [(at, pattern, {"value": kind}) for at, pattern in enumerate(self._grammar.listed("answers"))]
        found = Matcher(self._grammar, tokens, self._fits, 0).best(Branch(rests))
        if not found:
            return None
        best = max(found.values(), key=Match.score)
        return self._value(sentence, tokens, kind, best.slots["value"])

    def _question(self, tokens: list[Token]) -> list[Token] | None:
        """Return what is asked about when the sentence is a question, None when it is a request."""
        rest, is_request = self._polite(tokens)
        asked, length = rest, 1
        while asked and length:  # "what happens if I …" begins with two questions
            length = self._prefix(asked, "questions")
            asked = asked[length:]
        if len(asked) < len(rest):
            return asked
        is_asked = "?" in tokens[-1].tail.replace("？", "?") or self._ends_asking(tokens)
        return rest if is_asked and not is_request else None

    def _ends_asking(self, tokens: list[Token]) -> bool:
        """Tell whether the last words ask, as they do in Japanese; written without blanks."""
        ends = self._grammar.listed("question_ends")
        return bool(ends) and "".join(token.norm for token in tokens[-8:]).endswith(tuple(ends))

    def _polite(self, tokens: list[Token]) -> tuple[list[Token], bool]:
        """Return the tokens without courtesy around them, and whether it was a request in the form of a question."""
        is_request = False
        changed = True
        while changed and tokens:
            changed = False
            for name in ("lead", "request"):
                length = self._prefix(tokens, name)
                if 0 < length < len(tokens):
                    tokens, changed = tokens[length:], True
                    is_request = is_request or name == "request"
        for length in range(min(4, len(tokens) - 1), 0, -1):
            if self._prefix(tokens[-length:], "trail") == length:
                shorter, also = self._polite(tokens[:-length])
                return shorter, is_request or also
        return tokens, is_request

    def _prefix(self, tokens: list[Token], name: str) -> int:
        """Return how many tokens at the start a pattern of a list covers, none of them mistyped."""
        return Matcher(self._grammar, tokens, self._fits, 0).longest(self._grammar.patterns(name))[0]

    def _split(self, sentence: str, tokens: list[Token]) -> list[Part]:
        """Return the best reading as one request or as several joined ones."""
        whole = self._one(sentence, tokens, may_change=True)
        cuts = self._cuts(tokens)
        if not cuts or len(cuts) > CUTS or (whole and not self._has_free_slot(whole)):
            return [whole] if whole else []
        best = self._joined(sentence, tokens, cuts)
        if whole and (not best or whole.score >= sum(part.score for part in best)):
            return [whole]
        return best

    def _joined(self, sentence: str, tokens: list[Token], cuts: list[tuple[int, int]]) -> list[Part]:
        """Return the best reading of the tokens as two or more requests, [] when there is none."""
        found: list[Part] = []
        for at, (end, start) in enumerate(cuts):
            first = self._one(sentence, tokens[:end], may_change=True)
            if not first or not self._is_joinable(first):
                continue
            later = [(one - start, two - start) for one, two in cuts[at + 1 :]]
            rest = [self._one(sentence, tokens[start:], may_change=True)]
            options = [[part for part in rest if part and self._is_joinable(part)]]
            options.append(self._joined(sentence, tokens[start:], later) if later else [])
            for option in options:
                parts = [first, *option]
                if option and sum(part.score for part in parts) > sum(part.score for part in found):
                    found = parts
        return found

    def _cuts(self, tokens: list[Token]) -> list[tuple[int, int]]:
        """Return (end of one request, start of the next) wherever a joining word or a mark stands."""
        joiners = self._grammar.words("joiners")
        found = []
        for at in range(1, len(tokens)):
            if tokens[at].norm in joiners and tokens[at - 1].norm not in joiners:
                start = at
                while start < len(tokens) and tokens[start].norm in joiners:
                    start += 1
                if start < len(tokens):
                    found.append((at, start))
            elif tokens[at - 1].tail and tokens[at].norm not in joiners and "?" not in tokens[at - 1].tail:
                found.append((at, at))
        return found

    def _is_joinable(self, part: Part) -> bool:
        intent = self._intents[part.intent]
        return any(name in intent for name in ("commands", "tool", "as"))

    def _has_free_slot(self, part: Part) -> bool:
        kinds = self._kinds(part.intent)
        return any(
            slot_types.WIDTHS.get(kinds.get(name, ""), 1) > 1 and not quoted for name, (_, quoted) in part.slots.items()
        )

    def _one(self, sentence: str, tokens: list[Token], may_change: bool) -> Part | None:
        """Return the best single request that covers all the tokens, or all but courtesy and particles."""
        bare = self._polite(tokens)[0]
        particles = self._grammar.words("particles")
        best: Part | None = None
        for tried in (bare, tokens):
            plain = [token for token in tried if token.is_quoted or token.norm not in particles]
            best = best or self._match(sentence, tried, may_change)
            best = best or (self._match(sentence, plain, may_change) if 0 < len(plain) < len(tried) else None)
            if len(bare) == len(tokens):
                break
        return best

    def _match(self, sentence: str, tokens: list[Token], may_change: bool) -> Part | None:
        best: Part | None = None
        patterns, names = self._grammar.of_intents("patterns")
        for number, match in Matcher(self._grammar, tokens, self._fits).best(patterns).items():
            name = names[number]
            if (may_change or not self.is_change(name)) and (best is None or match.score() > best.score):
                part = Part(name, self._raw(sentence, tokens, name, match), match.score(), match.slips)
                best = part if self._are_strict_ok(part) else best
        return best

    def is_change(self, name: str) -> bool:
        """Tell whether an intent changes the router."""
        intent = self._intents[name]
        return "commands" in intent or "as" in intent or intent.get("tool") in ("service", "undo")

    def _kinds(self, name: str) -> dict[str, str]:
        return kinds_of(self._intents[name])

    def _fits(self, kind: str, tokens: list[Token]) -> bool:
        return slot_types.fits(kind, tokens, self._stops)

    def _raw(self, sentence: str, tokens: list[Token], name: str, match: Match) -> dict[str, tuple[str, bool]]:
        kinds = self._kinds(name)
        found = {}
        for slot, span in match.slots.items():
            raw = self._value(sentence, tokens, kinds.get(slot, slot), span)
            if raw:
                found[slot] = raw
        return found

    def _value(self, sentence: str, tokens: list[Token], kind: str, span: object) -> tuple[str, bool] | None:
        """Return the text of a slot; None when it only says that something else is wanted ("something better")."""
        if not isinstance(span, tuple):
            return str(span), True
        chosen = tokens[span[0] : span[1]]
        if all(token.norm in self._vague and not token.is_quoted for token in chosen):
            return None
        return slot_types.span_text(sentence, chosen, kind)

    def _are_strict_ok(self, part: Part) -> bool:
        defined = self._intents[part.intent].get("slots")
        for slot, rule in defined.items() if isinstance(defined, dict) else []:
            if rule.get("strict") and slot in part.slots and not self._is_value(str(rule["type"]), *part.slots[slot]):
                return False
        return True

    def _topic(self, sentence: str, tokens: list[Token], bare: bool) -> str:
        """Return the intent a question is about: read as a request, or by a phrase in it; "" when unknown."""
        if not bare and tokens:
            part = self._one(sentence, tokens, may_change=True)
            if part:
                return part.intent
        phrases, names = self._grammar.of_intents("about")
        matcher = Matcher(self._grammar, tokens, self._fits, 0)
        found = [(0, 0)] if bare else [matcher.longest(phrases, at) for at in range(len(tokens))]
        length, number = max(found, key=lambda one: (one[0], -one[1]), default=(0, 0))
        return names[number] if length else ""


def kinds_of(intent: dict[str, object]) -> dict[str, str]:
    """Return {slot: type} of an intent."""
    slots = intent.get("slots")
    return {slot: str(rule["type"]) for slot, rule in slots.items()} if isinstance(slots, dict) else {}


def familiarity(sentence: str, common: list[str]) -> int:
    """Return how many words of the sentence are among the common ones of a language."""
    return sum(1 for token in tokenize(sentence[:SENTENCE_CHARS], {}) if token.norm in common)
