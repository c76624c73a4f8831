"""The words of a language as concepts that have the same names in every language, found in a sentence.

    "words":  {"wifi": ["wifi", "wireless", "w lan"], "change": ["chang*", …], …}     concept -> words and phrases
    "values": {"band": {"both": ["both bands"]}, "provider": {…}}                     type -> value -> phrases
    "fillers": ["please", "the", …]                                                  what may always be left out

A word that ends with * stands for all words that begin so. The longest phrase wins; a phrase may belong to several
concepts. A word that is in no list may be mistyped, or several words written together (`wlanpasswort`). Sounds corrects
Japanese and Chinese words: other characters of the same sound, a letter too many or too few.
"""

from __future__ import annotations

import re

from oasis.parts.offline.language.tokens import Token, distance, is_near, normal, spaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Entry = tuple[tuple[str, ...], str, str]  # words, type ("" for a concept), concept or value


FILLER = "~"
ORDINARY = "ordinary"  # words that mean nothing here, and are no names either
_EMPTY = {FILLER, ORDINARY}  # a long word does not end in one of these
_PART = 3  # letters of the shortest word that is looked for in a long one
_PACKAGES = ("luci-", "kmod-", "lib", "python3-")  # such names are one word each
_LINKS = ("", "s", "n", "en", "es")  # what stands between the words of a compound
_NUMBER = re.compile(r"(\d+(?:[.,]\d+)?)([^\W\d_]+)\Z")
_PIECES = re.compile(r"[-/+&]")
_PORT = re.compile(r"(tcp|udp|port)(\d+)\Z")
_SPAN = re.compile(r"(\d+(?:\.\d+){3})[-–~](\d+(?:\.\d+){3})\Z")
_RATES = re.compile(r"(\d{1,4})/(\d{1,4})\Z")  # 100/20 mbit
_INNER = re.compile(r"([a-z][a-z0-9-]*):(\d{2,5})\Z")  # nas:443
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?\Z")
_NAMING = {"called", "rename", "hostname", "peer"}
_FUZZY = 4  # letters; of a shorter word nobody can tell what it should have been


class Segment:
    """A part of a sentence: tokens `start` to `end` and what they may mean.

    `concepts` holds FILLER for words without meaning of their own; `values` is {type: value}; nothing of both is an
    unknown word.
    """

    __slots__ = ("concepts", "end", "slips", "start", "values")

    def __init__(self, start: int, end: int, concepts: set[str], values: dict[str, str], slips: int = 0) -> None:
        self.start = start
        self.end = end
        self.concepts = concepts
        self.values = values
        self.slips = slips

    def is_known(self) -> bool:
        return bool(self.concepts or self.values)


