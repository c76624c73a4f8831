"""The conformance suite: every test runs over every backend that is here; one that is not is skipped, and says so."""

import os

import pytest

from oasis.errors import UciError
from tests.uci.programs import Folders
from tests.uci.values import NETWORK

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


def test_the_asked_backend_runs(cursor, place):
    assert cursor.backend == place.backend


def test_get_reads_options_lists_and_types(cursor):
    assert cursor.get("network", "lan", "proto") == "static"
    assert cursor.get("network", "lan", "dns") == ["1.1.1.1", "it's"]
    assert cursor.get("network", "lan") == "interface"
    assert cursor.get("network", "@rule[-1]", "note") == "two\nlines"
    assert cursor.get("network", "@rule[1]", "name") == "second"


def test_what_is_missing_reads_as_none(cursor):
    assert cursor.get("network", "lan", "nothing") is None
    assert cursor.get("network", "nothing", "x") is None
    assert cursor.get("network", "@rule[9]") is None
    assert cursor.get("nothing", "lan", "x") is None
    assert cursor.get_all("nothing") is None
    assert cursor.get_all("network", "nothing") is None
    assert cursor.load("nothing") is False


def test_tables_hold_name_type_anonymous_and_index(cursor):
    tables = list(cursor.get_all("network").values())
    assert [table[".index"] for table in tables] == [0, 1, 2, 3]
    assert [table[".anonymous"] for table in tables] == [False, True, False, True]
    assert [table[".name"] for table in tables] == ["lan", "cfg0292bd", "named", "cfg0492bd"]
    assert cursor.get_all("network", "cfg0292bd") == {
        ".name": "cfg0292bd",
        ".type": "rule",
        ".anonymous": True,
        ".index": 1,
        "name": "first",
    }


def test_returned_values_are_the_callers_own(cursor):
    cursor.get("network", "lan", "dns").append("x")
    cursor.get_all("network", "lan")["dns"].append("x")
    assert cursor.get("network", "lan", "dns") == ["1.1.1.1", "it's"]


def test_luci_readers(cursor):
    assert cursor.get_first("network", "rule") == "cfg0292bd"
    assert cursor.get_first("network", "rule", "on") == "yes"
    assert cursor.get_first("network", "host", "x", 7) == 7
    assert cursor.get_bool("network", "named", "on") is True
    assert cursor.get_bool("network", "lan", "proto") is False
    assert cursor.get_bool("network", "lan", "nothing", True) is True
    assert cursor.get_list("network", "lan", "proto") == ["static"]
    assert cursor.get_list("network", "lan", "nothing") == []


def test_foreach_stops_at_false(cursor):
    seen = []
    assert cursor.foreach("network", "rule", lambda table: seen.append(table[".name"])) is True
    assert seen == ["cfg0292bd", "named", "cfg0492bd"]
    seen.clear()
    assert cursor.foreach("network", None, lambda table: bool(seen.append(table[".name"]))) is True
    assert seen == ["lan"]
    assert cursor.foreach("network", "host", print) is False


@pytest.mark.parametrize("value", HURTING)
def test_any_text_survives_staging_and_commit(cursor, place, value):
    cursor.set("network", "lan", "proto", value)
    cursor.add_list("network", "lan", "dns", value)
    cursor.save("network")
    assert place.open().get("network", "lan", "proto") == value
    cursor.commit("network")
    fresh = place.open()
    assert fresh.get("network", "lan", "proto") == value
    assert fresh.get("network", "lan", "dns") == ["1.1.1.1", "it's", value]


def test_nothing_reaches_the_file_before_commit(cursor, place):
    cursor.set("network", "lan", "proto", "dhcp")
    cursor.save("network")
    assert place.files()["network"][1] == NETWORK
    assert place.open().get("network", "lan", "proto") == "dhcp"
    cursor.commit("network")
    assert b"\toption proto 'dhcp'\n" in place.files()["network"][1]
    assert place.deltas()["network"][1] == b""


def test_commit_keeps_the_mode_and_leaves_no_other_file(cursor, place):
    os.chmod(place.config / "network", 0o640)
    cursor.set("network", "lan", "proto", "dhcp")
    cursor.commit()
    assert place.files()["network"][0] == 0o640
    assert sorted(place.files()) == ["empty", "network"]


def test_commit_without_changes_leaves_the_file(cursor, place):
    cursor.set("network", "lan", "proto", "static")
    cursor.commit()
    assert place.files()["network"][1] == NETWORK


