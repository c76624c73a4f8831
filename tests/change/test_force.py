"""What only the owner lets through: each kind by itself, bound in the hash, never without his approval."""

import json
import os

import pytest

from oasis.change import uci_commands
from oasis.change.plan import RefusedError
from oasis.change.plan_card import FORCE_WORDS as WORDS
from oasis.change.plan_card import FORCES, card, checked_forces
from oasis.errors import ApplyError, PolicyError, UciError, UsageError
from tests.change.kit import RENAME, WIFI
from tests.oasisd import REPOSITORY

EXEC = "uci set dhcp.@dnsmasq[0].dhcpscript=/etc/hello.sh"
INCLUDE = "uci add firewall include\nuci set firewall.@include[-1].path=/etc/firewall.user"
UNKNOWN_OPTION = "uci set system.@system[0].colour=green"
BAD_VALUE = "uci set system.@system[0].hostname='not a name'"
MISSING = "uci set dhcp.lan.interface=nowhere"
NO_WAY = "uci set firewall.@zone[0].input=REJECT"


def reach(state):
    return lambda images, run: {"verdict": state, "reasons": ["zone lan rejects you"], "new_address": ""}


@pytest.fixture
def shut(kit):
    """A kit on which every risky plan shuts the owner out."""
    kit.planner._questions.reach = reach("no")
    return kit


def propose(kit, text, *forces):
    return kit.planner.propose(uci_commands.parse(text)[0], "run1", "chat1", "a test", 0, forces)


def refused(kit, text, *forces):
    with pytest.raises(RefusedError) as caught:
        propose(kit, text, *forces)
    return caught.value


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        (EXEC, ["exec"]),
        (INCLUDE, ["exec"]),
        ("uci add_list dhcp.@dnsmasq[0].addnhosts=/etc/more", ["exec"]),
        (UNKNOWN_OPTION, ["exec", "unknown"]),
        (BAD_VALUE, ["unknown"]),
        (MISSING, ["unknown"]),
        ("uci set system.mine=colours", ["unknown"]),
        ("uci set system.mine=colours\nuci set system.mine.sky=blue", ["exec", "unknown"]),
        (EXEC + "\n" + BAD_VALUE, ["exec", "unknown"]),
    ],
)
def test_each_kind_is_refused_without_and_let_through_with_what_it_needs(kit, text, needs):
    error = refused(kit, text)
    assert (error.forces, error.code) == (needs, "policy")
    assert error.as_dict()["force"] == needs and error.reasons and error.hint
    for kind in needs:
        others = [one for one in FORCES if one != kind]
        assert kind in refused(kit, text, *others).forces, "every kind counts by itself"
    plan = propose(kit, text, *FORCES)
    assert plan["forces"] == needs, "only what is needed"
    assert plan["risk"] == "risky" and plan["needs_approval"] and plan["confirm_s"] >= 90
    assert len([reason for reason in plan["reasons"] if reason.startswith("forced: ")]) == len(needs)
    assert any(WORDS in reason for reason in plan["reasons"]) is ("exec" in needs)
    assert card(plan, 0)["forces"] == needs


def test_a_way_that_is_shut_is_forced_and_the_verdict_stays_on_the_card(shut):
    error = refused(shut, NO_WAY)
    assert error.forces == ["reachability"] and "zone lan rejects you" in error.message
    plan = propose(shut, NO_WAY, "reachability")
    shown = card(plan, 0)
    assert shown["verdict"]["verdict"] == "no" and shown["verdict"]["reasons"] == ["zone lan rejects you"]
    assert "forced: you would not reach the router any more: zone lan rejects you" in shown["reasons"]
    assert (shown["forces"], shown["risk"], shown["needs_approval"]) == (["reachability"], "risky", True)


@pytest.mark.parametrize("state", ["yes", "cannot_tell"])
def test_a_way_that_is_open_or_unknown_needs_no_force(kit, state):
    kit.planner._questions.reach = reach(state)
    assert propose(kit, NO_WAY, *FORCES)["forces"] == []


def test_what_all_needs_is_told_at_once(shut):
    error = refused(shut, NO_WAY + "\n" + EXEC)
    assert error.forces == ["exec", "reachability"]
    assert "dhcpscript" in error.message and "not reach the router" in error.message


@pytest.mark.parametrize("forces", [(), FORCES])
def test_what_needs_nothing_is_not_forced(kit, forces):
    plan = propose(kit, RENAME, *forces)
    assert (plan["forces"], plan["risk"], plan["needs_approval"]) == ([], "low", False)
    assert "forces" not in card(plan, 0)


def test_forces_are_bound_in_the_hash(kit):
    plan = propose(kit, BAD_VALUE, "unknown")
    assert kit.planner.hash({**plan, "forces": []}) != plan["hash"]
    assert kit.planner.hash({**plan, "forces": ["exec", "unknown"]}) != plan["hash"]
    with pytest.raises(ApplyError, match="not what was shown"):
        kit.transaction.apply({**plan, "forces": []})
    assert kit.services() == []


