"""Packages and their configuration as one plan, on the real opkg with packages of our own: kept, rolled back."""

import gzip
import hashlib
import http.server
import io
import os
import shutil
import subprocess
import tarfile
import threading

import pytest

from oasis.change.history.undo import plan_undo
from oasis.daemon.wiring import Daemon
from oasis.errors import OasisError, ToolError
from oasis.system.root import Root
from oasis.tools.builtin import packages
from oasis.tools.operator import NoRun, Operator
from oasis.tools.principal import Principal
from oasis.tools.router import Router, Watch
from tests.daemon.test_wiring import config
from tests.oasisd import copy_root

OPKG = shutil.which("opkg")
pytestmark = pytest.mark.skipif(OPKG is None, reason="installing with the real one: build opkg-lede and put it on PATH")
# `cut` beside the root keeps what a power cut would leave: the root as it is when opkg has ended.
WRAPPER = """#!/bin/sh
%s -f "$OASIS_ROOT/etc/opkg.conf" -o "$OASIS_ROOT" --force-postinstall "$@"
status=$?
[ "$1" = install ] && [ -e "$OASIS_ROOT.cutting" ] && rm -rf "$OASIS_ROOT.cut" && cp -a "$OASIS_ROOT" "$OASIS_ROOT.cut"
exit $status
"""
INIT = '#!/bin/sh\necho "x thing $1" >>"$OASIS_ROOT/var/log/services.log"\n'
DEFAULT = "config thing 'main'\n\toption level '3'\n"
ASKED = {"install": ["thing"], "commands": ["uci set thing.main.level=5"], "summary": "the thing"}


def tar(members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=tarfile.GNU_FORMAT) as archive:
        folders = {os.path.dirname(path) for path in members}
        for folder in sorted(
            {"/".join(one.split("/")[: n + 1]) for one in folders for n in range(one.count("/") + 1)} - {""}
        ):
            info = tarfile.TarInfo("./" + folder)
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(info)
        for path, (data, mode) in members.items():
            info = tarfile.TarInfo("./" + path)
            info.size, info.mode = len(data), mode
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


