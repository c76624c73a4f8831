"""The runs of jobs: ordinary turns in a chat of the job's own, one at work at a time.

Jobs that are due at once start in order, each when the one before has ended or waits for the owner, so "off at 22" and
"on at 8" end as they should after a night without power. A waiting plan gives way to the next run of its job, and the
oldest one to another job when too many wait: the daemon has few runs. Each run begins a thread of its own in the chat,
so neither cost nor taint grows from run to run; the bookmark `schedule:ID` stands at the newest.

A job with calls needs no model: `Calls` answers the first round with its tool calls and the second with their results,
each under the name of its tool, or in the words of a model without tools where the job says how. If that model fails,
the plain results are shown.
"""

from __future__ import annotations

import os
import threading

from oasis.config.settings import OFFLINE
from oasis.core import clean, jsonl, schema
from oasis.errors import OasisError, SchemaError, SettingsError, UsageError
from oasis.parts.schedule import approved_ahead
from oasis.parts.schedule.job import STATES, of_plan
from oasis.tools.principal import Principal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    from oasis.agent.runs import Run
    from oasis.agent.shapes import AnswerEvent as Answered
    from oasis.agent.shapes import Ask, Asked, OfferedTool, OnEvent
    from oasis.api.parts import Services
    from oasis.change.shapes import Plan
    from oasis.config.shapes import Service
    from oasis.core.shapes import Message, Sequence
    from oasis.core.store import Chat
    from oasis.parts.schedule.job import Jobs
    from oasis.parts.schedule.shapes import Approval, Callable, Event, Job, PlanNote, ToolCall
    from oasis.tools.shapes import TurnExtras

    class Item(TypedDict):
        """A run that waits to begin."""

        job: Job
        event: Event | None
        tries: int
        from_s: float

    Asker = Callable[[Service], Ask]

# A plan of the night is found in the morning, and one of the morning in the evening.
WAIT_S = 12 * 3600
# Waiting plans: the owner's own messages need room among the runs of a daemon (runs.py).
WAITING = 4
# The daemon has no room for another run, or the chat is in use.
RETRY_S, TRIES = 60, 10
# After so many turns a job gets another chat: the quota of chats gives up whole ones.
TURNS = 60
# Where a model words the results: the smallest alias that the owner made.
_SMALL = ("nano", "milli", "kilo")
_FILE = os.path.dirname(os.path.abspath(__file__)) + "/prompts.json"
TITLE_CHARS, SUMMARY_CHARS = 60, 160
# As many as an answer of a model may have (turn.py).
CALLS = 8
_CALL_HINT = 'like {"tool": "status", "params": {"what": "devices"}}'
# What passes of a model that words the results: never a tool call, nor commands in blocks.
_PASSED = ("delta", "usage", "done", "error")
_NOTED = "approved for the runs of this schedule; nothing is changed now"
_EVERY = "ahead, for every run (%s): %s"
_AHEAD = "schedule %s: approved ahead"


