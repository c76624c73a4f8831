"""Changes to a loaded package: libuci's records, and the operations that people and models may ask for; knows no files.

`perform` does what a record says, as libuci in an operation and in the replay of a delta. Every oddity is libuci's and
on purpose: the delta must replay to the same package. Operations are checked first (`check`), done on a package
(`apply`) and written as lines of `uci batch`. Source: libuci list.c, delta.c.

Shape of an operation (op and the keys it needs; section is a name, `cfgXXXXXX` or `@type[n]`, n may be negative):
    set       package section option value | package section type     reorder  package section index (int)
    add       package type                                            rename   package section [option] name
    add_list  package section option value                            delete   package section [option]
    del_list  package section option value
Stricter than libuci where libuci accepts what it later ignores: names that it would not read again, missing sections,
new names that are taken, positions that are no number. Raises UciError naming package.section.option.
"""

from __future__ import annotations

from oasis.errors import UciError
from oasis.uci import package as names
from oasis.uci.package import INVALID, NOT_FOUND, Package, Record, Refused, Section, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Required, TypedDict

    class Step(TypedDict, total=False):
        """An operation whose package its caller adds: op and the keys that it needs, see above."""

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

_INT_BITS = 32
_LONG_MAX = 2**63 - 1
_UNSIGNED_LONG_MAX = 2**64 - 1
_DIGITS_MAX = 25  # more than the largest of these has


def perform(package: Package, record: Record) -> Record | None:
    """Do what a record says; return the record that libuci leaves of it, None where nothing changed. Raises Refused."""
    command, name, option, value = record
    section = package.find(name)
    if command in (ADD, CHANGE):
        return _set(package, section, record)
    if command in (REMOVE, RENAME, REORDER) and (section is None or (option and option not in section.options)):
        raise Refused(NOT_FOUND)
    if section is None or (value is None and command != REMOVE):
        raise Refused(INVALID)
    value = value or ""
    if command == REMOVE:
        return _remove(package, section, option, value)
    if command == REORDER:
        place = position(value)
        return (REORDER, name, None, str(place)) if package.move(section, place) else None
    if command == LIST_DEL:
        items = section.options.get(option or "")
        if not isinstance(items, list):
            return None
        items[:] = [item for item in items if item != value]
    elif command == LIST_ADD and option is not None:
        section.append(option, value)
    elif command == RENAME and option is None:
        package.rename(section, value)
    elif command == RENAME:
        section.rename_option(option or "", value)
    return record


def _set(package: Package, section: Section | None, record: Record) -> Record | None:
    """Set an option, or make or retype a section; an empty value deletes what exists."""
    command, name, option, value = record
    if value is None or (section is None and option is not None):
        raise Refused(INVALID)
    if option is None and value and not names.is_type(value):
        raise Refused(INVALID)
    if not value:
        exists = section is not None and (option is None or option in section.options)
        return _remove(package, section, option, "") if section is not None and exists else None
    is_changed = True
    if section is None:
        section = package.append(value, name)
    elif option is not None:
        is_changed = section.options.get(option) != value
        section.options[option] = value
    else:
        is_changed = section.retype(value)
    if command == ADD and option is None:
        section.rename(name, True)
    return record if is_changed else None


def _remove(package: Package, section: Section, option: str | None, value: str) -> Record | None:
    """Delete a section, an option, or with a number as value one item of a list."""
    if option is None:
        package.remove(section)
        return REMOVE, section.name, None, None
    items = section.options[option]
    if not isinstance(items, list) or not value:
        section.delete_option(option)
        return REMOVE, section.name, option, None
    number = leading_number(value)
    if number is None or not 0 <= number < len(items):
        return None
    del items[number]
    return REMOVE, section.name, option, value


def leading_number(text: str) -> int | None:
    """Return the number a text begins with, as strtol and a conversion to int give it; None for none."""
    number = _leading(text)
    return None if number is None else _as_int(min(max(number, -_LONG_MAX - 1), _LONG_MAX))


def position(text: str) -> int:
    """Return the position that libuci reads from a text, as strtoul and a conversion to int give it: 0 for a word."""
    number = _leading(text) or 0
    return _as_int(number if abs(number) <= _UNSIGNED_LONG_MAX else _UNSIGNED_LONG_MAX)


def _leading(text: str) -> int | None:
    text = text.lstrip(" \t\n\r\v\f")
    digits = text[1:] if text[:1] in ("+", "-") else text
    end = 0
    while "0" <= digits[end : end + 1] <= "9":
        end += 1
    number = int(digits[:end].lstrip("0")[:_DIGITS_MAX] or "0")
    if text[:1] == "-":
        number = -number
    return number if end else None


def _as_int(number: int) -> int:
    number &= (1 << _INT_BITS) - 1
    return number - (1 << _INT_BITS) if number >> (_INT_BITS - 1) else number


def is_kept(record: Record) -> bool:
    """Tell whether libuci takes this record back from a file: it writes some that it then ignores."""
    command, section, option, value = record
    if not names.is_name(section) or (value is None and command != REMOVE):
        return False
    if command == REORDER:
        return option is None
    if command == RENAME:
        return names.is_name(value or "")
    return option is not None or command not in (LIST_ADD, LIST_DEL)


def replay(package: Package, records: list[Record]) -> int:
    """Do what records say; return how many fitted the package, the others are left out."""
    done = 0
    for record in records:
        try:
            perform(package, record)
        except Refused:
            continue
        done += 1
    return done


