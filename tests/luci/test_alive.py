"""Proof of life through web server, script, command line and daemon, over real connections: old, new, tunnelled."""

from __future__ import annotations

import ctypes
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.daemon import copy_root, set_option, start_daemon
from tests.frontends import launcher
from tests.test_daemon import WIFI, approve, follow, of_type

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "server.py")
SCRIPT = "/cgi-bin/oasis-alive"
ROUTER, CLIENT = "10.213.7.1", "10.213.7.2"
CLONE_NEWNET = 0x40000000


def install(root: str) -> str:
    """Put the command `oasis` into the root's bin; return that folder."""
    path = launcher.install(root + "/bin")[-1]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("#!/usr/bin/python3", "#!" + sys.executable, 1))
    os.chmod(path, 0o755)
    return root + "/bin"


class Site:
    """A router with its web server, and a change that waits. `enter(function)` runs a function on the client."""

    def __init__(self, root: str, address: str, wrapper: tuple[str, ...], enter: Callable[[Any], Any]) -> None:
        path = install(root) + ":" + os.environ["PATH"]
        self.daemon = start_daemon(root, wrapper=wrapper)
        command = [*wrapper, sys.executable, SERVER, "--root", root, "--address", address, "--viewer", "any"]
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PATH": path})
        assert self.server.stdout is not None
        self.address = (address, int(self.server.stdout.readline().rstrip("/\n").rpartition(":")[2]))
        self.enter = enter
        self.change = {"id": "", "nonce": ""}

    def connect(self) -> socket.socket:
        """Open a connection from the client."""
        return self.enter(lambda: socket.create_connection(self.address, 10))

    def login(self, user: str = "root") -> str:
        """Return a session."""
        words = {"username": user, "password": "any"}
        message = {"jsonrpc": "2.0", "id": 1, "method": "call", "params": ["0" * 32, "session", "login", words]}
        with self.connect() as connection:
            return json.loads(post(connection, "/ubus", json.dumps(message)))["result"][1]["ubus_rpc_session"]

    def apply(self) -> None:
        """Bring a risky change to its window; only the run's own events hold its nonce."""
        started = self.daemon.call("run.start", message=WIFI)
        approve(self.daemon, follow(self.daemon, started, ("plan",)))
        self.change = of_type(follow(self.daemon, started), "change")[-1]["change"]
        assert self.change["state"] == "applied"

    def alive(self, connection: socket.socket, session: str, **other: str) -> object:
        """Ask over a connection what it proves."""
        words = {"change": self.change["id"], "nonce": self.change["nonce"], "session": session, **other}
        reply = json.loads(post(connection, SCRIPT, json.dumps(words)))
        return reply.get("alive") or reply["error"]["code"]

    def stop(self) -> None:
        self.server.terminate()
        self.server.wait(10)
        self.server.stdout.close()
        self.daemon.stop()


def post(connection: socket.socket, path: str, body: str) -> bytes:
    """Send one request over an open connection, which stays open."""
    head = f"POST {path} HTTP/1.1\r\nHost: router\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall((head + body).encode())
    response = http.client.HTTPResponse(connection, method="POST")
    response.begin()
    assert response.status == 200, response.read()
    return response.read()


def forward(target: tuple[str, int], enter: Callable[[Any], Any]) -> socket.socket:
    """Return a connection to a tunnel on the router, as `ssh -L` makes one: its far end is opened by the router."""
    near, far = socket.socketpair()
    out = enter(lambda: socket.create_connection(target, 10))

    def pump(source: socket.socket, sink: socket.socket) -> None:
        try:
            while piece := source.recv(65536):
                sink.sendall(piece)
        except OSError:
            return  # the test is over

    for pair in ((far, out), (out, far)):
        threading.Thread(target=pump, args=pair, daemon=True).start()
    return near


@pytest.fixture
def root(tmp_path: Any) -> str:
    return copy_root(str(tmp_path / "router"))


@pytest.fixture
def site(root: str) -> Iterator[Site]:
    """Everything on this host, loopback allowed as for `make run`."""
    set_option(root, "alive_loopback", "1")
    made = Site(root, "127.0.0.1", (), lambda function: function())
    yield made
    made.stop()


def check_old_and_new(site: Site) -> None:
    """What holds over any kind of network."""
    session = site.login()
    with site.connect() as old:
        assert post(old, "/ubus", "{}")
        site.apply()
        assert site.alive(old, session) == "reused", "a keep-alive connection from before the change"
        assert "proof" not in site.daemon.call("change.pending")["change"]
        with site.connect() as new:
            stranger = site.login("viewer")
            assert site.alive(new, session, nonce="0" * 32) == "stranger"
            assert site.alive(new, session, change="another") == "stranger"
            assert site.alive(new, stranger) == "denied", "a session that may only look"
            assert site.alive(new, "f" * 32) == "denied", "no session of rpcd"
            assert "proof" not in site.daemon.call("change.pending")["change"]
            assert site.daemon.call("change.confirm")["error"]["code"] == "unproved"
            assert site.alive(new, session) == "proved"
        assert site.alive(old, session) == "reused", "beside a new connection the old one proves no more"
    kept = site.daemon.call("change.confirm")["change"]
    assert (kept["state"], kept["proof"]) == ("confirmed", "connection")


