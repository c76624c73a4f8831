"""The power fails at any step of a change: the router has the old or the kept configuration, and the record says which.

A step is a write, sync, rename or removal on flash, a commit of UCI, a program. At a cut a disk may have forgotten all
that was not synced, or kept all that was written; both are tried. Then the boot hook restores, and the daemon starts.
"""

import os
import shutil
import subprocess
import time
from types import SimpleNamespace

import pytest

from oasis.change.audit import Audit
from oasis.change.history.expiry import Expiry
from oasis.change.history.undo import plan_undo
from oasis.errors import ApplyError, OasisError
from oasis.system.files import Files
from oasis.uci.cursor import Cursor
from tests.change.kit import RENAME, WIFI, Clock, FailingFiles, Kit
from tests.oasisd import copy_root
from tests.system.test_power_cut import Forgetful, PowerCut

BOTH = RENAME + "\n" + WIFI
PACKAGES = ("system", "wireless")
STEPS_MAX = 150
YEARS_S = 10 * 365 * 86400


class Swift(Files):
    """Files of a disk that this host need not wait for."""

    def sync(self, handle):
        pass

    def sync_folder(self, path):
        pass


class Flash(Forgetful, Swift):
    """The flash of a router: after the n-th step nothing happens any more. `forgets` is the kind of disk it is."""

    def __init__(self, root, forgets):
        super().__init__(root + "/etc")
        self._root = root
        self._forgets = forgets

    def _step(self):
        self._steps += 1
        if self.is_cut():
            raise PowerCut

    def is_cut(self):
        return 0 < self._fail_at <= self._steps

    def fail_in(self, steps):
        self._fail_at = self._steps + steps

    def remove(self, path):
        self._step()
        super().remove(path)

    def program(self):
        """A program runs: a step, after which all is synced, because the only one that writes ends with `sync`."""
        self._step()

    def steps(self):
        return self._steps

    def settle(self):
        for where, _, names in os.walk(self._root + "/etc"):
            for name in names:
                self._remember(os.path.join(where, name))
            self._names[where] = {name: os.stat(os.path.join(where, name)).st_ino for name in names}

    def commit(self, write, path):
        """A commit of UCI syncs what it writes: it has happened, or it has not."""
        self._step()
        write()
        self._remember(path)
        Forgetful.sync_folder(self, path)

    def cut_power(self):
        """Leave what is on flash, forget what is in RAM."""
        modes = {}
        for where, _, names in os.walk(self._root + "/etc"):
            modes.update({os.path.join(where, name): os.stat(os.path.join(where, name)).st_mode for name in names})
        if self._forgets:
            super().cut_power()
        else:
            self.close()
        for path, mode in modes.items():
            if os.path.exists(path):
                os.chmod(path, mode & 0o777)
        shutil.rmtree(self._root + "/var/run/oasis")

    def close(self):
        for number in self._held:
            os.close(number)


class Programs:
    """The executor of a router whose power may fail: init scripts do nothing, the guard is not there."""

    pid = 0
    status = 0

    def __init__(self, executor, flash):
        self._executor = executor
        self._flash = flash

    def run(self, argv, **options):
        if not any(word.endswith("restore.sh") for word in argv):
            self._flash.program()
            return self.status, b"", b""
        self._flash.program()
        done = self._executor.run(argv[:4], **options)
        self._flash.settle()
        self._flash.program()
        return done

    def detach(self, argv):
        self._flash.program()
        return self

    def poll(self):
        return None

    def end_group(self):
        pass


class OneCommit:
    """A cursor whose commits are steps."""

    def __init__(self, cursor, flash, confdir):
        self._cursor, self._flash, self._confdir = cursor, flash, confdir

    def __getattr__(self, name):
        return getattr(self._cursor, name)

    def write(self, steps, expected):
        Cursor.write(self, steps, expected)  # whose commits are ours

    def commit(self, package):
        self._flash.commit(lambda: self._cursor.commit(package), f"{self._confdir}/{package}")

    def _commit_read(self, package):
        self._flash.commit(lambda: self._cursor._commit_read(package), f"{self._confdir}/{package}")


def mute(root):
    """Take away what a stopped router has not: a `sync` that reaches the disk of this host, and a running kernel."""
    with open(root + "/bin/sync", "w", encoding="ascii") as handle:
        handle.write("#!/bin/sh\n")  # our flash knows by itself what is synced
    os.chmod(root + "/bin/sync", 0o755)
    os.remove(root + "/proc/sys/kernel/hostname")  # nothing reloads here, so nothing is read back
    return root


