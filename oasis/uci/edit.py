"""libuci's operations on a loaded package, with the records they leave; knows no files.

A Pointer is libuci's uci_ptr: what `package.section.option=value` names, and what of it exists. Each operation changes
the package and appends a record to its delta, where it keeps one. Every oddity is libuci's and on purpose: the delta
must replay to the same package. What people and models may ask for is an operation, checked first (`check`).
Source: libuci util.c (uci_parse_ptr), list.c.
"""

from __future__ import annotations

from collections.abc import Callable

from oasis.errors import UciError
from oasis.uci import libuci
from oasis.uci.package import Package, Section, quote

if False:  # annotations only
    from typing import TypedDict

    class _Op(TypedDict):
        op: str

    class Step(_Op, total=False):
        """An operation whose package its caller adds: op and the keys that it needs, see below."""

        section: str  # a name, `cfgXXXXXX` or `@type[n]`
        option: str
        value: str
        type: str
        name: str
        index: int

    class _Package(TypedDict):
        package: str

    class Operation(Step, _Package):
        """One operation on a package."""


ADD, REMOVE, CHANGE, RENAME, REORDER, LIST_ADD, LIST_DEL = "+", "-", "", "@", "^", "|", "~"

_BLANKS = " \t\n\r\v\f"
_INT_BITS = 32
_LONG_MAX = 2**63 - 1
_UNSIGNED_LONG_MAX = 2**64 - 1
_DIGITS = 21  # more than either has: what is longer is out of bounds however it goes on, and Python refuses thousands


class Pointer:
    """What names stand for in a package, see `parse_pointer`; raises Refused for a malformed `@type[n]`.

    `target` is the section, None where there is none; `found` tells whether the option is there, `complete` whether all
    that is named is. An `extended` name (`@type[n]`) becomes the section's real one.
    """

    __slots__ = ("complete", "extended", "found", "option", "package", "section", "target", "value")

    def __init__(
        self, package: Package, section: str | None = None, option: str | None = None, value: str | None = None
    ) -> None:
        self.package = package
        self.section = section
        self.option = option
        self.value = value
        self.target: Section | None = None
        self.extended = section is not None and not libuci.is_name(section)
        if section is not None:
            self.target = self._extended(section) if self.extended else package.find(section)
        self.found = self.target is not None and option is not None and option in self.target.options
        self.complete = section is None or (self.target is not None and (option is None or self.found))

    def _extended(self, name: str) -> Section | None:
        """Find `@type[n]` or `@[n]`, n may be negative."""
        head, bracket, rest = name.partition("[")
        digits, end, tail = rest.partition("]")
        type, number = head[1:], leading_number(digits or "0")
        is_whole = not digits.lstrip(_BLANKS).lstrip("+-").strip("0123456789")
        is_well_formed = head.startswith("@") and bracket and end and not tail and is_whole
        if not is_well_formed or number is None or (type and not libuci.is_type(type)):
            raise libuci.Refused(libuci.INVALID)
        sections = [section for section in self.package.sections if not type or section.type == type]
        number += len(sections) if number < 0 else 0
        if not 0 <= number < len(sections):
            return None
        self.section = sections[number].name
        return sections[number]

    def record(self, command: str, value: str | None) -> None:
        """Note a change that was made to what is named."""
        self.package.record(command, self.section or "", self.option, value)


def parse_pointer(text: str) -> tuple[str, str | None, str | None, str | None]:
    """Parse `package[.section[.option]][=value]` into these four; raises Refused (PARSE)."""
    left, equals, given = text.partition("=")
    parts: list[str | None] = [*left.split(".")]
    package, section, option = (*parts, None, None)[:3]
    if (
        len(parts) > 3
        or not libuci.is_type(package or "")
        or (option is not None and not libuci.is_name(option))
        or not libuci.is_value(given)
    ):
        raise libuci.Refused(libuci.PARSE)
    return package or "", section, option, given if equals else None


def leading_number(text: str, least: int = -_LONG_MAX - 1, most: int = _LONG_MAX) -> int | None:
    """Return the number a text begins with, within bounds, then cut to C's int; None when it begins with another thing.

    Source: strtol, whose result libuci keeps as an int.
    """
    text = text.lstrip(_BLANKS)
    unsigned = text[1:] if text[:1] in ("+", "-") else text
    behind = unsigned.lstrip("0123456789")
    if behind == unsigned:
        return None
    digits = unsigned[: len(unsigned) - len(behind)].lstrip("0")[:_DIGITS] or "0"
    number = -int(digits) if text[:1] == "-" else int(digits)
    number = min(max(number, least), most) & ((1 << _INT_BITS) - 1)
    return number - (1 << _INT_BITS) if number >> (_INT_BITS - 1) else number


def position(text: str) -> int:
    """Return the position that libuci reads from a text: 0 for a word. Source: strtoul, then int."""
    number = leading_number(text, -_UNSIGNED_LONG_MAX, _UNSIGNED_LONG_MAX)
    return number or 0


