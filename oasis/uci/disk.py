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

from oasis.uci import delta, edit, libuci
from oasis.uci.package import Package, Record, delta_line, file_text
from oasis.uci.parser import Importer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.uci.parser import LineBuffer


# What libuci gives to files and folders that nothing else tells the mode of.
_FILE_MODE = 0o600
_FOLDER_MODE = 0o700
_NAMES_MAX = 1000
_READ_BYTES = 1 << 16


class Outrun(libuci.Refused):
    """Somebody else wrote a file between our reading and our writing; it is as they left it."""

    def __init__(self, path: str) -> None:
        super().__init__(libuci.IO, path, hint="somebody else wrote it at this moment; try again")


class Locked:
    """An open file under a lock; closing it gives the lock back."""

    def __init__(self, path: str, flags: int, mode: int, lock: int) -> None:
        self.path = path
        while not self._open(path, flags, mode, lock):
            pass  # while we waited for the lock its holder put another file in the place of this one

    def _open(self, path: str, flags: int, mode: int, lock: int) -> bool:
        try:
            self._descriptor = os.open(path, flags | os.O_CLOEXEC, mode)
        except OSError as error:
            raise libuci.Refused(libuci.IO, path, hint=error.strerror or "")
        try:
            fcntl.flock(self._descriptor, lock)
            if os.path.samestat(os.fstat(self._descriptor), os.stat(path)):
                return True
        except FileNotFoundError:
            pass  # as for another file: opening it again tells
        except OSError as error:
            os.close(self._descriptor)
            raise libuci.Refused(libuci.IO, path, hint=error.strerror or "")
        os.close(self._descriptor)
        return False

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
            raise libuci.Refused(libuci.IO, self.path, hint=error.strerror or "")

    def rewrite(self, data: bytes) -> None:
        """Make these bytes the whole content; a shorter text cannot run out of space."""
        try:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            _write_all(self._descriptor, data)
            os.ftruncate(self._descriptor, len(data))
        except OSError as error:
            raise libuci.Refused(libuci.IO, self.path, hint=error.strerror or "")


def read(path: str) -> bytes:
    """Return a regular file's bytes, read under a shared lock."""
    with open_to_read(path) as file:
        return file.read()


def open_to_read(path: str) -> Locked:
    """Open a regular file under a shared lock."""
    mode = _mode(path)
    if mode is None or not stat.S_ISREG(mode):
        raise libuci.Refused(libuci.NOT_FOUND, path)
    return Locked(path, os.O_RDONLY, 0, fcntl.LOCK_SH)


def open_to_write(path: str, like: str = "", create: bool = False) -> Locked:
    """Open a file under an exclusive lock; a new one gets the mode of the file `like`."""
    mode = _mode(like) if like else None
    flags = os.O_RDWR | (os.O_CREAT if create else 0)
    return Locked(path, flags, stat.S_IMODE(_FILE_MODE if mode is None else mode), fcntl.LOCK_EX)


def make_save_folder(path: str, like: str) -> None:
    """Make the save folder when it is missing, with the mode of the folder `like`."""
    mode = _mode(path)
    if mode is None:
        like_mode = _mode(like)
        try:
            os.mkdir(path, stat.S_IMODE(_FOLDER_MODE if like_mode is None else like_mode))
        except OSError:
            return  # another program was quicker, or opening the file in it tells what is wrong
    elif not stat.S_ISDIR(mode):
        raise libuci.Refused(libuci.IO, path)


def replace(path: str, data: bytes, old: bytes | None = None) -> None:
    """Put a file with these bytes and the old one's mode in the place of a file; a link's target, not the link.

    With `old`, only in the place of these bytes: not everybody who writes asks for a lock.
    """
    path = os.path.realpath(path)
    temporary = ""
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
        descriptor, temporary = _make_temporary(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            _write_all(descriptor, data)
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if old is not None and _bytes(path) != old:
            raise Outrun(path)
        os.rename(temporary, path)
        temporary = ""
        _sync_folder(os.path.dirname(path))
    except OSError as error:
        raise libuci.Refused(libuci.IO, path, hint=error.strerror or "")
    finally:
        if temporary:
            os.unlink(temporary)


def _bytes(path: str) -> bytes:
    with open(path, "rb") as handle:
        return handle.read()


def list_files(folder: str) -> list[str]:
    """Return the files that `*` stands for in a folder, sorted by bytes; NOT_FOUND when it matches nothing."""
    try:
        found = sorted(name for name in os.listdir(os.fsencode(folder + "/")) if not name.startswith(b"."))
    except OSError:
        found = []
    if not found:
        raise libuci.Refused(libuci.NOT_FOUND, folder)
    return [os.fsdecode(name) for name in found if not os.path.isdir(os.fsencode(folder + "/") + name)]


def exists(path: str) -> bool:
    """Tell whether there is anything at the path."""
    return _mode(path) is not None


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError):
        return None


