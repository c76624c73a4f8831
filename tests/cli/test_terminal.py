"""What a person at a terminal sees and can do, on a pseudo-terminal."""

import threading

import pytest

from tests.cli import launcher
from tests.cli.fake_daemon import FakeDaemon
from tests.cli.terminal import Terminal
from tests.cli.values import HASH, change, end, info, plan, polled

STARTED = {"run": "r1", "chat": "c1"}


class Run:
    """A scripted run with a plan: what it answers depends on what the owner decides."""

    def __init__(self, after_approval=(), pending_s=90):
        self.approved = threading.Event()
        self.declined = threading.Event()
        self.cancelled = threading.Event()
        self.state = "applied"
        self.pending_s = pending_s
        self.after_approval = list(after_approval)

    def answers(self):
        return [
            ("info", None, info()),
            ("run.start", None, STARTED),
            ("run.poll", None, self.poll),
            ("run.cancel", None, self.cancel),
            ("plan.list", None, lambda params: {"plans": [] if self.approved.is_set() else [plan()]}),
            ("plan.approve", {"plan": "p1", "hash": HASH}, self.decide(self.approved, "approved")),
            ("plan.decline", None, self.decide(self.declined, "declined")),
            ("change.pending", None, lambda params: {"change": self.change() if self.state == "applied" else None}),
            ("change.list", None, lambda params: {"changes": [self.change()]}),
            ("change.confirm", {"change": "k1"}, self.settle("confirmed")),
            ("change.rollback", {"change": "k1"}, self.settle("rolled_back")),
        ]

    def change(self):
        waiting = {"confirm_in_s": self.pending_s} if self.state == "applied" else {}
        return change(state=self.state, **waiting)

    def settle(self, state):
        def answer(params):
            self.state = state
            return {"change": self.change()}

        return answer

    def decide(self, event, decision):
        def answer(params):
            event.set()
            return {"plan": "p1", "decision": decision}

        return answer

    def cancel(self, params):
        self.cancelled.set()
        return {"run": "r1", "state": "cancelled"}

    def poll(self, params):
        if params["since"] == 0:
            said = {"type": "delta", "text": "I will rename it."}
            return polled([said, {"type": "plan", "plan": plan()}], 0, "waiting")
        for _ in range(150):
            if self.cancelled.is_set():
                return polled([end("cancelled")], 2, "cancelled")
            if self.declined.is_set():
                declined = {"type": "approval", "plan": "p1", "decision": "declined"}
                return polled([declined, {"type": "delta", "text": "Then not."}, end()], 2)
            if self.approved.wait(0.1):
                approved = {"type": "approval", "plan": "p1", "decision": "approved"}
                changed = {"type": "change", "change": self.change()}
                return polled([approved, changed, {"type": "delta", "text": "Renamed."}, end()], 2)
        return polled([], 2, "waiting")


@pytest.fixture
def at_terminal(tmp_path):
    """Return a function that starts `oasis WORDS` at a terminal, beside a daemon with the given answers."""
    daemons = []
    program = launcher.install(tmp_path)

    def start(answers, *words, **variables):
        daemons.append(FakeDaemon(tmp_path, answers))
        return Terminal([*program, *words], launcher.environment(tmp_path, **variables)), daemons[-1]

    yield start
    for daemon in daemons:
        daemon.stop()


def test_plan_is_asked_about_applied_and_kept(at_terminal):
    terminal, daemon = at_terminal(Run().answers(), "prompt", "rename my wifi")
    terminal.wait_for("I will rename it.\r\n")
    terminal.wait_for("Plan 8f3a2b1c: rename the wireless network")
    terminal.wait_for("\x1b[32m  + option ssid 'Home'\x1b[0m")
    terminal.wait_for("Apply this? [y/N] ")
    terminal.type("y\n")
    terminal.wait_for("Renamed.")
    terminal.wait_for("Keep it? [y/N] ( 90 s) ")
    terminal.type("y\n")
    terminal.wait_for("Change k1 kept")
    assert terminal.leave() == 0
    assert daemon.params_of("plan.approve") == [{"plan": "p1", "hash": HASH}]
    assert daemon.params_of("change.confirm") == [{"change": "k1"}]
    assert HASH not in terminal.text, "the whole hash is for programs"


