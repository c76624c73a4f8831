"""All chats of a router, wherever they lie: one door for what is done with a chat besides talking in it.

    CHATS/ID.jsonl      chats            CHATS/archive/   archived ones (archive.py)
    CHATS/blobs/        documents and images, by their hash

Knows no front-end and no run: the caller sees to it that a chat has one writer at a time.

Quota: without a setting it is the smaller of 2 MiB and a tenth of what the file system of the chats has for them;
`quota` in KiB says something else, for a disk on USB. When it is used up the oldest archived chats go, never silently.
Nothing archived left: models are asked no more, for their answers are what is long; the built-in service goes on in a
small reserve, so that a router can be operated. Reading always goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from oasis.chats import index, search
from oasis.chats.archive import Archive, whole_lines
from oasis.chats.index import Index
from oasis.config.settings import SYNC
from oasis.core import bookmarks
from oasis.core.blobs import Blobs
from oasis.core.ids import looks_like_id
from oasis.core.store import Chat, Store
from oasis.errors import StoreError, UsageError
from oasis.system.digest import sha256
from oasis.system.files import Files
from oasis.system.root import Machine

if False:  # annotations only
    from typing import TypeVar

    from oasis.chats.shapes import ChatPage, Hide, IndexEntry, Item, Place, Results
    from oasis.core.shapes import Message, Page

    T = TypeVar("T")

# A list shows a line; what is longer is a text.
TITLE_CHARS = 200
# Which of upstream's chats are here already; {their id: ours}.
TAKEN = "/taken_over.json"
QUOTA_BYTES = 2 * 1024 * 1024
SHARE = 10
# An exchange with a few calls of tools; a longer one may go beyond the quota once.
EXCHANGE_BYTES = 16 * 1024
# Of the quota, and beyond it, for the built-in service: of two mebibytes a hundred of its turns.
RESERVE_PART = 8


class Collection:
    """The chats of one folder. `number(option, default)` gives a setting.

    `hide(text, inputs)` gives a text without secrets (index.py); `scratch` is a folder in RAM; `log(text)` tells
    whoever reads the log. `vectors` is the folder of the vectors of messages (parts/memory/said.py), which are deleted
    together with them.
    """

    def __init__(
        self, machine: Machine, store: Store, number: Callable[[str, int], int], hide: Hide,
        log: Callable[[str], None], late: Late | None = None, *, folder: str, scratch: str,
    ) -> None:  # fmt: skip
        self.store = store
        self.vectors = folder + "/vectors"
        self._files = machine.files
        self._folder = folder
        self._blobs = folder + "/blobs"
        self._number = number
        self._hide = hide
        self._unix_s = machine.clock.unix_s
        self._free_bytes = machine.free_bytes
        self._log = log
        self._late = late
        self._lock = threading.Lock()  # one archived chat is unpacked at a time
        self._archive = Archive(
            self._files, store, folder + "/archive", scratch + "/unpacked", lambda: number("archive_gzip", 1) != 0
        )
        self._index = Index(self._files, scratch + "/chats", hide, self._archive.pieces, log)

    def settle(self) -> None:
        """Make sure, before anything else, that the names of all chats are on flash; clear away what a crash left."""
        for folder in (self._folder, self._folder + "/archive"):
            names = self._files.names(folder)
            for name in names:
                if name.endswith(".new"):
                    self._files.remove(folder + "/" + name)
            if names:
                self._files.sync_folder(folder + "/" + names[0])

    def close(self) -> None:
        """Sync what the setting `sync` left for later."""
        if self._late is not None:
            self._late.settle()

    def open(self, name: str, heads: list[str] | None = None) -> Chat:
        """Return a chat to write to, with the threads of `heads` (store.py); an archived one is brought back.

        Raises: UsageError when there is none of that name, or no such message; StoreError.
        """
        if not self.store.has(name):
            self._archive.take(name)
        return self.store.open(name, heads)

    def items(self) -> list[Item]:
        """Return what a list tells of each chat, the one last used first."""
        found = [self._item(name, entry) for name, entry in self._index.entries(self._places()).items()]
        return sorted(found, key=lambda item: (-item["updated_unix_s"], item["id"]))

    def _item(self, name: str, entry: IndexEntry) -> Item:
        item: Item = {"id": name, "title": index.title(entry, self._hide), "exchanges": entry["exchanges"],
                      "updated_unix_s": entry["updated_unix_s"], "size": entry["size"],
                      "archived": entry["archived"]}  # fmt: skip
        return {**item, "damaged": entry["damaged"]} if entry["damaged"] else item

    def page(self, name: str, before: str = "", limit: int = 0) -> ChatPage:
        """Return a page of a chat, archived or not (core/store.py), with its id and what a list tells of it.

        Raises: UsageError when there is none of that name, or no message `before`; StoreError.
        """
        found: Page = self.look(name, lambda chat: chat.page(before, limit))
        return {**self.item(name), **found}

    def item(self, name: str) -> Item:
        """Return what a list tells of one chat.

        Raises: UsageError when there is none of that name.
        """
        entry = self._index.entries({name: self._place(name)}, is_all=False).get(name)
        return self._item(name, entry) if entry else {"id": name, "title": ""}

    def rename(self, name: str, title: str) -> None:
        """Give a chat a title, its inner whitespace as typed; "" takes it back to the first words.

        Raises: UsageError for a title that is none, or no chat; StoreError.
        """
        title = title.strip()
        if len(title) > TITLE_CHARS or "\n" in title or "\r" in title:
            raise UsageError("a title is one line of at most %d characters" % TITLE_CHARS, "shorten it")
        chat = self.open(name)
        chat.note({"type": "title", "title": title, "by": "owner"})
        chat.flush()

    def archive(self, name: str, is_archived: bool) -> None:
        """Archive a chat, or bring it back; what is so already stays so.

        Raises: UsageError when there is none of that name; StoreError.
        """
        if not is_archived:
            self.open(name)
        elif not self._place(name)[1]:
            self._archive.put(name, self._unix_s())

    def delete(self, name: str) -> None:
        """Delete a chat, and the documents that were in no other, for good.

        Raises: UsageError when there is none of that name; StoreError.
        """
        self._place(name)
        blobs = named(self._pieces(name)) if self._files.names(self._blobs) else set()
        self._forget_vectors(name)
        # The archive first: a power cut in between must not bring an older state of the chat back.
        self._archive.remove(name)
        if self.store.has(name):
            self.store.delete(name)
        # A document that the deleted chat did not name is never touched: another may have stored it for a message.
        blobs &= {file.partition(".")[0] for file in self._files.names(self._blobs)}
        for _, blocks in self.blocks():
            if not blobs:
                return
            for block in blocks:
                blobs = {digest for digest in blobs if digest.encode() not in block}
        for file in self._files.names(self._blobs):
            if file.partition(".")[0] in blobs:
                self._files.forget(self._blobs + "/" + file)

    def forget(self, message: str, chat: str = "") -> str:
        """Take what one message says off the flash; return its chat, which is looked for when it is not given.

        Raises: UsageError when there is no such message; StoreError, and nothing is forgotten.
        """
        name = chat or self.chat_of(message)
        is_archived = self._place(name)[1]
        self._forget_vectors(name, message)
        self.open(name).forget(message)
        self._index.drop(name)
        if is_archived:
            self._archive.put(name, self._unix_s())
        return name

    def chat_of(self, message: str) -> str:
        """Return the chat that holds a message.

        Raises: UsageError when none does.
        """
        for name in self._places():
            if search.has_message(self._pieces(name), message):
                return name
        raise UsageError("no chat has a message %r" % message, "its id stands in: oasis show CHAT")

    def find(self, headish: str) -> tuple[str, str]:
        """Return the chat and the message that a headish names; of bookmarks called the same, that of the newest chat.

        Raises: UsageError when nothing is called so.
        """
        if looks_like_id(headish):
            return self.chat_of(headish.lower()), headish.lower()
        for name in self._places():
            found = self.look(name, lambda chat: bookmarks.table(chat.outline())).get(headish)
            if found:
                return name, found
        raise UsageError("there is no message and no bookmark %r" % headish, "list them with: oasis branch")

    def head(self, name: str, headish: str) -> str:
        """Return the id that a headish names in a chat.

        Raises: UsageError when nothing is called so, or there is no such chat; StoreError.
        """
        if looks_like_id(headish):
            return headish.lower()
        return bookmarks.resolve(headish, self.look(name, lambda chat: bookmarks.table(chat.outline())))

    def thread_of(self, message: str, chat: str = "") -> dict[str, Message]:
        """Return a message and what it continues in its chat, by their ids; the chat is looked for when not given.

        Raises: UsageError when no chat has it; StoreError.
        """
        return self.look(chat or self.chat_of(message), lambda chat: chat.load([message]).messages)

    def look(self, name: str, work: Callable[[Chat], T]) -> T:
        """Return what `work(chat)` does, reading alone; an archived chat stays archived.

        Raises: UsageError when there is none of that name; StoreError; what work raises.
        """
        if self.store.has(name):
            return work(self.store.chat(name))
        with self._lock:
            return work(self._archive.open(name))

    def search(self, text: str, limit: int = 0) -> Results:
        """Search all chats, archived too; see search.py.

        Raises: UsageError for words that cannot be looked for.
        """
        wanted = search.terms(text)
        limit = min(limit, search.RESULTS_MAX) if limit > 0 else search.RESULTS
        return search.search(self.blocks(), wanted, limit, lambda words: self._hide(words, []))

    def blocks(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Yield all chats, archived ones behind the others, with their bytes in blocks of whole lines."""
        return ((name, whole_lines(self._pieces(name))) for name in self._places())

    def vectors_of(self, name: str) -> str:
        """Return the file of the vectors of a chat."""
        return self.vectors + "/" + name + ".jsonl"

    def _forget_vectors(self, name: str, message: str = "") -> None:
        """Remove the vector of a message, or all of a chat."""
        path = self.vectors_of(name)
        data = self._files.read(path)
        if data is None:
            return
        mark = message.encode()
        kept = [line + b"\n" for line in data.split(b"\n") if line and mark not in line] if message else []
        if kept:
            self._files.rewrite(path, kept)
        else:
            self._files.forget(path)

    def blobs(self) -> Blobs:
        """Return the documents and images of all chats."""
        return Blobs(self._files, self._blobs, sha256)

    def make_room(self, needed: int = 0) -> list[str]:
        """Make room for a turn in the quota; return a note for the owner about archived chats that were deleted.

        Raises: StoreError when it does not fit; nothing is removed then.
        """
        self._files.folder(self._folder)  # of which the disk is asked
        used, given = self.used_bytes(), self._number("quota", 0)
        limit = limit_bytes(given, used, self._free_bytes(self._folder))
        needed += EXCHANGE_BYTES
        if used + needed <= limit:
            return []
        entries = self._index.entries(self._places())
        archived = [name for name in entries if entries[name]["archived"]]
        chosen = []
        for name in sorted(archived, key=lambda name: (entries[name]["updated_unix_s"], name)):
            if used + needed > limit:
                chosen.append(name)
                used -= entries[name]["size"]
        if used + needed > limit:
            if not given and limit < EXCHANGE_BYTES:
                why = "the flash is full: a tenth of what it has for chats is %d KiB" % (limit // 1024)
                raise StoreError(
                    why, "delete chats, documents or packages, or keep chats on USB (oasis.main.chat_path)"
                )
            why = f"there is no room for {-(-needed // 1024)} KiB: the chats take {-(-used // 1024)} KiB"
            why += f", and {limit // 1024} KiB are allowed"
            raise StoreError(why, "delete or archive chats, or raise the option quota of oasis.main")
        notes = []
        for name in chosen:
            title = index.title(entries[name], self._hide)
            self.delete(name)
            notes.append('the archived chat "%s" (%s) was deleted: chats have no more room' % (title, name))
            self._log(notes[-1])
        return notes

    def has_reserve(self, needed: int = 0) -> bool:
        """Return whether an exchange with the built-in service fits where `make_room` found no room for a model."""
        used, free = self.used_bytes(), self._free_bytes(self._folder)
        limit = limit_bytes(self._number("quota", 0), used, free)
        reserve = limit // RESERVE_PART
        return used + needed + EXCHANGE_BYTES <= limit + reserve and free >= 2 * reserve

    def used_bytes(self) -> int:
        """Return what all chats and their documents take: asked with each turn, so it loads nothing."""
        found = 0
        for folder in (self._folder, self._folder + "/archive", self._blobs):
            names = [name for name in self._files.names(folder) if name not in ("archive", "blobs", "vectors")]
            found += sum(self._files.size(folder + "/" + name) for name in names)
        return found

    def _places(self) -> dict[str, Place]:
        """Return {id: (path, is archived)}, the newest first, archived ones behind the others."""
        found: dict[str, Place] = {name: (self.store.path(name), False) for name in self.store.names()}
        found.update({name: (path, True) for name, path in self._archive.paths().items()})
        return found

    def _place(self, name: str) -> Place:
        """Return (path, is archived) of a chat; raise UsageError when there is none of that name."""
        is_archived = not self.store.has(name)
        path = self._archive.paths().get(name) if is_archived else self.store.path(name)
        if path is None:
            raise UsageError("there is no chat %r" % name, "list them with: oasis list")
        return path, is_archived

    def _pieces(self, name: str) -> Iterator[bytes]:
        """Return the bytes of a chat in pieces, none of one that is gone."""
        path = self.store.path(name) if self.store.has(name) else self._archive.paths().get(name, "")
        return self._archive.pieces(path) if path else iter(())


def limit_bytes(quota_kib: int, used: int, free: int) -> int:
    """Return how many bytes the chats may take; `quota_kib` is the owner's setting, 0 for none."""
    return quota_kib * 1024 if quota_kib else min(QUOTA_BYTES, (used + free) // SHARE)


def named(pieces: Iterator[bytes]) -> set[str]:
    """Return every hash that the bytes of a chat hold; more than it means does no harm."""
    import re  # with the first chat that is deleted: an idle daemon must not load it

    return {found.decode() for block in whole_lines(pieces) for found in re.findall(rb"[0-9a-f]{64}", block)}


# The setting `sync` says which writes may reach the flash later than they are answered.
#
#     exchange   none: the owner's message, what stands before a plan, and the end of an exchange are on flash when they
#                are answered. A power cut takes nothing that was acknowledged.
#     interval   all are synced together, every `sync_interval_s` seconds when there are some. A power cut takes at most
#                what was said in those seconds.
#     exit       Oasis syncs when it stops; in between, the kernel decides (half a minute on most file systems). A power
#                cut takes what the kernel had not written.
#
# In each, a plan is applied only when its exchange is on flash (Chat.secure), and the end of the daemon alone takes
# nothing, for what is written is the kernel's.
# The words are SYNC of config/settings.py.


class Late:
    """Syncs what was written without: `late(path)` takes note of it."""

    def __init__(self, files: Files, mode: str, interval_s: int, log: Callable[[str], None]) -> None:
        self._files = files
        self._interval_s = interval_s if mode == "interval" else 0
        self._log = log
        self._lock = threading.Lock()
        self._paths: set[str] = set()
        self._timer: threading.Timer | None = None

    def __call__(self, path: str) -> None:
        """Take note of a file that was written and not synced."""
        with self._lock:
            self._paths.add(path)
            if self._interval_s and self._timer is None:
                self._timer = threading.Timer(self._interval_s, self.settle)
                self._timer.daemon = True
                self._timer.start()

    def settle(self) -> None:
        """Sync all of them now; what cannot be synced is logged and tried again with the next."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            paths, self._paths, self._timer = self._paths, set(), None
        for path in sorted(paths):
            try:
                if self._files.stamp(path) is not None:
                    self._files.settle(path)
            except StoreError as error:
                self._log(error.message)
                with self._lock:
                    self._paths.add(path)


def gather(
    machine: Machine, where: tuple[str, str, int], number: Callable[[str, int], int], new_id: Callable[[], str],
    hide: Hide, log: Callable[[str], None],
) -> Collection:  # fmt: skip
    """Return the chats of the router, settled; `where` is Settings.chats() and `number` gives a setting.

    Raises: StoreError.
    """
    folder, mode, interval_s = where
    late = None if mode == SYNC[0] else Late(machine.files, mode, interval_s, log)
    store = Store(machine.files, folder, new_id, late)
    chats = Collection(machine, store, number, hide, log, late, folder=folder, scratch=machine.root.run_folder)
    chats.settle()
    return chats
