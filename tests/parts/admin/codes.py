"""Reading QR codes back with somebody else's reader; a test that does is skipped where there is none."""

import pytest

SCALE, QUIET = 3, 4


def read(rows):
    """Return the texts that a reader finds in a picture of a code."""
    zxingcpp = pytest.importorskip("zxingcpp", reason="pip install zxing-cpp")
    size = (len(rows) + 2 * QUIET) * SCALE
    picture = bytearray(b"\xff" * (size * size))
    for y, row in enumerate(rows):
        for x, is_dark in enumerate(row):
            for line in range((y + QUIET) * SCALE, (y + QUIET + 1) * SCALE) if is_dark else ():
                start = line * size + (x + QUIET) * SCALE
                picture[start : start + SCALE] = bytes(SCALE)
    return [one.text for one in zxingcpp.read_barcodes(memoryview(bytes(picture)).cast("B", (size, size)))]


def from_lines(lines):
    """Return the rows of a code as a dark terminal shows it, with its quiet zone."""
    signs = {"█": (False, False), "▀": (False, True), "▄": (True, False), " ": (True, True)}
    rows = []
    for line in lines:
        pairs = [signs[sign] for sign in line]
        rows += [[one[0] for one in pairs], [one[1] for one in pairs]]
    return rows
