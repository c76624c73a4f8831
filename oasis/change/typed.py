"""Secrets in commands that were only proposed: what somebody typed and a model repeats, before the router holds it.

A text is searched for `package.section.option=value`; where an option of that name holds a secret, the value is one.
Knows nothing of what the router holds (redact.py).
"""

from __future__ import annotations

import re

from oasis.change import secrets
from oasis.change.redact import SECRET_CHARS, walk, written_forms
from oasis.change.secrets import MASK
from oasis.change.shellwords import commands
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What stands before a value: a quote when the whole argument is in quotes, and the path. It is looked for at the
# beginning of a word only: elsewhere, a word of 70,000 letters would be read as often as it has letters.
_PATH = re.compile(r"(['\"]?)(?<![\w-])([\w-]+)\.[^\s.='\"]+\.(\w+)=")
# A value as a shell reads one word: quoted, escaped or plain pieces; without an end of a quote, all that is left.
_WORD = re.compile(r"""(?:'[^']*(?:'|\Z)|"(?:\\.|[^"\\])*(?:"|\Z)|\\.|[^\s;'"\\])*""", re.S)
_MARKS = re.compile(r"['\"\\]")


def values(given: Any) -> list[str]:
    """Return the secrets that are set in the texts of a JSON value, long enough to be looked for elsewhere."""
    found: list[str] = []

    def look(text: str) -> str:
        for start, end, is_quoted in _places(text):
            plain = text[start:end] if is_quoted else _plain(text[start:end])
            if len(plain) >= SECRET_CHARS and plain not in found:
                found.append(plain)
        return text

    walk(given, look)
    return found


def hide(given: Any) -> Any:
    """Return a JSON value in whose texts the secrets that are set there are masked, wherever they stand again."""
    words = values(given)
    return walk(given, lambda text: without(_mask(text), words))


def without(text: str, words: list[str]) -> str:
    """Return a text in which some values are masked."""
    for word in sorted(words, key=len, reverse=True):
        for form in written_forms(word):
            text = text.replace(form, MASK)
    return text


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
        if at > match.end() and secrets.may_hold(package, option):
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
    for start, end, _ in reversed(_places(text)):
        text = text[:start] + MASK + text[end:]
    return text
