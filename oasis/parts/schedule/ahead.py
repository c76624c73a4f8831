"""What the owner approves ahead: by the card on which a job is made, or by the plans of its dry run (job_run.py).

An approval fits a plan that leaves every file as it was shown: the same operations, services and call, the same
reasons, and each touched package the same afterwards, section by section and option by option. So what the plan does
not set itself must be as it was then, and a plan that works out otherwise on another day waits like any other. What the
verdict and the checks rested on must be unchanged, too.

Operations that change nothing when they are approved ("on at 8", said while it is on) lead to the state in which the
owner was there to approve them: they fit while they lead to just that state.

Only known calls can be approved: what a model works out from a sentence waits. What never can be is in `why_not_ahead`.
"""

from __future__ import annotations

from oasis.change import uci_commands
from oasis.change.policy import UNREVIEWED
from oasis.core import jsonl
from oasis.core.clean import shown as plain
from oasis.errors import OasisError, UciError
from oasis.system.digest import is_equal, sha256
from oasis.tools.builtin.changes import parsed
from oasis.tools.principal import Principal
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.plan import Planner
    from oasis.change.policy import Policy
    from oasis.change.shapes import Callable, Difference, Operation, Plan
    from oasis.core.shapes import Sequence
    from oasis.parts.schedule.shapes import Approval, ToolCall
    from oasis.shapes import ErrorReply
    from oasis.tools.operator import Operator
    from oasis.tools.registry import Registry

_SAME = ("operations", "services", "call", "undoes", "forces", "risk", "typed_word")
# What decides who is let in and whether the owner reaches the router. Source: reach/verdict.py and reach/admission.py.
_WAY = ("dhcp", "dropbear", "firewall", "network", "uhttpd", "wireless")
# Of one call: nobody reads more on a card of eight.
_CALL_CHARS = 2000
_TAINTED = "words of others were in sight"
_ENDS = "it has an end of its own, which is another one each time"
_APPROVED = "approved with this card, each time it comes to just this: %s"
_WAITS = "waits for you each time (%s): %s"
_LOOKS = "only looks: %s"
_REFUSED = "refused as things are now (%s): %s"
# The one call that cannot be taken back and may be approved ahead: the router comes back by itself.
_RESTART = ("built-in", "power", {"action": "reboot"})
SENTENCE = "what it does is worked out when it runs: nothing is approved ahead, what is risky waits for you each time"


class _SeenError(OasisError):
    """A plan was seen, and is not to be shown or carried out."""


class _Foresight(Principal):
    """Learns what a call of a job would do: judge() ends each plan before anybody sees it."""

    rehearses = True

    def __init__(self) -> None:
        super().__init__("schedule")
        self.approver = self
        self.plan: Plan | None = None

    def judge(self, plan: Plan) -> Plan:
        """Keep the plan, and end the call."""
        self.plan = plan
        raise _SeenError("seen")

    def wait(self, plan: Plan, is_cancelled: Callable[[], bool]) -> tuple[str, str]:
        """Decline what came past judge() all the same."""
        return "declined", ""


def foreseen(
    calls: list[ToolCall], operator: Operator, registry: Registry, planner: Planner, is_kept: bool = True
) -> tuple[list[str], list[Approval | str]]:
    """Return a sentence for each call of a job, as the owner reads it on the card, and what their yes approves.

    The second is for each call that does more than look: what is approved, or in words why it waits each time. Nothing
    is done and nothing is shown. `is_kept` is False while a change waits to be kept: nothing proves that the
    owner reaches the router in the state that there is, so none is approved as a way back.
    Raises: ToolError or PolicyError for a tool that cannot be used.
    """
    words: list[str] = []
    approvals: list[Approval | str] = []
    for call in calls:
        name, params = call["tool"], call["params"]
        if registry.kind(name, params) == "read":
            words.append(_LOOKS % plain(name))
            continue
        seen = _Foresight()
        text, is_error, whose = registry.call(name, {**params}, operator.rehearsal(seen))
        plan = seen.plan
        if plan is not None:
            why, told = why_not_ahead(plan, planner.policy), _told(plan)
            approvals.append(why or approval_ahead(plan, planner))
        elif is_error:
            error: ErrorReply = jsonl.loads(text)["error"]  # type: ignore[call-overload,index,assignment]
            why = "in words of others" if whose else plain(error["message"])
            words.append(_REFUSED % (why, plain(name)))
            approvals.append("%s is refused as things are now: %s" % (plain(name), why))
            continue
        else:  # commands of `configure` that change nothing now
            operations = parsed(params)[0]  # type: ignore[arg-type]  # checked
            why = _TAINTED if operator.taint else _ENDS if params.get("until") or params.get("install") else ""
            why = why or ("" if is_kept else "a change waits to be kept")
            told = "; ".join(map(plain, uci_commands.as_commands(operations))) + " (it is so now)"
            approvals.append(why or _approval_of_state(operations, planner))
        words.append(_WAITS % (why, told) if why else _APPROVED % told)
    return words, approvals