class JobRun(Principal):
    """One run of a job: its principal, and the approver of its plans.

    Low risk is applied; anything else waits for the owner, much longer than when they are there, unless that very plan
    was approved ahead. A dry run does nothing: each plan is shown, and what the owner approves is kept for later runs.
    """

    is_attended = False

    def __init__(
        self, runner: Runner, job: Job, system: str, taint: list[str], calls: Calls | None = None,
        rehearses: bool = False,
    ) -> None:  # fmt: skip
        """Prepare a run; `system` is for a model, `taint` says whose words are in it, `rehearses` makes it a dry run.

        `runner` hears of a plan that will wait (`plan_waits`) and of the run's end (`run_ended`).
        """
        super().__init__("schedule")
        self.job = job
        self.rehearses = rehearses
        self.approver = self
        self.cancel: Callable[[], None] = lambda: None
        self.is_waiting = False
        self.decided = ""  # what became of the plan that waited last, "" where none did
        self.plan: PlanNote = {"state": ""}  # what is kept of that plan
        self.approved: list[Approval] = []
        self.has_teller = calls is not None and calls.has_teller
        self._is_ahead = False  # whether the plan that was judged last was approved ahead
        self._runner = runner
        self._shop = runner.shop
        self._system = system
        self._system_taint = taint
        self._calls = calls

    def asking(
        self, services: list[Service], told: TurnExtras | None, asker: Asker
    ) -> tuple[list[Service], Asker]:  # fmt: skip
        """Return the services to ask and how; a model gets the prompt of this run."""
        if told is not None:
            told.system.append(self._system)
            told.taint += self._system_taint
        if self._calls is None:
            return services, asker
        calls = self._calls
        return services[:1], lambda service: calls.asking(asker)

    def began(self, cancel: Callable[[], None]) -> None:
        """Let a waiting run give way to another one."""
        self.cancel = cancel

    def ended(self, chat: Chat, state: str) -> None:
        """Report the end."""
        self._runner.run_ended(self, state, _last_words(chat))

    # As the approver of its plans

    def judge(self, plan: Plan) -> Plan:
        """Return the plan, bound to wait for the owner wherever they must decide because nobody is there."""
        bind = self._shop.planner.bind
        if self.rehearses:
            return bind(plan, needs_approval=True, summary=_EVERY % (self.job["when"], plan["summary"]))
        if plan["risk"] == "low" and not plan["needs_approval"]:
            return plan
        self._is_ahead = approved_ahead.fits(plan, self.job.get("approved", []), self._shop.planner.read)
        if self._is_ahead:  # then nobody need be there to confirm it
            return bind(plan, needs_approval=True, confirm_s=0)
        made = bind(plan, needs_approval=True, expires_s=self._shop.now_s() + WAIT_S)
        # All of this before it is shown: whoever sees it may decide at once.
        self.is_waiting = True
        self._runner.plan_waits(self, made)
        return made

    def wait(self, plan: Plan, is_cancelled: Callable[[], bool]) -> tuple[str, str]:
        """Wait as the approval queue does, see change/approval.py; what is approved in a dry run is "noted"."""
        if self.rehearses:
            return self._dry_run(plan, is_cancelled)
        if self._is_ahead:
            return "approved", _AHEAD % self.job["id"]
        try:
            found = self._shop.approvals.wait(plan, is_cancelled)
            self.decided = found[0]
            return found
        finally:
            self.is_waiting = False

    def _dry_run(self, plan: Plan, is_cancelled: Callable[[], bool]) -> tuple[str, str]:
        why = approved_ahead.fault(plan)
        if why:
            return "declined", "not to be approved ahead: %s; it waits for the owner each time" % why
        decision, words = self._shop.approvals.wait(plan, is_cancelled)
        if decision != "approved":
            return decision, words
        self.approved.append(approved_ahead.approval(plan, self._shop.planner.read))
        return "noted", _NOTED


def _last_words(chat: Chat) -> str:
    """Return the last thing a run said, or the error that stopped it."""
    for message in reversed(list(chat.messages.values())):
        if message["role"] == "assistant":
            error = message.get("error")
            text = str(error["message"]) if error else schema.text_of(message)
            if text.strip():
                return clean.line(text.strip())
    return ""