def _make_temporary(path: str) -> tuple[int, str]:
    folder, name = os.path.split(path)
    for number in range(_NAMES_MAX):
        temporary = f"{folder}/.{name}.uci-{os.getpid():x}-{number:x}"
        try:
            return os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE_MODE), temporary
        except FileExistsError:
            continue
    raise FileExistsError(17, "no free name for a temporary file")


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


# -- folders, loaded packages and their deltas: libuci's context over files -------------------------------------------
#
# Contract: `load` reads a package and what is staged for it; operations of `edit` change it in memory and record;
# `save` appends the records to the delta file in the save folder; `commit` writes the file and empties the delta;
# `revert` takes records out of the delta. `delta_folders` are read in order, the save folder last.
# Source: libuci file.c, delta.c.


class Context:
    """The state of one user of a UCI folder.

    `override_folder` holds files that win over those of the configuration folder in whole ("": none). Without
    `strict`, lines that do not parse are left out; `on_error` gets each. `name_all` writes the names of anonymous
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
        self.on_error: Callable[[libuci.Refused], None] | None = None
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
            raise libuci.Refused(libuci.DUPLICATE, path)
        self.delta_folders.insert(len(self.delta_folders) - 1, path)

    def look_up(self, pointer: edit.Pointer) -> edit.Pointer:
        """Find what a pointer names, loading its package when needed."""
        pointer.look_up(self.packages.get(pointer.package) or self.load(pointer.package))
        return pointer

    def list_packages(self) -> list[str]:
        """Return the names of the configuration folder's packages."""
        return [name for name in list_files(self.config_folder) if "." not in name and libuci.is_package_name(name)]

    def load(self, name: str) -> Package:
        """Read a package from its file and the deltas; raises Refused."""
        path = self._path(name)
        data = read(path)
        package = self.read(data, name)[0]
        package.path = path
        package.data = data
        package.has_delta = True
        self._replay(package)
        return package

    def read(self, data: bytes, name: str | None, merge_into: Package | None = None) -> list[Package]:
        """Parse a text as `uci import` does; the packages count as loaded."""
        self.lines = None
        if name is not None and not libuci.is_package_name(name):
            raise libuci.Refused(libuci.INVALID)
        importer = Importer(name, merge_into, name is not None, self.packages, self.strict, self.on_error)
        try:
            packages = importer.read(data)
        except libuci.Refused:
            self.lines = importer.lines
            raise
        for package in packages:
            self.packages[package.name] = package
        return packages

    def save(self, package: Package) -> None:
        """Append the package's records to its delta file."""
        if not package.delta:
            return
        make_save_folder(self.save_folder, self.config_folder)
        text = "".join([delta_line(package.name, record) for record in package.delta])
        path = f"{self.save_folder}/{package.name}"
        with open_to_write(path, f"{self.config_folder}/{package.name}", create=True) as file:
            file.append(libuci.encode(text))
        package.saved_delta += package.delta
        package.delta = []

    def commit(self, package: Package, overwrite: bool = False, old: bytes | None = None) -> Package:
        """Write the package's file, when anything changed; return the package as it then is.

        With `overwrite` the package is written as it stands, else file and deltas are read again under the lock. With
        `old`, only where the file still holds these bytes: else it is refused, and nothing is written.
        """
        path = package.path or f"{self.config_folder}/{package.name}"
        with open_to_write(path, f"{self.config_folder}/{package.name}", create=True) as file:
            if not package.has_delta:
                replace(path, file_text(package, self.name_all))
                return package
            if not overwrite:
                self.save(package)
                data = file.read()
                if old is not None and data != old:
                    raise Outrun(path)
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
            file = open_to_write(f"{self.save_folder}/{name}")
        except libuci.Refused:
            return  # what is not there, or no file, holds nothing to take out
        with file:
            records = delta.filter_out(file.read(), section, option)
            if records is not None:
                file.rewrite(libuci.encode("".join([delta_line(name, record) for record in records])))

    def staged(self, name: str) -> list[Record]:
        """Return the records in the delta files of a package, unloaded and unchecked."""
        records: list[Record] = []
        for folder in self.delta_folders:
            records += delta.parse(_read_delta(f"{folder}/{name}"), name)
        return records

    def _path(self, name: str) -> str:
        if not libuci.is_package_name(name):
            raise libuci.Refused(libuci.INVALID, name)
        if name.startswith("."):
            raise libuci.Refused(libuci.NOT_FOUND, name)
        override = f"{self.override_folder}/{name}"
        if self.override_folder and exists(override):
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
            file = open_to_write(f"{self.save_folder}/{package.name}")
        except libuci.Refused:
            if self._replay(package):
                replace(path, file_text(package, self.name_all), old)
            return
        with file:
            if self._replay(package, file.read()):
                replace(path, file_text(package, self.name_all), old)
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
    """Return the bytes of a delta; most are there and empty, and are not opened."""
    try:
        return read(path) if os.stat(path).st_size else b""
    except (OSError, ValueError, libuci.Refused):
        return b""
