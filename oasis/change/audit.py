"""The audit log: one chained JSON line a decision, on flash, without contents that could be secret.

Each line holds the SHA-256 of the line before it ("previous"), so that a removed or altered line shows; `verify` looks.
A full file becomes FILE.1, and the first line of the new one says so: what that part was ("rotated": its lines, those
that were rotated out for good before it, its SHA-256). What cannot be shown is that the newest lines are missing:
nothing later tells of them.
"""

from __future__ import annotations

import threading

from oasis.core import jsonl
from oasis.errors import SchemaError
from oasis.system.digest import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from oasis.change.shapes import Audited, Broken
    from oasis.core.shapes import Json
    from oasis.system.files import Files

# Rotated once to a second file of the same size: two years of daily changes.
AUDIT_BYTES = 128 * 1024
_OLD = ".1"
# For a decision that is about none.
ROTATED = "rotated"
NO_PLAN: dict[str, object] = {"id": "", "hash": "", "images": {}, "services": []}


class Audit:
    """The log at one path. `unix_s()` gives the wall time."""

    def __init__(self, files: Files, path: str, unix_s: Callable[[], int]) -> None:
        self._files, self._path, self._unix_s = files, path, unix_s
        self._lock = threading.Lock()  # the chain needs the line before, whole

    def write(self, what: str, plan: Mapping[str, Any], role: str) -> None:
        """Add one decision: what happened to which plan by whose word.

        A line torn by a power cut is cut off first. Raises: StoreError.
        """
        with self._lock:
            data = self._files.read(self._path) or b""
            whole = data[: data.rfind(b"\n") + 1]
            if len(whole) < len(data):
                self._files.cut(self._path, len(whole))
            line = self._line(what, plan, role, whole)
            if len(whole) + len(line) > AUDIT_BYTES:
                self._files.move(self._path, self._path + _OLD)
                whole = b""
            old = b"" if whole else self._files.read(self._path + _OLD)  # also after a power cut right behind that move
            if old:
                part = {"lines": old.count(b"\n"), "gone": _gone(_part(old)), "sha256": sha256(old)}
                first = self._line(ROTATED, {**NO_PLAN, ROTATED: part}, "daemon", old)
                self._files.append(self._path, first, True)
                line = self._line(what, plan, role, first)
            self._files.append(self._path, line, True)

    def _line(self, what: str, plan: Mapping[str, Any], role: str, whole: bytes) -> bytes:
        last = whole.rstrip(b"\n").rpartition(b"\n")[2]
        return jsonl.line({
            **({ROTATED: plan[ROTATED]} if what == ROTATED else {}),
            **({"tainted": True} if plan.get("tainted") else {}),
            **({"forces": plan["forces"]} if plan.get("forces") else {}),
            **({"tool": plan["call"]["name"]} if plan.get("call") else {}),
            "when_unix_s": self._unix_s(), "what": what, "plan": plan["id"], "plan_hash": plan["hash"], "role": role,
            "packages": sorted(plan["images"]), "services": [item["name"] for item in plan["services"]],
            "previous": sha256(last) if last else "",
        })  # fmt: skip

    def lines(self, limit: int, skip: int = 0) -> list[dict[str, Json]]:
        """Return lines that can be read, newest first; at most `limit`, after the `skip` newest."""
        found: list[dict[str, Json]] = []
        for _, data in reversed(self._whole()):
            for line in reversed(data.split(b"\n")[:-1]):
                value = _value(line)
                if value is not None:
                    skip -= 1
                    if skip < 0 and len(found) < limit:
                        found.append(value)
        return found

    def verify(self) -> Audited:
        """Follow the chain from the oldest line on.

        Shape: {"lines": how many fit, "is_whole", "broken"?: {"file", "line": from 1, "reason"}, "torn"?: file whose
        last line a power cut tore; the next decision cuts it off, "gone"?: lines that were rotated out for good}.
        """
        reply: Audited = {"lines": 0, "is_whole": True}
        previous: str | None = None  # what the first line of a rotated file names is gone
        parts = self._whole()
        for path, data in parts:
            part = _part(data)
            if part and path.endswith(_OLD):
                reply["gone"] = _gone(part)
            elif part and sha256(parts[0][1]) != part.get("sha256"):
                broken: Broken = {"file": path + _OLD, "line": 1, "reason": _LOST}
                return {**reply, "lines": 0, "is_whole": False, "broken": broken}
            *lines, torn = data.split(b"\n")
            if torn:
                reply["torn"] = path
            if not path.endswith(_OLD) and previous is None:
                previous = ""
            for number, line in enumerate(lines, 1):
                value = _value(line)
                reason = "it is no JSON object" if value is None else ""
                if value is not None and previous is not None and value.get("previous") != previous:
                    reason = _ALTERED if previous else "it names a line before it, and there is none"
                if reason:
                    return {**reply, "is_whole": False, "broken": {"file": path, "line": number, "reason": reason}}
                previous = sha256(line)
                reply["lines"] = reply["lines"] + 1
        return reply

    def _whole(self) -> list[tuple[str, bytes]]:
        with self._lock:
            found = [(path, self._files.read(path)) for path in (self._path + _OLD, self._path)]
        return [(path, data) for path, data in found if data]


_ALTERED = "it does not hold the hash of the line before: one of the two was altered, or a line between was removed"
_LOST = "this part is not what it was when it was rotated: it is missing, shortened or altered"


def _part(data: bytes) -> dict[str, Json]:
    """Return what the first line of a file tells of the part before it, {} when it tells of none."""
    first = _value(data.partition(b"\n")[0]) or {}
    part = first.get(ROTATED)
    return part if first.get("what") == ROTATED and isinstance(part, dict) else {}


def _gone(part: dict[str, Json]) -> int:
    return sum(count for count in (part.get("lines"), part.get("gone")) if isinstance(count, int))


def _value(line: bytes) -> dict[str, Json] | None:
    try:
        value = jsonl.loads(line, AUDIT_BYTES)
    except SchemaError:
        return None
    return value if isinstance(value, dict) else None
