"""`oasis prompt` and `oasis agent`, and how every command follows a run: show events, ask the owner, return a status.

Contract: a run lives in the daemon and goes on without us; leaving never approves, declines or keeps anything.
`Turn.follow` reads events until the run ends. Ctrl-C cancels the run; a second one leaves at once. The signals that end
a program whose terminal or caller is gone cancel it too: a run that nobody follows would hold its chat for minutes.
A goal of `agent` ends in one of five states, with the output lines and exit statuses of the Lua Oasis.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` loads enum: half the start-up time of a command
import time

from oasis.cli import cards
from oasis.cli.commands import CANCELLED, DECLINED, FAILED, OK, ROLLED_BACK, UNMADE, WAITING, given, whole
from oasis.cli.rpc_client import BrokenOff, error_of
from oasis.cli.terminal import GONE, YES, ask, read_text
from oasis.core import jsonl
from oasis.errors import CancelledError, OasisError, UnprovedError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli import shapes
    from oasis.cli.shapes import Call, Change, Mapping, PlanCard, RunParams, Sequence, Started
    from oasis.cli.terminal import Screen

POLL_MS = 15000
# The answer says that the change waits, the owner then decides, and what came of it is the last line. A model may take
# long for its words while the clock of the change runs: after so long they are asked all the same.
ANSWER_S = 5
LAST_POLL_MS = 2000  # after a cancel: the daemon needs at most 2 s to stop a worker
TOOL_TEXT = 100  # characters of a tool call shown while it runs; a line of a terminal
# The options that request.py reads; a plain question does without it.
_REQUEST = ("--continue", "--chat", "--head", "--topic", "--service", "--search", "--attach")
_ENDED = ("done", "cancelled", "error")
_STATUS_OF_CHANGE = {"applied": OK, "confirmed": OK, "rolled_back": ROLLED_BACK, "rollback_failed": 9}


def prompt(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    text = arguments["TEXT"]
    if text == "-":
        text = read_text()
    text = checked(text)
    more: RunParams = {}
    if any(arguments[option] for option in _REQUEST):
        from oasis.cli.request import run_params

        more = run_params(call, arguments, screen)
    return follow(call, call("run.start", {"message": text, **more}), screen, waits=not arguments["--no-wait"])


def checked(text: str) -> str:
    """Return the owner's words without the whitespace around them.

    Raises: UsageError for words that are no text.
    """
    text = text.strip()
    if not text:
        raise UsageError("the text is empty", "say what the router should do")
    try:
        text.encode("utf-8")
    except UnicodeError:
        raise UsageError("the text is not valid UTF-8", "set the terminal to UTF-8")
    return text


def word_option(plan: PlanCard) -> str:
    """Return the option of `oasis approve` that a plan's typed word needs, "" without one."""
    return f"--word {plan['typed_word']} " if plan.get("typed_word") else ""


def follow(call: Call, started: Started | PlanCard, screen: Screen, waits: bool = True, after_plan: str = "") -> int:
    """Follow a run to its end and return the exit status; Ctrl-C cancels it."""
    if screen.is_json and not after_plan:
        screen.json({"type": "run", "run": started["run"], "chat": started["chat"]})
    return followed(Turn(call, started["run"], screen, after_plan), waits)


def followed(turn: Turn, waits: bool = True) -> int:
    """Follow a turn to its end and return the exit status; Ctrl-C cancels it."""

    def leave(number: int, frame: object) -> None:
        raise SystemExit(CANCELLED)

    known = {number: _signal.getsignal(number) for number in (_signal.SIGTERM, _signal.SIGHUP)}
    for number, handler in known.items():
        if handler == _signal.SIG_DFL:  # what nohup ignores stays ignored
            _signal.signal(number, leave)
    try:
        return turn.follow(waits)
    except KeyboardInterrupt:
        return turn.cancel()
    except SystemExit:
        turn.cancel_run()  # and say nothing: who would read it may be gone
        raise
    finally:
        for number, handler in known.items():
            _signal.signal(number, handler)


