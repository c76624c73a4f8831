"""The commands of `oasis` (commands.json), the reader of their words, and how a command ends.

A command is (usage, summary, "module:function", more help). Its usage line is also its grammar:
NAME is required, [NAME] may be left out, NAME… takes the rest of the line as it stands,
[--flag] and [-f] are switches, [--option NAME] and [-o NAME] take a value; what ends in ]… may be given several times.
"""

from __future__ import annotations

from oasis import parts
from oasis.core import jsonl
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.shapes import Any, Callable, HelpTexts

    Command = tuple[str, str, str, str]

FLAGS = ("-j", "--json", "-h", "--help")  # before or after every command

OK = 0
FAILED = 1
WAITING = 10
DECLINED = 11
ROLLED_BACK = 12
UNMADE = 8  # as of an ApplyError
CANCELLED = 130  # what shells report for a program ended by Ctrl-C

TEXTS: HelpTexts = jsonl.table(__file__, "commands.json")
COMMANDS: dict[str, Command] = {
    name: (row["usage"], row["summary"], row["function"], "\n".join(row["more"]))
    for name, row in TEXTS["commands"].items()
}
# Not for people, and not in the help: see the function.
HIDDEN: dict[str, Command] = {"alive": ("", "hand on a proof of life", "cli.plans:alive", "")}


def every() -> dict[str, Command]:
    """Return all commands for people: ours, and those of the optional parts that are installed."""
    return {**COMMANDS, **parts.merged("COMMANDS")}


def find(name: str) -> Command | None:
    """Return the command of a name, None where there is none; no part is looked at for one of ours."""
    found: Command | None = COMMANDS.get(name) or HIDDEN.get(name) or parts.merged("COMMANDS").get(name)
    return found


def named(place: str) -> Callable[..., Any]:
    """Return the function that a table names as module:function; its module is imported now."""
    module, _, function = place.partition(":")
    try:
        found: Callable[..., Any] = getattr(__import__("oasis." + module, fromlist=(function,)), function)
    except (Exception, SystemExit) as error:
        if not module.startswith("parts."):
            raise
        raise parts.broken(module.split(".")[1], error)
    return found


def given(**values: object) -> dict[str, object]:
    """Return the parameters of a call that were given: those with a value."""
    return {name: value for name, value in values.items() if value}


def whole(word: str) -> int:
    """Return the number that a word of up to nine digits is, -1 for any other word."""
    return int(word) if word.isascii() and word.isdigit() and len(word) < 10 else -1


REST = "…"
REPEATED = "]" + REST


def read(usage: str, words: list[str]) -> dict[str, str]:
    """Return what `words` say, one text for every name in `usage`.

    Shape: {"PLAN": "…", "HASH": "" when left out, "--no-wait": "yes" or "", "--continue": "…" or ""}; a rest is
    joined with single spaces, what may be given several times with line ends.
    Raises: UsageError naming the word.
    """
    options, pending = dict.fromkeys(FLAGS, ""), []  # {option: the value it takes or "", with its marks}, the names
    usual = iter(usage.split())
    for word in usual:
        if word.startswith("[-"):
            options[word.strip("[]")] = "" if word.endswith("]") else next(usual)
        else:
            pending.append(word)
    found = dict.fromkeys([*options, *[_bare(name) for name in pending]], "")
    words = list(words)
    while words:
        word = words[0]
        name = pending[0] if pending else ""
        if word == "--":
            words.pop(0)
            options = {}
        elif options and word.startswith("-") and word != "-":
            _take_option(words, options, found)
        elif not pending:
            raise UsageError(f"nothing is expected after these words: {word!r}")
        elif name.endswith((REST, REST + "]")) and not name.endswith(REPEATED):
            found[_bare(pending.pop(0))] = " ".join(_without_trailing_options(words, options, found))
            break
        else:
            _add(found, name, words.pop(0))
            if not name.endswith(REPEATED):
                pending.pop(0)
    for name in pending:
        if not name.startswith("[") and not found["-h"] and not found["--help"]:
            raise UsageError(f"{_bare(name)} is missing")
    return found


def _bare(name: str) -> str:
    return name.strip("[]" + REST)


def _add(found: dict[str, str], name: str, word: str, option: str = "") -> None:
    """Note a word by its name in the usage, or by the option whose value has that name."""
    key = option or _bare(name)
    found[key] = found[key] + "\n" + word if name.endswith(REPEATED) and found[key] else word


def _without_trailing_options(words: list[str], options: dict[str, str], found: dict[str, str]) -> list[str]:
    """Return a rest without the options that end it: people write them after a question as well as before it."""
    rest = list(words)
    while len(rest) > 1:
        if rest[-1] == "--":
            return rest[:-1]
        if rest[-1] in options and not options[rest[-1]]:
            found[rest.pop()] = "yes"
        elif len(rest) > 2 and options.get(rest[-2]):
            found[rest[-2]] = rest[-1]
            del rest[-2:]
        else:
            break
    return rest


def _take_option(words: list[str], options: dict[str, str], found: dict[str, str]) -> None:
    name, equals, value = words.pop(0).partition("=")
    if name not in options:
        raise UsageError(f"unknown option {name}")
    if options[name]:
        if not equals and not words:
            raise UsageError(f"option {name} needs a value")
        _add(found, options[name], value if equals else words.pop(0), name)
    elif equals:
        raise UsageError(f"option {name} takes no value")
    else:
        found[name] = "yes"
