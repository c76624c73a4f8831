"""libuci's operations on a loaded package, with the records they leave; knows no files.

A Pointer is libuci's uci_ptr: what `package.section.option=value` names, and what of it exists. Each operation changes
the package and, unless `silent`, appends a record to its delta. Every oddity is libuci's and on purpose: the delta must
replay to the same package. What people and models may ask for is checked before, in `operations`.
Source: libuci util.c (uci_parse_ptr), list.c.
"""

from __future__ import annotations

from oasis.uci import names, refusal
from oasis.uci.package import Package, Section

ADD, REMOVE, CHANGE, RENAME, REORDER, LIST_ADD, LIST_DEL = "+", "-", "", "@", "^", "|", "~"

_BLANKS = " \t\n\r\v\f"
_DIGITS = frozenset("0123456789")
_INT_BITS = 32
_LONG_MAX = 2**63 - 1
_UNSIGNED_LONG_MAX = 2**64 - 1


class Pointer:
    """The names of an element and, once placed, the elements themselves."""

    __slots__ = ("complete", "extended", "found", "option", "package", "place_in", "section", "target", "value")

    def __init__(self, package: str, section: str | None = None, option: str | None = None, value: str | None = None):
        self.package = package
        self.section = section
        self.option = option
        self.value = value
        self.extended = section is not None and not names.is_name(section)
        self.complete = False
        self.found = False
        self.place_in: Package | None = None
        self.target: Section | None = None

    def look_up(self, package: Package) -> None:
        """Find the section and option in the package; raises Refused for a malformed `@type[n]`."""
        self.place_in = package
        if self.section is None:
            self.complete = True
            return
        self.target = _extended(package, self) if self.extended else package.find(self.section)
        if self.target is None:
            return
        self.found = self.option is not None and self.option in self.target.options
        self.complete = self.option is None or self.found

    def place(self, package: Package, section: Section | None) -> None:
        """Take package and section as found; the option is looked up, and the pointer never counts as complete."""
        self.place_in = package
        self.target = section
        self.found = section is not None and self.option is not None and self.option in section.options

    def owner(self) -> Package:
        """Return the package looked up."""
        if self.place_in is None:
            raise refusal.Refused(refusal.INVALID)
        return self.place_in

    def record(self, command: str, value: str | None) -> None:
        """Append a record to the delta of a package that keeps one."""
        package = self.owner()
        if package.has_delta:
            package.delta.append((command, self.section or "", self.option, value))


def parse_pointer(text: str) -> Pointer:
    """Parse `package[.section[.option]][=value]`; raises Refused (PARSE)."""
    left, equals, value = text.partition("=")
    parts: list[str | None] = [*left.split(".")]
    package, section, option = (*parts, None, None)[:3]
    pointer = Pointer(package or "", section, option, value if equals else None)
    if (
        len(parts) > 3
        or not names.is_type(pointer.package)
        or (pointer.option is not None and not names.is_name(pointer.option))
        or (pointer.value is not None and not names.is_value(pointer.value))
    ):
        raise refusal.Refused(refusal.PARSE)
    return pointer


def _extended(package: Package, pointer: Pointer) -> Section | None:
    """Find `@type[n]`, `@[n]`, n may be negative; the pointer takes the section's real name."""
    head, bracket, rest = (pointer.section or "").partition("[")
    digits, end, tail = rest.partition("]")
    index = _leading(digits or "0")
    is_whole = (digits or "0").lstrip(_BLANKS) == index
    if not (head.startswith("@") and bracket and end and not tail and index and is_whole):
        raise refusal.Refused(refusal.INVALID)
    type = head[1:]
    if type and not names.is_type(type):
        raise refusal.Refused(refusal.INVALID)
    sections = [section for section in package.sections if not type or section.type == type]
    number = leading_number(index) or 0
    number += len(sections) if number < 0 else 0
    if not 0 <= number < len(sections):
        return None
    pointer.section = sections[number].name
    return sections[number]


def _as_int(number: int) -> int:
    """Cut a number as C's conversion to int does."""
    number &= (1 << _INT_BITS) - 1
    return number - (1 << _INT_BITS) if number >> (_INT_BITS - 1) else number


def leading_number(text: str) -> int | None:
    """Return the number a text begins with, cut to C's int; None when it begins with something else."""
    found = _leading(text)
    return _as_int(min(max(int(found), -_LONG_MAX - 1), _LONG_MAX)) if found else None


