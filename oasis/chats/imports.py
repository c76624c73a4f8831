"""Bring a chat file in: ours or upstream's, whole or not at all, message by message."""

from __future__ import annotations

import binascii
import itertools
from collections.abc import Callable, Iterator

from oasis.chats.collection import TITLE_CHARS
from oasis.core import bookmarks, export, jsonl
from oasis.core.blobs import Blobs
from oasis.core.export import Import
from oasis.core.schema import BOOKMARK_CHARS, is_message
from oasis.core.store import Chat
from oasis.errors import OasisError, SchemaError
from oasis.system.digest import sha256

if False:  # annotations only
    from oasis.chats.collection import Collection
    from oasis.chats.shapes import Brought
    from oasis.core.shapes import Entry, Handle


def bring(
    chats: Collection, handle: Handle, new_id: Callable[[], str], title: str = "", unix_ms: int = 0
) -> tuple[Brought, list[str]]:
    """Store a chat file as a new chat; return it, and what was repaired or had to make room.

    `title` is that of an index, where there is one; `unix_ms` is when a chat ended whose messages tell no time.
    Raises: SchemaError when it is no chat; StoreError. Nothing is stored then.
    """
    found = export.read(handle, new_id, unix_ms)
    reports = found.reports + _apart(chats, found)
    reports += chats.make_room(handle.seek(0, 2))
    added = _put_blobs(chats.blobs(), found)
    title = (title or found.title)[:TITLE_CHARS]

    def lines() -> Iterator[bytes]:
        for message in found.messages():
            line = jsonl.line(message)
            message.pop("content")  # let go of it before the line is written
            yield line
        for record in found.records():
            yield jsonl.line(record)
        if title:
            yield jsonl.line({"type": "title", "title": title, "by": "owner"})

    try:
        name = chats.store.put(jsonl.blocks(lines()))
    except OasisError:
        for digest in added:
            chats.blobs().remove(digest)
        raise
    return {"id": name, "title": title}, reports


def _apart(chats: Collection, found: Import) -> list[str]:
    """See that neither ids nor bookmarks of an import mean something that is here already; return what was renamed."""
    taken: set[str] = set()
    is_stored = False

    def seen(chat: Chat) -> Iterator[Entry]:
        nonlocal is_stored
        for line in chat.outline():
            is_stored = is_stored or (is_message(line) and line["id"] in found)
            yield line

    for item in chats.items():
        taken.update(bookmarks.names(chats.look(item["id"], lambda chat: bookmarks.table(seen(chat)))))
    if is_stored:
        found.rename()
    names: dict[str, str] = {}
    for name in sorted(found.heads & taken):
        ends = (" %d" % number for number in itertools.count(2))
        others = (name[: BOOKMARK_CHARS - len(end)] + end for end in ends)
        names[name] = next(other for other in others if other not in found.heads | taken)
        taken.add(names[name])
    found.rename_heads(names)
    told = 'the bookmark "%s" stands in another chat and stays there; the imported one is "%s"'
    return [told % (name, names[name]) for name in names]


def _put_blobs(blobs: Blobs, found: Import) -> list[str]:
    """Store the attachments of an import, each checked against its hash; return those that were not there before.

    Raises: SchemaError naming the one that is not what it says; StoreError. Nothing of them is stored then.
    """
    for digest, text in found.blobs():
        if sha256(_decoded(text)) != digest:
            raise SchemaError("blobs.%s is not the file that it says" % digest[:12], "export the chat again")
    known = set(blobs.digests())
    new: list[str] = []
    try:
        for digest, text in found.blobs():
            if digest not in known:
                blobs.put(digest, _decoded(text))
                new.append(digest)
    except Exception:
        for digest in new:
            blobs.remove(digest)
        raise
    return new


def _decoded(text: str) -> bytes:
    try:
        return binascii.a2b_base64(text)
    except ValueError:
        return b""
