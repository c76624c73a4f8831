"""The one cursor contract, in libuci's and LuCI's words, over any backend.

A backend supplies the few methods marked "backend" and this class derives the rest, so that all answer alike. Changes
are seen at once by this cursor, reach the save folder with `save` (the program backend saves each at once), and the
files with `commit`. A missing package, section or option reads as None; a file that does not parse, a refused name and
a failed write raise UciError (message: package.section.option and libuci's words).
Shape of a table: {".name", ".type", ".anonymous": bool, ".index": int, option: str | [str]}.
Shape of a change, as rpcd's: ["set"|"add"|"remove"|"rename"|"order"|"list-add"|"list-del", section, option?, value?].
"""

from __future__ import annotations

from oasis.errors import UciError, UnwrittenError
from oasis.uci import edit
from oasis.uci.package import Package, Record, Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from oasis.uci.edit import Operation

    Table = dict[str, object]
    Value = str | list[str]
    Run = Callable[..., tuple[int, bytes, bytes]]


# The words LuCI takes as true.
_TRUE = ("1", "true", "yes", "on", "enabled")
_CHANGE_WORDS = {
    "+": "add",
    "-": "remove",
    "": "set",
    "@": "rename",
    "^": "order",
    "|": "list-add",
    "~": "list-del",
}


class Cursor:
    """A view of one configuration folder and one save folder."""

    backend = ""

    # -- backend ------------------------------------------------------------------------------------------------------

    def load(self, package: str) -> bool:
        """Read the package again, unsaved changes lost; tell whether it exists (backend)."""
        raise NotImplementedError

    def unload(self, package: str) -> None:
        """Forget the package and its unsaved changes (backend)."""
        raise NotImplementedError

    def save(self, package: str) -> None:
        """Write unsaved changes to the save folder (backend)."""
        raise NotImplementedError

    def commit(self, package: str | None = None) -> None:
        """Save, and write the staged changes of a package, or of all, to the files (backend)."""
        raise NotImplementedError

    def revert(self, package: str, section: str | None = None, option: str | None = None) -> None:
        """Drop the staged changes of a package, section or option (backend)."""
        raise NotImplementedError

    def changes(self, package: str | None = None) -> dict[str, list[list[str]]]:
        """Return the changes not yet committed, by package; packages without any are left out (backend)."""
        raise NotImplementedError

    def configs(self) -> list[str]:
        """Return the names of the packages (backend)."""
        raise NotImplementedError

    def import_(self, data: bytes, package: str | None = None, merge: bool = False) -> None:
        """Write a text to its package's file at once, or merge it into the package as changes (backend)."""
        raise NotImplementedError

    def export(self, package: str | None = None) -> bytes:
        """Return the text of `uci export` for a package or all, staged changes included (backend)."""
        raise NotImplementedError

    def confdir(self, path: str | None = None) -> str:
        """Return the configuration folder, after changing it when a path is given (backend)."""
        raise NotImplementedError

    def savedir(self, path: str | None = None) -> str:
        """Return the save folder, after changing it when a path is given (backend)."""
        raise NotImplementedError

    def stage(self, steps: list[Operation]) -> list[str | None]:
        """Do all operations and save them, or none; return the name of the added section for each `add` (backend).

        Raises: UciError naming the operation's number, counted from 1, and its package.section.option; after an I/O
        error the save folder may hold the changes of some packages and not of others: revert them.
        """
        raise NotImplementedError

    def _package(self, name: str) -> Package | None:
        """Return the package as it stands, loading it when needed (backend)."""
        raise NotImplementedError

    def _operate(self, operation: Operation) -> str | None:
        """Do one checked operation (backend)."""
        raise NotImplementedError

    # -- reading ------------------------------------------------------------------------------------------------------

    def get(self, package: str, section: str, option: str | None = None) -> Value | None:
        """Return the option's value, or the section's type when no option is given."""
        found = self._section(package, section)
        if found is None:
            return None
        return found.type if option is None else _copy(found.options.get(option))

    def get_all(self, package: str, section: str | None = None) -> Table | None:
        """Return a section's table, or {name: table} of the whole package."""
        loaded = self._package(package)
        if loaded is None:
            return None
        if section is None:
            tables: Table = {}
            for index, each in enumerate(loaded.sections):
                tables.setdefault(each.name, _table(each, index))
            return tables
        found = self._section(package, section)
        return None if found is None else _table(found, loaded.sections.index(found))

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
        each = [] if loaded is None else [_table(section, index) for index, section in enumerate(loaded.sections)]
        return iter([table for table in each if type is None or table[".type"] == type])

    def foreach(self, package: str, type: str | None, function: Callable[[Table], object]) -> bool:
        """Call the function with each section's table until it returns False; tell whether there was one."""
        found = False
        for table in self.sections(package, type):
            found = True
            if function(table) is False:
                break
        return found

    # -- changing -----------------------------------------------------------------------------------------------------

    def write(self, steps: list[Operation], expected: dict[str, bytes]) -> None:
        """Drop what is staged, do all operations and commit, if every package then exports as expected; else none.

        Shape: expected {package: what `uci export` must print of it before the commit}, each package of the operations.
        Raises: UciError; packages committed before the one that fails stay so.
        """
        for name in expected:
            self._drop_staged(name)
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

    def _drop_staged(self, package: str) -> None:
        """Revert a package; a backend may look first whether there is anything to revert."""
        self.revert(package)

    def _commit_read(self, package: str) -> None:
        """Commit a package as it was read; UnwrittenError when somebody else wrote it meanwhile (backend)."""
        self.commit(package)

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
        for word, item in _list_steps(current, items):
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
        self._do(_with_option({"op": "delete", "package": package, "section": section}, option))

    def delete_all(
        self, package: str, type: str | None = None, match: dict[str, object] | Callable[[Table], bool] | None = None
    ) -> int:
        """Delete a type's sections whose table holds these values or satisfies the function; count them."""
        doomed = [table for table in self.sections(package, type) if _matches(table, match)]
        for table in doomed:
            self.delete(package, str(table[".name"]))
        return len(doomed)

    def rename(self, package: str, section: str, option: str | None, name: str | None = None) -> None:
        """Rename an option; with three arguments a section: rename(package, section, name)."""
        if name is None:
            option, name = None, option or ""
        self._do(_with_option({"op": "rename", "package": package, "section": section, "name": name}, option))

    def reorder(self, package: str, section: str, index: int) -> None:
        """Move a section to a position."""
        self._do({"op": "reorder", "package": package, "section": section, "index": index})

    def _do(self, operation: Operation) -> str | None:
        edit.check(operation)
        return self._operate(operation)

    def _section(self, package: str, section: str) -> Section | None:
        loaded = self._package(package)
        return None if loaded is None else edit.find(loaded, section)


