"""Plans, changes and the audit log: propose, force, approve, decline, confirm, extend, roll back, undo, list.

Contract: the daemon decides who may approve, what is refused and what it takes to force it; a person at a terminal is
asked for that. An approval names the full hash of the plan that was shown. Nothing is forced that was neither given as
an option nor answered with yes, and code never without its words. Not answering keeps nothing: the daemon's own timer
rolls an unconfirmed change back, also without us.
"""

from __future__ import annotations

import os
import sys
import time

from oasis.cli import cards
from oasis.cli.commands import DECLINED, FAILED, OK, ROLLED_BACK
from oasis.cli.prompt import Turn, follow, followed
from oasis.cli.rpc_client import NoDaemon
from oasis.cli.terminal import GONE, YES, ask
from oasis.core.when import since
from oasis.errors import OasisError, StoreError, UnprovedError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.shapes import Any, AuditLine, AuditVerdict, Call, Change, ChangeParams, OneChange, Params, PlanCard
    from oasis.cli.terminal import Screen


def list_plans(call: Call, arguments: dict[str, str], screen: Screen) -> int:
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
        call("plan.approve", {"plan": plan["id"], "hash": given, **_word_param(arguments["--word"])})
    else:
        cards.show(cards.plan_card(plan, with_hash=False), screen)
        ask_approval(call, plan, screen)
    return follow(call, plan, screen, after_plan=plan["id"])


