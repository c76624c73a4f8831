"""Undoing a change of the history: as a plan, whole or not at all, and without losing what was done since."""

import os

import pytest

from oasis.change.apply.journal import HISTORY
from oasis.change.history.undo import ConflictError, plan_undo
from oasis.errors import ApplyError, PolicyError, UsageError
from tests.change.kit import RENAME, WIFI

BOTH = RENAME + "\n" + WIFI
RULE = "\n".join(
    ["uci add firewall rule", "uci set firewall.@rule[-1].name=Attic", "uci set firewall.@rule[-1].target=DROP"]
)


def done(kit, text):
    """Carry out a change and keep it; return its id."""
    return kept(kit, kit.plan(text))


def kept(kit, plan):
    record = kit.transaction.apply(plan)
    if record["state"] == "applied":
        kit.transaction.confirm(str(record["id"]))
    return str(record["id"])


def undo(kit, change="", **more):
    return plan_undo(kit.journal, kit.planner, change, "run2", "", **more)


def edit(kit, package, old, new):
    data = kit.config(package)
    assert old in data
    kit.write(package, data.replace(old, new))


def test_undo_brings_back_the_bytes(kit):
    before = kit.config("wireless")
    record = kit.transaction.apply(kit.plan(WIFI))
    kit.transaction.confirm(str(record["id"]))
    plan = plan_undo(kit.journal, kit.planner, "", "run2", "")
    assert plan["risk"] == "risky"
    assert plan["undoes"] == record["id"]
    undone = kit.transaction.apply(plan)
    kit.transaction.confirm(str(undone["id"]))
    assert kit.config("wireless") == before
    assert kit.journal.read(str(record["id"]))["undone_by"] == undone["id"]
    with pytest.raises(UsageError, match="no change to undo"):
        plan_undo(kit.journal, kit.planner, "", "run3", "")


def test_the_old_bytes_come_back_comments_and_all(kit):
    kit.write("system", b"# mine\n" + kit.config("system"))
    before = kit.config("system")
    done(kit, RENAME)
    assert not kit.config("system").startswith(b"# mine")
    plan = undo(kit)
    assert plan["operations"] == []
    kept(kit, plan)
    assert kit.config("system") == before


def test_what_was_done_since_stays(kit):
    change = done(kit, RENAME)
    edit(kit, "system", b"'UTC'", b"'JST-9'")
    plan = undo(kit)
    assert plan["undoes"] == change
    assert plan["summary"] == "undo: a test"
    assert plan["uci"] == ["uci set system.@system[0].hostname=OpenWrt"]
    assert plan["needs_approval"] is False
    kept(kit, plan)
    assert b"'OpenWrt'" in kit.config("system")
    assert b"'JST-9'" in kit.config("system")
    assert kit.journal.read(change)["undone_by"] == plan["id"]


def test_an_older_change_is_undone_under_a_newer_one(kit):
    first = done(kit, RENAME)
    second = done(kit, "uci set system.@system[0].timezone=JST-9")
    kept(kit, undo(kit, first))
    assert b"hostname 'OpenWrt'" in kit.config("system")
    assert b"timezone 'JST-9'" in kit.config("system")
    assert "undone_by" not in kit.journal.read(second)
    assert undo(kit)["undoes"] == second


def test_a_conflict_in_one_package_refuses_all(kit):
    change = done(kit, BOTH)
    edit(kit, "wireless", b"'Attic'", b"'Cellar'")
    with pytest.raises(ConflictError, match=r"wireless\.default_radio0\.ssid is 'Cellar', not 'Attic'") as caught:
        undo(kit)
    assert caught.value.as_dict()["conflicts"] == [
        {"package": "wireless", "section": "default_radio0", "option": "ssid", "now": "Cellar", "expected": "Attic"}
    ]
    assert caught.value.code == "apply"
    assert change in caught.value.hint
    assert b"attic" in kit.config("system")
    assert "undone_by" not in kit.journal.read(change)


