"""Specs as the registry uses them: cleaned, judged, each name once; made once for each list that a source gives.

What is added: "source", and "fault": why it cannot be used, or ""; a source may say so itself, as of a plugin whose
file nobody reviewed.
"""

from __future__ import annotations

from oasis.core import clean, jsonl
from oasis.errors import OasisError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from oasis.tools.registry import Source

    Spec = dict[str, Any]

CLASSES = ("read", "change", "danger", "net")
DESCRIPTION_CHARS = 2000
SCHEMA_BYTES = 16 * 1024
_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_TAKEN = "another tool has this name"


class Prepared:
    """Remembers, for each of some sources, the list it gave last and what was made of it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, list[Spec]]] = {}

    def of(self, sources: Sequence[Source], names: set[str]) -> list[tuple[Source, Spec]]:
        """Return all specs of the sources, in their order; of two with one name the second cannot be used.

        `names` are those that are taken; these are added.
        """
        known: dict[str, tuple[object, list[Spec]]] = {}
        found: list[tuple[Source, Spec]] = []
        for source in sources:
            given = source.specs()
            old = self._known.get(source.name)
            known[source.name] = old if old and old[0] is given else (given, [_spec(one, source.name) for one in given])
            for spec in known[source.name][1]:
                found.append((source, {**spec, "fault": _TAKEN} if spec["name"] in names else spec))
                names.add(spec["name"])
        self._known = known
        return found


def _spec(given: Spec, source: str) -> Spec:
    spec: Spec = {**given, "source": source, "fault": ""}
    spec["description"] = clean.text(given.get("description") or "")[:DESCRIPTION_CHARS]
    spec["name"] = clean.name(given.get("name"))
    spec["class"] = given["class"] if given.get("class") in CLASSES else "danger"
    spec["input_schema"] = clean.value(given.get("input_schema"))
    try:
        spec["fault"] = _fault(spec, given, len(_told(spec).encode("utf-8"))) or str(given.get("fault", ""))
    except OasisError as error:
        spec["fault"] = error.message
    if spec["fault"] and not isinstance(spec["input_schema"], dict):
        spec["input_schema"] = {}
    return spec


def _fault(spec: Spec, given: Spec, size_bytes: int) -> str:
    if not spec["name"] or spec["name"] != given["name"] or spec["name"].strip(_NAME):
        return "its name is none"
    if spec["class"] != given.get("class"):
        return "its class is none of " + ", ".join(CLASSES)
    if not isinstance(spec["input_schema"], dict) or spec["input_schema"].get("type", "object") != "object":
        return "its arguments are no object"
    if size_bytes > SCHEMA_BYTES:
        return "its description and arguments take %d bytes, %d are allowed" % (size_bytes, SCHEMA_BYTES)
    return ""


def tokens(spec: Spec) -> int:
    """Return about what a model pays for being told of a tool; nothing is told of one that JSON cannot hold."""
    from oasis.core import trim  # who counts tokens loads it

    try:
        return trim.BLOCK_TOKENS + trim.tokens(_told(spec))
    except OasisError:
        return 0


def _told(spec: Spec) -> str:
    return jsonl.dumps([spec["name"], spec["description"], spec["input_schema"]])
