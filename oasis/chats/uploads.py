"""Files on their way in: taken in pieces, and kept in RAM until something takes them or their time is over."""

from __future__ import annotations

import binascii
from collections.abc import Callable

from oasis.core import clean
from oasis.errors import UsageError
from oasis.system.files import Files

if False:  # annotations only
    from io import FileIO

# Uploads come in pieces that any message of the bus and of uhttpd holds.
PIECE_CHARS = 64 * 1024
# A chat with its attachments is the largest thing that comes in (core/export.py).
UPLOAD_BYTES = 4 * 1024 * 1024
UPLOADS = 8
KEEP_S = 600
# When there are as many as may be, one that nobody touched for so long makes room: it was given up, or is not sent yet.
IDLE_S = 60
NAME_CHARS = 128


class Uploads:
    """The uploads of one daemon, in a folder of its own. `new_id()` gives xids, `now_s()` is monotonic."""

    def __init__(self, files: Files, folder: str, new_id: Callable[[], str], now_s: Callable[[], float]) -> None:
        self._files = files
        self._folder = folder
        self._new_id = new_id
        self._now_s = now_s
        self._known: dict[str, tuple[str, float]] = {}  # id: (name, when it was touched last)
        for name in files.names(folder):
            files.remove(folder + "/" + name)  # of a daemon that was here before

    def take(self, upload: str, name: str, data: str) -> tuple[str, int]:
        """Add a piece in base64 to an upload, "" for a new one; return its id and its bytes so far.

        Raises: UsageError for what is no base64, too much, or an upload that is not there any more.
        """
        if len(data) > PIECE_CHARS:
            raise UsageError("a piece has more than %d characters" % PIECE_CHARS, "send smaller pieces")
        try:
            piece = binascii.a2b_base64(data.encode("ascii"))
        except (ValueError, UnicodeError):
            raise UsageError("the piece is no base64", "send the file again")
        return self.put(name, piece, upload)

    def put(self, name: str, piece: bytes, upload: str = "") -> tuple[str, int]:
        """Add a piece to an upload, by default the whole of a new one; return its id and its bytes so far.

        Raises: UsageError for too much, or an upload that is not there any more.
        """
        if not upload:
            self._forget_old()
            oldest = min(self._known, key=lambda one: self._known[one][1], default="")
            if len(self._known) >= UPLOADS and self._now_s() - self._known[oldest][1] < IDLE_S:
                raise UsageError("%d files are on their way already" % UPLOADS, "send them, or wait a minute")
            if len(self._known) >= UPLOADS:
                self.drop([oldest])
            upload = self._new_id()
            self._known[upload] = clean.name(name, NAME_CHARS) or "file", self._now_s()
            self._files.folder(self._folder)
        path = self._path(upload)
        size = self._files.size(path) + len(piece)
        if size > UPLOAD_BYTES:
            self.drop([upload])
            raise UsageError("the file has more than %d bytes" % UPLOAD_BYTES, "send the part that matters")
        self._files.append(path, piece, False)
        self._known[upload] = self._known[upload][0], self._now_s()
        return upload, size

    # Each of these raises UsageError when the upload is not there any more.

    def name(self, upload: str) -> str:
        """Return the name of an upload."""
        self._path(upload)
        return self._known[upload][0]

    def open(self, upload: str) -> FileIO:
        """Return a handle for reading an upload piece by piece, which stays."""
        handle = self._files.reader(self._path(upload))
        if handle is None:
            raise _gone(upload)
        return handle

    def size(self, upload: str) -> int:
        """Return how many bytes an upload has."""
        return self._files.size(self._path(upload))

    def read(self, upload: str) -> tuple[str, bytes]:
        """Return the name and the bytes of an upload, which stays."""
        return self.name(upload), self._files.read(self._path(upload)) or b""

    def drop(self, uploads: list[str]) -> None:
        """Forget uploads."""
        for upload in uploads:
            if self._known.pop(upload, None) is not None:
                self._files.remove(self._folder + "/" + upload)

    def _path(self, upload: str) -> str:
        self._forget_old()
        if upload not in self._known:
            raise _gone(upload)
        return self._folder + "/" + upload

    def _forget_old(self) -> None:
        now_s = self._now_s()
        self.drop([upload for upload, (_, at) in self._known.items() if now_s - at > KEEP_S])


def _gone(upload: str) -> UsageError:
    return UsageError(
        "there is no upload %r" % upload, "it is kept for ten minutes, less when many come: send the file again"
    )
