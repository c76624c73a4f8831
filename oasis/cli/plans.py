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
from oasis.cli.commands import DECLINED, FAILED, OK, ROLLED_BACK, given, whole
from oasis.cli.prompt import Turn, ask_approval, follow, followed, pending_change, waiting_plan, word_option
from oasis.cli.rpc_client import NoDaemon
from oasis.cli.terminal import YES, ask
from oasis.core import jsonl
from oasis.core.when import shown, since
from oasis.errors import OasisError, SchemaError, StoreError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli import shapes
    from oasis.cli.cards import Card
    from oasis.cli.shapes import Any, Call, Change, Params
    from oasis.cli.terminal import Screen


def list_plans(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print the waiting plans as an approval elsewhere needs them."""
    reply = call("plan.list", {})
    lines: Card = []
    for plan in reply["plans"]:
        waits = f"  waits {plan['expires_in_s']} s more: oasis approve {word_option(plan)}{plan['id']}"
        lines += [*cards.plan_card(plan, with_hash=True), (waits, "")]
    return screen.result(reply, lines or ["no plan is waiting"])


def approve(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Approve a plan, by its hash or by asking, and follow what comes of it."""
    plan = waiting_plan(call, arguments["PLAN"])
    if plan is None:
        raise UsageError(f"no plan {arguments['PLAN']!r} is waiting", "`oasis plans` lists the plans that wait")
    digest = arguments["HASH"]
    if not digest and not screen.can_ask:
        raise UsageError(
            f"without a terminal the whole hash of plan {plan['id']} is needed",
            "read the plan with `oasis plans`, then: oasis approve PLAN HASH",
        )
    if digest:
        call("plan.approve", {"plan": plan["id"], "hash": digest, **given(word=arguments["--word"])})
    else:
        screen.card(cards.plan_card(plan, with_hash=False))
        ask_approval(call, plan, screen)
    return follow(call, plan, screen, not arguments["--no-wait"], plan["id"])


def decline(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    reply = call("plan.decline", {"plan": arguments["PLAN"], **given(reason=arguments["REASON"])})
    screen.result(reply, f"plan {reply['plan']} {reply['decision']}")
    return OK if reply["decision"] == "declined" else DECLINED


# What the daemon asks for in change/plan.py; typed as it stands, in every language.
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
        if "exec" in kinds and not words and screen.can_ask:
            if ask(screen, f"Type exactly: {EXEC_WORDS}\n>", lambda: True, word=EXEC_WORDS) != YES:
                screen.notice("these are not the words; nothing is proposed")
                return FAILED
            words = EXEC_WORDS
        started = call("plan.propose", {"commands": commands, **given(force=kinds, words=words)})
        if screen.is_json:
            screen.json({"type": "run", **started})
        turn = Turn(call, started["run"], screen)
        status = followed(turn, not arguments["--no-wait"])
        if not turn.missing or not screen.can_ask:
            return status
        meant = ", and ".join(_MEANT.get(kind, kind) for kind in turn.missing)
        if ask(screen, f"Propose it all the same, with {meant}? [y/N]", lambda: True) != YES:
            return status
        kinds = sorted({*kinds, *turn.missing})


def force(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    started = call("plan.force", {"refused": arguments["REFUSED"]})
    return follow(call, started, screen, waits=not arguments["--no-wait"])


def _commands(text: str, screen: Screen) -> list[str]:
    """Return the commands of a command line, a file, or standard input.

    Raises: UsageError when there are none.
    """
    words = text.split("\n") if text else []
    if not words and screen.can_ask:
        raise UsageError("there is no command", _APPLY_USAGE)
    if words in ([], ["-"]):
        return sys.stdin.read().split("\n")
    if len(words) == 1 and " " not in words[0]:
        try:
            with open(words[0], encoding="utf-8") as file:
                return file.read().split("\n")
        except (OSError, UnicodeError) as error:
            reason = os.strerror(error.errno or 0) if isinstance(error, OSError) else "it is no text"
            raise StoreError(f"{words[0]} cannot be read: {reason}", _APPLY_USAGE)
    if words[0] in ("uci", "/sbin/uci"):  # one command without quotes around it
        import shlex

        return [shlex.join(words)]
    return words


def list_changes(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    if arguments["CHANGE"]:
        found = _call_or_read(call, "change.load", {"change": arguments["CHANGE"]}, screen)
        return screen.result(found, () if screen.is_json else cards.whole_change(found["change"]))
    from_s = since(arguments["--since"], int(time.time())) if arguments["--since"] else 0
    params = given(since_unix_s=from_s, package=arguments["--package"])
    reply = _call_or_read(call, "change.list", params, screen)
    none = "no such changes" if params else "no changes yet"
    return screen.result(reply, [cards.change_line(change) for change in reply["changes"]] or [none])


def _call_or_read(call: Call, method: str, params: Params, screen: Screen) -> Any:
    """Ask the daemon, or read the history on flash where it does not run."""
    try:
        return call(method, params)
    except NoDaemon as reason:
        from oasis.cli import without_daemon

        screen.notice(f"{reason.message}; this is read from the flash")
        return without_daemon.changes(**params)  # type: ignore[arg-type]


def pending(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    reply = call("change.pending", {})
    lines: list[str | tuple[str, str]] = ["no change waits to be kept"]
    if reply["change"] is not None:
        lines = [*cards.change_card(reply["change"]), f"  to keep it: oasis confirm {reply['change']['id']}"]
    return screen.result(reply, [*lines, *map(cards.ending_line, reply.get("ending", []))])


def confirm(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    params = given(change=arguments["CHANGE"] or _pending_id(call), unproved=bool(arguments["--unproved"]))
    change = _show_change(call("change.confirm", params), screen)
    return {"confirmed": OK, "rolled_back": ROLLED_BACK, "rollback_failed": 9}.get(change["state"], FAILED)


def extend(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    params: Params = {"change": arguments["CHANGE"] or _pending_id(call)}
    if arguments["--seconds"]:
        params["seconds"] = whole(arguments["--seconds"])
        if params["seconds"] == -1:
            raise UsageError(f"{arguments['--seconds']!r} is not a number of seconds", "oasis extend --seconds 120")
    _show_change(call("change.extend", params), screen)
    return OK


def rollback(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    change = _show_change(call("change.rollback", {"change": arguments["CHANGE"] or _pending_id(call)}), screen)
    return {"rolled_back": OK, "rollback_failed": 9}.get(change["state"], FAILED)


def undo(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    params = given(change=arguments["CHANGE"], skip_conflicts=bool(arguments["--skip-conflicts"]))
    return follow(call, call("change.undo", params), screen, waits=not arguments["--no-wait"])


def _pending_id(call: Call) -> str:
    waiting = pending_change(call)
    if waiting is None:
        raise UsageError("no change waits to be kept", "`oasis changes` lists the changes, `oasis undo` undoes one")
    return waiting["id"]


def _show_change(reply: shapes.OneChange, screen: Screen) -> Change:
    screen.result(reply, cards.change_card(reply["change"]))
    return reply["change"]


# The body of `alive`: three short words and their frame; a session has 32 digits, as has a nonce.
BODY_BYTES = 1024
_PROOF_KEYS, _VISIT_KEYS = {"change", "nonce", "session"}, {"session"}
_ENVIRONMENT = ("REMOTE_ADDR", "REMOTE_PORT", "SERVER_ADDR", "SERVER_PORT")


def alive(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Hand a proof of life, or just a page's way, from the CGI script to the daemon; not for people.

    Standard input holds a JSON object {"change", "nonce", "session"}, or {"session"} when a page was loaded: never in
    argv, where everybody on the router could read it. The environment holds the addresses of the connection, as a web
    server gives them to a script. Standard output gets the daemon's answer {"alive": …} or {"path": …}, or
    {"error": …}, and the exit status is 0: the browser reads what is said.
    """
    try:
        words: Params = {name.lower(): os.environ.get(name, "") for name in _ENVIRONMENT}
        length = os.environ.get("CONTENT_LENGTH", "")
        size = int(length) if length.isascii() and length.isdigit() else BODY_BYTES
        if size > BODY_BYTES:
            raise UsageError(f"the body has more than {BODY_BYTES} bytes")
        body: object = jsonl.loads(sys.stdin.buffer.read(size))
        is_known = isinstance(body, dict) and set(body) in (_PROOF_KEYS, _VISIT_KEYS)
        if not (isinstance(body, dict) and is_known and all(isinstance(word, str) for word in body.values())):
            raise SchemaError("the body is not an object with the texts " + ", ".join(sorted(_PROOF_KEYS)))
        screen.json(call("change.alive" if set(body) == _PROOF_KEYS else "path.seen", {**body, **words}))
    except OasisError as error:
        screen.json({"error": error.as_dict()})
    return OK


def show_notices(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print what happened while nobody looked, oldest first."""
    reply = call("notice.list", {})
    lines = [f"{shown(one['when_unix_s'])}  {one['text']}" for one in reply["notices"]]
    return screen.result(reply, lines or ["nothing has happened since the router started"])


def show_audit(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    if arguments["--verify"]:
        verdict = call("audit.verify", {})
        broken = verdict.get("broken")
        lines = [f"{verdict['lines']} lines fit together"]
        if verdict.get("gone"):
            lines.append(f"{verdict['gone']} older lines were rotated out, as the log says")
        if "torn" in verdict:
            lines.append(f"the last line of {verdict['torn']} was torn by a power cut; the next decision cuts it off")
        if broken:
            lines.append(f"broken at line {broken['line']} of {broken['file']}: {broken['reason']}")
        screen.result(verdict, lines)
        return FAILED if broken else OK
    reply = call("audit.list", {})
    decisions = []
    for line in reply["lines"]:
        tool = [line["tool"]] if line.get("tool") else []
        where = ", ".join([*line.get("packages", []), *line.get("services", []), *tool])
        forced = f"  forced: {', '.join(line['forces'])}" if line.get("forces") else ""
        when = cards.local_time(line.get("when_unix_s", 0))
        made = f"{when}  {line.get('what', '?'):12}  {line.get('role', '?'):8}  {line.get('plan', '?')}  {where}"
        decisions.append((made.rstrip() + forced, ""))
    return screen.result(reply, decisions or ["no decisions yet"])
