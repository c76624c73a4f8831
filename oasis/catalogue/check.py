"""Check UCI operations against the catalogue before anything else looks at them: no invented options, no code.

`check` follows the operations one by one, so that a section made by an earlier one has its type for a later one.
Setting an option to the value that it has is no change and never a finding. Nothing is refused here: callers decide.

Shape of a finding: {"number": index of the operation, "kind", "where": "package.section.option", "message", "hint"};
kind is unknown_package, unknown_type, unknown_option, bad_value, exec (runs code, names a file: the owner's alone),
missing_reference (names a section, zone, network or bridge that will not exist) or missing_dependency. A secret's value
is in no message.

Dependencies are options that others need, options that nothing reads under the section's protocol or mode, and values
that exclude each other. Only what the change itself causes counts: a section that was already so can still be changed
elsewhere. The rules are data of the catalogue (entries.py) and never about secrets, because messages show the values.
"""

from __future__ import annotations

import re

from oasis.catalogue import entries, validators
from oasis.catalogue.draft import Draft, find
from oasis.catalogue.entries import (
    is_code,
    known_as,
    mark,
    option,
    option_names,
    origin,
    packages,
    section_type,
    services,
    title,
    types,
)
from oasis.uci.edit import label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis.catalogue.bounds import Bounds
    from oasis.catalogue.shapes import Entry, Finding, ReadPackage, Section, Sections
    from oasis.uci.edit import Operation


__all__ = ["check", "is_code", "mark", "origin", "title"]

# ref: (package, section type, option that holds the name; "" is the section's own name)
TARGETS = {
    "interface": ("network", "interface", ""),
    "zone": ("firewall", "zone", "name"),
    "radio": ("wireless", "wifi-device", ""),
    "ipset": ("firewall", "ipset", "name"),
    "bridge": ("network", "device", "name"),
    "tracked": ("mwan3", "interface", ""),
    "member": ("mwan3", "member", ""),
    "policy": ("mwan3", "policy", ""),
}
_SWITCHES = ("enable", "enabled", "disable", "disabled")
_VALUE_CHARS = 100  # of a bad value, in a message: enough to know it again
_HINTED = 20  # findings for which the nearest names are looked for; whoever is wrong more often guesses
_MORE = "; the package oasis-catalogue of Oasis, which is not installed, knows more packages"
# names that mean something without a section
_GIVEN = {"policy": ["default", "unreachable", "blackhole"]}


def check(
    operations: list[Operation], read_package: ReadPackage, bounds: Bounds | None = None, presumed: Iterable[str] = ()
) -> list[Finding]:  # fmt: skip
    """Return what is wrong with the operations, in their order; an empty list when nothing is.

    `read_package(name)` gives the sections as they are: {section name: {".type", option: str | [str]}}. Without the
    `bounds` of a router no option that is marked exec may be set. Of packages that are `presumed` nobody knows yet what
    else is in them.
    """
    review = _Review(Draft(read_package), bounds, {*presumed})
    for number, operation in enumerate(operations):
        review.take(number, operation)
    review.check_together()
    return sorted(review.findings, key=lambda finding: finding["number"])


