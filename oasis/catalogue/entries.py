"""What the catalogue says of a package, a section type, an option; the data are packages/*.json, one file a package.

What is in no image of OpenWrt is in the package oasis-catalogue: feed/*.json, written by hand as well, and
generated/*.json, made from sources (package/options/generate.py): more packages, and options that the others lack,
which win. What comes from there has "generated" in its entry:
"rules", or "review" where a person has looked at the whole package, or "installed" (installed.py). It has no titles.

Read when asked for and not kept: the last two packages only, since the daemon's memory is small. Checks no operation.

Shape of a file: {"package", "source": where the facts come from, "types": {type: {"title", "mark"?, "options":
{name: entry}}}}. An entry is a datatype, or {"type": datatype or "values": [word], "title"?, "list"?: true, "mark"?,
"ref"?, "aka"?: [wrong names that mean it]}. `mark` is "secret:CLASS", "outward" (sends traffic or logs elsewhere) or
"exec" (runs code, names a file or folder, passes raw arguments); without it the option is plain. A type's mark holds
for all its options. The name "*" stands for every other option; a type that ends in "*" for every type that begins so.
"secret": true is a secret that is exec too. `bound` is what an exec option may be after all (bounds.py); a type's is of
options without a mark of their own. `ref` names what the value must be the name of: interface, zone, radio, ipset,
device or a section of mwan3.
A type may have "needs": [{"when": {option: pattern}, "one_of": [option], "hint"?}]: where all patterns match the whole
value (a missing option is ""), one of the options must be there; and "only": [{"when", "options"}]: these options are
read nowhere else; and "never": [{"when", "hint"}]: these values do not go together. A pattern is a regular expression.
`opens` names options that let somebody in: {who, and to what: "OPTION OPTION=SHUT"}; SHUT is a pattern of the values
that let nobody in, or a word of _SHUT.

It also finds the real names nearest to a wrong one, without difflib, which costs more memory than the data it searches.
"""

from __future__ import annotations

import os

from oasis.core import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Literal

    from oasis.catalogue.bounds import Bounds
    from oasis.catalogue.shapes import Entry, Generated, Rule, SectionType
    from oasis.system.files import Files
    from oasis.system.root import Root


_FOLDER = os.path.dirname(os.path.abspath(__file__))
# Folders of entries: written by hand, of what every image has and of the packages feed, and generated ones. All but the
# first are of the package oasis-catalogue.
_BY_HAND, _GENERATED = ("packages", "feed"), "generated"
_SHUT = {
    "own": r"127[.].*|::1|localhost", "lan": r"@?lan|br-lan|lo|loopback|localhost|127[.].*|::1",
    "on": "1|on|yes|true|enabled",
}  # fmt: skip
_KEPT = 2  # a plan rarely touches more packages than that, and none of them is needed between plans
_cache: list[tuple[str, dict[str, SectionType]]] = []
_taken_up: dict[str, dict[str, SectionType]] = {}  # see installed.py
_awaited: set[str] = set()


def by_hand() -> list[str]:
    """Return the names of the packages whose entries are written by hand."""
    return sorted(name for folder in _BY_HAND for name in _names(folder))


def packages() -> list[str]:
    """Return the names of all packages that have an entry."""
    return sorted({*by_hand(), *_names(_GENERATED)})


def is_optional(package: str) -> bool:
    """Tell whether a package is none that every image has."""
    return not _has(_BY_HAND[0], package)


def holding(names: list[str]) -> list[str]:
    """Return the packages whose data hold one of some names, in small letters, without parsing those that do not."""
    wanted, found = [name.encode() for name in names], []
    for folder in (*_BY_HAND, _GENERATED) if names else ():
        for package in _names(folder):
            with open(os.path.join(_FOLDER, folder, package + ".json"), "rb") as handle:
                data = handle.read().lower()
            if package not in found and any(name in data for name in wanted):
                found.append(package)
    return found


def has_generated() -> bool:
    """Tell whether generated data are installed."""
    return os.path.isdir(os.path.join(_FOLDER, _GENERATED))


def more(name: str) -> Any:
    """Return a module of the package oasis-catalogue, None without it."""
    try:
        return __import__("oasis.catalogue." + name, fromlist=(name,))
    except ModuleNotFoundError:
        return None


def bounds(root: Root, files: Files) -> Bounds | None:
    """Return what tells which values of options of code may be set, None where none may."""
    is_here = any(os.path.exists(f"{_FOLDER}/bounds{suffix}") for suffix in (".py", ".pyc"))
    found: Any = _Later(root, files) if is_here else None
    return found  # type: ignore[no-any-return]


