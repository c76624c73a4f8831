"""Sentence patterns and how they match tokens; knows neither the language nor what a slot means.

    word        a keyword; a mistyped one counts as a slip
    (a|b c)     one of them          [a|b]   one of them or nothing
    <class>     a pattern with a name
    {slot}      one or more tokens, or one of the phrases of a list (`{band}`); {slot:type} when the type is another one

A match covers all tokens or none: words left over are never ignored. When several readings fit, the one with most
keywords and fewest slips wins.
"""

from __future__ import annotations

import re

from oasis.offline.tokens import WIDE, Token, is_near, normal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STEPS = 30_000  # tries a sentence may cost one pattern; real ones stay under 2,000
SLIPS = 3  # mistyped keywords in one sentence

# Wide characters are a keyword each, as they are tokens.
_PIECE = r"[()\[\]|]|<\w+>|\{\w+(?::\w+)?\}|[" + WIDE + r"]|[^()\[\]|<>{}\s" + WIDE + "]+"

Node = tuple[str, object]


class Match:
    """One reading: where it ended, its keywords and slips, and the slots as a span of tokens or a listed value."""

    __slots__ = ("end", "keywords", "slips", "slots")

    def __init__(self, end: int, keywords: int = 0, slips: int = 0, slots: dict[str, object] | None = None) -> None:
        self.end = end
        self.keywords = keywords
        self.slips = slips
        self.slots = slots or {}

    def score(self) -> float:
        return self.keywords - 0.6 * self.slips


class Grammar:
    """What patterns refer to: classes, phrase lists by slot type, and words that are never a slip."""

    def __init__(self, language: dict[str, object]) -> None:
        self.fold: dict[str, str] = language.get("fold", {})  # type: ignore[assignment]
        self._real_words: set[str] = set(language.get("real_words", []))  # type: ignore[call-overload]
        self._classes: dict[str, str] = language.get("classes", {})  # type: ignore[assignment]
        self._lists: dict[str, dict[str, list[str]]] = language.get("lists", {})  # type: ignore[assignment]
        self._parsed: dict[str, list[Node]] = {}
        self._judged: dict[tuple[str, str], bool] = {}

    def parse(self, text: str) -> list[Node]:
        """Return the parsed pattern. Raises: ValueError for a pattern with an open bracket or an unknown class."""
        if text not in self._parsed:
            words = re.findall(_PIECE, normal(text, self.fold))
            nodes, at = _sequence(words, 0)
            if at != len(words):
                raise ValueError(f"pattern {text}: bracket")
            self._parsed[text] = nodes
        return self._parsed[text]

    def is_slip(self, word: str, keyword: str) -> bool:
        """Tell whether `word` is the keyword mistyped and no word of its own."""
        pair = (word, keyword)
        if pair not in self._judged:
            self._judged[pair] = word not in self._real_words and is_near(word, keyword)
        return self._judged[pair]

    def class_nodes(self, name: str) -> list[Node]:
        if name not in self._classes:
            raise ValueError(f"no class <{name}>")
        return self.parse(self._classes[name])

    def phrases(self, kind: str) -> dict[str, list[str]] | None:
        return self._lists.get(kind)


def _sequence(words: list[str], at: int) -> tuple[list[Node], int]:
    nodes: list[Node] = []
    while at < len(words) and words[at] not in ")]|":
        word = words[at]
        at += 1
        if word in "([":
            choices, at = _choices(words, at, ")" if word == "(" else "]")
            nodes.append(("one" if word == "(" else "maybe", choices))
        elif word[0] == "<":
            nodes.append(("class", word[1:-1]))
        elif word[0] == "{":
            nodes.append(("slot", word[1:-1]))
        else:
            nodes.append(("word", word))
    return nodes, at


def _choices(words: list[str], at: int, closing: str) -> tuple[list[list[Node]], int]:
    choices = []
    while True:
        nodes, at = _sequence(words, at)
        choices.append(nodes)
        if at >= len(words) or words[at] not in ("|", closing):
            raise ValueError(f"pattern {' '.join(words)}: bracket")
        at += 1
        if words[at - 1] == closing:
            return choices, at


class Matcher:
    """Match patterns against one list of tokens.

    `kinds` maps a slot's name to its type, `fits(type, tokens)` says whether tokens can be a value of it,
    `slips` is how many keywords may be mistyped.
    """

    def __init__(
        self,
        grammar: Grammar,
        tokens: list[Token],
        kinds: dict[str, str],
        fits: Callable[[str, list[Token]], bool],
        slips: int = SLIPS,
    ) -> None:
        self._grammar = grammar
        self._tokens = tokens
        self._kinds = kinds
        self._fits = fits
        self._slips = slips
        self._steps = 0

    def best(self, pattern: str) -> Match | None:
        """Return the best reading of all tokens, None when there is none."""
        self._steps = 0
        found: Match | None = None
        for match in self._walk(self._grammar.parse(pattern), 0, Match(0)):
            if match.end == len(self._tokens) and (found is None or match.score() > found.score()):
                found = match
        return found

    def prefix(self, pattern: str) -> int:
        """Return how many tokens at the start the pattern covers at most, 0 when it does not match."""
        self._steps = 0
        return max((match.end for match in self._walk(self._grammar.parse(pattern), 0, Match(0))), default=0)

    def _walk(self, nodes: list[Node], at: int, so_far: Match) -> Iterator[Match]:
        if at == len(nodes):
            yield so_far
            return
        for match in self._node(nodes[at], so_far):
            yield from self._walk(nodes, at + 1, match)

    def _node(self, node: Node, so_far: Match) -> Iterator[Match]:
        self._steps += 1
        if self._steps > STEPS:
            return
        kind, value = node
        if kind == "word":
            yield from self._word(str(value), so_far)
        elif kind == "slot":
            yield from self._slot(str(value), so_far)
        elif kind == "class":
            yield from self._walk(self._grammar.class_nodes(str(value)), 0, so_far)
        elif isinstance(value, list):
            for choice in value:
                yield from self._walk(choice, 0, so_far)
            if kind == "maybe":
                yield so_far

    def _word(self, keyword: str, so_far: Match) -> Iterator[Match]:
        if so_far.end >= len(self._tokens):
            return
        token = self._tokens[so_far.end]
        if token.is_quoted:
            return
        if token.norm == keyword:
            yield Match(so_far.end + 1, so_far.keywords + 1, so_far.slips, so_far.slots)
        elif so_far.slips < self._slips and self._grammar.is_slip(token.norm, keyword):
            yield Match(so_far.end + 1, so_far.keywords + 1, so_far.slips + 1, so_far.slots)

    def _slot(self, name: str, so_far: Match) -> Iterator[Match]:
        name, _, kind = name.partition(":")
        kind = kind or self._kinds.get(name, name)
        phrases = self._grammar.phrases(kind)
        if phrases is not None:
            for value, spellings in phrases.items():
                for spelling in spellings:
                    for match in self._walk(self._grammar.parse(spelling), 0, so_far):
                        yield Match(match.end, match.keywords, match.slips, {**match.slots, name: value})
            return
        for end in range(so_far.end + 1, len(self._tokens) + 1):
            if self._fits(kind, self._tokens[so_far.end : end]):
                slots = {**so_far.slots, name: (so_far.end, end)}
                yield Match(end, so_far.keywords, so_far.slips, slots)
