"""The words and tables of findings.json."""

from __future__ import annotations

import os

from oasis.core import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.doctor.shapes import Any


def data() -> dict[str, Any]:
    """Return what is in it: "checks", "findings", "foreign", "ended_releases"."""
    with open(os.path.dirname(os.path.abspath(__file__)) + "/findings.json", "rb") as handle:
        found: dict[str, Any] = jsonl.shipped(handle.read())
    return found
