"""Split what a person or a model wrote for a shell into commands and words, without being a shell.

Quotes, comments, prompts, line continuations and the separators `;`, `&&` and line end are understood. Everything that
would make a shell do more than pass words on (variables, substitutions, redirections, pipes, globs that expand,
here-documents) is refused with its reason: a command that is not exactly understood is not guessed at.
Source of the quoting rules: POSIX.1-2017, Shell Command Language, 2.2 and 2.3.
"""

import re

from oasis.errors import UsageError
from oasis.uci.visible import fault

TEXT_CHARS = 64 * 1024  # a whole proposal; the longest real one seen is a few kB

_KNOWN = r"(?=(?:sudo\s+)?(?:uci\b|/|service\b|wifi\b|reload_config\b|opkg\b|apk\b))"
_PROMPT = re.compile(r"^\s*(?:\[?[\w.-]+@[\w.-]+[: ][^#$\n]{0,80}[#$]\s+(?=\S)|[$>]\s+%s)" % _KNOWN)
_HASH = re.compile(r"^\s*#\s+%s" % _KNOWN)
_BARE = re.compile(r"\s*%s" % _KNOWN)
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


def commands(text: str) -> "list[list[str]]":
    """Return the commands of `text` in order, each a list of words.

    Raises: UsageError with the number of the line, and what in it a shell would do or nobody would see.
    """
    if len(text) > TEXT_CHARS:
        raise UsageError("the commands are longer than %d characters" % TEXT_CHARS, "send them in smaller steps")
    text = text.replace("\r\n", "\n")
    at, name = fault(text, "\n\t")
    if at >= 0:
        line, place = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        raise UsageError(
            "line %d is refused: character %d of it is %s" % (line, place, name),
            "nobody sees it: leave it out, or write a plain blank",
        )
    return _Splitter("\n".join(unprompted(text.split("\n")))).run()


def unprompted(lines: "list[str]") -> "list[str]":
    """Return lines without the prompts of a shell before their commands.

    `#` is root's prompt and begins a comment: next to commands that are bare or behind another prompt it is a comment.
    """
    plain = [_PROMPT.sub("", line, count=1) for line in lines]
    if any(_BARE.match(line) for line in plain):
        return plain
    return [_HASH.sub("", line, count=1) for line in plain]


class _Splitter:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: list[list[str]] = []
        self.words: list[str] = []
        self.word: str | None = None  # None: between words, "" is an empty quoted word

    def run(self) -> "list[list[str]]":
        while self.at < len(self.text):
            self.step(self.text[self.at])
        self.end_command()
        return self.found

    def step(self, char: str) -> None:
        if char == "'":
            self.single()
        elif char == '"':
            self.double()
        elif char == "\\":
            self.escape()
        elif char in " \t":
            self.end_word()
            self.at += 1
        elif char in "\n;" or self.text.startswith("&&", self.at):
            self.end_command()
            self.at += 2 if char == "&" else 1
        elif char == "#" and self.word is None:
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif char in _REASONS and not self.is_plain_brace(char):
            raise self.refused(_EITHER if self.text.startswith("||", self.at) else _REASONS[char])
        else:
            self.word = (self.word or "") + char
            self.at += 1

    def is_plain_brace(self, char: str) -> bool:
        # A brace inside a word is plain text to a shell; alone it would open a group.
        return char in "{}" and self.word is not None

    def single(self) -> None:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise self.refused("a single quote is not closed")
        self.word = (self.word or "") + self.text[self.at + 1 : end]
        self.at = end + 1

    def double(self) -> None:
        self.word = self.word or ""
        self.at += 1
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                return
            if char in "$`":
                raise self.refused(_REASONS[char] + " (inside \"…\"; use '…' for plain text)")
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in ('"', "\\", "$", "`"):
                self.at += 1
                char = self.text[self.at]
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
                continue
            self.word += char
            self.at += 1
        raise self.refused("a double quote is not closed")

    def escape(self) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following == "":
            raise self.refused("it ends in a backslash")
        if following != "\n":
            self.word = (self.word or "") + following
        self.at += 2

    def end_word(self) -> None:
        if self.word is not None:
            self.words.append(self.word)
            self.word = None

    def end_command(self) -> None:
        self.end_word()
        if self.words:
            self.found.append(self.words)
            self.words = []

    def refused(self, reason: str) -> UsageError:
        line = self.text.count("\n", 0, self.at) + 1
        return UsageError("line %d is refused: %s" % (line, reason), "write plain uci commands, one a line")


def quoted(word: str) -> str:
    """Return `word` as a shell would need it to be one word; plain words stay bare."""
    if word and not re.search(r"[^A-Za-z0-9_@%+=:,./\[\]-]", word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"
