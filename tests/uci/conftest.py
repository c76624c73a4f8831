"""The backends that the conformance tests run over, and a package to try them on."""

import pytest

from oasis.uci.backends import find_module, open_cursor
from tests.uci.programs import Folders, real_program, run, run_as_program
from tests.uci.values import NETWORK

# The program backend runs over our own `uci` everywhere, and over the real one where there is one.
BACKENDS = [
    "file",
    "program on ours",
    pytest.param(
        "program",
        marks=pytest.mark.skipif(real_program() is None, reason="NOT RUN: no real uci on PATH for the program backend"),
    ),
    pytest.param(
        "pyuci",
        marks=pytest.mark.skipif(
            real_program() is None or find_module() is None,
            reason="NOT RUN: no pyuci module, or no real uci on PATH beside it",
        ),
    ),
]


@pytest.fixture(params=BACKENDS)
def place(request, tmp_path):
    folders = Folders(tmp_path)
    folders.write({"network": NETWORK, "empty": b""})
    folders.backend, _, over = request.param.partition(" on ")

    def reopen():
        start = run_as_program if over else run
        return open_cursor(str(folders.config), str(folders.save), folders.backend, run=start, program=real_program())

    folders.open = reopen
    return folders


@pytest.fixture
def cursor(place):
    return place.open()
