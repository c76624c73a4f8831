"""The cursor over plain files, equal to libuci in what it writes and stages.

It reads the deltas of its own save folder only: what others staged elsewhere is neither shown nor committed along.
"""

from __future__ import annotations

from oasis.errors import UciError, UnwrittenError
from oasis.uci import edit, libuci
from oasis.uci.cursor import Cursor, change_of
from oasis.uci.disk import Context, Outrun
from oasis.uci.package import Package, Record, export_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.uci.edit import Operation


class FileBackend(Cursor):
    """UCI by our own parser, deltas and locks."""

    backend = "file"

    def __init__(self, confdir: str, savedir: str) -> None:
        self._context = Context(confdir, savedir)

    def load(self, package: str) -> bool:
        self.unload(package)
        return self._package(package) is not None

    def unload(self, package: str) -> None:
        self._context.packages.pop(package, None)

    def save(self, package: str) -> None:
        loaded = self._context.packages.get(package)
        if loaded is not None:
            self._context.save(loaded)

    def commit(self, package: str | None = None) -> None:
        for name in self.configs() if package is None else [package]:
            self._context.commit(self._existing(name))

    def _commit_read(self, package: str) -> None:
        loaded = self._existing(package)
        try:
            self._context.commit(loaded, old=loaded.data)
        except Outrun:
            self._context.packages.pop(package, None)
            raise UnwrittenError(f"{package} was changed by somebody else at this moment", "ask for the change again")

    def revert(self, package: str, section: str | None = None, option: str | None = None) -> None:
        loaded = self._existing(package)
        if section is not None:
            found = edit.find(loaded, section)
            section = section if found is None else found.name
        self._context.revert(package, section, option)

    def _drop_staged(self, package: str) -> None:
        self.unload(package)
        if self._context.staged(package):
            self.revert(package)

    def changes(self, package: str | None = None) -> dict[str, list[list[str]]]:
        result: dict[str, list[list[str]]] = {}
        for name in self.configs() if package is None else [package]:
            loaded = self._context.packages.get(name)
            records: list[Record] = self._context.staged(name) + (loaded.delta if loaded is not None else [])
            if records:
                result[name] = [change_of(record) for record in records]
        return result

    def configs(self) -> list[str]:
        try:
            return self._context.list_packages()
        except libuci.Refused as error:
            if error.status == libuci.NOT_FOUND:
                return []
            raise

    def import_(self, data: bytes, package: str | None = None, merge: bool = False) -> None:
        if merge and package is not None and self._package(package) is not None:
            self._context.read(data, package, self._existing(package))
            self.save(package)
            return
        packages = Context(self.confdir(), self.savedir()).read(data, package)
        for each in packages:
            self._context.commit(each, overwrite=True)
            self.unload(each.name)

    def export(self, package: str | None = None) -> bytes:
        every = self.configs() if package is None else [package]
        return b"".join([export_text(self._existing(name)) for name in every])

    def confdir(self, path: str | None = None) -> str:
        if path is not None:
            self._context = Context(path, self._context.save_folder)
        return self._context.config_folder

    def savedir(self, path: str | None = None) -> str:
        if path is not None:
            self._context = Context(self._context.config_folder, path)
        return self._context.save_folder

    def stage(self, steps: list[Operation]) -> list[str | None]:
        touched: dict[str, Package] = {}
        added: list[str | None] = []
        try:
            for number, operation in enumerate(steps, 1):
                added.append(self._stage_one(number, operation, touched))
        except UciError:
            for name in touched:
                self.unload(name)
            raise
        for package in touched.values():
            self._context.save(package)
        return added

    def _stage_one(self, number: int, operation: Operation, touched: dict[str, Package]) -> str | None:
        try:
            edit.check(operation)
            name = str(operation["package"])
            if name not in touched:
                self.save(name)
                self.unload(name)
                touched[name] = self._existing(name)
            return edit.apply(operation, touched[name])
        except UciError as error:
            raise UciError(f"operation {number}: {error.message}", error.hint)

    def _package(self, name: str) -> Package | None:
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

    def _operate(self, operation: Operation) -> str | None:
        return edit.apply(operation, self._existing(str(operation["package"])))
