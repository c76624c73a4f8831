"""What packages ship passes: every section type and option is known, every value is good; only exec is the owner's."""

import os

import pytest

from oasis.catalogue import check, entries
from tests.change.drafting import DEFAULTS, STOCK, as_operations, defaults, is_exec, nothing

SHIPPED = sorted(os.listdir(DEFAULTS))


def test_every_package_has_defaults_or_is_in_the_stock_router():
    assert set(SHIPPED) | set(STOCK) >= set(entries.by_hand())
    assert set(SHIPPED) <= set(entries.packages())


@pytest.mark.parametrize("package", SHIPPED)
def test_defaults_written_once_more_are_no_finding(package):
    sections = defaults(package)
    operations = as_operations(package, sections)
    # adding to a list what it has is a change, setting an option to what it is is none
    kept = [item for item in operations if item["op"] != "add_list" or not is_exec(item, sections)]
    assert len(kept) > 1
    assert check.check(kept, defaults) == []


@pytest.mark.parametrize("package", SHIPPED)
def test_defaults_are_known_and_only_exec_is_refused(package):
    def others(name):
        return {} if name == package else defaults(name)

    found = check.check(as_operations(package, defaults(package)), others)
    assert [finding for finding in found if finding["kind"] != "exec"] == []


@pytest.mark.parametrize("package", SHIPPED)
def test_every_option_of_the_defaults_has_an_entry(package):
    for name, section in defaults(package).items():
        for option in section:
            if not option.startswith("."):
                assert entries.option(package, section[".type"], option) is not None, (name, option)


@pytest.mark.parametrize("package", SHIPPED)
def test_defaults_hold_something_for_a_change_or_are_the_owners_alone(package):
    marks = {
        check.mark(package, section[".type"], option)
        for section in defaults(package).values()
        for option in section
        if not option.startswith(".")
    }
    assert package == "ucitrack" or marks & {"plain", "outward"}


def test_defaults_are_not_written_by_nothing():
    assert nothing("sqm") == {} != defaults("sqm")
