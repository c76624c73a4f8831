"""A wheel has all that the programs read: what is no Python under oasis/ is covered by a glob of package-data."""

import fnmatch
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

from tests.oasisd import PARTS

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def globs():
    """Return {package: [glob]} of pyproject.toml; Python 3.10 has no reader of TOML."""
    with open(os.path.join(TOP, "pyproject.toml"), encoding="utf-8") as file:
        table = re.search(r"^\[tool\.setuptools\.package-data\]\n(.*?)(?=^\[)", file.read(), re.M | re.S).group(1)
    return {name: re.findall(r'"([^"]+)"', value) for name, value in re.findall(r'^"([^"]+)" = \[(.*)\]$', table, re.M)}


def files():
    """Return every file under oasis/ but what Python and editors leave behind."""
    for folder, names, found in os.walk(os.path.join(TOP, "oasis")):
        names[:] = [name for name in names if not name.startswith((".", "__pycache__"))]
        yield from (os.path.relpath(os.path.join(folder, name), TOP) for name in found if not name.startswith("."))


def owner(path):
    """Return the package that a file belongs to, and its path from there."""
    folder = os.path.dirname(path)
    while not os.path.exists(os.path.join(TOP, folder, "__init__.py")):
        folder = os.path.dirname(folder)
    return folder.replace(os.sep, "."), os.path.relpath(path, folder)


def test_every_file_of_data_is_covered():
    known = globs()
    data = [path for path in files() if not path.endswith((".py", ".pyc"))]
    assert len(data) >= 40
    for path in data:
        package, inside = owner(path)
        wanted = [glob for glob in known.get("*", []) + known.get(package, []) if glob.count("/") == inside.count("/")]
        assert any(fnmatch.fnmatchcase(inside, glob) for glob in wanted), path


@pytest.mark.part(*PARTS)
def test_every_glob_covers_something():
    data = [owner(path) for path in files()]
    for package, patterns in globs().items():
        for pattern in patterns:
            assert any(package in ("*", name) and fnmatch.fnmatchcase(inside, pattern) for name, inside in data), (
                pattern
            )


def test_a_wheel_has_every_file(tmp_path):
    pytest.importorskip("setuptools", minversion="70.1", reason="builds wheels by itself only from 70.1 on")
    source = tmp_path / "source"
    shutil.copytree(os.path.join(TOP, "oasis"), source / "oasis", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(os.path.join(TOP, name), source)
    code = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / done.stdout.split()[-1]) as wheel:
        assert set(wheel.namelist()) >= set(files())
