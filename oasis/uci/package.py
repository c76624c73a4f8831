"""The values: a package with its sections in order, and their text; knows no files.

Shape: Package(name, sections [Section], created: sections ever made, delta: records not yet saved, has_delta: False for
what was imported whole, and keeps no records). Section(type, name, anonymous, options {name: str | [str]} in order).
A delta record is (command, section, option or None, value or None).
Source: libuci list.c.
"""

from __future__ import annotations

import functools

from oasis.uci import libuci

Record = tuple[str, str, "str | None", "str | None"]


class HiddenName(str):
    """An option's name that an earlier option of its section bears too: written out, never found.

    Renaming can make such a pair, and libuci writes both. Equal only to itself, so a dict can hold both.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)


class Section:
    """A section: its type, its name (`cfgXXXXXX` when anonymous) and its options in order."""

    __slots__ = ("anonymous", "name", "options", "type")

    def __init__(
        self, type: str, name: str, anonymous: bool, options: dict[str, str | list[str]] | None = None
    ) -> None:
        self.type = type
        self.name = name
        self.anonymous = anonymous
        self.options = {} if options is None else options

    def become(self, type: str, name: str, anonymous: bool) -> None:
        """Take another type or name, and keep the options."""
        self.type, self.name, self.anonymous = type, name, anonymous

    def append(self, name: str, item: str) -> None:
        """Add an item to a list; an option becomes a list where it stands."""
        current = self.options.get(name)
        if isinstance(current, list):
            current.append(item)
        else:
            self.options[name] = [item] if current is None else [current, item]

    def rename_option(self, old: str, new: str) -> None:
        """Rename an option where it stands; a name borne twice stays twice, as in libuci."""
        self._rebuild([(new if key == old else key, value) for key, value in self.options.items()])

    def delete_option(self, name: str) -> None:
        """Remove an option; one that it hid becomes visible."""
        del self.options[name]
        if any(isinstance(key, HiddenName) for key in self.options):
            self._rebuild(list(self.options.items()))

    def _rebuild(self, items: list[tuple[str, str | list[str]]]) -> None:
        self.options = {}
        for key, value in items:
            plain = str.__str__(key)
            self.options[HiddenName(plain) if plain in self.options else plain] = value

    def table(self, index: int) -> dict[str, object]:
        """Return the section as a dict of the caller's: {".name", ".type", ".anonymous", ".index", option: value}.

        A list that has lost all its items counts as gone, as after a commit.
        """
        found: dict[str, object] = {
            ".name": self.name, ".type": self.type, ".anonymous": self.anonymous, ".index": index,
        }  # fmt: skip
        for name, value in self.options.items():
            if value:
                found.setdefault(str(name), list(value) if isinstance(value, list) else value)
        return found


class Package:
    """A package: its sections in the order of the file, and what is recorded about changes to it."""

    __slots__ = ("_by_name", "created", "data", "delta", "has_delta", "name", "sections")

    def __init__(self, name: str, sections: list[Section] | None = None, created: int = 0) -> None:
        self.name = name
        self.sections = [] if sections is None else sections
        self.created = created
        self.delta: list[Record] = []
        self.has_delta = False
        self.data: bytes | None = None  # what the file held when it was read
        self._by_name: dict[str, Section] | None = None

    def loaded(self, data: bytes) -> Package:
        """Take it for what a file held: from now on changes are recorded."""
        self.data = data
        self.has_delta = True
        return self

    def copy(self) -> Package:
        """Return a package that can be changed without changing this one; records of changes are not copied."""
        sections = []
        for one in self.sections:
            values = {key: list(value) if isinstance(value, list) else value for key, value in one.options.items()}
            sections.append(Section(one.type, one.name, one.anonymous, values))
        package = Package(self.name, sections, self.created)
        return package if self.data is None else package.loaded(self.data)

    def record(self, command: str, section: str, option: str | None, value: str | None) -> None:
        """Note a change that was made, where the package keeps records."""
        if self.has_delta:
            self.delta.append((command, section, option, value))

    def find(self, name: str) -> Section | None:
        """Return the first section of this name, or None."""
        if self._by_name is None:
            self._by_name = {section.name: section for section in reversed(self.sections)}
        return self._by_name.get(name)

    def append(self, type: str, name: str) -> Section:
        """Add a section at the end; without a name it is anonymous and gets libuci's name."""
        self.created += 1
        section = Section(type, name or "cfg%02x%s" % (self.created, _hash(type)), not name)
        self.sections.append(section)
        if self._by_name is not None:
            self._by_name.setdefault(section.name, section)
        return section

    def remove(self, section: Section) -> None:
        """Take a section out; the count for anonymous names goes on, as in libuci."""
        self.sections.remove(section)
        self._by_name = None

    def rename(self, section: Section, name: str) -> None:
        """Give a section a name; it is no longer anonymous."""
        section.become(section.type, name, False)
        self._by_name = None

    def move(self, section: Section, position: int) -> bool:
        """Move a section to a position counted without it; tell whether it now follows another one."""
        before = self.sections.index(section)
        del self.sections[before]
        after = min(max(position, 0), len(self.sections))
        self.sections.insert(after, section)
        self._by_name = None
        return before != after


