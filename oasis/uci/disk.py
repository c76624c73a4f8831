"""Files of a UCI folder: read, appended, replaced, with libuci's locks, so that a running `uci` beside us is safe.

Locks are flock on the file itself: shared to read, exclusive to write, config before delta. A config is replaced by a
temporary file beside it (fsync, rename, fsync of the folder) that keeps its mode. Knows paths and bytes, not UCI.
Raises Refused: NOT_FOUND when there is no regular file to read, IO for everything else.
Source: libuci util.c, uci_open_stream; file.c, uci_file_commit.
"""

from __future__ import annotations

import fcntl
import os
import stat

from oasis.uci import refusal

# What libuci gives to files and folders that nothing else tells the mode of.
_FILE_MODE = 0o600
_FOLDER_MODE = 0o700
_NAMES_MAX = 1000
_READ_BYTES = 1 << 16


class Outrun(refusal.Refused):
    """Somebody else wrote a file between our reading and our writing; it is as they left it."""

    def __init__(self, path: str) -> None:
        super().__init__(refusal.IO, path, hint="somebody else wrote it at this moment; try again")


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
            raise refusal.Refused(refusal.IO, path, hint=error.strerror or "")
        try:
            fcntl.flock(self._descriptor, lock)
            if os.path.samestat(os.fstat(self._descriptor), os.stat(path)):
                return True
        except FileNotFoundError:
            pass  # as for another file: opening it again tells
        except OSError as error:
            os.close(self._descriptor)
            raise refusal.Refused(refusal.IO, path, hint=error.strerror or "")
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
            raise refusal.Refused(refusal.IO, self.path, hint=error.strerror or "")

    def rewrite(self, data: bytes) -> None:
        """Make these bytes the whole content; a shorter text cannot run out of space."""
        try:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            _write_all(self._descriptor, data)
            os.ftruncate(self._descriptor, len(data))
        except OSError as error:
            raise refusal.Refused(refusal.IO, self.path, hint=error.strerror or "")


def read(path: str) -> bytes:
    """Return a regular file's bytes, read under a shared lock."""
    with open_to_read(path) as file:
        return file.read()


def open_to_read(path: str) -> Locked:
    """Open a regular file under a shared lock."""
    mode = _mode(path)
    if mode is None or not stat.S_ISREG(mode):
        raise refusal.Refused(refusal.NOT_FOUND, path)
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
        raise refusal.Refused(refusal.IO, path)


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
        raise refusal.Refused(refusal.IO, path, hint=error.strerror or "")
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
        raise refusal.Refused(refusal.NOT_FOUND, folder)
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
