"""libuci's operations on a loaded package, with the records they leave; knows no files.

A Pointer is libuci's uci_ptr: what `package.section.option=value` names, and what of it exists. Each operation changes
the package and, unless `silent`, appends a record to its delta. Every oddity is libuci's and on purpose: the delta must
replay to the same package. What people and models may ask for is an operation, checked first (`check`).
Source: libuci util.c (uci_parse_ptr), list.c.
"""

from __future__ import annotations

from oasis.errors import UciError
from oasis.uci import libuci
from oasis.uci.package import Package, Section, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Required, TypedDict

    class Step(TypedDict, total=False):
        """An operation whose package its caller adds: op and the keys that it needs, see below."""

        op: Required[str]
        section: str  # a name, `cfgXXXXXX` or `@type[n]`
        option: str
        value: str
        type: str
        name: str
        index: int

    class Operation(Step):
        """One operation on a package."""

        package: Required[str]


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
        self.extended = section is not None and not libuci.is_name(section)
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
            raise libuci.Refused(libuci.INVALID)
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
        or not libuci.is_type(pointer.package)
        or (pointer.option is not None and not libuci.is_name(pointer.option))
        or (pointer.value is not None and not libuci.is_value(pointer.value))
    ):
        raise libuci.Refused(libuci.PARSE)
    return pointer


def _extended(package: Package, pointer: Pointer) -> Section | None:
    """Find `@type[n]`, `@[n]`, n may be negative; the pointer takes the section's real name."""
    head, bracket, rest = (pointer.section or "").partition("[")
    digits, end, tail = rest.partition("]")
    index = _leading(digits or "0")
    is_whole = (digits or "0").lstrip(_BLANKS) == index
    if not (head.startswith("@") and bracket and end and not tail and index and is_whole):
        raise libuci.Refused(libuci.INVALID)
    type = head[1:]
    if type and not libuci.is_type(type):
        raise libuci.Refused(libuci.INVALID)
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
        raise libuci.Refused(libuci.INVALID)
    if pointer.option is None and value and not libuci.is_type(value):
        raise libuci.Refused(libuci.INVALID)
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
        raise libuci.Refused(libuci.NOT_FOUND)
    if section is None:
        raise libuci.Refused(libuci.INVALID)
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
        raise libuci.Refused(libuci.INVALID)
    if pointer.option is not None:
        section.append(pointer.option, value)
    if not silent:
        pointer.record(LIST_ADD, value)


def del_list(pointer: Pointer, silent: bool = False) -> None:
    """Remove every equal item from a list; the record is left even when there was none."""
    section, value = pointer.target, pointer.value
    if section is None or value is None:
        raise libuci.Refused(libuci.INVALID)
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
        raise libuci.Refused(libuci.NOT_FOUND)
    if section is None or value is None:
        raise libuci.Refused(libuci.INVALID)
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


# -- operations as dicts: checked, done on a package, written as lines of `uci batch` ---------------------------------
#
# Shape (op and the keys it needs; section is a name, `cfgXXXXXX` or `@type[n]`, n may be negative):
#     set       package section option value | package section type     reorder  package section index (int)
#     add       package type                                            rename   package section [option] name
#     add_list  package section option value                            delete   package section [option]
#     del_list  package section option value
# Stricter than libuci where libuci accepts what it later ignores: names that it would not read again, missing sections,
# new names that are taken, positions that are no number. Raises UciError naming package.section.option.

# The keys in addition to op and package: (needed, allowed in addition).
_KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "add": (("type",), ()),
    "add_list": (("section", "option", "value"), ()),
    "del_list": (("section", "option", "value"), ()),
    "delete": (("section",), ("option",)),
    "rename": (("section", "name"), ("option",)),
    "reorder": (("section", "index"), ()),
}
_SET_OPTION = (("section", "option", "value"), ())
_SET_SECTION = (("section", "type"), ())

_HINTS = {
    "package": "a package is the name of a file in /etc/config, without slashes",
    "section": "write a section's name or @type[n]",
    "option": "names of options hold letters, digits and _ only",
    "name": "a new name holds letters, digits and _ only",
    "type": "a section's type has no blanks",
    "value": "a value is text without control characters but tab and newline",
    "index": "the position is a number from 0",
}


def label(operation: Operation) -> str:
    """Return package.section.option of an operation, as far as it has them."""
    parts = [operation.get("package"), operation.get("section"), operation.get("option")]
    return ".".join(str(part) for part in parts if part is not None)


