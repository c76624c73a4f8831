"""A router and its peers in network namespaces of their own: load nftables rules into it and try real connections.

Lab(links) makes a namespace for the router and one for each link {device: (router's addresses, peer's addresses)}, with
"ADDRESS/BITS" texts; the first MAC of a peer is `mac(device)`. `load(ruleset)` loads the text that `fw4 print` gives,
`try_all([(device, source, address, port)])` returns for each whether a new TCP connection came through, `run(…)` starts
a program. `close()` takes all of it away. Needs root, iproute2 and nftables; `missing()` says what is not here.
"""

import json
import os
import re
import shutil
import subprocess
import sys

PORTS = (22, 80, 443, 2222, 8080)
WAIT_S = 0.25  # packets take microseconds here; a busy machine is asked again with SLOW_S
SLOW_S = 2

_PEER = """
import json, select, socket, sys, time
for line in sys.stdin:
    wait_s, probes = json.loads(line)
    told, by_socket = [False] * len(probes), {}
    for number, (source, address, port) in enumerate(probes):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        one = socket.socket(family, socket.SOCK_STREAM)
        one.setblocking(False)
        try:
            one.bind((source, 0))
            one.connect((address, port))
        except BlockingIOError:
            pass
        except OSError:
            one.close()
            continue
        by_socket[one] = number
    end_s = time.monotonic() + wait_s
    while by_socket and time.monotonic() < end_s:
        ready = select.select([], list(by_socket), [], max(end_s - time.monotonic(), 0))[1]
        for one in ready:
            told[by_socket.pop(one)] = one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
            one.close()
    for one in by_socket:
        one.close()
    print(json.dumps(told), flush=True)
"""
_ROUTER = """
import socket, sys, threading
def serve(one):
    while True:
        one.accept()[0].close()
for port in map(int, sys.argv[1:]):
    one = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    one.bind(("::", port))
    one.listen(200)
    threading.Thread(target=serve, args=(one,), daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
"""


def missing():
    """Return what of the lab is not on this machine, "" when it can be built."""
    if os.geteuid() != 0:
        return "root, for network namespaces"
    for program, package in (("ip", "iproute2"), ("nft", "nftables")):
        if not shutil.which(program):
            return f"{program} (apt-get install {package})"
    name = "oasis-try-%d" % os.getpid()
    if subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode:
        return "the right to make network namespaces"
    try:
        tried = subprocess.run(
            ["ip", "netns", "exec", name, "nft", "-f", "-"], input=b"table inet t { }", capture_output=True
        )
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)
    return "nftables in the kernel" if tried.returncode else ""


def mac(device):
    """Return the MAC address of the peer at a device."""
    return "02:0a:00:00:00:%02x" % (sum(device.encode()) % 256)


class Lab:
    def __init__(self, links):
        self._names, self._children = [], []
        self._peers, self._peer_names = {}, {}
        try:
            self._router = self._namespace("r")
            for number, (device, (here, there)) in enumerate(links.items()):
                self._link(number, device, here, there)
            ports = [str(port) for port in PORTS]
            server = self._start(self._router, _ROUTER, *ports)
            assert server.stdout.readline().strip() == "ready"
        except BaseException:
            self.close()
            raise

    def _namespace(self, suffix):
        name = "oasis-%d-%d-%s" % (os.getpid(), id(self) % 100000, suffix)
        subprocess.run(["ip", "netns", "add", name], check=True)
        self._names.append(name)
        self._run("ip", "-n", name, "link", "set", "lo", "up")
        for key in ("net.ipv6.conf.all.accept_dad", "net.ipv6.conf.default.accept_dad"):
            with_key = ["ip", "netns", "exec", name, "sh", "-c", "echo 0 > /proc/sys/" + key.replace(".", "/")]
            subprocess.run(with_key, check=True)
        return name

    def _run(self, *argv):
        subprocess.run(argv, check=True, capture_output=True)

    def _link(self, number, device, here, there):
        peer = self._namespace("p%d" % number)
        self._run(
            "ip", "-n", self._router, "link", "add", device, "type", "veth", "peer", "name", "eth0", "netns", peer
        )
        self._run("ip", "-n", peer, "link", "set", "eth0", "address", mac(device))
        for name, link, addresses in ((self._router, device, here), (peer, "eth0", there)):
            for address in addresses:
                extra = ["nodad"] if ":" in address else []
                self._run("ip", "-n", name, "addr", "add", address, "dev", link, *extra)
            self._run("ip", "-n", name, "link", "set", link, "up")
        for address in here if there else []:
            family, host = ("-6" if ":" in address else "-4"), address.partition("/")[0]
            self._run("ip", "-n", peer, family, "route", "replace", "default", "via", host, "dev", "eth0")
        self._peer_names[device] = peer
        self._peers[device] = self._start(peer, _PEER)

    def set_mac(self, device, address):
        """Give the peer at a device another MAC address."""
        self._run("ip", "-n", self._peer_names[device], "link", "set", "eth0", "address", address)

    def run(self, device, is_peer, *argv):
        """Start a program at the peer of a device, or on the router; return it."""
        name = self._peer_names[device] if is_peer else self._router
        words = ["ip", "netns", "exec", name, *argv]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def _start(self, name, code, *argv):
        child = subprocess.Popen(
            ["ip", "netns", "exec", name, sys.executable, "-c", code, *argv],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._children.append(child)
        return child

    def load(self, ruleset):
        """Load a rendered ruleset; return nft's complaint, "" when it took it."""
        self.clear()
        for name in self._names:  # who found each other before would hide what stops IPv6 neighbours
            self._run("ip", "-n", name, "neigh", "flush", "all")
        argv = ["ip", "netns", "exec", self._router, "nft", "-f", "-"]
        told = subprocess.run(argv, input=loadable(ruleset), capture_output=True, text=True)
        return told.stderr if told.returncode else ""

    def clear(self):
        self._run("ip", "netns", "exec", self._router, "nft", "flush", "ruleset")

    def try_all(self, probes, wait_s=WAIT_S):
        for device, child in self._peers.items():
            own = [probe[1:] for probe in probes if probe[0] == device]
            child.stdin.write(json.dumps([wait_s, own]) + "\n")
            child.stdin.flush()
        told = {device: iter(json.loads(child.stdout.readline())) for device, child in self._peers.items()}
        return [next(told[device]) for device, *_ in probes]

    def close(self):
        for child in self._children:
            child.stdin.close()
            child.stdout.close()
            child.terminate()
            child.wait()
        for name in self._names:
            subprocess.run(["ip", "netns", "del", name], check=False)


def loadable(ruleset):
    """Return a rendered ruleset without what only a router has: files to include, flow tables."""
    text = re.sub(r'^\s*include "/etc/nftables.d/.*$', "", ruleset, flags=re.M)
    text = re.sub(r"flowtable ft \{.*?\n\t\}", "", text, flags=re.S)
    return re.sub(r"^.*flow offload @ft;.*$", "", text, flags=re.M)
