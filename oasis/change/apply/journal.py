"""The journal of changes on flash: what makes undoing possible without Python and after a power cut.

    state/pending/       the one change that is not final: `list`, `files/`, `deadline`; read by restore.sh and guard.sh
    state/changes/ID/    its record.json, before/ and after/ images; kept for undo

Everything the undo needs is synced before `prepare` returns; `list` is written last, so a list is a whole list. Knows
nothing of plans or services beyond their names.
"""

from __future__ import annotations

import os
import threading

from oasis.core import jsonl
from oasis.core.ids import xid_s
from oasis.errors import ApplyError, SchemaError, StoreError, UsageError
from oasis.system.digest import sha256
from oasis.uci import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oasis.change.shapes import Any, Callable, Images, LineDiff, Record
    from oasis.system.files import Files

# Records kept for undo; a record of a stock package is about 10 kB.
HISTORY = 30
# In addition, records of what nobody approved: whatever a model does at once, what the owner approved stays undoable.
AUTOMATIC = 15
# Free flash that a change leaves, after twice the touched files (the images and the copies ready to be renamed).
SPARE_BYTES = 64 * 1024
RESTORED = "the time was over and the earlier settings were restored"
_HEAD_BYTES = 4096  # of a list: its first lines say what it is about
_IMAGES = ("before", "after")
# Our ids have 20, upstream's fewer than this.
_ID_CHARS = 64


