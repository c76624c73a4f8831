"""A peer connects to the server by WireGuard's own programs, with what the owner was shown; peers come and go.

The server's interface is set up from UCI as netifd does it (private key, port, peers), in a network namespace of its
own; the peer's in another one, from the text of its QR code.
"""

import os
import shutil
import subprocess
import sys
import time

import pytest

from tests.oasisd import REPOSITORY, start_daemon
from tests.parts.admin.codes import from_lines, read
from tests.parts.admin.test_wireguard import change, keys, taken
from tests.parts.admin.world import put, router

NEEDED = ("wg", "wireguard-go", "ip", "unshare", "nsenter")
pytestmark = [
    pytest.mark.part("admin"),
    pytest.mark.skipif(
        os.geteuid() != 0 or not all(map(shutil.which, NEEDED)) or not os.path.exists("/dev/net/tun"),
        reason="needs root, /dev/net/tun and: apt-get install wireguard-tools wireguard-go",
    ),
]
WAIT_S = 20
SERVER = """
import socket
with socket.create_server(("10.14.0.1", 7)) as server:
    print("ready", flush=True)
    connection, peer = server.accept()
    assert peer[0] == "10.14.0.2", peer
    connection.sendall(connection.recv(64))
"""
CLIENT = """
import socket
with socket.create_connection(("10.14.0.1", 7), timeout=20) as connection:
    connection.sendall(b"hello")
    print(connection.recv(64).decode(), end="")
"""
# What the init script finds on a router, for a root in a folder.
FUNCTIONS = """
config_load() { :; }
config_get() { eval "$1=\\$(uci_of \\"\\$2\\" \\"\\$3\\")"; }
config_get_bool() { eval "$1=\\$(uci_of \\"\\$2\\" \\"\\$3\\")"; eval "[ -n \\"\\$$1\\" ] || $1=$4"; }
config_foreach() { for one in $(sections "$2"); do "$1" "$one"; done; }
"""