def set_section(package: Package, section: Section | None, name: str, type: str) -> Section:
    """Give a section another type, or add one of this name and type where there is none; "" makes it anonymous."""
    if section is None:
        section = package.append(type, name)
        package.record(CHANGE if name else ADD, section.name, None, type)
    elif section.type != type:
        # libuci makes a new section with the old name when the type's length differs; a named one is not anonymous.
        section.become(type, section.name, section.anonymous and len(section.type) == len(type))
        package.record(CHANGE, name, None, type)
    return section


def set_option(package: Package, section: Section, option: str, value: str) -> None:
    """Give an option a value that it does not have."""
    if section.options.get(option) != value:
        section.options[option] = value
        package.record(CHANGE, section.name, option, value)


def set_value(pointer: Pointer) -> None:
    """Set an option, or make or retype a named section; an empty value deletes what exists."""
    section, option, value = pointer.target, pointer.option, pointer.value
    if value is None or pointer.section is None or (section is None and option is not None):
        raise libuci.Refused(libuci.INVALID)
    if option is None and value and not libuci.is_type(value):
        raise libuci.Refused(libuci.INVALID)
    if not value:
        if pointer.complete:
            delete(pointer)
    elif section is not None and option is not None:
        set_option(pointer.package, section, option, value)
    else:
        set_section(pointer.package, section, pointer.section, value)


def delete(pointer: Pointer) -> None:
    """Delete a section, an option, or with a number as value one item of a list."""
    section, option = pointer.target, pointer.option
    if not pointer.complete:
        raise libuci.Refused(libuci.NOT_FOUND)
    if section is None:
        raise libuci.Refused(libuci.INVALID)
    items = section.options[option] if option is not None else None
    if isinstance(items, list) and pointer.value:
        number = leading_number(pointer.value)
        if number is not None and 0 <= number < len(items):
            pointer.record(REMOVE, pointer.value)
            del items[number]
        return
    if option is None:
        pointer.package.remove(section)
    else:
        section.delete_option(option)
    pointer.record(REMOVE, None)


def add_list(pointer: Pointer) -> None:
    """Append an item to a list; an option becomes a list where it stands."""
    if pointer.target is None or pointer.value is None:
        raise libuci.Refused(libuci.INVALID)
    if pointer.option is not None:
        pointer.target.append(pointer.option, pointer.value)
    pointer.record(LIST_ADD, pointer.value)


def del_list(pointer: Pointer) -> None:
    """Remove every equal item from a list; the record is left even when there was none."""
    if pointer.target is None or pointer.value is None:
        raise libuci.Refused(libuci.INVALID)
    items = pointer.target.options.get(pointer.option or "")
    if isinstance(items, list):
        pointer.record(LIST_DEL, pointer.value)
        items[:] = [item for item in items if item != pointer.value]


def rename(pointer: Pointer) -> None:
    """Rename a section or an option."""
    section, value = pointer.target, pointer.value
    if not pointer.complete:
        raise libuci.Refused(libuci.NOT_FOUND)
    if section is None or value is None:
        raise libuci.Refused(libuci.INVALID)
    pointer.record(RENAME, value)
    if pointer.option is None:
        pointer.package.rename(section, value)
    else:
        section.rename_option(pointer.option, value)


def reorder(package: Package, section: Section, to: int) -> None:
    """Move a section to a position."""
    if package.move(section, to):
        package.record(REORDER, section.name, None, str(to))


# -- operations as dicts: checked, done on a package, written as lines of `uci batch` ---------------------------------
#
# Shape (op and the keys it needs; section is a name, `cfgXXXXXX` or `@type[n]`, n may be negative):
#     set       package section option value | package section type     reorder  package section index (int)
#     add       package type                                            rename   package section [option] name
#     add_list  package section option value                            delete   package section [option]
#     del_list  package section option value
# Stricter than libuci where libuci accepts what it later ignores: names that it would not read again, missing sections,
# new names that are taken, positions that are no number. Raises UciError naming package.section.option.

# Of each operation: the keys in addition to op and package, and which of them holds its value; `option` may be left out
# where it stands in brackets.
_KEYS = {
    "set": (("section", "option", "value"), "value"),
    "set section": (("section", "type"), "type"),
    "add": (("type",), "type"),
    "add_list": (("section", "option", "value"), "value"),
    "del_list": (("section", "option", "value"), "value"),
    "delete": (("section", "[option]"), ""),
    "rename": (("section", "name", "[option]"), "name"),
    "reorder": (("section", "index"), "index"),
}
_HINTS = {
    "package": "a package is the name of a file in /etc/config, without slashes",
    "section": "write a section's name or @type[n]",
    "option": "names of options hold letters, digits and _ only",
    "name": "a new name holds letters, digits and _ only",
    "type": "a section's type has no blanks",
    "value": "a value is text without control characters but tab and newline",
    "index": "the position is a number from 0",
}
_OPERATIONS = {"set": set_value, "add_list": add_list, "del_list": del_list, "delete": delete, "rename": rename}