def test_set_makes_and_retypes_sections(cursor):
    cursor.set("network", "guest", "interface")
    assert cursor.get("network", "guest") == "interface"
    cursor.set("network", "guest", "rule")
    assert cursor.get("network", "guest") == "rule"


def test_lists_are_set_where_they_stand(cursor):
    cursor.set_list("network", "lan", "proto", ["a", "b"])
    cursor.set("network", "lan", "dns", ["it's", "8.8.8.8"])
    assert list(cursor.get_all("network", "lan").items())[4:] == [
        ("proto", ["a", "b"]),
        ("ipaddr", "192.168.1.1"),
        ("dns", ["it's", "8.8.8.8"]),
    ]
    cursor.set_list("network", "lan", "ipaddr", ["192.168.1.1"])
    assert cursor.get("network", "lan", "ipaddr") == ["192.168.1.1"]
    cursor.set_list("network", "lan", "dns", [])
    assert cursor.get("network", "lan", "dns") is None


def test_lists_grow_and_shrink(cursor):
    cursor.add_list("network", "lan", "proto", "x")
    assert cursor.get("network", "lan", "proto") == ["static", "x"]
    cursor.del_list("network", "lan", "proto", "static")
    cursor.del_list("network", "lan", "proto", "absent")
    assert cursor.get("network", "lan", "proto") == ["x"]
    cursor.del_list("network", "lan", "proto", "x")
    assert cursor.get("network", "lan", "proto") is None


def test_section_and_tset_fill_sections(cursor):
    assert cursor.section("network", "rule", "made", {"name": "x", "l": ["1", "2"], ".type": "ignored"}) == "made"
    cursor.tset("network", "made", {"name": None, "l": ["1"], "empty": ""})
    table = cursor.get_all("network", "made")
    assert table["l"] == ["1"] and "name" not in table and "empty" not in table
    name = cursor.section("network", "rule", values={"name": "anonymous"})
    assert name.startswith("cfg") and cursor.get("network", "@rule[-1]", "name") == "anonymous"


def test_added_sections_are_reached_by_name_and_index(cursor):
    name = cursor.add("network", "rule")
    assert name == "cfg0592bd"
    cursor.set("network", name, "name", "by name")
    cursor.set("network", "@rule[-1]", "other", "by index")
    assert cursor.get_all("network", name)["other"] == "by index"
    assert cursor.get_all("network", name)[".anonymous"] is True


def test_delete_removes_options_and_sections(cursor):
    cursor.delete("network", "lan", "proto")
    cursor.delete("network", "@rule[0]")
    assert cursor.get("network", "lan", "proto") is None
    assert [table[".name"] for table in cursor.sections("network", "rule")] == ["named", "cfg0492bd"]


def test_delete_all_takes_what_matches(cursor):
    assert cursor.delete_all("network", "rule", {"name": "second"}) == 1
    assert cursor.delete_all("network", "rule", lambda table: "note" in table) == 1
    assert cursor.delete_all("network", "rule") == 1
    assert [table[".name"] for table in cursor.sections("network")] == ["lan"]


def test_rename_and_reorder(cursor, place):
    cursor.rename("network", "@rule[0]", "first")
    cursor.rename("network", "lan", "proto", "protocol")
    cursor.reorder("network", "first", 0)
    cursor.save("network")
    fresh = place.open()
    assert [table[".name"] for table in fresh.sections("network")][:2] == ["first", "lan"]
    assert fresh.get("network", "lan", "protocol") == "static"
    assert fresh.get_all("network", "first")[".anonymous"] is False


def test_changes_name_the_operation(cursor):
    cursor.set("network", "lan", "proto", "x\ny")
    cursor.set("network", "new", "host")
    cursor.add("network", "rule")
    cursor.add_list("network", "lan", "dns", "2")
    cursor.del_list("network", "lan", "dns", "2")
    cursor.rename("network", "named", "renamed")
    cursor.reorder("network", "renamed", 0)
    cursor.delete("network", "lan", "ipaddr")
    assert cursor.changes() == {
        "network": [
            ["set", "lan", "proto", "x\ny"],
            ["set", "new", "host"],
            ["add", "cfg0692bd", "rule"],
            ["list-add", "lan", "dns", "2"],
            ["list-del", "lan", "dns", "2"],
            ["rename", "named", "renamed"],
            ["order", "renamed", "0"],
            ["remove", "lan", "ipaddr"],
        ]
    }
    assert cursor.changes("empty") == {}


