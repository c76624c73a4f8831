"""The feed is what the manifest says, and real GNU make reads it; OpenWrt's build system is played by buildroot/."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys

import pytest

from tests.oasisd import PARTS, copy_root, start_daemon
from tests.package import asking

# They are about all packages.
pytestmark = pytest.mark.part(*PARTS)

HERE = os.path.dirname(os.path.abspath(__file__))
needs_make = pytest.mark.skipif(not shutil.which("make"), reason="no make on this host")


def make(package, out, **more):
    words = [f"{name}={value}" for name, value in {"TOPDIR": HERE + "/buildroot", "OUT": out, **more}.items()]
    env = {"PATH": os.environ["PATH"]}
    argv = ["make", "-s", "-C", package, *words]
    # OpenWrt's own make sets this umask for all that it calls (include/toplevel.mk).
    return subprocess.run(argv, env=env, umask=0o022, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def built(packaging, tmp_path_factory):
    """Have make lay out every package of the feed; return the folder."""
    out = str(tmp_path_factory.mktemp("feed"))
    for name in sorted(os.listdir(packaging.feed.FOLDER)):
        if os.path.isdir(os.path.join(packaging.feed.FOLDER, name)):
            done = make(os.path.join(packaging.feed.FOLDER, name), out, PYTHON=sys.executable)
            assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return out


def tree(top):
    found = {}
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            found["/" + os.path.relpath(path, top)] = stat.S_IMODE(os.lstat(path).st_mode)
    return found


def test_what_is_checked_in_is_what_the_manifest_says(packaging):
    feed = packaging.feed
    for path, text in feed.texts(packaging.manifest.load()).items():
        with open(os.path.join(feed.FOLDER, path), encoding="utf-8") as file:
            assert file.read() == text, "run: python3 package/feed.py"
    for path, target in feed.LINKS.items():
        assert os.readlink(os.path.join(feed.FOLDER, path)) == target


def test_every_link_of_the_feed_leads_somewhere(packaging):
    for path in packaging.feed.LINKS:
        assert os.path.exists(os.path.join(packaging.feed.FOLDER, path)), path


@needs_make
def test_the_sdk_packs_the_files_of_the_ipk(built, packaging):
    manifest = packaging.manifest.load()
    for name, package in manifest["packages"].items():
        if "catalogue" in package:
            continue  # luci.mk makes those
        wanted = {}
        for path, (_, mode) in packaging.manifest.files(manifest, package).items():
            wanted[path + "c" if path.endswith(".py") and name != "oasis-src" else path] = mode
        assert tree(f"{built}/{name}") == wanted


@needs_make
def test_the_launchers_keep_their_first_line(built):
    for path in ("/usr/bin/oasis", "/usr/sbin/oasisd"):
        with open(built + "/oasis" + path, encoding="utf-8") as file:
            assert file.readline() == "#!/usr/bin/python3 -IS\n"


@needs_make
def test_scripts_and_conffiles_arrive_as_they_are_written(built, packaging):
    packages = packaging.manifest.load()["packages"]
    for name in ("oasis", "luci-app-oasis"):
        for script, text in packaging.manifest.scripts(packages[name]).items():
            with open(f"{built}/{name}.{script}", encoding="utf-8") as file:
                assert file.read() == text
    with open(built + "/oasis.conffiles", encoding="utf-8") as file:
        assert file.read().split() == packages["oasis"]["conffiles"]


@needs_make
def test_the_build_system_hears_of_dependencies_conflicts_and_users(built, packaging):
    packages = packaging.manifest.load()["packages"]
    for name, package in packages.items():
        if "catalogue" in package:
            continue
        with open(f"{built}/{name}.control", encoding="utf-8") as file:
            fields = dict(line.rstrip("\n").split(": ", 1) for line in file)
        assert fields["DEPENDS"].replace("+", "").split() == package["depends"]
        assert fields["EXTRA_DEPENDS"] == ", ".join(
            f"{one} (=0.2.0-r1)" for one in package["depends"] if one in packages
        )
        assert fields["CONFLICTS"].split() == package.get("conflicts", [])
        assert fields["USERID"] == packaging.manifest.users(package)
        assert fields["PKGARCH"] == "all"
        assert fields["VERSION"] == packaging.manifest.version(packaging.manifest.load())


@needs_make
def test_bytecode_alone_runs(built, tmp_path):
    lib = str(tmp_path / "usr/lib/oasis")
    for name in ("oasis", "oasis-offline"):
        shutil.copytree(f"{built}/{name}", tmp_path, dirs_exist_ok=True)
    running = start_daemon(copy_root(tmp_path / "root"), library=lib)
    try:
        assert "undo the last change" in asking.answer(running, "what can you do?"), running.log()
    finally:
        running.stop()
    argv = [sys.executable, "-I", "-B", lib + "/oasis/worker/__main__.pyc"]
    assert "op 'nonsense' is unknown" in asking.worker(argv, {"id": 1, "op": "nonsense"})


@needs_make
def test_a_feed_without_its_repository_says_so(packaging, tmp_path):
    shutil.copytree(os.path.join(packaging.feed.FOLDER, "oasis"), tmp_path / "a" / "openwrt-feed" / "oasis")
    done = make(str(tmp_path / "a" / "openwrt-feed" / "oasis"), str(tmp_path / "out"), PYTHON=sys.executable)
    assert done.returncode != 0
    assert "the feed needs the whole repository" in done.stderr


def test_the_script_for_ci_tells_a_wrong_version(packaging, tmp_path):
    oasis = tmp_path / "oasis"
    oasis.write_text("#!/bin/sh\necho oasis 0.0.1\n")
    oasis.chmod(0o755)
    argv = ["sh", os.path.join(packaging.feed.FOLDER, "oasis", "test.sh"), "oasis", "9.8.7"]
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert subprocess.run(argv, env=env, capture_output=True, check=False).returncode == 1
