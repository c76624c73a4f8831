"""`oasis doctor`: what is wrong with this router, found by code; also while the daemon does not run.

Contract: looking changes nothing. A fix is a plan like any other, by the daemon; status 1 when something needs care.
"""

from __future__ import annotations

import os

from oasis.cli.commands import FAILED, OK
from oasis.cli.rpc_client import NoDaemon
from oasis.core import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.cli.shapes import Call, Finding, Round
    from oasis.cli.terminal import Screen

_LOOKS = {"error": "-", "warning": "bold", "info": ""}


def doctor(call: Call, arguments: dict[str, str], screen: Screen) -> int:
    """Print what was found, worst first; or propose the fix of one finding and follow it."""
    if arguments["--fix"]:
        from oasis.cli.prompt import follow

        started = call("doctor.fix", {"finding": arguments["--fix"]})
        return follow(call, started, screen, waits=not arguments["--no-wait"])
    try:
        found = call("doctor.run", {})
    except NoDaemon as reason:
        from oasis.cli import without_daemon

        screen.notice(f"{reason.message}; the doctor looks by itself")
        found = without_daemon.doctor(os.environ.get("OASIS_ROOT") or "/", os.environ.get("PATH", ""))
    if screen.is_json:
        screen.json(found)
    else:
        _show_found(found, arguments["--all"], screen)
    return FAILED if any(one["severity"] != "info" for one in found["findings"]) else OK


def _show_found(found: Round, is_whole: object, screen: Screen) -> None:
    for finding in found["findings"]:
        _show_finding(finding, screen)
    checks = found["checks"]
    for check in checks if is_whole else []:
        why = f" ({check['why']})" if check.get("why") else ""
        screen.line(f"  {check['state']:8} {check['title']}{why}")
    skipped = [check for check in checks if check["state"] == "skipped"]
    why = "" if is_whole else " (why: oasis doctor --all)"
    told = f", {len(skipped)} of them not possible here{why}" if skipped else ""
    if not found["findings"]:
        screen.line("nothing wrong was found")
    screen.line(f"{len(checks)} checks{told}, {found['took_ms'] / 1000:.1f} s")


def _show_finding(finding: Finding, screen: Screen) -> None:
    screen.line(f"{finding['severity']}: {clean.line(finding['title'])}", _LOOKS[finding["severity"]])
    screen.line("  " + clean.line(finding["explanation"]))
    if "advice" in finding:
        screen.line("  " + clean.line(finding["advice"]))
    for line in finding["evidence"]:
        screen.line("  seen: " + clean.line(line))
    if "fix" in finding:
        screen.line(f"  oasis doctor --fix '{clean.line(finding['id'])}': {'; '.join(finding['fix']['words'])}")
    screen.line()