class Turn:
    """One run as this terminal has seen it."""

    def __init__(self, call: Call, run_id: str, screen: Screen, after_plan: str = "") -> None:
        """`after_plan`: stay silent until that plan was decided (its events before are known already)."""
        self._call = call
        self._run = run_id
        self._screen = screen
        self._is_silent = bool(after_plan)
        self._after_plan = after_plan
        self._asks = screen.can_ask
        self._since = 0
        self._state = "running"
        self._is_over = False  # the end was seen
        self._answer = ""
        self._plan: PlanCard | None = None  # the plan that waits
        self._change: Change | None = None
        self._unkept: Change | None = None  # the change that the owner is still to be asked about
        self._ask_s = 0.0  # when at the latest
        self._status = OK  # of what happened to the plan and the change
        self._unmade = ""  # the plan that was approved, and of which no change has come
        self._has_failed = False  # the last tool that was called
        self._failure = ""  # its result
        self.unanswered: PlanCard | None = None  # a plan that was asked about and went before the answer
        self._has_dropped = False  # a plan, undecided, with the end of the run
        self._is_stopped = False  # by the service, not by who follows
        self._error_status = FAILED  # counts when the run ends with an error; others were recovered from
        self.message = ""  # the newest message that the run stored
        self.ending: shapes.GoalEnding | None = None  # of a goal in agent mode
        self.missing: list[str] = []  # what the owner would have to force for what was refused

    def follow(self, waits: bool) -> int:
        """Show events until the end; without `waits` a waiting plan is the end."""
        while True:
            left_s = self._ask_s - time.monotonic() if self._unkept else POLL_MS / 1000
            events = self._poll(max(int(left_s * 1000), 0))
            is_over = self._is_over or (self._state in _ENDED and not events)
            if self._unkept and (is_over or time.monotonic() >= self._ask_s):
                change, self._unkept = self._unkept, None
                if self._change and change["id"] == self._change["id"] and self._change["state"] == "applied":
                    self._screen.fresh_line()
                    self._see(ask_to_keep(self._call, change, self._screen))
            if is_over:
                return self._end()
            if self._state == "waiting" and self._plan:
                if self._asks:
                    plan, self._plan = self._plan, None  # asked once; what came of it is the run's next event
                    self._ask(plan)
                elif not waits:
                    return WAITING

    def _ask(self, plan: PlanCard) -> None:
        """Ask about a plan; where it went before the answer, or with it, what the run says of that is enough."""
        self.unanswered = plan
        try:
            if ask_approval(self._call, plan, self._screen):
                self.unanswered = None
        except OasisError as error:
            self._poll(0)
            if not self._is_stopped:
                self.unanswered = None
                self._screen.failure(error)

    def cancel(self) -> int:
        self._asks = False
        self.cancel_run()
        while self._state not in _ENDED and self._poll(LAST_POLL_MS):
            pass
        self._screen.notice("cancelled")
        self._tell_unkept()
        return CANCELLED

    def cancel_run(self) -> None:
        self._call("run.cancel", {"run": self._run})

    def _poll(self, wait_ms: int) -> Sequence[Mapping[str, object]]:
        try:
            reply = self._look(wait_ms)
        except BrokenOff:
            reply = self._look(wait_ms)  # which may be asked twice
        self._since = reply["next"]
        self._state = reply["state"]
        for event in reply["events"]:
            if event["type"] == "approval" and event["plan"] == self._after_plan:
                self._is_silent = False
            if self._is_silent:
                continue
            if self._screen.is_json:
                self._screen.json(event)
            handler = getattr(self, f"_on_{event['type']}", None)  # a newer daemon may send more
            if handler:
                handler(event)
        return reply["events"]

    def _look(self, wait_ms: int) -> shapes.Events:
        try:
            return self._call("run.poll", {"run": self._run, "since": self._since, "wait_ms": wait_ms})
        except UsageError:  # no run is known for as long as it is followed but by a service that began again
            self._has_dropped = self._has_dropped or bool(self._plan or self.unanswered)
            words = ": the plan that waited is dropped" if self._has_dropped else ""
            ended = CancelledError("stopped by the service, which began again" + words, "say it again").as_dict()
            return {
                "state": "cancelled", "next": self._since,
                "events": [{"type": "error", "error": ended}, {"type": "end", "state": "cancelled"}],
            }  # fmt: skip

    def _on_delta(self, event: shapes.TextEvent) -> None:
        self._answer += event["text"]
        self._say(event["text"])

    def _on_reset(self, event: shapes.TextEvent) -> None:
        """Show what is missing of the whole text, or all of it when it is another one."""
        whole = event["text"]
        if whole.startswith(self._answer):
            self._say(whole[len(self._answer) :])
        else:
            self._screen.fresh_line()
            self._say(whole)
        self._answer = whole

    def _on_message(self, event: shapes.MessageEvent) -> None:
        self._answer = ""
        self.message = event.get("id") or self.message
        self._screen.fresh_line()

    def _on_tool_use(self, event: shapes.ToolUseEvent) -> None:
        self._screen.fresh_line()
        self._screen.progress(cards.tool_line(event["name"], event["input"])[:TOOL_TEXT])

    def _on_tool_result(self, event: shapes.ToolEvent) -> None:
        self._has_failed = bool(event.get("is_error"))
        self._failure = event["text"] if self._has_failed else ""
        if self._has_failed:
            self._on_tool_progress({**event, "name": event["name"] + " failed"})

    def _on_tool_progress(self, event: shapes.ToolEvent) -> None:
        self._screen.progress(f"[{event['name']}: {event['text']}"[:TOOL_TEXT] + "]")

    def _on_plan(self, event: shapes.PlanEvent) -> None:
        plan = event["plan"]
        waits = plan["needs_approval"]
        self._plan = plan if waits else None
        self._unmade = "" if plan.get("call") else plan["id"]
        self._screen.card(cards.plan_card(plan, with_hash=waits and not self._asks))
        if waits and not self._asks:
            self._screen.notice(f"waiting for approval: oasis approve {word_option(plan)}{plan['id']} {plan['hash']}")

    def _on_refused(self, event: shapes.RefusalEvent) -> None:
        self._screen.fresh_line()
        self._screen.card(cards.refused_card(event))

    def _on_approval(self, event: shapes.Decision) -> None:
        if self._plan and self._plan["id"] == event["plan"]:
            self._plan = None
        self._has_dropped = event["decision"] == "cancelled"
        if event["decision"] not in ("approved", "automatic"):
            self._unmade = ""
        if event["decision"] in ("declined", "expired"):
            self._status = DECLINED
            why = f": {event['reason']}" if event.get("reason") else ""
            self._screen.notice(f"the plan {'was declined' if event['decision'] == 'declined' else 'has expired'}{why}")

    def _on_change(self, event: shapes.ChangeEvent) -> None:
        change = event["change"]
        is_known = bool(self._change and change["id"] == self._change["id"])  # more time, or a proof
        self._see(change)
        if not is_known and self._asks and change["state"] == "applied" and change.get("confirm_in_s"):
            self._unkept, self._ask_s = change, time.monotonic() + ANSWER_S

    def _on_error(self, event: shapes.ErrorEvent) -> None:
        error = error_of(event["error"])
        self._failure = ""  # this is said in its place
        self._is_stopped = error.code == "cancelled"
        self.missing = list(event["error"].get("force", []))
        self._error_status = error.exit_status
        if not self._screen.is_json:
            self._screen.failure(error)

    def _on_note(self, event: shapes.TextEvent) -> None:
        for line in event["text"].split("\n"):
            self._screen.notice(line)

    def _on_trimmed(self, event: shapes.TrimmedEvent) -> None:
        count = event["messages"]
        what = "the oldest message" if count == 1 else f"the {count} oldest messages"
        tokens = f" (about {event['tokens']} tokens)" if event.get("tokens") else ""
        self._screen.notice(f"{what} of this thread{tokens} did not fit and went unseen by the model")

    def _on_agent(self, event: shapes.GoalEnding) -> None:
        self.ending = {
            "state": event["state"], "message": event["message"], "turns": event["turns"], "tools": event["tools"],
        }  # fmt: skip

    def _on_title(self, event: shapes.TitleEvent) -> None:
        self._screen.fresh_line()
        self._screen.progress(f"Title: {event['title']}  ID: {event['chat']}")

    def _on_end(self, event: shapes.EndEvent) -> None:
        self._is_over = True
        self._state = event["state"]

    def _see(self, change: Change) -> None:
        """Show a change whose state is new and an end of something: "prepared" is none."""
        if change["state"] not in cards.STATES:
            return
        if self._change and (change["id"], change["state"]) == (self._change["id"], self._change["state"]):
            return
        self._change = change
        self._unmade = ""
        self._status = _STATUS_OF_CHANGE[change["state"]]
        self._screen.card(cards.change_card(change))

    def _end(self) -> int:
        self._screen.fresh_line()
        self._tell_unkept()
        if self._is_stopped:
            return DECLINED if self._has_dropped else CANCELLED
        if self._state == "cancelled":
            self._screen.notice("cancelled")
            return CANCELLED
        if self._status != OK:
            return self._status
        if self._failure and not (self.message or self._unmade):  # of a tool called by itself: nobody else tells why
            return self._tell_failure()
        if self._state == "error":
            return self._error_status
        return UNMADE if self._unmade else FAILED if self._has_failed else OK

    def _tell_failure(self) -> int:
        """Say why a tool failed; return the exit status."""
        is_ours = self._failure.startswith('{"error":')
        found = jsonl.loads(self._failure, len(self._failure) * 4) if is_ours else None
        told = found.get("error") if isinstance(found, dict) else None
        error = error_of(told) if isinstance(told, dict) else OasisError(self._failure)
        return self._screen.failure(error) if not self._screen.is_json else error.exit_status

    def _tell_unkept(self) -> None:
        if self._change and self._change["state"] == "applied" and self._change.get("confirm_in_s"):
            self._screen.notice(f"to keep the change: oasis confirm {self._change['id']}")

    def _say(self, text: str) -> None:
        if not self._screen.is_json:
            self._screen.text(text)


