"""The part `schedule`: the methods and tools of scheduled jobs (job.py), and what keeps and fires them.

A model may create, list, change and delete jobs by tools.json. Effects need approval by default, and always when text
of others was in sight: a job outlives the conversation. A tool names exactly one job; nothing means all of them.
"""

from __future__ import annotations

import os

from oasis.config.settings import OFFLINE, is_at_home
from oasis.core import clean
from oasis.errors import OasisError, ToolError, UsageError
from oasis.parts.schedule import phrases, trigger
from oasis.parts.schedule.job import Jobs, fault, of_plan, unreadable
from oasis.parts.schedule.job_run import Runner, parsed_calls
from oasis.parts.schedule.router_events import DEVICES, Devices, Pipe, RouterEvents
from oasis.parts.schedule.timer import Timer, moment
from oasis.parts.schedule.zone import Zones
from oasis.system.records import Records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Unpack

    from oasis.api.parts import Services
    from oasis.parts.schedule.shapes import (
        Deleted,
        Job,
        JobChanges,
        JobFields,
        JobList,
        JobView,
        Made,
        Started,
        ToolCall,
        ToolJob,
        ToolJobs,
        ToolKey,
        UpdateArguments,
    )
    from oasis.system.records import Record
    from oasis.tools.operator import Operator
    from oasis.tools.router import Watch

JOBS = 64
# Of a wish: a message of the owner's may be longer, but nobody reads a job's again.
WISH_CHARS, SYNTHESIS_CHARS = 2000, 1000
PAUSE_S = (60, 7 * 86400)
# When memory is tidied: nobody asks for anything then.
_DAILY_HOUR = 3
_NEVER_S = 1 << 40  # behind those that have a time


