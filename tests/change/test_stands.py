"""What is told as kept is kept: nobody put it back meanwhile, and every file is as planned."""

import fcntl
import os
import threading
import time

import pytest

from oasis.change.apply.transaction import BESIDE_S, GUARD_GRACE_S, lasts_s
from oasis.errors import ApplyError, UsageError
from tests.change.kit import RENAME, WIFI
from tests.guards import wait_for_guard

BOTH = RENAME + "\n" + WIFI
NOTES = "uci set system.@system[0].notes=fine"


@pytest.fixture
def silent(make_kit):
    """A kit whose bus says nothing: what is not read back fails nothing by itself."""
    return make_kit(bus=lambda *call: None)


def restored(kit):
    """The time is over while the daemon does something else: wait until the guard has put the files back."""
    wait_for_guard(kit.root.folder)
    kit.journal.set_deadline(0)
    deadline = time.monotonic() + 20
    while kit.journal.is_pending():
        assert time.monotonic() < deadline, "the guard did nothing"
        time.sleep(0.02)


def test_what_the_guard_put_back_is_not_told_as_kept(silent):
    before = silent.config("wireless")
    change = str(silent.transaction.apply(silent.plan(WIFI))["id"])
    restored(silent)
    record = silent.transaction.confirm(change, "word")
    assert record["state"] == "rolled_back" and "were restored" in record["reason"]
    assert "proof" not in record
    assert silent.config("wireless") == before
    assert silent.journal.read(change)["state"] == "rolled_back"
    assert [one["state"] for one in silent.told] == ["applied", "rolled_back"]
    assert silent.transaction.pending() is None
    assert silent.transaction.confirm(change)["state"] == "rolled_back", "asked again it is told again"
    with pytest.raises(UsageError):
        silent.transaction.confirm("")


@pytest.mark.parametrize("text, package", [(NOTES, "system"), (WIFI, "wireless")])
def test_a_reload_that_outlasts_the_guard_is_not_told_as_done(silent, text, package):
    before = silent.config(package)
    write = silent.transaction._write
    silent.transaction._write = lambda plan: (write(plan), restored(silent))
    silent.transaction._check_written = lambda plan: None  # the guard comes after it
    with pytest.raises(ApplyError, match="the earlier settings were restored; everything was rolled back"):
        silent.transaction.apply(silent.plan(text))
    assert silent.config(package) == before
    assert [one["state"] for one in silent.told] == ["rolled_back"]
    assert silent.journal.records()[0]["state"] == "rolled_back"
    assert silent.transaction.pending() is None


def test_an_edit_of_somebody_else_in_the_window_is_kept_beside_and_nothing_is_told_as_kept(silent):
    before = {name: silent.config(name) for name in ("system", "wireless")}
    change = str(silent.transaction.apply(silent.plan(BOTH))["id"])
    theirs = silent.config("wireless") + b"\nconfig wifi-iface 'theirs'\n"
    silent.write("wireless", theirs)
    record = silent.transaction.confirm(change, "word")
    assert record["state"] == "rolled_back"
    assert record["reason"] == "wireless was changed by somebody else meanwhile"
    assert {name: silent.config(name) for name in before} == before
    with open(record["kept"][0], "rb") as handle:
        assert handle.read() == theirs


def test_another_change_that_waits_in_its_place_is_not_kept_along(silent):
    change = str(silent.transaction.apply(silent.plan(WIFI))["id"])
    path = silent.journal.pending + "/list"
    with open(path, "rb") as handle:
        text = handle.read()
    with open(path, "wb") as handle:
        handle.write(text.replace(change.encode(), b"another"))
    record = silent.transaction.confirm(change, "word")
    assert record["state"] == "rolled_back" and "another" in record["reason"]


def test_nothing_is_kept_while_somebody_puts_it_back(silent):
    before = silent.config("wireless")
    change = str(silent.transaction.apply(silent.plan(WIFI))["id"])
    lock = os.open(silent.journal.pending + "/list", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)  # as restore.sh does at work
    found = []
    asking = threading.Thread(target=lambda: found.append(silent.transaction.confirm(change, "word")))
    asking.start()
    time.sleep(0.5)
    assert not found and silent.journal.is_pending(), "it waits for who is at work"
    os.close(lock)
    asking.join(20)
    assert found[0]["state"] == "rolled_back"
    assert silent.config("wireless") == before


