"""The parsed form of a UCI file, for those who read or compare whole files.

`parse(data, name)` gives a Package: `.sections` in order, each with `.name .type .anonymous .options` (a dict from
name to str or list of str). `export_text` and `file_text` write it back as `uci export` and as a commit.
"""

from __future__ import annotations

import threading

from oasis.uci.package import Package, Section
from oasis.uci.parser import Importer
from oasis.uci.writer import export_text, file_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Package", "Section", "export_text", "file_text", "parse"]


# What a package manager lays beside a file that the owner changed: UCI reads it, and it configures nothing.
_LEFT_BEHIND = ("-opkg", ".apk-new", "~")


def listed(names: Iterable[str]) -> list[str]:
    """Return those of the names in /etc/config that are packages in use."""
    return [name for name in names if not name.startswith(".") and not name.endswith(_LEFT_BEHIND)]


def parse(data: bytes, name: str) -> Package:
    """Parse a file's bytes as the package of that name; raises UciError with line and byte.

    A turn asks for the same bytes a dozen times: they are parsed once, and each caller gets a copy of its own.
    """
    text = (name, data)
    with _lock:
        package = _parsed.pop(text, None)
        if package is not None:
            _parsed[text] = package  # the newest last
    if package is None:
        package = Importer(name).read(data)[0]
        package.has_delta = True
        with _lock:
            _parsed[text] = package
            while sum(len(kept) for _, kept in _parsed) > _PARSED_BYTES:
                del _parsed[next(iter(_parsed))]
    return package.copy()


_lock = threading.Lock()
_parsed: dict[tuple[str, bytes], Package] = {}  # by name and bytes, so that no edit can be missed; changed by nobody
# All packages of a stock router; as objects they take some ten times as much memory.
_PARSED_BYTES = 32 * 1024
