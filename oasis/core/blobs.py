"""Documents and images of chats: files named by the SHA-256 of their bytes, in one folder, each stored once.

Files and the digest enter as arguments; knows nothing of chats but their blocks. A file is written whole or not at all
and is checked against its name when it is read. How much all of them may take is the quota's to say. Imports under
MicroPython.
"""

import binascii

from oasis.core import clean
from oasis.core.schema import blocks, is_sha256
from oasis.errors import StoreError, UsageError

if False:  # annotations only
    from oasis.core.shapes import Block, Callable, Files, Message

# Half of the flash that all chats may take together; in base64 a tenth of the longest request to a worker. Vendors take
# more, a router should not.
BLOB_BYTES = 1024 * 1024
NAME_CHARS = 128
OCTETS = "application/octet-stream"

# Source: IANA media types registry.
_BY_EXTENSION = {
    "pdf": "application/pdf",
    "txt": "text/plain",
    "md": "text/markdown",
    "json": "application/json",
    "csv": "text/csv",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "png": "image/png",
    "webp": "image/webp",
    "gif": "image/gif",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
# First bytes -> type, for files whose name says nothing.
_MAGIC = (
    (b"%PDF-", "application/pdf"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def media_type(name: str, data: bytes) -> "tuple[str, str]":
    """Return the media type of a file and, where its name does not say it, a note for the owner."""
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    if extension in _BY_EXTENSION:
        return _BY_EXTENSION[extension], ""
    shown = clean.name(extension, 16)
    what = "files ending in .%s are not known" % shown if shown else "the name has no ending"
    kinds = [kind for magic, kind in _MAGIC if data.startswith(magic)]
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        kinds.append("image/webp")
    if not kinds and data and b"\0" not in data:
        try:
            data.decode("utf-8")
            kinds.append("text/plain")
        except UnicodeError:
            pass
    if not kinds:
        return OCTETS, what + "; models will see only that this file is there"
    return kinds[0], "%s; by its bytes it is %s" % (what, kinds[0])


class Blobs:
    """The files of one folder. `sha256(data)` gives 64 hex digits."""

    def __init__(self, files: "Files", folder: str, sha256: "Callable[[bytes], str]") -> None:
        self._files = files
        self._folder = folder
        self._sha256 = sha256

    def put(self, name: str, data: bytes) -> "tuple[Block, str]":
        """Store a file and return its block, and a note for the owner or "".

        Shape: {"type": "image" | "document", "media_type", "sha256", "name", "size_bytes"}.
        Raises: UsageError for a file that is empty or too large, StoreError for the flash.
        """
        if not data:
            raise UsageError("the file %r is empty" % name[:NAME_CHARS], "attach one that holds something")
        if len(data) > BLOB_BYTES:
            raise UsageError(
                "the file has %d bytes; %d are allowed" % (len(data), BLOB_BYTES), "attach the part that matters"
            )
        digest = self._sha256(data)
        path = self._path(digest)
        if self._files.read(path) != data:
            self._files.folder(self._folder)
            self._files.replace(path, data)
        kind, note = media_type(name, data)
        block: Block = {
            "type": "image" if kind.startswith("image/") else "document",
            "media_type": kind,
            "sha256": digest,
            "name": clean.name(name.replace("\\", "/").rpartition("/")[2], NAME_CHARS) or "file",
            "size_bytes": len(data),
        }
        return block, note

    def get(self, digest: str) -> bytes:
        """Return the bytes of a file.

        Raises: StoreError when it is gone, or is not what was stored.
        """
        data = self._files.read(self._path(digest))
        if data is None:
            raise StoreError("the attachment %s is gone" % digest[:12], "attach the file again")
        if self._sha256(data) != digest:
            raise StoreError("the attachment %s is damaged" % digest[:12], "attach the file again")
        return data

    def load(self, block: "Block") -> "Block":
        """Return a document or image block with its bytes: "data" in base64, what services are sent.

        Raises: StoreError as `get`.
        """
        loaded = block.copy()
        loaded["data"] = binascii.b2a_base64(self.get(block["sha256"])).decode().strip()
        return loaded

    def digests(self) -> "list[str]":
        """Return the digests of all files, sorted."""
        return [name for name in self._files.names(self._folder) if is_sha256(name)]

    def remove(self, digest: str) -> None:
        """Remove a file; it may be gone already."""
        self._files.remove(self._path(digest))

    def _path(self, digest: str) -> str:
        if not is_sha256(digest):
            raise StoreError("%r cannot be the name of an attachment" % str(digest)[:NAME_CHARS])
        return self._folder + "/" + digest


def references(messages: "list[Message]") -> "list[str]":
    """Return the digests that messages refer to, in results of tools too, each once."""
    found: list[str] = []
    for message in messages:
        for block in blocks(message):
            for one in block["content"] if block["type"] == "tool_result" else [block]:
                if one["type"] in ("document", "image") and one["sha256"] not in found:
                    found.append(one["sha256"])
    return found