@functools.lru_cache(256)  # types come from files; a hostile one must not make the daemon remember them for ever
def _hash(type: str) -> str:
    """Return the part of an anonymous section's name that its type gives.

    Source: libuci list.c, uci_fixup_section: djb hash of the type (C's signed characters), 16 bits.
    """
    value = 5381
    for byte in libuci.encode(type):
        value = (value * 33 + (byte - 256 if byte > 127 else byte)) & 0xFFFF
    return "%04x" % value


# -- text: the file, the export, a line of a delta --------------------------------------------------------------------
#
# The counterpart of `parser` and `delta`.
# Source: libuci file.c, uci_export_package; delta.c, uci_delta_save.

_QUOTE = "'\\''"  # a single quote inside of single quotes


def quote(value: str) -> str:
    """Return the value in single quotes, each one inside as '\\''."""
    return "'" + value.replace("'", _QUOTE) + "'"


def file_text(package: Package) -> bytes:
    """Return the text of the package's file as a commit writes it."""
    lines: list[str] = []
    add = lines.append
    for section in package.sections:
        add("\nconfig " + section.type.replace("'", _QUOTE))
        add("\n" if section.anonymous else " " + quote(section.name) + "\n")
        for name, value in section.options.items():
            word = "option" if isinstance(value, str) else "list"
            for item in [value] if isinstance(value, str) else value:
                add(f"\t{word} {name} '{item}'\n" if "'" not in item else f"\t{word} {name} {quote(item)}\n")
    add("\n")
    return libuci.encode("".join(lines))


def export_text(package: Package) -> bytes:
    """Return the text of `uci export`: the file's text behind a line with the package's name."""
    return libuci.encode("package " + package.name.replace("'", _QUOTE) + "\n") + file_text(package)


def delta_line(package: str, record: Record) -> str:
    """Return the line of a delta file for a record."""
    command, section, option, value = record
    line = f"{command}{package}.{section}" + (f".{option}" if option is not None else "")
    return line + ("\n" if value is None else f"={quote(value)}\n")


def changes_text(package: str, records: list[Record]) -> str:
    """Return what `uci changes` prints: adding, renaming and reordering a section look like setting it."""
    lines: list[str] = []
    for command, section, option, value in records:
        head = f"{package}.{section}" + (f".{option}" if option is not None else "")
        sign = {"|": "+=", "~": "-="}.get(command, "=")
        lines.append(f"-{head}\n" if command == "-" else f"{head}{sign}{quote(value or '')}\n")
    return "".join(lines)
