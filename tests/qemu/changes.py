"""Steps that change the router: kept, put back by the timer, by the boot, by the guard; and a LAN that goes away."""

from __future__ import annotations

import re
import time

from tests.qemu.life import READY_S, wait_ready
from tests.qemu.router import Failed, Router, expect
from tests.qemu.suite import step

# Long enough to reboot in, short enough to wait for.
WINDOW_S = 40
# The daemon adds this much for the guard, so that its own timer acts first; see GUARD_GRACE_S of the transaction.
GRACE_S = 10
# Reload and read-back of a network, up to 20 s each on a busy machine.
SETTLE_S = 60
APPLY_S = 180
RISKY = "'uci set network.lan.ip6assign=%d'"
AWAY = "192.168.77.1"


def propose(router: Router, command: str, over: str) -> dict:
    """Propose a command of the owner's; return the plan, which waits for approval."""
    events = router.oasis("apply --no-wait " + command, over)
    plans = [event["plan"] for event in events if event.get("type") == "plan"]
    expect(bool(plans), "there is no plan: %s" % events)
    expect(plans[0]["needs_approval"], "the plan needs no approval")
    return plans[0]


def approve(router: Router, plan: dict, over: str) -> dict:
    """Approve a plan with its whole hash; return the change, which is applied and waits to be kept."""
    events = router.oasis("approve " + naming(plan), over, APPLY_S)
    changes = [event["change"] for event in events if event.get("type") == "change"]
    expect(bool(changes) and changes[-1]["state"] == "applied", "the change was not applied: %s" % events[-3:])
    return changes[-1]


def naming(plan: dict) -> str:
    """Return the words that name exactly this plan."""
    word = "--word %s " % plan["typed_word"] if plan.get("typed_word") else ""
    return word + "%s %s" % (plan["id"], plan["hash"])


def applied(router: Router, command: str, over: str = "console") -> dict:
    return approve(router, propose(router, command, over), over)


def change(router: Router, number: str) -> dict:
    """Return a change as the daemon tells it."""
    return router.oasis("changes " + number)[-1]["change"]


def state_is(router: Router, number: str, wanted: str) -> dict:
    told = change(router, number)
    expect(told["state"] == wanted, "change %s is %s, not %s" % (number, told["state"], wanted))
    return told


def assigned(router: Router) -> str:
    """Return what network.lan.ip6assign is on flash."""
    found = re.findall(r"option ip6assign '?(\d+)'?", router.ok("cat /etc/config/network", quiet=True))
    return found[0] if found else ""


def nothing_waits(router: Router) -> None:
    """Fail unless no change waits and nothing lies ready to be restored."""
    router.ok("! [ -e /etc/oasis/pending/list ]")
    expect(router.oasis("pending")[-1]["change"] is None, "a change still waits")


@step("a change of low risk is made at once, and undone")
def low_risk(router: Router) -> None:
    router.ok("oasis prompt 'call this router attic'", APPLY_S)
    expect(router.ok("cat /proc/sys/kernel/hostname") == "attic", "the running host name is another one")
    router.ok("grep \"hostname 'attic'\" /etc/config/system")
    router.ok("oasis undo", APPLY_S)
    expect(router.ok("cat /proc/sys/kernel/hostname") == "OpenWrt", "undo did not reach the running system")
    router.ok("oasis changes")


@step("the windows are made short for these tests")
def windows(router: Router) -> None:
    lines = "".join("\\n\\toption %s '%d'" % (name, WINDOW_S) for name in ("confirm_s", "management_confirm_s"))
    router.ok("sed -i \"s/^config oasis 'main'$/&%s/\" /etc/config/oasis; head -n 5 /etc/config/oasis" % lines)
    router.ok("/etc/init.d/oasis restart", 120)
    wait_ready(router)


@step("a risky change over SSH is kept by a new login through the LAN")
def confirmed(router: Router) -> None:
    router.was = assigned(router)
    plan = propose(router, RISKY % 61, "ssh")
    old = router.ssh("oasis -j approve %s >/dev/null; oasis confirm" % naming(plan), APPLY_S)
    expect(assigned(router) == "61", "the change is not on flash")
    expect(old.status != 0 and "older" in old.text, "a login from before the change kept it")
    expect(router.ssh("oasis confirm").status == 0, "a new login does not keep the change")
    state_is(router, plan["id"], "confirmed")
    nothing_waits(router)
    time.sleep(1)
    expect(assigned(router) == "61", "a kept change is gone")


@step("a risky change that nobody keeps is put back by the timer")
def timed_out(router: Router) -> None:
    before = assigned(router)
    made = applied(router, RISKY % 62, "ssh")
    begin_s = time.monotonic()
    expect(assigned(router) == "62", "the change is not on flash")
    router.until("! [ -e /etc/oasis/pending/list ]", WINDOW_S + SETTLE_S, "put back")
    took_s = time.monotonic() - begin_s
    expect(took_s > WINDOW_S / 2, "it was put back after %.0f s already" % took_s)
    expect(assigned(router) == before, "the old value is not back")
    router.until("oasis -j changes %s | grep -q rolled_back" % made["id"], SETTLE_S, "told as rolled back")
    nothing_waits(router)