@pytest.mark.parametrize("typed", ["\n", "n\n", "yess\n", "\x04"])
def test_anything_but_yes_declines_the_plan(at_terminal, typed):
    terminal, daemon = at_terminal(Run().answers(), "prompt", "rename my wifi")
    terminal.wait_for("Apply this? [y/N] ")
    terminal.type(typed)
    terminal.wait_for("Then not.")
    assert terminal.leave() == 11
    assert daemon.params_of("plan.decline") == [{"plan": "p1"}]
    assert daemon.params_of("plan.approve") == []


class Either(Run):
    """A run whose plan is one of two readings."""

    def poll(self, params):
        if params["since"] == 0:
            card = plan(choice={"say": "2", "text": "turn Wi-Fi off"})
            return polled([{"type": "plan", "plan": card}], 0, "waiting")
        return super().poll(params)


@pytest.mark.parametrize(("typed", "more"), [("2", {"reason": "2"}), ("n", {}), ("3", {})])
def test_the_other_reading_is_a_key_that_declines_for_it(at_terminal, typed, more):
    terminal, daemon = at_terminal(Either().answers(), "prompt", "rename my wifi")
    terminal.wait_for("  2: turn Wi-Fi off")
    terminal.wait_for("Apply this? [y/N/2] ")
    terminal.type(typed + "\n")
    terminal.wait_for("Then not.")
    assert terminal.leave() == 11
    assert daemon.params_of("plan.decline") == [{"plan": "p1", **more}] and not daemon.params_of("plan.approve")


class Loose(Run):
    """A run whose plan asks for a typed word."""

    plan = staticmethod(lambda: plan(typed_word="risky", unconfined="nft is missing"))

    def answers(self):
        waiting = lambda params: {"plans": [] if self.approved.is_set() else [self.plan()]}  # noqa: E731
        approved = {"plan": "p1", "hash": HASH, "word": "risky"}
        mine = [("plan.list", None, waiting), ("plan.approve", approved, self.decide(self.approved, "approved"))]
        return mine + [answer for answer in super().answers() if answer[0] not in ("plan.list", "plan.approve")]

    def poll(self, params):
        if params["since"] == 0:
            return polled([{"type": "plan", "plan": self.plan()}], 0, "waiting")
        return super().poll(params)


def test_where_a_word_is_asked_for_it_is_typed(at_terminal):
    terminal, daemon = at_terminal(Loose().answers(), "prompt", "rename my wifi")
    terminal.wait_for("type risky to approve it: the AI worker is not confined, nft is missing")
    terminal.wait_for("Apply this? Type risky to do it: ")
    terminal.type("risky\n")
    terminal.wait_for("Keep it? [y/N]")
    terminal.type("y\n")
    assert terminal.leave() == 0
    assert daemon.params_of("plan.approve") == [{"plan": "p1", "hash": HASH, "word": "risky"}]


@pytest.mark.parametrize("typed", ["y", "yes", "Risky", "", "risky!"])
def test_another_word_declines(at_terminal, typed):
    terminal, daemon = at_terminal(Loose().answers(), "approve", "p1")
    terminal.wait_for("Apply this? Type risky to do it: ")
    terminal.type(typed + "\n")
    terminal.wait_for("Then not.")
    assert terminal.leave() == 11
    assert daemon.params_of("plan.approve") == [] and daemon.params_of("plan.decline") == [{"plan": "p1"}]


def test_what_became_of_the_change_is_the_last_line(at_terminal):
    """The answer was made while the change still waited, so it stands before the question."""
    terminal, _ = at_terminal(Run().answers(), "prompt", "rename my wifi")
    terminal.wait_for("Apply this? [y/N] ")
    terminal.type("y\n")
    terminal.wait_for("Renamed.")
    terminal.wait_for("Keep it? [y/N]")
    terminal.type("y\n")
    assert terminal.leave() == 0
    assert "Change k1 kept" in terminal.text.rstrip().splitlines()[-1]


