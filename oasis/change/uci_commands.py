"""UCI commands as text to typed operations, in order; nothing is ever given to a shell.

    parse(text)         what a tool or the owner gives as commands. What is no UCI change is refused with the reason and
                        the tool that does it; nothing is dropped or altered silently. Operations: see uci/cursor.py.
    as_commands(…)      operations back to text
    fenced(text)        commands in the fenced blocks of a model's answer, for models that cannot call tools

Every line of a block that looks like a command becomes an item, in order. Prose, configuration texts, logs and data
become none, and neither does a block in a quotation, which somebody else said:

    {"kind": "change", "command"}                           one UCI change, as `as_commands` writes it
    {"kind": "read", "command", "input": {"package", "section"?}}
                    uci show, get, export: for `read_config`, which also tells a name that is none
    {"kind": "offer", "command", "input", "words", "implied"?}
                    known, not run: input for the tool `service`, or {} where no tool does it; words say what to do
                    instead; implied: a change does it by itself
    {"kind": "refused", "command", "reason", "hint", "stops"}
                    stops: without it no change of the answer may be made, for it stands among them or was to be one

Source of the fences: CommonMark 0.31, 4.5, with any indentation, list markers, and commands on the fence's own line.
"""

from __future__ import annotations

import re

from oasis.errors import UsageError
from oasis.redaction import secret_options
from oasis.system.late import late
from oasis.uci.shell_words import commands as split
from oasis.uci.shell_words import quoted, unprompted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import FencedItem, Operation
    from oasis.core.shapes import Json

OPERATIONS = 200  # one plan; a whole stock router has about as many options
# Of a package, section, type or option; longer ones are no names, and cost when the nearest real ones are looked for.
_NAME_CHARS = 128
# Of a command, and of what is wrong with it, which may repeat the command: enough to know it again.
SHOWN_CHARS = 200

_NAME = late(r"[A-Za-z0-9_]+\Z")
_PACKAGE = late(r"[A-Za-z0-9_][A-Za-z0-9_-]*\Z")
_SECTION = late(r"(?:[A-Za-z0-9_]+|@[A-Za-z0-9_-]+\[-?[0-9]{1,5}\])\Z")
_TYPE = late(r"[A-Za-z0-9_-]+\Z")
_READING = ("get", "show", "export", "changes")
_ALLOWED = ("set", "add", "add_list", "del_list", "delete", "rename", "reorder")
_BY_HAND = "only the owner does this, by hand"
# What is asked for instead of a change, and who does it.
_OTHERS = {
    "service": "the tool `service` restarts and reloads services",
    **dict.fromkeys(("opkg", "apk"), "packages are not changed here"),
    **dict.fromkeys(("reboot", "poweroff", "halt", "sysupgrade", "firstboot", "passwd"), _BY_HAND),
}
# Everything that some language or keyboard puts around a quotation, and a shell does not know.
_TYPOGRAPHIC = "‘’‚‛“”„‟«»‹›′″‴‵‶`´「」『』〝〞〟＂＇｀❛❜❝❞「」"
# What stands for a secret or a text; what is none of this chat is refused by its own words (placeholders.py).
_PLACEHOLDERS = ("«secret:", "«text:")
# What people write after changes and what Oasis does by itself anyway.
_IMPLIED = late(r"(?:uci commit(?: [\w.-]+)*|reload_config|wifi(?: reload| up)?)\Z")


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
            raise UsageError("%s: %s" % (shown[:SHOWN_CHARS], error.message[:SHOWN_CHARS]), error.hint)
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
    if words[0] not in ("uci", "/sbin/uci"):
        name = "service" if words[0].startswith("/etc/init.d/") else words[0]
        if name in _OTHERS:
            raise UsageError("is no UCI change", _OTHERS[name])
        raise UsageError("is no UCI command", "allowed are uci %s and reorder" % ", ".join(_ALLOWED[:-1]))
    words = words[1:]
    while words and words[0].startswith("-"):
        if words[0] != "-q":
            raise UsageError("the option %s is not allowed" % words[0], "use plain `uci set …`")
        words = words[1:]
    if not words:
        raise UsageError("names no uci command", "for example: uci set system.@system[0].hostname=attic")
    verb, arguments = words[0], words[1:]
    if verb in _READING:
        raise UsageError("reads and changes nothing", "the tool `read_config` reads")
    if verb == "add":
        if len(arguments) != 2:
            raise UsageError("uci add takes a package and a section type", "for example: uci add firewall rule")
        _check(_PACKAGE, arguments[0], "package")
        _check(_TYPE, arguments[1], "section type")
        return {"op": "add", "package": arguments[0], "type": arguments[1]}
    if verb not in (*_ALLOWED, "del"):
        raise UsageError("uci %s is not allowed" % verb, "allowed are " + ", ".join(_ALLOWED))
    _check_quotes(" ".join(arguments))
    if len(arguments) != 1:
        raise UsageError("uci %s takes one argument, here are %d" % (verb, len(arguments)), "quote values with blanks")
    return _change(verb, arguments[0])


