"""The parsed form of a UCI file, for those who read or compare whole files.

`parse(data, name)` gives a Package: `.sections` in order, each with `.name .type .anonymous .options` (a dict from
name to str or list of str). `export_text` and `file_text` write it back as `uci export` and as a commit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping

from oasis.errors import StoreError, UciError
from oasis.uci import delta, edit
from oasis.uci.package import Package, Section, export_text, file_text
from oasis.uci.parser import Importer

__all__ = [
    "Package", "Section", "export_text", "file_text", "flag", "label", "listed", "parse", "preview", "stored", "tables",
    "words",
]  # fmt: skip


# What a package manager leaves next to a file that the owner changed: UCI reads it, and it configures nothing.
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
        package = Importer(name).read(data)[0].loaded(data)
        with _lock:
            _parsed[text] = package
            while sum(len(kept) for _, kept in _parsed) > _PARSED_BYTES:
                del _parsed[next(iter(_parsed))]
    return package.copy()


_lock = threading.Lock()
_parsed: dict[tuple[str, bytes], Package] = {}  # by name and bytes, so that no edit can be missed; changed by nobody
# All packages of a stock router; as objects they take some ten times as much memory.
_PARSED_BYTES = 32 * 1024


# -- tables: the form that tools and checks read ----------------------------------------------------------------------


_ON = ("1", "on", "true", "yes", "enabled")
_OFF = ("0", "off", "false", "no", "disabled")


def tables(package: Package) -> dict[str, dict[str, object]]:
    """Return the sections by name, in order: {".name", ".type", ".anonymous", ".index", option: str | [str]}."""
    return {section.name: section.table(index) for index, section in enumerate(package.sections)}


def words(value: object) -> list[str]:
    """Return an option as a list, whether it was written as a list, as one text with blanks, or not at all."""
    return [str(one) for one in value] if isinstance(value, list) else str(value or "").split()


def flag(section: Mapping[str, object], option: str, default: bool) -> bool:
    """Return a boolean option; a word that is none of UCI's is the default. Source: OpenWrt's lib/functions.sh."""
    value = section.get(option)
    text = " ".join(map(str, value)) if isinstance(value, list) else value
    return True if text in _ON else False if text in _OFF else default


def label(package: Mapping[str, Mapping[str, object]], section: Mapping[str, object]) -> str:
    """Return how commands call a section of a package: its name, or @type[n]."""
    if not section[".anonymous"]:
        return str(section[".name"])
    same = [name for name, one in package.items() if one[".type"] == section[".type"]]
    return "@%s[%d]" % (section[".type"], same.index(str(section[".name"])))


def stored(read: Callable[[str], bytes | None], folder: str, package: str) -> dict[str, dict[str, object]] | None:
    """Return the sections of a package as its file in a folder has them, None where there is none; see tables.

    Raises: UciError for a file that cannot be parsed.
    """
    try:
        data = read(folder + "/" + package) if "/" not in package else None
    except StoreError:
        return None  # a folder, a FIFO, a device: UCI has no such package either
    return None if data is None else tables(parse(data, package))


# -- preview: what files will be after operations, computed from their bytes alone ------------------------------------


def preview(files: dict[str, bytes], steps: list[edit.Operation]) -> dict[str, bytes]:
    """Return the files' bytes after these operations, with nothing else staged; an untouched file keeps its bytes.

    Shape: files {package: bytes of its file}; the same keys come back.
    Raises: UciError naming the operation's number, counted from 1, and its package.section.option.
    """

    def read(name: str) -> Package:
        if name not in files:
            raise UciError(f"{name}: Entry not found", "there is no such package; uci never makes one")
        try:
            return parse(files[name], name)
        except UciError as error:
            raise UciError(f"{name}: {error.message}", error.hint)

    result = dict(files)
    for name, package in edit.apply_all(steps, read)[0].items():
        fresh = parse(files[name], name)
        # A commit reads the file again and replays the records; what it does not take back must not show here either.
        if delta.replay(fresh, [record for record in package.delta if delta.is_kept(record)]):
            result[name] = file_text(fresh)
    return result
