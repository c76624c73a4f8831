"""The rollback list of the Oasis that was here before: read as it lies on flash, undone like any change."""

import json
import os

import pytest

from oasis.change.history.lua_rollbacks import import_rollbacks
from oasis.change.history.undo import ConflictError, plan_undo
from oasis.change.uci_commands import parse
from oasis.errors import ApplyError, StoreError
from oasis.uci import model
from tests.change.kit import RENAME, FailingFiles


def command(verb, text):
    """Return a stored command as that program parsed it."""
    config, _, rest = text.partition(" " if verb == "add" else ".")
    if verb == "add":
        return {"param": text, "class": {"config": config, "section": rest}}
    where, sign, value = rest.partition("=")
    section, _, option = where.partition(".")
    found = {"config": config, "section": section}
    if option:
        found["option"] = option
    if sign:
        found["value"] = value
    return {"param": text, "class": found}


def store(kit, number, commands, files, names=None):
    """Lay a stored change where that program kept it."""
    folder = kit.root.path(f"/etc/oasis/backup/list{number}")
    os.makedirs(folder, exist_ok=True)
    for name, data in files.items():
        with open(f"{folder}/{name}", "wb") as handle:
            handle.write(data)
    stored = {verb: {} for verb in ("set", "add", "add_list", "del_list", "delete", "reorder")}
    for text in commands:
        verb, _, rest = text.partition(" ")
        stored[verb] = [*(stored[verb] or []), command(verb, rest)]
    stored["uci_notify"] = True
    with open(folder + "/uci_list.json", "w", encoding="utf-8") as handle:
        json.dump(stored, handle)
    with open(folder + "/backup_uci_list.json", "w", encoding="utf-8") as handle:
        json.dump(list(files) if names is None else names, handle)


def exported(kit, package):
    return model.export_text(model.parse(kit.config(package), package))


def change(kit, number, *commands):
    """Make a change as that program did: stored, then one commit a command."""
    package = commands[0].split(" ")[1].split(".")[0]
    store(kit, number, commands, {package: exported(kit, package)})
    cursor = kit.cursor()
    for text in commands:
        cursor.stage(parse("uci " + text)[0])
        cursor.commit(package)


def take_over(kit):
    return import_rollbacks(kit.journal, kit.files, kit.root.state_folder)


def undo(kit, record, **more):
    plan = plan_undo(kit.journal, kit.planner, record["id"], "r", "", **more)
    done = kit.transaction.apply(plan)
    if done["state"] == "applied":
        kit.transaction.confirm(done["id"])


def shape(data):
    return [(one.type, one.anonymous or one.name, one.options) for one in model.parse(data, "p").sections]


def test_stored_changes_are_in_the_history_oldest_last(kit):
    change(kit, 1, "set system.@system[0].hostname=cellar")
    change(kit, 2, "set wireless.default_radio0.ssid=Attic")
    change(kit, 10, "set system.@system[0].hostname=attic")
    assert take_over(kit) == 3
    records = kit.journal.records()
    assert [record["packages"] for record in records] == [["system"], ["wireless"], ["system"]]
    assert records[0]["words"] == ["Host name (system.@system[0].hostname): 'cellar' → 'attic'"]
    assert {record["source"] for record in records} == {"upstream"}
    assert {record["state"] for record in records} == {"confirmed"}
    assert abs(records[0]["when_unix_s"] - kit.clock.unix_s()) < 60


def test_a_stored_change_is_undone(kit):
    before = kit.config("wireless")
    change(kit, 1, "set wireless.default_radio0.ssid=Attic", "set wireless.default_radio0.hidden=1")
    take_over(kit)
    undo(kit, kit.journal.records()[0])
    assert shape(kit.config("wireless")) == shape(before)
    assert not kit.config("wireless").startswith(b"package")


def test_an_older_one_is_undone_under_a_newer_one(kit):
    change(kit, 1, "set system.@system[0].hostname=attic")
    change(kit, 2, "set system.@system[0].timezone=JST-9")
    take_over(kit)
    undo(kit, kit.journal.records()[1])
    assert b"hostname 'OpenWrt'" in kit.config("system")
    assert b"timezone 'JST-9'" in kit.config("system")


def test_what_does_not_follow_from_it_is_a_conflict(kit):
    change(kit, 1, "set system.@system[0].hostname=attic")
    kit.write("system", kit.config("system").replace(b"'attic'", b"'mine'"))
    take_over(kit)
    with pytest.raises(ConflictError, match="hostname is 'mine', not 'attic'"):
        plan_undo(kit.journal, kit.planner, "", "r", "")


