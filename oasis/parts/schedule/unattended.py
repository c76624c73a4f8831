"""A run that nobody sits at: who stands at the desk, what its model is told, and how it ends.

Whom a run is for (principal.py) and, as `desk`, what stands in for the owner (tools/operator.py): low risk is applied,
anything else waits for him, much longer than when he is there, unless that very plan was approved ahead (standing.py).
A rehearsal does nothing at all: each plan is shown, and what the owner approves of it is kept for the runs to come.
"""

from __future__ import annotations

from oasis.agent.principal import Present
from oasis.core import clean, schema
from oasis.parts.schedule import standing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.agent.runs import Run
    from oasis.change.plan import Plan

    Entry = dict[str, Any]

# A plan of the night is found in the morning, and one of the morning in the evening.
WAIT_S = 12 * 3600
_NOTED = "approved for the runs of this schedule; nothing is changed now"
_EVERY = "ahead, for every run (%s): %s"
_AHEAD = "schedule %s: approved ahead"


class Unattended(Present):
    """One run of an entry. `planner`, `desk` and `now_s()` are the daemon's.

    `system` are words for a model, `taint` whose words are among them. `tell(role, plan)` tells the owner what is
    going to wait, `waits()` lets others begin meanwhile, `ended(role, state, words)` is called once, with the run's
    last words. `calls` asks in place of the services.
    """

    is_attended = False
    role = "schedule"

    def __init__(
        self, entry: Entry, system: str, taint: list[str], shop: Any, tell: Callable[..., object],
        waits: Callable[[], object], ended: Callable[[Unattended, str, str], object], calls: Any = None,
        rehearses: bool = False,
    ) -> None:  # fmt: skip
        self.entry = entry
        self.rehearses = rehearses
        self.desk = self
        self.run: Run | None = None
        self.is_waiting = False
        self.decided = ""  # what became of the plan that waited last, "" where none did
        self.kept: dict[str, Any] = {}  # and what is kept of it (entry.py)
        self._is_ahead = False  # whether the plan that was judged last was approved ahead
        self.approved: list[dict[str, Any]] = []
        self._system = system
        self._taint = taint
        self._shop = shop
        self._tell = tell
        self._waits = waits
        self._ended = ended
        self._calls = calls
        self.has_teller = calls is not None and calls.has_teller

    # As the role of a run

    def asking(self, services: list[dict[str, Any]], told: Any, asker: Any) -> tuple[list[dict[str, Any]], Any]:
        """Return who is asked, and by what; a model is told what this run is."""
        if told is not None:
            told.system.append(self._system)
            told.taint += self._taint
        if self._calls is None:
            return services, asker
        return services[:1], lambda service: self._calls.asking(asker)

    def around(self, answer: Callable[..., tuple[str, str]]) -> Callable[..., tuple[str, str]]:
        """Return what answers, with its ending told whatever happens."""

        def work(run: Run, taken: Any) -> tuple[str, str]:
            self.run = run
            state = "error"
            try:
                state, stop_reason = answer(run, taken)
                return state, stop_reason
            finally:
                self._ended(self, state, _last_words(taken[0]))

        return work

    # As the desk of its operator

    def judge(self, plan: Plan) -> Plan:
        """Return a plan that waits for the owner also where they would not be asked if they were there."""
        bind = self._shop.planner.bind
        if self.rehearses:
            summary = _EVERY % (self.entry["when"], plan["summary"])
            made: Plan = bind(plan, needs_approval=True, summary=summary)
            return made
        if plan["risk"] == "low" and not plan["needs_approval"]:
            return plan
        self._is_ahead = standing.fits(plan, self.entry.get("approved", []), self._shop.planner.read)
        if self._is_ahead:  # then nobody need be there to keep it
            made = bind(plan, needs_approval=True, confirm_s=0)
            return made
        made = bind(plan, needs_approval=True, expires_s=self._shop.now_s() + WAIT_S)
        # All of this before it is shown: whoever sees it may decide at once.
        self.is_waiting = True
        self._tell(self, made)
        self._waits()
        return made

    def wait(self, plan: Plan, is_cancelled: Callable[[], bool]) -> tuple[str, str]:
        """Wait as the desk does; see change/approval.py. In a rehearsal what is approved is "noted"."""
        if self.rehearses:
            return self._rehearsed(plan, is_cancelled)
        if self._is_ahead:
            return "approved", _AHEAD % self.entry["id"]
        try:
            found: tuple[str, str] = self._shop.desk.wait(plan, is_cancelled)
            self.decided = found[0]
            return found
        finally:
            self.is_waiting = False

    def _rehearsed(self, plan: Plan, is_cancelled: Callable[[], bool]) -> tuple[str, str]:
        why = standing.fault(plan)
        if why:
            return "declined", "not to be approved ahead: %s; it waits for the owner each time" % why
        decision, words = self._shop.desk.wait(plan, is_cancelled)
        if decision != "approved":
            return decision, words
        self.approved.append(standing.approval(plan, self._shop.planner.read))
        return "noted", _NOTED


def _last_words(chat: Any) -> str:
    """Return what the run said last, or what stopped it."""
    for message in reversed(list(chat.messages.values())):
        if message["role"] == "assistant":
            error = message.get("error")
            text = str(error["message"]) if error else schema.text_of(message)
            if text.strip():
                return clean.line(text.strip())
    return ""