class Lexicon:
    """The words and values of one language file."""

    def __init__(
        self, language: dict[str, object], fold: dict[str, str], services: dict[str, list[str]] | None = None
    ) -> None:
        self._fold = fold
        self._has_compounds = language.get("compounds") is True
        self._exact: dict[str, list[Entry]] = {}
        self._light: set[str] = set()
        self._begun: dict[str, list[Entry]] = {}  # first letter -> phrases that begin with a word with *
        self._near: dict[str, list[str]] = {}
        self.vocabulary: set[str] = set()
        self._stems: dict[str, list[str]] = {}
        self._ordinary = {phrase for phrase in _listed(language.get("ordinary")) if " " not in phrase}
        self._parts: set[str] = set()
        self._corrected: dict[str, str] = {}
        self._real = {normal(word, fold) for word in _listed(language.get("real_words"))}
        for concept, phrases in _table(language.get("words")).items():
            for phrase in _listed(phrases):
                self._add(phrase, "", concept)
        for phrase in _listed(language.get("fillers")):
            self._add(phrase, "", FILLER)
        for phrase in _listed(language.get("ordinary")):
            self._add(phrase, "", ORDINARY)
        for kind, values in _table(language.get("values")).items():
            for value, phrases in _table(values).items():
                for phrase in _listed(phrases):
                    self._add(phrase, kind, value)
        for place in _table(language.get("places")):
            if spaced(place) != place:  # several tokens, which only the lexicon can hold together
                self._add(place, "place", place)
        for service, names in (services or {}).items():
            for name in names:
                self._add(name, "service", service)
        self._sort()
        groups = _listed(language.get("sounds"))
        phrases = (entry[0] for entries in self._exact.values() for entry in entries)
        self._sounds = Sounds(groups, phrases, self._means) if groups else None

    def _means(self, word: str) -> bool:
        return any(entry[2] != FILLER for entry in self._exact.get(word, ()) if len(entry[0]) == 1)

    def _add(self, phrase: str, kind: str, value: str) -> None:
        words = tuple(normal(spaced(phrase), self._fold).split())
        entry = (words, kind, value)
        first = words[0]
        if first.endswith("*"):
            self._begun.setdefault(first[0], []).append(entry)
        else:
            self._exact.setdefault(first, []).append(entry)
        for word in words:
            if word.endswith("*"):
                self._stems.setdefault(word[0], []).append(word[:-1])
            else:
                self.vocabulary.add(word)

    def _sort(self) -> None:
        self._light = {
            entry[0][0] for one in self._exact.values() for entry in one if entry[2] == FILLER and not entry[1]
        }
        self._light -= {word for one in self._exact.values() for e in one if e[2] != FILLER or e[1] for word in e[0]}
        every = [entry for one in self._exact.values() for entry in one]
        self._parts = {words[0] for words, kind, value in every if len(words) == 1 and (kind or value not in _EMPTY)}
        for word in self.vocabulary:
            if len(word) >= _FUZZY and _WORD.match(word):
                self._near.setdefault(word[0], []).append(word)
        for stems in self._stems.values():
            for stem in stems:
                if len(stem) >= _FUZZY + 1:
                    self._near.setdefault(stem[0], []).append(stem)
        for first in self._near:
            self._near[first] = sorted(set(self._near[first]))

    def knows(self, word: str) -> bool:
        """Tell whether a word is in any phrase."""
        return word in self.vocabulary or self._stem(word)

    def _stem(self, word: str) -> bool:
        return any(word.startswith(stem) for stem in self._stems.get(word[:1], ()))

    def refined(self, tokens: list[Token]) -> list[Token]:
        """Return the tokens with those split that are several words, a number and its unit among them."""
        found: list[Token] = []
        for at, token in enumerate(tokens):
            is_one = token.is_quoted or self.knows(token.norm) or self._is_name(tokens, at)
            pieces = [] if is_one else self._pieces(token.norm)
            found += _split(token, pieces, self._fold) if len(pieces) > 1 else [token]
        return self._sounds.mended(found, lambda words, at: self.longest(words, at)[0]) if self._sounds else found

    def _is_name(self, tokens: list[Token], at: int) -> bool:
        """Tell whether a word with hyphens is the new name of something: the last word after one for calling."""
        if "-" not in tokens[at].norm or at + 1 < len(tokens) or not tokens[at].norm[0].isalpha():
            return False
        words = [token.norm for token in tokens]
        return at > 1 and any(self.longest(words, one)[1] & _NAMING for one in range(at))

    def _pieces(self, norm: str) -> list[str]:
        """Return the words that a word is written together of, with what stands between them; [] when it is one."""
        port = _PORT.match(norm)
        span = _SPAN.match(norm) or _RATES.match(norm) or _INNER.match(norm)
        if span:
            return list(span.groups())
        if port and self.knows(port.group(1)):
            return list(port.groups())
        number = _NUMBER.match(norm)
        if number and self.knows(number.group(2)):
            return [number.group(1), number.group(2)]
        parts = _PIECES.split(norm)
        if norm.startswith(_PACKAGES) or not re.search(r"[^\W\d]", norm):
            return []
        if len(parts) > 1 and all(parts):
            inner = [[part] if self.knows(part) else self._pieces(part) or [part] for part in parts]
            if all(self._is_part(word) for words in inner for word in words):
                return [word for words in inner for word in words]
            return []
        if not self._has_compounds or len(norm) < 2 * _PART or not _WORD.match(norm) or len(norm) > 60:
            return []
        return self._compound(norm) or []

    def _is_part(self, word: str) -> bool:
        return self.knows(word) or bool(re.match(r"\d+(?:[.,]\d+)?\Z", word))

    def _compound(self, norm: str) -> list[str] | None:
        for at in range(len(norm) - _PART, _PART - 1, -1):
            head, rest = norm[:at], norm[at:]
            if head not in self.vocabulary or head in self._ordinary:
                continue  # what means nothing here makes no compound: restrat is no Rest-Rat
            for link in _LINKS:
                tail = rest[len(link) :]
                if not rest.startswith(link) or len(tail) < _PART:
                    continue
                if tail in self._parts or self._stem(tail):
                    return [head, tail]
                deeper = self._compound(tail) if len(tail) >= 2 * _PART else None
                if deeper:
                    return [head, *deeper]
        return None

    def norms(self, tokens: list[Token]) -> tuple[list[str], list[int]]:
        """Return the words to look up, mistyped ones as they should be, and for each whether it was mended."""
        words, slips = [], []
        for token in tokens:
            norm = token.norm
            mended = norm if token.is_quoted or self.knows(norm) else self._mended(norm)
            words.append(mended)
            slips.append(token.slip or int(mended != norm and not norm.startswith(mended + "'")))
        return words, slips

    def _mended(self, norm: str) -> str:
        if norm not in self._corrected:
            self._corrected[norm] = self._nearest(norm)
        return self._corrected[norm]

    def _nearest(self, norm: str) -> str:
        bare = norm.partition("'")[0]
        if bare != norm and self.knows(bare):
            return bare
        if len(norm) < _FUZZY - 1 or len(norm) > 30 or not _WORD.match(norm) or norm in self._real:
            return norm
        best, least = norm, (3, 0)
        for first in dict.fromkeys(norm[:2]):
            for word in self._near.get(first, ()):
                if -2 <= len(word) - len(norm) <= 2 and is_near(norm, word) and self._is_likely(norm, word):
                    gap = (distance(norm, word), abs(len(norm) - len(word)))
                    if gap < least:
                        best, least = word, gap
        return best

    def _is_likely(self, norm: str, word: str) -> bool:
        """Tell whether a mistyped word may be this one: a filler only when letters are swapped or one is missing."""
        return word not in self._light or sorted(norm) == sorted(word) or (len(word) == len(norm) + 1 and len(word) > 4)

    def longest(self, words: list[str], at: int) -> tuple[int, set[str], dict[str, str]]:
        """Return the length, concepts and values of the longest phrase from a word on; length 0 when there is none."""
        length = 0
        concepts: set[str] = set()
        values: dict[str, str] = {}
        word = words[at]
        for entry in (*self._exact.get(word, ()), *self._begun.get(word[:1], ())):
            phrase, kind, value = entry
            size = len(phrase)
            if size < length or not _covers(phrase, words, at):
                continue
            if size > length:
                length, concepts, values = size, set(), {}
            if kind:
                values.setdefault(kind, value)
            else:
                concepts.add(value)
        return length, concepts, values


