"""The chat store: one append-only file of JSON lines a chat, written through a `files` argument.

A line with "role" is a message, any other a record about the chat (a title). Lines wait in memory until `flush`, which
joins them into one write and one sync: at the owner's message, before a plan is applied, at the end of an exchange. A
torn tail is left out and reported when a chat is opened, and cut off the file before the next write: who only reads
must not shorten what another thread is writing. A damaged line elsewhere is skipped and stays in the file.
One Chat at a time may write to a file; the caller sees to that. Imports under MicroPython; touches no file itself.
"""

from oasis.core import jsonl
from oasis.core.ids import is_xid, scru128_ms
from oasis.core.schema import check_message, text_of
from oasis.errors import SchemaError, StoreError, UsageError

if False:  # annotations only
    from oasis.core.shapes import Callable, Files, Message, NewId

_SUFFIX = ".jsonl"
# Titles are for lists of one line; upstream's own limit for a made title is 15, ours is a phone's width.
_TITLE_CHARS = 48


class Chat:
    """One opened chat: its messages, and the lines not yet on flash.

    `messages` maps id to message, `order` holds the ids in file order, `heads` the newest id, `reports` tells what was
    left out of the file.
    """

    def __init__(self, files: "Files", path: str, name: str) -> None:
        self.id = name
        self.messages: dict[str, Message] = {}
        self.order: list[str] = []
        self.reports: list[str] = []
        self.heads: list[str] = []
        self._files = files
        self._path = path
        self._title = ""
        self._waiting: list[tuple[str, bytes]] = []
        self._size = 0  # of the whole lines in the file
        self._has_rest = False  # whether something torn may stand behind them

    def read(self) -> "Chat":
        """Read the file and return self."""
        data = self._files.read(self._path) or b""
        self._size = data.rfind(b"\n") + 1
        self._has_rest = self._size < len(data)
        if self._has_rest:
            self.reports.append("a torn last line of %d bytes was cut off" % (len(data) - self._size))
        for number, line in enumerate(data[: self._size].split(b"\n")[:-1]):
            self._take(line, number + 1)
        return self

    def _take(self, line: bytes, number: int) -> None:
        try:
            value = jsonl.loads(line)
            if isinstance(value, dict) and "role" not in value:
                if isinstance(value.get("title"), str):
                    self._title = value["title"]
                return
            check_message(value)
        except SchemaError as error:
            self.reports.append("line %d was skipped: %s" % (number, error.message))
            return
        self._remember(value)

    def _remember(self, message: "Message") -> None:
        name = message["id"]
        if name not in self.messages:
            self.order.append(name)
        self.messages[name] = message
        self.heads = [name]

    def add(self, message: "Message") -> None:
        """Take a message into the chat; it is on flash only after `flush`.

        Raises: SchemaError for one that could not be read again; the chat is as before.
        """
        check_message(message)
        if message["id"] in self.messages:
            raise SchemaError("message %s is in the chat already" % message["id"])
        line = jsonl.line(message)
        if len(line) > jsonl.LINE_BYTES:
            raise SchemaError("a message of %d bytes; %d are allowed" % (len(line), jsonl.LINE_BYTES), "shorten it")
        self._waiting.append((message["id"], line))
        self._remember(message)

    def flush(self) -> None:
        """Write all waiting lines in one write and one sync.

        Raises: StoreError; nothing of this flush is then in the chat, and the lines go on waiting.
        """
        if not self._waiting:
            return
        data = b"".join([line for _, line in self._waiting])
        if self._has_rest:
            self._files.cut(self._path, self._size)
        self._has_rest = True  # until it is known to be written
        self._files.append(self._path, data, True)
        self._has_rest = False
        self._size += len(data)
        self._waiting = []

    def discard(self) -> None:
        """Forget the waiting lines, after a flush that failed: the chat is again what the file says."""
        for name, _ in self._waiting:
            del self.messages[name]
            self.order.remove(name)
        self._waiting = []
        self.heads = self.order[-1:]

    def list(self) -> "list[Message]":
        """Return the messages in file order."""
        return [self.messages[name] for name in self.order]

    def title(self, hide: "Callable[[str], str] | None" = None) -> str:
        """Return the title given, else the first words of the owner; `hide(text)` gives a text without its secrets.

        It is asked before anything is cut: of half a secret nobody could tell that it is one.
        """
        hide = hide or str
        if self._title:
            return hide(self._title)
        for name in self.order:
            if self.messages[name]["role"] == "user":
                return first_words(hide(text_of(self.messages[name])))
        return ""

    def updated_s(self) -> int:
        """Return the Unix second of the newest message, 0 for an empty chat."""
        return scru128_ms(self.order[-1]) // 1000 if self.order else 0

    def exchanges(self) -> int:
        """Return how many owner messages the chat holds."""
        return len([name for name in self.order if self.messages[name]["role"] == "user"])


class Store:
    """All chats of one folder."""

    def __init__(self, files: "Files", folder: str, new_id: "NewId") -> None:
        """`new_id()` gives an xid for a new chat."""
        self._files = files
        self._folder = folder
        self._new_id = new_id

    def create(self) -> Chat:
        """Return a new, empty chat; its file comes with the first flush."""
        self._files.folder(self._folder)
        name = self._new_id()
        return Chat(self._files, self._path(name), name)

    def open(self, name: str) -> Chat:
        """Return a chat with all it holds.

        Raises: UsageError when there is none of that name.
        """
        self._check(name)
        return Chat(self._files, self._path(name), name).read()

    def names(self) -> "list[str]":
        """Return the ids of all chats, newest first."""
        names = [name[: -len(_SUFFIX)] for name in self._files.names(self._folder) if name.endswith(_SUFFIX)]
        names = [name for name in names if is_xid(name)]
        names.reverse()
        return names

    def delete(self, name: str) -> None:
        """Remove a chat and its file.

        Raises: UsageError when there is none of that name.
        """
        self._check(name)
        self._files.remove(self._path(name))

    def _check(self, name: str) -> None:
        if not is_xid(name) or name + _SUFFIX not in self._files.names(self._folder):
            raise UsageError("there is no chat %r" % name, "list them with: oasis list")

    def _path(self, name: str) -> str:
        if not is_xid(name):
            raise StoreError("%r cannot be a chat's name" % name)
        return self._folder + "/" + name + _SUFFIX


def first_words(text: str) -> str:
    """Return the first line of a text, cut at a word to the length of a title."""
    line = " ".join(text.split())
    if len(line) <= _TITLE_CHARS:
        return line
    cut = line[:_TITLE_CHARS].rfind(" ")
    return line[: cut if cut > 0 else _TITLE_CHARS] + "…"
