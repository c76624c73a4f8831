"""The command line over a real dropbear: logins from another host, pipes, terminals, a forced command, proof of life.

Router and client are two network namespaces with a cable between them; the home of root is another one in a mount
namespace of the server's own, so nothing of this host is written or listens outside.
"""

import json
import os
import shutil
import subprocess
import sys
import time

import pytest

from tests.bench import measure
from tests.cli import launcher
from tests.cli.terminal import Terminal
from tests.oasisd import copy_root, start_daemon

ROUTER, CLIENT = "192.168.1.1", "192.168.1.142"  # as the stock router has them
NEEDED = ("dropbear", "dropbearkey", "dbclient", "ip", "unshare", "mount")
LACKING = [name for name in NEEDED if shutil.which(name) is None]
# One password of a network: risky, for whoever is on the Wi-Fi loses the connection.
COMMANDS = ["uci set wireless.@wifi-iface[0].key=correct-horse-9"]
# What opens a shell of root with another home: the files are those of this namespace alone.
ENTER = (
    """
mount --bind "$1/passwd" /etc/passwd && mount --bind "$1/shadow" /etc/shadow || exit 9
exec dropbear -F -E -s -r "$1/host" -p %s:22 -P "$1/pid"
"""
    % ROUTER
)
pytestmark = [
    pytest.mark.skipif(bool(LACKING), reason=f"no {' '.join(LACKING)}: apt-get install dropbear-bin iproute2"),
    pytest.mark.skipif(os.geteuid() != 0, reason="root alone may make namespaces and log others in"),
]
RESET, ESCAPE = "\x1b[0m", "\x1b["


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture(scope="module")
def cable():
    """Two namespaces, router and client, with a cable; skipped loudly where that is not allowed."""
    names = router, client = [f"oasisssh{os.getpid()}{end}" for end in "rc"]
    try:
        for name in names:
            ip("netns", "add", name)
        ip("link", "add", "lan0", "netns", router, "type", "veth", "peer", "name", "eth0", "netns", client)
        for name, device, address in ((router, "lan0", ROUTER), (client, "eth0", CLIENT)):
            ip("-n", name, "addr", "add", address + "/24", "dev", device)
            for one in ("lo", device):
                ip("-n", name, "link", "set", one, "up")
        yield names
    except subprocess.CalledProcessError as error:
        pytest.skip("NETWORK NAMESPACES NOT TESTED: " + error.stderr.decode().strip())
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


class Site:
    """A router with dropbear and the command line, and its daemon; `ssh` runs a command on it as root."""

    def __init__(self, folder, root, names):
        self.folder, self.root = folder, root
        router, client = names
        self.inside = ("ip", "netns", "exec", router)
        for name in ("host", "id"):
            words = ["dropbearkey", "-t", "ed25519", "-f", f"{folder}/{name}"]
            shown = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        self.key = next(line for line in shown.splitlines() if line.startswith("ssh-"))
        with open("/etc/passwd") as file:
            rest = [line for line in file if not line.startswith("root:")]
        self.write("passwd", "".join([f"root:x:0:0:root:{folder}/home:/bin/sh\n", *rest]))
        self.write("shadow", "root:*:19000:0:99999:7:::\n")
        os.makedirs(folder + "/home/.ssh", 0o700)
        os.chmod(folder + "/home", 0o700)
        self.allow("")
        self._install()
        words = [*self.inside, "unshare", "--mount", "sh", "-c", ENTER, "sh", folder]
        self.server = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        self._client = [shutil.which("ip"), "netns", "exec", client, "dbclient", "-y", "-y", "-i", folder + "/id"]
        self.wait()

    def write(self, name, text):
        with open(f"{self.folder}/{name}", "w") as file:
            file.write(text)

    def allow(self, options):
        """Let the client's key in, with `options` of authorized_keys."""
        self.write("home/.ssh/authorized_keys", f"{options} {self.key}\n".lstrip())
        os.chmod(self.folder + "/home/.ssh/authorized_keys", 0o600)

    def _install(self):
        program = launcher.install(self.folder)[-1]
        with open(program) as file:
            text = (
                file.read().replace("'/nowhere'", repr(self.root)).replace("#!/usr/bin/python3", "#!" + sys.executable)
            )
        with open(program, "w") as file:
            file.write(text)
        os.chmod(program, 0o755)
        self.program = program

    def argv(self, command="", *options):
        command = command.replace("oasis", self.program, 1) if command.startswith("oasis") else command
        return [*self._client, *options, "root@" + ROUTER, *([command] if command else [])]

    def terminal(self, command):
        """Log in with a terminal and run a command there; see `left`."""
        words = ["/bin/sh", "-c", '"$@"; echo "== $?"', "sh", *self.argv(command, "-t")]
        return Terminal(words, {**os.environ, "TERM": "vt100"})

    def ssh(self, command="", *options, given=""):
        """Log in anew, run a command; return (status, output, errors)."""
        words = self.argv(command, *options)
        done = subprocess.run(words, input=given, capture_output=True, text=True, timeout=60, check=False)
        # dbclient's own word, that it was told to trust the host.
        said = [
            line for line in done.stderr.splitlines(True) if not line.startswith("dbclient: Caution") and line.strip()
        ]
        return done.returncode, done.stdout, "".join(said)

    def json(self, command):
        status, out, err = self.ssh(command)
        assert status == 0, (out, err)
        return json.loads(out.splitlines()[-1])

    def wait(self):
        until_s = time.monotonic() + 20
        while self.ssh("true")[0] != 0:
            assert self.server.poll() is None, self.server.stderr.read()
            assert time.monotonic() < until_s, self.ssh("true")
            time.sleep(0.1)

    def stop(self):
        self.server.terminate()
        self.server.wait(10)
        self.server.stderr.close()