def test_an_old_connection_is_refused_and_a_new_one_proves(site: Site) -> None:
    check_old_and_new(site)


def test_loopback_is_refused_where_nobody_allows_it(root: str) -> None:
    site = Site(root, "127.0.0.1", (), lambda function: function())
    try:
        session = site.login()
        site.apply()
        with site.connect() as new:
            assert site.alive(new, session) == "loopback"
        assert site.daemon.call("change.confirm")["error"]["code"] == "unproved"
    finally:
        site.stop()


def test_the_nonce_is_told_to_the_run_alone(site: Site) -> None:
    site.apply()
    nonce = site.change["nonce"]
    for method in ("change.list", "change.pending", "info"):
        assert nonce not in json.dumps(site.daemon.call(method)), method
    assert nonce not in json.dumps(site.daemon.call("change.load", change=site.change["id"]))


@pytest.mark.parametrize(
    "body, answer",
    [("", "schema"), ("nonsense", "schema"), ("[]", "schema"), ('{"change":"x"}', "schema"),
     ('{"change":"x","nonce":"","session":5}', "schema"), ('{"change":"","nonce":"","session":""}', "stranger"),
     ('{"session":5}', "schema"), ('{"nonce":"x"}', "schema")],
)  # fmt: skip
def test_a_body_that_is_none_is_answered(site: Site, body: str, answer: str) -> None:
    with site.connect() as connection:
        reply = json.loads(post(connection, SCRIPT, body))
    assert (reply.get("alive") or reply["error"]["code"]) == answer


def test_the_script_refuses_what_it_need_not_read(site: Site) -> None:
    for method, body, status in (("GET", None, 405), ("POST", "x" * 1000, 413)):
        connection = http.client.HTTPConnection(*site.address, timeout=10)
        connection.request(method, SCRIPT, body)
        assert connection.getresponse().status == status
        connection.close()


# Two hosts: network namespaces with a cable between them.


def in_namespace(name: str) -> Callable[[Any], Any]:
    """Return a caller of functions in a network namespace: what they open stays there."""

    def enter(function: Any) -> Any:
        found: list[Any] = []

        def work() -> None:
            libc = ctypes.CDLL(None, use_errno=True)
            with open("/var/run/netns/" + name) as handle:
                if libc.setns(handle.fileno(), CLONE_NEWNET):
                    found.append(OSError(ctypes.get_errno(), "setns"))
                    return
            try:
                found.append(function())
            except OSError as error:
                found.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        if isinstance(found[0], OSError):
            raise found[0]
        return found[0]

    return enter


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def two_hosts() -> Iterator[tuple[str, str]]:
    """Make the names of two namespaces, router and client, with a cable; skipped loudly where that is not allowed."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("NETWORK NAMESPACES NOT TESTED: needs root and iproute2 (apt-get install iproute2)")
    router, client = (f"oasis{os.getpid()}{end}" for end in "rc")
    try:
        ip("netns", "add", router)
        ip("netns", "add", client)
        ip("link", "add", "lan0", "netns", router, "type", "veth", "peer", "name", "eth0", "netns", client)
        for name, device, address in ((router, "lan0", ROUTER), (client, "eth0", CLIENT)):
            ip("-n", name, "addr", "add", address + "/24", "dev", device)
            for one in ("lo", device):
                ip("-n", name, "link", "set", one, "up")
        yield router, client
    except subprocess.CalledProcessError as error:
        pytest.skip("NETWORK NAMESPACES NOT TESTED: " + error.stderr.decode().strip())
    finally:
        for name in (router, client):
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


@pytest.fixture
def apart(root: str, two_hosts: tuple[str, str]) -> Iterator[tuple[Site, Callable[[Any], Any]]]:
    """The router and its client on two hosts, loopback not allowed; gives (site, what enters the router)."""
    router, client = two_hosts
    made = Site(root, ROUTER, ("ip", "netns", "exec", router), in_namespace(client))
    yield made, in_namespace(router)
    made.stop()


def test_from_another_host_an_old_connection_is_refused_and_a_new_one_proves(apart: Any) -> None:
    check_old_and_new(apart[0])


def test_a_page_tells_by_which_way_it_comes(apart: Any) -> None:
    site, enter_router = apart
    session = site.login()

    def told(connection: socket.socket, who: str) -> object:
        return json.loads(post(connection, SCRIPT, json.dumps({"session": who})))["path"]

    with site.connect() as page:
        assert told(page, session) == "seen"
        assert told(page, site.login("viewer")) == "denied"
        assert told(page, "f" * 32) == "denied"
    with forward(site.address, enter_router) as tunnel:
        assert told(tunnel, session) == "loopback"


def test_a_tunnel_through_the_router_itself_proves_nothing(apart: Any) -> None:
    site, enter_router = apart
    session = site.login()
    site.apply()
    with forward(site.address, enter_router) as tunnel:
        assert site.alive(tunnel, session) == "loopback", "opened after the change, by the router to its own address"
    assert "proof" not in site.daemon.call("change.pending")["change"]
