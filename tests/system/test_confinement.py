"""What keeps the workers from the router: in words, against a scripted nft, and in a real router of namespaces."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from oasis.errors import PolicyError, ToolError
from oasis.system.confinement import KEPT_S, Confinement, has_password, user_ids
from oasis.system.root import Root
from tests.system import walled

# In words


@pytest.mark.parametrize(
    ("passwd", "shadow", "answer"),
    [
        (b"root:x:0:0::/root:/bin/ash\n", b"root:$5$salt$hash:1:0:99999:7:::\n", True),
        (b"root:x:0:0::/root:/bin/ash\n", b"root::0:0:99999:7:::\n", False),
        (b"root:x:0:0::/root:/bin/ash\n", b"root:!:0:0:99999:7:::\n", True),
        (b"root:x:0:0::/root:/bin/ash\n", b"rooty::0:0:99999:7:::\n", True),
        (b"root:x:0:0::/root:/bin/ash\n", b"", True),
        (b"root::0:0::/root:/bin/ash\n", b"root:$5$salt$hash:1:0:99999:7:::\n", False),
        (b"daemon:*:1:1::/:\nroot:$5$x:0:0::/root:/bin/ash\n", b"root::\n", True),
    ],
)
def test_an_empty_password_is_seen(passwd, shadow, answer):
    assert has_password(passwd, shadow) is answer


def test_only_our_users_count_and_none_that_is_root():
    lines = [b"root:x:0:0::", b"oasis:x:453:453::", b"oasis:x:9:9::", b"oasis-tool:x:0:7::", b"oasis-mcp:x:7:0::", b"",
             b"oasisx:x:5:5::", b"oasis-mcp", b"oasis-mcp:x:-1:1::"]  # fmt: skip
    assert user_ids(b"\n".join(lines)) == {"oasis": 453}


# Against a scripted nft

USERS = b"root:x:0:0::/root:/bin/ash\noasis:x:453:453::/:/bin/false\n"


class Nft:
    """A kernel with at most our table: lists it as it was loaded."""

    def __init__(self):
        self.table = b""
        self.calls = []
        self.error = b""

    def __call__(self, argv, stdin, timeout_s):
        self.calls.append(argv[1])
        assert os.path.isabs(argv[0])
        if argv[1] == "-f":
            if self.error:
                return 1, b"", self.error
            self.table = stdin
            return 0, b"", b""
        assert argv[1:] == ["list", "table", "inet", "oasis_worker"]
        return (0, self.table, b"") if self.table else (1, b"", b"No such file or directory\n")


@pytest.fixture
def nft():
    return Nft()


@pytest.fixture
def make(tmp_path, nft):
    (tmp_path / "nft").write_text("")
    (tmp_path / "nft").chmod(0o755)
    (tmp_path / "uci").write_text("")

    def make(run=nft, folder="/", search=str(tmp_path), uid=0, urls=(), times=None, **files):
        known = {"/etc/passwd": USERS, "/etc/shadow": b"root:$5$x:1:\n", **files}
        clock = iter(times if times is not None else range(0, 1000, 10))
        return Confinement(Root(folder, [search]), known.get, run, lambda: list(urls), uid, clock.__next__)

    return make


def test_the_rules_are_loaded_once_and_looked_at_each_time(make, nft):
    confinement = make()
    assert confinement.reason() == "" and nft.calls == ["-f", "list"]
    assert b"skuid { 453 }" in nft.table
    confinement.prepare()
    assert confinement.reason() == "" and nft.calls[2:] == ["list", "list"]


@pytest.mark.parametrize("table", [b"", b"table inet oasis_worker {\n}\n"])
def test_rules_that_are_gone_or_changed_come_back(make, nft, table):
    confinement = make()
    confinement.prepare()
    good, nft.table = nft.table, table
    assert confinement.reason() == ""
    assert nft.table == good


def test_rules_of_an_earlier_daemon_are_replaced(make, nft):
    nft.table = b"old"
    make().prepare()
    assert b"skuid" in nft.table


def test_other_services_are_other_rules(make, nft):
    urls = ["http://127.0.0.1:11434"]
    confinement = make()
    confinement._urls = lambda: urls
    confinement.prepare()
    assert b"11434" in nft.table
    urls.clear()
    confinement.prepare()
    assert b"11434" not in nft.table


def test_what_nft_complains_of_is_told(make, nft):
    nft.error = b"/proc/self/fd/0:9:3-5: Error: Could not process rule: No such file\nfib daddr\n"
    assert "Could not process rule: No such file" in make().reason()


def test_an_nft_that_cannot_run_is_told(make):
    def run(argv, stdin, timeout_s):
        raise ToolError("nft did not end in time and was stopped")

    confinement = make(run)
    assert "did not end in time" in confinement.reason()
    confinement.prepare()  # a router without nft asks models as well; the owner is told


def test_rules_that_do_not_appear_are_told(make, nft):
    def run(argv, stdin, timeout_s):
        return (0, b"", b"") if argv[1] == "-f" else (1, b"", b"")

    assert "not loaded" in make(run).reason()


def test_what_was_told_is_kept_for_moments_only(make, nft):
    confinement = make(times=[0, KEPT_S, KEPT_S + 0.1])
    assert confinement.reason() == ""
    asked = len(nft.calls)
    assert confinement.reason() == "" and len(nft.calls) == asked
    nft.error, nft.table = b"no\n", b""
    assert "not loaded: no" in confinement.reason()


def test_without_nft_it_says_so(make, nft):
    assert "nft is not installed" in make(search="/nowhere").reason()
    assert nft.calls == []


def test_no_worker_of_root_without_a_user_for_it(make, nft):
    confinement = make(**{"/etc/passwd": b"root:x:0:0::\n"})
    assert "does not exist" in confinement.reason()
    with pytest.raises(PolicyError) as caught:
        confinement.prepare()
    assert "oasis" in caught.value.message and caught.value.hint
    assert nft.calls == []


def test_a_router_whose_root_has_no_password_is_open(make):
    how = {"/etc/shadow": b"root::0:0:99999:7:::\n"}
    assert "root has no password" in make(**how).reason()
    assert make(folder="/tmp/router", **how).reason() == "", "a folder is no router"


@pytest.mark.parametrize("how", [{"folder": "/tmp/router"}, {"folder": "/tmp/router", "uid": 1000}])
def test_a_folder_is_no_router(make, nft, how):
    confinement = make(**how)
    confinement.prepare()
    assert confinement.reason() == "" and nft.calls == []


def test_root_in_a_folder_is_shown_as_what_it_is_and_no_plan_needs_a_word_for_it(make):
    confinement = make(folder="/tmp/router")
    assert "runs as root" in confinement.shown() and confinement.reason() == ""
    assert make(folder="/tmp/router", uid=1000).shown() == ""
    assert make(uid=1000).shown() == make(uid=1000).reason() != ""


def test_who_is_not_root_touches_no_rules(make, nft):
    confinement = make(uid=1000)
    confinement.prepare()
    assert "does not run as root" in confinement.reason()
    assert nft.calls == []


# In a real router


def lack():
    """Return what is missing here for a router of namespaces, "" when it can be built."""
    if os.geteuid() != 0:
        return "root, for network namespaces and another user"
    for program, package in (("ip", "iproute2"), ("nft", "nftables"), ("unshare", "util-linux")):
        if not shutil.which(program):
            return f"{program} (apt-get install {package})"
    tried = subprocess.run(["unshare", "--net", "--mount", "sh", "-ec", TRIAL], capture_output=True)
    return f"a kernel that can: {tried.stderr.decode().strip()[:80]}" if tried.returncode else ""


TRIAL = """
mount -t tmpfs none /mnt
ip link add name one type veth peer name two
ip link set one up
ip addr add fd00::1/64 dev one nodad
nft add table inet t
nft add chain inet t c '{ type filter hook output priority 0; }'
nft add rule inet t c meta skuid 1 fib daddr type local reject
"""
LACK = lack()
needs_router = pytest.mark.skipif(bool(LACK), reason=f"what the worker's user reaches needs {LACK}")
REFUSED = ["ConnectionRefusedError", False]
OPEN = ["open", False]


@pytest.fixture(scope="module")
def told():
    argv = ["unshare", "--net", "--mount", sys.executable, walled.__file__]
    run = subprocess.run(argv, capture_output=True, timeout=100)
    assert run.returncode == 0, run.stderr.decode()
    return json.loads(run.stdout)


def local(ports):
    return [f"{host} {port}" for host in walled.HOSTS for port in ports]


@needs_router
def test_without_the_rules_the_user_reaches_everything(told):
    assert {key: one for key, one in told["loose"].items() if one != OPEN} == {}
    assert told["loose worker"] == ["done", False]
    assert set(told["loose serves"].values()) == {"open"}


@needs_router
@pytest.mark.parametrize("user", ["oasis", "oasis-tool"])
def test_the_user_reaches_no_port_of_the_router_whatever_its_address(told, user):
    assert told["reason"] == ""
    for key in local((22, 80, 443, 8080)):
        assert told["users"][user][key] == REFUSED, key
    for host in walled.HOSTS:
        if host != "127.0.0.53":
            said, is_slow = told["users"][user][f"{host} udp 5353"]
            assert said != "open" and not is_slow, host


@needs_router
def test_the_resolver_stays_open(told):
    seen = told["users"]["oasis"]
    for key in local((53,)):
        assert seen[key] == OPEN, key
    assert {seen[f"{host} udp 53"][0] for host in walled.HOSTS if host != "127.0.0.53"} == {"open"}


@needs_router
def test_a_model_server_on_the_router_is_open_at_its_address_only(told):
    seen = told["users"]["oasis"]
    is_open = {host for host in walled.HOSTS if seen[f"{host} {walled.MODEL}"] == OPEN}
    assert is_open == {walled.LAN4, "::ffff:" + walled.LAN4, walled.LAN6}


@needs_router
def test_the_rest_of_the_world_stays_open(told):
    for host in walled.OUTSIDE:
        for port in walled.OUTSIDE_PORTS:
            assert told["users"]["oasis"][f"{host} {port}"] == OPEN, host


@needs_router
def test_others_are_not_touched(told):
    assert {key: one for key, one in told["users"]["root"].items() if one != OPEN} == {}
    assert told["nobody"] == OPEN


@needs_router
def test_nobody_gets_a_connection_to_what_the_user_serves(told):
    assert "open" not in told["serves"]["oasis"].values()
    assert set(told["serves"]["root"].values()) == {"open"}


@needs_router
def test_a_real_worker_reaches_its_model_and_no_other_port(told):
    assert told["model"] == ["done", False]
    assert told["other port"] == ["refused", False]
    assert told["page"] == ["walled", False]  # and not that nothing listens there


@needs_router
def test_a_flushed_ruleset_comes_back_with_the_next_request(told):
    assert told["flushed"] == OPEN, "the rules were gone"
    assert told["flushed worker"] == ["refused", False]
    assert (told["emptied"], told["emptied user"]) == ("", REFUSED)


@needs_router
def test_changed_services_change_what_is_open(told):
    assert told["added"] == ["done", False]
    assert told["removed"] == ["refused", False]


@needs_router
def test_a_worker_never_stays_root(told):
    sentence, asked = told["no user"]
    assert "user oasis does not exist" in sentence
    assert asked == ["worker", False]
    assert told["never root"] == ["worker", False], "not even when nobody looked before"


@needs_router
def test_the_worker_of_a_router_has_nothing_but_its_pipes(told):
    seen = told["worker"]
    status, limits = seen["status"], seen["limits"]
    assert status["Uid"].split() == status["Gid"].split() == ["4530"] * 4
    assert status["Groups"].split() == ["4530"]
    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}
    assert status["NoNewPrivs"] == "1"
    assert status["NSsid"] == status["NSpgid"] == status["Pid"]
    assert limits["Max core file size"] == limits["Max file size"] == ["0", "0"]
    assert limits["Max open files"] == limits["Max processes"] == ["64", "64"]
    assert limits["Max address space"] == [str(512 * 1024 * 1024)] * 2
    assert limits["Max cpu time"] == ["3600", "3600"]
    # A mark without meaning, by which what it leaves behind is found (llm/pool.py); no key and no path.
    assert {word.partition("=")[0] for word in seen["environment"]} <= {"PATH", "LC_ALL", "OASIS_WORKER"}
    assert all(place.startswith("pipe:") for place in seen["descriptors"]), seen["descriptors"]


# The worker of this host


@pytest.mark.skipif(bool(LACK), reason=f"needs {LACK}")
def test_the_rules_are_what_nft_takes(tmp_path):
    from oasis.system import confinement as fence

    text = fence.rules([1, 2], ["http://127.0.0.1:81", "http://[::1]:81"])
    argv = ["unshare", "--net", "nft", "--check", "-f", "-"]
    assert subprocess.run(argv, input=text.encode(), capture_output=True).stderr == b""
