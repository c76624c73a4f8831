"""The conformance suite: every test runs over every backend that is here; one that is not is skipped, and says so."""

import os

import pytest

from oasis.errors import UciError
from oasis.uci import model
from tests.uci.programs import Folders, run_ours
from tests.uci.values import NETWORK, operation, setting

HURTING = [
    "it's",
    '"',
    "\\",
    "a\nb",
    "\n",
    "tab\t",
    " x ",
    "#",
    ";",
    "$(id)",
    "`id`",
    "ü",
    "'\\''",
    "a=b",
    "\r\n",
    "-c",
]


def committed(cursor, place, *steps):
    """Return the sections by name after these operations and a commit."""
    cursor.stage(list(steps))
    cursor.commit("network")
    return {section.name: section for section in model.parse(place.files()["network"][1], "network").sections}


@pytest.mark.parametrize("value", HURTING)
def test_any_text_survives_staging_and_commit(cursor, place, value):
    lan = committed(
        cursor, place, setting("lan", "proto", value), operation("add_list", "lan", option="dns", value=value)
    )["lan"]
    assert lan.options["proto"] == value
    assert lan.options["dns"] == ["1.1.1.1", "it's", value]


def test_nothing_reaches_the_file_before_commit(cursor, place):
    cursor.stage([setting("lan", "proto", "dhcp")])
    assert place.files()["network"][1] == NETWORK
    assert place.open().changes("network") == [("", "lan", "proto", "dhcp")]
    cursor.commit("network")
    assert b"\toption proto 'dhcp'\n" in place.files()["network"][1]
    assert place.deltas()["network"][1] == b""


def test_commit_keeps_the_mode_and_leaves_no_other_file(cursor, place):
    os.chmod(place.config / "network", 0o640)
    committed(cursor, place, setting("lan", "proto", "dhcp"))
    assert place.files()["network"][0] == 0o640
    assert sorted(place.files()) == ["empty", "network"]


def test_commit_without_changes_leaves_the_file(cursor, place):
    committed(cursor, place, setting("lan", "proto", "static"))
    assert place.files()["network"][1] == NETWORK


def test_set_makes_and_retypes_sections(cursor, place):
    made = operation("set", "guest", type="interface")
    assert committed(cursor, place, made)["guest"].type == "interface"
    assert committed(cursor, place, operation("set", "guest", type="rule"))["guest"].type == "rule"


def test_lists_grow_and_shrink(cursor, place):
    def change(word, value):
        return operation(word, "lan", option="proto", value=value)

    assert committed(cursor, place, change("add_list", "x"))["lan"].options["proto"] == ["static", "x"]
    found = committed(cursor, place, change("del_list", "static"), change("del_list", "absent"))
    assert found["lan"].options["proto"] == ["x"]
    assert "proto" not in committed(cursor, place, change("del_list", "x"))["lan"].options


def test_added_sections_are_reached_by_their_index(cursor, place):
    found = committed(
        cursor,
        place,
        {"op": "add", "package": "network", "type": "rule"},
        setting("@rule[-1]", "name", "by name"),
        setting("@rule[-1]", "other", "by index"),
    )
    assert found["cfg0592bd"].options == {"name": "by name", "other": "by index"}
    assert found["cfg0592bd"].anonymous is True


def test_delete_removes_options_and_sections(cursor, place):
    found = committed(cursor, place, operation("delete", "lan", option="proto"), operation("delete", "@rule[0]"))
    assert "proto" not in found["lan"].options
    assert [name for name, section in found.items() if section.type == "rule"] == ["named", "cfg0392bd"]


def test_rename_and_reorder(cursor, place):
    found = committed(
        cursor,
        place,
        operation("rename", "@rule[0]", name="first"),
        operation("rename", "lan", option="proto", name="protocol"),
        operation("reorder", "first", index=0),
    )
    assert list(found)[:2] == ["first", "lan"]
    assert found["lan"].options["protocol"] == "static"
    assert found["first"].anonymous is False


