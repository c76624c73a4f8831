"""The types of chats/, for the type checker alone."""

from collections.abc import Callable
from typing import TypedDict

from typing_extensions import NotRequired

from oasis.core.shapes import Json, Page

Place = tuple[str, bool]  # path, whether the chat is archived
Hide = Callable[[str, list[dict[str, Json]]], str]  # gives a text without secrets, see index.py
Term = tuple[str, bytes]  # folded, and what of it stands in the bytes of every line that holds it

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

class Summary(TypedDict):
    """What the lines of a chat come to."""

    title: str  # as given
    words: str  # of the owner's first message
    exchanges: int
    updated_unix_s: int
    damaged: int  # lines

class IndexEntry(Summary):
    """A summary in the index."""

    id: str
    read: int  # bytes that are folded in
    stamp: list[int]
    archived: bool
    size: int  # bytes

class Brought(TypedDict):
    """The chat that a file became."""

    id: str
    title: str

class Node(TypedDict):
    """A turn of a chat."""

    id: str
    end: str  # its newest message
    parent: str
    parents: list[str]
    text: str
    answer: str
    unix_s: int
    heads: list[str]  # bookmarks
    state: NotRequired[str]

class Tree(TypedDict):
    """The turns of a chat, see lookup.tree()."""

    head: str  # the newest message
    nodes: list[Node]
    more: bool  # whether older ones are left out

class OwnTopic(TypedDict, total=False):
    """A topic in the owner's file: a text, or that a shipped one is hidden."""

    title: str
    text: str
    is_removed: bool

class Topic(OwnTopic):
    """A topic as it is listed."""

    key: str
    is_shipped: bool

class Result(TypedDict):
    """A message that holds all words of a search."""

    chat: str
    message: str
    role: str
    snippet: str

class Results(TypedDict):
    """What a search found."""

    results: list[Result]
    more: bool  # whether it ended before all was searched
    reports: list[str]