def open_cursor(
    confdir: str, savedir: str, backend: str = "auto", run: Run | None = None, program: str | None = None
) -> Cursor:
    """Return a cursor on these folders.

    `backend` is "pyuci", "program", "file" or "auto": with `run`, pyuci when it imports, else the program; without it,
    files. `run(argv, stdin=None) -> (status, stdout, stderr)` starts a program; `program` is the path of `uci`.
    """
    kind = chosen(backend, run is not None)
    if kind == "file" or run is None:
        from oasis.uci.file_backend import FileBackend

        return FileBackend(confdir, savedir)
    if kind == "pyuci":
        from oasis.uci.pyuci_backend import PyuciBackend

        return PyuciBackend(confdir, savedir, run, program or "uci")
    from oasis.uci.program_backend import ProgramBackend

    return ProgramBackend(confdir, savedir, run, program or "uci")


def unexpected(name: str) -> UnwrittenError:
    """Return the error for a package that staging made something else of than was foreseen."""
    return UnwrittenError(
        f"{name}: staging gave another result than planned; nothing was written",
        f"others may have staged changes: see `uci changes {name}`",
    )


def change_of(record: Record) -> list[str]:
    """Return a delta record in the shape of a change."""
    command, *rest = record
    return [_CHANGE_WORDS[command], *[part for part in rest if part is not None]]


def _table(section: Section, index: int) -> Table:
    table: Table = {
        ".name": section.name,
        ".type": section.type,
        ".anonymous": section.anonymous,
        ".index": index,
    }
    for name, value in section.options.items():
        if value:
            table.setdefault(str(name), _copy(value))
    return table


def _copy(value: Value | None) -> Value | None:
    """Return a value for the caller to keep; a list that has lost all its items counts as gone, as after a commit."""
    return (list(value) or None) if isinstance(value, list) else value


def _matches(table: Table, match: dict[str, object] | Callable[[Table], bool] | None) -> bool:
    if match is None:
        return True
    if isinstance(match, dict):
        return all(table.get(key) == value for key, value in match.items())
    return match(table)


def _with_option(operation: Operation, option: str | None) -> Operation:
    if option is not None:
        operation["option"] = option
    return operation


def _list_steps(current: Value | None, items: list[str]) -> list[tuple[str, str]]:
    """Return the operations that empty the old value where it stands and fill in the items."""
    steps: list[tuple[str, str]] = []
    if isinstance(current, str):
        # A string becomes a list only by getting an item; taking that out leaves the empty list in its place.
        steps += [("add_list", current), ("del_list", current)]
    elif current is not None:
        steps += [("del_list", item) for item in dict.fromkeys(current)]
    return steps + [("add_list", item) for item in items]


# -- which backend opens the cursor -----------------------------------------------------------------------------------

BACKENDS = ("auto", "pyuci", "program", "file")
# Names of the backends for the owner.
NAMES = {"pyuci": "the library pyuci", "program": "the program uci", "file": "files of its own reading"}


def chosen(backend: str, has_program: bool) -> str:
    """Return which of BACKENDS is meant; auto is pyuci when it imports, else the program, and files without one.

    Raises: UciError for one that cannot be had.
    """
    if backend not in BACKENDS:
        raise UciError(f"uci_backend {backend}: no such backend", "auto, pyuci, program or file")
    if backend == "file" or (backend == "auto" and not has_program):
        return "file"
    if not has_program:
        raise UciError(f"uci_backend {backend}: nothing to start programs with", "give run")
    if backend == "program":
        return "program"
    if find_module() is not None:
        return "pyuci"
    if backend == "pyuci":
        raise UciError("uci_backend pyuci: the module does not import", "install it or choose another backend")
    return "program"


def find_module() -> ModuleType | None:
    """Return pyuci's module, or None when it does not import or is another one of that name."""
    try:
        module = __import__("uci")
    except ImportError:
        return None
    return module if hasattr(module, "Uci") and hasattr(module, "UciExceptionNotFound") else None