class _Review:
    def __init__(self, draft: Draft, bounds: Bounds | None, presumed: set[str]) -> None:
        self.findings: list[Finding] = []
        self._draft, self._bounds, self._presumed = draft, bounds, presumed
        self._references: list[tuple[int, str, str, str]] = []
        self._touched: dict[str, int] = {}

    def take(self, number: int, operation: Operation) -> None:
        """Check one operation and follow it."""
        package, op, section = operation["package"], operation["op"], ""
        if not types(package):
            hint = self._near(package, _known()) + ("" if entries.has_generated() else _MORE)
            self._say(number, operation, "unknown_package", f"the package {package!r} is not known to Oasis", hint)
            return
        self._touched[package] = number
        if op == "add":
            self._check_new(number, operation)
        elif op == "set" and "option" not in operation:
            section = find(self._draft.sections(package), operation["section"])
            found = self._draft.sections(package).get(section, {})
            if found.get(".type") != operation["type"]:
                if self._check_new(number, operation):
                    for kept in found:
                        if not kept.startswith("."):  # a retyped section keeps its options, and here they may mean code
                            self._entry(number, {**operation, "option": kept}, operation["type"])
                if not section and operation["section"].startswith("@"):
                    self._section(number, operation)
        else:
            section = self._section(number, operation)
            if section:
                self._check_change(number, operation, section)
        self._draft.follow(operation, section)

    def _check_change(self, number: int, operation: Operation, section: str) -> None:
        package, op, name = operation["package"], operation["op"], operation.get("option", "")
        found = self._draft.sections(package)[section]
        if op == "delete" or (op == "set" and not operation["value"]):
            # What an option ran is gone with it, unless the section itself is what runs code. There, what is left
            # runs otherwise: a script that `enabled` kept from running is run without it.
            type_ = str(found[".type"])
            beyond = self._beyond(operation, section) if name in found and is_code(package, type_) else ""
            if beyond:
                self._entry(number, operation, type_, beyond=beyond)
        elif op == "set":
            if found.get(name) != operation["value"]:
                self._check_value(number, operation, section, operation["value"], True)
        elif op == "add_list":
            self._check_value(number, operation, section, operation["value"], False)
        elif op == "del_list":
            self._entry(number, operation, str(found[".type"]), True)
        elif op == "rename" and name:
            value = found.get(name)
            renamed: Operation = {**operation, "option": operation["name"]}
            for item in value if isinstance(value, list) else [value or ""]:
                self._check_value(number, renamed, section, str(item), not isinstance(value, list))

    def _section(self, number: int, operation: Operation) -> str:
        package, wanted = operation["package"], operation["section"]
        found = find(self._draft.sections(package), wanted)
        if not found:
            sections = self._draft.sections(package)
            if "@" in wanted:
                type_ = wanted[1:].partition("[")[0]
                count = [section[".type"] for section in sections.values()].count(type_)
                hint = f"there are {count} of that type: @{type_}[0] to @{type_}[{count - 1}]"
                hint = hint if count else "there is none of that type; read the package first"
            else:
                named = {name: str(section[".type"]) for name, section in sections.items() if " " not in name}
                hint = self._near(wanted, [name for name in named if not is_code(package, named[name])])
            text = f"there is no section {wanted!r} in {package}"
            self._say(number, operation, "missing_reference", text, hint)
        return found

    def _check_type(self, number: int, operation: Operation, type_: str) -> bool:
        package = operation["package"]
        if section_type(package, type_) is not None:
            return True
        text = f"{package} has no section type {type_!r} that Oasis knows"
        self._say(number, operation, "unknown_type", text, self._near(type_, _makeable(package)))
        return False

    def _check_new(self, number: int, operation: Operation) -> bool:
        """Check the type of a section that is made, or gets another one."""
        type_ = operation["type"]
        whole = section_type(operation["package"], type_)
        if is_code(operation["package"], type_) and not (self._bounds and whole and "bound" in whole):
            text = f"sections of type {type_} in {operation['package']} run code or belong to the owner"
            self._say(number, operation, "exec", text, "leave it out; only the owner makes one, by hand")
            return False
        return self._check_type(number, operation, type_)

    def _beyond(self, operation: Operation, section: str) -> str:
        """Return the option for which a section of code is the owner's alone, * where its type has no bound; or ""."""
        package, found = operation["package"], self._draft.sections(operation["package"])[section]
        type_ = str(found[".type"])
        whole = section_type(package, type_)
        if self._bounds is None or whole is None or "bound" not in whole:
            return "*"
        held = {name: value for name, value in found.items() if not name.startswith(".")}
        return next((name for name in held if not self._bounds.allows(option(package, type_, name), held[name])), "")

    def _entry(
        self, number: int, operation: Operation, type_: str, is_bounded: bool = False, beyond: str = ""
    ) -> Entry | None:
        """Return the entry of the operation's option when it may be changed; else there is a finding.

        `is_bounded`: the value is held against the bound of an option that is marked exec, or none is set; `beyond`:
        the option for which the whole section is the owner's.
        """
        package, name = operation["package"], operation["option"]
        entry = option(package, type_, name)
        if entry is None:
            if self._check_type(number, operation, type_):
                text = f"sections of type {type_} in {package} have no option {name!r}"
                meant = known_as(package, type_, name)
                hint = "did you mean " + " or ".join(meant) if meant else ""
                known = option_names(package, type_)
                switched = services(package) if name in _SWITCHES and not {*_SWITCHES} & {*known} else []
                if switched and not hint:
                    hint = f"it has no such switch: enable, start, stop or disable the service {switched[0]} instead"
                hint = hint or self._near(name, known)
                self._say(number, operation, "unknown_option", text, hint)
            return None
        if entry.get("mark") == "exec" and not (is_bounded and self._bounds and "bound" in entry):
            text = f"{label(operation)} runs code, names a file or folder, or belongs to the owner"
            if entry.get("generated") == "installed":
                text += ", by its name or by the value that it has"
            if beyond not in ("", "*"):
                text += f", as long as {beyond} of the section is what it is"
            self._say(number, operation, "exec", text, "leave it out; only the owner changes it, by hand")
            return None
        return entry

    def _check_value(self, number: int, operation: Operation, section: str, value: str, is_whole: bool) -> None:
        """Check a value; `is_whole` when it is the option's whole value, in which a list may have several words."""
        type_ = str(self._draft.sections(operation["package"])[section][".type"])
        beyond = self._beyond(operation, section) if is_code(operation["package"], type_) else ""
        entry = self._entry(number, operation, type_, not beyond, beyond)
        if entry is None:
            return
        if not is_whole and not entry.get("list"):
            text = f"{label(operation)} takes one value, not a list"
            self._say(number, operation, "bad_value", text, "use set")
            return
        words = [value]
        wrong = self._error(entry, value)
        if wrong and is_whole and entry.get("list"):
            words = value.split()
            wrong = next((text for text in (self._error(entry, word) for word in words) if text), "")
        if not wrong:
            ref = entry.get("ref")
            self._references += [(number, label(operation), ref, word) for word in words] if ref is not None else []
            return
        shown = value if len(value) <= _VALUE_CHARS else value[:_VALUE_CHARS] + "…"
        text = f"{label(operation)} cannot be {shown!r}"
        # in place of a key's file somebody may give the key
        if entry.get("mark", "").startswith("secret") or entry.get("secret") or entry.get("bound") == "pemkey":
            text = f"{label(operation)} cannot have that value"
        if entry.get("mark") == "exec":
            text += ", because it runs code or names a file or server" if entry.get("bound") != "plain" else ""
            self._say(number, operation, "exec", text, wrong + "; only the owner sets anything else, by hand")
            return
        near = entries.nearest(value, entry.get("values", []))
        self._say(number, operation, "bad_value", text, wrong + (f"; did you mean {near[0]}" if near else ""))

    def _error(self, entry: Entry, value: str) -> str:
        """Return why a value is none of its option, or beyond its bound on this router."""
        if self._bounds is not None and "bound" in entry:
            return self._bounds.error(entry, value)
        return validators.of_entry(entry, value)

    def check_together(self) -> None:
        """Check what the operations give together: names that are not there, and what the new values call for."""
        for number, where, ref, value in self._references:
            ref, value = plain_reference(ref, value)
            names = [] if TARGETS.get(ref, ("",))[0] in self._presumed else self._names(ref, False)
            if names and value not in names and value != "*":
                text = f"{where} names the {ref} {value!r}, which does not exist"
                self._add(number, "missing_reference", where, text, self._near(value, names))
        if self.findings:
            return  # a name that was only misspelt would look removed everywhere
        for package in list(self._draft.read):  # nothing may name what the operations removed or renamed
            for name, section in self._draft.sections(package).items():
                for key, given in section.items():
                    entry = option(package, str(section[".type"]), key) if not key.startswith(".") else None
                    if not entry or "ref" not in entry:
                        continue
                    where = f"{package}.{self._draft.shown(package, name)}.{key}"
                    for word in given if isinstance(given, list) else str(given).split():
                        kind, target = plain_reference(entry["ref"], str(word))
                        touched = self._touched.get(TARGETS.get(kind, ("",))[0])
                        is_lost = touched is not None and target not in self._names(kind, False)
                        if touched is not None and is_lost and target in self._names(kind, True):
                            text = f"{where} still names the {kind} {target!r}, which is removed"
                            self._add(touched, "missing_reference", where, text, "change or delete it too")
        for package, number in self._touched.items():
            for name, section in self._draft.sections(package).items() if package not in self._presumed else ():
                for option_, text, hint in missing(package, self._draft.earlier(package, name), section):
                    where = f"{package}.{self._draft.shown(package, name)}.{option_}"
                    self._add(number, "missing_dependency", where, f"{where}: {text}", hint)

    def _near(self, word: str, names: list[str]) -> str:
        return entries.hint(word, names) if len(self.findings) < _HINTED else ""

    def _names(self, ref: str, is_before: bool) -> list[str]:
        if ref not in TARGETS:
            return []
        package = TARGETS[ref][0]
        return target_names(ref, self._draft.before(package) if is_before else self._draft.sections(package))

    def _say(self, number: int, operation: Operation, kind: str, message: str, hint: str) -> None:
        self._add(number, kind, label(operation), message, hint)

    def _add(self, number: int, kind: str, where: str, message: str, hint: str) -> None:
        self.findings.append({"number": number, "kind": kind, "where": where, "message": message, "hint": hint})


