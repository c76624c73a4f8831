"""The command `oasis`: finds the command in the table, reads its words, runs it, turns errors into an exit status.

Start-up time counts on a router: only what the chosen command needs is imported, and nothing is opened before its first
call. Contract: `main(argv)` returns the exit status; nothing is raised out of it but bugs.
"""

from __future__ import annotations

import os
import sys

from oasis import VERSION, parts
from oasis.cli.commands import CANCELLED, COMMANDS, FAILED, FLAGS, OK, find, named, read
from oasis.cli.rpc_client import Client
from oasis.cli.terminal import Screen
from oasis.errors import OasisError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.shapes import Any, Call, Callable

SOCKET = "var/run/oasis/oasis.sock"


def main(argv: list[str]) -> int:
    """Run `oasis` with the words of a command line and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # a name from the router may not fit the locale
    is_terminal = os.isatty(0) and os.isatty(1)  # a person is there when both ends are terminals
    has_colour = is_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM", "dumb") != "dumb"
    locale = next((one for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (one := os.environ.get(name))), "")
    screen = Screen(sys.stdout, sys.stderr, is_terminal, has_colour, locale)
    try:
        return _run(argv, screen)
    except OasisError as error:
        return screen.failure(error)
    except KeyboardInterrupt:
        screen.fresh_line()
        return CANCELLED
    except BrokenPipeError:
        # The reader left, as `head` does. Whatever is still buffered must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILED


def _run(argv: list[str], screen: Screen) -> int:
    words = list(argv)
    leading = []
    while words and words[0] in FLAGS:
        leading.append(words.pop(0))
    if "-j" in leading or "--json" in leading:
        screen.speak_json()
    if words[:1] == ["--version"]:
        screen.line(f"oasis {VERSION}")
        return OK
    if not words or "-h" in leading or "--help" in leading:
        words = ["help", *words[:1]]
    name = words[0]
    try:
        command = find(name)
        if command is None:
            from oasis.cli.help import unknown

            raise unknown(name, words[1:])
        try:
            arguments = read(command[0], words[1:])
        except UsageError as error:
            raise UsageError(error.message, f"usage: oasis {name} {command[0]}".rstrip())
    except UsageError:
        if "-j" in words or "--json" in words:  # words that could not be read: whoever wrote that reads JSON
            screen.speak_json()
        raise
    if arguments["-h"] or arguments["--help"]:
        command, arguments = COMMANDS["help"], {"COMMAND": name}
    elif arguments["-j"] or arguments["--json"]:
        screen.speak_json()
    run: Callable[[Call, dict[str, str], Screen], int] = named(command[2])
    root = os.environ.get("OASIS_ROOT") or "/"
    client: Any = Client(os.path.join(root, SOCKET), hint="/etc/init.d/oasis start" if root == "/" else "make run")

    def rejoined(words: str) -> None:
        parts.read_again()
        screen.notice(words)

    def asked(method: str, params: dict[str, Any]) -> Any:
        return client.ask(method, {**params, "lang": screen.language} if screen.language else params, rejoined)

    call: Call = asked  # type: ignore[assignment]  # typed by shapes.pyi
    try:
        return run(call, arguments, screen)
    except OasisError as error:
        if not getattr(error, "is_absent", False) or name == "start":
            raise
        from oasis.cli.without_daemon import explained, offer

        explained(error)
        if not offer(call, screen):
            raise
    return run(call, arguments, screen)
