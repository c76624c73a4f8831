"""`oasis plans`, `approve` and `decline`: the owner's word on a plan that waits.

Contract: an approval names the full hash of the plan that was shown; who may approve is checked by the daemon.
"""

from __future__ import annotations

from oasis.cli import cards
from oasis.cli.commands import DECLINED, OK
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]


def show_list(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print the waiting plans as an approval elsewhere needs them."""
    reply = call("plan.list", {})
    if screen.is_json:
        screen.json(reply)
        return OK
    for plan in reply["plans"]:
        cards.show(cards.plan_card(plan, with_hash=True), screen)
        word = f"--word {plan['typed_word']} " if plan.get("typed_word") else ""
        screen.line(f"  waits {plan['expires_in_s']} s more: oasis approve {word}{plan['id']}")
    if not reply["plans"]:
        screen.line("no plan is waiting")
    return OK


def approve(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Approve a plan, by its hash or by asking, and follow what comes of it."""
    plan = _waiting(call, arguments["PLAN"])
    given = arguments["HASH"]
    if not given and not screen.can_ask:
        raise UsageError(
            f"without a terminal the whole hash of plan {plan['id']} is needed",
            "read the plan with `oasis plans`, then: oasis approve PLAN HASH",
        )
    if given:
        call("plan.approve", {"plan": plan["id"], "hash": given, **_word(arguments["--word"])})
    else:
        cards.show(cards.plan_card(plan, with_hash=False), screen)
        ask_approval(call, plan, screen)
    from oasis.cli.run import run

    return run(call, plan, screen, after_plan=plan["id"])


def decline(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Decline a plan."""
    params: dict[str, object] = {"plan": arguments["PLAN"]}
    if arguments["REASON"]:
        params["reason"] = arguments["REASON"]
    reply = call("plan.decline", params)
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(f"plan {reply['plan']} {reply['decision']}")
    return OK if reply["decision"] == "declined" else DECLINED


def ask_approval(call: Call, plan: dict[str, Any], screen: Screen) -> None:
    """Ask the person at the terminal about a plan just shown and send the answer."""
    from oasis.cli.ask import GONE, YES, ask

    word = str(plan.get("typed_word", ""))
    question = f"Apply this? Type {word} to do it:" if word else "Apply this? [y/N]"
    answer = ask(screen, question, lambda: _is_waiting(call, plan["id"]), word=word)
    if answer == YES:
        call("plan.approve", {"plan": plan["id"], "hash": plan["hash"], **_word(word)})
    elif answer != GONE:
        call("plan.decline", {"plan": plan["id"]})


def _word(word: str) -> dict[str, object]:
    return {"word": word} if word else {}


def _is_waiting(call: Call, plan_id: str) -> bool:
    return any(plan["id"] == plan_id for plan in call("plan.list", {})["plans"])


def _waiting(call: Call, plan_id: str) -> dict[str, Any]:
    plan: dict[str, Any]
    for plan in call("plan.list", {})["plans"]:
        if plan["id"] == plan_id:
            return plan
    raise UsageError(f"no plan {plan_id!r} is waiting", "`oasis plans` lists the plans that wait")
