"""Our `uci` against the real one: generated cases, every step's output, every file, every delta."""

import os

import pytest

from tests.uci.generated import Case, damaged_files
from tests.uci.programs import Folders, real_program, run_ours, run_real

pytestmark = pytest.mark.skipif(
    real_program() is None, reason="NOT RUN: no real uci on PATH, equality with it is not tested here"
)

# OASIS_UCI_SEEDS=FIRST:COUNT tries other cases than these.
FIRST, COUNT = (int(part) for part in os.environ.get("OASIS_UCI_SEEDS", "1:200").split(":"))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_every_step_equals_the_real_uci(seed, tmp_path):
    print("seed", seed)
    case = Case(seed)
    real, ours = Folders(tmp_path / "real"), Folders(tmp_path / "ours")
    for folders in (real, ours):
        folders.write(case.files, case.deltas)
        folders.write_more(case.extra_delta, case.override, case.input)
    for number, (arguments, stdin) in enumerate(case.steps):
        print("step", number, arguments, stdin)
        expected = run_real([*real.options(), *real.named(arguments)], stdin)
        assert run_ours([*ours.options(), *ours.named(arguments)], stdin) == expected
        assert ours.everything() == real.everything()


@pytest.mark.parametrize("seed", range(FIRST, FIRST + max(1, COUNT // 10)))
def test_damaged_files_parse_as_in_the_real_uci(seed, tmp_path):
    print("seed", seed)
    folders = Folders(tmp_path)
    folders.write(damaged_files(seed))
    for arguments in (["export"], ["-S", "show"], ["-n", "export"]):
        expected = run_real([*folders.options(), *arguments])
        assert run_ours([*folders.options(), *arguments]) == expected
