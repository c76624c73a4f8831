"""What one sentence costs the daemon is counted, and may only become less."""

import pytest

from tests.bench import turn_cost

# The least that a sentence costs: one that the built-in service answers.
pytestmark = pytest.mark.part("offline")

# The most that the first sentence of a daemon costs, which makes what an idle one does without, and a later one; lower
# them when they have come down.
FIRST = {"reads": 16, "parses": 4, "functions": 628, "requests": 1}
LATER = {"reads": 14, "parses": 3, "functions": 574, "requests": 1}


# On a busy machine what the daemon looks after by itself can fall into the time that is counted: least of so many runs.
TRIES = 3


@pytest.fixture(scope="module")
def costs(tmp_path_factory):
    least = []
    for _ in range(TRIES):
        counted = [turn_cost.summed(told) for told in turn_cost.costs(str(tmp_path_factory.mktemp("cost")))]
        pairs = zip(least or counted, counted, strict=True)
        least = [{what: min(old[what], new[what]) for what in turn_cost.NUMBERS} for old, new in pairs]
        if all(cost[what] <= most[what] for cost, most in zip(least, (FIRST, LATER), strict=True) for what in most):
            break
    return least


@pytest.mark.parametrize(("number", "most"), [(0, FIRST), (1, LATER)])
def test_a_sentence_costs_no_more_than_it_did(costs, number, most):
    assert all(costs[number][what] <= most[what] for what in turn_cost.NUMBERS), costs[number]


def test_the_counter_counts(costs):
    assert all(cost[what] > 0 for cost in costs for what in turn_cost.NUMBERS), costs
