"""Carry out what a tool wants changed: plan, show, wait for approval, apply, report the outcome.

One Operator serves one run. What it returns goes to the model as the tool's result:
    {"status": "unchanged" | "declined" | "expired" | "cancelled" | "applied" | "waiting_confirm",
     "plan"?: id, "approval"?: "approved" | "automatic", "summary", "words": [...], "services": [...], "change"?,
     "confirm_in_s"?, "reason"?, "untrusted"?: [whose words are in it]}
A failure is an OasisError of the change package: nothing was changed, or all is rolled back.
"""

from __future__ import annotations

from oasis.change.history.undo import plan_undo
from oasis.change.plan import card
from oasis.core import clean, jsonl, when
from oasis.errors import PolicyError, ProviderError, UsageError
from oasis.redaction import secret_options
from oasis.redaction.redactor import SECRET_CHARS
from oasis.system.digest import sha256
from oasis.tools.principal import may_use
from oasis.tools.router import known_devices, resolve_handles
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol, TypedDict

    from oasis.change.apply.journal import Journal
    from oasis.change.apply.transaction import Transaction
    from oasis.change.approval import Allowance, ApprovalQueue
    from oasis.change.audit import Audit
    from oasis.change.force import RefusedError
    from oasis.change.origin import Origins
    from oasis.change.plan import Planner
    from oasis.change.shapes import Action, Any, Callable, CalledTool, Moved, Operation, Plan, Record
    from oasis.change.text_origin import Texts
    from oasis.redaction.redactor import Redactor
    from oasis.tools.principal import Principal
    from oasis.tools.router import Facts
    from oasis.tools.shapes import Arguments, Order, PlanResult, Refused, RunHandle, ToolSpec

    class Workshop(Protocol):
        """What every run shares, of the daemon's services (daemon/wiring.py)."""

        facts: Facts
        planner: Planner
        approvals: ApprovalQueue
        transaction: Transaction
        journal: Journal
        audit: Audit
        allowance: Allowance
        redactor: Redactor
        refused: list[Refused]  # what the owner may still force, see refused.py

        def now_s(self) -> float: ...
        def moment(self, words: str, /) -> int:
            """Return the Unix time of an end that somebody asked for, 0 for no words."""

        def unconfined(self) -> str:
            """Return why the workers are not kept from the router, "" when they are."""

        def origins(self) -> Origins:
            """Return what knows by which connection somebody came."""

        def times(self, said: str, /) -> list[tuple[str, list[str]]]:
            """Return what of a sentence is a time or a condition; see times.py."""

        def examine(self) -> dict[str, Any]:
            """Return a round of the doctor; see builtin/diagnose.py."""

    class Retold(TypedDict):
        """What a model gets of a plan."""

        summary: str
        words: list[str]
        untrusted: list[str]  # whose words are in it, other than the owner's


SUMMARY_CHARS = 200
# Of a change's words in the result: a change that was made must not be reported as a failure because it is long.
_TOLD_CHARS = 6000


class NoRun:
    """In place of a run, for a call that nobody follows."""

    id = ""

    def emit(self, kind: str, **fields: object) -> None:
        """Drop an event."""

    def is_cancelled(self) -> bool:
        """Return False: nobody can stop it."""
        return False


class ChatContext:
    """The chat that a run belongs to.

    `message` is the id of the owner's message that the run answers; `flush()` puts the chat on flash. `said()` gives
    the owner's own words in the chat and `turn()` the latest of them; without a turn `said` is None. `others` names
    whose words a sentence of the owner's may be: a guest's, forwarded or imported ones. `is_home()` says whether the
    model service that answers is at home.
    """

    def __init__(
        self,
        id: str = "",
        message: str = "",
        *,
        flush: Callable[[], object] = bool,
        said: Callable[[], str] | None = None,
        turn: Callable[[], str] = str,
        others: tuple[str, ...] = (),
        is_home: Callable[[], bool] = bool,
    ) -> None:
        self.id = id
        self.message = message
        self.flush = flush
        self.said = said
        self.turn = turn
        self.others = others
        self.is_home = is_home


