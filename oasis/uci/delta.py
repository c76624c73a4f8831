"""The text of delta files: to records, and records onto a package; knows no folders.

A line that does not parse, or that no longer fits the package, is left out and the rest still counts, as in libuci.
Source: libuci delta.c.
"""

from __future__ import annotations

import io

from oasis.uci import edit, libuci, parser
from oasis.uci.package import Package, Record

_COMMANDS = "+-@^|~"
_OPERATIONS = {
    edit.ADD: edit.set_value, edit.CHANGE: edit.set_value, edit.REMOVE: edit.delete, edit.RENAME: edit.rename,
    edit.LIST_ADD: edit.add_list, edit.LIST_DEL: edit.del_list,
}  # fmt: skip


def parse(data: bytes, package: str) -> list[Record]:
    """Return the records of a delta file that belong to the package and are well formed."""
    return [record for owner, record in _read(data)[0] if owner == package]


def filter_out(data: bytes, section: str | None, option: str | None) -> list[Record] | None:
    """Return the records that do not belong to the section and option; None stands for all of them.

    The answer is None when a line is not well formed: libuci then leaves the file as it is.
    """
    found, is_whole = _read(data)
    if not is_whole:
        return None
    return [
        record
        for _, record in found
        if (section is not None and record[1] != section) or (option is not None and record[2] != option)
    ]


def replay(package: Package, records: list[Record]) -> int:
    """Do the records' operations on the package, without recording them again; return how many fitted."""
    done = 0
    for command, section, option, value in records:
        recorded = len(package.delta)
        try:
            pointer = edit.Pointer(package, section, option, value)
            if command != edit.REORDER:
                _OPERATIONS[command](pointer)
            elif pointer.target is not None:
                edit.reorder(package, pointer.target, edit.position(value or ""))
            done += command != edit.REORDER or pointer.target is not None
        except libuci.Refused:
            continue
        if value or command not in (edit.CHANGE, edit.ADD):
            del package.delta[recorded:]  # libuci forgets that it is replaying where an empty value deletes
        made = package.find(section) if command == edit.ADD and option is None and value else None
        if made is not None:
            made.become(made.type, made.name, True)
    return done


def is_kept(record: Record) -> bool:
    """Tell whether libuci takes this record back from a file: it writes some that it then ignores."""
    command, section, option, value = record
    if not libuci.is_name(section) or (value is None and command != edit.REMOVE):
        return False
    if command == edit.REORDER:
        return option is None
    if command == edit.RENAME:
        return libuci.is_name(value or "")
    return option is not None or command not in (edit.LIST_ADD, edit.LIST_DEL)


def _read(data: bytes) -> tuple[list[tuple[str, Record]], bool]:
    """Return (package, record) of each good line, and whether all lines were good."""
    found: list[tuple[str, Record]] = []
    lines = parser.LineBuffer(io.BytesIO(data))
    is_whole = True
    while not lines.at_end:
        if not lines.read_line():
            continue
        try:
            argument = libuci.decode(lines.argument())
            command = argument[:1] if argument[:1] in _COMMANDS else ""
            package, section, option, value = edit.parse_pointer(argument[len(command) :])
            record = (command, section or "", option, value)
            if lines.buffer[lines.position] or not is_kept(record):
                raise libuci.Refused(libuci.INVALID)
            found.append((package, record))
        except libuci.Refused:
            is_whole = False
    return found, is_whole
