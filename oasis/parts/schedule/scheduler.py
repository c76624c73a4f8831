"""The part `schedule`: the methods and tools of scheduled jobs (job_run.py), and the thread that fires them.

A model may create, list, change and delete jobs by tools.json. Effects need approval by default, and always when text
of others was in sight: a job outlives the conversation. A tool names exactly one job; nothing means all of them.

The Timer is the one thread that waits for the next moment of a job and for a line of hotplug. It lives while a job is
enabled and sleeps until the next moment, at most LONGEST_S, so it notices when the clock is set; a line in the pipe
wakes it at once. It does nothing while the clock is not trusted. A run that was missed, because the router was off or
the clock jumped, comes once, in the order in which it would have come. A firing is on flash before its run begins: a
power cut loses a run and never doubles one.
"""

from __future__ import annotations

import os
import threading

from oasis.config.settings import OFFLINE, built_in, is_at_home
from oasis.core import clean
from oasis.core.clean import shown as plain
from oasis.errors import OasisError, ToolError, UsageError
from oasis.parts.schedule import ahead, phrases, trigger
from oasis.parts.schedule.job_run import NEEDED, Jobs, Runner, fault, parsed_calls
from oasis.parts.schedule.router_events import Devices, Pipe, RouterEvents
from oasis.parts.schedule.zone import Zone, Zones
from oasis.system.records import Records
from oasis.tools import specs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Unpack

    from oasis.api.parts import Services
    from oasis.parts.schedule import shapes
    from oasis.parts.schedule.shapes import Job, JobChanges, JobFields, JobView, Started
    from oasis.system.records import Record
    from oasis.tools.operator import Operator
    from oasis.tools.router import Watch

JOBS = 64
# Of a wish: a message of the owner's may be longer, but nobody reads a job's again.
WISH_CHARS, SYNTHESIS_CHARS = 2000, 1000
EVENT_PAUSE_S = (60, 7 * 86400)
_NEVER_S = 1 << 40  # behind those that have a time
_TOOL_SHOWN: tuple[shapes.ToolKey, ...] = (
    "id", "when", "understood", "moments", "assumed", "wish", "enabled", "next", "note", "needs",
)  # fmt: skip
_NAMED = 5
_AHEAD = "approved ahead: %s, for just that outcome; what else is risky waits for the owner each time"
_NONE_AHEAD = "nothing is approved ahead: what is risky waits for the owner each time"


