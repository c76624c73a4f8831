"""The POSIX rules of common time zones by name, as in `system.timezone`: most routers have no tz database."""

from __future__ import annotations

import os

from oasis.core import jsonl

_FILE = os.path.dirname(os.path.abspath(__file__)) + "/time_zones.json"


def rules() -> dict[str, str]:
    """Return {zone name: POSIX rule}, read anew: few callers ask, and seldom."""
    with open(_FILE, "rb") as handle:
        found: dict[str, str] = jsonl.shipped(handle.read())["zones"]
        return found
