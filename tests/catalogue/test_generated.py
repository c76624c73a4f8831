"""Generated entries: what is written by hand wins, nothing forbidden opens, and nothing of them is done unasked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from oasis.catalogue import check, entries, validators
from oasis.change.history.undo import plan_undo
from oasis.change.policy import UNREVIEWED
from oasis.errors import PolicyError
from oasis.redaction import secret_options
from tests.change.kit import Kit
from tests.oasisd import REPOSITORY

HAND = {
    "open": {"options": {"known": "port", "other": {"type": "host", "aka": ["wrong"]}}},
    "shut": {"mark": "exec", "options": {"known": "port"}},
    "any": {"options": {"*": {"type": "string", "mark": "exec"}}},
}
MADE = {
    "types": {
        "open": {"options": {"known": "host", "new": "scalar", "wrong": "scalar"}},
        "shut": {"options": {"new": "scalar"}},
        "any": {"options": {"new": "scalar"}},
        "fresh": {"options": {"new": {"values": ["a", "b"]}}},
    }
}
# of no review; see package/options/review.json
UNSEEN = "udpspeeder"
# what owners ask of packages that no one wrote an entry for by hand: package.type.option=value
WISHES = """
pbr.policy.src_addr=192.168.1.0/24 pbr.policy.dest_port=443 tailscale.settings.advertise_routes=192.168.1.0/24
zerotier.network.id=8056c2e21c000001 adguardhome.adguardhome.verbose=1 usteer.usteer.min_snr=-80
adblock-fast.file_url.url=https://example.org/list.txt dawn.metric.rssi_val=-60 umdns.umdns.network=lan
travelmate.travelmate.trm_iface=lan wifi_schedule.entry.starttime=23:00 igmpproxy.phyint.direction=upstream
udpxy.udpxy.port=4022 lldpd.lldpd.enable_cdp=1 ipsec.remote.gateway=vpn.example.com xl2tp.global.port=1701
ksmbd.share.read_only=yes smartdns.server.type=tls dnscrypt-proxy.dnscrypt-proxy.resolver=cloudflare
nextdns.nextdns.config=abc123 chrony.server.hostname=time.example.org qosify.interface.bandwidth_up=20mbit
aria2.aria2.max_concurrent_downloads=3 hd-idle.hd-idle.disk=sda p910nd.p910nd.port=0 mosquitto.listener.port=1883
nodogsplash.nodogsplash.maxclients=50 opennds.opennds.sessiontimeout=1200 olsrd.Interface.interface=lan
keepalived.vrrp_instance.priority=100 ser2net.proxy.baudrate=115200 ttyd.ttyd.port=7681
"""


def added(made=MADE):
    found = json.loads(json.dumps(HAND))
    entries._add(found, made["types"], "review" if made.get("reviewed") else "rules")
    return found


def test_what_is_written_by_hand_wins():
    found = added()
    assert found["open"]["options"]["known"] == "port"
    assert found["open"]["options"]["new"] == {"type": "scalar", "generated": "rules"}
    assert found["fresh"]["options"]["new"]["generated"] == "rules"


def test_nothing_is_added_where_all_is_forbidden_or_told_already():
    found = added()
    assert found["shut"] == HAND["shut"] and found["any"] == HAND["any"]
    assert "wrong" not in found["open"]["options"]  # an older name, which means another one


def test_a_review_is_told_apart():
    assert added({**MADE, "reviewed": True})["fresh"]["options"]["new"]["generated"] == "review"


def test_the_way_to_the_router_is_by_hand_alone():
    made = set(entries._names("generated"))
    assert not made & {
        "network",
        "wireless",
        "firewall",
        "dhcp",
        "system",
        "dropbear",
        "uhttpd",
        "rpcd",
        "oasis",
        "luci",
    }
    assert len(made) > 200


@pytest.mark.parametrize("wish", WISHES.split())
def test_what_owners_ask_of_packages_of_the_feed_is_known(wish):
    path, _, value = wish.partition("=")
    package, type_, option = path.split(".")
    assert package not in entries.by_hand()
    there = {"s": {".type": type_}, "lan": {".type": "interface"}}
    change = {"package": package, "op": "set", "section": "s", "option": option}
    assert check.check([{**change, "value": value}], lambda name: there) == []
    found = check.check([{**change, "value": "/bin/sh -c reboot"}], lambda name: there)
    assert [one["kind"] for one in found] == ["bad_value"]


def test_rules_alone_show_nothing_that_is_named_like_a_secret():
    for package in entries.packages():
        for type_, whole in entries.types(package).items():
            for name in whole["options"]:
                if entries.origin(package, type_, name) and secret_options.looks_secret(package, type_, name):
                    assert secret_options.is_secret(package, type_, name), (package, type_, name)


def test_a_secret_that_is_code_is_masked():
    found = [
        (package, type_, name)
        for package in entries.packages()
        for type_, whole in entries.types(package).items()
        for name in whole["options"]
        if (entries.option(package, type_, name) or {}).get("secret")
    ]
    assert found
    assert all(secret_options.is_secret(*one) and entries.mark(*one) == "exec" for one in found)


def test_texts_of_what_nobody_reviewed_hold_no_path_shell_quote_or_line():
    for value in (
        "/etc/passwd",
        "a b",
        "a;b",
        "$(a)",
        "`a`",
        "a'b",
        'a"b',
        "a\nb",
        "a|b",
        "a&b",
        "-a",
        "../a",
        "a*",
        "~",
        "a\\b",
    ):
        assert validators.error("scalar", value), value
    for value in ("a", "1.2.3.4", "a-b_c", "100%", "00:11:22:33:44:55", "user@example.org", "fd00::1"):
        assert not validators.error("scalar", value), value


def test_without_the_package_the_core_knows_less_and_says_where_more_is(tmp_path):
    copy = str(tmp_path / "lib")
    shutil.copytree(
        os.path.join(REPOSITORY, "oasis"), copy + "/oasis", ignore=shutil.ignore_patterns("generated", "parts")
    )
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from oasis.catalogue import check, entries\n"
        "found = check.check([{'package': 'zerotier', 'op': 'delete', 'section': 'x'}], lambda name: {})\n"
        "print(len(entries.packages()), found[0]['kind'], 'oasis-catalogue' in found[0]['hint'])"
    )
    done = subprocess.run([sys.executable, "-ISc", code, copy], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == [str(len(entries.by_hand())), "unknown_package", "True"], done.stderr
    found = check.check([{"package": "zerotierr", "op": "delete", "section": "x"}], lambda name: {})
    assert "zerotier" in found[0]["hint"] and "oasis-catalogue" not in found[0]["hint"]


@pytest.fixture
def kit(tmp_path):
    made = Kit(tmp_path / "router", approval="none")
    with open(f"{made.root.confdir}/{UNSEEN}", "w") as handle:
        handle.write(f"config {UNSEEN} 'main'\n\toption interval '1'\n")
    return made


@pytest.mark.part("schedule")
def test_a_job_gets_no_approval_ahead_for_what_nobody_reviewed(kit):
    from oasis.parts.schedule.ahead import why_not_ahead

    plan = kit.plan(f"uci set {UNSEEN}.main.interval=4096")
    assert why_not_ahead(plan, kit.planner.policy) == "nobody has reviewed what an option of it does"


def test_an_option_that_nobody_reviewed_always_waits_and_says_so(kit):
    assert not kit.plan("uci set wireless.default_radio0.ssid=Attic")["needs_approval"]  # the owner asks for nothing
    plan = kit.plan(f"uci set {UNSEEN}.main.interval=4096")
    assert plan["risk"] == "risky" and plan["needs_approval"]
    assert plan["reasons"][0] == UNREVIEWED % f"{UNSEEN}.main.interval (/etc/config/{UNSEEN}, line 2)"


def test_a_bad_value_and_an_unknown_option_are_refused_as_by_hand(kit):
    for line in (f"{UNSEEN}.main.key='a;b'", f"{UNSEEN}.main.invented=1"):
        with pytest.raises(PolicyError):
            kit.plan("uci set " + line)


def test_a_switch_that_a_package_does_not_have_names_its_service(kit):
    kit.write("adguardhome", b"config adguardhome 'config'\n\toption verbose '0'\n")
    with pytest.raises(PolicyError, match=r"no option 'enabled'.*stop or disable the service adguardhome"):
        kit.plan("uci set adguardhome.config.enabled=1")


def test_sections_and_options_that_are_code_are_the_owners_alone():
    there = {"main": {".type": "zerotier"}}
    for package, rest in (
        ("keepalived", {"op": "add", "type": "vrrp_script"}),
        ("zerotier", {"op": "set", "section": "main", "option": "config_path", "value": "x"}),
    ):
        found = check.check([{"package": package, **rest}], lambda name: there)
        assert [one["kind"] for one in found] == ["exec"]


UNHEARD = """config thing 'main'
\toption level '3'
\toption script 'x'
\toption target '/etc/x'
\toption mixed 'a'
\tlist words 'a'

