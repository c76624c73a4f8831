"""Which packages, sections, options, types and values libuci takes; pure tests of strings.

`is_package_name` is stricter than libuci, which follows a slash in a package name out of the configuration folder.
Text is str, decoded from UTF-8 with surrogateescape, so that any bytes survive (`decode`, `encode`).
"""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9_]+\Z")
_PRINTABLE = re.compile(r"[!-~]+\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def decode(data: bytes) -> str:
    """Return the text of bytes read from a UCI file."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of a text; UnicodeEncodeError (a ValueError) for half a surrogate pair."""
    return text.encode("utf-8", "surrogateescape")


def is_name(text: str) -> bool:
    """Tell whether the text can name a section or an option."""
    return _NAME.match(text) is not None


def is_type(text: str) -> bool:
    """Tell whether the text can be a section's type: printable ASCII without blanks."""
    return _PRINTABLE.match(text) is not None


def is_package_name(text: str) -> bool:
    """Tell whether the text can name a package: as libuci's, but never with a slash."""
    return "/" not in text and _PRINTABLE.match(text) is not None


def is_value(text: str) -> bool:
    """Tell whether the text can be a value: no control characters but tab, newline and carriage return."""
    return _CONTROL.search(text) is None
