"""Runs: events that are joined, dropped with a reset, waited for, kept for a while; who may start one."""

import contextlib
import errno
import itertools
import threading
import time

import pytest

from oasis.agent.runs import CLIENTS, ENDED, EVENT_BYTES, HELD_CHARS, KEEP_S, RUNNING, WAIT_MS, WAITING, Run, Runs
from oasis.errors import BusyError, StoreError, UsageError
from oasis.redaction.redactor import Redactor
from oasis.system.files import Files


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now_s=0.0):
        self.now_s = now_s

    def __call__(self):
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def run(clock):
    return Run("run1", "chat1", clock)


@pytest.fixture
def runs(clock):
    numbers = itertools.count(1)
    made = Runs(lambda: f"run{next(numbers)}", clock)
    yield made
    for run in made.active():
        run.cancel()


def texts(events):
    return "".join(event["text"] for event in events if event["type"] in ("delta", "reset"))


def kinds(events):
    return [event["type"] for event in events]


def until_cancelled(run):
    while not run.is_cancelled():
        time.sleep(0.002)
    return "cancelled", "other"


def ended(run):
    deadline = time.monotonic() + 10
    while run.ended_s is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    return run


def test_events_come_once_in_order_with_their_numbers(run):
    run.emit("tool_use", id="a", name="status", input={})
    run.emit("tool_result", tool_use_id="a", name="status", text="ok", is_error=False)
    reply = run.poll(0, 0)
    assert (reply["run"], reply["chat"], reply["state"]) == ("run1", "chat1", "running")
    assert [(event["seq"], event["type"]) for event in reply["events"]] == [(0, "tool_use"), (1, "tool_result")]
    assert run.poll(reply["next"], 0)["events"] == []
    assert run.poll(1, 0)["events"] == reply["events"][1:]


def test_deltas_that_nobody_fetched_are_one(run):
    for word in ("one ", "two ", "three"):
        run.emit("delta", text=word)
    run.emit("message", id="m", role="assistant")
    run.emit("delta", text="four")
    events = run.poll(0, 0)["events"]
    assert kinds(events) == ["delta", "message", "delta"]
    assert events[0]["text"] == "one two three"


def test_what_was_fetched_does_not_grow(run):
    run.emit("delta", text="one ")
    first = run.poll(0, 0)
    run.emit("delta", text="two ")
    run.emit("delta", text="three")
    assert texts(first["events"]) == "one "
    assert texts(run.poll(first["next"], 0)["events"]) == "two three"
    assert texts(run.poll(0, 0)["events"]) == "one two three"


def test_two_followers_both_get_the_whole_text(run):
    since, seen = [0, 0], ["", ""]
    for number in range(60):
        run.emit("delta", text=f"{number} ")
        for who in range(2):
            if number % (who + 2) == 0:
                reply = run.poll(since[who], 0)
                since[who] = reply["next"]
                seen[who] += texts(reply["events"])
    seen = [text + texts(run.poll(since[who], 0)["events"]) for who, text in enumerate(seen)]
    assert seen == ["".join(f"{number} " for number in range(60))] * 2


def test_thousands_of_small_deltas_cost_little_time_and_space(run):
    started = time.monotonic()
    for _ in range(60_000):
        run.emit("delta", text="word")
    assert time.monotonic() - started < 5
    assert texts(run.poll(0, 0)["events"]) == "word" * 60_000


def test_after_256_kib_the_oldest_events_give_way_to_one_reset_with_what_was_dropped(run):
    whole = ""
    for number in range(400):
        piece = f"{number:06d}" + "x" * 994
        run.emit("delta", text=piece)
        whole += piece
    reply = run.poll(0, 0)
    assert kinds(reply["events"]) == ["reset", "delta"]
    assert reply["events"][0]["seq"] == 0
    assert texts(reply["events"]) == whole
    assert len(reply["events"][1]["text"]) <= EVENT_BYTES
    assert run.poll(reply["next"], 0)["events"] == []


def test_who_follows_closely_never_gets_a_reset(run):
    since, seen = 0, ""
    for number in range(400):
        run.emit("delta", text=f"{number:06d}" + "x" * 994)
        reply = run.poll(since, 0)
        since = reply["next"]
        assert kinds(reply["events"]) == ["delta"]
        seen += texts(reply["events"])
    assert len(seen) == 400_000