PUT_BACK_S = 30  # restoring files takes an instant, reading back that services run up to 20 s


def ask_approval(call: Call, plan: PlanCard, screen: Screen) -> bool:
    """Ask the person at the terminal about a plan just shown and send the answer; return whether there was one."""
    word = str(plan.get("typed_word", ""))
    other = plan["choice"]["say"] if plan.get("choice") else ""
    keys = "y/N/" + other if other else "y/N"
    question = f"Apply this? Type {word} to do it:" if word else f"Apply this? [{keys}]"
    answer = ask(screen, question, lambda: waiting_plan(call, plan["id"]) is not None, word=word, other=other)
    if answer == YES:
        call("plan.approve", {"plan": plan["id"], "hash": plan["hash"], **given(word=word)})
    elif answer != GONE:
        call("plan.decline", {"plan": plan["id"], **given(reason=other if answer == other else "")})
    return answer != GONE


def waiting_plan(call: Call, plan_id: str) -> PlanCard | None:
    return next((plan for plan in call("plan.list", {})["plans"] if plan["id"] == plan_id), None)


def ask_to_keep(call: Call, change: Change, screen: Screen) -> Change:
    """Ask whether a change just applied stays, and return the change as it then is."""

    def waiting() -> Change | None:
        found = pending_change(call)
        return found if found and found["id"] == change["id"] else None

    def current() -> Change:
        return next((one for one in call("change.list", {})["changes"] if one["id"] == change["id"]), change)

    def is_waiting() -> bool:
        return waiting() is not None

    applied = waiting()
    if not applied:
        return current()
    answer = ask(screen, "Keep it? [y/N]", is_waiting, applied.get("confirm_in_s") or 0)
    if answer == GONE:
        for _ in range(PUT_BACK_S):  # until it is rolled back, or was decided elsewhere
            change = current()
            if change["state"] != "applied":
                break
            time.sleep(1)
        return change
    try:
        if answer != YES:
            return call("change.rollback", {"change": change["id"]})["change"]
        try:
            return call("change.confirm", {"change": change["id"]})["change"]
        except UnprovedError as error:  # nothing proves that the owner still gets in: is that meant?
            screen.failure(error)
        still = waiting()
        left_s = still.get("confirm_in_s", 0) if still else 0
        if ask(screen, "Keep it without a proof? [y/N]", is_waiting, left_s) != YES:
            return current()
        return call("change.confirm", {"change": change["id"], "unproved": True})["change"]
    except OasisError as error:
        screen.failure(error)
        return current()


