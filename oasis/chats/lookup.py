"""Lookups in one chat: which message continues which, the turns as a tree, what is there already."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from oasis.chats.index import first_words
from oasis.core import bookmarks
from oasis.core.ids import scru128_ms
from oasis.core.schema import is_message, text_of
from oasis.core.store import Chat

if False:  # annotations only
    from oasis.chats.shapes import Node, Tree
    from oasis.core.shapes import Entry, Message


# A tree is for looking at; the newest turns of a longer chat are shown, and that it has more.
NODES = 500


class Map:
    """Which message continues which in a chat, by ids alone, and where its bookmarks are; from one pass over the file.

    `reports` tells what could not be read. Chats are long and hardly ever fork: each id is in memory once, and a list
    is made only for several parents or children.
    """

    def __init__(self, chat: Chat) -> None:
        self._parents: dict[str, str | list[str]] = {}
        self._children: dict[str, str | list[str]] = {}
        self.newest = ""
        self.reports: list[str] = []
        self.bookmarks = bookmarks.table(self._seen(chat.outline(self.reports)))

    def _seen(self, lines: Iterator[Entry]) -> Iterator[Entry]:
        for line in lines:
            if is_message(line):
                name, parents = line["id"], line.get("continues", [])
                if parents == [self.newest]:
                    parents[0] = self.newest  # the same text, and not in memory again
                if name in self._parents:
                    self.reports.append("message %s is there twice: the later one counts" % name)
                else:
                    parent = parents[0] if parents else ""
                    there = self._children.get(parent)
                    if isinstance(there, list):
                        there.append(name)
                    else:
                        self._children[parent] = [there, name] if there else name
                self._parents[name] = parents[0] if len(parents) == 1 else parents
                self.newest = name
            yield line

    def __contains__(self, name: str) -> bool:
        return name in self._parents

    def parents(self, name: str) -> list[str]:
        """Return what a message continues, [] where it is not known."""
        return _list(self._parents.get(name, []))

    def siblings(self, name: str) -> list[str]:
        """Return all messages that continue the same first message, oldest first, itself included."""
        parents = self.parents(name)
        return _list(self._children.get(parents[0] if parents else "", []))

    def leaf(self, name: str) -> str:
        """Return the newest end below a message, which may be itself."""
        seen: set[str] = set()
        while name in self._children and name not in seen:
            seen.add(name)
            name = _list(self._children[name])[-1]
        return name


def _list(ids: str | list[str]) -> list[str]:
    return [ids] if isinstance(ids, str) else ids


def words(message: Message) -> str:
    """Return what a message says, or what it did."""
    said = text_of(message)
    return said or ("[%s]" % message["error"].get("message", "") if message.get("error") else "")


def tree(chat: Chat, hide: Callable[[Message], Message]) -> Tree:
    """Return the turns of a chat as nodes, in file order; `hide(message)` gives one without secrets."""
    nodes: dict[str, Node] = {}
    node_of: dict[str, str] = {}
    newest = ""

    def seen() -> Iterator[Entry]:
        nonlocal newest
        for line in chat.entries():
            yield line
            if not is_message(line):
                continue
            # The owner's message begins a turn, every other belongs to that of what it continues.
            message = hide(line)
            name = newest = line["id"]
            above = [node_of[parent] for parent in message.get("continues", []) if parent in node_of]
            if message["role"] == "user":
                node_of[name] = name
                nodes[name] = {
                    "id": name, "end": name, "parent": above[0] if above else "", "parents": above,
                    "text": first_words(words(message)), "answer": "", "unix_s": scru128_ms(name) // 1000, "heads": [],
                }  # fmt: skip
            elif above:
                node_of[name] = above[0]
                node = nodes[above[0]]
                node["end"] = name
                if message["role"] == "assistant" and text_of(message).strip():
                    node["answer"] = first_words(text_of(message))
                if message.get("error"):
                    node["state"] = "cancelled" if message["error"].get("code") == "cancelled" else "error"

    table = bookmarks.table(seen())
    for name in bookmarks.names(table):
        end = node_of.get(table[name], "")
        if end in nodes:
            nodes[end]["heads"].append(name)
    found = list(nodes.values())
    return {"head": newest, "nodes": found[-NODES:], "more": len(found) > NODES}
