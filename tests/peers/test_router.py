"""A change on a running router: real procd, netifd, fw4, rpcd and uhttpd, with oasis installed and started there.

OASIS_ROUTER is a command that runs another one on the router as root, with its input: `ssh root@192.168.1.1` or what
enters a namespace; OASIS_ROUTER_CLIENT one that does the same on a machine of its LAN. OASIS_ROUTER_PAGE (host:port)
and OASIS_ROUTER_PASSWORD are how that one enters the page. What the tests change there they put back; it should be a
router for tests all the same.
"""

import json
import os
import shlex
import subprocess
import time

import pytest

ROUTER = shlex.split(os.environ.get("OASIS_ROUTER", ""))
# Runs a command on a machine of the router's LAN; and where the page answers there.
CLIENT = shlex.split(os.environ.get("OASIS_ROUTER_CLIENT", ""))
PAGE = os.environ.get("OASIS_ROUTER_PAGE", "")
PASSWORD = os.environ.get("OASIS_ROUTER_PASSWORD", "")
pytestmark = pytest.mark.skipif(not ROUTER, reason="OASIS_ROUTER names no command that runs others on a router")

RULE = [
    "uci add firewall rule",
    "uci set firewall.@rule[-1].name=oasis-test",
    "uci set firewall.@rule[-1].src=wan",
    "uci set firewall.@rule[-1].proto=tcp",
    "uci set firewall.@rule[-1].dest_port=8321",
    "uci set firewall.@rule[-1].target=ACCEPT",
]

# Killed, and forgotten by procd before it starts another: asked to stop it would put back by itself.
KILLED = 'kill -9 $(cat /var/run/oasis/lock); ubus call service delete \'{"name":"oasis"}\''


def on(script, timeout_s=90):
    """Run a shell script on the router; return (exit status, stdout)."""
    done = subprocess.run([*ROUTER, "sh"], input=script, capture_output=True, text=True, timeout=timeout_s, check=False)
    return done.returncode, done.stdout


def text(script):
    return on(script)[1].strip()


def oasis(*words):
    """Run the command line; return (exit status, its JSON lines)."""
    status, out = on("oasis -j " + shlex.join(words))
    return status, [json.loads(line) for line in out.splitlines()]


def wait(test, seconds, what):
    deadline = time.monotonic() + seconds
    while not (found := test()):
        assert time.monotonic() < deadline, what
        time.sleep(0.2)
    return found


def ready():
    wait(lambda: oasis("status")[0] == 0, 20, "the service does not answer")


def changes():
    return oasis("changes")[1][0]["changes"]


def apply(*commands):
    """Propose, approve, apply; return the change."""
    before = [change["id"] for change in changes()]
    oasis("apply", "--no-wait", *commands)
    [plan] = oasis("plans")[1][0]["plans"]
    words = ["--word", plan["word"]] if plan.get("word") else []
    oasis("approve", *words, plan["id"], plan["hash"])
    return wait(lambda: [one for one in changes() if one["id"] not in before and one["state"] != "prepared"], 60,
                "the change was not made")[0]  # fmt: skip


def apply_with_nonce():
    """Apply the rule; return the change and what the front-end that follows it is told to prove with."""
    oasis("apply", "--no-wait", *RULE)
    [plan] = oasis("plans")[1][0]["plans"]
    word = ["--word", plan["word"]] if plan.get("word") else []
    oasis("approve", *word, plan["id"], plan["hash"])
    told = wait(lambda: nonces(plan["run"]), 30, "the change was not told")
    return told[0]


def nonces(run):
    """Return (change, nonce) of the events of a run, as the daemon's socket gives them."""
    ask = {"jsonrpc": "2.0", "id": 1, "method": "run.poll", "params": {"run": run, "since": 0, "wait_ms": 0}}
    code = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect('/var/run/oasis/oasis.sock'); "
        "s.sendall(sys.argv[1].encode() + b'\\n'); print(s.makefile().readline())"
    )
    reply = json.loads(text(shlex.join(["python3", "-c", code, json.dumps(ask)])))["result"]
    found = [event["change"] for event in reply["events"] if event["type"] == "change"]
    return [(one["id"], one["nonce"]) for one in found if one.get("nonce")]


def state(change):
    return {one["id"]: one["state"] for one in changes()}[change]


def config(*packages):
    return text("sha256sum " + " ".join(f"/etc/config/{name}" for name in packages))


@pytest.fixture(autouse=True)
def nothing_waits():
    ready()
    yield
    on("rm -rf /tmp/.uci; /etc/init.d/oasis enable; /etc/init.d/oasis start; oasis rollback; true")
    ready()


