"""The tools by which a model makes, lists, changes and deletes standing orders; specs are in tools.json.

What has an effect is asked for by default, and always when words of others are in sight: an order outlives the
conversation. One order at a time, named so that it can be no other: nothing here means all of them.
"""

from __future__ import annotations

from oasis.errors import ToolError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.parts.schedule.book import Schedule
    from oasis.tools.operator import Operator
    from oasis.tools.router import Watch

_SHOWN = ("id", "when", "understood", "moments", "assumed", "wish", "enabled", "next", "note", "needs")
_FEW = 5


class Orders:
    """Makes the calls of these tools; their specs are offered by parts.py."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule

    def call(self, name: str, arguments: dict[str, Any], operator: Operator, watch: Watch) -> dict[str, Any]:
        """Call one of the tools."""
        work = {"schedule_create": self._create, "schedule_list": self._list, "schedule_update": self._update}
        return work.get(name, self._delete)(arguments)

    def _create(self, arguments: dict[str, Any]) -> dict[str, Any]:
        reply = self._schedule.add(**arguments)
        return {"status": "made", **_told(reply), "note": "what is risky waits for the owner, who may approve it ahead"}

    def _list(self, arguments: dict[str, Any]) -> dict[str, Any]:
        reply = self._schedule.schedule_list()
        return {"orders": [_told(entry) for entry in reply["entries"]], "now": reply["now"], "zone": reply["zone"]}

    def _update(self, arguments: dict[str, Any]) -> dict[str, Any]:
        entry = self._one(arguments["order"])
        changes = {key: value for key, value in arguments.items() if key != "order"}
        if not changes:
            raise UsageError("nothing is to be changed", "give when, wish or enabled")
        return {"status": "changed", **_told(self._schedule.change(entry["id"], changes))}

    def _delete(self, arguments: dict[str, Any]) -> dict[str, Any]:
        entry = self._one(arguments["order"])
        self._schedule.schedule_delete(entry["id"])
        return {"status": "deleted", "id": entry["id"], "wish": entry["wish"]}

    def _one(self, words: str) -> dict[str, Any]:
        """Return the one entry that some words mean, to the letter: no sign in them stands for others."""
        entries: list[dict[str, Any]] = self._schedule.schedule_list()["entries"]
        wanted = words.strip().casefold()
        found = [entry for entry in entries if wanted and (entry["id"] == wanted or wanted in entry["wish"].casefold())]
        if len(found) == 1:
            return found[0]
        what = "%d standing orders have" % len(found) if found else "no standing order has"
        names = ["%s: %s" % (entry["id"], entry["wish"]) for entry in (found or entries)[:_FEW]]
        raise ToolError("%s %r; nothing was changed" % (what, words), "name one by its id; " + "; ".join(names))


def _told(entry: dict[str, Any]) -> dict[str, Any]:
    found = {key: entry[key] for key in _SHOWN if key in entry}
    return {**found, "plan": entry["plan"]["words"]} if "plan" in entry else found
