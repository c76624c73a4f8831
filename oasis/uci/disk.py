"""Files of a UCI folder, with libuci's locks, so that a `uci` running meanwhile is safe; packages and deltas over them.

Locks are flock on the file itself: shared to read, exclusive to write, config before delta. A config is replaced by a
temporary file next to it (fsync, rename, fsync of the folder) that keeps its mode.
Raises Refused: NOT_FOUND when there is no regular file to read, IO for everything else.
Source: libuci util.c, uci_open_stream; file.c, uci_file_commit.
"""

from __future__ import annotations

import fcntl
import os
import stat

from oasis.uci import delta, libuci
from oasis.uci.package import Package, Record, delta_line, file_text
from oasis.uci.parser import Importer

# What libuci gives to files and folders that nothing else tells the mode of.
_FILE_MODE = 0o600
_FOLDER_MODE = 0o700
_READ_BYTES = 1 << 16


class Outrun(libuci.Refused):
    """Somebody else wrote a file between our reading and our writing; it is as they left it."""

    def __init__(self, path: str) -> None:
        super().__init__(libuci.IO, path, hint="somebody else wrote it at this moment; try again")


class Locked:
    """An open file under a lock; closing it gives the lock back."""

    def __init__(self, path: str, flags: int, mode: int, lock: int) -> None:
        self.path = path
        is_current = False
        while not is_current:  # while we waited for the lock its holder put another file in the place of this one
            try:
                self._descriptor = os.open(path, flags | os.O_CLOEXEC, mode)
            except OSError as error:
                raise _failed(path, error)
            try:
                fcntl.flock(self._descriptor, lock)
                is_current = os.path.samestat(os.fstat(self._descriptor), os.stat(path))
            except FileNotFoundError:
                pass  # as for another file: opening it again tells
            except OSError as error:
                os.close(self._descriptor)
                raise _failed(path, error)
            if not is_current:
                os.close(self._descriptor)

    def __enter__(self) -> Locked:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def read(self) -> bytes:
        """Return everything in the file."""
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        pieces = []
        while piece := os.read(self._descriptor, _READ_BYTES):
            pieces.append(piece)
        return b"".join(pieces)

    def append(self, data: bytes) -> None:
        """Write at the end; all or nothing."""
        end = os.lseek(self._descriptor, 0, os.SEEK_END)
        try:
            _write_all(self._descriptor, data)
        except OSError as error:
            os.ftruncate(self._descriptor, end)
            raise _failed(self.path, error)

    def rewrite(self, data: bytes) -> None:
        """Make these bytes the whole content; a shorter text cannot run out of space."""
        try:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            _write_all(self._descriptor, data)
            os.ftruncate(self._descriptor, len(data))
        except OSError as error:
            raise _failed(self.path, error)


def read(path: str) -> bytes:
    """Return a regular file's bytes, read under a shared lock."""
    mode = _mode(path)
    if mode is None or not stat.S_ISREG(mode):
        raise libuci.Refused(libuci.NOT_FOUND, path)
    with Locked(path, os.O_RDONLY, 0, fcntl.LOCK_SH) as file:
        return file.read()


def open_to_write(path: str, like: str = "", create: bool = False) -> Locked:
    """Open a file under an exclusive lock; a new one gets the mode of the file `like`."""
    mode = _mode(like) if like else None
    flags = os.O_RDWR | (os.O_CREAT if create else 0)
    return Locked(path, flags, stat.S_IMODE(_FILE_MODE if mode is None else mode), fcntl.LOCK_EX)


def replace(path: str, data: bytes, old: bytes | None = None) -> None:
    """Put a file with these bytes and the old one's mode in the place of a file; a link's target, not the link.

    With `old`, only in the place of these bytes: not everybody who writes asks for a lock.
    """
    path = os.path.realpath(path)
    folder, name = os.path.split(path)
    temporary = f"{folder}/.{name}.uci-{os.urandom(8).hex()}"
    is_made = False
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE_MODE)
        is_made = True
        try:
            _write_all(descriptor, data)
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if old is not None:
            with open(path, "rb") as handle:
                if handle.read() != old:
                    raise Outrun(path)
        os.rename(temporary, path)
        is_made = False
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _failed(path, error)
    finally:
        if is_made:
            os.unlink(temporary)


def _failed(path: str, error: OSError) -> libuci.Refused:
    return libuci.Refused(libuci.IO, path, hint=error.strerror or "")


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError):
        return None


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


# -- folders, loaded packages and their deltas: libuci's context over files -------------------------------------------
#
# Contract: `load` reads a package and what is staged for it; operations of `edit` change it in memory and record;
# `save` appends the records to the delta file in the save folder; `commit` writes the file and empties the delta;
# `revert` takes records out of the delta.
# Source: libuci file.c, delta.c.


