"""Text of UCI files and deltas, read as by libuci: the same packages or the same refusal with the same line and byte.

Usual lines of a large file are taken by a regular expression, any other goes through the exact reader below. Knows no
folders and no locks. Source: libuci file.c, uci_parse_line, uci_import; delta.c; util.c, uci_parse_ptr.
"""

from __future__ import annotations

import io

from oasis.uci import package as names
from oasis.uci.edit import is_kept
from oasis.uci.package import PARSE, Package, Record, Refused, Section, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import IO


# Below this the quicker reader is not worth the loading of `re`; our own settings are about a tenth of it.
_SMALL_BYTES = 4096
# A line as a commit and most people write it, or several when a quoted value goes on in the next ones.
_OPTION = r"""[ \t]*(?:o|option|(l|list))[ \t]+(['"]?)([A-Za-z0-9_]+)\2[ \t]+(?:'([^']*)'|"([^"\\]*)"|([^\s'"#;\\]+))"""
_CONFIG = r"""[ \t]*(?:c|config)[ \t]+(['"]?)([A-Za-z0-9_.-]+)\7(?:[ \t]+(['"]?)([A-Za-z0-9_]+)\9)?"""
_USUAL = rf"(?:{_OPTION}|{_CONFIG}|)[ \t\r]*(?:#[^\n]*)?(?:\n|\Z)"
_COMMANDS = "+-@^|~"
_WORDS = {b"p": b"package", b"c": b"config", b"o": b"option", b"l": b"list"}


class Importer:
    """One reading of a text into a package; `package` lines say nothing in the file of one."""

    def __init__(self, name: str) -> None:
        self._package = Package(name)
        self._section: Section | None = None

    def read(self, data: bytes) -> Package:
        """Parse the text and return its package; raises Refused (PARSE)."""
        lines = LineBuffer(io.BytesIO(data))
        if 0 in data or len(data) < _SMALL_BYTES:
            self._read_exactly(lines)
        else:
            self._read_usual(lines, data.decode("latin-1"))
        return self._package

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
            self._set(option, value if is_ascii else decode(value.encode("latin-1")), list_word is not None)
        elif type is not None:
            known = self._package.find(name) if name else None
            if known is not None and known.type != type:
                return False
            self._section = known or self._package.append(type, name or "")
        return True

    def _read_line(self, lines: LineBuffer) -> None:
        """Do what the line in the buffer says, which may be several commands."""
        lines.skip_space()
        while word := lines.command():
            if word.startswith(b"#"):
                return
            command = _WORDS.get(word[:1], b"")
            if word not in (command, command[:1]):
                raise lines.error("invalid command")
            if command == b"package":
                self._read_package(lines)
            elif command == b"config":
                self._read_config(lines)
            else:
                self._read_option(lines, command == b"list")

    def _read_package(self, lines: LineBuffer) -> str:
        lines.step_over_command("package without name")
        name = lines.name(required=True, package=True)
        self._end_command(lines)
        return name

    def _read_config(self, lines: LineBuffer) -> None:
        lines.step_over_command("config without name")
        type = decode(lines.argument(required=True))
        if not names.is_type(type):
            raise lines.error("invalid character in type field")
        name = lines.name()
        self._end_command(lines)
        self._section = self._begin(type, name, lines)

    def _begin(self, type: str, name: str, lines: LineBuffer) -> Section:
        section = self._package.find(name) if name else None
        if section is None:
            return self._package.append(type, name)
        if section.type != type:
            raise lines.error("section of different type overwrites prior section with same name")
        return section

    def _read_option(self, lines: LineBuffer, is_list: bool) -> None:
        if self._section is None:
            raise lines.error("option/list command found before the first section")
        lines.step_over_command("option without name")
        name = lines.name(required=True)
        value = decode(lines.argument())
        self._end_command(lines)
        self._set(name, value, is_list)

    def _set(self, name: str, value: str, is_list: bool) -> None:
        if self._section is not None and is_list:
            self._section.append(name, value)
        elif self._section is not None and value:
            self._section.options[name] = value

    def _end_command(self, lines: LineBuffer) -> None:
        if lines.argument():
            raise lines.error("too many arguments")


