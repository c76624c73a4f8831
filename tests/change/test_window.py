"""The window of a risky change: more time, jumps of the clock, what the change started, who else holds the flash."""

import os
import time

import pytest

from oasis.change.apply.transaction import GUARD_GRACE_S, LONGEST_S
from oasis.change.plan_card import ahead
from oasis.errors import ApplyError, UnprovedError, UsageError
from oasis.system.connections import connection
from tests.change.kit import RENAME, WIFI

DHCP = "uci set dhcp.lan.start=110"
MOVE = "uci set network.lan.ipaddr=192.168.9.1"


def deadline(kit):
    with open(kit.journal.pending + "/deadline") as handle:
        return int(handle.read())


def apply(kit, text=WIFI):
    return str(kit.transaction.apply(kit.plan(text))["id"])


def test_more_time_is_the_whole_window_again_for_the_guard_too(kit):
    change = apply(kit)
    kit.clock.shift_s += 60
    assert kit.transaction.pending()["confirm_in_s"] in (29, 30)
    assert kit.transaction.extend(change)["confirm_in_s"] in (89, 90)
    assert kit.transaction.pending()["confirm_in_s"] in (89, 90)
    kit.transaction.extend(change, 300)
    left_s = deadline(kit) - kit.clock.up_s() - GUARD_GRACE_S
    assert 298 <= left_s <= 302, "the guard waits as long as the daemon says"
    assert kit.told[-1]["state"] == "applied", "front-ends hear of it"


def test_more_time_may_be_named_and_is_never_less(kit):
    change = apply(kit)
    assert kit.transaction.extend(change, 200)["confirm_in_s"] in (199, 200)
    with pytest.raises(UsageError, match="gets no more time"):
        kit.transaction.extend(change, 10)
    assert kit.transaction.pending()["confirm_in_s"] in (198, 199, 200)


def test_all_the_time_ends_15_minutes_after_the_change(kit):
    change = apply(kit)
    assert kit.transaction.extend(change, 100000)["confirm_in_s"] in (LONGEST_S - 1, LONGEST_S)
    with pytest.raises(UsageError, match="15 minutes in all"):
        kit.transaction.extend(change)


def test_who_extends_nothing_is_told(kit):
    with pytest.raises(UsageError, match="no change waits"):
        kit.transaction.extend("")


def test_an_extended_change_is_put_back_when_that_time_is_over(make_kit):
    kit = make_kit(confirm_s=1)
    before = kit.config("wireless")
    change = apply(kit)
    kit.transaction.extend(change, 3)
    time.sleep(1.5)
    assert kit.config("wireless") != before
    assert kit.wait_for("rolled_back")
    assert kit.config("wireless") == before


@pytest.mark.parametrize("jump_s", [-40 * 365 * 86400, 10 * 365 * 86400])
def test_a_jump_of_the_wall_clock_moves_no_deadline(make_kit, jump_s):
    kit = make_kit(confirm_s=2)
    before = kit.config("wireless")
    wall_s = kit.clock.unix_s
    change = apply(kit)
    kit.clock.unix_s = lambda: wall_s() + jump_s
    kit.transaction.extend(change)
    time.sleep(0.5)
    assert kit.config("wireless") != before, "put back too early"
    assert kit.wait_for("rolled_back", 6)
    assert kit.config("wireless") == before


def test_one_change_waits_and_every_other_write_is_refused(kit):
    change = apply(kit)
    for text in (RENAME, WIFI.replace("Attic", "Cellar"), "uci set system.@system[0].notes=x"):
        with pytest.raises(ApplyError, match=f"change {change} waits to be kept"):
            kit.transaction.apply(kit.plan(text))


def test_nothing_is_written_while_an_apply_of_luci_waits(kit):
    folder = kit.root.path("/var/run/rpcd/snapshot-files")
    os.makedirs(folder)
    before = kit.config("system")
    kit.transaction.apply(kit.plan(RENAME))  # the empty folder is what rpcd leaves
    with open(folder + "/network", "w") as handle:
        handle.write("config interface lan\n")
    with pytest.raises(ApplyError, match="an apply in LuCI waits") as caught:
        kit.transaction.apply(kit.plan(RENAME.replace("attic", "cellar")))
    assert "confirm or revert it there" in caught.value.hint
    kit.luci_waits = False
    kit.transaction.apply(kit.plan(RENAME.replace("attic", "cellar")))
    kit.luci_waits = True
    assert b"cellar" in kit.config("system") != before
    assert not kit.journal.is_pending()


def links(kit, service):
    return [name for name in os.listdir(kit.root.path("/etc/rc.d")) if name[3:] == service]


def state(kit, service):
    try:
        with open(kit.root.path("/var/run/services/") + service) as handle:
            return handle.read().split()[0]
    except FileNotFoundError:
        return "stopped"


def stop(kit, service, *actions):
    for action in actions:
        kit.executor.run([kit.root.init_script(service), action])


def test_what_the_change_started_is_stopped_again(kit):
    stop(kit, "odhcpd", "stop")
    assert state(kit, "odhcpd") == "stopped"
    change = apply(kit, DHCP)
    assert state(kit, "odhcpd") == "running", "the reload starts it, as on a router"
    kit.transaction.roll_back(change, "test")
    assert state(kit, "odhcpd") == "stopped"
    assert state(kit, "dnsmasq") == "running"