class Feed:
    """A feed on 127.0.0.1."""

    def __init__(self, folder):
        self.folder, self.index = str(folder), ""
        os.makedirs(self.folder)
        handler = type("Handler", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *words: None})
        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), lambda *more: handler(*more, directory=self.folder)
        )
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def add(self, name, files, depends="", conffiles="", postinst="", more="", size=0):
        head = "Package: %s\nVersion: 1.0\n" % name + ("Depends: %s\n" % depends if depends else "") + more
        head += "Architecture: all\n"
        control = {"control": ((head + "Description: a test\n").encode(), 0o644)}
        for part, text in (("conffiles", conffiles), ("postinst", postinst)):
            if text:
                control[part] = (text.encode(), 0o755)
        parts = {"debian-binary": b"2.0\n", "data.tar.gz": tar(files), "control.tar.gz": tar(control)}
        data = tar({part: (data, 0o644) for part, data in parts.items()})
        self.write(name + "_1.0_all.ipk", data)
        self.index += head + "Filename: %s_1.0_all.ipk\nSize: %d\nSHA256sum: %s\nDescription: a test\n\n" % (
            name, size or len(data), hashlib.sha256(data).hexdigest())  # fmt: skip
        self.write("Packages.gz", gzip.compress(self.index.encode()))

    def write(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as handle:
            handle.write(data)


class Owner:
    """Says yes, or what a test wants, and keeps the cards."""

    rehearses = False

    def __init__(self, answer="approved", before=lambda: None):
        self.answer, self.before, self.plans = answer, before, []

    def judge(self, plan):
        return plan

    def wait(self, plan, is_cancelled):
        self.plans.append(plan)
        self.before()
        return self.answer, "owner"


class Here:
    def __init__(self, root):
        self.root = root
        self.daemon = Daemon(Root(root, [root + "/bin", "/usr/bin", "/bin"]))
        self.shop = self.daemon.methods._services
        self.shop.transaction.recover()
        self.owner = Owner()

    def configure(self, **arguments):
        principal = Principal()
        principal.approver = self.owner
        operator = Operator(self.shop, NoRun(), principal, {"id": "chat1"})
        machine = self.daemon.machine
        router = Router(machine.root, machine.executor.run, machine.files)
        return packages.configure({**ASKED, **arguments}, router, operator, Watch(str, bool, lambda: 0.0, 0.0))

    def opkg(self, *words):
        env = {"PATH": "/usr/bin:/bin", "OASIS_ROOT": self.root}
        return subprocess.run(
            [self.root + "/bin/opkg", *words], capture_output=True, text=True, env=env, check=True
        ).stdout

    def installed(self):
        return [line.split(" ")[0] for line in self.opkg("list-installed").split("\n")[:-1]]

    def config(self):
        try:
            with open(self.root + "/etc/config/thing") as handle:
                return handle.read()
        except FileNotFoundError:
            return ""

    def services(self):
        with open(self.root + "/var/log/services.log") as handle:
            return [line.split(" ", 1)[1].strip() for line in handle if " thing " in line]


@pytest.fixture
def feed(tmp_path):
    made = Feed(tmp_path / "feed")
    made.add("thing-lib", {"usr/lib/thing.so": (b"x" * 100, 0o644)})
    files = {"etc/config/thing": (DEFAULT.encode(), 0o600), "etc/init.d/thing": (INIT.encode(), 0o755)}
    made.add("thing", files, "thing-lib", "/etc/config/thing\n")
    yield made
    made.server.shutdown()


@pytest.fixture
def here(tmp_path, feed):
    made = router(tmp_path, feed)
    yield made
    made.daemon.stop()


def router(tmp_path, feed):
    root = copy_root(str(tmp_path / "router"))
    for name in ("var/lock", "usr/lib/opkg", "tmp"):
        os.makedirs(os.path.join(root, name), exist_ok=True)
    with open(root + "/etc/opkg.conf", "w") as handle:
        handle.write(
            "dest root /\nlists_dir ext /var/opkg-lists\narch all 1\nsrc/gz local http://127.0.0.1:%d\n"
            % feed.server.server_address[1]
        )
    os.unlink(root + "/bin/opkg")
    with open(root + "/bin/opkg", "w") as handle:
        handle.write(WRAPPER % OPKG)
    os.chmod(root + "/bin/opkg", 0o755)
    return Here(root)


def after_the_cut(here):
    """Return the router as it was cut off, at its place: opkg's lists hold whole paths."""
    here.daemon.stop()
    os.rename(here.root, here.root + ".old")
    os.rename(here.root + ".cut", here.root)
    return Here(here.root)


def test_one_approval_installs_configures_enables_and_starts(here):
    result = here.configure()
    (plan,) = here.owner.plans
    assert plan["words"][0] == "installs thing, thing-lib" and " are free" in plan["words"][1]
    assert "thing.main.level: set to '5'" in plan["words"] and plan["risk"] == "risky"
    assert plan["uci"] == ["uci set thing.main.level=5"] and plan["confirm_s"]
    assert any("not reviewed" in reason for reason in plan["reasons"])
    assert result["status"] == "waiting_confirm" and "level '5'" in here.config()
    assert any("missing and were fetched" in note for note in result["notes"])
    assert sorted(here.installed()) == ["thing", "thing-lib"]
    assert here.services()[0] == "thing enable" and {"thing reload", "thing start"} & set(here.services())
    here.shop.transaction.confirm(result["change"])
    assert sorted(here.installed()) == ["thing", "thing-lib"] and "level '5'" in here.config()


def test_rolling_back_removes_packages_and_configuration_together(here):
    result = here.configure()
    record = here.shop.transaction.roll_back(result["change"], "a test")
    assert record["state"] == "rolled_back" and here.installed() == [] and here.config() == ""


def test_an_undo_says_what_it_removes_and_does_it_once_it_is_kept(here):
    change = here.configure()["change"]
    here.shop.transaction.confirm(change)
    plan = plan_undo(here.shop.journal, here.shop.planner, change, "run1", "chat1")
    assert plan["words"][-1] == "removes the packages thing, thing-lib" and plan["needs_approval"]
    undone = here.shop.transaction.apply(plan)
    assert sorted(here.installed()) == ["thing", "thing-lib"] and here.config() == DEFAULT  # it may be rolled back yet
    here.shop.transaction.confirm(undone["id"])
    assert here.installed() == [] and here.config() == ""
    with pytest.raises(OasisError, match="gone"):
        plan_undo(here.shop.journal, here.shop.planner, undone["id"], "run1", "chat1")


def test_what_changes_nothing_there_is_installed_and_undone_too(here):
    result = here.configure(commands=["uci set thing.main.level=3"])
    assert result["status"] == "applied" and "thing" in here.installed()
    plan = plan_undo(here.shop.journal, here.shop.planner, result["change"], "run1", "chat1")
    here.shop.transaction.apply(plan)
    assert here.installed() == []


def test_a_value_that_no_unknown_option_may_have_is_refused_before_anybody_is_asked(here):
    with pytest.raises(OasisError):
        here.configure(commands=["uci set thing.main.level=/x"])
    assert here.owner.plans == [] and here.installed() == []


@pytest.mark.parametrize("command", ["uci set thing.main.invented=1", "uci set thing.gone.level=1"])
def test_an_option_that_the_package_does_not_have_takes_all_back(here, command):
    with pytest.raises(OasisError) as caught:
        here.configure(commands=[command])
    assert caught.value.message.endswith("; the packages are gone again")
    assert here.installed() == [] and here.config() == ""
    assert here.shop.journal.records()[0]["state"] == "rolled_back"
    here.configure()  # and the next one may


def test_a_declined_plan_installs_nothing(here):
    here.owner.answer = "declined"
    assert here.configure()["status"] == "declined"
    assert here.installed() == [] and here.shop.journal.records() == []


def test_a_feed_that_lacks_a_package_in_mid_plan_leaves_nothing(here, feed):
    here.owner.before = lambda: os.unlink(feed.folder + "/thing-lib_1.0_all.ipk")
    with pytest.raises(ToolError, match="failed"):
        here.configure()
    assert here.installed() == [] and here.config() == ""


def test_an_installation_that_dies_leaves_nothing(here, feed):
    feed.add("bad", {"etc/config/bad": (DEFAULT.encode(), 0o600)}, "thing", "/etc/config/bad\n", "#!/bin/sh\nexit 1\n")
    with pytest.raises(OasisError) as caught:
        here.configure(install=["bad"])
    assert "postinst" in caught.value.message and caught.value.message.endswith("; the packages are gone again")
    assert here.installed() == [] and here.config() == ""


def test_what_does_not_fit_is_refused_before_anybody_is_asked(here, feed):
    feed.add("large", {"usr/x": (b"x", 0o644)}, size=300_000_000)
    with pytest.raises(ToolError, match=" are free"):
        here.configure(install=["large"])
    assert here.owner.plans == []


def test_a_full_flash_during_the_installation_leaves_nothing(tmp_path, feed):
    feed.add("big", {"opt/big": (bytes(20_000_000), 0o644)}, "thing")
    os.makedirs(tmp_path / "router")
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "none", tmp_path / "router"], capture_output=True
    ).returncode:
        pytest.skip("mounting needs root")
    here = router(tmp_path, feed)
    olders = ["older%d" % number for number in range(3)]
    for name in olders:  # opkg's list is nearly two pages then, and does not fit into them with more
        feed.add(name, {"usr/" + name: (b"x", 0o644)}, more="Provides: %s\n" % ("p" * 2570))
    here.opkg("update")
    here.opkg("install", *olders)
    try:
        with pytest.raises(OasisError, match="flash became full; files of big, thing-lib, thing may be left"):
            here.configure(install=["big"])
        assert set(olders) <= set(here.installed())
        assert here.shop.journal.records()[0]["state"] == "rolled_back"
    finally:
        here.daemon.stop()
        subprocess.run(["umount", "-l", here.root], check=True)