def pending_change(call: Call) -> Change | None:
    return call("change.pending", {})["change"]


STATUSES = {"DONE": 0, "NEED_INPUT": 20, "NEED_CONFIRMATION": 21, "STUCK": 1, "FAILED": 2}


def agent(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    goal, turns = arguments["GOAL"], arguments["-t"]
    first, _, rest = goal.replace("\n", " ").partition(" ")
    name, equals, number = first.partition("=")
    if equals and name in ("t", "turns"):
        goal, turns = rest, number
    if turns and whole(turns) < 0:
        raise UsageError(f"{turns!r} is no number of turns", "like: oasis agent -t 4 find out why the TV is slow")
    more = given(service=arguments["--service"], chat=arguments["--chat"], turns=whole(turns or "0"))
    started = call("agent.start", {"goal": checked(goal), **more})
    if screen.is_json:
        screen.json({"type": "run", **started})
    turn = Turn(call, started["run"], screen)
    status = followed(turn)
    ending = turn.ending
    if not ending:
        return status  # it was left before its end
    # As JSON the event stands among the others.
    screen.card([
        f"STATE: {ending['state']}", f"MESSAGE: {ending['message']}", f"TURNS: {ending['turns']}",
        f"TOOLS: {', '.join(ending['tools']) or 'none'}", "OASIS_AGENT_RESULT=" + jsonl.dumps(ending),
    ])  # fmt: skip
    return STATUSES.get(ending["state"], STATUSES["FAILED"])
