"""`oasis schedule`: list, make, change, try and delete scheduled jobs."""

from __future__ import annotations

from oasis.cli.commands import DECLINED, OK, whole
from oasis.cli.prompt import follow
from oasis.cli.terminal import Screen, is_meant, read_text
from oasis.core import clean
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.rpc_client import Call
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
        what = "ALL scheduled jobs" if name == "all" else f"the scheduled job {clean.line(name)}"
        if not is_meant(screen, f"Delete {what}?"):
            return DECLINED
        gone = call("schedule.delete", {"all": True} if name == "all" else {"id": name})
        return screen.result(gone, f"{gone['deleted']} deleted")
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
    options = (("--zone", "timezone"), ("--service", "service"), ("--when", "when"))
    found: JobChanges = {field: arguments[one] for one, field in options if arguments[one]}  # type: ignore[assignment]
    if arguments["--pause"]:
        found["pause_s"] = whole(arguments["--pause"])
        if found["pause_s"] < 0:
            raise UsageError(f"--pause is {arguments['--pause']!r}", "seconds, like 600")
    return found


def _list(reply: JobList, screen: Screen) -> int:
    lines: list[str | tuple[str, str]] = []
    for job in reply["entries"]:
        plan = job.get("plan")
        next_ = str(job.get("next", " " * 16))
        if not job["enabled"]:
            next_ = f"{_STATES.get(plan['state'] if plan else '', 'off'):16}"
        lines.append((clean.line(f"{job['id']}  {next_}  {job.get('understood', job['when'])}"), "bold"))
        notes = [plan["words"] + (": oasis plans" if plan["state"] == "waiting" else "")] if plan else []
        notes += ["a run of it is at work: oasis plans"] if job.get("active") and not notes else []
        notes += [f"calls {', '.join(one['tool'] for one in job['calls'])}"] if job.get("calls") else []
        notes += [f"{job['ahead']} plan(s) approved ahead"] if job.get("ahead") else []
        notes += [str(job[key]) for key in ("timezone", "service", "note") if job.get(key)]
        lines += [f"  {job['wish']}", *[f"  ({note})" for note in notes]]
    if not lines:
        make = "oasis schedule add 'every day at 22:00' turn off the guest wifi"
        lines.append(f"there is no scheduled job; make one: {make}")
    lines.append((clean.line(f"it is {reply['now']} there ({reply['zone']})"), "dim"))
    screen.result(reply, lines)
    if reply["note"]:
        screen.notice(reply["note"])
    if not reply["trusted"]:
        screen.notice("the router's clock is not set yet: nothing is done until it is")
    return OK


def _show(job: JobView, screen: Screen) -> int:
    moments = job.get("moments") or [job["next"]] if "next" in job else []
    comes = f"next on {', then '.join(moments)}" if moments else "waits for it" if job["enabled"] else "it is off"
    lines = [f"{job['id']}: {job.get('understood', job['when'])}", f"  {comes}"]
    screen.result({"entry": job}, [*lines, *[f"  ({text})" for text in job.get("assumed", [])]])
    if job.get("needs"):
        screen.notice(job["needs"])
    return OK
