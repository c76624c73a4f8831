"""Sentence patterns and how they match tokens; knows neither the language nor what a slot means.

    word        a keyword; a mistyped one counts as a slip
    (a|b c)     one of them          [a|b]   one of them or nothing
    <class>     a pattern with a name
    {slot}      one or more tokens, or one of the phrases of a list (`{band}`); {slot:type} when the type is another one

A match covers all tokens or none: words left over are never ignored. When several readings fit, the one with most
keywords and fewest slips wins.

Hundreds of patterns are asked about one sentence, and most of them differ from it at the first word. So patterns that
begin alike share a Branch, which knows the words that its patterns can go on with, and reads on in them only when a
sentence gets there. What a piece of a pattern covers from one token on is found out once for a sentence.
"""

from __future__ import annotations

import re

from oasis.parts.offline.language.tokens import Token, is_near, normal, spaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Node = tuple[str, object]
    Rest = tuple[int, str, dict[str, str]]
    Span = tuple[int, int, int, dict[str, object]]

STEPS = 30_000  # tries a sentence may cost; real ones stay under 3,000
SLIPS = 3  # mistyped keywords in one sentence

_PIECE = re.compile(r"[()\[\]|]|<\w+>|\{\w+(?::\w+)?\}|[^()\[\]|<>{}\s]+")
_BRACKET = re.compile(r"[()\[\]]")
_SLOT = re.compile(r"\{(\w+)\}")
# A keyword, or a choice of keywords without anything in it; and what these begin with.
_FLAT = re.compile(r"\(?[^()\[\]<>{}]+\)?\Z")
_BEGIN = re.compile(r"(?:^|[(|])\s*([^()|\s]+)")


class Match:
    """One reading of a sentence: its keywords and slips, and the slots as a span of tokens or a listed value."""

    __slots__ = ("keywords", "slips", "slots")

    def __init__(self, keywords: int, slips: int, slots: dict[str, object]) -> None:
        self.keywords = keywords
        self.slips = slips
        self.slots = slots

    def score(self) -> float:
        return self.keywords - 0.6 * self.slips


class Grammar:
    """The patterns and words of one language, as far as they were needed; what was read once is kept.

    `kinds` maps each intent to {slot: type}.
    """

    def __init__(self, language: dict[str, object], kinds: dict[str, dict[str, str]] | None = None) -> None:
        self.language = language
        self.fold: dict[str, str] = language.get("fold", {})  # type: ignore[assignment]
        self._kinds = kinds or {}
        self._real_words = set(self.listed("real_words"))
        self._classes: dict[str, str] = language.get("classes", {})  # type: ignore[assignment]
        self._lists: dict[str, dict[str, list[str]]] = language.get("lists", {})  # type: ignore[assignment]
        self._words: dict[str, set[str]] = {}
        self._parsed: dict[str, list[Node]] = {}
        self._starts: dict[str, tuple[set[str], bool]] = {}
        self._branches: dict[str, tuple[Branch, list[str]]] = {}

    def listed(self, name: str) -> list[str]:
        """Return a list of the language file as it stands there."""
        found = self.language.get(name)
        return found if isinstance(found, list) else []

    def words(self, name: str) -> set[str]:
        """Return a list of words of the language file, folded like tokens."""
        if name not in self._words:
            self._words[name] = {normal(word, self.fold) for word in self.listed(name)}
        return self._words[name]

    def patterns(self, name: str) -> Branch:
        """Return a list of patterns of the language file."""
        return self._branch(name, lambda: [("", pattern) for pattern in self.listed(name)])[0]

    def of_intents(self, key: str) -> tuple[Branch, list[str]]:
        """Return the patterns, or the phrases, of all intents, and the intent of each."""
        texts: dict[str, dict[str, list[str]]] = self.language["intents"]  # type: ignore[assignment]
        names = [name for name in texts if name in self._kinds]
        return self._branch("." + key, lambda: [(name, one) for name in names for one in texts[name].get(key, ())])

    def phrases(self, kind: str) -> tuple[Branch, list[str]] | None:
        """Return the phrases of a list, and the value that each stands for; None when there is no such list."""
        phrases = self._lists.get(kind)
        if phrases is None:
            return None
        return self._branch("{" + kind, lambda: [(value, one) for value in phrases for one in phrases[value]])

    def _branch(self, key: str, listed: Callable[[], list[tuple[str, str]]]) -> tuple[Branch, list[str]]:
        if key not in self._branches:
            pairs = listed()
            rests = [(at, pattern, self._kinds.get(name, {})) for at, (name, pattern) in enumerate(pairs)]
            self._branches[key] = Branch(rests), [name for name, _ in pairs]
        return self._branches[key]

    def parse(self, text: str) -> list[Node]:
        """Return the parsed pattern. Raises: ValueError for a pattern with an open bracket."""
        if text not in self._parsed:
            words = _PIECE.findall(self._normal(text))
            nodes, at = _sequence(words, 0)
            if at != len(words):
                raise ValueError(f"pattern {text}: bracket")
            self._parsed[text] = nodes
        return self._parsed[text]

    def _normal(self, text: str) -> str:
        return normal(spaced(text), self.fold)  # wide characters are a keyword each, as they are tokens

    def is_slip(self, word: str, keyword: str) -> bool:
        """Tell whether `word` is the keyword mistyped and no word of its own."""
        return is_near(word, keyword) and word not in self._real_words

    def class_nodes(self, name: str) -> list[Node]:
        """Return the pattern of a class. Raises: ValueError when there is none."""
        if name not in self._classes:
            raise ValueError(f"no class <{name}>")
        return self.parse(self._classes[name])

    def starts(self, piece: str) -> tuple[set[str], bool]:
        """Return the keywords a piece can begin with, and whether it must begin with one of them."""
        if _FLAT.match(piece):
            return set(_BEGIN.findall(self._normal(piece))), True
        if piece not in self._starts:
            self._starts[piece] = self._starts_of(self.parse(piece))
        return self._starts[piece]

    def _starts_of(self, nodes: list[Node]) -> tuple[set[str], bool]:
        found: set[str] = set()
        for kind, value in nodes:
            if kind == "slot":
                break
            if kind == "word":
                return found | {str(value)}, True
            choices = [self.class_nodes(str(value))] if kind == "class" else value
            starts = [self._starts_of(choice) for choice in choices]  # type: ignore[attr-defined]
            found.update(*[words for words, _ in starts])
            if kind != "maybe" and all(must for _, must in starts):
                return found, True
        return found, False


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
        if not nodes or at >= len(words) or words[at] not in ("|", closing):
            raise ValueError(f"pattern {' '.join(words)}: bracket")
        at += 1
        if words[at - 1] == closing:
            return choices, at


