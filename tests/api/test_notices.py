"""Notices: told once, kept for a while, handed on; of changes, ends and budgets of a whole daemon."""

import json
import time

import pytest

from oasis.api.notices import KEPT, KINDS, TEXT_CHARS, Notices
from oasis.config.settings import Settings
from oasis.llm.usage import BudgetError, Usage
from oasis.system.files import Files
from oasis.system.root import Root
from tests.oasisd import copy_root, set_option, start_daemon

RENAME = "call this router attic"


class Full(Files):
    def replace(self, path, data, mode=0o600):
        from oasis.errors import StoreError

        raise StoreError("the memory is full")


def made(folder, files=None, log=None):
    numbers = iter(range(1, 1000))
    return Notices(
        files or Files(), str(folder / "notices.json"), lambda: "%04d" % next(numbers), lambda: 1795305600,
        lambda text: text.replace("hunter22", "***"), (log if log is not None else []).append,
    )  # fmt: skip


def kinds(notices):
    return [one["kind"] for one in notices.notice_list()["notices"]]


def record(state, **more):
    return {"id": "c1", "state": state, "run": "r1", "chat": "k1", "summary": "rename it", **more}


def test_a_notice_is_kept_masked_on_one_line_and_outlives_the_daemon(tmp_path):
    first = made(tmp_path)
    first.tell("event", "the key is\nhunter22\x1b[31m", chat="k1", plan="")
    expected = {"id": "0001", "when_unix_s": 1795305600, "kind": "event", "chat": "k1"}
    assert [{**one, "text": ""} for one in first.notice_list()["notices"]] == [{**expected, "text": ""}]
    text = first.notice_list()["notices"][0]["text"]
    assert text.startswith("the key is ***") and "\x1b" not in text
    assert made(tmp_path).notice_list() == first.notice_list()


def test_only_the_newest_are_kept_and_those_after_one_can_be_asked_for(tmp_path):
    notices = made(tmp_path)
    for number in range(KEPT + 5):
        notices.tell("event", str(number))
    reply = notices.notice_list()
    assert [one["text"] for one in reply["notices"]] == [str(number) for number in range(5, KEPT + 5)]
    assert [one["text"] for one in notices.notice_list(reply["notices"][-3]["id"])["notices"]] == ["53", "54"]
    assert notices.notice_list(reply["newest"]) == {"notices": [], "newest": reply["newest"]}


def test_a_long_text_is_cut_after_secrets_are_masked(tmp_path):
    notices = made(tmp_path)
    notices.tell("event", "x" * (TEXT_CHARS - 4) + "hunter22")
    assert notices.notice_list()["notices"][0]["text"] == "x" * (TEXT_CHARS - 4) + "***"


def test_who_listens_hears_until_it_no_longer_wants_to(tmp_path):
    notices, heard = made(tmp_path), []
    notices.listen(heard.append)
    notices.tell("event", "one")
    notices.ignore(heard.append)
    notices.tell("event", "two")
    assert [one["text"] for one in heard] == ["one"]


def test_a_full_memory_is_logged_and_who_listens_hears_all_the_same(tmp_path):
    log, heard = [], []
    notices = made(tmp_path, Full(), log)
    notices.listen(heard.append)
    notices.tell("event", "one")
    assert [one["text"] for one in heard] == ["one"]
    assert "notices are not kept" in log[0]


@pytest.mark.parametrize("data", [b"{", b"7\n", b'[1, {"x": 2}]\n', b"\xff"])
def test_a_damaged_file_is_begun_anew(tmp_path, data):
    (tmp_path / "notices.json").write_bytes(data)
    notices = made(tmp_path)
    assert notices.notice_list() == {"notices": [], "newest": ""}
    notices.tell("event", "one")
    assert len(made(tmp_path).notice_list()["notices"]) == 1


def test_a_kind_that_there_is_not_is_a_fault_of_ours(tmp_path):
    with pytest.raises(AssertionError):
        made(tmp_path).tell("nonsense", "x")
    assert len(KINDS) == len(set(KINDS))


def test_a_change_is_told_once_however_often_its_state_is(tmp_path):
    notices = made(tmp_path)
    for state in ("applied", "applied", "confirmed"):
        notices.changed(record(state))
    assert kinds(notices) == ["change_applied"]
    assert [one["text"] for one in notices.notice_list()["notices"]] == ["A change is kept: rename it"]
    assert made(tmp_path).notice_list() == notices.notice_list(), "and it is so after a restart"


