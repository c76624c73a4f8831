"""A web server with a bus behind it: OpenWrt's own programs where they are on PATH, else what stands for them.

Both are called as the phone app calls them, by `post(session, object, method, arguments)`, which gives the reply of
JSON-RPC: {"result": [status, reply]} or {"error": {"code", "message"}}. `root` and `viewer` may log in; root with any
password, as on a router where none is set, viewer with "looks", and only what a read group grants.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time

from oasis import parts
from oasis.bus.calls import Answers, Rights
from oasis.ubus.incoming import Call
from oasis.ubus.message import decode, encode
from tests.luci.sessions import Sessions
from tests.oasisd import REPOSITORY

NULL = "0" * 32
ACL = REPOSITORY + "/files/usr/share"
DENIED, BAD_PARAMS, NO_OBJECT = -32002, -32602, -32000
READY_S = 20


class StandIn:
    """The bus of a daemon in this process, called through the rules of uhttpd, rpcd and the bus's own codec."""

    def __init__(self, daemon):
        self._sessions = Sessions(ACL + "/rpcd/acl.d", {"root": None, "viewer": "looks"}, 300)
        rights = Rights(self._access, time.monotonic)
        make = parts.first("bus_methods")
        self.bus = Answers(daemon.methods, rights, lambda waiters: make(daemon, waiters), time.monotonic)

    def _access(self, name, method, arguments):
        assert (name, method) == ("session", "access")
        session = arguments["ubus_rpc_session"]
        return {"access": self._sessions.may_call(session, arguments["object"], arguments["function"])}

    def post(self, session, name, method, arguments):
        if "ubus_rpc_session" in arguments:
            return {"error": {"code": BAD_PARAMS, "message": "Invalid parameters"}}
        if not self._sessions.may_call(session, name, method):
            return {"error": {"code": DENIED, "message": "Access denied"}}
        if (name, method) == ("session", "login"):
            found = self._sessions.login(arguments["username"], arguments["password"])
            return {"result": [0, {"ubus_rpc_session": found}] if found else [6]}
        if (name, method) == ("session", "destroy"):
            self._sessions.destroy(session)
            return {"result": [0]}
        call = Call(name, method, decode(encode({**arguments, "ubus_rpc_session": session})), "root", "root")
        return json.loads(json.dumps({"result": [0, decode(encode(self.bus.answer(call)))]}))

    def stop(self):
        pass


def is_real_here():
    """Return whether OpenWrt's own web server, bus and session keeper can be started here."""
    return os.geteuid() == 0 and all(map(shutil.which, ("ubusd", "rpcd", "uhttpd", "unshare")))


RPCD = """
config rpcd
config login
	option username 'root'
	option password '$p$root'
	list read '*'
	list write '*'
config login
	option username 'viewer'
	option password '$1$oasis$T.xFxLvsF/U/wpgu6E4Y8/'
	list read '*'
"""


class Real:
    """ubusd, rpcd and uhttpd on a router root; rpcd has its fixed places to itself, in a namespace of its own.

    `user` is whom the web server runs as; for another one than root the access list that we ship is made out to him,
    beside what the web server needs of rpcd itself.
    """

    def __init__(self, root, user="root"):
        self._own = tempfile.mkdtemp()
        os.chmod(self._own, 0o755)
        self.socket = self._own + "/ubus.sock"
        self._running = []
        for name in ("etc/config", "share/rpcd", "run", "www", "bus"):
            os.makedirs(f"{self._own}/{name}")
        os.makedirs(root + "/var/run/ubus", exist_ok=True)
        os.symlink(self.socket, root + "/var/run/ubus/ubus.sock")
        for name in os.listdir(ACL + "/acl.d"):
            with open(f"{ACL}/acl.d/{name}", encoding="utf-8") as handle:
                self._write("bus/" + name, json.dumps({**json.load(handle), "user": user}))
        self._write("bus/web.json", json.dumps({"user": user, "access": {"session": {"methods": SESSION}}}))
        shutil.copytree(ACL + "/rpcd/acl.d", self._own + "/share/rpcd/acl.d")
        self._write("share/rpcd/acl.d/logins.json", json.dumps(LOGINS))
        self._write("etc/config/rpcd", RPCD)
        self._write("etc/passwd", "root:x:0:0::/:/bin/sh\nviewer:x:1:1::/:/bin/false\n")
        self._write("etc/shadow", "root::::::::\nviewer:*:::::::\n")
        self._write("etc/group", "root:x:0:\n")
        self.start_bus()
        self._run("unshare", "-m", "sh", "-c", INSIDE, "sh", self._own, self.socket)
        self.port = free_port()
        self._run("uhttpd", "-f", "-p", f"127.0.0.1:{self.port}", "-h", self._own + "/www", "-u", "/ubus", "-U",
                  self.socket, "-t", "60", "-T", "30", user=user)  # fmt: skip
        self.await_object("session")

    def _write(self, name, text):
        with open(f"{self._own}/{name}", "w", encoding="utf-8") as handle:
            handle.write(text)

    def _run(self, *command, user="root"):
        with open(self._own + "/log", "ab") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, user=user, extra_groups=[]
            )
        self._running.append(process)
        return process

    def start_bus(self):
        self.ubusd = self._run("ubusd", "-s", self.socket, "-A", self._own + "/bus")
        until = time.monotonic() + READY_S
        while not os.path.exists(self.socket) and time.monotonic() < until:
            time.sleep(0.01)

    def await_object(self, name):
        """Wait until the web server finds an object on the bus."""
        until = time.monotonic() + READY_S
        while True:
            try:
                if name in self._ask("list", [name])["result"]:
                    return
            except (OSError, http.client.HTTPException, TypeError):
                pass  # not listening yet
            assert time.monotonic() < until, f"no {name} on the bus"
            time.sleep(0.02)

    def post(self, session, name, method, arguments):
        return self._ask("call", [session, name, method, arguments])

    def _ask(self, method, params):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            connection.request("POST", "/ubus", body, {"Content-Type": "application/json"})
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def stop(self):
        for process in self._running:
            process.terminate()
        for process in self._running:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self._own)


SESSION = ["access", "login", "get", "destroy"]
INSIDE = """
mount --bind "$1/etc" /etc && mount --bind "$1/share" /usr/share && mount --bind "$1/run" /run && exec rpcd -s "$2"
"""
# What a stock router grants before a login, and LuCI to every one.
LOGINS = {
    "unauthenticated": {"read": {"ubus": {"session": ["access", "login"]}}},
    "every-login": {"read": {"ubus": {"session": ["access", "destroy"]}}},
}


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
