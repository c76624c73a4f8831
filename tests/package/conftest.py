"""The modules of package/, which are scripts and no Python package."""

import importlib
import os
import sys
import types

import pytest

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODULES = ("archive", "apk", "build", "catalogue", "feed", "ipk", "manifest")


@pytest.fixture(scope="session")
def packaging():
    """Return the modules of package/ by name, and REPOSITORY."""
    sys.path.insert(0, REPOSITORY + "/package")
    found = {name: importlib.import_module(name) for name in MODULES}
    return types.SimpleNamespace(REPOSITORY=REPOSITORY, **found)
