"""The options of the `uci` command line, read as the C library's getopt reads them; sets up a context, prints nothing.

The GNU library takes options behind the command too, musl (OpenWrt's) stops at the first word: each host's own way.
Source: uci's cli.c, main.
"""

from __future__ import annotations

import os

from oasis.uci import names, refusal
from oasis.uci.context import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

_WITH_ARGUMENT = "cCdfpPt"
# L is known to getopt and to nothing else: it leads to the usage text like an unknown letter.
_KNOWN = _WITH_ARGUMENT + "LmnNqsSX"

_CONFIG_FOLDER = "/etc/config"
_OVERRIDE_FOLDER = "/var/run/uci"
_SAVE_FOLDER = "/tmp/.uci"  # noqa: S108 (libuci's own)


class Stop(Exception):
    """The command line ends here: a text for stderr, whether the usage text follows, and the exit status."""

    def __init__(self, text: str, usage: bool, status: int) -> None:
        super().__init__(text)
        self.text = text
        self.usage = usage
        self.status = status


class Settings:
    """What the options asked for; the defaults are libuci's."""

    def __init__(self, stdin: IO[bytes]) -> None:
        self.context = Context(_CONFIG_FOLDER, _SAVE_FOLDER, _OVERRIDE_FOLDER)
        self.input = stdin
        self.has_input_file = False
        self.delimiter = " "
        self.merge = self.quiet = self.no_commit = self.reports = False
        self.extended = True


def parse(arguments: list[str], settings: Settings) -> list[str]:
    """Read the options into the settings; return the command and its arguments. Raises Stop."""
    gnu = _is_gnu()
    anywhere = gnu and "POSIXLY_CORRECT" not in os.environ
    words: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return words + rest
        if not word.startswith("-") or word == "-":
            words.append(word)
            if not anywhere:
                return words + rest
            continue
        _read_letters(names.encode(word[1:]), rest, settings, gnu)
    return words


def _read_letters(letters: bytes, rest: list[str], settings: Settings, gnu: bool) -> None:
    """Set what the letters of a word say; they are bytes: half a character is unknown by itself."""
    while letters:
        letter, letters = names.decode(letters[:1]), letters[1:]
        if letter not in _KNOWN:
            raise Stop(_complaint("unknown", letter, gnu), True, 0)
        if letter not in _WITH_ARGUMENT:
            _set_flag(letter, settings)
            continue
        if not letters and not rest:
            raise Stop(_complaint("missing", letter, gnu), True, 0)
        _set_argument(letter, names.decode(letters) or rest.pop(0), settings)
        return


def _set_flag(letter: str, settings: Settings) -> None:
    if letter == "m":
        settings.merge = True
    elif letter in "sS":
        settings.context.strict = letter == "s"
        settings.reports = settings.reports or letter == "S"
    elif letter in "nN":
        settings.context.name_all = letter == "n"
    elif letter == "q":
        settings.quiet = True
    elif letter == "X":
        settings.extended = False
    else:
        raise Stop("", True, 0)


def _set_argument(letter: str, argument: str, settings: Settings) -> None:
    context = settings.context
    if letter == "c":
        context.config_folder = argument
    elif letter == "C":
        context.override_folder = argument
    elif letter == "d":
        settings.delimiter = argument
    elif letter == "f":
        _open_input(argument, settings)
    elif letter == "p":
        try:
            context.add_delta_folder(argument)
        except refusal.Refused:
            return  # given twice counts once
    else:
        context.set_save_folder(argument)
        settings.no_commit = settings.no_commit or letter == "P"


def _open_input(path: str, settings: Settings) -> None:
    if settings.has_input_file:
        raise Stop("" if settings.quiet else "Too many input files.\n", False, 1)
    try:
        settings.input = open(path, "rb")  # noqa: SIM115 (read until the process ends)
    except OSError as error:
        raise Stop("" if settings.quiet else f"uci: {error.strerror}", False, 1)
    settings.has_input_file = True


def _complaint(kind: str, letter: str, gnu: bool) -> str:
    if kind == "unknown":
        return f"uci: invalid option -- '{letter}'\n" if gnu else f"uci: unrecognized option: {letter}\n"
    if gnu:
        return f"uci: option requires an argument -- '{letter}'\n"
    return f"uci: option requires an argument: {letter}\n"


def _is_gnu() -> bool:
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (ValueError, OSError):
        return False