def test_what_opkg_itself_finds_too_large_leaves_nothing(here, feed):
    feed.add("big", {"opt/big": (b"x", 0o644)}, "thing", more="Installed-Size: 900000000000\n")
    with pytest.raises(OasisError, match="Only have"):
        here.configure(install=["big"])
    assert here.installed() == [] and here.config() == ""


def test_a_power_cut_while_packages_are_installed_ends_with_the_old_state(here):
    open(here.root + ".cutting", "w").close()
    here.configure()
    again = after_the_cut(here)
    try:
        assert again.shop.journal.records()[0]["state"] == "rolled_back"
        assert "while packages were installed" in again.shop.journal.records()[0]["reason"]
        assert again.installed() == [] and again.config() == ""
    finally:
        again.daemon.stop()


def test_a_power_cut_before_it_is_kept_ends_with_the_old_state(here):
    here.configure()
    shutil.copytree(here.root, here.root + ".cut", symlinks=True)
    again = after_the_cut(here)
    try:
        assert again.shop.journal.records()[0]["state"] == "rolled_back"
        assert again.installed() == [] and again.config() == ""
    finally:
        again.daemon.stop()


def test_packages_that_need_each_other_in_a_long_row_all_go(here, feed):
    names = ["row%d" % number for number in range(6)]
    for number, name in enumerate(names):
        feed.add(name, {"usr/" + name: (b"x", 0o644)}, ", ".join(names[number + 1 :][:2]))
    change = here.configure(install=[*names, "thing"])["change"]
    record = here.shop.transaction._journal.read(change)
    record["installed"].sort(reverse=True)  # what others need first
    here.shop.transaction._uninstall(record)
    assert here.installed() == [] and "installed" not in record