def test_a_reset_keeps_the_order_of_what_follows(run):
    run.emit("delta", text="old " * 1000)
    run.emit("message", id="m1", role="assistant")
    for number in range(300):
        run.emit("tool_result", tool_use_id=f"c{number}", name="status", text="x" * 1000, is_error=False)
    run.emit("delta", text="new")
    events = run.poll(0, 0)["events"]
    assert (events[0]["type"], events[0]["text"].strip()) == ("reset", ("old " * 1000).strip())
    assert set(kinds(events[1:-1])) == {"tool_result"}
    assert events[-1]["text"] == "new"
    assert [event["seq"] for event in events] == sorted(event["seq"] for event in events)


def test_an_event_larger_than_all_is_still_delivered(run):
    run.emit("tool_result", tool_use_id="c", name="status", text="x" * EVENT_BYTES * 2, is_error=False)
    assert kinds(run.poll(0, 0)["events"]) == ["tool_result"]


def test_a_number_below_zero_is_the_start(run):
    run.emit("delta", text="a")
    assert kinds(run.poll(-5, 0)["events"]) == ["delta"]


def test_a_poll_waits_for_news_and_is_woken_by_them():
    run = Run("run1", "", time.monotonic)
    threading.Timer(0.2, run.emit, ["delta"], {"text": "late"}).start()
    started = time.monotonic()
    reply = run.poll(0, 10_000)
    assert texts(reply["events"]) == "late"
    assert 0.1 < time.monotonic() - started < 5


def test_a_poll_without_news_ends_in_time():
    run = Run("run1", "", time.monotonic)
    started = time.monotonic()
    assert run.poll(0, 100)["events"] == []
    assert 0.09 < time.monotonic() - started < 10


def test_a_poll_never_waits_longer_than_its_limit():
    times = iter([0.0, WAIT_MS / 1000])
    replies = []
    run = Run("run1", "", lambda: next(times))
    waiting = threading.Thread(target=lambda: replies.append(run.poll(0, 10**9)), daemon=True)
    waiting.start()
    waiting.join(5)
    assert [reply["events"] for reply in replies] == [[]]


def test_a_poll_of_an_ended_run_does_not_wait(run):
    run.end("done", "end_turn")
    reply = run.poll(0, 15_000)
    assert reply["state"] == "done"
    assert reply["events"][-1] == {"seq": 0, "type": "end", "state": "done", "stop_reason": "end_turn"}
    assert run.poll(reply["next"], 15_000)["events"] == []


def test_an_ended_state_is_never_seen_before_its_event():
    for _ in range(200):
        run = Run("run1", "", time.monotonic)
        ending = threading.Thread(target=run.end, args=("done", "end_turn"))
        ending.start()
        events, since, state = [], 0, "running"
        while state == "running":
            reply = run.poll(since, 0)
            events, since, state = events + reply["events"], reply["next"], reply["state"]
        ending.join()
        assert kinds(events) == ["end"]


def test_a_plan_that_needs_the_owner_makes_the_run_wait(run):
    run.emit("plan", plan={"id": "p", "needs_approval": False})
    assert run.poll(0, 0)["state"] == "running"
    run.emit("plan", plan={"id": "p", "needs_approval": True})
    assert run.poll(0, 0)["state"] == "waiting"
    run.emit("approval", plan="p", decision="approved")
    assert run.poll(0, 0)["state"] == "running"


def test_news_after_the_end_do_not_revive_a_run(run):
    run.end("done", "end_turn")
    run.emit("change", change={"id": "c", "state": "rolled_back"})
    run.emit("approval", plan="p", decision="expired")
    reply = run.poll(0, 0)
    assert reply["state"] == "done"
    assert kinds(reply["events"]) == ["end", "change", "approval"]


def test_a_run_works_in_a_thread_of_its_own_and_ends_as_its_work_says(runs):
    names = []

    def work(run):
        names.append(threading.current_thread().name)
        run.emit("delta", text="hello")
        return "done", "end_turn"

    run = ended(runs.start("chat1", work))
    assert names != [threading.current_thread().name]
    assert kinds(run.poll(0, 0)["events"]) == ["delta", "end"]
    assert runs.active() == []


def test_an_error_of_the_work_is_told(runs):
    def work(run):
        raise StoreError("the flash is full", "delete chats")

    reply = ended(runs.start("", work)).poll(0, 0)
    assert reply["state"] == "error"
    assert reply["events"][0]["error"] == {"code": "store", "message": "the flash is full", "hint": "delete chats"}
    assert kinds(reply["events"]) == ["error", "end"]


