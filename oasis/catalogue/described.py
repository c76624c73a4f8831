"""Descriptions of OpenWrt's options for people: what each does, what it takes, when it is read. The offline index.

The facts are the catalogue's (entries.py), the sentences are ours: described.json, {"version", "openwrt": the releases
that they are of, "options": {"package.type": {"": of the type, option: sentence}}}. Reads no configuration.
"""

from __future__ import annotations

from oasis.catalogue import entries, validators
from oasis.core import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from oasis.catalogue.shapes import Entry, Rule, Sentences

# No value of any datatype but a text: the description says what is required.
_NONE = "¿"
_GENERATED = "Known from the sources of its package alone: nobody has reviewed it."
_WITHIN = "Such a value waits for the owner's approval; any other value the owner has to set by hand."
_MARKS = {
    "secret": "It is a secret: shown and logged nowhere.",
    "outward": "It sends traffic or logs elsewhere, or opens something: a change of it waits for the owner.",
    "exec": "It runs code or names a file: only the owner changes it, by hand.",
}


def index() -> Sentences:
    """Return the sentences; read each time, for a router asks rarely. Shape: see the head of this module."""
    found: Sentences = jsonl.table(__file__, "described.json")
    return found


def source(found: Sentences) -> str:
    """Return where an answer is from."""
    return "option index %d of OpenWrt %s" % (found["version"], found["openwrt"])


def types_of(package: str, option: str = "") -> list[str]:
    """Return the section types of a package, all or those that have an option."""
    known = entries.types(package)
    return [name for name in known if not option or entries.option(package, name, option)]


def option(package: str, type_: str, name: str) -> dict[str, Any] | None:
    """Return what an option is, None when there is none.

    Shape: {"path": package.type.option, "title"?, "what"?, "takes", "values"?: [word], "list"?: True, "names"?: what
    it is the name of, "when"?: [sentence], "note"?, "source"}
    """
    entry = entries.option(package, type_, name)
    if entry is None:
        return None
    own = entries.type_name(package, type_)
    found = index()
    if "values" in entry:
        takes = "one of its values"
    elif entry["type"] == "bool":
        takes = "1 (on) or 0 (off)"
    elif entry["type"] == "url" and entry.get("generated") == "rules":
        takes = "a web address, which only the owner sets, by hand"  # it is no harmless word; validators.of_entry
    else:
        takes = _bound(entry) or validators.error(entry["type"], _NONE).removeprefix("must be ") or "a text"
    answer: dict[str, Any] = {
        "path": "%s.%s.%s" % (package, own, name), "takes": takes, "title": entry.get("title"),
        "what": found["options"].get("%s.%s" % (package, own), {}).get(name), "values": entry.get("values"),
        "list": bool(entry.get("list")), "names": entry.get("ref"), "when": _when_read(package, type_, name),
        "note": " ".join(_notes(entry)), "source": source(found),
    }  # fmt: skip
    return {key: value for key, value in answer.items() if value}


def _bound(entry: Entry) -> str:
    """Return what a value within the bound of an option is, "" where it has none, or its datatype says it."""
    bounds = entries.more("bounds") if "bound" in entry else None
    return bounds.WORDS[entry["bound"]] if bounds else ""


def _notes(entry: Entry) -> list[str]:
    if entries.more("bounds") and "bound" in entry:
        return [_MARKS["secret"], _WITHIN] if entry.get("secret") else [_WITHIN]
    kind = "secret" if entry.get("secret") else entry.get("mark", "").partition(":")[0]
    notes = [_MARKS[one] for one in (kind, entry.get("mark", "")) if one in _MARKS]
    return list(dict.fromkeys(notes)) + ([_GENERATED] if entry.get("generated") == "rules" else [])


def section_type(package: str, type_: str) -> dict[str, Any] | None:
    """Return what a section type is: {"path", "title"?, "what"?, "options": [name], "source"}; None for none."""
    entry = entries.section_type(package, type_)
    if entry is None:
        return None
    own = entries.type_name(package, type_)
    found = index()
    answer = {"path": "%s.%s" % (package, own), "title": entry.get("title"),
            "what": found["options"].get("%s.%s" % (package, own), {}).get(""),
            "options": list(entry["options"]), "source": source(found)}  # fmt: skip
    return {key: value for key, value in answer.items() if value}


def texts(packages: list[str] | None = None) -> Iterator[tuple[str, str]]:
    """Yield (path, what can be searched of it) of every option, one package in memory at a time.

    Of the packages by hand unless some are given; generated entries have their names alone.
    """
    sentences = index()["options"]
    for package in entries.by_hand() if packages is None else packages:
        for type_, whole in entries.types(package).items():
            own = sentences.get("%s.%s" % (package, type_), {})
            for name, entry in whole["options"].items():
                known: Entry = {} if isinstance(entry, str) else entry
                spaced = name.replace("_", " ") if "_" in name else ""
                words = [package, type_, name, spaced, known.get("title", ""), own.get(name, ""), *known.get("aka", [])]
                yield "%s.%s.%s" % (package, type_, name), " ".join(filter(None, words))


def _when_read(package: str, type_: str, name: str) -> list[str]:
    """Return with which other options an option is needed, or read at all, where that can be said in words."""
    found = []
    for rule in entries.rules(package, type_, "needs"):
        others = [other for other in rule["one_of"] if other != name]
        when = _when(rule) if name in rule["one_of"] else ""
        if when:
            found.append("it is needed with " + when + (", or " + " or ".join(others) if others else ""))
    for rule in entries.rules(package, type_, "only"):
        when = _when(rule) if name in rule["options"] else ""
        if when:
            found.append("it is read only with " + when)
    return found


def _when(rule: Rule) -> str:
    """Return the conditions of a rule as words, "" when they are more than lists of words."""
    pairs = rule["when"].items()
    if any(not pattern or set(pattern) & set("(?*[+.\\") for _, pattern in pairs):
        return ""
    said = {name: [word or "unset" for word in pattern.split("|")] for name, pattern in pairs}
    # Every way to say yes is a list of its own in the catalogue.
    return " and ".join(
        [name + " " + ("1" if {"1", "yes"} <= set(all_) else " or ".join(all_)) for name, all_ in said.items()]
    )