class Runner:
    """The runs of one daemon; `wake()` makes the timer pump again."""

    def __init__(self, kit: Services, jobs: Jobs, wake: Callable[[], object]) -> None:
        self.shop = kit
        self._kit = kit
        self._jobs = jobs
        self._wake = wake
        self._lock = threading.RLock()
        self._queue: list[Item] = []
        self._runs: list[JobRun] = []
        self._chats: dict[str, str] = {}

    def add(self, job: Job, event: Event | None = None) -> None:
        """Queue a run of a job."""
        with self._lock:
            self._queue.append({"job": job, "event": event, "tries": 0, "from_s": 0.0})

    def chat(self, job: Job) -> str:
        """Return the chat of a job, "" where it has none yet."""
        return self._chats.get(job["id"]) or str(job.get("chat", ""))

    def is_active(self, job: Job) -> bool:
        """Return whether a run of a job is at work or waits."""
        with self._lock:
            return any(one.job["id"] == job["id"] for one in self._runs)

    def is_waiting(self, job: Job) -> bool:
        """Return whether a plan of a job waits for the owner."""
        with self._lock:
            return any(one.job["id"] == job["id"] and one.is_waiting for one in self._runs)

    def is_idle(self) -> bool:
        """Return whether no run waits to begin."""
        with self._lock:
            return not self._queue

    def pump(self) -> float | None:
        """Begin what can begin now; return the seconds until another try, None when an end or a job brings it."""
        with self._lock:
            while self._queue:
                item = self._queue[0]
                wait_s = item["from_s"] - self._kit.clock.now_s()
                if wait_s > 0:
                    return float(wait_s)
                if not self._has_room(item):
                    return None
                self._queue.pop(0)
                self._begin(item)
            return None

    def _has_room(self, item: Item) -> bool:
        """Return whether a job's run may begin; a waiting run in its way is cancelled, and wakes us at its end."""
        own = [one for one in self._runs if one.job["id"] == item["job"]["id"]]
        waiting = [one for one in self._runs if one.is_waiting]
        if any(not one.is_waiting for one in self._runs):
            return False
        for one in own or waiting[: max(len(waiting) - WAITING + 1, 0)]:
            one.cancel()
            return False
        return True

    def _begin(self, item: Item) -> None:
        job = item["job"]
        try:
            self.start(job, item["event"])
        except SettingsError as error:
            self.disable(job, error.message)
        except UsageError as error:  # too many runs, or somebody talks in its chat
            item["tries"] += 1
            if item["tries"] < TRIES:
                item["from_s"] = self._kit.clock.now_s() + RETRY_S
                self._queue.insert(0, item)
            else:
                self.tell(job, "could not be run: " + error.message)
        except OasisError as error:
            self.tell(job, "could not be run: " + error.message)

    def disable(self, job: Job, why: str) -> None:
        """Disable a job and tell the owner, unless they have changed it meanwhile."""
        if self._jobs.disable(job, why):
            self.tell(job, "is switched off: " + why)

    def start(self, job: Job, event: Event | None = None, rehearses: bool = False) -> Run:
        """Start a run of a job.

        Raises: as a turn does, see agent/start.py.
        """
        with self._lock:
            made = self._job_run(job, event, rehearses)
            service = OFFLINE if job.get("calls") else job.get("service", "")
            # Each run begins a thread of its own, and the job's bookmark moves there.
            asked: Asked = {
                "message": job["wish"], "chat": self._open_chat(job), "service": service, "continues": [],
                "head": "schedule:" + job["id"], "moves_head": True,
            }  # fmt: skip
            run = self._kit.turn_starter().start(asked, (), made)
            self._chats[job["id"]] = run.chat
            if not rehearses:  # nobody waits for the end of one
                self._runs.append(made)
            return run

    def _open_chat(self, job: Job) -> str:
        chats, name = self._kit.chats, self.chat(job)
        if not name:  # it is noted with the next firing; after a restart the bookmark names it
            try:
                name = chats.find("schedule:" + job["id"])[0]
            except UsageError:
                return ""
        if not chats.store.has(name) or chats.item(name).get("exchanges", 0) >= TURNS:
            return ""
        return name

    def _job_run(self, job: Job, event: Event | None, rehearses: bool) -> JobRun:
        words = prompts()
        system, taint = [words["system"] % job["when"]], []
        if event is not None:
            system.append(words["event"] % jsonl.dumps(event["text"]))
            taint += event["taint"]
        if rehearses:
            system.append(words["rehearsal"])
        calls = None
        if job.get("calls"):
            now = self._jobs.zone(job).shown(self._kit.clock.unix_s())
            instruction = words["synthesis"] % (now, job["wish"], job.get("synthesis", ""))
            calls = Calls(job, instruction, None if rehearses else self._teller(job))
        return JobRun(self, job, "\n".join(system), taint, calls, rehearses)

    def _teller(self, job: Job) -> Service | None:
        """Return the service that words the results of a job, None where they are shown as they are."""
        if not job.get("synthesis"):
            return None
        try:
            found = self._small(job.get("service", ""))
        except OasisError:
            return None
        return found if found["vendor"] != OFFLINE else None

    def _small(self, wanted: str) -> Service:
        """Return the wanted service, else the smallest that is no farther away than the usual one.

        Raises: SettingsError when there is none.
        """
        settings = self._kit.settings
        usual = settings.service(wanted)
        name = next((name for name in _SMALL if name in settings.aliases()), "")
        if wanted or not name:
            return usual
        small = settings.service(name)
        is_home = usual["is_local"] and usual["vendor"] != OFFLINE
        return small if small["is_local"] or not is_home else usual  # results of a home service stay there

    def plan_waits(self, made: JobRun, plan: Plan) -> None:
        """Note that a plan of a run is going to wait, tell the owner, and let other jobs run meanwhile."""
        until_s = self._kit.clock.unix_s() + WAIT_S
        until = self._jobs.zone(made.job).shown(until_s)
        summary = self._short(plan["summary"] or "a plan")
        made.plan = {"state": "waiting", "id": str(plan["id"]), "summary": summary, "until_unix_s": until_s}
        self._jobs.note_plan(made.job, made.plan)
        text = "waits for you until %s: %s" % (until, plan["summary"] or "a plan")
        self._tell(made.job, text, "schedule_waiting", str(plan["id"]))
        self._wake()

    def run_ended(self, made: JobRun, state: str, words: str) -> None:
        """Note what became of a run and tell the owner; `words` are its last."""
        with self._lock:
            self._runs = [one for one in self._runs if one is not made]
        if made.rehearses:
            self._jobs.approve(made.job, made.approved)
        else:
            is_over = made.decided in STATES
            plan: PlanNote = {**made.plan, "state": made.decided}
            if is_over or not self.is_waiting(made.job):
                self._jobs.note_plan(made.job, plan if is_over else None)
            begin = {"done": "", "cancelled": "was stopped. "}.get(state, "failed: ")
            if is_over:
                until = self._jobs.zone(made.job).shown(int(plan.get("until_unix_s", 0)))
                begin = "%s. " % of_plan(plan, until)
            self.tell(made.job, begin + (words or "nothing was said"))
        self._wake()

    def _short(self, text: str) -> str:
        """Return a plan's summary as it is kept on flash and shown."""
        hidden = str(self._kit.redactor.text(clean.line(text)))
        return hidden[:SUMMARY_CHARS] + ("…" if len(hidden) > SUMMARY_CHARS else "")

    def tell(self, job: Job, text: str) -> None:
        """Tell the owner what became of a job."""
        self._tell(job, text, "schedule_result", "")

    def _tell(self, job: Job, text: str, kind: str, plan: str) -> None:
        title = job["wish"][:TITLE_CHARS] + ("…" if len(job["wish"]) > TITLE_CHARS else "")
        words = "%s (%s): %s" % (title, job["when"], text)
        self._kit.parts.part("notice").tell(kind, words, chat=self.chat(job), schedule=job["id"], plan=plan)


