"""The table of the seed's interfaces and tools names tests that are there."""

import os
import re

import pytest

from tests.contracts import table
from tests.oasisd import parts_in

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROWS = [pytest.param(*row[1:], id=row[0], marks=pytest.mark.part(*parts_in(row[2]))) for row in table.ROWS]


@pytest.mark.parametrize(("ours", "where"), ROWS)
def test_a_test_of_the_table_is_there(ours, where):
    file, _, name = where.partition("::")
    with open(os.path.join(REPOSITORY, table.T + file), encoding="utf-8") as handle:
        text = handle.read()
    assert name == "*" or re.search(rf"^(async )?def {name}\(", text, re.MULTILINE), ours


def test_the_table_has_every_row():
    assert len(table.table()) == len(table.ROWS) >= 40