class _Later:
    """Bounds that are loaded with their first question: few plans ask one."""

    def __init__(self, *where: object) -> None:
        self._where = where

    def __getattr__(self, name: str) -> Any:
        made = more("bounds").Bounds(*self._where)
        self.__dict__.update(error=made.error, allows=made.allows, told=made.told)
        return self.__dict__[name]


def _names(folder: str) -> list[str]:
    path = os.path.join(_FOLDER, folder)
    listed = os.listdir(path) if os.path.isdir(path) else []
    return sorted(name[:-5] for name in listed if name.endswith(".json"))


def _has(folder: str, package: str) -> bool:
    return "/" not in package and os.path.exists(os.path.join(_FOLDER, folder, package + ".json"))


def types(package: str) -> dict[str, SectionType]:
    """Return the section types of a package, none when the catalogue does not know it."""
    global _cache
    for name, found in _cache:
        if name == package:
            return found
    found = {}
    for folder in _BY_HAND:
        if _has(folder, package):
            found = _apart(jsonl.table(__file__, f"{folder}/{package}.json")["types"])
    if _has(_GENERATED, package):
        made: Generated = jsonl.table(__file__, "generated/" + package + ".json")
        _add(found, _apart(made["types"]), "review" if made.get("reviewed") else "rules")
    _add(found, _taken_up.get(package, {}), "installed")
    _cache = [(package, found), *_cache][:_KEPT]
    return found


def _apart(types: dict[str, Any]) -> dict[str, SectionType]:
    """Return types whose options stand together by what they are, as packages of ours have them: [[entry, names]]."""
    for whole in types.values():
        if isinstance(whole["options"], list):
            whole["options"] = {name: entry for entry, names in whole["options"] for name in names.split(" ")}
    return types


def take_up(files: dict[str, dict[str, SectionType]], awaited: Iterable[str] = ()) -> None:
    """Take up what packages have on this router, in place of what was taken up before; see installed.learn."""
    global _cache, _taken_up, _awaited
    _awaited = {*awaited}
    changed = {name for name in {*files, *_taken_up} if files.get(name) != _taken_up.get(name)}
    _taken_up = files
    _cache = [pair for pair in _cache if pair[0] not in changed]


def _add(found: dict[str, SectionType], made: dict[str, SectionType], origin: str) -> None:
    """Add what is generated to what is written by hand: nothing to a type that is forbidden, or open, as a whole."""
    for type_, whole in made.items():
        ours = found.get(_type_name(found, type_))
        if ours is not None and ("mark" in ours or "*" in ours["options"]):
            continue
        options: dict[str, str | Entry] = {}
        written = [one for one in (ours["options"] if ours else {}).values() if not isinstance(one, str)]
        wrong = {name for one in written for name in one.get("aka", [])}  # older names, which mean another one now
        for name, short in whole["options"].items():
            if name in wrong:
                continue
            entry: Entry = {"type": short} if isinstance(short, str) else short
            options[name] = {**entry, "generated": origin}
        both: SectionType = {**(whole if ours is None else ours)}
        both["options"] = options if ours is None else {**options, **ours["options"]}
        found[type_] = both


def services(package: str) -> list[str]:
    """Return the services that read a package, as generated data tell."""
    if not _has(_GENERATED, package):
        return []
    found: Generated = jsonl.table(__file__, "generated/" + package + ".json")
    return found.get("services", [])


def type_name(package: str, type_: str) -> str:
    """Return a type as the catalogue has it: wireguard_* for wireguard_home."""
    return _type_name(types(package), type_)


def _type_name(known: dict[str, SectionType], type_: str) -> str:
    stars = [name for name in known if name.endswith("*") and type_.startswith(name[:-1])]
    return type_ if type_ in known or not stars else stars[0]


def section_type(package: str, type_: str) -> SectionType | None:
    """Return the entry of a section type, None when there is none."""
    known = types(package)
    return known.get(type_) or known.get(type_name(package, type_))


def option(package: str, type_: str, name: str) -> Entry | None:
    """Return the entry of an option, in its long form and with its type's mark, None when there is none."""
    whole = section_type(package, type_)
    options = whole["options"] if whole else {}
    short = options.get(name, options.get("*"))
    if whole is None or short is None:
        return None
    entry: Entry = {"type": short} if isinstance(short, str) else {**short}
    if "mark" in whole and "mark" not in entry:
        entry["mark"] = whole["mark"]
        if "bound" in whole:
            entry.setdefault("bound", whole["bound"])
    if package in _awaited:
        entry["awaited"] = True
    return entry


