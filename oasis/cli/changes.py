"""`oasis changes`, `pending`, `confirm`, `extend`, `rollback` and `undo`, and the question whether to keep a change.

Contract: not answering keeps nothing; the daemon's own timer puts an unkept change back, also without us.
"""

from __future__ import annotations

import os
import time

from oasis.cli import cards
from oasis.cli.client import NoDaemon
from oasis.cli.commands import FAILED, OK, ROLLED_BACK
from oasis.core.when import since
from oasis.errors import OasisError, UnprovedError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.screen import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]

PUT_BACK_S = 30  # restoring files takes an instant, reading back that services run up to 20 s
_ASKED_ROLLBACK = {"rolled_back": OK, "rollback_failed": 9}


def show_list(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print the changes, newest first, or one whole."""
    if arguments["CHANGE"]:
        return _show_one(call, arguments["CHANGE"], screen)
    params: dict[str, object] = {}
    if arguments["--since"]:
        params["since_unix_s"] = since(arguments["--since"], int(time.time()))
    if arguments["--package"]:
        params["package"] = arguments["--package"]
    reply = _read(call, "change.list", params, screen)
    if screen.is_json:
        screen.json(reply)
        return OK
    for change in reply["changes"]:
        screen.line(cards.change_line(change))
    if not reply["changes"]:
        screen.line("no such changes" if params else "no changes yet")
    return OK


def _show_one(call: Call, change: str, screen: Screen) -> int:
    reply = _read(call, "change.load", {"change": change}, screen)
    if screen.is_json:
        screen.json(reply)
    else:
        cards.show(cards.whole_change(reply["change"]), screen)
    return OK


def _read(call: Call, method: str, params: dict[str, object], screen: Screen) -> dict[str, Any]:
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
    params: dict[str, object] = {"change": arguments["CHANGE"] or _pending_id(call)}
    if arguments["--unproved"]:
        params["unproved"] = True
    change = _show(call("change.confirm", params), screen)
    return {"confirmed": OK, "rolled_back": ROLLED_BACK, "rollback_failed": 9}.get(change["state"], FAILED)


def extend(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Give the waiting change more time."""
    params: dict[str, object] = {"change": arguments["CHANGE"] or _pending_id(call)}
    if arguments["--seconds"]:
        if not (arguments["--seconds"].isascii() and arguments["--seconds"].isdigit()):
            raise UsageError(f"{arguments['--seconds']!r} is not a number of seconds", "oasis extend --seconds 120")
        params["seconds"] = int(arguments["--seconds"])
    _show(call("change.extend", params), screen)
    return OK


def rollback(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Put the waiting change back now."""
    change = _show(call("change.rollback", {"change": arguments["CHANGE"] or _pending_id(call)}), screen)
    return _ASKED_ROLLBACK.get(change["state"], FAILED)


def undo(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Undo a change by another change, and follow it."""
    from oasis.cli.run import run

    params: dict[str, object] = {"change": arguments["CHANGE"]} if arguments["CHANGE"] else {}
    if arguments["--skip-conflicts"]:
        params["skip_conflicts"] = True
    return run(call, call("change.undo", params), screen, waits=not arguments["--no-wait"])


def ask_to_keep(call: Call, change: dict[str, Any], screen: Screen) -> dict[str, Any]:
    """Ask whether a change just applied stays, and return the change as it then is."""
    from oasis.cli.ask import GONE, YES, ask

    waiting = call("change.pending", {})["change"]
    if not waiting or waiting["id"] != change["id"]:
        return _current(call, change)
    answer = ask(screen, "Keep it? [y/N]", lambda: _is_pending(call, change), waiting.get("confirm_in_s") or 0)
    if answer == GONE:
        return _outcome(call, change)
    try:
        done: dict[str, Any] = _keep(call, change, screen) if answer == YES else _roll_back(call, change)
    except OasisError as error:
        screen.failure(error)
        return _current(call, change)
    return done


def _roll_back(call: Call, change: dict[str, Any]) -> dict[str, Any]:
    done: dict[str, Any] = call("change.rollback", {"change": change["id"]})["change"]
    return done


def _keep(call: Call, change: dict[str, Any], screen: Screen) -> dict[str, Any]:
    """Keep a change; when nothing proves that the owner still gets in, ask whether that is meant."""
    from oasis.cli.ask import YES, ask

    try:
        done: dict[str, Any] = call("change.confirm", {"change": change["id"]})["change"]
        return done
    except UnprovedError as error:
        screen.failure(error)
    left_s = (call("change.pending", {})["change"] or {}).get("confirm_in_s") or 0
    if ask(screen, "Keep it without a proof? [y/N]", lambda: _is_pending(call, change), left_s) != YES:
        return _current(call, change)
    done = call("change.confirm", {"change": change["id"], "unproved": True})["change"]
    return done


def _outcome(call: Call, change: dict[str, Any]) -> dict[str, Any]:
    """Wait until an unanswered change is put back, or was decided elsewhere."""
    for _ in range(PUT_BACK_S):
        change = _current(call, change)
        if change["state"] != "applied":
            break
        time.sleep(1)
    return change


def _is_pending(call: Call, change: dict[str, Any]) -> bool:
    waiting = call("change.pending", {})["change"]
    return bool(waiting and waiting["id"] == change["id"])


def _current(call: Call, change: dict[str, Any]) -> dict[str, Any]:
    known: dict[str, Any]
    for known in call("change.list", {})["changes"]:
        if known["id"] == change["id"]:
            return known
    return change


def _pending_id(call: Call) -> str:
    waiting = call("change.pending", {})["change"]
    if waiting is None:
        raise UsageError("no change waits to be kept", "`oasis changes` lists the changes, `oasis undo` undoes one")
    return str(waiting["id"])


def _show(reply: dict[str, Any], screen: Screen) -> dict[str, Any]:
    change: dict[str, Any] = reply["change"]
    if screen.is_json:
        screen.json(reply)
    else:
        cards.show(cards.change_card(change), screen)
    return change