def _told(plan: Plan) -> str:
    """Return what a plan does and why that is risky, as one sentence."""
    # Texts of others stay where the owner reads whose they are: on the plan's own card.
    lines = plan["uci"] if plan["untrusted"] else plan["words"]
    does = [] if plan["call"] or not plan["images"] else ["%(action)s %(name)s" % one for one in plan["services"]]
    reasons = [] if plan["call"] else plan["reasons"]  # that of a call is that this is a dry run
    told = "; ".join([*lines, *does]) + (" (%s)" % "; ".join(reasons) if reasons else "")
    return told if len(told) <= _CALL_CHARS else told[:_CALL_CHARS] + "…"


def why_not_ahead(plan: Plan, policy: Policy) -> str:
    """Return why a plan cannot be approved ahead and waits for the owner every time, "" when it can."""
    # Nobody is there to prove it, so the proof is the one that was worked out while the owner was.
    if plan["verdict"] and plan["verdict"]["verdict"] != "yes":
        return "nothing proves in advance that you still reach the router afterwards"
    return _why_never(plan, policy)


def _why_never(plan: Plan, policy: Policy) -> str:
    call = plan["call"]
    if plan["tainted"]:
        return _TAINTED
    if plan["until_unix_s"] or plan["ends"]:
        return _ENDS
    if plan["new_address"]:
        return "the router would be at another address afterwards"
    if any(reason.startswith(UNREVIEWED.partition(":")[0]) for reason in plan["reasons"]):
        return "nobody has reviewed what an option of it does"
    if plan["forces"] or policy.code(_differences(plan)):
        return "an option of it runs code or names a file"
    if call and call["class"] == "danger" and (call["source"], call["name"], call["arguments"]) != _RESTART:
        return "you are asked for each call of %s" % call["name"]
    if any(policy.is_stop(one["name"], one["action"]) for one in plan["services"]):
        return "it ends a service by which you reach the router"
    return ""


def _differences(plan: Plan) -> list[Difference]:
    from oasis.change import difference  # what judges plans comes with the first one

    found: list[Difference] = []
    for name, (before, after) in plan["images"].items():
        found += difference.compare(model.parse(before, name), model.parse(after, name), name)
    return found


def approval_ahead(plan: Plan, planner: Planner) -> Approval:
    """Return what is kept of a plan that the owner approved ahead."""
    others = [name for name in plan["before"] if name not in plan["images"]]
    return {"key": _key(plan), "read": {name: _now(name, planner) for name in sorted(others)}}


def _approval_of_state(operations: list[Operation], planner: Planner) -> Approval:
    """Return what is kept of operations that change nothing: they lead to the state in which the owner is now."""
    packages = {one["package"] for one in operations}
    word = planner.bind({**planner.empty("", "", ""), "risk": "risky"})["typed_word"]
    after = {name: _now(name, planner) for name in packages}
    read = {name: _now(name, planner) for name in _WAY if name not in packages}
    return {"key": _state_key(operations, after, word), "read": read}


def fits_ahead(plan: Plan, approvals: list[Approval], planner: Planner) -> bool:
    """Return whether a plan is one of those that were approved ahead."""
    if _why_never(plan, planner.policy):
        return False
    keys = [_key(plan)]
    if not plan["call"] and not plan["undoes"]:
        after = {name: _sum(name, pair[1]) for name, pair in plan["images"].items()}
        after.update({one["package"]: _now(one["package"], planner) for one in plan["operations"]
                      if one["package"] not in after})  # fmt: skip
        keys.append(_state_key(plan["operations"], after, plan["typed_word"]))
    others = set(plan["before"]) - set(plan["images"])
    for one in approvals:
        is_known = any(is_equal(str(one["key"]), key) for key in keys) and others <= set(one["read"])
        if is_known and all(_now(name, planner) == held for name, held in one["read"].items()):
            return True
    return False


def _key(plan: Plan) -> str:
    whole: dict[str, object] = {name: plan[name] for name in _SAME}  # type: ignore[literal-required]
    whole["after"] = {name: _sum(name, pair[1]) for name, pair in plan["images"].items()}
    # Of a call the owner saw only its words as an outcome; the reason for asking differs in a dry run.
    whole["told"] = plan["words"] if plan["call"] else plan["reasons"]
    return sha256(jsonl.canonical(whole).encode("utf-8"))


def _state_key(operations: Sequence[Operation], after: dict[str, str], word: str) -> str:
    whole = {"operations": operations, "state": after, "typed_word": word}
    return sha256(jsonl.canonical(whole).encode("utf-8"))


def _now(package: str, planner: Planner) -> str:
    try:
        return _sum(package, planner.read(package))
    except UciError:
        return ""


def _sum(package: str, data: bytes) -> str:
    found = model.parse(data, package).sections
    sections = [[one.type, "" if one.anonymous else one.name, sorted(map(list, one.options.items()))] for one in found]
    return sha256(jsonl.canonical(sections).encode("utf-8"))
