"""UCI operations as dicts: checked, done on a package, written as lines of `uci batch`.

Shape (op and the keys it needs; section is a name, `cfgXXXXXX` or `@type[n]`, n may be negative):
    set       package section option value | package section type     reorder  package section index (int)
    add       package type                                            rename   package section [option] name
    add_list  package section option value                            delete   package section [option]
    del_list  package section option value
Stricter than libuci where libuci accepts what it later ignores: names that cannot be read back, sections that are not
there, new names that are taken, positions that are no number. Raises UciError naming package.section.option.
"""

from __future__ import annotations

from oasis.errors import UciError
from oasis.uci import edit, names, refusal
from oasis.uci.package import Package, Section
from oasis.uci.writer import quote

Operation = dict[str, object]

# The keys beside op and package: (needed, allowed in addition).
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
    except refusal.Refused as error:
        raise error.about(label(operation), _hint(error, operation))


def find(package: Package, section: str) -> Section | None:
    """Return the section of this name or `@type[n]`; raises UciError when it is malformed."""
    pointer = edit.Pointer(package.name, section)
    try:
        pointer.look_up(package)
    except refusal.Refused as error:
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
        return names.is_package_name(value) and "." not in value and "=" not in value
    if key == "section":
        return names.is_name(value) or _is_extended(value)
    if key == "type":
        return names.is_type(value)
    if key == "value":
        return names.is_value(value) and _is_encodable(value)
    return names.is_name(value)


def _is_extended(value: str) -> bool:
    """Tell whether a text is `@type[number]`, `@[number]` included."""
    kind, bracket, number = value[1:].rpartition("[")
    is_number = number.endswith("]") and number[:-1].removeprefix("-").isdecimal() and number.isascii()
    is_kind = not kind or (names.is_type(kind) and "." not in kind and "=" not in kind)
    return value.startswith("@") and bool(bracket) and is_number and is_kind


def _is_encodable(value: str) -> bool:
    try:
        names.encode(value)
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
        return edit.add_section(package, str(operation["type"])).name
    option, value = operation.get("option"), operation.get(_value_key(operation))
    pointer = edit.Pointer(
        package.name,
        str(operation["section"]),
        None if option is None else str(option),
        None if value is None else str(value),
    )
    pointer.look_up(package)
    is_new = word == "set" and option is None and not pointer.extended
    if pointer.target is None and not is_new:
        raise refusal.Refused(refusal.NOT_FOUND)
    if word == "rename":
        _check_new_name(package, pointer)
    if word == "reorder" and pointer.target is not None:
        edit.reorder(package, pointer.target, int(str(value)))
    else:
        _OPERATIONS[word](pointer)
    return None


def _check_new_name(package: Package, pointer: edit.Pointer) -> None:
    """Refuse a name that is taken: libuci would write both, and read only one of them back."""
    new = pointer.value or ""
    if pointer.option is None:
        is_taken = package.find(new) not in (None, pointer.target)
    else:
        is_taken = new != pointer.option and pointer.target is not None and new in pointer.target.options
    if is_taken:
        raise refusal.Refused(refusal.DUPLICATE)


def _hint(error: refusal.Refused, operation: Operation) -> str:
    if error.status == refusal.DUPLICATE:
        return f"{operation.get('name')} is there already"
    if error.status == refusal.NOT_FOUND:
        return f"package {operation['package']} has no such {'option' if 'option' in operation else 'section'}"
    return "write @type[n], n a number, for a section without a name"


_OPERATIONS = {
    "set": edit.set_value,
    "add_list": edit.add_list,
    "del_list": edit.del_list,
    "delete": edit.delete,
    "rename": edit.rename,
}
