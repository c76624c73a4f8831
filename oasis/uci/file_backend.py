"""The cursor over plain files, equal to libuci in what it writes, stages and locks, so that a `uci` meanwhile is safe.

`stage` appends records to a package's delta file in the save folder, `commit` replays them onto the file and empties
the delta. It reads the deltas of its own save folder only: what others staged elsewhere is not committed along.
Locks are flock on the file itself: shared to read, exclusive to write, config before delta. A config is replaced by a
temporary file next to it (fsync, rename, fsync of the folder) that keeps its mode.
Raises Refused: NOT_FOUND when there is no regular file to read, IO for everything else of the file system.
Source: libuci util.c, uci_open_stream; file.c, uci_file_commit; delta.c.
"""

from __future__ import annotations

import fcntl
import os
import stat

from oasis.errors import UciError, UnwrittenError
from oasis.uci import edit, model, parser
from oasis.uci import package as names
from oasis.uci.package import IO, NOT_FOUND, Package, Record, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.uci.edit import Operation

_FILE_MODE = 0o600  # what libuci gives to files that nothing else tells the mode of
_NAMES_MAX = 1000
_READ_BYTES = 1 << 16
NO_PACKAGE = "there is no such package; uci never makes one"


class FileBackend:
    """UCI by our own parser, deltas and locks."""

    def __init__(self, confdir: str, savedir: str) -> None:
        self._confdir = confdir
        self._savedir = savedir
        self._read: dict[str, bytes] = {}  # what the files of packages held when they were last read

    def changes(self, package: str) -> list[Record]:
        """Return the records of what is staged for a package."""
        return staged(self._savedir, package)

    def revert(self, package: str) -> None:
        """Drop the staged changes of a package."""
        self._load(package)
        try:
            file = open_to_write(f"{self._savedir}/{package}")
        except Refused:
            return  # what is not there, or no file, holds nothing to take out
        with file:
            file.rewrite(b"")

    def stage(self, steps: list[Operation]) -> None:
        """Do all operations and save them, or none."""
        self._stage(steps)

    def commit(self, package: str) -> None:
        """Write the staged changes of a package to its file."""
        self._load(package)
        self._commit(package)

    def write(self, steps: list[Operation], expected: dict[str, bytes]) -> None:
        """Drop what is staged, do all operations and commit, where every package exports as expected; else none."""
        for name in expected:
            self.revert(name)
        packages = self._stage(steps)
        for name, text in expected.items():
            if model.export_text(packages.get(name) or self._load(name)) != text:
                for each in expected:
                    self.revert(each)
                raise unexpected(name)
        read = {name: self._read[name] for name in expected}
        for number, name in enumerate(expected):
            try:
                self._commit(name, read[name])
            except Outrun:
                error = UciError if number else UnwrittenError
                raise error(f"{name} was changed by somebody else at this moment", "ask for the change again")

    def _load(self, name: str) -> Package:
        """Return a package with what is staged for it."""
        try:
            if not names.is_package_name(name):
                raise Refused(names.INVALID)
            if name.startswith("."):
                raise Refused(NOT_FOUND)
            self._read[name] = read(f"{self._confdir}/{name}")
            package = model.parse(self._read[name], name)
        except Refused as error:
            raise error.about(name, NO_PACKAGE if error.status == NOT_FOUND else "")
        edit.replay(package, self.changes(name))
        return package

    def _stage(self, steps: list[Operation]) -> dict[str, Package]:
        packages = edit.apply_all(steps, self._load)
        for name, package in packages.items():
            if package.delta:
                try:
                    os.mkdir(self._savedir, _mode(self._confdir))
                except OSError:
                    pass  # it is there, or opening the file in it tells what is wrong
                with open_to_write(f"{self._savedir}/{name}", _mode(f"{self._confdir}/{name}")) as file:
                    file.append(names.delta_text(name, package.delta))
        return packages

    def _commit(self, name: str, old: bytes | None = None) -> None:
        """Replay the delta and replace the file, both locked all along; with `old` only a file of these bytes."""
        path = f"{self._confdir}/{name}"
        with open_to_write(path) as file:
            data = file.read()
            if old is not None and data != old:
                raise Outrun(path)
            try:
                delta = open_to_write(f"{self._savedir}/{name}")
            except Refused:
                return
            with delta:
                package = model.parse(data, name)
                if edit.replay(package, parser.delta(delta.read(), name)):
                    replace(path, model.file_text(package), old)
                    delta.rewrite(b"")


def staged(folder: str, package: str) -> list[Record]:
    """Return the records in the delta file of a package."""
    try:
        return parser.delta(read(f"{folder}/{package}"), package)
    except Refused:
        return []


def unexpected(name: str) -> UnwrittenError:
    """Return the error for a package that staging made something else of than was foreseen."""
    return UnwrittenError(
        f"{name}: staging gave another result than planned; nothing was written",
        f"others may have staged changes: see `uci changes {name}`",
    )


# -- files under libuci's locks ---------------------------------------------------------------------------------------


class Outrun(Refused):
    """Somebody else wrote a file between our reading and our writing; it is as they left it."""

    def __init__(self, path: str) -> None:
        super().__init__(IO, path, hint="somebody else wrote it at this moment; try again")


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
            raise _io(path, error)
        try:
            fcntl.flock(self._descriptor, lock)
            if os.path.samestat(os.fstat(self._descriptor), os.stat(path)):
                return True
        except FileNotFoundError:
            pass  # as for another file: opening it again tells
        except OSError as error:
            os.close(self._descriptor)
            raise _io(path, error)
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
            raise _io(self.path, error)

    def rewrite(self, data: bytes) -> None:
        """Make these bytes the whole content; a shorter text cannot run out of space."""
        try:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            _write_all(self._descriptor, data)
            os.ftruncate(self._descriptor, len(data))
        except OSError as error:
            raise _io(self.path, error)


def read(path: str) -> bytes:
    """Return a regular file's bytes, read under a shared lock."""
    try:
        is_file = stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        raise Refused(NOT_FOUND, path)
    with Locked(path, os.O_RDONLY, 0, fcntl.LOCK_SH) as file:
        return file.read()


def open_to_write(path: str, new_mode: int | None = None) -> Locked:
    """Open a file under an exclusive lock; with a mode for a new one, it is made when it is missing."""
    return Locked(path, os.O_RDWR | (0 if new_mode is None else os.O_CREAT), new_mode or 0, fcntl.LOCK_EX)


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
        folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise _io(path, error)
    finally:
        if temporary:
            os.unlink(temporary)


def _bytes(path: str) -> bytes:
    with open(path, "rb") as handle:
        return handle.read()


def _mode(path: str) -> int:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return _FILE_MODE


def _make_temporary(path: str) -> tuple[int, str]:
    folder, name = os.path.split(path)
    for number in range(_NAMES_MAX):
        temporary = f"{folder}/.{name}.uci-{os.getpid():x}-{number:x}"
        try:
            return os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE_MODE), temporary
        except FileExistsError:
            continue
    raise FileExistsError(17, "no free name for a temporary file")


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _io(path: str, error: OSError) -> Refused:
    return Refused(IO, path, hint=error.strerror or "")