# -- operations -------------------------------------------------------------------------------------------------------

# The keys in addition to op and package; the `option` of some may be left out.
_KEYS = {
    "set": ("section", "option", "value"),
    "add": ("type",),
    "add_list": ("section", "option", "value"),
    "del_list": ("section", "option", "value"),
    "delete": ("section", "option"),
    "rename": ("section", "name", "option"),
    "reorder": ("section", "index"),
}
_COMMANDS = {
    "set": CHANGE, "add_list": LIST_ADD, "del_list": LIST_DEL, "delete": REMOVE, "rename": RENAME, "reorder": REORDER,
}  # fmt: skip
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
    word = operation.get("op")
    if not isinstance(word, str) or word not in _KEYS:
        raise UciError(f"{label(operation)}: unknown operation {word}", "one of " + ", ".join(_KEYS))
    keys = _KEYS[word]
    if word == "set" and "type" in operation and "option" not in operation:
        keys = ("section", "type")
    for key in ("package", *keys):
        if key == "option" and word in ("delete", "rename") and key not in operation:
            continue
        if not _is_good(key, operation.get(key)):
            fault = "is missing" if key not in operation else "is not valid"
            raise UciError(f"{label(operation)}: {key} of {word} {fault}", _HINTS[key])
    unknown = [key for key in operation if key not in ("op", "package", *keys)]
    if unknown:
        raise UciError(f"{label(operation)}: {word} takes no {unknown[0]}", "leave it out")


def _is_good(key: str, value: object) -> bool:
    if key == "index":
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31
    if not isinstance(value, str):
        return False
    if key == "package":
        return names.is_package_name(value) and "." not in value and "=" not in value
    if key == "section":
        return names.is_name(value) or _is_extended(value)
    if key == "type":
        return names.is_type(value)
    if key == "value":
        try:
            names.encode(value)
        except UnicodeEncodeError:
            return False
        return names.is_value(value)
    return names.is_name(value)


def _is_extended(value: str) -> bool:
    """Tell whether a text is `@type[number]`, `@[number]` included."""
    kind, bracket, number = value[1:].rpartition("[")
    digits = number[:-1].removeprefix("-")
    is_number = number.endswith("]") and digits.isdecimal() and digits.isascii() and len(digits) <= _DIGITS_MAX
    is_kind = not kind or (names.is_type(kind) and "." not in kind and "=" not in kind)
    return value.startswith("@") and bool(bracket) and is_number and is_kind


def find(package: Package, section: str) -> Section | None:
    """Return the section of this name or `@type[n]`; raises UciError when it is malformed."""
    if names.is_name(section):
        return package.find(section)
    if not _is_extended(section):
        raise Refused(INVALID, f"{package.name}.{section}", hint=_HINTS["section"])
    kind, _, number = section[1:-1].rpartition("[")
    same = [each for each in package.sections if not kind or each.type == kind]
    index = int(number) + (len(same) if number.startswith("-") else 0)
    return same[index] if 0 <= index < len(same) else None


def apply(operation: Operation, package: Package) -> None:
    """Do a checked operation on the package, and record it."""
    try:
        record = _do(operation, package)
    except Refused as error:
        hint = "write @type[n], n a number, for a section without a name"
        if error.status == names.DUPLICATE:
            hint = f"{operation.get('name')} is there already"
        elif error.status == NOT_FOUND:
            hint = f"package {operation['package']} has no such {'option' if 'option' in operation else 'section'}"
        raise error.about(label(operation), hint)
    if record is not None:
        package.delta.append(record)


def _do(operation: Operation, package: Package) -> Record | None:
    word, option = operation["op"], operation.get("option")
    if word == "add":
        return ADD, package.append(operation["type"], "").name, None, operation["type"]
    name, value = operation["section"], operation.get(_value_key(operation))
    section = find(package, name)
    if section is None and (word != "set" or option is not None or not names.is_name(name)):
        raise Refused(NOT_FOUND)
    if section is not None and word == "rename":
        # libuci would take a name that is there already, write both, and read only one of them back.
        new = operation["name"]
        if package.find(new) not in (None, section) if option is None else new != option and new in section.options:
            raise Refused(names.DUPLICATE)
    name = section.name if section is not None else name
    return perform(package, (_COMMANDS[word], name, option, None if value is None else str(value)))


def _value_key(operation: Operation) -> str:
    if operation["op"] == "set" and "option" not in operation:
        return "type"
    return {"rename": "name", "reorder": "index"}.get(operation["op"], "value")


def apply_all(steps: list[Operation], load: Callable[[str], Package]) -> dict[str, Package]:
    """Check and do operations; return the packages that they changed, each of which `load(name)` gives.

    Raises: UciError naming the operation's number, counted from 1, and its package.section.option.
    """
    packages: dict[str, Package] = {}
    for number, operation in enumerate(steps, 1):
        try:
            check(operation)
            name = operation["package"]
            if name not in packages:
                packages[name] = load(name)
            apply(operation, packages[name])
        except UciError as error:
            raise UciError(f"operation {number}: {error.message}", error.hint)
    return packages


def batch_line(operation: Operation) -> str:
    """Return the line of `uci batch` for a checked operation; it may hold newlines inside quotes."""
    word, package = operation["op"], operation["package"]
    if word == "add":
        return f"add {quote(package)} {quote(operation['type'])}\n"
    text, value = label(operation), operation.get(_value_key(operation))
    if value is not None:
        text += f"={value}"
    return f"{word} {quote(text)}\n"
