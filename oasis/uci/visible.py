"""Values as people are shown them: whole, on one line, and nothing in them unseen.

A value may turn the reading direction, hide characters or be thousands long; who approves it must read all of it.
"""

from __future__ import annotations

from oasis.core import clean

# What looks like a blank or like nothing, and is neither; by the names that people look up. Source: Unicode 15.
_SPACES = {
    0xA0: "no-break space", 0x1680: "Ogham space", 0x2000: "en quad", 0x2001: "em quad", 0x2002: "en space",
    0x2003: "em space", 0x2004: "three-per-em space", 0x2005: "four-per-em space", 0x2006: "six-per-em space",
    0x2007: "figure space", 0x2008: "punctuation space", 0x2009: "thin space", 0x200A: "hair space",
    0x202F: "narrow no-break space", 0x205F: "medium mathematical space", 0x2800: "braille blank",
    0x3000: "ideographic space",
}  # fmt: skip
_UNSEEN = {
    0x09: "tab", 0x0A: "line feed", 0x0D: "carriage return", 0x1B: "escape", 0x85: "next line", 0xAD: "soft hyphen",
    0x200B: "zero width space", 0x200E: "left-to-right mark", 0x200F: "right-to-left mark", 0x2028: "line separator",
    0x2029: "paragraph separator", 0x202A: "left-to-right embedding", 0x202B: "right-to-left embedding",
    0x202D: "left-to-right override", 0x202E: "right-to-left override", 0x2060: "word joiner", 0x3164: "Hangul filler",
    0xFEFF: "byte order mark",
}  # fmt: skip


plain = clean.shown


def fault(text: str, allowed: str = "") -> tuple[int, str]:
    """Return where the first character stands that a command may not hold, and its name; (-1, "") for none.

    Joiners and the selectors of an emoji's colour stay: families and scripts are written with them.
    """
    if text.isascii() and text.isprintable():
        return -1, ""
    for at, char in enumerate(text):
        if char not in allowed and (ord(char) in _SPACES or clean.text(char) != char or char in "\n\t"):
            kind = "control character" if ord(char) < 0xA0 else "invisible character"
            name = _SPACES.get(ord(char)) or _UNSEEN.get(ord(char)) or kind
            return at, "%s %s (U+%04X)" % ("an" if name[0] in "aeiouO" else "a", name, ord(char))
    return -1, ""