def _change(verb: str, text: str) -> Operation:
    """Return the operation of a verb with one argument."""
    left, sign, value = text.partition("=")
    if verb in ("delete", "del"):
        if sign:
            hint = "uci del_list package.section.option=value takes one item out of a list"
            raise UsageError("delete takes no value", hint)
        return _begun("delete", text)
    if not sign:
        raise UsageError("has no `=`", "uci %s package.section.option=value" % verb)
    made = _begun(verb, left)
    if verb == "rename":
        _check(_NAME, value, "new name")
        made["name"] = value
    elif verb == "reorder":
        if "option" in made or not re.match(r"[0-9]{1,4}\Z", value):
            raise UsageError("takes a section and a position", "for example: uci reorder firewall.@rule[3]=0")
        made["index"] = int(value)
    elif "option" in made:
        made["value"] = value  # which control characters it may hold its type tells (validators.py)
    elif verb == "set":
        _check(_TYPE, value, "section type")
        made["type"] = value
    else:
        raise UsageError("names no option", "uci %s package.section.option=value" % verb)
    return made


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


def _check_quotes(whole: str) -> None:
    """Refuse quotes of typography around a value, also where a shell divides it at the blanks between them.

    They are no quotes to a shell, and would become a part of the value.
    """
    left, _, value = whole.partition("=")
    quoted_texts = [  # neither three backquotes alone, nor a placeholder
        text for text in (whole, value)
        if len(text) > 1 and text[0] in _TYPOGRAPHIC and text[-1] in _TYPOGRAPHIC
        and text.strip(_TYPOGRAPHIC) and not text.startswith(_PLACEHOLDERS)
    ]  # fmt: skip
    if whole in quoted_texts:
        raise UsageError(
            "it stands in %s and %s, which are no quotes to a shell" % (whole[0], whole[-1]), "write plain quotes: '…'"
        )
    if left.count(".") == 2 and value in quoted_texts:
        made = _begun("set", left)
        # The plain form of a secret would be the secret.
        inner = "…" if secret_options.may_hold(made["package"], made["option"]) else value[1:-1]
        raise UsageError(
            "the value stands in %s and %s, which would become a part of it" % (value[0], value[-1]),
            "write plain quotes: %s='%s'" % (made["option"], inner.replace("'", "'\\''")),
        )


def as_commands(operations: list[Operation]) -> list[str]:
    """Return operations as uci command lines."""
    lines = []
    for operation in operations:
        where = ".".join(str(operation[key]) for key in ("package", "section", "option") if key in operation)
        if operation["op"] == "add":
            lines.append("uci add %s %s" % (operation["package"], operation["type"]))
        else:
            given = ["=%s" % operation[key] for key in ("value", "type", "name", "index") if key in operation]
            lines.append("uci %s %s" % (operation["op"], quoted(where + "".join(given))))
    return lines


# Commands in the fenced blocks of an answer

LEVELS = 3  # of answers that were wrapped whole into a block of Markdown

_FENCE = late(r"[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?(`{3,}|~{3,})(.*)\Z")
_ONE_LINE = late(r"[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?(`{3,})([^`]+)\1[ \t]*\Z")
_ON_THE_FENCE = late(r"[ \t]*(?:([^\s`]+)[ \t]+)?((?:/sbin/)?uci[ \t]+-?[a-z_]+[ \t].*)\Z")
_MARKDOWN = ("markdown", "md")
_SHELL = ("sh", "bash", "ash", "shell", "zsh", "ksh", "busybox", "shellscript")
_PLAIN = (
    "", "text", "txt", "plaintext", "plain", "none", "uci", "openwrt", "console", "terminal", "shell-session",
    "shellsession", "sh-session", "bash-session", "session", "cmd", "command", "commands", "code", "ssh", "cli",
)  # fmt: skip

