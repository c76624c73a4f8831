"""What is on flash after a power cut: a disk that forgets every byte and name that nobody synced."""

import os

import pytest

from oasis.change.apply.journal import Journal
from oasis.system.files import Files


class PowerCut(Exception):
    """The power fails before a step."""


class Forgetful(Files):
    """Files of which, after `cut_power()`, only what was synced is left; the n-th step may not happen any more."""

    def __init__(self, folder, fail_at=0):
        self._folder = str(folder)
        self._fail_at = fail_at
        self._steps = 0
        self._bytes = {}  # inode: what was synced of it
        self._names = {}  # folder: {name: inode} as it was synced
        self._held = []  # keeps inodes from being used again
        for where, _, names in os.walk(self._folder):
            for name in names:
                self._remember(os.path.join(where, name))
            self._names[where] = {name: os.stat(os.path.join(where, name)).st_ino for name in names}

    def _remember(self, path):
        number = os.open(path, os.O_RDONLY)
        self._held.append(number)
        with open(path, "rb") as handle:
            self._bytes[os.fstat(number).st_ino] = handle.read()

    def _step(self):
        self._steps += 1
        if self._steps == self._fail_at:
            raise PowerCut

    def write(self, handle, data):
        self._step()
        super().write(handle, data)
        self._held.append(os.dup(handle.fileno()))

    def sync(self, handle):
        self._step()
        super().sync(handle)
        self._remember(handle.name)

    def rename(self, old, new):
        self._step()
        super().rename(old, new)

    def sync_folder(self, path):
        self._step()
        super().sync_folder(path)
        folder = os.path.dirname(path)
        self._names[folder] = {entry.name: entry.inode() for entry in os.scandir(folder) if entry.is_file()}

    def cut_power(self):
        """Leave in the real folders what a disk would have; a file that was never synced is empty."""
        for where, _, names in os.walk(self._folder):
            for name in names:
                os.remove(os.path.join(where, name))
            for name, inode in self._names.get(where, {}).items():
                with open(os.path.join(where, name), "wb") as handle:
                    handle.write(self._bytes.get(inode, b""))
        for number in self._held:
            os.close(number)


class Careless(Forgetful):
    """Files of a disk that does with what was not synced whatever it likes: forgets, keeps, tears or reorders it.

    `chance` decides which; `syncs`: without it, nothing is ever synced ("file": no bytes, "folder": no names).
    """

    def __init__(self, folder, chance, fail_at=0, syncs=("file", "folder")):
        self._chance = chance
        self._syncs = syncs
        super().__init__(folder, fail_at)

    def sync(self, handle):
        self._step()
        if "file" in self._syncs:
            self._remember(handle.name)

    def sync_folder(self, path):
        self._step()
        folder = os.path.dirname(path)
        if "folder" in self._syncs:
            self._names[folder] = {entry.name: entry.inode() for entry in os.scandir(folder) if entry.is_file()}

    def forget_power(self):
        """Let no step fail any more."""
        self._fail_at = 0

    def cut_power(self):
        """Leave in the real folders what this disk has."""
        now, fate = {}, {}
        for where, _, names in os.walk(self._folder):
            now[where] = {name: os.stat(os.path.join(where, name)).st_ino for name in names}
            for name in names:
                with open(os.path.join(where, name), "rb") as handle:
                    self._unsynced(os.fstat(handle.fileno()).st_ino, handle.read())
        for where in now:
            kept = self._names.get(where, {})
            for name in set(kept) | set(now[where]):
                # Each change of a name that was not synced is on the disk or not, whatever came before it; a file that
                # got another name has lost none without having got the other.
                inode = now[where].get(name) or kept.get(name)
                if kept.get(name) != now[where].get(name) and fate.setdefault(inode, self._chance.random() < 0.5):
                    kept = {**kept, name: now[where].get(name)}
            self._names[where] = {name: inode for name, inode in kept.items() if inode is not None}
        super().cut_power()

    def _unsynced(self, inode, data):
        """Decide what is on the disk of a file that has changed since it was synced."""
        kept = self._bytes.get(inode, b"")
        if data == kept:
            return
        new = data[len(kept) :] if data.startswith(kept) else data
        base = kept if data.startswith(kept) else b""
        cut = self._chance.randint(0, len(new))
        torn = (b"", new, new[:cut], b"\0" * cut + new[cut:], b"\0" * cut, new[:cut] + b"\0" * (len(new) - cut))
        self._bytes[inode] = base + self._chance.choice(torn)


