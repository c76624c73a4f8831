"""Carry out what a tool wants changed: plan, show, wait for the owner, apply, tell what happened.

One Operator serves one run. What it returns goes to the model as the tool's result:
    {"status": "unchanged" | "declined" | "expired" | "cancelled" | "applied" | "waiting_confirm",
     "plan"?: id, "approval"?: "approved" | "automatic", "summary", "words": [...], "services": [...], "change"?,
     "confirm_in_s"?, "reason"?, "untrusted"?: [whose words are in it]}
A failure is an OasisError of the change package: nothing was changed, or all is put back.
"""

from __future__ import annotations

from oasis.change import secrets
from oasis.change.plan import card
from oasis.change.redact import SECRET_CHARS
from oasis.change.undo import ConflictError, plan_undo
from oasis.core import clean
from oasis.errors import PolicyError
from oasis.system.digest import sha256
from oasis.tools import handles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.approval import Desk
    from oasis.change.audit import Audit
    from oasis.change.force import RefusedError
    from oasis.change.journal import Journal
    from oasis.change.origin import Origins
    from oasis.change.plan import Planner
    from oasis.change.redact import Redactor
    from oasis.change.shapes import Any, Callable, Operation, Plan, Record, Seconds
    from oasis.change.transaction import Transaction
    from oasis.tools.facts import Facts
    from oasis.tools.refused import Refused


SUMMARY_CHARS = 200
# Of a change's words in the result: what was done must not be told as a failure for being long.
_TOLD_CHARS = 6000


class Workshop:
    """What every run shares: the planner, the desk, the transaction and their records.

    `moment(words)` gives the Unix time of an end that somebody asked for, 0 for no words.
    """

    def __init__(
        self,
        facts: Facts,
        planner: Planner,
        desk: Desk,
        transaction: Transaction,
        journal: Journal,
        audit: Audit,
        now_s: Seconds,
        moment: Callable[[str], int],
        redactor: Redactor,
    ) -> None:
        self.facts = facts
        self.planner = planner
        self.desk = desk
        self.transaction = transaction
        self.journal = journal
        self.audit = audit
        self.now_s = now_s
        self.moment = moment
        self.redactor = redactor
        self.unconfined: Callable[[], str] = str  # why the workers are not kept from the router, "" when they are
        self.origins: Callable[[], Origins] | None = None  # tells by which connection somebody came
        self.examine: Callable[[], dict[str, Any]] = dict  # a round of the doctor, see tools/diagnose.py
        self.refused: list[Refused] = []  # what the owner may still force, see tools/refused.py


