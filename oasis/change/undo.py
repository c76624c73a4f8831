"""Undo a change: as a plan like any other, never over somebody's later edit.

When the packages still are what the change made of them, their bytes of before come back. Otherwise nothing is half
done: the packages that differ are named.
"""

from __future__ import annotations

from oasis.errors import ApplyError, UsageError
from oasis.system.digest import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.journal import Journal
    from oasis.change.plan import Planner
    from oasis.change.shapes import Plan, Record


def plan_undo(journal: Journal, planner: Planner, change: str, run: str, chat: str) -> Plan:
    """Return the plan that undoes a change; without an id, the newest one that still stands.

    Raises: UsageError when there is nothing to undo, ApplyError when a package was edited since.
    """
    record = journal.read(change) if change else _newest(journal)
    if record["state"] != "confirmed":
        raise UsageError("change %s is %s: there is nothing to undo" % (record["id"], record["state"]))
    if record.get("undone_by"):
        raise UsageError("change %s was undone already" % record["id"], "see: oasis changes")
    if not record["packages"]:
        raise UsageError("change %s only restarted services: there is nothing to undo" % record["id"])
    edited = [name for name in record["packages"] if sha256(planner.read(name)) != record["after"][name]]
    if edited:
        raise ApplyError(
            "%s changed since; undoing would lose that; nothing was written" % ", ".join(edited),
            "undo the later change first, or ask for the old values by name",
        )
    change = str(record["id"])
    images = {name: journal.image(change, "before", name) for name in record["packages"]}
    summary = "undo: %s" % (record["summary"] or ", ".join(record["words"][:2]))
    plan = planner.restore(images, run, chat, summary[:200], change)
    if plan is None:
        raise UsageError("all is already as it was before change %s" % change)
    return plan


def _newest(journal: Journal) -> Record:
    for record in journal.records():
        is_standing = record["state"] == "confirmed" and not record.get("undone_by") and not record.get("undoes")
        if is_standing and record["packages"]:
            return record
    raise UsageError("there is no change to undo", "see what happened with: oasis changes")
