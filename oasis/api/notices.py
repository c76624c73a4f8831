"""Notices: what happened while nobody looked, sent once to all listeners and kept for later readers.

The last of them are in RAM, so they outlive the daemon and not the router. A listener must not block: who tells may
hold the lock of a change that is being made. Knows no front-end; texts are masked before they are kept.

Notice: {"id": xid, "when_unix_s", "kind": one of KINDS, "text", "chat"?, "change"?, "plan"?, "schedule"?}
"""

from __future__ import annotations

import threading

from oasis.core import clean, jsonl
from oasis.errors import OasisError, SchemaError

if False:  # annotations only
    from typing import Any, Literal

    from oasis.api.parts import Services
    from oasis.api.shapes import Notice
    from oasis.api.shapes import Notices as NoticeList
    from oasis.change.shapes import Record
    from oasis.core.shapes import Callable
    from oasis.system.files import Files

KINDS = ("change_applied", "change_rolled_back", "change_expired", "budget_reached", "schedule_result",
         "schedule_waiting", "event", "doctor", "part_missing", "parts_waiting", "plan_dropped",
         "settings_wrong")  # fmt: skip
# What a page shows and a phone can hold at once; older ones are in the history of changes anyway.
KEPT = 50
TEXT_CHARS = 500
_FIELDS: tuple[Literal["chat", "change", "plan", "schedule"], ...] = ("chat", "change", "plan", "schedule")


class Notices:
    """The notices of one router root, in a file at `path` in RAM; `hide(text)` masks secrets."""

    def __init__(
        self, files: Files, path: str, new_id: Callable[[], str], unix_s: Callable[[], int],
        hide: Callable[[str], str], log: Callable[[str], object],
    ) -> None:  # fmt: skip
        self._files = files
        self._path = path
        self._new_id = new_id
        self._unix_s = unix_s
        self._hide = hide
        self._log = log
        self._lock = threading.Lock()
        self._listeners: list[Callable[[Notice], object]] = []
        data = files.read(path)
        try:
            value = jsonl.loads(data) if data else []
        except SchemaError:
            value = []  # of RAM, and no more than a help to remember
        found: list[Any] = value if isinstance(value, list) else []
        kept: list[Any] = [one for one in found if isinstance(one, dict) and "id" in one]
        self._kept: list[Notice] = kept

    def tell(self, kind: str, text: str, **fields: str) -> Notice:
        """Keep a notice and hand it to who listens; `fields` are ids of what it is about."""
        assert kind in KINDS, kind
        shown = self._hide(clean.line(text))[:TEXT_CHARS]
        notice: Notice = {"id": self._new_id(), "when_unix_s": self._unix_s(), "kind": kind, "text": shown}
        for name in _FIELDS:
            if fields.get(name):
                notice[name] = fields[name]
        with self._lock:
            self._kept = [*self._kept[1 - KEPT :], notice]
            listeners = list(self._listeners)
            self._store()
        for listener in listeners:
            listener(notice)
        return notice

    def missing(self, texts: list[str]) -> None:
        """Tell of parts that are missing or refused, of each once; of those that are back nothing is said any more."""
        texts = [self._hide(clean.line(text))[:TEXT_CHARS] for text in texts]
        with self._lock:
            self._kept = [one for one in self._kept if one["kind"] != "part_missing" or one["text"] in texts]
            known = [one["text"] for one in self._kept]
            self._store()
        for text in texts:
            if text not in known:
                self.tell("part_missing", text)

    def forget(self, kind: str) -> None:
        """Drop the notices of a kind, of what is over."""
        with self._lock:
            if any(one["kind"] == kind for one in self._kept):
                self._kept = [one for one in self._kept if one["kind"] != kind]
                self._store()

    def changed(self, record: Record) -> None:
        """Tell of a change that has a new state; `record` is that of the journal."""
        kind, words = _STATES.get(str(record["state"]), ("", ""))
        if kind == "change_applied" and record.get("undoes") and not record.get("run"):
            kind, words = "change_expired", "Its time is over, and it is undone"  # nobody else undoes without a run
        change, state = str(record["id"]), record["state"]
        has_told = False
        with self._lock:
            for number, one in enumerate(self._kept):
                if one.get("change") != change:
                    continue
                has_told = has_told or one["kind"] == kind
                if state != "applied" and one["text"].startswith(_WAITS + ": "):
                    # It waited, and now says how that ended; who listens has heard of the change itself.
                    ended = "A change is kept" if state == "confirmed" else "A change was applied"
                    settled = one.copy()
                    settled["text"] = ended + one["text"][len(_WAITS) :]
                    self._kept = [*self._kept[:number], settled, *self._kept[number + 1 :]]
                    self._store()
        if not kind or (kind != "change_rolled_back" and has_told):
            return  # more time, a proof, Keep: no news of the change itself
        words = _WAITS if state == "applied" else words
        reason = " (%s)" % record["reason"] if kind == "change_rolled_back" and record.get("reason") else ""
        text = "%s%s: %s" % (words, reason, record.get("summary") or change)
        self.tell(kind, text, change=change, chat=str(record.get("chat", "")))

    def _store(self) -> None:
        try:
            self._files.replace(self._path, jsonl.line(self._kept))
        except OasisError as error:  # RAM is full: who listens hears of it all the same
            self._log("notices are not kept: %s" % error.message)

    def expiry_failed(self, record: Record, words: str) -> None:
        """Tell that a change whose time is over is still there."""
        text = "A change should have ended by now, and %s: %s" % (words, record.get("summary") or record["id"])
        self.tell("change_expired", text, change=str(record["id"]), chat=str(record.get("chat", "")))

    def listen(self, listener: Callable[[Notice], object]) -> None:
        """Have every notice from now on handed to `listener(notice)`, which must not block."""
        with self._lock:
            self._listeners.append(listener)

    def ignore(self, listener: Callable[[Notice], object]) -> None:
        """Hand no more notices to a listener."""
        with self._lock:
            self._listeners = [one for one in self._listeners if one != listener]

    def notice_list(self, since: str = "") -> NoticeList:
        """Return the notices, newest last, or those after the one with the id `since`.

        Shape: {"notices": [Notice], "newest": id of the newest there is, "" for none}.
        """
        with self._lock:
            kept = self._kept
        return {"notices": [one for one in kept if one["id"] > since], "newest": kept[-1]["id"] if kept else ""}


_WAITS = "A change is applied, and waits for your Keep"
_STATES = {
    "applied": ("change_applied", "A change is applied"),
    "confirmed": ("change_applied", "A change is applied"),
    "rolled_back": ("change_rolled_back", "A change was rolled back"),
    "rollback_failed": ("change_rolled_back", "A change could NOT be rolled back, look at the router"),
}


def gather(kit: Services) -> Notices:
    """Return the notices of a daemon; `kit` is that of parts.py."""
    path = kit.root.run_folder + "/notices.json"
    return Notices(kit.files, path, kit.new_id, kit.clock.unix_s, kit.redactor.text, kit.log)