def content(path):
    return path.read_bytes() if path.exists() else None


@pytest.mark.parametrize("before", [None, b"old"])
def test_what_was_replaced_is_there_after_a_power_cut(tmp_path, before):
    path = tmp_path / "file"
    if before:
        path.write_bytes(before)
    files = Forgetful(tmp_path)
    files.replace(str(path), b"new")
    files.cut_power()
    assert content(path) == b"new"


@pytest.mark.parametrize("before", [None, b"old\n"])
def test_a_power_cut_in_the_middle_of_replacing_leaves_the_old_or_the_new(tmp_path, before):
    for fail_at in range(1, 20):
        folder = tmp_path / str(fail_at)
        folder.mkdir()
        path = folder / "file"
        if before:
            path.write_bytes(before)
        files = Forgetful(folder, fail_at)
        try:
            files.replace(str(path), b"new\n")
        except PowerCut:
            files.cut_power()
            assert content(path) in (before, b"new\n"), fail_at
            continue
        files.cut_power()
        assert content(path) == b"new\n"
        return
    raise AssertionError("replacing takes more steps than anybody thought")


@pytest.mark.parametrize("before", [None, b"old\n"])
def test_a_line_that_was_synced_is_there_after_a_power_cut(tmp_path, before):
    path = tmp_path / "file"
    if before:
        path.write_bytes(before)
    files = Forgetful(tmp_path)
    files.append(str(path), b"new\n", True)
    files.append(str(path), b"waits\n", False)
    files.cut_power()
    assert content(path) == (before or b"") + b"new\n"


def test_what_was_moved_to_another_folder_is_there_alone_after_a_power_cut(tmp_path):
    for name in ("from", "to"):
        (tmp_path / name).mkdir()
    (tmp_path / "from/file").write_bytes(b"data")
    files = Forgetful(tmp_path)
    files.move(str(tmp_path / "from/file"), str(tmp_path / "to/file"))
    files.cut_power()
    assert content(tmp_path / "to/file") == b"data" and content(tmp_path / "from/file") is None


def test_a_list_of_pending_files_is_never_there_without_its_copies(tmp_path):
    images = {"network": (b"old one", b"new one"), "wireless": (b"old two", b"new two")}
    record = {"id": "0123456789abcdefghij", "services": [], "words": [], "state": "prepared"}
    for fail_at in range(1, 200):
        folder = tmp_path / str(fail_at)
        folder.mkdir()
        files = Forgetful(folder, fail_at)
        journal = Journal(files, str(folder), lambda path: 1 << 30)
        is_done = True
        try:
            journal.prepare(record, images, dict.fromkeys(images, 0o600), 100)
        except PowerCut:
            is_done = False
        files.cut_power()
        listed = content(folder / "pending/list") or b""
        assert is_done <= listed.endswith(b"end\n"), "prepared, and then not there"
        if listed.endswith(b"end\n"):
            for name, (before, _) in images.items():
                assert content(folder / "pending/files" / name) == before, fail_at
                assert journal.image(record["id"], "before", name) == before
            assert int(content(folder / "pending/deadline")) == 100
        if is_done:
            return
    raise AssertionError("preparing takes more steps than anybody thought")


def test_sync_asks_the_kernel():
    # The kernel refuses to sync a pipe; what never asks it is not refused.
    reader, writer = os.pipe()
    with open(writer, "wb", buffering=0) as handle, pytest.raises(OSError):
        Files().sync(handle)
    os.close(reader)


def test_syncing_a_folder_asks_the_kernel():
    with pytest.raises(OSError):
        Files().sync_folder("/proc/self/status")  # nothing in /proc can be synced