def _covers(phrase: tuple[str, ...], words: list[str], at: int) -> bool:
    if at + len(phrase) > len(words):
        return False
    for offset, wanted in enumerate(phrase):
        word = words[at + offset]
        if word != wanted and not (wanted.endswith("*") and word.startswith(wanted[:-1])):
            return False
    return True


def _split(token: Token, pieces: list[str], fold: dict[str, str]) -> list[Token]:
    """Return a token for each piece, at its place in the sentence; the pieces are in the token's order."""
    found, at = [], 0
    for piece in pieces:
        at = token.norm.index(piece, at)
        found.append((piece, at, at + len(piece)))
        at += len(piece)
    # A folded letter is two: places are counted in the folded word, so they are mapped back by its share of it.
    width = token.end - token.start
    places = [round(place * width / len(token.norm)) for _, first, last in found for place in (first, last)]
    tokens = []
    for number, (piece, _, _) in enumerate(found):
        start, end = token.start + places[2 * number], token.start + places[2 * number + 1]
        tokens.append(Token(piece, start, start, end, "", False))
    tokens[0].raw_start = token.raw_start
    tokens[-1].end, tokens[-1].tail = token.end, token.tail
    return tokens


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _listed(value: object) -> list[str]:
    return value if isinstance(value, list) else []


_HIRAGANA, _KATAKANA = ("\u3041", "\u3096"), ("\u30a1", "\u30fc")
_SHIFT = 0x60  # from the one to the other
_LONGEST, _SPOKEN = 8, 3  # characters of a phrase; of one that is told by its sound alone
_RUN, _LONG_RUN = 4, 7  # letters of a word with one slip, with two
_LONG_MARKS = "一-－—"  # what people type for ー


