"""Every method tried by every role, over real sockets: who somebody is, the kernel tells, and nothing else."""

import json
import os
import pty
import stat
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from oasis.api.methods import ROLES, TABLE, Methods
from oasis.daemon.wiring import role_of
from oasis.errors import PolicyError, UsageError
from oasis.tools.operator import NoRun, Operator
from oasis.tools.principal import TOOLS, Principal
from tests.oasisd import copy_root, lacking, start_daemon

SOMEBODY = 65534
REFUSED = "is not for everybody"
# What decides or sets something. Nobody but the owner ever gets one of these, whatever a table says.
OWNERS = ("approve", "decline", "confirm", "rollback", "undo", "delete", "select", "start", "cancel", "extend", "set",
          "propose", "force", "add", "change", "key", "test")  # fmt: skip

# Reads calls, one a line, from its input; prints the replies. Goes to the socket's folder before it becomes another
# user, because the folders above are private to the one who runs the tests.
CLIENT = """
import json, os, socket, sys
folder, uid = sys.argv[1], int(sys.argv[2])
os.chdir(folder)
if uid:
    os.setgroups([]); os.setresgid(uid, uid, uid); os.setresuid(uid, uid, uid)
connection = socket.socket(socket.AF_UNIX)
try:
    connection.connect("oasis.sock")
except PermissionError:
    sys.exit("refused")
lines = connection.makefile("rb")
for line in sys.stdin:
    connection.sendall(line.encode())
    print(lines.readline().decode(), end="", flush=True)
"""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    started = start_daemon(copy_root(str(tmp_path_factory.mktemp("roles") / "router")))
    yield started
    started.stop()


@pytest.fixture
def opened(daemon):
    """The socket as somebody could open it for others: by its mode and that of its folder."""
    folder = os.path.dirname(daemon.socket)
    os.chmod(folder, 0o711)
    os.chmod(daemon.socket, 0o666)
    yield daemon
    os.chmod(daemon.socket, 0o600)
    os.chmod(folder, 0o700)


def command(daemon, uid):
    return [sys.executable, "-IS", "-c", CLIENT, os.path.dirname(daemon.socket), str(uid)]


def lines(calls):
    return "".join(json.dumps({"jsonrpc": "2.0", "id": 1, "method": name, "params": params}) + "\n"
                   for name, params in calls)  # fmt: skip


def ask(daemon, uid, calls):
    """Make calls as a user; return the results and the errors' data."""
    done = subprocess.run(command(daemon, uid), input=lines(calls), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(replies) == len(calls)
    return [reply.get("result") or {"error": reply["error"]["data"]} for reply in replies]


def filled(name):
    values = {str: "x", int: 0, list: [], bool: False}
    return {key: values[rule[0]] for key, rule in TABLE[name].arguments.items() if rule[1]}


def is_refused(reply):
    return REFUSED in reply.get("error", {}).get("message", "")


# What a client may do beside looking: say who it is, call tools, which ask the owner, and stop calls of its own.
PROPOSED = {
    "client": ("client.join", "tool.call", "run.cancel"),
    "messenger": ("run.start", "run.cancel", "plan.decline", "change.undo"),
    "guest": ("run.cancel",),
}

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="becoming a second user needs root")


def test_the_socket_is_for_its_owner_alone(daemon):
    assert stat.S_IMODE(os.stat(daemon.socket).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(daemon.socket)).st_mode) == 0o700


@needs_root
def test_another_user_does_not_even_get_a_connection(daemon):
    done = subprocess.run(command(daemon, SOMEBODY), input="", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, "refused\n")


@needs_root
@pytest.mark.parametrize("role, uid", [("owner", 0), ("viewer", SOMEBODY)])
def test_every_method_of_a_role_and_no_other_is_served_on_the_socket(opened, role, uid):
    names = sorted(TABLE, key=lambda name: (name == "client.join", name))  # after it the connection is a client's
    replies = ask(opened, uid, [(name, filled(name)) for name in names])
    served = {name for name, reply in zip(names, replies, strict=True) if not is_refused(reply)}
    assert served == set(ROLES[role]) & set(TABLE)
    for reply in replies:
        if is_refused(reply):
            assert reply["error"]["code"] == "policy"
            assert role in reply["error"]["hint"]


