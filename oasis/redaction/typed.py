"""Secrets in commands that were only proposed: what somebody typed and a model repeats, before the router holds it.

A text is searched for `package.section.option=value`; where an option of that name holds a secret, the value is one.
Knows nothing of what the router holds (redactor.py).
"""

from __future__ import annotations

import re

from oasis.errors import UsageError
from oasis.redaction import secret_options
from oasis.redaction.redactor import SECRET_CHARS, walk, written_forms
from oasis.redaction.secret_options import MASK
from oasis.uci.shell_words import commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

# What stands before a value: a quote when the whole argument is in quotes, and the path. It is looked for at the
# beginning of a word only: elsewhere, a word of 70,000 letters would be read as often as it has letters.
_PATH = re.compile(r"(['\"]?)(?<![\w-])([\w-]+)\.[^\s.='\"]+\.(\w+)=")
# A value as a shell reads one word: quoted, escaped or plain pieces; without an end of a quote, all that is left.
_WORD = re.compile(r"""(?:'[^']*(?:'|\Z)|"(?:\\.|[^"\\])*(?:"|\Z)|\\.|[^\s;'"\\])*""", re.S)
_MARKS = re.compile(r"['\"\\]")


def values(given: object) -> list[str]:
    """Return the secrets that are set in the texts of a JSON value, long enough to be looked for elsewhere."""
    found: dict[str, None] = {}

    def look(text: str) -> str:
        for start, end, is_quoted in _places(text):
            plain = text[start:end] if is_quoted else _plain(text[start:end])
            if len(plain) >= SECRET_CHARS and not secret_options.is_word(plain):
                found[plain] = None
        return text

    walk(given, look)
    return list(found)


def hide(given: T) -> T:
    """Return a JSON value in whose texts the secrets that are set there are masked, wherever they stand again."""
    forms = _Forms(values(given))
    return walk(given, lambda text: forms.without(_mask(text)))


def without(text: str, words: list[str]) -> str:
    """Return a text in which some values are masked."""
    return _Forms(words).without(text)


class _Forms:
    """Values in all their forms, found in a text in one pass over it, however many they are."""

    def __init__(self, words: list[str]) -> None:
        self._all = {form for word in words for form in written_forms(word)}
        # What each begins with leads to the lengths to try; a form may be shorter than that.
        self._head = min([len(form) for form in self._all] + [SECRET_CHARS])
        lengths: dict[str, set[int]] = {}
        for form in self._all:
            lengths.setdefault(form[: self._head], set()).add(len(form))
        self._lengths = {head: sorted(found, reverse=True) for head, found in lengths.items()}

    def without(self, text: str) -> str:
        """Return the text with a mask for each; those that overlap go behind one mask."""
        if not self._lengths:
            return text
        pieces: list[str] = []
        end = 0  # of what is behind a mask
        for at in self._starts(text):
            length = self._longest(text, at, end)
            if not length:
                continue
            if at >= end:
                pieces += [text[end:at], MASK]
            end = at + length
        return "".join([*pieces, text[end:]])

    def _starts(self, text: str) -> list[int]:
        head, lengths = self._head, self._lengths
        return [at for at in range(len(text) - head + 1) if text[at : at + head] in lengths]

    def _longest(self, text: str, at: int, end: int) -> int:
        """Return how long the longest value is that begins here and ends behind `end`, 0 for none."""
        for length in self._lengths[text[at : at + self._head]]:
            if at + length <= end:
                break
            if text[at : at + length] in self._all:
                return length
        return 0


def _places(text: str) -> list[tuple[int, int, bool]]:
    """Return where the values of secret options begin and end, and whether the quotes stand outside of that."""
    found: list[tuple[int, int, bool]] = []
    at = 0
    while True:
        match = _PATH.search(text, at)
        if match is None:
            return found
        quote, package, option = match.groups()
        end = text.find(quote, match.end()) if quote else _end_of_word(text, match.end())
        at = end if end >= 0 else len(text)
        is_word = secret_options.is_word(_plain(text[match.end() : at]))
        if at > match.end() and not is_word and secret_options.may_hold(package, option):
            found.append((match.end(), at, bool(quote)))


def _plain(word: str) -> str:
    try:
        return commands(word)[0][0]
    except (UsageError, IndexError):
        return _MARKS.sub("", word)


def _end_of_word(text: str, start: int) -> int:
    match = _WORD.match(text, start)
    return match.end() if match else start


def _mask(text: str) -> str:
    pieces: list[str] = []
    end = 0
    for start, stop, _ in _places(text):
        pieces += [text[end:start], MASK]
        end = stop
    return "".join([*pieces, text[end:]])