def test_a_package_that_another_one_needs_by_now_stays_and_is_told(here, feed):
    feed.add("later", {"usr/later": (b"x", 0o644)}, "thing-lib")
    change = here.configure()["change"]
    here.opkg("update")
    here.opkg("install", "later")
    record = here.shop.transaction.roll_back(change, "a test")
    assert "are not as they were before: thing-lib" in record["reason"] and sorted(here.installed()) == [
        "later",
        "thing-lib",
    ]


@pytest.fixture
def variants(here, feed):
    """dnsmasq is there, another package needs it, and the feed has the large one with a library of its own."""
    data = {"etc/config/dhcp": (config(here.root, "dhcp"), 0o600)}
    feed.add("dnsmasq", {"usr/dnsmasq": (b"small", 0o755), **data}, conffiles="/etc/config/dhcp\n")
    feed.add("needs-dns", {"usr/needs": (b"x", 0o644)}, "dnsmasq")
    feed.add("libnt", {"usr/libnt": (b"x", 0o644)})
    more = "Provides: dnsmasq\nConflicts: dnsmasq\n"
    feed.add("dnsmasq-full", {"usr/dnsmasq": (b"large", 0o755), **data}, "libnt", "/etc/config/dhcp\n", more=more)
    here.opkg("update")
    here.opkg("install", "needs-dns")
    return here


LARGE = {"install": ["dnsmasq-full"], "commands": ["uci set dhcp.@dnsmasq[0].cachesize=500"]}
SMALL = ["dnsmasq", "needs-dns"]


def program(here):
    with open(here.root + "/usr/dnsmasq") as handle:
        return handle.read()


def test_a_variant_replaces_the_other_one_and_an_undo_brings_that_back(variants):
    change = variants.configure(**LARGE)["change"]
    (plan,) = variants.owner.plans
    assert (
        "dnsmasq has to go for dnsmasq-full" in plan["words"][2] and plan["words"][0] == "installs libnt, dnsmasq-full"
    )
    assert sorted(variants.installed()) == ["dnsmasq-full", "libnt", "needs-dns"] and program(variants) == "large"
    variants.shop.transaction.confirm(change)
    plan = plan_undo(variants.shop.journal, variants.shop.planner, change, "run1", "chat1")
    assert plan["words"][-1] == "removes the packages libnt, dnsmasq-full; dnsmasq comes back"
    undone = variants.shop.transaction.apply(plan)
    variants.shop.transaction.confirm(undone["id"])
    assert sorted(variants.installed()) == SMALL and program(variants) == "small"


def test_a_rollback_brings_the_other_one_back(variants):
    change = variants.configure(**LARGE)["change"]
    assert "reason" in variants.shop.transaction.roll_back(change, "a test")
    assert sorted(variants.installed()) == SMALL and program(variants) == "small"
    assert "cachesize '500'" not in config(variants.root, "dhcp").decode()


def test_a_variant_that_cannot_be_installed_leaves_the_other_one(variants, feed):
    feed.add("dnsmasq-dhcpv6", {"usr/dnsmasq": (b"middle", 0o755)}, "not-there", more="Conflicts: dnsmasq\n")
    variants.opkg("update")
    with pytest.raises(OasisError):
        variants.configure(**{**LARGE, "install": ["dnsmasq-dhcpv6"]})
    variants.owner.before = lambda: os.unlink(feed.folder + "/dnsmasq-full_1.0_all.ipk")
    with pytest.raises(OasisError):
        variants.configure(**LARGE)
    assert sorted(variants.installed()) == SMALL and program(variants) == "small"


def test_a_power_cut_while_it_is_replaced_ends_with_the_other_one(variants):
    open(variants.root + ".cutting", "w").close()
    variants.configure(**LARGE)
    again = after_the_cut(variants)
    try:
        assert sorted(again.installed()) == SMALL and program(again) == "small"
    finally:
        again.daemon.stop()
