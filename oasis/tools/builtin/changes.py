"""The tools that change the router: `configure`, `service` and `undo` by plans, `power` and `backup` by programs."""

from __future__ import annotations

import os
import time

from oasis.change import uci_commands
from oasis.errors import ToolError
from oasis.tools.router import Router, Watch

if False:  # annotations only
    from oasis.change.shapes import Operation
    from oasis.tools import shapes
    from oasis.tools.operator import Operator
    from oasis.tools.shapes import PlanResult, Result

# A model still has to say its last words.
DELAY_S = 8.0
_PROGRAM_S = 20.0
_FOLDER = "/var/run/oasis/backup"
# An archive of settings is some hundred kB; a full /tmp stops the router.
SPARE_BYTES = 4 * 1024 * 1024


def configure(
    arguments: shapes.ConfigureArguments, router: Router, operator: Operator, watch: Watch
) -> PlanResult:  # fmt: skip
    """Propose UCI commands as one plan, with the packages that they need."""
    if arguments.get("install"):
        from oasis.tools.builtin import packages  # large, and few changes need one

        return packages.configure(arguments, router, operator, watch)
    operations, notes = parsed(arguments)
    summary, until = str(arguments.get("summary", "")), str(arguments.get("until", ""))
    result = operator.change(operations, summary, until)
    if notes:
        result["notes"] = [*notes, *result.get("notes", [])]
    return result


def parsed(arguments: shapes.ConfigureArguments) -> tuple[list[Operation], list[str]]:
    """Return the operations of UCI commands, and notes on them."""
    operations, notes = uci_commands.parse("\n".join(arguments["commands"]))
    if not operations:
        raise ToolError("there is no change in these commands", "; ".join(notes))
    return operations, notes


def service(arguments: shapes.ServiceArguments, operator: Operator) -> PlanResult:
    """Propose an action on one service."""
    return operator.act(str(arguments["name"]), str(arguments.get("action", "restart")))


def undo(arguments: shapes.UndoArguments, operator: Operator) -> PlanResult:
    """Propose the way back from a change."""
    return operator.undo(str(arguments.get("change", "")))


def power_preview(arguments: shapes.PowerArguments, router: Router, operator: Operator, watch: Watch) -> list[str]:
    """Return what happens, in words for the owner's card."""
    if arguments["action"] == "shutdown":
        if not router.has("poweroff"):
            raise ToolError("this router has no program poweroff", "cut its power instead")
        return ["the router switches off; somebody has to switch it on again by hand"]
    if arguments["action"] == "reconnect":
        return [
            "the line to the internet (%s) is hung up and dials in again; it takes seconds" % ", ".join(_way(operator))
        ]
    return ["the router restarts; everybody is without network for a minute or two"]


def power(arguments: shapes.PowerArguments, router: Router, operator: Operator, watch: Watch) -> Result:
    """Restart the router, switch it off or dial in again, a moment later: the answer is sent first."""
    action = str(arguments["action"])
    way = _way(operator) if action == "reconnect" else []

    def end() -> None:
        if action == "shutdown":
            router.run(["poweroff"], Watch(str, bool, time.monotonic, _PROGRAM_S))
        elif action == "reconnect":
            for method in ("down", "up"):
                for name in way:
                    operator.facts.ubus("network.interface." + name, method)
        else:
            operator.facts.ubus("system", "reboot")

    router.later(DELAY_S, end)
    return {"action": action, "in_s": int(DELAY_S), "notes": ["tell the owner now: the connection is about to end"]}


def _way(operator: Operator) -> list[str]:
    """Return the interfaces that lead to the internet and are switched on. Raises: ToolError when there is none."""
    facts = operator.facts
    sections, names = facts.config("network"), facts.masqueraded() or ["wan", "wan6"]
    found = [name for name in names if name in sections and sections[name].get("disabled") != "1"]
    if not found:
        raise ToolError("no interface of this router leads to the internet", "read_config network")
    return found


def backup(arguments: shapes.Arguments, router: Router, operator: Operator, watch: Watch) -> Result:
    """Put the router's settings into one archive, kept in RAM for the owner to fetch.

    The archive holds every key and password: only root may read it, it leaves the router by nothing of ours, and there
    is one at a time. Made by sysupgrade, it is what LuCI and `sysupgrade -r` restore.

    Raises: ToolError when there is no room or sysupgrade fails.
    """
    tmp = operator.facts.ubus("system", "info").get("tmp")
    free = tmp.get("avail", tmp.get("free")) if isinstance(tmp, dict) else None
    if isinstance(free, int) and free * 1024 < SPARE_BYTES:
        raise ToolError("memory for files has only %d kB free" % free, "an archive needs room there")
    folder = router.root.path(_FOLDER)
    _clear(router, folder)
    router.files.folder(folder)
    name = "%s/backup-%s.tar.gz" % (_FOLDER, time.strftime("%Y-%m-%d-%H%M%S", time.localtime(operator.facts.now_s())))
    path = router.root.path(name)
    # Made before, so that nobody else can read it while it is written.
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    status, _, err = router.run(["sysupgrade", "-b", path], watch, 60.0)
    size = router.files.size(path)
    if status or not size:
        _clear(router, folder)
        raise ToolError("sysupgrade made no archive: status %d %s" % (status, err.strip()[:200]), "is /tmp full?")
    os.chmod(path, 0o600)
    note = "it holds all keys and passwords, and is gone with the next restart: fetch it with scp, or make one in LuCI"
    return {"file": name, "size_bytes": size, "notes": [note]}


def _clear(router: Router, folder: str) -> None:
    for name in router.files.names(folder):
        router.files.remove(folder + "/" + name)
