"""From an owner's sentence to what it asks for, by patterns: intents with raw slots, in the language that fits best.

    word        a keyword; a mistyped one counts as a slip
    (a|b c)     one of them          [a|b]   one of them or nothing
    <class>     a pattern with a name
    {slot}      one or more tokens, or one of the phrases of a list (`{band}`); {slot:type} when the type is another one

A pattern covers all tokens or none: a request is read only when every word of it is understood. When several readings
fit, the one with most keywords and fewest slips wins. Questions about how to do something never become a change.

Hundreds of patterns are asked about one sentence, and most of them differ from it at the first word: only those are
tried that can begin with it. What a slot covers from one token on is found out once for a sentence.
"""

from __future__ import annotations

import re

from oasis.parts.offline import slots as slot_types
from oasis.parts.offline.clause import SENTENCE_CHARS, SENTENCE_TOKENS, Token, is_near, normal, spaced, tokenize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.parts.offline.shapes import Intent, IsValue, Language, PatternList, Raw, WordList

    Node = tuple[str, str, list[list["Node"]]]  # kind; the keyword or slot; of brackets the choices
    Place = dict[str, tuple[int, int] | str]  # slot -> a span of tokens, or a listed value
    Span = tuple[int, int, int, Place]  # where it ends, its keywords, its slips, its slots

STEPS = 30_000  # tries a sentence may cost; real ones stay under 3,000
SLIPS = 3  # mistyped keywords in one sentence
CUTS = 5  # places where one sentence may be two requests; each costs a pass over the patterns

_COURTESY: tuple[PatternList, ...] = ("lead", "request")
_PIECE = re.compile(r"[()\[\]|]|<\w+>|\{\w+(?::\w+)?\}|[^()\[\]|<>{}\s]+")
_SLOT = re.compile(r"\{(\w+)\}")


class Grammar:
    """The patterns and words of one language, as far as they were needed; what was read once is kept.

    `kinds` maps each intent to {slot: type}.
    """

    def __init__(self, language: Language, kinds: dict[str, dict[str, str]] | None = None) -> None:
        self.language = language
        self.fold: dict[str, str] = language.get("fold", {})
        self.kinds = kinds or {}
        self.lists = language.get("lists", {})
        self._real_words = set(language.get("real_words", ()))
        self._classes: dict[str, Node] = {}
        self._words: dict[str, set[str]] = {}
        self._patterns: dict[str, Patterns] = {}

    def words(self, name: WordList) -> set[str]:
        """Return a list of words of the language file, folded like tokens."""
        if name not in self._words:
            self._words[name] = {normal(word, self.fold) for word in self.language.get(name, ())}
        return self._words[name]

    def patterns(self, name: str) -> Patterns:
        """Return the patterns of a list, the `patterns` or phrases (`about`) of all intents, or those of a `{type`."""
        if name not in self._patterns:
            own: Any = self.language
            if name in ("patterns", "about"):
                texts = own["intents"]
                intents = [intent for intent in texts if intent in self.kinds]
                listed = [(intent, one) for intent in intents for one in texts[intent].get(name, ())]
            elif name[0] == "{":
                listed = [(value, one) for value, phrases in self.lists[name[1:]].items() for one in phrases]
            else:
                listed = [("", one) for one in own.get(name, ())]
            self._patterns[name] = Patterns(self, [(of, one, self.kinds.get(of, {})) for of, one in listed])
        return self._patterns[name]

    def parse(self, text: str) -> list[Node]:
        """Return the parsed pattern. Raises: ValueError for an open bracket, or a class that is not there."""
        nodes: list[Node] = []
        brackets: list[tuple[list[Node], str, list[list[Node]]]] = []  # open ones: what they are in, the mark, choices
        for word in _PIECE.findall(normal(spaced(text), self.fold)):  # wide characters are a keyword each, as in tokens
            if word in "([":
                brackets.append((nodes, ")" if word == "(" else "]", [[]]))
                nodes.append(("one" if word == "(" else "maybe", "", brackets[-1][2]))
                nodes = brackets[-1][2][0]
            elif word in "|)]":
                if not brackets or not nodes or word not in ("|", brackets[-1][1]):
                    raise ValueError(f"pattern {text}: bracket")
                if word == "|":
                    nodes = []
                    brackets[-1][2].append(nodes)
                else:
                    nodes = brackets.pop()[0]
            elif word[0] == "<":
                if word not in self._classes:
                    if word[1:-1] not in self.language.get("classes", {}):
                        raise ValueError(f"no class {word}")
                    self._classes[word] = ("one", "", [self.parse(self.language["classes"][word[1:-1]])])
                nodes.append(self._classes[word])
            else:
                nodes.append(("slot", word[1:-1], []) if word[0] == "{" else ("word", word, []))
        if brackets:
            raise ValueError(f"pattern {text}: bracket")
        return nodes

    def is_slip(self, word: str, keyword: str) -> bool:
        """Tell whether `word` is the keyword mistyped and no word of its own."""
        return is_near(word, keyword) and word not in self._real_words