class Space:
    """A network namespace that lives as long as a process of ours in it."""

    def __init__(self, folder):
        self.holder = subprocess.Popen(["unshare", "-n", "sleep", "600"])
        self.folder = folder
        self.socket = "/var/run/wireguard"
        deadline = time.monotonic() + WAIT_S
        while os.readlink(f"/proc/{self.holder.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def run(self, *words, stdin="", is_checked=True):
        argv = ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", *words]
        done = subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=30)
        assert not is_checked or done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def tunnel(self, name, text, address):
        """Make an interface of wireguard-go from a configuration without the lines of wg-quick."""
        self.process = subprocess.Popen(
            ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", "wireguard-go", "-f", name],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + WAIT_S
        while not os.path.exists(f"{self.socket}/{name}.sock"):
            assert time.monotonic() < deadline and self.process.poll() is None
            time.sleep(0.05)
        plain = [one for one in text.split("\n") if not one.startswith(("Address", "DNS"))]
        self.run("wg", "setconf", name, "/dev/stdin", stdin="\n".join(plain) + "\n")
        self.run("ip", "address", "add", address, "dev", name)
        self.run("ip", "link", "set", name, "up")

    def end(self):
        for process in (getattr(self, "process", None), self.holder):
            if process:
                process.terminate()
                process.wait()


@pytest.fixture
def spaces(tmp_path):
    both = Space(tmp_path), Space(tmp_path)
    yield both
    for one in both:
        one.end()


def options(root):
    """Return the sections of network as (type, name, {option: [values]})."""
    found = []
    with open(root + "/etc/config/network", encoding="utf-8") as file:
        for line in file:
            words = line.strip().split(" ", 2)
            if words[0] == "config":
                found.append((words[1], words[2].strip("'") if len(words) > 2 else "", {}))
            elif len(words) > 2:
                found[-1][2].setdefault(words[1], []).append(words[2].strip("'"))
    return found


def of_server(root):
    """Return what netifd gives wg for the interface wg0. Source: its proto handler wireguard.sh."""
    lines = []
    for kind, name, held in options(root):
        if name == "wg0":
            lines += ["[Interface]", "PrivateKey=" + held["private_key"][0], "ListenPort=" + held["listen_port"][0]]
        elif kind == "wireguard_wg0":
            lines += ["[Peer]", "PublicKey=" + held["public_key"][0], "AllowedIPs=" + ",".join(held["allowed_ips"])]
    return "\n".join(lines)


def test_a_phone_connects_with_its_code_and_leaves_when_it_is_removed(tmp_path, spaces):
    root = router(tmp_path / "router")
    server, phone = spaces
    server.run("ip", "link", "add", "out", "type", "veth", "peer", "name", "in", "netns", str(phone.holder.pid))
    for space, device, address in ((server, "out", "192.0.2.1/24"), (phone, "in", "192.0.2.2/24")):
        space.run("ip", "address", "add", address, "dev", device)
        space.run("ip", "link", "set", device, "up")
    # The daemon's wg looks into the server's namespace, as it does on a router.
    argv = f"nsenter --net=/proc/{server.holder.pid}/ns/net {shutil.which('wg')}"
    put(root, "/bin/wg", f'#!/bin/sh\nexec {argv} "$@"\n', 0o755)
    daemon = start_daemon(root)
    try:
        change(daemon, "server", interface="wg0")
        change(daemon, "add", name='phone "1" 漢字')
        server.tunnel("wg0", of_server(root), "10.14.0.1/24")
        found = daemon.call("wireguard.show", name='phone "1" 漢字', file=True, endpoint="192.0.2.1", home=True)
        (text,) = read(from_lines(found["qr"]))
        assert text == taken(found)
        phone.tunnel("wg1", text, "10.14.0.2/32")
        phone.run("ip", "route", "add", "10.14.0.0/24", "dev", "wg1")
        before = daemon.call("wireguard.list")["interfaces"][0]["peers"][0]
        assert before["handshake_s_ago"] is None or before["handshake_s_ago"] < WAIT_S
        listener = subprocess.Popen(
            ["nsenter", f"--net=/proc/{server.holder.pid}/ns/net", sys.executable, "-c", SERVER], stdout=subprocess.PIPE
        )  # fmt: skip
        assert listener.stdout.readline() == b"ready\n"
        assert phone.run(sys.executable, "-c", CLIENT) == "hello"
        listener.communicate()
        (peer,) = daemon.call("wireguard.list")["interfaces"][0]["peers"]
        assert peer["handshake_s_ago"] < WAIT_S and peer["received_bytes"] > 250 and peer["sent_bytes"] > 250
        assert server.run("wg", "show", "wg0", "public-key").strip() in text

        # netifd does not hear of it: the init script does.
        assert len(keys(root)) == 2
        assert settled(root, server) == "", "nothing came or went"
        change(daemon, "remove", name="wg0_peer1")
        assert settled(root, server) == "ifdown wg0\nifup wg0\n"
    finally:
        daemon.stop()


def settled(root, server):
    """Reload files/etc/init.d/oasis-wireguard on a root; return which interfaces it began anew."""
    log = root + "/var/log/ifup"
    for name in ("ifup", "ifdown"):
        put(root, "/bin/" + name, f'#!/bin/sh\necho "{name} $*" >>{log}\n', 0o755)
    lines = []
    for kind, name, held in options(root):
        lines.append(f"type {kind} {name}")
        lines += [f"{name}.{option} {' '.join(values)}" for option, values in held.items()]
    put(root, "/uci", "\n".join(lines) + "\n")
    put(root, "/bin/uci_of", f'#!/bin/sh\nsed -n "s/^$1\\.$2 //p" {root}/uci\n', 0o755)
    put(root, "/bin/sections", f'#!/bin/sh\nsed -n "s/^type $1 //p" {root}/uci\n', 0o755)
    script = REPOSITORY + "/files/etc/init.d/oasis-wireguard"
    argv = ["env", f"PATH={root}/bin:{os.environ['PATH']}", "sh", "-c", f"{FUNCTIONS}\n. {script}\nreload"]
    server.run(*argv)
    if not os.path.exists(log):
        return ""
    with open(log, encoding="utf-8") as file:
        return file.read()
