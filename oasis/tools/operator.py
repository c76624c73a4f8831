"""Carry out what a tool wants changed: plan, show, wait for approval, apply, report the outcome.

One Operator serves one run. What it returns goes to the model as the tool's result:
    {"status": "unchanged" | "declined" | "expired" | "cancelled" | "applied" | "waiting_confirm",
     "plan"?: id, "approval"?: "approved" | "automatic", "summary", "words": [...], "services": [...], "change"?,
     "confirm_in_s"?, "keep"?, "reason"?, "untrusted"?: [whose words are in it]}
A failure is an OasisError of the change package: nothing was changed, or all is rolled back.

Refused proposals that the owner may force are kept in memory for a short while, never on flash, because operations hold
secrets in clear. A proposal that runs code is shown and not kept: the owner does that by commands of their own. It is
used once, and only while its packages are as they were: @rule[-1] would be another section.

Times: a plan must carry the times that the owner's words name. What of a sentence is a time the offline process tells
(Session.times); here it is only held against the plan, knowing no language. A name that holds such words ("Next
Friday") and an option that holds such a value (a lease time, hours of a rule) carry them.
"""

from __future__ import annotations

import itertools
import re
import time

from oasis.change import text_origin
from oasis.change.history.undo import plan_undo
from oasis.change.plan import RefusedError
from oasis.change.plan_card import card
from oasis.core import clean, jsonl, when
from oasis.errors import ApplyError, CancelledError, MistakeError, OasisError, PolicyError, ProviderError, UsageError
from oasis.redaction import secret_options
from oasis.redaction.placeholders import Restorer
from oasis.redaction.redactor import SECRET_CHARS
from oasis.redaction.secret_forms import given, masker
from oasis.system.digest import sha256
from oasis.tools.router import known_devices, resolve_handles
from oasis.uci import model

if False:  # annotations only
    from oasis.change.plan import Planner
    from oasis.change.shapes import Any, Call, Callable, CalledTool, Choice, Collection, Operation, Plan, Record
    from oasis.core.shapes import Message, Sequence
    from oasis.tools import shapes
    from oasis.tools.principal import Principal
    from oasis.tools.shapes import Arguments, ChatContext, Order, PlanResult, Refused, RunHandle, ToolSpec, Workshop

SUMMARY_CHARS = 200
# Of a change's words in the result: a change that was made must not be reported as a failure because it is long.
_WORDS_CHARS = 6000
_KEEP = "the owner keeps it on the page or with `oasis confirm`, until %s"
_KEEPING = "the owner keeps it, or it is rolled back by itself: you need not wait, go on and say that it waits"
_LOOK_S = 0.2
_MORE = "the packages brought more than their card could say; without a yes they are removed again"
_LINES, _INTERRUPTS = re.compile(r" \(/[^()]*, line \d+\)"), "can interrupt somebody's connection"
# What steers a terminal. Source: ECMA-48, control sequences.
_CONTROL = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]")


class NoRun:
    """In place of a run, for a call that nobody follows."""

    id = ended_by = ""

    def emit(self, kind: str, **fields: object) -> None:
        """Drop an event."""

    def is_cancelled(self) -> bool:
        """Return False: nobody can stop it."""
        return False


