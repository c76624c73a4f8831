"""Options that a router's own files have and no data of the catalogue tell: they may be changed after a warning.

Only options whose values there are scalars and whose names do not say code, a file, a user or arguments
(code_words.json, which the generator of the other data follows, too); never of packages that are written by hand as a
whole, as they are the way to the router. Each takes a scalar alone, is never low, waits for its owner and says so.
All others are exec.
"""

from __future__ import annotations

import re

from oasis.catalogue import entries, validators
from oasis.core import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from oasis.catalogue.shapes import Entry, Sections, SectionType

# names of hooks, where nothing stands around them
_HOOKS = (
    "(?:pre|post|on|if|run)?[_-]?(?:up|down|start|stop|before|after|action|run|notify|trigger|handler)"
    # and of what is fetched to be run; a source alone is a script to be read by a shell
    "|pre|post|nft|on[_-].*|source|(?:.*[_-])?update[_-]?ur[il]"
)
_words: dict[str, Any] = {}


def _told() -> dict[str, Any]:
    if not _words:
        _words.update(jsonl.table(__file__, "code_words.json"))
    return _words


def tokens(name: str) -> set[str]:
    """Return the words in a name, and the whole of it."""
    parts = re.findall("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)
    return {part.lower() for part in parts} | {name.lower()}


def is_code(name: str) -> bool:
    """Tell whether an option is code by its name, whatever its datatype."""
    ends = name.lower().endswith(tuple(_told()["code_endings"]))
    return bool(tokens(name) & {*_told()["code"]}) or ends or not name[0].isalpha()


def is_code_type(type_: str) -> bool:
    """Tell whether sections of a type are code by its name."""
    return bool(tokens(type_) & {*_told()["code"], "include", "includes"})


def is_text(name: str) -> bool:
    """Tell whether an option is a file, a user, arguments or a hook by its name, where its value is a text."""
    lower = name.lower()
    ends = lower.endswith(tuple(_told()["text_endings"]))
    return bool(tokens(name) & {*_told()["text"]}) or ends or re.match(f"(?:{_HOOKS})\\Z", lower) is not None


def whole() -> set[str]:
    """Return the packages of which nothing but what is written by hand counts."""
    return {*_told()["whole"]}


def learn(files: dict[str, Sections], awaited: Iterable[str] = ()) -> None:
    """Take up what packages have on this router, for the plan that is made now; what was taken up before goes.

    Of those that are `awaited` the files that bounded options name may be missing yet.
    """
    entries.take_up({name: _types(sections) for name, sections in files.items() if name not in whole()}, awaited)


def _types(sections: Sections) -> dict[str, SectionType]:
    found: dict[str, SectionType] = {}
    bad: set[tuple[str, str]] = set()
    for section in sections.values():
        type_ = str(section[".type"])
        kind = found.setdefault(type_, {"options": {}})
        if is_code_type(type_):
            kind["mark"] = "exec"
        for name, value in section.items():
            values = [str(one) for one in value] if isinstance(value, list) else [str(value)]
            if name.startswith(".") or (type_, name) in bad:
                continue
            if is_code(name) or is_text(name) or any(validators.error("scalar", one) for one in values):
                bad.add((type_, name))
                kind["options"][name] = {"type": "string", "mark": "exec"}
                continue
            entry: Entry = {"type": "scalar", **({"list": True} if isinstance(value, list) else {})}
            kind["options"].setdefault(name, entry)
    return found
