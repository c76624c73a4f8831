"""Reads the words after a command by the command's own usage line, so that help and behaviour cannot differ.

Knows no command. Grammar: see cli_commands. Written instead of argparse, which doubles the start-up work of a command
and takes words that begin with a dash away from a question.
"""

from oasis.errors import UsageError

REST = "…"
REPEATED = "]" + REST


def read(usage: str, words: list[str]) -> dict[str, str]:
    """Return what `words` say, one text for every name in `usage`.

    Shape: {"PLAN": "…", "HASH": "" when left out, "--no-wait": "yes" or "", "--continue": "…" or ""}; a rest is
    joined with single spaces, what may be given several times with line ends.
    Raises: UsageError naming the word.
    """
    options, names = _grammar(usage)
    found = dict.fromkeys([*options, *[_bare(name) for name in names]], "")
    pending = list(names)
    words = list(words)
    while words:
        if words[0] == "--":
            words.pop(0)
            options = {}
        elif options and _is_option(words[0]):
            _take_option(words, options, found)
        elif not pending:
            raise UsageError(f"nothing is expected after these words: {words[0]!r}")
        elif pending[0].endswith((REST, REST + "]")) and not pending[0].endswith(REPEATED):
            rest = _without_trailing_options(words, options, found)
            found[_bare(pending.pop(0))] = " ".join(rest)
            words = []
        else:
            name = pending[0] if pending[0].endswith(REPEATED) else pending.pop(0)
            _add(found, _bare(name), words.pop(0), name.endswith(REPEATED))
    asks_help = found["-h"] or found["--help"]
    for name in pending:
        if not name.startswith("[") and not asks_help:
            raise UsageError(f"{_bare(name)} is missing")
    return found


def _add(found: dict[str, str], name: str, word: str, is_repeated: bool) -> None:
    found[name] = found[name] + "\n" + word if is_repeated and found[name] else word


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
    if not options[name]:
        if equals:
            raise UsageError(f"option {name} takes no value")
        found[name] = "yes"
        return
    if not equals:
        if not words:
            raise UsageError(f"option {name} needs a value")
        value = words.pop(0)
    _add(found, name, value, options[name].endswith(REPEATED))


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-"


def _bare(name: str) -> str:
    return name.strip("[]" + REST)


def _grammar(usage: str) -> tuple[dict[str, str], list[str]]:
    """Return ({option: the value that it takes or "", with its marks}, [positional names with their marks])."""
    options = {"-j": "", "--json": "", "-h": "", "--help": ""}
    names = []
    words = usage.split()
    for index, word in enumerate(words):
        if word.startswith("[-"):
            options[word.strip("[]")] = "" if word.endswith("]") else words[index + 1]
        elif index == 0 or not words[index - 1].startswith("[-") or words[index - 1].endswith("]"):
            names.append(word)
    return options, names
