"""Requests by exact patterns, which cover all words of a sentence; and answers to a question for one value.

    word        a keyword
    (a|b c)     one of them          [a|b]   one of them or nothing
    <class>     a pattern with a name
    {slot}      one or more tokens, or one of the phrases of a list (`{band}`); {slot:type} when the type is another one

Of several patterns that fit the one with most keywords wins. Sentences in other words or with mistyped words are
understanding.py's. Questions about how to do something never become a change.

A pattern becomes a regular expression over the words of a sentence, each with a blank behind it.
"""

from __future__ import annotations

import functools
import re

from oasis.parts.offline import slots as slot_types
from oasis.parts.offline.clause import SENTENCE_CHARS, SENTENCE_TOKENS, Token, normal, spaced, tokenize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.shapes import (
        Callable,
        GrammarTables,
        Intent,
        IsValue,
        Iterator,
        Language,
        PatternList,
        PatternTables,
        Raw,
        WordList,
    )

    Slot = tuple[str, str, str]  # name, type, the value when it is a listed one
    Match = tuple[int, str, Raw]  # keywords; what the pattern is of; the slots

_PIECE = re.compile(r"<\w+>|[()\[\]|]|\{\w+(?::\w+)?\}|[^()\[\]|<>{}\s]+")
_BRACKETS = {"(": "(?:", "[": "(?:", "|": "|", ")": ")", "]": ")?"}
_QUOTED = "\0"
ANY = ""  # among keywords: a sentence may have another word, or none
_TRAIL = 4  # words of courtesy at the end
CUTS = 5  # places where one sentence may be two requests; each costs a pass over the patterns


class Part:
    """One request: the intent, and the slots as (text, is_quoted); a listed value is (value, True).

    `is_exact`: a pattern said it, and with it every word of its sentence.
    """

    def __init__(self, intent: str, slots: Raw, score: float, is_exact: bool = False) -> None:
        self.intent = intent
        self.slots = slots
        self.score = score
        self.is_exact = is_exact

    def is_loose(self) -> bool:
        """Tell whether a text without quotes has several words, or names devices: more than the value may be in it."""
        return any(not quoted and (" " in text or slot == "devices") for slot, (text, quoted) in self.slots.items())


class Pattern:
    """One pattern; `of` is the intent that it is of, `kinds` are {slot: type}."""

    def __init__(self, grammar: Grammar, text: str, of: str = "", kinds: dict[str, str] | None = None) -> None:
        self.of = of
        self.slots: list[Slot] = []  # in the order of the groups
        self._grammar = grammar
        self._text = text
        self._kinds = kinds or {}

    @functools.cached_property
    def expression(self) -> re.Pattern[str]:
        """The pattern as an expression over words with a blank behind each.

        Raises: re.error for an open bracket, KeyError for an unknown class.
        """
        return re.compile(self.source())

    def source(self) -> str:
        found = ""
        lists = self._grammar.language.get("lists", {})
        for word in self._grammar.pieces(self._text):
            name, _, kind = word[1:-1].partition(":")
            kind = kind or self._kinds.get(name, name)
            if word in _BRACKETS:
                found += _BRACKETS[word]
            elif word[0] != "{":
                found += re.escape(word) + " "
            elif kind not in lists:
                self.slots.append((name, kind, ""))
                found += "((?:[^ ]+ ){1,%d}?)" % slot_types.WIDTHS.get(kind, 4)
            else:
                self.slots += [(name, kind, value) for value in lists[kind]]
                phrases = [[Pattern(self._grammar, one) for one in many] for many in lists[kind].values()]
                values = ["|".join(one.source() for one in many) for many in phrases]
                found += f"(?:({')|('.join(values)}))"
        return found


class Patterns:
    """A list of patterns, each read when a sentence has what it needs; `kinds` are those of the slots of an intent."""

    def __init__(self, tables: PatternTables, grammar: Grammar, kinds: Callable[[str], dict[str, str]]) -> None:
        self._rows = tables["rows"]
        self._needs = tables["needs"]
        self._grammar = grammar
        self._kinds = kinds
        self._read: dict[int, Pattern] = {}
        self._sets: dict[int, set[str]] = {}
        self._by_word: dict[
            str, list[int]
        ] = {}  # a word that is needed -> the patterns that have it in their first set
        for at, (_, _, needs) in enumerate(self._rows):
            for word in self._needs[needs[0]].split() if needs else (ANY,):
                self._by_word.setdefault(word, []).append(at)

    def fitting(self, words: set[str]) -> list[tuple[int, Pattern]]:
        """Return the patterns that a sentence with some words may fit, with their places in the list."""
        places = {at for word in (ANY, *words) for at in self._by_word.get(word, ())}
        return [(at, self._pattern(at)) for at in sorted(places) if self._has_needs(at, words)]

    def _has_needs(self, at: int, words: set[str]) -> bool:
        for number in self._rows[at][2]:
            if number not in self._sets:
                self._sets[number] = set(self._needs[number].split())
            if self._sets[number].isdisjoint(words):
                return False
        return True

    def _pattern(self, at: int) -> Pattern:
        if at not in self._read:
            of, text, _ = self._rows[at]
            self._read[at] = Pattern(self._grammar, text, of, self._kinds(of))
        return self._read[at]