class Slow(Run):
    """A run whose model takes long for its words after the change."""

    def poll(self, params):
        if params["since"] == 3:
            self.spoken.wait(params["wait_ms"] / 1000)
            said = [{"type": "delta", "text": "Renamed."}, end()]
            return polled(said, 3) if self.spoken.is_set() else polled([], 3, "running")
        if params["since"] and self.approved.wait(15):
            return polled([{"type": "change", "change": self.change()}], 2, "running")
        return super().poll(params)


def test_a_slow_model_does_not_keep_the_owner_from_keeping(at_terminal):
    run = Slow()
    run.spoken = threading.Event()
    terminal, _ = at_terminal(run.answers(), "prompt", "rename my wifi")
    terminal.wait_for("Apply this? [y/N] ")
    terminal.type("y\n")
    terminal.wait_for("Keep it? [y/N]")
    terminal.type("y\n")
    terminal.wait_for("Change k1 kept")
    run.spoken.set()
    terminal.wait_for("Renamed.")
    assert terminal.leave() == 0


def test_change_not_kept_is_put_back_at_once(at_terminal):
    terminal, daemon = at_terminal(Run().answers(), "prompt", "rename my wifi")
    terminal.wait_for("Apply this? [y/N] ")
    terminal.type("y\n")
    terminal.wait_for("Keep it? [y/N]")
    terminal.type("n\n")
    terminal.wait_for("Change k1 rolled back")
    assert terminal.leave() == 12
    assert daemon.params_of("change.rollback") == [{"change": "k1"}]


@pytest.mark.parametrize("typed, status, confirms", [("y\n", 0, 2), ("n\n", 0, 1)])
def test_without_a_proof_keeping_is_asked_about_a_second_time(at_terminal, typed, status, confirms):
    run = Run()
    answers = [answer for answer in run.answers() if answer[0] != "change.confirm"]
    unproved = {"error": {"code": "unproved", "message": "this login is older", "hint": "log in again"}}
    answers.append(("change.confirm", {"change": "k1"}, unproved))
    answers.append(("change.confirm", {"change": "k1", "unproved": True}, run.settle("confirmed")))
    terminal, daemon = at_terminal(answers, "prompt", "rename my wifi")
    terminal.wait_for("Apply this? [y/N] ")
    terminal.type("y\n")
    terminal.wait_for("Renamed.")
    terminal.wait_for("Keep it? [y/N]")
    terminal.type("y\n")
    terminal.wait_for("oasis: hint: log in again")
    terminal.wait_for("Keep it without a proof? [y/N]")
    terminal.type(typed)
    assert terminal.leave() == status
    assert len(daemon.params_of("change.confirm")) == confirms
    assert daemon.params_of("change.rollback") == []
    assert ("oasis confirm k1" in terminal.text) is (confirms == 1), "it still waits, and how to keep it is said"


def test_countdown_runs_out_and_the_outcome_is_told(at_terminal):
    run = Run(pending_s=2)
    terminal, daemon = at_terminal(run.answers(), "prompt", "rename my wifi")
    terminal.wait_for("Apply this? [y/N] ")
    terminal.type("y\n")
    terminal.wait_for("(  2 s)")
    terminal.wait_for("(  1 s)")
    run.state = "rolled_back"
    terminal.wait_for("Change k1 rolled back")
    assert terminal.leave() == 12
    assert daemon.params_of("change.confirm") == daemon.params_of("change.rollback") == []


def test_decision_made_elsewhere_ends_the_question(at_terminal):
    run = Run()
    terminal, daemon = at_terminal(run.answers(), "prompt", "rename my wifi")
    terminal.wait_for("Apply this? [y/N] ")
    run.approved.set()
    terminal.wait_for("Keep it? [y/N]")
    run.state = "confirmed"
    terminal.wait_for("Change k1 kept")
    assert terminal.leave() == 0
    assert daemon.params_of("plan.approve") == daemon.params_of("change.confirm") == []


