"""What stands beside the chat: who takes part in turns is told by tables, so that nobody else is made for them."""

import pytest

from oasis.api import parts as beside
from oasis.daemon.wiring import Daemon
from oasis.system.root import Root
from tests.oasisd import copy_root


@pytest.fixture
def parts(tmp_path):
    daemon = Daemon(Root(copy_root(str(tmp_path / "root")), []))
    yield daemon.beside
    daemon.stop()


def test_the_tables_of_who_takes_part_in_turns_say_what_the_parts_are(parts):
    made = {name: parts.part(name) for name in beside.PARTS}
    for table, attribute in ((beside.OFFERING, "source"), (beside.ADDING, "added"), (beside.LOOKING, "after")):
        assert [name for name in made if hasattr(made[name], attribute)] == list(table)


def test_listing_the_tools_makes_no_part_and_a_call_makes_its_own(parts):
    schedule = next(source for source in parts.sources() if source.name == "schedule")
    assert [spec["name"] for spec in schedule.specs()]
    assert not any(parts.is_made(name) for name in beside.PARTS)
    assert schedule.call("schedule_list", {}, None, None)["orders"] == []
    assert [name for name in beside.PARTS if parts.is_made(name)] == ["schedule"]
