"""The service under a real procd: started, killed, told of settings, switched off and on, with a change that waits.

OASIS_ROUTER is a command that runs another one as root on a router for tests where oasis is installed, as in
tests/peers/test_router.py.
"""

import json
import time

import pytest

from tests.peers.test_router import RULE, apply, config, oasis, on, ready, text, wait
from tests.peers.test_router import pytestmark as pytestmark

SECRET = "sk-procd-0123456789abcdef"
EVENT = 'ubus call service event \'{"type":"config.change","data":{"package":"oasis"}}\''

LOOK = (
    "ubus call service list '{\"verbose\":true}'; logread; cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ; "
    "cat /etc/config/oasis; ubus call oasis.service list"
)


def pid():
    """Return the daemon's process as procd knows it, 0 for none."""
    instances = json.loads(text('ubus call service list \'{"name":"oasis"}\'')).get("oasis", {}).get("instances", {})
    return next((one.get("pid", 0) for one in instances.values() if one.get("running")), 0)


def log():
    return text("logread -e oasisd")


def set_main(**options):
    for name, value in options.items():
        on(f"uci set oasis.main.{name}={value}" if value else f"uci -q delete oasis.main.{name}")
    on("uci commit oasis")


@pytest.fixture(autouse=True)
def running():
    """The service runs as it was shipped, before and after each test."""
    on("cp /etc/config/oasis /tmp/oasis-before; /etc/init.d/oasis start")
    ready()
    yield
    on("cat /tmp/oasis-before >/etc/config/oasis; /etc/init.d/oasis enable; /etc/init.d/oasis start")
    ready()


def test_it_runs_as_the_first_to_go_when_memory_runs_out_and_is_on_the_bus():
    assert int(text(f"cat /proc/{pid()}/oom_score_adj")) == 200
    assert {"oasis", "oasis.run", "oasis.change"} <= set(text("ubus list").split())
    assert int(text("cat /var/run/oasis/lock")) == pid()


def test_killed_it_is_there_again_and_on_the_bus():
    before = pid()
    on(f"kill -9 {before}")
    began_s = time.monotonic()
    wait(lambda: pid() not in (0, before), 12, "procd did not start it again")
    assert time.monotonic() - began_s > 2, "a pause: what dies at once must not take all of the processor"
    ready()
    wait(lambda: "oasis.run" in text("ubus list").split(), 20, "it is not on the bus")
    assert json.loads(text("ubus call oasis info"))["version"]


def test_a_changed_setting_is_taken_over_without_a_restart():
    before = pid()
    for number, way in enumerate(("/etc/init.d/oasis reload", EVENT)):
        word = ("all", "none")[number]
        set_main(approval=word)
        on(way)
        wait(lambda: oasis("status")[1][0]["approval"] == word, 10, f"not taken over by {way}")  # noqa: B023
    assert pid() == before
    assert log().count("settings taken over: approval") >= 2


def test_a_reload_for_nothing_is_nothing():
    before, told = pid(), log()
    for _ in range(3):
        on("/etc/init.d/oasis reload")
    assert (pid(), log()) == (before, told)


def test_switched_off_it_ends_and_is_not_started_switched_on_it_comes():
    set_main(enabled="0")
    on(EVENT)
    wait(lambda: pid() == 0, 20, "it goes on")
    on("/etc/init.d/oasis start")
    assert oasis("status")[0] != 0 and pid() == 0
    set_main(enabled="1")
    on(EVENT)
    wait(pid, 20, "it does not come")
    ready()


def test_a_restart_puts_back_what_nobody_kept_and_serves_again():
    before, first = config("firewall"), pid()
    apply(*RULE)
    assert config("firewall") != before
    on("/etc/init.d/oasis restart", timeout_s=120)
    wait(lambda: pid() not in (0, first), 90, "it did not come back")
    ready()
    assert config("firewall") == before
    assert pid() == int(text("cat /var/run/oasis/lock"))


def test_a_stop_ends_it_and_leaves_nothing_of_it():
    first = pid()
    on("/etc/init.d/oasis stop", timeout_s=90)
    wait(lambda: pid() == 0 and not text(f"ls -d /proc/{first}"), 70, "it did not end")
    assert text("pgrep -f oasis/worker") == text("pgrep -f oasis/parts/offline") == ""
    assert "oasis.run" not in text("ubus list").split()


def test_no_key_is_told_to_procd_the_log_or_the_process_list():
    status, told = on(f"printf '%s\\n' {SECRET} | oasis -j add --key --model m openai")
    assert status == 0, told
    name = json.loads(told)["identifier"]
    try:
        on("/etc/init.d/oasis restart")
        ready()
        oasis("test", name)
        seen = text(LOOK)
        assert "openai" in seen and SECRET not in seen
        assert SECRET in text("cat /etc/oasis/keys.json")
        assert text("stat -c %a /etc/oasis/keys.json") == "600"
    finally:
        oasis("remove", name)


def test_its_words_are_in_the_system_log_under_its_name():
    on("/etc/init.d/oasis restart")
    ready()
    assert "daemon.err oasisd[%d]: oasisd: ready on" % pid() in log()