class Operator:
    """Acts for one run, with the permissions of its principal.

    `is_model`: a model decides what is called. It gets placeholders for secrets and handles for devices, and the words
    of others in its sight taint its plans. `forces` is what the owner lets through. It is given here, so no tool can
    ask for it; None: nobody here may force anything. The approver of the principal judges plans in the owner's place.

    The built-in service is no model: only the owner's own sentences lead to its calls, never the text of a result, and
    what it takes from the router are checked values (an address, a section). Nothing that a device says can steer it.
    """

    def __init__(
        self,
        shop: Workshop,
        run: RunHandle,
        principal: Principal,
        chat: ChatContext | None = None,
        is_model: bool = False,
        forces: tuple[str, ...] | None = None,
    ) -> None:
        chat = chat or ChatContext()
        self._shop = shop
        self._handle = run
        self._run = run.id
        self._emit = run.emit
        self._role = principal.role
        self._unattended = principal.approver
        self._context = chat
        self._chat = chat.id
        self._message = chat.message
        self._others = list(chat.others)
        self._said = chat.said
        self._is_model = is_model
        self._forces = None if is_model else forces
        self._is_asking = False  # the owner wants to see every plan of the tool that runs now
        self._taint: list[str] = []
        said = chat.said if is_model and chat.said is not None else str
        self.facts = shop.facts.seen(self._hide, shows_names=not is_model, tells_summaries=not is_model, said=said)

    def is_home(self) -> bool:
        """Return whether the model service that answers is at home."""
        return self._context.is_home()

    def _wrote(self, value: str) -> bool:
        """Return whether the owner wrote a value: their own commands are, the built-in service has their sentences."""
        if self._is_model and self._said is not None:
            return _is_given(value, self._said())
        return not self._is_model and not self._others

    @property
    def taint(self) -> list[str]:
        """Whose words, other than the owner's, the current caller has in sight."""
        return self._taint

    @property
    def rehearses(self) -> bool:
        """Return whether nothing may be done: every call that would do something becomes a plan that is shown."""
        return bool(self._unattended is not None and self._unattended.rehearses)

    @property
    def has_chats(self) -> bool:
        """Return whether a tool may quote other chats: to a model that the owner talks with, in a chat."""
        return self._is_model and self._unattended is None and bool(self._chat)

    def may(self, tool: str) -> bool:
        """Return whether the principal may use a tool."""
        return may_use(self._role, tool)

    def is_cancelled(self) -> bool:
        """Return whether the owner stopped the run."""
        return self._handle.is_cancelled()

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
        """Set whose words, other than the owner's, the current caller has in sight; return this operator."""
        self._taint = taint if self._is_model else self._others
        return self

    def whose(self, text: str, arguments: Arguments) -> list[str]:
        """Return whose texts of the configuration stand in a result, apart from what the model said itself."""
        texts = self._texts() if self._is_model else None
        if texts is None:
            return []
        return texts.within(text, "%s\n%s" % (self._said() if self._said else "", jsonl.dumps(arguments)))

    def is_own(self, text: str) -> bool:
        """Return whether a text is the owner's: every sentence of it stands in their words, or no model wrote it."""
        if not self._is_model:
            return not self._others
        from oasis.tools import times  # with the first note

        return times.is_quoted(text, self._said() if self._said else "")

    def masked(self, result: Any) -> Any:
        """Return a tool's result without secrets."""
        return self._shop.redactor.hide(result, self._chat if self._is_model else "")

    def _hide(self, package: str, section: str, type: str, option: str, value: object) -> object:
        if not self._is_model:
            return secret_options.mask(value)
        if isinstance(value, list):
            return [self._hide(package, section, type, option, item) for item in value]
        if secret_options.is_word(str(value)):
            return value
        return self._shop.redactor.placeholder(self._chat, (package, section, type, option, str(value)))

    def change(self, operations: list[Operation], summary: str, until: str = "") -> PlanResult:
        """Carry out UCI operations; with the words of a time they are undone by themselves then."""
        from oasis.redaction import typed  # an idle daemon does without
        from oasis.redaction.placeholders import Restorer

        until_unix_s = self._shop.moment(until)
        operations = resolve_handles(operations, lambda: known_devices(self._shop.facts))
        restorer = Restorer(self._shop.redactor, self._chat, self._shop.facts.config)
        operations = restorer.restore(operations)
        summary = typed.without(self._shop.redactor.text(_one_line(summary)), _new_secrets(operations))
        summary = summary if len(summary) <= SUMMARY_CHARS else summary[: SUMMARY_CHARS - 1] + "…"
        plan = self._plan(operations, summary, until_unix_s, self._sources(operations, restorer.known))
        if plan is None:
            return {"status": "unchanged", "summary": summary, "words": [], "services": []}
        return self.carry_out(plan)

    def _sources(self, operations: list[Operation], known: dict[str, str]) -> dict[str, str]:
        """Return where the values of operations come from that are known, or that the owner wrote."""
        from oasis.change import secret_origin  # an idle daemon does without

        values = {str(step["value"]) for step in operations if "value" in step}
        return {**{value: secret_origin.WROTE for value in values if self._wrote(value)}, **known}

    def _plan(self, operations: list[Operation], summary: str, until_unix_s: int, known: dict[str, str]) -> Plan | None:
        """Return a plan of operations; a refused one is kept for the owner, who may force it.

        `known` tells by value where secrets come from.
        """
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
            order: Order = {
                "operations": operations, "summary": summary, "until_unix_s": until_unix_s, "known": known,
                "chat": self._chat, "message": self._message, "taint": self._taint,
            }  # fmt: skip
            self._emit("refused", **refused.keep(shop, refusal, order))
            raise refused.plain(refusal)
        if plan is None:
            return None
        summary = summary or ", ".join(plan["words"][:2])[:SUMMARY_CHARS]
        return shop.planner.bind(plan, summary=summary, **self._sources_of(plan, known))

    def _sources_of(self, plan: Plan, known: dict[str, str], is_undo: bool = False) -> Moved:
        """Return what changes in a plan that names where its secrets come from."""
        from oasis.change import secret_origin

        otherwise = secret_origin.MODEL if self._message and not self._others else secret_origin.OTHERS
        return secret_origin.changes(plan, known, secret_origin.BEFORE if is_undo else otherwise)

    def force(self, kept: Refused) -> PlanResult:
        """Carry out a refused proposal that the owner forces, once, with the taint of the run that proposed it.

        Raises: UsageError when it was forced already, ApplyError when the router has become another one.
        """
        from oasis.tools.refused import check_unmoved, use  # only a refusal loads it

        planner = self._shop.planner
        self._taint = list(kept["taint"])
        use(self._shop, kept)
        check_unmoved(kept, {name: sha256(planner.read(name)) for name in kept["revisions"]})
        plan = self._plan(kept["operations"], kept["summary"], kept["until_unix_s"], kept["known"])
        check_unmoved(kept, plan["before"] if plan is not None else {})  # it is bound to these from here on
        return {"status": "unchanged"} if plan is None else self.carry_out(plan)

    def examine(self) -> dict[str, Any]:
        """Return a round of the doctor."""
        return self._shop.examine()

    def act(self, name: str, action: str) -> PlanResult:
        """Carry out an action on a service."""
        return self.carry_out(self._shop.planner.service(name, action, self._run, self._chat))

    def undo(self, change: str, skip_conflicts: bool = False) -> PlanResult:
        """Carry out the undoing of a change; what was changed since stays only if the owner said to skip it."""
        shop = self._shop
        plan = plan_undo(shop.journal, shop.planner, change, self._run, self._chat, skip_conflicts=skip_conflicts)
        untrusted = [*plan["untrusted"], *shop.journal.read(plan["undoes"]).get("untrusted", [])]
        return self.carry_out(shop.planner.bind(plan, untrusted=untrusted, **self._sources_of(plan, {}, True)))

    def carry_out(self, plan: Plan) -> PlanResult:
        """Show a plan, wait for the owner where policy says so, apply it."""
        if self._is_asking:
            plan = self._shop.planner.bind(plan, is_asked=True)
        told = self._retold(plan)
        plan, decision, words = self._decided(plan)
        if decision not in ("automatic", "approved"):
            return _refusal(plan, told, decision, words)
        own = self._own_texts(plan, decision == "approved")
        return _outcome(plan, told, self._shop.transaction.apply(plan, self._message, own), decision)

    def permit(self, tool: ToolSpec, arguments: Arguments, reasons: list[str], words: list[str]) -> PlanResult | None:
        """Ask the owner to approve a tool call; return the result of a refusal, None when they approve.

        Raises: ApplyError when it is not what was shown any more, or a change waits that it could spoil.
        """
        from oasis.change import called  # an idle daemon does without

        if tool["class"] == "danger":
            called.check_idle(self._shop.transaction.pending())
        asked: CalledTool = {"name": tool["name"], "source": tool["source"], "class": tool["class"]}
        plan = called.plan(self._shop.planner, asked, arguments, (reasons, words), self._run, self._chat)
        told = self._retold(plan)
        plan, decision, reason = self._decided(plan)
        if decision != "approved":
            return _refusal(plan, told, decision, reason)
        self._shop.planner.check_current(plan)
        if tool["class"] == "danger":
            called.check_idle(self._shop.transaction.pending())
        return None

    def _own_texts(self, plan: Plan, is_approved: bool) -> list[str]:
        """Return the keys of the texts that a plan writes and that are the owner's own words; see text_origin.py.

        What an undo brings back is whose it was before. The built-in service takes names from devices.
        """
        texts = self._texts()
        if texts is None or not plan["images"] or plan["tainted"] or plan["undoes"]:
            return []
        from oasis.change.text_origin import is_said  # an idle daemon does without

        is_own = self._said is None or (self._is_model and is_approved)
        said = "" if self._said is None else self._said()
        return [key for key, text in texts.new(plan["images"]) if is_own or is_said(text, said)]

    def _texts(self) -> Texts | None:
        made = self._shop.planner.texts
        return made() if made is not None else None

    def _retold(self, plan: Plan) -> Retold | None:
        """Return what a model gets of a plan, without texts of others; what cannot be left out is marked.

        None without a model: then the plan's own words are shown.
        The summary of an earlier change is some model's own text: the change is called by its id in its place.
        """
        if not self._is_model:
            return None
        lines, whose = [plan["summary"], *plan["words"]], list(self._taint)
        if plan["undoes"]:
            lines[0] = "undo of change %s" % plan["undoes"]
        for record in self._earlier(plan):
            whose += record.get("untrusted", ())
            if record["summary"]:
                lines = [line.replace(record["summary"], "change %s" % record["id"]) for line in lines]
        texts = self._texts() if plan["images"] else None
        if texts is not None:
            sides = (0, 1) if plan["undoes"] else (0,)  # what is new is the model's own, or comes back
            packages = [model.parse(images[side], name) for name, images in plan["images"].items() for side in sides]
            lines, found = texts.hide(packages, lines, self._said() if self._said else "")
            whose = found + whose
        return {"summary": lines[0], "words": lines[1:], "untrusted": whose}

    def _earlier(self, plan: Plan) -> list[Record]:
        """Return the earlier changes that a plan tells of: what it undoes, and what ends otherwise with it."""
        found = []
        names = [str(entry["change"]) for entry in plan["ends"]]
        if plan["undoes"]:
            undone = self._shop.journal.read(str(plan["undoes"]))
            found.append(undone)
            names += [str(entry["change"]) for entry in undone.get("ends", [])]
        for name in dict.fromkeys(names):
            try:
                found.append(self._shop.journal.read(name))
            except UsageError:  # too old to be in the history
                continue
        return found

    def _decided(self, plan: Plan) -> tuple[Plan, str, str]:
        """Show a plan, wait for the owner where it needs them, note the decision; return it with the plan as shown."""
        if self._taint:
            plan = self._shop.planner.taint(plan, self._taint)
        if self._unattended is not None:
            plan = self._unattended.judge(plan)
        plan = self._timely(plan)
        if not plan["needs_approval"] and (self._is_model or self._unattended is not None):
            plan = self._counted(plan)
        shown = card(plan, self._shop.now_s())
        is_queued = plan["needs_approval"] and self._unattended is None
        if is_queued:
            self._shop.approvals.put(plan)
        try:
            self._emit("plan", plan=shown)
        except BaseException:
            if is_queued:
                self._shop.approvals.drop(plan)
            raise
        decision, words = "automatic", "policy"
        if plan["needs_approval"]:
            decision, words = (self._unattended or self._shop.approvals).wait(plan, self._handle.is_cancelled)
        self._emit("approval", plan=plan["id"], decision=decision)
        if decision in ("automatic", "approved"):
            self._context.flush()
            self._shop.audit.write(decision, plan, words)
        else:
            self._shop.audit.write(decision, plan, "owner" if decision in ("declined", "noted") else "daemon")
        return plan, decision, words

    def _timely(self, plan: Plan) -> Plan:
        """Return a plan that waits for the owner when it drops a time that they named; an order's time is its own."""
        said = self._context.turn() if self._is_model and self._unattended is None else ""
        if not said or plan["until_unix_s"] or plan["ends"] or plan["call"]:
            return plan
        from oasis.tools import times  # an idle daemon does without

        try:
            reason = times.dropped(plan, self._shop.times(said))
        except ProviderError:
            reason = times.UNREAD
        if not reason:
            return plan
        return self._shop.planner.bind(plan, is_asked=True, reasons=[reason, *plan["reasons"]])

    def _counted(self, plan: Plan) -> Plan:
        """Return a plan that nobody need approve, and that no sentence of the owner's is; one too many waits."""
        reason = self._shop.allowance.take(self._run)
        if not reason:
            return self._shop.planner.bind(plan, is_automatic=True)
        plan = self._shop.planner.bind(plan, is_asked=True, reasons=[*plan["reasons"], reason])
        return plan if self._unattended is None else self._unattended.judge(plan)