class Patterns:
    """Patterns with what each is of, an intent or a value, and {slot: type}.

    `starts` are the numbers of those that begin with a keyword, `open` of those that may begin with something else.
    """

    def __init__(self, grammar: Grammar, listed: list[tuple[str, str, dict[str, str]]]) -> None:
        self.of = [name for name, _, _ in listed]
        self.nodes: list[list[Node]] = []
        self.starts: dict[str, list[int]] = {}
        self.open: list[int] = []
        for number, (_, text, kinds) in enumerate(listed):
            typed = _SLOT.sub(lambda slot, of=kinds: "{%s:%s}" % (slot[1], of.get(slot[1], slot[1])), text)  # type: ignore[misc]
            self.nodes.append(grammar.parse(typed))
            words, must = _starts(self.nodes[-1])
            if not must:
                self.open.append(number)
            for word in words if must else ():
                self.starts.setdefault(word, []).append(number)


def _starts(nodes: list[Node]) -> tuple[set[str], bool]:
    """Return the keywords that nodes can begin with, and whether they must begin with one of them."""
    found: set[str] = set()
    for kind, name, choices in nodes:
        if kind == "slot":
            break
        if kind == "word":
            return found | {name}, True
        starts = [_starts(one) for one in choices]
        found.update(*[words for words, _ in starts])
        if kind != "maybe" and all(must for _, must in starts):
            return found, True
    return found, False


class Matcher:
    """Match patterns against one list of tokens; `slips` is how many keywords may be mistyped."""

    def __init__(self, grammar: Grammar, tokens: list[Token], slips: int = SLIPS) -> None:
        self._grammar = grammar
        self._tokens = tokens
        self._slips = slips
        self._steps = 0
        self._covered: dict[tuple[str, int], list[Span]] = {}  # by slots

    def best(self, patterns: Patterns) -> dict[int, Span]:
        """Return the best reading of all tokens by each pattern that has one, in the order of their numbers."""
        found: dict[int, Span] = {}
        for number, spans in self._spans(patterns, 0):
            whole = [span for span in spans if span[0] == len(self._tokens)]
            if whole:
                found[number] = max(whole, key=_score)
        return found

    def longest(self, patterns: Patterns, at: int = 0) -> tuple[int, int]:
        """Return how many tokens from `at` on a pattern covers at most, and the first that does; (0, 0) when none."""
        lengths = [(max(span[0] for span in spans) - at, -number) for number, spans in self._spans(patterns, at)]
        length, number = max(lengths, default=(0, 0))
        return length, -number

    def _spans(self, patterns: Patterns, at: int) -> list[tuple[int, list[Span]]]:
        tried = set(patterns.open)
        if at < len(self._tokens) and not self._tokens[at].is_quoted:
            norm = self._tokens[at].norm
            tried.update(patterns.starts.get(norm, ()))
            for word in patterns.starts if self._slips else ():
                if norm[0] in word[:2] and word != norm and self._grammar.is_slip(norm, word):
                    tried.update(patterns.starts[word])
        covered = [(number, self._all(patterns.nodes[number], at)) for number in sorted(tried)]
        return [(number, spans) for number, spans in covered if spans]

    def _all(self, nodes: list[Node], at: int) -> list[Span]:
        found: list[Span] = [(at, 0, 0, {})]
        for node in nodes:
            found = [
                (end, keywords + more, slips + wrong, {**slots, **others} if others else slots)
                for start, keywords, slips, slots in found
                for end, more, wrong, others in self._node(node, start)
                if slips + wrong <= self._slips
            ]
            self._steps += len(found)
            if not found or self._steps > STEPS:
                return []
        return found

    def _node(self, node: Node, at: int) -> list[Span]:
        kind, name, choices = node
        if kind == "word":
            if at >= len(self._tokens) or self._tokens[at].is_quoted:
                return []
            norm = self._tokens[at].norm
            is_slip = norm != name and bool(self._slips) and self._grammar.is_slip(norm, name)
            return [(at + 1, 1, int(is_slip), {})] if is_slip or norm == name else []
        if kind == "slot":
            if (name, at) not in self._covered:
                self._covered[name, at] = self._slot(name, at)
            return self._covered[name, at]
        found = [span for choice in choices for span in self._all(choice, at)]
        return [*found, (at, 0, 0, {})] if kind == "maybe" else found

    def _slot(self, slot: str, at: int) -> list[Span]:
        name, _, kind = slot.partition(":")
        if (kind or name) not in self._grammar.lists:
            stops = self._grammar.words("stops")
            ends = range(at + 1, len(self._tokens) + 1)
            ends_right = [end for end in ends if slot_types.fits(kind or name, self._tokens[at:end], stops)]
            return [(end, 0, 0, {name: (at, end)}) for end in ends_right]
        listed = self._grammar.patterns("{" + (kind or name))
        return [(*span[:3], {name: listed.of[number]}) for number, spans in self._spans(listed, at) for span in spans]


