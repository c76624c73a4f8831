"""Scheduled jobs as they are kept, and their runs: ordinary turns in a chat of the job's own, one at work at a time.

Shape: Job in shapes.pyi, a line of schedule.jsonl each; a line of somebody else's that is no job stops no other.

Jobs that are due at once start in order, each when the one before has ended or waits for the owner, so "off at 22" and
"on at 8" end as they should after a night without power. Only what looks goes past a job that waits for the window of
an earlier change. A waiting plan gives way to the next run of its job, and the
oldest one to another job when too many wait: the daemon has few runs. Each run begins a thread of its own in the chat,
so neither cost nor taint grows from run to run; the bookmark `schedule:ID` stands at the newest.

A job with calls needs no model: the first round is answered with its tool calls and the second with their results,
each under the name of its tool, or in the words of a model without tools where the job says how. If that model fails,
the plain results are shown.

A plan that the owner approved ahead (ahead.py) is applied; the run of a dry run is part of its plans' hashes: an
approval given there fits nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from oasis.config.settings import OFFLINE
from oasis.core import clean, jsonl, schema
from oasis.errors import OasisError, SchemaError, SettingsError, UsageError
from oasis.parts.schedule.ahead import approval_ahead, fits_ahead, why_not_ahead
from oasis.parts.schedule.zone import Zone, Zones
from oasis.tools.principal import Principal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeGuard

    from oasis.agent.runs import Run
    from oasis.agent.shapes import AnswerEvent as Answered
    from oasis.agent.shapes import Ask, Asked, OfferedTool, OnEvent
    from oasis.api.parts import Services
    from oasis.change.shapes import Plan
    from oasis.config.shapes import Service
    from oasis.core.shapes import Message, Sequence
    from oasis.core.store import Chat
    from oasis.parts.schedule.shapes import Approval, Event, Item, Job, PlanNote, ToolCall
    from oasis.system.records import Record, Records
    from oasis.tools.shapes import TurnExtras

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
TITLE_CHARS, SUMMARY_CHARS = 60, 160
# As many as an answer of a model may have (turn.py).
CALLS = 8
_CALL_HINT = 'like {"tool": "status", "params": {"what": "devices"}}'
# What passes of a model that words the results: never a tool call, nor commands in blocks.
_PASSED = ("delta", "usage", "done", "error")
_NOTED = "approved for the runs of this schedule; nothing is changed now"
NEEDED = ("when", "wish")
_LATEST_S = 1 << 37  # behind the year 6000
_KINDS: dict[str, type] = {
    "when": str, "wish": str, "synthesis": str, "service": str, "timezone": str, "chat": str, "note": str,
    "since_unix_s": int, "fired_unix_s": int, "pause_s": int, "calls": list, "approved": list, "plan": dict,
}  # fmt: skip
# What the owner sees of a job in its dry run: with another of these the approval is for another job.
_SHOWN_AHEAD = ("when", "timezone", "wish", "calls")
# What became of the plan of the last run, in words; "lost" means the daemon ended while it waited.
STATES = {
    "waiting": "its plan waits for you until %(until)s: %(plan)s",
    "expired": "its plan waited until %(until)s, nobody decided, and nothing was done: %(plan)s",
    "declined": "its plan was declined, and nothing was done: %(plan)s",
    "cancelled": "its plan was stopped while it waited, and nothing was done: %(plan)s",
    "lost": "its plan was lost when oasis ended while it waited, and nothing was done: %(plan)s",
}


class Jobs:
    """The jobs of one daemon; `editing` is held while one is read and written back."""

    def __init__(self, records: Records, zones: Zones, log: Callable[..., object]) -> None:
        self.editing = threading.RLock()
        self.records = records  # also those that are no job
        self._zones = zones
        self._log = log

    def valid(self) -> list[Job]:
        """Return the records that are jobs."""
        return [record for record in self.records.all() if not fault(record)]  # type: ignore[misc]  # checked

    def enabled(self) -> list[Job]:
        """Return the jobs that are enabled."""
        return [one for one in self.valid() if one.get("enabled")]

    def get(self, name: str) -> Job | None:
        """Return a job, None for an unknown or invalid one."""
        record = self.records.get(name)
        return None if record is None or fault(record) else record  # type: ignore[return-value]  # checked

    def find(self, name: str) -> Job:
        """Return a job. Raises: UsageError for an unknown or invalid one."""
        found = self.get(name)
        if found is None:
            what = "the scheduled job %s cannot be read: %s" % (name, fault(self._record(name)))
            raise UsageError(what, "delete it, and make it again")
        return found

    def _record(self, name: str) -> Record:
        found = self.records.get(name)
        if found is None:
            raise UsageError("unknown scheduled job %r" % name, "list them with: oasis schedule")
        return found

    def put(self, job: Job) -> None:
        """Write a job. Raises: StoreError."""
        self.records.put({**job})

    def delete(self, name: str) -> int:
        """Delete a job, or with "" all of them; return how many. Raises: UsageError for an unknown one."""
        with self.editing:
            records = [self._record(name)] if name else self.records.all()
            return self.records.delete([record["id"] for record in records], forget=True)

    def zone(self, job: Job) -> Zone:
        """Return the zone of a job's times. Raises: UsageError for an invalid one."""
        return Zone(job["timezone"]) if job.get("timezone") else self._zones.router()

    def plan_words(self, job: Job, plan: PlanNote) -> str:
        """Return what became of the plan of a job's last run, "" for an unknown state."""
        until_s, until = plan.get("until_unix_s"), ""
        try:
            until = self.zone(job).shown(until_s if _is_time(until_s) else 0)
        except OasisError:
            pass  # its zone is one no more
        return STATES.get(str(plan.get("state")), "") % {"until": until, "plan": plan.get("summary") or "a plan"}

    def disable(self, job: Job, why: str) -> bool:
        """Disable a job; return False where the owner has changed or deleted it meanwhile."""
        with self.editing:
            now = self.get(job["id"])
            is_same = now is not None and now["when"] == job["when"]
            if now is not None and is_same:
                self.put({**now, "enabled": False, "note": why})
            return is_same

    def approve(self, job: Job, approvals: list[Approval]) -> None:
        """Keep the plans that were approved in a job's dry run, unless it is another job by now."""
        with self.editing:
            now = self.get(job["id"])
            if now is not None and approvals and all(now.get(key) == job.get(key) for key in _SHOWN_AHEAD):
                self.put({**now, "approved": approvals})

    def note_plan(self, job: Job, plan: PlanNote | None) -> None:
        """Keep what became of a plan with which a job's run waited; None removes the note."""
        try:
            with self.editing:
                now = self.get(job["id"])
                if now is None or now.get("plan") == plan:
                    return
                now.pop("plan", None)
                if plan:
                    now["plan"] = plan
                self.put(now)
        except OasisError as error:  # the notice reports it all the same
            self._log("schedule: %s" % error.message)


