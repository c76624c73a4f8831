"""Plans: worked out on the router as it is, bound by one hash, stale when anything moved."""

import os
import threading
import time

import pytest

from oasis.change.approval import ApprovalQueue
from oasis.change.plan import BOUND, UNBOUND
from oasis.change.plan_card import card
from oasis.cli import cards
from oasis.errors import ApplyError, PolicyError, UciError
from tests.change.kit import RENAME, WIFI


def test_a_plan_tells_words_diff_risk_and_services(kit):
    plan = kit.plan(RENAME)
    assert plan["words"] == ["Host name (system.@system[0].hostname): 'OpenWrt' → 'attic'"]
    assert {"op": "-", "text": "\toption hostname 'OpenWrt'"} in plan["diff"][0]["lines"]
    assert {"op": "+", "text": "\toption hostname 'attic'"} in plan["diff"][0]["lines"]
    assert plan["risk"] == "low"
    assert not plan["needs_approval"]
    assert {"name": "system", "action": "reload"} in plan["services"]
    assert plan["confirm_s"] == 0


def test_wireless_is_risky_and_must_be_kept(kit):
    plan = kit.plan(WIFI)
    assert plan["risk"] == "risky"
    assert plan["needs_approval"]
    assert plan["confirm_s"] == 90
    assert plan["services"] == [{"name": "network", "action": "reload"}]


def test_the_way_to_the_router_gets_the_longer_window(kit):
    assert kit.plan("uci set network.lan.ipaddr=192.168.5.1")["confirm_s"] == 180


def test_what_is_already_so_gives_no_plan(kit):
    assert kit.plan("uci set system.@system[0].hostname=OpenWrt") is None


def test_planning_touches_nothing(kit):
    before = {name: kit.config(name) for name in kit.files.names(kit.root.confdir)}
    kit.plan(WIFI)
    assert {name: kit.config(name) for name in before} == before
    assert kit.services() == []


def test_no_secret_stands_in_what_is_shown(kit):
    plan = kit.plan(
        "uci set wireless.default_radio0.encryption=psk2\nuci set wireless.default_radio0.key='correct horse battery'"
    )
    shown = repr([plan["words"], plan["uci"], plan["diff"]])
    assert "correct horse" not in shown
    assert "new secret" in shown


def test_a_package_that_is_known_and_not_there_is_said_to_be_installed_first(kit):
    with pytest.raises(UciError) as caught:
        kit.plan("uci set pbr.config.enabled=1")
    assert str(caught.value.message) == "pbr is not installed: there is no /etc/config/pbr"
    assert "install" in caught.value.hint


def test_an_unknown_package_is_named_with_those_that_are_there(kit):
    with pytest.raises(UciError) as caught:
        kit.plan("uci set networks.lan.ipaddr=1.2.3.4")
    assert "networks" in caught.value.message
    assert "network," in caught.value.hint


def test_an_unknown_option_is_refused_with_the_nearest(kit):
    with pytest.raises(PolicyError) as caught:
        kit.plan("uci set system.@system[0].hostnam=attic")
    assert "hostnam" in caught.value.message
    assert "hostname" in caught.value.message + caught.value.hint


def test_a_bad_value_is_refused(kit):
    with pytest.raises(PolicyError) as caught:
        kit.plan("uci set network.lan.ipaddr=192.168.1.999")
    assert "192.168.1.999" in caught.value.message


@pytest.mark.parametrize(
    "command",
    [
        "uci set firewall.@include[0].path=/tmp/evil.sh",
        "uci set dhcp.@dnsmasq[0].dhcpscript=/tmp/evil.sh",
        "uci set uhttpd.main.interpreter='.sh=/bin/sh'",
    ],
)
def test_options_that_run_code_are_forbidden(kit, command):
    with pytest.raises((PolicyError, UciError)) as caught:
        kit.plan("uci add firewall include\n" + command if "include" in command else command)
    assert isinstance(caught.value, PolicyError), caught.value


def test_own_settings_and_logins_are_forbidden(kit):
    for command in ("uci set oasis.main.approval=none", "uci add rpcd login", "uci set rpcd.@login[0].password=x"):
        with pytest.raises(PolicyError):
            kit.plan(command)


def test_the_hash_is_of_this_plan_and_run_alone(kit):
    first, second = kit.plan(WIFI, "run1"), kit.plan(WIFI, "run2")
    assert len(first["hash"]) == 64
    assert first["hash"] != second["hash"]


