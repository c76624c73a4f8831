"""The transaction: all of a change or nothing of it, whatever happens in between."""

import os
import signal
import subprocess
import threading
import time

import pytest

from oasis.change.apply.journal import chosen
from oasis.errors import ApplyError, OasisError, RollbackError, UsageError
from tests.change.kit import RENAME, WIFI, FailingFiles, Kit
from tests.guards import guards, wait_for_guard


def test_a_low_risk_change_is_final_at_once(kit):
    record = kit.transaction.apply(kit.plan(RENAME))
    assert record["state"] == "confirmed"
    assert b"option hostname 'attic'" in kit.config("system")
    assert "system reload" in kit.services()
    assert kit.transaction.pending() is None
    assert not kit.journal.is_pending()


def test_a_risky_change_waits_and_is_kept(kit):
    record = kit.transaction.apply(kit.plan(WIFI))
    assert record["state"] == "applied"
    assert kit.transaction.pending()["confirm_in_s"] in (88, 89, 90)
    assert kit.journal.is_pending()
    assert kit.transaction.confirm(str(record["id"]))["state"] == "confirmed"
    assert b"'Attic'" in kit.config("wireless")
    assert not kit.journal.is_pending()


def test_nobody_keeps_it_and_the_old_files_come_back(make_kit):
    kit = make_kit(confirm_s=1)
    before = kit.config("wireless")
    kit.transaction.apply(kit.plan(WIFI))
    assert kit.config("wireless") != before
    record = kit.wait_for("rolled_back")
    assert kit.config("wireless") == before
    assert "nobody kept" in record["reason"]
    assert kit.services() == ["network reload", "network reload"]
    assert kit.transaction.pending() is None


def test_the_owner_puts_it_back(kit):
    before = kit.config("wireless")
    record = kit.transaction.apply(kit.plan(WIFI))
    assert kit.transaction.roll_back(str(record["id"]), "the owner rolled it back")["state"] == "rolled_back"
    assert kit.config("wireless") == before
    with pytest.raises(UsageError):
        kit.transaction.confirm("")


def test_an_installation_that_waits_for_its_second_decision_says_so_to_others_and_keeps_nobody_waiting(kit):
    call = {"name": "packages", "source": "built-in", "class": "danger", "arguments": {"names": ["thing"]}}
    plan = kit.planner.installation(None, [], "run", "chat", ["installs thing"], call)
    told = []

    def other():
        try:
            kit.transaction.apply(kit.plan(RENAME))
        except ApplyError as error:
            told.append(str(error))

    def second_card():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(10)
        assert told, "it hangs"

    assert kit.transaction.install(plan, lambda folder: None, second_card)["state"] == "confirmed"
    assert "waits for a decision on them; nothing was written" in told[0]
    assert kit.transaction.apply(kit.plan(RENAME))["state"] == "confirmed", "afterwards all is as before"


def test_one_at_a_time(kit):
    kit.transaction.apply(kit.plan(WIFI))
    with pytest.raises(ApplyError, match="waits to be kept"):
        kit.transaction.apply(kit.plan(RENAME))
    assert b"attic" not in kit.config("system")


def test_a_service_that_fails_puts_everything_back(kit):
    before = {name: kit.config(name) for name in ("system", "wireless")}
    kit.fault("network", "1")
    with pytest.raises(ApplyError, match=r"network reload failed.*everything was rolled back"):
        kit.transaction.apply(kit.plan(RENAME + "\n" + WIFI))
    assert {name: kit.config(name) for name in before} == before
    assert not kit.journal.is_pending()
    assert kit.told[-1]["state"] == "rolled_back"


def test_a_file_that_is_not_as_planned_puts_everything_back(tmp_path):
    kit = Kit(tmp_path / "router")
    before = kit.config("system")
    plan = kit.plan(RENAME)
    kit.transaction._write = lambda plan: kit.write("system", b"config system\n")
    with pytest.raises(ApplyError, match="not what the plan promised"):
        kit.transaction.apply(plan)
    assert kit.config("system") == before


def test_a_fault_of_ours_puts_everything_back_and_is_not_hidden(kit):
    before = kit.config("system")

    def half(plan):
        kit.write("system", b"config half\n")
        raise KeyError("a bug")

    kit.transaction._write = half
    with pytest.raises(KeyError):
        kit.transaction.apply(kit.plan(RENAME))
    assert kit.config("system") == before
    assert not kit.journal.is_pending()
    assert "a fault in oasis: KeyError" in kit.told[-1]["reason"]


def test_modes_of_files_are_kept(kit):
    path = kit.root.confdir + "/wireless"
    os.chmod(path, 0o640)
    record = kit.transaction.apply(kit.plan(WIFI))
    assert os.stat(path).st_mode & 0o777 == 0o640
    kit.transaction.roll_back(str(record["id"]), "test")
    assert os.stat(path).st_mode & 0o777 == 0o640


