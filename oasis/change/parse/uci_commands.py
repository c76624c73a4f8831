"""UCI commands as text to typed operations, in order; nothing is ever given to a shell.

What is no UCI change is refused with the reason and the tool that does it; nothing is dropped or altered silently.
Operations: see oasis/uci/cursor.py. Back to text: `as_commands`.
"""

from __future__ import annotations

import re

from oasis.errors import UsageError
from oasis.redaction import secret_options
from oasis.uci.shell_words import commands as split
from oasis.uci.shell_words import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Callable, Operation

OPERATIONS = 200  # one plan; a whole stock router has about as many options
# Of a package, section, type or option; longer ones are no names, and cost when the nearest real ones are looked for.
_NAME_CHARS = 128
# Of a command, and of what is wrong with it, which may repeat the command: enough to know it again.
_SHOWN_CHARS = 200

_NAME = re.compile(r"[A-Za-z0-9_]+\Z")
_PACKAGE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*\Z")
_SECTION = re.compile(r"(?:[A-Za-z0-9_]+|@[A-Za-z0-9_-]+\[-?[0-9]{1,5}\])\Z")
_TYPE = re.compile(r"[A-Za-z0-9_-]+\Z")
_READING = ("get", "show", "export", "changes")
# Everything that some language or keyboard puts around a quotation, and a shell does not know.
_TYPOGRAPHIC = "‘’‚‛“”„‟«»‹›′″‴‵‶`´「」『』〝〞〟＂＇｀❛❜❝❞「」"
# What stands for a secret or a text; what is none of this chat is refused by its own words (placeholders.py).
_PLACEHOLDERS = ("«secret:", "«text:")
# What people write after changes and what Oasis does by itself anyway.
_IMPLIED = re.compile(r"(?:uci commit(?: [\w.-]+)*|reload_config|wifi(?: reload| up)?)\Z")


def parse(text: str) -> tuple[list[Operation], list[str]]:
    """Return the operations of `text` and notes about what was left out because Oasis does it itself.

    Raises: UsageError naming the command and the reason.
    """
    operations: list[Operation] = []
    notes = []
    for words in split(text):
        shown = " ".join(quoted(word) for word in words)
        if is_implied(words):
            notes.append("%s: not needed, commit and reload happen by themselves" % shown)
            continue
        try:
            operations.append(operation(words))
        except UsageError as error:
            raise UsageError("%s: %s" % (shown[:_SHOWN_CHARS], error.message[:_SHOWN_CHARS]), error.hint)
    if len(operations) > OPERATIONS:
        raise UsageError("%d operations in one plan, %d allowed" % (len(operations), OPERATIONS), "do it in steps")
    return operations, notes


def is_implied(words: list[str]) -> bool:
    """Return whether a command asks for what follows each change by itself."""
    return bool(_IMPLIED.match(" ".join(word for word in words if word not in ("-q", "sudo"))))


def operation(words: list[str]) -> Operation:
    """Return the operation of one command.

    Raises: UsageError when it is no UCI change.
    """
    return _operation(_uci_words(words))


def _uci_words(words: list[str]) -> list[str]:
    if words[0] in ("uci", "/sbin/uci"):
        rest = words[1:]
        while rest and rest[0].startswith("-"):
            if rest[0] != "-q":
                raise UsageError("the option %s is not allowed" % rest[0], "use plain `uci set …`")
            rest = rest[1:]
        return rest
    raise UsageError(*_other(words))


def _other(words: list[str]) -> tuple[str, str]:
    if words[0] == "service" or words[0].startswith("/etc/init.d/"):
        return "is no UCI change", "the tool `service` restarts and reloads services"
    if words[0] in ("opkg", "apk"):
        return "is no UCI change", "packages are not changed here"
    if words[0] in ("reboot", "poweroff", "halt", "sysupgrade", "firstboot", "passwd"):
        return "is no UCI change", "only the owner does this, by hand"
    return "is no UCI command", "allowed are uci set, add, add_list, del_list, delete, rename and reorder"


def _operation(words: list[str]) -> Operation:
    if not words:
        raise UsageError("names no uci command", "for example: uci set system.@system[0].hostname=attic")
    verb, arguments = words[0], words[1:]
    if verb in _READING:
        raise UsageError("reads and changes nothing", "the tool `read_config` reads")
    if verb == "add":
        return _add(arguments)
    maker = _VERBS.get(verb)
    if maker is None:
        raise UsageError(
            "uci %s is not allowed" % verb, "allowed are set, add, add_list, del_list, delete, rename, reorder"
        )
    _check_quotes(arguments)
    if len(arguments) != 1:
        raise UsageError("uci %s takes one argument, here are %d" % (verb, len(arguments)), "quote values with blanks")
    return maker(arguments[0])


def _add(arguments: list[str]) -> Operation:
    if len(arguments) != 2:
        raise UsageError("uci add takes a package and a section type", "for example: uci add firewall rule")
    package, kind = arguments
    _check(_PACKAGE, package, "package")
    _check(_TYPE, kind, "section type")
    return {"op": "add", "package": package, "type": kind}