# A line that is a command whatever stands around it; other programs are known by arguments that are no prose.
_COMMAND = late(
    r"""(?:sudo[ \t]+)?(?:
    (?:/sbin/)?uci[ \t]+-?\w |
    /etc/init\.d/[\w.-]+ | /(?:s?bin|usr)/[\w./-]+ |
    service[ \t]+[\w.-]+[ \t]+(?:start|stop|restart|reload|enable|disable|status)\b |
    wifi(?:[ \t]+(?:reload|up|down|config|status))?[ \t]*(?:[;&\#]|\Z) |
    (?:opkg|apk)[ \t]+(?:update|upgrade|install|add|del|remove|list|info|search)\b |
    (?:reload_config|reboot|poweroff|halt|firstboot|passwd|logread|dmesg|ifconfig|sysupgrade)[ \t]*(?:[;&|\#-]|\Z) |
    (?:set|add_list|del_list|delete|del|rename|reorder)[ \t]+['"]?[\w-]+\.[\w@\[\]-]+ |
    ubus[ \t]+(?:call|list|send|listen)\b | ip[ \t]+(?:-|addr\b|route\b|link\b|rule\b|neigh\b) |
    (?:ifup|ifdown|killall|kill)[ \t]+[\w-]+[ \t]*\Z |
    (?:cat|ls|rm|cp|mv|vi|nano|sed|awk|grep|echo|printf|iw|iwinfo|ping6?|traceroute6?|nslookup|dig|nft|ip6?tables|
       fw[34]|curl|wget|ssh|scp|sh|ash|bash|chmod|chown|mkdir|mount|umount|dd|mtd|tar|tee|tcpdump|sysctl|sysupgrade|
       modprobe|crontab|sleep|export|eval|exec|nc|logread|passwd)[ \t]+(?:[-/.~$<>|'"0-9]|[\w-]+\.[\w/-]) |
    if[ \t]+(?:\[|!|test\b|uci\b|grep\b) | for[ \t]+\w+[ \t]+in\b | while[ \t]+(?:\[|true\b|read\b|uci\b) |
    case[ \t]+\S+[ \t]+in\b | [A-Za-z_]\w*\(\)[ \t]*\{? | [A-Za-z_]\w*=(?:\$\(|`)
    )""",
    re.X,
)
_PROGRAM = late(r"(?:[a-z_./~][\w./+-]*(?:[ \t;&|]|\Z)|[A-Za-z_]\w*=|[({!\[])")
# What stands in /etc/config, and what `uci show` prints: no commands, wherever they are.
_DATA = late(r"[ \t]*(?:(?:config|option|list|package)[ \t]+\S|[\w-]+\.[\w@\[\]-]+(?:\.\w+)?=)")
_HEREDOC = late(r"<<-?[ \t]*(['\"]?)([A-Za-z_][A-Za-z0-9_]*)\1")
_DOLLAR = late(r"^[ \t]*\$[ \t]+(?=[a-z./])")
_IN_QUOTES = late(r"'[^']*'|\"[^\"]*\"|(?:^|[ \t])#.*")
_OPENS = late(r"(?:^|[;&|(]|\bthen\b|\bdo\b|\belse\b)[ \t]*(?:if|for|while|until|case|select)\b|(?:^|[ \t)])\{[ \t]*$")
_CLOSES = late(r"(?:^|[;&|])[ \t]*(?:fi|done|esac)\b|^[ \t]*\}")
# Bounded, or a line of nothing but `uci -uci -uci` is read as often as it has words.
_WRITES = late(
    r"\buci\b(?:[ \t]{1,9}-\S{1,32}){0,8}[ \t\\\n]{1,99}"
    r"(?:set|add|add_list|del_list|delete|del|rename|reorder|batch|import|revert)\b"
    r"|\A(?:set|add_list|del_list|delete|del|rename|reorder)[ \t]"
)

_READ = ("show", "get", "export")
# What is read and then cut down by other programs: those are not run, so all of it is handed back.
_PIPED = late(r"(uci(?:[ \t]+-[qXnNSs])*[ \t]+(?:show|get|export)[ \t]+([\w.@\[\]-]+))[ \t]*(?:\|(?!\|)|[12]?>)")
_CONFIG_FILE = late(r"/etc/config/([A-Za-z0-9_-]+)\Z")
_READ_FLAGS = ("-q", "-X", "-n", "-N", "-S", "-s")
_PLACE = late(r"([A-Za-z0-9_-]+)(?:\.([A-Za-z0-9_]+|@[A-Za-z0-9_-]+\[-?[0-9]+\])(?:\.[A-Za-z0-9_]+)?)?\Z")
# What is often written next to changes and may be left out: never run, with a note that says who does it.
_SUGGESTED = {
    **dict.fromkeys(("opkg", "apk"), "packages are the owner's: LuCI, System, Software, or this command over SSH"),
    "reboot": "the owner reboots: LuCI, System, Reboot; a change needs none",
    "passwd": "the owner sets the password: LuCI, System, Administration",
    "ifup": "an interface comes up again by itself when its configuration changes",
    **dict.fromkeys(["poweroff", "halt", "sysupgrade", "firstboot", "ifdown"], _BY_HAND),
    **dict.fromkeys(["echo", "printf", "sleep", "true", "exit", "cd", "sync", "clear", "set"], "it has no effect here"),
}
_ONLY_UCI = "only uci commands are carried out; uci show PACKAGE reads"


