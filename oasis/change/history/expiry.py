"""Changes that end by themselves: a record with a wall time, undone when the time has come.

What the owner says meanwhile may drop that end, or give parts of the change another one (ends.py).

The end is part of the record (`until_unix_s`), so it survives a power cut, and part of the approved plan's hash, so it
needs no second approval. Undoing is the ordinary undo. It is done only while the clock is trusted (system/clock.py);
15 minutes after a boot without such a clock, what opens the router is closed and everything else waits. An end that is
in conflict with a later edit is noted in the record (`expiry`) and left to the owner; any other failure is tried again.
A thread lives only while a change waits for its end, and sleeps until the next one.
"""

from __future__ import annotations

import threading

from oasis.change.apply.journal import is_ending
from oasis.core import when
from oasis.errors import OasisError, PolicyError, ToolError, UciError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from oasis.change.apply.journal import Journal
    from oasis.change.apply.transaction import Transaction
    from oasis.change.audit import Audit
    from oasis.change.plan import Planner
    from oasis.change.shapes import Clock, Plan, Record

    class Services(Protocol):
        """What of the daemon's services an end needs; daemon/wiring.py makes them."""

        journal: Journal
        transaction: Transaction
        audit: Audit

        @property
        def clock(self) -> Clock: ...
        @property
        def planner(self) -> Planner: ...
        def is_clock_trusted(self, newest_unix_s: int, /) -> bool:
            """Tell whether the wall clock may be believed, given the time of the newest record."""

        def log(self, text: str, is_fault: bool, /) -> object: ...
        def expiry_failed(self, record: Record, words: str, /) -> None:
            """Hear what could not end."""

        def spoken(self, words: str, now_s: int, /) -> int:
            """Read an end as people say it. Raises: UsageError."""


# How long after a boot the clock may take to be set before openings are closed.
UNTRUSTED_S = 900
# How often is looked whether the clock is set by now.
LOOK_S = 60
# The longest sleep: the wall clock may be set forward meanwhile, and sleeping is done in monotonic time.
LONGEST_S = 900
# The first and the longest pause before another try; each is twice the one before, because a try restarts services.
RETRY_S = 60
LONGEST_RETRY_S = 3600
# An end further away is a mistake.
FURTHEST_S = 366 * 24 * 3600


