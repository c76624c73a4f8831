"""An owner's sentence as tokens, and the words of a language as concepts that have the same names in every language.

    "words":  {"wifi": ["wifi", "wireless", "w lan"], "change": ["chang*", …], …}     concept -> words and phrases
    "values": {"band": {"both": ["both bands"]}, "provider": {…}}                     type -> value -> phrases
    "fillers": ["please", "the", …]                                                  what may always be left out

A token keeps its place in the sentence, so that a slot gets the characters the owner typed. Text in quotes is one token
that is never a keyword. Chinese, Japanese and Korean characters are one token each.

A word that ends with * stands for all words that begin so. The longest phrase wins; a phrase may belong to several
concepts. A word that is in no list may be mistyped, or several words written together (`wlanpasswort`). Sounds corrects
Japanese and Chinese words: other characters of the same sound, a letter too many or too few.
"""

from __future__ import annotations

import re

from oasis.core import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.parts.offline.shapes import Callable, Iterable, Language

    Entry = tuple[tuple[str, ...], str, str]  # words, type ("" for a concept), concept or value


SENTENCE_CHARS = 600  # a request is one or two sentences; more is prose for a language model
SENTENCE_TOKENS = 80

# Japanese, Chinese, Korean, half-width Japanese. Not a regular expression's class: compiling one of that size takes
# longer than understanding a sentence.
# The wave dash is one too: it stands between two numbers.
_WIDE = (("\u301c", "\u301c"), ("\u3040", "\u30ff"), ("\u3400", "\u9fff"), ("\uac00", "\ud7af"), ("\uff66", "\uff9f"))
_QUOTES = (
    ("“", "”"),
    ("„", "“"),
    ("„", "”"),
    ("«", "»"),
    ("‘", "’"),
    ('"', '"'),
    ("`", "`"),
    ("「", "」"),
    ("『", "』"),
)
# What stands for a secret (redaction/placeholders.py) is a value with its marks; without them it is a text of its own.
SECRET = re.compile("«secret:[0-9a-f]+»")
_LEADING = "([{<¿¡"
_TRAILING = ".,;:!?)]}>…。、！？，；："


class Token:
    """One word: `norm` to compare, `start` to `end` without the punctuation around it, `tail` the punctuation after.

    `slip` is 1 at the start of a phrase that was mistyped.
    """

    __slots__ = ("end", "is_quoted", "norm", "raw_start", "slip", "start", "tail")

    def __init__(
        self, norm: str, raw_start: int, start: int, end: int, tail: str = "", *, is_quoted: bool = False, slip: int = 0
    ) -> None:
        self.norm = norm
        self.raw_start = raw_start
        self.start = start
        self.end = end
        self.tail = tail
        self.is_quoted = is_quoted
        self.slip = slip

    def append_tail(self, punctuation: str) -> None:
        self.tail += punctuation