def target_names(ref: str, sections: Sections) -> list[str]:
    """Return the names that a reference of a kind may have, given the sections of its package."""
    _, type_, key = TARGETS[ref]
    found = [name if not key else str(s.get(key, "")) for name, s in sections.items() if s[".type"] == type_]
    if ref == "bridge":
        found += ["br-" + name for name, s in sections.items() if s.get("type") == "bridge"]
    return [name for name in found if name] + _GIVEN.get(ref, [])


def _known() -> list[str]:
    """Return the packages that a name may have meant: of those by hand none that is the owner's alone."""
    mine = entries.by_hand()
    return [name for name in packages() if name not in mine or _makeable(name)]


def _makeable(package: str) -> list[str]:
    """Return the section types of a package that a model may make: what is the owner's alone is never suggested."""
    return [name for name in types(package) if not is_code(package, name)]


def plain_reference(ref: str, value: str) -> tuple[str, str]:
    """Return what is named, without a firewall's `!`.

    Which devices there are only the kernel knows; but an alias (@lan) needs its network, and a bridge (br-lan,
    br-lan.5) its section, except Docker's.
    """
    value = value.lstrip("! ")
    if ref != "device":
        return ref, value
    if value.startswith("@"):
        return "interface", value[1:]
    base = value.partition(".")[0]
    is_bridge = base.startswith("br-") and not re.match("br-[0-9a-f]{12}$", base)
    return ("bridge", base) if is_bridge else ("device", value)