class Schedule:
    """The scheduled jobs of one daemon."""

    def __init__(self, kit: Services) -> None:
        self._kit = kit
        state = kit.root.state_folder
        records = Records(kit.files, state + "/schedule.jsonl", JOBS, kit.free_bytes, kit.log)
        devices = Records(kit.files, state + "/devices.jsonl", DEVICES, kit.free_bytes, kit.log)
        pipe = Pipe(kit.root.run_folder + "/events")
        self._zones = Zones(kit.facts)
        self._jobs = Jobs(records, self._zones, kit.log)
        self._devices = Devices(devices, kit.clock.now_s, kit.log)
        self._runner = Runner(kit, self._jobs, pipe.wake)
        events = RouterEvents(kit.facts, self._devices.is_known, self._space, kit.clock.now_s)
        self._timer = Timer(kit, self._jobs, self._runner, events, pipe, self._tidy_memory)
        self._tidied = ""
        self.source = ScheduleTools(self)

    def start(self) -> None:
        """Report the plans that were lost with the last daemon, then wait where a job is enabled."""
        for job in self._jobs.valid():
            plan = job.get("plan")
            if plan and plan.get("state") == "waiting":
                plan["state"] = "lost"
                self._jobs.note_plan(job, plan)
                self._runner.tell(job, of_plan(plan, self._jobs.until(job)))
        self._timer.look()

    def close(self) -> None:
        """End the thread."""
        self._timer.stop()
        self._devices.close()

    # Methods

    def schedule_list(self) -> JobList:
        """Return the jobs and what the clock says."""
        now_s = self._kit.clock.unix_s()
        zone = self._zones.router()
        jobs = [self._shown(record) for record in self._jobs.all()]
        jobs.sort(key=lambda job: (not job["enabled"], job.get("next_unix_s", _NEVER_S)))
        return {"entries": jobs, "now": zone.shown(now_s), "zone": zone.rule, "events": list(trigger.EVENTS),
                "trusted": self._kit.is_clock_trusted(0), "note": self._zones.fault}  # fmt: skip

    def schedule_add(self, *, approve: bool = False, **fields: Unpack[JobFields]) -> Made:
        """Make a job, {"entry", "run"?, "chat"?}; with `approve` its plans are shown now, to be approved ahead."""
        job = self.add(fields)
        if not approve:
            return {"entry": job}
        run = self.schedule_approve(job["id"])
        return {"entry": job, "run": run["run"], "chat": run["chat"]}

    def add(self, fields: JobFields) -> JobView:
        """Make a job.

        Raises: UsageError for an invalid time, zone or tool; SettingsError; StoreError.
        """
        form, assumed = self._form(fields["when"], fields.get("timezone") or "")
        now_s = self._kit.clock.unix_s()
        checked = self._checked({**fields, "when": form})
        job: Job = {**checked, "id": self._kit.new_id()}  # type: ignore[typeddict-item]
        job.update({"enabled": True, "created_unix_s": now_s, "since_unix_s": now_s})
        self._jobs.put(job)
        return self._changed(job, assumed)

    def schedule_change(self, *, id: str, **changes: Unpack[JobChanges]) -> Made:
        """Change what is given, {"entry"}; moments before now are over, and plans lose their approval ahead."""
        return {"entry": self.change(id, changes)}

    def change(self, id: str, given: JobChanges) -> JobView:
        """Change a job; a value None changes nothing. Raises: as `add`."""
        changes: JobChanges = {key: value for key, value in given.items() if value is not None}  # type: ignore[assignment]
        assumed: list[str] = []
        with self._jobs.editing:
            job = self._jobs.find(id)
            if "when" in changes:
                zone = changes.get("timezone") or job.get("timezone", "")
                changes["when"], assumed = self._form(changes["when"], zone)
            is_on = bool(changes.pop("enabled", "when" in changes or job["enabled"]))
            if changes:
                job = {**job, **self._checked(_fields(job, changes))}
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
        return self._changed(job, assumed)

    def schedule_delete(self, id: str = "", all: bool = False) -> Deleted:
        """Delete one job, or all of them: {"deleted": how many}."""
        if bool(id) == all:
            raise UsageError("schedule.delete needs an id, or all", "list them with: oasis schedule")
        with self._jobs.editing:
            names = [record["id"] for record in self._jobs.all()] if all else [self._jobs.record(id)["id"]]
            count = self._jobs.delete(names)
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

    # Jobs

    def _form(self, words: str, timezone: str) -> tuple[str, list[str]]:
        """Return a time as jobs keep it, and what was assumed."""
        return phrases.form(words, self._kit.clock.unix_s(), self._zones.named(timezone) or self._zones.router())

    def _changed(self, job: Job, assumed: list[str]) -> JobView:
        """Let the timer see a job; return it as shown."""
        self._timer.look()
        shown = self._shown({**job})
        needs = self._needs(job)
        if needs:
            shown["needs"] = needs
        shown["assumed"] = assumed
        return shown

    def _needs(self, job: Job) -> str:
        """Return what a job will lack when it runs, "" where a service at home understands it."""
        if job.get("calls") or not job["enabled"]:
            return ""
        settings = self._kit.settings
        mode, ready = settings.offline(), [one for one in settings.services() if one["ready"]]
        models = [one for one in ready if one["vendor"] != OFFLINE and mode != "only"]
        if any(one["is_local"] or is_at_home(one["base_url"]) for one in models):
            return ""
        if mode != "never" and self._kit.turn_starter().asking.is_sure_offline(job["wish"]):
            return ""
        if not models:
            return "no AI service is set up, and the built-in one does not understand this wish"
        return "this wish needs the internet when its moment comes: no service at home understands it"

    def _shown(self, record: Record) -> JobView:
        why = fault(record)
        if why:
            return unreadable(record, why)
        job: Job = record  # type: ignore[assignment]  # checked
        shown: JobView = {"id": job["id"], "when": job["when"], "wish": job["wish"],
                          "enabled": bool(job.get("enabled"))}  # fmt: skip
        for key in ("fired_unix_s", "calls", "synthesis", "service", "timezone", "pause_s", "chat", "note"):
            if job.get(key) not in (None, "", []):
                shown[key] = job[key]
        shown["ahead"], shown["active"] = len(job.get("approved", [])), self._runner.is_active(job)
        plan = job.get("plan")
        words = of_plan(plan, self._jobs.until(job)) if plan else ""
        if plan and words and (plan["state"] != "waiting" or self._runner.is_waiting(job)):
            shown["plan"] = {**plan, "words": words}
        try:
            meant, zone = trigger.parse(job["when"]), self._jobs.zone(job)
            at = moment(meant, job, self._kit.clock.unix_s(), zone)
        except OasisError as error:
            shown["note"] = shown.get("note") or error.message
            return shown
        shown["understood"] = trigger.words(job["when"])
        if shown["enabled"] and at is not None:
            shown["next_unix_s"], shown["next"] = at, zone.shown(at)
            shown["moments"] = trigger.moments(job["when"], at - 1, zone)
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
        if pause_s and not (meant.event and PAUSE_S[0] <= pause_s <= PAUSE_S[1]):
            raise UsageError("pause_s is %d" % pause_s, "for events alone, %d to %d seconds" % PAUSE_S)
        calls = parsed_calls(fields.get("calls") or [])
        self._check_tools(calls)
        if meant.event == "new_device":
            self._devices.seed([str(device["mac"]).lower() for device in self._kit.facts.devices()])
        return {"when": fields["when"].strip(), "wish": wish, "calls": calls, "synthesis": synthesis,
                "timezone": zone.rule if zone else "", "service": service, "pause_s": pause_s}  # fmt: skip

    def _check_tools(self, calls: list[ToolCall]) -> None:
        if not calls:
            return
        from oasis.tools import specs as arguments

        specs = {spec["name"]: spec for spec in self._kit.turn_starter().registry.specs()}
        for call in calls:
            name = call["tool"]
            if name not in specs or name.startswith("schedule_"):
                raise UsageError("there is no tool %r for a schedule" % name, "those that are on: oasis tools")
            arguments.check(call["params"], specs[name]["input_schema"], name)

    # The router

    def _space(self) -> tuple[int, int]:
        found = os.statvfs(self._kit.root.state_folder)
        return found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize

    def _tidy_memory(self, now_s: int) -> None:
        """Let memory do its daily work, once, in the small hours."""
        year, month, day, hour, _, _ = self._zones.router().local(now_s)
        today = "%d-%d-%d" % (year, month, day)
        if hour != _DAILY_HOUR or today == self._tidied:
            return
        self._tidied = today
        memory = self._kit.parts.find("memory")
        if memory is not None and hasattr(memory, "daily"):
            try:
                memory.daily()
            except OasisError as error:
                self._kit.log("memory: " + error.message)