def prompts() -> dict[str, str]:
    """Return the prompts for models."""
    with open(_FILE, "rb") as handle:
        found: dict[str, str] = jsonl.shipped(handle.read())
        return found


# Jobs with tool calls instead of a model


def parsed_calls(given: Sequence[object]) -> list[ToolCall]:
    """Return tool calls, each given as {"tool", "params"} or as its JSON.

    Raises: UsageError naming the call.
    """
    if len(given) > CALLS:
        raise UsageError("%d calls of tools" % len(given), "at most %d in one schedule" % CALLS)
    return [_call(one, number) for number, one in enumerate(given)]


def _call(given: object, number: int) -> ToolCall:
    try:
        value: object = jsonl.loads(given) if isinstance(given, str) else given
    except SchemaError as error:
        raise UsageError("calls[%d] is no JSON: %s" % (number, error.message), _CALL_HINT)
    if isinstance(value, dict) and not set(value) - {"tool", "params"}:
        tool, params = value.get("tool"), value.get("params", {})
        if isinstance(tool, str) and isinstance(params, dict):
            return {"tool": tool, "params": params}
    raise UsageError("calls[%d] names no tool, or has something else in it" % number, _CALL_HINT)


class Calls:
    """The tool calls of one run; `service` words the results, None where they are shown as they are."""

    def __init__(self, job: Job, instruction: str, service: Service | None) -> None:
        self._job = job
        self._instruction = instruction
        self._service = service

    @property
    def has_teller(self) -> bool:
        """Whether a model gets the results, so that what is kept from models is kept from this one as well."""
        return self._service is not None

    def asking(self, asker: Asker) -> Ask:
        """Return what answers in place of a model; `asker(service)` returns what asks a service."""

        def ask(messages: list[Message], tools: list[OfferedTool], on_event: OnEvent) -> None:
            if messages[-1]["role"] != "tool":
                self._begin(on_event)
            elif self._service is None or not self._worded(asker(self._service), messages, on_event):
                text = "**%s**\n\n%s" % (self._job["wish"], _sections(messages[-1]))
                on_event({"type": "delta", "text": text})
                on_event({"type": "done", "stop_reason": "end_turn", "model": ""})

        return ask

    def _begin(self, on_event: OnEvent) -> None:
        for number, call in enumerate(self._job["calls"]):
            name = "schedule_%d" % number
            on_event({"type": "tool_use", "id": name, "name": call["tool"], "input": call["params"]})
        on_event({"type": "done", "stop_reason": "tool_use", "model": ""})

    def _worded(self, ask: Ask, messages: list[Message], on_event: OnEvent) -> bool:
        """Have a model word the results; return whether it said anything."""
        said: list[str] = []
        service = self._service
        assert service is not None

        def hear(event: Answered) -> None:
            if event["type"] == "delta":
                if not said:
                    on_event({"type": "source", "provider": service["identifier"], "model": service["model"]})
                said.append(event["text"])
            if event["type"] == "done":
                event = {**event, "stop_reason": "end_turn"}
            if said and event["type"] in _PASSED:
                on_event(event)

        system: Message = {"role": "system", "content": self._instruction}
        taint = [label for message in messages for label in schema.taint_of(message)]
        if taint:
            system["taint"] = list(dict.fromkeys(taint))
        try:
            ask([system, {"role": "user", "content": _sections(messages[-1])}], [], hear)
        except OasisError:
            if said:
                raise  # the owner stopped it, or it broke in the middle
        return bool(said)


def _sections(results: Message) -> str:
    """Return each result under the name of its tool, errors named as such."""
    found = []
    for block in schema.blocks(results):
        text = "".join(one["text"] for one in block["content"] if one["type"] == "text")
        found.append("### %s\n%s%s" % (block["name"], "error: " if block.get("is_error") else "", text))
    return "\n\n".join(found)