def fenced(text: str) -> list[FencedItem]:
    """Return the items of an answer, in order."""
    items: list[FencedItem] = []
    for label, lines in _blocks(text, 1):
        found = [item for unit in _commands_of(label, lines) for item in _of_unit(unit)]
        has_change = any(item["kind"] == "change" for item in found)
        for item in found:
            if item["kind"] == "refused" and has_change:
                item["stops"] = True
        items += found
    count = sum(item["kind"] == "change" for item in items)
    if count > OPERATIONS:
        reason = "%d changes in one answer, %d allowed" % (count, OPERATIONS)
        items.append(_refused("uci …", reason, "do it in steps", True))
    return items


def _blocks(text: str, level: int) -> list[tuple[str, list[str]]]:
    """Return (label, lines) of every block; the last one may be open."""
    found: list[tuple[str, list[str]]] = []
    fence, label = "", ""
    body: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        stripped = line.strip()
        if fence:
            if stripped and not stripped.strip(fence[0]) and len(stripped) >= len(fence):
                found += _parts(label, body, level)
                fence = ""
            else:
                body.append(line)
            continue
        opened, one = _FENCE.match(line), _ONE_LINE.match(line)
        if opened and (opened.group(1)[0] != "`" or "`" not in opened.group(2)):
            fence = opened.group(1)
            label, body = _labelled(opened.group(2))
        elif one:
            found += _parts(*_labelled(one.group(2)), level)
    return found + (_parts(label, body, level) if fence else [])


def _labelled(info: str) -> tuple[str, list[str]]:
    """Return the label of a fence, and the command that stands on its line, if any."""
    command = _ON_THE_FENCE.match(info + " ")
    if command:
        return (command.group(1) or "").lower(), [command.group(2).rstrip()]
    words = info.split(None, 1)
    return (words[0].strip("{}.").lower() if words else ""), []


def _parts(label: str, body: list[str], level: int) -> list[tuple[str, list[str]]]:
    """Return a block as it is; one of Markdown as what it holds; one with fences in it in parts."""
    if label in _MARKDOWN and level < LEVELS:
        return _blocks("\n".join(body), level + 1)
    parts: list[tuple[str, list[str]]] = [(label, [])]
    for line in body:
        match = _FENCE.match(line)
        if match:
            parts.append(_labelled(match.group(2)))
        else:
            parts[-1][1].append(line)
    return parts


def _commands_of(label: str, lines: list[str]) -> list[str]:
    """Return what a shell would take as one command each: a line, with those that belong to it."""
    plain = unprompted([_DOLLAR.sub("", line, count=1) for line in lines])
    is_session = plain != lines
    units = []  # (command, whether a prompt stood before it), continued lines, here-documents and compounds whole
    at = 0
    while at < len(plain):
        end = _end_of_unit(plain, at)
        text = "\n".join(plain[at:end]).strip()
        if text and not text.startswith("#") and not _DATA.match(text):
            units.append((text, plain[at] != lines[at]))
        at = end
    if label not in _SHELL and label not in _PLAIN:
        # Another language: commands under a wrong name, or none at all.
        return [text for text, _ in units] if all(text.startswith("uci ") for text, _ in units) else []
    strong = [bool(_COMMAND.match(text)) or is_prompted for text, is_prompted in units]
    if label in _PLAIN and not any(strong):
        return []
    # What no prompt stands before in a session is what the programs printed.
    weak = [not is_session and (label in _SHELL or _PROGRAM.match(text)) for text, _ in units]
    return [text for (text, _), *is_command in zip(units, strong, weak, strict=True) if any(is_command)]


