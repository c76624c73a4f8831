"""Draw the layers of oasis/ from the rows of tests/repository/test_layout.py: `python3 tests/architecture.py`.

docs/architecture.md shows what this prints; tests/repository/test_documents.py compares the two.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from tests.repository.test_layout import ROWS

WIDTH = 92
BAR = "+" + "-" * (WIDTH - 2) + "+"


def box(number: int, row: tuple[str, ...]) -> str:
    """Return the line of one row: its parts side by side."""
    return f"| {number:2}  {'  |  '.join(row):{WIDTH - 8}} |"


def picture() -> str:
    """Return the whole picture: a row imports rows below it only, parts of one row do not import each other."""
    lines = [BAR, *(box(number, ROWS[-number]) for number in range(len(ROWS), 0, -1)), BAR]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(picture())
