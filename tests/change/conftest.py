import pytest

from tests.change.kit import Kit


@pytest.fixture
def kit(tmp_path):
    made = Kit(tmp_path / "router")
    yield made
    made.transaction.stop()


@pytest.fixture
def make_kit(tmp_path):
    """Return a maker of kits with other settings; all are stopped at the end."""
    made = []

    def make(**settings):
        made.append(Kit(tmp_path / f"router{len(made)}", **settings))
        return made[-1]

    yield make
    for one in made:
        one.transaction.stop()