def missing(package: str, before: Section | None, now: Section) -> list[tuple[str, str, str]]:
    """Return (option, what is wrong, what to do) for each rule that the section breaks and did not break before.

    `before` is the section as it was, None when it is new. Shape of both: {".type", option: str | [str]}.
    """
    type_ = str(now[".type"])
    if before is not None and before[".type"] != type_:
        before = None
    found = []
    for rule in entries.rules(package, type_, "needs"):
        names, when = rule["one_of"], rule["when"]
        if _holds(when, now) and not any(now.get(name) for name in names) and _differs([*when, *names], before, now):
            settable = [name for name in names if entries.may_be_set(package, type_, name)]
            first = " or ".join(settable or names) + ("" if settable else ", which only the owner sets, by hand")
            cause = " with " + _condition(when, now) if when else ""
            found.append((names[0], f"a {type_} section{cause} needs {first}", rule.get("hint", f"set {first} too")))
    rules = entries.rules(package, type_, "only")
    for name in now if rules else ():
        about = [rule["when"] for rule in rules if name in rule["options"]]
        if about and _differs([name], before, now) and not any(_holds(when, now) for when in about):
            keys = sorted({key for when in about for key in when})
            wanted = " or ".join(
                " and ".join(f"{key} {pattern.replace('|', ', ')}" for key, pattern in when.items()) for when in about
            )
            text = f"{name} is not read with " + _condition(dict.fromkeys(keys, ""), now)
            found.append((name, text, f"it belongs to {wanted}; leave it out, or change that first"))
    for rule in entries.rules(package, type_, "never"):
        when = rule["when"]
        if _holds(when, now) and _differs(when, before, now):
            found.append((next(iter(when)), "there is no " + _condition(when, now), rule["hint"]))
    return found


def _holds(when: dict[str, str], section: Section) -> bool:
    return all(
        any(re.match(f"(?:{pattern})\\Z", word) for word in _words(section.get(key))) for key, pattern in when.items()
    )


def _words(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else [str(value or "")]


def _differs(names: Iterable[str], before: Section | None, now: Section) -> bool:
    return before is None or any(before.get(name) != now.get(name) for name in names)


def _condition(when: dict[str, str], section: Section) -> str:
    return " and ".join(f"{key} {' '.join(_words(section.get(key))) or '(not set)'}" for key in when)
