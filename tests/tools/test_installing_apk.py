"""Packages and their configuration as one plan, on the real apk of OpenWrt 25.12 with packages of our own."""

import os
import shutil
import subprocess
import sys

import pytest

from oasis.change.history.undo import plan_undo
from oasis.errors import OasisError, ToolError
from tests.oasisd import REPOSITORY, copy_root
from tests.tools.test_installing import DEFAULT, INIT, Here

sys.path.insert(0, REPOSITORY + "/package")

import apk

APK = shutil.which("apk")
pytestmark = pytest.mark.skipif(
    APK is None, reason="installing with the real one: build apk-tools 3 and put it on PATH"
)
WRAPPER = '#!/bin/sh\nexec %s --root "$OASIS_ROOT" --allow-untrusted --no-logfile --no-network "$@"\n'
EPOCH = 1700000000


class Feed:
    """A folder of packages with its index."""

    def __init__(self, folder):
        self.folder, self.packages = str(folder), []
        os.makedirs(self.folder)
        self.index = self.folder + "/packages.adb"

    def add(self, name, files, depends="", scripts=None):
        about = {"name": name, "version": "1.0-r0", "description": "a test", "arch": "noarch", "license": "MIT",
                 "origin": name, "maintainer": "nobody", "depends": depends}  # fmt: skip
        path = f"{self.folder}/{name}-1.0-r0.apk"
        apk.build(APK, about, scripts or {}, files, path, "", EPOCH)
        self.packages.append(path)
        apk.index(APK, self.packages, self.index, "", EPOCH)


class Router(Here):
    def apk(self, *words):
        env = {"PATH": "/usr/bin:/bin", "OASIS_ROOT": self.root}
        return subprocess.run(
            [self.root + "/bin/apk", *words], capture_output=True, text=True, env=env, check=True
        ).stdout

    def installed(self):
        return sorted(self.apk("info").split())


@pytest.fixture
def feed(tmp_path):
    made = Feed(tmp_path / "feed")
    made.add("thing-lib", {"/usr/lib/thing.so": (b"x" * 100, 0o644)})
    files = {"/etc/config/thing": (DEFAULT.encode(), 0o600), "/etc/init.d/thing": (INIT.encode(), 0o755)}
    made.add("thing", files, "thing-lib")
    return made


@pytest.fixture
def here(tmp_path, feed):
    root = copy_root(str(tmp_path / "router"))
    os.unlink(root + "/bin/opkg")
    with open(root + "/bin/apk", "w") as handle:
        handle.write(WRAPPER % APK)
    os.chmod(root + "/bin/apk", 0o755)
    env = {"PATH": "/usr/bin:/bin", "OASIS_ROOT": root}
    subprocess.run([root + "/bin/apk", "--initdb", "--arch", "noarch", "add"], env=env, check=True, capture_output=True)
    os.makedirs(root + "/etc/apk/repositories.d", exist_ok=True)
    with open(root + "/etc/apk/repositories.d/own.list", "w") as handle:
        handle.write(feed.index + "\n")
    made = Router(root)
    yield made
    made.daemon.stop()


def test_one_approval_installs_configures_and_a_rollback_takes_all_back(here):
    result = here.configure()
    (plan,) = here.owner.plans
    assert plan["words"][0] == "installs thing-lib, thing" and plan["risk"] == "risky"
    assert result["status"] == "waiting_confirm" and "level '5'" in here.config()
    assert here.installed() == ["thing", "thing-lib"]
    record = here.shop.transaction.roll_back(result["change"], "a test")
    assert record["state"] == "rolled_back" and here.installed() == [] and here.config() == ""


def test_an_undo_removes_what_was_installed_once_it_is_kept(here):
    change = here.configure()["change"]
    here.shop.transaction.confirm(change)
    assert here.installed() == ["thing", "thing-lib"] and "level '5'" in here.config()
    plan = plan_undo(here.shop.journal, here.shop.planner, change, "run1", "chat1")
    assert plan["words"][-1] == "removes the packages thing-lib, thing"
    undone = here.shop.transaction.apply(plan)
    here.shop.transaction.confirm(undone["id"])
    assert here.installed() == [] and here.config() == ""


def test_an_option_that_the_package_does_not_have_takes_all_back(here):
    with pytest.raises(OasisError) as caught:
        here.configure(commands=["uci set thing.main.invented=1"])
    assert caught.value.message.endswith("; the packages are gone again")
    assert here.installed() == [] and here.config() == ""


def test_a_feed_that_lacks_a_package_in_mid_plan_leaves_nothing(here, feed):
    here.owner.before = lambda: os.unlink(feed.folder + "/thing-lib-1.0-r0.apk")
    with pytest.raises(ToolError, match="failed"):
        here.configure()
    assert here.installed() == [] and here.config() == ""


def test_an_installation_whose_script_fails_leaves_nothing(here, feed):
    feed.add("bad", {"/etc/config/bad": (DEFAULT.encode(), 0o600)}, "thing", {"post-install": "#!/bin/sh\nexit 1\n"})
    with pytest.raises(OasisError):
        here.configure(install=["bad"])
    assert here.installed() == [] and here.config() == ""