def _leading(text: str) -> str:
    """Return the number that a text begins with, after blanks, as it is written; "" for none."""
    text = text.lstrip(_BLANKS)
    end = start = 1 if text[:1] in ("+", "-") else 0
    while end < len(text) and text[end] in _DIGITS:
        end += 1
    return text[:end] if end > start else ""


def position(text: str) -> int:
    """Return the position that libuci reads from a text: 0 for a word. Source: strtoul, then int."""
    number = int(_leading(text) or "0")
    if abs(number) > _UNSIGNED_LONG_MAX:
        number = _UNSIGNED_LONG_MAX
    return _as_int(number)


def add_section(package: Package, type: str, silent: bool = False) -> Section:
    """Add an anonymous section at the end."""
    section = package.append(type, "")
    if not silent and package.has_delta:
        package.delta.append((ADD, section.name, None, type))
    return section


def set_value(pointer: Pointer, silent: bool = False) -> None:
    """Set an option, or make or retype a named section; an empty value deletes what exists."""
    package, section, value = pointer.owner(), pointer.target, pointer.value
    if value is None or pointer.section is None or (section is None and pointer.option is not None):
        raise refusal.Refused(refusal.INVALID)
    if pointer.option is None and value and not names.is_type(value):
        raise refusal.Refused(refusal.INVALID)
    if not value:
        if pointer.complete:
            delete(pointer)
        return
    if section is None:
        pointer.target = package.append(value, pointer.section)
    elif pointer.option is not None:
        if section.options.get(pointer.option) == value:
            return
        section.options[pointer.option] = value
    elif not _retype(section, value):
        return
    if not silent:
        pointer.record(CHANGE, value)


def _retype(section: Section, type: str) -> bool:
    if section.type == type:
        return False
    # libuci makes a new section with the old name when the type's length differs; a named one is not anonymous.
    if len(section.type) != len(type):
        section.anonymous = False
    section.type = type
    return True


def delete(pointer: Pointer, silent: bool = False) -> None:
    """Delete a section, an option, or with a number as value one item of a list."""
    package, section = pointer.owner(), pointer.target
    if not pointer.complete:
        raise refusal.Refused(refusal.NOT_FOUND)
    if section is None:
        raise refusal.Refused(refusal.INVALID)
    if pointer.option is None:
        package.remove(section)
    else:
        value = section.options[pointer.option]
        if isinstance(value, list) and pointer.value:
            _delete_item(pointer, value, silent)
            return
        section.delete_option(pointer.option)
    if not silent:
        pointer.record(REMOVE, None)


def _delete_item(pointer: Pointer, items: list[str], silent: bool) -> None:
    number = leading_number(pointer.value or "")
    if number is None or not 0 <= number < len(items):
        return
    if not silent:
        pointer.record(REMOVE, pointer.value)
    del items[number]


def add_list(pointer: Pointer, silent: bool = False) -> None:
    """Append an item to a list; an option becomes a list where it stands."""
    section, value = pointer.target, pointer.value
    if section is None or value is None:
        raise refusal.Refused(refusal.INVALID)
    if pointer.option is not None:
        current = section.options.get(pointer.option)
        if isinstance(current, list):
            current.append(value)
        else:
            section.options[pointer.option] = [value] if current is None else [current, value]
    if not silent:
        pointer.record(LIST_ADD, value)


def del_list(pointer: Pointer, silent: bool = False) -> None:
    """Remove every equal item from a list; the record is left even when there was none."""
    section, value = pointer.target, pointer.value
    if section is None or value is None:
        raise refusal.Refused(refusal.INVALID)
    current = section.options.get(pointer.option or "")
    if not isinstance(current, list):
        return
    if not silent:
        pointer.record(LIST_DEL, value)
    current[:] = [item for item in current if item != value]


def rename(pointer: Pointer, silent: bool = False) -> None:
    """Rename a section or an option."""
    package, section, value = pointer.owner(), pointer.target, pointer.value
    if not pointer.complete:
        raise refusal.Refused(refusal.NOT_FOUND)
    if section is None or value is None:
        raise refusal.Refused(refusal.INVALID)
    if not silent:
        pointer.record(RENAME, value)
    if pointer.option is None:
        package.rename(section, value)
    else:
        section.rename_option(pointer.option, value)


def reorder(package: Package, section: Section, to: int, silent: bool = False) -> None:
    """Move a section to a position."""
    if package.move(section, to) and not silent and package.has_delta:
        package.delta.append((REORDER, section.name, None, str(to)))
