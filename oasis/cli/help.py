"""The help texts of `oasis`, made from the tables in cli_commands."""

from __future__ import annotations

from oasis.cli.commands import EXIT_STATUSES, every
from oasis.cli.subjects import SUBJECTS
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.screen import Screen

# How help shows them; a command of an optional part is left out where that is not installed.
GROUPS = (
    ("Talk", ("prompt", "chat", "resume", "agent")),
    ("Chats", ("list", "show", "search", "tree", "branch", "summarise", "rename", "archive", "unarchive", "delete",
               "delchat", "forget", "export", "import")),
    ("Plans and changes", ("apply", "force", "plans", "approve", "decline", "changes", "pending", "confirm", "extend",
                           "rollback", "undo")),
    ("Memory and schedule", ("knowledge", "memory", "skills", "schedule")),
    ("Set up and look", ("setup", "services", "select", "add", "change", "remove", "key", "models", "test", "alias",
                         "usage", "privacy", "topics", "sysmsg", "tools", "servers", "plugins", "mcp",
                         "telegram", "notices", "start", "status", "doctor", "audit", "completion", "help")),
)  # fmt: skip

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
    known = every()
    width = max(len(name) for name in known)
    commands = ""
    for title, listed in GROUPS:
        names = [name for name in listed if name in known]
        commands += f"\n{title}:\n" + "".join(f"  {name:{width}}  {known[name][1]}\n" for name in names)
    subjects = "".join(f"  {name:{width}}  {SUBJECTS[name][0]}\n" for name in SUBJECTS)
    statuses = "".join(f"  {status:3}  {words}\n" for status, words in EXIT_STATUSES)
    more = f"\nMore help (oasis help SUBJECT):\n{subjects}"
    return f"{_INTRODUCTION}{commands}{more}{_OPTIONS}\nExit statuses:\n{statuses}".rstrip("\n")


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
    hint = "`oasis help` lists the commands"
    near = [known for known in (*every(), *SUBJECTS) if _is_near(name, known)]
    if near:
        hint = f"did you mean `oasis {near[0] if near[0] in every() else 'help ' + near[0]}`? {hint}"
    elif others and not name.startswith("-"):
        hint = f"to say it to the router: oasis prompt {name} {others[0]}…; {hint}"
    return UsageError(f"unknown command {name!r}", hint)


def _is_near(word: str, known: str) -> bool:
    """Tell whether a word is the beginning of another, or it with one letter too few, too many, other or swapped."""
    if len(word) > 2 and known.startswith(word):
        return True
    if len(known) < 4:
        return False
    same = 0
    while word[same : same + 1] == known[same : same + 1] != "":
        same += 1
    left, right = word[same:], known[same:]
    is_swapped = left[:2] == right[1::-1] and left[2:] == right[2:]
    return is_swapped or left[1:] == right[1:] or left[1:] == right or left == right[1:]
