"""The one cleaner: what a text loses before a model, a terminal or a list of names gets it.

Characters that steer a terminal, turn the reading direction, or are there without being seen: a name must not look like
another one, and must not carry words that only a program reads. Knows nothing of where a text comes from; imports under
MicroPython. Source of the ranges: Unicode 15, categories Cc, Cf and Default_Ignorable_Code_Point.
"""

if False:  # annotations only
    from oasis.core.shapes import Any, Callable

NAME_CHARS = 64  # a host name has at most 63, an SSID 32 bytes
# Deeper values are cut off: no tool gives one, and recursion costs stack.
_DEPTH = 64

# First and last code point, in order: C0, C1 and delete, soft hyphen, direction marks, fillers, zero width, bidi,
# invisible operators, byte order mark, annotations, tags and further variation selectors.
_UNSEEN = (
    (0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200B), (0x200E, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
# Joiners and the selectors of an emoji's colour: scripts and families need them in a text; in a name they only hide.
_JOINING = ((0x34F, 0x34F), (0x200C, 0x200D), (0xFE00, 0xFE0F))
# What looks like a blank: no-break spaces, those of other widths, the braille pattern without dots.
_BLANK = (
    (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x202F, 0x202F), (0x205F, 0x205F), (0x2800, 0x2800),
    (0x3000, 0x3000),
)  # fmt: skip
# Half-width signs and kana in the order of their numbers, and those that a mark of their own behind them changes.
_KANA = (
    "。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソ"
    "タチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン"
)
_VOICED = {1: "カキクケコサシスセソタチツテトハヒフヘホ", 2: "ハヒフヘホ"}
# No text that JSON can hold; a terminal shows them as what they are, an error.
_HALVES = ((0xD800, 0xDFFF),)


def text(value: object) -> str:
    """Return a text without hidden characters; line ends and tabs stay."""
    return _without(str(value), _UNSEEN, "\n\t")


def line(value: object) -> str:
    """Return a text without hidden characters as one line."""
    return _without(str(value), _UNSEEN, "\n\t").replace("\n", " ").replace("\t", " ")


def shown(value: object) -> str:
    """Return a text as one line with what nobody sees in it, or takes for a blank, written out as backslash-u202e."""
    given = str(value)
    odd = {char for char in set(given) if not " " <= char <= "~" and is_odd(ord(char))}
    return "".join(["\\u%04x" % ord(char) if char in odd else char for char in given]) if odd else given


def is_odd(code: int) -> bool:
    """Tell whether a character cannot be seen, or looks like a blank and is none."""
    return not _without(chr(code), _UNSEEN + _JOINING + _HALVES + _BLANK, "")


def name(value: object, limit: int = NAME_CHARS) -> str:
    """Return a foreign name as one visible line of at most `limit` characters, "" for what is no text."""
    given = value if isinstance(value, str) else ""
    return _without(given, _UNSEEN + _JOINING + _HALVES, "").strip()[:limit]


def value(given: "Any", depth: int = 0) -> "Any":
    """Return a JSON value with every text in it cleaned, keys too."""
    if isinstance(given, str):
        return _without(given, _UNSEEN + _HALVES, "\n\t")
    if isinstance(given, (list, tuple)):
        return [value(item, depth + 1) for item in given] if depth < _DEPTH else []
    if isinstance(given, dict):
        return {value(key): value(given[key], depth + 1) for key in given} if depth < _DEPTH else {}
    return given


def is_hidden(code: int) -> bool:
    """Tell whether a name loses the character of that code point."""
    return not _without(chr(code), _UNSEEN + _JOINING + _HALVES, "")


def _without(given: str, ranges: "tuple[tuple[int, int], ...]", kept: str) -> str:
    # Most texts are plain, and looking for the few characters is all they cost.
    odd = [char for char in set(given) if not " " <= char <= "~" and char not in kept]
    hidden = {char for char in odd if any([first <= ord(char) <= last for first, last in ranges])}
    return "".join([char for char in given if char not in hidden]) if hidden else given


def narrow(given: str, skip: "Callable[[str, int], int] | None" = None) -> str:
    """Return a text with wide Latin letters, digits and signs as the usual ones, and half-width kana as whole ones.

    What NFKC does to these; the module that knows all of Unicode is not part of a small Python. A wide comma stays;
    a blank follows it and other marks that need none when they are wide. `skip(text, at)` tells where a piece ends
    that begins there and stays as it is, 0 for none.
    """
    if not given or max(given) < "\u2fff":
        return given
    found: list[str] = []
    at = 0
    while at < len(given):
        end = skip(given, at) if skip else 0
        char = given[at]
        if end:
            found.append(given[at:end])
        elif char in "，；、。" or (char == "：" and not given[at + 1 : at + 2].isdigit()):
            found += [char, " "]
        elif char in "！？）":
            found += [chr(ord(char) - 0xFEE0), " "]
        elif "\uff01" <= char <= "\uff5d":
            found.append(chr(ord(char) - 0xFEE0))
        elif "\uff61" <= char <= "\uff9d":
            found.append(_KANA[ord(char) - 0xFF61])
        elif char in "\uff9e\uff9f" and found and found[-1] in _VOICED[1 if char == "\uff9e" else 2]:
            found[-1] = chr(ord(found[-1]) + (1 if char == "\uff9e" else 2))
        else:
            found.append({"\uff5e": "\u301c", "\u3000": " "}.get(char, char))
        at = end or at + 1
    return "".join(found)
