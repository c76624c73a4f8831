"""The help texts of `oasis`, made from the tables in cli_commands."""

from __future__ import annotations

from oasis.errors import UsageError
from oasis.frontends.cli_commands import COMMANDS, EXIT_STATUSES, GROUPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.frontends.cli_screen import Screen

_INTRODUCTION = """\
oasis: an operator that lives on this router

usage: oasis COMMAND [ARGUMENT…]
"""
_OPTIONS = """
Options of every command:
  -j, --json   print JSON: one object, or one line an event for prompt, chat, undo and approve
  -h, --help   print the help of the command

A chat or a service may be named by its place in the list: no=2.
`oasis --version` prints the version.
"""


def show(call: object, arguments: dict[str, str], screen: Screen) -> int:
    """Print the help of one command, or of all."""
    screen.line(one(arguments["COMMAND"]) if arguments["COMMAND"] else whole())
    return 0


def whole() -> str:
    """Return the help that `oasis` and `oasis help` print."""
    width = max(len(name) for name in COMMANDS)
    commands = ""
    for title, names in GROUPS:
        commands += f"\n{title}:\n" + "".join(f"  {name:{width}}  {COMMANDS[name][1]}\n" for name in names)
    statuses = "".join(f"  {status:3}  {words}\n" for status, words in EXIT_STATUSES)
    return f"{_INTRODUCTION}{commands}{_OPTIONS}\nExit statuses:\n{statuses}".rstrip("\n")


def one(name: str) -> str:
    """Return the help of one command.

    Raises: UsageError when there is no such command.
    """
    if name not in COMMANDS:
        raise UsageError(f"unknown command {name!r}", "`oasis help` lists the commands")
    usage, summary, _, more = COMMANDS[name]
    text = f"usage: oasis {name} [-j] {usage}".rstrip() + f"\n\n{summary[0].upper()}{summary[1:]}."
    return f"{text}\n\n{more}" if more else text
