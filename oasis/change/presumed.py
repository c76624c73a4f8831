"""Configuration that packages will bring, as far as operations on it say: for the card before they are there.

What operations name is taken to be there, with the type that the catalogue fits them best to. After unpacking all is
planned again on what is really there, so nothing is written by what is presumed.
"""

from __future__ import annotations

import re
from collections import Counter

from oasis.catalogue import entries
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Operation

_INDEXED = re.compile(r"@([^\[\]]+)\[(-?[0-9]{1,5})\]\Z")
_MOST = 32  # sections of a type that a default has


def files(operations: list[Operation], packages: list[str]) -> dict[str, bytes]:
    """Return {package: the bytes of its file before the operations}."""
    return {name: _file([one for one in operations if one["package"] == name], name) for name in packages}


def _file(operations: list[Operation], package: str) -> bytes:
    made: set[str] = set()
    added: Counter[str] = Counter()
    anonymous: Counter[str] = Counter()
    named: dict[str, list[str]] = {}  # with the options that operations name in them
    there: list[tuple[str, Operation]] = []  # whose options must be there
    for one in operations:
        section, option, op = one.get("section", ""), one.get("option", ""), one["op"]
        found = _INDEXED.match(section)
        if op == "add":
            added[one["type"]] += 1
        elif found:
            at = int(found[2])
            wanted = at + 1 if at >= 0 else -at - added[found[1]]
            anonymous[found[1]] = max(anonymous[found[1]], min(wanted, _MOST))
        elif op == "set" and not option and section not in named:
            made.add(section)
        elif section not in made:
            named.setdefault(section, []).append(option)
        if op in ("delete", "rename", "del_list") and option and section not in made:
            there.append((found[1] if found else "", one))
        elif op == "rename":
            made.add(one["name"])
    steps: list[Operation] = []
    for type_, count in anonymous.items():
        steps += [{"op": "add", "package": package, "type": type_} for _ in range(count)]
    for section, options in named.items():
        steps.append({"op": "set", "package": package, "section": section, "type": _type(package, options)})
    for type_, one in there:
        op = "add_list" if one["op"] == "del_list" else "set"
        sections = ["@%s[%d]" % (type_, at) for at in range(anonymous[type_])] if type_ else [one["section"]]
        for section in sections:
            steps.append({"op": op, "package": package, "section": section, "option": one["option"],
                          "value": one.get("value") or "1"})  # fmt: skip
    return model.preview({package: b""}, steps)[package]


def _type(package: str, options: list[str]) -> str:
    """Return the type of sections in which most of the options may be set."""
    known = entries.types(package)
    rank = {type_: sum(entries.may_be_set(package, type_, name) for name in options if name) for type_ in known}
    return max(rank, key=rank.__getitem__, default="section").replace("*", "0")
