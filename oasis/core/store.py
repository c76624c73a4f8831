"""The chat store: one append-only file of JSON lines a chat, written through a `files` argument.

A line with "role" is a message, any other a record about the chat (a title, a bookmark). Lines wait in memory until
`flush`, which joins them into one write and one sync: at the owner's message, before a plan is applied (`secure`: on
flash whatever the setting `sync` says), at the end of an exchange.

Parents stand before children, so a thread is read from the end of the file, and only what was asked for is kept: a chat
costs the memory of its context, however long it is. Nothing ever leaves the file but by `forget` and by deleting the
chat. What cannot be read (damaged, torn, foreign, too long) stays where it is, a line of its own: it is passed over by
every reader and reported once, by the turn that follows it. A torn tail becomes such a line with the next write: who
only reads must not touch what another thread is writing.
One Chat at a time may write to a file; the caller sees to that. Imports under MicroPython; touches no file itself.
"""

from oasis.core import chat_line as entries
from oasis.core import jsonl, thread
from oasis.core.ids import is_xid
from oasis.core.schema import check_message, check_record, is_message
from oasis.errors import SchemaError, StoreError, UsageError

if False:  # annotations only
    from oasis.core.shapes import ChatRecord, Entry, Files, Handle, Iterator, Late, Message, NewId, Options, Page

SUFFIX = ".jsonl"
# What a thread has in memory at most, whatever a model could take; older messages stay on disk. It begins with an
# owner's message: the last ones before that may be a few more.
THREAD_MESSAGES = 400
THREAD_BYTES = 2 * 1024 * 1024
# One page of a chat, below what a reply of the bus may have.
PAGE_BYTES = 256 * 1024
PAGE_MESSAGES = 1000
# We write parents before children, and an import is put into that order; what another hand wrote may not be.
PASSES = 16


