"""Text of UCI files to packages, as libuci: the same packages or the same refusal with the same line and byte.

Usual lines of a large file are taken by a regular expression, any other goes through the exact reader below. Knows no
folders and no locks.
Source: libuci file.c, uci_parse_line, uci_import.
"""

from __future__ import annotations

import io

from oasis.uci import edit, libuci
from oasis.uci.package import Package, Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Container
    from typing import IO


# Below this the quicker reader is not worth its loading; our own settings are about a tenth of it.
_SMALL_BYTES = 4096
# A line as a commit and most people write it, or several when a quoted value goes on in the next ones.
_OPTION = r"""[ \t]*(?:o|option|(l|list))[ \t]+(['"]?)([A-Za-z0-9_]+)\2[ \t]+(?:'([^']*)'|"([^"\\]*)"|([^\s'"#;\\]+))"""
_CONFIG = r"""[ \t]*(?:c|config)[ \t]+(['"]?)([A-Za-z0-9_.-]+)\7(?:[ \t]+(['"]?)([A-Za-z0-9_]+)\9)?"""
_USUAL = rf"(?:{_OPTION}|{_CONFIG}|)[ \t\r]*(?:#[^\n]*)?(?:\n|\Z)"
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
    error, else a line that does not parse is left out; `on_error` gets each. After an error `lines` tells how
    far it read.
    """

    def __init__(
        self,
        name: str | None,
        merge_into: Package | None = None,
        single: bool = True,
        taken: Container[str] = (),
        strict: bool = True,
        on_error: Callable[[libuci.Refused], None] | None = None,
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
        self.lines: LineBuffer | None = None

    def read(self, data: bytes) -> list[Package]:
        """Parse the text and return the packages in order; raises Refused (PARSE or DUPLICATE)."""
        lines = self.lines = LineBuffer(io.BytesIO(data))
        if 0 in data or self._merge_into is not None or len(data) < _SMALL_BYTES:
            self._read_exactly(lines)
        else:
            self._read_usual(lines, data.decode("latin-1"))
        if self._package is None and self._name is not None:
            self._open(self._name)
        self._close()
        return self.finished

    def _read_exactly(self, lines: LineBuffer) -> None:
        while not lines.at_end:
            if lines.read_line():
                self._read_line(lines)

    def _read_usual(self, lines: LineBuffer, text: str) -> None:
        """Read a text held as Latin-1, so that positions are bytes; lines of no usual form are read exactly."""
        import re  # with the first larger file: an idle daemon reads none

        usual, is_ascii = re.compile(_USUAL, re.ASCII), text.isascii()
        line = position = 0
        while position < len(text):
            found = usual.match(text, position)
            if found is not None and self._take(found, is_ascii):
                line += text.count("\n", position, found.end())
                position = found.end()
                continue
            lines.go_to(position, line)
            if lines.read_line():
                self._read_line(lines)
            line, position = lines.line, len(text) if lines.at_end else lines.stream.tell()

    def _take(self, found: re.Match[str], is_ascii: bool) -> bool:
        """Do what a usual line says; tell whether that is certain."""
        list_word, _, option, single, double, bare, _, type, _, name = found.groups()
        if option is not None:
            if self._section is None:
                return False
            value = single or double or bare or ""
            if not is_ascii:
                value = libuci.decode(value.encode("latin-1"))
            if list_word:
                self._section.append(option, value)
            elif value:
                self._section.options[option] = value
        elif type is not None:
            section = self._package.find(name) if name and self._package is not None else None
            if self._package is None or (section is not None and section.type != type):
                return False
            self._section = section or self._package.append(type, name or "")
        return True

    def _read_line(self, lines: LineBuffer) -> None:
        try:
            lines.skip_space()
            while word := lines.command():
                if word.startswith(b"#") or not self._command(word, lines):
                    return
        except libuci.Refused as error:
            if self._on_error is not None:
                self._on_error(error)
            if self._strict or error.status != libuci.PARSE:
                raise

    def _command(self, word: bytes, lines: LineBuffer) -> bool:
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

    def _read_package(self, lines: LineBuffer) -> None:
        lines.step_over_command("package without name")
        name = lines.name(required=True, package=True)
        self._end_of_command(lines)
        if not self._single:
            self._open(name)

    def _read_config(self, lines: LineBuffer) -> None:
        package = self._package
        if package is None:
            if self._name is None:
                raise lines.error("attempting to import a file without a package name")
            package = self._open(self._name)
        lines.step_over_command("config without name")
        type = libuci.decode(lines.argument(required=True))
        if not libuci.is_type(type):
            raise lines.error("invalid character in type field")
        name = lines.name()
        self._end_of_command(lines)
        self._section = self._enter(package, type, name, lines)

    def _enter(self, package: Package, type: str, name: str, lines: LineBuffer) -> Section:
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

    def _read_option(self, lines: LineBuffer, is_list: bool) -> None:
        if self._section is None or self._package is None:
            raise lines.error("option/list command found before the first section")
        lines.step_over_command("option without name")
        name = lines.name(required=True)
        value = libuci.decode(lines.argument())
        self._end_of_command(lines)
        pointer = edit.Pointer(self._package.name, self._section.name, name, value)
        pointer.place(self._package, self._section)
        (edit.add_list if is_list else edit.set_value)(pointer, self._merge_into is None)

    def _end_of_command(self, lines: LineBuffer) -> None:
        if lines.argument() and self._strict:
            raise lines.error("too many arguments")

    def _open(self, name: str) -> Package:
        self._close()
        if name in self._taken or any(package.name == name for package in self.finished):
            raise libuci.Refused(libuci.DUPLICATE)
        self._package = Package(name)
        return self._package

    def _close(self) -> None:
        if self._package is not None:
            self.finished.append(self._package)
        self._package = self._section = None


# -- libuci's reader of lines and arguments, byte by byte, with its positions -----------------------------------------
#
# What is of no usual form comes here, and so do unusual lines of a delta. Theory: the line lies in a
# buffer ended by a zero byte; arguments are unquoted in place, a quote or backslash left open at the end of the line
# reads the next one behind it. Every oddity is libuci's: a zero byte in a file cuts the rest of the piece fgets read,
# a `;` straight behind an unquoted word ends the whole line.
# Source: libuci file.c, uci_getln to next_arg.

_FIRST_SIZE = 32  # libuci's LINEBUF; decides only how much of a line a zero byte hides
# libuci doubles its buffer for every piece that does not end a line, also when only a zero byte hides the end, until
# its memory is gone. From here on a larger one reads nothing else.
_LAST_SIZE = 1 << 30
_SPACE = b" \t\n\r\v\f"
_QUOTE, _DOUBLE, _HASH, _SEMICOLON, _BACKSLASH, _NEWLINE, _RETURN = b"'\"#;\\\n\r"


class LineBuffer:
    """The line being parsed and its place in the stream: libuci's parse context."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.at_end = False
        self.reason = ""
        self.byte = 0
        self.line = 0
        self.buffer = bytearray(1)
        self.filled = 0
        self.position = 0
        self._size = _FIRST_SIZE

    def go_to(self, position: int, line: int) -> None:
        """Go on at another place of the stream, behind so many lines."""
        self.stream.seek(position)
        self.line = line

    def read_line(self) -> bool:
        """Read the next line to the buffer's start; tell whether it has anything in it."""
        self.position = 0
        self._fill(0)
        return self.buffer[0] != 0

    def argument(self, required: bool = False) -> bytes:
        """Unquote and return the next argument, b"" at the end of the command."""
        self.skip_space()
        buffer = self.buffer
        start = self.position
        if buffer[start] == _SEMICOLON:
            buffer[start] = 0
            self.position += 1
        else:
            self._word(start)
        value = bytes(buffer[start : buffer.index(0, start)])
        if required and not value:
            raise self.error("insufficient arguments")
        return value

    def name(self, required: bool = False, package: bool = False) -> str:
        """Return the next argument as a name; package names may hold a dash."""
        text = libuci.decode(self.argument(required))
        if text and not libuci.is_name(text.replace("-", "_") if package else text):
            raise self.error("invalid character in name field")
        return text

    def command(self) -> bytes:
        """Cut off and return the next word at blanks and tabs, without moving; b"" at the end. Source: strtok."""
        start = self.position
        rest = self.buffer[start : self.buffer.index(0, start)]
        word = rest.lstrip(b" \t")
        skipped = len(rest) - len(word)
        for index, byte in enumerate(word):
            if byte in b" \t":
                self.buffer[start + skipped + index] = 0
                return bytes(word[:index])
        return bytes(word)

    def step_over_command(self, complaint: str) -> None:
        """Move behind the word that `command` cut off."""
        target = self.buffer.index(0, self.position) + 1
        if target > self.filled:
            raise self.error(complaint)
        self.position = target

    def rest_is_empty(self) -> bool:
        """Tell whether the buffer ends here."""
        return self.buffer[self.position] == 0

    def skip_space(self) -> None:
        """Move to the next byte that is no white space."""
        buffer = self.buffer
        while buffer[self.position] in _SPACE:
            self.position += 1

    def error(self, reason: str) -> libuci.Refused:
        """Return a parse error at this place, and remember it."""
        self.reason = reason
        self.byte = self.position
        return libuci.Refused(libuci.PARSE, place=(reason, self.line, self.byte))

    def _fill(self, offset: int) -> None:
        if offset >= self._size - 1:
            self._grow()
        while True:
            del self.buffer[offset:]
            self.buffer.append(0)
            piece = self._gets(self._size - offset).partition(b"\0")[0]
            if not piece:
                return
            self.buffer[offset:] = piece + b"\0"
            offset += len(piece)
            self.filled = offset
            if piece.endswith(b"\n"):
                self.line += 1
                return
            self._grow()

    def _grow(self) -> None:
        self._size = min(self._size * 2, _LAST_SIZE)

    def _gets(self, size: int) -> bytes:
        piece = self.stream.readline(size - 1)
        if len(piece) < size - 1 and not piece.endswith(b"\n"):
            self.at_end = True
        return piece

    def _word(self, target: int) -> None:
        buffer = self.buffer
        while True:
            byte = buffer[self.position]
            if byte == _QUOTE:
                target = self._single_quoted(target)
            elif byte == _DOUBLE:
                target = self._double_quoted(target)
            elif byte == _HASH or byte == 0:
                buffer[self.position] = 0
                break
            elif byte == _SEMICOLON:
                buffer[target] = 0
                return
            elif byte != _BACKSLASH or self._escape():
                target = self._keep(target)
            if buffer[self.position] == 0 or buffer[self.position] in _SPACE:
                break
        if buffer[self.position]:
            self.position += 1
        buffer[target] = 0

    def _keep(self, target: int) -> int:
        self.buffer[target] = self.buffer[self.position]
        self.position += 1
        return target + 1

    def _single_quoted(self, target: int) -> int:
        self.position += 1
        while True:
            byte = self.buffer[self.position]
            if byte == _QUOTE:
                self.position += 1
                return target
            if byte == 0:
                self._continue("EOF with unterminated '")
            else:
                target = self._keep(target)

    def _double_quoted(self, target: int) -> int:
        self.position += 1
        while True:
            byte = self.buffer[self.position]
            if byte == _DOUBLE:
                self.position += 1
                return target
            if byte == 0:
                self._continue('EOF with unterminated "')
            elif byte != _BACKSLASH or self._escape():
                target = self._keep(target)

    def _continue(self, complaint: str) -> None:
        self._fill(self.position)
        if self.buffer[self.position] == 0:
            raise self.error(complaint)

    def _escape(self) -> bool:
        """Skip a backslash; at the end of a line read the next one and tell that nothing was escaped."""
        self.position += 1
        rest = self.buffer[self.position : self.position + 3]
        if rest[0] in (0, _NEWLINE) or rest == b"\r\n\0":
            self._fill(self.position)
            return False
        return True