class Context:
    """The state of one user of a UCI folder."""

    def __init__(self, config_folder: str, save_folder: str) -> None:
        self.config_folder = config_folder
        self.save_folder = save_folder
        self.packages: dict[str, Package] = {}

    def list_packages(self) -> list[str]:
        """Return the names of the configuration folder's packages, sorted by bytes; NOT_FOUND when it is empty."""
        folder = os.fsencode(self.config_folder + "/")
        try:
            found = sorted(name for name in os.listdir(folder) if not name.startswith(b"."))
        except OSError:
            found = []
        if not found:  # as for a `*` that matches nothing
            raise libuci.Refused(libuci.NOT_FOUND, self.config_folder)
        names = [os.fsdecode(name) for name in found if not os.path.isdir(folder + name)]
        return [name for name in names if "." not in name and libuci.is_package_name(name)]

    def load(self, name: str) -> Package:
        """Read a package from its file and the deltas; raises Refused."""
        data = read(self._path(name))
        package = self.read(data, name)[0].loaded(data)
        self._replay(package)
        return package

    def read(self, data: bytes, name: str | None, merge_into: Package | None = None) -> list[Package]:
        """Parse a text as `uci import` does; the packages count as loaded."""
        if name is not None and not libuci.is_package_name(name):
            raise libuci.Refused(libuci.INVALID)
        packages = Importer(name, merge_into).read(data)
        self.packages.update({package.name: package for package in packages})
        return packages

    def save(self, package: Package) -> None:
        """Append the package's records to its delta file."""
        if not package.delta:
            return
        mode = _mode(self.save_folder)
        if mode is None:
            like = _mode(self.config_folder)
            try:
                os.mkdir(self.save_folder, stat.S_IMODE(_FOLDER_MODE if like is None else like))
            except OSError:
                pass  # another program was quicker, or opening the file in it tells what is wrong
        elif not stat.S_ISDIR(mode):
            raise libuci.Refused(libuci.IO, self.save_folder)
        text = "".join([delta_line(package.name, record) for record in package.delta])
        path = f"{self.save_folder}/{package.name}"
        with open_to_write(path, f"{self.config_folder}/{package.name}", create=True) as file:
            file.append(libuci.encode(text))
        package.delta.clear()

    def commit(self, package: Package, old: bytes | None = None) -> Package:
        """Write the package's file, when anything changed; return the package as it then is.

        File and deltas are read again under the lock, but for what was imported whole. With `old`, it is written only
        where the file still holds these bytes: else it is refused.
        """
        name = package.name
        path = self._path(name) if package.has_delta else f"{self.config_folder}/{name}"
        with open_to_write(path, f"{self.config_folder}/{name}", create=True) as file:
            if not package.has_delta:
                replace(path, self._text(package))
                return package
            self.save(package)
            data = file.read()
            if old is not None and data != old:
                raise Outrun(path)
            self.packages.pop(name, None)
            package = self.read(data, name)[0].loaded(data)
            try:
                staged = open_to_write(f"{self.save_folder}/{name}")
            except libuci.Refused:
                if self._replay(package):
                    replace(path, self._text(package), old)
                return package
            with staged:  # emptied last, and locked all along
                if self._replay(package, staged.read()):
                    replace(path, self._text(package), old)
                    staged.rewrite(b"")
        return package

    def revert(self, name: str, section: str | None = None, option: str | None = None) -> Package:
        """Take the records of a package, section or option out of the delta, and load again."""
        package = self.packages.pop(name, None)
        if package is not None:
            self.save(package)
        try:
            file = open_to_write(f"{self.save_folder}/{name}")
        except libuci.Refused:
            return self.load(name)  # what is not there, or no file, holds nothing to take out
        with file:
            records = delta.filter_out(file.read(), section, option)
            if records is not None:
                file.rewrite(libuci.encode("".join([delta_line(name, record) for record in records])))
        return self.load(name)

    def staged(self, name: str) -> list[Record]:
        """Return the records in the delta file of a package, unloaded and unchecked."""
        path = f"{self.save_folder}/{name}"
        try:
            data = read(path) if os.stat(path).st_size else b""  # most are there and empty, and are not opened
        except (OSError, ValueError, libuci.Refused):
            data = b""
        return delta.parse(data, name)

    def _path(self, name: str) -> str:
        if not libuci.is_package_name(name):
            raise libuci.Refused(libuci.INVALID, name)
        if name.startswith("."):
            raise libuci.Refused(libuci.NOT_FOUND, name)
        return f"{self.config_folder}/{name}"

    def _text(self, package: Package) -> bytes:
        """Return what a commit writes."""
        return file_text(package)

    def _replay(self, package: Package, own: bytes | None = None) -> int:
        """Replay the delta (`own`: as it was read already); return how many records fitted."""
        records = self.staged(package.name) if own is None else delta.parse(own, package.name)
        return delta.replay(package, records)