@needs_root
def test_no_argument_gives_another_user_a_role(opened):
    claims = ({"role": "owner"}, {"role": {"name": "owner", "terminal": True}}, {"uid": 0}, {"peer": {"uid": 0}},
              {"terminal": True}, {"ubus_rpc_session": "0" * 32})  # fmt: skip
    for name in sorted(set(TABLE) - set(ROLES["viewer"])):
        for reply in ask(opened, SOMEBODY, [(name, {**filled(name), **claim}) for claim in claims]):
            assert is_refused(reply), name


@needs_root
def test_another_user_cannot_approve_even_with_the_whole_hash(opened):
    plan = waiting_plan(opened)
    [reply] = ask(opened, SOMEBODY, [("plan.approve", {"plan": plan["id"], "hash": plan["hash"]})])
    assert is_refused(reply)
    assert opened.call("plan.list")["plans"][0]["id"] == plan["id"]
    assert opened.call("plan.decline", plan=plan["id"])["decision"] == "declined"


def test_without_a_terminal_only_the_whole_hash_approves(daemon):
    plan = waiting_plan(daemon)
    for hash_ in (plan["short"], plan["hash"][:63], plan["hash"][:9], "", "0" * 64, plan["hash"] + "0"):
        assert daemon.call("plan.approve", plan=plan["id"], hash=hash_)["error"]["code"] == "policy", hash_
    assert daemon.call("plan.decline", plan=plan["id"])["decision"] == "declined"


def test_on_a_terminal_the_short_hash_approves(daemon):
    plan = waiting_plan(daemon)
    replies = on_a_terminal(daemon, [("plan.approve", {"plan": plan["id"], "hash": plan["hash"][:7]}),
                                     ("plan.approve", {"plan": plan["id"], "hash": plan["short"]})])  # fmt: skip
    assert replies[0]["error"]["data"]["code"] == "policy"
    assert replies[1]["result"]["decision"] == "approved"
    deadline = time.monotonic() + 20
    while daemon.call("change.pending")["change"] is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert daemon.call("change.rollback")["change"]["state"] == "rolled_back"


def on_a_terminal(daemon, calls):
    pid, terminal = pty.fork()
    if not pid:
        os.execv(sys.executable, command(daemon, 0))
    try:
        text = b""
        os.write(terminal, b"".join(line.encode() for line in lines(calls).splitlines(keepends=True)) + b"\x04")
        while piece := read(terminal):
            text += piece
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)
    shown = [line for line in text.decode().replace("\r", "").split("\n") if '"result"' in line or '"error"' in line]
    return [json.loads(line) for line in shown]


def read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""  # the other end is closed


def waiting_plan(daemon):
    daemon.call("run.start", message="set the wifi name to Attic and the password to correct-horse")
    deadline = time.monotonic() + 30
    while not daemon.call("plan.list")["plans"]:
        assert time.monotonic() < deadline, daemon.log()[-2000:]
        time.sleep(0.05)
    return daemon.call("plan.list")["plans"][0]


@pytest.mark.parametrize("uid, name", [(0, "owner"), (os.geteuid(), "owner"), (os.geteuid() + 1, "viewer"),
                                       (SOMEBODY - 1, "viewer"), (2**32 - 1, "viewer")])  # fmt: skip
def test_the_kernel_s_word_is_the_role(uid, name):
    for terminal in (True, False):
        role = role_of({"pid": 1, "uid": uid, "terminal": terminal})
        assert (role["name"], role["terminal"]) == (name, terminal)


@pytest.mark.parametrize("role", ["viewer", "client", "schedule", "messenger", "guest", "", "Owner", "owner "])
def test_who_is_not_the_owner_decides_nothing(role):
    names = ("parts", "chats", "settings", "turn_starter", "conversations", "runs", "book")
    methods = Methods(SimpleNamespace(**dict.fromkeys(names)))
    for name in TABLE:
        if name in ROLES.get(role, ()):
            assert TABLE[name].access == "read" or name in PROPOSED.get(role, ())
            assert not name.rpartition(".")[2].startswith(OWNERS) or name in PROPOSED.get(role, ())
            continue
        # The roles of a part are none where it is not installed.
        is_missing = role in ("client", "schedule", "messenger", "guest") and role not in ROLES
        error, words = (UsageError, "not installed") if is_missing else (PolicyError, REFUSED)
        with pytest.raises(error, match=words):
            methods.call(name, filled(name), {"name": role, "terminal": True})
    with pytest.raises(UsageError):
        methods.call("nothing", {}, {"name": role, "terminal": True})


