"""Documents and images that no chat names any more: found and removed when a chat is deleted.

Blobs are files named by their SHA-256; a chat names one as "sha256" in a block. Only those that the deleted chat named
are looked at: what another has just stored for a message to come is never touched.
"""

from __future__ import annotations

import re

from oasis.chats.archive import whole_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from oasis.system.files import Files

_HASH = re.compile(rb"[0-9a-f]{64}")


def named(pieces: Iterator[bytes]) -> set[str]:
    """Return every hash that the bytes of a chat hold; more than it means does no harm."""
    found: set[str] = set()
    for block in whole_lines(pieces):
        found.update(match.decode() for match in _HASH.findall(block))
    return found


def remove(files: Files, folder: str, blobs: set[str], chats: Iterable[Iterator[bytes]]) -> None:
    """Remove those of some blobs that are named in none of the chats."""
    left = blobs & {name.partition(".")[0] for name in files.names(folder)}
    for pieces in chats:
        if not left:
            return
        for block in whole_lines(pieces):
            left = {name for name in left if name.encode() not in block}
    for name in files.names(folder):
        if name.partition(".")[0] in left:
            files.forget(folder + "/" + name)
