"""Undo a change: as a plan like any other, never over somebody's later edit.

A package that still is what the change made of it gets its bytes of before. Any other is taken back option by option
where each value still is the change's (reverse.py); the rest are conflicts, and one of them in one package refuses the
whole undo, unless the owner says to leave them as they are.
"""

from __future__ import annotations

from oasis.change.apply.journal import is_standing
from oasis.change.difference import MASK
from oasis.change.history import ends
from oasis.change.history.reverse import reverse
from oasis.errors import ApplyError, UciError, UsageError
from oasis.redaction import secret_options
from oasis.system.digest import sha256
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.apply.journal import Journal
    from oasis.change.plan import Planner
    from oasis.change.shapes import Collection, Conflict, Images, Operation, Plan, Record, Value
    from oasis.shapes import ErrorReply

# Conflicts shown in words; a program gets them all.
_TOLD = 5


class ConflictError(ApplyError):
    """An undo is refused; `conflicts` lists why.

    Shape of a conflict: {"package", "section", "option", "now", "expected"}, secrets masked; see reverse.py.
    """

    def __init__(self, change: str, conflicts: list[Conflict]) -> None:
        told = [conflict_words(item) for item in conflicts[:_TOLD]]
        if len(conflicts) > _TOLD:
            told.append("and %d more" % (len(conflicts) - _TOLD))
        super().__init__(
            "changed since change %s: %s; nothing was written" % (change, "; ".join(told)),
            "to leave these as they are and undo the rest: oasis undo --skip-conflicts %s" % change,
            untrusted=("values of others",),
        )
        self.conflicts = conflicts

    def as_dict(self) -> ErrorReply:
        return {**super().as_dict(), "conflicts": self.conflicts}


def plan_undo(
    journal: Journal, planner: Planner, change: str, run: str, chat: str, *, skip_conflicts: bool = False,
    stays: Collection[str] | None = None,
) -> Plan:  # fmt: skip
    """Return the plan that undoes a change; without an id, the newest one that still stands.

    `stays` is given at its end: the places of it that are left as they are (ends.py). Only an undo by the owner brings
    back the ends that it had set.

    Raises: UsageError when there is nothing to undo, ConflictError when what it changed was changed again since.
    """
    record = journal.read(change) if change else _newest(journal)
    change = str(record["id"])
    those = "those that can be: oasis changes"
    if record["state"] != "confirmed":
        raise UsageError("change %s is %s: there is nothing to undo" % (change, record["state"]), those)
    if record.get("undone_by"):
        raise UsageError("change %s was undone already" % change, "see: oasis changes")
    if not record["packages"] and not record.get("ends") and not record.get("installed"):
        raise UsageError("change %s only restarted services: there is nothing to undo" % change, those)
    images: Images = {}
    operations: list[Operation] = []
    conflicts: list[Conflict] = []
    for name in record["packages"]:
        try:
            now = planner.read(name)
        except UciError:  # its program was removed since
            conflicts.append({"package": name, "section": "", "option": "", "now": None, "expected": "there"})
            continue
        before = journal.image(change, "before", name)
        if sha256(now) == record["after"].get(name) and not stays:
            images[name] = (now, before)
            continue
        steps, found = _delta(name, before, journal.image(change, "after", name), now, stays or ())
        conflicts += found
        operations += steps
        if steps:
            images[name] = (now, model.preview({name: now}, steps)[name])
    if conflicts and not skip_conflicts:
        raise ConflictError(change, conflicts)
    summary = ("undo: %s" % (record["summary"] or ", ".join(record["words"][:2])))[:200]
    plan = planner.restore(images, operations, run, chat, summary, change)
    if record.get("ends") and stays is None:
        draft = plan or planner.empty(run, chat, summary)
        plan = planner.bind(draft, undoes=change, **ends.changes(draft, *ends.back(journal, record)))
    if record.get("installed"):
        words = "removes the packages %s" % ", ".join(record["installed"])
        words += "".join("; %s comes back" % ", ".join(old) for old in record.get("replaced", {}).values())
        draft = plan or planner.empty(run, chat, summary)
        gone = {"words": [*draft["words"], words], "risk": "risky", "is_asked": True, "undoes": change}
        plan = planner.bind(draft, **gone)
    if plan is None or not (plan["images"] or plan["ends"] or record.get("installed")):
        words = (
            "everything of change %s was changed since" if conflicts else "all is already as it was before change %s"
        )
        raise UsageError(words % change, "what it did: oasis changes %s" % change)
    left = ["stays as it is: " + conflict_words(item) for item in conflicts]
    return planner.bind(plan, words=[*plan["words"], *left]) if left else plan


def _newest(journal: Journal) -> Record:
    for record in journal.records():
        if (
            is_standing(record)
            and not record.get("undoes")
            and (record["packages"] or record.get("ends") or record.get("installed"))
        ):
            return record
    raise UsageError("there is no change to undo", "see what happened with: oasis changes")


def _delta(
    name: str, before: bytes, after: bytes, now: bytes, stays: Collection[str]
) -> tuple[list[Operation], list[Conflict]]:
    """Return the operations that take a change of a package back from what it is now, and conflicts, secrets masked."""
    versions = [model.parse(data, name) for data in (before, after, now)]
    steps, conflicts = reverse(versions[0], versions[1], versions[2], ends.within(stays, name))
    kinds = {str(one.name): one.type for version in versions for one in version.sections}
    for item in conflicts:
        section = str(item["section"])
        kind = section[1:].partition("[")[0] if section.startswith("@") else kinds.get(section, "")
        if secret_options.is_secret(name, kind, str(item["option"])):
            item["now"], item["expected"] = (MASK if item[side] else None for side in ("now", "expected"))
    return steps, conflicts


def conflict_words(item: Conflict) -> str:
    """Return a conflict for people."""
    where = ".".join(str(item[key]) for key in ("package", "section", "option") if item[key])
    if item["option"]:
        return "%s is %s, not %s" % (where, _shown(item["now"]), _shown(item["expected"]))
    if item["section"]:
        return "the section %s is %s" % (where, "not what it was" if item["now"] else "gone")
    return "the package %s is gone" % where if item["now"] is None else "the order of sections in %s" % where


def _shown(value: Value | None) -> str:
    if value is None:
        return "unset"
    return ", ".join("'%s'" % one for one in value) if isinstance(value, list) else "'%s'" % value
