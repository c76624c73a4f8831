"""The help texts of `oasis`, and the completion script for shells, both made from the table of commands."""

from __future__ import annotations

from oasis.cli.commands import EXIT_STATUSES, FLAGS, OK, every
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.shapes import Call
    from oasis.cli.terminal import Screen

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


def show_help(call: object, arguments: dict[str, str], screen: Screen) -> int:
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


SUBJECTS = {
    "first-hour": (
        "from the installation to the first change",
        "oasis setup leads through it: a model at home, a service with a key, or none. Without a model the common\n"
        "requests of a household are understood, in English, German, Spanish, Japanese and Chinese.\n\n"
        '    oasis prompt "which devices are here?"       looks, and changes nothing\n'
        '    oasis prompt "call this router attic"        small: done at once\n'
        "    oasis undo                                   takes it back\n"
        '    oasis prompt "set the wifi name to Attic"    risky: shown, waits for your yes, then for your Keep',
    ),
    "changes": (
        "what happens between your words and a changed router",
        "Words become uci commands, the commands a plan: the difference, the risk, what is reloaded, and whether you\n"
        "will still reach the router. Low risk is done at once. Risky plans (network, Wi-Fi, firewall, access) wait\n"
        "for your approval, and after they were applied for your Keep. If it does not come in time, the old files\n"
        "come back, also when the daemon is gone or the power fails. Nothing is given to a shell, ever.\n\n"
        "    oasis plans, approve, decline      what waits\n"
        "    oasis pending, confirm, rollback   what was applied and is not kept yet\n"
        "    oasis changes, undo                what was done\n"
        "    oasis audit                        who decided what",
    ),
    "models": (
        "services, keys, and what answers when one fails",
        "    oasis services, select       which there are, and which answers\n"
        "    oasis add, key, models       set one up; a key is typed unseen and never shown again\n"
        "    oasis test                   ask it for a word\n"
        "    oasis alias chat A B         try A first, then B\n\n"
        "A service that fails before its first word is followed by the next of the alias `chat`, as shown each time.\n"
        "`oasis setup` puts the built-in one there; `oasis alias chat offline` does so, too.",
    ),
    "privacy": (
        "what leaves the router",
        "Without a model nothing does. With one: your words, the chat so far, and what Oasis looks up for the answer.\n"
        "Secrets of the router are placeholders in it, devices are numbers. A key stays in /etc/oasis/keys.json.\n\n"
        "    oasis privacy TEXT           the very bytes, before they are sent\n"
        "    oasis usage                  tokens and, where you set prices, cost\n"
        "    oasis forget MESSAGE         takes what was said off the flash",
    ),
    "lockout": (
        "when the router cannot be reached any more",
        "Wait three minutes: a risky change that nobody kept is undone automatically. If it was kept, use\n"
        "another cable or another Wi-Fi, and `oasis undo`. If there is no way in: failsafe mode, where the earlier\n"
        "files are in /etc/oasis/changes, newest last. `oasis changes` and `oasis doctor` work without the service.",
    ),
    "scripts": (
        "using oasis from a script",
        "-j prints JSON. Plans that wait end `prompt --no-wait` with status 10; `approve PLAN HASH` takes the whole\n"
        "hash where there is no terminal. Secrets come on standard input: oasis prompt - < FILE. The exit statuses\n"
        "are at the end of `oasis help`.",
    ),
}


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
