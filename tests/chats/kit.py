"""A collection of chats in a folder, without a daemon: for the tests of oasis.chats."""

import os
import types

from oasis.chats.collection import Collection, Late
from oasis.core.ids import Scru128, Xid
from oasis.core.store import Store
from oasis.system.files import Files
from oasis.system.root import Machine

SECRET = "correct-horse"


class Quick(Files):
    """Files of a disk that this host need not wait for."""

    def sync(self, handle):
        pass

    def sync_folder(self, path):
        pass


class Kit:
    """Chats in a folder; `settings` are numbers by option, `log` what was told."""

    def __init__(self, folder, files=None, free=1 << 30, mode="exchange", **settings):
        self.folder = str(folder) + "/chats"
        self.scratch = str(folder) + "/run"
        self.settings = settings
        self.free = free
        self.log = []
        self.files = files or Quick()
        Files().folder(self.scratch)
        self.late = Late(self.files, mode, 3600, self.log.append) if mode != "exchange" else None
        self.now_ms = 1_700_000_000_000
        self.xids = Xid(lambda: self.now_ms // 1000, os.urandom)
        self.ids = Scru128(self._later_ms, os.urandom)
        store = Store(self.files, self.folder, self.xids.next, self.late)
        clock = types.SimpleNamespace(unix_s=lambda: self.now_ms // 1000)
        machine = Machine(None, self.files, None, clock, lambda path: self.free)
        self.chats = Collection(
            machine, store, lambda option, default: self.settings.get(option, default),
            lambda text, inputs: text.replace(SECRET, "***"), self.log.append, self.late, folder=self.folder,
            scratch=self.scratch,
        )  # fmt: skip

    def _later_ms(self):
        self.now_ms += 1000
        return self.now_ms

    def message(self, text="hello", role="user", continues=(), **fields):
        message = {"id": self.ids.next(), "role": role, "content": text, **fields}
        if continues:
            message["continues"] = list(continues)
        return message

    def exchange(self, chat="", text="hello", answer="hi"):
        """Store an exchange in a chat, by default a new one; return (chat, ids of its messages)."""
        opened = self.chats.open(chat) if chat else self.chats.store.create()
        question = self.message(text, continues=opened.heads)
        opened.add(question)
        opened.flush()
        reply = self.message(answer, "assistant", [question["id"]])
        opened.add(reply)
        opened.flush()
        return opened.id, [question["id"], reply["id"]]

    def again(self, **more):
        """Return a second kit on the same folder, as after a restart."""
        return Kit(self.folder[: -len("/chats")], **{**self.settings, **more})

    def item(self, chat):
        return next((item for item in self.chats.items() if item["id"] == chat), None)

    def texts(self, chat):
        return [message["content"] for message in self.chats.page(chat)["messages"]]
