"""All chats of a router, wherever they lie: one door for what is done with a chat besides talking in it.

    CHATS/ID.jsonl      chats            CHATS/archive/   archived ones (archive.py)
    CHATS/blobs/        documents and images, by their hash

Knows no front-end and no run: the caller sees to it that a chat has one writer at a time.
"""

from __future__ import annotations

import threading

from oasis.chats import housekeeping, index, search
from oasis.chats.archive import Archive, whole_lines
from oasis.chats.housekeeping import INTERVAL_S, Late
from oasis.chats.index import Index
from oasis.core import bookmarks
from oasis.core.blobs import Blobs
from oasis.core.ids import looks_like_id
from oasis.core.store import Chat, Store
from oasis.errors import UsageError
from oasis.system.digest import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypedDict, TypeVar

    from oasis.chats.index import Entry, Hide, Place
    from oasis.chats.search import Results
    from oasis.config.settings import Settings
    from oasis.core.shapes import Message, Page
    from oasis.system.machine import Machine

    T = TypeVar("T")

    class Item(TypedDict, total=False):
        """What a list tells of a chat; of one that is gone only the first two."""

        id: str
        title: str
        exchanges: int
        updated_unix_s: int
        size: int  # bytes
        archived: bool
        damaged: int  # lines, where there are any

    class ChatPage(Item, Page):
        """Some messages of a chat, with what a list tells of it."""


# A list shows a line; what is longer is a text.
TITLE_CHARS = 200
# Which of upstream's chats are here already; {their id: ours}.
TAKEN = "/taken_over.json"
_SYNC = ("exchange", "interval", "exit")  # housekeeping.py tells what each may lose


