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
. "$1"
start_service
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
    for line in ("no_new_privs 1", "limits core=0 nofile=1024 1024", "term_timeout 60", "respawn 3600 5 5"):
        assert line in told


def test_a_service_that_is_off_starts_nothing(start):
    assert start(enabled="0") == []
