"""Split what a person or a model wrote for a shell into commands and words, without being a shell.

Quotes, comments, prompts, line continuations and the separators `;`, `&&` and line end are understood. Everything that
would make a shell do more than pass words on (variables, substitutions, redirections, pipes, globs that expand,
here-documents) is refused with its reason: a command that is not exactly understood is not guessed at.
Source of the quoting rules: POSIX.1-2017, Shell Command Language, 2.2 and 2.3.
"""

import re

from oasis.core import clean
from oasis.errors import UsageError

TEXT_CHARS = 64 * 1024  # a whole proposal; the longest real one seen is a few kB

_KNOWN = r"(?=(?:sudo\s+)?(?:uci\b|/|service\b|wifi\b|reload_config\b|opkg\b|apk\b))"
_PROMPT = re.compile(r"^\s*(?:\[?[\w.-]+@[\w.-]+[: ][^#$\n]{0,80}[#$]\s+(?=\S)|[$>]\s+%s)" % _KNOWN)
_HASH = re.compile(r"^\s*#\s+%s" % _KNOWN)
_BARE = re.compile(r"\s*%s" % _KNOWN)
_DOUBLE = re.compile(r'(?:[^"\\$`]|\\[\s\S])*')  # what stands between double quotes
_ESCAPED = re.compile(r'\\(?:(["\\$`])|\n)')  # behind others a backslash stays, at the end of a line it joins two
_REASONS = {
    "$": "it uses a shell variable or substitution",
    "`": "it runs a command inside another one; around a value stand plain quotes: '…'",
    "|": "it pipes into another command",
    "<": "it reads from a file or a here-document",
    ">": "it writes to a file",
    "(": "it opens a subshell",
    ")": "it closes a subshell",
    "&": "it starts a command in the background",
    "{": "it opens a group of commands",
    "}": "it closes a group of commands",
}
_EITHER = "it runs another command when one fails"

# What looks like a blank or like nothing, by the names that people look up. Source: Unicode 15.
_NAMES = {
    0x0D: "carriage return", 0x1B: "escape", 0xA0: "no-break space", 0xAD: "soft hyphen", 0x200B: "zero width space",
    0x200E: "left-to-right mark", 0x200F: "right-to-left mark", 0x2028: "line separator",
    0x202E: "right-to-left override", 0x202F: "narrow no-break space", 0x2060: "word joiner",
    0x3000: "ideographic space", 0xFEFF: "byte order mark",
}  # fmt: skip
_BRAILLE_BLANK = "\u2800"  # no blank to Python, and nothing to the eye


def commands(text: str) -> "list[list[str]]":
    """Return the commands of `text` in order, each a list of words.

    Raises: UsageError with the number of the line, and what in it a shell would do or nobody would see.
    """
    if len(text) > TEXT_CHARS:
        raise UsageError("the commands are longer than %d characters" % TEXT_CHARS, "send them in smaller steps")
    text = text.replace("\r\n", "\n")
    at, name = unseen(text)
    if at >= 0:
        line, place = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        raise UsageError(
            "line %d is refused: character %d of it is %s" % (line, place, name),
            "nobody sees it: leave it out, or write a plain blank",
        )
    return _split("\n".join(unprompted(text.split("\n"))))


def unseen(text: str) -> tuple[int, str]:
    """Return where the first character stands that a command may not hold, and its name; (-1, "") for none.

    Joiners and the selectors of an emoji's colour stay: families and scripts are written with them.
    """
    for at, char in enumerate(text):
        if char in " \n\t" or (char.isascii() and char.isprintable()):
            continue
        if char.isspace() or char == _BRAILLE_BLANK or clean.text(char) != char:
            kind = "control character" if ord(char) < 0xA0 else "invisible character"
            name = _NAMES.get(ord(char), kind)
            return at, "%s %s (U+%04X)" % ("an" if name[0] in "aeiouO" else "a", name, ord(char))
    return -1, ""


def unprompted(lines: "list[str]") -> "list[str]":
    """Return lines without the prompts of a shell before their commands.

    `#` is root's prompt and begins a comment: next to commands that are bare or behind another prompt it is a comment.
    """
    plain = [_PROMPT.sub("", line, count=1) for line in lines]
    if any(_BARE.match(line) for line in plain):
        return plain
    return [_HASH.sub("", line, count=1) for line in plain]


def _split(text: str) -> "list[list[str]]":
    found: list[list[str]] = []
    words: list[str] = []
    word: str | None = None  # None: between words, "" is an empty quoted word
    at = 0
    while at < len(text):
        char = text[at]
        if char == "'":
            end = text.find("'", at + 1)
            if end < 0:
                raise _refused(text, at, "a single quote is not closed")
            word, at = (word or "") + text[at + 1 : end], end + 1
        elif char == '"':
            inside = _DOUBLE.match(text, at + 1)
            end = inside.end() if inside else at
            if text[end : end + 1] in ("$", "`"):
                raise _refused(text, end, _REASONS[text[end]] + " (inside \"…\"; use '…' for plain text)")
            if text[end : end + 1] != '"':
                raise _refused(text, len(text), "a double quote is not closed")
            word, at = (word or "") + _ESCAPED.sub(r"\1", text[at + 1 : end]), end + 1
        elif char == "\\":
            following = text[at + 1 : at + 2]
            if not following:
                raise _refused(text, at, "it ends in a backslash")
            if following != "\n":
                word = (word or "") + following
            at += 2
        elif char in " \t\n;" or text.startswith("&&", at):
            words += [] if word is None else [word]
            word = None
            if char not in " \t" and words:
                found.append(words)
                words = []
            at += 2 if char == "&" else 1
        elif char == "#" and word is None:
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif char in _REASONS and (char not in "{}" or word is None):
            # A brace inside a word is plain text to a shell; alone it would open a group.
            raise _refused(text, at, _EITHER if text.startswith("||", at) else _REASONS[char])
        else:
            word, at = (word or "") + char, at + 1
    words += [] if word is None else [word]
    return [*found, words] if words else found


def _refused(text: str, at: int, reason: str) -> UsageError:
    line = text.count("\n", 0, at) + 1
    return UsageError("line %d is refused: %s" % (line, reason), "write plain uci commands, one a line")


def quoted(word: str) -> str:
    """Return `word` as a shell would need it to be one word; plain words stay bare."""
    if word and not re.search(r"[^A-Za-z0-9_@%+=:,./\[\]-]", word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"
