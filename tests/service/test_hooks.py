"""What hotplug calls, under a router's shell: the clock was set, an interface came up."""

import os
import shutil
import subprocess

import pytest

from tests.daemon import REPOSITORY

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