def fault(record: Record) -> str:
    """Return why a record is no job, "" for a job."""
    for name in NEEDED:
        if not record.get(name):
            return "it has no %s" % name
    for name, kind in _KINDS.items():
        value = record.get(name, kind())
        if not isinstance(value, kind) or (kind is int and not _is_time(value)):
            return "its %s is invalid" % name
    if not all(isinstance(one, dict) for one in [*record.get("calls", []), *record.get("approved", [])]):
        return "its calls are invalid"
    return ""


def _is_time(value: object) -> TypeGuard[int]:
    """Return whether a number of a record is a time that a calendar has; others are nobody's but the flash's."""
    return isinstance(value, int) and 0 <= value < _LATEST_S


class JobRun(Principal):
    """One run of a job: its principal, and the approver of its plans.

    Low risk is applied; anything else waits for the owner, much longer than when they are there, unless that very plan
    was approved ahead. A dry run does nothing: each plan is shown, and what the owner approves is kept for later runs.
    """

    is_attended = False

    def __init__(
        self, runner: Runner, job: Job, system: str, taint: list[str], teller: Service | None = None, *,
        instruction: str = "", rehearses: bool = False,
    ) -> None:  # fmt: skip
        """Prepare a run; `system` is for a model, `taint` says whose words are in it, `rehearses` makes it a dry run.

        `teller` words the results of a job's calls as `instruction` says, without one they are shown as they are.
        """
        super().__init__("schedule")
        self.job = job
        self.rehearses = rehearses
        self.needs_service = not job.get("calls")
        self.approver = self
        self.cancel: Callable[[], None] = lambda: None
        self.is_waiting = False
        self.decided = ""  # what became of the plan that waited last, "" where none did
        self.plan: PlanNote = {"state": ""}  # what is kept of that plan
        self.approved: list[Approval] = []
        # What is kept from models is kept from the one that words the results as well.
        self.has_teller = teller is not None
        self._is_ahead = False  # whether the plan that was judged last was approved ahead
        self._runner = runner
        self._kit = runner.kit
        self._system = system
        self._system_taint = taint
        self._teller = teller
        self._instruction = instruction

    def asking(
        self, services: list[Service], told: TurnExtras | None, ask: Ask
    ) -> tuple[list[Service], Ask]:  # fmt: skip
        """Return the services to ask and how; a model gets the prompt of this run."""
        if told is not None:
            told.system.append(self._system)
            told.taint.extend(self._system_taint)
        if self.needs_service:
            return services, ask
        return services, lambda _, *rest: self._answer_by_calls(ask, *rest)

    def began(self, cancel: Callable[[], None]) -> None:
        """Let a waiting run give way to another one."""
        self.cancel = cancel

    def ended(self, chat: Chat, state: str) -> None:
        """Report the end."""
        words = ""  # the last thing it said, or the error that stopped it
        for message in chat.messages.values():
            if message["role"] == "assistant":
                error = message.get("error")
                words = clean.line((str(error["message"]) if error else schema.text_of(message)).strip()) or words
        self._runner.run_ended(self, state, words)

    # As the approver of its plans

    def judge(self, plan: Plan) -> Plan:
        """Return the plan, bound to wait for the owner wherever they must decide because nobody is there."""
        bind = self._kit.planner.bind
        if self.rehearses:
            summary = "ahead, for every run (%s): %s" % (self.job["when"], plan["summary"])
            return bind(plan, needs_approval=True, summary=summary)
        if plan["risk"] == "low" and not plan["needs_approval"]:
            return plan
        self._is_ahead = fits_ahead(plan, self.job.get("approved", []), self._kit.planner)
        if self._is_ahead:  # then nobody need be there to confirm it
            return bind(plan, needs_approval=True, confirm_s=0)
        made = bind(plan, needs_approval=True, expires_s=self._kit.now_s() + WAIT_S)
        # All of this before anybody hears of it: whoever sees it may decide at once.
        self.is_waiting = True
        self._kit.approvals.put(made)
        try:
            self.plan = self._runner.plan_waits(self.job, made)
        except BaseException:
            self._kit.approvals.drop(made)
            raise
        return made

    def wait(self, plan: Plan, is_cancelled: Callable[[], bool]) -> tuple[str, str]:
        """Wait as the approval queue does, see change/approval.py; what is approved in a dry run is "noted"."""
        if self._is_ahead:  # which no plan of a dry run is
            return "approved", "schedule %s: approved ahead" % self.job["id"]
        why = why_not_ahead(plan, self._kit.planner.policy) if self.rehearses else ""
        if why:
            return "declined", "not to be approved ahead: %s; it waits for the owner each time" % why
        try:
            decision, words = self._kit.approvals.wait(plan, is_cancelled)
        finally:
            self.is_waiting = False
        if not self.rehearses:
            self.decided = decision
        elif decision == "approved":
            self.approved.append(approval_ahead(plan, self._kit.planner))
            return "noted", _NOTED
        return decision, words

    # Tool calls instead of a model

    def _answer_by_calls(
        self, ask: Ask, messages: list[Message], tools: list[OfferedTool], on_event: OnEvent
    ) -> None:  # fmt: skip
        """Answer in place of a model; `ask` asks a service."""
        if messages[-1]["role"] != "tool":
            for number, call in enumerate(self.job["calls"]):
                name = "schedule_%d" % number
                on_event({"type": "tool_use", "id": name, "name": call["tool"], "input": call["params"]})
            on_event({"type": "done", "stop_reason": "tool_use", "model": ""})
            return
        found = []  # each result under the name of its tool, errors named as such
        for block in schema.blocks(messages[-1]):
            text = "".join(one["text"] for one in block["content"] if one["type"] == "text")
            found.append("### %s\n%s%s" % (block["name"], "error: " if block.get("is_error") else "", text))
        results = "\n\n".join(found)
        taint = [label for message in messages for label in schema.taint_of(message)]
        if self._teller is None or not self._told(self._teller, ask, results, taint, on_event):
            on_event({"type": "delta", "text": "**%s**\n\n%s" % (self.job["wish"], results)})
            on_event({"type": "done", "stop_reason": "end_turn", "model": ""})

    def _told(self, teller: Service, ask: Ask, results: str, taint: list[str], on_event: OnEvent) -> bool:
        said: list[str] = []

        def hear(event: Answered) -> None:
            if event["type"] == "delta":
                if not said:
                    on_event({"type": "source", "provider": teller["identifier"], "model": teller["model"]})
                said.append(event["text"])
            if event["type"] == "done":
                event = {**event, "stop_reason": "end_turn"}
            if said and event["type"] in _PASSED:
                on_event(event)

        system: Message = {"role": "system", "content": self._instruction}
        if taint:
            system["taint"] = list(dict.fromkeys(taint))
        try:
            ask(teller, [system, {"role": "user", "content": results}], [], hear)
        except OasisError:
            if said:
                raise  # the owner stopped it, or it broke in the middle
        return bool(said)


