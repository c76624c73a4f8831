"""core/ keeps its promise to other firmware: its own tests pass under a real MicroPython."""

import glob
import importlib.util
import os

import pytest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES = sorted(glob.glob(HERE + "/core/test_*.py"))


def load_runner():
    # tests/micropython.py is a program; as `import micropython` it would be taken for MicroPython's own module.
    spec = importlib.util.spec_from_file_location("oasis_tests_micropython", HERE + "/micropython.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RUNNER = load_runner()


@pytest.mark.parametrize("path", FILES, ids=[os.path.basename(path) for path in FILES])
def test_core_passes_under_micropython(path):
    if not RUNNER.program():
        pytest.skip(RUNNER.ADVICE)
    ran, failed, words = RUNNER.run_file(RUNNER.program(), path)
    assert failed == 0, words
    assert ran > 0, "a file without tests"


def test_a_failing_test_fails_there_too(tmp_path):
    if not RUNNER.program():
        pytest.skip(RUNNER.ADVICE)
    path = tmp_path / "test_wrong.py"
    path.write_text("def test_wrong():\n    assert 1 == 2\n\n\ndef test_right():\n    assert True\n")
    assert RUNNER.run_file(RUNNER.program(), str(path))[:2] == (2, 1)