class Journal:
    """The pending change and the history below one state folder.

    `free_bytes(path)` tells the free space of a file system.
    """

    def __init__(self, files: Files, state_folder: str, free_bytes: Callable[[str], int]) -> None:
        self._files, self._free_bytes = files, free_bytes
        self.pending, self._history = state_folder + "/pending", state_folder + "/changes"
        self._lock = threading.Lock()
        self._ends: dict[str, bool] = {}  # change: whether it is ending; only this journal writes records
        self._looking = threading.Lock()
        # The images of the newest change as they were written: path: (stamp of its file, the bytes).
        self._newest: dict[str, tuple[object, bytes]] = {}

    def prepare(self, record: Record, images: Images, modes: dict[str, int], deadline_up_s: int) -> None:
        """Put record, images and restore copies with their modes on flash.

        Raises: ApplyError without space, StoreError when the flash refuses; nothing is pending then.
        """
        self.add(record, images)
        self._files.folder(self.pending + "/files")
        for name, (before, _) in images.items():
            self._files.replace(self.pending + "/files/" + name, before, modes[name])
        self.set_deadline(deadline_up_s)
        lines = ["oasis-restore 1", "change %s" % record["id"]]
        for name, (before, after) in images.items():
            sums = sha256(before), sha256(after)
            lines.append("file %o %s %s %s /etc/config/%s" % (modes[name], *sums, name, name))
        for one in record.get("init", []):
            words = "enabled" if one["enabled"] else "disabled", "running" if one["running"] else "stopped"
            lines.append("init %s %s %s" % (one["name"], *words))
        lines += ["service %s %s" % (item["name"], item["action"]) for item in record["services"]]
        self._files.replace(self.pending + "/list", ("\n".join(lines) + "\nend\n").encode("ascii"))

    def add(self, record: Record, images: Images) -> None:
        """Put a change into the history, with its images; the record is written last.

        Raises: ApplyError without space, StoreError when the flash refuses.
        """
        need = SPARE_BYTES + 2 * sum(len(before) + len(after) for before, after in images.values())
        self._files.folder(self._history)
        free = self._free_bytes(self._history)
        if free < need:
            words = "only %d kB of flash are free and %d kB are needed to make this change undoable"
            hint = "delete old chats or packages; nothing was changed"
            raise ApplyError(words % (free // 1024, need // 1024), hint)
        self._newest = {}
        for side, which in enumerate(_IMAGES):
            folder = "%s/%s/%s" % (self._history, record["id"], which)
            self._files.folder(folder)
            for name, pair in images.items():
                path = folder + "/" + name
                self._files.replace(path, pair[side])
                self._newest[path] = (self._files.stamp(path), pair[side])
        self.write(record)

    def set_deadline(self, up_s: int) -> None:
        """Write the deadline that the guard reads: seconds of uptime."""
        self._files.replace(self.pending + "/deadline", b"%d\n" % up_s)

    def keep(self, change: str, moved: Callable[[], list[str]], is_final: bool = True) -> str:
        """Forget the pending change because it is kept; return "", or why it cannot be kept any more.

        Nobody else can restore it meanwhile. `moved()` gives the names of files that are not as planned. Not final: it
        is only looked whether it could be kept.
        """
        if not self.is_pending():
            return RESTORED
        lock = self._files.claim(self.pending + "/list")
        try:
            if lock < 0 or not self.is_pending():
                return RESTORED
            waiting = _change_of(os.pread(lock, _HEAD_BYTES, 0))
            if waiting != change:
                return "another change, %s, waits in its place" % waiting
            names = moved()
            if names:
                return "%s was changed by somebody else meanwhile" % ", ".join(names)
            try:
                if is_final:
                    self.clear()
            except StoreError:
                if self.is_pending():  # else only the syncing failed: a power cut may still roll back, which is safe
                    raise
            return ""
        finally:
            if lock >= 0:
                os.close(lock)

    def is_pending(self) -> bool:
        """Return whether files of an unfinished change wait to be restored."""
        return "list" in self._files.names(self.pending)

    def pending_id(self) -> str:
        """Return the id of the pending or just restored change, "" when there is none."""
        found = [_change_of(self._files.read(self.pending + "/" + name) or b"") for name in ("list", "restored")]
        return found[0] or found[1]

    def clear(self) -> None:
        """Forget the pending change; `list` goes first, and with it the guard."""
        if not self._files.names(self.pending):
            return
        for name in ("list", "restored"):
            self._files.forget(self.pending + "/" + name)
        self._files.remove(self.pending + "/deadline")
        for name in self._files.names(self.pending + "/files"):
            self._files.remove(self.pending + "/files/" + name)

    def abandon(self, change: str) -> None:
        """Forget a change whose preparation failed: nothing of it was committed."""
        self.clear()
        self._remove(change)

    def keep_foreign(self, change: str) -> list[str]:
        """Move the copies that restore.sh kept of foreign edits into the record's folder; return their paths."""
        paths = []
        folder = self._history + "/" + change + "/kept"
        for name in self._files.names(self.pending + "/kept"):
            old, new = self.pending + "/kept/" + name, folder + "/" + name
            try:
                self._files.folder(folder)
                self._files.move(old, new)
                paths.append(new)
            except StoreError:
                paths.append(old)  # on a full flash it stays where it is until the next rollback
        return paths

    def write(self, record: Record) -> None:
        """Write a record in place of its older version."""
        folder = self._history + "/" + str(record["id"])
        self._files.folder(folder)
        with self._looking:
            self._ends.pop(str(record["id"]), None)
            self._files.replace(folder + "/record.json", jsonl.line(record))
            self._ends[str(record["id"])] = is_ending(record)

    def update(self, change: str, **fields: object) -> Record:
        """Change fields of a record that is in the history, "" takes one out; return the record."""
        with self._lock:
            old = self.read(change)
            every: dict[str, Any] = {**old, **fields}
            record: Record = {key: value for key, value in every.items() if key not in fields or value != ""}  # type: ignore
            if record != old:
                self.write(record)
            return record

    def read(self, change: str) -> Record:
        """Return a record.

        Raises: UsageError when there is none.
        """
        is_id = change.isascii() and change.isalnum() and len(change) <= _ID_CHARS
        data = self._files.read(self._history + "/" + change + "/record.json") if is_id else None
        try:
            value = jsonl.loads(data) if data is not None else None
        except SchemaError as error:
            raise UsageError("the record of change %s is damaged: %s" % (change, error.message))
        if not isinstance(value, dict):
            raise UsageError("there is no change %r" % change[:_ID_CHARS], "list them with: oasis changes")
        return value  # type: ignore[return-value]  # written by us

    def folder(self, change: str) -> str:
        """Return the folder of a change: what else is in it goes with the record."""
        return "%s/%s" % (self._history, change)

    def image(self, change: str, which: str, name: str) -> bytes:
        """Return the `before` or `after` image of a package."""
        path = "%s/%s/%s/%s" % (self._history, change, which, name)
        stamp, data = self._newest.get(path, (None, None))
        if data is None or self._files.stamp(path) != stamp:
            data = self._files.read(path)
        if data is None:
            raise UsageError("change %s has no %s image of %s" % (change, which, name), "it cannot be undone by itself")
        return data

    def images(self, change: str, name: str) -> tuple[bytes, bytes]:
        """Return both images of a package.

        Raises: UsageError when one of them is not there.
        """
        return self.image(change, "before", name), self.image(change, "after", name)

    def diff(self, record: Record) -> list[LineDiff]:
        """Return the line differences of a change's packages, from its images.

        Secrets are masked; a package without both images is left out.
        """
        from oasis.change import difference  # an idle daemon does without

        found: list[LineDiff] = []
        for name in record["packages"]:
            try:
                before, after = (model.parse(data, name) for data in self.images(record["id"], name))
            except UsageError:
                continue
            found.append({"package": name, "lines": difference.diff_lines(before, after, name)})
        return found

    def records(self) -> list[Record]:
        """Return all readable records, newest first."""
        return list(filter(None, map(self._readable, reversed(self._files.names(self._history)))))

    def _readable(self, change: str) -> Record | None:
        try:
            return self.read(change)
        except UsageError:
            return None  # torn by a power cut before its change began

    def ending(self) -> list[Record]:
        """Return the records of changes that will be undone by themselves, newest first; others are read once."""
        found = []
        with self._looking:
            for name in reversed(self._files.names(self._history)):
                if self._ends.get(name, True):
                    record = self._readable(name)
                    self._ends[name] = record is None or is_ending(record)
                    if record is not None and self._ends[name]:
                        found.append(record)
        return found

    def next_s(self) -> int:
        """Return the second after the newest change's: ids from then on sort behind it, whatever the clock says."""
        return max([xid_s(name) for name in self._files.names(self._history)], default=-1) + 1

    def trim(self) -> None:
        """Remove the oldest records beyond HISTORY and AUTOMATIC, but none that still has to end by itself.

        Each kind counts by itself: automatic changes push out none that the owner approved.
        """
        names = self._files.names(self._history)
        if len(names) <= AUTOMATIC:
            return
        records = {name: self._readable(name) for name in names}
        automatic = [name for name, record in records.items() if record and record.get("automatic")]
        approved = [name for name in names if name not in automatic]
        for name in [*automatic[:-AUTOMATIC], *approved[:-HISTORY]]:
            record = records[name]
            if record is None or not is_ending(record):
                self._remove(name)

    def _remove(self, change: str) -> None:
        folder = self._history + "/" + change
        for inner in ("before", "after", "kept"):
            for item in self._files.names(folder + "/" + inner):
                self._files.remove(folder + "/" + inner + "/" + item)
            self._files.remove_folder(folder + "/" + inner)
        for name in self._files.names(folder):
            self._files.remove(folder + "/" + name)
        self._files.remove_folder(folder)


def chosen(records: list[Record], since_unix_s: int = 0, chat: str = "", package: str = "") -> list[Record]:
    """Return the records made since a time, in a chat, to a package; no argument leaves none out."""
    found = [one for one in records if one["when_unix_s"] >= since_unix_s and chat in ("", one["chat"])]
    return [one for one in found if not package or package in one["packages"]]


def _change_of(pending: bytes) -> str:
    """Return the id of the change that a list is about."""
    return (b"\n" + pending).partition(b"\nchange ")[2].partition(b"\n")[0].decode("ascii", "replace")


def unknown(change: str, when_unix_s: int) -> Record:
    """Return the record of a change of which nothing more is known."""
    return {
        "id": change, "run": "", "chat": "", "message": "", "plan_hash": "", "summary": "", "words": [],
        "risk": "risky", "services": [], "packages": [], "state": "prepared", "when_unix_s": when_unix_s, "after": {},
    }  # fmt: skip


def is_ending(record: Record) -> bool:
    """Return whether a change stands and will be undone by itself."""
    return bool(record.get("until_unix_s")) and is_standing(record) and not record.get("expiry")


def is_standing(record: Record) -> bool:
    """Return whether a change was kept and is not undone."""
    return record["state"] == "confirmed" and not record.get("undone_by")
