"""The one cursor contract, in libuci's and LuCI's words, here over plain files, equal to libuci in what it writes.

Other backends override what they do in another way, so that all answer alike (see backends.py). Changes are seen at
once by this cursor, reach the save folder with `save` (the program backend saves each at once), and the files with
`commit`. Over files, the deltas of its own save folder are read only: what others staged elsewhere is neither shown nor
committed along. A missing package, section or option reads as None; a file that does not parse, a refused name and a
failed write raise UciError (message: package.section.option and libuci's words).
Shape of a table: {".name", ".type", ".anonymous": bool, ".index": int, option: str | [str]}.
Shape of a change, as rpcd's: ["set"|"add"|"remove"|"rename"|"order"|"list-add"|"list-del", section, option?, value?].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from oasis.errors import UciError, UnwrittenError
from oasis.uci import edit, libuci
from oasis.uci.disk import Context, Outrun
from oasis.uci.package import Package, Section, export_text

if False:  # annotations only
    from oasis.uci.edit import Operation

    Table = dict[str, object]
    Value = str | list[str]


# The words LuCI takes as true.
_TRUE = ("1", "true", "yes", "on", "enabled")
_CHANGE_WORDS = {
    "+": "add", "-": "remove", "": "set", "@": "rename", "^": "order", "|": "list-add", "~": "list-del",
}  # fmt: skip


class Cursor:
    """A view of one configuration folder and one save folder."""

    backend = "file"

    def __init__(self, confdir: str, savedir: str) -> None:
        self._context = Context(confdir, savedir)

    # -- files --------------------------------------------------------------------------------------------------------

    def load(self, package: str) -> bool:
        """Read the package again, unsaved changes lost; tell whether it exists."""
        self.unload(package)
        return self._package(package) is not None

    def unload(self, package: str) -> None:
        """Forget the package and its unsaved changes."""
        self._context.packages.pop(package, None)

    def save(self, package: str) -> None:
        """Write unsaved changes to the save folder."""
        loaded = self._context.packages.get(package)
        if loaded is not None:
            self._context.save(loaded)

    def commit(self, package: str | None = None) -> None:
        """Save, and write the staged changes of a package, or of all, to the files."""
        for name in self.configs() if package is None else [package]:
            self._context.commit(self._existing(name))

    def revert(self, package: str, section: str | None = None, option: str | None = None) -> None:
        """Drop the staged changes of a package, section or option."""
        loaded = self._existing(package)
        if section is not None:
            found = edit.find(loaded, section)
            section = section if found is None else found.name
        self._context.revert(package, section, option)

    def changes(self, package: str | None = None) -> dict[str, list[list[str]]]:
        """Return the changes not yet committed, by package; packages without any are left out."""
        result: dict[str, list[list[str]]] = {}
        for name in self.configs() if package is None else [package]:
            loaded = self._context.packages.get(name)
            records = self._context.staged(name) + (loaded.delta if loaded is not None else [])
            if records:
                result[name] = [
                    [_CHANGE_WORDS[command], *[part for part in rest if part is not None]] for command, *rest in records
                ]
        return result

    def configs(self) -> list[str]:
        """Return the names of the packages."""
        try:
            return self._context.list_packages()
        except libuci.Refused as error:
            if error.status == libuci.NOT_FOUND:
                return []
            raise

    def import_(self, data: bytes, package: str | None = None, merge: bool = False) -> None:
        """Write a text to its package's file at once, or merge it into the package as changes."""
        if merge and package is not None and self._package(package) is not None:
            self._context.read(data, package, self._existing(package))
            self.save(package)
            return
        for each in Context(self.confdir(), self.savedir()).read(data, package):
            self._context.commit(each)
            self.unload(each.name)

    def export(self, package: str | None = None) -> bytes:
        """Return the text of `uci export` for a package or all, staged changes included."""
        every = self.configs() if package is None else [package]
        return b"".join([export_text(self._existing(name)) for name in every])

    def confdir(self, path: str | None = None) -> str:
        """Return the configuration folder, after changing it when a path is given."""
        if path is not None:
            self._context = Context(path, self._context.save_folder)
        return self._context.config_folder

    def savedir(self, path: str | None = None) -> str:
        """Return the save folder, after changing it when a path is given."""
        if path is not None:
            self._context = Context(self._context.config_folder, path)
        return self._context.save_folder

    def stage(self, steps: list[Operation]) -> list[str | None]:
        """Do all operations and save them, or none; return the name of the added section for each `add`.

        Raises: UciError naming the operation's number, counted from 1, and its package.section.option; after an I/O
        error the save folder may hold the changes of some packages and not of others: revert them.
        """
        packages, added = edit.apply_all(steps, self._fresh)
        for name, package in packages.items():
            self._context.save(package)
            self._context.packages[name] = package
        return added

    def write(self, steps: list[Operation], expected: dict[str, bytes]) -> None:
        """Drop what is staged, do all operations and commit, if every package then exports as expected; else none.

        Shape: expected {package: what `uci export` must print of it before the commit}, each package of the operations.
        Raises: UciError; packages committed before the one that fails stay so.
        """
        for name in expected:
            self.unload(name)
            if self._context.staged(name):
                self.revert(name)
        self.stage(steps)
        for name, text in expected.items():
            if self.export(name) != text:
                for each in expected:
                    self.revert(each)
                raise unexpected(name)
        for number, name in enumerate(expected):
            try:
                self._commit_read(name)
            except UnwrittenError as error:
                raise UciError(error.message, error.hint) if number else error

    def _commit_read(self, name: str) -> None:
        """Commit a package as it was read; UnwrittenError when somebody else wrote it meanwhile."""
        package = self._existing(name)
        try:
            self._context.commit(package, package.data)
        except Outrun:
            self.unload(name)
            raise UnwrittenError(f"{name} was changed by somebody else at this moment", "ask for the change again")

    def _package(self, name: str) -> Package | None:
        """Return the package as it stands, loading it when needed."""
        loaded = self._context.packages.get(name)
        if loaded is not None:
            return loaded
        try:
            return self._context.load(name)
        except libuci.Refused as error:
            if error.status == libuci.NOT_FOUND:
                return None
            raise error.about(name)

    def _existing(self, name: str) -> Package:
        package = self._package(name)
        if package is None:
            raise libuci.Refused(libuci.NOT_FOUND, name, hint="there is no such package; uci never makes one")
        return package

    def _fresh(self, name: str) -> Package:
        """Return the package as file and save folder have it now, to change it; it does not count as loaded."""
        self.save(name)
        self.unload(name)
        package = self._existing(name)
        self.unload(name)
        return package

    def _do(self, operation: Operation, option: str | None = None) -> str | None:
        """Check and do an operation, on an option where one is given; return the name of an added section."""
        if option is not None:
            operation["option"] = option
        edit.check(operation)
        return self._operate(operation)

    def _operate(self, operation: Operation) -> str | None:
        """Do a checked operation."""
        return edit.apply(operation, self._existing(operation["package"]))

    def _section(self, package: str, section: str) -> Section | None:
        loaded = self._package(package)
        return None if loaded is None else edit.find(loaded, section)

    # -- reading ------------------------------------------------------------------------------------------------------

    def get(self, package: str, section: str, option: str | None = None) -> Value | None:
        """Return the option's value, or the section's type when no option is given."""
        found = self._section(package, section)
        if found is None:
            return None
        if option is None:
            return found.type
        value = found.options.get(option)
        # The caller may keep it. A list that has lost all its items counts as gone, as after a commit.
        return (list(value) or None) if isinstance(value, list) else value

    def get_all(self, package: str, section: str | None = None) -> Table | None:
        """Return a section's table, or {name: table} of the whole package."""
        loaded = self._package(package)
        if loaded is None:
            return None
        if section is None:
            tables: Table = {}
            for index, each in enumerate(loaded.sections):
                tables.setdefault(each.name, each.table(index))
            return tables
        found = self._section(package, section)
        return None if found is None else found.table(loaded.sections.index(found))

    def get_first(self, package: str, type: str, option: str | None = None, default: object = None) -> object:
        """Return the name of the first section of the type, or the option of the first one that has it."""
        for table in self.sections(package, type):
            if option is None or option in table:
                return table[option or ".name"]
        return default

    def get_bool(self, package: str, section: str, option: str, default: bool = False) -> bool:
        """Return the option read as yes or no; the default when it is not there."""
        value = self.get(package, section, option)
        return default if value is None else value in _TRUE

    def get_list(self, package: str, section: str, option: str) -> list[str]:
        """Return the option's items; an option that is no list counts as one item."""
        value = self.get(package, section, option)
        if value is None:
            return []
        return [value] if isinstance(value, str) else value

    def sections(self, package: str, type: str | None = None) -> Iterator[Table]:
        """Yield the tables of a package's sections, of one type or all, as they were at the start."""
        loaded = self._package(package)
        every = enumerate(loaded.sections if loaded is not None else ())
        return iter([section.table(index) for index, section in every if type is None or section.type == type])

    def foreach(self, package: str, type: str | None, function: Callable[[Table], object]) -> bool:
        """Call the function with each section's table until it returns False; tell whether there was one."""
        found = False
        for table in self.sections(package, type):
            found = True
            if function(table) is False:
                break
        return found

    # -- changing -----------------------------------------------------------------------------------------------------

    def set(self, package: str, section: str, option: str, value: Value | None = None) -> None:
        """Set an option to a value or list; with three arguments make or retype a section: set(package, name, type)."""
        if value is None:
            self._do({"op": "set", "package": package, "section": section, "type": option})
        elif isinstance(value, str):
            self._do({"op": "set", "package": package, "section": section, "option": option, "value": value})
        else:
            self.set_list(package, section, option, value)

    def set_list(self, package: str, section: str, option: str, value: Value) -> None:
        """Make the option a list of exactly these items, where it stands; no items delete it."""
        items = [value] if isinstance(value, str) else list(value)
        current = self.get(package, section, option)
        if current == items or (not items and current is None):
            return
        if not items:
            self.delete(package, section, option)
            return
        # A string becomes a list only by getting an item; taking that out leaves the empty list in its place.
        steps = [("add_list", current)] if isinstance(current, str) else []
        steps += [("del_list", item) for item in dict.fromkeys(self.get_list(package, section, option))]
        for word, item in steps + [("add_list", item) for item in items]:
            self._do({"op": word, "package": package, "section": section, "option": option, "value": item})

    def tset(self, package: str, section: str, values: dict[str, Value | None]) -> None:
        """Set several options of a section; None, "" and [] delete."""
        for option, value in values.items():
            if option.startswith("."):
                continue
            if value:
                self.set(package, section, option, value)
            elif self.get(package, section, option) is not None:
                self.delete(package, section, option)

    def add(self, package: str, type: str) -> str:
        """Add an anonymous section; return its name."""
        return self._do({"op": "add", "package": package, "type": type}) or ""

    def section(
        self, package: str, type: str, name: str | None = None, values: dict[str, Value | None] | None = None
    ) -> str:
        """Make a section with these values, anonymous without a name; return its name."""
        if name is None:
            name = self.add(package, type)
        else:
            self.set(package, name, type)
        self.tset(package, name, values or {})
        return name

    def add_list(self, package: str, section: str, option: str, value: str) -> None:
        """Append an item to a list."""
        self._do({"op": "add_list", "package": package, "section": section, "option": option, "value": value})

    def del_list(self, package: str, section: str, option: str, value: str) -> None:
        """Remove every equal item from a list."""
        self._do({"op": "del_list", "package": package, "section": section, "option": option, "value": value})

    def delete(self, package: str, section: str, option: str | None = None) -> None:
        """Delete a section or an option."""
        self._do({"op": "delete", "package": package, "section": section}, option)

    def delete_all(
        self, package: str, type: str | None = None, match: dict[str, object] | Callable[[Table], bool] | None = None
    ) -> int:
        """Delete a type's sections whose table holds these values or satisfies the function; count them."""
        doomed = list(self.sections(package, type))
        if isinstance(match, dict):
            wanted = match.items()
            doomed = [table for table in doomed if all(table.get(key) == value for key, value in wanted)]
        elif match is not None:
            doomed = list(filter(match, doomed))
        for table in doomed:
            self.delete(package, str(table[".name"]))
        return len(doomed)

    def rename(self, package: str, section: str, option: str | None, name: str | None = None) -> None:
        """Rename an option; with three arguments a section: rename(package, section, name)."""
        if name is None:
            option, name = None, option or ""
        self._do({"op": "rename", "package": package, "section": section, "name": name}, option)

    def reorder(self, package: str, section: str, index: int) -> None:
        """Move a section to a position."""
        self._do({"op": "reorder", "package": package, "section": section, "index": index})


def unexpected(name: str) -> UnwrittenError:
    """Return the error for a package that staging made something else of than was foreseen."""
    return UnwrittenError(
        f"{name}: staging gave another result than planned; nothing was written",
        f"others may have staged changes: see `uci changes {name}`",
    )