class Chat:
    """One chat: the thread that was read of it, and the lines not yet on flash.

    `messages` maps id to message, for the threads that were loaded; `heads` holds the newest id, `reports` tells what
    could not be read. Of ancestors beyond the limits, `left_out` has the newest ids, `older_options` their options.
    """

    def __init__(self, files: "Files", path: str, name: str, late: "Late | None" = None) -> None:
        self.id = name
        self.messages: dict[str, Message] = {}
        self.reports: list[str] = []
        self.heads: list[str] = []
        self.left_out: list[str] = []
        self.older_options: Options = {}
        self._files = files
        self._path = path
        self._late = late
        self._waiting: list[tuple[str, bytes]] = []
        self._heads_before: list[str] = []
        self._size = 0  # of all in the file that must stay there
        self._is_torn = False  # whether that ends within a line
        self._has_rest = False  # whether something of a failed write may stand behind it
        self._is_unsure = False  # whether what was written may not be on flash

    def read(self, heads: "list[str] | None" = None) -> "Chat":
        """Read the threads of some messages, by default of the newest one, and return self.

        Raises: UsageError for a message that is not in the chat.
        """
        handle = self._files.reader(self._path)
        if handle is not None:
            with handle:
                self._size = handle.seek(0, 2)
                end, rest = entries.end(handle)
                self._is_torn = rest > 0 or end > self._size
                self.reports += _of_tail(end, rest, self._size)
                self._walk(handle, end, heads or [], True)
        if heads:
            self._need(heads)
            self.heads = list(heads)
        return self

    def load(self, heads: "list[str]") -> "Chat":
        """Read the threads that end in these messages, in addition to those that are there already; return self.

        Raises: UsageError for a message that is not in the chat.
        """
        missing = [name for name in heads if name not in self.messages]
        handle = self._files.reader(self._path) if missing else None
        if handle is not None:
            with handle:
                self._walk(handle, entries.end(handle)[0], missing, False)
        self._need(heads)
        return self

    def _need(self, heads: "list[str]") -> None:
        for name in heads:
            if name not in self.messages:
                raise self._without(name)

    def _without(self, name: str) -> UsageError:
        return UsageError("chat %s has no message %r" % (self.id, name), "its messages: oasis show " + self.id)

    def _walk(self, handle: "Handle", end: int, heads: "list[str]", is_opening: bool) -> None:
        """Keep `heads` (none: the newest message) and their ancestors; tell of damage behind the newest owner's.

        Who does not write parents first costs another pass for each time that one stands behind its child.
        """
        wanted = set(heads)
        left, room = THREAD_MESSAGES, THREAD_BYTES
        is_new = is_opening  # whether no message of the owner's was met yet
        for _ in range(PASSES):
            before = len(self.messages)
            for at, line in jsonl.backwards(handle, end):
                if not is_new and not wanted:
                    return
                if not is_new and entries.is_other(line, wanted):
                    continue
                message = entries.message(at, line, self.reports if is_new else [])
                if message is None:
                    continue
                if is_opening and not heads and not self.heads:
                    self.heads = [message["id"]]
                    wanted.add(message["id"])
                is_new = is_new and message["role"] != "user"
                if message["id"] not in wanted:
                    continue
                self.messages[message["id"]] = message
                wanted.discard(message["id"])
                wanted.update([name for name in message.get("continues", []) if name not in self.messages])
                left -= 1
                room -= len(line or b"")
                if min(left, room) <= 0 and (message["role"] == "user" or left <= -THREAD_MESSAGES):
                    self._leave_out(handle, at, wanted)
                    return
            is_new = False
            if not wanted or len(self.messages) == before:
                return

    def _leave_out(self, handle: "Handle", end: int, wanted: "set[str]") -> None:
        """Remember what the thread has before this place: where it goes on, and its options."""
        self.left_out = sorted(wanted)
        deltas: list[Options] = []
        if not jsonl.holds(handle, end, b'"options"'):
            return
        for at, line in jsonl.backwards(handle, end):
            message = None if entries.is_other(line, wanted) else entries.message(at, line, [])
            if message is not None and message["id"] in wanted:
                wanted.discard(message["id"])
                wanted.update(message.get("continues", []))
                if message.get("options") and thread.IMPORTED not in message.get("taint", ()):
                    deltas.append(message["options"])
            if not wanted:
                break
        self.older_options = thread.merged(deltas[::-1])

    def page(self, before: str = "", limit: int = 0) -> "Page":
        """Return the messages that stand before one, or at the end of the file, as many as fit.

        Raises: UsageError when there is no message `before`.
        """
        found: list[Message] = []
        reports: list[str] = []
        room = PAGE_BYTES
        is_there = not before
        most = min(limit, PAGE_MESSAGES) if limit > 0 else PAGE_MESSAGES
        handle = self._files.reader(self._path)
        if handle is not None:
            with handle:
                end, rest = entries.end(handle)
                reports += _of_tail(end, rest, handle.seek(0, 2)) if is_there else []
                for at, line in jsonl.backwards(handle, end):
                    if not is_there and entries.is_other(line, {before}):
                        continue
                    message = entries.message(at, line, reports if is_there else [])
                    if message is None:
                        continue
                    if not is_there:
                        is_there = message["id"] == before
                        continue
                    room -= len(line or b"")
                    if found and (room < 0 or len(found) == most):
                        return {"messages": found[::-1], "more": True, "reports": reports[::-1]}
                    found.append(message)
        if not is_there:
            raise self._without(before)
        return {"messages": found[::-1], "more": False, "reports": reports[::-1]}

    def _forwards(self) -> "Iterator[tuple[int, bytes | None]]":
        handle = self._files.reader(self._path)
        if handle is None:
            return
        with handle:
            yield from jsonl.forwards(handle, 0, entries.end(handle)[0])

    def entries(self, reports: "list[str] | None" = None) -> "Iterator[Entry]":
        """Yield the records and messages of the file in order, one at a time; report what cannot be read."""
        for at, line in self._forwards():
            value = entries.line(at, line, [] if reports is None else reports)
            if value is not None:
                yield value

    def outline(self, reports: "list[str] | None" = None) -> "Iterator[Entry]":
        """Yield what stands in the file in order: records, and messages without their content."""
        for value in self.entries(reports):
            if is_message(value):
                value.pop("content", None)
            yield value

    def add(self, message: "Message") -> None:
        """Take a message into the chat; it is on flash only after `flush`.

        Raises: SchemaError for one that could not be read again; the chat is as before.
        """
        check_message(message)
        if message["id"] in self.messages:
            raise SchemaError("message %s is in the chat already" % message["id"])
        self._wait(message["id"], message)
        self.messages[message["id"]] = message
        self.heads = [message["id"]]

    def note(self, record: "ChatRecord") -> None:
        """Take a record about the chat, to be written with the next flush.

        Raises: SchemaError for one that could not be read again.
        """
        check_record(record)
        self._wait("", record)

    def _wait(self, name: str, value: "Entry") -> None:
        line = jsonl.line(value)
        if len(line) > jsonl.LINE_BYTES:
            raise SchemaError("a line of %d bytes; %d are allowed" % (len(line), jsonl.LINE_BYTES), "shorten it")
        if not self._waiting:
            self._heads_before = self.heads
        self._waiting.append((name, line))

    def flush(self) -> None:
        """Write all waiting lines in one write and, unless the owner set `sync` otherwise, one sync.

        Raises: StoreError; nothing of this flush is then in the chat, and the lines go on waiting.
        """
        if not self._waiting:
            return
        data = b"".join([b"\n" if self._is_torn else b""] + [line for _, line in self._waiting])
        if self._has_rest:
            self._files.cut(self._path, self._size)
        self._has_rest = True  # until it is known to be written
        self._files.append(self._path, data, self._late is None)
        self._has_rest = self._is_torn = False
        self._size += len(data)
        self._waiting = []
        if self._late is not None:
            self._is_unsure = True
            self._late(self._path)

    def secure(self) -> None:
        """Write all waiting lines, and be sure that they and all before are on flash.

        Raises: StoreError, as flush.
        """
        self.flush()
        if self._late is not None and self._is_unsure:
            self._files.settle(self._path)
            self._is_unsure = False

    def discard(self) -> None:
        """Forget the waiting lines, after a flush that failed: the chat is again what the file says."""
        for name, _ in self._waiting:
            self.messages.pop(name, None)
        if self._waiting:
            self.heads = self._heads_before
        self._waiting = []

    def forget(self, name: str) -> None:
        """Take what one message says off the flash; its id, its place in the tree and all other bytes stay.

        The only operation that writes a chat file again. Calls and results stay as empty ones, so that none is without
        the other.
        Raises: UsageError when the chat has no such message; StoreError, and the file is as before.
        """
        changes = self._places(name)
        if not changes:
            raise self._without(name)
        handle = self._files.reader(self._path)
        if handle is None:
            raise StoreError("the file of chat %s is gone" % self.id, "somebody deleted it; the others: oasis list")
        with handle:
            self._files.rewrite(self._path, jsonl.spliced(handle, changes))
        self.messages.pop(name, None)

    def _places(self, name: str) -> "list[tuple[int, int, bytes]]":
        """Return (from, to, what comes there) for each line of a message; what is left of torn ones goes."""
        found: list[tuple[int, int, bytes]] = []
        is_there = False
        mark = name.encode()
        for at, line in self._forwards():
            low = (line or b"").lower()
            if line is None or mark not in low:
                continue
            value = entries.line(at, line, [])
            if value is not None and is_message(value) and value["id"] == name:
                new = b"" if is_there else entries.forgotten(value)
                is_there = True
            elif value is None and b'"id":"' + mark in low:
                new = b""
            else:
                continue
            found.append((at, at + len(line) + 1, new))
        return found if is_there else []

    def list(self) -> "list[Message]":
        """Return all messages in order, of one id the last, and those that wait; it takes the memory of them all."""
        found: dict[str, Message] = {}
        order: list[str] = []
        for value in self.entries():
            if is_message(value):
                if value["id"] not in found:
                    order.append(value["id"])
                found[value["id"]] = value
        for name in [name for name, _ in self._waiting if name]:
            order.append(name)
            found[name] = self.messages[name]
        return [found[name] for name in order]