@pytest.fixture
def site(tmp_path, cable):
    made = Site(str(tmp_path), copy_root(str(tmp_path / "root")), cable)
    yield made
    made.stop()


@pytest.fixture
def router(site):
    """The same with a daemon that runs, which sees the connections of this namespace."""
    for name in ("tcp", "tcp6"):
        os.remove(f"{site.root}/proc/net/{name}")
        os.symlink(f"/proc/net/{name}", f"{site.root}/proc/net/{name}")
    daemon = start_daemon(site.root, wrapper=site.inside)
    yield site
    daemon.stop()


def left(terminal):
    """Wait for the end of a command at a terminal; gives its status, which dbclient loses when its terminal goes."""
    terminal.wait_for("== ")
    terminal.leave()
    return int(terminal.text.rpartition("== ")[2].split()[0])


def answer(terminal, text):
    """Type an answer, and once more in case that the login was not ready to take it."""
    for _ in range(3):
        try:
            terminal.type(text)
        except OSError:
            return  # it was taken, and the login is over
        time.sleep(1)


class Login:
    """A login that stays: a shell at its other end takes one command after the other."""

    def __init__(self, site):
        self._site = site
        self._process = subprocess.Popen(
            site.argv("sh"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def run(self, command):
        """Return (status, what it said on either way out)."""
        command = command.replace("oasis", self._site.program, 1)
        self._process.stdin.write(f'({command}) 2>&1 </dev/null; echo "== $?"\n')
        self._process.stdin.flush()
        said = []
        while not (line := self._process.stdout.readline()).startswith("== "):
            assert line, self._process.stderr.read()
            said.append(line)
        return int(line[3:]), "".join(said)

    def leave(self):
        self._process.communicate(timeout=20)


def applied(site, login):
    """Apply a risky change from a login; return its id."""
    words = " ".join(f"'{command}'" for command in COMMANDS)
    status, said = login.run(f"oasis -j apply --no-wait {words}")
    assert status == 10, said
    [plan] = json.loads(login.run("oasis -j plans")[1])["plans"]
    assert plan["risk"] == "risky"
    word = f"--word {plan['typed_word']}" if plan.get("typed_word") else ""
    status, said = login.run(f"oasis approve {word} {plan['id']} {plan['hash']}")
    assert status == 0, said
    until_s = time.monotonic() + 60
    while True:
        found = json.loads(login.run("oasis -j pending")[1])["change"]
        if found and found["state"] == "applied":
            return found["id"]
        assert time.monotonic() < until_s, found
        time.sleep(0.1)


def key_of(site):
    with open(site.root + "/etc/config/wireless") as file:
        return [line.split()[-1] for line in file if "option key" in line]


@pytest.mark.part("offline")
def test_a_login_asks_and_pipes_words_and_json(router):
    status, out, err = router.ssh("oasis prompt hello")
    assert (status, err) == (0, "") and out.strip() and ESCAPE not in out
    status, out, _ = router.ssh("oasis prompt -", given="hello\n")
    assert status == 0 and out.strip()
    status, out, _ = router.ssh("oasis -j prompt hello | head -n 1")
    assert status == 0 and "type" in json.loads(out)
    assert "version" in router.json("oasis -j status")
    assert router.json("oasis -j list")["item"]


def test_a_statement_of_failure_goes_the_other_way_with_its_status(router):
    status, out, err = router.ssh("oasis nonsense")
    assert (status, out) == (2, "") and err.startswith("oasis: error: unknown command")


def test_colours_are_for_terminals_alone(router):
    words = " ".join(f"'{command}'" for command in COMMANDS)
    _, plain, err = router.ssh(f"oasis apply --no-wait {words}")
    assert "correct-horse-9" not in plain + err and ESCAPE not in plain + err
    terminal = router.terminal(f"oasis apply {words}")
    terminal.wait_for("Apply this? [y/N] ")
    answer(terminal, "n\n")
    assert left(terminal) == 11
    assert RESET in terminal.text
    terminal = router.terminal(f"NO_COLOR=1 {router.program} plans")
    assert left(terminal) == 0 and "Plan " in terminal.text
    assert RESET not in terminal.text


def test_a_person_at_a_terminal_is_asked_there(router):
    words = " ".join(f"'{command}'" for command in COMMANDS)
    terminal = router.terminal(f"oasis apply {words}")
    terminal.wait_for("Apply this? [y/N] ")
    answer(terminal, "n\n")
    assert left(terminal) == 11, terminal.text
    assert "'correct-horse-9'" not in key_of(router)


def test_a_key_with_a_forced_command_does_nothing_else(router):
    router.allow(f'command="{router.program} -j status",no-pty,no-port-forwarding')
    for asked in ("id", "oasis confirm"):
        status, out, _ = router.ssh(asked)
        assert status == 0 and "version" in json.loads(out.splitlines()[-1]), asked


def test_only_a_new_login_proves_that_the_router_is_still_reached(router):
    old = Login(router)
    before = key_of(router)
    change = applied(router, old)
    assert key_of(router) != before
    status, said = old.run(f"oasis confirm {change}")
    assert status != 0 and "older than the change" in said, "it was open before the reload"
    assert router.json("oasis -j pending")["change"]["state"] == "applied"
    status, out, err = router.ssh(f"oasis confirm {change}")
    assert status == 0, (out, err)
    kept = next(one for one in router.json("oasis -j changes")["changes"] if one["id"] == change)
    assert (kept["state"], kept["proof"]) == ("confirmed", "login")
    old.leave()


def shut_out(address):
    """The words of a rule that rejects SSH from one address of the LAN."""
    options = {"name": "Shut", "src": "lan", "src_ip": address, "proto": "tcp", "dest_port": "22", "target": "REJECT"}
    lines = ["add firewall rule", *(f"set firewall.@rule[-1].{name}={value}" for name, value in options.items())]
    return " ".join(f"'uci {line}'" for line in [*lines, "reorder firewall.@rule[-1]=0"])


def test_a_plan_must_leave_the_way_open_by_which_this_very_login_came(router):
    status, out, _ = router.ssh(f"oasis -j apply --no-wait {shut_out(CLIENT)}")
    assert status == 5 and "you would not reach the router any more" in out and "(Shut) says reject" in out, out
    status, out, _ = router.ssh(f"oasis -j apply --no-wait {shut_out('192.168.1.77')}")
    assert status == 10, out


@pytest.mark.part("offline")
def test_a_first_call_takes_little_of_the_processor(router):
    env = {"PATH": os.environ["PATH"], "OASIS_ROOT": router.root, "LC_ALL": "C.UTF-8"}
    argv = [router.program, "prompt", "hello"]
    ours = min(measure.cpu_s(argv, env) for _ in range(5))
    bare = min(measure.cpu_s(measure.BARE) for _ in range(5))
    print(f"\noasis prompt: {ours * 1000:.0f} ms of processor time, a bare interpreter {bare * 1000:.0f} ms")
    assert ours < max(0.150, 8 * bare)


def test_without_a_service_a_script_is_told_and_a_person_asked(site):
    status, out, err = site.ssh("oasis prompt hello")
    assert (status, out) == (69, "") and "not running" in err and "start it:" in err
    terminal = site.terminal("oasis prompt hello")
    if os.access(site.root + "/etc/init.d/oasis", os.X_OK):
        terminal.wait_for("Start it now? [Y/n] ")
        answer(terminal, "n\n")
    assert left(terminal) == 69
