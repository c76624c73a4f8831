"""What the first boot makes of /etc/config/oasis: of nothing, of ours, of what was here before; by a router's shell."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.oasisd import REPOSITORY, copy_root, start_daemon

SCRIPT = REPOSITORY + "/files/etc/uci-defaults/60-oasis"
KEY = 'sk-"quo"te\'s 0123456789'
# As the Oasis that was here before has it: sections of its own, a key in the file, the index of its chats.
OLD = """
config console 'console'
\toption chat 'default.chat'

config support 'support'
\toption webui '1'

config storage 'storage'
\toption path '/etc/oasis/chat_data'
\toption chat_max '30'

config rollback 'rollback'
\toption time '%s'
\toption enable '1'

config service
\toption identifier '0123456789'
\toption name 'OpenAI'
\toption model 'gpt-4.1'
\toption api_key 'sk-"quo"te'\\''s 0123456789'

config chat
\toption id '1234567890'
\toption title 'a "title"'

config tool
\toption name 'get_time'
\tlist required 'zone'
"""
BROKEN = "config service 'x\n"
STAND_IN = f'#!/bin/sh\nPYTHONPATH={REPOSITORY} exec {sys.executable} -m tests.uci.uci_program "$@"\n'


@pytest.fixture(params=["stand-in", "real"])
def programs(request, tmp_path):
    """A folder with `uci` in it and little else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    if request.param == "stand-in":
        (folder / "uci").write_text(STAND_IN)
        (folder / "uci").chmod(0o755)
    elif shutil.which("uci"):
        os.symlink(shutil.which("uci"), folder / "uci")
    else:
        pytest.skip("no real uci on PATH")
    return str(folder)


class Router:
    """A root in a folder, on which the script is run as `uci-defaults` are."""

    def __init__(self, folder, programs):
        self.folder = folder
        self.path = folder + "/etc/config/oasis"
        self._env = {"PATH": programs + ":/usr/bin:/bin", "TMPDIR": folder}
        os.makedirs(folder + "/etc/config", exist_ok=True)
        os.makedirs(folder + "/tmp", exist_ok=True)
        os.makedirs(folder + "/etc/init.d", exist_ok=True)
        self._script("rpcd")

    def _script(self, name):
        path = f"{self.folder}/etc/init.d/{name}"
        with open(path, "w") as file:
            file.write(f'#!/bin/sh\necho "{name} $*" >>{self.folder}/services\n')
        os.chmod(path, 0o755)

    def services(self):
        """Return what was asked of services so far."""
        if not os.path.exists(self.folder + "/services"):
            return []
        with open(self.folder + "/services") as file:
            return file.read().splitlines()

    def run(self):
        with open(SCRIPT) as file:
            text = file.read()
        there = {
            "/etc/config/oasis": self.path,
            "/etc/oasis": self.folder + "/etc/oasis",
            "/tmp/": self.folder + "/tmp/",
            "/etc/init.d/": self.folder + "/etc/init.d/",
            "uci -q ": f"uci -q -c {self.folder}/etc/config ",
        }
        assert all(text.count(word) for word in there)
        text = re.sub("|".join(there), lambda found: there[found[0]], text)
        shell = [shutil.which("busybox"), "ash"] if shutil.which("busybox") else ["/bin/sh"]
        done = subprocess.run(
            [*shell, "-c", text], env=self._env, capture_output=True, text=True, timeout=60, check=False
        )
        assert os.listdir(self.folder + "/tmp") == []
        return done.returncode

    def write(self, text, mode=0o644):
        with open(self.path, "w") as file:
            file.write(text)
        os.chmod(self.path, mode)

    def read(self):
        with open(self.path, "rb") as file:
            return file.read()


@pytest.fixture
def router(tmp_path, programs):
    return Router(str(tmp_path / "router"), programs)


def test_what_was_here_before_stays_and_gets_our_section_once(router):
    router.write(OLD % 300)
    assert router.run() == 0
    made = router.read()
    text = made.decode()
    for line in ("config console 'console'", "option title 'a \"title\"'", "list required 'zone'", "option webui '1'"):
        assert line in text
    assert text.count("config oasis 'main'") == 1 and "option approval 'risky'" in text
    assert "api_key" in text and "confirm_s" not in text
    assert os.stat(router.path).st_mode & 0o777 == 0o600
    assert router.services() == ["rpcd reload"], "the old program's names on the bus are free"
    assert router.run() == 0
    assert router.read() == made
    assert router.services() == ["rpcd reload"]


@pytest.mark.parametrize(("time", "ours"), [("600", True), ("90", True), ("30", False), ("x", False), ("0600", False)])
def test_a_watch_that_the_owner_chose_becomes_our_window(router, time, ours):
    router.write(OLD % time)
    assert router.run() == 0
    text = router.read().decode()
    assert (f"option confirm_s '{time}'" in text) == (f"option management_confirm_s '{time}'" in text) == ours


def test_our_own_file_is_not_written_but_only_closed(router):
    with open(REPOSITORY + "/files/etc/config/oasis") as file:
        text = file.read().replace("'risky'", "'all'")
    router.write(text)
    before = os.stat(router.path)
    assert router.run() == 0
    after = os.stat(router.path)
    assert router.read().decode() == text and after.st_mode & 0o777 == 0o600
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    assert router.services() == []


def test_nothing_there_becomes_a_private_file(router):
    assert router.run() == 0
    assert "option enabled '1'" in router.read().decode() and router.services() == []
    assert os.stat(router.path).st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_read_stays_and_is_tried_again(router):
    router.write(BROKEN)
    assert router.run() == 1
    assert router.read().decode() == BROKEN


def test_the_folder_of_chats_and_keys_is_closed(router):
    os.makedirs(router.folder + "/etc/oasis")
    os.chmod(router.folder + "/etc/oasis", 0o755)
    assert router.run() == 0
    assert os.stat(router.folder + "/etc/oasis").st_mode & 0o777 == 0o700


def test_keys_reach_the_key_file_with_the_first_start_and_are_nowhere_else(programs, tmp_path):
    root = copy_root(str(tmp_path / "root"))
    router = Router(root, programs)
    shutil.rmtree(root + "/tmp")
    os.mkdir(root + "/tmp")
    router.write(OLD % 300)
    assert router.run() == 0
    daemon = start_daemon(root)
    try:
        services = daemon.call("service.list")["service"]
        assert (services[0]["identifier"], services[0]["has_key"]) == ("0123456789", True)
        assert "api_key" not in router.read().decode() and "sk-" not in router.read().decode()
        with open(root + "/etc/oasis/keys.json") as file:
            assert KEY.replace('"', '\\"') in file.read()
        assert os.stat(root + "/etc/oasis/keys.json").st_mode & 0o777 == 0o600
        assert daemon.call("info")["approval"] == "risky"
    finally:
        daemon.stop()
    made = router.read()
    assert router.run() == 0 and router.read() == made