def test_a_service_that_the_change_enabled_is_disabled_again_and_the_other_way_round(kit):
    stop(kit, "odhcpd", "stop", "disable")
    change = apply(kit, DHCP)
    stop(kit, "odhcpd", "enable")
    stop(kit, "dnsmasq", "disable")
    kit.transaction.roll_back(change, "test")
    assert links(kit, "odhcpd") == []
    assert links(kit, "dnsmasq") != []
    assert state(kit, "odhcpd") == "stopped"


def test_a_moved_router_is_told_before_and_after(kit):
    plan = kit.plan(MOVE)
    assert plan["new_address"] == "192.168.9.1"
    record = kit.transaction.apply(plan)
    assert record["new_address"] == "192.168.9.1"
    assert {"what": "interface lan 192.168.9.1", "result": "seen"} in record["verified"]


@pytest.mark.parametrize(
    "text, address",
    [
        (WIFI, ""),
        ("uci set network.wan.metric=5", ""),
        ("uci set network.lan.netmask=255.255.0.0", ""),
        ("uci delete network.lan.ipaddr; uci add_list network.lan.ipaddr=10.0.0.1/24", "10.0.0.1"),
    ],
)
def test_an_address_is_new_only_when_it_moves(kit, text, address):
    assert kit.plan(text.replace("; ", "\n"))["new_address"] == address


def test_a_proof_is_noted_told_and_written_with_the_end(kit):
    change = apply(kit)
    life = kit.evidence().life
    one = connection("127.0.0.1", "80", "127.0.0.1", "40000")
    life._listed = lambda: {one: 1}
    life._may_keep = lambda session: True
    told = len(kit.told)
    assert kit.transaction.judge(change, "0" * 32, "s", one) == "stranger"
    assert "proof" not in kit.transaction.pending()
    nonce = kit.transaction.nonce(change)
    assert kit.transaction.judge(change, nonce, "s", one) == "proved"
    assert kit.transaction.judge(change, nonce, "s", one) == "proved"
    assert [record.get("proof") for record in kit.told[told:]] == ["connection"], "told once"
    assert kit.transaction.witness({"name": "owner", "terminal": False, "pid": 0}, False) == "connection"
    kit.transaction.confirm(change, "connection")
    assert kit.journal.read(change)["proof"] == "connection"
    assert kit.transaction.nonce(change) == ""


def test_the_nonce_is_nowhere_on_flash_nor_in_what_is_told(kit):
    change = apply(kit)
    nonce = kit.transaction.nonce(change)
    assert nonce
    assert nonce not in repr(kit.told) and nonce not in repr(kit.transaction.pending())
    for folder, _, names in os.walk(kit.root.path("/etc/oasis")):
        for name in names:
            with open(f"{folder}/{name}", "rb") as handle:
                assert nonce.encode() not in handle.read()


def test_without_a_proof_a_program_keeps_nothing(kit):
    apply(kit)
    with pytest.raises(UnprovedError):
        kit.transaction.witness({"name": "owner", "terminal": False, "pid": 0}, False)
    assert kit.journal.is_pending()


MAKER = {"name": "owner", "terminal": False, "pid": 0, "session": "a" * 32}
VISITOR = {**MAKER, "session": "b" * 32}


def test_a_fresh_login_keeps_what_it_did_not_make_and_speaks_for_nobody_else(kit):
    one = connection("127.0.0.1", "80", "127.0.0.1", "40000")
    assert kit.transaction.arrive(VISITOR["session"], one) == {}, "no change waits"
    change = apply(kit)
    life = kit.evidence().life
    life._listed = lambda: {one: 1}
    life._may_keep = lambda session: True
    assert kit.transaction.arrive(VISITOR["session"], one) == {"change": change, "proof": "proved"}
    assert kit.transaction.pending(VISITOR["session"])["proof"] == "login"
    assert "proof" not in kit.transaction.pending(MAKER["session"]) and "proof" not in kit.transaction.pending()
    for other in (MAKER, {**MAKER, "session": ""}):
        with pytest.raises(UnprovedError):
            kit.transaction.witness(other, False)
    proof = kit.transaction.witness(VISITOR, False)
    assert kit.transaction.confirm(change, proof)["proof"] == "login"
    assert kit.transaction.pending(VISITOR["session"]) is None


@pytest.mark.parametrize("text, address", [(MOVE, "192.168.9.1"), (WIFI, "")])
def test_what_leads_to_the_new_address_is_told_before_anything_is_written(kit, text, address):
    plan = kit.plan(text)
    package = next(iter(plan["images"]))
    seen = []
    kit.announced = lambda told: seen.append((ahead(told), kit.config(package), kit.services()))
    before, since_s = kit.config(package), time.monotonic()
    change = str(kit.transaction.apply(plan)["id"])
    wanted = {"change": change, "confirm_s": plan["confirm_s"], "nonce": kit.transaction.nonce(change)}
    assert seen == [({**wanted, **({"new_address": address} if address else {})}, before, [])]
    assert len(wanted["nonce"]) == 32 and wanted["confirm_s"] > 0
    if address:
        assert time.monotonic() - since_s > 1, "the browser hears of it while the old address is there"


def test_what_needs_no_keeping_tells_nothing_ahead(kit):
    plan = kit.plan(RENAME)
    assert ahead(plan) == {}
    assert ahead(kit.planner.service("dnsmasq", "restart", "run1", "chat1")) == {}
