"""A router in namespaces of its own, and what our users reach there; prints one JSON object.

Started as `unshare --net --mount PYTHON walled.py` by test_confinement.py. The user `oasis` is in the user list of this
mount namespace only. The router has a LAN (a peer in another network namespace), and listens where a router does.
"""

import encodings.idna  # noqa: F401  imported late by others, when files may be out of reach
import json
import os
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, REPOSITORY)

from oasis.llm.pool import Pool, default_argv  # noqa: E402
from oasis.system.child import Executor  # noqa: E402
from oasis.system.confinement import TABLE, Confinement  # noqa: E402
from oasis.system.files import Files  # noqa: E402
from oasis.system.root import Root  # noqa: E402
from oasis.worker import rights  # noqa: E402
from tests.worker.misbehaving import Server  # noqa: E402

PASSWD = "root:x:0:0:root:/root:/bin/ash\nnobody:*:65534:65534:nobody:/var:/bin/false\n"
OURS = "oasis:x:4530:4530:oasis:/var/run/oasis:/bin/false\noasis-tool:x:4531:4531::/var:/bin/false\n"
LAN4, LAN6, LINK6 = "192.168.1.1", "fdd9:4418::1", "fe80::1%lan"
HOSTS = ("127.0.0.1", "127.0.0.53", "::1", LAN4, LAN6, LINK6, "0.0.0.0", "::ffff:192.168.1.1")
OUTSIDE = ("203.0.113.9", "2001:db8::9")
OUTSIDE_PORTS = (22, 443)
PORTS = (22, 80, 443, 53, 8080, 11434)
MODEL = 11434
SLOW_S = 1.0
# What is asked with datagrams: an answer comes, or not.
DATAGRAM_PORTS = (53, 5353)


def sh(line):
    subprocess.run(["sh", "-ec", line], check=True)


def listen(ports, datagram_ports):
    """Answer "x" on ports of every address, for as long as this process lives."""
    for kind, numbers in ((socket.SOCK_STREAM, ports), (socket.SOCK_DGRAM, datagram_ports)):
        for port in numbers:
            one = socket.socket(socket.AF_INET6, kind)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            one.bind(("::", port))
            if kind == socket.SOCK_STREAM:
                one.listen(50)
            threading.Thread(target=serve, args=(one, kind), daemon=True).start()


def serve(one, kind):
    while True:
        if kind == socket.SOCK_STREAM:
            one.accept()[0].close()
        else:
            data, peer = one.recvfrom(100)
            one.sendto(data, peer)


def probe(kind, host, port, wait_s=SLOW_S):
    """Try one connection, or one datagram that is answered; return [what happened, whether it took long]."""
    started_s = time.monotonic()
    try:
        address = socket.getaddrinfo(host, port, type=kind, flags=socket.AI_NUMERICHOST)[0]
        with socket.socket(address[0], kind) as one:
            one.settimeout(wait_s)
            one.connect(address[4])
            if kind == socket.SOCK_DGRAM:
                one.send(b"x")
                one.recv(1)
        said = "open"
    except OSError as error:
        said = type(error).__name__
    return [said, time.monotonic() - started_s > SLOW_S / 2]


def probes():
    found = {}
    for host in HOSTS:
        for port in PORTS:
            found[f"{host} {port}"] = probe(socket.SOCK_STREAM, host, port)
        for port in DATAGRAM_PORTS if host != "127.0.0.53" else ():  # answered from another address
            found[f"{host} udp {port}"] = probe(socket.SOCK_DGRAM, host, port)
    for host in OUTSIDE:
        for port in OUTSIDE_PORTS:
            found[f"{host} {port}"] = probe(socket.SOCK_STREAM, host, port)
    return found


def as_user(user, what):
    """Return what a function gives in a child that has become `user`, as the worker does it."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        if user:
            rights.drop(user, is_required=True)
        os.write(writing, json.dumps(what()).encode() + b"\n")
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as lines:
        told = json.loads(lines.read())
    os.waitpid(pid, 0)
    return told


def serves(user):
    """Tell whether somebody gets a connection to a port on which `user` listens."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        if user:
            rights.drop(user, is_required=True)
        with socket.create_server(("::", 9000), family=socket.AF_INET6, dualstack_ipv6=True):
            os.write(writing, b"x")  # the kernel takes connections without being asked
            time.sleep(30)
        os._exit(0)
    os.close(writing)
    assert os.read(reading, 1)
    try:
        return {host: probe(socket.SOCK_STREAM, host, 9000)[0] for host in ("127.0.0.1", LAN6)}
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def ask(pool, base_url):
    """Ask a model through a real worker; return the last event's type, or the code of the error, and if it was slow."""
    events = []
    started_s = time.monotonic()
    pool.chat(
        {
            "profile": "compatible", "base_url": base_url, "key": "", "model": "m", "tools": [],
            "messages": [{"role": "user", "content": "hi"}],
            "options": {"idle_s": 5, "connect_s": 5, "retries": 0},
        },
        events.append,
    )  # fmt: skip
    last = events[-1]
    said = last["error"]["code"] if last["type"] == "error" else last["type"]
    return [said, time.monotonic() - started_s > 4]


