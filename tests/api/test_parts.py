"""Optional parts: manifests say who takes part in turns, so that nobody else is made for them."""

import pytest

from oasis import parts as manifests
from oasis.api.table import TABLE
from oasis.daemon.wiring import Daemon
from oasis.errors import UsageError
from oasis.system.root import Root
from tests.oasisd import copy_root


@pytest.fixture
def parts(tmp_path):
    daemon = Daemon(Root(copy_root(str(tmp_path / "root")), []))
    yield daemon.parts
    daemon.stop()


def test_the_tables_of_who_takes_part_in_turns_say_what_the_parts_are(parts):
    made = {name: parts.part(name) for name in parts.modules}
    says = {
        "source": manifests.merged("TOOLS"),
        "sources": manifests.merged("OUTSIDE"),
        "added": manifests.listed("ADDING"),
        "after": manifests.listed("LOOKING"),
        "settle": manifests.merged("SETTLING"),
    }
    for attribute, names in says.items():
        assert {name for name in made if hasattr(made[name], attribute)} == set(names)


def test_what_is_not_installed_says_so(parts):
    with pytest.raises(UsageError, match="there is no part 'knitting'"):
        parts.part("knitting")


def test_a_manifest_names_what_is_there():
    for attribute in ("METHODS", "COMMANDS", "CHAT_COMMANDS"):
        for name, value in manifests.merged(attribute).items():
            place = value if isinstance(value, str) else next(one for one in value if str(one).startswith("parts."))
            module, _, function = place.partition(":")
            assert hasattr(__import__("oasis." + module, fromlist=["x"]), function or "gather"), name
    words = {name.partition(".")[0] for name in TABLE}
    assert set(manifests.merged("METHODS")) - {"said"} <= words


@pytest.mark.part("schedule")
def test_listing_the_tools_makes_no_part_and_a_call_makes_its_own(parts):
    schedule = next(source for source in parts.sources() if source.name == "schedule")
    assert [spec["name"] for spec in schedule.specs()]
    assert not any(parts.is_made(name) for name in parts.modules)
    assert schedule.call("schedule_list", {}, None, None)["orders"] == []
    assert [name for name in parts.modules if parts.is_made(name)] == ["schedule"]


def test_the_rows_of_a_part_are_handled_by_that_part_and_its_roles_name_real_methods():
    for manifest in manifests.manifests():
        rows = getattr(manifest, "ROWS", {})
        assert {row[1].partition(".")[0] for row in rows.values()} <= set(getattr(manifest, "METHODS", {}))
        assert all(name in TABLE for names in getattr(manifest, "ROLE_METHODS", {}).values() for name in names)
        assert "owner" not in getattr(manifest, "ROLE_METHODS", {}) and "owner" not in getattr(
            manifest, "ROLE_TOOLS", {}
        )
