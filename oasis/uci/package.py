"""The values: what libuci takes as names, a package with its sections in order, and their text; knows no files.

Shape: Package(name, sections [Section], created: sections ever made, delta: records of its changes). Section(type,
name, anonymous, options {name: str | [str]} in order). A record is (command, section, option or None, value or None).
Text is str, decoded from UTF-8 with surrogateescape, so that any bytes survive (`decode`, `encode`).
Source: libuci list.c; file.c, uci_export_package; delta.c, uci_delta_save.
"""

from __future__ import annotations

from oasis.errors import UciError

Record = tuple[str, str, "str | None", "str | None"]

# Sets instead of `re`: that module and what it imports are a tenth of an idle daemon's memory.
_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_PRINTABLE = frozenset(map(chr, range(0x21, 0x7F)))
_CONTROL = frozenset(map(chr, range(0x20))) - set("\t\n\r")


def decode(data: bytes) -> str:
    """Return the text of bytes read from a UCI file."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of a text; UnicodeEncodeError (a ValueError) for half a surrogate pair."""
    return text.encode("utf-8", "surrogateescape")


def is_name(text: str) -> bool:
    """Tell whether the text can name a section or an option."""
    return bool(text) and _NAME.issuperset(text)


def is_type(text: str) -> bool:
    """Tell whether the text can be a section's type: printable ASCII without blanks."""
    return bool(text) and _PRINTABLE.issuperset(text)


def is_package_name(text: str) -> bool:
    """Tell whether the text can name a package: as libuci, but never with a slash, which leads out of the folder."""
    return "/" not in text and is_type(text)


def is_value(text: str) -> bool:
    """Tell whether the text can be a value: no control characters but tab, newline and carriage return."""
    return _CONTROL.isdisjoint(text)


# libuci's numbers of errors, and its words.
INVALID, NOT_FOUND, IO, PARSE, DUPLICATE = range(2, 7)
WORDS = {
    INVALID: "Invalid argument",
    NOT_FOUND: "Entry not found",
    IO: "I/O error",
    PARSE: "Parse error",
    DUPLICATE: "Duplicate entry",
}


class Refused(UciError):
    """An operation that libuci refuses; catch UciError, nothing outside this folder needs the number.

    Shape: status (libuci's number), place ((reason, line, byte) of a parse error, or None). `what` stands before the
    words: package.section.option or a path, "" when unknown.
    """

    def __init__(self, status: int, what: str = "", place: tuple[str, int, int] | None = None, hint: str = "") -> None:
        self.status = status
        self.place = place
        words = WORDS[status] + (" (%s) at line %d, byte %d" % place if place is not None else "")
        super().__init__(f"{what}: {words}" if what else words, hint)

    def about(self, what: str, hint: str = "") -> Refused:
        """Return the same refusal, naming what it is about."""
        return Refused(self.status, what, self.place, hint or self.hint)


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
        self.options = options or {}

    def append(self, name: str, item: str) -> None:
        """Add an item to a list; an option becomes a list where it stands."""
        current = self.options.get(name)
        if isinstance(current, list):
            current.append(item)
        else:
            self.options[name] = [item] if current is None else [current, item]

    def retype(self, type: str) -> bool:
        """Give the section a type; tell whether it is another one."""
        if self.type == type:
            return False
        # libuci makes a new section with the old name when the type's length differs; a named one is not anonymous.
        self.anonymous = self.anonymous and len(self.type) == len(type)
        self.type = type
        return True

    def rename(self, name: str, is_anonymous: bool = False) -> None:
        """Give the section a name."""
        self.name = name
        self.anonymous = is_anonymous

    def rename_option(self, old: str, new: str) -> None:
        """Rename an option where it stands; a name borne twice stays twice, as in libuci."""
        self._rebuild([(new if key == old else key, value) for key, value in self.options.items()])

    def delete_option(self, name: str) -> None:
        """Remove an option; one that it hid becomes visible."""
        del self.options[name]
        self._rebuild(list(self.options.items()))

    def _rebuild(self, items: list[tuple[str, str | list[str]]]) -> None:
        self.options = {}
        for key, value in items:
            plain = str.__str__(key)
            self.options[HiddenName(plain) if plain in self.options else plain] = value


