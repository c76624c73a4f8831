"""The terminal: what a command writes and reads there, and the questions that it asks.

`Screen` writes answers to standard output and everything about them to standard error. Every text from a model, a name
or the router passes the cleaner (core/clean.py) on its way, because a terminal obeys what it is sent; the screen knows
whether the cursor stands at the start of a line, so that a block always begins on one.

`read_text`, `read_line` and `read_secret` read standard input. A secret is read with echo off, or from the next line
where there is no terminal; it is in no argument, no environment and no history of the prompt.

`ask` puts a yes-or-no question. What was typed before the question appeared does not answer it, only "y" or "yes" is a
yes (or the one word that was asked for), and Ctrl-C comes through as KeyboardInterrupt.
"""

from __future__ import annotations

import os
import select
import sys
import termios
import time

from oasis.core import clean, jsonl
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TextIO

    from oasis.errors import OasisError

    Lines = Iterable[str | tuple[str, str]]

_GREEN, _RED, _BOLD, _DIM, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
COLUMNS = 80
COLUMNS_MIN = 40  # a narrower terminal breaks the lines itself
COLOURS = {"+": _GREEN, "-": _RED, "bold": _BOLD, "dim": _DIM}


class Screen:
    def __init__(
        self, out: TextIO, err: TextIO, is_terminal: bool = False, has_colour: bool = False, language: str = ""
    ) -> None:
        """Write to `out` and `err`; `is_terminal`: a person is there to be asked; `language`: the locale they read."""
        code = language[:2].lower()
        self._language = code if code.isalpha() and code not in ("en", "po") else ""  # C and POSIX are English, too
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

    def speak_json(self) -> None:
        """Write values for programs from here on, and nothing for people."""
        self.is_json = True

    def document(self, text: str) -> None:
        """Write a file's text: as it is to a pipe or a file, cleaned to a terminal."""
        if self._out.isatty():
            self.text(text)
        else:
            self._write(text)

    def text(self, text: str) -> None:
        """Write a piece of an answer as it comes."""
        text = clean.text(text)
        if text:
            self._write(text)
            self._is_at_start = text.endswith("\n")

    def line(self, text: object = "", look: str = "") -> None:
        """Write whole lines; `look` is a key of COLOURS."""
        self.fresh_line()
        self._write(self._dressed(self.spoken(clean.text(text)), look) + "\n")

    @property
    def language(self) -> str:
        """Return the code of a person's language that is not English, "" for programs and all others."""
        return "" if self.is_json else self._language

    def spoken(self, text: str) -> str:
        """Return a text of ours in the reader's language."""
        if not self.language:
            return text
        from oasis.texts.translation import translation  # whoever reads English needs none

        found = translation(self.language)
        return found.text(text) if found else text

    def fresh_line(self) -> None:
        if not self._is_at_start:
            self._write("\n")
            self._is_at_start = True

    def json(self, value: object) -> None:
        self._write(jsonl.dumps(value) + "\n")

    def notice(self, text: str) -> None:
        """Tell, on standard error, what is going on."""
        if not self.is_json:
            self._remark(f"oasis: {self.spoken(clean.line(text))}\n")

    def progress(self, text: str) -> None:
        """Tell a person, and no program, what is being worked at."""
        if self.can_ask:
            self._remark(self._dressed(self.spoken(clean.line(text)), "dim") + "\n")

    def failure(self, error: OasisError) -> int:
        """Show an error and return the exit status it asks for."""
        if self.is_json:
            self.json({"error": error.as_dict()})
        hint = f"oasis: hint: {self.spoken(clean.line(error.hint))}\n" if error.hint else ""
        self._remark(f"oasis: error: {self.spoken(clean.line(error.message))}\n{hint}")
        return error.exit_status

    def card(self, lines: Lines) -> None:
        """Print lines for people: a text is shown as one line, a (text, look) as it is but for hidden characters."""
        for line in () if self.is_json else lines:
            if isinstance(line, str):
                self.line(clean.line(line))
            else:
                self.line(*line)

    def result(self, reply: object, lines: str | Lines) -> int:
        """Print a method's reply, as JSON or in lines for people (see `card`); return the exit status of success."""
        if self.is_json:
            self.json(reply)
        self.card([lines] if isinstance(lines, str) else lines)
        return 0

    def question(self, text: str) -> None:
        """Write a question and leave the cursor behind it; the answer's line end is the person's."""
        self.fresh_line()
        self._write(text)

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()

    def _remark(self, text: str) -> None:
        self.fresh_line()
        self._err.write(text)
        self._err.flush()

    def _dressed(self, text: str, look: str) -> str:
        return f"{COLOURS[look]}{text}{_PLAIN}" if look and self._has_colour else text


