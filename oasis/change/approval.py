"""Queue of plans awaiting approval. An approval is single-use and bound to one plan hash.

A plan is decided by its id and its hash: whole (64 digits) by programs, the first 8 by somebody at a terminal. A plan
with `typed_word` also needs that word. Knows nothing of how a plan is made or applied; time and locks only.
"""

from __future__ import annotations

import threading

from oasis.errors import PolicyError, UsageError
from oasis.system.digest import is_equal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Callable, Plan, Role, Seconds

SHORT = 8
# Of changes that nobody approves: so many in one turn, and in an hour; one more waits for the owner.
A_TURN, AN_HOUR = 5, 20
HOUR_S = 3600
MANY = "many changes were made without you (%s)"
# How often a waiting run looks whether it was cancelled.
_LOOK_S = 0.25
# Of how many plans that wait no more it is known what became of them.
_OVER = 64


class Allowance:
    """How many changes were made that nobody approved. `now_s()` is monotonic: no clock that is set makes room."""

    def __init__(self, now_s: Seconds) -> None:
        self._now_s = now_s
        self._lock = threading.Lock()
        self._taken: list[tuple[float, str]] = []

    def take(self, run: str) -> str:
        """Count one more in a run; return why it waits for the owner all the same, "" when it need not."""
        with self._lock:
            since_s = self._now_s() - HOUR_S
            # Those of a run that lasts longer count as long as they are among the newest.
            recent = [one for one in self._taken if one[0] > since_s]
            if sum(one[1] == run for one in self._taken) >= A_TURN:
                return MANY % ("%d in this turn" % A_TURN)
            if len(recent) >= AN_HOUR:
                return MANY % ("%d in this hour" % AN_HOUR)
            self._taken = [*self._taken[-AN_HOUR:], (self._now_s(), run)]
            return ""


class ApprovalQueue:
    """Plans that wait. `now_s()` is monotonic."""

    def __init__(self, now_s: Seconds) -> None:
        self._now_s = now_s
        self._lock = threading.Condition()
        self._plans: dict[str, Plan] = {}
        self._decisions: dict[str, tuple[str, str]] = {}
        self._over: dict[str, tuple[str, str]] = {}

    def put(self, plan: Plan) -> None:
        """Queue a plan before it is shown: whoever sees it may decide at once. `wait` or `drop` must follow."""
        with self._lock:
            self._plans[str(plan["id"])] = plan

    def drop(self, plan: Plan) -> None:
        """Take a plan out of the queue that could not be shown, so that nobody will wait for it."""
        with self._lock:
            self._plans.pop(str(plan["id"]), None)
            self._decisions.pop(str(plan["id"]), None)

    def wait(self, plan: Plan, is_cancelled: Callable[[], bool]) -> tuple[str, str]:
        """Wait for the decision on a plan.

        Return (decision, words): approved with the role that approved, declined with the owner's reason, expired or
        cancelled with "".
        """
        name = str(plan["id"])
        with self._lock:
            self._plans[name] = plan
            try:
                while name not in self._decisions:
                    if is_cancelled():
                        return self._ended(name, "cancelled", "")
                    if self._now_s() > plan["expires_s"]:
                        return self._ended(name, "expired", "")
                    self._lock.wait(_LOOK_S)
                return self._decisions.pop(name)
            finally:
                del self._plans[name]

    def approve(self, name: str, hash_: str, role: Role, word: str = "") -> Plan:
        """Approve a plan and return it; `word` is the typed word, where the plan asks for one.

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
            if "room" in role:  # how many characters fit where the word comes from
                length = sum(len(line) for line in [plan["summary"], *plan["words"], *plan["uci"], *plan["reasons"]])
                if length > role["room"] or any("value" in secret for secret in plan["secrets"]):
                    raise PolicyError(
                        "plan %s cannot be read whole there" % name,
                        "read and approve it on the router's page, or there with: oasis approve %s" % name,
                    )
            wanted = str(plan.get("typed_word", ""))
            if wanted and word != wanted:
                raise PolicyError(
                    "plan %s needs a typed word, for the AI worker is not confined: %s" % (name, plan["unconfined"]),
                    "to approve it all the same: oasis approve %s --word %s" % (name, wanted),
                )
            self._decide(name, "approved", str(role.get("way") or role["name"]))
            return plan

    def decline(self, name: str, reason: str) -> None:
        """Refuse a plan; the model gets `reason`."""
        with self._lock:
            self._waiting(name)
            self._decide(name, "declined", reason)

    def plans(self) -> list[Plan]:
        """Return the plans that wait, oldest first."""
        with self._lock:
            return [plan for name, plan in self._plans.items() if name not in self._decisions]

    def outcome(self, name: str) -> tuple[str, str]:
        """Return (decision, words) of a plan that waits no more, as wait() does; ("waiting", "") while it waits.

        ("", "") where nobody knows: it was long ago, or before the daemon was started.
        """
        with self._lock:
            if name in self._plans and name not in self._decisions:
                return "waiting", ""
            return self._over.get(name, ("", ""))

    def _waiting(self, name: str) -> Plan:
        if name not in self._plans or name in self._decisions:
            raise UsageError("no plan %r waits" % name, "it may have been decided or have expired; see: oasis plans")
        return self._plans[name]

    def _decide(self, name: str, decision: str, words: str) -> None:
        self._decisions[name] = self._ended(name, decision, words)
        self._lock.notify_all()

    def _ended(self, name: str, decision: str, words: str) -> tuple[str, str]:
        self._over[name] = found = (decision, words)
        for old in list(self._over)[:-_OVER]:
            del self._over[old]
        return found
