"""An owner's sentence as tokens, and the words of a language as concepts that have the same names in every language.

    "words":  {"wifi": ["wifi", "wireless", "w lan"], "change": ["chang*", …], …}     concept -> words and phrases
    "values": {"band": {"both": ["both bands"]}, "provider": {…}}                     type -> value -> phrases
    "fillers": ["please", "the", …]                                                  what may always be left out

A token keeps its place in the sentence, so that a slot gets the characters the owner typed. Text in quotes is one token
that is never a keyword. Chinese, Japanese and Korean characters are one token each.

A word that ends with * stands for all words that begin so. The longest phrase wins; a phrase may belong to several
concepts. A word that is in no list may be mistyped, or several words written together (`wlanpasswort`). Sounds corrects
Japanese and Chinese words: other characters of the same sound, a letter too many or too few.

Scanner and Naming find the segments of a sentence; a Clause is some of them, which frames are matched against.

A segment is a phrase of the lexicon, a value with its type, or the name of a device of this router. Types found here in
addition to those of the language file: quoted, ip, cidr, ip6, mac, domain, number, range, clock, hours (a range of
clocks), duration, band, width, speed, power, socket (lan3), device. Units are concepts: u_ghz, u_mhz, u_dbm, u_kbit,
u_mbit, u_gbit, u_minute, u_hour, u_day, u_week, u_clock, u_am, u_pm, u_night (past midnight or before it: 夜), u_half
(half past), u_halfto (halb zehn).

Naming finds the new name in a sentence such as `call the xbox Gaming Box from now on` or `nasを家族のサーバーと呼んで`.
A name without quotes may be of any words, so its place follows from the construction around it: forms in
intents/naming.json, regular expressions over the sentence with a letter in the place of what is named (OF). Such a name
becomes one segment, as if it were in quotes.

    "edges"   what surrounds a name without being part of it: please, from now on
    "bounds"  what comes behind a name: with the password
    "none"    what is not a name though it is in its place: something else; "small" and "lead": how a lower case text
              that is not a name begins, and what is left out at its beginning
    "forms"   {o} what gets the name, {a} the same with nothing but articles before it, {d} a device, {x} some words,
              {e} edges, {n} the name; a form that begins with a bound counts only behind another name
"""

from __future__ import annotations

import re

from oasis.catalogue.entries import distance
from oasis.core import addresses, clean
from oasis.parts.offline.expressions import may_fit
from oasis.parts.offline.tables import BASE, FIRST, Texts
from oasis.system.late import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from oasis.parts.offline.shapes import Collection, Device, IsValue, LexiconTables, NamingTables

    _Expressions = Literal["edges", "bounds", "articles", "none", "small"]
    Place = tuple[int, int, int, int]  # characters of the written form, tokens of the sentence


SENTENCE_CHARS = 600  # a request is one or two sentences; more is prose for a language model
SENTENCE_TOKENS = 80

# Japanese, Chinese, Korean, half-width Japanese. Not a regular expression's class: compiling one of that size takes
# longer than understanding a sentence.
# The wave dash is one too: it stands between two numbers.
_CJK = (("\u301c", "\u301c"), ("\u3040", "\u30ff"), ("\u3400", "\u9fff"), ("\uac00", "\ud7af"), ("\uff66", "\uff9f"))
_QUOTES = ("“”", "„“", "„”", "«»", "‘’", '""', "``", "「」", "『』", "''")
# A public key of SSH, with the comment that people copy along (RFC 4253, 6.6): one value of several words.
_SSH_KEY = late(r"(?:ssh-(?:ed25519|rsa)|ecdsa-sha2-nistp\d{3}|sk-\S+@openssh\.com) [\w+/]{40,}=*(?: \S+@[\w.-]*\w)?")
_KEY = "ssh key"  # how such a token is written to be compared: no typed word has a blank
# What stands for a secret (redaction/placeholders.py) is a value with its marks; without them it is a text of its own.
SECRET = late("«secret:[0-9a-f]+»")
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

    def follow(self, marks: str) -> None:
        """Add punctuation that stands behind the word."""
        self.tail += marks


def tokenize(text: str, fold: dict[str, str]) -> list[Token]:
    """Return the tokens of `text`; `fold` spells letters of the language another way, for example ä as ae."""
    found: list[Token] = []
    end = 0
    for at in range(len(text)):
        if at < end or text[at].isspace():
            continue
        quoted = _quoted(text, at)
        if quoted:
            start, last, end = quoted
            tail = text[end : len(text) - len(text[end:].lstrip(_TRAILING))]
            found.append(Token("", at, start, last, tail, is_quoted=True))
            end += len(tail)
            continue
        key = _SSH_KEY.match(text, at) if text[at] in "es" else None
        if key:
            end = key.end()
            found.append(Token(_KEY, at, at, end))
            continue
        end = at + 1
        while not _is_wide(text[at]) and end < len(text) and not text[end].isspace() and not _is_wide(text[end]):
            end += 1
        begin, chunk = at, text[at:end]
        bare = chunk.lstrip(_TRAILING)
        if found and bare and bare != chunk and found[-1].end == at:  # no blank follows a wide character: て、xbox
            found[-1].follow(chunk[: len(chunk) - len(bare)])
            begin, chunk = at + len(chunk) - len(bare), bare
        core = chunk.lstrip(_LEADING)
        start = begin + len(chunk) - len(core)
        bare = core.rstrip(_TRAILING)
        if ":" in bare and core.startswith("::", len(bare)):
            bare += "::"  # the end of an IPv6 address
        if bare:
            found.append(Token(normal(bare, fold), begin, start, start + len(bare), core[len(bare) :]))
        elif found:
            found[-1].follow(chunk)  # punctuation that stands alone belongs to the word before
    return found


def _is_wide(char: str) -> bool:
    return char >= _CJK[0][0] and any(first <= char <= last for first, last in _CJK)


def narrow(text: str) -> str:
    """Return a text as core/clean.py narrows it; what stands in quotes stays as it is."""
    return clean.narrow(text, lambda text, at: (_quoted(text, at) or (0,))[-1])