def test_a_fault_of_the_work_ends_the_run_with_a_traceback_in_the_log_only(runs, capfd):
    def work(run):
        raise ZeroDivisionError("secret words")

    reply = ended(runs.start("", work)).poll(0, 0)
    assert (reply["state"], kinds(reply["events"])) == ("error", ["error", "end"])
    assert "secret words" not in str(reply)
    assert "ZeroDivisionError" in capfd.readouterr().err


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_ends_the_run_where_the_log_cannot_be_written(runs):
    def work(run):
        raise ZeroDivisionError("nobody can read this")

    with contextlib.redirect_stderr(NoRoom()):
        assert ended(runs.start("chat1", work)).state == "error"
    assert ended(runs.start("chat1", lambda run: ("done", "end_turn"))).state == "done"


class NoRoom:
    """A log whose disk is full."""

    def write(self, text):
        raise OSError(errno.ENOSPC, "no space left")


def test_a_message_waits_for_what_is_being_written_to_its_chat(runs):
    is_begun, may_end = threading.Event(), threading.Event()
    writing = threading.Thread(target=runs.alone, args=("chat1", lambda: is_begun.set() or may_end.wait(10)))
    writing.start()
    assert is_begun.wait(10)
    threading.Timer(0.05, may_end.set).start()
    assert ended(runs.start("chat1", lambda run: ("done", "end_turn")))
    writing.join()


def test_a_busy_chat_is_refused_and_others_are_not(runs):
    run = runs.start("chat1", until_cancelled)
    with pytest.raises(UsageError, match="chat1 is being answered"):
        runs.start("chat1", until_cancelled)
    runs.start("chat2", until_cancelled)
    runs.start("", until_cancelled)
    runs.start("", until_cancelled)
    run.cancel()
    ended(run)
    assert runs.start("chat1", until_cancelled).id != run.id


def test_too_many_runs_are_refused(runs):
    for number in range(RUNNING):
        runs.start(f"chat{number}", until_cancelled)
    with pytest.raises(BusyError, match="at work already") as told:
        runs.start("one more", until_cancelled)
    assert told.value.exit_status == 1, "it is no wrong usage"
    assert "oasis plans" in told.value.hint and "oasis decline PLAN" in told.value.hint
    assert len(runs.active()) == RUNNING


def test_what_waits_for_the_owner_is_not_at_work(runs):
    for number in range(WAITING):
        runs.start("", until_cancelled).emit("plan", plan={"id": str(number), "needs_approval": True})
        assert len(runs.active()) == number + 1
    with pytest.raises(BusyError, match="wait for a decision already"):
        runs.start("", until_cancelled)
    for run in runs.active()[:RUNNING]:
        run.emit("approval", plan="0", decision="approved")
    with pytest.raises(BusyError, match="at work already"):
        runs.start("", until_cancelled)


def test_clients_of_others_leave_room_for_the_owner(runs):
    for number in range(CLIENTS):
        runs.start("", until_cancelled, client=f"client {number % 2}")
    with pytest.raises(UsageError, match="calls of clients are at work already"):
        runs.start("", until_cancelled, client="one more")
    assert runs.start("chat", until_cancelled).client == ""


def test_of_many_who_want_one_chat_one_gets_it(runs):
    started, refused = [], []
    barrier = threading.Barrier(8)

    def want():
        barrier.wait()
        try:
            started.append(runs.start("chat1", until_cancelled))
        except UsageError:
            refused.append(1)

    threads = [threading.Thread(target=want) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(started), len(refused)) == (1, 7)


def test_a_run_prepares_with_its_chat_reserved_before_the_start_is_answered(runs):
    seen = []

    def prepare(run):
        with pytest.raises(UsageError):
            runs.start("chat1", until_cancelled)
        seen.append(threading.current_thread())
        return "prepared"

    run = runs.start("chat1", lambda run, prepared: (prepared, "end_turn"), prepare)
    assert seen == [threading.current_thread()]
    assert ended(run).state == "prepared"


def test_what_cannot_be_prepared_leaves_no_run(runs):
    def prepare(run):
        raise StoreError("the flash is full")

    with pytest.raises(StoreError):
        runs.start("chat1", until_cancelled, prepare)
    assert runs.active() == []
    runs.start("chat1", until_cancelled)


def test_cancel_reaches_the_work(runs):
    run = runs.start("chat1", until_cancelled)
    runs.get(run.id).cancel()
    assert ended(run).state == "cancelled"
    run.cancel()
    assert run.state == "cancelled"


def test_an_ended_run_is_kept_ten_minutes_and_then_forgotten(runs, clock):
    run = ended(runs.start("chat1", lambda run: ("done", "end_turn")))
    clock.now_s = KEEP_S
    assert runs.get(run.id).poll(0, 0)["events"]
    clock.now_s = KEEP_S + 1
    with pytest.raises(UsageError, match="no run 'run1' any more"):
        runs.get(run.id)


