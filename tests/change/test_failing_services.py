"""A service that fails after a reload: which failure puts a change back, and which is only told."""

import os
import shutil
import subprocess

import pytest

from oasis.change.apply.evidence import bystanders
from oasis.errors import ApplyError
from oasis.uci import model
from tests.change.kit import RENAME, WIFI
from tests.daemon.test_wiring import config, daemon, of_type, root, say, services  # noqa: F401  # fixtures

LED = "uci set system.attic=led\nuci set system.attic.sysfs=attic\nuci set system.attic.default=1"
START = "uci set dhcp.lan.start=110"


def with_leds(root):  # noqa: F811
    """Give a root the init script of LEDs, one of which is gone."""
    path = root + "/etc/init.d/led"
    shutil.copy(root + "/etc/init.d/log", path)
    os.symlink("../init.d/led", root + "/etc/rc.d/S96led")
    os.makedirs(root + "/var/run/faults", exist_ok=True)
    with open(root + "/var/run/faults/led", "w") as handle:
        handle.write("1")


def states(record):
    return {item["name"]: (item["ok"], item.get("status")) for item in record["services"]}


def test_a_leftover_of_another_service_does_not_undo_a_new_name(daemon):  # noqa: F811
    with_leds(daemon.root)
    events = say(daemon, "call this router attic")
    assert b"option hostname 'attic'" in config(daemon.root, "system")
    change = of_type(events, "change")[-1]["change"]
    assert change["state"] == "confirmed"
    failed = [item for item in change["services"] if not item["ok"]]
    assert failed == [{"name": "led", "action": "reload", "ok": False, "status": 1}]
    assert {"what": "service led", "result": "not read back"} in change["verified"]
    result = of_type(events, "tool_result")[0]
    assert "led reload (failed with status 1" in result["text"] and not result["is_error"], result


@pytest.mark.parametrize("service, text", [("led", LED), ("system", RENAME), ("dnsmasq", RENAME), ("dnsmasq", START)])
def test_a_service_that_the_change_is_about_puts_it_back(kit, service, text):
    with_leds(kit.root.folder)
    os.remove(kit.root.path("/var/run/faults/led"))
    before = {name: kit.config(name) for name in ("system", "dhcp")}
    kit.fault(service, "1")
    with pytest.raises(ApplyError, match=f"service {service} reload failed with status 1.*everything was rolled back"):
        kit.transaction.apply(kit.plan(text))
    assert {name: kit.config(name) for name in before} == before


def test_what_failed_without_the_change_as_well_is_told_the_next_time_and_undoes_nothing(kit):
    before = kit.config("dhcp")
    kit.fault("odhcpd", "1")
    with pytest.raises(ApplyError) as caught:
        kit.transaction.apply(kit.plan(START))
    assert "fails in the same way without the change" in caught.value.hint
    assert kit.config("dhcp") == before
    record = kit.transaction.apply(kit.plan(START))
    assert record["state"] == "applied" and states(record)["odhcpd"] == (False, 1)
    assert states(record)["dnsmasq"] == (True, None)
    assert b"110" in kit.config("dhcp")


def test_one_that_the_change_is_not_about_must_still_run_as_it_did(kit):
    """What a failed script leaves behind is looked at, whoever's the failure is."""
    before = kit.config("system")
    script = kit.root.init_script("sysntpd")
    with open(script) as handle:
        text = handle.read()
    state = kit.root.path("/var/run/services/sysntpd")
    with open(script, "w") as handle:
        handle.write(text.replace("\n", f'\n[ "$1" = reload ] && echo dead >{state} && exit 1\n', 1))
    with pytest.raises(ApplyError, match="after the reload service sysntpd does not run"):
        kit.transaction.apply(kit.plan(RENAME))
    assert kit.config("system") == before


@pytest.mark.parametrize("what", ["another status", "other files"])
def test_what_failed_otherwise_or_with_other_files_is_known_of_nothing(kit, what):
    kit.fault("odhcpd", "1")
    with pytest.raises(ApplyError):
        kit.transaction.apply(kit.plan(START))
    if what == "another status":
        kit.fault("odhcpd", "2")
    else:
        kit.write("dhcp", kit.config("dhcp") + b"\n# somebody mended it\n")
    with pytest.raises(ApplyError, match="service odhcpd reload failed"):
        kit.transaction.apply(kit.plan(START))


def test_what_the_change_itself_breaks_is_not_known_to_fail_anyway(kit):
    """The script is well again once the old files are back."""
    script = kit.root.init_script("odhcpd")
    with open(script) as handle:
        text = handle.read()
    with open(script, "w") as handle:
        handle.write(text.replace("\n", '\ngrep -q 110 "${0%/*}/../config/dhcp" && exit 1\n', 1))
    for _ in range(2):
        with pytest.raises(ApplyError, match="service odhcpd reload failed with status 1") as caught:
            kit.transaction.apply(kit.plan(START))
        assert "without the change" not in caught.value.hint


@pytest.mark.parametrize(
    "before, after, wanted",
    [
        ("", "\toption hostname 'b'\n", ["led", "log", "sysntpd"]),
        ("", "\toption log_size '64'\n", ["dnsmasq", "led", "sysntpd"]),
        ("", "config led 'x'\n\toption sysfs 'a'\n", ["dnsmasq", "log", "sysntpd"]),
        ("config led 'x'\n\toption sysfs 'a'\n", "", ["dnsmasq", "log", "sysntpd"]),
        ("config timeserver 'ntp'\n", "config timeserver 'ntp'\n\tlist server 'a'\n", ["dnsmasq", "led", "log"]),
        ("", "config system\n", ["led", "sysntpd"]),
    ],
)
def test_a_change_is_about_the_services_that_read_what_it_changes(before, after, wanted):
    start = "config system\n\toption description 'x'\n"
    images = {"system": ((start + before).encode(), (start + after).encode())}
    assert model.parse(images["system"][1], "system")
    assert bystanders(images) == wanted


def test_of_a_package_whose_services_all_read_it_all_of_them_count(kit):
    assert bystanders(kit.plan(WIFI)["images"]) == []
    assert bystanders({}) == []


def test_a_service_that_was_switched_off_is_not_started_by_a_change_that_is_not_about_it(daemon):  # noqa: F811
    for action in ("stop", "disable"):
        subprocess.run([daemon.root + "/etc/init.d/sysntpd", action], check=True)
    before = len(services(daemon.root))
    events = say(daemon, "call this router attic")
    assert of_type(events, "change")[-1]["change"]["state"] == "confirmed"
    assert not [line for line in services(daemon.root)[before:] if line.startswith("sysntpd re")]
    assert "dnsmasq reload" in services(daemon.root)[before:]


def test_a_service_that_does_not_start_at_boot_but_runs_is_reloaded(daemon):  # noqa: F811
    subprocess.run([daemon.root + "/etc/init.d/sysntpd", "disable"], check=True)
    before = len(services(daemon.root))
    say(daemon, "call this router attic")
    assert "sysntpd reload" in services(daemon.root)[before:]
