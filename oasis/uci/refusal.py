"""libuci's errors as one exception; knows their words and exit statuses, nothing of files or packages.

`Refused` is a UciError that keeps libuci's number, so that the `uci` command line can exit with it, and for a file that
does not parse the place: (reason, line, byte). Catch UciError; nothing outside this package needs the number.
"""

from __future__ import annotations

from oasis.errors import UciError

INVALID = 2
NOT_FOUND = 3
IO = 4
PARSE = 5
DUPLICATE = 6

WORDS = {
    INVALID: "Invalid argument",
    NOT_FOUND: "Entry not found",
    IO: "I/O error",
    PARSE: "Parse error",
    DUPLICATE: "Duplicate entry",
}


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
