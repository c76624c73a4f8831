"""The zones that schedules live in: the router's own, and those that somebody names."""

from __future__ import annotations

import os

from oasis.core import jsonl
from oasis.errors import UsageError
from oasis.parts.schedule.zone import Zone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oasis.system.root import Root
    from oasis.tools.facts import Facts

_UTC = "UTC0"
# Names and rules of common zones, which the built-in service knows anyway.
_NAMES = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/offline/intents/zones.json"


class Zones:
    """The zones of one router; `fault` tells why its own is not used."""

    def __init__(self, facts: Facts, root: Root) -> None:
        self._facts = facts
        self._root = root
        self._last: tuple[str, Zone] | None = None
        self.fault = ""

    def router(self) -> Zone:
        """Return the zone of the router as its settings are now; UTC where they name none that can be read."""
        sections = self._facts.sections("system", "system")
        options: dict[str, Any] = sections[0] if sections else {}
        rule = str(options.get("timezone") or "")
        if self._last is None or self._last[0] != rule:
            self._last = rule, self._read(rule, str(options.get("zonename") or ""))
        return self._last[1]

    def _read(self, rule: str, name: str) -> Zone:
        self.fault = ""
        try:
            if rule:
                return Zone(rule)
            return self.named(name) or Zone(_UTC)
        except UsageError as error:
            self.fault = "system.timezone: %s; times are UTC" % error.message
            return Zone(_UTC)

    def named(self, text: str) -> Zone | None:
        """Return the zone of a name or a rule, None for no words.

        Raises: UsageError for what is neither.
        """
        text = text.strip()
        if not text:
            return None
        with open(_NAMES, "rb") as handle:
            names = jsonl.loads(handle.read())["zones"]
        return Zone(str(names.get(text.replace(" ", "_"), text)))
