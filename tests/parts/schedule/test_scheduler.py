"""What the part does beside firing: remembering devices, tending memory, and ending what cannot be run."""

import itertools
from types import SimpleNamespace

import pytest

from oasis.errors import SettingsError, UsageError
from oasis.parts.schedule.job_run import RETRY_S, TRIES
from oasis.parts.schedule.manifest import has_enabled
from oasis.parts.schedule.router_events import DEVICES
from oasis.parts.schedule.scheduler import Schedule
from oasis.system.files import Files
from oasis.system.root import Root
from oasis.tools.router import Facts
from tests.parts.schedule.kit import HOUR, Time

LEASES = b"1795335000 02:00:00:00:00:01 192.168.1.9 phone *\n"


class Kit:
    """A daemon of which the schedule needs little; `fault` is what starting a run raises."""

    def __init__(self, folder):
        self.root, self.files, self.clock = Root(str(folder)), Files(), Time("2026-11-22 12:00")
        config = {"system": {"s": {".type": "system", ".index": 0, "timezone": "CET-1CEST,M3.5.0,M10.5.0/3"}}}
        leases = {"/tmp/dhcp.leases": LEASES}
        self.facts = Facts(config.get, lambda *_: None, leases.get, self.clock.unix_s)
        numbers = itertools.count(1)
        self.new_id = lambda: "e%d" % next(numbers)
        self.told, self.logged, self.begun = [], [], 0
        self.parts = self.chats = self.approvals = self.redactor = self.settings = self
        self.text = str
        self.fault = None
        self.log = self.logged.append

    def free_bytes(self, path):
        return 1 << 30

    def offline(self):
        return "fallback"

    def services(self):
        return [{"identifier": "home", "ready": True, "is_local": True, "vendor": "ollama"}]

    def is_clock_trusted(self, newest):
        return True

    def turn_starter(self):
        return self

    def start(self, asked, came, role):
        self.begun += 1
        raise self.fault

    def wait(self, plan, is_cancelled):
        return self.decide(plan, is_cancelled)

    def find(self, name):
        raise UsageError("nothing is called so")

    def part(self, name):
        assert name == "notice"
        return self

    def tell(self, kind, text, **fields):
        self.told.append((kind, text))


@pytest.fixture
def kit(tmp_path):
    made = Kit(tmp_path)
    made.files.folder(made.root.state_folder)
    made.files.folder(made.root.run_folder)
    return made


def changed(book, name, fields):
    return book.schedule_change(id=name, **fields)["entry"]


@pytest.fixture
def book(kit):
    made = Schedule(kit)
    made._timer.look = lambda: None  # its thread: here a test takes the steps
    return made


def test_devices_that_are_here_are_known_before_anybody_waits_for_new_ones(kit, book):
    book.schedule_add(when="on new_device", wish="tell me")["entry"]
    devices = book._devices
    assert devices.is_known("02:00:00:00:00:01")
    assert not devices.is_known("02:00:00:00:00:02")
    assert devices.is_known("02:00:00:00:00:02")
    assert Schedule(kit)._devices.is_known("02:00:00:00:00:02"), "also after a restart"


def test_devices_are_bounded_and_the_oldest_go_first(kit, book):
    macs = ["02:00:00:00:%02x:%02x" % divmod(number, 256) for number in range(DEVICES + 1)]
    devices = book._devices
    devices._records.put_all([{"id": mac} for mac in macs[:DEVICES]])
    assert not devices.is_known(macs[DEVICES])
    assert devices._records.count() <= DEVICES
    assert devices.is_known(macs[DEVICES - 1]) and not devices.is_known(macs[0])


def test_addresses_of_chance_are_not_written_without_end(kit, book):
    syncs = []
    kit.files.sync = lambda handle: syncs.append(handle)  # this disk counts, and nothing else
    devices = book._devices
    macs = ["02:00:00:00:%02x:%02x" % divmod(number, 256) for number in range(1000)]
    for mac in macs:
        assert not devices.is_known(mac)
        kit.clock.pass_s(5)
    assert devices.is_known(macs[-1])
    assert len(syncs) <= 30, "for an hour and a half of them, a thousand"
    assert len(devices._met) <= DEVICES and devices._records.count() <= DEVICES
    assert not Schedule(kit)._devices.is_known(macs[-1]), "a power cut forgets the last of them"
    book.close()
    assert Schedule(kit)._devices.is_known(macs[-1])


