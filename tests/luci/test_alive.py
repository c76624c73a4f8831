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
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cli import launcher
from tests.daemon.test_wiring import approve, follow, of_type
from tests.oasisd import copy_root, set_option, start_daemon

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "server.py")
SCRIPT = "/cgi-bin/oasis-alive"
ROUTER, CLIENT = "10.213.7.1", "10.213.7.2"
CLONE_NEWNET = 0x40000000
RISKY = ["uci set wireless.default_radio0.ssid='Attic'"]


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
        started = self.daemon.call("plan.propose", commands=RISKY)
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


def test_a_page_with_a_new_login_proves_its_own_way_by_being_loaded(site: Site) -> None:
    """It did not make the change: it has the session alone, and no nonce."""
    with site.connect() as old:
        earlier = site.login()
        assert "proof" not in arrived(site, old, earlier)
        site.apply()
        assert arrived(site, old, earlier)["proof"] == "reused"
        with site.connect() as new:
            assert arrived(site, new, site.login("viewer"))["proof"] == "denied"
            assert arrived(site, new, site.login()) == {
                "path": "loopback", "change": site.change["id"], "proof": "proved"
            }  # fmt: skip
    assert "proof" not in site.daemon.call("change.pending")["change"], "it speaks for that login alone"
    assert site.daemon.call("change.confirm")["error"]["code"] == "unproved"


def arrived(site: Site, connection: socket.socket, session: str) -> Any:
    return json.loads(post(connection, SCRIPT, json.dumps({"session": session})))


def test_well_shaped_words_that_are_none_are_answered(site: Site) -> None:
    known = '"nonce":"%s","session":"%s"' % ("0" * 32, "f" * 32)
    with site.connect() as connection:
        for body, answer in (("{%s}" % known, "schema"), ('{"change":"",%s}' % known, "stranger")):
            reply = json.loads(post(connection, SCRIPT, body))
            assert (reply.get("alive") or reply["error"]["code"]) == answer


def test_the_script_refuses_what_it_need_not_read(site: Site) -> None:
    for method, body, status in (("GET", None, 405), ("POST", "x" * 1000, 413), ("POST", "nonsense", 400)):
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


# The script alone, with a command line that only says that it was started: what a stranger can make the router do.

SHELLS = [["sh"], ["busybox", "ash"]]
SESSION, NONCE = "0123456789abcdef" * 2, "f" * 32
PAGE = '{"session":"%s"}' % SESSION
PROOF = '{"change":"0380fd2ns6kp7hnnhjs3dcgkk","nonce":"%s","session":"%s"}' % (NONCE, SESSION)
NO_WORDS = (
    "", "nonsense", "[]", "{}", '{"session":5}', '{"session":""}', '{"session":"%s"}' % SESSION.upper(),
    '{"session":"%s0"}' % SESSION, '{"session":"%s"}' % SESSION[1:], '{"session":"%s"}' % ("g" * 32),
    PROOF.replace(NONCE, ""), PROOF.replace(NONCE, "x" * 32), PROOF.replace('"session"', '"sessions"'),
)  # fmt: skip


class Script:
    """The CGI script under one shell, beside a program `oasis` that notes its start, and ends when it is let."""

    def __init__(self, folder: Any, shell: list[str]) -> None:
        if shutil.which(shell[0]) is None:
            pytest.skip(f"{shell[0]} NOT TESTED: apt-get install {shell[0]}")
        self.root, self.shell = str(folder), shell
        self.run = self.root + "/var/run/oasis"
        os.makedirs(self.run)
        os.makedirs(self.root + "/bin")
        os.mkfifo(self.root + "/go")
        with open(self.root + "/bin/oasis", "w") as file:
            file.write('#!/bin/sh\necho started >>"$OASIS_ROOT/starts"\nread -r _ <"$OASIS_ROOT/go"\ncat\n')
        os.chmod(self.root + "/bin/oasis", 0o755)

    def start(self, body: str | None, **more: str) -> subprocess.Popen[str]:
        """Start the script; nothing lets its command line end yet. Without a body one is announced and not sent."""
        env = {
            "PATH": f"{self.root}/bin:{os.environ['PATH']}", "OASIS_ROOT": self.root, "REQUEST_METHOD": "POST",
            "CONTENT_LENGTH": str(len(PAGE if body is None else body)), **more,
        }  # fmt: skip
        argv = [*self.shell, os.path.join(os.path.dirname(SERVER), "../../files/www" + SCRIPT)]
        with tempfile.TemporaryFile() as file:  # a pipe would break where the script reads nothing
            file.write((body or "").encode())
            file.seek(0)
            source = subprocess.PIPE if body is None else file
            return subprocess.Popen(
                argv, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env
            )

    def started(self) -> int:
        """Return how often the command line was started."""
        try:
            with open(self.root + "/starts") as file:
                return len(file.readlines())
        except FileNotFoundError:
            return 0

    def wait_started(self, times: int) -> None:
        deadline = time.monotonic() + 10
        while self.started() < times:
            assert time.monotonic() < deadline, "never started"
            time.sleep(0.01)

    def let(self) -> None:
        """Let the one command line that runs end; waits for it to come."""
        with open(self.root + "/go", "w") as file:
            file.write("\n")

    def whole(self, body: str, **more: str) -> str:
        """Return what the script says, with a command line that ends by itself."""
        child = self.start(body, **more)
        deadline = time.monotonic() + 20
        while child.poll() is None and not self.started():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        if child.poll() is None:
            self.let()
        return child.communicate(timeout=20)[0]


