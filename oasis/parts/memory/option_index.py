"""Answers what an option of OpenWrt is, by its path or by words, out of the shipped index (catalogue/described.py)."""

from __future__ import annotations

import re

from oasis.catalogue import described, entries
from oasis.errors import UsageError
from oasis.parts.memory import ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    # (package, section) -> the type that it has here, or ""
    TypeOf = Callable[[str, str], str]

_PATH = re.compile(r"(?<![\w.])([a-z0-9_-]+(?:\.(?:@?[\w-]+(?:\[-?\d+\])?|\*)){1,2})(?![\w])", re.ASCII)
# Options of one type that a listing names; more are asked for one by one.
NAMES = 200
# Of what is asked an option must have that much: one word of four is in hundreds of them.
LEAST = 0.6
_USAGE = "like network.lan.proto, wireless.wifi-iface.encryption or dhcp.host"


def named(path: str, type_of: TypeOf) -> dict[str, Any]:
    """Return what a path names: an option, or a section type.

    `path`: package.section.option, package.type.option, package.option, package.section or package.type.
    Raises: UsageError with the nearest names, when there is nothing of that name.
    """
    parts = path.strip().split(".", 2)
    if len(parts) < 2 or not all(parts):
        raise UsageError("%r is no path of an option" % path[:100], _USAGE)
    package = parts[0]
    if not entries.types(package):
        raise _unknown("no package %r in the index" % package, package, entries.packages())
    type_ = _type(package, parts[1], type_of)
    if len(parts) == 3:
        return {"asked": path, **_option(package, type_, parts[2], parts[1])}
    found = described.section_type(package, type_) if type_ else None
    if found is not None:
        return {"asked": path, **found, "options": found["options"][:NAMES]}
    owners = described.types_of(package, parts[1])
    if not owners:
        names = [name for one in described.types_of(package) for name in (one, *entries.option_names(package, one))]
        raise _unknown("%s has no section type, section or option %r" % (package, parts[1]), parts[1], names)
    others = ["%s.%s.%s" % (package, one, parts[1]) for one in owners[1:]]
    return {"asked": path, **_option(package, owners[0], parts[1], ""), **({"also": others} if others else {})}


def _type(package: str, section: str, type_of: TypeOf) -> str:
    """Return the section type that a word means: a type, @type[0], or the name of a section that is here."""
    plain = section[1:].partition("[")[0] if section.startswith("@") else section
    if entries.section_type(package, plain) is not None:
        return plain
    return type_of(package, section)


def _option(package: str, type_: str, name: str, section: str) -> dict[str, Any]:
    owners = [type_] if type_ else described.types_of(package, name)
    found = described.option(package, owners[0], name) if owners else None
    if found is not None:
        return found
    if not owners:
        raise _unknown("%s has no option %r in any section" % (package, name), section, described.types_of(package))
    meant = entries.known_as(package, owners[0], name)
    if meant:
        raise UsageError("%s.%s has no option %r" % (package, owners[0], name), "did you mean " + " or ".join(meant))
    names = entries.option_names(package, owners[0])
    raise _unknown("%s.%s has no option %r" % (package, owners[0], name), name, names)


def _unknown(message: str, word: str, names: list[str]) -> UsageError:
    return UsageError(message, entries.hint(word, names) or _USAGE)


def found(query: str, type_of: TypeOf, most: int) -> list[dict[str, Any]]:
    """Return the options that a question names by their paths; where it names none, those that fit its words best.

    Shape: [{"path", "title"?, "what"?, "takes", …}] as in catalogue/described.py, shortened.
    """
    told: list[dict[str, Any]] = []
    for path in list(dict.fromkeys(_PATH.findall(query)))[:most]:
        try:
            told.append(named(path, type_of))
        except UsageError:
            continue  # a host name, a file: not everything with dots is an option
    if told:
        return [_short(one) for one in told]
    words = ranking.Words(query)
    for path, text in described.texts():
        if words.may_have(text):
            words.take(path, text)
        else:
            words.skip(len(text))
    paths = [str(path).split(".", 2) for _, path in words.order(most, LEAST)]
    options = [described.option(*path) for path in paths]
    return [_short(one) for one in options if one is not None]


def _short(told: dict[str, Any]) -> dict[str, Any]:
    kept = {key: told[key] for key in told if key not in ("asked", "source", "also")}
    for key in ("values", "options"):
        if len(kept.get(key, [])) > 40:
            kept[key] = [*kept[key][:40], "…"]
    return kept