def _fields(job: Job, changes: JobFields) -> JobFields:
    """Return the fields of a changed job."""
    found: JobFields = {**job, **changes}  # type: ignore[typeddict-unknown-key]
    return found


def gather(kit: Services) -> Schedule:
    """Return the schedule of a daemon."""
    return Schedule(kit)


_TOOL_SHOWN: tuple[ToolKey, ...] = (
    "id", "when", "understood", "moments", "assumed", "wish", "enabled", "next", "note", "needs",
)  # fmt: skip
_NAMED = 5


class ScheduleTools:
    """Makes the calls of the schedule's tools."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule

    def call(
        self, name: str, arguments: UpdateArguments, operator: Operator, watch: Watch
    ) -> ToolJob | ToolJobs:  # fmt: skip
        """Call one of the tools; tools.json has checked the arguments."""
        if name == "schedule_list":
            reply = self._schedule.schedule_list()
            orders = [_tool_shown(job) for job in reply["entries"]]
            return {"orders": orders, "now": reply["now"], "zone": reply["zone"]}
        if name == "schedule_create":
            made = _tool_shown(self._schedule.add(arguments))
            return {"status": "made", **made, "note": "what is risky waits for the owner, who may approve it ahead"}
        job = self._one(arguments["order"])
        if name == "schedule_update":
            changes: JobChanges = {key: value for key, value in arguments.items() if key != "order"}  # type: ignore[assignment]
            if not changes:
                raise UsageError("nothing is to be changed", "give when, wish or enabled")
            return {"status": "changed", **_tool_shown(self._schedule.change(job["id"], changes))}
        self._schedule.schedule_delete(job["id"])
        return {"status": "deleted", "id": job["id"], "wish": job["wish"]}

    def _one(self, words: str) -> JobView:
        """Return the one job that has an id or these words in its wish, taken literally: no wildcards."""
        jobs = self._schedule.schedule_list()["entries"]
        wanted = words.strip().casefold()
        found = [job for job in jobs if wanted and (job["id"] == wanted or wanted in job["wish"].casefold())]
        if len(found) == 1:
            return found[0]
        what = "%d scheduled jobs have" % len(found) if found else "no scheduled job has"
        names = ["%s: %s" % (job["id"], job["wish"]) for job in (found or jobs)[:_NAMED]]
        raise ToolError("%s %r; nothing was changed" % (what, words), "name one by its id; " + "; ".join(names))


def _tool_shown(job: JobView) -> ToolJob:
    found: ToolJob = {}
    for key in _TOOL_SHOWN:
        if key in job:
            found[key] = job[key]
    if "plan" in job:
        found["plan"] = job["plan"]["words"]
    return found