class PowerKit(Kit):
    """A kit on a router whose power may fail."""

    def __init__(self, root, forgets=True, clock=None):
        self.flash = Flash(root, forgets)
        super().__init__(None, files=self.flash, root=root, clock=clock)

    def cursor(self):
        return OneCommit(super().cursor(), self.flash, self.root.confdir)

    def programs(self, executor):
        return Programs(executor, self.flash)

    def end(self):
        """Let the thread that waits for the deadline go."""
        with self.transaction._wake:
            self.transaction._record = None
            self.transaction._wake.notify_all()


def both(kit):
    return [kit.config(name) for name in PACKAGES]


def first(kit):
    kit.transaction.apply(kit.plan(RENAME.replace("attic", "cellar")))


def low(kit):
    kit.transaction.apply(kit.plan(RENAME))


def keep(kit):
    record = kit.transaction.apply(kit.plan(BOTH))
    kit.transaction.confirm(record["id"])


def put_back(kit):
    record = kit.transaction.apply(kit.plan(BOTH))
    kit.transaction.roll_back(record["id"], "the owner says so")


def too_late(kit):
    kit.transaction.apply(kit.plan(BOTH))
    kit.clock.shift_s += 10_000
    with kit.transaction._wake:
        kit.transaction._wake.notify_all()
    deadline = time.monotonic() + 20
    while kit.transaction.pending() and not kit.flash.is_cut():
        assert time.monotonic() < deadline
        time.sleep(0.002)
    with kit.transaction._lock:
        pass  # the thread has come to its end
    if kit.flash.is_cut():
        raise PowerCut


def stop(kit):
    kit.transaction.apply(kit.plan(BOTH))
    kit.transaction.stop()


def undo(kit):
    kit.transaction.apply(plan_undo(kit.journal, kit.planner, "", "run2", "chat1"))


def extend(kit):
    record = kit.transaction.apply(kit.plan(BOTH))
    kit.transaction.extend(record["id"], 300)
    kit.transaction.confirm(record["id"])


def fail(kit):
    kit.executor.status = 1  # a service does not take it
    try:
        kit.transaction.apply(kit.plan(BOTH))
    except ApplyError:
        pass
    finally:
        kit.executor.status = 0


def first_with_an_end(kit):
    first(kit)
    kit.journal.update(kit.journal.records()[0]["id"], until_unix_s=kit.clock.unix_s() - 5)


def end(kit):
    audit = Audit(kit.files, kit.root.state_folder + "/audit.jsonl", kit.clock.unix_s)
    services = SimpleNamespace(
        journal=kit.journal, planner=kit.planner, transaction=kit.transaction, audit=audit, clock=kit.clock,
        is_clock_trusted=lambda newest: True, log=lambda text, is_fault: print(text),
    )  # fmt: skip
    Expiry(services).step()


def nothing(kit):
    pass


# name: what was done before, and the steps among which the power fails
STORIES = {
    "low": (nothing, low),
    "keep": (nothing, keep),
    "put_back": (first, put_back),
    "too_late": (nothing, too_late),
    "stop": (nothing, stop),
    "undo": (first, undo),
    "extend": (nothing, extend),
    "fail": (nothing, fail),
    "end": (first_with_an_end, end),
}


