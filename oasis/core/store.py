"""The chat store: one append-only file of JSON lines a chat, written through a `files` argument.

A line with "role" is a message, any other a record about the chat (a title). Lines wait in memory until `flush`, which
joins them into one write and one sync: at the owner's message, before a plan is applied, at the end of an exchange. A
torn tail is cut off when a chat is opened, and reported; a damaged line elsewhere is skipped and stays in the file.
Imports under MicroPython; touches no file itself.
"""

from oasis.core import jsonl
from oasis.core.ids import is_xid, scru128_ms
from oasis.core.schema import check_message, text_of
from oasis.errors import SchemaError, StoreError, UsageError

_SUFFIX = ".jsonl"
# Titles are for lists of one line; upstream's own limit for a made title is 15, ours is a phone's width.
_TITLE_CHARS = 48


class Chat:
    """One opened chat: its messages, and the lines not yet on flash.

    `messages` maps id to message in file order, `heads` names the newest message, `reports` tells what was repaired.
    """

    def __init__(self, files, path, name):
        self.id = name
        self.messages = {}
        self.order = []
        self.reports = []
        self.heads = []
        self._files = files
        self._path = path
        self._title = ""
        self._waiting = []

    def read(self):
        """Read the file, cut off a torn tail, and return self."""
        data = self._files.read(self._path) or b""
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            self._files.cut(self._path, whole)
            self.reports.append("a torn last line of %d bytes was cut off" % (len(data) - whole))
        for number, line in enumerate(data[:whole].split(b"\n")[:-1]):
            self._take(line, number + 1)
        return self

    def _take(self, line, number):
        try:
            value = jsonl.loads(line)
            if isinstance(value, dict) and "role" not in value:
                self._title = value.get("title", self._title)
                return
            check_message(value)
        except SchemaError as error:
            self.reports.append("line %d was skipped: %s" % (number, error.message))
            return
        self._remember(value)

    def _remember(self, message):
        name = message["id"]
        if name not in self.messages:
            self.order.append(name)
        self.messages[name] = message
        self.heads = [name]

    def add(self, message):
        """Take a message into the chat; it is on flash only after `flush`."""
        check_message(message)
        self._waiting.append(message)
        self._remember(message)

    def flush(self):
        """Write all waiting lines in one write and one sync.

        Raises: StoreError; nothing of this flush is then in the file, and the lines go on waiting.
        """
        if not self._waiting:
            return
        data = b"".join([jsonl.line(message) for message in self._waiting])
        self._files.append(self._path, data, True)
        self._waiting = []

    def discard(self):
        """Forget the waiting lines, after a flush that failed: the chat is again what the file says."""
        for message in self._waiting:
            del self.messages[message["id"]]
            self.order.remove(message["id"])
        self._waiting = []
        self.heads = self.order[-1:]

    def list(self):
        """Return the messages in file order."""
        return [self.messages[name] for name in self.order]

    def title(self):
        """Return the title given, else the first words of the owner."""
        if self._title:
            return self._title
        for name in self.order:
            if self.messages[name]["role"] == "user":
                return first_words(text_of(self.messages[name]))
        return ""

    def updated_s(self):
        """Return the Unix second of the newest message, 0 for an empty chat."""
        return scru128_ms(self.order[-1]) // 1000 if self.order else 0

    def exchanges(self):
        """Return how many owner messages the chat holds."""
        return len([name for name in self.order if self.messages[name]["role"] == "user"])


class Store:
    """All chats of one folder."""

    def __init__(self, files, folder, new_id):
        """`new_id()` gives an xid for a new chat."""
        self._files = files
        self._folder = folder
        self._new_id = new_id

    def create(self):
        """Return a new, empty chat; its file comes with the first flush."""
        self._files.folder(self._folder)
        name = self._new_id()
        return Chat(self._files, self._path(name), name)

    def open(self, name):
        """Return a chat with all it holds.

        Raises: UsageError when there is none of that name.
        """
        if not is_xid(name) or name + _SUFFIX not in self._files.names(self._folder):
            raise UsageError("there is no chat %r" % name, "list them with: oasis list")
        return Chat(self._files, self._path(name), name).read()

    def names(self):
        """Return the ids of all chats, newest first."""
        names = [name[: -len(_SUFFIX)] for name in self._files.names(self._folder) if name.endswith(_SUFFIX)]
        names = [name for name in names if is_xid(name)]
        names.reverse()
        return names

    def delete(self, name):
        """Remove a chat and its file."""
        self.open(name)
        self._files.remove(self._path(name))

    def _path(self, name):
        if not is_xid(name):
            raise StoreError("%r cannot be a chat's name" % name)
        return self._folder + "/" + name + _SUFFIX


def first_words(text):
    """Return the first line of a text, cut at a word to the length of a title."""
    line = " ".join(text.split())
    if len(line) <= _TITLE_CHARS:
        return line
    cut = line[:_TITLE_CHARS].rfind(" ")
    return line[: cut if cut > 0 else _TITLE_CHARS] + "…"