def test_a_device_is_told_also_where_it_cannot_be_kept(kit, book):
    kit.free_bytes = lambda path: 0
    book._devices._records._free_bytes = kit.free_bytes
    assert not book._devices.is_known("02:00:00:00:00:02")
    assert book._devices.is_known("02:00:00:00:00:02")
    assert "is not kept for now" in kit.logged[-1]


@pytest.mark.parametrize(
    "fields, why",
    [
        ({"wish": "look"}, "no when"), ({"when": "12:30 daily"}, "no wish"), ({"when": 5, "wish": "x"}, "when"),
        ({"when": "12:30 daily", "wish": ["x"]}, "wish"), ({"when": "12:30 daily", "wish": "x", "calls": [1]}, "calls"),
        ({"when": "12:30 daily", "wish": "x", "since_unix_s": "now"}, "since_unix_s"),
        ({"when": "12:30 daily", "wish": "x", "timezone": 5}, "timezone"),
        ({"when": "12:30 daily", "wish": "x", "since_unix_s": -(1 << 60)}, "since_unix_s"),
    ],
)  # fmt: skip
def test_what_somebody_wrote_into_the_file_by_hand_is_told_and_hides_no_other(kit, book, fields, why):
    whole = book.schedule_add(when="12:30 daily", wish="look")["entry"]
    book._jobs.records.put({"id": "hand", "enabled": True, **fields})
    book._timer.step()
    first, second = book.schedule_list()["entries"]
    assert first["id"] == whole["id"] and first["next"]
    assert second["id"] == "hand" and not second["enabled"] and why in second["note"]
    assert isinstance(second["when"], str) and isinstance(second["wish"], str)
    for work in (book.schedule_run, book.schedule_approve, lambda id: book.schedule_change(id=id, wish="y")):
        with pytest.raises(UsageError, match="cannot be read"):
            work("hand")
    assert book.schedule_delete("hand") == {"deleted": 1} and len(book.schedule_list()["entries"]) == 1


def test_order_of_a_service_that_is_gone_is_ended_and_told_once(kit, book):
    kit.fault = SettingsError("there is no service 'cloud'")
    entry = book.schedule_add(when="12:01 daily", wish="look")["entry"]
    kit.clock.pass_s(60)
    for _ in range(5):
        book._timer.step()
        kit.clock.pass_s(24 * HOUR)
    shown = book.schedule_list()["entries"][0]
    assert (shown["id"], shown["enabled"], shown["note"]) == (entry["id"], False, "there is no service 'cloud'")
    assert kit.begun == 1
    assert [text for _, text in kit.told] == ["look (12:01 daily): is switched off: there is no service 'cloud'"]


def test_daemon_without_room_is_tried_again_a_few_times_and_then_told(kit, book):
    kit.fault = UsageError("8 runs are at work already")
    book.schedule_add(when="12:01 daily", wish="look")["entry"]
    kit.clock.pass_s(60)
    for _ in range(TRIES + 5):
        book._timer.step()
        kit.clock.pass_s(RETRY_S)
    assert kit.begun == TRIES
    assert [text for _, text in kit.told] == ["look (12:01 daily): could not be run: 8 runs are at work already"]
    assert book.schedule_list()["entries"][0]["enabled"], "the next time it may do"


def test_change_begins_anew_and_switching_off_keeps_what_was_approved(kit, book):
    entry = book.schedule_add(when="12:30 daily", wish="look")["entry"]
    book._jobs.records.put(
        {**book._jobs.records.get(entry["id"]), "approved": [{"key": "k", "read": {}}], "note": "old"}
    )
    assert changed(book, entry["id"], {"enabled": False})["ahead"] == 1
    kit.clock.pass_s(2 * HOUR)
    again = changed(book, entry["id"], {"enabled": True})
    assert (again["ahead"], again["next"]) == (1, "2026-11-23 12:30"), "what passed meanwhile is over"
    assert "note" not in again
    assert changed(book, entry["id"], {"wish": "look twice"})["ahead"] == 0
    changed(book, entry["id"], {"enabled": False})
    assert not changed(book, entry["id"], {"wish": "look"})["enabled"], "off stays off"
    assert changed(book, entry["id"], {"when": "13:00 daily"})["enabled"], "but for another time"


def test_what_was_approved_in_a_rehearsal_is_for_the_order_that_was_rehearsed(kit, book):
    entry = book._jobs.records.get(book.schedule_add(when="12:30 daily", wish="look")["entry"]["id"])
    changed(book, entry["id"], {"when": "*/5 * * * *"})
    book._jobs.approve(entry, [{"key": "k", "read": {}}])
    assert "approved" not in book._jobs.records.get(entry["id"])
    book._jobs.approve(book._jobs.records.get(entry["id"]), [{"key": "k", "read": {}}])
    assert book._jobs.records.get(entry["id"])["approved"]


