"""`oasis schedule`: list, make, change, try and delete scheduled jobs."""

from __future__ import annotations

from oasis.cli.commands import DECLINED, OK
from oasis.cli.prompt import follow
from oasis.cli.terminal import YES, ask, read_text
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.rpc_client import Call
    from oasis.cli.terminal import Screen
    from oasis.parts.schedule.shapes import JobChanges, JobView

    Words = dict[str, str]

_USAGE = "usage: oasis schedule [list|add WHEN WISH|change ID [WISH]|on ID|off ID|run ID|approve ID|delete ID or all]"
_ALL = "all"
# What stands in the place of "off", where that would hide what became of the plan of the last run.
_STATES = {"waiting": "waits for you", "expired": "not decided", "declined": "declined", "cancelled": "stopped",
           "lost": "lost"}  # fmt: skip


def schedule(call: Call, arguments: Words, screen: Screen) -> int:
    """Do what ACTION says; list the jobs without one."""
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
    for job in reply["entries"]:
        screen.line(clean.line(f"{job['id']}  {_next(job)}  {job.get('understood', job['when'])}"), "bold")
        screen.line(clean.line(f"  {job['wish']}"))
        for note in _notes(job):
            screen.line(clean.line(f"  ({note})"))
    if not reply["entries"]:
        screen.line(
            "there is no scheduled job; make one: oasis schedule add 'every day at 22:00' turn off the guest wifi"
        )
    screen.line(clean.line(f"it is {reply['now']} there ({reply['zone']})"), "dim")
    if reply["note"]:
        screen.notice(clean.line(reply["note"]))
    if not reply["trusted"]:
        screen.notice("the router's clock is not set yet: nothing is done until it is")
    return OK


def _next(job: JobView) -> str:
    if not job["enabled"]:
        return f"{_STATES.get(job['plan']['state'] if 'plan' in job else '', 'off'):16}"
    return str(job.get("next", "                "))


def _notes(job: JobView) -> list[str]:
    plan = job.get("plan")
    found = [plan["words"] + (": oasis plans" if plan["state"] == "waiting" else "")] if plan else []
    found += ["a run of it is at work: oasis plans"] if job.get("active") and not found else []
    found += [f"calls {', '.join(one['tool'] for one in job['calls'])}"] if job.get("calls") else []
    found += [f"{job['ahead']} plan(s) approved ahead"] if job.get("ahead") else []
    return found + [str(value) for key in ("timezone", "service", "note") if (value := job.get(key))]


def _given(arguments: Words) -> JobChanges:
    found: JobChanges = {}
    if arguments["--zone"]:
        found["timezone"] = arguments["--zone"]
    if arguments["--service"]:
        found["service"] = arguments["--service"]
    if arguments["--when"]:
        found["when"] = arguments["--when"]
    if arguments["--pause"]:
        if not str(arguments["--pause"]).isdigit():
            raise UsageError(f"--pause is {arguments['--pause']!r}", "seconds, like 600")
        found["pause_s"] = int(arguments["--pause"])
    return found


def _add(call: Call, arguments: Words, screen: Screen) -> int:
    wish = read_text().strip() if arguments["WISH"] == "-" else arguments["WISH"]
    if not wish:
        raise UsageError("the wish is empty", _USAGE)
    made = call("schedule.add", {**_given(arguments), "when": arguments["NAME"], "wish": wish})
    return _show(call, made["entry"], arguments, screen, is_new=True)


def _change(call: Call, arguments: Words, screen: Screen) -> int:
    changes = _given(arguments)
    if arguments["WISH"]:
        changes["wish"] = arguments["WISH"]
    made = call("schedule.change", {**changes, "id": arguments["NAME"]})
    return _show(call, made["entry"], arguments, screen)


def _show(call: Call, job: JobView, arguments: Words, screen: Screen, is_new: bool = False) -> int:
    if screen.is_json:
        screen.json({"entry": job})
    else:
        screen.line(clean.line(f"{job['id']}: {job.get('understood', job['when'])}"))
        screen.line(clean.line(f"  {_comes(job)}"))
        for text in job.get("assumed", []):
            screen.line(clean.line(f"  ({text})"))
        if job.get("needs"):
            screen.notice(clean.line(job["needs"]))
        if is_new and not arguments["--ahead"]:
            screen.notice(f"to see what comes of it, do it once now: oasis schedule run {job['id']}")
    return _approve(call, {**arguments, "NAME": job["id"]}, screen) if arguments["--ahead"] else OK


def _comes(job: JobView) -> str:
    moments = job.get("moments") or [job["next"]] if "next" in job else []
    if not moments:
        return "waits for it" if job["enabled"] else "it is off"
    return f"next on {', then '.join(moments)}"


def _switch(call: Call, arguments: Words, screen: Screen) -> int:
    made = call("schedule.change", {"id": arguments["NAME"], "enabled": arguments["ACTION"] == "on"})
    return _show(call, made["entry"], {**arguments, "--ahead": ""}, screen)


def _run(call: Call, arguments: Words, screen: Screen) -> int:
    started = call("schedule.run", {"id": arguments["NAME"]})
    return follow(call, started, screen, waits=not arguments["--no-wait"])


def _approve(call: Call, arguments: Words, screen: Screen) -> int:
    started = call("schedule.approve", {"id": arguments["NAME"]})
    return follow(call, started, screen, waits=not arguments["--no-wait"])


def _delete(call: Call, arguments: Words, screen: Screen) -> int:
    is_all = arguments["NAME"] == _ALL
    if screen.can_ask:
        what = "ALL scheduled jobs" if is_all else f"the scheduled job {clean.line(arguments['NAME'])}"
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
    "approve": (_approve, True, False), "delete": (_delete, True, False),
}  # fmt: skip
