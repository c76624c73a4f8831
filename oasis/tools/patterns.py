"""A schema's `pattern`, tried in bounded time: what could take long is left to the tool itself.

Python's matcher goes back and tries again; a pattern of somebody else's could keep it busy for years. So a pattern is
read first: one without repeats inside repeats costs at most the length of the text to the power of its open repeats.
Within STEPS it is tried, beyond that (or when Python does not know it) nothing is said about the text.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Some milliseconds on a small router.
STEPS = 200_000
PATTERN_CHARS = 512
_MOST = 1 << 62
# What the reader of patterns calls its parts. Source: Python's re/_parser.py, the same names since 3.0.
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT")
_PLAIN = ("LITERAL", "NOT_LITERAL", "ANY", "IN", "AT")


def fits(pattern: str, text: str) -> bool | None:
    """Return whether the pattern is found in the text, None when that is not tried."""
    if len(pattern) > PATTERN_CHARS:
        return None
    try:
        parts = _reader().parse(pattern)
        steps = _steps(parts, len(text) + 1, False)
        if not pattern.startswith("^"):
            steps *= len(text) + 1
        return bool(re.search(pattern, text)) if steps <= STEPS else None
    except (re.error, OverflowError, RecursionError):
        return None  # another dialect; the tool has its own word on it


def _reader() -> Any:
    return getattr(re, "_parser", None) or __import__("sre_parse")  # its name until Python 3.10


def _steps(parts: Any, length: int, is_repeated: bool) -> int:
    """Return how many ways the matcher may have to try, more than STEPS where that cannot be told."""
    steps = 1
    for part, argument in parts:
        steps = min(steps * _of_part(str(part), argument, length, is_repeated), _MOST)
    return steps


def _of_part(part: str, argument: Any, length: int, is_repeated: bool) -> int:
    if part in _PLAIN:
        return 1
    if part in _REPEATS:
        least, most, inner = argument
        open_ways = min(int(most), length) - min(int(least), length) + 1
        if open_ways > 1 and is_repeated:
            return _MOST
        return max(open_ways, 1) * _steps(inner, length, True) * len(inner)
    if part == "SUBPATTERN":
        return _steps(argument[3], length, is_repeated)
    if part == "BRANCH" and not is_repeated:
        return min(sum([_steps(branch, length, False) for branch in argument[1]]), _MOST)
    return _MOST
