"""Scheduled jobs as they are kept in schedule.jsonl, and what is wrong with a record that somebody else wrote.

Shape: Job in shapes.pyi. The plan of its last run has one of STATES; "lost" means the daemon ended while it waited.
"""

from __future__ import annotations

import threading

from oasis.errors import OasisError, UsageError
from oasis.parts.schedule.zone import Zone, Zones

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis.parts.schedule.shapes import Approval, Callable, Job, JobView, PlanNote
    from oasis.system.records import Record, Records

_NEEDED = ("when", "wish")
_KINDS: dict[str, type] = {
    "when": str, "wish": str, "synthesis": str, "service": str, "timezone": str, "chat": str, "note": str,
    "since_unix_s": int, "fired_unix_s": int, "pause_s": int, "calls": list, "approved": list, "plan": dict,
}  # fmt: skip
# What the owner sees of a job in its dry run: with another of these the approval is for another job.
_SHOWN_AHEAD = ("when", "timezone", "wish", "calls")

# What became of the plan of the last run, in words.
STATES = {
    "waiting": "its plan waits for you until %s: %s",
    "expired": "its plan waited until %s, nobody decided, and nothing was done: %s",
    "declined": "its plan was declined, and nothing was done: %s",
    "cancelled": "its plan was stopped while it waited, and nothing was done: %s",
    "lost": "its plan was lost when oasis ended while it waited, and nothing was done: %s",
}


class Jobs:
    """The jobs of one daemon; `editing` is held while one is read and written back."""

    def __init__(self, records: Records, zones: Zones, log: Callable[..., object]) -> None:
        self.editing = threading.RLock()
        self._records = records
        self._zones = zones
        self._log = log

    def all(self) -> list[Record]:
        """Return every record, also those that are no job (see `fault`)."""
        return self._records.all()

    def enabled(self) -> list[Job]:
        """Return the jobs that are enabled; a record that is no job stops no other."""
        return [one for one in self.valid() if one.get("enabled")]

    def valid(self) -> list[Job]:
        """Return the records that are jobs."""
        return [job for job in map(_job, self.all()) if job is not None]

    def get(self, name: str) -> Job | None:
        """Return a job, None for an unknown or invalid one."""
        return _job(self._records.get(name))

    def find(self, name: str) -> Job:
        """Return a job.

        Raises: UsageError for an unknown or invalid one.
        """
        record = self.record(name)
        job = _job(record)
        if job is None:
            why = "the scheduled job %s cannot be read: %s" % (name, fault(record))
            raise UsageError(why, "delete it, and make it again")
        return job

    def record(self, name: str) -> Record:
        """Return a record, whether it is a job or not.

        Raises: UsageError for an unknown one.
        """
        found = self._records.get(name)
        if found is None:
            raise UsageError("unknown scheduled job %r" % name, "list them with: oasis schedule")
        return found

    def put(self, job: Job) -> None:
        """Write a job.

        Raises: StoreError.
        """
        self._records.put({**job})

    def delete(self, names: Iterable[str]) -> int:
        """Delete jobs; return how many there were."""
        return self._records.delete(names, forget=True)

    def zone(self, job: Job) -> Zone:
        """Return the zone of a job's times.

        Raises: UsageError for an invalid one.
        """
        return Zone(job["timezone"]) if job.get("timezone") else self._zones.router()

    def until(self, job: Job) -> str:
        """Return until when the plan of a job's last run waits, as its zone's clocks show it."""
        until_s = job["plan"].get("until_unix_s", 0) if "plan" in job else 0
        try:
            return self.zone(job).shown(until_s if isinstance(until_s, int) else 0)
        except OasisError:
            return ""

    def disable(self, job: Job, why: str) -> bool:
        """Disable a job; return False where the owner has changed or deleted it meanwhile."""
        with self.editing:
            now = self.get(job["id"])
            if now is None or now["when"] != job["when"]:
                return False
            self.put({**now, "enabled": False, "note": why})
            return True

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


def _job(record: Record | None) -> Job | None:
    return None if record is None or fault(record) else record  # type: ignore[return-value]  # checked


def fault(record: Record) -> str:
    """Return why a record is no job, "" for a job."""
    for name in _NEEDED:
        if not record.get(name):
            return "it has no %s" % name
    for name, kind in _KINDS.items():
        if not isinstance(record.get(name, kind()), kind):
            return "its %s is invalid" % name
    if not all(isinstance(one, dict) for one in [*record.get("calls", []), *record.get("approved", [])]):
        return "its calls are invalid"
    return ""


def unreadable(record: Record, why: str) -> JobView:
    """Return what is shown of a record that is no job: enough to delete it by."""
    when, wish = (record[name] if isinstance(record.get(name), str) else "" for name in _NEEDED)
    return {"id": record["id"], "when": when, "wish": wish, "enabled": False, "ahead": 0, "active": False,
            "note": "it cannot be read: " + why}  # fmt: skip


def of_plan(plan: PlanNote, until: str) -> str:
    """Return what became of the plan of a job's last run, "" for an unknown state; `until` is how long it waits."""
    words, summary = STATES.get(str(plan.get("state")), ""), str(plan.get("summary") or "a plan")
    return words % ((until, summary) if words.count("%s") == 2 else summary) if words else ""