_KEYBOARD = 0
_LINE_BYTES = 8192  # a terminal hands over 4095 at most


def read_text() -> str:
    """Return all of standard input.

    Raises: UsageError for what is no text.
    """
    return _decoded(sys.stdin.buffer.read(), "text")


def read_line(screen: Screen, prompt: str) -> str | None:
    """Return the next line, or None at the end of input or at Ctrl-C; a person sees `prompt`."""
    try:
        if screen.can_ask:
            try:
                import readline  # noqa: F401  # arrow keys and recall, where Python was built with it
            except ImportError:
                pass  # routers may lack it
            return input(prompt).strip()
        given = _next_line()
        return given.strip() if given else None
    except (EOFError, KeyboardInterrupt):
        screen.line()
        return None


def read_secret(screen: Screen, question: str) -> str:
    """Return a line typed unseen, without its end; "" when nothing was typed, or Ctrl-C was.

    Raises: UsageError for what is no text.
    """
    if not screen.is_terminal:
        return _decoded(_next_line().encode("utf-8", "surrogateescape"), "secret").rstrip("\r\n")
    before = termios.tcgetattr(_KEYBOARD)
    unseen = list(before)
    unseen[3] &= ~termios.ECHO
    # Echo ends before the question is there, for who pastes at once. What was typed before it does not count, nor does
    # what is left of a paste of several lines: it would be said to the model.
    termios.tcsetattr(_KEYBOARD, termios.TCSAFLUSH, unseen)
    try:
        if not screen.is_json:
            screen.question(question)
        return _decoded(os.read(_KEYBOARD, _LINE_BYTES), "secret").rstrip("\r\n")
    except KeyboardInterrupt:
        return ""
    finally:
        termios.tcsetattr(_KEYBOARD, termios.TCSAFLUSH, before)
        if not screen.is_json:
            screen.line()  # the person's own line end was not shown


def _next_line() -> str:
    """Return a line with its end, "" at the end; what is no text in it is refused by who takes the words."""
    return sys.stdin.buffer.readline().decode("utf-8", "surrogateescape")


def _decoded(data: bytes, what: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeError:
        raise UsageError(f"the {what} is not valid UTF-8", "set the terminal to UTF-8")


ANSWERS = ("y", "yes", "n", "no")
YES = "yes"
NO = "no"
GONE = "gone"  # the time is up, or it was decided elsewhere

LOOK_EVERY_S = 2  # how soon a decision made elsewhere is noticed
_SAVE, _RESTORE = "\x1b7", "\x1b8"  # cursor; what is being typed stays where it is


def ask(
    screen: Screen, question: str, is_open: Callable[[], bool], time_s: int = 0, word: str = "", other: str = ""
) -> str:
    """Return YES, NO or GONE, or `other` where that is typed; with a `word`, nothing but exactly that is a yes.

    Units: `time_s` seconds to answer, 0 = as long as `is_open` says so.
    """
    deadline_s = time.monotonic() + time_s
    look_s = time.monotonic() + LOOK_EVERY_S
    termios.tcflush(_KEYBOARD, termios.TCIFLUSH)
    question = screen.spoken(question)
    screen.question(_with_time(question, time_s))
    while True:
        if select.select([_KEYBOARD], [], [], 1)[0]:
            typed = os.read(_KEYBOARD, 1024).decode("utf-8", "replace").strip()
            if other and typed == other:
                return other
            return YES if (typed == word if word else typed.lower() in ("y", "yes")) else NO
        now_s = time.monotonic()
        if time_s and now_s >= deadline_s:
            screen.line()
            return GONE
        if now_s >= look_s:
            look_s = now_s + LOOK_EVERY_S
            if not is_open():
                screen.line()
                return GONE
        if time_s and os.environ.get("TERM", "dumb") != "dumb":
            screen.question(f"{_SAVE}\r{_with_time(question, int(deadline_s - now_s + 0.5))}{_RESTORE}")


def is_meant(screen: Screen, question: str) -> bool:
    """Ask a person whether something is meant; without one to ask, it is."""
    return not screen.can_ask or ask(screen, f"{question} [y/N]", lambda: True) == YES


def _with_time(question: str, left_s: int) -> str:
    return f"{question} ({left_s:3d} s) " if left_s else f"{question} "
