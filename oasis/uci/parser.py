"""Text of UCI files to packages, as libuci: the same packages or the same refusal with the same line and byte.

Usual lines are taken by `usual`; any other goes through the exact reader of `lexer`. Knows no folders and no locks.
Source: libuci file.c, uci_parse_line, uci_import.
"""

from __future__ import annotations

import io

from oasis.uci import edit, lexer, names, refusal
from oasis.uci.package import Package, Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from oasis.uci import usual

# Below this the quicker reader is not worth its loading; our own settings are about a tenth of it.
_SMALL_BYTES = 4096
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
        if 0 in data or self._merge_into is not None or len(data) < _SMALL_BYTES:
            self._read_exactly(data)
        else:
            from oasis.uci import usual  # with the first larger file: an idle daemon reads none

            self._read_usual(data, usual.Lines(data.decode("latin-1")))
        if self._package is None and self._name is not None:
            self._open(self._name)
        self._close()
        return self.finished

    def _read_exactly(self, data: bytes) -> None:
        lines = self.lines = lexer.LineBuffer(io.BytesIO(data))
        while not lines.at_end:
            if lines.read_line():
                self._read_line(lines)

    def _read_usual(self, data: bytes, known: usual.Lines) -> None:
        lines = self.lines = lexer.LineBuffer(io.BytesIO(data))
        while True:
            self._section = known.take(self._package, self._section)
            if known.at_end:
                return
            lines.stream.seek(known.position)
            lines.line = known.line
            if lines.read_line():
                self._read_line(lines)
            if lines.at_end:
                return
            known.go_to(lines.stream.tell())

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