def _of_tail(end: int, rest: int, size: int) -> "list[str]":
    if rest:
        return ["a torn last line of %d bytes is kept aside" % rest]
    return ["the last line has no line end; it gets one with the next message"] if end > size else []


class Store:
    """All chats of one folder. `late(path)` hears of each write that it has to sync in its own time, if given."""

    def __init__(self, files: "Files", folder: str, new_id: "NewId", late: "Late | None" = None) -> None:
        """`new_id()` gives an xid for a new chat."""
        self._files = files
        self._folder = folder
        self._new_id = new_id
        self._late = late

    def create(self) -> Chat:
        """Return a new, empty chat; its file comes with the first flush."""
        self._files.folder(self._folder)
        name = self._new_id()
        return Chat(self._files, self.path(name), name, self._late)

    def put(self, pieces: "Iterator[bytes]") -> str:
        """Make a new chat of whole lines, which need not fit into memory; return its id.

        Raises: StoreError, and what `pieces` raises; there is no such chat then.
        """
        self._files.folder(self._folder)
        name = self._new_id()
        self._files.rewrite(self.path(name), pieces)
        return name

    def open(self, name: str, heads: "list[str] | None" = None) -> Chat:
        """Return a chat with the threads of some messages, by default of its newest one.

        Raises: UsageError when there is none of that name, or no such message.
        """
        return self.chat(name).read(heads)

    def chat(self, name: str) -> Chat:
        """Return a chat of which nothing is read yet.

        Raises: UsageError when there is none of that name.
        """
        if not self.has(name):
            raise UsageError("there is no chat %r" % name, "list them with: oasis list")
        return Chat(self._files, self.path(name), name, self._late)

    def has(self, name: str) -> bool:
        """Return whether there is a chat of that name."""
        return is_xid(name) and self._files.stamp(self.path(name)) is not None

    def names(self) -> "list[str]":
        """Return the ids of all chats, newest first."""
        names = [name[: -len(SUFFIX)] for name in self._files.names(self._folder) if name.endswith(SUFFIX)]
        names = [name for name in names if is_xid(name)]
        names.reverse()
        return names

    def delete(self, name: str) -> None:
        """Remove a chat and its file, for good.

        Raises: UsageError when there is none of that name.
        """
        self.chat(name)
        self._files.forget(self.path(name))

    def path(self, name: str) -> str:
        """Return the path of a chat's file."""
        if not is_xid(name):
            raise StoreError("%r cannot be a chat's name" % name)
        return self._folder + "/" + name + SUFFIX