def test_a_change_does_not_wait_for_a_run_that_is_being_ended_while_that_waits_for_it(kit, book):
    """Who begins a run holds the lock of runs, and ends an order by that of entries: never the other way round."""
    import threading

    entry = book.schedule_add(when="12:30 daily", wish="look")["entry"]
    held = []
    book._runner.is_active = lambda entry: held.append(_is_free(book._jobs.editing)) or False

    def _is_free(lock):
        found = []

        def look():
            found.append(lock.acquire(blocking=False))
            if found[0]:
                lock.release()

        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        return found[0]

    changed(book, entry["id"], {"when": "13:00 daily"})
    assert held == [True]


@pytest.mark.parametrize(
    "decision, words",
    [
        ("expired", "its plan waited until 2026-11-23 00:00, nobody decided, and nothing was done: close a port"),
        ("declined", "its plan was declined, and nothing was done: close a port"),
        ("cancelled", "its plan was stopped while it waited, and nothing was done: close a port"),
        ("approved", ""),
    ],
)
def test_order_says_what_became_of_the_plan_that_waited(kit, book, decision, words):
    entry = book.schedule_add(when="13:00 daily", wish="look")["entry"]
    kept = kit.decide = lambda plan, is_cancelled: (decision, "")
    role = book._runner._job_run(book._jobs.records.get(entry["id"]), None, False)
    book._runner._runs.append(role)
    plan = {"id": "p1", "summary": "close a port", "risk": "risky", "needs_approval": True}
    role.plan = book._runner.plan_waits(role.job, plan)
    role.is_waiting = True
    (shown,) = book.schedule_list()["entries"]
    assert shown["plan"]["words"] == "its plan waits for you until 2026-11-23 00:00: close a port"
    assert kit.told[-1][0] == "schedule_waiting" and has_enabled(b'{"plan":{"state":"waiting"}}')
    assert role.wait(plan, lambda: False) == kept(plan, None)
    book._runner.run_ended(role, "done", "That is all.")
    (shown,) = book.schedule_list()["entries"]
    assert shown.get("plan", {}).get("words", "") == words
    assert words in kit.told[-1][1] and "That is all." in kit.told[-1][1]
    book._runner.run_ended(book._runner._job_run(book._jobs.records.get(entry["id"]), None, False), "done", "again")
    assert "plan" not in book.schedule_list()["entries"][0], "the next run has another result"


def test_start_looks_at_the_file_alone(kit, book):
    assert not has_enabled(None)
    entry = book.schedule_add(when="12:30 daily", wish="look")["entry"]
    path = kit.root.state_folder + "/schedule.jsonl"
    assert has_enabled(kit.files.read(path))
    changed(book, entry["id"], {"enabled": False})
    book._jobs.records.compact()
    assert not has_enabled(kit.files.read(path))


def test_a_time_that_no_calendar_has_in_the_note_of_a_plan_hides_no_list(book):
    entry = book.schedule_add(when="12:30 daily", wish="look")["entry"]
    book._jobs.note_plan(book._jobs.get(entry["id"]), {"state": "expired", "until_unix_s": 1 << 60})
    assert "nobody decided" in book.schedule_list()["entries"][0]["plan"]["words"]


@pytest.mark.parametrize(("pending", "begun"), [(None, 0), ({"id": "c1", "state": "applied"}, 1)])
def test_job_that_only_looks_goes_past_one_that_waits_for_a_window(kit, book, pending, begun):
    made = [book.schedule_add(when="12:30 daily", wish=wish)["entry"] for wish in ("first", "second", "look")]
    jobs = [book._jobs.get(one["id"]) for one in made]
    jobs[2]["calls"] = [{"tool": "status", "params": {}}]
    kit.transaction = SimpleNamespace(pending=lambda: pending)
    kit.registry = SimpleNamespace(kind=lambda name, params: "read" if name == "status" else "change")
    kit.fault = UsageError("nothing runs here")
    book._runner._runs.append(book._runner._job_run(jobs[0], None, False))  # at work, and no plan of it waits
    for job in jobs[1:]:
        book._runner.add(job)
    book._runner.pump()
    assert kit.begun == begun
    assert [item["job"]["wish"] for item in book._runner._queue if item["tries"]] == ["look"][:begun]