def test_a_run_that_works_is_not_forgotten(runs, clock):
    run = runs.start("chat1", until_cancelled)
    clock.now_s = KEEP_S * 10
    assert runs.get(run.id) is run


def test_news_find_a_run_that_is_over_and_miss_one_that_is_forgotten(runs, clock):
    run = ended(runs.start("chat1", lambda run: ("done", "end_turn")))
    runs.tell(run.id, "change", change={"id": "c"})
    assert kinds(run.poll(0, 0)["events"]) == ["end", "change"]
    runs.tell("other", "change", change={"id": "c"})


def test_waiting_for_the_end_is_bounded():
    runs = Runs(lambda: "run1", time.monotonic)
    run = runs.start("", until_cancelled)
    started = time.monotonic()
    runs.wait_ended(0.2)
    assert 0.1 < time.monotonic() - started < 10
    run.cancel("the service")
    run.cancel("somebody else")
    assert run.ended_by == "the service"
    runs.wait_ended(5)
    assert run.ended_s is not None


def test_many_ended_runs_do_not_pile_up(runs):
    made = [ended(runs.start("chat1", lambda run: ("done", "end_turn"))) for _ in range(ENDED + 3)]
    runs.start("chat2", until_cancelled)
    with pytest.raises(UsageError):
        runs.get(made[0].id)
    assert runs.get(made[-1].id) is made[-1]


class Secret:
    """Masks one secret and tells where a text may go on with it, as the redactor does."""

    def __init__(self, folder, value):
        (folder / "wireless").write_text(f"config wifi-iface 'a'\n\toption key '{value}'\n")
        self.redactor = Redactor(Files(), str(folder), b"k" * 32, list)
        self.open_end, self.text = self.redactor.open_end, self.redactor.text


# The second one begins again in its own middle, so that a cut may go through a whole one.
@pytest.mark.parametrize("secret", ["correct-horse", "xyzxyzxyzxy"])
@pytest.mark.parametrize("first, second", [(1, 1), (3, 2), (1, 40)])
def test_a_secret_that_comes_in_pieces_is_never_shown(tmp_path, clock, secret, first, second):
    """Every cut of a streamed answer, polled after every piece: what is masked a poll at a time shows no part of it."""
    mask = Secret(tmp_path, secret)
    whole = f"The key is {secret}; again: {secret}{secret} and {secret[:-1]}."
    for cut in range(len(whole)):
        run = Run("run1", "chat1", clock, open_end=mask.open_end)
        pieces = [whole[:cut][at : at + first] for at in range(0, cut, first)]
        pieces += [whole[cut:][at : at + second] for at in range(0, len(whole) - cut, second)]
        shown, since = "", 0
        for piece in pieces:
            run.emit("delta", text=piece)
            reply = run.poll(since, 0)
            since = reply["next"]
            shown += mask.text(texts(reply["events"]))
        run.emit("change", change={})  # what others tell meanwhile ends no text
        run.end("done", "end_turn")
        shown += mask.text(texts(run.poll(since, 0)["events"]))
        assert shown == mask.text(whole), cut
        assert "".join(mask.text(event["text"]) for event in run.poll(0, 0)["events"] if "text" in event) == shown


def test_what_is_held_back_is_shown_with_the_end_of_its_block(tmp_path, clock):
    run = Run("run1", "chat1", clock, open_end=Secret(tmp_path, "correct-horse").open_end)
    run.emit("delta", text="it is corr")
    assert texts(run.poll(0, 0)["events"]) == "it is "
    run.emit("message", id="m1", role="assistant")
    events = run.poll(1, 0)["events"]
    assert (texts(events), kinds(events)) == ("corr", ["delta", "message"])


def test_text_that_only_begins_again_and_again_is_not_held_for_ever(tmp_path, clock):
    run = Run("run1", "chat1", clock, open_end=Secret(tmp_path, "abababababac").open_end)
    for _ in range(HELD_CHARS // 512 + 2):
        run.emit("delta", text="ab" * 256)
    assert len(texts(run.poll(0, 0)["events"])) >= HELD_CHARS // 2


def test_what_was_dropped_is_dropped_in_whole_pieces(clock):
    run = Run("run1", "chat1", clock)
    for number in range(300):
        run.emit("delta", text=f"<{number:04}>" * 400)
        run.poll(0, 0)
    reset = run.poll(0, 0)["events"][0]
    assert reset["type"] == "reset"
    assert reset["text"].startswith("<") and len(reset["text"]) <= EVENT_BYTES