def check(operation: Operation) -> None:
    """Check the shape, the names and the value of an operation; raises UciError."""
    needed, more = _keys(operation)
    for key in ("package", *needed, *more):
        if key not in operation and key in more:
            continue
        if not _is_good(key, operation.get(key)):
            word = "is missing" if key not in operation else "is not valid"
            raise UciError(f"{label(operation)}: {key} of {operation.get('op')} {word}", _HINTS[key])
    unknown = [key for key in operation if key not in ("op", "package", *needed, *more)]
    if unknown:
        raise UciError(f"{label(operation)}: {operation.get('op')} takes no {unknown[0]}", "leave it out")


def apply(operation: Operation, package: Package) -> str | None:
    """Do a checked operation on the package, recording it; return the name of an added section."""
    try:
        return _apply(operation, package)
    except libuci.Refused as error:
        raise error.about(label(operation), _hint(error, operation))


def find(package: Package, section: str) -> Section | None:
    """Return the section of this name or `@type[n]`; raises UciError when it is malformed."""
    pointer = Pointer(package.name, section)
    try:
        pointer.look_up(package)
    except libuci.Refused as error:
        raise error.about(f"{package.name}.{section}", _HINTS["section"])
    return pointer.target


def batch_line(operation: Operation) -> str:
    """Return the line of `uci batch` for a checked operation; it may hold newlines inside quotes."""
    word, package = str(operation["op"]), str(operation["package"])
    if word == "add":
        return f"add {quote(package)} {quote(str(operation['type']))}\n"
    text = label(operation)
    value = operation.get(_value_key(operation))
    if value is not None:
        text += f"={value}"
    return f"{word} {quote(text)}\n"


def _keys(operation: Operation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    word = operation.get("op")
    if word == "set":
        return _SET_SECTION if "type" in operation and "option" not in operation else _SET_OPTION
    keys = _KEYS.get(word) if isinstance(word, str) else None
    if keys is None:
        raise UciError(f"{label(operation)}: unknown operation {word}", "one of set, " + ", ".join(_KEYS))
    return keys


def _is_good(key: str, value: object) -> bool:
    if key == "index":
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31
    if not isinstance(value, str):
        return False
    if key == "package":
        return libuci.is_package_name(value) and "." not in value and "=" not in value
    if key == "section":
        return libuci.is_name(value) or _is_extended(value)
    if key == "type":
        return libuci.is_type(value)
    if key == "value":
        return libuci.is_value(value) and _is_encodable(value)
    return libuci.is_name(value)


def _is_extended(value: str) -> bool:
    """Tell whether a text is `@type[number]`, `@[number]` included."""
    kind, bracket, number = value[1:].rpartition("[")
    is_number = number.endswith("]") and number[:-1].removeprefix("-").isdecimal() and number.isascii()
    is_kind = not kind or (libuci.is_type(kind) and "." not in kind and "=" not in kind)
    return value.startswith("@") and bool(bracket) and is_number and is_kind


def _is_encodable(value: str) -> bool:
    try:
        libuci.encode(value)
    except UnicodeEncodeError:
        return False
    return True


def _value_key(operation: Operation) -> str:
    word = operation["op"]
    if word == "set" and "option" not in operation:
        return "type"
    return {"rename": "name", "reorder": "index"}.get(str(word), "value")


def _apply(operation: Operation, package: Package) -> str | None:
    word = str(operation["op"])
    if word == "add":
        return add_section(package, str(operation["type"])).name
    option, value = operation.get("option"), operation.get(_value_key(operation))
    pointer = Pointer(
        package.name,
        str(operation["section"]),
        None if option is None else str(option),
        None if value is None else str(value),
    )
    pointer.look_up(package)
    is_new = word == "set" and option is None and not pointer.extended
    if pointer.target is None and not is_new:
        raise libuci.Refused(libuci.NOT_FOUND)
    if word == "rename":
        _check_new_name(package, pointer)
    if word == "reorder" and pointer.target is not None:
        reorder(package, pointer.target, int(str(value)))
    else:
        _OPERATIONS[word](pointer)
    return None


def _check_new_name(package: Package, pointer: Pointer) -> None:
    """Refuse a name that is taken: libuci would write both, and read only one of them back."""
    new = pointer.value or ""
    if pointer.option is None:
        is_taken = package.find(new) not in (None, pointer.target)
    else:
        is_taken = new != pointer.option and pointer.target is not None and new in pointer.target.options
    if is_taken:
        raise libuci.Refused(libuci.DUPLICATE)


def _hint(error: libuci.Refused, operation: Operation) -> str:
    if error.status == libuci.DUPLICATE:
        return f"{operation.get('name')} is there already"
    if error.status == libuci.NOT_FOUND:
        return f"package {operation['package']} has no such {'option' if 'option' in operation else 'section'}"
    return "write @type[n], n a number, for a section without a name"


_OPERATIONS = {
    "set": set_value,
    "add_list": add_list,
    "del_list": del_list,
    "delete": delete,
    "rename": rename,
}