def tokenize(text: str, fold: dict[str, str]) -> list[Token]:
    """Return the tokens of `text`; `fold` spells letters of the language another way, for example ä as ae."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        quoted = _quoted(text, at)
        if quoted:
            at = quoted.end + (quoted.start - quoted.raw_start)  # behind the closing mark, when marks are left out
            tail = re.match("[" + re.escape(_TRAILING) + "]*", text[at:])
            quoted.append_tail(tail.group() if tail else "")
            at += len(quoted.tail)
            found.append(quoted)
            continue
        end = at + 1
        if not text[at].isspace():
            while not _is_wide(text[at]) and end < len(text) and not text[end].isspace() and not _is_wide(text[end]):
                end += 1
            _word(found, text[at:end], at, fold)
        at = end
    return found


def _is_wide(char: str) -> bool:
    return char >= _WIDE[0][0] and any(first <= char <= last for first, last in _WIDE)


def narrow(text: str) -> str:
    """Return a text as core/clean.py narrows it; what stands in quotes stays as it is."""
    return clean.narrow(text, _quote_end)


def _quote_end(text: str, at: int) -> int:
    quoted = _quoted(text, at)
    return quoted.end + (quoted.start - quoted.raw_start) if quoted else 0


def spaced(text: str) -> str:
    """Return a text with blanks around each wide character."""
    if max(text, default="") < _WIDE[0][0]:
        return text
    return "".join(f" {char} " if _is_wide(char) else char for char in text)


def normal(word: str, fold: dict[str, str]) -> str:
    """Return a word as keywords are compared: without case, with plain apostrophes, folded."""
    word = word.replace("’", "'").casefold()
    if word.isascii():
        return word
    for letters, spelled in fold.items():
        if len(letters) == 1:
            break  # these stand behind the longer ones, and there may be a thousand: they go in one pass
        word = word.replace(letters, spelled)
    return "".join([fold.get(letter, letter) for letter in word])


def _quoted(text: str, at: int) -> Token | None:
    if at and not text[at - 1].isspace() and text[at - 1] not in _LEADING + ":=" and ord(text[at - 1]) < 0x3000:
        return None
    secret = SECRET.match(text, at)
    if secret:
        return Token("", at, at, secret.end(), is_quoted=True)
    pairs = [*_QUOTES, ("'", "'")]
    for opening, closing in pairs:
        if not text.startswith(opening, at):
            continue
        end = _closing(text, at + 1, closing)
        if end > at + 1:
            return Token("", at, at + 1, end, is_quoted=True)
    return None


def _closing(text: str, at: int, mark: str) -> int:
    # A closing mark is followed by a blank, punctuation or the end: it's stays one word.
    for end in range(at, len(text)):
        if text[end] == mark and (end + 1 == len(text) or not text[end + 1].isalnum() or ord(text[end + 1]) >= 0x3000):
            return end
    return -1


def _word(found: list[Token], chunk: str, at: int, fold: dict[str, str]) -> None:
    bare = chunk.lstrip(_TRAILING)
    if found and bare and bare != chunk and found[-1].end == at:  # behind a wide character no blank follows: て、xbox
        found[-1].append_tail(chunk[: len(chunk) - len(bare)])
        chunk, at = bare, at + len(chunk) - len(bare)
    core = chunk.lstrip(_LEADING)
    start = at + len(chunk) - len(core)
    bare = core.rstrip(_TRAILING)
    if ":" in bare and core.startswith("::", len(bare)):
        bare += "::"  # the end of an IPv6 address
    if bare:
        found.append(Token(normal(bare, fold), at, start, start + len(bare), core[len(bare) :]))
    elif found:
        found[-1].append_tail(chunk)  # punctuation that stands alone belongs to the word before


def is_near(word: str, keyword: str) -> bool:
    """Tell whether `word` is `keyword` mistyped: same first letter, one slip, two in long words, none in short ones."""
    gap = len(word) - len(keyword)
    if not word or not -2 <= gap <= 2 or word[0] not in keyword[:2]:
        return False  # nearly all pairs of words end here
    limit = 0 if len(keyword) < 4 else 1 if len(keyword) < 8 else 2
    if abs(gap) > limit or word[:1] != keyword[:1] or any(char.isdigit() for char in word + keyword):
        return _is_swapped(word, keyword)
    return distance(word, keyword) <= limit or _is_swapped(word, keyword)


def _is_swapped(word: str, keyword: str) -> bool:
    if len(word) != len(keyword) or len(word) < 3 or sorted(word) != sorted(keyword):
        return False
    return (
        sum(1 for left, right in zip(word, keyword, strict=True) if left != right) == 2 and distance(word, keyword) == 1
    )


def distance(left: str, right: str) -> int:
    """Return how many letters were dropped, added, replaced or swapped with their neighbour."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i in range(1, len(left) + 1):
        current = [i]
        for j in range(1, len(right) + 1):
            same = left[i - 1] == right[j - 1]
            best = min(row[j] + 1, current[j - 1] + 1, row[j - 1] + (not same))
            if i > 1 and j > 1 and left[i - 1] == right[j - 2] and left[i - 2] == right[j - 1]:
                best = min(best, before[j - 2] + 1)
            current.append(best)
        before, row = row, current
    return row[-1]


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

    def add(self, *concepts: str) -> None:
        """Give the segment more concepts."""
        self.concepts = self.concepts | set(concepts)

    def drop(self, concepts: set[str]) -> None:
        """Take concepts away."""
        self.concepts = self.concepts - concepts


