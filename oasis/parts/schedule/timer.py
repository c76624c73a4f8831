"""The one thread that waits for the next moment of a job and for a line of hotplug.

It lives while a job is enabled and sleeps until the next moment, at most LONGEST_S, so it notices when the clock is
set; a line in the pipe wakes it at once. It does nothing while the clock is not trusted. A run that was missed, because
the router was off or the clock jumped, comes once, in the order in which it would have come. A firing is on flash
before its run begins: a power cut loses a run and never doubles one.
"""

from __future__ import annotations

import threading

from oasis.errors import OasisError
from oasis.parts.schedule import trigger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.api.parts import Services
    from oasis.parts.schedule.job import Jobs
    from oasis.parts.schedule.job_run import Runner
    from oasis.parts.schedule.router_events import Pipe, RouterEvents
    from oasis.parts.schedule.shapes import Callable, Event, Job
    from oasis.parts.schedule.trigger import Trigger
    from oasis.parts.schedule.zone import Zone

# The longest sleep: sleeping is monotonic, and the wall clock may be set meanwhile.
LONGEST_S = 600
# Between two firings by events; a job may set more.
PAUSE_S = 600
# A firing further ahead than this was noted under a wrong clock and does not count.
WRONG_S = 86400
# Missed runs come in the order of their last moments within this time.
_MISSED_S = 90000


class Timer:
    """Fires the jobs of one daemon; `daily(unix_s)` is called with each check."""

    def __init__(
        self, kit: Services, jobs: Jobs, runner: Runner, events: RouterEvents, pipe: Pipe, daily: Callable[[int], None]
    ) -> None:
        self._kit = kit
        self._jobs = jobs
        self._runner = runner
        self._events = events
        self._pipe = pipe
        self._daily = daily
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_stopped = False
        self._fired_s: dict[str, float] = {}  # by events, on the monotonic clock
        self._known_s: dict[str, int] = {}
        self._unnoted: set[str] = set()  # jobs that wait for a flash that can be written

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
        while True:
            wait_s = self._kept_alive(self.step)
            with self._lock:
                if self._is_stopped or (wait_s is None and not self._jobs.enabled()):
                    self._thread = None
                    self._pipe.close()
                    return
            for line in self._pipe.wait(LONGEST_S if wait_s is None else wait_s):
                self._kept_alive(lambda line=line: self._events.take(line, _events(self._jobs.enabled())))  # type: ignore[misc]

    def _kept_alive(self, work: Callable[[], float | None]) -> float | None:
        """Do a part of the work; log whatever goes wrong in it, so that no other job stops waiting."""
        try:
            return work()
        except OasisError as error:  # the flash cannot be read or written
            self._kit.log("schedule: %s" % error.message)
        except Exception as bug:  # without this thread no job would ever run again, and nobody would know
            self._kit.log("a fault in the schedule: %s: %s" % (type(bug).__name__, bug))
        return LONGEST_S

    def step(self) -> float | None:
        """Fire what is due; return the seconds until there is something to look at, None when nothing is enabled."""
        jobs = self._jobs.enabled()
        now_s = self._kit.clock.unix_s()
        if not self._kit.is_clock_trusted(max([int(job.get("fired_unix_s", 0)) for job in jobs], default=0)):
            return LONGEST_S if jobs else None  # the hook of the time servers wakes us when it is set
        self._daily(now_s)
        timed = self._moments(jobs, now_s)
        due = sorted((at, number) for number, (at, _) in enumerate(timed) if at <= now_s)
        for _, number in due:
            self._fire(timed[number][1], now_s)
        self._fire_events(jobs, now_s)
        wait_s = self._runner.pump()
        if not jobs and self._runner.is_idle():
            return None
        if due:
            return 0.0  # for the next moments of what was fired now
        waits = [wait_s, self._events.wait_s(_events(jobs)), *[float(at - now_s) for at, _ in timed]]
        return min([float(LONGEST_S), *[one for one in waits if one is not None]])

    def _moments(self, jobs: list[Job], now_s: int) -> list[tuple[int, Job]]:
        """Return when each job is due next, or since when; one that cannot be read any more is disabled."""
        found = []
        for job in jobs:
            try:
                meant = trigger.parse(job["when"])
                begin_s = self._begin(job, now_s)
                at = None if meant.event else moment(meant, job, now_s, self._jobs.zone(job), begin_s)
            except OasisError as error:
                self._runner.disable(job, error.message)
                continue
            if at is not None:
                found.append((at, job))
            elif not meant.event:
                self._runner.disable(job, "it does not come any more")
        return found

    def _begin(self, job: Job, now_s: int) -> int:
        """Return since when this thread knows a job; what was noted under a wrong clock does not say."""
        known_s = self._known_s.get(job["id"], now_s)
        self._known_s[job["id"]] = known_s = now_s if known_s > now_s + WRONG_S else known_s
        return known_s

    def _fire(self, job: Job, now_s: int, event: Event | None = None) -> None:
        """Note a firing on flash, then let it run."""
        try:
            noted = self._noted(job, now_s)
        except OasisError as error:
            # What cannot be noted is not done: after a power cut it would be done again.
            if job["id"] not in self._unnoted:
                self._unnoted.add(job["id"])
                self._runner.tell(job, "waits, for it cannot be noted: " + error.message)
            raise
        self._unnoted.discard(job["id"])
        if noted is not None:
            self._runner.add(noted, event)

    def _noted(self, job: Job, now_s: int) -> Job | None:
        """Write that a job fires; return it as it is now, None when its owner has changed it meanwhile."""
        with self._jobs.editing:
            noted = self._jobs.get(job["id"])
            # What became of the plan of its last run may have been noted meanwhile.
            if noted is None or {**noted, "plan": None} != {**job, "plan": None}:
                return None
            noted["fired_unix_s"] = now_s
            chat = self._runner.chat(job)
            if chat:
                noted["chat"] = chat
            if trigger.parse(job["when"]).is_once:
                noted["enabled"] = False
            self._jobs.put(noted)
            return noted

    def _fire_events(self, jobs: list[Job], now_s: int) -> None:
        wanted = _events(jobs)
        for event in self._events.due(wanted) if wanted else []:
            for job in jobs:
                if _event_of(job) == event["event"] and self._is_rested(job, now_s):
                    self._fired_s[job["id"]] = self._kit.clock.now_s()
                    self._fire(job, now_s, event)

    def _is_rested(self, job: Job, now_s: int) -> bool:
        """Return whether a job fired long enough ago for an event to fire it again."""
        pause_s = int(job.get("pause_s") or PAUSE_S)
        before_s = self._fired_s.get(job["id"])
        if before_s is not None and self._kit.clock.now_s() - before_s < pause_s:
            return False
        return not 0 <= now_s - int(job.get("fired_unix_s", 0)) < pause_s


def moment(meant: Trigger, job: Job, now_s: int, zone: Zone, begin_s: int = 0) -> int | None:
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


def _event_of(job: Job) -> str:
    try:
        return trigger.parse(job["when"]).event
    except OasisError:
        return ""


def _events(jobs: list[Job]) -> set[str]:
    return {event for event in map(_event_of, jobs) if event}