def parsed_calls(given: Sequence[object]) -> list[ToolCall]:
    """Return tool calls, each given as {"tool", "params"} or as its JSON. Raises: UsageError naming the call."""
    if len(given) > CALLS:
        raise UsageError("%d calls of tools" % len(given), "at most %d in one schedule" % CALLS)
    calls: list[ToolCall] = []
    for number, one in enumerate(given):
        try:
            value: object = jsonl.loads(one) if isinstance(one, str) else one
        except SchemaError as error:
            raise UsageError("calls[%d] is no JSON: %s" % (number, error.message), _CALL_HINT)
        call = value if isinstance(value, dict) else {}
        tool, params = call.get("tool"), call.get("params", {})
        if not isinstance(tool, str) or not isinstance(params, dict) or set(call) - {"tool", "params"}:
            raise UsageError("calls[%d] names no tool, or has something else in it" % number, _CALL_HINT)
        calls.append({"tool": tool, "params": params})
    return calls


class Runner:
    """The runs of one daemon; `wake()` makes the timer pump again."""

    def __init__(self, kit: Services, jobs: Jobs, wake: Callable[[], object]) -> None:
        self.kit = kit
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
                job, wait_s = item["job"], item["from_s"] - self.kit.clock.now_s()
                if wait_s > 0:
                    return float(wait_s)
                waiting = [one for one in self._runs if one.is_waiting]
                if len(waiting) < len(self._runs):
                    # The one at work may wait until a change is kept, with all that come after it; who looks need not.
                    queue = self._queue if self.kit.transaction.pending() else []
                    looking = [one for one in queue if self._only_looks(one["job"])]
                    if not looking:
                        return None
                    item = looking[0]
                    job = item["job"]
                in_the_way = [one for one in waiting if one.job["id"] == job["id"]]
                in_the_way = in_the_way or waiting[: max(len(waiting) - WAITING + 1, 0)]
                if in_the_way:
                    in_the_way[0].cancel()  # which wakes us at its end
                    return None
                self._queue.remove(item)
                try:
                    self.start(job, item["event"])
                except SettingsError as error:
                    self.disable(job, error.message)
                except OasisError as error:
                    item["tries"] += 1
                    if isinstance(error, UsageError) and item["tries"] < TRIES:
                        # Too many runs, or somebody talks in its chat.
                        item["from_s"] = self.kit.clock.now_s() + RETRY_S
                        self._queue.insert(0, item)
                    else:
                        self.tell(job, "could not be run: " + error.message)
            return None

    def _only_looks(self, job: Job) -> bool:
        kind = self.kit.turn_starter().registry.kind
        try:
            return bool(job.get("calls")) and all(kind(one["tool"], one["params"]) == "read" for one in job["calls"])
        except OasisError:
            return False

    def disable(self, job: Job, why: str) -> None:
        """Disable a job and tell the owner, unless they have changed it meanwhile."""
        if self._jobs.disable(job, why):
            self.tell(job, "is switched off: " + why)

    def start(self, job: Job, event: Event | None = None, rehearses: bool = False) -> Run:
        """Start a run of a job. Raises: as a turn does, see agent/start.py."""
        with self._lock:
            made, name = self._job_run(job, event, rehearses), self.chat(job)
            if not name:  # it is noted with the next firing; after a restart the bookmark names it
                try:
                    name = self.kit.chats.find("schedule:" + job["id"])[0]
                except UsageError:
                    pass
            chats = self.kit.chats
            if name and (not chats.store.has(name) or chats.item(name).get("exchanges", 0) >= TURNS):
                name = ""
            # Each run begins a thread of its own, and the job's bookmark moves there.
            service = "" if job.get("calls") else job.get("service", "")
            asked: Asked = {
                "message": job["wish"], "chat": name, "service": service, "continues": [],
                "head": "schedule:" + job["id"], "moves_head": True,
            }  # fmt: skip
            run = self.kit.turn_starter().start(asked, (), made)
            self._chats[job["id"]] = run.chat
            if not rehearses:  # nobody waits for the end of one
                self._runs.append(made)
            return run

    def _job_run(self, job: Job, event: Event | None, rehearses: bool) -> JobRun:
        words: dict[str, str] = jsonl.table(__file__, "prompts.json")
        system, taint = [words["system"] % job["when"]], []
        if event is not None:
            system.append(words["event"] % jsonl.dumps(event["text"]))
            taint += event["taint"]
        if rehearses:
            system.append(words["rehearsal"])
        instruction, teller = "", self._teller(job) if job.get("calls") and not rehearses else None
        if teller is not None:
            now = self._jobs.zone(job).shown(self.kit.clock.unix_s())
            instruction = words["synthesis"] % (now, job["wish"], job["synthesis"])
        return JobRun(self, job, "\n".join(system), taint, teller, instruction=instruction, rehearses=rehearses)

    def _teller(self, job: Job) -> Service | None:
        """Return the service that words results: the one named, else the smallest no farther away than usual."""
        settings, wanted = self.kit.settings, job.get("service", "")
        if not job.get("synthesis"):
            return None
        try:
            found = usual = settings.service(wanted)
            name = next((name for name in _SMALL if name in settings.aliases()), "")
            if name and not wanted:
                small = settings.service(name)
                is_home = usual["is_local"] and usual["vendor"] != OFFLINE
                # Results of a home service stay there.
                found = small if small["is_local"] or not is_home else usual
        except OasisError:
            return None
        return found if found["vendor"] != OFFLINE else None

    def plan_waits(self, job: Job, plan: Plan) -> PlanNote:
        """Note that a plan of a job is going to wait, tell the owner, and let other jobs run; return the note."""
        until_s = self.kit.clock.unix_s() + WAIT_S
        until = self._jobs.zone(job).shown(until_s)
        words = plan["summary"] or "a plan"
        summary = _short(str(self.kit.redactor.text(clean.line(words))), SUMMARY_CHARS)  # as it is kept on flash
        note: PlanNote = {"state": "waiting", "id": str(plan["id"]), "summary": summary, "until_unix_s": until_s}
        self._jobs.note_plan(job, note)
        self.tell(job, "waits for you until %s: %s" % (until, words), "schedule_waiting", str(plan["id"]))
        self._wake()
        return note

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
                begin = "%s. " % self._jobs.plan_words(made.job, plan)
            self.tell(made.job, begin + (words or "nothing was said"))
        self._wake()

    def tell(self, job: Job, text: str, kind: str = "schedule_result", plan: str = "") -> None:
        """Tell the owner what became of a job."""
        words = "%s (%s): %s" % (_short(job["wish"], TITLE_CHARS), job["when"], text)
        self.kit.parts.part("notice").tell(kind, words, chat=self.chat(job), schedule=job["id"], plan=plan)


def _short(text: str, chars: int) -> str:
    return text[:chars] + ("…" if len(text) > chars else "")
