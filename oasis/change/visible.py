"""Values as people are shown them: on one line, nothing in them unseen, and their end not pushed out of sight.

A value may turn the reading direction, hide characters or be thousands long; who approves it must read what it is.
"""

from __future__ import annotations

from oasis.core import clean

# Of a longer value both ends are told; the lines of the difference hold the whole.
LONGEST = 200
_HEAD, _TAIL = 120, 40


def plain(text: str) -> str:
    r"""Return a text on one line with what nobody sees in it written out, as \u202e."""
    if clean.line(text) == text:
        return text
    return "".join([char if clean.line(char) == char else "\\u%04x" % ord(char) for char in text])


def short(text: str) -> str:
    """Return a value for a sentence: as `plain`, the middle of a long one left out and its length told."""
    text = plain(text)
    if len(text) <= LONGEST:
        return text
    return "%s…%s (%d characters)" % (text[:_HEAD], text[-_TAIL:], len(text))
