"""Text of UCI files to packages, as libuci: the same packages or the same refusal with the same line and byte.

Usual lines of a large file are taken by a regular expression, any other goes through the exact reader below. Knows no
folders and no locks.
Source: libuci file.c, uci_parse_line, uci_import.
"""

from __future__ import annotations

import io
from collections.abc import Callable

from oasis.uci import edit, libuci
from oasis.uci.package import Package, Section

if False:  # annotations only
    import re
    from typing import IO


# Below this the quicker reader is not worth its loading; our own settings are about a tenth of it.
_SMALL_BYTES = 4096
# A line as a commit and most people write it, or several when a quoted value goes on in the next ones.
_OPTION = r"""[ \t]*(?:o|option|(l|list))[ \t]+(['"]?)([A-Za-z0-9_]+)\2[ \t]+(?:'([^']*)'|"([^"\\]*)"|([^\s'"#;\\]+))"""
_CONFIG = r"""[ \t]*(?:c|config)[ \t]+(['"]?)([A-Za-z0-9_.-]+)\7(?:[ \t]+(['"]?)([A-Za-z0-9_]+)\9)?"""
_USUAL = rf"(?:{_OPTION}|{_CONFIG}|)[ \t\r]*(?:#[^\n]*)?(?:\n|\Z)"
_COMMANDS = {"p": "package", "c": "config", "o": "option", "l": "list"}


class Importer:
    """One reading of a text as the package `name`, or where it is None of the packages that the text names.

    With `merge_into` sections and options go into that package and are recorded as its changes, else into new packages.
    The first error is raised; with `on_error` it is handed over, and what does not parse is left out. After an error
    `lines` tells how far it read.
    """

    def __init__(
        self, name: str | None, merge_into: Package | None = None,
        on_error: Callable[[libuci.Refused], None] | None = None,
    ) -> None:  # fmt: skip
        self.lines: LineBuffer | None = None
        self._finished: list[Package] = []
        self._name = name
        self._is_merging = merge_into is not None
        self._package = merge_into
        self._section: Section | None = None
        self._on_error = on_error

    def read(self, data: bytes, small_bytes: int = _SMALL_BYTES) -> list[Package]:
        """Parse the text and return the packages in order; raises Refused (PARSE or DUPLICATE)."""
        lines = self.lines = LineBuffer(io.BytesIO(data))
        if 0 in data or self._is_merging or len(data) < small_bytes:
            while not lines.at_end:
                self._read_line(lines)
        else:
            self._read_usual(lines, data.decode("latin-1"))
        if self._package is None and self._name is not None:
            self._open(self._name)
        return self._finished if self._package is None else [*self._finished, self._package]

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
        """Read one line with the commands in it exactly."""
        if not lines.read_line():
            return
        try:
            while (word := lines.command()) and not word.startswith("#"):
                self._do(word, lines)
        except libuci.Refused as error:
            if self._on_error is not None:
                self._on_error(error)
            if self._on_error is None or error.status != libuci.PARSE:
                raise

    def _do(self, word: str, lines: LineBuffer) -> None:
        """Do a command with the arguments that stand behind it."""
        command = _COMMANDS.get(word[:1], "")
        if word not in (command, command[:1]):
            raise lines.error("invalid command")
        if command == "config" and self._package is None:
            if self._name is None:
                raise lines.error("attempting to import a file without a package name")
            self._open(self._name)
        if command in ("option", "list") and self._section is None:
            raise lines.error("option/list command found before the first section")
        lines.step_over_command(f"{command if command != 'list' else 'option'} without name")
        type = value = ""
        if command == "config":
            type = libuci.decode(lines.argument(required=True))
            if not libuci.is_type(type):
                raise lines.error("invalid character in type field")
        name = libuci.decode(lines.argument(required=command != "config"))
        if name and not libuci.is_name(name.replace("-", "_") if command == "package" else name):
            raise lines.error("invalid character in name field")
        if command in ("option", "list"):
            value = libuci.decode(lines.argument())
        if lines.argument() and self._on_error is None:
            raise lines.error("too many arguments")
        package, section = self._package, self._section
        if command == "package":
            if self._name is None:
                self._open(name)
            return
        assert package is not None  # opened above, or with its section
        if command == "config":
            section = package.find(name) if name else None
            if section is not None and section.type != type and self._on_error is None:
                raise lines.error("section of different type overwrites prior section with same name")
            self._section = edit.set_section(package, section, name, type)
            return
        assert section is not None  # seen above
        if command == "list":
            section.append(name, value)
            package.record(edit.LIST_ADD, section.name, name, value)
        elif value:
            edit.set_option(package, section, name, value)

    def _open(self, name: str) -> None:
        """Begin a package; the one before is finished."""
        if self._package is not None:
            self._finished.append(self._package)
        self._package = self._section = None
        if any(package.name == name for package in self._finished):
            raise libuci.Refused(libuci.DUPLICATE)
        self._package = Package(name)


