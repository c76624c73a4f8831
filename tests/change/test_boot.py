"""The boot hook and the scripts behind it under a router's own shell, with its applets and nothing else on PATH."""

import os
import shutil
import subprocess

import pytest

from tests.change.kit import RENAME, SCRIPTS, WIFI
from tests.oasisd import REPOSITORY

BUSYBOX = shutil.which("busybox")
pytestmark = pytest.mark.skipif(BUSYBOX is None, reason="no busybox: apt-get install busybox")

BOTH = RENAME + "\n" + WIFI
PACKAGES = ("system", "wireless")
# What rc.common does for a script without procd, as far as a hook can see it.
RC_COMMON = """
script=$1
boot() { start "$@"; }
stop() { return 0; }
. "$script"
shift
"$@"
"""


class Shell:
    """busybox ash with a folder of links to busybox as its whole PATH: no Python, no program of this host."""

    def __init__(self, folder):
        self.links = str(folder / "applets")
        self.rc_common = str(folder / "rc.common")
        os.mkdir(self.links)
        for name in subprocess.run([BUSYBOX, "--list"], capture_output=True, text=True, check=True).stdout.split():
            os.symlink(BUSYBOX, f"{self.links}/{name}")
        assert shutil.which("python3", path=self.links) is None
        with open(self.rc_common, "w") as file:
            file.write(RC_COMMON)

    def run(self, *words):
        env = {"PATH": self.links, "HOME": "/"}
        return subprocess.run(
            [BUSYBOX, "ash", *words], env=env, capture_output=True, text=True, timeout=60, check=False
        )

    def hook(self, root, action="boot"):
        """Run the boot hook as rc.common does, on a root in a folder."""
        with open(REPOSITORY + "/files/etc/init.d/oasis-restore") as file:
            text = file.read()
        line = "/bin/sh /usr/lib/oasis/oasis/change/restore.sh /etc/oasis/pending /\n"
        assert text.count(line) == 1
        ours = f"{self.links}/ash {SCRIPTS}/restore.sh {root}/etc/oasis/pending {root}\n"
        path = root + "/oasis-restore"
        with open(path, "w") as file:
            file.write(text.replace(line, ours))
        return self.run(self.rc_common, path, action)

    def restore(self, root, *words):
        return self.run(SCRIPTS + "/restore.sh", root + "/etc/oasis/pending", root, *words)


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path)


@pytest.fixture
def cut(kit):
    """Apply a change and pull the plug: daemon and guard are gone. Gives (root, files before, files after)."""
    before = files(kit.root.folder)
    kit.transaction.apply(kit.plan(BOTH))
    kit.transaction._record = None
    kit.transaction._end_guard()
    return kit.root.folder, before, files(kit.root.folder)


def files(root):
    found = {}
    for name in PACKAGES:
        with open(f"{root}/etc/config/{name}", "rb") as handle:
            found[name] = handle.read()
    return found


def log(root):
    with open(root + "/var/log/services.log") as handle:
        return handle.read()


def test_both_killed_and_rebooted_the_old_files_are_back(shell, cut, kit):
    root, before, after = cut
    assert before != after
    services = log(root)
    done = shell.hook(root)
    assert done.returncode == 0, done.stderr
    assert "rolled back" in done.stderr
    assert files(root) == before
    assert log(root) == services, "the hook starts nothing: nothing runs yet"
    assert os.stat(root + "/etc/config/wireless").st_mode & 0o777 == 0o600
    record = kit.again().transaction.recover()
    assert record["state"] == "rolled_back"
    assert shell.hook(root).returncode == 0, "nothing is pending any more"
    assert files(root) == before


def test_the_hook_does_nothing_when_the_package_is_installed(shell, cut):
    root, _, after = cut
    for action in ("start", "stop", "restart", "reload"):
        shell.hook(root, action)
        assert files(root) == after, action


def test_nothing_pending_is_no_fault(shell, kit):
    before = files(kit.root.folder)
    assert shell.hook(kit.root.folder).returncode == 0
    kit.transaction.apply(kit.plan(RENAME))
    kept = files(kit.root.folder)
    assert shell.hook(kit.root.folder).returncode == 0
    assert files(kit.root.folder) == kept != before


def test_a_list_cut_off_at_any_byte_restores_all_or_nothing(shell, cut):
    root, before, after = cut
    pending = root + "/etc/oasis/pending"
    with open(pending + "/list", "rb") as handle:
        whole = handle.read()
    saved = root + "/saved"
    shutil.copytree(pending, saved)
    ends = 0
    for size in range(len(whole) + 1):
        shutil.rmtree(pending)
        shutil.copytree(saved, pending)
        with open(pending + "/list", "wb") as handle:
            handle.write(whole[:size])
        for name, data in after.items():
            with open(f"{root}/etc/config/{name}", "wb") as handle:
                handle.write(data)
        done = shell.restore(root)
        assert done.returncode == 0, (size, done.stderr)
        assert files(root) in (before, after), size
        assert not os.path.exists(pending + "/list"), size
        ends += files(root) == before
    assert ends == 2, "the whole list, with and without its last line feed, and no other"


@pytest.mark.parametrize("missing", ["list", "files", "deadline", "files/system", "files/wireless"])
def test_a_record_without_one_of_its_parts_makes_no_mix(shell, cut, missing):
    root, before, after = cut
    path = f"{root}/etc/oasis/pending/{missing}"
    shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    done = shell.restore(root)
    if missing == "list":
        assert (done.returncode, files(root)) == (0, after)
    elif missing == "deadline":
        assert (done.returncode, files(root)) == (0, before)
    else:
        assert done.returncode == 1
        assert "is gone" in done.stderr
        assert os.path.exists(f"{root}/etc/oasis/pending/list"), "tried again at the next start"


