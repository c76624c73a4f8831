"""A QR code of a text, in byte mode with the lowest correction: what a screen shows needs no more.

Pure: bytes in, rows of modules out. Source: ISO/IEC 18004:2015; tables 9 (blocks) and E.1 (alignment) up to version 20.
"""

from __future__ import annotations

import itertools

from oasis.errors import UsageError

if False:  # annotations only
    from collections.abc import Callable

# By version from 1: codewords of correction in a block, and blocks, of level L.
_CORRECTION = (7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28)
_BLOCKS = (1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8)
_LEVEL_L = 1
# Around the code; 18004 wants four, and every reader that was tried takes two on a screen.
_QUIET = 2
_MASKS: tuple[Callable[[int, int], bool], ...] = (
    lambda x, y: (x + y) % 2 == 0,
    lambda x, y: y % 2 == 0,
    lambda x, y: x % 3 == 0,
    lambda x, y: (x + y) % 3 == 0,
    lambda x, y: (x // 3 + y // 2) % 2 == 0,
    lambda x, y: x * y % 2 + x * y % 3 == 0,
    lambda x, y: (x * y % 2 + x * y % 3) % 2 == 0,
    lambda x, y: ((x + y) % 2 + x * y % 3) % 2 == 0,
)

Rows = list[list[bool]]


def modules(text: str) -> Rows:
    """Return the rows of a QR code, True for dark.

    Raises: UsageError for a text that is too long.
    """
    data = text.encode("utf-8")
    version = next((one for one in range(1, len(_BLOCKS) + 1) if _room(one) >= len(data)), 0)
    if not version:
        raise UsageError("a text of %d bytes is too long for a QR code" % len(data), "use the file instead")
    grid = _Grid(version)
    grid.write(_codewords(version, data))
    return grid.masked()


def half_blocks(rows: Rows) -> list[str]:
    """Return lines of text that show a QR code on a dark terminal, two rows in each."""
    size = len(rows) + 2 * _QUIET
    dark = [[False] * size for _ in range(size + 1)]
    for y, row in enumerate(rows):
        dark[y + _QUIET][_QUIET : _QUIET + len(row)] = row
    signs = {(False, False): "█", (False, True): "▀", (True, False): "▄", (True, True): " "}
    pairs = [(dark[y], dark[y + 1]) for y in range(0, size, 2)]
    return ["".join(signs[pair] for pair in zip(*both, strict=True)) for both in pairs]


def _all_bits(version: int) -> int:
    """Return how many modules are left for data and correction."""
    size = 17 + 4 * version
    marks = len(_alignment(version))
    found = size * size - 3 * 64 - 31 - 2 * (size - 16)  # corners, format and the dark module, timing
    if marks:
        found -= (marks * marks - 3) * 25 - 2 * (marks - 2) * 5
    return found - (36 if version >= 7 else 0)


def _data_codewords(version: int) -> int:
    return _all_bits(version) // 8 - _CORRECTION[version - 1] * _BLOCKS[version - 1]


def _room(version: int) -> int:
    """Return how many bytes of text a version holds."""
    return (_data_codewords(version) * 8 - 4 - (8 if version < 10 else 16)) // 8


def _codewords(version: int, data: bytes) -> bytes:
    """Return the codewords in the order in which they are placed: those of all blocks in turn, correction last."""
    count, wide = _data_codewords(version), 8 if version < 10 else 16
    bits = (4 << wide | len(data)) << 8 * len(data) | int.from_bytes(data, "big")
    length = 4 + wide + 8 * len(data)
    bits <<= min(4, count * 8 - length) + -(length + min(4, count * 8 - length)) % 8
    whole = bits.to_bytes((length + 4 + 7) // 8 if count * 8 - length >= 4 else count, "big")
    whole = (whole + b"\xec\x11" * count)[:count]
    blocks, correction = _BLOCKS[version - 1], _CORRECTION[version - 1]
    short, longer = divmod(count, blocks)
    parts, at = [], 0
    for number in range(blocks):
        end = at + short + (number >= blocks - longer)
        parts.append(whole[at:end])
        at = end
    checks = [_remainder(part, _divisor(correction)) for part in parts]
    found = bytearray()
    for row in range(short + 1):
        found += bytes(part[row] for part in parts if row < len(part))
    for row in range(correction):
        found += bytes(check[row] for check in checks)
    return bytes(found)


def _times(left: int, right: int) -> int:
    """Multiply in the field of 256 elements over 0x11D."""
    found = 0
    for place in reversed(range(8)):
        found = found << 1 ^ (found >> 7) * 0x11D
        found ^= (right >> place & 1) * left
    return found


def _divisor(degree: int) -> bytes:
    found, root = bytearray([0] * (degree - 1) + [1]), 1
    for _ in range(degree):
        for place in range(degree):
            found[place] = _times(found[place], root) ^ (found[place + 1] if place + 1 < degree else 0)
        root = _times(root, 2)
    return bytes(found)


def _remainder(data: bytes, divisor: bytes) -> bytes:
    found = bytearray(len(divisor))
    for byte in data:
        factor = byte ^ found.pop(0)
        found.append(0)
        for place, one in enumerate(divisor):
            found[place] ^= _times(one, factor)
    return bytes(found)


def _alignment(version: int) -> list[int]:
    if version == 1:
        return []
    count = version // 7 + 2
    step = (version * 4 + count * 2 + 1) // (count * 2 - 2) * 2
    last = version * 4 + 10
    return [6, *[last - step * place for place in reversed(range(count - 1))]]


class _Grid:
    """The modules of one code while it is drawn; `fixed` are those that no mask touches."""

    def __init__(self, version: int) -> None:
        self.version, self.size = version, 17 + 4 * version
        self.dark = [[False] * self.size for _ in range(self.size)]
        self.fixed = [[False] * self.size for _ in range(self.size)]
        last = self.size - 1
        for place in range(self.size):
            self._set(6, place, place % 2 == 0)
            self._set(place, 6, place % 2 == 0)
        marks = _alignment(version)
        for x in marks:
            for y in marks:
                if (x, y) not in ((6, 6), (6, last - 6), (last - 6, 6)):
                    self._square(x, y, 2, (2, 0))
        for x, y in ((3, 3), (last - 3, 3), (3, last - 3)):
            self._square(x, y, 4, (0, 1, 3))
        self._format(0)
        if version >= 7:
            rest = version
            for _ in range(12):
                rest = rest << 1 ^ (rest >> 11) * 0x1F25
            bits = version << 12 | rest
            for place in range(18):
                a, b = self.size - 11 + place % 3, place // 3
                self._set(a, b, bool(bits >> place & 1))
                self._set(b, a, bool(bits >> place & 1))

    def _set(self, x: int, y: int, is_dark: bool) -> None:
        self.dark[y][x], self.fixed[y][x] = is_dark, True

    def _square(self, x: int, y: int, reach: int, rings: tuple[int, ...]) -> None:
        """Draw rings around a point that are dark, as far as they are on the grid."""
        for dy in range(-reach, reach + 1):
            for dx in range(-reach, reach + 1):
                if 0 <= x + dx < self.size and 0 <= y + dy < self.size:
                    self._set(x + dx, y + dy, max(abs(dx), abs(dy)) in rings)

    def _format(self, mask: int) -> None:
        data = rest = _LEVEL_L << 3 | mask
        for _ in range(10):
            rest = rest << 1 ^ (rest >> 9) * 0x537
        bits = (data << 10 | rest) ^ 0x5412
        for place in range(15):
            is_dark = bool(bits >> place & 1)
            if place < 8:
                self._set(8, place + (place >= 6), is_dark)
                self._set(self.size - 1 - place, 8, is_dark)
            else:
                self._set(7 if place == 8 else 14 - place, 8, is_dark)
                self._set(8, self.size - 15 + place, is_dark)
        self._set(8, self.size - 8, True)

    def write(self, data: bytes) -> None:
        """Place codewords in columns of two, upwards and downwards in turn, from the right."""
        place, is_upward = 0, True
        for right in [*range(self.size - 1, 6, -2), *range(5, 0, -2)]:
            for step in range(self.size):
                y = self.size - 1 - step if is_upward else step
                for x in (right, right - 1):
                    if not self.fixed[y][x]:
                        if place < len(data) * 8:
                            self.dark[y][x] = bool(data[place >> 3] >> 7 - place % 8 & 1)
                        place += 1
            is_upward = not is_upward

    def masked(self) -> Rows:
        """Return the rows with the mask that readers like best."""
        best: Rows = []
        least = -1
        for number, rule in enumerate(_MASKS):
            self._format(number)
            rows = [
                [dark != (not self.fixed[y][x] and rule(x, y)) for x, dark in enumerate(row)]
                for y, row in enumerate(self.dark)
            ]
            cost = _penalty(rows)
            if least < 0 or cost < least:
                best, least = rows, cost
        return best


def _penalty(rows: Rows) -> int:
    """Return how hard a code is to read: long runs, squares, what looks like a corner, too much of one colour."""
    size, cost = len(rows), 0
    lines = ["".join("01"[one] for one in row) for row in (*rows, *zip(*rows, strict=True))]
    for line in lines:
        run = 1
        for place in range(1, size + 1):
            if place < size and line[place] == line[place - 1]:
                run += 1
                continue
            cost += run - 2 if run >= 5 else 0
            run = 1
        for mark in ("10111010000", "00001011101"):
            cost += 40 * sum(line.startswith(mark, place) for place in range(size - 10))
    for above, below in itertools.pairwise(rows):
        pairs = list(zip(above, below, strict=True))
        cost += 3 * sum(one == two and one[0] == one[1] for one, two in itertools.pairwise(pairs))
    share = sum(map(sum, rows)) * 100 // (size * size)
    return cost + abs(share - 50) // 5 * 10