def boot(kit):
    """Start the router again: the boot hook, then the daemon; return the new kit."""
    argv = ["/bin/sh", "oasis/change/restore.sh", kit.journal.pending, kit.root.folder]
    env = {"PATH": kit.root.folder + "/bin:/usr/bin:/bin"}
    done = subprocess.run(argv, capture_output=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    again = Quiet(None, files=Swift(), root=kit.root.folder)
    again.transaction.recover()
    return again


class Quiet(Kit):
    """A kit whose services do nothing."""

    def programs(self, executor):
        class Still(Programs):
            def __init__(self):
                self._executor = executor
                self._flash = self

            def program(self):
                pass

            settle = program

        return Still()


def check(kit, again, old, new):
    """The configuration is the old or the new one, every record tells the truth, and life goes on."""
    now = both(again)
    assert now in (old, new)
    told = [record["state"] for record in kit.told if record["id"] not in kit.known]
    if "confirmed" in told:
        assert now == new, "it was told as kept"
    if "rolled_back" in told:
        assert now == old, "it was told as put back"
    records = {record["id"]: record for record in again.journal.records() if record["id"] not in kit.known}
    assert len(records) <= 1
    for change, record in records.items():
        assert record["state"] in ("confirmed", "rolled_back")
        assert now == (new if record["state"] == "confirmed" else old)
        if record["state"] == "confirmed" and "undoes" in record:
            assert again.journal.read(record["undoes"])["undone_by"] == change
    assert now == old or records, "what changed the router has a record"
    assert not again.journal.is_pending() and not os.path.exists(again.journal.pending + "/restored")
    assert again.transaction.apply(again.plan("uci set system.@system[0].hostname=fine"))["state"] == "confirmed"


class Story:
    """One story on a root that is set back before each telling: `old`, `new` and `steps` of it when all goes well."""

    def __init__(self, folder, name):
        self._before, self._story = STORIES[name]
        self.root = mute(copy_root(str(folder)))
        kit = Quiet(None, files=Swift(), root=self.root)
        self._before(kit)
        self.old = both(kit)
        self._saved = {}
        for where, _, names in os.walk(self.root + "/etc"):
            self._saved.update({os.path.join(where, name): contents(os.path.join(where, name)) for name in names})
        self._known = [record["id"] for record in kit.journal.records()]
        kit = self.begin()
        self._story(kit)
        self.steps = kit.flash.steps()
        [record] = [record for record in kit.journal.records() if record["id"] not in self._known]
        self.state = record["state"]
        self.new = [kit.journal.image(record["id"], "after", name) if name in record["packages"] else old
                    for name, old in zip(PACKAGES, self.old, strict=True)]  # fmt: skip
        assert both(kit) == (self.new if self.state == "confirmed" else self.old)
        kit.flash.close()

    def begin(self, **more):
        """Set the root back and return a kit on it."""
        shutil.rmtree(self.root + "/etc/oasis", ignore_errors=True)
        for where, _, names in os.walk(self.root + "/etc/config"):
            for name in names:
                if os.path.join(where, name) not in self._saved:
                    os.remove(os.path.join(where, name))
        for path, data in self._saved.items():
            if not os.path.exists(path) or contents(path) != data:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as handle:
                    handle.write(data)
        shutil.rmtree(self.root + "/var/run/oasis", ignore_errors=True)
        kit = PowerKit(self.root, **more)
        kit.known = self._known
        return kit

    def tell(self, kit):
        """Return whether it went to its end."""
        try:
            self._story(kit)
        except PowerCut:
            return False
        finally:
            kit.end()
        return True


def contents(path):
    with open(path, "rb") as handle:
        return handle.read()


CUTS = [(name, True) for name in STORIES] + [(name, False) for name in ("keep", "put_back", "undo")]
# Each story has some fifty steps, and each of its three faults at each of them takes minutes.
EVERY = pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.long)])


def numbers(story, name, every):
    """Return the steps to fail at: the first, the last and the one after it, and each n-th between."""
    first = 1 + list(STORIES).index(name) % every
    return sorted({1, *range(first, story.steps, every), story.steps - 1, story.steps, story.steps + 1})


# The thread that watches the deadline dies of the power cut, as it should.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("name, forgets", CUTS)
@EVERY
def test_a_power_cut_at_any_step_leaves_the_old_or_the_kept_state(tmp_path, name, forgets, every):
    story = Story(tmp_path / "router", name)
    assert story.steps > 15, "these are too few steps to have met them all"
    for number in numbers(story, name, every):
        kit = story.begin(forgets=forgets)
        kit.flash.fail_in(number)
        is_done = story.tell(kit)
        kit.flash.cut_power()
        check(kit, boot(kit), story.old, story.new)
        assert is_done == (number > story.steps)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("name", STORIES)
@EVERY
def test_a_daemon_that_is_killed_at_any_step_and_started_again_says_which_state_it_is(tmp_path, name, every):
    """Nothing is forgotten and no boot hook runs: the next start of the daemon alone must find out."""
    story = Story(tmp_path / "router", name)
    for number in numbers(story, name, every)[:-1]:
        kit = story.begin(forgets=False)
        kit.flash.fail_in(number)
        assert not story.tell(kit)
        kit.flash.close()
        again = Quiet(None, files=Swift(), root=story.root)
        again.transaction.recover()
        check(kit, again, story.old, story.new)


