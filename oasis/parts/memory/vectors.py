"""Vectors beside documents: one file each, a byte a number, compared one by one with what is asked.

A file is a line of JSON, {"label": whose model made them, "dims", "count"}, then `count` rows: a scale (float32, little
endian) and `dims` signed bytes. A row is its vector at length 1, rounded to 127 steps; a zero vector has the scale 0.
One block of a file is in memory at a time. What cannot be read is passed over. Knows nothing of texts and models.

With many rows two steps are taken: of all rows only the signs are compared, as bits; of the nearest by these all bytes.
"""

from __future__ import annotations

import array
import operator
import struct

from oasis.core import jsonl
from oasis.errors import SchemaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from io import FileIO
    from typing import Any

    from oasis.system.files import Files

    Row = tuple[str, int]

SUFFIX = ".vec"
_STEPS = 127
_SCALE = struct.Struct("<f")
_HEAD_BYTES = 4096
# So many rows are compared whole in a tenth of a second of a slow router; beyond, signs come first.
WHOLE_ROWS = 512
# Signs of few dimensions say little.
_SIGN_DIMS = 128
_BITS = bytes([49 if byte > 127 else 48 for byte in range(256)])


class Vectors:
    """The vectors of one folder, by the name of what they belong to and their number."""

    def __init__(self, files: Files, folder: str) -> None:
        self._files = files
        self._folder = folder

    def put(self, name: str, label: str, vectors: Iterable[Sequence[float]]) -> None:
        """Write the vectors of one document in place of those it had.

        Raises: SchemaError when they are not of one length, StoreError when the flash refuses.
        """
        self.write(name, label, packed(vectors))

    def write(self, name: str, label: str, rows: list[bytes]) -> None:
        """Do the same with rows that were packed before."""
        if not rows:
            raise SchemaError("there are no vectors for %s" % name, "one for each chunk")
        head = jsonl.line({"label": label, "dims": len(rows[0]) - _SCALE.size, "count": len(rows)})
        self._files.folder(self._folder)
        self._files.rewrite(self._path(name), jsonl.blocks([head, *rows]))

    def about(self, name: str) -> dict[str, Any] | None:
        """Return {"label", "dims", "count"} of a document's vectors, None when it has none that can be read."""
        handle = self._files.reader(self._path(name))
        if handle is None:
            return None
        with handle:
            return _head(handle)

    def delete(self, name: str) -> None:
        """Remove the vectors of a document; there may be none."""
        self._files.remove(self._path(name))

    def nearest(
        self, vector: Sequence[float], names: Sequence[str], most: int, label: str = ""
    ) -> list[tuple[float, Row]]:
        """Return (cosine, (name, number)) of the nearest rows, the nearest first; equal ones in the order of `names`.

        Those of another label, when one is given, and of another length are passed over.
        """
        asked = _rounded(vector)
        if not asked[0]:
            return []
        known = [name for name in names if self._fits(name, len(vector), label)]
        wanted = self._by_signs(asked[1], known, most)
        rows: list[tuple[float, Row]] = []
        signs = array.array("b", asked[1])
        for name in known:
            for number, row in self._rows(name):
                if wanted is None or (name, number) in wanted:
                    rows.append((_cosine(asked[0], signs, row), (name, number)))
            if len(rows) > 8 * most:
                rows = _best(rows, most)
        return _best(rows, most)

    def _fits(self, name: str, dims: int, label: str) -> bool:
        head = self.about(name)
        return head is not None and head["dims"] == dims and label in ("", head["label"])

    def _by_signs(self, asked: bytes, names: Sequence[str], most: int) -> set[Row] | None:
        """Return the rows that are near by their signs; None where all should be compared."""
        heads = [self.about(name) for name in names]
        if len(asked) < _SIGN_DIMS or sum([head["count"] for head in heads if head]) <= WHOLE_ROWS:
            return None
        bits = int(asked.translate(_BITS), 2)
        found: list[tuple[int, Row]] = []
        kept = max(WHOLE_ROWS, 16 * most)
        for name in names:
            for number, row in self._rows(name):
                found.append(((int(row[4:].translate(_BITS), 2) ^ bits).bit_count(), (name, number)))
            if len(found) > 4 * kept:
                found = sorted(found, key=lambda one: one[0])[:kept]
        found.sort(key=lambda one: one[0])
        return {row for _, row in found[:kept]}

    def _rows(self, name: str) -> Iterator[tuple[int, bytes]]:
        handle = self._files.reader(self._path(name))
        if handle is None:
            return
        with handle:
            head = _head(handle)
            if head is None:
                return
            size = _SCALE.size + head["dims"]
            at, number = head["begins"], 0
            step = max(jsonl.BLOCK_BYTES // size, 1) * size
            while number < head["count"]:
                handle.seek(at)
                block = handle.read(step) or b""
                for place in range(0, len(block) - size + 1, size):
                    yield number, block[place : place + size]
                    number += 1
                if len(block) < step:
                    return
                at += step

    def _path(self, name: str) -> str:
        return self._folder + "/" + name + SUFFIX


def nearness(vector: Sequence[float]) -> Callable[[bytes], float]:
    """Return what gives the cosine of a packed row with a vector, 0 for a row of another length."""
    scale, numbers = _rounded(vector)
    asked = array.array("b", numbers)
    return lambda row: _cosine(scale, asked, row) if len(row) == _SCALE.size + len(asked) else 0.0


def packed(vectors: Iterable[Sequence[float]]) -> list[bytes]:
    """Return vectors as rows, each packed as it comes: as numbers of Python they take thirty times as much.

    Raises: SchemaError when they are not of one length.
    """
    rows: list[bytes] = []
    for vector in vectors:
        scale, numbers = _rounded(vector)
        rows.append(_SCALE.pack(scale) + numbers)
        if not numbers or len(rows[0]) != len(rows[-1]):
            raise SchemaError("vector %d has the length %d" % (len(rows), len(vector)), "one model makes one length")
    return rows


def _rounded(vector: Sequence[float]) -> tuple[float, bytes]:
    """Return a vector of length 1 as its scale and a byte a number; (0, zeroes) for one without a direction."""
    length = sum([number * number for number in vector]) ** 0.5
    most = max([abs(number) for number in vector], default=0.0)
    if not length or not most or length == float("inf"):
        return 0.0, bytes(len(vector))
    numbers = array.array("b", [round(number / most * _STEPS) for number in vector])
    return most / length / _STEPS, numbers.tobytes()


def _cosine(scale: float, asked: array.array[int], row: bytes) -> float:
    own: float = _SCALE.unpack_from(row)[0]
    if not 0 < own <= 1:
        return 0.0  # of no direction, or damaged
    return float(scale * own * sum(map(operator.mul, asked, array.array("b", row[4:]))))


def _best(rows: list[tuple[float, Row]], most: int) -> list[tuple[float, Row]]:
    return sorted(rows, key=lambda row: -row[0])[:most]


def _head(handle: FileIO) -> dict[str, Any] | None:
    handle.seek(0)
    line, end, _ = (handle.read(_HEAD_BYTES) or b"").partition(b"\n")
    try:
        found = jsonl.loads(line) if end else None
    except SchemaError:
        return None
    if not isinstance(found, dict) or not isinstance(found.get("label"), str):
        return None
    if not all(isinstance(found.get(key), int) and 0 < found[key] < 1 << 24 for key in ("dims", "count")):
        return None
    return {**found, "begins": len(line) + 1}
