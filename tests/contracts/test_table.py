"""The table of the seed's interfaces and tools names tests that are there."""

import os
import re

from tests.contracts import table

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def test_every_test_of_the_table_is_there():
    for _, ours, where in table.ROWS:
        file, _, name = where.partition("::")
        with open(os.path.join(REPOSITORY, table.T + file), encoding="utf-8") as handle:
            text = handle.read()
        assert name == "*" or re.search(rf"^(async )?def {name}\(", text, re.MULTILINE), f"{ours}: {where}"
    assert len(table.table()) == len(table.ROWS) >= 40