class Schedule:
    """The scheduled jobs of one daemon."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit
        path = kit.root.state_folder + "/schedule.jsonl"
        records = Records(kit.files, path, JOBS, kit.free_bytes, kit.log)
        pipe = Pipe(kit.root.run_folder + "/events")
        self._zones = Zones(kit.facts)
        self._jobs = Jobs(records, self._zones, kit.log)
        self._devices = Devices(kit)
        self._runner = Runner(kit, self._jobs, pipe.wake)
        events = RouterEvents(kit.facts, self._devices.is_known, self._space, kit.clock.now_s)
        self._timer = Timer(kit, self._jobs, self._runner, events, pipe)
        self.source = self

    def start(self) -> None:
        """Report the plans that were lost with the last daemon, then wait where a job is enabled."""
        for job in self._jobs.valid():
            plan = job.get("plan")
            if plan and plan.get("state") == "waiting":
                plan["state"] = "lost"
                self._jobs.note_plan(job, plan)
                self._runner.tell(job, self._jobs.plan_words(job, plan))
        self._timer.look()

    def close(self) -> None:
        """End the thread."""
        self._timer.stop()
        self._devices.close()

    def schedule_list(self) -> shapes.JobList:
        """Return the jobs and what the clock says."""
        zone = self._zones.router()
        jobs = [self._shown(record) for record in self._jobs.records.all()]
        jobs.sort(key=lambda job: (not job["enabled"], job.get("next_unix_s", _NEVER_S)))
        return {"entries": jobs, "now": zone.shown(self._kit.clock.unix_s()), "zone": zone.rule,
                "events": list(trigger.EVENTS), "trusted": self._kit.is_clock_trusted(0),
                "note": self._zones.fault}  # fmt: skip

    def schedule_add(self, *, approve: bool = False, **fields: Unpack[JobFields]) -> shapes.Made:
        """Make a job, {"entry", "run"?, "chat"?}; with `approve` its plans are shown now, to be approved ahead."""
        form, assumed = self._form(fields["when"], fields.get("timezone") or "")
        now_s = self._kit.clock.unix_s()
        job: Job = {**self._checked({**fields, "when": form}), "id": self._kit.new_id()}  # type: ignore[typeddict-item]
        job.update({"enabled": True, "created_unix_s": now_s, "since_unix_s": now_s})
        self._jobs.put(job)
        made: shapes.Made = {"entry": self._changed(job, assumed)}
        if approve:
            run = self.schedule_approve(job["id"])
            made["run"], made["chat"] = run["run"], run["chat"]
        return made

    def schedule_change(self, *, id: str, **given: Unpack[JobChanges]) -> shapes.Made:
        """Change what is given and not None, {"entry"}; moments before now are over, plans are not approved ahead."""
        changes: JobChanges = {key: value for key, value in given.items() if value is not None}  # type: ignore[assignment]
        assumed: list[str] = []
        with self._jobs.editing:
            job = self._jobs.find(id)
            if "when" in changes:
                zone = changes.get("timezone") or job.get("timezone", "")
                changes["when"], assumed = self._form(changes["when"], zone)
            is_on = bool(changes.pop("enabled", "when" in changes or job["enabled"]))
            if changes:
                job = {**job, **self._checked({**job, **changes})}  # type: ignore[typeddict-unknown-key]
                job.pop("approved", None)
            if is_on:
                job.pop("note", None)
                job.pop("fired_unix_s", None)
            if not self._runner.is_waiting(job):
                job.pop("plan", None)  # its owner has seen it
            job["enabled"], job["since_unix_s"] = is_on, self._kit.clock.unix_s()
            if is_on:  # what was a time once may be over by now
                trigger.checked(job["when"], job["since_unix_s"], self._jobs.zone(job))
            self._jobs.put(job)
        # Without the lock: the beginning of a run holds its own, and may want this one.
        return {"entry": self._changed(job, assumed)}

    def schedule_delete(self, id: str = "", all: bool = False) -> shapes.Deleted:
        """Delete one job, or all of them: {"deleted": how many}."""
        if bool(id) == all:
            raise UsageError("schedule.delete needs an id, or all", "list them with: oasis schedule")
        count = self._jobs.delete(id)
        self._timer.look()
        return {"deleted": count}

    def schedule_run(self, id: str) -> Started:
        """Run a job now: {"run", "chat"}."""
        run = self._runner.start(self._jobs.find(id))
        return {"run": run.id, "chat": run.chat}

    def schedule_approve(self, id: str) -> Started:
        """Begin a dry run, whose plans may be approved ahead: {"run", "chat"}."""
        run = self._runner.start(self._jobs.find(id), rehearses=True)
        return {"run": run.id, "chat": run.chat}

    def call(
        self, name: str, arguments: shapes.UpdateArguments, operator: Operator, watch: Watch
    ) -> shapes.ToolJob | shapes.ToolJobs:  # fmt: skip
        """Call one of the tools; tools.json has checked the arguments."""
        if name == "schedule_list":
            reply = self.schedule_list()
            orders = [_tool_shown(job) for job in reply["entries"]]
            return {"orders": orders, "now": reply["now"], "zone": reply["zone"]}
        if name == "schedule_create":
            entry = self.schedule_add(**arguments)["entry"]  # type: ignore[misc]
            note = self._approve(entry, operator) or "the owner may approve it ahead"
            return {"status": "made", **_tool_shown(entry), "note": note}
        job = self._one(arguments["order"])
        if name == "schedule_update":
            changes: JobChanges = {key: value for key, value in arguments.items() if key != "order"}  # type: ignore[assignment]
            if not changes:
                raise UsageError("nothing is to be changed", "give when, wish or enabled")
            entry = self.schedule_change(id=job["id"], **changes)["entry"]
            approved = self._approve(entry, operator)
            return {"status": "changed", **_tool_shown(entry), **({"note": approved} if approved else {})}
        self.schedule_delete(job["id"])
        return {"status": "deleted", "id": job["id"], "wish": job["wish"]}

    def preview(
        self, name: str, arguments: shapes.UpdateArguments, operator: Operator, watch: Watch
    ) -> list[str]:  # fmt: skip
        """Return a job and its calls as sentences for the card of its tool; what that approves is noted there."""
        job: JobFields = {"calls": [], **arguments}  # type: ignore[typeddict-unknown-key]  # of the tool that makes one
        if name == "schedule_update":
            job = {**self._jobs.find(self._one(arguments["order"])["id"]), **arguments}  # type: ignore[typeddict-unknown-key]
        job["when"] = self._form(job["when"], job.get("timezone") or "")[0]
        job = self._checked(job)
        words = ["scheduled job, %s: %s" % (trigger.parse(job["when"]).words, plain(job["wish"]))]
        if name == "schedule_update" and not {"when", "wish"} & {*arguments}:
            return words  # what was approved stays so
        if not job["calls"]:
            return [*words, ahead.SENTENCE]
        registry, planner = self._kit.turn_starter().registry, self._kit.planner
        is_kept = self._kit.transaction.pending() is None
        told, operator.ahead = ahead.foreseen(job["calls"], operator, registry, planner, is_kept)
        return [*words, *told]

    def _approve(self, entry: JobView, operator: Operator) -> str:
        """Keep for a job what its card approved; return that in words and why the rest waits, "" without calls."""
        job, found = self._jobs.get(entry["id"]), [*operator.ahead]
        waits = [one for one in found if isinstance(one, str)]
        approved = [one for one in found if not isinstance(one, str)]
        if job is None or not found:
            return ""
        self._jobs.approve(job, approved)
        entry["ahead"] = len(approved)
        told = "%d of its calls approved for each run that comes to just the same" % len(approved)
        return told + ("; %d wait for the owner each time: %s" % (len(waits), "; ".join(waits)) if waits else "")

    def _one(self, words: str) -> JobView:
        """Return the one job that has an id or these words in its wish, taken literally: no wildcards."""
        jobs = self.schedule_list()["entries"]
        wanted = words.strip().casefold()
        found = [job for job in jobs if wanted and (job["id"] == wanted or wanted in job["wish"].casefold())]
        if len(found) == 1:
            return found[0]
        what = "%d scheduled jobs have" % len(found) if found else "no scheduled job has"
        names = ["%s: %s" % (job["id"], job["wish"]) for job in (found or jobs)[:_NAMED]]
        raise ToolError("%s %r; nothing was changed" % (what, words), "name one by its id; " + "; ".join(names))

    def _form(self, words: str, timezone: str) -> tuple[str, list[str]]:
        return phrases.form(words, self._kit.clock.unix_s(), self._zones.named(timezone) or self._zones.router())

    def _changed(self, job: Job, assumed: list[str]) -> JobView:
        """Let the timer see a job; return it as shown."""
        self._timer.look()
        shown = self._shown({**job})
        shown["assumed"] = assumed
        if job.get("calls") or not job["enabled"]:
            return shown
        # What it will lack when it runs; nothing where a service at home understands it.
        settings = self._kit.settings
        mode, ready = settings.offline(), [one for one in settings.services() if one["ready"]]
        models = [one for one in ready if one["vendor"] != OFFLINE and mode != "only"]
        is_home = any(one["is_local"] or is_at_home(one["base_url"]) for one in models)
        if is_home or (mode != "never" and self._kit.turn_starter().asking.is_sure_offline(job["wish"])):
            return shown
        shown["needs"] = "this wish needs the internet when its moment comes: no service at home understands it"
        if not models:
            own, lacks = built_in(OFFLINE), "no AI service is set up"
            does_not = lacks + ", and the built-in one does not understand this wish"
            shown["needs"] = does_not if own["ready"] else "%s; the built-in one: %s" % (lacks, own["note"])
        return shown

    def _shown(self, record: Record) -> JobView:
        why = fault(record)
        if why:  # enough to delete it by
            when, wish = (record[name] if isinstance(record.get(name), str) else "" for name in NEEDED)
            return {"id": record["id"], "when": when, "wish": wish, "enabled": False, "ahead": 0, "active": False,
                    "note": "it cannot be read: " + why}  # fmt: skip
        job: Job = record  # type: ignore[assignment]  # checked
        shown: JobView = {"id": job["id"], "when": job["when"], "wish": job["wish"],
                          "enabled": bool(job.get("enabled"))}  # fmt: skip
        for key in ("fired_unix_s", "calls", "synthesis", "service", "timezone", "pause_s", "chat", "note"):
            if job.get(key) not in (None, "", []):
                shown[key] = job[key]
        shown["ahead"], shown["active"] = len(job.get("approved", [])), self._runner.is_active(job)
        plan = job.get("plan")
        words = self._jobs.plan_words(job, plan) if plan else ""
        if plan and words and (plan["state"] != "waiting" or self._runner.is_waiting(job)):
            shown["plan"] = {**plan, "words": words}
        try:
            meant, zone = trigger.parse(job["when"]), self._jobs.zone(job)
            at = _moment(meant, job, self._kit.clock.unix_s(), zone)
        except OasisError as error:
            shown["note"] = shown.get("note") or error.message
            return shown
        shown["understood"] = meant.words
        if shown["enabled"] and at is not None:
            shown["next_unix_s"], shown["next"] = at, zone.shown(at)
            shown["moments"] = meant.moments(at - 1, zone)
        return shown

    def _checked(self, fields: JobFields) -> JobFields:
        """Return the fields of a job as they are kept; an unknown tool is reported now and not at night."""
        wish, synthesis = clean.text(fields["wish"]).strip(), clean.text(fields.get("synthesis") or "").strip()
        if not wish or len(wish) > WISH_CHARS or len(synthesis) > SYNTHESIS_CHARS:
            raise UsageError("an order has 1 to %d characters" % WISH_CHARS, "say what is to be done")
        zone = self._zones.named(fields.get("timezone") or "")
        meant = trigger.checked(fields["when"], self._kit.clock.unix_s(), zone or self._zones.router())
        service = fields.get("service") or ""
        if service:
            self._kit.settings.service(service)
        pause_s = int(fields.get("pause_s") or 0)
        if pause_s and not (meant.event and EVENT_PAUSE_S[0] <= pause_s <= EVENT_PAUSE_S[1]):
            raise UsageError("pause_s is %d" % pause_s, "for events alone, %d to %d seconds" % EVENT_PAUSE_S)
        calls = parsed_calls(fields.get("calls") or [])
        known = {spec["name"]: spec for spec in self._kit.turn_starter().registry.specs()} if calls else {}
        for call in calls:
            name = call["tool"]
            if name not in known or name.startswith("schedule_"):
                raise UsageError("there is no tool %r for a schedule" % name, "those that are on: oasis tools")
            specs.check(call["params"], known[name]["input_schema"], name)
        if meant.event == "new_device":
            self._devices.seed([str(device["mac"]).lower() for device in self._kit.facts.devices()])
        return {"when": fields["when"].strip(), "wish": wish, "calls": calls, "synthesis": synthesis,
                "timezone": zone.rule if zone else "", "service": service, "pause_s": pause_s}  # fmt: skip

    def _space(self) -> tuple[int, int]:
        found = os.statvfs(self._kit.root.state_folder)
        return found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize


gather = Schedule


def _tool_shown(job: JobView) -> shapes.ToolJob:
    found: shapes.ToolJob = {key: job[key] for key in _TOOL_SHOWN if key in job}  # type: ignore[assignment]
    if "plan" in job:
        found["plan"] = job["plan"]["words"]
    calls, count = len(job.get("calls", [])), job.get("ahead", 0)
    many = "%d of %d calls" % (count, calls) if calls else "%d plans" % count
    found["approval"] = _AHEAD % many if count else _NONE_AHEAD
    return found


# The longest sleep: sleeping is monotonic, and the wall clock may be set meanwhile.
LONGEST_S = 600
# Between two firings by events; a job may set more.
PAUSE_S = 600
# A firing further ahead than this was noted under a wrong clock and does not count.
WRONG_S = 86400
# Missed runs come in the order of their last moments within this time.
_MISSED_S = 90000


class Timer:
    """Fires the jobs of one daemon."""

    def __init__(self, kit: Services, jobs: Jobs, runner: Runner, events: RouterEvents, pipe: Pipe) -> None:
        self._kit = kit
        self._jobs = jobs
        self._runner = runner
        self._events = events
        self._pipe = pipe
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_stopped = False
        self._known_s: dict[str, int] = {}  # since when this thread knows a job
        self._unnoted: set[str] = set()  # jobs that wait for a flash that can be written
        self._wanted: dict[str, list[Job]] = {}  # the jobs that wait for each event

    def look(self) -> None:
        """Look at the jobs again: at start, and whenever one was changed."""
        with self._lock:
            if self._thread is not None:
                self._pipe.wake()
            elif not self._is_stopped and self._jobs.enabled():
                self._pipe.open()
                self._thread = threading.Thread(target=self._run, name="schedule", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the thread, after what it is doing."""
        with self._lock:
            self._is_stopped = True
            if self._thread is not None:
                self._pipe.wake()

    def _run(self) -> None:
        lines: list[str] = []
        while True:
            wait_s: float | None = LONGEST_S
            for line in (*lines, None):  # first what happened, then what is due
                try:  # whatever goes wrong in one of them is logged, so that no other job stops waiting
                    if line is None:
                        wait_s = self.step()
                    else:
                        self._events.take(line, set(self._wanted))
                except OasisError as error:  # the flash cannot be read or written
                    self._kit.log("schedule: %s" % error.message)
                except Exception as bug:  # without this thread no job would ever run again, and nobody would know
                    self._kit.log("a fault in the schedule: %s: %s" % (type(bug).__name__, bug))
            with self._lock:
                if self._is_stopped or (wait_s is None and not self._jobs.enabled()):
                    self._thread = None
                    self._pipe.close()
                    return
            lines = self._pipe.wait(LONGEST_S if wait_s is None else wait_s)

    def step(self) -> float | None:
        """Fire what is due; return the seconds until there is something to look at, None when nothing is enabled."""
        jobs = self._jobs.enabled()
        meant = self._meant(jobs)
        now_s = self._kit.clock.unix_s()
        if not self._kit.is_clock_trusted(max([int(job.get("fired_unix_s", 0)) for job in jobs], default=0)):
            return LONGEST_S if jobs else None  # the hook of the time servers wakes us when it is set
        timed = self._moments(meant, now_s)
        due = sorted((at, number) for number, (at, _) in enumerate(timed) if at <= now_s)
        for _, number in due:
            self._fire(timed[number][1], now_s)
        wanted = set(self._wanted)
        for event in self._events.due(wanted) if wanted else []:
            for job in self._wanted[event["event"]]:
                if not 0 <= now_s - int(job.get("fired_unix_s", 0)) < int(job.get("pause_s") or PAUSE_S):
                    self._fire(job, now_s, event)
        wait_s = self._runner.pump()
        if not jobs and self._runner.is_idle():
            return None
        if due:
            return 0.0  # for the next moments of what was fired now
        waits = [wait_s, self._events.wait_s(wanted), *[float(at - now_s) for at, _ in timed]]
        return min([float(LONGEST_S), *[one for one in waits if one is not None]])

    def _meant(self, jobs: list[Job]) -> list[tuple[Job, trigger.Trigger, Zone]]:
        """Return what jobs mean, and note who waits for an event; one that cannot be read any more is disabled."""
        found = []
        wanted: dict[str, list[Job]] = {}
        for job in jobs:
            try:
                meant = trigger.parse(job["when"])
                found.append((job, meant, self._jobs.zone(job)))
            except OasisError as error:
                self._runner.disable(job, error.message)
                continue
            if meant.event:
                wanted.setdefault(meant.event, []).append(job)
        self._wanted = wanted
        return found

    def _moments(self, jobs: list[tuple[Job, trigger.Trigger, Zone]], now_s: int) -> list[tuple[int, Job]]:
        """Return when each job that has times is due next, or since when; one that never comes again is disabled."""
        found = []
        for job, meant, zone in jobs:
            known_s = self._known_s.get(job["id"], now_s)
            # What was noted under a wrong clock does not say since when a job is known.
            self._known_s[job["id"]] = known_s = now_s if known_s > now_s + WRONG_S else known_s
            at = None if meant.event else _moment(meant, job, now_s, zone, known_s)
            if at is not None:
                found.append((at, job))
            elif not meant.event:
                self._runner.disable(job, "it does not come any more")
        return found

    def _fire(self, job: Job, now_s: int, event: shapes.Event | None = None) -> None:
        """Note a firing on flash, then let it run, unless the owner has changed the job meanwhile."""
        try:
            with self._jobs.editing:
                noted = self._jobs.get(job["id"])
                # What became of the plan of its last run may have been noted meanwhile.
                if noted is None or {**noted, "plan": None} != {**job, "plan": None}:
                    return
                noted["fired_unix_s"] = now_s
                chat = self._runner.chat(job)
                if chat:
                    noted["chat"] = chat
                if trigger.parse(job["when"]).is_once:
                    noted["enabled"] = False
                self._jobs.put(noted)
        except OasisError as error:
            # What cannot be noted is not done: after a power cut it would be done again.
            if job["id"] not in self._unnoted:
                self._unnoted.add(job["id"])
                self._runner.tell(job, "waits, for it cannot be noted: " + error.message)
            raise
        self._unnoted.discard(job["id"])
        self._runner.add(noted, event)


def _moment(meant: trigger.Trigger, job: Job, now_s: int, zone: Zone, begin_s: int = 0) -> int | None:
    """Return when a job comes next after its last firing; for a missed run, when it should have come last.

    `begin_s` is from when its moments count where that firing was noted under a wrong clock.
    """
    begin = max(int(job.get("fired_unix_s", 0)), int(job.get("since_unix_s", 0)))
    if begin > now_s + WRONG_S:
        begin = begin_s or now_s
    found = meant.next(begin, zone)
    if found is None or found > now_s:
        return found
    later = meant.next(max(found, now_s - _MISSED_S), zone)
    while later is not None and later <= now_s:
        found, later = later, meant.next(later, zone)
    return found