class Branch:
    """Patterns that were alike so far, of each its number, what is left of it, and {slot: type}.

    `ends` are the numbers of those that end here, `starts` the next pieces that begin with a keyword, `open` those that
    may be left out or begin with a slot.
    """

    __slots__ = ("_after", "_rests", "ends", "open", "starts")

    def __init__(self, rests: list[Rest]) -> None:
        self._rests = rests
        self._after: dict[str, list[Rest] | Branch] = {}
        self.ends: list[int] = []
        self.starts: dict[str, list[str]] = {}
        self.open: list[str] = []

    def after(self, piece: str) -> Branch:
        """Return the patterns that go on with a piece."""
        found = self._after[piece]
        if isinstance(found, list):
            found = self._after[piece] = Branch(found)
        return found

    def grow(self, grammar: Grammar) -> None:
        """Read one piece of each pattern. Raises: ValueError for a pattern with an open bracket."""
        rests, self._rests = self._rests, []
        alike: dict[str, list[Rest]] = {}
        for number, text, kinds in rests:
            if not text:
                self.ends.append(number)
                continue
            piece, rest = _first(text)
            if "{" in piece:
                piece = _typed(piece, kinds)
            alike.setdefault(piece, []).append((number, rest, kinds))
        for piece in alike:
            words, must = grammar.starts(piece)
            if not must:
                self.open.append(piece)
            for word in words if must else ():
                self.starts.setdefault(word, []).append(piece)
        self._after.update(alike)


def _typed(piece: str, kinds: dict[str, str]) -> str:
    """Return a piece that tells the types of its slots: two intents may have slots of one name."""

    def typed(slot: re.Match[str]) -> str:
        name = slot.group(1)
        return "{" + name + ":" + kinds.get(name, name) + "}"

    return _SLOT.sub(typed, piece)


def _first(text: str) -> tuple[str, str]:
    """Return the first piece of a pattern, brackets as a whole, and the rest. Raises: ValueError."""
    if text[0] not in "([":
        piece = _PIECE.match(text)
        if not piece or text[0] in ")]|":
            raise ValueError(f"pattern {text}: bracket")
        first = spaced(piece.group()).split()[0]
        return first, text[len(first) :].lstrip()
    level = 0
    for bracket in _BRACKET.finditer(text):
        level += 1 if bracket.group() in "([" else -1
        if not level:
            return text[: bracket.end()], text[bracket.end() :].lstrip()
    raise ValueError(f"pattern {text}: bracket")


