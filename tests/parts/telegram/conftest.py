"""One scene for all tests of a module that only talk in it, each with people of its own."""

from __future__ import annotations

import pytest

from tests.parts.telegram.kit import Scene


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    made = Scene(tmp_path_factory.mktemp("telegram"), notices="0", pace_ms="150").start()
    yield made
    made.close()


@pytest.fixture
def scenes(tmp_path):
    """Make scenes of one's own: `scenes(**options)`, not started yet."""
    made = []

    def make(**options):
        made.append(Scene(tmp_path / str(len(made)), **options))
        return made[-1]

    (tmp_path / "0").mkdir()
    (tmp_path / "1").mkdir()
    yield make
    for one in made:
        one.close()