def decline(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Decline a plan."""
    params: Params = {"plan": arguments["PLAN"]}
    if arguments["REASON"]:
        params["reason"] = arguments["REASON"]
    reply = call("plan.decline", params)
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(f"plan {reply['plan']} {reply['decision']}")
    return OK if reply["decision"] == "declined" else DECLINED


def ask_approval(call: Call, plan: PlanCard, screen: Screen) -> None:
    """Ask the person at the terminal about a plan just shown and send the answer."""
    word = str(plan.get("typed_word", ""))
    question = f"Apply this? Type {word} to do it:" if word else "Apply this? [y/N]"
    answer = ask(screen, question, lambda: _is_waiting(call, plan["id"]), word=word)
    if answer == YES:
        call("plan.approve", {"plan": plan["id"], "hash": plan["hash"], **_word_param(word)})
    elif answer != GONE:
        call("plan.decline", {"plan": plan["id"]})


def _word_param(word: str) -> Params:
    return {"word": word} if word else {}


def _is_waiting(call: Call, plan_id: str) -> bool:
    return any(plan["id"] == plan_id for plan in call("plan.list", {})["plans"])


def _waiting(call: Call, plan_id: str) -> PlanCard:
    for plan in call("plan.list", {})["plans"]:
        if plan["id"] == plan_id:
            return plan
    raise UsageError(f"no plan {plan_id!r} is waiting", "`oasis plans` lists the plans that wait")


# What the daemon asks for in change/force.py; typed as it stands, in every language.
EXEC_WORDS = "this runs code as root"
_APPLY_USAGE = "like: oasis apply 'uci set system.@system[0].hostname=attic'"
_MEANT = {
    "exec": "what runs code or is not known",
    "reachability": "that you may not reach the router any more",
    "unknown": "names or values that are not known or look wrong",
}


def apply(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Propose commands; ask at a terminal what to force of what was refused, and propose them again."""
    commands = _commands(arguments["COMMAND"], screen)
    kinds = arguments["--force"].split()
    words = arguments["--words"]
    while True:
        if "exec" in kinds and not words and screen.can_ask and not (words := _ask_exec_words(screen)):
            return FAILED
        started = call("plan.propose", _params(commands, kinds, words))
        if screen.is_json:
            screen.json({"type": "run", **started})
        turn = Turn(call, started["run"], screen)
        status = followed(turn, not arguments["--no-wait"])
        if not turn.missing or not screen.can_ask or not _asks_to_force(screen, turn.missing):
            return status
        kinds = sorted({*kinds, *turn.missing})


def force(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Propose what a run was refused, and follow it."""
    started = call("plan.force", {"refused": arguments["REFUSED"]})
    return follow(call, started, screen, waits=not arguments["--no-wait"])


def _commands(given: str, screen: Screen) -> list[str]:
    """Return the commands of a command line, a file, or standard input.

    Raises: UsageError when there are none.
    """
    words = given.split("\n") if given else []
    if not words and screen.can_ask:
        raise UsageError("there is no command", _APPLY_USAGE)
    if words in ([], ["-"]):
        return sys.stdin.read().split("\n")
    if len(words) == 1 and " " not in words[0]:
        return _read_commands(words[0])
    if words[0] in ("uci", "/sbin/uci"):  # one command without quotes around it
        import shlex

        return [shlex.join(words)]
    return words


def _read_commands(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().split("\n")
    except (OSError, UnicodeError) as error:
        reason = os.strerror(error.errno or 0) if isinstance(error, OSError) else "it is no text"
        raise StoreError(f"{path} cannot be read: {reason}", _APPLY_USAGE)


def _params(commands: list[str], kinds: list[str], words: str) -> Params:
    params: Params = {"commands": commands}
    if kinds:
        params["force"] = kinds
    if words:
        params["words"] = words
    return params


def _asks_to_force(screen: Screen, kinds: list[str]) -> bool:
    meant = ", and ".join(_MEANT.get(kind, kind) for kind in kinds)
    return ask(screen, f"Propose it all the same, with {meant}? [y/N]", lambda: True) == YES


def _ask_exec_words(screen: Screen) -> str:
    """Ask for the words that let code through; return them, or "" for anything else."""
    if ask(screen, f"Type exactly: {EXEC_WORDS}\n>", lambda: True, word=EXEC_WORDS) == YES:
        return EXEC_WORDS
    screen.notice("these are not the words; nothing is proposed")
    return ""


PUT_BACK_S = 30  # restoring files takes an instant, reading back that services run up to 20 s
_ASKED_ROLLBACK = {"rolled_back": OK, "rollback_failed": 9}


def list_changes(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print the changes, newest first, or one whole."""
    if arguments["CHANGE"]:
        return _show_one(call, arguments["CHANGE"], screen)
    params: ChangeParams = {}
    if arguments["--since"]:
        params["since_unix_s"] = since(arguments["--since"], int(time.time()))
    if arguments["--package"]:
        params["package"] = arguments["--package"]
    reply = _call_or_read(call, "change.list", params, screen)
    if screen.is_json:
        screen.json(reply)
        return OK
    for change in reply["changes"]:
        screen.line(cards.change_line(change))
    if not reply["changes"]:
        screen.line("no such changes" if params else "no changes yet")
    return OK


def _show_one(call: Call, change: str, screen: Screen) -> int:
    reply = _call_or_read(call, "change.load", {"change": change}, screen)
    if screen.is_json:
        screen.json(reply)
    else:
        cards.show(cards.whole_change(reply["change"]), screen)
    return OK


def _call_or_read(call: Call, method: str, params: ChangeParams, screen: Screen) -> Any:
    """Ask the daemon, or read the history on flash where it does not run."""
    try:
        return call(method, params)
    except NoDaemon as reason:
        from oasis.cli import without_daemon

        screen.notice(f"{reason.message}; this is read from the flash")
        return without_daemon.changes(os.environ.get("OASIS_ROOT") or "/", params)


def pending(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print the change that waits to be kept."""
    reply = call("change.pending", {})
    if screen.is_json:
        screen.json(reply)
    elif reply["change"] is None:
        screen.line("no change waits to be kept")
    else:
        cards.show(cards.change_card(reply["change"]), screen)
        screen.line(f"  to keep it: oasis confirm {reply['change']['id']}")
    for change in [] if screen.is_json else reply.get("ending", []):
        screen.line(cards.ending_line(change))
    return OK


def confirm(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Keep the waiting change."""
    params: Params = {"change": arguments["CHANGE"] or _pending_id(call)}
    if arguments["--unproved"]:
        params["unproved"] = True
    change = _show_change(call("change.confirm", params), screen)
    return {"confirmed": OK, "rolled_back": ROLLED_BACK, "rollback_failed": 9}.get(change["state"], FAILED)


def extend(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Give the waiting change more time."""
    params: Params = {"change": arguments["CHANGE"] or _pending_id(call)}
    if arguments["--seconds"]:
        if not (arguments["--seconds"].isascii() and arguments["--seconds"].isdigit()):
            raise UsageError(f"{arguments['--seconds']!r} is not a number of seconds", "oasis extend --seconds 120")
        params["seconds"] = int(arguments["--seconds"])
    _show_change(call("change.extend", params), screen)
    return OK


def rollback(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Put the waiting change back now."""
    change = _show_change(call("change.rollback", {"change": arguments["CHANGE"] or _pending_id(call)}), screen)
    return _ASKED_ROLLBACK.get(change["state"], FAILED)


def undo(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Undo a change by another change, and follow it."""
    params: Params = {"change": arguments["CHANGE"]} if arguments["CHANGE"] else {}
    if arguments["--skip-conflicts"]:
        params["skip_conflicts"] = True
    return follow(call, call("change.undo", params), screen, waits=not arguments["--no-wait"])


def ask_to_keep(call: Call, change: Change, screen: Screen) -> Change:
    """Ask whether a change just applied stays, and return the change as it then is."""
    waiting = call("change.pending", {})["change"]
    if not waiting or waiting["id"] != change["id"]:
        return _current(call, change)
    answer = ask(screen, "Keep it? [y/N]", lambda: _is_pending(call, change), waiting.get("confirm_in_s") or 0)
    if answer == GONE:
        return _outcome(call, change)
    try:
        return _keep(call, change, screen) if answer == YES else _roll_back(call, change)
    except OasisError as error:
        screen.failure(error)
        return _current(call, change)


def _roll_back(call: Call, change: Change) -> Change:
    return call("change.rollback", {"change": change["id"]})["change"]


def _keep(call: Call, change: Change, screen: Screen) -> Change:
    """Keep a change; when nothing proves that the owner still gets in, ask whether that is meant."""
    try:
        return call("change.confirm", {"change": change["id"]})["change"]
    except UnprovedError as error:
        screen.failure(error)
    waiting = call("change.pending", {})["change"]
    left_s = waiting.get("confirm_in_s", 0) if waiting else 0
    if ask(screen, "Keep it without a proof? [y/N]", lambda: _is_pending(call, change), left_s) != YES:
        return _current(call, change)
    return call("change.confirm", {"change": change["id"], "unproved": True})["change"]


def _outcome(call: Call, change: Change) -> Change:
    """Wait until an unanswered change is rolled back, or was decided elsewhere."""
    for _ in range(PUT_BACK_S):
        change = _current(call, change)
        if change["state"] != "applied":
            break
        time.sleep(1)
    return change


def _is_pending(call: Call, change: Change) -> bool:
    waiting = call("change.pending", {})["change"]
    return bool(waiting and waiting["id"] == change["id"])


def _current(call: Call, change: Change) -> Change:
    for known in call("change.list", {})["changes"]:
        if known["id"] == change["id"]:
            return known
    return change


def _pending_id(call: Call) -> str:
    waiting = call("change.pending", {})["change"]
    if waiting is None:
        raise UsageError("no change waits to be kept", "`oasis changes` lists the changes, `oasis undo` undoes one")
    return str(waiting["id"])


def _show_change(reply: OneChange, screen: Screen) -> Change:
    change = reply["change"]
    if screen.is_json:
        screen.json(reply)
    else:
        cards.show(cards.change_card(change), screen)
    return change


def show_audit(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print the decisions, or follow their chain."""
    if arguments["--verify"]:
        return _verify_audit(call("audit.verify", {}), screen)
    reply = call("audit.list", {})
    if screen.is_json:
        screen.json(reply)
        return OK
    for line in reply["lines"]:
        screen.line(_audit_line(line))
    if not reply["lines"]:
        screen.line("no decisions yet")
    return OK


def _audit_line(line: AuditLine) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(line.get("when_unix_s", 0)))
    tool = [line["tool"]] if line.get("tool") else []
    where = ", ".join([*line.get("packages", []), *line.get("services", []), *tool])
    forced = f"  forced: {', '.join(line['forces'])}" if line.get("forces") else ""
    made = f"{when}  {line.get('what', '?'):12}  {line.get('role', '?'):8}  {line.get('plan', '?')}  {where}"
    return made.rstrip() + forced


def _verify_audit(reply: AuditVerdict, screen: Screen) -> int:
    broken = reply.get("broken")
    if screen.is_json:
        screen.json(reply)
        return FAILED if broken else OK
    screen.line(f"{reply['lines']} lines fit together")
    if reply.get("gone"):
        screen.line(f"{reply['gone']} older lines were rotated out, as the log says")
    if "torn" in reply:
        screen.line(f"the last line of {reply['torn']} was torn by a power cut; the next decision cuts it off")
    if broken:
        screen.line(f"broken at line {broken['line']} of {broken['file']}: {broken['reason']}")
    return FAILED if broken else OK