def spaced(text: str) -> str:
    """Return a text with blanks around each wide character."""
    if text.isascii() or max(text) < _CJK[0][0]:
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


def _quoted(text: str, at: int) -> tuple[int, int, int] | None:
    """Return where the text in quotes that begins at a place starts and ends, and the place behind its mark."""
    if at and not text[at - 1].isspace() and text[at - 1] not in _LEADING + ":=" and ord(text[at - 1]) < 0x3000:
        return None
    secret = SECRET.match(text, at)
    if secret:
        return at, secret.end(), secret.end()
    for marks in _QUOTES:
        # A closing mark is followed by a blank, punctuation or the end: it's stays one word.
        end = text.find(marks[1], at + 1) if text[at] == marks[0] else -1
        while end >= 0 and text[end + 1 : end + 2].isalnum() and ord(text[end + 1]) < 0x3000:
            end = text.find(marks[1], end + 1)
        if end > at + 1:
            return at + 1, end, end + 1
    return None


def is_near(word: str, keyword: str) -> bool:
    """Tell whether `word` is `keyword` mistyped: same first letter, one slip, two in long words, none in short ones."""
    gap = len(word) - len(keyword)
    if not word or not -2 <= gap <= 2 or word[0] not in keyword[:2]:
        return False  # nearly all pairs of words end here
    limit = 0 if len(keyword) < 4 else 1 if len(keyword) < 8 else 2
    has_digits = any(char.isdigit() for char in word + keyword)
    if abs(gap) <= limit and word[0] == keyword[0] and not has_digits and distance(word, keyword) <= limit:
        return True
    # Two neighbours may be swapped.
    if gap or len(word) < 3 or sorted(word) != sorted(keyword):
        return False
    return sum(left != right for left, right in zip(word, keyword, strict=True)) == 2 and distance(word, keyword) == 1


FILLER = "~"
ORDINARY = "ordinary"  # words that mean nothing here, and are no names either
_PART = 3  # letters of the shortest word that is looked for in a long one
_PACKAGES = ("luci-", "kmod-", "lib", "python3-")  # such names are one word each
_LINKS = ("", "s", "n", "en", "es")  # what stands between the words of a compound
_MEASURE = late(r"(\d+(?:[.,]\d+)?)([^\W\d_]+)\Z")
_PIECES = late(r"[/+&]|(?<!\d)-|-(?!\d)")  # a range of numbers stays one word
_LETTER = late(r"[^\W\d]")
_PORT = late(r"(tcp|udp|ports?|vlan)(\d+)\Z")
_SOCKET = late(r"lan(\d)\Z")
_SPAN = late(r"(\d+(?:\.\d+){3})[-–~](\d+(?:\.\d+){3})\Z")
_RATES = late(r"(\d{1,4})/(\d{1,4})\Z")  # 100/20 mbit
_INNER = late(r"([a-z][a-z0-9-]*):(\d{2,5})\Z")  # nas:443
_LABELLED = late(r"([^\W\d_]+):(\d+(?:\.\d+){3}(?:/\d+)?|[^\W\d_]+)\Z")  # wan:input
_WORD = late(r"[^\W\d_]+(?:'[^\W\d_]+)?\Z")
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
        return bool(self.concepts - {"room"} or self.values)  # a place in the house is a usual name, too


