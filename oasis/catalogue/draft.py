"""UCI packages as a list of operations would leave them, as far as checks need it: names, types, values.

Knows no rule of the catalogue and refuses nothing: what UCI itself would refuse is simply not done.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.catalogue.shapes import ReadPackage, Section, Sections

_INDEXED = re.compile(r"@([^\[\]]+)\[(-?[0-9]{1,5})\]\Z")


class Draft:
    """The state after the operations so far; packages are read when first asked for.

    `read_package(name)` gives {section name: {".type", option: str | [str]}} in file order.
    """

    def __init__(self, read_package: ReadPackage) -> None:
        self._read = read_package
        self._before: dict[str, Sections] = {}
        self._now: dict[str, dict[str, dict[str, object]]] = {}
        self._origin: dict[tuple[str, str], str] = {}
        self._added = 0

    def loaded(self) -> list[str]:
        """Return the names of the packages that were read."""
        return list(self._now)

    def before(self, package: str) -> Sections:
        """Return the sections as they were read."""
        if package not in self._before:
            self._before[package] = self._read(package)
            self._now[package] = {name: dict(section) for name, section in self._before[package].items()}
        return self._before[package]

    def sections(self, package: str) -> dict[str, dict[str, object]]:
        """Return the sections as they are now."""
        self.before(package)
        return self._now[package]

    def earlier(self, package: str, section: str) -> Section | None:
        """Return a section as it was read, also when it is renamed since; None when it is new."""
        return self.before(package).get(self._origin.get((package, section), section))

    def shown(self, package: str, section: str) -> str:
        """Return how a section is called in messages: new ones without a name by type and place."""
        if " " not in section:
            return section
        found = self.sections(package)
        same = [name for name in found if found[name][".type"] == found[section][".type"]]
        return "@{}[{}]".format(found[section][".type"], same.index(section))

    def find(self, package: str, section: str) -> str:
        """Return the name of a section given by name or as @type[index], "" when it is not there."""
        return find(self.sections(package), section)

    def create(self, package: str, name: str, type_: str) -> None:
        """Create a named section, or give an existing one another type."""
        self.sections(package).setdefault(name, {})[".type"] = type_

    def add(self, package: str, type_: str) -> None:
        """Append a section without a name."""
        self._added += 1
        self.create(package, f"new section {self._added}", type_)

    def put(self, package: str, section: str, option: str, value: str) -> None:
        """Set an option; no value removes it."""
        if value:
            self.sections(package)[section][option] = value
        else:
            self.drop(package, section, option)

    def extend(self, package: str, section: str, option: str, value: str) -> None:
        """Append to a list."""
        target = self.sections(package)[section]
        target[option] = [*_items(target.get(option)), value]

    def shorten(self, package: str, section: str, option: str, value: str) -> None:
        """Remove from a list."""
        target = self.sections(package)[section]
        target[option] = [item for item in _items(target.get(option)) if item != value]

    def drop(self, package: str, section: str, option: str = "") -> None:
        """Remove an option, or without one the whole section."""
        if option:
            self.sections(package)[section].pop(option, None)
        else:
            del self.sections(package)[section]

    def rename(self, package: str, section: str, option: str, name: str) -> None:
        """Rename an option, or with option "" the section."""
        found = self.sections(package)
        if option:
            found[section] = {name if key == option else key: value for key, value in found[section].items()}
        else:
            self._now[package] = {name if key == section else key: value for key, value in found.items()}
            self._origin[package, name] = self._origin.get((package, section), section)

    def move(self, package: str, section: str, index: int) -> None:
        """Move a section to a place in the package."""
        names = [name for name in self.sections(package) if name != section]
        names.insert(index, section)
        self._now[package] = {name: self._now[package][name] for name in names}


def find(sections: Sections, wanted: str) -> str:
    """Return the name of the section that a name or @type[index], negative from the end, means; "" for none."""
    indexed = _INDEXED.match(wanted)
    if indexed is None:
        return wanted if wanted in sections else ""
    names = [name for name in sections if sections[name].get(".type") == indexed.group(1)]
    at = int(indexed.group(2))
    return names[at] if -len(names) <= at < len(names) else ""


def _items(value: object) -> list[object]:
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]
