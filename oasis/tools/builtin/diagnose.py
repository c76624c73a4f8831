"""The tools `diagnose`, a round of the doctor, and `logs`, lines of the system log by service, words, level and time.

Log lines hold what devices and people on the internet sent: they are cleaned, cut, and always marked as log lines.
"""

from __future__ import annotations

import time

from oasis.core import clean, when
from oasis.doctor.rounds import examine
from oasis.doctor.scene import Scene
from oasis.errors import ToolError
from oasis.system import clock
from oasis.system.connections import Probe
from oasis.tools.router import Facts, dicts

if False:  # annotations only
    from oasis.system.files import Files
    from oasis.system.root import Root
    from oasis.tools.operator import Operator
    from oasis.tools.shapes import Any, Arguments, Callable, Diagnosis, LogAnswer, LogArguments, LogLine, Result

    Run = Callable[..., tuple[int, bytes, bytes]]  # of the executor

# What a result tells: the worst ones; each is about 100 tokens.
FINDINGS = 12
EVIDENCE = 2
_KEYS = ("severity", "title", "explanation", "advice")
# Whose words the evidence may hold.
FOREIGN = "names and log lines of the router"


def examined(root: Root, files: Files, run: Run, facts: Facts) -> dict[str, Any]:
    """Return a round of the doctor over a router root (the shape is in doctor/rounds.py)."""

    def program(name: str) -> str:
        path = root.program(name)
        # In a folder only what stands in it asks: the network of this host is not the router's.
        return path if root.folder == "/" or path.startswith(root.folder + "/") else ""

    def is_clock_trusted() -> bool:
        return clock.is_trusted(root, files, facts.now_s(), 0)

    scene = Scene(facts, lambda path: files.names(root.path(path)), Probe(run, program), is_clock_trusted)
    return examine(scene, time.monotonic)


def diagnose(arguments: Arguments, operator: Operator) -> Result:
    """Return what a round found, worst first."""
    found = operator.examine()
    findings = found["findings"]
    skipped = {check["title"]: check["why"] for check in found["checks"] if check["state"] == "skipped"}
    shown: list[Result] = []
    for one in findings[:FINDINGS]:
        short: dict[str, object] = {key: one[key] for key in _KEYS if key in one}
        short["evidence"] = one["evidence"][:EVIDENCE]
        if "fix" in one:
            short["commands"] = one["fix"]["commands"]
        shown.append(short)
    answer: Diagnosis = {"findings": shown, "checked": len(found["checks"]) - len(skipped)}
    if skipped:
        answer["not_checked"] = skipped
    if len(findings) > FINDINGS:
        answer["notes"] = ["%d lesser findings are left out" % (len(findings) - FINDINGS)]
    if any(one.get("foreign") for one in findings[:FINDINGS]):
        answer["untrusted"] = [FOREIGN]
    return answer


LABEL = "log lines"
# The ring of logd holds 128 kB; this many of its lines are looked at.
READ = 1500
SHOWN, MOST = 30, 60
LINE_CHARS = 200
# Of syslog(3), the lower the more urgent.
_LEVELS = ("emergency", "alert", "critical", "error", "warning", "notice", "info", "debug")
_KERNEL = 0  # logd's word for where a line is from


def logs(arguments: LogArguments, facts: Facts) -> Result:
    """Return {"lines": [{"when", "level", "text"}], "matching": how many there are, "untrusted"}.

    Raises: ToolError when the log cannot be read, UsageError for a time that is none.
    """
    reply = facts.ubus("log", "read", {"lines": READ, "stream": False, "oneshot": True})
    entries = reply.get("log")
    if not isinstance(entries, list):
        raise ToolError("the system log cannot be read", "is the service log running?")
    since_ms = when.since(str(arguments["since"]), facts.now_s()) * 1000 if arguments.get("since") else 0
    service, words = str(arguments.get("service") or ""), str(arguments.get("contains") or "").casefold().split()
    most = _LEVELS.index(str(arguments["level"])) if arguments.get("level") else len(_LEVELS)
    found: list[tuple[int, int, str]] = []
    for entry in dicts(entries):
        text, time_ms, priority = str(entry.get("msg", "")), entry.get("time"), entry.get("priority")
        time_ms = time_ms if isinstance(time_ms, int) else 0
        level = priority & 7 if isinstance(priority, int) else len(_LEVELS) - 2
        program = text.partition(":")[0].partition("[")[0].strip()  # the word before its process or colon
        is_of = entry.get("source") == _KERNEL if service == "kernel" else program.startswith(service)
        if is_of and time_ms >= since_ms and level <= most and all(word in text.casefold() for word in words):
            found.append((time_ms, level, text))
    shown: list[LogLine] = []
    for time_ms, level, text in found[-min(int(arguments.get("lines") or SHOWN), MOST) :]:
        line = clean.line(text)
        line = line if len(line) <= LINE_CHARS else line[:LINE_CHARS] + "…"
        shown.append({"when": when.shown(time_ms // 1000), "level": _LEVELS[level], "text": line})
    answer: LogAnswer = {"lines": shown, "matching": len(found)}
    if not found:
        return {**answer, "notes": ["of the %d lines that the log still has, none is like that" % len(entries)]}
    return {**answer, "untrusted": [LABEL]}