def test_with_the_router_s_own_programs_services_come_back_too(shell, cut):
    root, before, _ = cut
    done = shell.restore(root, "services")
    assert done.returncode == 0, done.stderr
    assert files(root) == before
    names = ("system", "log", "sysntpd", "dnsmasq", "network")
    assert [line.split(" ", 1)[1] for line in log(root).splitlines()][-5:] == [f"{name} reload" for name in names]


def test_the_guard_needs_no_more_than_that(shell, cut):
    root, before, _ = cut
    with open(root + "/etc/oasis/pending/deadline", "w") as handle:
        handle.write("0\n")
    done = shell.run(SCRIPTS + "/guard.sh", root + "/etc/oasis/pending", root, SCRIPTS + "/restore.sh")
    assert done.returncode == 0, done.stderr
    assert files(root) == before
    assert "network reload" in log(root).splitlines()[-1]


def test_what_starts_at_boot_is_as_before(shell, cut):
    root, _, _ = cut
    for name in os.listdir(root + "/etc/rc.d"):
        if name[3:] == "sysntpd":
            os.remove(f"{root}/etc/rc.d/{name}")
    assert shell.hook(root).returncode == 0
    assert any(name[3:] == "sysntpd" for name in os.listdir(root + "/etc/rc.d"))


def test_the_service_s_init_script_runs_the_daemon_in_the_foreground(shell, tmp_path):
    """Under a stub of procd: what it is told, and that a switched-off service is not started."""
    stub = tmp_path / "procd"
    stub.write_text(
        "config_load() { :; }\n"
        'config_get_bool() { eval "$1=$SWITCH"; }\n'
        'procd_open_instance() { :; }\nprocd_set_param() { echo "$*"; }\nprocd_close_instance() { :; }\n'
        '. "$1"\nstart_service\n'
    )
    script = REPOSITORY + "/files/etc/init.d/oasis"
    told = {}
    for switch in ("1", "0"):
        env = {"PATH": shell.links, "SWITCH": switch}
        done = subprocess.run([BUSYBOX, "ash", stub, script], env=env, capture_output=True, text=True, check=True)
        told[switch] = done.stdout.split("\n")
    assert told["0"] == [""]
    for line in ("command /usr/sbin/oasisd", "env MALLOC_ARENA_MAX=1", "stderr 1"):
        assert line in told["1"]
    assert any(line.startswith("respawn") for line in told["1"])
    assert os.access(script, os.X_OK) and os.access(REPOSITORY + "/files/etc/init.d/oasis-restore", os.X_OK)


def theirs(root, name="wireless"):
    """Somebody else writes a file in the window; return what they wrote."""
    text = b"config wifi-device 'theirs'\n"
    with open(f"{root}/etc/config/{name}", "wb") as handle:
        handle.write(text)
    return text


def test_what_others_wrote_is_kept_on_a_full_flash_too(shell, cut):
    root, before, _ = cut
    text = theirs(root)
    replace_applet(shell, "cp", ': >"$2"; exit 1')  # no byte more fits
    done = shell.restore(root)
    assert done.returncode == 0 and "kept a copy" in done.stderr
    with open(root + "/etc/oasis/pending/kept/wireless", "rb") as handle:
        assert handle.read() == text
    assert files(root) == before


def test_a_copy_that_is_not_whole_is_not_told_as_kept(shell, cut):
    root, before, _ = cut
    theirs(root)
    replace_applet(shell, "cp", ': >"$2"; exit 0')
    replace_applet(shell, "ln", "exit 1")
    done = shell.restore(root)
    assert done.returncode == 0 and "no space to keep a copy" in done.stderr
    assert os.listdir(root + "/etc/oasis/pending/kept") == []
    assert files(root) == before


def replace_applet(shell, name, text):
    os.remove(f"{shell.links}/{name}")
    with open(f"{shell.links}/{name}", "w") as handle:
        handle.write("#!/bin/sh\n" + text + "\n")
    os.chmod(f"{shell.links}/{name}", 0o755)


@pytest.mark.parametrize("is_relative", [True, False])
def test_a_file_behind_a_link_is_put_back_and_the_link_stays(shell, kit, is_relative):
    root = kit.root.folder
    os.makedirs(root + "/mnt/usb")
    path, real = root + "/etc/config/wireless", root + "/mnt/usb/wireless"
    os.rename(path, real)
    os.symlink("../../mnt/usb/wireless" if is_relative else real, path)
    before = files(root)
    kit.transaction.apply(kit.plan(BOTH))
    kit.transaction._record = None
    kit.transaction._end_guard()
    assert os.path.islink(path) and files(root) != before, "the change goes through the link, too"
    assert shell.restore(root).returncode == 0
    assert os.path.islink(path)
    assert files(root) == before


@pytest.mark.parametrize("kind", ["fifo", "folder"])
def test_what_is_no_file_is_moved_out_of_the_way_and_holds_nothing_up(shell, cut, kind):
    root, before, _ = cut
    path = root + "/etc/config/wireless"
    os.remove(path)
    os.mkfifo(path) if kind == "fifo" else os.mkdir(path)
    done = shell.restore(root)
    assert done.returncode == 0, done.stderr
    assert files(root) == before
    assert os.listdir(root + "/etc/oasis/pending/kept") == ["wireless"]