class Lexicon:
    """The words and values of one language file."""

    def __init__(self, language: Language, fold: dict[str, str], services: dict[str, list[str]] | None = None) -> None:
        self._fold = fold
        self._has_compounds = language.get("compounds", False)
        self._exact: dict[str, list[Entry]] = {}
        self._light: set[str] = set()
        self._begun: dict[str, list[Entry]] = {}  # first letter -> phrases that begin with a word with *
        self._near: dict[str, list[str]] = {}
        self.vocabulary: set[str] = set()
        self._stems: dict[str, list[str]] = {}
        self._ordinary = {phrase for phrase in language.get("ordinary", ()) if " " not in phrase}
        self._parts: set[str] = set()
        self._corrected: dict[str, str] = {}
        self._real = {normal(word, fold) for word in language.get("real_words", ())}
        own = {FILLER: language.get("fillers", []), ORDINARY: language.get("ordinary", [])}
        for kind, values in {"": {**language.get("words", {}), **own}, **language.get("values", {})}.items():
            for value, phrases in values.items():
                for phrase in phrases:
                    self._add(phrase, kind, value)
        for place in language.get("places", {}):
            if spaced(place) != place:  # several tokens, which only the lexicon can hold together
                self._add(place, "place", place)
        for service, names in (services or {}).items():
            for name in names:
                self._add(name, "service", service)
        self._sort()
        groups = language.get("sounds", [])
        spelled = (entry[0] for entries in self._exact.values() for entry in entries)
        self._sounds = Sounds(groups, spelled, self._means) if groups else None

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
        is_last = number == len(found) - 1
        raw_start = start if number else token.raw_start
        tokens.append(Token(piece, raw_start, start, token.end if is_last else end, token.tail if is_last else ""))
    return tokens


_HIRAGANA, _KATAKANA = ("\u3041", "\u3096"), ("\u30a1", "\u30fc")
_SHIFT = 0x60  # from the one to the other
_LONGEST, _SPOKEN = 8, 3  # characters of a phrase; of one that only its sound shows
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
            # How many tokens from here on are one word in katakana.
            end = at
            while end < len(tokens) and not tokens[end].is_quoted:
                norm = tokens[end].norm
                is_mark = (
                    end > at and norm in _LONG_MARKS and end + 1 < len(tokens) and _is_katakana(tokens[end + 1].norm)
                )
                if not (_is_katakana(norm) or is_mark):
                    break
                end += 1
                if tokens[end - 1].tail:
                    break
            run = end - at
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
        others = [word for word, wanted in zip(words, phrase, strict=True) if word != wanted]
        if len(phrase) >= _SPOKEN and all(map(_is_kana, words)):
            return bool(others)
        is_kana = any(map(_is_kana, others))
        return 0 < len(others) < len(phrase) and not is_kana and not any(map(self._means, others))

    def _near(self, words: list[str]) -> str:
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


def _spelled(tokens: list[Token], phrase: str) -> list[Token]:
    """Return the letters of a phrase as tokens at the places of those that were typed."""
    made = []
    for number, char in enumerate(phrase):
        place = tokens[number * len(tokens) // len(phrase)]
        last = tokens[-1] if number == len(phrase) - 1 else None
        end, tail = (last.end, last.tail) if last else (place.end, "")
        made.append(Token(char, place.raw_start, place.start, end, tail, slip=0 if number else 1))
    return made
