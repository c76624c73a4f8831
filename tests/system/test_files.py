"""Files on a real file system, with every step made to fail once: the old state or the new, never a mix."""

import errno
import os
import stat
import time

import pytest

from oasis.core import jsonl
from oasis.core.store import Store
from oasis.errors import OasisError, StoreError
from oasis.system.files import SETTLED_NS, Files, KnownFiles

CHAT = "9m4e2mr0ui3e8a215n4g"


class FailingFiles(Files):
    """Files whose n-th write, sync or rename fails; `half` lets a failing write put down half of its bytes first."""

    def __init__(self, fail_at=0, number=errno.ENOSPC, half=False):
        self.fail_at = fail_at
        self.number = number
        self.half = half
        self.steps = []

    def _step(self, name):
        self.steps.append(name)
        if len(self.steps) == self.fail_at:
            raise OSError(self.number, os.strerror(self.number))

    def write(self, handle, data):
        try:
            self._step("write")
        except OSError:
            if self.half:
                handle.write(bytes(data)[: len(data) // 2])
            raise
        super().write(handle, data)

    def sync(self, handle):
        self._step("sync")
        super().sync(handle)

    def rename(self, old, new):
        self._step("rename")
        super().rename(old, new)

    def sync_folder(self, path):
        self._step("sync folder")
        super().sync_folder(path)


FAULTS = [(errno.ENOSPC, False), (errno.ENOSPC, True), (errno.EIO, False), (errno.EIO, True)]


def content(path):
    return path.read_bytes() if path.exists() else None


def message(number):
    return {"id": "%025d" % number, "role": "user", "content": "message %d" % number}


@pytest.mark.parametrize("number, half", FAULTS)
@pytest.mark.parametrize("before", [None, b"old\n" * 100])
def test_a_replaced_file_is_the_old_or_the_new_whatever_step_fails(tmp_path, number, half, before):
    for fail_at in range(1, 10):
        path = tmp_path / f"file{fail_at}"
        if before is not None:
            path.write_bytes(before)
        files = FailingFiles(fail_at, number, half)
        try:
            files.replace(str(path), b"new\n" * 50)
        except StoreError as error:
            assert error.hint and str(path) in error.message
            assert content(path) in (before, b"new\n" * 50)
            assert not os.path.exists(str(path) + ".new")
            continue
        assert content(path) == b"new\n" * 50
        assert fail_at == 5, "write, sync, rename and sync of the folder were made to fail"
        return
    raise AssertionError("it never passed")


@pytest.mark.parametrize("number, half", FAULTS)
@pytest.mark.parametrize("before", [None, b"", b"old\n" * 100])
def test_a_failed_append_leaves_the_file_as_it_was(tmp_path, number, half, before):
    for fail_at in range(1, 10):
        path = tmp_path / f"file{fail_at}"
        if before is not None:
            path.write_bytes(before)
        files = FailingFiles(fail_at, number, half)
        try:
            files.append(str(path), b"new\n" * 50, True)
        except StoreError:
            assert content(path) == before
            continue
        assert content(path) == (before or b"") + b"new\n" * 50
        assert files.steps[:2] == ["write", "sync"]
        return
    raise AssertionError("it never passed")


@pytest.mark.parametrize("number, half", FAULTS)
def test_a_chat_on_flash_is_old_or_new_after_any_failing_step_and_nothing_acknowledged_is_lost(tmp_path, number, half):
    for fail_at in range(1, 20):
        folder = str(tmp_path / f"chats{fail_at}")
        os.mkdir(folder)
        files = FailingFiles(fail_at, number, half)
        store = Store(files, folder, lambda: CHAT)
        chat = store.create()
        acknowledged, failures = [], 0
        for count in (1, 2, 3):
            chat.add(message(count))
            try:
                chat.flush()
            except StoreError:
                failures += 1
            else:
                acknowledged = [value["id"] for value in chat.list()]
            on_flash = read_again(folder)
            assert on_flash[: len(acknowledged)] == acknowledged
            assert len(on_flash) in (len(acknowledged), count)
        chat.flush()
        assert read_again(folder) == [message(count)["id"] for count in (1, 2, 3)]
        if not failures:
            return
    raise AssertionError("it never passed")


def read_again(folder):
    store = Store(Files(), folder, lambda: CHAT)
    if CHAT not in store.names():
        return []
    chat = store.open(CHAT)
    assert chat.reports == [], "no half line is left"
    return [value["id"] for value in chat.list()]


def test_a_half_line_that_the_disk_would_not_take_back_is_cut_off_by_the_next_flush(tmp_path):
    class Stubborn(FailingFiles):
        def _take_back(self, handle, path, size, is_new):
            return

    files = Stubborn(4, half=True)  # write, sync, folder; then the second write
    chat = Store(files, str(tmp_path), lambda: CHAT).create()
    chat.add(message(1))
    chat.flush()
    chat.add(message(2))
    with pytest.raises(StoreError):
        chat.flush()
    assert "torn" in Store(Files(), str(tmp_path), lambda: CHAT).open(CHAT).reports[0]
    chat.flush()
    assert read_again(str(tmp_path)) == [message(1)["id"], message(2)["id"]]


def test_a_flush_is_one_write_and_one_sync_and_a_new_name_is_synced_once(tmp_path):
    files = FailingFiles()
    chat = Store(files, str(tmp_path), lambda: CHAT).create()
    chat.add(message(1))
    chat.add(message(2))
    chat.flush()
    assert files.steps == ["write", "sync", "sync folder"]
    chat.add(message(3))
    chat.add(message(4))
    chat.flush()
    assert files.steps[3:] == ["write", "sync"]


def test_a_new_folder_is_synced_or_is_not_there(tmp_path):
    with pytest.raises(StoreError, match="make folder"):
        FailingFiles(2).folder(str(tmp_path / "a/b"))
    assert os.listdir(tmp_path / "a") == []
    files = FailingFiles()
    for _ in range(2):
        files.folder(str(tmp_path / "a/b"))
    assert files.steps == ["sync folder"]


def test_what_was_written_late_is_synced_with_its_name(tmp_path):
    files = FailingFiles()
    files.append(str(tmp_path / "log"), b"x", False)
    files.settle(str(tmp_path / "log"))
    assert files.steps == ["write", "sync", "sync folder"]
    with pytest.raises(StoreError, match="cannot sync"):
        files.settle(str(tmp_path / "nothing"))


def test_appending_without_sync_does_not_sync(tmp_path):
    files = FailingFiles()
    files.append(str(tmp_path / "log"), b"x", False)
    assert files.steps == ["write"]


def test_a_write_that_takes_a_part_is_finished(tmp_path):
    class Narrow:
        def __init__(self):
            self.data = b""

        def write(self, view):
            self.data += bytes(view[:3])
            return min(len(view), 3)

    handle = Narrow()
    Files().write(handle, b"0123456789")
    assert handle.data == b"0123456789"


def test_files_and_folders_are_private(tmp_path):
    files = Files()
    before = os.umask(0)
    try:
        files.folder(str(tmp_path / "a/b"))
        files.append(str(tmp_path / "a/b/chat"), b"x", True)
        files.replace(str(tmp_path / "a/b/key"), b"x")
        files.replace(str(tmp_path / "a/b/script"), b"x", 0o755)
    finally:
        os.umask(before)
    modes = {
        name: stat.S_IMODE(os.stat(tmp_path / name).st_mode)
        for name in ("a", "a/b", "a/b/chat", "a/b/key", "a/b/script")
    }
    assert modes == {"a": 0o700, "a/b": 0o700, "a/b/chat": 0o600, "a/b/key": 0o600, "a/b/script": 0o755}


def test_a_full_disk_has_a_hint_of_its_own():
    files = Files()
    assert "full" in files.failed("write", "/x", OSError(errno.ENOSPC, "")).hint
    assert "full" in files.failed("write", "/x", OSError(errno.EDQUOT, "")).hint
    assert "full" not in files.failed("write", "/x", OSError(errno.EIO, "")).hint


def test_a_flash_that_can_only_be_read_is_called_so_and_its_path_is_told_once():
    told = Files().failed("write", "/x/y", OSError(errno.EROFS, os.strerror(errno.EROFS), "/x/y"))
    assert told.message == "cannot write /x/y: Read-only file system"
    assert "backup" in told.hint


def test_what_is_not_there_is_none_empty_or_gone_already(tmp_path):
    files, path = Files(), str(tmp_path / "none")
    assert (files.read(path), files.size(path), files.names(path)) == (None, 0, [])
    files.remove(path)
    files.remove_folder(path)
    files.cut(path, 0)


def test_a_file_can_be_shortened(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    Files().cut(str(path), 4)
    assert path.read_bytes() == b"0123"


def test_names_are_sorted(tmp_path):
    for name in ("b", "a", "c"):
        (tmp_path / name).write_bytes(b"")
    assert Files().names(str(tmp_path)) == ["a", "b", "c"]


@pytest.mark.parametrize("method, arguments", [
    ("read", ()), ("append", (b"x", True)), ("replace", (b"x",)), ("cut", (0,)), ("remove", ()), ("folder", ()),
    ("remove_folder", ()), ("names", ()),
])  # fmt: skip
def test_every_failure_is_a_store_error_that_names_the_path(tmp_path, method, arguments):
    (tmp_path / "file").write_bytes(b"")
    path = str(tmp_path / "file/below")
    with pytest.raises(StoreError) as caught:
        getattr(Files(), method)(path, *arguments)
    assert str(tmp_path / "file") in caught.value.message
    assert caught.value.hint


def test_a_path_that_is_no_folder_makes_no_folder(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError):
        Files().folder(str(tmp_path / "pipe"))


def test_no_descriptor_is_left_open_by_failures(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    for fail_at in range(1, 5):
        for method, arguments in (("append", (b"x", True)), ("replace", (b"x",))):
            try:
                getattr(FailingFiles(fail_at), method)(str(tmp_path / f"{method}{fail_at}"), *arguments)
            except OasisError:
                pass
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_line_of_any_characters_survives(tmp_path):
    value = {"text": "\u2028\x85\x0c\r ü \U0001f600"}
    Files().append(str(tmp_path / "log"), jsonl.line(value), True)
    assert jsonl.loads(Files().read(str(tmp_path / "log")).split(b"\n")[0]) == value


@pytest.mark.parametrize("kind", ["fifo", "folder", "device"])
def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path, kind):
    path = str(tmp_path / "extra")
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        os.mkdir(path)
    else:
        os.symlink("/dev/null", path)
    for read in (Files().read, Files().reader):
        with pytest.raises(StoreError, match="it is not a regular file"):
            read(path)
    assert Files().read(path + "-none") is None


class Reads(Files):
    """Counts how often a file is read."""

    def __init__(self):
        self.count = 0

    def read(self, path):
        self.count += 1
        return super().read(path)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    return tmp_path / "file"


def later():
    return time.time_ns() + 2 * SETTLED_NS


def test_a_file_that_stays_the_same_is_read_once(path):
    files = Reads()
    known = KnownFiles(files, later)
    assert [known.read(str(path)), known.read(str(path))] == [b"old", b"old"] and files.count == 1


@pytest.mark.parametrize("now_ns", [time.time_ns, lambda: 0])
def test_a_file_that_was_changed_just_now_or_in_the_future_is_read_each_time(path, now_ns):
    files = Reads()
    known = KnownFiles(files, now_ns)
    assert [known.read(str(path)), known.read(str(path))] == [b"old", b"old"] and files.count == 2


def test_another_text_is_seen_at_once(path):
    known = KnownFiles(Files(), later)
    assert known.read(str(path)) == b"old"
    path.write_bytes(b"newer")
    assert known.read(str(path)) == b"newer"


def test_another_file_of_the_same_size_and_time_is_seen(path, tmp_path):
    known = KnownFiles(Files(), later)
    assert known.read(str(path)) == b"old"
    before = os.stat(path)
    (tmp_path / "other").write_bytes(b"new")
    os.utime(tmp_path / "other", ns=(before.st_atime_ns, before.st_mtime_ns))
    os.rename(tmp_path / "other", path)
    assert known.read(str(path)) == b"new"


def test_a_file_that_goes_and_comes_is_seen(path):
    known = KnownFiles(Files(), later)
    assert known.read(str(path)) == b"old"
    os.remove(path)
    assert known.read(str(path)) is None
    path.write_bytes(b"new")
    assert known.read(str(path)) == b"new"


class Counting(Files):
    def __init__(self):
        self.reads = []

    def read(self, path):
        self.reads.append(path)
        return super().read(path)


def test_a_known_file_is_read_again_when_it_is_another_one_and_a_kernel_file_always(tmp_path):
    path = str(tmp_path / "a")
    files = Counting()
    known, inner = KnownFiles(files), files.reads
    with open(path, "wb") as handle:
        handle.write(b"one")
    os.utime(path, (1, 1))
    time.sleep(SETTLED_NS / 1e9 + 0.1)
    assert [known.read(path) for _ in range(3)] == [b"one"] * 3 and inner == [path]
    with open(path, "wb") as handle:
        handle.write(b"two")
    assert known.read(path) == b"two"
    inner.clear()
    assert known.read("/proc/uptime") and known.read("/proc/uptime")
    assert inner == ["/proc/uptime"] * 2


def test_only_the_newest_small_files_are_remembered(tmp_path):
    known = KnownFiles(Files())
    for number in range(40):
        (tmp_path / str(number)).write_bytes(b"x" * (10 if number % 2 else 100_000))
        known.read(str(tmp_path / str(number)))
    assert len(known._seen) <= 16
    assert all(len(data or b"") == 10 for _, data in known._seen.values())