class Lexicon:
    """The words and values of one language file.

    `tables` are those of derive.py: a phrase is kept with its first word, as a line
    `the other words, each with a blank behind it`, a tab and the number of what the phrase means, in two figures to the
    base BASE, from the character FIRST on. A meaning is a concept, or `type=value`.
    """

    def __init__(self, tables: LexiconTables, fold: dict[str, str]) -> None:
        self._fold = fold
        self._has_compounds = tables["has_compounds"]
        self._phrases = Texts(tables["phrases"])  # a word that begins none has no lines
        self._open = tables["open"]  # phrases with a *: by the first word, or its first letter and *
        self._stems = tables["stems"]
        self._corrected: dict[str, str] = {}
        self._real = set(tables["real"])
        self._light = set(tables["light"])  # fillers that are in no phrase with a meaning
        self._near: dict[str, list[str]] = {}  # by the first letter the words that may be meant by a mistyped one
        self._meanings = tables["meanings"]
        self._sounds = Sounds(tables["sounds"], self, self._phrases) if tables["sounds"] else None

    def _like(self, first: str) -> list[str]:
        """Return the words with a first letter that may be meant by a mistyped one."""
        if first not in self._near:
            near = {word for word in self._phrases.names(first) if len(word) >= _FUZZY and _WORD.match(word)}
            near |= {stem for stem in self._stems.get(first, ()) if len(stem) > _FUZZY}
            self._near[first] = sorted(near)
        return self._near[first]

    def _said(self, lines: str, key: str) -> list[str]:
        """Return what the lines of a word say of one phrase."""
        found = _behind(lines, key)
        return [self._meanings[(ord(one[0]) - FIRST) * BASE + ord(one[1]) - FIRST] for one in found]

    def _alone(self, word: str) -> list[str]:
        """Return what a word means that is a phrase by itself."""
        return self._said(self._phrases.get(word) or "", "\n")

    def means(self, word: str) -> bool:
        """Tell whether a word alone means something."""
        return any(meaning != FILLER for meaning in self._alone(word))

    def is_own(self, word: str) -> bool:
        """Tell whether a word alone is one of the router's own, or a small one, and so no name of a device."""
        _, concepts, values = self.longest([word], 0)
        return "provider" not in values and bool(concepts - _NAMES_TOO or values.keys() - _VALUES_TOO)

    def knows(self, word: str) -> bool:
        """Tell whether a word is in any phrase."""
        return self._phrases.get(word) is not None or self._has_stem(word)

    def _has_stem(self, word: str) -> bool:
        return any(word.startswith(stem) for stem in self._stems.get(word[:1], ()))

    def tokens(self, sentence: str) -> list[Token]:
        """Return the tokens of a sentence, those split that are several words, a number and its unit among them."""
        tokens = tokenize(sentence, self._fold)
        words = [token.norm for token in tokens]
        found: list[Token] = []
        for at, token in enumerate(tokens):
            is_one = token.is_quoted or self.knows(token.norm)
            if not is_one and at == len(tokens) - 1 > 1 and "-" in token.norm and token.norm[0].isalpha():
                is_one = any(self.longest(words, one)[1] & _NAMING for one in range(at))  # the last word is a name
            pieces = [] if is_one else self._pieces(token.norm)
            found += _split(token, pieces) if len(pieces) > 1 else [token]
        return self._sounds.mended(found) if self._sounds else found

    def _pieces(self, norm: str) -> list[str]:
        """Return the words that a word is written together of, with what stands between them; [] when it is one."""
        if any(map(str.isdecimal, norm)):
            several = _SPAN.match(norm) or _RATES.match(norm) or _INNER.match(norm)
            port, number = _PORT.match(norm), _MEASURE.match(norm)
            if not several and port and self.knows(port[1]):
                several = port
            if not several and number and self.knows(number[2]):
                several = number
            if several:
                return list(several.groups())
        label = _LABELLED.match(norm) if ":" in norm else None
        if label and self.knows(label[1]) and (self.knows(label[2]) or label[2][0].isdigit()):
            return list(label.groups())
        if norm.startswith(_PACKAGES) or not _LETTER.search(norm):
            return []
        parts = _PIECES.split(norm) if any(mark in norm for mark in "-/+&") else [norm]
        if len(parts) > 1 and all(parts):
            inner = [[part] if self.knows(part) else self._pieces(part) or [part] for part in parts]
            words = [word for one in inner for word in one]
            return words if all(self.knows(one) or re.match(r"\d+(?:[.,-]\d+)?\Z", one) for one in words) else []
        if not self._has_compounds or len(norm) < 2 * _PART or not _WORD.match(norm) or len(norm) > 60:
            return []
        return self._compound(norm)

    def _compound(self, norm: str) -> list[str]:
        for at in range(len(norm) - _PART, _PART - 1, -1):
            head, rest = norm[:at], norm[at:]
            if self._phrases.get(head) is None or ORDINARY in self._alone(head):
                continue  # what means nothing here makes no compound: restrat is no Rest-Rat
            for link in _LINKS:
                tail = rest[len(link) :]
                if not rest.startswith(link) or len(tail) < _PART:
                    continue
                if any(one not in (FILLER, ORDINARY) for one in self._alone(tail)) or self._has_stem(tail):
                    return [head, tail]
                deeper = self._compound(tail) if len(tail) >= 2 * _PART else []
                if deeper:
                    return [head, *deeper]
        return []

    def norms(self, tokens: list[Token]) -> tuple[list[str], list[int]]:
        """Return the words to look up, mistyped ones as they should be, and for each whether it was mended."""
        words, slips = [], []
        for token in tokens:
            norm = token.norm
            mended = norm
            if not token.is_quoted and not self.knows(norm):
                if norm not in self._corrected:
                    self._corrected[norm] = self._nearest(norm)
                mended = self._corrected[norm]
            words.append(mended)
            slips.append(token.slip or int(mended != norm and not norm.startswith(mended + "'")))
        return words, slips

    def _nearest(self, norm: str) -> str:
        bare = norm.partition("'")[0]
        if bare != norm and self.knows(bare):
            return bare
        if len(norm) < _FUZZY - 1 or len(norm) > 30 or not _WORD.match(norm) or norm in self._real:
            return norm
        best, least = norm, (3, 0)
        for first in dict.fromkeys(norm[:2]):
            for word in self._like(first):
                if not -2 <= len(word) - len(norm) <= 2 or not is_near(norm, word):
                    continue
                is_missing = len(word) == len(norm) + 1 and len(word) > 4
                gap = (distance(norm, word), abs(len(norm) - len(word)))
                # It is a filler only when letters are swapped or one is missing.
                if gap < least and (word not in self._light or is_missing or sorted(norm) == sorted(word)):
                    best, least = word, gap
        return best

    def longest(self, words: list[str], at: int) -> tuple[int, set[str], dict[str, str]]:
        """Return the length, concepts and values of the longest phrase from a word on; length 0 when there is none."""
        word = words[at]
        length, found = 0, list[str]()
        lines, key = self._phrases.get(word) or "", "\n"
        for size in range(1, len(words) - at + 1):
            meanings = self._said(lines, key)
            if meanings:
                length, found = size, meanings
            key += " ".join(words[at + size : at + size + 1]) + " "
            if key not in lines:
                break
        for phrase, meaning in (*self._open.get(word, ()), *self._open.get(word[:1] + "*", ())):
            size = len(phrase)
            if size >= length and _covers(phrase, words, at):
                found = [*found, meaning] if size == length else [meaning]
                length = size
        concepts: set[str] = set()
        values: dict[str, str] = {}
        for kind, is_value, value in [meaning.partition("=") for meaning in found]:
            if is_value:
                values.setdefault(kind, value)
            else:
                concepts.add(kind)
        return length, concepts, values


def _behind(lines: str, key: str) -> list[str]:
    """Return what stands behind the tab in the lines that begin with `key`."""
    found: list[str] = []
    key += "\t"
    at = lines.find(key)
    while at >= 0:
        start, at = at + len(key), lines.index("\n", at + len(key))
        found.append(lines[start:at])
        at = lines.find(key, at)
    return found


def _covers(phrase: list[str], words: list[str], at: int) -> bool:
    if at + len(phrase) > len(words):
        return False
    for offset, wanted in enumerate(phrase):
        word = words[at + offset]
        if word != wanted and not (wanted.endswith("*") and word.startswith(wanted[:-1])):
            return False
    return True


def _split(token: Token, pieces: list[str]) -> list[Token]:
    """Return a token for each piece, at its place in the sentence; the pieces are in the token's order."""
    # A folded letter is two: places are counted in the folded word, so they are mapped back by its share of it.
    width, letters = token.end - token.start, len(token.norm)
    tokens: list[Token] = []
    at = 0
    for place, piece in enumerate(pieces):
        at = token.norm.index(piece, at)
        start, end = (token.start + round(edge * width / letters) for edge in (at, at + len(piece)))
        at += len(piece)
        is_last = place == len(pieces) - 1
        raw_start = start if place else token.raw_start
        tokens.append(Token(piece, raw_start, start, token.end if is_last else end, token.tail if is_last else ""))
    return tokens


