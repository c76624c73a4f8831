"""From an owner's sentence to what it asks for, by patterns: intents with raw slots, in the language that fits best.

    word        a keyword; a mistyped one counts as a slip
    (a|b c)     one of them          [a|b]   one of them or nothing
    <class>     a pattern with a name
    {slot}      one or more tokens, or one of the phrases of a list (`{band}`); {slot:type} when the type is another one

A pattern covers all tokens or none: a request is read only when every word of it is understood. When several readings
fit, the one with most keywords and fewest slips wins. Questions about how to do something never become a change.

Hundreds of patterns are asked about one sentence, and most of them differ from it at the first word. So patterns that
begin alike share a Branch. What a piece of a pattern covers from one token on is found out once for a sentence.
"""

from __future__ import annotations

import re

from oasis.parts.offline import slots as slot_types
from oasis.parts.offline.clause import SENTENCE_CHARS, SENTENCE_TOKENS, Token, is_near, normal, spaced, tokenize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from oasis.parts.offline.shapes import Callable, Intent, IsValue, Language, PatternList, Raw, WordList

    Node = tuple[str, str, list[list["Node"]]]  # kind; the keyword, slot or class; of brackets the choices
    Rest = tuple[int, str, dict[str, str]]
    Place = dict[str, tuple[int, int] | str]  # slot -> a span of tokens, or a listed value
    Span = tuple[int, int, int, Place]  # where it ends, its keywords, its slips, its slots

STEPS = 30_000  # tries a sentence may cost; real ones stay under 3,000
SLIPS = 3  # mistyped keywords in one sentence
CUTS = 5  # places where one sentence may be two requests; each costs a pass over the patterns

_COURTESY: tuple[PatternList, ...] = ("lead", "request")
_PIECE = re.compile(r"[()\[\]|]|<\w+>|\{\w+(?::\w+)?\}|[^()\[\]|<>{}\s]+")
_BRACKET = re.compile(r"[()\[\]]")
_SLOT = re.compile(r"\{(\w+)\}")
# A keyword, or a choice of keywords without anything in it; and what these begin with.
_FLAT = re.compile(r"\(?[^()\[\]<>{}]+\)?\Z")
_BEGIN = re.compile(r"(?:^|[(|])\s*([^()|\s]+)")


