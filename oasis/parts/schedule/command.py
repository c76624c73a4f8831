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
    from oasis.parts.schedule.shapes import JobChanges, JobList, JobView

_USAGE = "usage: oasis schedule [list|add WHEN WISH|change ID [WISH]|on ID|off ID|run ID|approve ID|delete ID or all]"
# word: (whether a name follows, whether a wish may)
ACTIONS = {
    "list": (False, False), "add": (True, True), "change": (True, True), "on": (True, False), "off": (True, False),
    "run": (True, False), "approve": (True, False), "delete": (True, False),
}  # fmt: skip
# What stands in the place of "off", where that would hide what became of the plan of the last run.
_STATES = {"waiting": "waits for you", "expired": "not decided", "declined": "declined", "cancelled": "stopped",
           "lost": "lost"}  # fmt: skip


def schedule(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Do what ACTION says; list the jobs without one."""
    action, name, wish = arguments["ACTION"] or "list", arguments["NAME"], arguments["WISH"]
    if action not in ACTIONS:
        raise UsageError(f"unknown word {action!r}", _USAGE)
    takes_name, takes_wish = ACTIONS[action]
    if bool(name) != takes_name or (wish and not takes_wish):
        raise UsageError(f"`schedule {action}` {'needs more' if takes_name else 'takes nothing more'}", _USAGE)
    waits = not arguments["--no-wait"]
    if action == "list":
        return _list(call("schedule.list", {}), screen)
    if action == "delete":
        return _delete(call, name, screen)
    if action in ("run", "approve"):
        started = call("schedule.run", {"id": name}) if action == "run" else call("schedule.approve", {"id": name})
        return follow(call, started, screen, waits=waits)
    if action in ("on", "off"):
        return _show(call("schedule.change", {"id": name, "enabled": action == "on"})["entry"], screen)
    if action == "add":
        wish = read_text().strip() if wish == "-" else wish
        if not wish:
            raise UsageError("the wish is empty", _USAGE)
        job = call("schedule.add", {**_given(arguments), "when": name, "wish": wish})["entry"]
    else:
        changes = _given(arguments)
        if wish:
            changes["wish"] = wish
        job = call("schedule.change", {**changes, "id": name})["entry"]
    _show(job, screen)
    if arguments["--ahead"]:
        return follow(call, call("schedule.approve", {"id": job["id"]}), screen, waits=waits)
    if action == "add":
        screen.notice(f"to see what comes of it, do it once now: oasis schedule run {job['id']}")
    return OK


def _given(arguments: dict[str, str]) -> JobChanges:
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


def _list(reply: JobList, screen: Screen) -> int:
    if screen.is_json:
        screen.json(reply)
        return OK
    for job in reply["entries"]:
        plan = job.get("plan")
        next_ = str(job.get("next", " " * 16))
        if not job["enabled"]:
            next_ = f"{_STATES.get(plan['state'] if plan else '', 'off'):16}"
        screen.line(clean.line(f"{job['id']}  {next_}  {job.get('understood', job['when'])}"), "bold")
        screen.line(clean.line(f"  {job['wish']}"))
        notes = [plan["words"] + (": oasis plans" if plan["state"] == "waiting" else "")] if plan else []
        notes += ["a run of it is at work: oasis plans"] if job.get("active") and not notes else []
        notes += [f"calls {', '.join(one['tool'] for one in job['calls'])}"] if job.get("calls") else []
        notes += [f"{job['ahead']} plan(s) approved ahead"] if job.get("ahead") else []
        for note in [*notes, *(str(job[key]) for key in ("timezone", "service", "note") if job.get(key))]:
            screen.line(clean.line(f"  ({note})"))
    if not reply["entries"]:
        make = "oasis schedule add 'every day at 22:00' turn off the guest wifi"
        screen.line(f"there is no scheduled job; make one: {make}")
    screen.line(clean.line(f"it is {reply['now']} there ({reply['zone']})"), "dim")
    if reply["note"]:
        screen.notice(clean.line(reply["note"]))
    if not reply["trusted"]:
        screen.notice("the router's clock is not set yet: nothing is done until it is")
    return OK


def _show(job: JobView, screen: Screen) -> int:
    if screen.is_json:
        screen.json({"entry": job})
        return OK
    screen.line(clean.line(f"{job['id']}: {job.get('understood', job['when'])}"))
    moments = job.get("moments") or [job["next"]] if "next" in job else []
    comes = f"next on {', then '.join(moments)}" if moments else "waits for it" if job["enabled"] else "it is off"
    screen.line(clean.line(f"  {comes}"))
    for text in job.get("assumed", []):
        screen.line(clean.line(f"  ({text})"))
    if job.get("needs"):
        screen.notice(clean.line(job["needs"]))
    return OK


def _delete(call: Call, name: str, screen: Screen) -> int:
    what = "ALL scheduled jobs" if name == "all" else f"the scheduled job {clean.line(name)}"
    if screen.can_ask and ask(screen, f"Delete {what}? [y/N]", lambda: True) != YES:
        return DECLINED
    reply = call("schedule.delete", {"all": True} if name == "all" else {"id": name})
    return screen.result(reply, f"{reply['deleted']} deleted")
