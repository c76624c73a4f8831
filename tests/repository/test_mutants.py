"""The list of `make mutants` goes with the code: each text that it replaces is there once, its tests are files."""

import os

import pytest

from tests import mutants
from tests.oasisd import parts_in


@pytest.mark.parametrize(
    "mutant",
    [pytest.param(one, id=one[0], marks=pytest.mark.part(*parts_in(one[1], *one[4]))) for one in mutants.MUTANTS],
)
def test_a_mutant_names_a_text_that_is_there_once_and_tests_that_exist(mutant):
    _, file, old, new, tests = mutant
    with open(os.path.join(mutants.REPOSITORY, file), encoding="utf-8") as handle:
        assert handle.read().count(old) == 1
    assert new != old
    assert tests
    assert [test for test in tests if not os.path.exists(os.path.join(mutants.REPOSITORY, test.split("::")[0]))] == []


def test_no_two_mutants_have_one_name():
    names = [mutant[0] for mutant in mutants.MUTANTS]
    assert sorted(set(names)) == sorted(names)
