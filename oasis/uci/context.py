"""Folders, loaded packages and their deltas: libuci's context over files.

Contract: `load` reads a package and what is staged for it; operations of `edit` change it in memory and record;
`save` appends the records to the delta file in the save folder; `commit` writes the file and empties the delta;
`revert` takes records out of the delta. `delta_folders` are read in order, the save folder last.
Source: libuci file.c, delta.c.
"""

from __future__ import annotations

from oasis.uci import delta, disk, edit, names, refusal, writer
from oasis.uci.package import Package, Record
from oasis.uci.parser import Importer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.uci.lexer import LineBuffer


class Context:
    """The state of one user of a UCI folder.

    `override_folder` holds files that win over those of the configuration folder in whole ("": none). Without
    `strict`, lines that do not parse are left out; `on_error` is told of each. `name_all` writes the names of anonymous
    sections too. `lines` is the reader of the last text that did not parse, or of the one that commands come from.
    """

    def __init__(self, config_folder: str, save_folder: str, override_folder: str = "") -> None:
        self.config_folder = config_folder
        self.override_folder = override_folder
        self.save_folder = save_folder
        self.delta_folders = [save_folder]
        self.packages: dict[str, Package] = {}
        self.name_all = False
        self.strict = True
        self.on_error: Callable[[refusal.Refused], None] | None = None
        self.lines: LineBuffer | None = None

    def set_save_folder(self, path: str) -> None:
        """Take another save folder; the one before is still read."""
        if path in self.delta_folders:
            self.delta_folders.remove(path)
        self.delta_folders.append(path)
        self.save_folder = path

    def add_delta_folder(self, path: str) -> None:
        """Read one more folder of deltas, before the save folder."""
        if path in self.delta_folders:
            raise refusal.Refused(refusal.DUPLICATE, path)
        self.delta_folders.insert(len(self.delta_folders) - 1, path)

    def look_up(self, pointer: edit.Pointer) -> edit.Pointer:
        """Find what a pointer names, loading its package when needed."""
        pointer.look_up(self.packages.get(pointer.package) or self.load(pointer.package))
        return pointer

    def list_packages(self) -> list[str]:
        """Return the names of the configuration folder's packages."""
        return [name for name in disk.list_files(self.config_folder) if "." not in name and names.is_package_name(name)]

    def load(self, name: str) -> Package:
        """Read a package from its file and the deltas; raises Refused."""
        path = self._path(name)
        data = disk.read(path)
        package = self.read(data, name)[0]
        package.path = path
        package.data = data
        package.has_delta = True
        self._replay(package)
        return package

    def read(self, data: bytes, name: str | None, merge_into: Package | None = None) -> list[Package]:
        """Parse a text as `uci import` does; the packages count as loaded."""
        self.lines = None
        if name is not None and not names.is_package_name(name):
            raise refusal.Refused(refusal.INVALID)
        importer = Importer(name, merge_into, name is not None, self.packages, self.strict, self.on_error)
        try:
            packages = importer.read(data)
        except refusal.Refused:
            self.lines = importer.lines
            raise
        for package in packages:
            self.packages[package.name] = package
        return packages

    def save(self, package: Package) -> None:
        """Append the package's records to its delta file."""
        if not package.delta:
            return
        disk.make_save_folder(self.save_folder, self.config_folder)
        text = "".join([writer.delta_line(package.name, record) for record in package.delta])
        path = f"{self.save_folder}/{package.name}"
        with disk.open_to_write(path, f"{self.config_folder}/{package.name}", create=True) as file:
            file.append(names.encode(text))
        package.saved_delta += package.delta
        package.delta = []

    def commit(self, package: Package, overwrite: bool = False, old: bytes | None = None) -> Package:
        """Write the package's file, when anything changed; return the package as it then is.

        With `overwrite` the package is written as it stands, else file and deltas are read again under the lock. With
        `old`, only where the file still holds these bytes: else it is refused, and nothing is written.
        """
        path = package.path or f"{self.config_folder}/{package.name}"
        with disk.open_to_write(path, f"{self.config_folder}/{package.name}", create=True) as file:
            if not package.has_delta:
                disk.replace(path, writer.file_text(package, self.name_all))
                return package
            if not overwrite:
                self.save(package)
                data = file.read()
                if old is not None and data != old:
                    raise disk.Outrun(path)
                package = self._read_again(package, path, data)
            self._commit_delta(package, path, old)
        return package

    def revert(self, name: str, section: str | None = None, option: str | None = None) -> Package:
        """Take the records of a package, section or option out of the delta, and load again."""
        package = self.packages.get(name)
        if package is not None:
            self.save(package)
        self.packages.pop(name, None)
        self._filter_delta(name, section, option)
        self.lines = None
        return self.load(name)

    def _filter_delta(self, name: str, section: str | None, option: str | None) -> None:
        try:
            file = disk.open_to_write(f"{self.save_folder}/{name}")
        except refusal.Refused:
            return  # what is not there, or no file, holds nothing to take out
        with file:
            records = delta.filter_out(file.read(), section, option)
            if records is not None:
                file.rewrite(names.encode("".join([writer.delta_line(name, record) for record in records])))

    def staged(self, name: str) -> list[Record]:
        """Return the records in the delta files of a package, unloaded and unchecked."""
        records: list[Record] = []
        for folder in self.delta_folders:
            records += delta.parse(_read_delta(f"{folder}/{name}"), name)
        return records

    def _path(self, name: str) -> str:
        if not names.is_package_name(name):
            raise refusal.Refused(refusal.INVALID, name)
        if name.startswith("."):
            raise refusal.Refused(refusal.NOT_FOUND, name)
        override = f"{self.override_folder}/{name}"
        if self.override_folder and disk.exists(override):
            return override
        return f"{self.config_folder}/{name}"

    def _read_again(self, package: Package, path: str, data: bytes) -> Package:
        self.packages.pop(package.name, None)
        package = self.read(data, package.name)[0]
        package.path = path
        package.has_delta = True
        return package

    def _commit_delta(self, package: Package, path: str, old: bytes | None) -> None:
        """Replay the deltas and replace the file; the save folder's delta is emptied last, locked all along."""
        try:
            file = disk.open_to_write(f"{self.save_folder}/{package.name}")
        except refusal.Refused:
            if self._replay(package):
                disk.replace(path, writer.file_text(package, self.name_all), old)
            return
        with file:
            if self._replay(package, file.read()):
                disk.replace(path, writer.file_text(package, self.name_all), old)
                file.rewrite(b"")

    def _replay(self, package: Package, own: bytes | None = None) -> int:
        """Replay each folder's delta (`own`: the save folder's, already read); return how many records fitted."""
        done = 0
        self.lines = None
        for folder in self.delta_folders:
            is_own = own is not None and folder == self.save_folder
            data = own if is_own and own is not None else _read_delta(f"{folder}/{package.name}")
            records = delta.parse(data, package.name)
            package.saved_delta += records
            done += delta.replay(package, records)
        return done


def _read_delta(path: str) -> bytes:
    try:
        return disk.read(path)
    except refusal.Refused:
        return b""
