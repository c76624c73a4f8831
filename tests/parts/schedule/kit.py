"""A timer on a clock that is set by hand: jobs on real files, runs that are only noted."""

from types import SimpleNamespace

from oasis.parts.schedule.job_run import Jobs
from oasis.parts.schedule.scheduler import Timer
from oasis.parts.schedule.zone import Zone
from oasis.system.files import Files
from oasis.system.records import Records

BERLIN = Zone("CET-1CEST,M3.5.0,M10.5.0/3")
HOUR, DAY = 3600, 86400


def at(text, zone=BERLIN):
    """Return the Unix time of "2026-11-22 21:59"."""
    import datetime

    when = datetime.datetime.strptime(text, "%Y-%m-%d %H:%M")
    day = (when.date() - datetime.date(1970, 1, 1)).days
    return zone.moment(day, when.hour * 60 + when.minute)


class Time:
    """Wall clock and monotonic clock; `pass_s` moves both, `unix` is set by hand."""

    def __init__(self, text="2026-11-22 12:00"):
        self.unix = at(text)
        self.mono = 5000.0
        self.is_trusted = True
        self.newest = 0

    def now_s(self):
        return self.mono

    def unix_s(self):
        return self.unix

    def pass_s(self, seconds):
        self.unix += int(seconds)
        self.mono += seconds

    def trusted(self, newest):
        self.newest = newest
        return self.is_trusted


class Runner:
    """Notes the jobs that are to run."""

    def __init__(self, jobs):
        self.jobs = jobs
        self.ran, self.told, self.wait_s = [], [], None

    def disable(self, job, why):
        assert self.jobs.disable(job, why)
        self.tell(job, why)

    def add(self, job, event=None):
        self.ran.append((job["id"], event["text"] if event else ""))

    def tell(self, job, text):
        self.told.append((job["id"], text))

    def chat(self, job):
        return job.get("chat", "")

    def is_idle(self):
        return True

    def pump(self):
        return self.wait_s


class Quiet:
    """A router on which nothing happens but what a test puts into `found`."""

    def __init__(self):
        self.found, self.lines = [], []

    def take(self, line, wanted):
        self.lines.append((line, wanted))

    def due(self, wanted):
        found, self.found = [one for one in self.found if one["event"] in wanted], []
        return found

    def wait_s(self, wanted):
        return None


class NoPipe:
    """A pipe that nobody writes to."""

    def __init__(self):
        self.waits = []

    def open(self):
        pass

    def wake(self):
        pass

    def close(self):
        pass

    def wait(self, seconds):
        self.waits.append(seconds)
        return []


class World:
    """A timer with its jobs in a folder; `restart()` is the same router after a power cut."""

    def __init__(self, folder, files=None, time=None, **parts):
        self.path = str(folder) + "/schedule.jsonl"
        self.time = time or Time()
        self.log = []
        self.watch, self.pipe = parts.get("watch") or Quiet(), parts.get("pipe") or NoPipe()
        self.records = Records(files or Files(), self.path)
        self.jobs = Jobs(self.records, self, self.log.append)
        self.runner = Runner(self.jobs)
        kit = SimpleNamespace(clock=self.time, is_clock_trusted=self.time.trusted, log=self.log.append)
        self.timer = Timer(kit, self.jobs, self.runner, self.watch, self.pipe)

    def router(self):
        return BERLIN

    def add(self, name, when, **fields):
        self.records.put(
            {"id": name, "when": when, "wish": name, "enabled": True, "since_unix_s": self.time.unix, **fields}
        )

    def restart(self, files=None):
        return World(self.path.rpartition("/")[0], files, self.time)

    def pass_to(self, text, step_s=60):
        """Let the time pass as the thread would: asleep as long as the last step said."""
        end = at(text)
        for _ in range(5000):
            wait_s = self.timer.step()
            left_s = end - self.time.unix
            if wait_s is None or left_s <= 0:
                return
            self.time.pass_s(min(max(wait_s, 0.5), left_s) if wait_s else 0)
        raise AssertionError("the timer does not rest")

    def ran(self):
        found = [name for name, _ in self.runner.ran]
        self.runner.ran.clear()
        return found