def images(kit):
    record = kit.journal.records()[0]
    return [shape(kit.journal.image(record["id"], which, record["packages"][0])) for which in ("before", "after")]


def test_what_the_change_did_is_worked_out_as_that_program_did_it(kit):
    base = b"package p\n\nconfig host 'a'\n\tlist x '1'\n\toption y 'old'\n\nconfig host 'b'\n"
    commands = [
        "delete p.b", "set p.a.y='it\"s'", "add_list p.a.x=2", "add_list p.a.x=3", "add_list p.a.z=9",
        "del_list p.a.x=2", "add p rule", "set p.@rule[-1].name=n", "set p.c=host", "delete p.gone", "set p.no.such=1",
    ]  # fmt: skip
    store(kit, 1, commands, {"p": base})
    take_over(kit)
    assert images(kit) == [
        [("host", "a", {"x": ["1"], "y": "old"}), ("host", "b", {})],
        [("host", "a", {"y": "its", "x": ["3"], "z": ["9"]}), ("rule", True, {"name": "n"}), ("host", "c", {})],
    ]


def test_it_ended_at_the_first_reorder(kit):
    store(kit, 1, ["set p.a.y=1", "reorder p.b=0", "delete p.b"], {"p": b"package p\n\nconfig x 'a'\n\nconfig x 'b'\n"})
    take_over(kit)
    assert images(kit)[1] == [("x", "a", {"y": "1"}), ("x", "b", {})]


def contents(folder):
    found = {}
    for name in os.listdir(folder):
        with open(f"{folder}/{name}", "rb") as handle:
            found[name] = handle.read()
    return found


def test_it_is_done_once_and_leaves_everything_there(kit):
    change(kit, 1, "set system.@system[0].hostname=attic")
    folder = kit.root.path("/etc/oasis/backup/list1")
    left = contents(folder)
    assert (take_over(kit), take_over(kit)) == (1, 0)
    assert len(kit.journal.records()) == 1
    assert contents(folder) == left


def test_an_import_that_was_cut_off_makes_nothing_twice(kit):
    change(kit, 1, "set system.@system[0].hostname=cellar")
    change(kit, 2, "set system.@system[0].hostname=attic")
    for number in range(1, 99):
        files = FailingFiles(number)
        second = kit.again(files=files)
        try:
            import_rollbacks(second.journal, files, kit.root.state_folder)
        except (StoreError, OSError):
            continue
        break
    assert number > 10
    assert len(kit.journal.records()) == 2
    assert len({record["id"] for record in kit.journal.records()}) == 2


def test_a_full_flash_is_told_and_it_is_tried_again(make_kit):
    kit = make_kit(free=70 * 1024)
    store(kit, 1, ["set p.a.y=1"], {"p": b"package p\n\nconfig x 'a'\n" + b"\toption z '%s'\n" % (b"z" * 5000)})
    with pytest.raises(ApplyError, match="kB of flash are free"):
        take_over(kit)
    assert kit.journal.records() == []
    assert take_over(kit.again()) == 1


def test_empty_damaged_and_hostile_entries_are_left_out(kit):
    base = {"p": b"package p\n\nconfig x 'a'\n"}
    os.makedirs(kit.root.path("/etc/oasis/backup/list1"))
    store(kit, 2, ["set p.a.y=1"], base, names=["../../../config/system", "/etc/passwd", 5, None])
    store(kit, 3, [], base)
    store(kit, 4, ["set p.a.y=1"], {"p": b"nonsense 'x\n"})
    store(kit, 5, ["set oasis.main.approval=none"], {"oasis": b"package oasis\n\nconfig oasis 'main'\n"})
    store(kit, 6, ["set p.a.y=1"], base)
    store(kit, 7, ["set p.a.y=1"], base)
    store(kit, 8, ["set p.a.y=1"], base, names={"p": 1})
    for number, name, data in ((6, "uci_list.json", "{nonsense"), (7, "uci_list.json", '{"set":[5,{"class":7},{}]}')):
        with open(kit.root.path(f"/etc/oasis/backup/list{number}/{name}"), "w") as handle:
            handle.write(data)
    os.makedirs(kit.root.path("/etc/oasis/backup/listing"))
    assert take_over(kit) == 0
    assert kit.journal.records() == []


def test_a_change_made_here_is_newer_than_all_of_them(kit):
    change(kit, 1, "set wireless.default_radio0.ssid=Attic")
    os.utime(kit.root.path("/etc/oasis/backup/list1"), (1700000000, 1700000000))
    record = kit.transaction.apply(kit.plan(RENAME))
    take_over(kit)
    assert kit.journal.records()[0]["id"] == record["id"]
    assert kit.journal.records()[1]["when_unix_s"] == 1700000000
