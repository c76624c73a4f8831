"""Files that survive a power cut: append, replace, remove, each synced when asked.

The store and the journal write through an instance of `Files`, so that a test can make the n-th write, sync or rename
fail or vanish. Modes are 0600 and folders 0700: chats and journals are private. Knows nothing of what it stores.
"""

import os

from oasis.errors import StoreError

_FULL = 28  # ENOSPC
_FULL_QUOTA = 122  # EDQUOT
_NOT_THERE = 2  # ENOENT


class Files:
    """The real file system."""

    def read(self, path):
        """Return the bytes of a file, or None when there is none."""
        try:
            with open(path, "rb") as handle:
                return handle.read()
        except OSError as error:
            if error.args[0] == _NOT_THERE:
                return None
            raise self.failed("read", path, error)

    def append(self, path, data, sync):
        """Add `data` at the end of a file made 0600; after a failure the file is as long as before."""
        before = self.size(path)
        try:
            handle = open(path, "ab", buffering=0, opener=_private)
            try:
                self.write(handle, data)
                if sync:
                    self.sync(handle)
            except OSError:
                self._cut(handle, before)
                raise
            finally:
                handle.close()
            if sync and not before:
                self.sync_folder(path)
        except OSError as error:
            raise self.failed("write", path, error)

    def replace(self, path, data, mode=0o600):
        """Put a whole file in place of another: the old bytes or the new ones are there, never a mix."""
        temporary = path + ".new"
        try:
            handle = open(temporary, "wb", buffering=0, opener=_private)
            try:
                self.write(handle, data)
                os.chmod(temporary, mode)
                self.sync(handle)
            finally:
                handle.close()
            self.rename(temporary, path)
            self.sync_folder(path)
        except OSError as error:
            self.remove(temporary)
            raise self.failed("write", path, error)

    def write(self, handle, data):
        """Write all of `data` to an unbuffered handle; the step that a fault-injecting test replaces."""
        view = memoryview(data)
        while len(view):
            view = view[handle.write(view) :]

    def sync(self, handle):
        os.fsync(handle.fileno())

    def rename(self, old, new):
        os.rename(old, new)

    def sync_folder(self, path):
        """Sync the folder that holds `path`, so that a new name survives a power cut."""
        folder = os.open(path.rpartition("/")[0] or "/", os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def cut(self, path, size):
        """Shorten a file to `size` bytes."""
        try:
            with open(path, "r+b") as handle:
                handle.truncate(size)
                self.sync(handle)
        except OSError as error:
            raise self.failed("shorten", path, error)

    def remove(self, path):
        """Remove a file; it may be gone already."""
        try:
            os.remove(path)
        except OSError as error:
            if error.args[0] != _NOT_THERE:
                raise self.failed("remove", path, error)

    def folder(self, path):
        """Make a folder, and those above it, private to us."""
        parts = path.split("/")
        for end in range(2, len(parts) + 1):
            part = "/".join(parts[:end])
            try:
                os.mkdir(part, 0o700)
            except OSError as error:
                if not self._is_folder(part):
                    raise self.failed("make folder", part, error)

    def remove_folder(self, path):
        """Remove an empty folder; it may be gone already."""
        try:
            os.rmdir(path)
        except OSError as error:
            if error.args[0] != _NOT_THERE:
                raise self.failed("remove", path, error)

    def names(self, path):
        """Return the sorted names in a folder; none when there is no folder."""
        try:
            return sorted(os.listdir(path))
        except OSError as error:
            if error.args[0] == _NOT_THERE:
                return []
            raise self.failed("list", path, error)

    def size(self, path):
        """Return the bytes of a file, 0 when there is none."""
        try:
            return os.stat(path)[6]
        except OSError:
            return 0

    def failed(self, what, path, error):
        """Return the StoreError for an operating system error."""
        number = error.args[0] if error.args else 0
        if number in (_FULL, _FULL_QUOTA):
            hint = "the flash is full: delete old chats or remove packages, then try again"
        else:
            hint = "look at the rights of the file and at free space with df"
        return StoreError("cannot %s %s: %s" % (what, path, error), hint)

    def _cut(self, handle, size):
        # The disk may refuse this as well; the reader cuts a torn tail off at the next start.
        try:
            handle.truncate(size)
        except OSError:
            return

    def _is_folder(self, path):
        try:
            return bool(os.stat(path)[0] & 0o040000)
        except OSError:
            return False


def _private(path, flags):
    return os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o600)