def _end_of_unit(lines: list[str], at: int) -> int:
    depth, closing = 0, ""
    for end in range(at, len(lines)):
        line = lines[end]
        if closing:
            closing = "" if line.strip() == closing else closing
        else:
            bare = _IN_QUOTES.sub("", line)
            heredoc = _HEREDOC.search(line) if "<<" in bare else None
            closing = heredoc.group(2) if heredoc else ""
            depth = max(depth + len(_OPENS.findall(bare)) - len(_CLOSES.findall(bare)), 0)
        is_continued = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        if not (closing or depth or is_continued):
            return end + 1
    return len(lines)


def _of_unit(text: str) -> list[FencedItem]:
    try:
        if _OPENS.search(_IN_QUOTES.sub("", text.partition("\n")[0])):
            raise UsageError("it is a program of the shell, with conditions or loops")
        found = split(text)
    except UsageError as error:
        reason = error.message.partition(" is refused: ")[2] or error.message
        hint = "write plain uci commands, one a line, each beginning with uci"
        if re.search(r"(?:\$\(|`)[ \t]*uci[ \t]+(?:-q[ \t]+)?add\b", text):
            hint = "write uci add PACKAGE TYPE alone, then @TYPE[-1] in the commands that follow"
        elif re.match(r"uci\b.*\b(?:show|get|export)\b", text):
            hint = "write uci show PACKAGE alone: the whole package is handed back"
        refused = _refused(text, reason, hint, bool(_WRITES.search(text)))
        piped = _PIPED.match(text)
        return [_reading(piped.group(1), piped.group(2)), refused] if piped else [refused]
    return [_item(words) for words in found]


def _item(words: list[str]) -> FencedItem:
    if words[0] == "sudo" and len(words) > 1:
        words = words[1:]
    shown = " ".join(quoted(word) for word in words)
    if is_implied(words):
        service: dict[str, Json] = {"name": "network", "action": "reload"} if words[0] != "uci" else {}
        why = "commit and reload happen by themselves with each change"
        return {**_offer(shown, service, why), "implied": True}
    name = words[0].rpartition("/")[2] if words[0].startswith(("/sbin/", "/bin/", "/usr/")) else words[0]
    if name == "uci":
        rest = [word for word in words[1:] if word not in _READ_FLAGS]
        if rest[:1] == ["changes"]:
            return _offer(shown, {}, "nothing is staged: the result of each change tells what was done")
        if rest and rest[0] in _READ:
            return _reading(shown, " ".join(rest[1:]))
        try:
            return {"kind": "change", "command": as_commands([operation(["uci", *words[1:]])])[0]}
        except UsageError as error:
            return _refused(shown, error.message[:SHOWN_CHARS], error.hint, True)
    file = _CONFIG_FILE.match(words[1]) if name == "cat" and len(words) == 2 else None
    if file:
        return _reading(shown, file.group(1))
    if name == "service" or name.startswith("/etc/init.d/"):
        return _service(words, shown)
    is_batch = name == "set" and len(words) > 1 and "." in words[1]
    if name in _SUGGESTED and not is_batch:
        return _offer(shown, {}, _SUGGESTED[name])
    if _WRITES.match(shown):
        return _refused(shown, "it does not begin with uci", "write it as: uci " + _shown(shown), True)
    return _refused(shown, "it is no uci command", _ONLY_UCI, False)


def _reading(shown: str, place: str) -> FencedItem:
    match = _PLACE.match(place)
    parts = match.groups() if match else (place[:SHOWN_CHARS], None)
    given = {"package": parts[0], "section": parts[1]}
    return {"kind": "read", "command": _shown(shown), "input": {key: part for key, part in given.items() if part}}


def _service(words: list[str], shown: str) -> FencedItem:
    arguments = words[1:] if words[0] == "service" else [words[0].rpartition("/")[2], *words[1:]]
    if len(arguments) != 2 or not re.match(r"[\w.-]+\Z", arguments[0]):
        return _refused(shown, "it does not name a service and what to do with it", _ONLY_UCI, False)
    name, action = arguments
    if action in ("restart", "reload"):
        return _offer(shown, {"name": name, "action": action}, "after a change the right services reload by themselves")
    return _offer(shown, {}, "only restart and reload are done here; the owner does more: LuCI, System, Startup")


def _offer(command: str, service: dict[str, Json], words: str) -> FencedItem:
    return {"kind": "offer", "command": _shown(command), "input": service, "words": words}


def _refused(command: str, reason: str, hint: str, stops: bool) -> FencedItem:
    return {"kind": "refused", "command": _shown(command), "reason": reason, "hint": hint, "stops": stops}


def _shown(text: str) -> str:
    text = text if "\n" not in text else text[: text.index("\n")] + " …"
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"