@pytest.mark.parametrize(
    "text",
    [
        "uci set oasis.main.approval=none",
        "uci add_list oasis.main.whatever=1",
        "uci add rpcd login",
        "uci set rpcd.@login[0].password=x",
        "uci set rpcd.@login[0]=colours",
        "uci delete rpcd.@login[0]",
        "uci set rpcd.mine=colours\nuci set rpcd.mine=login\nuci set rpcd.mine.username=root",
        EXEC + "\nuci set rpcd.@login[0].username=other",
    ],
)
def test_what_is_forbidden_can_never_be_forced(kit, text):
    before = {name: kit.config(name) for name in ("oasis", "rpcd", "dhcp")}
    with pytest.raises(PolicyError) as caught:
        propose(kit, text, *FORCES)
    assert not isinstance(caught.value, RefusedError)
    assert {name: kit.config(name) for name in before} == before


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "set", "package": "system", "section": "a b", "option": "x", "value": "1"},
        {"op": "set", "package": "system", "section": "@system[0]", "option": "x-y", "value": "1"},
        {"op": "set", "package": "../system", "section": "x", "option": "y", "value": "1"},
        {"op": "set", "package": "system", "section": "@system[0]", "option": "notes", "value": "a\nb\0"},
        {"op": "set", "package": "system", "section": "nowhere", "option": "notes", "value": "x"},
    ],
)
def test_a_broken_name_can_never_be_forced(kit, operation):
    with pytest.raises((PolicyError, UciError)) as caught:
        kit.planner.propose([operation], "run1", "chat1", "a test", 0, FORCES)
    assert not isinstance(caught.value, RefusedError)


@pytest.mark.parametrize("approval", ["none", "risky", "all"])
@pytest.mark.parametrize("text", [EXEC, BAD_VALUE, NO_WAY])
def test_a_forced_plan_waits_and_must_be_kept_under_every_setting(make_kit, approval, text):
    kit = make_kit(approval=approval)
    kit.planner._questions.reach = reach("no" if text == NO_WAY else "yes")
    plan = propose(kit, text, *FORCES)
    assert plan["forces"] and plan["needs_approval"] and plan["confirm_s"] > 0
    tainted = kit.planner.taint(plan, ["device names"])
    assert tainted["forces"] and tainted["needs_approval"]


@pytest.mark.parametrize("approval", ["none", "risky", "all"])
def test_the_corpus_of_code_stays_refused_without_force(make_kit, approval):
    kit = make_kit(approval=approval)
    with open(REPOSITORY + "/tests/change/exec_options.json", encoding="utf-8") as handle:
        corpus = json.load(handle)["exec"]
    there = kit.files.names(kit.root.confdir)
    tried = 0
    for place, names in corpus.items():
        package, kind = place.split(".")
        if package not in there or "*" in kind:
            continue
        for name in names:
            with pytest.raises(PolicyError):
                propose(kit, "uci set %s.mine=%s\nuci set %s.mine.%s=/tmp/x" % (package, kind, package, name))
            tried += 1
    assert tried >= 60


def test_a_forced_change_is_applied_and_undone(kit):
    before = kit.config("dhcp")
    record = kit.transaction.apply(propose(kit, EXEC, "exec"))
    assert b"/etc/hello.sh" in kit.config("dhcp")
    kit.transaction.roll_back(record["id"], "the owner rolled it back")
    assert kit.config("dhcp") == before
    assert not os.path.exists("/etc/hello.sh")


@pytest.mark.parametrize("words", ["", "yes", WORDS.upper(), WORDS + " ", " " + WORDS, "this runs code"])
def test_code_needs_exactly_its_words(words):
    with pytest.raises(PolicyError) as caught:
        checked_forces(["exec"], words)
    assert WORDS in caught.value.hint
    assert checked_forces(["unknown", "reachability"], words) == ("reachability", "unknown")
    assert checked_forces(["exec", "exec"], WORDS) == ("exec",)


@pytest.mark.parametrize("kind", ["", "all", "EXEC", "forbidden"])
def test_an_unknown_kind_is_named_with_the_known_ones(kind):
    with pytest.raises(UsageError) as caught:
        checked_forces([kind], WORDS)
    assert "reachability" in caught.value.hint


def loose(kit, reason="nft is missing"):
    kit.planner._questions.unconfined = lambda: reason
    return kit


def test_while_the_worker_is_not_confined_a_risky_plan_asks_for_a_word(kit):
    plan = loose(kit).plan(WIFI)
    shown = card(plan, 0)
    assert (shown["typed_word"], shown["unconfined"]) == ("risky", "nft is missing")
    assert "typed_word" not in card(kit.plan(RENAME), 0), "a low one does not"
    assert kit.planner.service("network", "restart", "r", "c")["typed_word"] == "risky"
    assert kit.planner.taint(kit.plan(RENAME), [])["typed_word"] == "risky"


def test_a_word_to_be_typed_is_waited_for_also_where_nothing_is_asked(make_kit):
    kit = make_kit(approval="none")
    assert kit.plan(WIFI)["needs_approval"] is False
    assert loose(kit).plan(WIFI)["needs_approval"] is True
    assert kit.plan(RENAME)["needs_approval"] is False


def test_while_the_worker_is_confined_no_word_is_asked_for(kit):
    assert loose(kit, "").plan(WIFI)["typed_word"] == ""