class Grammar:
    """The patterns and words of one language, as far as they were needed; what was read once is kept.

    `tables` are those of derive.py, `intents` those of all languages.
    """

    def __init__(self, tables: GrammarTables, intents: dict[str, Intent]) -> None:
        self.language: Language = tables["language"]
        self.fold: dict[str, str] = self.language.get("fold", {})
        self._patterns = tables["patterns"]
        self._intents = intents
        self._words: dict[str, set[str]] = {}
        self._lists: dict[tuple[str, str], Patterns] = {}

    def words(self, name: WordList) -> set[str]:
        """Return a list of words of the language file, folded like tokens."""
        if name not in self._words:
            self._words[name] = {normal(word, self.fold) for word in self.language.get(name, ())}
        return self._words[name]

    def pieces(self, text: str) -> list[str]:
        """Return the keywords, slots and brackets of a pattern, those of its classes in their place."""
        found: list[str] = []
        for piece in _PIECE.findall(normal(spaced(text), self.fold)):  # wide characters are a keyword each
            found += self.pieces(self.language["classes"][piece[1:-1]]) if piece[0] == "<" else [piece]
        return found

    def patterns(self, name: PatternList, kind: str = "") -> Patterns:
        """Return a list of patterns; those of answers have a value of the type `kind`."""
        if (name, kind) not in self._lists:

            def kinds(intent: str) -> dict[str, str]:
                return kinds_of(self._intents[intent]) if intent else {"value": kind}

            self._lists[name, kind] = Patterns(self._patterns[name], self, kinds)
        return self._lists[name, kind]

    def read(self, sentence: str, is_value: IsValue) -> tuple[list[Part], str]:
        """Return what a sentence asks for, and of a question the intent that it is about.

        `is_value(kind, text, is_quoted)` checks the slots marked strict.
        """
        tokens = tokenize(sentence, self.fold) if len(sentence) <= SENTENCE_CHARS else []
        if not tokens or len(tokens) > SENTENCE_TOKENS:
            return [], ""
        asked = self._question(tokens)
        if asked is None:
            return self._requests(sentence, tokens, is_value), ""
        part = self._request(sentence, tokens, is_value, may_change=False)
        if part or not asked:
            return [part] if part else [], ""
        part = self._request(sentence, asked, is_value, may_change=True)
        if part:
            return [], part.intent
        about, of = self.patterns("about"), ""
        longest, first = 0, 0
        for at in range(len(asked)):
            for number, one in about.fitting(_norms(asked[at:])):
                length = _covered(one, asked[at:])
                if (length, -number) > (longest, -first):
                    longest, first, of = length, number, one.of
        return [], of

    def without(self, sentence: str, name: PatternList) -> str:
        """Return a sentence without the words of a list."""
        tokens = tokenize(sentence[:SENTENCE_CHARS], self.fold)
        for at in range(len(tokens) - 1, -1, -1):
            length = self._prefix(tokens[at:], name)
            if length:
                sentence = sentence[: tokens[at].start] + sentence[tokens[at + length - 1].end :]
        return sentence.strip()

    def answer(self, sentence: str, kind: str) -> tuple[str, bool] | None:
        """Return the value in an answer to a question for a slot of type `kind`, None when it holds none."""
        tokens = self._polite(tokenize(sentence[:SENTENCE_CHARS], self.fold))[0]
        is_asked = kind != "reply" and self._question(tokens) is not None
        if not tokens or len(tokens) > SENTENCE_TOKENS or is_asked:
            return None  # a question is no answer, but for "what do you suggest?"
        found = list(self._matches(sentence, tokens, self.patterns("answers", kind), self.words("stops")))
        return max(found, key=lambda one: one[0])[2].get("value") if found else None

    def _question(self, tokens: list[Token]) -> list[Token] | None:
        """Return what is asked about when the sentence is a question, None when it is a request."""
        rest, is_request = self._polite(tokens)
        asked, length = rest, 1
        while asked and length:  # "what happens if I …" begins with two questions
            length = self._prefix(asked, "questions")
            asked = asked[length:]
        if len(asked) < len(rest):
            return asked
        ends = tuple(self.language.get("question_ends", ()))  # as the last words ask in Japanese
        is_asked = "?" in tokens[-1].tail.replace("？", "?") or "".join(one.norm for one in tokens[-8:]).endswith(ends)
        return rest if is_asked and not is_request else None

    def _polite(self, tokens: list[Token]) -> tuple[list[Token], bool]:
        """Return the tokens without courtesy around them, and whether it was a request in the form of a question."""
        is_request = False
        length = 1
        while length:
            asking, leading = self._prefix(tokens, "request"), self._prefix(tokens, "lead")
            length = max(asking, leading) if max(asking, leading) < len(tokens) else 0
            is_request = is_request or 0 < asking == length
            tokens = tokens[length:]
        for length in range(min(_TRAIL, len(tokens) - 1), 0, -1):
            if self._prefix(tokens[-length:], "trail") == length:
                shorter, also = self._polite(tokens[:-length])
                return shorter, is_request or also
        return tokens, is_request

    def _prefix(self, tokens: list[Token], name: PatternList) -> int:
        """Return how many tokens at the start a pattern of a list covers."""
        fitting = self.patterns(name).fitting(_norms(tokens))
        return max((_covered(one, tokens) for _, one in fitting), default=0)

    def _requests(self, sentence: str, tokens: list[Token], is_value: IsValue, cuts: int = CUTS) -> list[Part]:
        """Return the one request that some tokens are, or those between words that join them; [] when none."""
        whole = self._request(sentence, tokens, is_value, may_change=True)
        joiners = [at for at in range(1, len(tokens)) if tokens[at].norm in self.words("joiners")]
        for at in joiners[:cuts] if not whole else ():
            first = self._request(sentence, tokens[:at], is_value, may_change=True)
            rest = self._requests(sentence, tokens[at + 1 :], is_value, cuts - 1) if first else []
            if first and rest:
                return [first, *rest]
        return [whole] if whole else []

    def _request(self, sentence: str, tokens: list[Token], is_value: IsValue, may_change: bool) -> Part | None:
        """Return the request that all tokens are, without courtesy or with it."""
        best: Part | None = None
        stops = self.words("stops") | self.words("joiners")
        bare = self._polite(tokens)[0]
        for tried in (bare, tokens) if len(bare) < len(tokens) else (bare,):
            for score, name, slots in self._matches(sentence, tried, self.patterns("patterns"), stops):
                intent = self._intents[name]
                is_change = intent.keys() & {"commands", "as"} or intent.get("tool") in ("service", "undo")
                strict = [rule["type"] for rule in intent.get("slots", {}).values() if rule.get("strict")]
                is_right = all(is_value(kind, *slots[kind]) for kind in strict if kind in slots)
                if is_right and (may_change or not is_change) and (best is None or score > best.score):
                    best = Part(name, slots, score, True)
            if best:
                break
        return best

    def _matches(self, sentence: str, tokens: list[Token], patterns: Patterns, stops: set[str]) -> Iterator[Match]:
        """Yield the patterns that cover all tokens; `stops` are words that no text without quotes has in it."""
        text = _joined(tokens)
        for _, one in patterns.fitting(_norms(tokens)):
            match = one.expression.fullmatch(text)
            if not match:
                continue
            slots: Raw = {}
            score, is_right = len(tokens), True
            for (name, kind, value), (start, end) in zip(one.slots, match.regs[1:], strict=True):
                chosen = tokens[text.count(" ", 0, start) : text.count(" ", 0, end)] if start >= 0 else []
                if chosen and value:
                    slots[name] = (value, True)
                elif chosen:
                    score -= len(chosen)
                    is_right = is_right and slot_types.fits(kind, chosen, stops)
                    if not all(token.norm in self.words("vague") for token in chosen):  # "something better" says none
                        slots[name] = _value(sentence, chosen, kind)
            if is_right:
                yield score, one.of, slots


