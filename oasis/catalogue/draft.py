"""UCI packages as a list of operations would leave them, as far as checks need it: names, types, values.

Knows no rule of the catalogue and refuses nothing: what UCI itself would refuse is simply not done.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.catalogue.shapes import ReadPackage, Section, Sections
    from oasis.uci.edit import Operation

_INDEXED = re.compile(r"@([^\[\]]+)\[(-?[0-9]{1,5})\]\Z")


class Draft:
    """The state after the operations so far; packages are read when first asked for.

    `read_package(name)` gives {section name: {".type", option: str | [str]}} in file order; `read` holds the packages
    that were asked for, as they are now.
    """

    def __init__(self, read_package: ReadPackage) -> None:
        self._read = read_package
        self._before: dict[str, Sections] = {}
        self.read: dict[str, dict[str, dict[str, object]]] = {}
        self._origin: dict[tuple[str, str], str] = {}
        self._added = 0

    def before(self, package: str) -> Sections:
        """Return the sections as they were read."""
        self.sections(package)
        return self._before[package]

    def sections(self, package: str) -> dict[str, dict[str, object]]:
        """Return the sections as they are now."""
        if package not in self.read:
            self._before[package] = self._read(package)
            self.read[package] = {name: dict(section) for name, section in self._before[package].items()}
        return self.read[package]

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

    def follow(self, operation: Operation, section: str) -> None:
        """Do an operation; `section` is what `find` says of its section."""
        package, op, option = operation["package"], operation["op"], operation.get("option", "")
        found = self.sections(package)
        if op == "add":
            self._added += 1
            found[f"new section {self._added}"] = {".type": operation["type"]}
        elif op == "set" and "option" not in operation:
            if section or not operation["section"].startswith("@"):
                found.setdefault(section or operation["section"], {})[".type"] = operation["type"]
        elif not section:
            return
        elif op == "set" and operation["value"]:
            found[section][option] = operation["value"]
        elif op == "add_list":
            found[section][option] = [*_items(found[section].get(option)), operation["value"]]
        elif op == "del_list":
            found[section][option] = [one for one in _items(found[section].get(option)) if one != operation["value"]]
        elif op == "rename" and option:
            name = operation["name"]
            found[section] = {name if key == option else key: value for key, value in found[section].items()}
        elif op == "rename":
            name = operation["name"]
            self.read[package] = {name if key == section else key: value for key, value in found.items()}
            self._origin[package, name] = self._origin.get((package, section), section)
        elif op == "reorder":
            names = [name for name in found if name != section]
            names.insert(operation["index"], section)
            self.read[package] = {name: found[name] for name in names}
        elif option:
            found[section].pop(option, None)
        else:
            del found[section]


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