def other(value):
    """Return another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, str)):
        return value + value[:1] + "x" if isinstance(value, str) else value + 1
    return [*value, "x"] if isinstance(value, list) else {**value, "x": "y"}


@pytest.mark.parametrize("key", BOUND)
def test_a_plan_altered_after_it_was_shown_is_refused(kit, key):
    plan = kit.plan(WIFI)
    with pytest.raises(ApplyError, match="not what was shown"):
        kit.transaction.apply({**plan, key: other(plan[key])})
    assert kit.services() == []


@pytest.mark.parametrize("key", ["words", "reasons", "uci"])
def test_a_line_of_the_card_that_is_reworded_makes_another_plan(kit, key):
    plan = kit.plan(WIFI)
    assert plan[key] and kit.planner.hash({**plan, key: [*plan[key][:-1], plan[key][-1] + "!"]}) != plan["hash"]


def test_an_approval_fits_no_plan_that_was_bound_again(kit):
    desk, shown = ApprovalQueue(lambda: 0.0), kit.plan(WIFI)
    waiting = kit.planner.bind(shown, summary="something else", expires_s=600.0)
    thread = threading.Thread(target=desk.wait, args=(waiting, lambda: False), daemon=True)
    thread.start()
    while not desk.plans():
        time.sleep(0.01)
    with pytest.raises(PolicyError, match="is not that of plan"):
        desk.approve(shown["id"], shown["hash"], {"name": "owner", "terminal": False})
    desk.approve(waiting["id"], waiting["hash"], {"name": "owner", "terminal": False})
    thread.join(10)


def test_every_value_of_a_plan_is_bound_or_said_not_to_be(kit):
    assert sorted([*BOUND, *UNBOUND]) == sorted(kit.plan(WIFI))
    shown = set(card(kit.plan(WIFI), 0.0)) - {"hash", "short", "expires_in_s"}
    assert shown <= set(BOUND), "what the owner reads is what they approve"


def test_a_bound_plan_refuses_to_be_changed(kit):
    plan = kit.plan(WIFI)
    for change in (
        lambda: plan.update(summary="x"),
        lambda: plan.pop("words"),
        lambda: plan.__setitem__("risk", "low"),
        lambda: plan["words"].append("x"),
        lambda: plan["reasons"].clear(),
        lambda: plan["before"].setdefault("x", "y"),
        lambda: plan["operations"][0].__setitem__("value", "x"),
        lambda: plan["diff"][0]["lines"].pop(),
        lambda: plan["images"].clear(),
    ):
        with pytest.raises(TypeError, match="bind another one"):
            change()
    assert kit.planner.hash(plan) == plan["hash"]


def test_what_is_put_into_a_plan_is_not_shared_with_it(kit):
    words = ["one"]
    plan = kit.planner.bind(kit.plan(WIFI), words=words)
    words.append("two")
    assert plan["words"] == ["one"]


def test_an_expired_plan_is_refused(kit):
    plan = kit.plan(WIFI)
    kit.clock.shift_s = 601
    with pytest.raises(ApplyError, match="expired"):
        kit.transaction.apply(plan)


def test_an_edit_by_others_since_the_plan_is_refused(kit):
    plan = kit.plan(RENAME)
    kit.write("system", kit.config("system").replace(b"UTC", b"CET-1CEST"))
    edited = kit.config("system")
    with pytest.raises(ApplyError, match="changed by somebody else"):
        kit.transaction.apply(plan)
    assert kit.config("system") == edited


def test_foreign_staged_changes_are_refused_and_kept(kit):
    with open(kit.root.path("/tmp/.uci/system"), "w") as handle:
        handle.write("system.cfg01e48a.notes='mine'\n")
    plan = kit.plan(RENAME)
    with pytest.raises(ApplyError, match="uncommitted") as caught:
        kit.transaction.apply(plan)
    assert "uci changes system" in caught.value.hint
    assert b"attic" not in kit.config("system")
    with open(kit.root.path("/tmp/.uci/system")) as handle:
        assert "mine" in handle.read()


def test_approval_modes(make_kit):
    assert make_kit(approval="all").plan(RENAME)["needs_approval"]
    assert not make_kit(approval="none").plan(WIFI)["needs_approval"]
    with pytest.raises(PolicyError):
        make_kit(approval="none").plan("uci set oasis.main.approval=none")


def test_restarting_a_service_waits_for_the_owner(kit):
    assert kit.planner.service("network", "restart", "r", "c")["needs_approval"]
    assert kit.planner.service("dnsmasq", "restart", "r", "c")["needs_approval"]


@pytest.mark.parametrize("approval", ["none", "risky", "all"])
def test_a_tainted_plan_waits_under_every_setting(make_kit, approval):
    kit = make_kit(approval=approval)
    plan = kit.plan(RENAME)
    before = plan["hash"]
    assert (plan["tainted"], plan["risk"]) == (False, "low")
    tainted = kit.planner.taint(plan, ["device names"])
    assert (tainted["tainted"], tainted["risk"], tainted["needs_approval"]) == (True, "risky", True)
    assert "text from devices or networks was in the conversation" in tainted["reasons"]
    assert tainted["hash"] != before, "an approval is for what was shown"
    shown = card(tainted, 0)
    assert shown["tainted"] is True and shown["needs_approval"] is True


def test_a_tainted_plan_keeps_the_reasons_that_it_had(kit):
    plan = kit.plan(WIFI)
    reasons = list(plan["reasons"])
    tainted = kit.planner.taint(plan, [])
    assert tainted["reasons"][:-1] == reasons and tainted["risk"] == "risky"


def test_a_value_of_a_secret_option_is_in_no_line_also_when_it_is_overwritten(kit):
    lines = [
        "uci set wireless.default_radio0.key=first-password",
        "uci set wireless.default_radio0.key=second-password",
    ]
    plan = kit.plan("\n".join(["uci set wireless.default_radio0.encryption=psk2", *lines]))
    assert "-password" not in str(card(plan, 0)) and len(plan["uci"]) == 3


KEPT_OFF = b"""
config include 'hook'
	option path '/etc/hook.sh'
	option enabled '0'

