"""The desk where plans wait for their owner's word; an approval fits one plan, once.

A plan is decided by its id and its hash: whole (64 digits) by programs, the first 8 by somebody at a terminal. A plan
that says `typed_word` is approved with that word beside. Knows nothing of how a plan is made or applied; time and locks
only.
"""

from __future__ import annotations

import threading

from oasis.errors import PolicyError, UsageError
from oasis.system.digest import is_equal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Callable, Plan, Role, Seconds

SHORT = 8
# How often a waiting run looks whether it was cancelled.
_LOOK_S = 0.25


class Desk:
    """Plans that wait. `now_s()` is monotonic."""

    def __init__(self, now_s: Seconds) -> None:
        self._now_s = now_s
        self._lock = threading.Condition()
        self._plans: dict[str, Plan] = {}
        self._decisions: dict[str, tuple[str, str]] = {}

    def wait(self, plan: Plan, is_cancelled: Callable[[], bool]) -> tuple[str, str]:
        """Wait for the word on a plan.

        Return (decision, words): approved with the role that approved, declined with the owner's reason, expired or
        cancelled with "".
        """
        name = str(plan["id"])
        with self._lock:
            self._plans[name] = plan
            try:
                while name not in self._decisions:
                    if is_cancelled():
                        return "cancelled", ""
                    if self._now_s() > plan["expires_s"]:
                        return "expired", ""
                    self._lock.wait(_LOOK_S)
                return self._decisions.pop(name)
            finally:
                del self._plans[name]

    def approve(self, name: str, hash_: str, role: Role, word: str = "") -> None:
        """Give the owner's word for a plan; where the plan asks for a typed one, that is `word`.

        Raises: UsageError when no such plan waits, PolicyError when role, hash or word do not fit.
        """
        with self._lock:
            plan = self._waiting(name)
            if role["name"] != "owner":
                raise PolicyError("only the owner approves a plan", "this connection has the role %s" % role["name"])
            if self._now_s() > plan["expires_s"]:
                raise UsageError("plan %r has expired" % name, "ask for the change again")
            whole = str(plan["hash"])
            expected = whole[:SHORT] if role["terminal"] and len(hash_) == SHORT else whole
            if not is_equal(expected, hash_.lower()):
                raise PolicyError(
                    "the hash %s is not that of plan %s" % (hash_[:SHORT] or "(none)", name),
                    "look at the plan again: `oasis plans`; programs give all 64 digits",
                )
            wanted = str(plan.get("typed_word", ""))
            if wanted and word != wanted:
                raise PolicyError(
                    "plan %s needs a typed word, for the AI worker is not confined: %s" % (name, plan["unconfined"]),
                    "to approve it all the same: oasis approve %s --word %s" % (name, wanted),
                )
            self._decide(name, "approved", str(role.get("way") or role["name"]))

    def decline(self, name: str, reason: str) -> None:
        """Refuse a plan; `reason` is told to the model."""
        with self._lock:
            self._waiting(name)
            self._decide(name, "declined", reason)

    def plans(self) -> list[Plan]:
        """Return the plans that wait, oldest first."""
        with self._lock:
            return [plan for name, plan in self._plans.items() if name not in self._decisions]

    def _waiting(self, name: str) -> Plan:
        if name not in self._plans or name in self._decisions:
            raise UsageError("no plan %r waits" % name, "it may have been decided or have expired; see: oasis plans")
        return self._plans[name]

    def _decide(self, name: str, decision: str, words: str) -> None:
        self._decisions[name] = (decision, words)
        self._lock.notify_all()