@pytest.fixture
def short_window():
    """Let changes wait for 4 s."""
    on("uci set oasis.main.confirm_s=4; uci set oasis.main.management_confirm_s=4; uci commit oasis")
    on("/etc/init.d/oasis restart")
    time.sleep(1)
    ready()
    yield
    on("uci delete oasis.main.confirm_s; uci delete oasis.main.management_confirm_s; uci commit oasis")
    on("/etc/init.d/oasis restart")
    time.sleep(1)


def test_a_name_is_changed_shown_and_undone():
    old = text("uci get system.@system[0].hostname")
    status, events = oasis("prompt", "call this router oasistest")
    assert status == 0, events
    assert text("cat /proc/sys/kernel/hostname") == "oasistest"
    change = changes()[0]
    assert change["state"] == "confirmed"
    assert {"what": "host name oasistest", "result": "seen"} in change["verified"]
    assert oasis("undo", change["id"])[0] == 0
    assert text("cat /proc/sys/kernel/hostname") == old


def test_a_rule_is_compiled_and_gone_when_it_is_put_back():
    change = apply(*RULE)
    assert change["state"] == "applied"
    assert any(one["result"] == "seen" and "oasis-test" in one["what"] for one in change["verified"]), change
    assert "oasis-test" in text("nft list table inet fw4")
    assert oasis("rollback", change["id"])[0] == 0
    assert "oasis-test" not in text("nft list table inet fw4")


def test_a_rule_that_the_firewall_drops_is_put_back_at_once():
    before = config("firewall")
    words = [line.replace("src=wan", "src=nowhere") for line in RULE]
    oasis("apply", "--no-wait", "--force", "unknown", *words)
    for plan in oasis("plans")[1][0]["plans"]:
        word = ["--word", plan["word"]] if plan.get("word") else []
        oasis("approve", *word, plan["id"], plan["hash"])
    time.sleep(1)
    wait(lambda: oasis("pending")[1][0]["change"] is None and config("firewall") == before, 60, "it stayed")
    assert "oasis-test" not in text("nft list table inet fw4")


def test_a_network_is_up_with_its_address_and_gone_again():
    before = config("network")
    change = apply("uci set network.oasistest=interface", "uci set network.oasistest.proto=static",
                   "uci set network.oasistest.device=br-lan", "uci set network.oasistest.ipaddr=192.168.77.1",
                   "uci set network.oasistest.netmask=255.255.255.0")  # fmt: skip
    assert change["state"] == "applied", change
    wait(lambda: "192.168.77.1" in text("ip -4 addr show"), 10, "the address is not there")
    oasis("rollback", change["id"])
    assert config("network") == before
    wait(lambda: "192.168.77.1" not in text("ip -4 addr show"), 10, "the address is still there")


def test_nobody_keeps_it(short_window):
    before = config("firewall")
    change = apply(*RULE)["id"]
    wait(lambda: state(change) == "rolled_back", 20, "it stayed")
    assert config("firewall") == before
    assert "oasis-test" not in text("nft list table inet fw4")


def test_procd_starts_a_killed_daemon_which_puts_back():
    before = config("firewall")
    change = apply(*RULE)["id"]
    on("kill -9 $(cat /var/run/oasis/lock)")
    wait(lambda: config("firewall") == before, 30, "nobody put it back")
    wait(lambda: oasis("status")[0] == 0, 30, "procd did not start it again")
    assert state(change) == "rolled_back"
    wait(lambda: "oasis-test" not in text("nft list table inet fw4"), 10, "the rule is still there")


def test_all_killed_in_the_window_the_boot_hook_restores():
    before = config("firewall")
    change = apply(*RULE)["id"]
    on(f"/etc/init.d/oasis disable; {KILLED}; kill -9 $(pgrep -f /change/guard.sh)")
    time.sleep(1)
    assert config("firewall") != before
    assert text("pgrep -f /change/guard.sh") == ""
    on("/etc/init.d/oasis-restore start")
    assert config("firewall") != before, "an upgrade of the package puts nothing back"
    on("/etc/init.d/oasis-restore boot")
    assert config("firewall") == before
    on("/etc/init.d/firewall reload; /etc/init.d/oasis enable; /etc/init.d/oasis start")
    ready()
    assert state(change) == "rolled_back"


def test_with_the_daemon_gone_the_guard_restores(short_window):
    before = config("firewall")
    change = apply(*RULE)["id"]
    on(KILLED)
    wait(lambda: config("firewall") == before, 40, "the guard did nothing")
    wait(lambda: "oasis-test" not in text("nft list table inet fw4"), 10, "the rule is still there")
    on("/etc/init.d/oasis start")
    ready()
    assert state(change) == "rolled_back"