_HIRAGANA, _KATAKANA = ("\u3041", "\u3096"), ("\u30a1", "\u30fc")
_SHIFT = 0x60  # from the one to the other
_LONGEST, _SPOKEN = 8, 3  # characters of a phrase; of one that only its sound shows
_RUN, _LONG_RUN = 4, 7  # letters of a word with one slip, with two
_LONG_MARKS = "一-－—"  # what people type for ー


class Sounds:
    """The phrases of a lexicon by how they sound."""

    def __init__(self, groups: list[str], lexicon: Lexicon, phrases: Texts) -> None:
        self._lexicon = lexicon
        self._phrases = phrases
        # How a character is written that stands for its sound: hiragana as katakana.
        self._like = {kana: chr(kana + _SHIFT) for kana in range(ord(_HIRAGANA[0]), ord(_HIRAGANA[1]) + 1)}
        heads = {ord(char): group[0] for group in groups for char in group}
        self._like.update({char: self._like.get(ord(head), head) for char, head in heads.items()})
        self._heard: dict[str, str] = {}  # first sound -> lines: the other sounds, a tab, the phrase

    def _of(self, first: str) -> list[str]:
        """Return the phrases that begin with a character and have no other than wide ones."""
        rests = [line.partition("\t")[0] for line in (self._phrases.get(first) or "").split("\n")]
        some = [first + rest[::2] for rest in rests if rest and rest == " ".join([*rest[::2], ""])]
        return [one for one in some if len(one) <= _LONGEST and min(one) >= "\u3040"]

    def _heard_of(self, sound: str) -> str:
        if sound not in self._heard:
            lines = "\n"
            for first in dict.fromkeys([sound, *(chr(char) for char, like in self._like.items() if like == sound)]):
                for phrase in self._of(first) if first.translate(self._like) == sound else ():
                    rest = phrase.translate(self._like)[1:]
                    lines += "" if f"\n{rest}\t" in lines else f"{rest}\t{phrase}\n"
            self._heard[sound] = lines
        return self._heard[sound]

    def mended(self, tokens: list[Token]) -> list[Token]:
        """Return the tokens with mistyped phrases as they should be."""
        words = [token.norm for token in tokens]
        found: list[Token] = []
        at = 0
        while at < len(tokens):
            better, size = "", 1
            if not tokens[at].is_quoted and words[at] >= "\u3040":
                known, run = self._lexicon.longest(words, at)[0], _run_of_katakana(tokens, at)
                better, size = self._near(words[at : at + run]) if known < run else "", run
                if not better and known < 2:
                    better, size = self._alike(tokens, words, at)
                size = size if better else max(known, 1)
            typed = tokens[at : at + size]
            found += [] if better else typed
            for place, char in enumerate(better):  # at the places of those that were typed
                one, is_last = typed[place * size // len(better)], place == len(better) - 1
                end, tail = (typed[-1].end, typed[-1].tail) if is_last else (one.end, "")
                found.append(Token(char, one.raw_start, one.start, end, tail, slip=0 if place else 1))
            at += size
        return found

    def _alike(self, tokens: list[Token], typed: list[str], at: int) -> tuple[str, int]:
        """Return the longest phrase that sounds like the next tokens, and how many these are."""
        end = at + 1
        while end < len(tokens) and end < at + _LONGEST and not tokens[end - 1].tail and typed[end] >= "\u3040":
            end += 1
        for last in range(end, at + 1, -1):
            words = typed[at:last]
            key = "".join(words).translate(self._like)
            phrase = "".join(_behind(self._heard_of(key[0]), "\n" + key[1:]))
            others = [place for place, char in enumerate(phrase) if char != words[place]]
            is_slip = bool(others)
            if len(phrase) < _SPOKEN or not all(map(_is_kana, words)):
                meant = [_is_kana(words[one]) or self._lexicon.means(words[one]) for one in others]
                is_slip = 0 < len(others) < len(phrase) and not any(meant)
            is_cut = last < len(tokens) and _is_katakana(typed[last]) and _is_katakana(words[-1])
            # 访 in 开访客 belongs to 访客.
            if is_slip and not is_cut and all(self._lexicon.longest(typed, at + one)[0] < 2 for one in others):
                return phrase, last - at
        return "", 0

    def _near(self, words: list[str]) -> str:
        word = "".join("ー" if letter in _LONG_MARKS else letter for letter in words)
        limit = 0 if len(word) < _RUN else 1 if len(word) < _LONG_RUN else 2
        known = [
            one
            for one in self._of(word[0])
            if abs(len(one) - len(word)) <= limit and len(one) >= _RUN and all(map(_is_katakana, one))
        ]
        gap, best = min([(distance(word, one), one) for one in known], default=(9, ""))
        return best if gap <= limit else ""


def _is_katakana(char: str) -> bool:
    return _KATAKANA[0] <= char <= _KATAKANA[1]


def _is_kana(char: str) -> bool:
    return _HIRAGANA[0] <= char <= _KATAKANA[1]


def _run_of_katakana(tokens: list[Token], at: int) -> int:
    """Return how many tokens from one on are one word in katakana."""
    end = at
    while end < len(tokens) and not tokens[end].is_quoted and not (end > at and tokens[end - 1].tail):
        norm = tokens[end].norm
        is_mark = end > at and norm in _LONG_MARKS and end + 1 < len(tokens) and _is_katakana(tokens[end + 1].norm)
        if not (_is_katakana(norm) or is_mark):
            break
        end += 1
    return end - at


VERBS = {
    "set", "make", "add", "remove", "rename", "give", "use", "on", "off", "block", "unblock", "allow", "restart",
    "reload", "start", "stop", "reboot", "open", "close", "forward", "install", "uninstall", "hide", "limit", "undo",
    "show", "scan", "diagnose", "ping", "traceroute", "search", "save", "update", "move", "reset", "isolate",
    "expose", "protect", "lookup", "forbid", "howmany", "ask", "who",
}  # fmt: skip
ASKED = "asked"  # a sign of the whole clause: it is a question
NAMED = "~"  # the value of a segment that counts as quoted, and has no marks


class Clause:
    """The tokens and segments of one clause; `signs` are concepts of the clause as a whole.

    `is_value(kind, text)` tells whether a text can be a value of a type on this router.
    """

    def __init__(
        self, sentence: str, tokens: list[Token], segments: list[Segment], signs: set[str], is_value: IsValue
    ) -> None:
        self.sentence = sentence
        self.tokens = tokens
        self.segments = segments
        self.signs = signs
        self.is_value = is_value
        self.concepts = signs.union(*[one.concepts for one in segments])

    def part(self, signs: set[str], start: int = 0, end: int | None = None) -> Clause:
        """Return some segments of the clause, with signs of their own."""
        return Clause(self.sentence, self.tokens, self.segments[start:end], signs, self.is_value)

    def without(self, signs: set[str], concepts: set[str]) -> Clause:
        """Return the clause with other signs, and without some concepts that its words have."""
        found = self.part(signs)
        found.concepts.difference_update(concepts)
        return found

    def norm(self, segment: Segment) -> str:
        """Return the words of a segment as they are compared."""
        return " ".join(token.norm for token in self.tokens[segment.start : segment.end])

    def text(self, first: int, last: int) -> str:
        """Return the characters from one segment to another as they were typed."""
        tokens = self.tokens[self.segments[first].start : self.segments[last].end]
        return self.sentence[tokens[0].start : tokens[-1].end]

    def tail(self, at: int) -> str:
        return self.tokens[self.segments[at].end - 1].tail

    def concepts_at(self, at: int) -> set[str]:
        """Return the concepts of a segment, none outside of the clause."""
        return self.segments[at].concepts if 0 <= at < len(self.segments) else set()

    def of(self, *concepts: str) -> list[int]:
        wanted = set(concepts)
        return [at for at, one in enumerate(self.segments) if one.concepts & wanted]

    def with_value(self, *kinds: str, but: Collection[int] = ()) -> list[int]:
        """Return the segments that have a value of any of these types."""
        return [at for at, one in enumerate(self.segments) if at not in but and not one.values.keys().isdisjoint(kinds)]

    def is_filler(self, at: int) -> bool:
        """Tell whether a segment means nothing of its own."""
        return self.segments[at].concepts == {FILLER} and not self.segments[at].values

    def weight(self) -> int:
        """Return how many segments mean something."""
        return sum(not self.is_filler(at) for at in range(len(self.segments)))

    def before(self, at: int, *through: str) -> int:
        """Return the segment before one, past fillers and the concepts `through`; -1 when there is none."""
        at -= 1
        while at >= 0 and (self.is_filler(at) or self.segments[at].concepts & set(through)):
            at -= 1
        return at

    def after(self, at: int) -> int:
        """Return the segment after one, past fillers; the count of them when there is none."""
        at += 1
        while at < len(self.segments) and self.is_filler(at):
            at += 1
        return at


_NUMBER = late(r"\d{1,9}(?:[.,]\d{1,3})?\Z")
_RANGE = late(r"(\d{1,5})[-–:~](\d{1,5})\Z")
_CLOCK = late(r"([01]?\d|2[0-4])[:h.]([0-5]\d)(?::00)?(?:hs?|hrs)?\Z")
_HOURS = late(r"([01]?\d|2[0-4])(?::([0-5]\d))?[-–~]([01]?\d|2[0-4])(?::([0-5]\d))?\Z")
_MAC = late(r"(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\Z|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}\Z")
_DOMAIN = late(r"(?:https?://)?((?:[a-z0-9_](?:[a-z0-9_-]{0,62})\.)+[a-z]{2,24})(?:/\S*)?\Z")
_LIKE_ADDRESS = late(r"\d+(?:\.\d+){3}(?:/\d+)?\Z")
_BANDS = {"2.4": "2g", "2,4": "2g", "2": "2g", "5": "5g", "5.0": "5g", "6": "6g"}
_SPEEDS = {"u_kbit": 1, "u_mbit": 1000, "u_gbit": 1000_000}
_MINUTES = {"u_minute": 1, "u_hour": 60, "u_day": 1440, "u_week": 10080}
_HALVES = {"u_am", "u_pm", "u_night"}
_PARTS_OF_HOURS = {"u_halfto", "u_half", "u_quarter", "u_quarterto", "u_at"}
_NAME_PARTS = late(r"[^\W_]+")
# What a word may mean and yet name a device; a word that means anything else never does alone.
_NAMES_TOO = {"thing", "person", "software", ORDINARY}
_VALUES_TOO = {"device", "place", "country", "provider"}
NAME_TOKENS = 4  # of a device's name as people say it


class Names:
    """The names of the devices this router knows, in parts."""

    def __init__(self, devices: list[Device]) -> None:
        self.parts = [[part.casefold() for part in _NAME_PARTS.findall(one["name"])] for one in devices if one["name"]]
        self._every = {part for parts in self.parts for part in parts}

    def part(self, norm: str, is_known: bool) -> str:
        """Return the part of a name that a word is, mistyped or not; "" when it is none."""
        bare = re.sub(r"'s?\Z", "", norm)
        for word in (bare, bare + "s", bare[:-1] if bare.endswith("s") and len(bare) > 3 else bare):
            if word in self._every:
                return word
        if is_known or len(bare) < 5 or not bare.isalpha():
            return ""
        near = [part for part in self._every if len(part) >= 4 and part.isalpha() and is_near(bare, part)]
        return min(near, default="")

    def is_whole(self, words: list[str]) -> bool:
        """Tell whether words are the whole name of a device."""
        return words in self.parts

    def is_name(self, words: list[str]) -> bool:
        """Tell whether all words are parts of one device's name, each once."""
        if len(set(words)) != len(words):
            return False
        # An owner's name has an s in some languages only: iphone de Anna is annas-iphone.
        return any(all(word in parts or word + "s" in parts for word in words) for parts in self.parts)


class Scanner:
    """Find the segments of one list of tokens; `words` are these as they are looked up, mistyped ones mended."""

    def __init__(self, lexicon: Lexicon, names: Names, tokens: list[Token]) -> None:
        self._lexicon = lexicon
        self._names = names
        self._tokens = tokens
        self.words, self._slips = lexicon.norms(tokens)
        # A comma ends a phrase of wide characters: 不，用 is not 不用.
        self._bounds = [at + 1 for at, token in enumerate(tokens) if token.tail and token.norm >= "\u3040"]

    def segments(self) -> list[Segment]:
        """Return the segments, in order; every token is in one. Parts of one name (`tv in the living room`) are one."""
        found: list[Segment] = []
        at = 0
        while at < len(self._tokens):
            segment = self._segment(at)
            at = segment.end
            if "device" in segment.values and "mac" not in segment.values:
                for place in range(len(found) - 1, max(len(found) - 4, -1), -1):
                    if "device" in found[place].values:
                        words = found[place].values["device"].split() + segment.values["device"].split()
                        if self._names.is_name(words):
                            segment = Segment(found[place].start, segment.end, set(), {"device": " ".join(words)})
                            del found[place:]
                        break
                    if found[place].concepts != {FILLER}:
                        break
            found.append(segment)
        return found

    def _longest(self, at: int) -> tuple[int, set[str], dict[str, str]]:
        bound = next((one for one in self._bounds if one > at), 0)
        return self._lexicon.longest(self.words[:bound] if bound else self.words, at)

    def _segment(self, at: int) -> Segment:
        if self._tokens[at].is_quoted:
            return Segment(at, at + 1, set(), {"quoted": "1"})
        form = _form(self._tokens[at].norm)
        typed = self._clock(at) or self._measure(at) or (Segment(at, at + 1, set(), form) if form else None)
        length, concepts, values = self._longest(at)
        if typed and typed.end - at >= length:
            if typed.end - at == length and FILLER not in concepts:
                return Segment(at, typed.end, concepts, typed.values)
            return typed
        name = self._device(at)
        if name and name.end - at > length:
            return name
        if not length:
            return Segment(at, at + 1, set(), {})
        if name and name.end - at == length:
            values = {**values, **name.values}
        # A number word with the unit after it is one segment.
        measured = self._with_unit(at, at + length, values["number"]) if "number" in values else None
        return measured or Segment(at, at + length, concepts, values, sum(self._slips[at : at + length]))

    def _concepts(self, at: int) -> tuple[int, set[str]]:
        if at >= len(self._tokens) or self._tokens[at].is_quoted:
            return 0, set()
        return self._longest(at)[:2]

    def _number_at(self, at: int) -> tuple[int, str]:
        if at >= len(self._tokens) or self._tokens[at].is_quoted:
            return 0, ""
        if _is_number(self._tokens[at].norm):
            return 1, self._tokens[at].norm
        length, _, values = self._longest(at)
        return (length, values["number"]) if "number" in values else (0, "")

    def _measure(self, at: int) -> Segment | None:
        length, number = self._number_at(at)
        found = self._with_unit(at, at + length, number) if length else None
        if found or not length or not _is_number(self._tokens[at].norm):
            return found
        if number in ("2.4", "2,4"):
            return Segment(at, at + 1, set(), {"band": "2g"})
        return Segment(at, at + 1, set(), {"number": number} if number.isdigit() else {"decimal": number})

    def _with_unit(self, start: int, end: int, number: str) -> Segment | None:
        length, concepts = self._concepts(end)
        amount = float(number.replace(",", "."))
        values: dict[str, str] = {}
        for unit in concepts:
            if unit == "u_ghz" and number in _BANDS:
                values = {"band": _BANDS[number]}
            elif unit == "u_mhz" and number.isdigit():
                values = {"width": number}
            elif unit == "u_dbm" and number.isdigit():
                values = {"power": number}
            elif unit in _SPEEDS:
                values = {"speed": str(round(amount * _SPEEDS[unit]))}
            elif unit in _MINUTES:
                minutes, end = amount * _MINUTES[unit], end + length
                length, concepts = self._concepts(end)
                if "u_half" in concepts:  # 2時間半
                    return Segment(start, end + length, set(), {"duration": f"{round(minutes) + 30}m"})
                at = end + length if "and" in concepts else end
                size, number = self._number_at(at)
                length, concepts = self._concepts(at + size)
                for smaller in concepts & set(_MINUTES) if size else ():
                    more = float(number.replace(",", ".")) * _MINUTES[smaller]
                    if more < minutes:
                        minutes, end = minutes + more, at + size + length
                        break
                return Segment(start, end, set(), {"duration": f"{round(minutes)}m"})
            if values:
                return Segment(start, end + length, set(), values)
        return None

    def _clock(self, at: int) -> Segment | None:
        start, marks = at, set[str]()
        length, concepts = self._concepts(at)
        if concepts & (_HALVES | _PARTS_OF_HOURS):
            marks, at = concepts, at + length
            length, concepts = self._concepts(at)
            at += length if concepts == {FILLER} and length == 1 else 0
        size, number = self._number_at(at)
        is_word = at < len(self._tokens) and not self._tokens[at].is_quoted
        is_word = is_word and self._tokens[at].norm[:1].isdecimal()
        written = _CLOCK.match(self._tokens[at].norm) if is_word else None
        if written:  # this can only be a time of day, unless it is a number
            size, hour, minute, is_sure = 1, int(written[1]), int(written[2]), "." not in written[0]
        elif size and number.isdigit() and int(number) <= 24:
            hour, minute, is_sure = int(number), 0, False
        else:
            return None
        is_sure = is_sure or bool(marks & _PARTS_OF_HOURS)
        at += size
        length, concepts = self._concepts(at)
        if concepts & {"u_half", "u_quarter", "u_quarterto"} and "u_clock" not in concepts:  # las ocho y media
            marks, at, is_sure = marks | concepts, at + length, True
            length, concepts = self._concepts(at)
        elif "u_at" in marks and "u_hour" in concepts:  # las 22 horas
            at += length
            length, concepts = self._concepts(at)
        if "u_clock" in concepts:
            is_sure = True
            at, minute = self._minutes(at + length, minute)
        elif marks & _HALVES and not is_sure:
            return None
        length, concepts = self._concepts(at)
        if concepts & {"u_am", "u_pm"}:
            marks, at, is_sure = marks | (concepts & {"u_am", "u_pm"}), at + length, True
        if not is_sure:
            return None
        hour, minute = _shifted(hour, minute, marks)
        values = {"clock": f"{hour % 24:02d}:{minute:02d}"}
        if marks & _HALVES:
            values["half"] = "pm" if marks & {"u_pm", "u_night"} else "am"
        return Segment(start, at, marks & {"from_"}, values)

    def _minutes(self, at: int, minute: int) -> tuple[int, int]:
        length, concepts = self._concepts(at)
        if "u_half" in concepts:
            return at + length, 30
        size, number = self._number_at(at)
        if size and number.isdigit() and int(number) < 60:
            length, concepts = self._concepts(at + size)
            return at + size + (length if "u_minute" in concepts else 0), int(number)
        return at, minute

    def _device(self, at: int) -> Segment | None:
        words: list[str] = []
        best: Segment | None = None
        is_named = False  # a client chooses its name: one that is called "guest" does not make that word a device
        for place in range(at, min(at + NAME_TOKENS, len(self._tokens))):
            token = self._tokens[place]
            found = [part.casefold() for part in _NAME_PARTS.findall(token.norm)]
            if len(found) < 2 or not self._names.is_name(found):
                found = [self._names.part(token.norm, self._lexicon.knows(token.norm))]
            if token.is_quoted or not found[0] or not self._names.is_name(words + found):
                break
            words += found
            is_named = is_named or not self._lexicon.is_own(token.norm)
            best = Segment(at, place + 1, set(), {"device": " ".join(words)}) if is_named else None
            if token.tail:
                break
        return best


def _is_number(norm: str) -> bool:
    return norm[:1].isdecimal() and bool(_NUMBER.match(norm))


def _shifted(hour: int, minute: int, marks: set[str]) -> tuple[int, int]:
    if "u_halfto" in marks:
        hour, minute = hour - 1, 30
    elif "u_half" in marks:
        minute = 30
    elif "u_quarter" in marks:
        minute = 15
    elif "u_quarterto" in marks:
        hour, minute = hour - 1, 45
    if "u_night" in marks and 5 <= hour <= 12:
        hour += 12  # 夜12時 is the end of the day
    if "u_pm" in marks and 0 < hour < 12:  # 0:00 at night is midnight
        hour += 12
    if "u_am" in marks and hour == 12:
        hour = 0
    return hour, minute


def is_ipv6(text: str) -> bool:
    """Tell whether `text` is the IPv6 address of a machine, without a zone."""
    found = addresses.number(text)
    return found is not None and found[0] == 6 and found[1] > 0


def _form(norm: str) -> dict[str, str]:
    """Return the values of a word that has a form of its own."""
    if norm == _KEY:
        return {"sshkey": "1"}
    if norm.isalpha():
        return {}
    if _LIKE_ADDRESS.match(norm):
        return {"cidr": norm, "ip": norm.partition("/")[0]}
    if _MAC.match(norm):
        return {"device": norm, "mac": norm}
    if ":" in norm and is_ipv6(norm):
        return {"ip6": norm}
    if _SOCKET.match(norm):
        return {"socket": norm}
    hours = _HOURS.match(norm)
    if hours and (hours[2] or hours[4]):
        ends = (f"{int(hour) % 24:02d}:{minute or '00'}" for hour, minute in (hours.group(1, 2), hours.group(3, 4)))
        return {"hours": "-".join(ends)}
    if _RANGE.match(norm):
        return {"range": re.sub("[–:~]", "-", norm)}
    domain = _DOMAIN.match(norm)
    return {"domain": domain[1]} if domain and addresses.number4(domain[1]) is None else {}


OF = (
    ("guest", "G"), ("ssid", "S"), ("hostname", "H"), ("password", "K"), ("peer", "P"), ("vpn", "V"), ("wifi", "W"),
    ("router", "R"), ("network", "N"), ("thing", "T"),
)  # fmt: skip
_WIDE = "\u3000"
_MOST = 8  # tokens of a name in Latin letters; of wide characters, which are a token each, twice as many
_LONG, _LONG_SLIPS = 3, 6  # words of a name that is said back as a question first: more than the name may be in it
# What is no part of a name without quotes: values with a form of their own, and words of other wishes.
_EXACT = {
    "quoted", "ip", "cidr", "ip6", "mac", "domain", "clock", "hours", "duration", "speed", "width", "power", "range",
    "provider", "encryption",
}  # fmt: skip
_OTHER = {
    "negation", "hide", "visible", "isolate", "schedule", "bedtime", "limit", "fixed", "lease", "encryption", "ntp",
    "dns", "forbid", "howto", "password", "peer", "width", "channel", "user", "vlan", "dial", "dmz", "policy",
}  # fmt: skip
_HOLDING = {"condition", "later", "past", "hearsay", "howto", "negation"}
_NAMED_HERE = r"(?:[DRT]|[GWNS](?: ?[GWNR])*)(?! [WN]\b)"


class Naming:
    """The forms of one language in which something gets a name."""

    def __init__(self, tables: NamingTables) -> None:
        self._tables = tables
        self._lead = tables["lead"]
        self._forms = tables["forms"]

    def _some(self, name: _Expressions, text: str) -> str:
        """Return those of some expressions that may fit a text, as alternatives; one that never fits for none."""
        return "|".join([one for one, wanted in self._tables[name] if may_fit(wanted, text)]) or "$."

    def _is(self, name: _Expressions, text: str) -> bool:
        some = self._some(name, text)
        return some != "$." and bool(re.match(f"(?:{some})\\Z", text))

    def _parts(self, text: str) -> dict[str, str]:
        """Return what stands for the marks of forms, as far as it may fit a text."""
        edge, bounds, articles = (self._some(name, text) for name in ("edges", "bounds", "articles"))
        return {
            "{o}": f"(?:(?:[^|&Q ]+ ){{0,3}}?{_NAMED_HERE})",
            "{a}": f"(?:(?:{articles}) ?)*{_NAMED_HERE}",
            "{d}": r"(?:(?:[^|&Q ]+ ){0,3}?[DT])",
            "{x}": "[^|&Q]{1,60}?",
            "{e}": f"(?:(?:{edge}) ?)*",
            "{n}": f"(?P<name>[^|&QK:]+?)(?=(?: ?(?:{edge})(?![a-z]))* ?(?:[|&]|\\Z|{bounds}))",
        }

    def joined(self, clause: Clause, words: list[str]) -> list[Segment]:
        """Return the segments with each name that the sentence gives as one; `words` has mistyped ones mended."""
        segments = clause.segments
        spans = self._spans(clause, *_written(clause, words)) if self._forms else []
        for one in segments if spans else ():
            # Words such as `from now on` are fillers: in a sentence that gives a name they are no condition.
            norms = [token.norm for token in clause.tokens[one.start : one.end]]
            if FILLER in one.concepts and self._is("edges", ("" if norms[0] >= _WIDE else " ").join(norms)):
                one.concepts.difference_update(_HOLDING)
        for first, last in spans:
            before = [one for one in segments if one.end == first]
            if before and "rename" not in before[0].concepts:
                before[0].concepts.add("called")
            segments = _merged(segments, first, last, clause)
        return segments

    def _spans(self, clause: Clause, text: str, places: list[Place]) -> list[tuple[int, int]]:
        """Return the first token of each name and the one behind it."""
        spans: list[tuple[int, int]] = []
        taken: list[tuple[int, int]] = []
        parts = self._parts(text)
        for form, wanted in self._forms:
            if not may_fit(wanted, text) or (form.startswith("[|&]") and not spans):
                continue  # the last one only goes on
            for match in re.finditer(re.sub(r"\{[oadxen]\}", lambda mark: parts[mark[0]], form), text):
                start, end = match.span("name")
                if any(start < last and first < end for first, last in taken):
                    continue
                taken.append((start, end))
                inside = [place for place in places if place[0] < end and place[1] > start]
                if not inside or inside[0][0] < start - 1 or inside[-1][1] > end + 1:
                    continue  # it begins or ends inside a word
                span = self._span(clause, text[start:end].strip(), inside[0][2], inside[-1][3])
                said = {place[2] for place in places if place[0] < match.end() and place[1] > match.start()}
                held = [one for one in clause.segments if one.concepts & {"negation", "hide", "password"}]
                if span and not any(one.start in said for one in held):
                    spans.append(span)
        return spans

    def _span(self, clause: Clause, name: str, first: int, last: int) -> tuple[int, int] | None:
        """Return the tokens of a name, None where they can be none."""
        most = _MOST * (1 if name < _WIDE else 2)
        if not name or last - first > most or self._is("none", name) or self._is("edges", name):
            return None
        norm = clause.tokens[first].norm
        if clause.sentence[clause.tokens[first].start].islower():
            if norm in self._lead:
                first += 1
                if last - first < 2:
                    return None
            elif self._is("small", norm):
                return None
        inside = [one for one in clause.segments if one.start < last and one.end > first]
        is_other = any(set(one.values) & _EXACT or one.concepts & _OTHER for one in inside)
        return None if is_other else (first, last)


def _written(clause: Clause, words: list[str]) -> tuple[str, list[Place]]:
    """Return the sentence as forms are held against it: `|` between clauses, `&` for and, and where its words stand."""
    text = ""
    places: list[Place] = []
    for at, one in enumerate(clause.segments):
        first = clause.tokens[one.start]
        if first.is_quoted:
            letter = "Q"
        elif set(one.values) & {"device", "ip", "mac"}:
            letter = "D"
        elif "and" in one.concepts and not "\u3040" <= first.norm[0] < "\u3100":  # て and と join everything
            is_between = 0 < at < len(clause.segments) - 1
            is_name = is_between and all(clause.text(near, near)[:1].isupper() for near in (at - 1, at + 1))
            letter = "" if is_name else "&"
        else:
            letter = next((letter for concept, letter in OF if concept in one.concepts), "")
        pieces = [(letter, one.start, one.end)]
        if not letter:
            norms = [words[place] if one.slips else clause.tokens[place].norm for place in range(one.start, one.end)]
            pieces = [(norm, place, place + 1) for place, norm in enumerate(norms, one.start)]
        for word, start, end in pieces:
            is_wide = word >= _WIDE or text[-1:] >= _WIDE
            text += " " if text and not is_wide and text[-1] != "|" else ""
            places.append((len(text), len(text) + len(word), start, end))
            text += word
        tail = clause.tail(at)
        if tail:
            text += ":" if tail in (":", "：") else "|"
    return text, places


def _merged(segments: list[Segment], first: int, last: int, clause: Clause) -> list[Segment]:
    """Return the segments with the tokens of a name as one; a single word that no list knows stays what it is."""
    inside = [one for one in segments if one.start < last and one.end > first]
    tokens = clause.tokens[first:last]
    is_small = all(one.concepts == {FILLER} and not one.values for one in inside) and all(
        token.norm == clause.sentence[token.start : token.end] for token in tokens
    )
    if is_small or (len(inside) == 1 and not inside[0].is_known()):
        return segments  # small words alone are hardly a name
    found: list[Segment] = []
    for one in segments:
        if one not in inside:
            found.append(one)
            continue
        if one.start < first:
            found.append(Segment(one.start, first, set(one.concepts), {}))
        if one is inside[0]:
            slips = _LONG_SLIPS if last - first > _LONG and tokens[0].norm < _WIDE else 0
            found.append(Segment(first, last, set(), {"quoted": NAMED}, slips))
        if one.end > last:
            found.append(Segment(last, one.end, set(one.concepts), {}))
    return found