class Expiry:
    """The ends of one router's changes."""

    def __init__(self, services: Services) -> None:
        self._services, self._clock = services, services.clock
        self._journal, self._transaction = services.journal, services.transaction
        self._news = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_stopped = self._has_news = False
        self._tries: dict[str, int] = {}
        self._not_before_s: dict[str, float] = {}

    def moment(self, words: str) -> int:
        """Return the Unix time of an end that was asked for, 0 for no words.

        Raises: UsageError for what is no time in the coming year, ToolError while the clock is not trusted.
        """
        if not words.strip():
            return 0
        if not self._is_trusted(self._journal.records()):
            raise ToolError("the router's clock is not set yet, so no end can be given", "try again in some minutes")
        now_s = self._clock.unix_s()
        try:
            found = when.until(words, now_s)
        except UsageError:
            if words.strip()[:4].isdigit():
                raise
            found = self._services.spoken(words, now_s)
        if found > now_s + FURTHEST_S:
            raise UsageError("%r is more than a year away" % words, "leave the end out")
        return found

    def schedule(self) -> None:
        """Look at the records again: at start, and when a change that has an end was made."""
        with self._news:
            self._has_news = True
            self._news.notify_all()
            if self._thread is None and not self._is_stopped:
                self._thread = threading.Thread(target=self._run, name="expiry", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the thread, after what it is doing."""
        with self._news:
            self._is_stopped = True
            self._news.notify_all()

    def _run(self) -> None:
        while True:
            with self._news:
                self._has_news = False
            try:
                self._transaction.wait_idle()  # a change is reported before its record is written
                wait_s = self.step()
            except OasisError as error:  # the flash cannot be read
                self._services.log("ends of changes: %s" % error.message, False)
                wait_s = LOOK_S
            with self._news:
                if wait_s and not self._has_news and not self._is_stopped:
                    self._news.wait(wait_s)
                if self._is_stopped or (wait_s is None and not self._has_news):
                    self._thread = None
                    return

    def step(self) -> float | None:
        """Undo what is due; return the seconds until there is something to look at, None when nothing waits."""
        records = self._journal.records()
        waiting = [record for record in records if is_ending(record)]
        if not waiting:
            return None
        is_trusted = self._is_trusted(records)
        waits = []
        for record in waiting:  # newest first, as a stack is taken down
            wait_s = self._wait_s(record, is_trusted)
            if wait_s <= 0:
                self._end(record, is_trusted)
            waits.append(wait_s)
        return min(max(min(waits), 0.0), LONGEST_S)

    def _is_trusted(self, records: list[Record]) -> bool:
        return self._services.is_clock_trusted(max([int(one["when_unix_s"]) for one in records], default=0))

    def _wait_s(self, record: Record, is_trusted: bool) -> float:
        """Return how long a change stays as it is at least; 0 or less: its end has come."""
        if is_trusted:
            left_s = float(record["until_unix_s"] - self._clock.unix_s())
        else:
            left_s, images = float(LOOK_S), {}
            if self._clock.up_s() >= UNTRUSTED_S:
                for name in record["packages"]:
                    try:
                        images[name] = self._journal.images(record["id"], name)
                    except UsageError:
                        pass  # then it cannot be undone either
            if images and self._services.planner.openings(images)[0]:
                left_s = 0.0
        return max(left_s, self._not_before_s.get(str(record["id"]), 0.0) - self._clock.now_s())

    def _end(self, record: Record, is_trusted: bool) -> None:
        from oasis.change.history.undo import ConflictError  # comes with the first end: an idle daemon does without

        change = str(record["id"])
        try:
            record = self._journal.read(change)
            if not is_ending(record):
                return  # the owner has said otherwise meanwhile
            plan = self._plan(record, float(self._clock.unix_s()) if is_trusted else float("inf"))
            if plan is None:
                return
            self._services.audit.write("expired" if is_trusted else "closed", plan, "schedule")
            self._transaction.apply(plan)
        except (ConflictError, UsageError, PolicyError, UciError) as error:
            words = "could not expire: " + error.message
            self._services.log("change %s %s" % (change, words), False)
            self._journal.update(change, expiry=words)
            self._services.expiry_failed(record, words)
        except OasisError as error:
            tries = self._tries[change] = self._tries.get(change, 0) + 1
            pause_s = min(RETRY_S << min(tries - 1, 16), LONGEST_RETRY_S)
            self._not_before_s[change] = self._clock.now_s() + pause_s
            words = "change %s should end, tried again in %d s: %s" % (change, pause_s, error.message)
            self._services.log(words, False)
        else:
            why = "its time is over" if is_trusted else "the clock is not set, and it opens the router"
            self._services.log("change %s is undone: %s" % (change, why), False)

    def _plan(self, record: Record, now_s: float) -> Plan | None:
        """Return the plan of an end: of the whole change, or of what of it has no other end; None: of nothing."""
        from oasis.change.history import ends, undo

        change, stays = str(record["id"]), ends.stays(record, now_s)
        before = after = ends.state(record)
        if stays:
            standing = ends.places(self._journal, record, self._services.planner.read)
            after = ends.after_end(record, standing, now_s)
            if not set(standing) - set(stays):
                self._journal.update(change, **ends.fields(after))
                return None
        planner = self._services.planner
        plan = undo.plan_undo(self._journal, planner, change, "", str(record["chat"]), stays=stays)
        # Approved together with the change; and nobody need be there to keep what was there before.
        return planner.bind(
            plan,
            summary="ended: %s" % record["summary"],
            undoes="" if stays else plan["undoes"],  # the rest of it stands
            ends=[*plan["ends"], {"change": change, "before": before, "after": after}],
            needs_approval=False,
            confirm_s=0,
            is_automatic=True,
        )