def test_the_owner_leaves_conflicts_as_they_are(kit):
    change = done(kit, BOTH)
    edit(kit, "wireless", b"'Attic'", b"'Cellar'")
    plan = undo(kit, change, skip_conflicts=True)
    assert plan["words"][-1] == "stays as it is: wireless.default_radio0.ssid is 'Cellar', not 'Attic'"
    assert list(plan["images"]) == ["system"]
    kept(kit, plan)
    assert b"'OpenWrt'" in kit.config("system")
    assert b"'Cellar'" in kit.config("wireless")
    assert kit.journal.read(change)["undone_by"] == plan["id"]


def test_nothing_is_left_to_undo_when_all_are_conflicts(kit):
    done(kit, RENAME)
    edit(kit, "system", b"'attic'", b"'cellar'")
    with pytest.raises(UsageError, match=r"everything of change .* was changed since"):
        undo(kit, skip_conflicts=True)


def test_nothing_is_to_undo_when_somebody_did_it_by_hand(kit):
    done(kit, RENAME)
    edit(kit, "system", b"'attic'", b"'OpenWrt'")
    with pytest.raises(UsageError, match="already as it was before"):
        undo(kit)


def test_two_packages_are_undone_in_one_plan_one_by_bytes_one_by_options(kit):
    before = kit.config("wireless")
    done(kit, BOTH)
    edit(kit, "system", b"'UTC'", b"'JST-9'")
    plan = undo(kit)
    assert plan["uci"] == ["uci set system.@system[0].hostname=OpenWrt"]
    kept(kit, plan)
    assert kit.config("wireless") == before
    assert b"'OpenWrt'" in kit.config("system")
    assert b"'JST-9'" in kit.config("system")


def test_nothing_of_an_undo_that_fails_stays_done(kit):
    done(kit, BOTH)
    edit(kit, "system", b"'UTC'", b"'JST-9'")
    later = {name: kit.config(name) for name in ("system", "wireless")}
    kit.fault("network", "1")
    with pytest.raises(ApplyError, match="everything was rolled back"):
        kit.transaction.apply(undo(kit))
    assert {name: kit.config(name) for name in later} == later


def test_an_edit_between_plan_and_approval_makes_the_plan_stale(kit):
    done(kit, RENAME)
    edit(kit, "system", b"'UTC'", b"'JST-9'")
    plan = undo(kit)
    edit(kit, "system", b"'JST-9'", b"'CET'")
    with pytest.raises(ApplyError, match="changed by somebody else"):
        kit.transaction.apply(plan)
    assert b"'attic'" in kit.config("system")


def test_a_removed_rule_gets_its_old_place(kit):
    before = kit.config("firewall")
    done(kit, "uci delete firewall.@rule[2]")
    kit.write("firewall", kit.config("firewall") + b"\nconfig rule\n\toption name 'Theirs'\n")
    kept(kit, undo(kit))
    now = kit.config("firewall")
    names = [line for line in now.split(b"\n") if b"option name" in line]
    assert names[:-1] == [line for line in before.split(b"\n") if b"option name" in line]
    assert b"'Theirs'" in names[-1]


def test_a_section_without_a_name_is_found_when_others_came_before_it(kit):
    done(kit, RULE)
    kit.write("firewall", b"config rule\n\toption name 'Theirs'\n" + kit.config("firewall"))
    kept(kit, undo(kit))
    assert b"'Attic'" not in kit.config("firewall")
    assert b"'Theirs'" in kit.config("firewall")


def test_no_secret_is_told_by_a_conflict(kit):
    kit.write("wireless", kit.config("wireless").replace(b"'none'", b"'psk2'", 1))
    done(kit, "uci set wireless.default_radio0.key=first-secret-1")
    edit(kit, "wireless", b"first-secret-1", b"other-secret-2")
    with pytest.raises(ConflictError) as caught:
        undo(kit)
    assert caught.value.conflicts[0]["now"] == "(secret)"
    assert "-secret-" not in repr(caught.value.as_dict())
    edit(kit, "wireless", b"\toption key 'other-secret-2'\n", b"")
    with pytest.raises(UsageError, match="already as it was"):
        undo(kit)


def test_no_secret_is_shown_by_the_plan(kit):
    edit(kit, "wireless", b"'none'", b"'psk2'\n\toption key 'first-secret-1'")
    done(kit, "uci set wireless.default_radio0.key=other-secret-2")
    kit.write("wireless", kit.config("wireless") + b"\nconfig wifi-device 'radio9'\n\toption type 'mac80211'\n")
    plan = undo(kit)
    assert plan["uci"] == ["uci set 'wireless.default_radio0.key=(new secret)'"]
    assert "-secret-" not in repr((plan["words"], plan["diff"], plan["uci"]))