def test_nothing_is_written_while_an_apply_of_rpcd_waits():
    session = json.loads(text("ubus call session create '{\"timeout\":60}'"))["ubus_rpc_session"]
    grant = {"ubus_rpc_session": session, "scope": "uci", "objects": [["*", "read"], ["*", "write"]]}
    on(f"ubus call session grant {shlex.quote(json.dumps(grant))}")
    value = {"ubus_rpc_session": session, "config": "system", "type": "system", "values": {"notes": "rpcd"}}
    on(f"ubus call uci set {shlex.quote(json.dumps(value))}")
    start = {"ubus_rpc_session": session, "rollback": True, "timeout": 30}
    status, _ = on(f"ubus call uci apply {shlex.quote(json.dumps(start))}")
    assert status == 0
    try:
        before = config("system")
        _, events = oasis("prompt", "call this router oasistest")
        assert config("system") == before
        assert "an apply in LuCI waits" in json.dumps(events)
    finally:
        on(f"ubus call uci rollback {shlex.quote(json.dumps({'ubus_rpc_session': session}))}")
    status, events = oasis("prompt", "call this router oasistest")
    assert status == 0, events
    oasis("undo")


def test_what_others_have_staged_is_not_committed_along():
    on("uci set system.@system[0].notes=theirs")
    before = config("system")
    _, events = oasis("prompt", "call this router oasistest")
    assert "uncommitted change" in json.dumps(events)
    assert config("system") == before
    assert text("uci changes system") == "system.@system[0].notes='theirs'" or "notes" in text("uci changes system")


# Opens a connection to the page and logs in over it, prints the session; then asks for each line of input, over the old
# connection, over a new one and over a third that it leaves half-way, whether it proves that the router is reached.
BROWSER = """
import http.client, json, sys
host, port, password = sys.argv[1:]
def connect():
    return http.client.HTTPConnection(host, int(port), timeout=30)
def post(one, path, value):
    one.request("POST", path, json.dumps(value), {"Content-Type": "application/json"})
    return json.loads(one.getresponse().read())
def call(one, session, name, method, arguments):
    params = [session, name, method, arguments]
    return post(one, "/ubus", {"jsonrpc": "2.0", "id": 1, "method": "call", "params": params})["result"]
old = connect()
login = call(old, "0" * 32, "session", "login", {"username": "root", "password": password})
session = login[1]["ubus_rpc_session"]
print(json.dumps(session), flush=True)
for line in sys.stdin:
    body = {**json.loads(line), "session": session}
    call(old, session, "session", "access", {"scope": "ubus", "object": "session", "function": "access"})
    print(json.dumps([post(one, "/cgi-bin/oasis-alive", body) for one in (old, connect(), connect())]), flush=True)
"""


class Browser:
    """A page on another machine, that goes on over one connection."""

    def __init__(self, command, page):
        host, _, port = page.partition(":")
        self._process = subprocess.Popen([*command, "sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._tell(shlex.join(["exec", "python3", "-u", "-c", BROWSER, host, port, PASSWORD]))
        self.session = self._answer()

    def _tell(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _answer(self):
        line = self._process.stdout.readline()
        assert line, "the page is not reached"
        return json.loads(line)

    def prove(self, change, nonce):
        self._tell(json.dumps({"change": change, "nonce": nonce}))
        return [reply.get("alive") for reply in self._answer()]

    def close(self):
        self._process.stdin.close()
        self._process.wait(10)


@pytest.fixture
def browser():
    if not CLIENT or not PAGE:
        pytest.skip("OASIS_ROUTER_CLIENT names no command that runs others on a machine of its LAN")
    made = Browser(CLIENT, PAGE)
    yield made
    made.close()


def test_a_new_connection_of_another_machine_proves_and_an_old_one_does_not(browser):
    change, nonce = apply_with_nonce()
    assert browser.prove(change, "0" * 32) == ["stranger"] * 3, "who has not the nonce"
    assert oasis("confirm", change)[0] != 0, "a program without a proof keeps nothing"
    assert browser.prove(change, nonce) == ["reused", "proved", "proved"]
    status, lines = oasis("confirm", change)
    assert status == 0, lines
    assert state(change) == "confirmed"
    assert changes()[0]["proof"] == "connection"
    # The firewall's own undo is risky as well; its window may end by itself.
    before = config("firewall")
    on("uci delete firewall.@rule[-1]; uci commit firewall; fw4 -q reload")
    assert config("firewall") != before


def test_a_tunnel_to_the_router_itself_proves_nothing():
    """What `ssh -L` makes: the router connects to its own page, with the session and the nonce of the owner."""
    host, _, port = (PAGE or "127.0.0.1:80").partition(":")
    here = Browser(ROUTER, f"{host}:{port}")
    try:
        change, nonce = apply_with_nonce()
        assert set(here.prove(change, nonce)) <= {"loopback"}
    finally:
        here.close()
    assert oasis("rollback", change)[0] == 0