class Collection:
    """The chats of one folder. `number(option, default)` gives a setting.

    `hide(text, inputs)` gives a text without secrets (index.py); `scratch` is a folder in RAM; `log(text)` tells
    whoever reads the log.
    """

    def __init__(
        self, machine: Machine, store: Store, number: Callable[[str, int], int], hide: Hide,
        log: Callable[[str], None], late: Late | None = None, *, folder: str, scratch: str,
    ) -> None:  # fmt: skip
        self.store = store
        self._files = machine.files
        self._folder = folder
        self._scratch = scratch
        self._number = number
        self._hide = hide
        self._unix_s = machine.clock.unix_s
        self._free_bytes = machine.free_bytes
        self._log = log
        self._late = late
        self._lock = threading.Lock()  # one archived chat is unpacked at a time
        self._made: tuple[Archive, Index] | None = None

    def settle(self) -> None:
        """Make sure, at the start, that the names of all chats are on flash, and clear away what a crash left."""
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
        if not self.store.has(name) and name in self._archive.paths():
            self._archive.take(name)
        return self.store.open(name, heads)

    def items(self) -> list[Item]:
        """Return what a list tells of each chat, the one last used first."""
        found = [self._item(name, entry) for name, entry in self._entries().items()]
        found.sort(key=lambda item: (-item["updated_unix_s"], item["id"]))
        return found

    def _item(self, name: str, entry: Entry) -> Item:
        item: Item = {"id": name, "title": index.title(entry, self._hide), "exchanges": entry["exchanges"],
                      "updated_unix_s": entry["updated_unix_s"], "size": entry["size"],
                      "archived": entry["archived"]}  # fmt: skip
        if entry["damaged"]:
            item["damaged"] = entry["damaged"]
        return item

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
        self._check(name)
        is_here = self.store.has(name)
        entry = self._index.entry(
            name, (self.store.path(name) if is_here else self._archive.paths()[name], not is_here)
        )
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
        elif self.store.has(name):
            self._archive.put(name, self._unix_s())
        else:
            self._check(name)

    def delete(self, name: str) -> None:
        """Delete a chat, and the documents that were in no other, for good.

        Raises: UsageError when there is none of that name; StoreError.
        """
        self._check(name)
        blobs = housekeeping.named(self._pieces(name)) if self._files.names(self._blobs) else set()
        self._forget_vectors(name)
        # The archive first: a power cut in between must not bring an older state of the chat back.
        if self.store.has(name):
            self._archive.remove(name)
            self.store.delete(name)
        else:
            self._archive.remove(name)
        if blobs:
            housekeeping.remove(self._files, self._blobs, blobs, (self._pieces(other) for other in self._places()))

    def forget(self, message: str, chat: str = "") -> str:
        """Take what one message says off the flash; return its chat, which is looked for when it is not given.

        Raises: UsageError when there is no such message; StoreError, and nothing is forgotten.
        """
        name = chat or self.chat_of(message)
        self._check(name)
        is_archived = not self.store.has(name)
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
            found = self.bookmarks(name).get(headish)
            if found:
                return name, found
        raise UsageError("there is no message and no bookmark %r" % headish, "list them with: oasis branch")

    def head(self, name: str, headish: str) -> str:
        """Return the id that a headish names in a chat.

        Raises: UsageError when nothing is called so, or there is no such chat.
        """
        return headish.lower() if looks_like_id(headish) else bookmarks.resolve(headish, self.bookmarks(name))

    def bookmarks(self, name: str) -> dict[str, str]:
        """Return where the bookmarks of a chat stand, archived or not; removed ones are "".

        Raises: UsageError when there is none of that name; StoreError.
        """
        found: dict[str, str] = self.look(name, lambda chat: bookmarks.table(chat.outline()))
        return found

    def thread_of(self, message: str, chat: str = "") -> dict[str, Message]:
        """Return a message and what it continues in its chat, by their ids; the chat is looked for when not given.

        Raises: UsageError when no chat has it; StoreError.
        """

        def read(chat: Chat) -> dict[str, Message]:
            chat.load([message])
            return chat.messages

        found: dict[str, Message] = self.look(chat or self.chat_of(message), read)
        return found

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
        return search.search(self.pieces(), wanted, limit, lambda words: self._hide(words, []))

    def pieces(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Yield all chats, archived ones behind the others, with their bytes in pieces."""
        return ((name, self._pieces(name)) for name in self._places())

    def blocks(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Do the same in blocks of whole lines."""
        return ((name, whole_lines(pieces)) for name, pieces in self.pieces())

    @property
    def vectors(self) -> str:
        """The folder of the vectors of messages (parts/memory/said.py); deleted together with them."""
        return self._folder + "/vectors"

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
        used = self.used_bytes()
        given = self._number("quota", 0)
        limit = housekeeping.limit_bytes(given, used, self._free_bytes(self._folder))
        needed += housekeeping.EXCHANGE_BYTES
        if used + needed <= limit:
            return []
        entries = self._entries()
        archived = [name for name in entries if entries[name]["archived"]]
        archived.sort(key=lambda name: (entries[name]["updated_unix_s"], name))
        sizes = [(name, entries[name]["size"]) for name in archived]
        titles = {name: self._item(name, entries[name])["title"] for name in archived}
        told = []
        for name in housekeeping.make_room(used, limit, needed, sizes, self.delete, not given):
            told.append('the archived chat "%s" (%s) was deleted: chats have no more room' % (titles[name], name))
            self._log(told[-1])
        return told

    def has_reserve(self, needed: int = 0) -> bool:
        """Return whether an exchange with the built-in service fits where `make_room` found no room for a model."""
        used, free = self.used_bytes(), self._free_bytes(self._folder)
        limit = housekeeping.limit_bytes(self._number("quota", 0), used, free)
        return housekeeping.has_reserve(used, limit, needed + housekeeping.EXCHANGE_BYTES, free)

    def used_bytes(self) -> int:
        """Return what all chats and their documents take: asked with each turn, so it loads nothing."""
        found = 0
        for folder in (self._folder, self._folder + "/archive", self._blobs):
            names = [name for name in self._files.names(folder) if name not in ("archive", "blobs", "vectors")]
            found += sum(self._files.size(folder + "/" + name) for name in names)
        return found

    def _check(self, name: str) -> None:
        if not self.store.has(name) and name not in self._archive.paths():
            raise UsageError("there is no chat %r" % name, "list them with: oasis list")

    def _entries(self) -> dict[str, Entry]:
        return self._index.entries(self._places())

    def _places(self) -> dict[str, Place]:
        """Return {id: (path, is archived)}, the newest first, archived ones behind the others."""
        found: dict[str, Place] = {name: (self.store.path(name), False) for name in self.store.names()}
        found.update({name: (path, True) for name, path in self._archive.paths().items()})
        return found

    def _pieces(self, name: str) -> Iterator[bytes]:
        path = self.store.path(name) if self.store.has(name) else self._archive.paths().get(name, "")
        return self._archive.pieces(path) if path else iter(())

    @property
    def _blobs(self) -> str:
        return self._folder + "/blobs"

    @property
    def _archive(self) -> Archive:
        return self._parts()[0]

    @property
    def _index(self) -> Index:
        return self._parts()[1]

    def _parts(self) -> tuple[Archive, Index]:
        if self._made is None:
            packs = self._number("archive_gzip", 1) != 0
            folder = self._folder + "/archive"
            archive = Archive(self._files, self.store, folder, self._scratch + "/unpacked", packs)
            self._made = archive, Index(self._files, self._scratch + "/chats", self._hide, archive.pieces, self._log)
        return self._made


def gather(
    machine: Machine, settings: Settings, new_id: Callable[[], str], hide: Hide, log: Callable[[str], None]
) -> Collection:
    """Return the chats that the settings name, settled.

    Raises: SettingsError; StoreError.
    """
    folder = settings.chat_folder()
    mode = settings.choice("sync", _SYNC)
    late = None
    if mode != _SYNC[0]:
        late = Late(machine.files, mode, settings.number("sync_interval_s", INTERVAL_S), log)
    store = Store(machine.files, folder, new_id, late)
    chats = Collection(machine, store, settings.number, hide, log, late, folder=folder, scratch=machine.root.run_folder)
    chats.settle()
    return chats