class Sounds:
    """The phrases of a lexicon by how they sound."""

    def __init__(
        self, groups: list[str], phrases: Iterable[tuple[str, ...]], means: Callable[[str], bool] = lambda char: False
    ) -> None:
        self._means = means
        self._like = {char: group[0] for group in groups for char in group}
        self._heard: dict[str, tuple[str, ...]] = {}
        self._kana: dict[str, list[str]] = {}
        for phrase in phrases:
            if not 1 < len(phrase) <= _LONGEST or not all(len(one) == 1 and one >= "\u3040" for one in phrase):
                continue
            self._heard.setdefault(self._key(phrase), phrase)
            if len(phrase) >= _RUN and all(map(_is_katakana, phrase)):
                self._kana.setdefault(phrase[0], []).append("".join(phrase))

    def _key(self, words: Iterable[str]) -> str:
        return "".join(_katakana(self._like.get(word, word)) for word in words)

    def mended(self, tokens: list[Token], longest: Callable[[list[str], int], int]) -> list[Token]:
        """Return the tokens with mistyped phrases as they should be; `longest` tells the tokens of a known phrase."""
        words = [token.norm for token in tokens]
        found: list[Token] = []
        at = 0
        while at < len(tokens):
            if tokens[at].is_quoted or words[at] < "\u3040":
                found.append(tokens[at])
                at += 1
                continue
            size = longest(words, at)
            run = _run(tokens, at)
            better = self._near(words[at : at + run]) if size < run else ""
            length = run
            if not better and size < 2:
                better, length = self._alike(tokens, at, longest)
            if better:
                found += _spelled(tokens[at : at + length], better)
                at += length
            else:
                found += tokens[at : at + max(size, 1)]
                at += max(size, 1)
        return found

    def _alike(self, tokens: list[Token], at: int, longest: Callable[[list[str], int], int]) -> tuple[str, int]:
        """Return the longest phrase that sounds like the next tokens, and how many these are."""
        typed = [token.norm for token in tokens]
        end = at + 1
        while end < len(tokens) and end < at + _LONGEST and not tokens[end - 1].tail and tokens[end].norm >= "\u3040":
            end += 1
        for last in range(end, at + 1, -1):
            words = [token.norm for token in tokens[at:last]]
            phrase = self._heard.get(self._key(words), ())
            is_cut = last < len(tokens) and _is_katakana(tokens[last].norm) and _is_katakana(words[-1])
            if phrase and not is_cut and self._is_slip(words, phrase):
                others = [at + place for place, char in enumerate(words) if char != phrase[place]]
                if all(longest(typed, place) < 2 for place in others):  # 访 in 开访客 belongs to 访客
                    return "".join(phrase), last - at
        return "", 0

    def _is_slip(self, words: list[str], phrase: tuple[str, ...]) -> bool:
        """Tell whether words that sound like a phrase may be meant to be it."""
        others = [word for word, wanted in zip(words, phrase, strict=True) if word != wanted]
        if len(phrase) >= _SPOKEN and all(map(_is_kana, words)):
            return bool(others)
        is_kana = any(map(_is_kana, others))
        return 0 < len(others) < len(phrase) and not is_kana and not any(map(self._means, others))

    def _near(self, words: list[str]) -> str:
        """Return the word in katakana that these letters should be, "" when there is none."""
        word = "".join("ー" if letter in _LONG_MARKS else letter for letter in words)
        limit = 0 if len(word) < _RUN else 1 if len(word) < _LONG_RUN else 2
        near = [
            (distance(word, one), one) for one in self._kana.get(word[:1], ()) if abs(len(one) - len(word)) <= limit
        ]
        gap, best = min(near, default=(9, ""))
        return best if gap <= limit else ""


def _is_katakana(char: str) -> bool:
    return _KATAKANA[0] <= char <= _KATAKANA[1]


def _is_kana(char: str) -> bool:
    return _HIRAGANA[0] <= char <= _KATAKANA[1]


def _katakana(char: str) -> str:
    return chr(ord(char) + _SHIFT) if _HIRAGANA[0] <= char <= _HIRAGANA[1] else char


def _run(tokens: list[Token], at: int) -> int:
    """Return how many tokens from a place on are one word in katakana."""
    end = at
    while end < len(tokens) and not tokens[end].is_quoted:
        norm = tokens[end].norm
        is_mark = end > at and norm in _LONG_MARKS and end + 1 < len(tokens) and _is_katakana(tokens[end + 1].norm)
        if not (_is_katakana(norm) or is_mark):
            break
        end += 1
        if tokens[end - 1].tail:
            break
    return end - at


def _spelled(tokens: list[Token], phrase: str) -> list[Token]:
    """Return the letters of a phrase as tokens at the places of those that were typed."""
    made = []
    for number, char in enumerate(phrase):
        place = tokens[number * len(tokens) // len(phrase)]
        made.append(Token(char, place.raw_start, place.start, place.end, "", False))
    made[0].slip = 1
    made[-1].end, made[-1].tail = tokens[-1].end, tokens[-1].tail
    return made