class Operator:
    """Acts for one run, with the permissions of its principal.

    `is_model`: a model decides what is called. It gets placeholders for secrets and handles for devices, and the words
    of others in its sight taint its plans. `forces` is what the owner lets through. It is given here, so no tool can
    ask for it; None: nobody here may force anything. The approver of the principal judges plans in the owner's place.

    The built-in service is no model: only the owner's own sentences lead to its calls, never the text of a result, and
    what it takes from the router are checked values (an address, a section). Nothing that a device says can steer it.

    role           of the principal
    facts          the router as this run may see it
    taint          whose words, other than the owner's, the current caller has in sight
    is_home()      whether the model service that answers is at home
    rehearses      nothing may be done: every call that would do something becomes a plan that is shown
    ahead          what the card of the call that runs now approves for later, see registry.py; () without a card
    reading        the built-in service is not certain of the call: the owner decides under every setting, and may
                   choose what else it may mean; None where it is certain
    has_chats      a tool may quote other chats: to a model that the owner talks with, in a chat
    """

    def __init__(
        self, shop: Workshop, run: RunHandle, principal: Principal, chat: ChatContext | None = None,
        is_model: bool = False, forces: tuple[str, ...] | None = None,
    ) -> None:  # fmt: skip
        chat = chat or {}
        self._shop = shop
        self._run = run
        self.role = principal.role
        self._approver = approver = principal.approver
        self._chat = chat.get("id", "")
        self._message = chat.get("message", "")
        self._flush: Callable[[], object] = chat.get("flush", bool)
        self._turn: Callable[[], str] = chat.get("turn", str)
        self._others = chat.get("others", ())
        self._has_turn = "said" in chat
        self._said: Callable[[], str] = chat.get("said", str)
        self.is_model = is_model
        self._forces = None if is_model else forces
        self._is_asking = False  # the owner wants to see every plan of the tool that runs now
        self.taint: list[str] = []
        self.ahead: Sequence[Any] = ()
        self.reading: Choice | None = None
        self.rehearses = bool(approver is not None and approver.rehearses)
        self.has_chats = is_model and approver is None and bool(self._chat)
        self.is_home: Callable[[], bool] = chat.get("is_home", bool)
        self.is_cancelled = run.is_cancelled
        self._texts = shop.planner.texts or _unknown
        said = self._said if is_model else str
        self.facts = shop.facts.seen(self._hide, shows_names=not is_model, tells_summaries=not is_model, said=said)

    def progress(self, tool: str, text: str) -> None:
        """Tell the front-ends how far a tool is."""
        self._run.emit("tool_progress", name=tool, text=text)

    def tell(self, text: str) -> None:
        """Show something to the owner of the run at the router, and to nobody else: not by a messenger either."""
        self._run.emit("note", text=text, is_private=True)

    def asking(self, is_asking: bool) -> None:
        """Let the owner be asked about every plan, or about those that policy says."""
        self._is_asking = is_asking

    def seeing(self, taint: list[str]) -> Operator:
        """Set whose words, other than the owner's, the current caller has in sight; return this operator."""
        self.taint = taint if self.is_model else list(self._others)
        return self

    def rehearsal(self, who: Principal) -> Operator:
        """Return an operator of this run that shows nothing, and of which the approver of `who` sees each plan."""
        quiet = NoRun()
        quiet.id = self._run.id  # by which the way of its owner is known
        return Operator(self._shop, quiet, who, {"id": self._chat, "others": tuple(self.taint)}).seeing([])

    def whose(self, text: str, arguments: Arguments) -> list[str]:
        """Return whose texts of the configuration stand in a result, apart from what the model said itself."""
        texts = self._texts() if self.is_model else None
        return texts.within(text, "%s\n%s" % (self._said(), jsonl.dumps(arguments))) if texts is not None else []

    def is_own(self, text: str) -> bool:
        """Return whether a text is the owner's: every sentence of it stands in their words, or no model wrote it."""
        return is_quoted(text, self._said()) if self.is_model else not self._others

    def masked(self, result: Any) -> Any:
        """Return a tool's result without secrets."""
        return self._shop.redactor.hide(result, self._chat if self.is_model else "")

    def _hide(self, package: str, section: str, type: str, option: str, value: object) -> object:
        if not self.is_model:
            return secret_options.mask(value)
        if isinstance(value, list):
            return [self._hide(package, section, type, option, item) for item in value]
        if secret_options.is_word(str(value)):
            return value
        return self._shop.redactor.placeholder(self._chat, (package, section, type, option, str(value)))

    def examine(self) -> dict[str, Any]:
        """Return a round of the doctor."""
        return self._shop.examine()

    # What changes the router

    def change(
        self, operations: list[Operation], summary: str, until: str = "", known: dict[str, str] | None = None
    ) -> PlanResult:  # fmt: skip
        """Carry out UCI operations; with the words of a time they are undone by themselves then.

        `known` tells by value where secrets come from that our own code put there; no word of a model does.
        """
        self._await_keeping()
        until_unix_s, operations, summary, sources = self._ready(operations, summary, until)
        plan = self._plan(operations, summary, until_unix_s, {**sources, **(known or {})})
        if plan is None:
            return {"status": "unchanged", "summary": summary, "words": [], "services": []}
        return self.carry_out(plan)

    def _ready(
        self, operations: list[Operation], summary: str, until: str
    ) -> tuple[int, list[Operation], str, dict[str, str]]:
        """Return the end, the operations with what placeholders stand for, the summary, and where secrets come from."""
        until_unix_s = self._shop.moment(until)
        operations = resolve_handles(operations, lambda: known_devices(self._shop.facts))
        restorer = Restorer(self._shop.redactor, self._chat, self._shop.facts.config)
        operations = restorer.restore(operations)
        secrets = [
            str(step["value"])
            for step in operations
            if len(str(step.get("value", ""))) >= SECRET_CHARS
            and secret_options.may_hold(step["package"], step["option"])
        ]
        line = clean.line(_CONTROL.sub("", summary))  # control sequences go whole, not only their first character
        summary = masker(secrets)(self._shop.redactor.text(line))
        summary = summary if len(summary) <= SUMMARY_CHARS else summary[: SUMMARY_CHARS - 1] + "…"
        # What the owner wrote: their own commands, and the sentences that the built-in service takes a value from.
        values = {str(step["value"]) for step in operations if "value" in step}
        if self.is_model:
            values &= given(self._said())
        elif self._others:
            values = set()
        known = dict.fromkeys(values, text_origin.WROTE)
        return until_unix_s, operations, summary, {**known, **restorer.known}

    def install(
        self, operations: list[Operation], arguments: shapes.ConfigureArguments, order: Arguments,
        words: list[str], work: Callable[[str], object],
    ) -> PlanResult:  # fmt: skip
        """Install packages by work(folder) and carry out UCI operations on what they bring, by one approval.

        `order` has the "names" of all that would be installed and what they may have to replace ("replaces"); `words`
        are what the owner reads of it. The owner is asked again only for what nothing could tell before the packages
        were there, such as who would be let in.
        """
        self._await_keeping()
        until_unix_s, operations, summary, known = self._ready(
            operations, str(arguments.get("summary", "")), str(arguments.get("until", ""))
        )
        planner = self._shop.planner.before_unpacking(operations)
        plan = self._plan(operations, summary, until_unix_s, known, planner)
        call: Call = {"name": "packages", "source": "built-in", "class": "danger", "arguments": order}
        whole = planner.installation(plan, operations, self._run.id, self._chat, words, call)
        first, decision, result = self._decided(whole)
        if decision not in ("automatic", "approved"):
            return result
        made: list[Plan] = []

        def make() -> Plan | None:
            plan = self._plan(operations, summary, until_unix_s, known, self._shop.planner)
            if plan is None:
                return None
            if _asks_more(plan, first, planner.presumed):
                plan = planner.bind(plan, is_asked=True, reasons=[_MORE, *plan["reasons"]])
                plan, again, answer = self._decided(plan)
                if again not in ("automatic", "approved"):
                    raise _NotApprovedError(answer)
            else:
                plan = planner.taint(plan, self.taint) if self.taint else plan
            made.append(plan)
            return plan

        try:
            record = self._shop.transaction.install(
                first, work, make, self._message, lambda plan: self._own(plan, decision)
            )
        except _NotApprovedError as declined:
            return {**declined.result, "notes": ["the packages are removed again"]}
        return self._told(result, made[0] if made else first, record, decision)

    def _plan(
        self, operations: list[Operation], summary: str, until_unix_s: int, known: dict[str, str],
        installer: Planner | None = None,
    ) -> Plan | None:  # fmt: skip
        """Return a plan of operations; a refused one is kept for the owner, but for an installation's.

        `known`: where secrets come from.
        """
        planner = installer or self._shop.planner
        try:
            plan = planner.propose(operations, self._run.id, self._chat, summary, until_unix_s, self._forces or ())
        except RefusedError as refusal:
            if self._forces is not None:
                options = ["--force " + kind for kind in sorted({*self._forces, *refusal.forces})]
                hint = "to have it all the same: oasis apply " + " ".join(options)
                raise RefusedError(refusal.forces, refusal.reasons, refusal.uci, refusal.revisions, hint=hint)
            if installer is not None:
                raise (MistakeError if refusal.is_mistake else PolicyError)(refusal.message, refusal.hint)
            order: Order = {
                "operations": operations, "summary": summary, "until_unix_s": until_unix_s, "known": known,
                "chat": self._chat, "message": self._message, "taint": self.taint,
            }  # fmt: skip
            self._run.emit("refused", **keep_refused(self._shop, refusal, order))
            # Who cannot force anything need not know that others can.
            raise (MistakeError if refusal.is_mistake else PolicyError)(refusal.message, refusal.hint)
        if plan is None:
            return None
        summary = summary or ", ".join(plan["words"][:2])[:SUMMARY_CHARS]
        otherwise = text_origin.MODEL if self._message and not self._others else text_origin.OTHERS
        return planner.bind(plan, summary=summary, **text_origin.of_secrets(plan, known, otherwise))

    def force(self, kept: Refused) -> PlanResult:
        """Carry out a refused proposal that the owner forces, once, with the taint of the run that proposed it.

        Raises: UsageError when it was forced already, ApplyError when the router has become another one.
        """
        planner = self._shop.planner
        self.taint = list(kept["taint"])
        try:
            self._shop.refused.remove(kept)
        except ValueError:
            raise UsageError("refusal %s was forced already" % kept["id"], "ask for the change again")
        check_unmoved(kept, {name: sha256(planner.read(name)) for name in kept["revisions"]})
        plan = self._plan(kept["operations"], kept["summary"], kept["until_unix_s"], kept["known"])
        check_unmoved(kept, plan["before"] if plan is not None else {})  # it is bound to these from here on
        return {"status": "unchanged"} if plan is None else self.carry_out(plan)

    def act(self, name: str, action: str) -> PlanResult:
        """Carry out an action on a service."""
        self._await_keeping()
        return self.carry_out(self._shop.planner.service(name, action, self._run.id, self._chat))

    def undo(self, change: str, skip_conflicts: bool = False) -> PlanResult:
        """Carry out the undoing of a change; what was changed since stays only if the owner said to skip it."""
        shop = self._shop
        self._await_keeping()
        plan = plan_undo(shop.journal, shop.planner, change, self._run.id, self._chat, skip_conflicts=skip_conflicts)
        untrusted = [*plan["untrusted"], *shop.journal.read(plan["undoes"]).get("untrusted", [])]
        sources = text_origin.of_secrets(plan, {}, text_origin.BEFORE)
        return self.carry_out(shop.planner.bind(plan, untrusted=untrusted, **sources))

    def _await_keeping(self) -> None:
        """Wait until no change waits to be kept: a model or a job cannot keep one, and plans for what comes then.

        A dry run writes nothing, and the owner hears at once what their own change waits for.
        """
        if self.rehearses or not (self.is_model or self._approver):
            return
        pending = self._shop.transaction.pending
        record = pending()
        if record is not None:
            self._run.emit("note", text="the next change waits until %s is kept or rolled back" % record["id"])
        # One whose rollback failed waits for a person: planning ends with the error that says so.
        while record is not None and record["state"] == "applied":
            time.sleep(_LOOK_S)
            if self._run.is_cancelled():  # whatever became of the other one
                raise CancelledError("stopped while it waited for change %s" % record["id"])
            record = pending()

    def carry_out(self, plan: Plan) -> PlanResult:
        """Show a plan, wait for the owner where policy says so, apply it."""
        if self._is_asking:
            plan = self._shop.planner.bind(plan, is_asked=True)
        if self.reading is not None:
            plan = self._shop.planner.bind(plan, is_asked=True, choice=self.reading)
        plan, decision, result = self._decided(plan)
        if decision not in ("automatic", "approved"):
            return result
        record = self._shop.transaction.apply(plan, self._message, self._own(plan, decision))
        return self._told(result, plan, record, decision)

    def _own(self, plan: Plan, decision: str) -> list[str]:
        # The keys of the texts that the plan writes and that are the owner's own words; see text_origin.py. What an
        # undo brings back is whose it was before. The built-in service takes names from devices.
        own, texts = list[str](), self._texts()
        if texts is not None and plan["images"] and not (plan["tainted"] or plan["undoes"]):
            is_own = not self._has_turn or (self.is_model and decision == "approved")
            said = self._said()
            new = texts.new(plan["images"])
            own = [key for key, text in new if is_own or text_origin.is_said(text, said)]
        return own

    def _told(self, result: PlanResult, plan: Plan, record: Record, decision: str) -> PlanResult:
        """Return the result of a plan that was applied."""
        is_waiting = record["state"] == "applied"
        result.update({"status": "waiting_confirm" if is_waiting else "applied"})
        result.update({"approval": decision, "change": record["id"]})
        trouble = " (failed with status %d, which this change is not the reason of; it stays)"
        result["services"] = [
            "%s %s%s" % (one["name"], one["action"], "" if one.get("ok", True) else trouble % one["status"])
            for one in record["services"]
        ]
        if plan["until_unix_s"]:
            result["until"] = when.shown(plan["until_unix_s"])
        if is_waiting:
            result["confirm_in_s"] = plan["confirm_s"]
            if self.is_model:
                result["notes"] = [_KEEPING]
                until = time.localtime(self.facts.now_s() + plan["confirm_s"])
                result["keep"] = _KEEP % time.strftime("%H:%M:%S %Z", until)
        return result

    def permit(self, tool: ToolSpec, arguments: Arguments, reasons: list[str], words: list[str]) -> PlanResult | None:
        """Ask the owner to approve a tool call; return the result of a refusal, None when they approve.

        Raises: ApplyError when it is not what was shown any more, or a change waits that it could spoil.
        """
        if tool["class"] == "danger" and not self.rehearses:
            self._shop.transaction.check_idle("nothing was done")
        asked: CalledTool = {"name": tool["name"], "source": tool["source"], "class": tool["class"]}
        plan = self._shop.planner.call(asked, arguments, self._run.id, self._chat, reasons, words)
        plan, decision, result = self._decided(plan)
        if decision != "approved":
            return result
        self._shop.planner.check_current(plan)
        if tool["class"] == "danger":
            self._shop.transaction.check_idle("nothing was done")
        return None

    def _retold(self, plan: Plan) -> shapes.Retold:
        """Return what a model gets of a plan, without texts of others; what cannot be left out is marked.

        The summary of an earlier change is some model's own text: the change is called by its id in its place.
        """
        lines, whose = [plan["summary"], *plan["words"]], list(self.taint)
        if plan["undoes"]:
            lines[0] = "undo of change %s" % plan["undoes"]
        # The earlier changes that the plan tells of: what it undoes, and what ends otherwise with it.
        names = [str(entry["change"]) for entry in plan["ends"]]
        if plan["undoes"]:
            undone = self._shop.journal.read(str(plan["undoes"]))
            names = [undone["id"], *names, *[str(entry["change"]) for entry in undone.get("ends", [])]]
        for name in dict.fromkeys(names):
            try:
                record = self._shop.journal.read(name)
            except UsageError:  # too old to be in the history
                continue
            whose += record.get("untrusted", ())
            if record["summary"]:
                lines = [line.replace(record["summary"], "change %s" % record["id"]) for line in lines]
        texts = self._texts() if plan["images"] else None
        if texts is not None:
            sides = (0, 1) if plan["undoes"] else (0,)  # what is new is the model's own, or comes back
            packages = [model.parse(images[side], name) for name, images in plan["images"].items() for side in sides]
            lines, found = texts.hide(packages, lines, self._said())
            whose = found + whose
        return {"summary": lines[0], "words": lines[1:], "untrusted": whose}

    def _decided(self, plan: Plan) -> tuple[Plan, str, PlanResult]:
        """Show a plan, wait for the owner where it needs them; return it as shown, the decision, and the result."""
        shop, approver = self._shop, self._approver
        retold = self._retold(plan) if self.is_model else None
        if self.taint:
            plan = shop.planner.taint(plan, self.taint)
        if approver is not None:
            plan = approver.judge(plan)
        elif self.is_model:
            plan = self._timely(plan)
        if not plan["needs_approval"] and (self.is_model or approver is not None):
            # No sentence of the owner's asks for exactly this: of such plans one too many waits.
            reason = shop.allowance.take(self._run.id)
            if not reason:
                plan = shop.planner.bind(plan, is_automatic=True)
            else:
                plan = shop.planner.bind(plan, is_asked=True, reasons=[*plan["reasons"], reason])
                plan = plan if approver is None else approver.judge(plan)
        shown = card(plan, shop.now_s())
        if plan["needs_approval"] and approver is None:
            shop.approvals.put(plan)
        try:
            self._run.emit("plan", plan=shown)
        except BaseException:
            shop.approvals.drop(plan)  # an approver that judges may have queued it as well
            raise
        decision, reason = "automatic", "policy"
        if plan["needs_approval"]:
            decision, reason = (approver or shop.approvals).wait(plan, self._run.is_cancelled)
        why = {"reason": reason} if reason and decision in ("declined", "expired") else {}
        self._run.emit("approval", plan=plan["id"], decision=decision, **why)
        if decision in ("automatic", "approved"):
            self._flush()
            shop.audit.write(decision, plan, reason)
            reason = ""
        else:
            shop.audit.write(decision, plan, "owner" if decision in ("declined", "noted") else "daemon")
        # With the id of the plan the chat names what the audit log tells of it: hash, role, forces.
        retold = retold or {"summary": plan["summary"], "words": plan["words"], "untrusted": plan["untrusted"]}
        sizes = itertools.accumulate(map(len, retold["words"]))
        words = [word for word, size in zip(retold["words"], sizes, strict=True) if size <= _WORDS_CHARS]
        if len(words) < len(retold["words"]):
            words.append("and %d more" % (len(retold["words"]) - len(words)))
        result: PlanResult = {"status": decision, "plan": plan["id"], "summary": retold["summary"]}
        result.update({"words": words, "services": []})
        if retold["untrusted"]:
            result["untrusted"] = sorted(set(retold["untrusted"]))
        return plan, decision, {**result, "reason": reason} if reason else result

    def _timely(self, plan: Plan) -> Plan:
        """Return a plan that waits for the owner when it drops a time that they named; an order's time is its own."""
        said = self._turn()
        if not said or plan["until_unix_s"] or plan["ends"] or (plan["call"] and not plan["operations"]):
            return plan
        try:
            reason = dropped_times(plan, self._shop.times(said))
        except ProviderError:
            reason = "whether you named a time could not be read"
        return self._shop.planner.bind(plan, is_asked=True, reasons=[reason, *plan["reasons"]]) if reason else plan


