"""libuci's reader of lines and arguments, byte by byte, with its positions; knows quoting, not commands.

The parser's quick pattern takes the usual lines; what it does not match comes here, and so do unusual delta lines and
`uci batch`. Theory: the line lies in a buffer ended by a zero byte; arguments are unquoted in place, a quote or
backslash left open at the end of the line reads the next one behind it. Every oddity is libuci's: a zero byte in a file
cuts the rest of the piece fgets read, a `;` straight behind an unquoted word ends the whole line.
Source: libuci file.c, uci_getln to next_arg.
"""

from __future__ import annotations

from oasis.uci import names, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

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
        text = names.decode(self.argument(required))
        if text and not names.is_name(text.replace("-", "_") if package else text):
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

    def error(self, reason: str) -> refusal.Refused:
        """Return a parse error at this place, and remember it."""
        self.reason = reason
        self.byte = self.position
        return refusal.Refused(refusal.PARSE, place=(reason, self.line, self.byte))

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
