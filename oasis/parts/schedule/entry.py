"""What an entry is, and what is wrong with one that somebody else wrote into its file. Pure.

Entry (a record of schedule.jsonl): {"id", "when": as written (when.py), "wish": what is said then, "enabled",
    "created_unix_s", "since_unix_s": from when moments count, "fired_unix_s"?: the last firing,
    "calls"?: [{"tool", "params"}] instead of a model, "synthesis"?: how a model tells of them, "service"?,
    "timezone"?: a POSIX rule where it is not the router's, "pause_s"?: between two events, "chat"?,
    "approved"?: [what was approved ahead, standing.py], "note"?: why it was switched off,
    "plan"?: {"state", "id", "summary", "until_unix_s"}: the plan of its last run, where that waits or was not approved}

State of such a plan: waiting, declined, expired, cancelled, or lost: the daemon ended while it waited.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Entry = dict[str, Any]

_NEEDED = ("when", "wish")
_KINDS: dict[str, type] = {
    "when": str, "wish": str, "synthesis": str, "service": str, "timezone": str, "chat": str, "note": str,
    "since_unix_s": int, "fired_unix_s": int, "pause_s": int, "calls": list, "approved": list, "plan": dict,
}  # fmt: skip


# What became of the plan of the last run, in words.
STATES = {
    "waiting": "its plan waits for you until %s: %s",
    "expired": "its plan waited until %s, nobody decided, and nothing was done: %s",
    "declined": "its plan was declined, and nothing was done: %s",
    "cancelled": "its plan was stopped while it waited, and nothing was done: %s",
    "lost": "its plan was lost when oasis ended while it waited, and nothing was done: %s",
}


def fault(entry: Entry) -> str:
    """Return why an entry is none, "" for nothing."""
    for name in _NEEDED:
        if not entry.get(name):
            return "it has no %s" % name
    for name, kind in _KINDS.items():
        if not isinstance(entry.get(name, kind()), kind):
            return "its %s is none" % name
    if not all(isinstance(one, dict) for one in [*entry.get("calls", []), *entry.get("approved", [])]):
        return "its calls are none"
    return ""


def unreadable(entry: Entry, why: str) -> Entry:
    """Return what is shown of an entry that is none: enough to delete it by."""
    found = {name: entry[name] if isinstance(entry.get(name), str) else "" for name in _NEEDED}
    return {"id": entry["id"], **found, "enabled": False, "ahead": 0, "active": False,
            "note": "it cannot be read: " + why}  # fmt: skip


def of_plan(plan: dict[str, Any], until: str) -> str:
    """Return what became of the plan of an entry's last run, "" for no such state; `until` is until when it waits."""
    words, summary = STATES.get(str(plan.get("state")), ""), str(plan.get("summary") or "a plan")
    return words % ((until, summary) if words.count("%s") == 2 else summary) if words else ""