def test_nobody_puts_back_what_is_being_kept(silent):
    record = silent.transaction.apply(silent.plan(WIFI))
    wanted = silent.config("wireless")
    seen = []

    def look():
        silent.journal.set_deadline(0)
        time.sleep(2.5)  # the guard looks once a second
        seen.append((silent.journal.is_pending(), silent.config("wireless") == wanted))
        return []

    wait_for_guard(silent.root.folder)
    assert silent.journal.keep(str(record["id"]), look) == ""
    time.sleep(1.5)
    assert seen == [(True, True)]
    assert silent.config("wireless") == wanted
    silent.transaction._record = None


def test_the_guard_is_left_to_reload_what_it_put_back(silent):
    change = str(silent.transaction.apply(silent.plan(WIFI))["id"])
    silent.fault("network", "sleep 3")
    restored(silent)
    since_s = time.monotonic()
    assert silent.transaction.confirm(change, "word")["state"] == "rolled_back"
    assert time.monotonic() - since_s > 1.5, "its reload was ended with it"
    assert silent.services() == ["network reload", "network reload"]


@pytest.mark.parametrize("text", [RENAME, WIFI, BOTH, BOTH + "\nuci set dhcp.lan.start=110"])
def test_the_guard_waits_as_long_as_the_services_of_the_plan_may_take(silent, text):
    plan = silent.plan(text)
    seen = []
    write = silent.transaction._write

    def look(plan):
        with open(silent.journal.pending + "/deadline") as handle:
            seen.append(int(handle.read()) - silent.clock.up_s())
        write(plan)

    silent.transaction._write = look
    silent.transaction.apply(plan)
    wanted = plan["confirm_s"] + 60 * len(plan["services"]) + BESIDE_S + GUARD_GRACE_S
    assert lasts_s(plan["services"]) == 60 * len(plan["services"]) + BESIDE_S
    assert wanted - 5 < seen[0] <= wanted


@pytest.mark.parametrize("moment", ["before staging", "before the commit", "before the second commit"])
def test_an_edit_between_the_check_and_the_commit_stays_and_nothing_of_ours_is_written(silent, moment):
    """Nobody who edits by hand asks for a lock; the backend is that of plain files."""
    before = {name: silent.config(name) for name in ("system", "wireless")}
    package = {"before the second commit": "wireless"}.get(moment, "system")
    theirs = before[package] + b"\nconfig theirs 'own'\n"
    write, cursor = silent.transaction._write, silent.cursor()

    def edit():
        silent.write(package, theirs)

    class Late(type(cursor)):
        def _commit_read(self, name):
            if name == package and moment != "before staging":
                edit()
            super()._commit_read(name)

    silent.transaction._cursor = lambda: Late(cursor.confdir(), cursor.savedir())
    if moment == "before staging":
        silent.transaction._write = lambda plan: (edit(), write(plan))
    with pytest.raises(ApplyError) as caught:
        silent.transaction.apply(silent.plan(BOTH))
    if moment == "before the second commit":  # the first is written by then: all is put back, their edit kept beside
        record = silent.journal.records()[0]
        assert record["state"] == "rolled_back" and "by somebody else at this moment" in record["reason"]
        with open(record["kept"][0], "rb") as handle:
            assert handle.read() == theirs
        assert silent.config("system") == before["system"]
    else:
        assert "rolled back" not in caught.value.message
        assert silent.config(package) == theirs, "it is theirs, and nobody undoes it"
        assert silent.config("wireless") == before["wireless"]
        assert silent.services() == [] and silent.journal.records() == []
    assert not silent.journal.is_pending()
    silent.write(package, before[package])
    silent.transaction._cursor = silent.cursor
    silent.transaction._write = write
    assert silent.transaction.apply(silent.plan(RENAME))["state"] == "confirmed"