def status_of_worker(pool):
    """Return ids, groups, limits and the like of the one warm worker."""
    pid = pool._warm[0][-1].pid
    with open(f"/proc/{pid}/status") as lines:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in lines if ":\t" in line)
    with open(f"/proc/{pid}/limits") as lines:
        limits = {line[:26].strip(): line[26:].split()[:2] for line in lines}
    with open(f"/proc/{pid}/environ", "rb") as handle:
        environment = sorted(word.decode() for word in handle.read().split(b"\0") if word)
    deadline_s = time.monotonic() + 5
    while True:  # the connection of the request that just ended is closed after its last word
        descriptors = sorted(os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd"))
        if len(descriptors) <= 3 or time.monotonic() > deadline_s:
            break
        time.sleep(0.02)
    return {"status": status, "limits": limits, "environment": environment, "descriptors": descriptors}


def build():
    """Make the router: user list, LAN, listeners."""
    sh("mount -t tmpfs none /mnt; ip link set lo up")
    files = {"passwd": PASSWD + OURS, "group": "root:x:0:\noasis:x:4530:\n", "shadow": "root:$5$x:1::::::\n"}
    for name, text in files.items():
        with open("/mnt/" + name, "w") as handle:
            handle.write(text)
        sh(f"mount --bind /mnt/{name} /etc/{name}")
    code = "import sys; sys.path.insert(0, sys.argv[1]); from tests.system import walled; walled.peer()"
    peer = subprocess.Popen(
        ["unshare", "--net", sys.executable, "-c", code, REPOSITORY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    peer.stdout.readline()
    sh(
        f"ip link add lan type veth peer name eth0 netns {peer.pid}; ip link set lan addrgenmode none;"
        f"ip addr add {LAN4}/24 dev lan; ip addr add {LAN6}/64 dev lan nodad; ip addr add fe80::1/64 dev lan nodad;"
        "ip link set lan up"
    )
    peer.stdin.write(b"go\n")
    peer.stdin.flush()
    peer.stdout.readline()
    sh("ip route add default via 192.168.1.142; ip -6 route add default via fdd9:4418::8e")
    listen(PORTS, DATAGRAM_PORTS)
    for host in (*HOSTS, *OUTSIDE):  # a new link takes its time, IPv6 most of all
        while probe(socket.SOCK_STREAM, host, 22)[0] != "open":
            time.sleep(0.05)
    return peer


def peer():
    """Be the rest of the world: listens on its addresses until its input ends."""
    print("here", flush=True)
    sys.stdin.readline()
    sh(
        "ip link set lo up; ip link set eth0 addrgenmode none; ip addr add 192.168.1.142/24 dev eth0;"
        "ip addr add fdd9:4418::8e/64 dev eth0 nodad; ip link set eth0 up;"
        "ip addr add 203.0.113.9/32 dev lo; ip addr add 2001:db8::9/128 dev lo nodad"
    )
    listen(OUTSIDE_PORTS, ())
    print("ready", flush=True)
    sys.stdin.read()


def main():
    world = build()
    root = Root("/", os.environ["PATH"].split(":"))
    executor = Executor(root.environment(), root.allowed("/nowhere"))
    model, other = Server(), Server()
    urls = [model.url("good"), f"http://{LAN4}:{MODEL}/v1", f"http://[{LAN6}]:{MODEL}", "https://192.168.1.1/v1",
            "http://127.0.0.1:22", "https://api.example.org/v1"]  # fmt: skip
    later = iter(range(0, 9000, 9)).__next__  # nothing is told from what is kept
    confinement = Confinement(root, Files().read, executor.run, lambda: urls, os.geteuid(), later)
    pool = Pool(default_argv("oasis"), prepare=confinement.prepare, is_fenced=True)
    loose = Pool(default_argv("oasis"))
    told = {"loose": as_user("oasis", probes), "loose serves": serves("oasis")}
    told["loose worker"] = ask(loose, other.url("good"))
    loose.close()
    told["model"] = ask(pool, model.url("good"))
    told["worker"] = status_of_worker(pool)
    told["other port"] = ask(pool, other.url("good"))
    told["page"] = ask(pool, "http://192.168.1.1:80/v1")
    told["reason"] = confinement.reason()
    told["users"] = {user or "root": as_user(user, probes) for user in ("oasis", "oasis-tool", "")}
    told["nobody"] = as_user("nobody", lambda: probe(socket.SOCK_STREAM, LAN4, 22))
    told["serves"] = {user or "root": serves(user) for user in ("oasis", "")}
    told["listed"] = executor.run([root.program("nft"), "list", "table", "inet", TABLE])[1].decode()
    sh("nft flush ruleset")
    told["flushed"] = as_user("oasis", lambda: probe(socket.SOCK_STREAM, LAN4, 22))
    told["flushed worker"] = ask(pool, other.url("good"))
    sh(f"nft flush chain inet {TABLE} worker")
    told["emptied"] = confinement.reason()
    told["emptied user"] = as_user("oasis", lambda: probe(socket.SOCK_STREAM, LAN4, 22))
    urls.append(other.url("good"))
    told["added"] = ask(pool, other.url("good"))
    urls.clear()
    told["removed"] = ask(pool, model.url("good"))
    with open("/mnt/passwd", "w") as handle:
        handle.write(PASSWD)
    told["no user"] = [confinement.reason(), ask(pool, model.url("good"))]
    pool.close()
    strict = Pool(default_argv("oasis"))
    told["never root"] = ask(strict, model.url("good"))
    strict.close()
    world.stdin.close()
    world.wait()
    print(json.dumps(told))
    os._exit(0)


if __name__ == "__main__":
    main()