def rules(package: str, type_: str, kind: Literal["needs", "only", "never"]) -> list[Rule]:
    """Return the rules of a type on options that depend on each other; `kind` is needs, only or never."""
    whole = section_type(package, type_)
    return whole.get(kind, []) if whole else []


def opens(package: str, type_: str) -> dict[str, dict[str, str]]:
    """Return who is let in by options of a type: {who: {option: pattern of the values that let nobody in, or ""}}."""
    whole = section_type(package, type_)
    found = whole.get("opens", {}) if whole else {}
    pairs = {who: [word.partition("=") for word in words.split(" ")] for who, words in found.items()}
    return {who: {name: _SHUT.get(shut, shut) for name, _, shut in pairs[who]} for who in found}


def option_names(package: str, type_: str) -> list[str]:
    """Return the names of a type's options that may be changed."""
    whole = section_type(package, type_)
    return [name for name in (whole["options"] if whole else ()) if mark(package, type_, name) != "exec"]


def may_be_set(package: str, type_: str, name: str) -> bool:
    """Tell whether some value of an option may be set: none of what is exec and has no bound."""
    entry: Entry = option(package, type_, name) or {"mark": "exec"}
    return entry.get("mark") != "exec" or "bound" in entry


def known_as(package: str, type_: str, wrong: str) -> list[str]:
    """Return the options that people and models often call by that wrong name."""
    every = {name: option(package, type_, name) or {} for name in option_names(package, type_)}
    return [name for name, entry in every.items() if wrong.lower() in entry.get("aka", [])]


def mark(package: str, type_: str, name: str) -> str:
    """Return "plain", "secret:CLASS", "outward" or "exec"; what has no entry is exec."""
    entry = option(package, type_, name)
    return "exec" if entry is None else entry.get("mark", "plain")


def is_code(package: str, type_: str) -> bool:
    """Tell whether sections of a type run code, or are the owner's, as a whole."""
    whole = section_type(package, type_)
    return whole is not None and whole.get("mark") == "exec"


def is_secret(package: str, type_: str, name: str) -> bool | None:
    """Tell whether an option holds a secret; None when the catalogue cannot: no entry, exec, or none by rule alone."""
    entry: Entry = option(package, type_, name) or {"mark": "exec"}
    found = entry.get("mark", "plain")
    if found.startswith("secret:") or entry.get("secret"):
        return True
    return None if found == "exec" or "generated" in entry else False


def origin(package: str, type_: str, name: str) -> str:
    """Return "rules", "review" or "installed" for an option that nobody wrote down by hand, "" for every other."""
    return (option(package, type_, name) or {}).get("generated", "")


def title(package: str, type_: str, name: str = "") -> str:
    """Return what people call an option, or with name "" a section type; "" when nobody said."""
    entry = option(package, type_, name) if name else section_type(package, type_)
    return entry.get("title", "") if entry else ""


_SHOWN = 3
# A longer word is no misspelt name, and the search takes the product of the lengths.
_LETTERS = 64
_ALL = 12  # so many names are simply listed when none is near


def nearest(word: str, names: list[str]) -> list[str]:
    """Return up to three names that `word` may have meant, the likeliest first."""
    if len(word) > _LETTERS:
        return []
    lower = word.lower()
    ranked = []
    for name in names:
        other = name.lower()
        cost = distance(lower, other)
        if other.startswith(lower) or other.endswith(lower) or (len(other) > 2 and other in lower):
            cost = min(cost, 2)
        if cost <= max(2, len(word) // 3):
            ranked.append((cost, name))
    return [name for _, name in sorted(ranked)[:_SHOWN]]


def closest(word: str, names: list[str]) -> list[str]:
    """Return the three names nearest to a word, however far they are."""
    lower = word[:_LETTERS].lower()
    return sorted(names, key=lambda name: (distance(lower, name.lower()), name))[:_SHOWN]


def hint(word: str, names: list[str]) -> str:
    """Return a sentence with the nearest names, or with all of them when they are few."""
    near = nearest(word, names)
    if near:
        return "did you mean {}".format(" or ".join(near))
    if not names:
        return ""
    rest = ", …" if len(names) > _ALL else ""
    return "there are: " + ", ".join(sorted(names)[:_ALL]) + rest


def distance(one: str, other: str) -> int:
    """Count the letters to insert, remove, replace or swap with the next one."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one):
        earlier, before, row = before, row, [at + 1]
        for place, candidate in enumerate(other):
            cost = min(before[place] + (letter != candidate), before[place + 1] + 1, row[place] + 1)
            if at and place and letter == other[place - 1] and one[at - 1] == candidate:
                cost = min(cost, earlier[place - 1] + 1)
            row.append(cost)
    return row[-1]
