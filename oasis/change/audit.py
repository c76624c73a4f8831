"""The audit log: one chained JSON line a decision, on flash, without contents that could be secret.

Each line holds the SHA-256 of the line before it ("previous"), so that a removed or altered line shows.
"""

from __future__ import annotations

import threading

from oasis.core import jsonl
from oasis.system.digest import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Callable, Plan
    from oasis.system.files import Files

# Rotated once to a second file of the same size: two years of daily changes.
AUDIT_BYTES = 128 * 1024


class Audit:
    """The log at one path. `unix_s()` gives the wall time."""

    def __init__(self, files: Files, path: str, unix_s: Callable[[], int]) -> None:
        self._files = files
        self._path = path
        self._unix_s = unix_s
        self._lock = threading.Lock()  # the chain needs the line before, whole

    def write(self, what: str, plan: Plan, role: str) -> None:
        """Add one decision: what happened to which plan by whose word.

        A line torn by a power cut is cut off first. Raises: StoreError.
        """
        with self._lock:
            self._write(what, plan, role)

    def _write(self, what: str, plan: Plan, role: str) -> None:
        data = self._files.read(self._path) or b""
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            self._files.cut(self._path, len(whole))
        last = whole.rstrip(b"\n").rpartition(b"\n")[2]
        line = jsonl.line(
            {
                "when_unix_s": self._unix_s(),
                "what": what,
                "plan": plan["id"],
                "plan_hash": plan["hash"],
                "role": role,
                "packages": sorted(plan["images"]),
                "services": [item["name"] for item in plan["services"]],
                "previous": sha256(last) if last else "",
            }
        )
        if len(whole) + len(line) > AUDIT_BYTES:
            self._files.move(self._path, self._path + ".1")
        self._files.append(self._path, line, True)
