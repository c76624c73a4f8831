"""Files in the very form that a commit writes them, read faster than by `parser`, which gets any other.

One pattern says whether the whole text has that form; then cutting it at fixed strings cannot go wrong. Most files of a
router have it, and a daemon reads them again and again.
"""

from __future__ import annotations

import re

from oasis.uci.package import Package

_FILE = re.compile(
    r"(?:\nconfig [A-Za-z0-9_.-]+(?: '[A-Za-z0-9_]+')?\n"
    r"(?:\t(?:option|list) [A-Za-z0-9_]+ '[^'\n]*(?:'\\''[^'\n]*)*'\n)*)*\n?\Z"
)
_OPTION = len("option ")


def read(text: str, name: str) -> Package | None:
    """Return the package, or None when the text has another form or needs an error message."""
    if _FILE.match(text) is None:
        return None
    package = Package(name)
    for piece in ("\n" + text.rstrip("\n")).split("\n\nconfig ")[1:]:
        head, *lines = piece.split("\n\t")
        type, _, title = head.partition(" '")
        section = package.find(title[:-1]) if title else None
        if section is None:
            section = package.append(type, title[:-1])
        elif section.type != type:
            return None
        # Two quotes together are an empty value or a quote inside one; without them and without lists a cut is enough.
        if "''" in piece or "\n\tlist " in piece:
            _read_options(lines, section.options)
        else:
            section.options.update([line[_OPTION:-1].split(" '", 1) for line in lines])  # type: ignore[misc]
    return package


def _read_options(lines: list[str], options: dict[str, str | list[str]]) -> None:
    for line in lines:
        kind, name, value = line.split(" ", 2)
        value = value[1:-1]
        if "'" in value:
            value = value.replace("'\\''", "'")
        if kind == "list":
            append(options, name, value)
        elif value:
            options[name] = value


def append(options: dict[str, str | list[str]], name: str, value: str) -> None:
    """Add an item to a list; an option becomes a list where it stands."""
    current = options.get(name)
    if current is None:
        options[name] = [value]
    elif isinstance(current, str):
        options[name] = [current, value]
    else:
        current.append(value)