def label(operation: Operation) -> str:
    """Return package.section.option of an operation, as far as it has them."""
    parts = [operation.get("package"), operation.get("section"), operation.get("option")]
    return ".".join(str(part) for part in parts if part is not None)


def _keys(operation: Operation) -> tuple[tuple[str, ...], str]:
    """Return the row of an operation in _KEYS."""
    word = operation.get("op")
    if word == "set" and "option" not in operation and "type" in operation:
        return _KEYS["set section"]
    if not isinstance(word, str) or word not in _KEYS or " " in word:
        words = ", ".join(word for word in _KEYS if " " not in word)
        raise UciError(f"{label(operation)}: unknown operation {word}", "one of " + words)
    return _KEYS[word]


def check(operation: Operation) -> None:
    """Check the shape, the names and the value of an operation; raises UciError."""
    known = ["op", "package"]
    for word in ("package", *_keys(operation)[0]):
        key = word.strip("[]")
        known.append(key)
        is_there = key in operation
        if (is_there or key == word) and not _is_good(key, operation.get(key)):
            fault = "is not valid" if is_there else "is missing"
            raise UciError(f"{label(operation)}: {key} of {operation['op']} {fault}", _HINTS[key])
    for key in operation:
        if key not in known:
            raise UciError(f"{label(operation)}: {operation['op']} takes no {key}", "leave it out")


def _is_good(key: str, value: object) -> bool:
    if key == "index":
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31
    if not isinstance(value, str):
        return False
    if key == "package":
        return libuci.is_package_name(value) and "." not in value and "=" not in value
    if key == "section" and value.startswith("@"):
        kind, bracket, number = value[1:].rpartition("[")
        is_number = number.endswith("]") and number[:-1].removeprefix("-").isdecimal() and number.isascii()
        is_kind = not kind or (libuci.is_type(kind) and "." not in kind and "=" not in kind)
        return bool(bracket) and is_number and is_kind
    if key == "type":
        return libuci.is_type(value)
    if key == "value":
        try:
            libuci.encode(value)
        except UnicodeEncodeError:
            return False
        return libuci.is_value(value)
    return libuci.is_name(value)


def apply(operation: Operation, package: Package) -> str | None:
    """Do a checked operation on the package, recording it; return the name of an added section."""
    word, option = operation["op"], operation.get("option")
    if word == "add":
        return set_section(package, None, "", operation["type"]).name
    value = operation.get(_keys(operation)[1])
    try:
        pointer = Pointer(package, operation["section"], option, None if value is None else str(value))
        section = pointer.target
        if section is None and (word != "set" or option is not None or pointer.extended):
            raise libuci.Refused(libuci.NOT_FOUND)
        if word == "rename" and section is not None:
            # libuci would write both of two equal names, and read only one of them back.
            new = operation["name"]
            is_taken = new != option and new in section.options
            if is_taken if option is not None else package.find(new) not in (None, section):
                raise libuci.Refused(libuci.DUPLICATE)
        if word == "reorder" and section is not None:
            reorder(package, section, operation["index"])
        else:
            _OPERATIONS[word](pointer)
    except libuci.Refused as error:
        hint = "write @type[n], n a number, for a section without a name"
        if error.status == libuci.DUPLICATE:
            hint = f"{operation.get('name')} is there already"
        elif error.status == libuci.NOT_FOUND:
            hint = f"package {package.name} has no such {'section' if option is None else 'option'}"
        raise error.about(label(operation), hint)
    return None


def apply_all(steps: list[Operation], read: Callable[[str], Package]) -> tuple[dict[str, Package], list[str | None]]:
    """Check operations and do them on the packages that `read` gives; return these, and the name of each added section.

    Raises: UciError naming the operation's number, counted from 1, and its package.section.option.
    """
    packages: dict[str, Package] = {}
    added: list[str | None] = []  # one for each operation, None for all but `add`
    for number, operation in enumerate(steps, 1):
        try:
            check(operation)
            name = operation["package"]
            if name not in packages:
                packages[name] = read(name)
            added.append(apply(operation, packages[name]))
        except UciError as error:
            raise UciError(f"operation {number}: {error.message}", error.hint)
    return packages, added


def find(package: Package, section: str) -> Section | None:
    """Return the section of this name or `@type[n]`; raises UciError when it is malformed."""
    try:
        return Pointer(package, section).target
    except libuci.Refused as error:
        raise error.about(f"{package.name}.{section}", _HINTS["section"])


def batch_line(operation: Operation) -> str:
    """Return the line of `uci batch` for a checked operation; it may hold newlines inside quotes."""
    word = operation["op"]
    if word == "add":
        return f"add {quote(operation['package'])} {quote(operation['type'])}\n"
    value = operation.get(_keys(operation)[1])
    return f"{word} {quote(label(operation) + ('' if value is None else f'={value}'))}\n"