def test_too_little_flash_changes_nothing(make_kit):
    kit = make_kit(free=70 * 1024)
    plan = kit.plan(RENAME)
    images = {"system": (plan["images"]["system"][0], b"x" * 9000)}
    with pytest.raises(ApplyError, match="kB of flash are free"):
        kit.transaction.apply({**plan, "images": images})
    assert not kit.journal.is_pending()
    assert kit.services() == []


def test_a_restart_puts_back_what_was_not_kept(kit):
    before = kit.config("wireless")
    kit.transaction.apply(kit.plan(WIFI))
    kit.transaction._record = None  # the first daemon is gone: its timer finds nothing to do
    second = kit.again()
    record = second.transaction.recover()
    assert record["state"] == "rolled_back"
    assert kit.config("wireless") == before
    assert kit.services() == ["network reload", "network reload"]
    assert second.transaction.recover() is None


def test_a_change_whose_record_is_damaged_is_put_back_and_stands_in_the_history(kit):
    before = kit.config("wireless")
    record = kit.transaction.apply(kit.plan(WIFI))
    kit.transaction._record = None
    with open(kit.root.state_folder + "/changes/%s/record.json" % record["id"], "wb") as handle:
        handle.write(b"{")
    second = kit.again()
    found = second.transaction.recover()
    assert kit.config("wireless") == before
    assert [one["id"] for one in chosen(second.journal.records(), since_unix_s=1)] == [record["id"]] == [found["id"]]
    assert abs(found["when_unix_s"] - record["when_unix_s"]) <= 1


def test_nothing_waits_when_nobody_could_be_told_that_a_change_begins(kit):
    before = kit.config("wireless")
    kit.announced = lambda plan: {}["nobody"]
    with pytest.raises(KeyError):
        kit.transaction.apply(kit.plan(WIFI))
    assert not kit.journal.is_pending()
    assert kit.config("wireless") == before


def test_a_restart_leaves_a_kept_change_alone(kit):
    record = kit.transaction.apply(kit.plan(WIFI))
    kit.transaction.confirm(str(record["id"]))
    assert kit.again().transaction.recover() is None
    assert b"'Attic'" in kit.config("wireless")


@pytest.mark.parametrize(("fault", "states"), [("", ["confirmed"]), ("unreadable", ["prepared", "confirmed"]),
                                               ("gone", ["rolled_back"]), ("other", ["rolled_back"])])  # fmt: skip
def test_the_end_of_a_change_whose_record_was_not_written_is_told_once_its_files_tell_it(kit, fault, states):
    """The list is gone, which keeps a change, and then the power: what cannot be read is no sign of a rollback."""
    record = kit.transaction.apply(kit.plan(RENAME))
    kit.journal.update(record["id"], state="prepared")
    path = kit.root.confdir + "/system"
    if fault == "gone":
        os.remove(path)
    elif fault == "other":
        kit.write("system", kit.config("system").replace(b"attic", b"cellar"))
    second = kit.again()
    if fault == "unreadable":
        os.rename(path, path + ".away")
        os.mkfifo(path)
    seen = []
    for _ in states:
        assert second.transaction.recover() is None
        seen.append(second.journal.read(record["id"])["state"])
        if os.path.exists(path + ".away"):
            os.replace(path + ".away", path)
    assert seen == states


def test_everything_the_undo_needs_is_on_flash_before_the_first_commit(kit):
    seen = {}

    def look(plan):
        folder = kit.root.path("/etc/oasis/")
        for place in ("pending/list", "pending/files/system", "pending/deadline"):
            with open(folder + place, "rb") as handle:
                seen[place] = handle.read()
        seen["before"] = kit.journal.image(plan["id"], "before", "system")
        seen["after"] = kit.journal.image(plan["id"], "after", "system")
        seen["guard"] = wait_for_guard(kit.root.folder)

    before = kit.config("system")
    kit.transaction._write = look
    with pytest.raises(ApplyError):
        kit.transaction.apply(kit.plan(RENAME))
    assert seen["pending/files/system"] == before == seen["before"]
    assert b"attic" in seen["after"]
    assert seen["pending/list"].endswith(b"end\n")
    assert seen["guard"]


def test_the_guard_restores_when_the_daemon_is_dead(make_kit):
    kit = make_kit(confirm_s=1)
    before = kit.config("wireless")
    kit.transaction.apply(kit.plan(WIFI))
    kit.transaction._record = None  # as if killed: the daemon's own timer does nothing
    kit.journal.set_deadline(int(kit.clock.up_s()) + 1)
    deadline = time.monotonic() + 10
    while kit.config("wireless") != before:
        assert time.monotonic() < deadline, "the guard did nothing"
        time.sleep(0.05)
    while kit.services() != ["network reload", "network reload"]:
        assert time.monotonic() < deadline, kit.services()
        time.sleep(0.05)
    assert kit.again().transaction.recover()["state"] == "rolled_back"


def test_the_guard_ends_when_the_change_is_kept(kit):
    record = kit.transaction.apply(kit.plan(WIFI))
    wait_for_guard(kit.root.folder)
    kit.transaction.confirm(str(record["id"]))
    assert guards(kit.root.folder) == []


