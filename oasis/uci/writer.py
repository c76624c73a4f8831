"""Packages to text: the file, the export, a line of a delta; the counterpart of `parser` and `delta`.

Source: libuci file.c, uci_export_package; delta.c, uci_delta_save.
"""

from __future__ import annotations

from oasis.uci import libuci
from oasis.uci.package import Package, Record, Section


def quote(value: str) -> str:
    """Return the value in single quotes, each one inside as '\\''."""
    return "'" + value.replace("'", "'\\''") + "'"


def file_text(package: Package, name_all: bool = False) -> bytes:
    """Return the text of the package's file as a commit writes it; `name_all` names anonymous sections too."""
    lines: list[str] = []
    for section in package.sections:
        _write_section(lines, section, name_all)
    lines.append("\n")
    return libuci.encode("".join(lines))


def export_text(package: Package, name_all: bool = False) -> bytes:
    """Return the text of `uci export`: the file's text behind a line with the package's name."""
    return libuci.encode("package " + _escape(package.name) + "\n") + file_text(package, name_all)


def delta_line(package: str, record: Record) -> str:
    """Return the line of a delta file for a record."""
    command, section, option, value = record
    line = f"{command}{package}.{section}"
    if option is not None:
        line += "." + option
    if value is None:
        return line + "\n"
    return f"{line}={quote(value)}\n"


def changes_text(package: str, records: list[Record]) -> str:
    """Return what `uci changes` prints: adding, renaming and reordering a section look like setting it."""
    lines: list[str] = []
    for command, section, option, value in records:
        head = f"{package}.{section}" + (f".{option}" if option is not None else "")
        if command == "-":
            lines.append(f"-{head}\n")
        else:
            sign = {"|": "+=", "~": "-="}.get(command, "=")
            lines.append(f"{head}{sign}{quote(value or '')}\n")
    return "".join(lines)


def _write_section(lines: list[str], section: Section, name_all: bool) -> None:
    add = lines.append
    add("\nconfig " + _escape(section.type))
    add("\n" if section.anonymous and not name_all else " " + quote(section.name) + "\n")
    for name, value in section.options.items():
        if not isinstance(value, str):
            for item in value:
                add(f"\tlist {name} '{item}'\n" if "'" not in item else f"\tlist {name} {quote(item)}\n")
        elif "'" not in value:
            add(f"\toption {name} '{value}'\n")
        else:
            add(f"\toption {name} {quote(value)}\n")


def _escape(text: str) -> str:
    return text.replace("'", "'\\''")