class _NotApprovedError(OasisError):
    """What packages brought would do something that the owner did not approve."""

    def __init__(self, result: PlanResult) -> None:
        super().__init__("the owner did not approve it")
        self.result = result


def _asks_more(plan: Plan, shown: Plan, absent: Collection[str]) -> bool:
    """Return whether a plan needs more consent than what was shown before the packages in `absent` were there."""
    known = [_bare_reason(one) for one in shown["reasons"]]
    verdicts = (None, "yes", shown["verdict"].get("verdict"))
    return bool(
        [one for one in plan["diff"] if one["package"] not in absent and one not in shown["diff"]]
        or [one for one in plan["secrets"] if one not in shown["secrets"]]
        or [one for one in map(_bare_reason, plan["reasons"]) if one not in known and not one.endswith(_INTERRUPTS)]
        or plan["verdict"].get("verdict") not in verdicts
        or plan["new_address"] != shown["new_address"]
        or plan["ends"] != shown["ends"]
    )


def _bare_reason(reason: str) -> str:
    """Return a reason without the lines at which options stand: before unpacking nobody knew them."""
    return _LINES.sub("", reason)


def _unknown() -> None:
    """Know of no text whose it is."""


# Refused proposals: kept as long as a plan waits, and no more than one owner can have in mind.
KEEP_S = 600
KEPT = 16