def test_many_conflicts_are_told_in_part_and_listed_whole(kit):
    text = "\n".join(f"uci set firewall.@rule[{n}].enabled=0" for n in range(7))
    done(kit, text)
    kit.write("firewall", kit.config("firewall").replace(b"enabled '0'", b"enabled '1'"))
    with pytest.raises(ConflictError, match="and 2 more") as caught:
        undo(kit)
    assert len(caught.value.conflicts) == 7


def test_a_package_that_is_gone_is_a_conflict(kit):
    change = done(kit, BOTH)
    os.remove(kit.root.confdir + "/wireless")
    with pytest.raises(ConflictError, match="the package wireless is gone"):
        undo(kit)
    kept(kit, undo(kit, change, skip_conflicts=True))
    assert b"'OpenWrt'" in kit.config("system")


def test_an_undone_change_stands_again_when_its_undo_is_undone(kit):
    first = done(kit, RENAME)
    second = kept(kit, undo(kit))
    third = kept(kit, undo(kit, second))
    assert b"'attic'" in kit.config("system")
    assert "undone_by" not in kit.journal.read(first)
    assert kit.journal.read(second)["undone_by"] == third
    assert undo(kit)["undoes"] == first


def test_what_cannot_be_undone_says_why(kit):
    with pytest.raises(UsageError, match="no change to undo"):
        undo(kit)
    with pytest.raises(UsageError, match="there is no change 'x'"):
        undo(kit, "x")
    change = done(kit, RENAME)
    kept(kit, undo(kit))
    with pytest.raises(UsageError, match="undone already"):
        undo(kit, change)
    waiting = kit.transaction.apply(kit.plan(WIFI))
    with pytest.raises(UsageError, match="is applied"):
        undo(kit, str(waiting["id"]))


def test_an_undo_brings_back_what_the_owner_alone_may_set_when_the_owner_approves(kit):
    with pytest.raises(PolicyError):
        kit.plan("uci set dhcp.@dnsmasq[0].dhcpscript=/root/mine")
    edit(kit, "dhcp", b"config dnsmasq\n", b"config dnsmasq\n\toption dhcpscript '/root/mine'\n")
    done(kit, "uci delete dhcp.@dnsmasq[0].dhcpscript")
    plan = undo(kit)
    assert plan["needs_approval"]
    assert "dhcp.dhcpscript runs code or names a file" in plan["reasons"]
    kept(kit, plan)
    assert b"dhcpscript '/root/mine'" in kit.config("dhcp")


def test_code_that_the_owner_took_away_comes_back_only_with_him_under_every_setting(make_kit):
    kit = make_kit(approval="none")
    hook = b"\nconfig include 'hook'\n\toption path '/etc/hook.sh'\n"
    kit.write("firewall", kit.config("firewall") + hook)
    done(kit, "uci delete firewall.hook")
    done(kit, "uci delete firewall.@rule[0].name")
    assert not undo(kit)["needs_approval"]
    assert undo(kit, str(kit.journal.records()[1]["id"]))["needs_approval"]


def test_a_change_that_still_has_to_end_is_not_trimmed(kit):
    first = done(kit, RENAME)
    second = done(kit, "uci set system.@system[0].notes=x")
    kit.journal.update(second, until_unix_s=99)
    for number in range(HISTORY):
        kit.journal.write({**kit.journal.read(first), "id": kit.ids.next(), "summary": str(number)})
    kit.journal.trim()
    ids = [record["id"] for record in kit.journal.records()]
    assert first not in ids
    assert second in ids
    kit.journal.update(second, undone_by="x")
    kit.journal.trim()
    assert second not in [record["id"] for record in kit.journal.records()]


def test_undo_through_a_link_leaves_the_link(kit):
    path, real = kit.root.confdir + "/wireless", kit.root.path("/var/wireless")
    os.rename(path, real)
    os.symlink(real, path)
    before = kit.config("wireless")
    done(kit, WIFI)
    kept(kit, undo(kit))
    assert os.path.islink(path)
    assert kit.config("wireless") == before
