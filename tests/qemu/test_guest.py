"""The whole of it: a router in an emulator. Minutes long, so only when asked for: `make qemu`, `pytest -m qemu`."""

import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
# Six minutes on two idle processors; the tests' own limit is for tests of seconds.
LONGEST_S = 3000


@pytest.mark.qemu
@pytest.mark.timeout(LONGEST_S)
def test_a_router_in_an_emulator_passes_every_step():
    done = subprocess.run([sys.executable, HERE + "/run.py"], stdout=subprocess.PIPE, text=True, check=False)
    last = done.stdout.strip().split("\n")[-1]
    if "SKIPPED" in done.stdout:
        pytest.skip(last)
    assert done.returncode == 0, done.stdout[-8000:]
    assert " 0 failed" in last