def keep_refused(shop: Workshop, error: RefusedError, order: Order) -> shapes.RefusalEvent:
    """Keep a refusal, unless it is one for code; return the fields of its event, with the id "" for one not kept."""
    event: shapes.RefusalEvent = {
        "refused": "", "summary": order["summary"] or ", ".join(error.uci[:2])[:SUMMARY_CHARS],
        "uci": error.uci, "reasons": error.reasons,
        "force": error.forces, "tainted": bool(order["taint"]),
    }  # fmt: skip
    if "exec" in error.forces:
        return {**event, "hint": "only the owner may set what runs code: oasis apply --force exec"}
    event["refused"] = shop.planner.new_id()
    kept: Refused = {
        **order, "id": event["refused"], "until_s": shop.now_s() + KEEP_S, "forces": error.forces,
        "revisions": error.revisions,
    }  # fmt: skip
    shop.refused.append(kept)
    del shop.refused[:-KEPT]
    return event


def find_refused(shop: Workshop, name: str) -> Refused:
    """Return a kept refusal; raise UsageError when there is none of that id any more."""
    for one in list(shop.refused):
        if one["id"] == name and one["until_s"] > shop.now_s():
            return one
    raise UsageError("nothing refused is kept as %r any more" % name, "ask for the change again")


def check_unmoved(kept: Refused, revisions: dict[str, str]) -> None:
    """Raise ApplyError unless the packages of a refusal, as far as they are known, are as they were then."""
    moved = [name for name, revision in kept["revisions"].items() if revisions.get(name, revision) != revision]
    if moved:
        why = "the router is not as it was when this was proposed: %s was changed" % ", ".join(moved)
        raise ApplyError(why, "ask for the change again: it will be worked out on the new state")


