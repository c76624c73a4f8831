"""Which packages, sections, options, types and values libuci takes; pure tests of strings.

`is_package_name` is stricter than libuci, which follows a slash in a package name out of the configuration folder.
Text is str, decoded from UTF-8 with surrogateescape, so that any bytes survive (`decode`, `encode`).
"""

from __future__ import annotations

# Sets instead of `re`: that module and what it imports are a tenth of an idle daemon's memory.
_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_PRINTABLE = frozenset(map(chr, range(0x21, 0x7F)))
_CONTROL = frozenset(map(chr, range(0x20))) - set("\t\n\r")


def decode(data: bytes) -> str:
    """Return the text of bytes read from a UCI file."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of a text; UnicodeEncodeError (a ValueError) for half a surrogate pair."""
    return text.encode("utf-8", "surrogateescape")


def is_name(text: str) -> bool:
    """Tell whether the text can name a section or an option."""
    return bool(text) and _NAME.issuperset(text)


def is_type(text: str) -> bool:
    """Tell whether the text can be a section's type: printable ASCII without blanks."""
    return bool(text) and _PRINTABLE.issuperset(text)


def is_package_name(text: str) -> bool:
    """Tell whether the text can name a package: as libuci's, but never with a slash."""
    return "/" not in text and is_type(text)


def is_value(text: str) -> bool:
    """Tell whether the text can be a value: no control characters but tab, newline and carriage return."""
    return _CONTROL.isdisjoint(text)