def _set(text: str) -> Operation:
    made, value = _split(text, "set")
    if "option" in made:
        made["value"] = _value(value, made)
    else:
        _check(_TYPE, value, "section type")
        made["type"] = value
    return made


def _list(verb: str) -> Callable[[str], Operation]:
    def make(text: str) -> Operation:
        made, value = _split(text, verb)
        if "option" not in made:
            raise UsageError("names no option", "uci %s package.section.option=value" % verb)
        made["value"] = _value(value, made)
        return made

    return make


def _delete(text: str) -> Operation:
    if "=" in text:
        raise UsageError(
            "delete takes no value", "uci del_list package.section.option=value takes one item out of a list"
        )
    return _begun("delete", text)


def _rename(text: str) -> Operation:
    made, made["name"] = _split(text, "rename")
    _check(_NAME, made["name"], "new name")
    return made


def _reorder(text: str) -> Operation:
    made, index = _split(text, "reorder")
    if "option" in made or not re.match(r"[0-9]{1,4}\Z", index):
        raise UsageError("takes a section and a position", "for example: uci reorder firewall.@rule[3]=0")
    made["index"] = int(index)
    return made


_VERBS: dict[str, Callable[[str], Operation]] = {
    "set": _set,
    "add_list": _list("add_list"),
    "del_list": _list("del_list"),
    "delete": _delete,
    "del": _delete,
    "rename": _rename,
    "reorder": _reorder,
}


def _split(text: str, verb: str) -> tuple[Operation, str]:
    left, sign, value = text.partition("=")
    if not sign:
        raise UsageError("has no `=`", "uci %s package.section.option=value" % verb)
    return _begun(verb, left), value


def _begun(verb: str, text: str) -> Operation:
    """Return an operation with its package, section and option."""
    # `@type[n]` holds no dot, so dots divide.
    parts = text.split(".")
    if len(parts) not in (2, 3):
        raise UsageError("%r names no section" % text, "package.section or package.section.option")
    _check(_PACKAGE, parts[0], "package")
    _check(_SECTION, parts[1], "section")
    made: Operation = {"op": verb, "package": parts[0], "section": parts[1]}
    if len(parts) == 3:
        _check(_NAME, parts[2], "option")
        made["option"] = parts[2]
    return made


def _check(pattern: re.Pattern[str], text: str, what: str) -> None:
    if not pattern.match(text) or len(text) > _NAME_CHARS:
        shown = text[:_NAME_CHARS] + ("…" if len(text) > _NAME_CHARS else "")
        raise UsageError(
            "%r cannot be the name of a %s" % (shown, what), "letters, digits and _, %d at most" % _NAME_CHARS
        )


def _value(text: str, made: Operation) -> str:
    """Return a value; which control characters it may hold its type tells (validators.py).

    Quotes of typography are no quotes to a shell: around a value, they would become a part of it.
    """
    if _is_typographic(text):
        # The plain form of a secret would be the secret.
        inner = "…" if secret_options.may_hold(made["package"], made["option"]) else text[1:-1]
        raise UsageError(
            "the value stands in %s and %s, which would become a part of it" % (text[0], text[-1]),
            "write plain quotes: %s='%s'" % (made["option"], inner.replace("'", "'\\''")),
        )
    return text


def _is_typographic(text: str) -> bool:
    """Tell whether a text stands in quotes of typography: not three backquotes alone, and no placeholder."""
    if text.startswith(_PLACEHOLDERS):
        return False
    is_around = len(text) > 1 and text[0] in _TYPOGRAPHIC and text[-1] in _TYPOGRAPHIC
    return is_around and text.strip(_TYPOGRAPHIC) != ""


def _check_quotes(arguments: list[str]) -> None:
    """Refuse quotes of typography also where a shell divides a value at the blanks between them."""
    whole = " ".join(arguments)
    if _is_typographic(whole):
        raise UsageError(
            "it stands in %s and %s, which are no quotes to a shell" % (whole[0], whole[-1]), "write plain quotes: '…'"
        )
    left, _, value = whole.partition("=")
    if left.count(".") == 2 and _is_typographic(value):
        _value(value, _begun("set", left))


def as_commands(operations: list[Operation], shown: Callable[[Operation, str], str] | None = None) -> list[str]:
    """Return operations as uci command lines; `shown(operation, value) -> str` may mask values."""
    lines = []
    for operation in operations:
        verb = operation["op"]
        if verb == "add":
            lines.append("uci add %s %s" % (operation["package"], operation["type"]))
            continue
        where = ".".join(str(operation[key]) for key in ("package", "section", "option") if key in operation)
        for key in ("value", "type", "name", "index"):
            if key in operation:
                value = str(operation[key])
                if key == "value" and shown is not None:
                    value = shown(operation, value)
                where += "=" + value
                break
        lines.append("uci %s %s" % (verb, quoted(where)))
    return lines