def split(text: str) -> tuple[str, str | None, str | None, str | None]:
    """Return package, section, option and value of `package[.section[.option]][=value]`; raises Refused (PARSE)."""
    left, equals, value = text.partition("=")
    parts: list[str | None] = [*left.split(".")]
    package, section, option = (*parts, None, None)[:3]
    if (
        len(parts) > 3
        or not names.is_type(package or "")
        or (option is not None and not names.is_name(option))
        or not names.is_value(value)
    ):
        raise Refused(PARSE)
    return package or "", section, option, value if equals else None


def delta(data: bytes, package: str) -> list[Record]:
    """Return the records of a delta file that belong to the package; what is not well formed is left out, as by libuci.

    Whether a record still fits the package shows in its replay.
    """
    found: list[Record] = []
    lines = LineBuffer(io.BytesIO(data))
    while not lines.at_end:
        if lines.read_line():
            try:
                owner, record = delta_line(lines)
            except Refused:
                continue
            if owner == package:
                found.append(record)
    return found


def delta_line(lines: LineBuffer) -> tuple[str, Record]:
    """Return package and record of the line in the buffer; raises Refused."""
    argument = decode(lines.argument())
    command = argument[:1] if argument[:1] in _COMMANDS else ""
    package, section, option, value = split(argument[len(command) :])
    record = (command, section or "", option, value)
    if lines.buffer[lines.position] or not is_kept(record):
        raise Refused(names.INVALID)
    return package, record


# -- libuci's reader of lines and arguments, byte by byte, with its positions -----------------------------------------
#
# Theory: the line lies in a buffer ended by a zero byte; arguments are unquoted in place, a quote or backslash left
# open at the end of the line reads the next one behind it. Every oddity is libuci's: a zero byte in a file cuts the
# rest of the piece fgets read, a `;` straight behind an unquoted word ends the whole line.
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
        text = decode(self.argument(required))
        if text and not names.is_name(text.replace("-", "_") if package else text):
            raise self.error("invalid character in name field")
        return text

    def command(self) -> bytes:
        """Cut off and return the next word at blanks and tabs, without moving; b"" at the end. Source: strtok."""
        start = self.position
        rest = self.buffer[start : self.buffer.index(0, start)]
        word = rest.lstrip(b" \t")
        first = word.replace(b"\t", b" ").partition(b" ")[0]
        if len(first) < len(word):
            self.buffer[start + len(rest) - len(word) + len(first)] = 0
        return bytes(first)

    def step_over_command(self, complaint: str) -> None:
        """Move behind the word that `command` cut off."""
        target = self.buffer.index(0, self.position) + 1
        if target > self.filled:
            raise self.error(complaint)
        self.position = target

    def skip_space(self) -> None:
        """Move to the next byte that is no white space."""
        buffer = self.buffer
        while buffer[self.position] in _SPACE:
            self.position += 1

    def error(self, reason: str) -> Refused:
        """Return a parse error at this place."""
        return Refused(PARSE, place=(reason, self.line, self.position))

    def _fill(self, offset: int) -> None:
        is_full = offset >= self._size - 1
        while True:
            if is_full:
                self._size = min(self._size * 2, _LAST_SIZE)
            is_full = True
            self.buffer[offset:] = b"\0"
            size = self._size - offset - 1
            piece = self.stream.readline(size)
            self.at_end = self.at_end or (len(piece) < size and not piece.endswith(b"\n"))
            piece = piece.partition(b"\0")[0]
            if not piece:
                return
            self.buffer[offset:] = piece + b"\0"
            offset += len(piece)
            self.filled = offset
            if piece.endswith(b"\n"):
                self.line += 1
                return

    def _word(self, target: int) -> None:
        buffer = self.buffer
        while True:
            byte = buffer[self.position]
            if byte in (_QUOTE, _DOUBLE):
                target = self._quoted(target, byte)
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

    def _quoted(self, target: int, quote: int) -> int:
        self.position += 1
        while True:
            byte = self.buffer[self.position]
            if byte == quote:
                self.position += 1
                return target
            if byte == 0:
                self._fill(self.position)
                if self.buffer[self.position] == 0:
                    raise self.error("EOF with unterminated " + chr(quote))
            elif quote == _QUOTE or byte != _BACKSLASH or self._escape():
                target = self._keep(target)

    def _escape(self) -> bool:
        """Skip a backslash; at the end of a line read the next one and tell that nothing was escaped."""
        self.position += 1
        rest = self.buffer[self.position : self.position + 3]
        if rest[0] in (0, _NEWLINE) or rest == b"\r\n\0":
            self._fill(self.position)
            return False
        return True
