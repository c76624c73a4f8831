"""Read a UCI file for the stand-in's ubus; knows nothing of Oasis, so that tests of its parser do not test themselves.

Shape: a list of sections in file order, each {".anonymous", ".type", ".name", ".index", option: str | [str]}.
"""

import re

_WORD = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\#])+|\#[^\n]*|\n""", re.S)
_PART = re.compile(r"""'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)|([^'"\\]+)""", re.S)


def sections(text):
    """Return the sections of one package."""
    found = []
    for words in _lines(text):
        if words[0] == "config":
            name = words[2] if len(words) > 2 else _anonymous_name(words[1], len(found) + 1)
            head = {".anonymous": len(words) < 3, ".type": words[1], ".name": name, ".index": len(found)}
            found.append(head)
        elif words[0] == "option":
            found[-1][words[1]] = words[2]
        elif words[0] == "list":
            found[-1].setdefault(words[1], []).append(words[2])
    return found


def read(path):
    """Return the sections of a file, none when it is missing."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return sections(file.read())
    except FileNotFoundError:
        return []


def is_true(value):
    """Tell whether a UCI value means yes, as libuci's users read it."""
    return value in ("1", "on", "true", "yes", "enabled")


def as_list(value):
    """Return the words of an option or a list."""
    return value.split() if isinstance(value, str) else list(value or [])


def _lines(text):
    words = []
    for match in _WORD.finditer(text + "\n"):
        token = match.group()
        if token == "\n":
            if words:
                yield words
            words = []
        elif not token.startswith("#"):
            words.append("".join(_plain(part) for part in _PART.finditer(token)))


def _plain(part):
    single, double, escaped, bare = part.groups()
    return single or re.sub(r"\\(.)", r"\1", double or "") or escaped or bare or ""


def _anonymous_name(kind, number):
    # libuci: a running number, then 16 bits of a djb2 hash over the section's type
    value = 5381
    for byte in kind.encode():
        value = value * 33 + byte & 0xFFFFFFFF
    return f"cfg{number & 0xFF:02x}{value & 0xFFFF:04x}"
