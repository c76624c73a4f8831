"""Files in the very form that a commit writes them, read faster than by `parser`, which gets any other.

One pattern says whether the whole text has that form; then cutting it at its quotes cannot go wrong: every second piece
is a value or the name of a section, and what stands before it repeats all over a file, so that each such text is
understood once. Most files of a router have this form, and a daemon reads them again and again.
"""

from __future__ import annotations

import re

from oasis.uci.package import Package

_FILE = re.compile(
    r"(?:\nconfig [A-Za-z0-9_.-]+(?: '[A-Za-z0-9_]+')?\n"
    r"(?:\t(?:option|list) [A-Za-z0-9_]+ '[^'\n]*(?:'\\''[^'\n]*)*'\n)*)*\n?\Z"
)
_CONFIG = "\nconfig "
# A quote inside a value, and what stands for it while the text is cut; no text with a zero byte comes here.
_QUOTE, _MARK = "'\\''", "\0"


def read(text: str, name: str) -> Package | None:
    """Return the package, or None when the text has another form or needs an error message."""
    if _FILE.match(text) is None:
        return None
    if _QUOTE in text:
        pieces = text.replace(_QUOTE, _MARK).split("'")
        pieces[1::2] = [value.replace(_MARK, "'") for value in pieces[1::2]]
    else:
        pieces = text.split("'")
    package = Package(name)
    if not _fill(package, pieces):
        return None
    for type in _understood(pieces[-1])[0]:
        package.append(type, "")
    return package


def _fill(package: Package, pieces: list[str]) -> bool:
    """Add what the pieces say, a text and the value behind it at a time; False when a section changes its type."""
    plain: dict[str, str] = {}  # text before the value of an option: its name; the others below
    others: dict[str, tuple[list[str], str, str, bool]] = {}
    options: dict[str, str | list[str]] = {}
    for before, value in zip(pieces[::2], pieces[1::2]):  # noqa: B905  the last piece has no value
        if before in plain:
            if value:
                options[plain[before]] = value
            continue
        if before not in others:
            others[before] = _understood(before)
        types, type, name, is_list = others[before]
        for one in types:
            options = package.append(one, "").options
        if type:
            section = package.find(value) or package.append(type, value)
            if section.type != type:
                return False
            options = section.options
        elif is_list:
            append(options, name, value)
        else:
            if not types:
                plain[before] = name
            if value:
                options[name] = value
    return True


def _understood(before: str) -> tuple[list[str], str, str, bool]:
    """Return what stands before a value.

    Shape: (types of anonymous sections that begin, type of the section whose name the value is or "", name of the
    option whose value it is or "", whether that is a list).
    """
    head, _, option = before.partition("\n\t")
    types = [line.rstrip("\n") for line in head.split(_CONFIG)[1:]]
    if option:
        kind, _, name = option[:-1].partition(" ")
        return types, "", name, kind == "list"
    if before.endswith(" "):
        return types[:-1], types[-1][:-1], "", False
    return types, "", "", False


def append(options: dict[str, str | list[str]], name: str, value: str) -> None:
    """Add an item to a list; an option becomes a list where it stands."""
    current = options.get(name)
    if current is None:
        options[name] = [value]
    elif isinstance(current, str):
        options[name] = [current, value]
    else:
        current.append(value)
