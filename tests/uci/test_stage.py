"""Staging lists of operations, over every backend that is here."""

import pytest

from oasis.errors import UciError
from oasis.uci import model
from oasis.uci.model import preview
from tests.uci.values import NETWORK

STEPS = [
    {"op": "set", "package": "network", "section": "lan", "option": "proto", "value": 'it\'s\n"new"'},
    {"op": "add", "package": "network", "type": "rule"},
    {"op": "set", "package": "network", "section": "@rule[-1]", "option": "name", "value": "# no comment; none"},
    {"op": "add_list", "package": "network", "section": "@rule[-1]", "option": "l", "value": "1"},
    {"op": "add", "package": "empty", "type": "host"},
    {"op": "del_list", "package": "network", "section": "lan", "option": "dns", "value": "1.1.1.1"},
    {"op": "delete", "package": "network", "section": "@rule[0]"},
    {"op": "rename", "package": "network", "section": "named", "name": "other"},
    {"op": "rename", "package": "network", "section": "lan", "option": "ipaddr", "name": "address"},
    {"op": "reorder", "package": "network", "section": "@rule[-1]", "index": 0},
    {"op": "set", "package": "network", "section": "guest", "type": "interface"},
    {"op": "delete", "package": "network", "section": "other", "option": "on"},
]


def test_staged_operations_commit_to_what_preview_foresaw(cursor, place):
    expected = preview({"network": NETWORK, "empty": b""}, STEPS)
    assert cursor.stage(STEPS) == [None, "cfg0592bd", None, None, "cfg01fe63", *[None] * 7]
    assert place.files()["network"][1] == NETWORK
    cursor.commit()
    assert {name: data for name, (_, data) in place.files().items()} == expected


def test_stage_is_all_or_nothing_and_names_the_operation(cursor, place):
    steps = [*STEPS[:2], {"op": "set", "package": "network", "section": "nothing", "option": "x", "value": "1"}]
    with pytest.raises(UciError, match=r"operation 3: network\.nothing\.x: Entry not found"):
        cursor.stage(steps)
    assert cursor.changes() == {}
    assert cursor.get("network", "lan", "proto") == "static"


def test_stage_stands_on_what_is_already_staged(cursor, place):
    cursor.stage(STEPS[:1])
    cursor.stage([{"op": "add_list", "package": "network", "section": "lan", "option": "proto", "value": "x"}])
    assert place.open().get("network", "lan", "proto") == ['it\'s\n"new"', "x"]


def exports(files):
    return {name: model.export_text(model.parse(data, name)) for name, data in files.items()}


def test_write_drops_what_was_left_staged_and_commits_what_was_foreseen(cursor, place):
    cursor.stage([STEPS[0], {"op": "set", "package": "empty", "section": "left", "type": "over"}])
    expected = preview({"network": NETWORK, "empty": b""}, STEPS)
    place.open().write(STEPS, exports(expected))
    assert {name: data for name, (_, data) in place.files().items()} == expected
    assert place.open().changes() == {}


@pytest.mark.parametrize("name", ["network", "empty"])
def test_write_commits_nothing_when_one_package_is_not_as_expected(cursor, place, name):
    expected = exports(preview({"network": NETWORK, "empty": b""}, STEPS))
    expected[name] = expected[name].replace(b"config ", b"config x", 1)
    with pytest.raises(UciError, match=f"{name}: staging gave another result than planned; nothing was written"):
        cursor.write(STEPS, expected)
    assert {name: data for name, (_, data) in place.files().items()} == {"network": NETWORK, "empty": b""}
    assert place.open().changes() == {}


def test_write_refuses_an_operation_before_anything_is_staged(cursor, place):
    bad = {"op": "set", "package": "network", "section": "lan\n", "option": "x", "value": "1"}
    with pytest.raises(UciError, match="section of set is not valid"):
        cursor.write([STEPS[0], bad], exports({"network": NETWORK}))
    assert place.open().changes() == {}
