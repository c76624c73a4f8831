"""The help texts of `oasis`, and the completion script for shells, both made from the table of commands."""

from __future__ import annotations

from oasis import parts
from oasis.catalogue.entries import distance
from oasis.cli.commands import FLAGS, OK, TEXTS, every
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.shapes import Call
    from oasis.cli.terminal import Screen

# How help shows them; a command of an optional part is left out where that is not installed.
GROUPS = TEXTS["groups"]
SUBJECTS = {name: (row["summary"], "\n".join(row["text"])) for name, row in TEXTS["subjects"].items()}


def show_help(call: object, arguments: dict[str, str], screen: Screen) -> int:
    screen.line(one(arguments["COMMAND"]) if arguments["COMMAND"] else whole())
    return OK


def whole() -> str:
    known = every()
    width = max(len(name) for name in known)
    lines = [*TEXTS["introduction"]]
    for title, listed in GROUPS.items():
        rows = [f"  {name:{width}}  {known[name][1]}" for name in listed if name in known]
        lines += ["", f"{title}:", *rows] if rows else []
    absent = parts.all_missing()
    if absent:
        lines += ["", "Optional parts:", *[f"  {one.message} ({one.hint})" for one in absent.values()]]
    lines += ["", "More help (oasis help SUBJECT):", *[f"  {name:{width}}  {SUBJECTS[name][0]}" for name in SUBJECTS]]
    lines += ["", *TEXTS["options"], "", "Exit statuses:"]
    return "\n".join([*lines, *[f"  {status:3}  {words}" for status, words in TEXTS["exit_statuses"]]])


def one(name: str) -> str:
    """Return the help of one command, or what there is to say on a subject.

    Raises: UsageError when there is neither of that name.
    """
    known = every()
    if name in SUBJECTS and name not in known:
        return f"{name}: {SUBJECTS[name][0]}\n\n{SUBJECTS[name][1]}"
    if name not in known:
        raise unknown(name, [])
    usage, summary, _, more = known[name]
    text = f"usage: oasis {name} [-j] {usage}".rstrip() + f"\n\n{summary[0].upper()}{summary[1:]}."
    about = SUBJECTS.get(name, ("", ""))[1]
    return "\n\n".join(part for part in (text, more, about) if part)


def unknown(name: str, others: list[str]) -> UsageError:
    """Return what to say of a word that is no command: the one that was meant, or how it is said to the router."""
    absent = parts.missing("commands", name)
    if absent:
        return absent
    hint = "`oasis help` lists the commands"
    all_listed = [known for listed in GROUPS.values() for known in listed]  # those of parts that are missing, too
    near = [known for known in (*every(), *SUBJECTS, *all_listed) if _is_near(name, known)]
    absent = parts.missing("commands", near[0]) if near and near[0] not in every() else None
    if absent:
        hint = f"did you mean `oasis {near[0]}`? {absent.message}: {absent.hint}"
    elif near:
        hint = f"did you mean `oasis {near[0] if near[0] in every() else 'help ' + near[0]}`? {hint}"
    elif others and not name.startswith("-"):
        hint = f"to say it to the router: oasis prompt {name} {others[0]}…; {hint}"
    return UsageError(f"unknown command {name!r}", hint)


def _is_near(word: str, known: str) -> bool:
    """Tell whether a word is the beginning of another, or it with one letter too few, too many, other or swapped."""
    is_beginning = len(word) > 2 and known.startswith(word)
    return is_beginning or (len(known) > 3 and abs(len(word) - len(known)) < 2 and distance(word, known) < 2)


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
    cases = "".join(f"\t\t{name}) words='{' '.join(_next_words(name))}' ;;\n" for name in sorted(every()))
    first = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return _SCRIPT % {"first": first, "commands": " ".join([*sorted(every()), *FLAGS]), "cases": cases}


def _next_words(name: str) -> list[str]:
    """Return what may follow a command: its options, what it can do, and of help the commands and subjects."""
    usage = every()[name][0].replace("[", " ").replace("]", " ").split()
    options = {word.strip("…") for word in usage if word.startswith("-")}
    more = [*every(), *SUBJECTS] if name == "help" else list(SHELLS) if name == "completion" else []
    if "ACTION" in usage:
        name, _, function = every()[name][2].partition(":")
        module = __import__("oasis." + name, fromlist=(function,))
        # A module with several commands has the actions of each.
        more = list(getattr(module, function.upper() + "_ACTIONS", None) or module.ACTIONS)
    return [*sorted(options | set(FLAGS)), *sorted(set(more))]
