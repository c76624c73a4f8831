"""What a command writes: answers to standard output, everything about them to standard error.

Contract: every text from a model, a name or the router passes the cleaner (core/clean.py) on its way, because a
terminal obeys what it is sent. `Screen` remembers whether the cursor stands at the start of a line, so that a block
always begins on one.
"""

from __future__ import annotations

import os

from oasis.core import clean, jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from oasis.errors import OasisError

_GREEN, _RED, _BOLD, _DIM, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
COLUMNS = 80
COLUMNS_MIN = 40  # a narrower terminal breaks the lines itself
COLOURS = {"+": _GREEN, "-": _RED, "bold": _BOLD, "dim": _DIM}


class Screen:
    def __init__(self, out: TextIO, err: TextIO, is_terminal: bool = False, has_colour: bool = False) -> None:
        """Write to `out` and `err`; `is_terminal`: a person is there to be asked."""
        self._out = out
        self._err = err
        self.is_terminal = is_terminal
        self.is_json = False
        self._has_colour = has_colour
        self._is_at_start = True

    @property
    def can_ask(self) -> bool:
        return self.is_terminal and not self.is_json

    @property
    def columns(self) -> int:
        """Return the width of the terminal, COLUMNS where there is none."""
        try:
            return max(os.get_terminal_size(self._out.fileno()).columns or COLUMNS, COLUMNS_MIN)
        except (OSError, ValueError):
            return COLUMNS

    @property
    def is_unicode(self) -> bool:
        """Return whether more than ASCII can be drawn.

        A router sets no locale and its libc knows UTF-8 alone: only a locale that is set can say otherwise.
        """
        locale = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG")
        codec = locale or getattr(self._out, "encoding", "") or ""
        return "utf8" in codec.lower().replace("-", "")

    def document(self, text: str) -> None:
        """Write a file's text: as it is to a pipe or a file, cleaned to a terminal."""
        if self._out.isatty():
            self.text(text)
        else:
            self._out.write(text)
            self._out.flush()

    def text(self, text: str) -> None:
        """Write a piece of an answer as it comes."""
        text = clean.text(text)
        if text:
            self._out.write(text)
            self._out.flush()
            self._is_at_start = text.endswith("\n")

    def line(self, text: object = "", look: str = "") -> None:
        """Write whole lines; `look` is a key of COLOURS."""
        self.fresh_line()
        self._out.write(self._dressed(clean.text(text), look) + "\n")
        self._out.flush()

    def fresh_line(self) -> None:
        if not self._is_at_start:
            self._out.write("\n")
            self._out.flush()
            self._is_at_start = True

    def json(self, value: object) -> None:
        self._out.write(jsonl.dumps(value) + "\n")
        self._out.flush()

    def notice(self, text: str) -> None:
        """Tell, on standard error, what is going on."""
        if not self.is_json:
            self.fresh_line()
            self._err.write(f"oasis: {clean.line(text)}\n")
            self._err.flush()

    def progress(self, text: str) -> None:
        """Tell a person, and no program, what is being worked at."""
        if self.can_ask:
            self.fresh_line()
            self._err.write(self._dressed(clean.line(text), "dim") + "\n")
            self._err.flush()

    def failure(self, error: OasisError) -> int:
        """Show an error and return the exit status it asks for."""
        if self.is_json:
            self.json({"error": error.as_dict()})
        self.fresh_line()
        self._err.write(f"oasis: error: {clean.line(error.message)}\n")
        if error.hint:
            self._err.write(f"oasis: hint: {clean.line(error.hint)}\n")
        self._err.flush()
        return error.exit_status

    def question(self, text: str) -> None:
        """Write a question and leave the cursor behind it; the answer's line end is the person's."""
        self.fresh_line()
        self._out.write(text)
        self._out.flush()

    def _dressed(self, text: str, look: str) -> str:
        return f"{COLOURS[look]}{text}{_PLAIN}" if look and self._has_colour else text
