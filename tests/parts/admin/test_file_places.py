"""Uploads go where packages expect them, when they are what they claim to be."""

import base64
import errno
import os

import pytest

from oasis.daemon.wiring import Daemon
from oasis.errors import OasisError
from oasis.system.root import Root
from tests.oasisd import copy_root

pytestmark = pytest.mark.part("admin")
PIECE_BYTES = 36 * 1024
OWNER = {"name": "owner", "terminal": False}
PROFILE = b"client\ndev tun\nproto udp\nremote vpn.example.org 1194\nnobind\n<ca>\n-----BEGIN CERTIFICATE-----\n</ca>\n"


def pem(title, body=b"\x30\x03\x02\x01\x01"):
    return f"-----BEGIN {title}-----\n{base64.b64encode(body).decode()}\n-----END {title}-----\n".encode()


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    root = copy_root(str(tmp_path_factory.mktemp("files") / "router"))
    made = Daemon(Root(root, [root + "/bin", "/usr/bin", "/bin"]))
    yield made
    made.stop()


def place(daemon, data, kind, file="my-vpn.txt", **more):
    """Upload a file and have it put in its place; return the reply, or the error."""
    sent = daemon.call("upload.part", {"name": file, "data": ""}, OWNER)
    for at in range(0, len(data), PIECE_BYTES):
        piece = base64.b64encode(data[at : at + PIECE_BYTES]).decode()
        daemon.call("upload.part", {"upload": sent["upload"], "data": piece}, OWNER)
    try:
        return daemon.call("file.place", {"upload": sent["upload"], "kind": kind, **more}, OWNER)
    except OasisError as error:
        return {"error": error.message, "hint": error.hint}


@pytest.mark.parametrize(
    ("kind", "data", "where", "mode"),
    [
        ("ovpn", PROFILE, "/etc/openvpn/my-vpn.ovpn", 0o600),
        ("certificate", pem("CERTIFICATE") * 2, "/etc/ssl/oasis/my-vpn.pem", 0o644),
        ("key", pem("EC PRIVATE KEY"), "/etc/ssl/oasis/my-vpn.key", 0o600),
        ("hosts", b"# mine\n192.168.1.5 nas nas.lan # disk\n\n2001:db8::1 six\n", "/etc/oasis-hosts/my-vpn", 0o644),
    ],
)
def test_each_kind_has_its_place(daemon, kind, data, where, mode):
    reply = place(daemon, data, kind)
    path = daemon.root.path(where)
    assert reply["file"] == where and reply["size_bytes"] == len(data)
    with open(path, "rb") as file:
        assert file.read() == data
    assert os.stat(path).st_mode & 0o777 == mode
    assert "is there already" in place(daemon, data, kind)["error"]
    assert place(daemon, data + b"\n", kind, replace=True)["size_bytes"] == len(data) + 1


@pytest.mark.parametrize(
    "line",
    ["up /etc/evil.sh", "script-security 2", "plugin /tmp/x.so", "--down 'rm -rf /'", "tls-verify /bin/sh",
     "setenv PATH /tmp", "auth-user-pass /etc/shadow", "log /etc/config/network", "management 0.0.0.0 5555",
     "config /tmp/other", "<up>\nx\n</up>", "route-up x", "\tup x", "engine dynamic"],
)  # fmt: skip
def test_a_profile_that_runs_code_is_refused_with_its_line(daemon, line):
    found = place(daemon, PROFILE + line.encode() + b"\n", "ovpn", "evil.ovpn")
    assert "line 9: " in found["error"] and line.split("\n")[0].strip() in found["error"]
    assert not os.path.exists(daemon.root.path("/etc/openvpn/evil.ovpn"))


@pytest.mark.parametrize(
    ("kind", "data", "why"),
    [
        ("ovpn", b"<html>not found</html>", "names no server"),
        ("ovpn", b"", "names no server"),
        ("ovpn", b"\x7fELF\0client\ndev tun", "is no text"),
        ("ovpn", b"client\n" + b"x" * 300, "too long"),
        ("certificate", PROFILE, "no certificate"),
        ("certificate", pem("CERTIFICATE", b"text"), "no certificate"),
        ("certificate", pem("CERTIFICATE") + pem("PRIVATE KEY"), "holds a private key"),
        ("key", pem("CERTIFICATE"), "no single private key"),
        ("key", pem("PRIVATE KEY") * 2, "no single private key"),
        ("key", pem("ENCRYPTED PRIVATE KEY"), "passphrase"),
        ("hosts", b"192.168.1.5 nas\n192.168.1.999 tv\n", "line 2"),
        ("hosts", b"192.168.1.5\n", "line 1"),
        ("hosts", b"192.168.1.5 a;reboot\n", "line 1"),
        ("hosts", b"# nothing\n", "no line"),
        ("script", b"#!/bin/sh\n", "unknown kind"),
    ],
)
def test_what_it_is_not_is_refused(daemon, kind, data, why):
    assert why in place(daemon, data, kind, "bad.txt")["error"]
    for folder in ("openvpn", "ssl/oasis", "oasis-hosts"):
        path = daemon.root.path("/etc/" + folder)
        assert not os.path.isdir(path) or not any(name.startswith("bad") for name in os.listdir(path))


@pytest.mark.parametrize("name", ["../../config/network", "a/b", "..", "a.b", "", "-x", "x" * 41, "a\nb", "ä"])
def test_a_name_leads_nowhere_else(daemon, name):
    given = {"name": name} if name else {"file": "../../evil me"}
    assert "cannot be its name" in place(daemon, PROFILE, "ovpn", **given)["error"]


def test_a_link_in_its_place_is_replaced_and_not_followed(daemon):
    target = daemon.root.path("/etc/config/network")
    with open(target, "rb") as file:
        before = file.read()
    os.makedirs(daemon.root.path("/etc/openvpn"), exist_ok=True)
    os.symlink(target, daemon.root.path("/etc/openvpn/link.ovpn"))
    place(daemon, PROFILE, "ovpn", name="link", replace=True)
    with open(target, "rb") as file:
        assert file.read() == before
    assert not os.path.islink(daemon.root.path("/etc/openvpn/link.ovpn"))


def test_a_full_flash_is_told_before_and_in_the_middle(daemon):
    free, files = daemon.free_bytes, daemon.files
    daemon.free_bytes = lambda path: 600 * 1024
    try:
        assert "no room" in place(daemon, PROFILE + b"#" * 100 + b"\n" * 200_000, "ovpn", "big.ovpn")["error"]
    finally:
        daemon.free_bytes = free

    class Full(type(files)):
        def sync(self, handle):
            raise OSError(errno.ENOSPC, "No space left on device")

    files.__class__ = Full
    try:
        found = place(daemon, PROFILE, "ovpn", "full.ovpn")
    finally:
        files.__class__ = Full.__mro__[1]
    assert "the flash is full" in found["hint"]
    assert [name for name in os.listdir(daemon.root.path("/etc/openvpn")) if "full" in name] == []


def test_more_than_such_files_have_is_refused(daemon):
    data = b"192.168.1.5 nas\n" * 70_000
    assert "more than 1048576 bytes" in place(daemon, data, "hosts", "long")["error"]
