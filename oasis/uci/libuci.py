"""What libuci takes as names, types and values, and the words and numbers of its errors; knows no files.

`is_package_name` is stricter than libuci, which follows a slash in a package name out of the configuration folder.
Text is str, decoded from UTF-8 with surrogateescape, so that any bytes survive (`decode`, `encode`).
"""

from __future__ import annotations

from oasis.errors import UciError

# No `re`: that module and what it imports are a tenth of an idle daemon's memory.
_CONTROL = frozenset(map(chr, range(0x20))) - set("\t\n\r")


def decode(data: bytes) -> str:
    """Return the text of bytes read from a UCI file."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of a text; UnicodeEncodeError (a ValueError) for half a surrogate pair."""
    return text.encode("utf-8", "surrogateescape")


def is_name(text: str) -> bool:
    """Tell whether the text can name a section or an option."""
    return text.isascii() and text.replace("_", "0").isalnum()


def is_type(text: str) -> bool:
    """Tell whether the text can be a section's type: printable ASCII without blanks."""
    return bool(text) and text.isascii() and text.isprintable() and " " not in text


def is_package_name(text: str) -> bool:
    """Tell whether the text can name a package: as libuci's, but never with a slash."""
    return "/" not in text and is_type(text)


def is_value(text: str) -> bool:
    """Tell whether the text can be a value: no control characters but tab, newline and carriage return."""
    return _CONTROL.isdisjoint(text)


# -- libuci's errors as one exception ---------------------------------------------------------------------------------
#
# `Refused` is a UciError that keeps libuci's number, and for a file that does not parse the place: (reason, line,
# byte). Catch UciError; nothing outside this package needs the number.

INVALID, NOT_FOUND, IO, PARSE, DUPLICATE = 2, 3, 4, 5, 6
WORDS = {
    INVALID: "Invalid argument", NOT_FOUND: "Entry not found", IO: "I/O error", PARSE: "Parse error",
    DUPLICATE: "Duplicate entry",
}  # fmt: skip


class Refused(UciError):
    """An operation that libuci refuses, with libuci's error number.

    Shape: status (one of the constants above), what (package.section.option or a path, "" when unknown),
    place ((reason, line, byte) of a parse error, or None).
    """

    def __init__(self, status: int, what: str = "", place: tuple[str, int, int] | None = None, hint: str = "") -> None:
        self.status = status
        self.what = what
        self.place = place
        words = WORDS[status]
        if place is not None:
            reason, line, byte = place
            words += f" ({reason}) at line {line}, byte {byte}"
        super().__init__(f"{what}: {words}" if what else words, hint)

    def about(self, what: str, hint: str = "") -> Refused:
        """Return the same refusal, naming what it is about."""
        return Refused(self.status, what, self.place, hint or self.hint)
