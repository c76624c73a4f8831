"""Text of UCI files to packages, as libuci: the same packages or the same refusal with the same line and byte.

Usual lines are taken by one pattern over the whole text; any other goes through the exact reader of `lexer`. The text
is held as Latin-1 so that positions are bytes, and values become UTF-8 when kept. Knows no folders and no locks.
Source: libuci file.c, uci_parse_line, uci_import.
"""

from __future__ import annotations

import io
import re

from oasis.uci import edit, lexer, names, refusal, written
from oasis.uci.package import Package, Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container

# One whole line in a usual form, or a comment, with the blank lines before it. A value stands in single quotes (each
# one inside as '\''), in double quotes without a backslash, or bare.
_LINE = re.compile(
    r"""\s*(?:
        (option|list)[ \t]+(['"]?)([A-Za-z0-9_]+)\2[ \t]+
            (?:'([^']*(?:'\\''[^']*)*)'|"([^"\\]*)"|([^\s'"#;\\]+))
        | config[ \t]+(['"]?)([A-Za-z0-9_-]+)\7(?:[ \t]+(['"]?)([A-Za-z0-9_]+)\9)?
        | (?=\#)
    )[ \t\r]*(?:\#[^\n]*)?(?:\n|\Z)""",
    re.VERBOSE | re.ASCII,
)

_COMMANDS = {
    b"p": b"package",
    b"c": b"config",
    b"o": b"option",
    b"l": b"list",
}


class Importer:
    """One reading of a text, possibly of several packages.

    With `merge_into` sections and options go into that package and are recorded as its changes, else into new packages.
    `single` ignores `package` lines. `taken` holds package names that are already loaded. `strict` raises the first
    error, else a line that does not parse is left out; `on_error` is told of each. After an error `lines` tells how
    far it read.
    """

    def __init__(
        self,
        name: str | None,
        merge_into: Package | None = None,
        single: bool = True,
        taken: Container[str] = (),
        strict: bool = True,
        on_error: Callable[[refusal.Refused], None] | None = None,
    ) -> None:
        self.finished: list[Package] = []
        self._name = name
        self._merge_into = merge_into
        self._package = merge_into
        self._section: Section | None = None
        self._single = single
        self._taken = taken
        self._strict = strict
        self._on_error = on_error
        self.lines: lexer.LineBuffer | None = None

    def read(self, data: bytes) -> list[Package]:
        """Parse the text and return the packages in order; raises Refused (PARSE or DUPLICATE)."""
        quick = 0 not in data and self._merge_into is None
        if quick and self._name is not None and self._name not in self._taken:
            package = written.read(names.decode(data), self._name)
            if package is not None:
                self.finished.append(package)
                return self.finished
        self._read_lines(data, data.decode("latin-1") if quick else "")
        if self._package is None and self._name is not None:
            self._open(self._name)
        self._close()
        return self.finished

    def _read_lines(self, data: bytes, text: str) -> None:
        lines = self.lines = lexer.LineBuffer(io.BytesIO(data))
        position = counted = 0
        while True:
            if text:
                position = self._read_usual(text, position)
                if position >= len(text):
                    return
                lines.stream.seek(position)
                lines.line += text.count("\n", counted, position)
            if lines.read_line():
                self._read_line(lines)
            if lines.at_end:
                return
            position = counted = lines.stream.tell()

    def _read_usual(self, text: str, position: int) -> int:
        """Take lines while they have a usual form; return where they no longer do."""
        match = _LINE.match
        is_ascii = text.isascii()
        section = self._section
        options = section.options if section is not None else None
        found = match(text, position)
        while found is not None:
            kind, _, name, single, double, bare, _, type, _, title = found.groups()
            if kind is not None:
                if options is None:
                    break
                value = bare or double or single or ""
                if not is_ascii:
                    value = names.decode(value.encode("latin-1"))
                if single and "'\\''" in value:
                    value = value.replace("'\\''", "'")
                if kind == "list":
                    written.append(options, name, value)
                elif value:
                    options[name] = value
            elif type is not None:
                section = self._usual_section(type, title or "")
                if section is None:
                    break
                self._section = section
                options = section.options
            position = found.end()
            found = match(text, position)
        return position

    def _usual_section(self, type: str, name: str) -> Section | None:
        if self._package is None:
            return None
        section = self._package.find(name) if name else None
        if section is None:
            return self._package.append(type, name)
        return section if section.type == type else None

    def _read_line(self, lines: lexer.LineBuffer) -> None:
        try:
            lines.skip_space()
            while word := lines.command():
                if word.startswith(b"#") or not self._command(word, lines):
                    return
        except refusal.Refused as error:
            if self._on_error is not None:
                self._on_error(error)
            if self._strict or error.status != refusal.PARSE:
                raise

    def _command(self, word: bytes, lines: lexer.LineBuffer) -> bool:
        command = _COMMANDS.get(word[:1], b"")
        if word not in (command, command[:1]):
            raise lines.error("invalid command")
        if command == b"package":
            self._read_package(lines)
        elif command == b"config":
            self._read_config(lines)
        else:
            self._read_option(lines, command == b"list")
        return True

    def _read_package(self, lines: lexer.LineBuffer) -> None:
        lines.step_over_command("package without name")
        name = lines.name(required=True, package=True)
        self._end_of_command(lines)
        if not self._single:
            self._open(name)

    def _read_config(self, lines: lexer.LineBuffer) -> None:
        package = self._package
        if package is None:
            if self._name is None:
                raise lines.error("attempting to import a file without a package name")
            package = self._open(self._name)
        lines.step_over_command("config without name")
        type = names.decode(lines.argument(required=True))
        if not names.is_type(type):
            raise lines.error("invalid character in type field")
        name = lines.name()
        self._end_of_command(lines)
        self._section = self._enter(package, type, name, lines)

    def _enter(self, package: Package, type: str, name: str, lines: lexer.LineBuffer) -> Section:
        silent = self._merge_into is None
        if not name:
            return edit.add_section(package, type, silent)
        section = package.find(name)
        if section is not None and section.type != type and self._strict:
            raise lines.error("section of different type overwrites prior section with same name")
        pointer = edit.Pointer(package.name, name, None, type)
        pointer.place(package, section)
        edit.set_value(pointer, silent)
        return pointer.target or package.sections[-1]

    def _read_option(self, lines: lexer.LineBuffer, is_list: bool) -> None:
        if self._section is None or self._package is None:
            raise lines.error("option/list command found before the first section")
        lines.step_over_command("option without name")
        name = lines.name(required=True)
        value = names.decode(lines.argument())
        self._end_of_command(lines)
        pointer = edit.Pointer(self._package.name, self._section.name, name, value)
        pointer.place(self._package, self._section)
        (edit.add_list if is_list else edit.set_value)(pointer, self._merge_into is None)

    def _end_of_command(self, lines: lexer.LineBuffer) -> None:
        if lines.argument() and self._strict:
            raise lines.error("too many arguments")

    def _open(self, name: str) -> Package:
        self._close()
        if name in self._taken or any(package.name == name for package in self.finished):
            raise refusal.Refused(refusal.DUPLICATE)
        self._package = Package(name)
        return self._package

    def _close(self) -> None:
        if self._package is not None:
            self.finished.append(self._package)
        self._package = self._section = None
