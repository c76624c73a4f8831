"""What a new firmware leaves of /etc/oasis: all that a daemon wrote there but the change that nobody had kept."""

import glob
import os
import re
import shutil
import subprocess

import pytest

from tests.daemon.test_wiring import WIFI, approve, follow, of_type
from tests.oasisd import REPOSITORY, copy_root, set_option, start_daemon

KEEP = [REPOSITORY + "/files/lib/upgrade/keep.d/" + name for name in ("oasis", "oasis-admin")]


def listed():
    """Return the lines of the lists of all packages that are here."""
    found = []
    for path in KEEP:
        if os.path.exists(path):
            with open(path) as file:
                found += file.read().splitlines(keepends=True)
    return found


def kept(root):
    """Return the files that sysupgrade's `find` would put into the archive."""
    lines = [line.strip() for line in listed() if line.strip() and not line.startswith("#")]
    words = [found for line in lines for found in glob.glob(root + line) or [root + line]]
    done = subprocess.run(["find", *words, "-type", "f"], capture_output=True, text=True, check=False)
    return {path[len(root) :] for path in done.stdout.splitlines()}


def written(root):
    return {
        os.path.join(folder, name)[len(root) :] for folder, _, names in os.walk(root + "/etc/oasis") for name in names
    }


@pytest.fixture
def root(tmp_path):
    """A router on which all kinds of state were made: a chat, a key, changes kept and waiting, the old program."""
    root = copy_root(str(tmp_path / "router"))
    set_option(root, "alive_loopback", "1")
    for name, text in (("chat_data/chat-0123456789", "{}"), ("oasis.conf", "[general]\n"), ("backup/list1/dhcp", "")):
        os.makedirs(os.path.dirname(f"{root}/etc/oasis/{name}"), exist_ok=True)
        with open(f"{root}/etc/oasis/{name}", "w") as file:
            file.write(text)
    daemon = start_daemon(root)
    try:
        follow(daemon, daemon.call("run.start", message="set the hostname to attic"))
        daemon.call("service.add", name="openai", key="sk-keep-0123456789", model="m")
        daemon.call("topic.add", title="Cellar", text="Two routers")
        started = daemon.call("run.start", message=WIFI)
        approve(daemon, follow(daemon, started, ("plan",)))
        assert of_type(follow(daemon, started), "change")[-1]["change"]["state"] == "applied"
    finally:
        daemon.kill()
    yield root
    shutil.rmtree(root + "/etc/oasis/pending")  # which ends its guard


def test_all_of_the_owner_s_survives_and_what_waits_does_not(root):
    left = written(root) - kept(root)
    assert left and {path.split("/")[3] for path in left} == {"pending"}
    for name in (
        "keys.json",
        "plan.key",
        "audit.jsonl",
        "chat_data/chat-0123456789",
        "oasis.conf",
        "backup/list1/dhcp",
    ):
        assert "/etc/oasis/" + name in kept(root)
    assert any(path.endswith("record.json") for path in kept(root))
    assert any(path.startswith("/etc/oasis/chats/") for path in kept(root))


def test_every_place_that_the_program_names_for_state_is_decided(tmp_path):
    """What is written in the sources as a name below the state folder is on the list, or is what waits."""
    names = set()
    for path in glob.glob(REPOSITORY + "/oasis/**/*.py", recursive=True):
        with open(path) as file:
            text = file.read()
        names |= set(re.findall(r"(?:state|state_folder) \+ \"/([\w.-]+)", text))
        names |= {name for name in re.findall(r"/etc/oasis/([\w.-]*\w)", text) if name != "chat"}
    assert {"keys.json", "audit.jsonl", "pending", "changes"} <= names
    for name in names:
        place = tmp_path / "etc/oasis" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("x")
    left = {path.rpartition("/")[2] for path in written(str(tmp_path)) - kept(str(tmp_path))}
    assert left == {"pending", "spare"}, "a change that nobody kept, and room on flash while packages are installed"


def test_it_is_kilobytes(root):
    assert sum(os.path.getsize(root + path) for path in kept(root)) < 256 * 1024


def test_the_list_is_read_as_sysupgrade_reads_it():
    """One path a line, no blanks in it; comments begin the line."""
    for line in listed():
        assert line.startswith(("#", "/etc/")) and (line.startswith("#") or " " not in line)
