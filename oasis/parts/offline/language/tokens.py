"""An owner's sentence as tokens, and how near a mistyped word is to a keyword.

A token keeps its place in the sentence, so that a slot gets the characters the owner typed. Text in quotes is one token
that is never a keyword. Chinese, Japanese and Korean characters are one token each. Knows no language.
"""

from __future__ import annotations

import re

from oasis.core import clean

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

    def __init__(self, norm: str, raw_start: int, start: int, end: int, tail: str, is_quoted: bool) -> None:
        self.norm = norm
        self.raw_start = raw_start
        self.start = start
        self.end = end
        self.tail = tail
        self.is_quoted = is_quoted
        self.slip = 0


def tokenize(text: str, fold: dict[str, str]) -> list[Token]:
    """Return the tokens of `text`; `fold` spells letters of the language another way, for example ä as ae."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        quoted = _quoted(text, at)
        if quoted:
            at = quoted.end + (quoted.start - quoted.raw_start)  # behind the closing mark, when marks are left out
            tail = re.match("[" + re.escape(_TRAILING) + "]*", text[at:])
            quoted.tail = tail.group() if tail else ""
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
    """Return where the quoted text ends that begins at a place, its marks included, 0 where none does."""
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
        return Token("", at, at, secret.end(), "", True)
    pairs = [*_QUOTES, ("'", "'")]
    for opening, closing in pairs:
        if not text.startswith(opening, at):
            continue
        end = _closing(text, at + 1, closing)
        if end > at + 1:
            return Token("", at, at + 1, end, "", True)
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
        found[-1].tail += chunk[: len(chunk) - len(bare)]
        chunk, at = bare, at + len(chunk) - len(bare)
    core = chunk.lstrip(_LEADING)
    start = at + len(chunk) - len(core)
    bare = core.rstrip(_TRAILING)
    if bare:
        found.append(Token(normal(bare, fold), at, start, start + len(bare), core[len(bare) :], False))
    elif found:
        found[-1].tail += chunk  # punctuation that stands alone belongs to the word before


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
