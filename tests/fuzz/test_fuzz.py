"""Every fuzz target for a few seconds, from another place each day; `make fuzz` runs them for longer."""

import datetime

import pytest

from tests.fuzz.fuzz import Fault, changed, run
from tests.fuzz.targets import SEEDS, TARGETS, WORDS

SECONDS = 6  # for each of fourteen targets: what `make test` may give; `make fuzz` gives more


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_is_a_fault(name):
    # The day is the seed: a red run can be repeated, and no two days try the same.
    assert run(name, SECONDS, datetime.date.today().toordinal()) > len(SEEDS[name]) + 100, "too few to find anything"


def test_a_target_that_fails_is_found_and_told_with_its_input():
    def fails(data):
        assert b"option" not in data

    TARGETS["broken"], SEEDS["broken"], WORDS["broken"] = fails, [b"config", b"opt"], [b"ion", b"x"]
    try:
        with pytest.raises(Fault, match=r"(?s)broken: .*option.*seed 7"):
            run("broken", 20, 7)
    finally:
        for table in (TARGETS, SEEDS, WORDS):
            del table["broken"]


def test_the_same_seed_gives_the_same_inputs():
    import random

    seeds, words = SEEDS["uci"], WORDS["uci"]
    first, second = ([changed(seeds[0], seeds, words, random.Random(one)) for one in range(50)] for _ in range(2))
    assert first == second and len(set(first)) > 40
