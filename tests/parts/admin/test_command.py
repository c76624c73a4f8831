"""The commands of the part against a real daemon: what is printed, what is written, and what is not asked for."""

import os
import subprocess

import pytest

from tests.cli.launcher import environment, install
from tests.oasisd import start_daemon
from tests.parts.admin.codes import from_lines, read
from tests.parts.admin.test_ssh_keys import LAPTOP, fingerprint
from tests.parts.admin.test_wireguard import change, keys
from tests.parts.admin.world import program, put, router

pytestmark = pytest.mark.part("admin")


@pytest.fixture
def here(tmp_path):
    """Return a daemon with what calls `oasis` on its root."""
    daemon = start_daemon(router(tmp_path / "router"))
    program(daemon.root, "passwd", f"cat >{daemon.root}/got")
    daemon.stop()
    daemon = start_daemon(daemon.root)
    argv = install(tmp_path)

    def oasis(*words, stdin=""):
        env = environment(daemon.root)
        return subprocess.run([*argv, *words], input=stdin, env=env, capture_output=True, text=True, cwd=tmp_path)

    daemon.oasis = oasis
    yield daemon
    daemon.stop()


def test_the_owner_sees_the_code_and_gets_the_file(here, tmp_path):
    assert "no WireGuard here yet" in here.oasis("wireguard").stdout
    change(here, "server")
    change(here, "add", name='Léa\'s "漢字"')
    (_, private) = keys(here.root)
    done = here.oasis("wireguard", "show", 'Léa\'s "漢字"', "--endpoint", "vpn.example.org")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split("\n")
    count = next(at for at, line in enumerate(lines) if line.startswith("#"))
    text = "\n".join(lines[count:]).rstrip("\n") + "\n"
    assert read(from_lines(lines[:count])) == [text] and f"PrivateKey = {private}\n" in text
    assert os.listdir(here.root + "/var/run/oasis/wireguard") == [], "it was taken away"

    done = here.oasis("wireguard", "show", "wg0_peer1", "--endpoint", "vpn.example.org", "--file", "lea.conf")
    assert done.returncode == 0 and private not in done.stdout
    path = tmp_path / "lea.conf"
    assert path.stat().st_mode & 0o777 == 0o600 and path.read_text(encoding="utf-8") == text
    again = here.oasis("wireguard", "show", "wg0_peer1", "--endpoint", "vpn.example.org", "--file", "lea.conf")
    assert again.returncode != 0 and "cannot be written" in again.stderr
    listed = here.oasis("wireguard").stdout
    assert "10.14.0.2/32" in listed and private not in listed


def test_what_is_typed_wrong_is_told(here):
    for words, told in (
        (("wireguard", "dance"), "unknown word"), (("wireguard", "add"), "takes a NAME"),
        (("ssh_keys", "add"), "takes a KEY"), (("ssh_keys", "list", "x"), "takes nothing more"),
        (("firmware", "flash"), "unknown word"), (("upload", "/nowhere", "ovpn"), "cannot be read"),
        (("password",), "no password was typed"), (("ssh_keys", "add", "/nope"), "/nope cannot be read"),
        (("ssh_keys", "add", "/tmp"), "no regular file"), (("upload", "/dev/null", "ovpn"), "no regular file"),
    ):  # fmt: skip
        done = here.oasis(*words)
        assert done.returncode != 0 and told in done.stderr, (words, done.stderr)


def test_a_key_from_a_file_waits_and_is_listed(here, tmp_path):
    (tmp_path / "id.pub").write_text(LAPTOP + "\n")
    done = here.oasis("ssh_keys", "--no-wait", "add", "id.pub")
    assert done.returncode == 10 and fingerprint(LAPTOP) in done.stdout
    assert not os.path.exists(here.root + "/etc/dropbear/authorized_keys")
    put(here.root, "/etc/dropbear/authorized_keys", LAPTOP + "\n")
    assert f"{fingerprint(LAPTOP)}  ssh-ed25519  laptop" in here.oasis("ssh_keys").stdout


def test_a_peer_waits_for_an_approval_elsewhere_and_approve_ends_with_the_decision(here):
    change(here, "server")
    done = here.oasis("wireguard", "--no-wait", "add", "phone")
    assert done.returncode == 10, done.stderr
    plan = here.call("plan.list")["plans"][0]
    assert here.oasis("approve", "--no-wait", plan["id"], plan["hash"]).returncode == 0
    assert "phone" in here.oasis("wireguard").stdout


def test_a_password_from_a_pipe_is_set(here):
    done = here.oasis("password", stdin="correct-horse-battery\n")
    assert done.returncode == 0 and "is set" in done.stdout and "correct" not in done.stdout + done.stderr
    with open(here.root + "/got", encoding="utf-8") as file:
        assert file.read() == "correct-horse-battery\n" * 2


def test_a_profile_is_uploaded(here, tmp_path):
    (tmp_path / "work.ovpn").write_text("client\ndev tun\nremote vpn.example.org\n")
    done = here.oasis("upload", "work.ovpn", "ovpn")
    assert done.returncode == 0 and done.stdout.startswith("/etc/openvpn/work.ovpn\n"), done.stderr
    (tmp_path / "bad.ovpn").write_text("client\nup /tmp/x\n")
    done = here.oasis("upload", "bad.ovpn", "ovpn")
    assert done.returncode != 0 and "line 2: up /tmp/x" in done.stderr


def test_firmware_is_told(here):
    done = here.oasis("firmware")
    assert "OpenWrt 24.10.7" in done.stdout and "neither owut nor auc" in done.stdout
    done = here.oasis("firmware", "check")
    assert done.returncode != 0 and "neither owut nor auc" in done.stderr


def test_a_tool_that_fails_says_why_where_no_model_does(here):
    done = here.oasis("ssh_keys", "add", "not-a-key")
    assert done.returncode != 0 and "error: " in done.stderr and "hint: " in done.stderr, done
