"""What the file backend owes to other programs and to a full disk."""

import fcntl
import os
import subprocess
import sys
import threading
import time

import pytest

from oasis.errors import UciError
from oasis.uci import disk
from oasis.uci.backends import open_cursor
from tests.uci.programs import Folders

LAN = b"config interface lan\n\toption proto static\n"


@pytest.fixture
def place(tmp_path):
    folders = Folders(tmp_path)
    folders.write({"network": LAN})
    return folders


def open_files(place):
    return open_cursor(str(place.config), str(place.save), "file")


@pytest.mark.parametrize("locked", ["config/network", "save/network"])
def test_commit_waits_for_another_programs_lock(place, locked):
    cursor = open_files(place)
    cursor.set("network", "lan", "proto", "dhcp")
    cursor.save("network")
    with open(place.root / locked, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        commit = threading.Thread(target=cursor.commit)
        commit.start()
        commit.join(0.2)
        assert commit.is_alive() and place.files()["network"][1] == LAN
    commit.join(10)
    assert b"'dhcp'" in place.files()["network"][1]


def test_reading_waits_for_a_writer(place):
    with open(place.config / "network", "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        answers = []
        reading = threading.Thread(target=lambda: answers.append(open_files(place).get("network", "lan", "proto")))
        reading.start()
        reading.join(0.2)
        assert not answers
    reading.join(10)
    assert answers == ["static"]


def test_savers_at_the_same_time_lose_nothing(place):
    def save(number):
        cursor = open_files(place)
        cursor.set("network", "lan", f"o{number}", "1")
        cursor.save("network")

    threads = [threading.Thread(target=save, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(open_files(place).changes()["network"]) == 10


def test_commit_writes_what_others_committed_meanwhile(place):
    cursor = open_files(place)
    cursor.set("network", "lan", "mine", "1")
    (place.config / "network").write_bytes(LAN + b"\toption theirs 1\n")
    cursor.commit("network")
    assert open_files(place).get_all("network", "lan").keys() >= {"mine", "theirs"}


def test_stage_stands_on_the_file_as_it_is_now(place):
    cursor = open_files(place)
    assert cursor.get("network", "lan", "proto") == "static"
    (place.config / "network").write_bytes(b"config host h\n")
    cursor.stage([{"op": "set", "package": "network", "section": "h", "option": "o", "value": "1"}])
    with pytest.raises(UciError):
        cursor.stage([{"op": "set", "package": "network", "section": "lan", "option": "o", "value": "1"}])


def test_a_link_stays_a_link(place):
    (place.config / "network").rename(place.root / "real")
    (place.config / "network").symlink_to(place.root / "real")
    cursor = open_files(place)
    cursor.set("network", "lan", "proto", "dhcp")
    cursor.commit("network")
    assert (place.config / "network").is_symlink()
    assert b"'dhcp'" in (place.root / "real").read_bytes()


def test_changes_staged_elsewhere_are_not_committed_along(place):
    other = open_cursor(str(place.config), str(place.root / "other"), "file")
    other.set("network", "lan", "theirs", "1")
    other.save("network")
    cursor = open_files(place)
    cursor.set("network", "lan", "mine", "1")
    cursor.commit("network")
    assert b"theirs" not in place.files()["network"][1]
    assert other.changes() == {"network": [["set", "lan", "theirs", "1"]]}


def test_the_save_folder_gets_the_mode_of_the_configuration_folder(place):
    os.chmod(place.config, 0o700)
    os.chmod(place.config / "network", 0o600)
    cursor = open_files(place)
    cursor.set("network", "lan", "o", "1")
    cursor.save("network")
    assert place.save.stat().st_mode & 0o777 == 0o700
    assert place.deltas()["network"][0] == 0o600


# Run in a process of its own: no file may grow beyond the limit, as on a full disk.
_LIMITED = """
import resource, signal, sys
from oasis.errors import UciError
from oasis.uci import disk
from oasis.uci.backends import open_cursor
config, save, word, limit = sys.argv[1:]
cursor = open_cursor(config, save, "file")
cursor.set("network", "lan", "o", "x" * 5000)
if word == "commit":
    cursor.save("network")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
try:
    getattr(cursor, word)("network")
except UciError as error:
    print(error.message)
"""


@pytest.mark.parametrize("limit", ["1", "4000"])
@pytest.mark.parametrize("word", ["save", "commit"])
def test_a_full_disk_leaves_the_old_state(place, word, limit):
    place.save.mkdir()
    (place.save / "network").write_bytes(b"network.lan.before='1'\n")
    answer = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(place.config), str(place.save), word, limit],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )
    assert "I/O error" in answer.stdout, answer.stderr
    assert {name: data for name, (_, data) in place.files().items()} == {"network": LAN}
    staged = open_files(place).changes()["network"]
    assert [change[2] for change in staged] == (["before", "o"] if word == "commit" else ["before"])


def test_unknown_backends_are_refused(place):
    for backend in ("sqlite", "program"):
        with pytest.raises(UciError):
            open_cursor(str(place.config), str(place.save), backend)


def test_a_file_is_replaced_only_where_it_is_as_it_was_read(tmp_path):
    path = tmp_path / "system"
    path.write_bytes(b"config theirs\n")
    with pytest.raises(disk.Outrun, match="I/O error"):
        disk.replace(str(path), b"config ours\n", b"config read\n")
    assert path.read_bytes() == b"config theirs\n" and os.listdir(tmp_path) == ["system"]
    disk.replace(str(path), b"config ours\n", b"config theirs\n")
    assert path.read_bytes() == b"config ours\n"


def test_who_waited_for_the_lock_reads_what_its_holder_left(tmp_path):
    """libuci puts a new file in the place of the one that it has locked."""
    path = tmp_path / "system"
    path.write_bytes(b"old")
    found = []

    def read():
        with disk.open_to_write(str(path)) as file:
            found.append(file.read())

    with disk.open_to_write(str(path)):
        reader = threading.Thread(target=read)
        reader.start()
        time.sleep(0.3)
        disk.replace(str(path), b"new")
    reader.join(10)
    assert found == [b"new"]