def test_changes_name_the_operation(cursor):
    cursor.stage(
        [
            setting("lan", "proto", "x\ny"),
            operation("set", "new", type="host"),
            {"op": "add", "package": "network", "type": "rule"},
            operation("add_list", "lan", option="dns", value="2"),
            operation("del_list", "lan", option="dns", value="2"),
            operation("rename", "named", name="renamed"),
            operation("reorder", "renamed", index=0),
            operation("delete", "lan", option="ipaddr"),
        ]
    )
    assert cursor.changes("network") == [
        ("", "lan", "proto", "x\ny"),
        ("", "new", None, "host"),
        ("+", "cfg0692bd", None, "rule"),
        ("|", "lan", "dns", "2"),
        ("~", "lan", "dns", "2"),
        ("@", "named", None, "renamed"),
        ("^", "renamed", None, "0"),
        ("-", "lan", "ipaddr", None),
    ]
    assert cursor.changes("empty") == []


def test_revert_takes_back_what_is_staged(cursor, place):
    cursor.stage([setting(section, "a", "1") for section in ("lan", "named", "@rule[0]")])
    cursor.revert("network")
    assert cursor.changes("network") == []
    assert place.deltas()["network"][1] == b""
    cursor.commit("network")
    assert place.files()["network"][1] == NETWORK


@pytest.mark.parametrize("name", ["/etc/config/network", "../network", "a/b", "", "a b", "-c\n"])
def test_package_names_are_checked_first(cursor, place, name):
    for attempt in (
        lambda: cursor.commit(name),
        lambda: cursor.revert(name),
        lambda: cursor.stage([{"op": "add", "package": name, "type": "rule"}]),
    ):
        with pytest.raises(UciError):
            attempt()
    assert place.files()["network"][1] == NETWORK and not place.deltas()


@pytest.mark.parametrize(
    "refused",
    [
        setting("nothing", "x", "1"),
        setting("lan", "bad-name", "1"),
        setting("lan", "x", "bell\a"),
        setting("lan", "x", "zero\0"),
        setting("lan", "x", "half \ud800"),
        operation("set", "bad-name", type="rule"),
        operation("set", "s", type="bad type"),
        setting("lan", "x", "1") | {"package": "nothing"},
        {"op": "add", "package": "network", "type": "bad type"},
        operation("delete", "lan", option="nothing"),
        operation("delete", "@rule[7]"),
        operation("delete", "@rule[x]"),
        operation("delete", "@rule[" + "1" * 5000 + "]"),
        operation("rename", "lan", name="bad-name"),
        operation("rename", "lan", name="named"),
        operation("rename", "lan", option="proto", name="ipaddr"),
        operation("reorder", "lan", index="first"),
        operation("reorder", "lan", index=-1),
    ],
)
def test_refused_operations_change_nothing(cursor, place, refused):
    with pytest.raises(UciError):
        cursor.stage([setting("lan", "proto", "dhcp"), refused])
    cursor.commit("network")
    assert place.files()["network"][1] == NETWORK
    assert cursor.changes("network") == []


def test_a_package_that_is_not_there_is_refused(cursor):
    for attempt in (cursor.revert, cursor.commit):
        with pytest.raises(UciError):
            attempt("nothing")


def test_a_broken_file_is_told_with_line_and_byte(cursor, place):
    (place.config / "broken").write_bytes(b"config a\n\toption b 'c\n")
    with pytest.raises(UciError, match=r"Parse error \(EOF with unterminated '\) at line 2, byte 13"):
        cursor.stage([{"op": "add", "package": "broken", "type": "rule"}])


def test_a_write_leaves_the_same_files_as_the_program(place, tmp_path):
    """Bytes and modes, of the configuration and of what is staged."""
    other = Folders(tmp_path / "other")
    other.write({"network": NETWORK, "empty": b""})
    for folders in (place, other):
        os.chmod(folders.config, 0o755)
        os.chmod(folders.config / "network", 0o600)
    place.open().stage([setting("lan", "proto", "it's\n"), operation("delete", "@rule[0]")])
    run_ours([*other.options(), "batch"], b"set 'network.lan.proto=it'\\''s\n'\ndelete 'network.@rule[0]'\n")
    assert (place.files(), place.deltas()) == (other.files(), other.deltas())
    place.open().commit("network")
    run_ours([*other.options(), "commit", "network"])
    assert (place.files(), place.deltas()) == (other.files(), other.deltas())
