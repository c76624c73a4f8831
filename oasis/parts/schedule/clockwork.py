"""The one thread that waits: for the next moment of an entry, and for a line of hotplug.

It lives while an entry is enabled and sleeps until the next moment, at most LONGEST_S, so that a clock that was set is
noticed; a line in the pipe wakes it at once. Nothing is done while the clock is not trusted. What was missed while the
router was off, or skipped by a clock that jumped, comes once, in the order in which it would have come. A firing is on
flash before its run begins: a power cut loses a run and never doubles one.
"""

from __future__ import annotations

import threading

from oasis.errors import OasisError
from oasis.parts.schedule import when
from oasis.parts.schedule.entry import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.parts.schedule.events import Event, Watch
    from oasis.parts.schedule.pipe import Pipe
    from oasis.parts.schedule.running import Runner
    from oasis.parts.schedule.zone import Zone
    from oasis.system.records import Records

    Entry = dict[str, Any]

# The longest sleep: sleeping is monotonic, and the wall clock may be set meanwhile.
LONGEST_S = 600
# Between two firings by events; an entry may say more.
PAUSE_S = 600
# A firing further ahead than this was noted under a wrong clock and does not count.
WRONG_S = 86400
# Among what was missed, the order is that of the last moments within this time.
_MISSED_S = 90000