def test_a_change_that_waits_says_so_until_that_is_over(tmp_path):
    notices, heard = made(tmp_path), []
    notices.listen(heard.append)
    notices.changed(record("applied"))
    notices.changed(record("applied", id="c2", summary="another"))
    waits = "A change is applied, and waits for your Keep: "
    assert [one["text"] for one in notices.notice_list()["notices"]] == [waits + "rename it", waits + "another"]
    notices.changed(record("rolled_back", reason="nobody kept the change in time"))
    texts = [one["text"] for one in notices.notice_list()["notices"]]
    assert texts[:2] == ["A change was applied: rename it", waits + "another"]
    assert texts[2:] == ["A change was rolled back (nobody kept the change in time): rename it"]
    assert len(heard) == 3, "who listens hears nothing twice"


def test_a_change_that_nobody_had_to_keep_is_still_told_as_applied(tmp_path):
    notices = made(tmp_path)
    for _ in range(2):
        notices.changed(record("confirmed"))
    assert [one["text"] for one in notices.notice_list()["notices"]] == ["A change is applied: rename it"]


def test_what_was_put_back_and_what_ended_have_words_of_their_own(tmp_path):
    notices = made(tmp_path)
    notices.changed(record("rolled_back", reason="nobody kept the change in time"))
    notices.changed(record("confirmed", id="c2", undoes="c1"))
    notices.changed(record("confirmed", id="c3", undoes="c1", run=""))
    notices.changed(record("rollback_failed", id="c4"))
    notices.changed(record("rollback_failed", id="c4"))
    expected = ["change_rolled_back", "change_applied", "change_expired", "change_rolled_back", "change_rolled_back"]
    assert kinds(notices) == expected
    texts = [one["text"] for one in notices.notice_list()["notices"]]
    assert "(nobody kept the change in time)" in texts[0]
    assert "NOT" in texts[-1]


@pytest.fixture
def root(tmp_path):
    return copy_root(str(tmp_path / "router"))


def waited(daemon, kind, seconds=20):
    """Return the first notice of a kind, as soon as there is one."""
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s:
        for notice in daemon.call("notice.list")["notices"]:
            if notice["kind"] == kind:
                return notice
        time.sleep(0.02)
    raise AssertionError(f"no {kind}: {daemon.call('notice.list')}")


def ended(daemon, run):
    while daemon.call("run.poll", run=run, since=1 << 30, wait_ms=5000)["state"] == "running":
        pass


def test_a_spent_budget_is_told_once_a_month_and_refuses_each_time(root, tmp_path):
    set_option(root, "budget_tokens", "10")
    with open(root + "/etc/config/oasis", "a") as settings:
        settings.write("\nconfig service 'cloud'\n\toption name 'OpenAI'\n\toption model 'm'\n")
    told, now_s = [], [1795305600]
    state, scratch = str(tmp_path / "state"), str(tmp_path / "scratch")
    usage = Usage(Settings(Root(root), Files()), Files(), lambda: now_s[0], told.append, state=state, scratch=scratch)
    usage.check("cloud")
    assert told == []
    for when in (1795305600, 1795305600 + 31 * 86400):
        now_s[0] = when
        usage.add("cloud", "m", {"input_tokens": 20})
        for _ in range(2):
            with pytest.raises(BudgetError):
                usage.check("cloud")
    assert len(told) == 2
    assert "budget of this month is spent" in told[0]


def test_an_end_that_could_not_come_is_told(tmp_path):
    notices = made(tmp_path)
    notices.expiry_failed(record("confirmed"), "could not expire: wan_mac is another now")
    (notice,) = notices.notice_list()["notices"]
    assert notice["kind"] == "change_expired" and "wan_mac is another now" in notice["text"]


@pytest.mark.part("offline")
def test_a_daemon_tells_of_changes_made_and_put_back_and_remembers(root):
    daemon = start_daemon(root)
    try:
        assert daemon.call("notice.list") == {"notices": [], "newest": ""}
        started = daemon.call("run.start", message=RENAME, service="offline")
        notice = waited(daemon, "change_applied")
        assert notice["chat"] == started["chat"]
        (change,) = daemon.call("change.list")["changes"]
        assert notice["change"] == change["id"]
        # The run that waits for a word, and its change that nobody keeps.
        ended(daemon, started["run"])
        risky = daemon.call("run.start", message="set the wifi password to swordfish-2026", service="offline")
        while not daemon.call("plan.list")["plans"]:
            time.sleep(0.02)
        (plan,) = daemon.call("plan.list")["plans"]
        daemon.call("plan.approve", plan=plan["id"], hash=plan["hash"])
        while not daemon.call("change.pending")["change"]:
            time.sleep(0.02)
        daemon.call("change.rollback")
        notice = waited(daemon, "change_rolled_back")
        assert notice["chat"] == risky["chat"]
        assert "swordfish" not in json.dumps(daemon.call("notice.list"))
    finally:
        daemon.stop()
    again = start_daemon(root)
    try:
        assert [one["kind"] for one in again.call("notice.list")["notices"]].count("change_applied") >= 1
    finally:
        again.stop()
