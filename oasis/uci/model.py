"""The parsed form of a UCI file, for those who read or compare whole files.

`parse(data, name)` gives a Package: `.sections` in order, each with `.name .type .anonymous .options` (a dict from
name to str or list of str). `export_text` and `file_text` write it back as `uci export` and as a commit.
"""

from __future__ import annotations

from oasis.uci.package import Package, Section
from oasis.uci.parser import Importer
from oasis.uci.writer import export_text, file_text

__all__ = ["Package", "Section", "export_text", "file_text", "parse"]


def parse(data: bytes, name: str) -> Package:
    """Parse a file's bytes as the package of that name; raises UciError with line and byte."""
    package = Importer(name).read(data)[0]
    package.has_delta = True
    return package
