"""Regular expressions that are compiled only for a text that they may fit: compiling takes most of a first answer.

What an expression needs is read off its source: texts of which a fitting text has one. It is a hint and no more: what
it leaves out could not fit, and what it lets through is decided by the expression itself.
"""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"[\\\[(){}|?*+.^$]")
# What is no plain text, and what may follow a piece: an expression of one kind of group, a class, an end, a count.
_PIECE = re.compile(
    r"\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:P<\w+>|<?[:=!]))?|[|)]|[?*+]\??|\{[^}]*\}|[^\\\[\](){}|?*+.^$]+|."
)
_ASIDE = ("(?=", "(?!", "(?<")  # what these groups hold is not among the characters that fit
_MAY_LACK = ("?", "*", "{0")
_NO_TEXT = "\\[{.^$?*+"


def needs(source: str) -> list[str]:
    """Return texts of which each text that an expression fits has one, [] for any; a {name} may stand for anything."""
    return _read(_PIECE.findall(source), 0)[0] if _SPECIAL.search(source) else [source]


def _read(pieces: list[str], at: int) -> tuple[list[str], int]:
    """Return what the alternatives from a place on need, and the place behind their bracket."""
    found: list[str] = []
    best: list[str] = []  # of this alternative, as its length
    length, is_any = 0, False
    last = len(pieces)
    while at < last:
        piece = pieces[at]
        at += 1
        first = piece[0]
        if first == ")":
            break
        if first == "|":
            is_any = is_any or not best
            found += best
            best, length = [], 0
            continue
        need: list[str] = []
        if first == "(":
            need, at = _read(pieces, at)
            if piece.startswith(_ASIDE):
                need = []
        elif first not in _NO_TEXT:
            need = [piece]
        if at < last and pieces[at].startswith(_MAY_LACK):
            need = [piece[:-1]] if need and first != "(" and len(piece) > 1 else []
        if need and " " not in need and (shortest := len(min(need, key=len))) > length:
            best, length = need, shortest
    return ([] if is_any or not best else found + best), at


def may_fit(wanted: list[str], text: str) -> bool:
    return not wanted or any(one in text for one in wanted)


class Alternatives:
    """Expressions of which the first that fits counts, as if `|` stood between them; `form` % them is the whole."""

    def __init__(self, sources: list[str], form: str) -> None:
        self._sources = [(one, needs(one)) for one in sources]
        self._form = form

    def on(self, text: str) -> re.Pattern[str] | None:
        """Return the expression as far as it may fit a text, None when it does not."""
        some = [source for source, wanted in self._sources if may_fit(wanted, text)]
        return re.compile(self._form % "|".join(some)) if some else None
