"""What comes in on standard input: a whole text, a line, or a secret that nobody sees being typed.

Contract: a secret is read from the terminal with echo off, or from the next line where there is no terminal; it is
in no argument, no environment and no history of the prompt.
"""

from __future__ import annotations

import os
import sys

from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.screen import Screen

_KEYBOARD = 0
_LINE_BYTES = 8192  # a terminal hands over 4095 at most


def whole() -> str:
    """Return all of standard input.

    Raises: UsageError for what is no text.
    """
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeError:
        raise UsageError("the text is not valid UTF-8", "set the terminal to UTF-8")


def line(screen: Screen, prompt: str) -> str | None:
    """Return the next line, or None at the end of input or at Ctrl-C; a person sees `prompt`."""
    try:
        if screen.can_ask:
            _load_line_editing()
            return input(prompt).strip()
        given = _next_line()
        return given.strip() if given else None
    except (EOFError, KeyboardInterrupt):
        screen.line()
        return None


def secret(screen: Screen, question: str) -> str:
    """Return a line typed unseen, without its end; "" when nothing was typed, or Ctrl-C was.

    Raises: UsageError for what is no text.
    """
    if not screen.is_terminal:
        return _text(_next_line().encode("utf-8", "surrogateescape"))
    import termios

    before = termios.tcgetattr(_KEYBOARD)
    unseen = list(before)
    unseen[3] &= ~termios.ECHO
    # Echo ends before the question is there, for who pastes at once. What was typed before it does not count, nor does
    # what is left of a paste of several lines: it would be said to the model.
    termios.tcsetattr(_KEYBOARD, termios.TCSAFLUSH, unseen)
    try:
        if not screen.is_json:
            screen.question(question)
        return _text(os.read(_KEYBOARD, _LINE_BYTES))
    except KeyboardInterrupt:
        return ""
    finally:
        termios.tcsetattr(_KEYBOARD, termios.TCSAFLUSH, before)
        if not screen.is_json:
            screen.line()  # the person's own line end was not shown


def _next_line() -> str:
    """Return a line with its end, "" at the end; what is no text in it is refused by who takes the words."""
    return sys.stdin.buffer.readline().decode("utf-8", "surrogateescape")


def _text(line: bytes) -> str:
    try:
        return line.decode("utf-8").rstrip("\r\n")
    except UnicodeError:
        raise UsageError("the secret is not valid UTF-8", "set the terminal to UTF-8")


def _load_line_editing() -> None:
    """Give the prompt arrow keys and recall where Python was built with readline; routers may lack it."""
    try:
        import readline  # noqa: F401
    except ImportError:
        return