class Clockwork:
    """Fires the entries of one daemon.

    `records` hold the entries, `editing` is held while one is read and written back, `zone(entry)` tells where its
    times are, `is_trusted(newest)` whether the wall clock may be believed, `daily(unix_s)` is called with each look,
    `clock` has now_s and unix_s.
    """

    def __init__(
        self, records: Records, editing: Any, runner: Runner, watch: Watch, pipe: Pipe, clock: Any,
        is_trusted: Callable[[int], bool], zone: Callable[[Entry], Zone], disable: Callable[[Entry, str], None],
        daily: Callable[[int], None], log: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._records = records
        self._editing = editing
        self._runner = runner
        self._watch = watch
        self._pipe = pipe
        self._clock = clock
        self._is_trusted = is_trusted
        self._zone = zone
        self._disable = disable
        self._daily = daily
        self._log = log
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_stopped = False
        self._fired_s: dict[str, float] = {}  # by events, on the clock that nobody sets
        self._known_s: dict[str, int] = {}
        self._unnoted: set[str] = set()  # entries that wait for a flash that can be written

    def look(self) -> None:
        """Look at the entries again: at start, and whenever one was changed."""
        with self._lock:
            if self._thread is not None:
                self._pipe.wake()
            elif not self._is_stopped and self._enabled():
                self._pipe.open()
                self._thread = threading.Thread(target=self._run, name="schedule", daemon=True)
                self._thread.start()

    def wake(self) -> None:
        """Let the thread look again, where there is one."""
        with self._lock:
            if self._thread is not None:
                self._pipe.wake()

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
                if self._is_stopped or (wait_s is None and not self._enabled()):
                    self._thread = None
                    self._pipe.close()
                    return
            for line in self._pipe.wait(LONGEST_S if wait_s is None else wait_s):
                self._kept_alive(lambda line=line: self._watch.take(line, _events(self._enabled())))  # type: ignore[misc]

    def _kept_alive(self, work: Callable[[], float | None]) -> float | None:
        """Do a part of the work; whatever goes wrong in it is told, and ends no other entry's waiting."""
        try:
            return work()
        except OasisError as error:  # the flash cannot be read or written
            self._log("schedule: %s" % error.message)
        except Exception as bug:  # without this thread no order would ever be carried out again, and nobody would know
            self._log("a fault in the schedule: %s: %s" % (type(bug).__name__, bug))
        return LONGEST_S

    def _enabled(self) -> list[Entry]:
        # What somebody else wrote into the file is no order, and stops no other.
        return [entry for entry in self._records.all() if entry.get("enabled") and not fault(entry)]

    def step(self) -> float | None:
        """Fire what is due; return the seconds until there is something to look at, None when nothing is enabled."""
        entries = self._enabled()
        now_s = self._clock.unix_s()
        if not self._is_trusted(max([int(entry.get("fired_unix_s", 0)) for entry in entries], default=0)):
            return LONGEST_S if entries else None  # the hook of the time servers wakes us when it is set
        self._daily(now_s)
        timed = self._moments(entries, now_s)
        due = sorted((at, number) for number, (at, _) in enumerate(timed) if at <= now_s)
        for _, number in due:
            self._fire(timed[number][1], now_s)
        self._happened(entries, now_s)
        wait_s = self._runner.pump()
        if not entries and self._runner.is_idle():
            return None
        if due:
            return 0.0  # for the next moments of what was fired now
        waits = [wait_s, self._watch.wait_s(_events(entries)), *[float(at - now_s) for at, _ in timed]]
        return min([float(LONGEST_S), *[one for one in waits if one is not None]])

    def _moments(self, entries: list[Entry], now_s: int) -> list[tuple[int, Entry]]:
        """Return when each entry is due next, or since when; one that cannot be read any more is ended."""
        found = []
        for entry in entries:
            try:
                meant = when.parse(entry["when"])
                begin_s = self._begin(entry, now_s)
                at = None if meant.event else moment(meant, entry, now_s, self._zone(entry), begin_s)
            except OasisError as error:
                self._disable(entry, error.message)
                continue
            if at is not None:
                found.append((at, entry))
            elif not meant.event:
                self._disable(entry, "it does not come any more")
        return found

    def _begin(self, entry: Entry, now_s: int) -> int:
        """Return since when this thread knows an entry: what was noted under a wrong clock does not tell."""
        known_s = self._known_s.get(entry["id"], now_s)
        self._known_s[entry["id"]] = known_s = now_s if known_s > now_s + WRONG_S else known_s
        return known_s

    def _fire(self, entry: Entry, now_s: int, event: Event | None = None) -> None:
        """Note a firing on flash, then let it run."""
        try:
            noted = self._noted(entry, now_s)
        except OasisError as error:
            # What cannot be noted is not done: after a power cut it would be done again.
            if entry["id"] not in self._unnoted:
                self._unnoted.add(entry["id"])
                self._runner.tell(entry, "waits, for it cannot be noted: " + error.message)
            raise
        self._unnoted.discard(entry["id"])
        if noted is not None:
            self._runner.add(noted, event)

    def _noted(self, entry: Entry, now_s: int) -> Entry | None:
        """Write that an entry fires; return it as it is now, None when its owner has changed it meanwhile."""
        with self._editing:
            now = self._records.get(entry["id"])
            # What became of the plan of its last run may have been noted meanwhile.
            if now is None or {**now, "plan": None} != {**entry, "plan": None}:
                return None
            noted = {**now, "fired_unix_s": now_s}
            chat = self._runner.chat(entry)
            if chat:
                noted["chat"] = chat
            if when.parse(entry["when"]).is_once:
                noted["enabled"] = False
            self._records.put(noted)
            return noted

    def _happened(self, entries: list[Entry], now_s: int) -> None:
        wanted = _events(entries)
        for event in self._watch.due(wanted) if wanted else []:
            for entry in entries:
                if _event_of(entry) == event["event"] and self._is_rested(entry, now_s):
                    self._fired_s[entry["id"]] = self._clock.now_s()
                    self._fire(entry, now_s, event)

    def _is_rested(self, entry: Entry, now_s: int) -> bool:
        """Return whether an entry fired long enough ago for an event to fire it again."""
        pause_s = int(entry.get("pause_s") or PAUSE_S)
        before_s = self._fired_s.get(entry["id"])
        if before_s is not None and self._clock.now_s() - before_s < pause_s:
            return False
        return not 0 <= now_s - int(entry.get("fired_unix_s", 0)) < pause_s


def moment(meant: when.When, entry: Entry, now_s: int, zone: Zone, begin_s: int = 0) -> int | None:
    """Return when an entry comes next after its last firing; what was missed, when it should have come last.

    `begin_s` is from when its moments count where that firing was noted under a wrong clock.
    """
    begin = max(int(entry.get("fired_unix_s", 0)), int(entry.get("since_unix_s", 0)))
    if begin > now_s + WRONG_S:
        begin = begin_s or now_s
    found = meant.next(begin, zone)
    if found is None or found > now_s:
        return found
    later = meant.next(max(found, now_s - _MISSED_S), zone)
    while later is not None and later <= now_s:
        found, later = later, meant.next(later, zone)
    return found


def _event_of(entry: Entry) -> str:
    try:
        return when.parse(entry["when"]).event
    except OasisError:
        return ""


def _events(entries: list[Entry]) -> set[str]:
    return {event for event in map(_event_of, entries) if event}
