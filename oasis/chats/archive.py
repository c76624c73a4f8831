"""Archived chats: out of the way in a folder of their own, packed where the interpreter can, read like any other.

    CHATS/archive/ID.jsonl.gz   packed; ID.jsonl where there is no zlib, or the owner wants none

Where a chat lies decides whether it is archived; a record in it tells since when. A chat that lies in both places,
after a power cut, is not archived. Moving is one rename; packing writes the whole file before the old one goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType

from oasis.core import jsonl
from oasis.core.ids import is_xid
from oasis.core.store import SUFFIX, Chat, Store
from oasis.errors import StoreError, UsageError
from oasis.system.files import Files

PACKED = SUFFIX + ".gz"
_FORM = 31  # a gzip file, as gunzip reads it
# An archived chat is unpacked into RAM to be read; a longer one is brought back first.
UNPACKED_BYTES = 16 * 1024 * 1024


class Archive:
    """The archived chats of one folder, packed where `packs()` says so.

    `scratch` is a folder in RAM, where a packed one is unpacked to be read.
    """

    def __init__(self, files: Files, store: Store, folder: str, scratch: str, packs: Callable[[], bool]) -> None:
        self._files = files
        self._store = store
        self._folder = folder
        self._scratch = scratch
        self._packs = packs

    def paths(self) -> dict[str, str]:
        """Return {id: path} of all archived chats, the newest first."""
        found: dict[str, str] = {}
        for file in reversed(self._files.names(self._folder)):
            name = file.partition(".")[0]
            # Packed and plain may both be there after a power cut: the packed one is whole, it sorts behind.
            if is_xid(name) and file in (name + SUFFIX, name + PACKED) and name not in found:
                found[name] = self._folder + "/" + file
        return {name: path for name, path in found.items() if not self._store.has(name)}

    def put(self, name: str, unix_s: int) -> None:
        """Archive a chat.

        Raises: UsageError when there is none of that name; StoreError, and it is not archived.
        """
        chat = self._store.open(name)
        chat.note({"type": "archived", "archived": True, "unix_s": unix_s})
        chat.flush()
        chat.secure()
        self._files.folder(self._folder)
        self.remove(name)  # what a power cut left there while it was brought back
        path = self._store.path(name)
        zlib = _zlib() if self._packs() else None
        if zlib is None:
            self._files.move(path, self._folder + "/" + name + SUFFIX)
            return
        packer = zlib.compressobj(6, zlib.DEFLATED, _FORM)

        def packed() -> Iterator[bytes]:
            for piece in self.pieces(path):
                yield packer.compress(piece)
            yield packer.flush()

        self._files.rewrite(self._folder + "/" + name + PACKED, packed())
        self._files.forget(path)

    def take(self, name: str) -> None:
        """Bring an archived chat back; one that is not archived stays as it is.

        Raises: StoreError, and it is archived still.
        """
        path = self.paths().get(name)
        if path is None:
            return
        if path.endswith(PACKED):
            self._files.rewrite(self._store.path(name), self.pieces(path))
            self.remove(name)
        else:
            self._files.move(path, self._store.path(name))
        chat = self._store.open(name)
        chat.note({"type": "archived", "archived": False})
        chat.flush()

    def remove(self, name: str) -> None:
        """Remove what the archive has of a chat, for good."""
        for suffix in (PACKED, SUFFIX):
            path = self._folder + "/" + name + suffix
            if self._files.stamp(path) is not None:
                self._files.forget(path)

    def open(self, name: str) -> Chat:
        """Return an archived chat for reading alone.

        Raises: UsageError when it is not archived; StoreError for one that is damaged or too long.
        """
        path = self.paths().get(name)
        if path is None:
            raise UsageError("there is no chat %r" % name, "list them with: oasis list")
        if not path.endswith(PACKED):
            return Chat(self._files, path, name)
        stamp = self._files.stamp(path) or (0, 0, 0)
        file = "%s-%x-%x" % (name, stamp[0], stamp[2])
        self._files.folder(self._scratch)
        for other in self._files.names(self._scratch):
            if other != file:
                self._files.remove(self._scratch + "/" + other)  # one at a time: this is RAM
        unpacked = self._scratch + "/" + file
        if not self._files.size(unpacked):
            self._files.rewrite(unpacked, self._bounded(name, path))
        return Chat(self._files, unpacked, name)

    def _bounded(self, name: str, path: str) -> Iterator[bytes]:
        room = UNPACKED_BYTES
        for piece in self.pieces(path):
            room -= len(piece)
            if room < 0:
                raise StoreError(
                    "the archived chat %s is too long to be read there" % name, "take it out of the archive"
                )
            yield piece

    def pieces(self, path: str) -> Iterator[bytes]:
        """Yield the bytes of a chat's file, unpacked, in pieces.

        Raises: StoreError for a packed file that is damaged, or that nothing here can unpack.
        """
        handle = self._files.reader(path)
        if handle is not None:
            with handle:
                raw = iter(lambda: handle.read(jsonl.BLOCK_BYTES), b"")
                yield from _unpacked(path, raw) if path.endswith(PACKED) else raw


def _zlib() -> ModuleType | None:
    """Return zlib, loaded when a chat is packed or read: it costs a daemon 160 KiB that others have use for."""
    try:
        import zlib
    except ImportError:  # python3-light has it, smaller builds may not
        return None
    return zlib


def _unpacked(path: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
    zlib = _zlib()
    if zlib is None:
        raise StoreError(
            "%s is packed, and this Python has no zlib" % path, "install python3-light, or gunzip the file"
        )
    reader = zlib.decompressobj(_FORM)
    try:
        for piece in pieces:
            while piece:
                yield reader.decompress(piece, jsonl.BLOCK_BYTES)
                piece = reader.unconsumed_tail
    except zlib.error as error:
        raise StoreError("%s is damaged: %s" % (path, error), "what gunzip can save of it is a chat file again")
    if not reader.eof:
        raise StoreError("%s is damaged: its end is missing" % path, "what gunzip can save of it is a chat file again")


def whole_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield bytes that come in pieces as blocks of whole lines; a line longer than a line may be is left out.

    A last line without its end gets one: other programs leave it out, and what is torn is no message anyway.
    """
    rest: list[bytes] = []
    size = 0
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if end and size <= jsonl.LINE_BYTES:
            yield b"".join([*rest, piece[:end]])
        elif end:
            yield piece[piece.find(b"\n") + 1 : end]
        if end:
            rest, size = [], 0
        size += len(piece) - end
        rest = [*rest, piece[end:]] if size <= jsonl.LINE_BYTES else []
    if size and rest:
        yield b"".join([*rest, b"\n"])