class Operator:
    """The hands of one run.

    `emit(type, **fields)` tells the front-ends, `flush()` puts the chat on flash, `is_cancelled()` is asked while
    waiting, `message` is the id of the owner's message that all this answers. `is_model`: a model moves them, which
    gets placeholders for secrets and handles for devices, and whose plans are tainted by the words of others in sight.

    `forces` is what the owner lets through, and given when the hands are made: nothing that moves them can ask for it.
    `unattended` stands at the desk where nobody is there (schedule/unattended.py): judge(plan) before it is shown, wait
    as the desk's own, `rehearses` where nothing may be done at all, and may(tool), where not all of them are for it.

    The built-in provider is none: only the owner's own sentences lead to its calls, never the text of a result, and
    what it takes from the router are checked values (an address, a section). Nothing that a device says can move it.
    Where a sentence is not the owner's own (a guest's, a forwarded or an imported one), `others` tells whose it is.
    """

    def __init__(
        self,
        shop: Workshop,
        run: str,
        chat: str,
        message: str,
        emit: Callable[..., None],
        flush: Callable[[], None],
        is_cancelled: Callable[[], bool],
        is_model: bool = False,
        forces: tuple[str, ...] | None = None,
        unattended: Any = None,
        others: tuple[str, ...] = (),
    ) -> None:
        self._unattended = unattended
        self._others = list(others)
        self.facts = shop.facts.seen(self._hide, not is_model)
        self._shop = shop
        self._run = run
        self._chat = chat
        self._message = message
        self._emit = emit
        self._flush = flush
        self._is_cancelled = is_cancelled
        self._is_model = is_model
        self._forces = None if is_model else forces  # None: nobody who may force anything moves these hands
        self._is_asking = False  # the owner wants to see every plan of the tool that moves them now
        self._taint: list[str] = []
        self.is_home: Callable[[], bool] = bool  # whether who moves them now is a service at home

    @property
    def taint(self) -> list[str]:
        """Whose words, beside the owner's, were in sight of who moves these hands now."""
        return self._taint

    @property
    def rehearses(self) -> bool:
        """Return whether nothing may be done: every call that would do something becomes a plan that is shown."""
        return bool(self._unattended is not None and self._unattended.rehearses)

    def may(self, tool: str) -> bool:
        """Return whether a tool is for whom these hands serve."""
        return getattr(self._unattended, "may", _everything)(tool) is True

    def is_cancelled(self) -> bool:
        """Return whether the owner stopped the run."""
        return self._is_cancelled()

    def progress(self, tool: str, text: str) -> None:
        """Tell the front-ends how far a tool is."""
        self._emit("tool_progress", name=tool, text=text)

    def tell(self, text: str) -> None:
        """Show something to the owner of the run at the router, and to nobody else: not by a messenger either."""
        self._emit("note", text=text, is_private=True)

    def asking(self, is_asking: bool) -> None:
        """Let the owner be asked about every plan, or about those that policy says."""
        self._is_asking = is_asking

    def seeing(self, taint: list[str]) -> Operator:
        """Return these hands with what was in sight of who moves them now: whose words, beside the owner's."""
        self._taint = taint if self._is_model else self._others
        return self

    def masked(self, result: Any) -> Any:
        """Return a tool's result without secrets."""
        return self._shop.redactor.hide(result, self._chat if self._is_model else "")

    def _hide(self, package: str, section: str, type: str, option: str, value: object) -> object:
        if not self._is_model:
            return secrets.mask(value)
        if isinstance(value, list):
            return [self._hide(package, section, type, option, item) for item in value]
        return self._shop.redactor.placeholder(self._chat, (package, section, type, option, str(value)))

    def change(self, operations: list[Operation], summary: str, until: str = "") -> dict[str, Any]:
        """Carry out UCI operations; with the words of a time they are undone by themselves then."""
        from oasis.change import typed  # an idle daemon does without
        from oasis.change.placeholders import Restorer

        until_unix_s = self._shop.moment(until)
        operations = handles.resolve(operations, lambda: handles.listed(self._shop.facts))
        restorer = Restorer(self._shop.redactor, self._chat, self._shop.facts.config)
        operations = restorer.restore(operations)
        summary = typed.without(self._shop.redactor.text(clean.line(summary)), _new_secrets(operations))
        plan = self._plan(operations, summary, until_unix_s, restorer.words)
        if plan is None:
            return {"status": "unchanged", "summary": summary, "words": [], "services": []}
        return self.carry_out(plan)

    def _plan(self, operations: list[Operation], summary: str, until_unix_s: int, words: list[str]) -> Plan | None:
        """Return a plan of operations; a refused one is kept for the owner, who may force it."""
        shop = self._shop
        try:
            plan = shop.planner.propose(operations, self._run, self._chat, summary, until_unix_s, self._forces or ())
        except PolicyError as error:
            if not getattr(error, "forces", ()):
                raise
            from oasis.tools import refused  # only a refusal loads it

            refusal: RefusedError = error  # type: ignore[assignment]  # its class is loaded with the first one only
            if self._forces is not None:
                raise refused.for_owner(refusal, self._forces)
            where = {"chat": self._chat, "message": self._message, "taint": self._taint}
            order = {"operations": operations, "summary": summary, "until_unix_s": until_unix_s, "words": words}
            self._emit("refused", **refused.keep(shop, refusal, {**where, **order}))
            raise refused.plain(refusal)
        if plan is not None:
            plan["words"] += words
            plan["summary"] = summary or ", ".join(plan["words"][:2])[:SUMMARY_CHARS]
        return plan

    def force(self, kept: Refused) -> dict[str, Any]:
        """Carry out what was refused, by the owner's word and once: with the words in sight that its maker had.

        Raises: UsageError when it was forced already, ApplyError when the router has become another one.
        """
        from oasis.tools.refused import check_unmoved, use  # only a refusal loads it

        planner = self._shop.planner
        self._taint = list(kept["taint"])
        use(self._shop, kept)
        check_unmoved(kept, {name: sha256(planner.read(name)) for name in kept["revisions"]})
        plan = self._plan(kept["operations"], kept["summary"], kept["until_unix_s"], kept["words"])
        check_unmoved(kept, plan["before"] if plan is not None else {})  # it is bound to these from here on
        return {"status": "unchanged"} if plan is None else self.carry_out(plan)

    def examine(self) -> dict[str, Any]:
        """Return a round of the doctor."""
        return self._shop.examine()

    def act(self, name: str, action: str) -> dict[str, Any]:
        """Carry out an action on a service."""
        return self.carry_out(self._shop.planner.service(name, action, self._run, self._chat))

    def undo(self, change: str, skip_conflicts: bool = False) -> dict[str, Any]:
        """Carry out the undoing of a change; what was changed since stays only if the owner said to skip it."""
        shop = self._shop
        try:
            plan = plan_undo(shop.journal, shop.planner, change, self._run, self._chat, skip_conflicts)
        except ConflictError as error:
            error.untrusted = ("values of others",)
            raise
        plan["untrusted"] += shop.journal.read(str(plan["undoes"])).get("untrusted", [])
        return self.carry_out(plan)

    def carry_out(self, plan: Plan) -> dict[str, Any]:
        """Show a plan, wait for the owner where policy says so, apply it."""
        if self._is_asking:
            plan["is_asked"] = True
            plan = self._shop.planner.bind(plan)
        decision, words = self._decided(plan)
        if decision not in ("automatic", "approved"):
            return _refusal(plan, decision, words)
        record = self._shop.transaction.apply(plan, self._message)
        return _outcome(plan, record, decision)

    def permit(
        self, tool: dict[str, Any], arguments: dict[str, Any], reasons: list[str], words: list[str]
    ) -> dict[str, Any] | None:
        """Ask the owner about a call of a tool; return what is told when he does not let it through, None when he does.

        Raises: ApplyError when it is not what was shown any more, or a change waits that it could spoil.
        """
        from oasis.change import called  # an idle daemon does without

        if tool["class"] == "danger":
            called.check_idle(self._shop.transaction.pending())
        plan = called.plan(self._shop.planner, tool, arguments, (reasons, words), self._run, self._chat)
        decision, reason = self._decided(plan)
        if decision != "approved":
            return _refusal(plan, decision, reason)
        self._shop.planner.check_current(plan)
        if tool["class"] == "danger":
            called.check_idle(self._shop.transaction.pending())
        return None

    def _decided(self, plan: Plan) -> tuple[str, str]:
        """Show a plan, wait for the owner where it needs him, and note what was decided."""
        if self._taint:
            plan = self._shop.planner.taint(plan, self._taint)
        if self._unattended is not None:
            self._unattended.judge(plan)
        self._emit("plan", plan=card(plan, self._shop.now_s()))
        decision, words = "automatic", "policy"
        if plan["needs_approval"]:
            decision, words = (self._unattended or self._shop.desk).wait(plan, self._is_cancelled)
        self._emit("approval", plan=plan["id"], decision=decision)
        if decision in ("automatic", "approved"):
            self._flush()
            self._shop.audit.write(decision, plan, words)
        else:
            self._shop.audit.write(decision, plan, "owner" if decision in ("declined", "noted") else "daemon")
        return decision, words