def test_what_was_typed_before_the_question_does_not_answer_it(at_terminal):
    asked = threading.Event()
    run = Run()

    def slow_start(params):
        asked.wait(10)
        return STARTED

    answers = [("run.start", None, slow_start), *run.answers()]
    terminal, daemon = at_terminal(answers, "prompt", "rename my wifi")
    terminal.type("y\n")
    terminal.wait_for("y\r\n")
    asked.set()
    terminal.wait_for("Apply this? [y/N] ")
    terminal.type("n\n")
    terminal.wait_for("Then not.")
    assert terminal.leave() == 11
    assert daemon.params_of("plan.approve") == []


def test_ctrl_c_cancels_the_run_of_a_prompt(at_terminal):
    def hanging(params):
        if params["since"] == 0:
            return polled([{"type": "delta", "text": "Let me see"}], 0, "running")
        threading.Event().wait(5 if params["wait_ms"] == 15000 else 0)
        return polled([end("cancelled")], 1, "cancelled")

    answers = [("run.start", None, STARTED), ("run.poll", None, hanging), ("run.cancel", {"run": "r1"}, {"run": "r1"})]
    terminal, daemon = at_terminal(answers, "prompt", "what is slow")
    terminal.wait_for("Let me see")
    terminal.press_ctrl_c()
    terminal.wait_for("oasis: cancelled")
    assert terminal.leave() == 130
    assert daemon.params_of("run.cancel") == [{"run": "r1"}]


def test_second_ctrl_c_leaves_without_waiting(at_terminal):
    never = threading.Event()

    def hanging(params):
        if params["since"] == 0:
            return polled([{"type": "delta", "text": "Let me see"}], 0, "running")
        never.wait(15)
        return polled([], 1, "running")

    def hanging_cancel(params):
        never.wait(15)
        return {"run": "r1"}

    answers = [("run.start", None, STARTED), ("run.poll", None, hanging), ("run.cancel", None, hanging_cancel)]
    terminal, daemon = at_terminal(answers, "prompt", "what is slow")
    terminal.wait_for("Let me see")
    terminal.press_ctrl_c()
    while not daemon.params_of("run.cancel"):
        never.wait(0.01)
    terminal.press_ctrl_c()
    assert terminal.leave() == 130
    assert "Traceback" not in terminal.text
    never.set()


def test_ctrl_c_at_the_keep_question_says_how_to_keep(at_terminal):
    terminal, daemon = at_terminal(Run().answers(), "prompt", "rename my wifi")
    terminal.wait_for("Apply this? [y/N] ")
    terminal.type("y\n")
    terminal.wait_for("Keep it? [y/N]")
    terminal.press_ctrl_c()
    terminal.wait_for("to keep the change: oasis confirm k1")
    assert terminal.leave() == 130
    assert daemon.params_of("change.confirm") == daemon.params_of("change.rollback") == []


def test_change_that_comes_while_cancelling_is_told_and_not_asked_about(at_terminal):
    def poll(params):
        if params["since"] == 0:
            return polled([{"type": "delta", "text": "Let me see"}], 0, "running")
        if params["wait_ms"] == 15000:
            threading.Event().wait(5)
        return polled([{"type": "change", "change": change(confirm_in_s=90)}, end("cancelled")], 1, "cancelled")

    answers = [("run.start", None, STARTED), ("run.poll", None, poll), ("run.cancel", None, {"run": "r1"})]
    terminal, _ = at_terminal(answers, "prompt", "rename my wifi")
    terminal.wait_for("Let me see")
    terminal.press_ctrl_c()
    terminal.wait_for("Change k1 applied")
    terminal.wait_for("cancelled")
    terminal.wait_for("to keep the change: oasis confirm k1")
    assert terminal.leave() == 130
    assert "Keep it?" not in terminal.text