class Grammar:
    """The patterns and words of one language, as far as they were needed; what was read once is kept.

    `kinds` maps each intent to {slot: type}.
    """

    def __init__(self, language: Language, kinds: dict[str, dict[str, str]] | None = None) -> None:
        self.language = language
        self.fold: dict[str, str] = language.get("fold", {})
        self._kinds = kinds or {}
        self._real_words = set(language.get("real_words", ()))
        self._classes = language.get("classes", {})
        self._lists = language.get("lists", {})
        self._words: dict[str, set[str]] = {}
        self._parsed: dict[str, list[Node]] = {}
        self._starts: dict[str, tuple[set[str], bool]] = {}
        self._branches: dict[str, tuple[Branch, list[str]]] = {}

    def words(self, name: WordList) -> set[str]:
        """Return a list of words of the language file, folded like tokens."""
        if name not in self._words:
            self._words[name] = {normal(word, self.fold) for word in self.language.get(name, ())}
        return self._words[name]

    def patterns(self, name: PatternList) -> Branch:
        return self._branch(name, lambda: [("", pattern) for pattern in self.language.get(name, ())])[0]

    def of_intents(self, key: Literal["patterns", "about"]) -> tuple[Branch, list[str]]:
        """Return the patterns, or the phrases, of all intents, and the intent of each."""
        texts = self.language["intents"]
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
        for kind, name, choices in nodes:
            if kind == "slot":
                break
            if kind == "word":
                return found | {name}, True
            starts = [self._starts_of(one) for one in ([self.class_nodes(name)] if kind == "class" else choices)]
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
            nodes.append(("one" if word == "(" else "maybe", "", choices))
        elif word[0] in "<{":
            nodes.append(("class" if word[0] == "<" else "slot", word[1:-1], []))
        else:
            nodes.append(("word", word, []))
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
    """Patterns that were alike so far, of each its number, what is left of it (read when needed), and {slot: type}.

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
            typed = _SLOT.sub(lambda slot, of=kinds: "{%s:%s}" % (slot[1], of.get(slot[1], slot[1])), piece)  # type: ignore[misc]
            alike.setdefault(typed, []).append((number, rest, kinds))
        for piece in alike:
            words, must = grammar.starts(piece)
            if not must:
                self.open.append(piece)
            for word in words if must else ():
                self.starts.setdefault(word, []).append(piece)
        self._after.update(alike)


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

    def best(self, patterns: Branch) -> dict[int, Span]:
        """Return the best reading of all tokens by each pattern that has one, in the order of their numbers."""
        found: dict[int, Span] = {}
        for number, spans in self._spans(patterns, 0):
            whole = [span for span in spans if span[0] == len(self._tokens)]
            if whole:
                found[number] = max(whole, key=_score)
        return found

    def longest(self, patterns: Branch, at: int = 0) -> tuple[int, int]:
        """Return how many tokens from `at` on a pattern covers at most, and the first that does; (0, 0) when none."""
        lengths = [(max(span[0] for span in spans) - at, -number) for number, spans in self._spans(patterns, at)]
        length, number = max(lengths, default=(0, 0))
        return length, -number

    def _spans(self, patterns: Branch, at: int) -> list[tuple[int, list[Span]]]:
        found: dict[int, list[Span]] = {}
        self._visit(patterns, (at, 0, 0, {}), found)
        return sorted(found.items())

    def _visit(self, patterns: Branch, so_far: Span, found: dict[int, list[Span]]) -> None:
        self._steps += 1
        if self._steps > STEPS:
            return
        patterns.grow(self._grammar)
        at = so_far[0]
        for number in patterns.ends:
            found.setdefault(number, []).append(so_far)
        for piece in [*patterns.open, *self._begun(patterns.starts, at)]:
            if (piece, at) not in self._covered:
                self._covered[piece, at] = self._all(self._grammar.parse(piece), at)
            for joined in self._joined(so_far, self._covered[piece, at]):
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
        _, keywords, slips, slots = so_far
        return [
            (span[0], keywords + span[1], slips + span[2], {**slots, **span[3]} if span[3] else slots)
            for span in spans
            if slips + span[2] <= self._slips
        ]

    def _all(self, nodes: list[Node], at: int) -> list[Span]:
        found: list[Span] = [(at, 0, 0, {})]
        for node in nodes:
            found = [joined for so_far in found for joined in self._joined(so_far, self._node(node, so_far[0]))]
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
            return self._slot(name, at)
        if kind == "class":
            return self._all(self._grammar.class_nodes(name), at)
        found = [span for choice in choices for span in self._all(choice, at)]
        return [*found, (at, 0, 0, {})] if kind == "maybe" else found

    def _slot(self, slot: str, at: int) -> list[Span]:
        name, _, kind = slot.partition(":")
        phrases = self._grammar.phrases(kind or name)
        if phrases is None:
            ends = range(at + 1, len(self._tokens) + 1)
            return [(end, 0, 0, {name: (at, end)}) for end in ends if self._fits(kind or name, self._tokens[at:end])]
        listed, values = phrases
        return [(*span[:3], {name: values[number]}) for number, spans in self._spans(listed, at) for span in spans]


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
        phrases, names = self._grammar.of_intents("about")
        matcher = self._matcher(asked, 0)
        found = [matcher.longest(phrases, at) for at in range(len(asked))]
        length, number = max(found, key=lambda one: (one[0], -one[1]), default=(0, 0))
        return Reading([], names[number] if length else "")

    def answer(self, sentence: str, kind: str) -> tuple[str, bool] | None:
        """Return the value in an answer to a question for a slot of type `kind`, None when it holds none."""
        tokens = self._polite(tokenize(sentence[:SENTENCE_CHARS], self._grammar.fold))[0]
        if not tokens or len(tokens) > SENTENCE_TOKENS or self._question(tokens) is not None:
            return None  # a question is no answer
        rests = [(at, pattern, {"value": kind}) for at, pattern in enumerate(self._grammar.language.get("answers", ()))]
        found = self._matcher(tokens, 0).best(Branch(rests))
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
        return self._matcher(tokens, 0).longest(self._grammar.patterns(name))[0]

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
        kinds = kinds_of(self._intents[whole[0].intent]) if whole else {}
        unquoted = [name for part in whole for name, (_, quoted) in part.slots.items() if not quoted]
        has_free = any(slot_types.WIDTHS.get(kinds.get(name, ""), 1) > 1 for name in unquoted)
        if not cuts or len(cuts) > CUTS or (whole and not has_free):
            return whole
        best = self._several(sentence, tokens, cuts)
        return whole if whole and (not best or whole[0].score >= sum(part.score for part in best)) else best

    def _several(self, sentence: str, tokens: list[Token], cuts: list[tuple[int, int]]) -> list[Part]:
        found: list[Part] = []
        for at, (end, start) in enumerate(cuts):
            first = self._joinable(sentence, tokens[:end])
            if not first:
                continue
            later = [(one - start, two - start) for one, two in cuts[at + 1 :]]
            options = [self._joinable(sentence, tokens[start:])]
            options.append(self._several(sentence, tokens[start:], later) if later else [])
            for option in options:
                parts = [*first, *option]
                if option and sum(part.score for part in parts) > sum(part.score for part in found):
                    found = parts
        return found

    def _joinable(self, sentence: str, tokens: list[Token]) -> list[Part]:
        """Return the request that some tokens are, [] for one that only says something."""
        found = self._one(sentence, tokens, may_change=True)
        return [part for part in found if self._intents[part.intent].keys() & {"commands", "tool", "as"}]

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
        patterns, names = self._grammar.of_intents("patterns")
        for number, span in self._matcher(tokens).best(patterns).items():
            name = names[number]
            intent = self._intents[name]
            is_change = intent.keys() & {"commands", "as"} or intent.get("tool") in ("service", "undo")
            if (may_change or not is_change) and (best is None or _score(span) > best.score):
                kinds = kinds_of(intent)
                raws = {
                    slot: self._value(sentence, tokens, kinds.get(slot, slot), place) for slot, place in span[3].items()
                }
                part = Part(name, {slot: raw for slot, raw in raws.items() if raw}, _score(span), span[2])
                strict = [slot for slot, rule in intent.get("slots", {}).items() if rule.get("strict")]
                said = [slot for slot in strict if slot in part.slots]
                best = part if all(self._is_value(kinds[slot], *part.slots[slot]) for slot in said) else best
        return best

    def _matcher(self, tokens: list[Token], slips: int = SLIPS) -> Matcher:
        stops = self._grammar.words("stops")
        return Matcher(self._grammar, tokens, lambda kind, some: slot_types.fits(kind, some, stops), slips)

    def _value(
        self, sentence: str, tokens: list[Token], kind: str, span: tuple[int, int] | str
    ) -> tuple[str, bool] | None:
        """Return the text of a slot; None when it only says that something else is wanted ("something better")."""
        if isinstance(span, str):
            return span, True
        chosen = tokens[span[0] : span[1]]
        if all(token.norm in self._grammar.words("vague") and not token.is_quoted for token in chosen):
            return None
        return slot_types.span_text(sentence, chosen, kind)


def kinds_of(intent: Intent) -> dict[str, str]:
    return {slot: rule["type"] for slot, rule in intent.get("slots", {}).items()}


def familiarity(sentence: str, common: list[str]) -> int:
    """Return how many words of the sentence are among the common ones of a language."""
    return sum(1 for token in tokenize(sentence[:SENTENCE_CHARS], {}) if token.norm in common)
