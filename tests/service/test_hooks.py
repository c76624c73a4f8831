"""What hotplug calls, under a router's shell: the clock was set, an interface came up."""

import os
import shutil
import subprocess
import time

import pytest

from tests.oasisd import REPOSITORY

SHELL = [shutil.which("busybox"), "ash"] if shutil.which("busybox") else ["/bin/sh"]


@pytest.fixture
def hook(tmp_path):
    """Call a hook as hotplug does; gives the files of the run folder afterwards."""

    def call(name, **env):
        with open(f"{REPOSITORY}/files/etc/hotplug.d/{name}") as file:
            text = file.read()
        assert "/var/run/oasis" in text
        # A script of hotplug is read into its shell, so that `exit` ends it.
        words = [*SHELL, "-c", text.replace("/var/run/oasis", str(tmp_path / "run"))]
        done = subprocess.run(
            words, env={"PATH": os.environ["PATH"], **env}, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return {path.name: path.read_text() for path in (tmp_path / "run").glob("*")}

    return call


@pytest.mark.parametrize("action", ["stratum", "step", "periodic"])
def test_a_clock_that_was_set_is_told(hook, action, tmp_path):
    assert list(hook("ntp/90-oasis", ACTION=action, stratum="3")) == ["clock"]
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("env", [{"ACTION": "unsync", "stratum": "3"}, {"ACTION": "step", "stratum": "16"}, {}])
def test_a_clock_that_nobody_set_is_not(hook, env):
    assert hook("ntp/90-oasis", **env) == {}


def test_an_interface_that_comes_up_is_told_each_time_anew(hook):
    first = hook("iface/90-oasis", ACTION="ifup", INTERFACE="wan", DEVICE="eth1")["online"]
    assert first.strip()
    for _ in range(200):
        if hook("iface/90-oasis", ACTION="ifup", INTERFACE="wan6")["online"] != first:
            return
    raise AssertionError("the second time looks like the first")


@pytest.mark.parametrize(
    "env", [{"ACTION": "ifdown", "INTERFACE": "wan"}, {"ACTION": "ifup", "INTERFACE": "loopback"}, {}]
)
def test_one_that_goes_down_or_leads_nowhere_is_not(hook, env):
    assert hook("iface/90-oasis", **env) == {}


# What wakes a schedule: a pipe that is there while somebody waits.


@pytest.fixture
def pipe(tmp_path):
    """Make the pipe as oasisd does; gives what was written since."""
    (tmp_path / "run").mkdir(mode=0o700)
    os.mkfifo(tmp_path / "run/events", 0o600)
    number = os.open(tmp_path / "run/events", os.O_RDWR | os.O_NONBLOCK)

    def read(wanted=1):
        data = b""
        deadline = time.monotonic() + 20
        while data.count(b"\n") < wanted and time.monotonic() < deadline:
            try:
                data += os.read(number, 65536)
            except BlockingIOError:
                time.sleep(0.01)
        return data.decode()

    yield read
    os.close(number)


@pytest.fixture
def told(tmp_path):
    """Call a hook, with the pipe there or not; nothing may go wrong, nor be said."""

    def call(name, **env):
        with open(f"{REPOSITORY}/files/etc/hotplug.d/{name}") as file:
            text = file.read().replace("/var/run/oasis", str(tmp_path / "run"))
        env = {"PATH": os.environ["PATH"], **env}
        done = subprocess.run([*SHELL, "-c", text], env=env, capture_output=True, text=True, check=False, timeout=30)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    return call


@pytest.mark.parametrize("action", ["ifup", "ifdown"])
def test_interface_is_told_where_somebody_waits(told, pipe, action):
    told("iface/90-oasis", ACTION=action, INTERFACE="wan")
    assert pipe() == f"iface {action} wan\n"


def test_loopback_and_other_actions_are_not(told, pipe):
    for env in ({"ACTION": "ifup", "INTERFACE": "loopback"}, {"ACTION": "ifupdate", "INTERFACE": "wan"}):
        told("iface/90-oasis", **env)
    told("iface/90-oasis", ACTION="ifdown", INTERFACE="wan6")
    assert pipe() == "iface ifdown wan6\n"


def test_device_is_told_when_it_is_new_to_the_server(told, pipe):
    env = {"MACADDR": "02:00:00:00:00:01", "IPADDR": "192.168.1.9", "HOSTNAME": "pixel-7"}
    for action in ("remove", "update"):
        told("dhcp/90-oasis", ACTION=action, **env)
    told("dhcp/90-oasis", ACTION="add", **env)
    assert pipe() == "dhcp add 02:00:00:00:00:01 192.168.1.9 pixel-7\n"


@pytest.mark.parametrize("name", ["a\niface ifdown wan", "a b", "$(reboot)", "`id`", "%s%n", "ä", "", "x" * 300])
def test_name_of_a_device_ends_where_no_host_name_goes_on(told, pipe, name):
    told("dhcp/90-oasis", ACTION="add", MACADDR="02:00:00:00:00:01\nclock", IPADDR="1.2.3.4 x", HOSTNAME=name)
    kept = {"a\niface ifdown wan": "a", "a b": "a", "x" * 300: "x" * 63}.get(name, "")
    assert pipe() == f"dhcp add 02:00:00:00:00:01 1.2.3.4 {kept}\n"


def test_clock_wakes_who_waits_when_it_is_set_or_jumps_and_not_each_time_it_is_right(told, pipe):
    told("ntp/90-oasis", ACTION="stratum", stratum="3")
    assert pipe() == "clock\n"
    told("ntp/90-oasis", ACTION="periodic", stratum="3")
    told("ntp/90-oasis", ACTION="step", stratum="3")
    assert pipe() == "clock\n", "once for the jump"


@pytest.mark.parametrize("name", ["iface/90-oasis", "dhcp/90-oasis", "ntp/90-oasis"])
def test_pipe_that_nobody_reads_keeps_nobody_waiting(told, tmp_path, name):
    (tmp_path / "run").mkdir(mode=0o700)
    os.mkfifo(tmp_path / "run/events", 0o600)
    env = {"INTERFACE": "wan", "MACADDR": "02:00:00:00:00:01", "IPADDR": "1.2.3.4", "stratum": "3"}
    told(name, ACTION={"iface/90-oasis": "ifdown", "dhcp/90-oasis": "add", "ntp/90-oasis": "step"}[name], **env)


def test_nobody_waits_so_a_new_device_leaves_nothing(told, tmp_path):
    told("dhcp/90-oasis", ACTION="add", MACADDR="02:00:00:00:00:01", IPADDR="1.2.3.4", HOSTNAME="x")
    assert not os.path.exists(tmp_path / "run")
