"""Asks the person at the terminal a yes-or-no question, with a countdown, while the world may answer it first.

Knows nothing of plans. Contract: what was typed before the question appeared does not answer it, only "y" or "yes" is
a yes (or the one word that was asked for), and Ctrl-C comes through as KeyboardInterrupt. Loaded only when there is
something to ask.
"""

from __future__ import annotations

import os
import select
import termios
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.cli.screen import Screen

YES = "yes"
NO = "no"
GONE = "gone"  # the time is up, or it was decided elsewhere

LOOK_EVERY_S = 2  # how soon a decision made elsewhere is noticed
_SAVE, _RESTORE = "\x1b7", "\x1b8"  # cursor; what is being typed stays where it is
_KEYBOARD = 0


def ask(screen: Screen, question: str, is_open: Callable[[], bool], time_s: int = 0, word: str = "") -> str:
    """Return YES, NO or GONE; with a `word`, nothing but exactly that is a yes.

    Units: `time_s` seconds to answer, 0 = as long as `is_open` says so.
    """
    deadline_s = time.monotonic() + time_s
    look_s = time.monotonic() + LOOK_EVERY_S
    termios.tcflush(_KEYBOARD, termios.TCIFLUSH)
    screen.question(_with_time(question, time_s))
    while True:
        if select.select([_KEYBOARD], [], [], 1)[0]:
            return _answer(word)
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


def _answer(word: str) -> str:
    typed = os.read(_KEYBOARD, 1024).decode("utf-8", "replace").strip()
    return YES if (typed == word if word else typed.lower() in ("y", "yes")) else NO


def _with_time(question: str, left_s: int) -> str:
    return f"{question} ({left_s:3d} s) " if left_s else f"{question} "