def test_every_method_is_the_owner_s_and_every_role_names_real_ones():
    assert set(ROLES["owner"]) == set(TABLE)
    assert all(set(names) <= set(TABLE) for names in ROLES.values())
    assert set(ROLES) == set(TOOLS), "a role that has methods and no tools, or the other way round"
    kept = {name for name in ROLES.get("client", ()) if name.startswith(("chat.", "bookmark.", "usage.", "audit."))}
    assert not kept, "a chat holds what the owner typed; of runs a client has its own (tests/parts/mcp)"


# Every tool that a router may have: ours, those of the optional parts, and those that somebody added.
OURS = ("status", "read_config", "configure", "diagnose", "service", "logs", "probe", "wifi_scan", "packages", "undo",
        "power", "backup")  # fmt: skip
OTHERS = ("knowledge_search", "remember", "schedule_create", "schedule_list", "schedule_update", "schedule_delete",
          "wireguard", "ssh_keys", "firmware", "look", "shell_exec", "file_read", "file_write", "file_list",
          "file_delete", "file_stat", "http_fetch", "web_search", "demo___wipe", "a_plugin_s", "")  # fmt: skip
TOOLS_OF = {
    "owner": {*OURS, *OTHERS},
    "viewer": set(),
    "client": set(OURS),
    "messenger": {*OURS, *OTHERS},
    "guest": {"status", "diagnose"},
    "schedule": {*OURS, *OTHERS} - {"schedule_create", "schedule_update", "schedule_delete"},
    "": set(),
    "Owner": set(),
}


@pytest.fixture(scope="module")
def inside(tmp_path_factory):
    """A daemon in this process: its registry, and what makes the hands of a role."""
    from oasis.daemon.wiring import Daemon
    from oasis.system.root import Root

    root = copy_root(str(tmp_path_factory.mktemp("tools") / "router"))
    made = Daemon(Root(root, [root + "/bin", "/usr/bin", "/bin"]))

    def operator(role):
        run = NoRun()
        run.is_cancelled = lambda: True
        return Operator(made.methods._services, run, Principal(role))

    yield made.methods._turn_starter().registry, operator
    made.transaction.stop()


def test_every_tool_there_is_stands_in_this_table(inside):
    assert {tool["name"] for tool in inside[0].listed()} <= {*OURS, *OTHERS}
    wanted = {*OURS, "knowledge_search", "schedule_create", "file_read"} - lacking("tools")
    assert {tool["name"] for tool in inside[0].listed()} >= wanted
    assert set(TOOLS_OF) >= set(ROLES)


OF_PARTS = {"client": "mcp", "messenger": "telegram", "guest": "telegram", "schedule": "schedule"}
ROLES_HERE = [
    pytest.param(role, marks=pytest.mark.part(*[OF_PARTS[role]] if role in OF_PARTS else []))
    for role in sorted(TOOLS_OF)
]


@pytest.mark.parametrize("tool", [*OURS, *OTHERS])
@pytest.mark.parametrize("role", ROLES_HERE)
def test_every_tool_of_a_role_and_no_other_is_carried_out(inside, role, tool):
    registry, operator = inside
    # Nothing is done: a call with such arguments ends right behind the question whose tool it is.
    text, is_error, _ = registry.call(tool, {"invalid": "x"}, operator(role))
    assert is_error
    assert ("is not for who asks here" not in text) == (tool in TOOLS_OF[role]), text


@pytest.mark.part("schedule", "telegram")
def test_every_principal_has_a_role_of_the_table():
    from types import SimpleNamespace

    from oasis.parts.schedule.job_run import JobRun
    from oasis.parts.telegram.people import Guest
    from oasis.tools.principal import MESSENGER, OWNER

    unattended = JobRun(SimpleNamespace(kit=None), {}, "", [])
    principals = (OWNER, MESSENGER, Guest(), unattended)
    assert [one.role for one in principals] == ["owner", "messenger", "guest", "schedule"]