config include
	option path '/etc/other.sh'
	option enabled '0'
"""


@pytest.mark.parametrize(
    "command",
    [
        "uci delete firewall.hook.enabled",
        "uci set firewall.hook.enabled=",
        "uci delete firewall.@include[1].enabled",
        "uci delete firewall.@include[-1].enabled",
        "uci delete firewall.@include[0]\nuci delete firewall.@include[0].enabled",
    ],
)
def test_code_that_an_option_kept_from_running_is_not_let_go_by_taking_the_option_away(kit, command):
    kit.write("firewall", kit.config("firewall") + KEPT_OFF)
    with pytest.raises(PolicyError, match="runs code"):
        kit.plan(command)


def test_a_section_that_runs_code_may_go_as_a_whole(kit):
    kit.write("firewall", kit.config("firewall") + KEPT_OFF)
    plan = kit.plan("uci delete firewall.hook\nuci delete firewall.@include[0]")
    assert not plan["forces"] and not any("runs code" in reason for reason in plan["reasons"])


def test_an_option_that_runs_code_may_go_where_the_rest_runs_none(kit):
    kit.write("dhcp", kit.config("dhcp").replace(b"config dnsmasq", b"config dnsmasq\n\toption dhcpscript '/x'", 1))
    assert kit.plan("uci delete dhcp.@dnsmasq[0].dhcpscript")["words"]


@pytest.mark.parametrize("name", ["oasis", "umount"])
def test_no_plan_restarts_what_only_the_owner_may(kit, name):
    with open(kit.root.path("/etc/init.d/" + name), "w") as handle:
        handle.write("#!/bin/sh\n")
    os.chmod(kit.root.path("/etc/init.d/" + name), 0o755)
    with pytest.raises(PolicyError, match="is not touched here"):
        kit.planner.service(name, "restart", "r", "c")


def test_a_hidden_character_of_the_old_value_is_seen_in_the_card(kit):
    kit.write("system", kit.config("system").replace(b"'OpenWrt'", "'Open\u202eWrt'".encode()))
    shown = card(kit.plan(RENAME), 0)
    assert "\u202e" not in str([shown["words"], shown["diff"], shown["uci"], shown["summary"]])
    assert "Open\\u202eWrt" in shown["words"][0]


PORT = """uci add firewall rule
uci set firewall.@rule[-1].name=SSH
uci set firewall.@rule[-1].src=wan
uci set firewall.@rule[-1].proto=tcp
uci set firewall.@rule[-1].dest_port=22
uci set firewall.@rule[-1].target=ACCEPT"""

LETS_IN = "lets in what was kept out before: from wan to the router, tcp 22"


def test_what_the_sentence_rests_on_is_part_of_the_plan(kit):
    plan = kit.plan(PORT)
    assert {"network", "firewall", "wireless", "dropbear", "uhttpd"} == set(plan["before"])
    kit.write("wireless", kit.config("wireless").replace(b"option disabled '1'", b"option disabled '0'"))
    with pytest.raises(ApplyError, match="wireless was changed"):
        kit.planner.check_current(plan)


def test_who_is_let_in_is_the_first_of_the_reasons(kit):
    plan = kit.plan(PORT)
    assert plan["reasons"][0] == LETS_IN and len(plan["reasons"]) == 2
    assert kit.planner.taint(plan, ["device names"])["reasons"][0] == LETS_IN
    shown = [text for text, _ in cards.plan_card(card(plan, 0), False)]
    assert [text.startswith("  risky: " + LETS_IN) for text in shown].count(True) == 1


def test_an_opening_is_never_low(kit):
    plan = kit.plan(PORT.replace("ACCEPT", "DROP"))
    values = [None, *plan["images"]["firewall"][1].decode().split("'")[1::2]]
    kit.planner.policy.rules["places"].append({"path": "firewall.rule", "check": "among", "values": values})
    assert kit.plan(PORT.replace("ACCEPT", "DROP"))["risk"] == "low"
    plan = kit.plan(PORT)
    assert (plan["risk"], plan["needs_approval"]) == ("risky", True) and plan["confirm_s"] > 0


def test_an_undo_that_lets_somebody_in_says_so_as_well(kit):
    plan = kit.plan(PORT)
    old, new = plan["images"]["firewall"]
    assert "lets in" not in "; ".join(kit.planner.restore({"firewall": (new, old)}, [], "r", "c", "", "x")["reasons"])
    assert "lets in" in kit.planner.restore({"firewall": (old, new)}, [], "r", "c", "", "x")["reasons"][0]