def _score(span: Span) -> float:
    return span[1] - 0.6 * span[2]


class Part:
    """One request: the intent, and the slots as (text, is_quoted); a listed value is (value, True)."""

    def __init__(self, intent: str, slots: Raw, score: float, slips: int = 0) -> None:
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

    def __init__(self, grammar: Grammar, intents: dict[str, Intent], is_value: IsValue) -> None:
        self._grammar = grammar
        self._intents = intents
        self._is_value = is_value

    def read(self, sentence: str) -> Reading:
        tokens = tokenize(sentence, self._grammar.fold) if len(sentence) <= SENTENCE_CHARS else []
        if not tokens or len(tokens) > SENTENCE_TOKENS:
            return Reading([])
        asked = self._question(tokens)
        if asked is None:
            return Reading(self._split(sentence, tokens))
        parts = self._one(sentence, tokens, may_change=False)
        if parts:
            return Reading(parts)
        # The intent that is asked about: read as a request, or by a phrase in it.
        about = self._one(sentence, asked, may_change=True) if asked else []
        if about:
            return Reading([], about[0].intent)
        phrases, matcher = self._grammar.patterns("about"), Matcher(self._grammar, asked, 0)
        found = [matcher.longest(phrases, at) for at in range(len(asked))]
        length, number = max(found, key=lambda one: (one[0], -one[1]), default=(0, 0))
        return Reading([], phrases.of[number] if length else "")

    def answer(self, sentence: str, kind: str) -> tuple[str, bool] | None:
        """Return the value in an answer to a question for a slot of type `kind`, None when it holds none."""
        tokens = self._polite(tokenize(sentence[:SENTENCE_CHARS], self._grammar.fold))[0]
        if not tokens or len(tokens) > SENTENCE_TOKENS or self._question(tokens) is not None:
            return None  # a question is no answer
        answers = [("", pattern, {"value": kind}) for pattern in self._grammar.language.get("answers", ())]
        found = Matcher(self._grammar, tokens, 0).best(Patterns(self._grammar, answers))
        if not found:
            return None
        return self._value(sentence, tokens, kind, max(found.values(), key=_score)[3]["value"])

    def _question(self, tokens: list[Token]) -> list[Token] | None:
        """Return what is asked about when the sentence is a question, None when it is a request."""
        rest, is_request = self._polite(tokens)
        asked, length = rest, 1
        while asked and length:  # "what happens if I …" begins with two questions
            length = self._prefix(asked, "questions")
            asked = asked[length:]
        if len(asked) < len(rest):
            return asked
        ends = tuple(self._grammar.language.get("question_ends", ()))  # as the last words ask in Japanese
        is_asked = "?" in tokens[-1].tail.replace("？", "?") or "".join(one.norm for one in tokens[-8:]).endswith(ends)
        return rest if is_asked and not is_request else None

    def _polite(self, tokens: list[Token]) -> tuple[list[Token], bool]:
        """Return the tokens without courtesy around them, and whether it was a request in the form of a question."""
        is_request = False
        changed = True
        while changed and tokens:
            changed = False
            for name in _COURTESY:
                length = self._prefix(tokens, name)
                if 0 < length < len(tokens):
                    tokens, changed = tokens[length:], True
                    is_request = is_request or name == "request"
        for length in range(min(4, len(tokens) - 1), 0, -1):
            if self._prefix(tokens[-length:], "trail") == length:
                shorter, also = self._polite(tokens[:-length])
                return shorter, is_request or also
        return tokens, is_request

    def _prefix(self, tokens: list[Token], name: PatternList) -> int:
        """Return how many tokens at the start a pattern of a list covers, none of them mistyped."""
        return Matcher(self._grammar, tokens, 0).longest(self._grammar.patterns(name))[0]

    def _split(self, sentence: str, tokens: list[Token]) -> list[Part]:
        whole = self._one(sentence, tokens, may_change=True)
        # One request may end, and the next begin, wherever a joining word or a mark stands.
        joiners = self._grammar.words("joiners")
        is_joiner = [token.norm in joiners for token in tokens]
        cuts = []
        for at in range(1, len(tokens)):
            if is_joiner[at] and not is_joiner[at - 1]:
                start = next((place for place in range(at, len(tokens)) if not is_joiner[place]), len(tokens))
                if start < len(tokens):
                    cuts.append((at, start))
            elif tokens[at - 1].tail and not is_joiner[at] and "?" not in tokens[at - 1].tail:
                cuts.append((at, at))
        unquoted = [
            self._grammar.kinds[part.intent].get(name, "")
            for part in whole
            for name, (_, quoted) in part.slots.items()
            if not quoted
        ]
        has_free = any(slot_types.WIDTHS.get(kind, 1) > 1 for kind in unquoted)
        if not cuts or len(cuts) > CUTS or (whole and not has_free):
            return whole
        best = self._several(sentence, tokens, cuts)
        return whole if whole and (not best or whole[0].score >= sum(part.score for part in best)) else best

    def _several(self, sentence: str, tokens: list[Token], cuts: list[tuple[int, int]]) -> list[Part]:
        def joinable(some: list[Token]) -> list[Part]:
            """Return the request that some tokens are, [] for one that only says something."""
            parts = self._one(sentence, some, may_change=True)
            return [part for part in parts if self._intents[part.intent].keys() & {"commands", "tool", "as"}]

        found: list[Part] = []
        for at, (end, start) in enumerate(cuts):
            first = joinable(tokens[:end])
            if not first:
                continue
            later = [(one - start, two - start) for one, two in cuts[at + 1 :]]
            for option in (joinable(tokens[start:]), self._several(sentence, tokens[start:], later)):
                parts = [*first, *option]
                if option and sum(part.score for part in parts) > sum(part.score for part in found):
                    found = parts
        return found

    def _one(self, sentence: str, tokens: list[Token], may_change: bool) -> list[Part]:
        """Return the request that all tokens are, without courtesy and particles or with them; [] when none."""
        bare = self._polite(tokens)[0]
        particles = self._grammar.words("particles")
        for tried in (bare, tokens) if len(bare) < len(tokens) else (bare,):
            plain = [token for token in tried if token.is_quoted or token.norm not in particles]
            best = self._match(sentence, tried, may_change)
            if not best and 0 < len(plain) < len(tried):
                best = self._match(sentence, plain, may_change)
            if best:
                return [best]
        return []

    def _match(self, sentence: str, tokens: list[Token], may_change: bool) -> Part | None:
        best: Part | None = None
        patterns = self._grammar.patterns("patterns")
        for number, span in Matcher(self._grammar, tokens).best(patterns).items():
            name = patterns.of[number]
            intent, kinds = self._intents[name], self._grammar.kinds[name]
            is_change = intent.keys() & {"commands", "as"} or intent.get("tool") in ("service", "undo")
            if (may_change or not is_change) and (best is None or _score(span) > best.score):
                slots: Raw = {}
                for slot, place in span[3].items():
                    raw = self._value(sentence, tokens, kinds.get(slot, slot), place)
                    if raw:
                        slots[slot] = raw
                strict = [slot for slot, rule in intent.get("slots", {}).items() if rule.get("strict")]
                if all(self._is_value(kinds[slot], *slots[slot]) for slot in strict if slot in slots):
                    best = Part(name, slots, _score(span), span[2])
        return best

    def _value(
        self, sentence: str, tokens: list[Token], kind: str, span: tuple[int, int] | str
    ) -> tuple[str, bool] | None:
        """Return the text of a slot; None when it only says that something else is wanted ("something better")."""
        if isinstance(span, str):
            return span, True
        chosen = tokens[span[0] : span[1]]
        if all(token.norm in self._grammar.words("vague") and not token.is_quoted for token in chosen):
            return None
        is_quoted = len(chosen) == 1 and chosen[0].is_quoted
        if kind in ("key", "ssid") and not is_quoted:
            # Passwords may begin or end with punctuation: slots.py judges what of it is the value.
            return sentence[chosen[0].raw_start : chosen[-1].end] + chosen[-1].tail, False
        return sentence[chosen[0].start : chosen[-1].end], is_quoted


def kinds_of(intent: Intent) -> dict[str, str]:
    return {slot: rule["type"] for slot, rule in intent.get("slots", {}).items()}


def familiarity(sentence: str, common: list[str]) -> int:
    """Return how many words of the sentence are among the common ones of a language."""
    return sum(1 for token in tokenize(sentence[:SENTENCE_CHARS], {}) if token.norm in common)