def _joined(tokens: list[Token]) -> str:
    return "".join((token.norm or _QUOTED) + " " for token in tokens)


def _norms(tokens: list[Token]) -> set[str]:
    return {token.norm for token in tokens}


def _covered(pattern: Pattern, tokens: list[Token]) -> int:
    """Return how many tokens from the first on a pattern covers."""
    match = pattern.expression.match(_joined(tokens))
    return match[0].count(" ") if match else 0


def _value(sentence: str, tokens: list[Token], kind: str) -> tuple[str, bool]:
    is_quoted = len(tokens) == 1 and tokens[0].is_quoted
    if kind in ("key", "ssid") and not is_quoted:
        # Passwords may begin or end with punctuation: slots.py judges what of it is the value.
        return sentence[tokens[0].raw_start : tokens[-1].end] + tokens[-1].tail, False
    return sentence[tokens[0].start : tokens[-1].end], is_quoted


def kinds_of(intent: Intent) -> dict[str, str]:
    return {slot: rule["type"] for slot, rule in intent.get("slots", {}).items()}


def familiarity(sentence: str, known: list[str]) -> int:
    """Return how many words of a sentence tell its language: `known` are words, beginnings of words, and prefixes.

    A prefix stands before one of these, or is that of a verb with `en` at its end: herausfinden.
    """
    found = 0
    words, stems, prefixes = map(str.split, known)
    for token in tokenize(sentence[:SENTENCE_CHARS], {}):
        for prefix in ("", *prefixes):
            rest = token.norm[len(prefix) :]
            if token.norm.startswith(prefix) and (
                rest in words or rest.startswith(tuple(stems)) or (prefix[2:] and rest[2:].endswith("en") and rest[4:])
            ):
                found += 1
                break
    return found
