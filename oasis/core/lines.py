"""The lines of a file that may be larger than memory, from either end.

A handle is read in blocks, so that what is held is one block and one line. A line longer than a line may be comes as
None and is never held; a blank one does not come at all. Knows nothing of messages; imports under MicroPython.
"""

from oasis.core.jsonl import LINE_BYTES

if False:  # annotations only
    from oasis.core.shapes import Handle, Iterator

# What flash and page cache like to read at once.
BLOCK_BYTES = 64 * 1024


def whole_bytes(handle: "Handle") -> "tuple[int, int]":
    """Return the bytes of the whole lines of a file, and those of the torn one behind them."""
    size = handle.seek(0, 2)
    end = size
    while end > 0:
        start = max(end - BLOCK_BYTES, 0)
        found = _read(handle, start, end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1, size - start - found - 1
        end = start
    return 0, size


def backwards(handle: "Handle", end: int) -> "Iterator[tuple[int, bytes | None]]":
    """Yield (where it begins, line without its end), the last one first; `end` stands behind a line end.

    It may stand one behind the file, where the end of a last line without one will be.
    """
    pieces: list[bytes] = []  # of a line that begins in an earlier block, its end first
    length = 0
    at = end - 1
    while at >= 0:
        start = max(at - BLOCK_BYTES, 0)
        parts = _read(handle, start, at - start).split(b"\n")
        place = at
        while len(parts) > 1:
            last = parts.pop()
            place -= len(last)
            pieces.append(last)
            line = _joined(pieces[::-1], length + len(last))
            if line is None or line.strip():
                yield place, line
            pieces, length = [], 0
            place -= 1
        length += len(parts[0])
        pieces.append(parts[0])
        if length > LINE_BYTES:
            pieces = []
        at = start
        if not start:
            line = _joined(pieces[::-1], length)
            if line is None or line.strip():
                yield 0, line
            return


def forwards(handle: "Handle", start: int, end: int) -> "Iterator[tuple[int, bytes | None]]":
    """Yield (where it begins, line without its end) of the whole lines between two places.

    `end` may stand one behind the file, where the end of a last line without one will be.
    """
    pieces: list[bytes] = []  # of a line that ends in a later block
    length = 0
    place = start
    while start < end:
        parts = _read(handle, start, min(BLOCK_BYTES, end - start)).split(b"\n")
        start += BLOCK_BYTES
        for part in parts[:-1]:
            length += len(part)
            pieces.append(part)
            line = _joined(pieces, length)
            if line is None or line.strip():
                yield place, line
            place += length + 1
            pieces, length = [], 0
        length += len(parts[-1])
        pieces.append(parts[-1])
        if length > LINE_BYTES:
            pieces = []
    if length and place + length < end:  # a last line whose end is still to come
        line = _joined(pieces, length)
        if line is None or line.strip():
            yield place, line


def blocks(pieces: "Iterator[bytes] | list[bytes]") -> "Iterator[bytes]":
    """Yield the same bytes in pieces of about a block: flash likes few writes."""
    waiting: list[bytes] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= BLOCK_BYTES:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)


def _joined(pieces: "list[bytes]", length: int) -> "bytes | None":
    return b"".join(pieces) if length <= LINE_BYTES else None


def _read(handle: "Handle", start: int, size: int) -> bytes:
    """Read so many bytes; fewer only where the file has become shorter."""
    handle.seek(start)
    pieces: list[bytes] = []
    while size > 0:
        piece = handle.read(size)
        if not piece:
            break
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def holds(handle: "Handle", end: int, words: bytes) -> bool:
    """Return whether some bytes stand anywhere before a place."""
    at = 0
    while at < end:
        if words in _read(handle, at, min(BLOCK_BYTES + len(words), end - at)):
            return True
        at += BLOCK_BYTES
    return False


def spliced(handle: "Handle", changes: "list[tuple[int, int, bytes]]") -> "Iterator[bytes]":
    """Yield the bytes of a whole file in pieces, with others in some places: (from, to, what comes there), in order."""
    at = 0
    for start, end, new in changes:
        yield from _copied(handle, at, start)
        yield new
        at = end
    yield from _copied(handle, at, handle.seek(0, 2))


def _copied(handle: "Handle", at: int, end: int) -> "Iterator[bytes]":
    while at < end:
        yield _read(handle, at, min(BLOCK_BYTES, end - at))
        at += BLOCK_BYTES