@pytest.mark.parametrize("has_hook", [True, False])
@EVERY
def test_a_power_cut_at_any_step_of_the_putting_back_at_the_start_is_no_harm(tmp_path, has_hook, every):
    story = Story(tmp_path / "router", "keep")
    for number in range(1, STEPS_MAX, every):
        kit = story.begin()
        kit.transaction.apply(kit.plan(BOTH))
        kit.end()
        kit.flash.close()
        second = PowerKit(story.root)
        second.flash.fail_in(number)
        try:
            second.transaction.recover()
            is_done = True
        except PowerCut:
            is_done = False
        second.flash.cut_power()
        if has_hook:
            again = boot(kit)
        else:
            again = Quiet(None, files=Swift(), root=story.root)
            again.transaction.recover()
        check(kit, again, story.old, story.new)
        assert both(again)[1] == story.old[1]
        assert [record["state"] for record in again.journal.records()][-1] == "rolled_back"
        if is_done:
            assert number > 5
            return
    raise AssertionError("this takes more steps than anybody thought")


@pytest.mark.parametrize("back", [(), ("system",), ("wireless",), PACKAGES])
def test_a_power_cut_while_the_boot_hook_restores_is_no_harm(tmp_path, back):
    story = Story(tmp_path / "router", "keep")
    kit = story.begin()
    kit.transaction.apply(kit.plan(BOTH))
    kit.end()
    kit.flash.cut_power()
    for name in back:  # restore.sh syncs at its end: any of its renames may be on flash, or none
        os.rename(f"{kit.journal.pending}/files/{name}", f"{kit.root.confdir}/{name}")
    check(kit, boot(kit), story.old, story.new)


@pytest.mark.parametrize("jump_s", [YEARS_S, -YEARS_S])
@pytest.mark.parametrize("name", ["keep", "put_back", "too_late", "undo", "extend", "fail"])
def test_a_jump_of_the_wall_clock_at_any_step_changes_nothing(tmp_path, name, jump_s):
    story = Story(tmp_path / "router", name)
    for number in range(1, 50):
        clock = JumpingClock(number, jump_s)
        kit = story.begin(clock=clock)
        assert story.tell(kit)
        kit.flash.close()
        assert both(kit) == (story.new if story.state == "confirmed" else story.old)
        newest = kit.journal.records()[0]
        assert newest["id"] not in kit.known, "the newest change is the first, whatever the clock says"
        assert newest["state"] == story.state
        again = Quiet(None, files=Swift(), root=story.root, clock=clock)
        assert again.transaction.recover() is None
        assert again.transaction.apply(again.plan("uci set system.@system[0].hostname=fine"))["state"] == "confirmed"
        assert again.journal.records()[0]["id"] not in (*kit.known, newest["id"])
        if not clock.has_jumped():
            assert number > 1
            return
    raise AssertionError("the clock is looked at more often than anybody thought")


class JumpingClock(Clock):
    """A wall clock that jumps before it is looked at for the n-th time."""

    def __init__(self, jump_at, jump_s):
        super().__init__()
        self._left = jump_at
        self._jump_s = jump_s

    def unix_s(self):
        self._left -= 1
        return super().unix_s() + (self._jump_s if self.has_jumped() else 0)

    def has_jumped(self):
        return self._left <= 0


@pytest.mark.parametrize("name", [name for name in STORIES if name != "too_late"])  # whose timer waits for flash
@EVERY
def test_a_full_flash_at_any_step_leaves_the_old_or_the_kept_state(tmp_path, name, every):
    story = Story(tmp_path / "router", name)
    refused = 0
    for number in range(1, STEPS_MAX, every):
        story.begin().flash.close()
        files = FailingFiles()
        kit = Quiet(None, files=files, root=story.root)
        kit.known = [record["id"] for record in kit.journal.records()]
        files.fail_at = files.steps + number
        try:
            STORIES[name][1](kit)
        except OasisError:
            refused += 1
        is_met, files.fail_at = files.steps >= files.fail_at, 0
        PowerKit.end(kit)
        check(kit, boot(kit), story.old, story.new)
        if not is_met:
            assert refused > 10 // every or name == "end"  # which is tried again later, and told
            return
    raise AssertionError("this takes more steps than anybody thought")
