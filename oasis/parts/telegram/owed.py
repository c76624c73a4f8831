"""What the chats of Telegram wait for: messages not answered yet, a plan that waits, an answer that could not be sent.

After a kill the next start tells each chat what was lost (talk.py). In RAM with each change, which outlives the
daemon; on flash only while something waits: a message behind another, a plan, an answer that was not taken. No text of
a message is kept, only its number in the chat: an answer to it shows which one is meant. Shape: Open in shapes.pyi.
"""

from __future__ import annotations

import os
import threading

from oasis.core import jsonl
from oasis.errors import OasisError, SchemaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from oasis.parts.telegram.shapes import Callable, Json, Open, PlanName, TypeGuard
    from oasis.system.files import Files

    Name = Literal["is_queued", "plan", "is_unsent"]

# More than all chats of a router have open at once; a file that was tampered with tells no more either.
MOST = 64
_WAITS = ("is_queued", "plan", "is_unsent")


class Owed:
    """What is open in the chats of one bot; `ram` and `flash` are paths."""

    def __init__(self, files: Files, ram: str, flash: str, log: Callable[[str], object]) -> None:
        self._files = files
        self._ram, self._flash = ram, flash
        self._log = log
        self._lock = threading.Lock()
        self._number = 0
        self._open: dict[int, Open] = {}
        data = files.read(flash)
        # RAM has the newest, where the router was not off meanwhile.
        self._lost = _entries(files.read(ram) or data)
        self._on_flash = data or b""

    def begin(self, chat: int, message: int, is_queued: bool) -> int:
        """Note a message that is not answered yet; return the number of its entry."""
        with self._lock:
            self._number += 1
            entry: Open = {"chat": chat, "message": message}
            if is_queued:
                entry["is_queued"] = True
            self._open[self._number] = entry
            self._keep()
            return self._number

    def note(self, number: int, name: Name, value: object) -> None:
        """Note something about an entry, or forget it with None; one that is over stays over."""
        with self._lock:
            entry = self._open.get(number)
            if entry is None or entry.get(name) == value:
                return
            entry.pop(name, None)
            if value is not None:
                entry[name] = value  # type: ignore[typeddict-item]
            self._keep()

    def end(self, number: int) -> None:
        """Forget an entry: it was answered, or its owner stopped it."""
        with self._lock:
            if self._open.pop(number, None) is not None:
                self._keep()

    def plan(self, chat: int) -> PlanName | None:
        """Return the plan that a chat waits for."""
        with self._lock:
            return next((one["plan"] for one in self._open.values() if one["chat"] == chat and one.get("plan")), None)

    def untold(self) -> list[Open]:
        """Return what was lost or could not be sent, and its chat does not know yet."""
        with self._lock:
            return [*self._lost, *(one for one in self._open.values() if one.get("is_unsent"))]

    def told(self, entry: Open) -> None:
        """Forget an entry that its chat knows now."""
        with self._lock:
            self._lost = [one for one in self._lost if one is not entry]
            self._open = {number: one for number, one in self._open.items() if one is not entry}
            self._keep()

    def forget(self, chat: int) -> None:
        """Forget all of a chat."""
        with self._lock:
            self._lost = [one for one in self._lost if one["chat"] != chat]
            self._open = {number: one for number, one in self._open.items() if one["chat"] != chat}
            self._keep()

    def _keep(self) -> None:
        entries = [*self._lost, *self._open.values()][-MOST:]
        is_waiting = bool(self._lost) or any(one.get(name) for one in entries for name in _WAITS)
        data = jsonl.line(entries)
        flash = data if is_waiting else b""
        try:
            self._files.replace(self._ram, data)
            if flash == self._on_flash:
                return
            if flash:
                self._files.folder(os.path.dirname(self._flash))
                self._files.replace(self._flash, flash)
            else:
                self._files.remove(self._flash)
            self._on_flash = flash
        except OasisError as error:  # a full flash loses what a chat would learn after a kill, and no answer
            self._log("telegram: what waits is not kept: %s" % error.message)


def _entries(data: bytes | None) -> list[Open]:
    """Return the entries of a file that have their shape."""
    try:
        value = jsonl.loads(data) if data else []
    except SchemaError:
        return []
    return [one for one in value[:MOST] if _is_entry(one)] if isinstance(value, list) else []


def _is_entry(one: Json) -> TypeGuard[Open]:
    if not isinstance(one, dict) or not all(type(one.get(name)) is int for name in ("chat", "message")):
        return False
    plan = one.get("plan", {})
    return isinstance(plan, dict) and all(isinstance(value, str) for value in plan.values())