def test_revert_takes_back_package_section_or_option(cursor, place):
    for section in ("lan", "named", "@rule[0]"):
        cursor.set("network", section, "a", "1")
        cursor.set("network", section, "b", "1")
    cursor.save("network")
    cursor.revert("network", "lan", "a")
    assert (cursor.get("network", "lan", "a"), cursor.get("network", "lan", "b")) == (None, "1")
    cursor.revert("network", "@rule[0]")
    assert cursor.get("network", "@rule[0]", "b") is None
    assert cursor.get("network", "named", "a") == "1"
    cursor.revert("network")
    assert cursor.changes() == {}
    assert place.deltas()["network"][1] == b""


def test_export_and_import(cursor, place):
    text = cursor.export("network")
    assert text.startswith(b"package network\n\nconfig interface 'lan'\n")
    assert cursor.export() == cursor.export("empty") + text
    cursor.import_(text, "empty")
    assert cursor.export("empty") == text.replace(b"package network", b"package empty")
    assert place.files()["empty"][1] == text.partition(b"\n")[2]
    cursor.import_(b"config interface lan\n option proto merged\nconfig rule\n", "network", merge=True)
    assert cursor.get("network", "lan", "proto") == "merged"
    assert cursor.get("network", "lan", "ipaddr") == "192.168.1.1"
    assert place.files()["network"][1] == NETWORK
    cursor.import_(b"package empty\npackage network\n")
    assert (place.files()["empty"][1], place.files()["network"][1]) == (b"\n", b"\n")


def test_configs_lists_packages(cursor, place):
    (place.config / "with.dot").write_bytes(b"")
    (place.config / "folder").mkdir()
    assert cursor.configs() == ["empty", "network"]


def test_folders_can_be_changed(cursor, tmp_path):
    other = Folders(tmp_path / "other")
    other.write({"network": b"config host h\n"})
    assert cursor.confdir(str(other.config)) == str(other.config)
    assert cursor.savedir(str(other.save)) == str(other.save) == cursor.savedir()
    assert cursor.get("network", "h") == "host"


@pytest.mark.parametrize("name", ["/etc/config/network", "../network", "a/b", "", "a b", "-c\n"])
def test_package_names_are_checked_first(cursor, place, name):
    for attempt in (
        lambda: cursor.get(name, "lan", "proto"),
        lambda: cursor.set(name, "lan", "proto", "x"),
        lambda: cursor.commit(name),
        lambda: cursor.import_(b"", name),
        lambda: cursor.export(name),
        lambda: cursor.stage([{"op": "add", "package": name, "type": "rule"}]),
    ):
        with pytest.raises(UciError):
            attempt()
    assert place.files()["network"][1] == NETWORK and not place.deltas()


@pytest.mark.parametrize(
    "attempt",
    [
        lambda cursor: cursor.set("network", "nothing", "x", "1"),
        lambda cursor: cursor.set("network", "lan", "bad-name", "1"),
        lambda cursor: cursor.set("network", "lan", "x", "bell\a"),
        lambda cursor: cursor.set("network", "lan", "x", "zero\0"),
        lambda cursor: cursor.set("network", "lan", "x", "half \ud800"),
        lambda cursor: cursor.set("network", "bad-name", "rule"),
        lambda cursor: cursor.set("network", "s", "bad type"),
        lambda cursor: cursor.set("nothing", "lan", "x", "1"),
        lambda cursor: cursor.add("network", "bad type"),
        lambda cursor: cursor.delete("network", "lan", "nothing"),
        lambda cursor: cursor.delete("network", "@rule[7]"),
        lambda cursor: cursor.delete("network", "@rule[x]"),
        lambda cursor: cursor.rename("network", "lan", "bad-name"),
        lambda cursor: cursor.rename("network", "lan", "named"),
        lambda cursor: cursor.rename("network", "lan", "proto", "ipaddr"),
        lambda cursor: cursor.reorder("network", "lan", "first"),
        lambda cursor: cursor.reorder("network", "lan", -1),
        lambda cursor: cursor.get("network", "@rule[x]"),
        lambda cursor: cursor.revert("nothing"),
        lambda cursor: cursor.export("nothing"),
    ],
)
def test_refused_operations_change_nothing(cursor, place, attempt):
    with pytest.raises(UciError):
        attempt(cursor)
    cursor.commit()
    assert place.files()["network"][1] == NETWORK
    assert cursor.changes() == {}


def test_a_broken_file_is_told_with_line_and_byte(cursor, place):
    (place.config / "broken").write_bytes(b"config a\n\toption b 'c\n")
    with pytest.raises(UciError, match=r"Parse error \(EOF with unterminated '\) at line 2, byte 13"):
        cursor.get("broken", "a")
