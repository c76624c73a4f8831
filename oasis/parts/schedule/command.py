"""`oasis schedule`: standing orders, listed, made, changed, tried and deleted."""

from __future__ import annotations

from oasis.cli.commands import DECLINED, OK
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.cli.terminal import Screen

    Call = Callable[[str, dict[str, object]], dict[str, Any]]
    Words = dict[str, Any]

_USAGE = "usage: oasis schedule [list|add WHEN WISH|change ID [WISH]|on ID|off ID|run ID|approve ID|delete ID or all]"
_ALL = "all"
# What stands in the place of "off", where that would hide what became of the plan of the last run.
_STATES = {"waiting": "waits for you", "expired": "not decided", "declined": "declined", "cancelled": "stopped",
           "lost": "lost"}  # fmt: skip


def schedule(call: Call, arguments: Words, screen: Screen) -> int:
    """Do what ACTION says; list the orders without one."""
    action = arguments["ACTION"] or "list"
    if action not in ACTIONS:
        raise UsageError(f"unknown word {action!r}", _USAGE)
    function, takes_name, takes_wish = ACTIONS[action]
    if bool(arguments["NAME"]) != takes_name or (arguments["WISH"] and not takes_wish):
        raise UsageError(f"`schedule {action}` {'needs more' if takes_name else 'takes nothing more'}", _USAGE)
    return function(call, arguments, screen)


def _list(call: Call, arguments: Words, screen: Screen) -> int:
    reply = call("schedule.list", {})
    if screen.is_json:
        screen.json(reply)
        return OK
    for entry in reply["entries"]:
        screen.line(clean.line(f"{entry['id']}  {_next(entry)}  {entry.get('understood', entry['when'])}"), "bold")
        screen.line(clean.line(f"  {entry['wish']}"))
        for note in _notes(entry):
            screen.line(clean.line(f"  ({note})"))
    if not reply["entries"]:
        screen.line(
            "there is no standing order; make one: oasis schedule add 'every day at 22:00' turn off the guest wifi"
        )
    screen.line(clean.line(f"it is {reply['now']} there ({reply['zone']})"), "dim")
    if reply["note"]:
        screen.notice(clean.line(reply["note"]))
    if not reply["trusted"]:
        screen.notice("the router's clock is not set yet: nothing is done until it is")
    return OK


def _next(entry: dict[str, Any]) -> str:
    if not entry["enabled"]:
        return f"{_STATES.get(entry.get('plan', {}).get('state', ''), 'off'):16}"
    return str(entry.get("next", "                "))


def _notes(entry: dict[str, Any]) -> list[str]:
    plan = entry.get("plan", {})
    found = [plan["words"] + (": oasis plans" if plan["state"] == "waiting" else "")] if plan else []
    found += ["a run of it is at work: oasis plans"] if entry.get("active") and not found else []
    found += [f"calls {', '.join(one['tool'] for one in entry['calls'])}"] if entry.get("calls") else []
    found += [f"{entry['ahead']} plan(s) approved ahead"] if entry.get("ahead") else []
    return found + [str(entry[key]) for key in ("timezone", "service", "note") if entry.get(key)]


def _given(arguments: Words) -> dict[str, object]:
    found: dict[str, object] = {}
    for option, name in (("--zone", "timezone"), ("--service", "service"), ("--when", "when")):
        if arguments[option]:
            found[name] = arguments[option]
    if arguments["--pause"]:
        if not str(arguments["--pause"]).isdigit():
            raise UsageError(f"--pause is {arguments['--pause']!r}", "seconds, like 600")
        found["pause_s"] = int(arguments["--pause"])
    return found


def _add(call: Call, arguments: Words, screen: Screen) -> int:
    from oasis.cli.terminal import read_text

    wish = read_text().strip() if arguments["WISH"] == "-" else arguments["WISH"]
    if not wish:
        raise UsageError("the wish is empty", _USAGE)
    params = {**_given(arguments), "when": arguments["NAME"], "wish": wish}
    return _put(call, "schedule.add", params, arguments, screen)


def _change(call: Call, arguments: Words, screen: Screen) -> int:
    params = {**_given(arguments), "id": arguments["NAME"]}
    if arguments["WISH"]:
        params["wish"] = arguments["WISH"]
    return _put(call, "schedule.change", params, arguments, screen)


def _put(call: Call, method: str, params: dict[str, object], arguments: Words, screen: Screen) -> int:
    entry = call(method, params)["entry"]
    if screen.is_json:
        screen.json({"entry": entry})
    else:
        screen.line(clean.line(f"{entry['id']}: {entry.get('understood', entry['when'])}"))
        screen.line(clean.line(f"  {_comes(entry)}"))
        for text in entry.get("assumed", []):
            screen.line(clean.line(f"  ({text})"))
        if entry.get("needs"):
            screen.notice(clean.line(entry["needs"]))
        if method == "schedule.add" and not arguments["--ahead"]:
            screen.notice(f"to see what comes of it, do it once now: oasis schedule run {entry['id']}")
    return _follow(call, "schedule.approve", entry["id"], arguments, screen) if arguments["--ahead"] else OK


def _comes(entry: dict[str, Any]) -> str:
    moments = entry.get("moments") or [entry["next"]] if "next" in entry else []
    if not moments:
        return "waits for it" if entry["enabled"] else "it is off"
    return f"next on {', then '.join(moments)}"


def _switch(call: Call, arguments: Words, screen: Screen) -> int:
    params: dict[str, object] = {"id": arguments["NAME"], "enabled": arguments["ACTION"] == "on"}
    return _put(call, "schedule.change", params, {**arguments, "--ahead": ""}, screen)


def _run(call: Call, arguments: Words, screen: Screen) -> int:
    return _follow(call, "schedule." + arguments["ACTION"], arguments["NAME"], arguments, screen)


def _follow(call: Call, method: str, name: str, arguments: Words, screen: Screen) -> int:
    from oasis.cli.prompt import follow

    return follow(call, call(method, {"id": name}), screen, waits=not arguments["--no-wait"])


def _delete(call: Call, arguments: Words, screen: Screen) -> int:
    is_all = arguments["NAME"] == _ALL
    if screen.can_ask:
        from oasis.cli.terminal import YES, ask

        what = "ALL standing orders" if is_all else f"the standing order {clean.line(arguments['NAME'])}"
        if ask(screen, f"Delete {what}? [y/N]", lambda: True) != YES:
            return DECLINED
    reply = call("schedule.delete", {"all": True} if is_all else {"id": arguments["NAME"]})
    if screen.is_json:
        screen.json(reply)
    else:
        screen.line(f"{reply['deleted']} deleted")
    return OK


# word: (function, whether a name follows, whether a wish may)
ACTIONS = {
    "list": (_list, False, False), "add": (_add, True, True), "change": (_change, True, True),
    "on": (_switch, True, False), "off": (_switch, True, False), "run": (_run, True, False),
    "approve": (_run, True, False), "delete": (_delete, True, False),
}  # fmt: skip