def test_approve_shows_the_plan_and_sends_the_whole_hash(at_terminal):
    terminal, daemon = at_terminal(Run().answers(), "approve", "p1")
    terminal.wait_for("+ option ssid 'Home'")
    terminal.wait_for("Apply this? [y/N] ")
    terminal.type("yes\n")
    terminal.wait_for("Renamed.")
    terminal.wait_for("Keep it? [y/N]")
    terminal.type("y\n")
    assert terminal.leave() == 0
    assert "I will rename it." not in terminal.text, "what came before the approval was read already"
    assert daemon.params_of("plan.approve") == [{"plan": "p1", "hash": HASH}]


def test_chat_continues_cancels_and_goes_on(at_terminal):
    started = iter(["r1", "r2"])
    never = threading.Event()

    def poll(params):
        if params["run"] == "r2":
            return polled([{"type": "delta", "text": "Here again."}, end()])
        if params["since"] == 0:
            return polled([{"type": "delta", "text": "Let me see"}], 0, "running")
        never.wait(5 if params["wait_ms"] == 15000 else 0)
        return polled([end("cancelled")], 1, "cancelled")

    answers = [
        ("info", None, info()),
        ("chat.load", {"id": "c1"}, {"id": "c1", "title": "t", "messages": [{"role": "user", "content": "earlier"}]}),
        ("run.start", None, lambda params: {"run": next(started), "chat": "c1"}),
        ("run.poll", None, poll),
        ("run.cancel", None, {"run": "r1", "state": "cancelled"}),
    ]
    terminal, daemon = at_terminal(answers, "chat", "--chat", "c1")
    terminal.wait_for("you: earlier")
    terminal.wait_for("offline intents: /help")
    terminal.wait_for("you: ")
    terminal.type("hello\n")
    terminal.wait_for("Let me see")
    terminal.press_ctrl_c()
    terminal.wait_for("cancelled")
    terminal.wait_for("you: ")
    terminal.type("again\n")
    terminal.wait_for("Here again.")
    terminal.wait_for("you: ")
    terminal.type("/nope\n")
    terminal.wait_for("unknown command /nope")
    terminal.wait_for("you: ")
    terminal.press_ctrl_c()
    assert terminal.leave() == 0
    assert [p["message"] for p in daemon.params_of("run.start")] == ["hello", "again"]
    assert {p["chat"] for p in daemon.params_of("run.start")} == {"c1"}


def test_chat_asks_about_a_plan_left_waiting(at_terminal):
    terminal, daemon = at_terminal(Run().answers(), "chat")
    terminal.wait_for("you: ")
    terminal.type("/plan\n")
    terminal.wait_for("Apply this? [y/N] ")
    terminal.type("y\n")
    terminal.wait_for("Renamed.")
    terminal.wait_for("Keep it? [y/N]")
    terminal.type("y\n")
    terminal.wait_for("you: ")
    terminal.type("/exit\n")
    assert terminal.leave() == 0
    assert daemon.params_of("run.start") == []


def test_deleting_a_chat_asks_first(at_terminal):
    answers = [("chat.load", {"id": "c1"}, {"id": "c1", "title": "Guests", "messages": []})]
    answers.append(("chat.delete", {"id": "c1"}, {"status": "OK"}))
    terminal, daemon = at_terminal(answers, "delete", "c1")
    terminal.wait_for('Delete the chat "Guests"? [y/N] ')
    terminal.type("n\n")
    assert terminal.leave() == 11
    assert daemon.params_of("chat.delete") == []


def test_json_asks_nothing_on_a_terminal(at_terminal):
    terminal, _ = at_terminal(Run().answers(), "-j", "prompt", "--no-wait", "rename my wifi")
    assert terminal.leave() == 10
    assert "Apply this" not in terminal.text
    assert f'"hash":"{HASH}"' in terminal.text


def test_no_colour_where_it_is_not_wanted(at_terminal):
    terminal, _ = at_terminal(Run().answers(), "approve", "p1", NO_COLOR="1")
    terminal.wait_for("Apply this? [y/N] ")
    terminal.type("n\n")
    terminal.leave()
    assert "\x1b[3" not in terminal.text