config thing
\toption mixed 'a b'

config hook 'late'
\toption level '1'
"""


@pytest.fixture
def unheard(tmp_path):
    made = Kit(tmp_path / "router", approval="none")
    for name, text in (
        ("unheard", UNHEARD),
        ("network", made.config("network").decode() + "\nconfig interface 'odd'\n\toption odd '1'\n"),
    ):
        with open(f"{made.root.confdir}/{name}", "w") as handle:
            handle.write(text)
    return made


def test_an_option_that_only_the_installed_file_has_may_be_proposed(unheard):
    plan = unheard.plan("uci set unheard.main.level=5")
    assert plan["risk"] == "risky" and plan["needs_approval"]
    assert plan["reasons"][0] == UNREVIEWED % "unheard.main.level (/etc/config/unheard, line 2)"
    assert unheard.plan("uci add_list unheard.main.words=b")["needs_approval"]
    assert unheard.plan("uci set unheard.@thing[1].level=5")["reasons"][0] == UNREVIEWED % (
        "unheard.@thing[1].level (/etc/config/unheard, line 2)"
    )


@pytest.mark.parametrize(
    "line",
    [
        "set unheard.main.level=/etc/passwd", "set unheard.main.level='a b'", "set unheard.main.level='a;b'",
        "set unheard.main.level=-x", "set unheard.main.new=1", "set unheard.main.script=y", "set unheard.main.target=y",
        "set unheard.main.mixed=y", "set unheard.late.level=2", "add unheard hook", "add unheard other",
        "set network.odd.odd=2",
    ],
)  # fmt: skip
def test_nothing_else_of_what_nobody_knows_may(unheard, line):
    with pytest.raises(PolicyError):
        unheard.plan("uci " + line)


RUNS = (
    "cmdline on_connect post pre sh bash helper launcher wrapper loader insmod modprobe import source nft sysctl"
    " update_url repo"
)


@pytest.mark.parametrize("name", RUNS.split())
def test_a_name_that_says_code_is_refused_by_its_name(unheard, name):
    unheard.write("unheard", f"config thing 'main'\n\toption {name} 'reboot'\n".encode())
    with pytest.raises(PolicyError, match=r"runs code, names a file or folder, .* by its name or by the value"):
        unheard.plan(f"uci set unheard.main.{name}=poweroff")


def test_a_short_name_of_a_password_is_a_secret():
    assert secret_options.is_secret("unheard", "thing", "pw") and secret_options.is_secret(
        "unheard", "thing", "wifi_pw"
    )


def test_what_was_taken_up_is_gone_with_the_next_plan(unheard):
    unheard.plan("uci set unheard.main.level=5")
    assert entries.origin("unheard", "thing", "level") == "installed"
    unheard.plan("uci set system.@system[0].hostname=attic")
    assert entries.types("unheard") == {}


def test_the_place_of_an_option_is_that_of_its_like_or_of_what_the_package_came_with(unheard):
    assert (
        "unheard.other.level (/etc/config/unheard, line 2)"
        in unheard.plan("uci set unheard.other=thing\nuci set unheard.other.level=5")["reasons"][0]
    )
    os.makedirs(unheard.root.path("/rom/etc/config"))
    with open(unheard.root.path(f"/rom/etc/config/{UNSEEN}"), "w") as handle:
        handle.write(f"\nconfig {UNSEEN} 'main'\n\n\toption interval '1'\n")
    unheard.write(UNSEEN, f"config {UNSEEN} 'main'\n".encode())
    plan = unheard.plan(f"uci set {UNSEEN}.main.interval=4096")
    assert plan["reasons"][0] == UNREVIEWED % f"{UNSEEN}.main.interval (/rom/etc/config/{UNSEEN}, line 4)"


def test_what_is_known_by_rule_alone_takes_one_harmless_word_or_an_address():
    url = {"type": "url", "generated": "rules"}
    assert validators.of_entry(url, "https://example.org/path")
    assert not validators.of_entry({**url, "generated": "review"}, "https://example.org/path")
    assert validators.of_entry({"values": ["a b"], "generated": "rules"}, "a b")
    assert not validators.of_entry({"type": "cidr4", "generated": "rules"}, "192.168.2.0/24")
    for package in entries.packages():
        for kind, whole in entries.types(package).items():
            for name in whole["options"]:
                entry = entries.option(package, kind, name) or {}
                if entry.get("generated") == "rules":
                    wrong = [
                        one
                        for one in ("/etc/x", "a b", "a;b", "'", "a\nb", "https://a/b")
                        if not validators.of_entry(entry, one)
                    ]
                    assert wrong == [], (package, kind, name)


@pytest.mark.parametrize("approval", ["none", "risky", "all"])
def test_undoing_what_nobody_reviewed_works_and_doing_it_again_waits(tmp_path, approval):
    kit = Kit(tmp_path / "router", approval=approval)
    kit.write(UNSEEN, f"config {UNSEEN} 'main'\n\toption interval '1'\n".encode())
    record = kit.transaction.apply(kit.plan(f"uci set {UNSEEN}.main.interval=4096"))
    rolled = kit.transaction.roll_back(record["id"], "a test")
    assert rolled["state"] == "rolled_back" and b"'1'" in kit.config(UNSEEN)
    record = kit.transaction.apply(kit.plan(f"uci set {UNSEEN}.main.interval=4096"))
    kit.transaction.confirm(record["id"])
    plan = plan_undo(kit.journal, kit.planner, record["id"], "run1", "chat1")
    assert plan["needs_approval"] is (approval != "none")
    undone = kit.transaction.apply(plan)
    kit.transaction.confirm(undone["id"])
    assert b"'1'" in kit.config(UNSEEN)
    again = plan_undo(kit.journal, kit.planner, undone["id"], "run1", "chat1")
    assert again["needs_approval"] and any("not reviewed" in reason for reason in again["reasons"])
    kit.transaction.stop()