class Package:
    """A package: its sections in the order of the file, and what is recorded about changes to it."""

    __slots__ = ("_by_name", "created", "delta", "name", "sections")

    def __init__(self, name: str, sections: list[Section] | None = None, created: int = 0) -> None:
        self.name = name
        self.sections = sections or []
        self.created = created
        self.delta: list[Record] = []
        self._by_name: dict[str, Section] | None = None

    def copy(self) -> Package:
        """Return a package that can be changed without changing this one; records of changes are not copied."""
        sections = []
        for section in self.sections:
            values = section.options.items()
            options = {key: list(value) if isinstance(value, list) else value for key, value in values}
            sections.append(Section(section.type, section.name, section.anonymous, options))
        return Package(self.name, sections, self.created)

    def find(self, name: str) -> Section | None:
        """Return the first section of this name, or None."""
        if self._by_name is None:
            self._by_name = {section.name: section for section in reversed(self.sections)}
        return self._by_name.get(name)

    def append(self, type: str, name: str) -> Section:
        """Add a section at the end; without a name it is anonymous and gets libuci's name."""
        self.created += 1
        section = Section(type, name or anonymous_name(self.created, type), not name)
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
        section.rename(name)
        self._by_name = None

    def move(self, section: Section, position: int) -> bool:
        """Move a section to a position counted without it; tell whether it now follows another one."""
        before = self.sections.index(section)
        del self.sections[before]
        after = min(max(position, 0), len(self.sections))
        self.sections.insert(after, section)
        self._by_name = None
        return before != after


_hashes: dict[str, str] = {}
# Types come from files; a hostile one must not make the daemon remember them for ever.
_HASHES_MAX = 256


def anonymous_name(created: int, type: str) -> str:
    """Return the name libuci gives to the created-th section of a package when it has none.

    Source: libuci list.c, uci_fixup_section: djb hash of the type (C's signed characters), 16 bits.
    """
    known = _hashes.get(type)
    if known is None:
        value = 5381
        for byte in encode(type):
            value = (value * 33 + (byte - 256 if byte > 127 else byte)) & 0xFFFF
        known = "%04x" % value
        if len(_hashes) < _HASHES_MAX:
            _hashes[type] = known
    return "cfg%02x%s" % (created, known)


# -- text -------------------------------------------------------------------------------------------------------------


def quote(value: str) -> str:
    """Return the value in single quotes, each one inside as '\\''."""
    return "'" + value.replace("'", "'\\''") + "'"


def file_text(package: Package, name_all: bool = False) -> bytes:
    """Return the text of the package's file as a commit writes it; `name_all` names anonymous sections too."""
    lines: list[str] = []
    for section in package.sections:
        name = "" if section.anonymous and not name_all else " " + quote(section.name)
        lines.append("\nconfig " + _escape(section.type) + name + "\n")
        for option, value in section.options.items():
            if isinstance(value, str):
                lines.append(f"\toption {option} {quote(value)}\n")
            else:
                lines += [f"\tlist {option} {quote(item)}\n" for item in value]
    lines.append("\n")
    return encode("".join(lines))


def export_text(package: Package, name_all: bool = False) -> bytes:
    """Return the text of `uci export`: the file's text behind a line with the package's name."""
    return encode("package " + _escape(package.name) + "\n") + file_text(package, name_all)


def _escape(text: str) -> str:
    return text.replace("'", "'\\''")


def delta_text(package: str, records: list[Record]) -> bytes:
    """Return the lines of a delta file for records."""
    lines: list[str] = []
    for command, section, option, value in records:
        end = "\n" if value is None else f"={quote(value)}\n"
        lines.append(command + _place(package, section, option) + end)
    return encode("".join(lines))


def changes_text(package: str, records: list[Record]) -> bytes:
    """Return what `uci changes` prints: adding, renaming and reordering a section look like setting it."""
    lines: list[str] = []
    for command, section, option, value in records:
        place = _place(package, section, option)
        sign = {"|": "+=", "~": "-="}.get(command, "=")
        lines.append(f"-{place}\n" if command == "-" else f"{place}{sign}{quote(value or '')}\n")
    return encode("".join(lines))


def _place(package: str, section: str, option: str | None) -> str:
    return f"{package}.{section}" + (f".{option}" if option is not None else "")
