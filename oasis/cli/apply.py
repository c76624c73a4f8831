"""`oasis apply` and `oasis force`: the owner's own commands as a plan, and what was refused all the same.

Contract: the daemon decides what is refused and what forcing it takes; here a person at a terminal is asked for it.
Nothing is forced that was neither given as an option nor answered with yes, and code never without its words.
"""

from __future__ import annotations

import os
import sys

from oasis.cli.commands import FAILED
from oasis.errors import StoreError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

# What the daemon asks for in change/force.py; typed as it stands, in every language.
WORDS = "this runs code as root"
_USAGE = "like: oasis apply 'uci set system.@system[0].hostname=attic'"
_MEANT = {
    "exec": "what runs code or is not known",
    "reachability": "that you may not reach the router any more",
    "unknown": "names or values that are not known or look wrong",
}


def apply(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Propose commands; ask at a terminal what to force of what was refused, and propose them again."""
    from oasis.cli.run import Turn, followed

    commands = _commands(arguments["COMMAND"], screen)
    kinds = arguments["--force"].split()
    words = arguments["--words"]
    while True:
        if "exec" in kinds and not words and screen.can_ask and not (words := _words(screen)):
            return FAILED
        started = call("plan.propose", _params(commands, kinds, words))
        if screen.is_json:
            screen.json({"type": "run", **started})
        turn = Turn(call, started["run"], screen)
        status = followed(turn, not arguments["--no-wait"])
        if not turn.missing or not screen.can_ask or not _wants(screen, turn.missing):
            return status
        kinds = sorted({*kinds, *turn.missing})


def force(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Propose what a run was refused, and follow it."""
    from oasis.cli.run import run

    started = call("plan.force", {"refused": arguments["REFUSED"]})
    return run(call, started, screen, waits=not arguments["--no-wait"])


def _commands(given: str, screen: Screen) -> list[str]:
    """Return the commands of a command line, a file, or standard input.

    Raises: UsageError when there are none.
    """
    words = given.split("\n") if given else []
    if not words and screen.can_ask:
        raise UsageError("there is no command", _USAGE)
    if words in ([], ["-"]):
        return sys.stdin.read().split("\n")
    if len(words) == 1 and " " not in words[0]:
        return _read(words[0])
    if words[0] in ("uci", "/sbin/uci"):  # one command without quotes around it
        import shlex

        return [shlex.join(words)]
    return words


def _read(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().split("\n")
    except (OSError, UnicodeError) as error:
        reason = os.strerror(error.errno or 0) if isinstance(error, OSError) else "it is no text"
        raise StoreError(f"{path} cannot be read: {reason}", _USAGE)


def _params(commands: list[str], kinds: list[str], words: str) -> dict[str, object]:
    params: dict[str, object] = {"commands": commands}
    if kinds:
        params["force"] = kinds
    if words:
        params["words"] = words
    return params


def _wants(screen: Screen, kinds: list[str]) -> bool:
    from oasis.cli.ask import YES, ask

    meant = ", and ".join(_MEANT.get(kind, kind) for kind in kinds)
    return ask(screen, f"Propose it all the same, with {meant}? [y/N]", lambda: True) == YES


def _words(screen: Screen) -> str:
    """Ask for the words that let code through; return them, or "" for anything else."""
    from oasis.cli.ask import YES, ask

    if ask(screen, f"Type exactly: {WORDS}\n>", lambda: True, word=WORDS) == YES:
        return WORDS
    screen.notice("these are not the words; nothing is proposed")
    return ""