def _is_given(value: str, said: str) -> bool:
    from oasis.redaction.secret_forms import given  # with the first change

    return value in given(said)


def _one_line(summary: str) -> str:
    """Return a summary as one line; what steers a terminal goes whole, not only its first character."""
    import re  # with the first change: an idle daemon does without

    # Control sequences. Source: ECMA-48.
    return clean.line(re.sub(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]", "", summary))


def _new_secrets(operations: list[Operation]) -> list[str]:
    return [
        str(step["value"])
        for step in operations
        if len(str(step.get("value", ""))) >= SECRET_CHARS and secret_options.may_hold(step["package"], step["option"])
    ]


def _told(plan: Plan, told: Retold | None, status: str) -> PlanResult:
    # With the id of the plan the chat names what the audit log tells of it: hash, role, forces.
    told = told or {"summary": plan["summary"], "words": plan["words"], "untrusted": plan["untrusted"]}
    result: PlanResult = {"status": status, "plan": plan["id"], "summary": told["summary"]}
    result.update({"words": _first(told["words"]), "services": []})
    if told["untrusted"]:
        result["untrusted"] = sorted(set(told["untrusted"]))
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


def _refusal(plan: Plan, told: Retold | None, decision: str, reason: str) -> PlanResult:
    result = _told(plan, told, decision)
    if reason:
        result["reason"] = reason
    return result


def _trouble(item: Action) -> str:
    if item.get("ok", True):
        return ""
    return " (failed with status %d, which this change is not the reason of; it stays)" % item["status"]


def _outcome(plan: Plan, told: Retold | None, record: Record, decision: str) -> PlanResult:
    result: PlanResult = {**_told(plan, told, "applied"), "approval": decision, "change": record["id"]}
    result["services"] = ["%s %s%s" % (item["name"], item["action"], _trouble(item)) for item in record["services"]]
    if plan["until_unix_s"]:
        result["until"] = when.shown(plan["until_unix_s"])
    if record["state"] == "applied":
        result["status"] = "waiting_confirm"
        result["confirm_in_s"] = plan["confirm_s"]
    return result
