"""The tool `logs`: lines of the system log, the newest last, chosen by service, words, urgency and time.

Lines hold what devices and people on the internet sent: they are cleaned, cut, and marked as log lines, always.
"""

from __future__ import annotations

from oasis.core import clean, when
from oasis.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.tools.facts import Facts

LABEL = "log lines"
# The ring of logd holds 128 kB; this many of its lines are looked at.
READ = 1500
SHOWN, MOST = 30, 60
LINE_CHARS = 200
# Of syslog(3), the lower the more urgent.
_LEVELS = ("emergency", "alert", "critical", "error", "warning", "notice", "info", "debug")
_KERNEL = 0  # logd's word for where a line is from


def run(arguments: dict[str, Any], facts: Facts) -> dict[str, Any]:
    """Return {"lines": [{"when", "level", "text"}], "matching": how many there are, "untrusted"}.

    Raises: ToolError when the log cannot be read, UsageError for a time that is none.
    """
    reply = facts.ubus("log", "read", {"lines": READ, "stream": False, "oneshot": True})
    entries = reply.get("log")
    if not isinstance(entries, list):
        raise ToolError("the system log cannot be read", "is the service log running?")
    since_ms = when.since(str(arguments["since"]), facts.now_s()) * 1000 if arguments.get("since") else 0
    found = [one for one in entries if isinstance(one, dict) and _is_meant(one, arguments, since_ms)]
    shown = found[-min(int(arguments.get("lines") or SHOWN), MOST) :]
    answer: dict[str, Any] = {"lines": [_line(one) for one in shown], "matching": len(found)}
    if not found:
        return {**answer, "notes": ["of the %d lines that the log still has, none is like that" % len(entries)]}
    return {**answer, "untrusted": [LABEL]}


def _is_meant(entry: dict[str, Any], arguments: dict[str, Any], since_ms: int) -> bool:
    text = str(entry.get("msg", ""))
    service, words = str(arguments.get("service") or ""), str(arguments.get("contains") or "")
    if service == "kernel":
        if entry.get("source") != _KERNEL:
            return False
    elif service and not _tag(text).startswith(service):
        return False
    if words and not all(word in text.casefold() for word in words.casefold().split()):
        return False
    level = arguments.get("level")
    return _ms(entry) >= since_ms and (not level or _level(entry) <= _LEVELS.index(str(level)))


def _tag(text: str) -> str:
    """Return what a line says of the program that wrote it: the word before its process or colon."""
    return text.partition(":")[0].partition("[")[0].strip()


def _level(entry: dict[str, Any]) -> int:
    priority = entry.get("priority")
    return priority & 7 if isinstance(priority, int) else len(_LEVELS) - 2


def _ms(entry: dict[str, Any]) -> int:
    time_ms = entry.get("time")
    return time_ms if isinstance(time_ms, int) else 0


def _line(entry: dict[str, Any]) -> dict[str, Any]:
    text = clean.line(entry.get("msg", ""))
    if len(text) > LINE_CHARS:
        text = text[:LINE_CHARS] + "…"
    return {"when": when.shown(_ms(entry) // 1000), "level": _LEVELS[_level(entry)], "text": text}