def test_a_guard_that_was_killed_has_a_follower_while_the_change_waits(kit):
    record = kit.transaction.apply(kit.plan(WIFI))
    gone = []
    for _ in range(2):
        gone.append(wait_for_guard(kit.root.folder, tuple(gone)))
        os.kill(gone[-1], signal.SIGKILL)
        while gone[-1] in guards(kit.root.folder):
            time.sleep(0.01)
        with kit.transaction._wake:
            kit.transaction._wake.notify_all()  # it looks every 5 s by itself
    third = wait_for_guard(kit.root.folder, tuple(gone))
    kit.transaction.confirm(str(record["id"]))
    assert guards(kit.root.folder) == [], third


def test_a_guard_that_cannot_be_started_again_does_not_stop_the_timer(make_kit):
    kit = make_kit(confirm_s=2)
    before = kit.config("wireless")
    kit.transaction.apply(kit.plan(WIFI))
    argv = kit.transaction._guard_argv
    kit.transaction._guard_argv = ["/nowhere/sh", *argv[1:]]
    os.kill(wait_for_guard(kit.root.folder), signal.SIGKILL)
    with kit.transaction._wake:
        kit.transaction._wake.notify_all()
    time.sleep(0.3)
    kit.transaction._guard_argv = argv
    kit.wait_for("rolled_back")
    assert kit.config("wireless") == before


def test_an_edit_by_others_in_the_window_is_kept_beside_the_record(kit):
    before = kit.config("wireless")
    record = kit.transaction.apply(kit.plan(WIFI))
    theirs = kit.config("wireless").replace(b"'Attic'", b"'Cellar'")
    kit.write("wireless", theirs)
    rolled = kit.transaction.roll_back(str(record["id"]), "test")
    assert kit.config("wireless") == before
    with open(rolled["kept"][0], "rb") as handle:
        assert handle.read() == theirs


def test_a_damaged_copy_is_told_as_loudly_as_can_be_and_tried_again(kit):
    record = kit.transaction.apply(kit.plan(WIFI))
    copy = kit.journal.pending + "/files/wireless"
    with open(copy, "rb") as handle:
        good = handle.read()
    with open(copy, "wb") as handle:
        handle.write(b"rubbish")
    with pytest.raises(RollbackError, match="damaged"):
        kit.transaction.roll_back(str(record["id"]), "test")
    assert kit.told[-1]["state"] == "rollback_failed"
    assert kit.journal.is_pending()
    with pytest.raises(ApplyError):
        kit.transaction.apply(kit.plan(RENAME))
    with open(copy, "wb") as handle:
        handle.write(good)
    assert kit.transaction.roll_back(str(record["id"]), "again")["state"] == "rolled_back"


@pytest.mark.parametrize("text", [RENAME, WIFI])
def test_any_failing_write_leaves_the_old_or_the_new_state(tmp_path, text):
    package = "system" if text == RENAME else "wireless"
    number, failures = 0, 0
    while True:
        number += 1
        files = FailingFiles()
        kit = Kit(tmp_path / str(number), files=files, bus=lambda *call: None)
        before = kit.config(package)
        plan = kit.plan(text)
        after = plan["images"][package][1]
        files.fail_at = files.steps + number
        try:
            record = kit.transaction.apply(plan)
            failed = False
        except OasisError:
            failed, record = True, None
        reached = files.steps >= files.fail_at
        files.fail_at = 0
        assert kit.config(package) in (before, after)
        kit.transaction._record = None
        second = kit.again()
        second.transaction.recover()
        if failed:
            failures += 1
            state = second.journal.records()[0]["state"] if second.journal.records() else "rolled_back"
            assert kit.config(package) == (after if state == "confirmed" else before), (number, state)
        elif text == RENAME:
            assert record["state"] == "confirmed"
            assert kit.config(package) == after
        assert second.transaction.apply(second.plan("uci set system.@system[0].hostname=fine"))["state"] == "confirmed"
        if not reached:
            break
    assert failures >= 10


def test_restore_can_be_stopped_anywhere_and_run_again(kit):
    before = {name: kit.config(name) for name in ("system", "wireless")}
    kit.transaction.apply(kit.plan(RENAME + "\n" + WIFI))
    kit.transaction._record = None
    # One file is back already, as after a power cut in the middle of restoring.
    os.rename(kit.journal.pending + "/files/system", kit.root.confdir + "/system")
    done = subprocess.run(
        ["/bin/sh", "oasis/change/restore.sh", kit.journal.pending, kit.root.folder], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert {name: kit.config(name) for name in before} == before
    assert kit.services() == [f"{name} reload" for name in ("system", "log", "sysntpd", "dnsmasq", "network")]


def test_what_waits_comes_back_at_the_end_and_nothing_is_applied_after_it(kit):
    before = kit.config("wireless")
    kit.transaction.apply(kit.plan(WIFI))
    kit.transaction.stop()
    assert kit.config("wireless") == before
    with pytest.raises(ApplyError, match="stopping"):
        kit.transaction.apply(kit.plan(RENAME))