def forced_kinds(kept: Refused, wanted: list[str] | None) -> tuple[str, ...]:
    """Return what is forced of a kept refusal: what was asked for, or else all that it needs; never code.

    Raises: UsageError for anything that it does not need.
    """
    for kind in wanted or ():
        if kind not in kept["forces"]:
            needs = "it needs: " + ", ".join(kept["forces"])
            raise UsageError("refusal %s does not need %r" % (kept["id"], kind), needs)
    return tuple(wanted or kept["forces"])


# A message as long as this may be an answer to a question of the model's: what was said before counts, too.
ANSWER_CHARS = 40
# What somebody says to a router is shorter; of a text that is pasted in, the beginning.
SAID_CHARS = 4000
# Calls that did what was said: what stands before them is done.
_DOING = ("configure", "service", "power", "undo")
_SENTENCE, _WORD = re.compile(r"[.!?。！？]\s|[。！？\n]"), re.compile(r"\w+")
_CLOCK = re.compile(r"\d\d:\d\d\Z")
_LENGTH = re.compile(r"(\d{1,9})([smhdw]?)\Z")
_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
# The options by which a rule is for days and for hours.
_TIMES_OF_RULES = {"weekdays", "monthdays", "start_date", "start_time", "stop_time"}
_REASON = "you named a time or a condition (%s), and this change has none: it is done now, and stays"