# -- libuci's reader of lines and arguments, byte by byte, with its positions -----------------------------------------
#
# What is of no usual form comes here, and so do unusual lines of a delta. Theory: the line lies in a buffer ended by a
# zero byte; a quote or backslash left open at the end of the line reads the next one behind it. Every oddity is
# libuci's, which unquotes in place: a zero byte in a file cuts the rest of the piece fgets read, and a `;` straight
# behind a word from which no quote was taken ends the whole line.
# Source: libuci file.c, uci_getln to next_arg.

_FIRST_SIZE = 32  # libuci's LINEBUF; decides only how much of a line a zero byte hides
# libuci doubles its buffer for every piece that does not end a line, also when only a zero byte hides the end, until
# its memory is gone. From here on a larger one reads nothing else.
_LAST_SIZE = 1 << 30
_SPACE = b" \t\n\r\v\f"
_QUOTES, _ENDS = b"'\"", b"\0#;"
_QUOTE, _HASH, _SEMICOLON, _BACKSLASH, _NEWLINE = b"'#;\\\n"


class LineBuffer:
    """The line being parsed and its place in the stream: libuci's parse context."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.at_end = False
        self.reason = ""
        self.byte = 0
        self.line = 0
        self.buffer = bytearray(1)
        self.position = 0
        self._filled = 0
        self._size = _FIRST_SIZE

    def go_to(self, position: int, line: int) -> None:
        """Go on at another place of the stream, behind so many lines."""
        self.stream.seek(position)
        self.line = line

    def read_line(self) -> bool:
        """Read the next line to the buffer's start and go to its first word; tell whether it has anything in it."""
        self.position = 0
        self._fill(0)
        while self.buffer[self.position] in _SPACE:
            self.position += 1
        return self.buffer[0] != 0

    def argument(self, required: bool = False) -> bytes:
        """Unquote and return the next argument, b"" at the end of the command."""
        while self.buffer[self.position] in _SPACE:
            self.position += 1
        start, value = self.position, bytearray()
        quote = 0  # the one that is open
        while True:
            byte = self.buffer[self.position]
            if not quote and (byte in _SPACE or byte in _ENDS):
                break
            if byte == 0:
                self._fill(self.position)
                if self.buffer[self.position] == 0:
                    raise self.error("EOF with unterminated " + chr(quote))
            elif byte == quote or (not quote and byte in _QUOTES):
                quote = 0 if quote else byte
                self.position += 1
            elif byte != _BACKSLASH or quote == _QUOTE or self._escape():
                value.append(self.buffer[self.position])
                self.position += 1
        if byte == _SEMICOLON and self.position == start:
            self.position += 1
        elif byte == _HASH or (byte == _SEMICOLON and self.position - start == len(value)):
            self.buffer[self.position] = 0
        elif byte in _SPACE:
            self.position += 1
        if required and not value:
            raise self.error("insufficient arguments")
        return bytes(value)

    def command(self) -> str:
        """Cut off and return the next word at blanks and tabs, without moving; "" at the end. Source: strtok."""
        rest = bytes(self.buffer[self.position : self.buffer.index(0, self.position)])
        begun = rest.lstrip(b" \t")
        word = begun.replace(b"\t", b" ").partition(b" ")[0]
        self.buffer[self.position + len(rest) - len(begun) + len(word)] = 0
        return libuci.decode(word)

    def step_over_command(self, complaint: str) -> None:
        """Move behind the word that `command` cut off."""
        target = self.buffer.index(0, self.position) + 1
        if target > self._filled:
            raise self.error(complaint)
        self.position = target

    def error(self, reason: str) -> libuci.Refused:
        """Return a parse error at this place, and remember it."""
        self.reason = reason
        self.byte = self.position
        return libuci.Refused(libuci.PARSE, place=(reason, self.line, self.byte))

    def _fill(self, offset: int) -> None:
        """Read the next line to this place of the buffer."""
        if offset >= self._size - 1:
            self._size = min(self._size * 2, _LAST_SIZE)
        while True:
            del self.buffer[offset:]
            self.buffer.append(0)
            room = self._size - offset - 1
            piece = self.stream.readline(room)
            self.at_end = self.at_end or (len(piece) < room and not piece.endswith(b"\n"))
            piece = piece.partition(b"\0")[0]
            if not piece:
                return
            self.buffer[offset:] = piece + b"\0"
            offset += len(piece)
            self._filled = offset
            if piece.endswith(b"\n"):
                self.line += 1
                return
            self._size = min(self._size * 2, _LAST_SIZE)

    def _escape(self) -> bool:
        """Skip a backslash; at the end of a line read the next one and tell that nothing was escaped."""
        self.position += 1
        rest = self.buffer[self.position : self.position + 3]
        if rest[0] in (0, _NEWLINE) or rest == b"\r\n\0":
            self._fill(self.position)
            return False
        return True
