"""The modules of package/, which are scripts and no Python package."""

import importlib
import os
import sys
import types

import pytest

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODULES = ("archive", "apk", "build", "catalogue", "feed", "ipk", "manifest", "release")


def has_python(version):
    """Tell whether packages with bytecode can be made for a Python here."""
    build = modules().build
    try:
        return bool(build.interpreter(version))
    except build.BuildError:
        return False


def modules():
    sys.path.insert(0, REPOSITORY + "/package")
    found = {name: importlib.import_module(name) for name in MODULES}
    sys.path.remove(REPOSITORY + "/package")
    return types.SimpleNamespace(REPOSITORY=REPOSITORY, **found)


@pytest.fixture(scope="session")
def packaging():
    """Return the modules of package/ by name, and REPOSITORY."""
    return modules()
