"""The packages on a router: installed, used, upgraded and removed, with the router's own shell (see guest.py)."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.oasisd import PARTS
from tests.package import lives

# They are about all packages.
pytestmark = pytest.mark.part(*PARTS)

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = ("busybox", "unshare", "mount", "ldd")
# What stays is the owner's: chats, keys, history. The others are the stand-in's, and procd's of every service, in RAM.
LEFT = ("/etc/oasis", "/tmp/daemon.err", "/var/lock/procd_oasis")
# The users stay, as those of every package do; opkg keeps its book.
THEIRS = b"\nconfig provider 'openai'\n\toption key 'abc'\n\n"
CHANGED = {"/etc/passwd", "/etc/group", "/etc/shadow", "/usr/lib/opkg/status"}


@pytest.fixture(scope="module")
def feeds(tmp_path_factory, packaging):
    """Write the packages in four ways.

    first: of this version. next: of one that comes after it and has a module less. single: as before there were parts,
    all of them in one package. compiled: bytecode for this host's Python, where that can be made.
    """
    top = tmp_path_factory.mktemp("feeds")
    manifest = packaging.manifest.load()
    nearby, single = copy.deepcopy(manifest), copy.deepcopy(manifest)
    nearby["version"], single["version"] = "99.0.0", "0.1.0"
    nearby["leave_out"].append("help.py")
    for name in manifest["homes"]["oasis"]:
        if name not in ("oasis", "oasis-requests"):
            del single["packages"][name]
    own = "%d.%d" % sys.version_info[:2]
    for name, what, python in (
        ("first", manifest, ""),
        ("next", nearby, ""),
        ("single", single, ""),
        ("compiled", manifest, own),
    ):
        os.mkdir(top / name)
        every = packaging.build.packages(what, packaging.REPOSITORY, python)
        every = [one for one in every if one.name not in ("oasis-src", "oasis-requests")]
        for file, (_, data, _) in packaging.build.build(every, 1700000000).items():
            (top / name / file).write_bytes(data)
        if shutil.which("apk"):
            packaging.build.build_apk(every, 1700000000, str(top / name), "")
            for need in ("luci-base", *manifest["packages"]["oasis"]["depends"]):
                empty = {"name": need, "version": own, "arch": "noarch"}
                packaging.apk.build(shutil.which("apk"), empty, {}, {}, f"{top}/{name}/{need}.apk", "", 1700000000)
    others(packaging, top)
    needs = {need for one in manifest["packages"].values() for need in one["depends"]}
    return top, sorted(needs - set(manifest["packages"]))


def others(packaging, top):
    """Write packages with the names, versions, dependencies and some of the files of the older program."""
    (top / "other").mkdir()
    head = {"license": "MIT", "maintainer": "somebody", "version": "3.2.6", "release": 1}
    files = {
        "oasis": {
            "/etc/config/oasis": THEIRS,
            "/usr/bin/oasis": b"#!/bin/sh\n",
            "/usr/lib/lua/oasis/common.lua": b"--",
        },
        "luci-app-oasis": {"/www/luci-static/resources/luci-app-oasis/oasis.js": b"//"},
        "oasis-mod-tool": {"/usr/libexec/rpcd/oasis.tool.manager": b"#!/bin/sh\n"},
        "oasis-mod-retired": {"/etc/init.d/oasis": b"#!/bin/sh\nexit 0\n", "/usr/bin/oasisd": b"#!/bin/sh\n"},
    }
    for name, inside in files.items():
        needs = [] if name == "oasis" else ["oasis"]
        package = {"depends": needs, "section": "utils", "title": name, "description": []}
        one = packaging.manifest.Package(name, package, head, {}, [(need, "", "") for need in needs])
        text = packaging.ipk.control(one, 1, 1)
        data = packaging.ipk.build(text, [], {}, {path: (what, 0o755) for path, what in inside.items()}, 1)
        (top / "other" / (name + ".ipk")).write_bytes(data)


@pytest.fixture(scope="module")
def live(feeds, tmp_path_factory):
    """Return a function that has a life of lives.py lived and returns what was seen."""
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        pytest.skip("not here: " + ", ".join(missing))
    if not os.path.exists("/usr/bin/python3"):
        pytest.skip("no /usr/bin/python3 on this host")
    if os.getuid():
        pytest.skip("only root may lay a file system over /usr, in namespaces of its own")
    isolated = ["unshare", "--mount", "--net", "--pid", "--fork"]
    if subprocess.run([*isolated, "mount", "-t", "tmpfs", "none", "/tmp"], capture_output=True, check=False).returncode:
        pytest.skip("no right to make namespaces here")

    def live(name):
        installed = " ".join(feeds[1])
        work = str(tmp_path_factory.mktemp(name))
        env = {**os.environ, "PACKAGES": str(feeds[0]), "INSTALLED": installed, "WORK": work}
        argv = [*isolated, sys.executable, HERE + "/guest.py", name]
        done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=300, check=False)
        if "overlay" in done.stderr and "mount" in done.stderr:
            pytest.skip("no overlay file system here: " + done.stderr.strip().rpartition("\n")[2])
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout)

    return live


@pytest.fixture(scope="module")
def whole(live):
    return live("whole")


@pytest.fixture(scope="module")
def upgraded(live):
    return live("upgraded")


def test_an_installed_service_runs_and_answers(whole):
    assert whole["installed"]["status"] == 0, whole["installed"]
    assert whole["is_up"], whole["daemon"]
    assert whole["version"]["out"] == "oasis 0.2.0\n"
    assert whole["prompt"]["status"] == 0 and "undo the last change" in whole["prompt"]["out"], whole["prompt"]


def test_no_script_misses_a_program(whole, upgraded):
    for seen in (whole["installed"], whole["removed"], upgraded["upgraded"]):
        assert ": not found" not in seen["err"], seen["err"]


def test_the_service_and_the_boot_hook_start_at_boot(whole):
    assert {"/etc/rc.d/S95oasis", "/etc/rc.d/S11oasis-restore"} <= set(whole["after_install"])


def test_users_are_made_without_a_shell(whole):
    users = {line.split(":")[0]: line for line in whole["passwd"].split("\n")[:-1]}
    for name in ("oasis", "oasis-tool", "oasis-mcp"):
        assert users[name].endswith("/bin/false") and int(users[name].split(":")[2]) > 0


def test_every_module_is_compiled_at_install_and_nothing_more_is_written_in_use(whole):
    tree = whole["after_install"]
    sources = [path for path in tree if path.startswith("/usr/lib/oasis/") and path.endswith(".py")]
    assert len(sources) > 100
    for path in sources:
        folder, _, name = path.rpartition("/")
        assert any(one.startswith(f"{folder}/__pycache__/{name[:-3]}.") for one in tree), path
    assert {path for path in whole["in_use"] if path.startswith("/usr/")} == {
        path for path in tree if path.startswith("/usr/")
    }


def test_modes_are_those_of_a_router(whole):
    modes = {path: what[0] & 0o7777 for path, what in whole["after_install"].items()}
    assert modes["/etc/config/oasis"] == 0o600
    for path in ("/usr/bin/oasis", "/usr/sbin/oasisd", "/etc/init.d/oasis", "/www/cgi-bin/oasis-alive"):
        assert modes[path] == 0o755, path
    assert modes["/usr/lib/oasis/oasis/daemon/wiring.py"] == 0o644


def test_removal_leaves_only_what_is_the_owners(whole):
    assert whole["removed"]["status"] == 0, whole["removed"]
    before, after = whole["before"], whole["after"]
    assert [path for path in after if path not in before and not path.startswith(LEFT)] == []
    assert [path for path in before if path not in after] == []
    assert {path for path in before if path in after and before[path] != after[path]} <= CHANGED
    assert "rm -r /etc/oasis" in whole["removed"]["out"]


def test_an_upgrade_keeps_the_configuration_and_what_was_switched_off(upgraded):
    assert upgraded["upgraded"]["status"] == 0, upgraded["upgraded"]
    assert upgraded["is_up"], upgraded["daemon"]
    assert upgraded["config"].endswith("# mine\n")
    assert "/etc/rc.d/S95oasis" not in upgraded["new"]
    assert "/etc/rc.d/S11oasis-restore" in upgraded["new"]


def test_an_upgrade_leaves_no_bytecode_of_a_module_that_is_gone(upgraded):
    def left(tree):
        return [path for path in tree if path.startswith("/usr/lib/oasis/") and "/help." in path]

    assert len(left(upgraded["old"])) == 2
    assert left(upgraded["new"]) == []
    assert [path for path in upgraded["new"] if "/__pycache__/wiring." in path]


def test_an_edited_configuration_stays_when_the_package_goes(upgraded):
    assert "/etc/config/oasis" in upgraded["after"]
    assert "/etc/config/oasis-opkg" in upgraded["new"] and "/etc/config/oasis-opkg" not in upgraded["after"]
    assert [path for path in upgraded["after"] if path.startswith("/usr/lib/oasis")] == []


@pytest.fixture(scope="module")
def parted(live):
    return live("parted")


def test_the_core_works_alone(parted):
    assert parted["installed"]["status"] == 0, parted["installed"]
    assert parted["is_up"]
    assert "oasis-offline" in parted["prompt_alone"]["err"], parted["prompt_alone"]
    ours = [path for path in parted["alone"] if path.startswith("/usr/lib/oasis/oasis/")]
    assert [path for path in ours if path.endswith("/cli/main.pyc")] and not [
        path for path in ours if path.endswith(".py")
    ]


@pytest.mark.parametrize("part", lives.PARTS)
def test_a_part_comes_and_goes_and_leaves_nothing(parted, part):
    seen = parted["parts"][part]
    assert "not installed" in seen["absent"]["err"] and f"opkg install oasis-{part}" in seen["absent"]["err"]
    assert seen["added"]["status"] == 0, seen["added"]
    assert seen["there"]["status"] == 0, seen["there"]
    assert seen["removed"]["status"] == 0, seen["removed"]
    assert f"opkg install oasis-{part}" in seen["gone"]["err"]
    assert [path for path in seen["tree"] if f"/parts/{part}" in path or f"acl.d/oasis-{part}.json" in path] == []


def test_the_core_leaves_only_what_is_the_owners(parted):
    assert parted["removed"]["status"] == 0, parted["removed"]
    assert [path for path in parted["after"] if path not in parted["before"] and not path.startswith(LEFT)] == []


def test_who_had_the_one_package_keeps_everything_with_all_of_today(live):
    seen = live("from_one_package")
    assert "oasis: opkg install oasis-full\n" in seen["alone"]["out"], seen["alone"]
    ours = [path for path in seen["tree_alone"] if path.startswith("/usr/lib/oasis/oasis/parts/")]
    assert [path for path in ours if not path.endswith(".json") and "__" not in path] == [], "folders of what went"
    assert seen["upgraded"]["status"] == 0, seen["upgraded"]
    assert "what is my public address?" in seen["schedule"]["out"], seen["schedule"]
    assert "the garage has the old router" in seen["memory"]["out"], seen["memory"]
    assert "undo the last change" in seen["prompt"]["out"]


def test_a_configuration_that_was_there_before_is_not_overwritten(live):
    seen = live("edited_before")
    assert seen["installed"]["status"] == 0
    assert "option key 'abc'" in seen["config"]
    assert "/etc/config/oasis-opkg" in seen["tree"]


@pytest.mark.skipif(not shutil.which("opkg"), reason="opkg is not on PATH")
def test_the_older_program_of_that_name_is_replaced_when_the_owner_says_so(live):
    seen = live("other_program")
    assert seen["theirs"]["status"] == 0, seen["theirs"]
    assert "conflict" in seen["refused"]["err"]
    assert seen["ours"]["status"] == 0, seen["ours"]
    assert seen["is_up"] and seen["version"]["out"] == "oasis 0.2.0\n"
    assert "option key 'abc'" in seen["config"]
    assert {"/etc/rc.d/S95oasis", "/etc/rc.d/S11oasis-restore"} <= set(seen["after"])
    for tree in (seen["after"], seen["at_last"]):
        assert not [path for path in tree if path.endswith((".lua", "oasis.tool.manager", "usr/bin/oasisd"))]
    assert not [path for path in seen["at_last"] if path.startswith(("/etc/init.d/", "/usr/lib/oasis"))]


def test_bytecode_follows_the_python_that_the_router_has(live):
    seen = live("bytecode")
    assert (seen["again"]["out"], seen["again"]["status"]) == ("", 0)
    assert "compiling for python3.99" in seen["other"]["out"]
    assert (seen["other_again"]["out"], seen["other_again"]["status"]) == ("", 0)
    assert "compiling for python3.99" in seen["started"]["out"]
    assert "no bytecode" in seen["broken"]["err"] and seen["broken"]["status"] == 0
    assert [path for path in seen["tree"] if path.startswith("/usr/lib/oasis") and path.endswith(".pyc")] == []


# Parts that the single package of 0.1 did not have.
NEWER = {"oasis-admin", "oasis-monitor"}


def test_without_pages_an_upgrade_names_every_part_of_before(packaging):
    packages = packaging.manifest.load()["packages"]
    wanted = set(packages["oasis-full"]["depends"]) - {"oasis", "luci-app-oasis"} - NEWER
    named = re.findall(r'\ball="([^"]+)"', packaging.manifest.scripts(packages["oasis"])["postinst"])
    assert set(" ".join(named).split()) - {"$all"} == wanted


@pytest.fixture(scope="module")
def by_apk(live):
    if not shutil.which("apk"):
        pytest.skip("no apk (apk-tools 3) on PATH")
    return live("by_apk")


def test_apk_installs_what_runs(by_apk):
    assert by_apk["installed"]["status"] == 0, by_apk["installed"]
    assert by_apk["is_up"] and "undo the last change" in by_apk["prompt"]["out"], by_apk
    assert {"/etc/rc.d/S95oasis", "/etc/rc.d/S11oasis-restore"} <= set(by_apk["after_install"])
    assert by_apk["after_install"]["/etc/config/oasis"][0] & 0o777 == 0o600
    assert "oasis-tool:" in by_apk["passwd"]


def test_apk_upgrades_without_bytecode_of_what_is_gone(by_apk):
    assert by_apk["upgraded"]["status"] == 0, by_apk["upgraded"]
    assert by_apk["is_up_again"] and by_apk["pid"] != by_apk["new_pid"], "the old service went on"
    ours = [path for path in by_apk["after_upgrade"] if path.startswith("/usr/lib/oasis")]
    assert not [path for path in ours if "/help." in path]
    assert [path for path in by_apk["after_upgrade"] if "/__pycache__/wiring." in path]


def test_apk_leaves_only_what_is_the_owners(by_apk):
    assert by_apk["removed"]["status"] == 0, by_apk["removed"]
    before, after = by_apk["before"], by_apk["after"]
    own = (*LEFT, "/usr/lib/apk", "/etc/apk", "/var/cache", "/var/log")
    assert [path for path in after if path not in before and not path.startswith(own)] == []
    # apk takes folders along that it leaves empty; on a whole router they are not.
    assert [path for path in before if path not in after and before[path][1]] == []
    assert {path for path in before if path in after and before[path] != after[path]} <= CHANGED