@pytest.fixture(params=SHELLS, ids=lambda shell: shell[-1])
def script(request: Any, tmp_path: Any) -> Script:
    return Script(tmp_path, request.param)


@pytest.mark.parametrize("body", [PAGE, PROOF, PROOF.replace(":", ": ").replace(",", ", ")])
def test_what_a_page_sends_goes_on_unchanged(script: Script, body: str) -> None:
    said = script.whole(body)
    assert said.startswith("Status: 200 OK\n") and said.endswith("\n\n" + body)
    assert os.listdir(script.run) == [], "the lock is gone"


@pytest.mark.parametrize("body", NO_WORDS)
def test_what_cannot_be_a_pages_starts_nothing(script: Script, body: str) -> None:
    assert script.whole(body).startswith("Status: 400 ")
    assert script.started() == 0


@pytest.mark.parametrize("length", ["", "-1", "1x", "300", "1000", "99999999999999999999"])
def test_a_length_that_is_none_of_ours_is_refused_before_anything_is_read(script: Script, length: str) -> None:
    assert script.whole(PAGE, CONTENT_LENGTH=length).startswith("Status: 413 ")
    assert script.started() == 0


def test_no_more_is_read_than_was_announced(script: Script) -> None:
    assert script.whole(PAGE + "x" * 2000, CONTENT_LENGTH=str(len(PAGE))).endswith("\n\n" + PAGE)


def test_one_command_line_runs_at_a_time_and_the_next_waits_for_it(script: Script) -> None:
    first = script.start(PAGE)
    script.wait_started(1)
    second = script.start(PROOF)
    time.sleep(0.5)
    assert script.started() == 1
    script.let()
    assert first.communicate(timeout=10)[0].endswith(PAGE)
    script.wait_started(2)
    script.let()
    assert second.communicate(timeout=10)[0].endswith(PROOF)
    assert os.listdir(script.run) == []


def test_whoever_announces_words_and_sends_none_keeps_nobody_out(script: Script) -> None:
    silent = script.start(None)
    assert script.whole(PAGE).endswith(PAGE)
    assert silent.poll() is None
    assert silent.communicate("", timeout=10)[0].startswith("Status: 400 ")


def test_whoever_waits_too_long_is_told_to_come_again(script: Script) -> None:
    first = script.start(PAGE)
    script.wait_started(1)
    others = [script.start(PAGE) for _ in range(5)]
    assert {other.communicate(timeout=20)[0].split("\n")[0] for other in others} == {"Status: 503 Service Unavailable"}
    assert script.started() == 1
    script.let()
    assert first.communicate(timeout=10)[0].endswith(PAGE)


def test_a_lock_that_was_left_behind_holds_for_a_while_only(script: Script) -> None:
    with open("/proc/uptime") as file:
        up_s = int(float(file.read().split()[0]))
    os.symlink("%d.1" % (up_s - 10), script.run + "/alive.lock")
    assert script.whole(PAGE).startswith("Status: 503 "), "somebody may still be at it"
    os.remove(script.run + "/alive.lock")
    os.symlink("%d.1" % (up_s - 25), script.run + "/alive.lock")
    assert script.whole(PAGE).endswith(PAGE)


def test_a_script_that_was_ended_leaves_no_lock(script: Script) -> None:
    child = script.start(PAGE)
    script.wait_started(1)
    child.terminate()
    script.let()
    child.communicate(timeout=10)
    assert os.listdir(script.run) == []


def test_without_a_daemon_nothing_is_started(script: Script) -> None:
    os.rmdir(script.run)
    assert script.whole(PAGE).startswith("Status: 503 ")
    assert script.started() == 0
