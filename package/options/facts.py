"""What the sources say of options, as it is collected: names, types, choices and how scripts use a value; no texts.

A package's facts are {section type: {option: Facts}}. A section type is the type's name; while only a section's name is
known, as in `config_get x globals port`, it is Named(name), which `settle` turns into a type once all is read.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Facts:
    """One option; every reader adds what it sees.

    datatypes: as LuCI's forms and uci_validate_section write them; kinds: classes of form fields, "bool" of
    config_get_bool; values: choices; is_open: choices are suggestions, or some are made when the form is shown;
    uses: what scripts do with the value (scripts.py); defaults: values that stand in default configurations.
    """

    def __init__(self) -> None:
        self.datatypes: list[str] = []
        self.kinds: list[str] = []
        self.values: list[str] = []
        self.defaults: list[str] = []
        self.uses: set[str] = set()
        self.sources: set[str] = set()
        self.is_open = self.is_list = self.is_password = False

    def take(self, other: Facts) -> None:
        """Add what another reader saw of the same option."""
        for name in ("datatypes", "kinds", "values", "defaults"):
            ours = getattr(self, name)
            ours += [one for one in getattr(other, name) if one not in ours]
        self.uses |= other.uses
        self.sources |= other.sources
        self.is_open |= other.is_open
        self.is_list |= other.is_list
        self.is_password |= other.is_password


class Named(str):
    """The name of a section whose type is not known yet."""


class Book:
    """The facts of all packages, and what could not be read: [(file, line, what)]."""

    def __init__(self) -> None:
        self.packages: dict[str, dict[str, dict[str, Facts]]] = {}
        self.names: dict[str, dict[str, str]] = {}  # {package: {section name: type}}
        self.origins: dict[str, set[str]] = {}  # {package: folders that it was read from}
        self.unread: list[tuple[str, int, str]] = []
        self.protocols: set[str] = set()
        self.services: dict[str, set[str]] = {}  # {package: init scripts that read it}

    def section(self, package: str, type_: str) -> dict[str, Facts]:
        """Return the options of a section type, which is made when it is new."""
        return self.packages.setdefault(package, {}).setdefault(type_, {})

    def option(self, package: str, type_: str, name: str, source: str) -> Facts:
        """Return the facts of an option, which is made when it is new."""
        found = self.section(package, type_).setdefault(name, Facts())
        found.sources.add(source)
        return found

    def settle(self) -> None:
        """Give every section of which only the name is known its type; one with no type is reported."""
        for package, types in self.packages.items():
            for name in [one for one in types if isinstance(one, Named)]:
                options = types.pop(name)
                type_ = self.names.get(package, {}).get(str(name), "")
                if not type_ and str(name) in types:
                    type_ = str(name)
                if not type_:
                    self.unread.append((package, 0, f"section {name} has no type: {', '.join(sorted(options))}"))
                    continue
                for option, facts in options.items():
                    types.setdefault(type_, {}).setdefault(option, Facts()).take(facts)

    def miss(self, path: str, line: int, what: str) -> None:
        """Note what could not be read."""
        if (path, line, what) not in self.unread:
            self.unread.append((path, line, what))


def words(values: Iterable[object]) -> list[str]:
    """Return the texts among values, each once."""
    return list(dict.fromkeys(one for one in values if isinstance(one, str)))
