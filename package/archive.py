"""Archives that are the same bytes on every host: tar in GNU form, gzip without name and time.

Knows no packages. Owner 0, an order of its own, one time for all.
"""

from __future__ import annotations

import io
import os
import struct
import tarfile
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# RFC 1952: magic, deflate, no flags, no time, slowest algorithm, an unknown system.
_GZIP_HEAD = b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"


def gzip(data: bytes) -> bytes:
    """Return `data` in gzip form; Python's own writer differs between its versions in the head."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL + 1)
    body = packer.compress(data) + packer.flush()
    return _GZIP_HEAD + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def tar(files: Iterable[tuple[str, bytes, int]], epoch: int) -> bytes:
    """Return a tar of (path that begins with a slash or not, bytes, mode), with the folders that they are in."""
    entries = {path.strip("/"): (data, mode) for path, data, mode in files}
    folders = {""} | {"/".join(path.split("/")[:depth]) for path in entries for depth in range(path.count("/") + 1)}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        # Folders, then files of a kind together: alike next to alike packs smaller.
        for path in [*sorted(folders), *sorted(entries, key=lambda path: (os.path.splitext(path)[1], path))]:
            info = tarfile.TarInfo("./" + path)
            info.mtime = epoch
            if path in entries:
                data, info.mode = entries[path]
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
            else:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(info)
    return out.getvalue()
