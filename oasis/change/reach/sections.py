"""Read the sections of UCI packages as netifd and the shell scripts of OpenWrt do. Knows no meaning of any option."""

from __future__ import annotations

from oasis.uci import model
from oasis.uci.tables import tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.reach.shapes import Config, Table, Tables


def read(files: dict[str, bytes]) -> Config:
    """Parse the packages; raises UciError for a broken file."""
    return {name: tables(model.parse(data, name)) for name, data in files.items()}


def typed(package: Tables, kind: str) -> list[Table]:
    """Return the sections of a type, in order."""
    return [section for section in package.values() if section[".type"] == kind]


def label(package: Tables, section: Table) -> str:
    """Return how commands call a section: its name, or @type[n]."""
    if not section[".anonymous"]:
        return str(section[".name"])
    same = [other[".name"] for other in typed(package, section[".type"])]
    return "@%s[%d]" % (section[".type"], same.index(section[".name"]))


def texts(section: Table, option: str) -> list[str]:
    """Return the words of an option, written as a list or as one text with blanks."""
    value = section.get(option)
    if value is None:
        return []
    return [str(one) for one in value] if isinstance(value, list) else str(value).split()


def text(section: Table, option: str, default: str = "") -> str:
    """Return an option as one text, the words of a list joined by blanks."""
    value = section.get(option)
    if value is None:
        return default
    return " ".join(str(one) for one in value) if isinstance(value, list) else str(value)


def flag(section: Table, option: str, default: bool) -> bool:
    """Return a boolean option; a word that is none of UCI's is the default. Source: OpenWrt's lib/functions.sh."""
    value = text(section, option)
    if value in ("1", "on", "true", "yes", "enabled"):
        return True
    if value in ("0", "off", "false", "no", "disabled"):
        return False
    return default


def options(section: Table, without: tuple[str, ...] = ()) -> Table:
    """Return the options alone, without what is said of the section and the named ones."""
    return {key: value for key, value in section.items() if not key.startswith(".") and key not in without}


def content(package: Tables) -> list[tuple[str, str, Table]]:
    """Return a package as a value to compare: sections in order, anonymous ones without their name."""
    return [
        ("" if section[".anonymous"] else str(section[".name"]), str(section[".type"]), options(section))
        for section in package.values()
    ]