def _everything(tool: str) -> bool:
    return True


def _new_secrets(operations: list[Operation]) -> list[str]:
    return [
        str(step["value"])
        for step in operations
        if len(str(step.get("value", ""))) >= SECRET_CHARS and secrets.may_hold(step["package"], step["option"])
    ]


def _told(plan: Plan, status: str) -> dict[str, Any]:
    # With the id of the plan the chat names what the audit log tells of it: hash, role, forces.
    result = {"status": status, "plan": plan["id"], "summary": plan["summary"]}
    result.update(words=_first(plan["words"]), services=[])
    if plan["untrusted"]:
        result["untrusted"] = sorted(set(plan["untrusted"]))
    return result


def _first(words: list[str]) -> list[str]:
    """Return as many sentences as a model reads, the last one telling how many are left out."""
    left = _TOLD_CHARS
    found: list[str] = []
    for word in words:
        left -= len(word)
        if left < 0:
            return [*found, "and %d more" % (len(words) - len(found))]
        found.append(word)
    return found


def _refusal(plan: Plan, decision: str, reason: str) -> dict[str, Any]:
    result = _told(plan, decision)
    if reason:
        result["reason"] = reason
    return result


def _outcome(plan: Plan, record: Record, decision: str) -> dict[str, Any]:
    result = {**_told(plan, "applied"), "approval": decision, "change": record["id"]}
    result["services"] = ["%s %s" % (item["name"], item["action"]) for item in record["services"]]
    if record["state"] == "applied":
        result["status"] = "waiting_confirm"
        result["confirm_in_s"] = plan["confirm_s"]
    return result