@step("a LAN that cannot be reached any more comes back by itself")
def black_hole(router: Router) -> None:
    expect(router.is_reached(), "the router is not reached before")
    made = applied(router, "'uci set network.lan.ipaddr=%s'" % AWAY)
    begin_s = time.monotonic()
    expect(not router.is_reached(), "the router is still reached: nothing was cut")
    router.log.line("  this host gets no answer at 192.168.1.1 any more")
    router.ok("ip -4 address show br-lan | grep inet")
    while not router.is_reached():
        if time.monotonic() - begin_s > WINDOW_S + SETTLE_S:
            raise Failed("the router has not come back in %d s" % (WINDOW_S + SETTLE_S))
    took_s = time.monotonic() - begin_s
    router.number("reached again after a change that cut the LAN", "%.0f s, with a window of %d s" % (took_s, WINDOW_S))
    expect(router.ssh("cat /etc/config/network").text.count("192.168.1.1") == 1, "the old address is not back on flash")
    router.until("oasis -j changes %s | grep -q rolled_back" % made["id"], SETTLE_S, "told as rolled back")
    nothing_waits(router)


@step("an orderly reboot inside the window puts the change back", "disk")
def rebooted(router: Router) -> None:
    before = assigned(router)
    made = applied(router, RISKY % 63)
    router.number("boot to a shell after a reboot", "%.1f s" % router.reboot())
    expect(assigned(router) == before, "the change is still there after the reboot")
    ready_s = wait_ready(router)
    router.number("boot to a daemon that answers", "%.0f s after the kernel began" % ready_s)
    state_is(router, made["id"], "rolled_back")
    nothing_waits(router)


@step("power that fails inside the window: the boot puts the change back before services read it", "disk")
def power_cut(router: Router) -> None:
    made = applied(router, "'uci set network.lan.ipaddr=%s'" % AWAY)
    router.ok("ls /etc/oasis/pending; ip -4 address show br-lan | grep inet")
    router.log.line("  (the emulator is killed and started again)")
    router.machine.cut_power()
    router.boot()
    expect("'%s'" % AWAY not in router.ok("cat /etc/config/network", quiet=True), "the change is still on flash")
    router.ok("ls /etc/oasis/pending; ls /etc/rc.d | head -n 12")
    order(router)
    expect(router.is_reached(), "the router is not reached at its old address")
    wait_ready(router)
    state_is(router, made["id"], "rolled_back")
    nothing_waits(router)


def order(router: Router) -> None:
    """Check in what this boot noted that the restore came before the network read its configuration."""
    if router.kind == "debian":
        noted = router.ok("cat /tmp/order").split("\n")
        names = [line.split()[1] for line in noted]
        expect(names.index("S11oasis-restore") < names.index("S20network"), "the restore came after the network")
        expect(AWAY not in "\n".join(noted), "the network read the change's address: %s" % noted)
    told = router.run("logread 2>/dev/null | grep -E 'oasis|%s' | head -n 20" % AWAY.replace(".", "\\.")).text
    expect(AWAY not in told, "a service saw the change's address in this boot")


@step("the daemon is killed inside the window and cannot start again: the guard puts the change back, without Python")
def guarded(router: Router) -> None:
    before = assigned(router)
    made = applied(router, RISKY % 64)
    router.ok("mv /usr/bin/python3 /usr/bin/python3.away; kill -9 $(cat /var/run/oasis/lock)")
    router.ok("ps w 2>/dev/null | grep '[g]uard.sh' || ps | grep '[g]uard.sh'")
    try:
        begin_s = time.monotonic()
        router.until("! [ -e /etc/oasis/pending/list ]", WINDOW_S + GRACE_S + SETTLE_S, "put back by the guard")
        expect(time.monotonic() - begin_s > WINDOW_S / 2, "it was put back at once")
        expect(assigned(router) == before, "the old value is not back")
    finally:
        router.ok("mv /usr/bin/python3.away /usr/bin/python3")
    # procd may have given up on a program that could not be started.
    router.ok("/etc/init.d/oasis start", READY_S)
    wait_ready(router)
    state_is(router, made["id"], "rolled_back")
    nothing_waits(router)


@step("the daemon alone is killed inside the window: the next one puts the change back when it starts")
def killed(router: Router) -> None:
    before = assigned(router)
    made = applied(router, RISKY % 63)
    pid = router.ok("cat /var/run/oasis/lock")
    router.ok("kill -9 " + pid)
    router.until("! [ -e /etc/oasis/pending/list ]", READY_S, "put back")
    wait_ready(router)
    expect(assigned(router) == before, "the old value is not back")
    state_is(router, made["id"], "rolled_back")


@step("the first value is set again, kept over a new login")
def tidy(router: Router) -> None:
    applied(router, RISKY % int(router.was or 60), "ssh")
    expect(router.ssh("oasis confirm").status == 0, "a new login does not keep the change")
    nothing_waits(router)
