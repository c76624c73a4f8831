import pytest

from oasis.errors import UciError
from oasis.uci.model import preview

LAN = b"# a comment\nconfig interface lan\n option proto static # tail\n"


def one(**operation):
    return preview({"network": LAN, "other": b"x broken"}, [{"package": "network", **operation}])


def test_only_packages_with_effect_change():
    files = one(op="set", section="lan", option="proto", value="dhcp")
    assert files == {"network": b"\nconfig interface 'lan'\n\toption proto 'dhcp'\n\n", "other": b"x broken"}


def test_operations_without_effect_keep_comments_and_quoting():
    assert one(op="set", section="lan", option="proto", value="static")["network"] == LAN
    assert one(op="set", section="lan", option="absent", value="")["network"] == LAN
    assert preview({"network": LAN}, []) == {"network": LAN}


def test_an_empty_value_deletes():
    assert one(op="set", section="lan", option="proto", value="")["network"] == b"\nconfig interface 'lan'\n\n"


def test_added_sections_are_reached_by_a_negative_index():
    steps = [
        {"op": "add", "package": "network", "type": "rule"},
        {"op": "set", "package": "network", "section": "@rule[-1]", "option": "name", "value": "a"},
        {"op": "add", "package": "network", "type": "rule"},
        {"op": "set", "package": "network", "section": "@rule[-1]", "option": "name", "value": "b"},
        {"op": "reorder", "package": "network", "section": "@rule[1]", "index": 0},
    ]
    assert preview({"network": b"config rule base\n"}, steps)["network"] == (
        b"\nconfig rule\n\toption name 'a'\n\nconfig rule 'base'\n\nconfig rule\n\toption name 'b'\n\n"
    )


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"op": "set", "section": "x", "option": "o", "value": "1"}, "operation 1: network.x.o: Entry not found"),
        ({"op": "delete", "section": "lan", "option": "o"}, "operation 1: network.lan.o: Entry not found"),
        ({"op": "delete", "section": "@rule[0]"}, r"operation 1: network.@rule[0]: Entry not found"),
        ({"op": "rename", "section": "lan", "name": "a-b"}, "operation 1: network.lan: name of rename is not valid"),
        ({"op": "set", "section": "lan", "option": "a-b", "value": "1"}, "option of set is not valid"),
        ({"op": "set", "section": "lan", "option": "o"}, "value of set is missing"),
        ({"op": "set", "section": "lan", "option": "o", "value": 1}, "value of set is not valid"),
        ({"op": "reorder", "section": "lan", "index": True}, "index of reorder is not valid"),
        ({"op": "add", "type": "a b"}, "operation 1: network: type of add is not valid"),
        ({"op": "add", "type": "rule", "name": "x"}, "add takes no name"),
        ({"op": "burn", "section": "lan"}, "unknown operation burn"),
        ({"op": ["set"], "section": "lan"}, "unknown operation"),
    ],
)
def test_refusals_name_operation_and_target(operation, message):
    with pytest.raises(UciError) as caught:
        one(**operation)
    assert message in caught.value.message and caught.value.hint


def test_refusals_count_operations_from_one():
    fine = {"op": "add", "package": "network", "type": "rule"}
    with pytest.raises(UciError, match="operation 3: "):
        preview({"network": LAN}, [fine, fine, {"op": "delete", "package": "network", "section": "no"}])


def test_missing_and_broken_packages_are_told():
    step = {"op": "add", "package": "other", "type": "rule"}
    with pytest.raises(UciError, match="operation 1: other: Entry not found"):
        preview({"network": LAN}, [step])
    with pytest.raises(UciError, match=r"operation 1: other: Parse error \(invalid command\) at line 0, byte 0"):
        preview({"other": b"x broken"}, [step])
    with pytest.raises(UciError):
        preview({"../x": b""}, [{"op": "add", "package": "../x", "type": "rule"}])