def said_in(messages: list[Message], last: str, text_of: Callable[[Message], str]) -> str:
    """Return what the owner said that a turn is about: the message with the id `last`, and what it may answer."""
    found: list[str] = []
    # Ids are in the order of time, which a chat that was read from its end is not.
    for one in sorted((one for one in messages if one["id"] <= last), key=lambda one: str(one["id"]), reverse=True):
        content = one["content"]
        if one["role"] == "user":
            found.append(text_of(one)[:SAID_CHARS])
            if len(found[-1]) > ANSWER_CHARS:
                break
        elif not isinstance(content, str) and any(
            block["type"] == "tool_use" and block.get("name") in _DOING for block in content
        ):
            break
    return "\n".join(reversed(found))


def is_quoted(text: str, said: str) -> bool:
    """Return whether each sentence of a text stands word for word in what somebody said."""
    whole = " %s " % _bare(said)
    return all(" %s " % one in whole for one in map(_bare, _SENTENCE.split(text)) if one)


def _bare(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def dropped_times(plan: Plan, found: list[tuple[str, list[str]]]) -> str:
    """Return the reason to ask the owner for what of their words no step of a plan carries, "" when all is carried."""
    steps = plan["operations"]
    values = [str(step["value"]).casefold() for step in steps if "value" in step]
    options = {str(step.get("option", "")) for step in steps}
    left: dict[str, None] = {}
    for words, carriers in found:
        times = [part for one in carriers for part in one.split("-")]
        if "day" in carriers or "daily" in carriers:
            is_carried = bool(options & _TIMES_OF_RULES)
        else:
            is_carried = bool(times) and all(any(_is_same(time, value) for value in values) for time in times)
        if not is_carried and not any(words.casefold() in value for value in values):
            left[words] = None
    return _REASON % ", ".join("“%s”" % words for words in left) if left else ""


def _is_same(time: str, value: str) -> bool:
    """Return whether a value of an option is a time of day, or a length of time in whatever unit the option has."""
    if _CLOCK.match(time):
        return value.startswith(time)
    wanted, length = _LENGTH.match(time), _LENGTH.match(value)
    if not wanted or not length:
        return False
    length_s = int(wanted[1]) * _UNITS_S[wanted[2] or "s"]
    units = [length[2]] if length[2] else ["s", "m", "h"]
    return any(int(length[1]) * _UNITS_S[unit] == length_s for unit in units)
