"""Topics: system messages that a chat can begin with, those shipped and the owner's own.

Shipped ones are data (topics.json); what the owner adds, changes or removes is one small file next to the chats, keyed
like upstream's system messages (`default`, `custom_N`), so that its `oasis.conf` can be taken over.
"""

from __future__ import annotations

from collections.abc import Iterable

from oasis.core import jsonl
from oasis.errors import SchemaError, StoreError, UsageError
from oasis.system.files import Files

if False:  # annotations only
    from oasis.chats.shapes import OwnTopic, Topic


DEFAULT = "default"
# A topic goes along with every request of its chat.
TEXT_CHARS = 4096
TITLE_CHARS = 64
TOPICS = 64


class Topics:
    """The topics of one router; `path` is the owner's file."""

    def __init__(self, files: Files, path: str) -> None:
        self._files = files
        self._path = path

    def list(self) -> list[Topic]:
        """Return all topics, the default first, then the shipped ones, then the owner's in their order."""
        own = self._own()
        shipped: list[Topic] = jsonl.table(__file__, "topics.json")
        found: list[Topic] = [{**topic, **own.pop(topic["key"], {}), "is_shipped": True} for topic in shipped]
        found += [{**topic, "key": key, "is_shipped": False} for key, topic in own.items()]
        return [topic for topic in found if not topic.get("is_removed")]

    def text(self, key: str) -> str:
        """Return the text of a topic; raise UsageError when there is none of that key."""
        return str(self._get(key)["text"])

    def add(self, title: str, text: str) -> str:
        """Keep a new topic; return its key."""
        own = self._own()
        key = "custom_%d" % (max([_number(key) for key in own], default=0) + 1)
        self._write({**own, key: _topic(title, text)})
        return key

    def update(self, key: str, title: str, text: str) -> None:
        """Give a topic another title and text; a chat that began with it keeps the old one."""
        self._get(key)
        self._write({**self._own(), key: _topic(title, text)})

    def delete(self, key: str) -> None:
        """Remove a topic; a shipped one is hidden.

        Raises: UsageError for the default, which every other one falls back to.
        """
        is_shipped = self._get(key)["is_shipped"]
        if key == DEFAULT:
            raise UsageError("the topic %r stays" % DEFAULT, "give it another text instead")
        own = {name: topic for name, topic in self._own().items() if name != key}
        self._write({**own, key: {"is_removed": True}} if is_shipped else own)

    def take_over(self, found: Iterable[tuple[str, str, str]]) -> dict[str, str]:
        """Keep the system messages of an `oasis.conf` (core/lua_chats.py); return {their key: ours} of the new ones.

        Each keeps its key, for scripts and the phone name it, unless another one has it here: that goes to the end, as
        does their `default`, for ours is the one that Oasis needs. What is there already, word by word, is kept once.
        """
        known = [(topic["title"], topic["text"]) for topic in self.list()]
        cut = [(key, title[:TITLE_CHARS], text) for key, title, text in found]
        new = [one for one in cut if one[1:] not in known]
        own = self._own()
        taken: dict[str, str] = {}
        for key, title, text in sorted(new, key=lambda one: _number(one[0]) < 0 or one[0] in own):
            own = self._own()
            if _number(key) >= 0 and key not in own:
                self._write({**own, key: _topic(title, text)})
                taken[key] = key
            else:
                taken[key] = self.add(title, text)
        return taken

    def _get(self, key: str) -> Topic:
        for topic in self.list():
            if topic["key"] == key:
                return topic
        raise UsageError("there is no topic %r" % key, "list them with: oasis topics")

    def _own(self) -> dict[str, OwnTopic]:
        data = self._files.read(self._path)
        if data is None:
            return {}
        try:
            value: object = jsonl.loads(data)
        except SchemaError as error:
            raise StoreError("%s cannot be read: %s" % (self._path, error.message), "move it away and add them anew")
        if not isinstance(value, dict) or not all(map(_is_topic, value.values())):
            raise StoreError("%s does not hold topics" % self._path, "move it away and add them anew")
        return value

    def _write(self, own: dict[str, OwnTopic]) -> None:
        if len(own) > TOPICS:
            raise UsageError("there are %d topics already" % TOPICS, "delete one first")
        self._files.replace(self._path, jsonl.line(own))


def _number(key: str) -> int:
    """Return the number of a key of the earlier Oasis, -1 for any other key."""
    return int(key[7:]) if key.startswith("custom_") and key[7:].isdigit() else -1


def _is_topic(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    return value.get("is_removed") is True or all(isinstance(value.get(name), str) for name in ("title", "text"))


def _topic(title: str, text: str) -> OwnTopic:
    title = " ".join(title.split())
    if not title or len(title) > TITLE_CHARS:
        raise UsageError("the title must have 1 to %d characters" % TITLE_CHARS, "like: Guests and their Wi-Fi")
    if len(text) > TEXT_CHARS:
        raise UsageError("the text has more than %d characters" % TEXT_CHARS, "it goes along with every request")
    return {"title": title, "text": text}
