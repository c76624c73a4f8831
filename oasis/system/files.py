"""Files that survive a power cut: append, replace, remove, each synced when asked.

The store and the journal write through an instance of `Files`, so that a test can make the n-th write, sync or rename
fail or vanish. Modes are 0600 and folders 0700: chats and journals are private. Knows nothing of what it stores.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time

from oasis.errors import OasisError, SettingsError, StoreError

if False:  # annotations only
    from collections.abc import Callable, Iterable
    from io import FileIO
    from typing import TypeVar

    T = TypeVar("T")

# JFFS2 and FAT count in seconds, FAT in twos.
SETTLED_NS = 2_500_000_000
# A turn looks at about ten files; a larger one is read again rather than held.
_KNOWN_FILES = 16
_KNOWN_BYTES = 32 * 1024


class Files:
    """The real file system. Every method raises StoreError, except the steps that a test makes fail (OSError)."""

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, or None when there is none; what is no file is refused, a FIFO would hang."""
        try:
            handle = self.reader(path)
            if handle is None:
                return None
            with handle:
                return handle.read()
        except OSError as error:
            raise self.failed("read", path, error)

    def reader(self, path: str) -> FileIO | None:
        """Return a handle for reading a file piece by piece, or None when there is none."""
        try:
            return open(path, "rb", buffering=0, opener=_regular)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self.failed("read", path, error)

    def stamp(self, path: str) -> tuple[int, int, int] | None:
        """Return what tells one version of a file from the next one, None when there is no file."""
        found = self._unless_gone("read", path, os.stat)
        return found and (found.st_mtime_ns, found.st_size, found.st_ino)

    def version(self, path: str) -> tuple[int, ...]:
        """Return what changes with every write to a file, the time of its last change first; () when there is none."""
        found = self._unless_gone("read", path, os.stat)
        return (found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino) if found else ()

    def _unless_gone(self, what: str, path: str, act: Callable[[str], T]) -> T | None:
        """Do something with a file, nothing when there is none."""
        try:
            return act(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self.failed(what, path, error)

    def append(self, path: str, data: bytes, sync: bool) -> None:
        """Add `data` at the end of a file made 0600; after a failure the file is as before, also when it was none."""
        before = self.size(path)
        is_new = not before and not os.path.exists(path)
        try:
            handle = open(path, "ab", buffering=0, opener=_private)  # noqa: SIM115
        except OSError as error:
            raise self.failed("write", path, error)
        try:
            self.write(handle, data)
            if sync:
                self.sync(handle)
            if sync and not before:
                self.sync_folder(path)
        except (OSError, StoreError) as error:
            self._take_back(handle, path, before, is_new)
            raise self.failed("write", path, error) if isinstance(error, OSError) else error
        finally:
            handle.close()

    def replace(self, path: str, data: bytes, mode: int = 0o600) -> None:
        """Put a whole file in place of another: the old bytes or the new ones are there, never a mix."""
        self.rewrite(path, [data], mode)

    def rewrite(self, path: str, pieces: Iterable[bytes], mode: int = 0o600) -> None:
        """Do the same with bytes that come in pieces, and need not fit into memory."""
        temporary = path + ".new"
        try:
            handle = open(temporary, "wb", buffering=0, opener=_private)  # noqa: SIM115
            try:
                for piece in pieces:
                    self.write(handle, piece)
                os.chmod(temporary, mode)
                self.sync(handle)
            finally:
                handle.close()
            self.rename(temporary, path)
            self.sync_folder(path)
        except OSError as error:
            self._try_remove(temporary)
            raise self.failed("write", path, error)
        except OasisError:
            self._try_remove(temporary)
            raise

    def claim(self, path: str) -> int:
        """Return a descriptor that holds the lock of a file until it is closed; -1 when somebody else holds it.

        Raises: StoreError when there is no such file.
        """
        number = -1
        try:
            number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(number)
            return -1
        except OSError as error:
            if number >= 0:
                os.close(number)
            raise self.failed("lock", path, error)
        return number

    def write(self, handle: FileIO, data: bytes) -> None:
        """Write all of `data` to an unbuffered handle; the step that a fault-injecting test replaces."""
        view = memoryview(data)
        while len(view):
            view = view[handle.write(view) :]

    def sync(self, handle: FileIO) -> None:
        """Sync a file's bytes; the step that a fault-injecting test replaces."""
        os.fsync(handle.fileno())

    def settle(self, path: str) -> None:
        """Sync a file that was written without, and its name."""
        try:
            with open(path, "r+b", buffering=0) as handle:
                self.sync(handle)
            self.sync_folder(path)
        except OSError as error:
            raise self.failed("sync", path, error)

    def rename(self, old: str, new: str) -> None:
        """Rename a file; the step that a fault-injecting test replaces."""
        os.rename(old, new)

    def move(self, old: str, new: str) -> None:
        """Give a file another name on the same file system, for good."""
        try:
            self.rename(old, new)
            self.sync_folder(new)
            if old.rpartition("/")[0] != new.rpartition("/")[0]:
                self.sync_folder(old)
        except OSError as error:
            raise self.failed("move", old, error)

    def forget(self, path: str) -> None:
        """Remove a file for good: not even a power cut brings it back."""
        self.remove(path)
        try:
            self.sync_folder(path)
        except OSError as error:
            raise self.failed("remove", path, error)

    def sync_folder(self, path: str) -> None:
        """Sync the folder that holds `path`, so that a new name survives a power cut."""
        folder = os.open(path.rpartition("/")[0] or "/", os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def cut(self, path: str, size: int) -> None:
        """Shorten a file to `size` bytes; one that is not there has none to lose."""
        try:
            with open(path, "r+b", buffering=0) as handle:
                handle.truncate(size)
                self.sync(handle)
        except OSError as error:
            if size or not isinstance(error, FileNotFoundError):
                raise self.failed("shorten", path, error)

    def remove(self, path: str) -> None:
        """Remove a file; it may be gone already."""
        self._unless_gone("remove", path, os.remove)

    def folder(self, path: str) -> None:
        """Make a folder, and those above it, private to us; their names survive a power cut."""
        parts = path.split("/")
        for end in range(2, len(parts) + 1):
            part = "/".join(parts[:end])
            try:
                os.mkdir(part, 0o700)
            except OSError as error:
                if not os.path.isdir(part):
                    raise self.failed("make folder", part, error)
                continue
            try:
                self.sync_folder(part)
            except OSError as error:
                os.rmdir(part)  # the next try begins anew
                raise self.failed("make folder", part, error)

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder; it may be gone already."""
        self._unless_gone("remove", path, os.rmdir)

    def names(self, path: str) -> list[str]:
        """Return the sorted names in a folder; none when there is no folder."""
        return sorted(self._unless_gone("list", path, os.listdir) or [])

    def size(self, path: str) -> int:
        """Return the bytes of a file, 0 when there is none."""
        try:
            return os.stat(path).st_size
        except OSError:
            return 0

    def failed(self, what: str, path: str, error: OSError) -> StoreError:
        """Return the StoreError for an operating system error."""
        hint = "look at the rights of the file and at free space with df"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            hint = "the flash is full: delete old chats or remove packages, then try again"
        elif error.errno == errno.EROFS:
            hint = "the flash can only be read: restart the router; if it stays so it may be dying: make a backup"
        reason = os.strerror(error.errno) if error.errno else str(error)
        return StoreError("cannot %s %s: %s" % (what, path, reason), hint)

    def _take_back(self, handle: FileIO, path: str, size: int, is_new: bool) -> None:
        try:
            handle.truncate(size)
        except OSError:
            return  # the disk may refuse this as well; the reader leaves a torn tail out
        if is_new:
            self._try_remove(path)

    def _try_remove(self, path: str) -> None:
        try:
            os.remove(path)
        except OSError:
            return  # another error is being reported


class KnownFiles:
    """Files that are asked for again and again, each read only when it may be another one; the newest few are kept.

    Two versions written within one tick of the file system's clock look the same from outside, so what was changed
    just now is read each time until SETTLED_NS have passed. A change or a decision that must not be wrong reads the
    file itself.
    """

    def __init__(self, files: Files, now_ns: Callable[[], int] = time.time_ns, most_bytes: int = _KNOWN_BYTES) -> None:
        self._files = files
        self._now_ns = now_ns
        self._most_bytes = most_bytes
        self._seen: dict[str, tuple[tuple[int, ...], bytes | None]] = {}

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, or None when there is none; the same object while it is the same file.

        Raises: StoreError as Files.read.
        """
        version = self._files.version(path)  # before the bytes: a write in between makes the next look differ
        seen, data = self._seen.pop(path, ((), None))
        is_settled = seen == version
        if not version or not is_settled:
            data = self._files.read(path) if version else None
            # What has another size may be a file of the kernel's, which changes without a write.
            is_whole = bool(data) and version[2:3] == (len(data or b""),)
            is_settled = not version or (is_whole and self._now_ns() - version[0] >= SETTLED_NS)
        if is_settled and len(data or b"") <= self._most_bytes:
            self._seen[path] = (version, data)
        for old in list(self._seen)[:-_KNOWN_FILES]:
            self._seen.pop(old, None)
        return data


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def _regular(path: str, flags: int) -> int:
    """Open a file, and nothing else: the opening of a FIFO waits for a writer, that of a device may do something."""
    if stat.S_ISREG(os.stat(path).st_mode):
        number = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK)
        if stat.S_ISREG(os.fstat(number).st_mode):
            return number
        os.close(number)  # it was exchanged between the two looks
    raise OSError("it is not a regular file")


def free_bytes(path: str) -> int:
    """Return what the disk of a folder has left."""
    space = os.statvfs(path)
    return space.f_bavail * space.f_frsize


# -- the one lock of a router root: two daemons would write the same files --------------------------------------------


def hold(path: str, folder: str) -> int:
    """Hold the lock of the router root in `folder` for the life of the process; return its descriptor.

    Raises: SettingsError naming the daemon that has it.
    """
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        other = os.read(number, 32).decode("ascii", "replace").strip()
        os.close(number)
        raise SettingsError("another oasisd (process %s) works on %s" % (other, folder), "stop it first")
    os.ftruncate(number, 0)
    os.write(number, b"%d\n" % os.getpid())
    return number


# -- mounts: on what kind of file system a folder lies, as the kernel's list tells ------------------------------------

LIST = "/proc/self/mounts"
# Every file belongs to everybody there, and a power cut while one is renamed may take both: of memory sticks as they
# are sold.
LOOSE = ("exfat", "fuseblk", "msdos", "ntfs", "ntfs3", "vfat")


def kind(mounts: bytes, path: str) -> str:
    """Return the type of the file system that a path is on, "" where the list does not tell.

    Source: fstab(5) and getmntent(3): fields between blanks, four characters of them as octal escapes.
    """
    found = place = ""
    for line in mounts.decode("utf-8", "replace").split("\n"):
        fields = line.split(" ")
        where = fields[1] if len(fields) > 2 else ""
        for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
            where = where.replace(code, char)
        is_above = where == "/" or path == where or path.startswith(where + "/")
        if where and is_above and len(where) >= len(place):  # of two mounts at one place the later one counts
            found, place = fields[2], where
    return found
