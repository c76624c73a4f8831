"""What the init script asks procd for; the functions of OpenWrt's scripts are stand-ins that say their words."""

import os
import shutil
import subprocess

import pytest

SCRIPT = os.path.join(os.path.dirname(__file__), "../../files/etc/init.d/oasis")
STANDINS = """
config_load() { :; }
config_get_bool() { eval "$1=$ENABLED"; }
user_exists() { [ "$HAS_USER" = "$1" ]; }
user_add() { printf '<%s>' user_add "$@"; echo; }
group_add_next() { [ "$1" = oasis ] && echo 32768; }
procd_open_instance() { :; }
procd_close_instance() { :; }
procd_set_param() { echo "$@"; }
procd_add_reload_trigger() { echo trigger "$@"; }
. "$1"
start_service
service_triggers
"""
SHELLS = [["/bin/sh"], *([["busybox", "ash"]] if shutil.which("busybox") else [])]


@pytest.fixture(params=SHELLS, ids=lambda words: " ".join(words))
def start(request):
    def start(enabled="1", user=""):
        env = {"ENABLED": enabled, "HAS_USER": user, "PATH": os.environ["PATH"]}
        run = subprocess.run([*request.param, "-c", STANDINS, "sh", SCRIPT], env=env, capture_output=True, text=True)
        assert (run.returncode, run.stderr) == (0, "")
        return run.stdout.splitlines()

    return start


def test_the_workers_user_is_made_where_it_is_missing(start):
    assert "<user_add><oasis><><32768>" in start(user="nobody")


def test_a_user_that_is_there_stays_as_it_is(start):
    assert not any("user_add" in line for line in start(user="oasis"))


def test_the_daemon_runs_with_limits_and_time_to_put_back(start):
    told = start(user="oasis")
    assert told[0] == "command /usr/sbin/oasisd"
    for line in ("limits core=0 nofile=1024 1024", "term_timeout 60", "respawn 3600 5 5", "stdout 1", "stderr 1"):
        assert line in told


def test_a_changed_setting_is_a_signal_and_no_restart(start):
    told = start(user="oasis")
    for line in ("reload_signal HUP", "trigger oasis"):
        assert line in told
    files = next(line for line in told if line.startswith("file ")).split()[1:]
    assert files[0] == "/etc/config/oasis"
    # Another part or language is a change as well: each is a file of a package of its own.
    assert "/usr/lib/oasis/oasis/parts/*/manifest.py*" in files and files[2].endswith("/offline/intents/??.json")


def test_a_service_that_is_off_starts_nothing_and_waits_for_being_switched_on(start):
    assert start(enabled="0") == ["trigger oasis"]
