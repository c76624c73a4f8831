"""`oasis completion`: a script that lets bash or zsh finish the words of a command, made from the table of commands.

The router's own shell (busybox ash) finishes file names only; this is for who installed another, and for hosts.
"""

from __future__ import annotations

from oasis.cli.commands import FLAGS, OK, every
from oasis.cli.subjects import SUBJECTS
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

SHELLS = ("bash", "zsh")
_SCRIPT = """\
%(first)s_oasis() {
	local word=${COMP_WORDS[COMP_CWORD]} words
	if [ "$COMP_CWORD" = 1 ]; then
		words='%(commands)s'
	else
		case ${COMP_WORDS[1]} in
%(cases)s		esac
	fi
	COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _oasis oasis
"""


def completion(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print the script for a shell.

    Raises: UsageError for a shell that has none.
    """
    shell = arguments["SHELL"] or SHELLS[0]
    if shell not in SHELLS:
        raise UsageError(f"there is no script for {shell!r}", "there are: " + ", ".join(SHELLS))
    screen.document(script(shell))
    return OK


def script(shell: str) -> str:
    """Return the script."""
    cases = "".join(f"\t\t{name}) words='{' '.join(_words(name))}' ;;\n" for name in sorted(every()))
    first = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return _SCRIPT % {"first": first, "commands": " ".join([*sorted(every()), *FLAGS]), "cases": cases}


def _words(name: str) -> list[str]:
    """Return what may follow a command: its options, what it can do, and of help the commands and subjects."""
    usage = every()[name][0].replace("[", " ").replace("]", " ").split()
    options = {word.strip("…") for word in usage if word.startswith("-")}
    more = [*every(), *SUBJECTS] if name == "help" else list(SHELLS) if name == "completion" else []
    if "ACTION" in usage:
        module = every()[name][2].partition(":")[0]
        more = list(__import__("oasis." + module, fromlist=("ACTIONS",)).ACTIONS)
    return [*sorted(options | set(FLAGS)), *sorted(set(more))]
