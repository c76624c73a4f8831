"""Bring a chat file in: ours or upstream's, whole or not at all."""

from __future__ import annotations

import binascii

from oasis.chats.collection import TITLE_CHARS
from oasis.core import exchange
from oasis.errors import OasisError, SchemaError
from oasis.system.digest import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis.chats.collection import Collection
    from oasis.core.blobs import Blobs
    from oasis.core.store import Chat


def bring(
    chats: Collection, data: bytes, new_id: Callable[[], str], title: str = ""
) -> tuple[dict[str, object], list[str]]:
    """Store a chat file as a new chat; return {"id", "title"}, and what was repaired or had to make room.

    `title` is that of an index, where there is one.
    Raises: SchemaError when it is no chat; StoreError. Nothing is stored then.
    """
    found = exchange.read(data, new_id, _Taken(chats))
    reports = list(found["reports"]) + chats.make_room(len(data))
    added = _put_blobs(chats.blobs(), found["blobs"])
    chat = chats.store.create()
    title = (title or found["title"])[:TITLE_CHARS]
    try:
        for message in found["messages"]:
            chat.add(message)
        for record in found["records"] + ([{"type": "title", "title": title, "by": "owner"}] if title else []):
            chat.note(record)
        chat.flush()
    except OasisError:
        for digest in added:
            chats.blobs().remove(digest)
        raise
    return {"id": chat.id, "title": title}, reports


class _Taken:
    """Tells whether a message id is stored in any chat; all chats are read when first asked."""

    def __init__(self, chats: Collection) -> None:
        self._chats = chats
        self._names: set[str] | None = None

    def __call__(self, name: str) -> bool:
        if self._names is None:
            self._names = set()
            for item in self._chats.items():
                self._names |= self._chats.look(item["id"], _ids)
        return name in self._names


def _ids(chat: Chat) -> set[str]:
    return {line["id"] for line in chat.outline() if "role" in line}


def _put_blobs(blobs: Blobs, found: dict[str, str]) -> list[str]:
    """Store the attachments of an import, each checked against its hash; return those that were not there before.

    Raises: SchemaError naming the one that is not what it says; StoreError. Nothing of them is stored then.
    """
    data: dict[str, bytes] = {}
    for digest, text in found.items():
        try:
            data[digest] = binascii.a2b_base64(text)
        except ValueError:
            data[digest] = b""
        if sha256(data[digest]) != digest:
            raise SchemaError("blobs.%s is not the file that it says" % digest[:12], "export the chat again")
    known = blobs.digests()
    new = [digest for digest in data if digest not in known]
    for number, digest in enumerate(new):
        try:
            blobs.put(digest, data[digest])
        except Exception:
            for one in new[:number]:
                blobs.remove(one)
            raise
    return new