class Matcher:
    """Match patterns against one list of tokens.

    `fits(type, tokens)` says whether tokens can be a value of a type, `slips` is how many keywords may be mistyped.
    """

    def __init__(
        self, grammar: Grammar, tokens: list[Token], fits: Callable[[str, list[Token]], bool], slips: int = SLIPS
    ) -> None:
        self._grammar = grammar
        self._tokens = tokens
        self._fits = fits
        self._slips = slips
        self._steps = 0
        self._covered: dict[tuple[str, int], list[Span]] = {}

    def best(self, patterns: Branch) -> dict[int, Match]:
        """Return the best reading of all tokens by each pattern that has one, in the order of their numbers."""
        found: dict[int, Match] = {}
        for number, spans in self._spans(patterns, 0):
            whole = [Match(*span[1:]) for span in spans if span[0] == len(self._tokens)]
            if whole:
                found[number] = max(whole, key=Match.score)
        return found

    def longest(self, patterns: Branch, at: int = 0) -> tuple[int, int]:
        """Return how many tokens from `at` on a pattern covers at most, and the first that does; (0, 0) when none."""
        lengths = [(max(span[0] for span in spans) - at, -number) for number, spans in self._spans(patterns, at)]
        length, number = max(lengths, default=(0, 0))
        return length, -number

    def _spans(self, patterns: Branch, at: int) -> list[tuple[int, list[Span]]]:
        """Return what the patterns cover from `at` on, in every way there is: [(number, spans)]."""
        found: dict[int, list[Span]] = {}
        self._visit(patterns, (at, 0, 0, {}), found)
        return sorted(found.items())

    def _visit(self, patterns: Branch, so_far: Span, found: dict[int, list[Span]]) -> None:
        self._steps += 1
        if self._steps > STEPS:
            return
        patterns.grow(self._grammar)
        for number in patterns.ends:
            found.setdefault(number, []).append(so_far)
        for piece in [*patterns.open, *self._begun(patterns.starts, so_far[0])]:
            for joined in self._joined(so_far, self._piece(piece, so_far[0])):
                self._visit(patterns.after(piece), joined, found)

    def _begun(self, starts: dict[str, list[str]], at: int) -> list[str]:
        """Return the pieces that begin with what a token is or may stand for."""
        if at >= len(self._tokens) or self._tokens[at].is_quoted:
            return []
        norm = self._tokens[at].norm
        pieces = list(starts.get(norm, ()))
        for word in starts if self._slips else ():
            if norm[0] in word[:2] and word != norm and self._grammar.is_slip(norm, word):
                pieces += [piece for piece in starts[word] if piece not in pieces]
        return pieces

    def _joined(self, so_far: Span, spans: list[Span]) -> list[Span]:
        """Return the ways to go on, without those that take too many slips."""
        _, keywords, slips, slots = so_far
        return [
            (span[0], keywords + span[1], slips + span[2], {**slots, **span[3]} if span[3] else slots)
            for span in spans
            if slips + span[2] <= self._slips
        ]

    def _piece(self, text: str, at: int) -> list[Span]:
        key = (text, at)
        if key not in self._covered:
            self._covered[key] = self._all(self._grammar.parse(text), at)
        return self._covered[key]

    def _all(self, nodes: list[Node], at: int) -> list[Span]:
        found: list[Span] = [(at, 0, 0, {})]
        for node in nodes:
            found = [joined for so_far in found for joined in self._joined(so_far, self._node(node, so_far[0]))]
            self._steps += len(found)
            if not found or self._steps > STEPS:
                return []
        return found

    def _node(self, node: Node, at: int) -> list[Span]:
        kind, value = node
        if kind == "word":
            return self._word(str(value), at)
        if kind == "slot":
            return self._slot(str(value), at)
        if kind == "class":
            return self._all(self._grammar.class_nodes(str(value)), at)
        choices = value if isinstance(value, list) else []
        found = [span for choice in choices for span in self._all(choice, at)]
        return [*found, (at, 0, 0, {})] if kind == "maybe" else found

    def _word(self, keyword: str, at: int) -> list[Span]:
        if at >= len(self._tokens) or self._tokens[at].is_quoted:
            return []
        norm = self._tokens[at].norm
        if norm == keyword:
            return [(at + 1, 1, 0, {})]
        return [(at + 1, 1, 1, {})] if self._slips and self._grammar.is_slip(norm, keyword) else []

    def _slot(self, slot: str, at: int) -> list[Span]:
        name, _, kind = slot.partition(":")
        phrases = self._grammar.phrases(kind or name)
        if phrases is None:
            ends = range(at + 1, len(self._tokens) + 1)
            return [(end, 0, 0, {name: (at, end)}) for end in ends if self._fits(kind or name, self._tokens[at:end])]
        listed, values = phrases
        return [(*span[:3], {name: values[number]}) for number, spans in self._spans(listed, at) for span in spans]
